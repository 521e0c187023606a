// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/spoken.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QAccessibleWidget>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextTable>

namespace parallelarium {

namespace {

class HeardKeeper : public QObject {
 public:
  HeardKeeper(QWidget& widget, Heard kept) : QObject(&widget), heard(std::move(kept)) {}
  const Heard heard;
};

const HeardKeeper* keeper_of(const QObject& widget) {
  for (const QObject* child : widget.children())
    if (const auto* keeper = dynamic_cast<const HeardKeeper*>(child)) return keeper;
  return nullptr;
}

QString spoken_block(const QTextBlock& block) {
  QString text;
  for (auto part = block.begin(); !part.atEnd(); ++part) {
    const QTextCharFormat letters = part.fragment().charFormat();
    text += letters.isImageFormat() ? letters.stringProperty(QTextFormat::ImageAltText)
                                    : part.fragment().text();
  }
  return text.replace(QChar(QChar::Nbsp), QLatin1Char(' '))
      .replace(QChar(QChar::LineSeparator), QLatin1Char('\n'));
}

QString spoken_cell(const QTextTable& table, int row, int column) {
  QStringList blocks;
  const QTextTableCell cell = table.cellAt(row, column);
  for (QTextFrame::iterator at = cell.begin(); at != cell.end(); ++at)
    blocks << spoken_block(at.currentBlock());
  return blocks.join(QLatin1Char(' ')).simplified();
}

// "with N ranks: computing B ÷ N sequences each, sending 2 Ψ;"
QString spoken_table(const QTextTable& table) {
  QStringList rows;
  for (int row = table.rows() > 1 ? 1 : 0; row < table.rows(); ++row) {
    QStringList cells;
    for (int column = 1; column < table.columns(); ++column) {
      const QString head = row > 0 ? spoken_cell(table, 0, column) : QString();
      const QString cell = spoken_cell(table, row, column);
      cells << (head.isEmpty() ? cell : head + QLatin1Char(' ') + cell);
    }
    const QString name = spoken_cell(table, row, 0);
    if (!name.isEmpty() && !cells.isEmpty())
      rows << name + QStringLiteral(": ") + cells.join(QStringLiteral(", "));
    else
      rows << name + cells.join(QStringLiteral(", "));
  }
  return rows.join(QStringLiteral(";\n")) + QLatin1Char('.');
}

// As Markdown or rich text is shown: without its marks.
QString spoken_label(const QLabel& label) {
  const bool rich = label.textFormat() == Qt::RichText ||
                    (label.textFormat() == Qt::AutoText && Qt::mightBeRichText(label.text()));
  if (!rich && label.textFormat() != Qt::MarkdownText) return label.text();
  QTextDocument document;
  if (rich)
    document.setHtml(label.text());
  else
    document.setMarkdown(label.text());
  return spoken_text(document);
}

// A text that is read, and neither edited nor selected but in a box with a field.
class SpokenWidget : public QAccessibleWidget, public QAccessibleTextInterface {
 public:
  SpokenWidget(QWidget* widget, Heard heard)
      : QAccessibleWidget(widget, heard.role), heard_(std::move(heard)) {}

  void* interface_cast(QAccessible::InterfaceType type) override {
    if (type == QAccessible::TextInterface && heard_.text)
      return static_cast<QAccessibleTextInterface*>(this);
    return QAccessibleWidget::interface_cast(type);
  }
  QString text(QAccessible::Text kind) const override {
    if (kind == QAccessible::Value && heard_.text) return heard_.text();
    const QString own = QAccessibleWidget::text(kind);
    if (kind != QAccessible::Name || !widget()->accessibleName().isEmpty()) return own;
    if (const auto* label = qobject_cast<const QLabel*>(widget())) return spoken_label(*label);
    const auto* button = qobject_cast<const QAbstractButton*>(widget());
    return button ? QString(button->text()).remove(QLatin1Char('&')) : own;
  }
  int childCount() const override { return heard_.whole ? 0 : QAccessibleWidget::childCount(); }
  QAccessibleInterface* child(int index) const override {
    return heard_.whole ? nullptr : QAccessibleWidget::child(index);
  }
  int indexOfChild(const QAccessibleInterface* child) const override {
    return heard_.whole ? -1 : QAccessibleWidget::indexOfChild(child);
  }
  QAccessible::State state() const override {
    QAccessible::State state = QAccessibleWidget::state();
    if (const auto* button = qobject_cast<const QAbstractButton*>(widget())) {
      state.checkable = button->isCheckable();
      state.checked = button->isChecked();
    }
    return state;
  }
  QStringList actionNames() const override {
    QStringList names = QAccessibleWidget::actionNames();
    if (qobject_cast<const QAbstractButton*>(widget())) names.prepend(pressAction());
    if (qobject_cast<const QComboBox*>(widget()))
      names = QStringList{showMenuAction(), pressAction()} + names;
    return names;
  }
  void doAction(const QString& name) override {
    auto* button = qobject_cast<QAbstractButton*>(widget());
    if (button && name == pressAction() && button->isEnabled()) return button->click();
    auto* box = qobject_cast<QComboBox*>(widget());
    if (box && (name == pressAction() || name == showMenuAction()) && box->isEnabled())
      return box->view()->isVisible() ? box->hidePopup() : box->showPopup();
    QAccessibleWidget::doAction(name);
  }

  void selection(int, int* begin, int* end) const override {
    const QLineEdit* typed = field();
    const bool some = typed && typed->hasSelectedText();
    *begin = some ? typed->selectionStart() : 0;
    *end = some ? typed->selectionEnd() : 0;
  }
  int selectionCount() const override { return field() && field()->hasSelectedText() ? 1 : 0; }
  void addSelection(int begin, int end) override { setSelection(0, begin, end); }
  void removeSelection(int) override {
    if (field()) field()->deselect();
  }
  void setSelection(int, int begin, int end) override {
    if (field()) field()->setSelection(begin, end - begin);
  }
  int cursorPosition() const override { return field() ? field()->cursorPosition() : 0; }
  void setCursorPosition(int position) override {
    if (field()) field()->setCursorPosition(position);
  }
  QString text(int begin, int end) const override { return heard_.text().mid(begin, end - begin); }
  int characterCount() const override { return int(heard_.text().size()); }
  QRect characterRect(int) const override { return rect(); }
  int offsetAtPoint(const QPoint&) const override { return -1; }
  void scrollToSubstring(int, int) override {}
  QString attributes(int, int* begin, int* end) const override {
    *begin = 0;
    *end = characterCount();
    return {};
  }

 private:
  QLineEdit* field() const {
    return qobject_cast<QAbstractSpinBox*>(widget()) ? widget()->findChild<QLineEdit*>() : nullptr;
  }
  const Heard heard_;
};

// Qt asks for each class of an object in turn, the most special one first.
QAccessibleInterface* spoken(const QString&, QObject* object) {
  if (!object || !object->isWidgetType()) return nullptr;
  auto* widget = static_cast<QWidget*>(object);
  if (const HeardKeeper* keeper = keeper_of(*widget))
    return new SpokenWidget(widget, keeper->heard);
  // A label of something else tells Qt what that is.
  if (const auto* label = qobject_cast<QLabel*>(widget))
    return label->buddy() || label->textFormat() == Qt::PlainText
               ? nullptr
               : new SpokenWidget(widget, {QAccessible::StaticText});
  auto* box = qobject_cast<QComboBox*>(widget);
  if (!box || box->isEditable()) return nullptr;
  return new SpokenWidget(box, {QAccessible::ComboBox, [box] {
                                  return box->currentIndex() < 0 ? box->placeholderText()
                                                                 : box->currentText();
                                }});
}

}  // namespace

void install_spoken() { QAccessible::installFactory(spoken); }

void speak_as(QWidget& widget, Heard heard) { new HeardKeeper(widget, std::move(heard)); }

QString heard_text(QWidget& widget) {
  QAccessibleInterface* const said = QAccessible::queryAccessibleInterface(&widget);
  QAccessibleTextInterface* const text = said ? said->textInterface() : nullptr;
  return text ? text->text(0, text->characterCount()) : QString();
}

void describe(QWidget& widget, const QString& description) {
  if (widget.accessibleDescription() != description) widget.setAccessibleDescription(description);
}

QString spoken_text(const QTextDocument& document) {
  QStringList lines;
  QTextFrame* root = document.rootFrame();
  for (QTextFrame::iterator at = root->begin(); at != root->end(); ++at) {
    if (const auto* table = qobject_cast<const QTextTable*>(at.currentFrame()))
      lines << spoken_table(*table);
    else if (at.currentBlock().isValid())
      lines << spoken_block(at.currentBlock());
  }
  lines.removeAll(QString());  // as around a table
  return lines.join(QLatin1Char('\n')).trimmed();
}

}  // namespace parallelarium

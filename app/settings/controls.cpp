// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/controls.h"

#include <QAbstractItemView>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QStyle>
#include <QTimer>
#include <QVariant>
#include <cstdlib>

#include "app/look/spoken.h"

namespace parallelarium {

void set_style_property(QWidget* widget, const char* name, const QVariant& value) {
  if (widget->property(name) == value) return;
  widget->setProperty(name, value);
  if (!widget->testAttribute(Qt::WA_WState_Polished)) return;  // it will be, before it is shown
  widget->style()->unpolish(widget);
  widget->style()->polish(widget);
  widget->update();
}

void make_caps(QLabel* label) {
  label->setProperty("role", "caps");
  QFont font = label->font();
  font.setLetterSpacing(QFont::AbsoluteSpacing, 0.66);
  label->setFont(font);
}

QLabel* make_label(const QString& text, QWidget* control) {
  auto* label = new QLabel(text, control->parentWidget());
  label->setProperty("role", "muted");
  label->setBuddy(control);
  return label;
}

StepBox::StepBox(const QString& accessible_name, Step step, QWidget* parent)
    : QAbstractSpinBox(parent), step_(std::move(step)) {
  speak_as(*this, {QAccessible::SpinBox, [this] { return text(); }, true});
  setAccessibleName(accessible_name);
  lineEdit()->setAccessibleName(accessible_name);
  lineEdit()->installEventFilter(this);
  setFixedHeight(26);
  setKeyboardTracking(false);
  connect(this, &QAbstractSpinBox::editingFinished, this, &StepBox::commit);
}

void StepBox::set_text(const QString& text) {
  set_ = !value_.isEmpty() && text == value_ ? word_ : text;
  if (lineEdit()->hasFocus() && lineEdit()->isModified()) return;
  lineEdit()->setText(set_);
  lineEdit()->setModified(false);
}

void StepBox::show_as(const QString& value, const QString& word) {
  value_ = value;
  word_ = word;
}

void StepBox::set_changed(bool changed) { set_style_property(this, "changed", changed); }
void StepBox::set_invalid(bool invalid) { set_style_property(this, "invalid", invalid); }

void StepBox::commit() {
  lineEdit()->setModified(false);
  const QString typed = lineEdit()->text().trimmed();
  if (typed != set_) Q_EMIT committed(typed == word_ ? value_ : typed);
}

void StepBox::stepBy(int steps) {
  if (lineEdit()->isModified()) commit();
  for (int at = 0; at < std::abs(steps); ++at) {
    const QString next = step_(steps > 0 ? +1 : -1);
    if (next.isEmpty()) return;
    Q_EMIT committed(next);
  }
}

// Anything may be typed: what is wrong with it is said in a sentence, not by refusing keys.
QValidator::State StepBox::validate(QString&, int&) const { return QValidator::Acceptable; }

QSize StepBox::sizeHint() const { return {86, 26}; }

QAbstractSpinBox::StepEnabled StepBox::stepEnabled() const {
  return StepUpEnabled | StepDownEnabled;
}

// The click that comes into the field selects all of it, once it has placed the cursor, so that
// typing replaces the value.
void StepBox::focusInEvent(QFocusEvent* event) {
  QAbstractSpinBox::focusInEvent(event);
  if (event->reason() == Qt::MouseFocusReason)
    QTimer::singleShot(0, lineEdit(), &QLineEdit::selectAll);
}

// A double click selects the whole number, not what stands between two separators.
bool StepBox::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::MouseButtonDblClick || watched != lineEdit())
    return QAbstractSpinBox::eventFilter(watched, event);
  lineEdit()->selectAll();
  return true;
}

// Ctrl+Z takes typing back only while something is being typed; else it is the window's undo.
bool StepBox::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride && !lineEdit()->isModified()) {
    auto* key = static_cast<QKeyEvent*>(event);
    if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo)) {
      key->ignore();
      return true;
    }
  }
  return QAbstractSpinBox::event(event);
}

void StepBox::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape && lineEdit()->isModified()) {
    lineEdit()->setText(set_);
    lineEdit()->setModified(false);
    return;
  }
  const bool enters = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  QAbstractSpinBox::keyPressEvent(event);
  if (enters) Q_EMIT entered();
}

void ChoiceBox::keyPressEvent(QKeyEvent* event) {
  const bool moves = event->key() == Qt::Key_Up || event->key() == Qt::Key_Down ||
                     event->key() == Qt::Key_Home || event->key() == Qt::Key_End ||
                     event->key() == Qt::Key_PageUp || event->key() == Qt::Key_PageDown;
  const bool letter = !event->text().isEmpty() && event->text().front().isPrint() &&
                      !(event->modifiers() & (Qt::ControlModifier | Qt::AltModifier));
  if (keeps_ >= 0 && currentIndex() == keeps_ && (moves || letter)) return showPopup();
  QComboBox::keyPressEvent(event);
}

void ChoiceBox::showPopup() {
  const int bar = style()->pixelMetric(QStyle::PM_ScrollBarExtent);
  view()->setMinimumWidth(view()->sizeHintForColumn(modelColumn()) + bar);
  QComboBox::showPopup();
}

// A wheel over the panel scrolls the panel, never a value.
void StepBox::wheelEvent(QWheelEvent* event) { event->ignore(); }

Segments::Segments(const QString& accessible_name, const std::vector<Choice>& choices,
                   QWidget* parent)
    : QFrame(parent), choices_(choices) {
  setObjectName(QStringLiteral("Segments"));
  speak_as(*this, {QAccessible::Grouping});
  setAccessibleName(accessible_name);
  setFixedHeight(26);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  for (const Choice& choice : choices_) {
    auto* button = new QToolButton(this);
    speak_as(*button, {QAccessible::RadioButton});
    button->setText(choice.text);
    button->setToolTip(choice.tool_tip);
    button->setCheckable(true);
    button->setAutoExclusive(true);
    button->setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Expanding);
    button->installEventFilter(this);
    row->addWidget(button);
    buttons_.push_back(button);
    connect(button, &QToolButton::clicked, this,
            [this, value = choice.value] { Q_EMIT chosen(value); });
  }
  round_ends();
}

// The first and the last that are there have round corners.
void Segments::round_ends() {
  QToolButton *first = nullptr, *last = nullptr;
  for (QToolButton* button : buttons_) {
    if (button->isHidden() && button->testAttribute(Qt::WA_WState_ExplicitShowHide)) continue;
    if (!first) first = button;
    last = button;
  }
  for (QToolButton* button : buttons_)
    set_style_property(button, "segment",
                       QString::fromLatin1(button == first  ? "first"
                                           : button == last ? "last"
                                                            : "middle"));
}

void Segments::set_choice_shown(const QString& choice, bool shown) {
  for (std::size_t at = 0; at < choices_.size(); ++at)
    if (choices_[at].value == choice) buttons_[at]->setVisible(shown);
  round_ends();
}

void Segments::set_value(const QString& value) {
  for (std::size_t at = 0; at < choices_.size(); ++at) {
    const bool on = choices_[at].value == value;
    buttons_[at]->setChecked(on);
    buttons_[at]->setFocusPolicy(on ? Qt::StrongFocus : Qt::ClickFocus);
  }
}

QString Segments::value() const {
  for (std::size_t at = 0; at < choices_.size(); ++at)
    if (buttons_[at]->isChecked()) return choices_[at].value;
  return {};
}

void Segments::set_choice_enabled(const QString& choice, bool enabled) {
  for (std::size_t at = 0; at < choices_.size(); ++at)
    if (choices_[at].value == choice) buttons_[at]->setEnabled(enabled);
}

void Segments::set_changed(bool changed) { set_style_property(this, "changed", changed); }

bool Segments::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    const int direction = key == Qt::Key_Right ? 1 : key == Qt::Key_Left ? -1 : 0;
    for (std::size_t at = 0; direction != 0 && at < buttons_.size(); ++at) {
      if (buttons_[at] != watched) continue;
      auto next = static_cast<std::size_t>(static_cast<int>(at) + direction);
      while (next < buttons_.size() && buttons_[next]->isHidden())
        next = static_cast<std::size_t>(static_cast<int>(next) + direction);
      if (next < buttons_.size()) {
        buttons_[next]->setFocus(Qt::TabFocusReason);
        buttons_[next]->click();
      }
      return true;
    }
  }
  return QFrame::eventFilter(watched, event);
}

SectionHead::SectionHead(const QString& title, QWidget* parent) : QWidget(parent) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  auto* label = new QLabel(title.toUpper(), this);
  make_caps(label);
  row->addWidget(label);
  row->addStretch();
  reset_ = new QToolButton(this);
  reset_->setObjectName(QStringLiteral("Link"));
  reset_->setText(tr("reset"));
  reset_->setAccessibleName(tr("Reset %1").arg(title));
  reset_->setToolTip(tr("Take back the changes of this section"));
  reset_->hide();
  row->addWidget(reset_);
  setFixedHeight(18);
  connect(reset_, &QToolButton::clicked, this, &SectionHead::reset_requested);
}

void SectionHead::set_changed(bool changed) { reset_->setVisible(changed); }

ElidedLabel::ElidedLabel(const QString& text, QWidget* parent) : QLabel(parent) {
  set_full_text(text);
}

void ElidedLabel::set_full_text(const QString& text) {
  if (text == full_) return;
  full_ = text;
  setAccessibleName(text);
  updateGeometry();
  elide();
}

void ElidedLabel::set_tip(const QString& tip) {
  tip_ = tip;
  elide();
}

QSize ElidedLabel::sizeHint() const {
  const QSize base = QLabel::sizeHint();
  return {fontMetrics().horizontalAdvance(full_) + 2 * margin() + 2, base.height()};
}

QSize ElidedLabel::minimumSizeHint() const { return {20, QLabel::minimumSizeHint().height()}; }

void ElidedLabel::resizeEvent(QResizeEvent* event) {
  QLabel::resizeEvent(event);
  elide();
}

void ElidedLabel::changeEvent(QEvent* event) {
  QLabel::changeEvent(event);
  if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) elide();
}

void ElidedLabel::elide() {
  const QString shown = fontMetrics().elidedText(full_, Qt::ElideRight, contentsRect().width());
  QStringList tips{shown == full_ ? QString() : full_, tip_};
  tips.removeAll(QString());
  setToolTip(tips.join(QLatin1Char('\n')));
  if (shown != text()) setText(shown);
}

}  // namespace parallelarium

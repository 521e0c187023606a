// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/sheet.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

#include "app/look/theme/focus_ring.h"

namespace parallelarium {

namespace {

constexpr int kAroundFocus = 12;  // left free above and below what is scrolled to

// Scrolls up and down alone: it is as wide as what it holds and its scroll bar need. What gets the
// focus is brought into view however that came, by a letter of its label too; Qt does so for Tab.
class ScrolledColumn : public QScrollArea {
 public:
  explicit ScrolledColumn(QWidget* parent) : QScrollArea(parent) {
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
      if (now && widget() && widget()->isAncestorOf(now)) ensureWidgetVisible(now, 0, kAroundFocus);
    });
    ring_focus(*this);
  }
  QSize minimumSizeHint() const override {
    QSize least = QScrollArea::minimumSizeHint();
    if (widget())
      least.setWidth(widget()->minimumSizeHint().width() + verticalScrollBar()->sizeHint().width() +
                     2 * frameWidth());
    return least;
  }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (watched == widget() && event->type() == QEvent::LayoutRequest) updateGeometry();
    return QScrollArea::eventFilter(watched, event);
  }
};

}  // namespace

// Before QDialog looks for a button to make the default one.
void Sheet::setVisible(bool visible) {
  if (visible)
    for (QPushButton* button : findChildren<QPushButton*>())
      if (!button->isDefault()) button->setAutoDefault(false);
  QDialog::setVisible(visible);
}

QVBoxLayout* Sheet::add_scrolled_column(QVBoxLayout* outer) {
  auto* area = new ScrolledColumn(this);
  auto* content = new QWidget;
  content->setObjectName(QStringLiteral("SelectionContent"));
  auto* column = new QVBoxLayout(content);
  area->setWidget(content);
  outer->addWidget(area, 1);
  return column;
}

QLabel* Sheet::add_whose(QVBoxLayout* column, const QString& whose) {
  if (whose.isEmpty()) return nullptr;
  auto* label = new QLabel(whose, this);
  label->setWordWrap(true);
  label->setObjectName(QStringLiteral("Whose"));
  column->addWidget(label);
  return label;
}

// A button that is no automatic default leaves Enter to its dialog.
void Sheet::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  auto* button = qobject_cast<QPushButton*>(focusWidget());
  if (!enter || !button) return QDialog::keyPressEvent(event);
  if (!event->isAutoRepeat()) button->click();
}

}  // namespace parallelarium

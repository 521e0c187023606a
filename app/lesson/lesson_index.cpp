// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/lesson_index.h"

#include <QDialogButtonBox>
#include <QGuiApplication>
#include <QListWidget>
#include <QMessageBox>
#include <QPainter>
#include <QPushButton>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "app/lesson/map/map_data.h"
#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/look/theme/theme.h"

namespace parallelarium {

namespace {

constexpr int kFolder = Qt::UserRole, kRefusal = Qt::UserRole + 1, kBegun = Qt::UserRole + 2;
constexpr int kSide = 12, kTop = 8, kLine = 18, kLeastWidth = 200;

// A lesson as a card: its name, its minutes at the right, and what it is about below. The words are
// the item's own text, line by line, so that a screen reader reads the same.
class LessonCard : public QStyledItemDelegate {
 public:
  explicit LessonCard(QListWidget* list) : QStyledItemDelegate(list), list_(list) {}

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override {
    const int width = std::max(kLeastWidth, list_->viewport()->width() - 2 * list_->spacing());
    const QRect room(0, 0, width - 2 * kSide, 10000);
    const QString about = index.data().toString().section(QLatin1Char('\n'), 2);
    const QFontMetrics metrics(theme_for(QGuiApplication::palette()).font(13));
    const int below = metrics.boundingRect(room, Qt::TextWordWrap, about).height();
    return {width, 2 * kTop + kLine + 4 + below};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    // Not of the list, whose ground is made transparent.
    const Theme& theme = theme_for(QGuiApplication::palette());
    const bool chosen = option.state & QStyle::State_Selected;
    const QRectF card = QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(chosen ? theme.accent_line : theme.control_line);
    painter->setBrush(chosen ? theme.accent_soft : theme.surface);
    painter->drawRoundedRect(card, 6, 6);
    const QRect inside = option.rect.adjusted(kSide, kTop, -kSide, -kTop);
    const QString words = index.data().toString();
    const QString facts = words.section(QLatin1Char('\n'), 1, 1);
    const QFont bold = theme.font(13, true), plain = theme.font(13), small = theme.font(11);
    const QRect head(inside.topLeft(), QSize(inside.width(), kLine));
    const int beside = QFontMetrics(small).horizontalAdvance(facts) + kSide;
    const QString name = QFontMetrics(bold).elidedText(words.section(QLatin1Char('\n'), 0, 0),
                                                       Qt::ElideRight, head.width() - beside);
    const bool off = !index.data(kRefusal).toString().isEmpty();
    painter->setFont(bold);
    painter->setPen(off ? theme.muted : theme.text);
    painter->drawText(head, Qt::AlignVCenter, name);
    painter->setFont(small);
    painter->setPen(theme.muted);
    painter->drawText(head, Qt::AlignVCenter | Qt::AlignRight, facts);
    painter->setFont(plain);
    painter->drawText(inside.adjusted(0, kLine + 4, 0, kTop), Qt::TextWordWrap,
                      words.section(QLatin1Char('\n'), 2));
    painter->restore();
  }

 private:
  const QListWidget* list_;
};

}  // namespace

LessonList::LessonList(LessonPlayer& player, QWidget* parent)
    : QWidget(parent), player_(player), list_(new QListWidget) {
  setObjectName(QStringLiteral("LessonIndex"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  list_->setAccessibleName(tr("Lessons"));
  list_->setWordWrap(true);
  list_->setSpacing(4);
  list_->setItemDelegate(new LessonCard(list_));
  list_->setResizeMode(QListView::Adjust);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  column->addWidget(list_);
  setFocusProxy(list_);
  connect(list_, &QListWidget::itemActivated, this, &LessonList::open_current);
  connect(list_, &QListWidget::currentItemChanged, this, &LessonList::current_changed);
}

LessonIndex::LessonIndex(LessonPlayer& player, QWidget* parent) : Sheet(parent) {
  resize(460, 420);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 16, 16, 16);
  column->setSpacing(12);
  auto* list = new LessonList(player);
  list->fill();
  setWindowTitle(list->title());
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  QPushButton* open = buttons->addButton(QString(), QDialogButtonBox::AcceptRole);
  open->setProperty("primary", true);
  open->setDefault(true);
  const auto follow = [open, list] {
    open->setText(list->goes_on() ? tr("Continue") : tr("Start"));
    open->setEnabled(list->can_open());
  };
  follow();
  column->addWidget(list);
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::accepted, list, &LessonList::open_current);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(list, &LessonList::opened, this, &QDialog::accept);
  connect(list, &LessonList::current_changed, open, follow);
}

void LessonList::fill() {
  list_->clear();
  const MapData map = read_map(player_);
  title_ = map.title.isEmpty() ? tr("Lessons") : map.title;
  if (!map.error.isEmpty()) {
    list_->addItem(map.error);
    list_->item(0)->setData(kRefusal, map.error);
    return;
  }
  int number = 0;
  for (const MapLesson& lesson : map.lessons) {
    QString words = QStringLiteral("%1. %2").arg(++number).arg(lesson.title);
    if (!lesson.steps.empty()) {
      QString facts = minutes_text(lesson.minutes);
      if (lesson.mastered)
        facts += QStringLiteral(" · ✓✓ ") + tr("mastered");
      else if (lesson.done)
        facts += QStringLiteral(" · ✓ ") + tr("done");
      words += QStringLiteral("\n%1\n%2").arg(facts, lesson.summary);
    }
    if (!lesson.refusal.isEmpty()) words += QLatin1Char('\n') + lesson.refusal;
    auto* item = new QListWidgetItem(words, list_);
    item->setData(kFolder, lesson.folder);
    item->setData(kRefusal, lesson.refusal);
    item->setData(kBegun, lesson.begun);
    if (player_.is_open() && player_.lesson().id == lesson.id.toStdString())
      list_->setCurrentItem(item);
  }
  if (!list_->currentItem()) list_->setCurrentRow(0);
}

bool LessonList::can_open() const {
  const QListWidgetItem* item = list_->currentItem();
  return item && item->data(kRefusal).toString().isEmpty();
}

bool LessonList::goes_on() const {
  const QListWidgetItem* item = list_->currentItem();
  return item && item->data(kBegun).toBool();
}

void LessonList::open_current() {
  if (!can_open()) return;
  const Result<void> done = player_.go_on(list_->currentItem()->data(kFolder).toString());
  if (done) {
    Q_EMIT opened();
    return;
  }
  QMessageBox::warning(this, tr("Lesson"), sentence(done.error()));
}

}  // namespace parallelarium

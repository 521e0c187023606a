// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/map/course_map.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>

#include "app/lesson/index/course_index.h"
#include "app/lesson/map/cheat_sheet.h"
#include "app/lesson/map/door.h"
#include "app/lesson/map/lesson_picture.h"
#include "app/lesson/map/lesson_tile.h"
#include "app/lesson/map/map_parts.h"
#include "app/lesson/map/unit_board.h"
#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/look/theme/theme.h"
#include "app/settings/controls.h"

namespace parallelarium {

namespace {

constexpr int kReviewMinutes = 1;  // a question
constexpr int kMostReviewed = 5;   // questions at a time
constexpr int kHeadFrom = 1200;    // width with room for the counts beside the search

// What the marks of tiles and the arrows between units mean.
QString marks_legend(const Theme& theme) {
  const auto mark = [](const QString& sign, const QColor& color) {
    return QStringLiteral("<span style=\"color:%1\">%2</span>&nbsp;").arg(color.name(), sign);
  };
  const QString gap = QStringLiteral("&nbsp;&nbsp;&nbsp;");
  return mark(QStringLiteral("✓"), theme.accent_line) + CourseMap::tr("done") + gap +
         mark(QStringLiteral("✓✓"), theme.accent_line) + CourseMap::tr("mastered") + gap +
         mark(QStringLiteral("●"), theme.mark) + CourseMap::tr("due for review") + gap +
         mark(QStringLiteral("→"), theme.muted) +
         CourseMap::tr("to a unit that builds on this one");
}

}  // namespace

CourseMap::CourseMap(LessonPlayer& player, QWidget* parent) : QWidget(parent), player_(player) {
  setObjectName(QStringLiteral("CourseMap"));
  setAttribute(Qt::WA_StyledBackground);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  auto* column = new QVBoxLayout;
  column->setContentsMargins(16, 14, 16, 0);
  column->setSpacing(12);
  doors_ = make_doors();
  column->addWidget(doors_);
  card_ = make_card();
  column->addWidget(card_);
  head_ = make_head();
  column->addWidget(head_);
  scroll_ = new QScrollArea;
  scroll_->setAccessibleName(tr("Lessons by unit"));
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setWidgetResizable(true);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  column->addWidget(scroll_, 1);
  row->addLayout(column, 1);
  side_ = make_side();
  row->addWidget(side_);
  setFocusProxy(go_on_);
}

// What comes next, and the button that goes there.
QWidget* CourseMap::make_card() {
  auto* card = new QFrame;
  card->setObjectName(QStringLiteral("GoOn"));
  auto* line = new QHBoxLayout(card);
  line->setContentsMargins(18, 12, 16, 12);
  auto* words = new QVBoxLayout;
  words->setSpacing(2);
  go_on_title_ = plain_label("title");
  go_on_about_ = plain_label("muted");
  words->addWidget(go_on_title_);
  words->addWidget(go_on_about_);
  go_on_ = new QPushButton;
  go_on_->setProperty("primary", true);
  connect(go_on_, &QPushButton::clicked, this, [this] {
    if (next_) start(*next_, false);
  });
  review_ = new QPushButton;
  review_->setToolTip(
      tr("One question of each lesson that is due, with new numbers; at most %1 at a "
         "time")
          .arg(kMostReviewed));
  connect(review_, &QPushButton::clicked, this, [this] {
    QStringList folders;
    for (const std::size_t lesson : data_.due()) folders << data_.lessons[lesson].folder;
    const Result<void> opened = player_.review(folders.mid(0, kMostReviewed));
    if (!opened) return void(QMessageBox::warning(this, tr("Lesson"), sentence(opened.error())));
    Q_EMIT started();
  });
  line->addLayout(words, 1);
  line->addWidget(review_);
  line->addWidget(go_on_);
  return card;
}

// Above the units: how much is done, the search, and what concerns all lessons.
QWidget* CourseMap::make_head() {
  counts_ = new QLabel;
  counts_->setWordWrap(true);
  search_ = new QLineEdit;
  search_->setPlaceholderText(tr("Find a lesson"));
  search_->setAccessibleName(search_->placeholderText());
  search_->setClearButtonEnabled(true);
  search_->setFixedWidth(kSearchWidth);
  search_->setTextMargins(6, 0, 6, 0);
  connect(search_, &QLineEdit::textChanged, this, &CourseMap::narrow);
  connect(search_, &QLineEdit::returnPressed, this, &CourseMap::focus_first);
  basics_ = new QPushButton(tr("I know the basics …"));
  basics_->setToolTip(tr("A question from each of several lessons; what you know can be skipped"));
  connect(basics_, &QPushButton::clicked, this, [this] {
    const Result<void> asked = player_.place(data_.basics);
    if (!asked) return void(QMessageBox::warning(this, tr("Lesson"), sentence(asked.error())));
    Q_EMIT started();
  });
  auto* index = new QPushButton(tr("Index and sources …"));
  index->setToolTip(
      tr("Every concept with the lessons that introduce it, and every source that they cite"));
  connect(index, &QPushButton::clicked, this, &CourseMap::show_index);
  sheet_ = new QPushButton(tr("What to take away …"));
  sheet_->setToolTip(tr("Of every lesson you have done: what to keep, on two printed pages"));
  connect(sheet_, &QPushButton::clicked, this,
          [this] { show_cheat_sheet(player_.progress(), this); });
  auto* head = new QWidget;
  head_row_ = new QBoxLayout(QBoxLayout::LeftToRight, head);
  head_row_->setContentsMargins(0, 0, 0, 0);
  head_row_->addWidget(counts_, 1);
  auto* row = new QHBoxLayout;
  for (QWidget* part : std::initializer_list<QWidget*>{search_, basics_, index, sheet_})
    row->addWidget(part);
  row->addStretch();
  head_row_->addLayout(row);
  return head;
}

// While nothing was begun: three ways to begin.
QWidget* CourseMap::make_doors() {
  auto* doors = new QWidget;
  auto* row = new QHBoxLayout(doors);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(12);
  learn_ = new Door(tr("Learn"), {}, true);
  connect(learn_, &QAbstractButton::clicked, this, [this] {
    if (next_) start(*next_, false);
  });
  auto* plan = new Door(
      tr("Plan my training"),
      tr("Choose a model and a machine, and see time, memory and traffic predicted."), false);
  connect(plan, &QAbstractButton::clicked, this, &CourseMap::plan_wanted);
  auto* open =
      new Door(tr("Open"), tr("A setup, a document or a picture that this program saved."), false);
  connect(open, &QAbstractButton::clicked, this, &CourseMap::open_wanted);
  for (Door* door : {learn_, plan, open}) row->addWidget(door, 1);
  return doors;
}

void CourseMap::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  fill();
}

bool CourseMap::open_search() {
  if (!search_->isVisible()) return false;
  search_->setFocus(Qt::ShortcutFocusReason);
  search_->selectAll();
  return true;
}

void CourseMap::focus_first() {
  for (LessonTile* tile : tiles_)
    if (tile) {
      tile->setFocus(Qt::ShortcutFocusReason);
      return scroll_->ensureWidgetVisible(tile);
    }
}

// Down leads from the search to what it found.
void CourseMap::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Down && search_->hasFocus()) return focus_first();
  QWidget::keyPressEvent(event);
}

void CourseMap::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  tells_finished_ = false;
}

void CourseMap::tell_finished() {
  tells_finished_ = player_.finished_lesson() != nullptr;
  refresh();
}

void CourseMap::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  head_row_->setDirection(width() < kHeadFrom ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
  if (isVisible()) lay_out();
}

// Reads every lesson, and what is done by now.
void CourseMap::fill() {
  data_ = read_map(player_);
  const LessonPlayer::Finished* finished = tells_finished_ ? player_.finished_lesson() : nullptr;
  next_ = finished ? data_.next_after(finished->folder) : data_.next();
  if (!data_.error.isEmpty() || data_.lessons.empty()) {
    go_on_title_->setText(tr("Lessons"));
    go_on_about_->setText(data_.error.isEmpty() ? tr("There are no lessons.") : data_.error);
    for (QWidget* part : std::initializer_list<QWidget*>{go_on_, review_, doors_, head_, side_})
      part->hide();
    return;
  }
  head_->show();
  if (next_) {
    MapLesson lesson = data_.lessons[*next_];
    if (data_.playlist)  // it may give the lesson other minutes
      for (std::size_t at = 0; at < data_.playlist->lessons.size(); ++at)
        if (data_.playlist->lessons[at] == *next_) lesson.minutes = data_.playlist->minutes[at];
    go_on_title_->setText(finished ? tr("✓ Done: %1").arg(finished->title) : lesson.title);
    go_on_about_->setText(finished ? tr("Next: %1").arg(lesson.title) + QStringLiteral(" · ") +
                                         about_next(lesson)
                                   : about_next(lesson));
  } else {
    go_on_title_->setText(tr("You have done every lesson"));
    go_on_about_->setText(tr("Open any of them again, or go on in Explore."));
  }
  const bool exam = player_.exam();
  const bool fresh =
      next_ && data_.done() == 0 && !data_.lessons[*next_].begun && !exam && !data_.playlist;
  doors_->setVisible(fresh);
  card_->setVisible(!fresh);
  setFocusProxy(fresh ? static_cast<QWidget*>(learn_) : go_on_);
  if (fresh)
    learn_->set_about(
        tr("Begin with “%1”, %2. Nothing has to be known before.")
            .arg(data_.lessons[*next_].title, minutes_text(data_.lessons[*next_].minutes)));
  const auto due = static_cast<int>(data_.due().size());
  const int asked = std::min(due, kMostReviewed);
  review_->setText((due == 1      ? tr("Review: 1 due")
                    : asked < due ? tr("Review: %1 of %2 due").arg(asked).arg(due)
                                  : tr("Review: %1 due").arg(due)) +
                   QStringLiteral(" · ") + minutes_text(kReviewMinutes * asked));
  review_->setVisible(due > 0 && !exam);
  go_on_->setVisible(next_.has_value());
  const bool begun = next_ && data_.lessons[*next_].begun;
  go_on_->setText(finished ? tr("Next lesson") : begun ? tr("Continue") : tr("Start"));
  // Keys arrive at this button, so it says what the card above it says.
  go_on_->setAccessibleDescription(go_on_title_->text().remove(QStringLiteral("✓ ")) +
                                   QStringLiteral(". ") + go_on_about_->text());
  sheet_->setVisible(data_.done() > 0 && !exam);
  const bool placed = std::any_of(data_.lessons.begin(), data_.lessons.end(),
                                  [](const MapLesson& lesson) { return lesson.known; });
  basics_->setVisible(!exam && data_.done() == 0 && !placed && !data_.basics.isEmpty());
  counts_->setText(tr("<b>%1 lessons · %2 done, %3 mastered · about %4 left</b> · Nothing is "
                      "locked: open any lesson.")
                       .arg(data_.lessons.size())
                       .arg(data_.done())
                       .arg(data_.mastered())
                       .arg(hours_text(data_.minutes_left())) +
                   QStringLiteral("<br>") + marks_legend(theme_for(palette())));
  if (exam)
    counts_->setText(
        tr("<b>Exam</b> · Lessons that you open now have no hints and no answers, and "
           "each question is answered once. The planner is off."));
  columns_ = 0;
  chosen_ = next_.value_or(0);
  lay_out();
  choose(chosen_);
  if (finished) show_finished();
}

// What was asked and answered, in place of what the next lesson is about.
void CourseMap::show_finished() {
  const LessonPlayer::Finished& finished = *player_.finished_lesson();
  details_place_->hide();
  picture_->hide();
  details_title_->setText(tr("✓ Done: %1").arg(finished.title));
  details_->setTextFormat(Qt::MarkdownText);
  details_->setText(finished.summary);
  side_->verticalScrollBar()->setValue(0);
  start_->hide();  // go_on_ leads to the next lesson
  anew_->hide();
}

// "Pipelines · part 2 of 6 · about 8 minutes left", and before its begin "Pipelines · 12 minutes"
QString CourseMap::about_next(const MapLesson& lesson) const {
  QString about = next_of_playlist();
  if (about.isEmpty()) about = data_.unit_of(*next_).title;
  about += QStringLiteral(" · ");
  if (lesson.done) about += tr("once more") + QStringLiteral(" · ");
  if (!lesson.begun) return about + hours_text(lesson.minutes);
  about += tr("part %1 of %2").arg(lesson.reached).arg(lesson.steps.size()) + QStringLiteral(" · ");
  return about + tr("about %1 left").arg(hours_text(lesson.minutes_left()));
}

// "Monday, 2 of 4", where the next lesson is one of the playlist.
QString CourseMap::next_of_playlist() const {
  if (!data_.playlist) return {};
  const std::vector<std::size_t>& list = data_.playlist->lessons;
  const auto at = std::find(list.begin(), list.end(), *next_);
  if (at == list.end()) return {};
  return tr("%1, %2 of %3").arg(data_.playlist->title).arg(at - list.begin() + 1).arg(list.size());
}

void CourseMap::choose(std::size_t lesson) {
  chosen_ = lesson;
  for (std::size_t at = 0; at < tiles_.size(); ++at)
    if (tiles_[at]) tiles_[at]->setChecked(at == lesson);
  if (data_.playlist)
    for (std::size_t at = 0; at < listed_.size(); ++at)
      listed_[at]->setChecked(data_.playlist->lessons[at] == lesson);
  if (board_)
    for (std::size_t at = 0; at < data_.units.size(); ++at)
      if (&data_.units[at] == &data_.unit_of(lesson)) board_->choose(at);
  show_details();
}

void CourseMap::show_index() {
  auto* index = new CourseIndexSheet(this);
  index->setAttribute(Qt::WA_DeleteOnClose);
  connect(index, &CourseIndexSheet::lesson_wanted, this, [this](const QString& id) {
    for (std::size_t at = 0; at < data_.lessons.size(); ++at)
      if (data_.lessons[at].id == id) return start(at, false);
  });
  index->show();
}

void CourseMap::start(std::size_t lesson, bool anew) {
  const MapLesson& wanted = data_.lessons[lesson];
  if (!wanted.refusal.isEmpty()) return choose(lesson);
  const Result<void> opened = anew ? player_.open(wanted.folder) : player_.go_on(wanted.folder);
  if (!opened) return void(QMessageBox::warning(this, tr("Lesson"), sentence(opened.error())));
  // Later: the tile that was opened is made anew with the list.
  QMetaObject::invokeMethod(search_, &QLineEdit::clear, Qt::QueuedConnection);
  Q_EMIT started();
}

}  // namespace parallelarium

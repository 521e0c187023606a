// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the map that puts lessons in their place: the playlist above, the units in columns
// below it, only those that are searched for, and on the right the one that is chosen.
#include <QFrame>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "app/lesson/map/course_map.h"
#include "app/lesson/map/lesson_picture.h"
#include "app/lesson/map/lesson_tile.h"
#include "app/lesson/map/map_parts.h"
#include "app/lesson/map/unit_board.h"
#include "app/look/figures.h"
#include "app/settings/controls.h"

namespace parallelarium {

namespace {

constexpr int kLeastColumn = 168, kSideFrom = 1000;
constexpr std::size_t kMostColumns = 6;
constexpr int kRightEdge = UnitBoard::kGap / 2 + 2;  // room for an arrow beside the last column

}  // namespace

QString hours_text(int minutes) {
  if (minutes < 60) return minutes_text(minutes);
  return CourseMap::tr("%1 h %2 min").arg(minutes / 60).arg(minutes % 60);
}

// On the right: about the lesson that is chosen.
QScrollArea* CourseMap::make_side() {
  auto* page = new QWidget;
  page->setObjectName(QStringLiteral("MapSide"));
  auto* side = new QVBoxLayout(page);
  side->setContentsMargins(16, 16, 16, 16);
  side->setSpacing(10);
  details_place_ = wrapped_label("muted");
  details_title_ = wrapped_label("title");
  picture_ = new LessonPicture;
  details_ = wrapped_label("");
  details_->setTextFormat(Qt::RichText);
  details_->setAlignment(Qt::AlignTop);
  anew_ = new QPushButton(tr("Start anew"));
  start_ = new QPushButton(tr("Start"));  // the primary button stands above the units
  connect(start_, &QPushButton::clicked, this, [this] { start(chosen_, false); });
  connect(anew_, &QPushButton::clicked, this, [this] { start(chosen_, true); });
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(anew_);
  buttons->addStretch();
  buttons->addWidget(start_);
  side->addWidget(details_place_);
  side->addWidget(details_title_);
  side->addWidget(picture_);
  side->addWidget(details_);
  side->addStretch();
  side->addLayout(buttons);
  auto* scroll = new QScrollArea;
  scroll->setObjectName(QStringLiteral("RightPanel"));
  scroll->setAccessibleName(tr("About the lesson that is chosen"));
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setWidget(page);
  scroll->setFixedWidth(kMapSideWidth);
  return scroll;
}

void CourseMap::show_details() {
  const MapLesson& lesson = data_.lessons[chosen_];
  const MapUnit& unit = data_.unit_of(chosen_);
  details_title_->setText(lesson.title);
  const Result<Lesson> read = read_lesson(lesson.folder.toStdString());
  picture_->show_drawing(read ? drawing_of(*read) : LessonDrawing());
  const auto head = [](const QString& text) {
    return QStringLiteral(
               "<p style=\"margin-top:12px; margin-bottom:2px\"><small><b>%1</b></small></p>")
        .arg(text.toUpper().toHtmlEscaped());
  };
  QString text = QStringLiteral("<p>%1</p>").arg(lesson.summary.toHtmlEscaped());
  if (!lesson.refusal.isEmpty())
    text += QStringLiteral("<p><b>%1</b></p>").arg(lesson.refusal.toHtmlEscaped());
  const auto place = std::find(unit.lessons.begin(), unit.lessons.end(), chosen_);
  details_place_->setText(unit.lessons.size() == 1 ? unit.title
                                                   : tr("%1 · lesson %2 of %3")
                                                         .arg(unit.title)
                                                         .arg(place - unit.lessons.begin() + 1)
                                                         .arg(unit.lessons.size()));
  details_place_->show();
  const auto listed = [&](const QString& title, const QStringList& titles) {
    if (!titles.isEmpty())
      text += head(title) + titles.join(QStringLiteral("\n"))
                                .toHtmlEscaped()
                                .replace(QLatin1Char('\n'), QStringLiteral("<br>"));
  };
  QStringList afterwards;
  for (const QString& ability : lesson.afterwards) afterwards << QStringLiteral("· ") + ability;
  listed(tr("Afterwards you can"), afterwards);
  listed(tr("Builds on"), data_.builds_on(chosen_));
  listed(tr("Leads to"), data_.leads_to(chosen_));
  text += head(lesson.steps.size() == 1
                   ? tr("One part, %1").arg(minutes_text(lesson.minutes))
                   : tr("%1 parts, %2").arg(lesson.steps.size()).arg(minutes_text(lesson.minutes)));
  QStringList steps;
  for (std::size_t at = 0; at < lesson.steps.size(); ++at) {
    const MapStep& step = lesson.steps[at];
    QString line = QStringLiteral("%1 %2").arg(at + 1).arg(step.title.toHtmlEscaped());
    if (!kind_words(step.kind).isEmpty()) line += QStringLiteral(" · ") + kind_words(step.kind);
    if (lesson.done || at + 1 < lesson.reached) line += QStringLiteral(" ✓");
    const bool here = lesson.begun && at + 1 == lesson.reached;
    steps << (here ? QStringLiteral("<b>") + line + QStringLiteral("</b>") : line);
  }
  text += steps.join(QStringLiteral("<br>"));
  text += head(tr("Uses")) +
          (lesson.tabs.isEmpty() ? QString()
                                 : lesson.tabs.join(QStringLiteral(", ")) + QStringLiteral(" · ")) +
          (lesson.ranks == 1 ? tr("1 rank") : tr("%1 ranks").arg(lesson.ranks));
  text += head(tr("Name in a playlist")) + lesson.id.toHtmlEscaped();
  details_->setTextFormat(Qt::RichText);
  details_->setText(text);
  start_->show();
  start_->setText(lesson.begun ? tr("Continue, part %1").arg(lesson.reached) : tr("Start"));
  start_->setEnabled(lesson.refusal.isEmpty());
  anew_->setVisible(!player_.exam() && lesson.begun && lesson.refusal.isEmpty());
}

void CourseMap::narrow() {
  columns_ = 0;
  lay_out();
  const auto shown = std::count_if(tiles_.begin(), tiles_.end(),
                                   [](const LessonTile* tile) { return tile != nullptr; });
  search_->setAccessibleDescription(
      search_->text().isEmpty() ? QString()
                                : tr("%1 of %2 lessons found").arg(shown).arg(tiles_.size()));
}

std::vector<std::size_t> CourseMap::found(const MapUnit& unit) const {
  std::vector<std::size_t> lessons;
  for (const std::size_t lesson : unit.lessons)
    if (data_.matches(lesson, search_->text())) lessons.push_back(lesson);
  return lessons;
}

LessonTile* CourseMap::make_tile(const MapLesson& shown, std::size_t lesson) {
  auto* tile = new LessonTile(shown, next_ == lesson);
  connect(tile, &QAbstractButton::clicked, this, [this, lesson] { choose(lesson); });
  connect(tile, &LessonTile::opened, this, [this, lesson] { start(lesson, false); });
  connect(tile, &LessonTile::arrow_pressed, this,
          [this, tile](int key) { move_focus(*tile, key); });
  return tile;
}

// Right and left lead to the nearest column of the same board, there to what stands beside; up and
// down stay in the column, and lead from the playlist to the units below it.
void CourseMap::move_focus(const LessonTile& from, int key) {
  const QWidget& page = *scroll_->widget();
  const auto place = [&page](const LessonTile& tile) {
    return QRect(tile.mapTo(&page, QPoint(0, 0)), tile.size());
  };
  const bool across = key == Qt::Key_Left || key == Qt::Key_Right;
  const bool is_listed = std::find(listed_.begin(), listed_.end(), &from) != listed_.end();
  std::vector<LessonTile*> others;
  if (!across || is_listed) others = listed_;
  if (!across || !is_listed) others.insert(others.end(), tiles_.begin(), tiles_.end());
  const QRect here = place(from);
  LessonTile* nearest = nullptr;
  std::pair<int, int> least;
  for (LessonTile* other : others) {
    if (!other) continue;
    const QRect there = place(*other);
    const int ahead = key == Qt::Key_Right  ? there.left() - here.right()
                      : key == Qt::Key_Left ? here.left() - there.right()
                      : key == Qt::Key_Down ? there.top() - here.bottom()
                                            : here.top() - there.bottom();
    const bool in_line = across || (there.left() <= here.right() && here.left() <= there.right());
    if (ahead <= 0 || !in_line) continue;
    const QPoint apart = there.center() - here.center();
    const std::pair distance(ahead, std::abs(across ? apart.y() : apart.x()));
    if (nearest && distance >= least) continue;
    nearest = other;
    least = distance;
  }
  if (!nearest) return;
  nearest->setFocus(Qt::ShortcutFocusReason);
  nearest->click();
  scroll_->ensureWidgetVisible(nearest);
}

QWidget* CourseMap::make_unit(const MapUnit& unit) {
  auto* box = new QFrame;
  box->setObjectName(QStringLiteral("MapUnit"));
  box->setAccessibleName(unit.title);
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(8, 8, 8, 8);
  column->setSpacing(8);
  auto* head = new QHBoxLayout;
  auto* title = wrapped_label("strong");
  title->setText(unit.title);
  std::size_t done = 0;
  for (const std::size_t lesson : unit.lessons) done += data_.lessons[lesson].done;
  auto* count = new QLabel(tr("%1 of %2").arg(done).arg(unit.lessons.size()));
  set_style_property(count, "role", "small");
  head->addWidget(title, 1);
  head->addWidget(count, 0, Qt::AlignTop);
  column->addLayout(head);
  if (!unit.after.isEmpty()) {
    auto* after = wrapped_label("small");
    QStringList titles;
    for (const QString& title : unit.after)
      titles << tr("%1", "a unit's title in a line").arg(title);
    after->setText(tr("after %1").arg(titles.join(QStringLiteral(", "))));
    column->addWidget(after);
  }
  for (const std::size_t lesson : found(unit)) {
    tiles_[lesson] = make_tile(data_.lessons[lesson], lesson);
    column->addWidget(tiles_[lesson]);
  }
  return box;
}

// The teacher's list: its lessons in a row or two, numbered.
QWidget* CourseMap::make_playlist(int columns) {
  const MapPlaylist& list = *data_.playlist;
  auto* box = new QFrame;
  box->setObjectName(QStringLiteral("MapPlaylist"));
  box->setAccessibleName(tr("Playlist: %1").arg(list.title));
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(8, 8, 8, 8);
  column->setSpacing(8);
  auto* head = new QHBoxLayout;
  auto* title = plain_label("strong");
  title->setText(tr("Playlist: %1").arg(list.title));
  std::size_t done = 0;
  int minutes = 0;
  auto* grid = new QGridLayout;
  grid->setSpacing(8);
  for (int at = 0; at < columns; ++at) grid->setColumnStretch(at, 1);
  for (std::size_t at = 0; at < list.lessons.size(); ++at) {
    MapLesson lesson = data_.lessons[list.lessons[at]];
    done += lesson.done;
    minutes += lesson.done ? 0 : list.minutes[at];
    lesson.title = QStringLiteral("%1 · %2").arg(at + 1).arg(lesson.title);
    lesson.minutes = list.minutes[at];
    listed_.push_back(make_tile(lesson, list.lessons[at]));
    grid->addWidget(listed_.back(), static_cast<int>(at) / columns, static_cast<int>(at) % columns,
                    Qt::AlignTop);
  }
  auto* count = new QLabel(done == list.lessons.size() ? tr("all done")
                                                       : tr("%1 of %2 · about %3 left")
                                                             .arg(done)
                                                             .arg(list.lessons.size())
                                                             .arg(hours_text(minutes)));
  set_style_property(count, "role", "small");
  auto* close = new QPushButton(tr("Close"));
  close->setToolTip(tr("Takes the playlist away; what is done stays"));
  connect(close, &QPushButton::clicked, this, &CourseMap::playlist_closed, Qt::QueuedConnection);
  head->addWidget(title, 1);
  head->addWidget(count);
  head->addWidget(close);
  column->addLayout(head);
  column->addLayout(grid);
  return box;
}

// As many columns as have room; the units stand in the course's order, column by column, so that
// columns are about equally high.
void CourseMap::lay_out() {
  side_->setVisible(width() >= kSideFrom && !data_.lessons.empty());
  if (data_.lessons.empty()) return;
  std::vector<std::size_t> shown;  // units
  std::size_t left = 0;
  for (std::size_t at = 0; at < data_.units.size(); ++at)
    if (const std::size_t lessons = found(data_.units[at]).size(); lessons > 0) {
      shown.push_back(at);
      left += lessons + 2;
    }
  const int room = width() - 32 - (side_->isHidden() ? 0 : kMapSideWidth) - 12;
  const int fits = std::clamp(room / kLeastColumn, 1, static_cast<int>(kMostColumns));
  if (fits == columns_) return;
  columns_ = fits;
  const int columns = std::min(fits, std::max(1, static_cast<int>(shown.size())));
  tiles_.assign(data_.lessons.size(), nullptr);
  listed_.clear();
  auto* page = new QWidget;
  page->setObjectName(QStringLiteral("MapUnits"));
  auto* whole = new QVBoxLayout(page);
  whole->setContentsMargins(0, 0, 0, 12);
  whole->setSpacing(0);
  if (data_.playlist && !data_.playlist->lessons.empty()) {
    auto* above = new QHBoxLayout;
    above->setContentsMargins(0, 0, kRightEdge, 0);
    above->addWidget(make_playlist(fits));
    whole->addLayout(above);
  }
  if (shown.empty()) {
    auto* none = plain_label("muted");
    none->setText(tr("No lesson has “%1”.").arg(search_->text()));
    whole->addSpacing(UnitBoard::kLane);
    whole->addWidget(none);
    whole->addStretch();
    board_ = nullptr;
    return scroll_->setWidget(page);
  }
  board_ = new UnitBoard;
  auto* row = new QHBoxLayout(board_);
  row->setContentsMargins(0, UnitBoard::kLane, kRightEdge, 0);
  row->setSpacing(UnitBoard::kGap);
  std::size_t unit = 0;
  for (int at = 0; at < fits; ++at) {
    auto* column = new QVBoxLayout;
    column->setSpacing(UnitBoard::kGap);
    row->addLayout(column, 1);
    if (at >= columns) continue;  // what was found keeps the width of the whole map
    const std::size_t share = (left + static_cast<std::size_t>(columns - at) - 1) /
                              static_cast<std::size_t>(columns - at);
    std::size_t taken = 0;
    while (unit < shown.size()) {
      const std::size_t size = found(data_.units[shown[unit]]).size() + 2;
      const std::size_t others = shown.size() - unit;
      const bool must = taken == 0;
      // What does not fit goes on to the next column, which must not stay empty.
      if (!must &&
          (taken + size > share + 1 || others <= static_cast<std::size_t>(columns - at - 1)))
        break;
      QWidget* box = make_unit(data_.units[shown[unit]]);
      column->addWidget(box);
      board_->add(shown[unit], box, at);
      taken += size;
      ++unit;
    }
    left -= std::min(left, taken);
    column->addStretch();
  }
  for (const std::size_t later : shown)
    for (const std::size_t earlier : data_.units[later].needs) board_->add_arrow(earlier, later);
  whole->addWidget(board_);
  whole->addStretch();
  scroll_->setWidget(page);
  choose(chosen_);
  if (tells_finished_ && player_.finished_lesson()) show_finished();
}

}  // namespace parallelarium

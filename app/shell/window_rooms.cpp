// SPDX-License-Identifier: GPL-3.0-or-later
// The rooms of the window: which views stand in the centre, and what is around them.
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <algorithm>

#include "app/export/export.h"
#include "app/lesson/lesson_panel.h"
#include "app/lesson/map/course_map.h"
#include "app/look/sentence.h"
#include "app/shell/window.h"
#include "app/state/run/run_advice.h"
#include "app/views/shared/words/plan_words.h"
#include "engine/wire/view_ids.h"

namespace parallelarium {

// Learn has no views while no lesson is open, or the map was asked for.
bool Window::shows_index() const {
  return room_ == Room::kLearn && (map_over_lesson_ || !lesson_->player().is_open());
}

// Of a lesson, the views that its steps name; of the other rooms, their own.
bool Window::has_tab(Room room, const ViewInfo& view) const {
  if (room != Room::kLearn) return view.room == room;
  if (!lesson_->player().is_open()) return false;
  const std::vector<Step>& steps = lesson_->player().lesson().steps;
  const auto names_one = [](const Step& step) { return !step.tab.empty(); };
  if (std::none_of(steps.begin(), steps.end(), names_one)) return &view == &first_view();
  return std::any_of(steps.begin(), steps.end(),
                     [&](const Step& step) { return parallelarium::view_of(step.tab) == view.id; });
}

void Window::show_view(const QString& id) {
  const ViewInfo* wanted = find_view(id);
  if (!wanted) return;
  if (!has_tab(room_, *wanted) && !show_room(wanted->room)) return;
  tabs_->setCurrentIndex(int(wanted - parallelarium::views().data()));
  if (const std::string part = part_of_view(id.toStdString()); !part.empty())
    view().show_part(QString::fromStdString(part));
}

bool Window::show_room(Room room) {
  if (!has_views(room)) return false;
  if (room == Room::kPlan && planner_is_off()) {
    typed_wrong_ = lesson_->player().exam()
                       ? tr("In an exam the planner is off.")
                       : tr("The planner is off until you have committed your plan.");
    refresh_banner();
    top_bar_->set_room(room_);
    return false;
  }
  if (!shows_index()) last_tab_[room_] = QLatin1String(view_info().id);
  room_ = room;
  map_over_lesson_ = false;
  refresh_rooms();
  return true;
}

// A lesson that was opened is shown in Learn; one that was left leaves its view in front in
// Explore.
void Window::follow_lesson() {
  const LessonPlayer& player = lesson_->player();
  const QString now = player.is_open() ? QString::fromStdString(player.lesson().folder) : QString();
  if (now == lesson_shown_) return;
  const bool was_open = !lesson_shown_.isEmpty();
  map_over_lesson_ = false;
  lesson_shown_ = now;
  if (player.is_open()) {
    if (room_ != Room::kLearn) last_tab_[room_] = QLatin1String(view_info().id);
    last_tab_.erase(Room::kLearn);
    room_ = Room::kLearn;
  } else if (was_open && room_ == Room::kLearn) {
    room_ = Room::kExplore;
    last_tab_[room_] = QLatin1String(view_info().id);
  }
  refresh_rooms();
}

// A plan of one's own comes before the planner's.
bool Window::planner_is_off() const {
  return lesson_->player().exam() || session_.locks().hidden(QStringLiteral("plan"));
}

void Window::follow_exam() {
  const bool exam = planner_is_off();
  const LessonPlayer& player = lesson_->player();
  if (!exam || !player.is_open()) {
    planner_lock_.open();
  } else if (const Result<void> locked = planner_lock_.close(player.lesson_title().toStdString());
             !locked) {
    typed_wrong_ = sentence(locked.error());
  }
  if (exam && room_ == Room::kPlan) show_room(Room::kLearn);
  top_bar_->set_planner(!exam);
  do_.techniques->setEnabled(!exam);
  for (QAction* room : do_.rooms)
    if (room->data().toInt() == int(Room::kPlan)) room->setEnabled(!exam);
  for (qsizetype at = 0; at < do_.views.size(); ++at)
    if (parallelarium::views()[std::size_t(at)].room == Room::kPlan)
      do_.views[at]->setEnabled(!exam);
  refresh_actions();
  refresh_banner();
}

std::optional<Setup> Window::plan_in_front() const {
  return room_ == Room::kPlan ? plan_of(session_, view_info()) : std::nullopt;
}

QString Window::plan_refusal(const std::optional<Setup>& plan) const {
  if (plan) return search_in(session_).is_outdated() ? outdated_plan_text() : QString();
  // The Search view shows nothing of the setup.
  const bool searches = room_ == Room::kPlan && view().property("left_column").isValid();
  return searches ? tr("There is no plan yet: search first.") : QString();
}

bool Window::runs_copy() const { return plan_in_front() || machine_is_elsewhere(session_); }

void Window::run_copy(bool verify) {
  const std::optional<Setup> plan = plan_in_front();
  run_small_copy(session_, plan.value_or(session_.setup()), verify);
  if (!plan || session_.jobs().state() == RunState::kIdle) return;
  // The copy is what is set now; what is looked at is still the plan.
  PlanSearch::of(session_).show_plan(true);
  copied_ = session_.setup();
}

// Puts the room's tabs there, with the one that was last in front, and what surrounds them.
void Window::refresh_rooms() {
  const std::vector<ViewInfo>& all = parallelarium::views();
  const bool index = shows_index();
  if (!index) {
    const ViewInfo* front = find_view(last_tab_[room_]);
    if (!front || !has_tab(room_, *front)) front = &view_info();
    if (!has_tab(room_, *front)) front = &first_view();
    if (!has_tab(room_, *front))
      front = &*std::find_if(all.begin(), all.end(),
                             [&](const ViewInfo& view) { return has_tab(room_, view); });
    const int at = int(front - all.data());
    tabs_->setTabVisible(at, true);  // before the one in front goes: none other is to come
    tabs_->setCurrentIndex(at);
    for (const ViewInfo& view : all) {
      const bool has = has_tab(room_, view);
      tabs_->setTabVisible(int(&view - all.data()), has);
      // Arrow keys of Qt 6.4 go to tabs that are hidden, too.
      tabs_->tabBar()->setTabEnabled(int(&view - all.data()), has);
    }
  }
  tabs_->setVisible(!index);
  start_->setVisible(index);
  // Without a lesson the view has the whole screen in front of a class.
  right_->setVisible(!index && (!presents_ || lesson_->player().is_open()));
  strip_->setVisible(!index && !presents_);
  share_right_column();
  top_bar_->set_room(room_);
  top_bar_->set_bare(index);
  refresh_actions();
  for (qsizetype at = 0; at < do_.rooms.size(); ++at)
    do_.rooms[at]->setChecked(do_.rooms[at]->data().toInt() == int(room_));
  fold_setup();
  refresh_banner();
  refresh_tabs();
  fit_corner();
}

// What tabs say of views that do not apply; and where "All views" stands.
void Window::refresh_tabs() {
  const std::vector<ViewInfo>& all = parallelarium::views();
  for (std::size_t at = 0; at < all.size(); ++at)
    tabs_->setTabToolTip(int(at), all[at].why_not ? all[at].why_not(session_) : QString());
  all_views_->setVisible(room_ == Room::kLearn && !shows_index());
  if (all_views_->isHidden()) return;
  const QTabBar* bar = tabs_->tabBar();
  int right = 0;
  for (int at = 0; at < bar->count(); ++at)
    if (bar->isTabVisible(at)) right = std::max(right, bar->tabRect(at).right());
  const QSize size = all_views_->sizeHint();
  all_views_->setGeometry(
      QRect(bar->pos() + QPoint(right + 16, (bar->sizeHint().height() - size.height()) / 2), size));
  all_views_->raise();
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// Every action of the window: its menu place, shortcut and what it does.
#include <QActionGroup>
#include <QApplication>
#include <QMenuBar>
#include <algorithm>

#include "app/lesson/lesson_panel.h"
#include "app/lesson/map/course_map.h"
#include "app/lesson/teaching/defence.h"
#include "app/settings/all_settings.h"
#include "app/settings/machine_sheet.h"
#include "app/settings/setup_chips.h"
#include "app/settings/setup_panel.h"
#include "app/shell/bars/strip.h"
#include "app/shell/window.h"
#include "app/state/plan/plan_search.h"
#include "app/state/run/run_advice.h"
#include "app/state/topic.h"
#include "app/views/shared/transport_bar.h"

namespace parallelarium {

namespace {

// The visible time, shorter or longer about the playhead where that is visible, else its middle.
void zoom(Session& session, double factor) {
  const TimeRange now = session.subject().visible();
  const Nanoseconds center =
      session.playback().playhead() >= now.begin && session.playback().playhead() <= now.end
          ? session.playback().playhead()
          : now.begin + now.length() / 2;
  const auto scaled = [&](Nanoseconds edge) {
    return center + Nanoseconds(std::int64_t(double((edge - center).count()) * factor));
  };
  session.subject().set_visible({scaled(now.begin), scaled(now.end)});
}

QKeySequence keys(const char* text) { return QKeySequence(QLatin1String(text)); }

}  // namespace

QAction* Window::add_action(const QString& text, const QKeySequence& shortcut, const QString& tip,
                            std::function<void()> act) {
  auto* action = new QAction(text, this);
  if (!shortcut.isEmpty()) action->setShortcut(shortcut);
  action->setToolTip(tip.isEmpty() ? QString(text).remove(QLatin1Char('&')) : tip);
  action->setStatusTip(tip);
  connect(action, &QAction::triggered, this, std::move(act));
  addAction(action);  // works whatever part of the window has the focus
  return action;
}

void Window::build_actions() {
  build_file_actions();
  build_edit_actions();
  build_view_actions();
  build_look_actions();
  build_run_actions();
  build_lesson_actions();
  build_help_actions();
  connect(&lesson_->player(), &LessonPlayer::changed, this, &Window::refresh_actions);
  connect(&session_, &Session::run_state_changed, this, &Window::refresh_actions);
  connect(&session_, &Session::run_changed, this, &Window::refresh_actions);
  connect(&session_, &Session::setup_changed, this, &Window::refresh_actions);
  connect(&PlanSearch::of(session_), &PlanSearch::changed, this, &Window::refresh_actions);
}

void Window::build_file_actions() {
  do_.create = add_action(tr("&New"), keys("Ctrl+N"), tr("Start again with the default setup"),
                          [this] { new_document(); });
  do_.open = add_action(tr("&Open …"), keys("Ctrl+O"),
                        tr("Open a document, a setup, or a picture exported from here"),
                        [this] { open_dialog(); });
  do_.cases =
      add_action(tr("Publis&hed runs …"), keys("Ctrl+Shift+O"),
                 tr("What others measured beside its prediction; each row opens as a setup"),
                 [this] { show_cases(); });
  do_.techniques = add_action(tr("Each techni&que alone …"), keys("Ctrl+Alt+T"),
                              tr("What DP, ZeRO, TP, SP, CP, PP and EP give and cost for what is "
                                 "set; each opens as a setup"),
                              [this] { show_techniques(); });
  do_.read_recipe = add_action(
      tr("Read a launch &line …"), keys("Ctrl+Alt+O"),
      tr("A launch line or configuration of Megatron-LM, torchtitan, DeepSpeed and others"),
      [this] { read_recipe({}); });
  do_.save = add_action(tr("&Save"), keys("Ctrl+S"), {}, [this] { save(); });
  do_.save_as = add_action(tr("Save &as …"), keys("Ctrl+Shift+S"), {}, [this] { save_as(); });
  do_.export_picture = add_action(tr("Export &picture …"), keys("Ctrl+E"),
                                  tr("PNG, SVG or PDF of the view in front"),
                                  [this] { export_dialog(ExportKind::kPng); });
  do_.export_trace =
      add_action(tr("Export &trace …"), keys("Ctrl+Shift+E"), tr("Chrome trace JSON, for Perfetto"),
                 [this] { export_dialog(ExportKind::kTrace); });
  do_.export_table =
      add_action(tr("Export ta&ble …"), keys("Ctrl+Alt+E"), tr("CSV, a line per op, plan or point"),
                 [this] { export_dialog(ExportKind::kCsv); });
  do_.export_recipe =
      add_action(tr("Export launch l&ine …"), keys("Ctrl+Shift+L"),
                 tr("The setup as Megatron-LM, torchtitan, DeepSpeed and others say it"),
                 [this] { export_recipe(); });
  do_.quit = add_action(tr("&Quit"), keys("Ctrl+Q"), {}, [this] { close(); });
}

void Window::build_edit_actions() {
  do_.undo = session_.history().stack().createUndoAction(this, tr("&Undo"));
  do_.undo->setShortcut(keys("Ctrl+Z"));
  do_.redo = session_.history().stack().createRedoAction(this, tr("&Redo"));
  do_.redo->setShortcut(keys("Ctrl+Shift+Z"));
  addActions({do_.undo, do_.redo});
  for (int section = 0; section < setup_->section_names().size(); ++section)
    reset_sections_.push_back(
        add_action(QStringLiteral("&%1 %2").arg(section + 1).arg(setup_->section_names()[section]),
                   {}, tr("Take back the changes of this section"),
                   [this, section] { setup_->reset_section(section); }));
  do_.all_settings = add_action(tr("&All settings …"), keys("Ctrl+,"), {}, [this] {
    if (auto* open = findChild<AllSettings*>()) return open->raise();
    auto* dialog = new AllSettings(session_, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->show();
  });
  do_.devices = add_action(tr("Change de&vices …"), {}, {}, [this] {
    if (auto* open = findChild<MachineSheet*>()) return open->raise();
    auto* dialog = new MachineSheet(session_, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->show();
  });
}

// Zoom, theme and panes.
void Window::build_look_actions() {
  do_.fit =
      add_action(tr("&Fit the step"), keys("Ctrl+0"), {}, [this] { session_.subject().fit_all(); });
  do_.zoom_in = add_action(tr("Zoom &in"), keys("Ctrl++"), {}, [this] { zoom(session_, 0.6); });
  do_.zoom_out =
      add_action(tr("Zoom &out"), keys("Ctrl+-"), {}, [this] { zoom(session_, 1 / 0.6); });
  auto* themes = new QActionGroup(this);
  const auto theme = [&](const QString& text, ThemeChoice choice) {
    QAction* action = add_action(text, {}, {}, [this, choice] { choose_theme(choice); });
    action->setCheckable(true);
    themes->addAction(action);
    return action;
  };
  do_.light = theme(tr("&Light"), ThemeChoice::kLight);
  do_.dark = theme(tr("&Dark"), ThemeChoice::kDark);
  do_.system = theme(tr("As the &system"), ThemeChoice::kSystem);
  do_.restore =
      add_action(tr("&Restore layout"), {}, tr("Window size and zoom as at first start"), [this] {
        showNormal();
        resize(1440, 900);
        session_.subject().fit_all();
      });
  do_.next_pane = add_action(tr("&Next pane"), keys("F6"), {}, [this] { cycle_panes(+1); });
  do_.previous_pane =
      add_action(tr("Pre&vious pane"), keys("Shift+F6"), {}, [this] { cycle_panes(-1); });
}

void Window::build_run_actions() {
  do_.run = add_action(tr("&Run"), keys("Ctrl+R"), tr("Run the setup on ranks of this computer"),
                       [this] { session_.start_run(false); });
  do_.cancel =
      add_action(tr("&Cancel the run"), keys("Ctrl+."), {}, [this] { session_.jobs().cancel(); });
  do_.prove = add_action(tr("&Prove it"), keys("Ctrl+Shift+R"), session_.topic().proof_tip(),
                         [this] { runs_copy() ? run_copy(true) : session_.start_run(true); });
  do_.pin = add_action(
      tr("P&in"), keys("Ctrl+P"),
      tr("Keep this run or prediction as a third lane, to see before and after"), [this] {
        plan_in_front() ? PlanSearch::of(session_).pin(*plan_in_front()) : session_.pin();
      });
  do_.unpin =
      add_action(tr("&Unpin"), keys("Ctrl+Shift+P"), {}, [this] { session_.runs().unpin(); });
  do_.small_copy =
      add_action(tr("Run a &small copy here"), {},
                 tr("The same mesh, schedule and micro-batches with a model that fits this "
                    "computer"),
                 [this] { run_copy(false); });
  do_.calibrate = add_action(tr("C&alibrate this computer"), {},
                             tr("Measure its rates again; at most five seconds"),
                             [this] { session_.jobs().calibrate(); });
}

// The rooms and their views, in the order of the list: Ctrl+1 is the first.
void Window::build_view_actions() {
  int number = 0;
  for (const ViewInfo& info : parallelarium::views()) {
    const QKeySequence key(QStringLiteral("Ctrl+%1").arg(++number));
    do_.views << add_action(info.command(), number < 10 ? key : QKeySequence(), {},
                            [this, id = QLatin1String(info.id)] {
                              show_view(id);
                              view().setFocus(Qt::ShortcutFocusReason);
                            });
  }
  auto* rooms = new QActionGroup(this);
  const std::pair<Room, QString> all[] = {
      {Room::kLearn, tr("&Learn")}, {Room::kExplore, tr("&Explore")}, {Room::kPlan, tr("&Plan")}};
  for (const auto& [room, text] : all) {
    if (!has_views(room)) continue;
    QAction* action = add_action(text, {}, {}, [this, room = room] { show_room(room); });
    action->setData(int(room));
    action->setCheckable(true);
    rooms->addAction(action);
    do_.rooms << action;
  }
  do_.find = add_action(
      tr("Fi&nd …"), QKeySequence(QStringLiteral("Ctrl+F")),
      tr("An op of the timeline, a rank in the Mesh view, or a lesson on the map"), [this] {
        if (shows_index() ? start_->open_search() : view().open_search()) return;
        show_view(QLatin1String(first_view().id));
        view().open_search();
      });
}

void Window::build_menus() {
  menuBar()->installEventFilter(this);
  QMenu* file = menuBar()->addMenu(tr("&File"));
  file->addActions({do_.create, do_.open});
  recent_ = file->addMenu(tr("Open &recent"));
  file->addActions({do_.cases, do_.read_recipe});
  file->addActions({do_.save, do_.save_as});
  file->addSeparator();
  file->addActions({do_.export_picture, do_.export_trace, do_.export_table, do_.export_recipe});
  file->addSeparator();
  file->addAction(do_.quit);

  QMenu* edit = menuBar()->addMenu(tr("&Edit"));
  edit->addActions({do_.undo, do_.redo});
  edit->addSeparator();
  QMenu* reset = edit->addMenu(tr("Re&set section"));
  for (QAction* action : reset_sections_) reset->addAction(action);
  edit->addAction(do_.all_settings);
  edit->addAction(do_.devices);

  QMenu* view = menuBar()->addMenu(tr("&View"));
  QMenu* plans = new QMenu(tr("Plan &views"), view);
  for (qsizetype at = 0; at < do_.views.size(); ++at) {
    const bool plan = parallelarium::views()[std::size_t(at)].room == Room::kPlan;
    (plan ? plans : view)->addAction(do_.views[at]);
  }
  view->addMenu(plans);
  view->addSeparator();
  view->addAction(do_.find);
  const auto submenu = [view](const QString& title, const QList<QAction*>& actions) {
    QMenu* menu = view->addMenu(title);
    menu->addActions(actions);
    return menu;
  };
  submenu(tr("&Zoom"), {do_.fit, do_.zoom_in, do_.zoom_out});
  submenu(tr("R&ooms"), do_.rooms);
  for (const ViewInfo& info : views()) {
    QMenu* menu = info.menu ? submenu(info.menu(), {}) : nullptr;
    if (menu)
      connect(menu, &QMenu::aboutToShow, tabs_,
              [this, at = int(view_menus_.size())] { tabs_->view_at(at); });
    view_menus_.push_back(menu);
  }
  view->addSeparator();
  submenu(tr("Play&back"), top_bar_->transport().transport_actions());
  submenu(tr("Colo&urs"), {do_.light, do_.dark, do_.system});
  submenu(tr("Pan&es"), {do_.next_pane, do_.previous_pane, do_.restore});

  QMenu* run = menuBar()->addMenu(tr("&Run"));
  run->addActions({do_.run, do_.cancel, do_.prove, do_.small_copy});
  run->addSeparator();
  run->addActions({do_.pin, do_.unpin});
  earlier_ = run->addMenu(tr("&Earlier runs"));
  connect(run, &QMenu::aboutToShow, this, &Window::fill_earlier);
  run->addAction(do_.techniques);
  run->addSeparator();
  run->addAction(do_.calibrate);

  QMenu* lessons = menuBar()->addMenu(tr("&Lessons"));
  lessons->addActions({do_.lessons, do_.lesson_again, do_.lesson_answers, do_.lesson_leave});
  lessons->addSeparator();
  lessons->addActions({do_.take_away, do_.handout, do_.defence});
  lessons->addSeparator();
  lessons->addActions({writing_.open, writing_.record_start, writing_.record_solution});
  lessons->addSeparator();
  lessons->addActions({do_.school_class, do_.playlist, do_.playlist_close, do_.present});
  lessons->addSeparator();
  lessons->addActions({do_.progress_folder, do_.progress_here});

  QMenu* help = menuBar()->addMenu(tr("&Help"));
  help->addActions({do_.shortcuts, do_.words, do_.guide, do_.doctor, do_.about});
  fill_recent();
  refresh_actions();
}

QList<QAction*> Window::all_actions() {
  QList<QAction*> all = actions();
  QList<QAction*> more = top_bar_->transport().transport_actions();
  for (int at = 0; at < tabs_->count(); ++at) more += tabs_->view_at(at).all_commands();
  for (QAction* action : more)
    if (!all.contains(action)) all << action;
  return all;
}

void Window::refresh_actions() {
  const bool idle = session_.jobs().state() == RunState::kIdle;
  const std::optional<Setup> plan = plan_in_front();
  const QString no_plan = plan_refusal(plan);
  top_bar_->set_plan(plan, no_plan);
  const QString refusal = !no_plan.isEmpty() ? no_plan
                          : plan             ? elsewhere_text(session_, *plan)
                                             : run_refusal(session_);
  do_.run->setEnabled(idle && refusal.isEmpty());
  const QString first = measuring_note(session_);
  do_.run->setToolTip(!refusal.isEmpty() ? refusal
                      : first.isEmpty()  ? tr("Run the setup on ranks of this computer")
                                         : first);
  const bool step = session_.topic().is_step();
  const bool copies = runs_copy() && no_plan.isEmpty() &&
                      small_copy_refusal(session_, plan.value_or(session_.setup())).isEmpty();
  do_.small_copy->setEnabled(idle && copies);
  do_.prove->setEnabled(idle && step && (refusal.isEmpty() || copies));
  do_.prove->setToolTip(!step || refusal.isEmpty() || copies ? session_.topic().proof_tip()
                                                             : refusal);
  do_.cancel->setEnabled(!idle && session_.jobs().state() != RunState::kCancelling);
  do_.calibrate->setEnabled(idle);
  const LessonPlayer& player = lesson_->player();
  do_.lesson_leave->setEnabled(player.is_open() && player.may_leave());
  const bool has_lesson = player.is_open() || player.finished_lesson();
  do_.lesson_answers->setEnabled(has_lesson);
  for (QAction* action : {do_.lesson_again, do_.handout})
    action->setEnabled(has_lesson && !player.exam());
  do_.defence->setEnabled(has_defence(player) && !player.exam());
  do_.take_away->setEnabled(!player.exam());
  const bool writes = player.is_open() && !player.exam() && !player.reviews();
  for (QAction* action : {writing_.record_start, writing_.record_solution})
    action->setEnabled(writes);
  do_.playlist_close->setEnabled(player.progress().playlist().has_value());
  do_.present->setEnabled(presents_ || (!shows_index() && !player.exam()));
  do_.export_recipe->setEnabled(session_.problems().empty() || plan_of(session_, view_info()));
  do_.pin->setEnabled(no_plan.isEmpty() && (plan || (session_.problems().empty() && step)));
  do_.unpin->setEnabled(session_.runs().pinned() != nullptr);
  for (std::size_t section = 0; section < reset_sections_.size(); ++section)
    reset_sections_[section]->setEnabled(setup_->section_changed(int(section)));
}

}  // namespace parallelarium

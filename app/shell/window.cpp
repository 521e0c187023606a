// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/window.h"

#include <QApplication>
#include <QDir>
#include <QKeyEvent>
#include <QMenu>
#include <QMenuBar>
#include <QScopedValueRollback>
#include <QScreen>
#include <algorithm>

#include "app/lesson/lesson_panel.h"
#include "app/lesson/map/course_map.h"
#include "app/look/theme/theme.h"
#include "app/selection/selection_panel.h"
#include "app/shell/bars/panes.h"
#include "app/state/plan/plan_search.h"
#include "app/state/step/order_edit.h"
#include "app/state/topic.h"
#include "app/views/shared/earlier_runs.h"
#include "app/views/shared/transport_bar.h"
#include "app/views/shared/view_keys.h"

namespace parallelarium {

namespace {

constexpr QSize kFrame{16, 48};  // a title bar and borders, before the window manager made them
const char* const kThemeKey = "theme";

bool is_dark(ThemeChoice choice) {
  // As the system had it before the first theme of ours.
  static const bool system_is_dark =
      QApplication::palette().color(QPalette::Window).lightness() < 128;
  return choice == ThemeChoice::kDark || (choice == ThemeChoice::kSystem && system_is_dark);
}

}  // namespace

Window::Window(QWidget* parent) : QMainWindow(parent) {
  setObjectName(QStringLiteral("Window"));
  saved_ = current();
  setAcceptDrops(true);
  setMinimumSize(900, 500);
  const QString kept = settings_.value(QLatin1String(kThemeKey)).toString();
  const ThemeChoice theme = kept == QLatin1String("dark")    ? ThemeChoice::kDark
                            : kept == QLatin1String("light") ? ThemeChoice::kLight
                                                             : ThemeChoice::kSystem;
  apply_theme(*qApp, is_dark(theme));  // every widget that is already there is polished anew
  // Before what finds its place by the room that there is.
  resize(1440, 900);
  if (const QScreen* screen = QApplication::primaryScreen())
    resize(QSize(1440, 900).boundedTo(screen->availableSize() - kFrame));
  restoreGeometry(settings_.value(QStringLiteral("geometry")).toByteArray());
  build_frame();
  setup_ = new SetupPanel(session_, middle_);
  fold_ = new SetupFold(session_, middle_);
  lesson_ = new LessonPanel(session_, right_);
  start_ = new CourseMap(lesson_->player(), center_);
  selection_ = new SelectionPanel(session_, right_);
  strip_ = new Strip(session_, centralWidget());
  chips_ = new SetupChips(session_, centralWidget());
  banner_ = new Banner(center_);
  build_actions();
  export_menu_ = new QMenu(this);
  export_menu_->addActions(
      {do_.export_picture, do_.export_trace, do_.export_table, do_.export_recipe});
  top_bar_ =
      new TopBar(session_, {do_.pin, do_.prove, do_.run, do_.cancel, do_.small_copy, export_menu_},
                 centralWidget());
  show_theme(theme);
  build_menus();
  follow_views();
  build_layout();
  follow_session();
  connect(start_, &CourseMap::open_wanted, do_.open, &QAction::trigger);
  connect(start_, &CourseMap::plan_wanted, this, &Window::plan);
  connect(start_, &CourseMap::playlist_closed, do_.playlist_close, &QAction::trigger);
  connect(start_, &CourseMap::started, this, [this] {
    map_over_lesson_ = false;
    refresh_rooms();
    lesson_->focus_step();
  });
  connect(&PlanSearch::of(session_), &PlanSearch::used, this,
          [this] { show_room(Room::kExplore); });
  connect(&PlanSearch::of(session_), &PlanSearch::published_wanted, this, &Window::show_cases);
  connect(&lesson_->player(), &LessonPlayer::reviewed, this, [this] { show_room(Room::kLearn); });
  connect(&lesson_->player(), &LessonPlayer::solving, this, [this](bool begins) {
    if (begins)
      busy_.emplace(this, tr("The planner solves the task that was drawn …"));
    else
      busy_.reset();
  });
  connect(&lesson_->player(), &LessonPlayer::finished, this, [this] {
    if (presents_) return;
    start_->tell_finished();
    show_room(Room::kLearn);
    start_->setFocus(Qt::OtherFocusReason);
  });

  connect(&session_.locks(), &LessonLocks::hidden_changed, this, &Window::follow_exam);

  session_.history().stack().clear();
  set_path({});
  refresh_rooms();
  follow_exam();
  if (LessonProgress::misses_folder())
    typed_wrong_ = tr("The folder %1, where your progress is kept, is not there. Put the stick in "
                      "and start again, or choose Lessons > Keep progress on this computer.")
                       .arg(QDir::toNativeSeparators(LessonProgress::chosen_folder()));
  // Where a view does not apply there is nothing to click.
  selection_->set_hint([this] {
    const ViewInfo& info = view_info();
    return info.why_not && !info.why_not(session_).isEmpty() ? QString() : info.selects();
  });
  view_came();
  setFocus();  // no control is marked before the user does something
  session_.playback().set_playing(!session_.playback().reduced_motion());
}

Window::~Window() { hide(); }  // views leave the front while the Session is there

void Window::follow_views() {
  connect(tabs_, &ViewTabs::view_made, this, &Window::follow_view);
  connect(tabs_, &QTabWidget::currentChanged, this, &Window::view_came);
  connect(tabs_, &QTabWidget::currentChanged, this, &Window::refresh_actions);
  for (const ViewInfo& info : views()) {
    const Topic* topic = &info.topic(session_);
    if (topic->is_step()) continue;
    for (const auto signal : {&Topic::changed, &Topic::run_changed})
      connect(topic, signal, this, [this, topic] {
        if (topic == &this->view().topic()) {
          refresh_strip();
          refresh_banner();
          selection_->show_text({});
          this->view().retell();
        }
        setWindowModified(modified());
      });
  }
}

// The view at that place was made just now: from here on its commands stand in its menu.
void Window::follow_view(int index) {
  const View* view = &tabs_->view_at(index);
  connect(view, &View::quantities_changed, this, [this, view] {
    if (view == &this->view()) refresh_strip();
  });
  connect(view, &View::described, selection_, &SelectionPanel::show_text);
  connect(view, &View::retold, this, [this, view](const SelectionText& text) {
    if (view == &this->view()) selection_->show_text(text);
  });
  ring_areas(*view);
  QMenu* menu = view_menus_[std::size_t(index)];
  for (const ViewActions& group : menu ? view->commands() : std::vector<ViewActions>()) {
    if (!group.submenu.isEmpty()) menu->addSeparator();
    (group.submenu.isEmpty() ? menu : menu->addMenu(group.submenu))->addActions(group.actions);
  }
}

void Window::follow_session() {
  // Views beside Search change between the setup and the selected plan.
  connect(&PlanSearch::of(session_), &PlanSearch::changed, this, [this] {
    if (room_ == Room::kPlan) fold_setup();
  });
  connect(setup_, &SetupPanel::all_settings_requested, do_.all_settings, &QAction::trigger);
  connect(setup_, &SetupPanel::devices_requested, do_.devices, &QAction::trigger);
  connect(setup_, &SetupPanel::typed_wrong, this, [this](const QString& sentence) {
    typed_wrong_ = sentence;
    refresh_banner();
  });
  connect(&session_, &Session::meaning_kept, this, [this](const QString& sentence) {
    typed_wrong_ = sentence;
    refresh_banner();
  });
  connect(fold_, &SetupFold::setup_wanted, this, [this] {
    unfolded_ = true;
    fold_setup();
    setup_->setFocus();
  });
  connect(chips_, &SetupChips::opened, this, &Window::show_setup_popup);
  connect(strip_, &Strip::quantity_chosen, this, [this](const QString& key) {
    show_formulas(key);
    if (right_tabs_->isVisible()) right_tabs_->setCurrentWidget(selection_);
  });
  // Learn once more leads from the lesson to the map.
  connect(top_bar_, &TopBar::room_chosen, this, [this](Room room) {
    const bool again = room == Room::kLearn && room_ == room && !shows_index();
    show_room(room);
    if (!again) return;
    last_tab_[room_] = QLatin1String(view_info().id);
    map_over_lesson_ = true;
    refresh_rooms();
  });
  connect(lesson_, &LessonPanel::entered, this, [this] {
    if (right_tabs_->count() > 0) right_tabs_->setCurrentWidget(lesson_);
  });
  connect(lesson_, &LessonPanel::editor_wanted, this, [this] {
    if (view().takes_orders()) view().setFocus(Qt::OtherFocusReason);
  });
  connect(lesson_, &LessonPanel::tab_wanted, this, [this](const QString& tab) {
    follow_lesson();
    show_view(tab);
    // What was looked at in an earlier step may not show what this one speaks of.
    if (!tab.contains(QLatin1Char('/'))) view().show_part({});
  });
  connect(&documents_, &DocumentReader::was_read, this,
          [this](const QString& path, const std::shared_ptr<Result<Document>>& document) {
            show_document(path, *document);
          });
  connect(&session_, &Session::prediction_changed, this, [this] {
    refresh_banner();
    refresh_tabs();
  });
  connect(&session_, &Session::run_state_changed, this, &Window::refresh_banner);
  connect(&session_.order_edit(), &OrderEdit::changed, this, &Window::refresh_banner);
  connect(&session_, &Session::setup_changed, this, [this] { setWindowModified(modified()); });
  connect(&session_, &Session::run_changed, this, [this] { setWindowModified(modified()); });
  const LessonPlayer* player = &lesson_->player();
  connect(player, &LessonPlayer::not_kept, this, [this](const QString& sentence) {
    typed_wrong_ = sentence;
    refresh_banner();
  });
  connect(player, &LessonPlayer::changed, this, &Window::follow_lesson);
  connect(player, &LessonPlayer::changed, this, &Window::refresh_name);
  connect(player, &LessonPlayer::changed, this, &Window::follow_exam);
  connect(player, &LessonPlayer::changed, this, &Window::share_right_column);
}

const ViewInfo& Window::view_info() const {
  return parallelarium::views()[std::size_t(tabs_->currentIndex())];
}

void Window::show_formulas(const QString& quantity) {
  const bool of_plan = plan_of(session_, view_info()).has_value();
  selection_->show_formulas(of_plan ? QString() : quantity, view().origin(quantity));
}

// Another view is in front.
void Window::view_came() {
  unfolded_ = false;
  fold_setup();
  fit_corner();
  refresh_strip();
  refresh_banner();
  selection_->follow_view(view_info().room != Room::kPlan);
  view().retell();
  const QString formula = QLatin1String(view_info().formula);
  show_formulas(formula);
  lesson_->set_view(view_info());
}

void Window::refresh_strip() {
  strip_->set_quantities([this] { return view().quantities(); });
}

void Window::show_theme(ThemeChoice choice) {
  dark_ = is_dark(choice);
  apply_theme(*qApp, dark_);
  do_.light->setChecked(choice == ThemeChoice::kLight);
  do_.dark->setChecked(choice == ThemeChoice::kDark);
  do_.system->setChecked(choice == ThemeChoice::kSystem);
}

void Window::choose_theme(ThemeChoice choice) {
  show_theme(choice);
  settings_.setValue(QLatin1String(kThemeKey), choice == ThemeChoice::kDark    ? "dark"
                                               : choice == ThemeChoice::kLight ? "light"
                                                                               : "system");
}

// One click pins a run.
void Window::fill_earlier() {
  earlier_->clear();
  add_earlier_runs(*earlier_, session_.runs(),
                   [this](const RunRecord& run) { session_.runs().pin(run); });
}

// Whether a key that is pressed elsewhere is for the view in front. A field ignores Return once it
// has acted on it, and nobody who pressed a button elsewhere means to erase or to choose.
bool Window::view_wants(const QKeyEvent& event) {
  const QWidget* focus = focusWidget();
  const bool types = focus && focus->testAttribute(Qt::WA_InputMethodEnabled);
  if (types || view().takes_orders() || !single_keys_act()) return false;
  if ((event.modifiers() & ~Qt::KeypadModifier) != Qt::NoModifier) return false;
  for (const Qt::Key acts :
       {Qt::Key_Return, Qt::Key_Enter, Qt::Key_Escape, Qt::Key_Delete, Qt::Key_Backspace})
    if (event.key() == acts) return false;
  if (view_key_of(event)) return true;
  const QList<QAction*> commands = view().all_commands();
  return std::any_of(commands.begin(), commands.end(), [&](const QAction* command) {
    return command->shortcut() == QKeySequence(event.key());
  });
}

// The keys of the view in front act as soon as it is seen, wherever the focus is.
void Window::keyPressEvent(QKeyEvent* event) {
  QWidget* target = &view();
  while (target->focusProxy()) target = target->focusProxy();
  if (passes_key_ || !target->isVisible() || target->hasFocus() || !view_wants(*event))
    return QMainWindow::keyPressEvent(event);
  const QScopedValueRollback<bool> passes(passes_key_, true);
  // What the key does is told there: beside a control of the view nobody would hear it.
  if (view().isAncestorOf(focusWidget())) target->setFocus(Qt::ShortcutFocusReason);
  QCoreApplication::sendEvent(target, event);
  const auto key = event->isAccepted() ? std::nullopt : view_key_of(*event);
  const TransportBar& transport = top_bar_->transport();
  if (!key || !transport.isVisible()) return;
  if (key == ViewKey::kStepBack) transport.step_back().trigger();
  if (key == ViewKey::kPlay) transport.play().trigger();
  if (key == ViewKey::kStepOn) transport.step_on().trigger();
}

void Window::cycle_panes(int direction) { static_cast<Panes*>(centralWidget())->cycle(direction); }

}  // namespace parallelarium

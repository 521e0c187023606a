// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/window.h"

#include <QApplication>
#include <QMenu>
#include <QMenuBar>
#include <QScreen>
#include <QTabWidget>
#include <algorithm>

#include "app/lesson/lesson_panel.h"
#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/look/shell_style.h"
#include "app/look/theme.h"
#include "app/selection/selection_panel.h"
#include "app/settings/setup_fields.h"
#include "app/state/collective_session.h"
#include "app/state/collective_ways_out.h"
#include "app/views/collectives/collectives_view.h"
#include "app/views/experts/experts_view.h"
#include "app/views/memory/memory_view.h"
#include "app/views/mesh/mesh_view.h"
#include "app/views/pipeline/pipeline_view.h"
#include "app/views/shared/transport_bar.h"
#include "app/views/timeline/timeline_view.h"

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
  setup_ = new SetupPanel(session_);
  fold_ = new SetupFold(session_);
  pipeline_ = new PipelineView(session_);
  memory_ = new MemoryView(session_);
  mesh_ = new MeshView(session_);
  collectives_ = new CollectivesView(session_);
  experts_ = new ExpertsView(session_);
  lesson_ = new LessonPanel(session_);
  selection_ = new SelectionPanel(session_);
  strip_ = new Strip(session_);
  chips_ = new SetupChips(session_);
  banner_ = new Banner;
  build_actions();
  export_menu_ = new QMenu(this);
  export_menu_->addActions({do_.export_picture, do_.export_trace, do_.export_table});
  top_bar_ =
      new TopBar(session_, {do_.pin, do_.prove, do_.run, do_.cancel, do_.small_copy, export_menu_});
  build_layout();
  build_menus();

  connect(setup_, &SetupPanel::all_settings_requested, do_.all_settings, &QAction::trigger);
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
    selection_->show_formulas(key);
    if (right_tabs_->isVisible()) right_tabs_->setCurrentWidget(selection_);
  });
  connect(views_, &QTabWidget::currentChanged, this, [this] {
    session_.set_collective_in_front(view() == ViewKind::kCollectives);
    unfolded_ = false;
    fold_setup();
    fit_corner();
    refresh_strip();
    refresh_banner();
    const char* key = "bubble.of_total";
    if (view() == ViewKind::kMemory) key = "memory.peak_bytes";
    if (view() == ViewKind::kMesh) key = "traffic.sent_bytes";
    if (view() == ViewKind::kExperts) key = "traffic.sent_bytes";
    if (view() == ViewKind::kCollectives) key = "collective.seconds";
    selection_->show_text({});
    selection_->show_formulas(QLatin1String(key));
  });
  connect(memory_, &MemoryView::rank_changed, this, &Window::refresh_strip);
  connect(mesh_, &MeshView::rank_changed, this, &Window::refresh_strip);
  connect(memory_, &MemoryView::described, selection_, &SelectionPanel::show_text);
  connect(mesh_, &MeshView::described, selection_, &SelectionPanel::show_text);
  connect(collectives_, &CollectivesView::described, selection_, &SelectionPanel::show_text);
  connect(experts_, &ExpertsView::described, selection_, &SelectionPanel::show_text);
  connect(experts_, &ExpertsView::routing_changed, this, &Window::refresh_strip);
  for (const auto signal : {&CollectiveSession::changed, &CollectiveSession::run_changed})
    connect(&session_.collectives(), signal, this, [this] {
      if (view() == ViewKind::kCollectives) {
        refresh_strip();
        refresh_banner();
        selection_->show_text({});
      }
      setWindowModified(modified());
    });
  connect(lesson_, &LessonPanel::tab_wanted, this, [this](const QString& tab) {
    if (const auto wanted = view_kind_of(tab)) show_view(*wanted);
  });
  connect(&session_, &Session::prediction_changed, this, &Window::refresh_banner);
  connect(&session_, &Session::run_state_changed, this, &Window::refresh_banner);
  connect(&session_, &Session::setup_changed, this, [this] { setWindowModified(modified()); });
  connect(&session_, &Session::run_changed, this, [this] { setWindowModified(modified()); });

  show_theme(theme);
  resize(1440, 900);
  if (const QScreen* screen = QApplication::primaryScreen())
    resize(QSize(1440, 900).boundedTo(screen->availableSize() - kFrame));
  restoreGeometry(settings_.value(QStringLiteral("geometry")).toByteArray());
  connect(&lesson_->player(), &LessonPlayer::changed, this, &Window::refresh_name);
  connect(&lesson_->player(), &LessonPlayer::changed, this, &Window::share_right_column);
  session_.undo_stack().clear();
  set_path({});
  refresh_banner();
  setFocus();  // no control is marked before the user does something
  session_.set_playing(!session_.reduced_motion());
}

Window::~Window() = default;

void Window::show_view(ViewKind view) { views_->setCurrentIndex(int(view)); }

ViewKind Window::view() const { return ViewKind(views_->currentIndex()); }

// Each view chooses the strip's quantities.
void Window::refresh_strip() {
  strip_->set_quantities([this]() -> std::vector<Quantity> {
    switch (view()) {
      case ViewKind::kMemory:
        return memory_quantities(session_, memory_->rank_index());
      case ViewKind::kMesh:
        return mesh_quantities(session_, mesh_->rank_index());
      case ViewKind::kCollectives:
        return collective_quantities(session_);
      case ViewKind::kExperts:
        return expert_quantities(session_, experts_->picture());
      case ViewKind::kPipeline:
        break;
    }
    return pipeline_quantities(session_);
  });
}

// What stands in the way, most pressing first.
void Window::refresh_banner() {
  using Choice = Banner::Choice;
  const auto dismiss = [this] {
    typed_wrong_.clear();
    note_.clear();
    session_.dismiss_error();
    refresh_banner();
  };
  const auto choices_of = [this](const Message& problem) {
    std::vector<Choice> choices;
    for (const std::string& value : problem.alternatives) {
      const QString text = problem.field == "run.pace_seconds"
                               ? tr("Pace %1 s").arg(QString::fromStdString(value))
                               : QString::fromStdString(value);
      Setup mended = session_.setup();
      if (!set_field(mended, problem.field, value)) continue;  // what cannot be set is no way out
      choices.push_back({text, tr("Set %1").arg(text), [this, field = problem.field, value] {
                           Setup next = session_.setup();
                           if (set_field(next, field, value))
                             session_.change_setup(next,
                                                   tr("%1 %2").arg(QString::fromStdString(field),
                                                                   QString::fromStdString(value)));
                         }});
    }
    return choices;
  };
  if (view() == ViewKind::kCollectives && session_.collectives().problem()) {
    const Message problem = *session_.collectives().problem();
    std::vector<Choice> choices;
    const auto take = [this, problem](const QString& field, const std::string& value) {
      // Of the choice as it is by then: a button stays while the sentence does.
      for (const WayOut& way : ways_out(session_.collectives().choice(), problem))
        if (way.field == field && way.value == value)
          return session_.collectives().change(way.choice, way.text);
    };
    for (const WayOut& way : ways_out(session_.collectives().choice(), problem))
      if (session_.allowed(way.field))
        choices.push_back(
            {way.text, tr("Set %1").arg(way.text), std::bind(take, way.field, way.value)});
    if (choices.empty() && session_.undo_stack().canUndo())
      choices.push_back({tr("Undo"), {}, [this] { session_.undo_stack().undo(); }});
    banner_->say(sentence(problem), Banner::Kind::kWarning, std::move(choices));
    return;
  }
  if (!session_.problems().empty() && view() != ViewKind::kCollectives) {
    const Message& problem = session_.problems().front();
    std::vector<Choice> choices = choices_of(problem);
    if (choices.empty() && session_.undo_stack().canUndo())
      choices.push_back({tr("Undo"), {}, [this] { session_.undo_stack().undo(); }});
    banner_->say(sentence(problem), Banner::Kind::kWarning, std::move(choices));
    return;
  }
  if (!typed_wrong_.isEmpty()) {
    banner_->say(typed_wrong_, Banner::Kind::kWarning, {{tr("Dismiss"), {}, dismiss}});
    return;
  }
  if (!session_.last_error().isEmpty()) {
    std::vector<Choice> choices;
    if (session_.last_problem())
      for (Choice& way_out : choices_of(*session_.last_problem()))
        choices.push_back({way_out.text, way_out.accessible_name, [dismiss, act = way_out.act] {
                             act();
                             dismiss();
                           }});
    choices.push_back({tr("Dismiss"), {}, dismiss});
    banner_->say(session_.last_error(), Banner::Kind::kWarning, std::move(choices));
    return;
  }
  if (!note_.isEmpty()) {
    banner_->say(note_, Banner::Kind::kPlain, {{tr("Dismiss"), {}, dismiss}});
    return;
  }
  if (view() == ViewKind::kCollectives) {  // the rest is about the training step
    banner_->say({}, Banner::Kind::kPlain, {});
    return;
  }
  if (const std::optional<Message> problem = session_.run_problem()) {
    const QString why = sentence(*problem);
    if (can_execute(session_.resolved()))
      banner_->say(why, Banner::Kind::kWarning, choices_of(*problem));
    else  // nothing is wrong with what is predicted
      banner_->say(tr("Run is off: %1").arg(why), Banner::Kind::kPlain, choices_of(*problem));
    return;
  }
  if (const std::optional<Message> problem = session_.memory_problem()) {
    banner_->say(sentence(*problem), Banner::Kind::kWarning, {});
    return;
  }
  if (session_.machine_is_elsewhere()) {
    std::vector<Choice> choices;
    if (session_.small_copy_refusal().isEmpty())
      choices.push_back({do_.small_copy->text().remove(QLatin1Char('&')), {}, [this] {
                           do_.small_copy->trigger();
                         }});
    banner_->say(session_.run_refusal(), Banner::Kind::kPlain, std::move(choices));
    return;
  }
  if (const std::optional<Message> offer = session_.gpu_offer();
      offer && session_.run_refusal().isEmpty()) {
    banner_->say(sentence(*offer), Banner::Kind::kPlain, choices_of(*offer));
    return;
  }
  // The lesson itself says that it waits for an answer.
  const QString refusal = session_.question_open() ? QString() : session_.run_refusal();
  banner_->say(refusal.isEmpty() ? QString() : tr("Run is off: %1").arg(refusal),
               Banner::Kind::kPlain, {});
}

void Window::show_theme(ThemeChoice choice) {
  dark_ = is_dark(choice);
  apply_theme(*qApp, dark_);
  setStyleSheet(shell_style_sheet(dark_ ? dark_theme() : light_theme()));
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

// Moves the focus to the first control of the next pane.
void Window::cycle_panes(int direction) {
  std::vector<QWidget*> panes{top_bar_};
  QWidget* setup = setup_->isVisible() ? static_cast<QWidget*>(setup_) : fold_;
  panes.push_back(room_ == Room::kFull ? setup : chips_);
  panes.insert(panes.end(), {center_, right_, strip_});
  const QWidget* focus = QApplication::focusWidget();
  int now = 0;
  for (int at = 0; at < int(panes.size()); ++at)
    if (focus && panes[std::size_t(at)]->isAncestorOf(focus)) now = at;
  const int count = int(panes.size());
  for (int tries = 1; tries <= count; ++tries) {
    QWidget* pane = panes[std::size_t(((now + direction * tries) % count + count) % count)];
    if (pane == center_) {
      if (view() == ViewKind::kPipeline)
        pipeline_->timeline().setFocus(Qt::ShortcutFocusReason);
      else
        views_->currentWidget()->setFocus(Qt::ShortcutFocusReason);
      return;
    }
    for (QWidget* child : pane->findChildren<QWidget*>())
      if ((child->focusPolicy() & Qt::TabFocus) && child->isEnabled() && child->isVisible()) {
        child->setFocus(Qt::ShortcutFocusReason);
        return;
      }
  }
}

}  // namespace parallelarium

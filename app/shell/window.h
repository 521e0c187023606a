// SPDX-License-Identifier: GPL-3.0-or-later
// The one window: setup on the left, the views of a room in the centre, lesson and selection on the
// right, bar on top, strip at the bottom. It puts the parts together and owns the actions.
#pragma once

#include <QMainWindow>
#include <QPointer>
#include <QSettings>
#include <map>
#include <optional>
#include <vector>

#include "app/export/export.h"
#include "app/look/busy_note.h"
#include "app/settings/setup_chips.h"
#include "app/settings/setup_fold.h"
#include "app/settings/setup_panel.h"
#include "app/shell/bars/banner.h"
#include "app/shell/bars/strip.h"
#include "app/shell/bars/top_bar.h"
#include "app/shell/bars/view_tabs.h"
#include "app/state/document/document_reader.h"
#include "app/state/session.h"
#include "app/views/views.h"
#include "engine/lesson/planner_lock.h"
#include "engine/lesson/teaching/playlist.h"

class QTabWidget;
class QToolButton;
class QVBoxLayout;

namespace parallelarium {

class CourseMap;
class LessonPanel;
class SelectionPanel;
enum class RecordAs : std::uint8_t;  // engine/lesson/teaching/record_setup.h

enum class ThemeChoice { kSystem, kLight, kDark };
// How much room there is: full, 1024×700, 960×540.
enum class WindowSpace { kFull, kNarrow, kCompact };

class Window : public QMainWindow {
  Q_OBJECT

 public:
  explicit Window(QWidget* parent = nullptr);
  ~Window() override;

  Session& session() { return session_; }
  SetupPanel& setup_panel() { return *setup_; }
  // The view of that class, for what only it can do; it is made if it is not there yet.
  template <class OneView>
  OneView& view_of() {
    return static_cast<OneView&>(
        tabs_->view_at(int(find_view(OneView::info().id) - views().data())));
  }
  // The view in front: its widget and its entry in the list.
  View& view() const { return tabs_->front(); }
  const ViewInfo& view_info() const;
  // Brings the view of that id to the front; the strip follows. Of a view that the room does not
  // have, Explore.
  void show_view(const QString& id);
  Room room() const { return room_; }
  // Shows a room with the tab that was last in front there. Learn without a lesson is the index of
  // lessons.
  // At the first start ever: the room Learn with its three doors.
  void greet();
  // Whether it is shown: in an exam the planner is off.
  bool show_room(Room room);
  Strip& strip() { return *strip_; }
  Banner& banner() { return *banner_; }
  TopBar& top_bar() { return *top_bar_; }
  LessonPanel& lesson() { return *lesson_; }
  WindowSpace space() const { return space_; }

  // Opens a document, setup or exported picture as soon as it is read; says what is wrong in the
  // banner. Without a question about unsaved changes.
  void open_file(const QString& path);
  void open_any(const QString& path);
  void read_recipe(const QString& path);  // empty: none, the text is pasted
  // Returns when no file is being opened: whether the last one was.
  bool wait_for_file();
  // Shows the room Learn with a teacher's list, and keeps it in the progress if `keeps`; says what
  // is wrong with it in the banner.
  bool open_playlist(const QString& path, bool keeps = true);
  // Opens the lesson that lies in that folder, such as one that is being written, and reads it
  // again whenever its files are saved. Says what is wrong in the banner.
  bool open_lesson_folder(const QString& folder);
  // Writes what is set into the file of the open lesson, and says which keys.
  void record_setup_as(RecordAs as);
  // Says so and is true while the open lesson asks for what paper would tell.
  bool refuses_to_print();
  // While a question of an exam is open: then it says so.
  bool exam_refuses_to_leave();
  // LessonProgress::use_folder; the lesson that is open is left. Says what is wrong in the banner.
  // Not while a question of an exam is open.
  bool use_progress_folder(const QString& folder);
  // For a class: the view and the lesson alone, its text half as large again, on the whole screen.
  // Page Down and Page Up change the step, answered or not, and Escape leaves: then all is as it
  // was before.
  void present();
  bool presents() const { return presents_; }
  bool save_file(const QString& path);
  // Shows a theme; choose_theme() also keeps it as the user's preference.
  void show_theme(ThemeChoice choice);
  void choose_theme(ThemeChoice choice);
  bool dark() const { return dark_; }
  // Every action of the menus and of all views, which are made for it, for tests.
  QList<QAction*> all_actions();
  // Whether closing asks about unsaved changes (tests do not want to be asked).
  void set_asks(bool asks) { asks_ = asks; }
  bool modified() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  // What the file has, or a new document began with.
  struct Saved {
    std::size_t runs = 0;
    Setup setup;
    std::shared_ptr<const CollectiveChoice> collective;
    std::shared_ptr<const Prediction> pinned;
    std::vector<Nanoseconds> marks;
  };

  // window.cpp
  void follow_views();
  void follow_view(int index);
  void follow_session();
  void view_came();
  void show_formulas(const QString& quantity);  // on the right, where the view is of what is set
  void refresh_strip();
  void show_setup_popup();
  void fill_earlier();
  bool view_wants(const QKeyEvent& event);
  void cycle_panes(int direction);
  // window_lessons.cpp
  bool show_playlist(std::optional<Playlist> playlist, bool keeps);
  void choose_progress_folder();
  void leave_progress_folder();
  void end_presentation();
  void fit_presentation();
  // window_layout.cpp
  void build_frame();
  void build_layout();
  static void ring_areas(const QWidget& parts);  // scroll areas that show the focus
  void fit_right();
  void fit_space();
  void fit_corner();
  void fold_setup();
  QWidget* own_column();
  void place_own_column();
  bool has_right_column() const;  // filled, in one way or the other
  void share_right_column();
  // window_rooms.cpp
  bool shows_index() const;
  bool planner_is_off() const;
  void follow_exam();  // the planner is off in one, and where a lesson hides it
  bool has_tab(Room room, const ViewInfo& view) const;
  void follow_lesson();
  void refresh_rooms();
  void refresh_tabs();
  // window_banner.cpp
  void refresh_banner();
  std::vector<Banner::Choice> choices_of(const Message& problem, Topic& topic);
  bool say_problem();
  bool say_what_happened();
  bool say_copy();
  void say_of_the_step();
  void dismiss();
  // window_actions.cpp
  void build_actions();
  void build_file_actions();
  void build_edit_actions();
  void build_view_actions();
  void build_look_actions();
  void build_run_actions();
  void build_lesson_actions();
  void build_help_actions();
  void build_menus();
  void refresh_actions();
  QAction* add_action(const QString& text, const QKeySequence& shortcut, const QString& tip,
                      std::function<void()> act);
  void show_shortcuts();
  void show_about();
  // window_files.cpp
  bool may_discard();
  bool may_replace();  // what is open, by something else
  void new_document();
  void plan();
  void start_with(const Setup& setup);
  void show_cases(const QString& model = {});  // the title of a model, or empty: of all
  void show_techniques();
  void show_document(const QString& path, Result<Document>& document);
  void open_dialog();
  bool save();
  bool save_as();
  void remember_file(const QString& path);
  void fill_recent();
  void export_dialog(ExportKind kind);
  void say_written(const QString& path);
  void export_recipe();
  // Pin, Prove it and Run act on this plan. Without one they act on the setup.
  std::optional<Setup> plan_in_front() const;
  QString plan_refusal(const std::optional<Setup>& plan) const;  // why it cannot be, or empty
  bool runs_copy() const;  // Run and Prove it use a small copy: the Machine is not this computer
  void run_copy(bool verify);
  void set_path(const QString& path);
  Saved current() const;
  void refresh_name();

  Session session_;
  DocumentReader documents_;
  bool opened_ = false;      // the last file
  bool passes_key_ = false;  // to the view in front
  QSettings settings_;
  QString path_;
  bool asks_ = true, dark_ = false;
  Saved saved_;
  bool lesson_was_open_ = false;
  bool says_lesson_fault_ = false;  // the banner tells why its files cannot be read
  WindowSpace space_ = WindowSpace::kFull;
  Room room_ = Room::kExplore;
  std::map<Room, QString> last_tab_;  // the id of the view that was last in front there
  PlannerLock planner_lock_;
  QString lesson_shown_;  // the folder of the lesson that Learn shows; empty: none
  QString typed_wrong_;
  QString note_;                 // what was just done; passes by itself
  std::optional<Setup> copied_;  // the small copy that Plan ran, until what it did was read

  struct Commands {
    QAction *create, *open, *cases, *techniques, *read_recipe, *save, *save_as, *export_picture,
        *export_trace, *export_table, *export_recipe, *quit;
    QAction *undo, *redo, *zoom_in, *zoom_out, *fit, *find;
    QAction *light, *dark, *system, *restore;
    QAction *run, *cancel, *prove, *pin, *unpin, *calibrate, *small_copy;
    QAction *shortcuts, *words, *guide, *doctor, *about, *next_pane, *previous_pane, *all_settings,
        *devices;
    QList<QAction*> views, rooms;
    QAction *lessons, *lesson_again, *lesson_answers, *lesson_leave, *take_away, *handout, *defence,
        *school_class, *playlist, *playlist_close, *progress_folder, *progress_here, *present;
  } do_{};
  std::vector<QAction*> reset_sections_;
  std::vector<QMenu*> view_menus_;  // by the places of views(); null: it has none
  QMenu *recent_ = nullptr, *earlier_ = nullptr, *export_menu_ = nullptr;

  TopBar* top_bar_ = nullptr;
  SetupPanel* setup_ = nullptr;
  SetupFold* fold_ = nullptr;
  bool unfolded_ = false;  // the setup panel is shown beside the Collectives view all the same
  SetupChips* chips_ = nullptr;
  QFrame* popup_ = nullptr;
  Banner* banner_ = nullptr;
  ViewTabs* tabs_ = nullptr;
  QToolButton* all_views_ = nullptr;  // beside the tabs of a lesson
  CourseMap* start_ = nullptr;        // in the place of the tabs, in Learn without a lesson
  QWidget *center_ = nullptr, *middle_ = nullptr, *corner_ = nullptr;
  QFrame* right_ = nullptr;
  QTabWidget* right_tabs_ = nullptr;
  bool presents_ = false;
  Qt::WindowStates states_before_;  // before presenting, and the geometry
  QByteArray geometry_before_;
  bool map_over_lesson_ = false;  // Learn shows the map although a lesson is open
  LessonPanel* lesson_ = nullptr;
  SelectionPanel* selection_ = nullptr;
  Strip* strip_ = nullptr;
  std::optional<BusyNote> busy_;  // while the planner solves what a lesson draws
  // For those who write the lesson that is open.
  struct WritingCommands {
    QAction *open, *record_start, *record_solution;
  } writing_{};
};

}  // namespace parallelarium

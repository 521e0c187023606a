// SPDX-License-Identifier: GPL-3.0-or-later
// The menu Lessons, and what a teacher does with the window: a playlist, a folder for progress, a
// lesson in front of a class.
#include <QApplication>
#include <QFileDialog>
#include <QKeyEvent>
#include <QMenuBar>
#include <QStyle>
#include <QTabBar>
#include <QTabWidget>

#include "app/lesson/lesson_panel.h"
#include "app/lesson/map/cheat_sheet.h"
#include "app/lesson/map/course_map.h"
#include "app/lesson/teaching/class_dialog.h"
#include "app/lesson/teaching/defence.h"
#include "app/lesson/teaching/lesson_reload.h"
#include "app/look/sentence.h"
#include "app/shell/window.h"
#include "engine/lesson/teaching/playlist.h"

namespace parallelarium {

void Window::build_lesson_actions() {
  do_.lessons = add_action(tr("&All lessons …"), QKeySequence(QStringLiteral("Ctrl+L")), {},
                           [this] { lesson_->show_index(); });
  do_.lesson_again = add_action(tr("&Start the lesson again …"), {}, tr("With new numbers"),
                                [this] { lesson_->ask_reset(); });
  do_.lesson_answers = add_action(tr("&Export my answers …"), {}, tr("JSON for a teacher"),
                                  [this] { lesson_->export_answers(); });
  do_.lesson_leave = add_action(tr("&Leave the lesson"), {}, tr("Keeps the setup"),
                                [this] { lesson_->leave_lesson(); });
  writing_.open = add_action(
      tr("&Open a lesson of a folder …"), {},
      tr("Such as one that you write: it is read again whenever its files are saved"), [this] {
        const QString folder = QFileDialog::getExistingDirectory(this, tr("Open a lesson"));
        if (!folder.isEmpty()) open_lesson_folder(folder);
      });
  writing_.record_start = add_action(tr("Recor&d this setup as the step's start"), {},
                                     tr("Writes it into the lesson's file"),
                                     [this] { record_setup_as(RecordAs::kStart); });
  writing_.record_solution = add_action(tr("Record this setup as the step's sol&ution"), {},
                                        tr("Writes it into the lesson's file"),
                                        [this] { record_setup_as(RecordAs::kSolution); });
  auto* reload = new LessonReload(lesson_->player(), this);
  connect(reload, &LessonReload::told, this, [this](const QString& sentence) {
    if (!sentence.isEmpty() || says_lesson_fault_) typed_wrong_ = sentence;
    says_lesson_fault_ = !sentence.isEmpty();
    refresh_banner();
  });
  do_.take_away =
      add_action(tr("What to &take away …"), {},
                 tr("Of every lesson you have done: what to keep, on two printed pages"),
                 [this] { show_cheat_sheet(lesson_->player().progress(), this); });
  do_.handout = add_action(tr("&Handout …"), {},
                           tr("The lesson on paper, with its numbers: PDF or a web page"), [this] {
                             if (!refuses_to_print()) ask_for_handout(lesson_->player(), this);
                           });
  do_.defence = add_action(tr("Export the pla&n …"), {},
                           tr("Of a lesson with points: your plan, its evidence and its points, "
                              "on two printed pages"),
                           [this] {
                             if (refuses_to_print()) return;
                             const QString path = ask_for_defence(lesson_->player(), this);
                             if (!path.isEmpty()) say_written(path);
                           });
  do_.school_class = add_action(
      tr("&Class …"), {}, tr("Numbers that follow from a class code and your name; exams"), [this] {
        if (exam_refuses_to_leave()) return;
        LessonPlayer& player = lesson_->player();
        const std::optional<ClassPlace> before = player.progress().place();
        if (ClassDialog(player.progress(), this).exec() != QDialog::Accepted) return;
        // What is open was begun with other numbers, and not as an exam.
        if (player.progress().place() != before) player.clear();
        follow_exam();
        start_->refresh();
      });
  do_.playlist =
      add_action(tr("Open a &playlist …"), {}, tr("Lessons that a teacher put in order"), [this] {
        const QString path = QFileDialog::getOpenFileName(this, tr("Open a playlist"), {},
                                                          tr("Text files (*.txt);;All files (*)"));
        if (!path.isEmpty()) open_playlist(path);
      });
  do_.playlist_close =
      add_action(tr("Close the playlist"), {}, tr("Takes the playlist away; what is done stays"),
                 [this] { show_playlist(std::nullopt, true); });
  do_.progress_folder =
      add_action(tr("Keep progress in a &folder …"), {},
                 tr("Such as one on a stick: what you have done is read from there and kept there"),
                 [this] { choose_progress_folder(); });
  do_.progress_here =
      add_action(tr("&Keep progress on this computer"), {},
                 tr("No longer in the folder that was chosen; what lies there stays there"),
                 [this] { leave_progress_folder(); });
  do_.progress_here->setVisible(!LessonProgress::chosen_folder().isEmpty());
  do_.present = add_action(
      tr("P&resent"), QKeySequence(QStringLiteral("F5")),
      tr("For a class: large text and nothing around it; Page Down and Page Up change the step"),
      [this] { presents_ ? end_presentation() : present(); });
}

bool Window::refuses_to_print() {
  typed_wrong_ = printing_refusal(lesson_->player());
  refresh_banner();
  return !typed_wrong_.isEmpty();
}

bool Window::open_playlist(const QString& path, bool keeps) {
  const Result<Course> course = read_course(lessons_folder());
  const Result<Playlist> playlist =
      course ? read_playlist(path.toStdString(), *course) : Result<Playlist>(course.error());
  if (!playlist) {
    typed_wrong_ = sentence(playlist.error());
    refresh_banner();
    return false;
  }
  return show_playlist(*playlist, keeps);
}

bool Window::exam_refuses_to_leave() {
  if (lesson_->player().may_leave()) return false;
  typed_wrong_ = tr("Answer the exam's question first: leaving it would show what it asks.");
  refresh_banner();
  return true;
}

bool Window::open_lesson_folder(const QString& folder) {
  if (exam_refuses_to_leave()) return false;
  const Result<void> opened = lesson_->player().open(folder);
  typed_wrong_ = opened ? QString() : sentence(opened.error());
  refresh_banner();
  return opened.ok();
}

void Window::record_setup_as(RecordAs as) {
  const LessonPlayer& player = lesson_->player();
  if (!player.is_open()) return;
  const auto keys = player.record_as(as);
  typed_wrong_ = keys ? QString() : sentence(keys.error());
  if (keys && keys->empty())
    note_ = tr("Nothing was written: “%1” says so already.")
                .arg(QString::fromStdString(player.step().id));
  if (keys && !keys->empty()) {
    QStringList names;
    for (const std::string& key : *keys) names << QString::fromStdString(key);
    note_ = tr("Written to lesson.json, at “%1”: %2.")
                .arg(QString::fromStdString(player.step().id), names.join(QStringLiteral(", ")));
  }
  refresh_banner();
}

bool Window::show_playlist(std::optional<Playlist> playlist, bool keeps) {
  const bool shows = playlist.has_value();
  LessonProgress& progress = lesson_->player().progress();
  Result<void> kept;
  if (keeps || !shows)
    kept = progress.set_playlist(std::move(playlist));
  else
    progress.show_playlist(std::move(*playlist));
  typed_wrong_ = kept ? QString() : sentence(kept.error());
  if (shows) {
    room_ = Room::kLearn;
    map_over_lesson_ = true;
    refresh_rooms();
  }
  start_->refresh();
  refresh_actions();
  refresh_banner();
  return kept.ok();
}

bool Window::use_progress_folder(const QString& folder) {
  LessonPlayer& player = lesson_->player();
  if (exam_refuses_to_leave()) return false;
  end_presentation();
  const Result<void> used = player.progress().use_folder(folder);
  // What is open is the work of whoever kept it in the other place.
  if (used) player.clear();
  typed_wrong_ = used ? QString() : sentence(used.error());
  start_->refresh();
  follow_exam();
  refresh_banner();
  return used.ok();
}

void Window::choose_progress_folder() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("Keep progress in a folder"),
                                                           LessonProgress::chosen_folder());
  if (folder.isEmpty() || !use_progress_folder(folder)) return;
  LessonProgress::choose_folder(folder);
  do_.progress_here->setVisible(true);
}

void Window::leave_progress_folder() {
  if (!use_progress_folder(LessonProgress::own_folder())) return;
  LessonProgress::choose_folder({});
  do_.progress_here->setVisible(false);
}

// Nothing but the view and, large beside it, the lesson.
void Window::present() {
  if (presents_ || shows_index() || lesson_->player().exam()) return;
  presents_ = true;
  states_before_ = windowState();
  geometry_before_ = saveGeometry();
  lesson_->player().set_presents(true);
  qApp->installEventFilter(this);
  fit_presentation();
  showFullScreen();
}

void Window::end_presentation() {
  if (!presents_) return;
  presents_ = false;
  qApp->removeEventFilter(this);
  lesson_->player().set_presents(false);
  fit_presentation();
  setWindowState(states_before_);
}

void Window::fit_presentation() {
  right_->setProperty("presents", presents_);
  for (QWidget* each : right_->findChildren<QWidget*>()) {  // how large their text is has changed
    each->style()->unpolish(each);
    each->style()->polish(each);
    each->update();
  }
  menuBar()->setVisible(!presents_);
  top_bar_->setVisible(!presents_);
  right_tabs_->tabBar()->setVisible(!presents_);
  if (presents_) right_tabs_->setCurrentWidget(lesson_);
  share_right_column();
  fit_right();
  refresh_rooms();
}

// A key without Ctrl or Alt is that of the menu which the menu bar has open, though a view has it
// for a shortcut. In front of a class: keys of a clicker, whatever has the focus.
bool Window::eventFilter(QObject* watched, QEvent* event) {
  if (watched == menuBar() && event->type() == QEvent::ShortcutOverride &&
      !(static_cast<QKeyEvent*>(event)->modifiers() & (Qt::ControlModifier | Qt::AltModifier))) {
    event->accept();
    return true;
  }
  const bool pressed = event->type() == QEvent::KeyPress;
  if (!presents_ || !isActiveWindow() || (!pressed && event->type() != QEvent::ShortcutOverride))
    return QMainWindow::eventFilter(watched, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (key != Qt::Key_PageDown && key != Qt::Key_PageUp && key != Qt::Key_Escape)
    return QMainWindow::eventFilter(watched, event);
  if (!pressed) {
    event->accept();  // no shortcut is to take it
    return true;
  }
  if (key == Qt::Key_Escape)
    end_presentation();
  else
    lesson_->player().show_step(key == Qt::Key_PageDown ? +1 : -1);
  return true;
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The right pane's upper part: a lesson step with its text, its question, Run button, live
// conditions, feedback, hints and the way on. Everything is reachable by keyboard; judged answers
// are announced.
#pragma once

#include <QElapsedTimer>
#include <QWidget>

#include "app/lesson/player/lesson_player.h"

class QButtonGroup;
class QFrame;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QScrollArea;
class QToolButton;
class QVBoxLayout;

namespace parallelarium {

struct ViewInfo;

class DrawingGrid;
class MarkdownView;
class PartsForm;
class StepDots;

// A lesson that shows a view.
struct ViewLesson {
  QString id;
  int version = 1;
  QString title;
  int steps = 0;  // that show it
};

class LessonPanel : public QWidget {
  Q_OBJECT

 public:
  explicit LessonPanel(Session& session, QWidget* parent = nullptr);
  void focus_answer();  // the keys go to what this step asks, else to the button that leads on
  // Of a step that has just come: an order that is to be built has them, in its editor.
  void focus_step();
  LessonPlayer& player() { return player_; }
  // Opens the next lesson to do; where all are done, the first. Nothing where there are none.
  void open_first();
  // The id of the first lesson not done, counted from behind the one that was just finished. Empty
  // where all are done or there are none.
  QString next_to_do() const;
  bool has_lessons() const;
  // Without a lesson the panel is about that view.
  void set_view(const ViewInfo& view);
  // By the id of the course, where the student left it. A failure is shown in the panel.
  void open(const QString& id);
  // For so long, in ms, after the main button changed its label (to Next: `verdict`) a press on it
  // is taken for one on the old label and ignored.
  void set_pauses(int verdict, int label) { verdict_pause_ = verdict, label_pause_ = label; }

 public Q_SLOTS:
  void show_index();
  void export_answers();
  void ask_reset();
  void leave_lesson();

 Q_SIGNALS:
  void entered();  // another step is shown
  void tab_wanted(const QString& tab);
  void editor_wanted();  // it takes the keys
  void guess_changed(const QString& metric, double value);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void write_crumb();  // "Filling the bubble · part 3 of 6", the name shortened to the width
  void build_head();
  void build_body();
  void build_feedback();
  void build_number();
  void build_buttons();
  void refresh();
  std::string step_now() const;  // names lesson, seed and step
  void show_welcome();           // no lesson is open
  void list_lessons();           // those that show the view
  QString next_title() const;    // of the lesson that next_to_do() names
  // The first of them that is not done.
  std::optional<std::size_t> next_ahead(const Course& course) const;
  QString next_of(const Course& course, const std::vector<CourseEntry>& entries) const;
  const std::vector<ViewLesson>& lessons_of(const ViewInfo& view);
  void show_finished();  // what the lesson just finished came to, and what is next
  void show_step();      // the step's own text and controls, when the step changes
  void show_question();
  void refresh_controls();  // what is enabled, and the words on the buttons
  void explain_words();     // not those that would answer an open question
  void refresh_feedback();
  void refresh_conditions();
  void follow_conditions();
  bool tells_why() const;
  QString verdict_text() const;
  QString judged_words() const;  // verdict and feedback as they are heard: "Right: ..."
  QString asked_words() const;   // what the step asks, else its text
  void tell_keys();              // both, to a screen reader that is where the keys are
  QString primary_label() const;
  QWidget* first_control() const;  // of the open step: what it asks, else the main button
  void primary();
  void turn(void (LessonPlayer::*to)());  // to another part, where the panel keeps the keys
  Answer typed() const;
  bool can_commit() const;
  bool is_judged_answer() const;  // what is typed or chosen is what was judged
  QString answer_note() const;    // why Commit is grey, or what counts
  void say_failure(const QString& sentence);
  void announce(bool right);
  // Keeps in view what of `part` lies below its first `from` pixels, and all down to the end of
  // `last` where that is shown; the beginning where not all of it has room. Until the student
  // scrolls or the step changes: heights settle late.
  void reveal(QWidget* part, int from = 0, QWidget* last = nullptr);
  void reveal_verdict();  // and the model answer under it
  void scroll_to_revealed();

  Session& session_;
  LessonPlayer player_;
  QElapsedTimer relabelled_;  // since the main button last changed its label
  QToolButton *crumb_ = nullptr, *menu_ = nullptr;
  QAction* leave_ = nullptr;
  QLabel *title_ = nullptr, *exam_ = nullptr;
  StepDots* dots_ = nullptr;
  QScrollArea* scroll_ = nullptr;
  QVBoxLayout *body_ = nullptr, *cards_ = nullptr;
  MarkdownView *text_ = nullptr, *feedback_ = nullptr, *hints_ = nullptr, *answer_ = nullptr;
  QWidget *number_row_ = nullptr, *card_box_ = nullptr;
  QButtonGroup* group_ = nullptr;
  DrawingGrid* drawing_ = nullptr;
  PartsForm* parts_ = nullptr;
  QLineEdit* number_ = nullptr;
  QLabel *unit_ = nullptr, *verdict_ = nullptr, *note_ = nullptr;
  QLabel* conditions_ = nullptr;
  QFrame* feedback_box_ = nullptr;
  QPushButton *way_out_ = nullptr, *hint_ = nullptr, *show_answer_ = nullptr, *back_ = nullptr,
              *primary_ = nullptr;
  QWidget* about_view_ = nullptr;  // the lessons that show view_
  const ViewInfo* view_ = nullptr;
  std::map<std::string, std::vector<ViewLesson>> by_view_;  // by its id; read once
  QWidget *revealed_ = nullptr, *revealed_last_ = nullptr;
  int revealed_from_ = 0;
  std::string shown_;  // lesson, seed and step that show_step() built
  int verdict_pause_ = 1000, label_pause_ = 700;
  QProgressBar* progress_ = nullptr;  // of the run that this step has started
};

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the lesson panel that makes its widgets and puts them in place.
#include <QButtonGroup>
#include <QFontDatabase>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/lesson/answer/drawing_grid.h"
#include "app/lesson/answer/option_card.h"
#include "app/lesson/answer/parts_form.h"
#include "app/lesson/lesson_panel.h"
#include "app/lesson/markdown_view.h"
#include "app/look/scroll_hint.h"
#include "app/look/spoken.h"
#include "app/look/theme/focus_ring.h"

namespace parallelarium {

namespace {

constexpr int kMargin = 16;

QHBoxLayout* row_of(int spacing) {
  auto* row = new QHBoxLayout;
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(spacing);
  return row;
}

}  // namespace

void LessonPanel::build_head() {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(kMargin, 12, kMargin, 12);
  column->setSpacing(4);
  crumb_ = new QToolButton;
  crumb_->setObjectName(QStringLiteral("Link"));
  crumb_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  connect(crumb_, &QToolButton::clicked, this, &LessonPanel::show_index);

  auto* menu = new QMenu(this);
  menu->addAction(tr("All lessons …"), this, &LessonPanel::show_index);
  menu->addAction(tr("Start this lesson again …"), this, &LessonPanel::ask_reset);
  leave_ =
      menu->addAction(tr("Leave the lesson and keep this setup"), this, &LessonPanel::leave_lesson);
  menu->addSeparator();
  menu->addAction(tr("Export my answers …"), this, &LessonPanel::export_answers);
  menu_ = new QToolButton;
  menu_->setObjectName(QStringLiteral("Link"));
  menu_->setProperty("at", "right");
  menu_->setText(QStringLiteral("⋯"));
  menu_->setAccessibleName(tr("More about this lesson"));
  menu_->setToolTip(menu_->accessibleName());
  menu_->setMenu(menu);
  menu_->setPopupMode(QToolButton::InstantPopup);
  auto* row = row_of(4);
  row->addWidget(crumb_);
  row->addStretch(1);
  row->addWidget(menu_);
  column->addLayout(row);

  exam_ = new QLabel(tr("Exam: no hints, no answers, no planner"));
  exam_->setObjectName(QStringLiteral("LessonExam"));
  exam_->setProperty("role", "warning");
  exam_->setWordWrap(true);
  exam_->hide();
  column->addWidget(exam_);
  title_ = new QLabel;
  title_->setProperty("role", "title");
  title_->setWordWrap(true);
  column->addWidget(title_);
  column->addSpacing(4);
  dots_ = new StepDots;
  column->addWidget(dots_);
  column->addSpacing(6);
}

void LessonPanel::build_body() {
  auto* content = new QWidget;
  content->setObjectName(QStringLiteral("SelectionContent"));  // the surface of a pane
  body_ = new QVBoxLayout(content);
  body_->setContentsMargins(0, 0, 4, 0);
  body_->setSpacing(8);
  text_ = new MarkdownView;
  text_->setAccessibleName(tr("Lesson text"));
  body_->addWidget(text_);

  about_view_ = new QWidget;
  auto* about = new QVBoxLayout(about_view_);
  about->setContentsMargins(0, 8, 0, 0);
  about->setSpacing(2);
  body_->addWidget(about_view_);

  drawing_ = new DrawingGrid;
  body_->addWidget(drawing_);
  connect(drawing_, &DrawingGrid::marked, this, [this] {
    if (player_.is_open()) refresh_controls();
  });

  parts_ = new PartsForm;
  body_->addWidget(parts_);
  connect(parts_, &PartsForm::edited, this, [this] {
    if (!player_.is_open()) return;
    refresh_controls();
    // A note that came below took room: what is being filled in stays in sight.
    layout()->activate();
    QWidget* field = parts_->focusWidget();
    if (field && field->hasFocus()) scroll_->ensureWidgetVisible(field, 0, 8);
  });
  connect(parts_, &PartsForm::entered, this, [this] {
    if (player_.is_open() && !player_.state().solved) primary();
  });

  card_box_ = new QWidget;
  cards_ = new QVBoxLayout(card_box_);
  cards_->setContentsMargins(0, 0, 0, 0);
  cards_->setSpacing(6);
  body_->addWidget(card_box_);
  group_ = new QButtonGroup(this);
  connect(group_, &QButtonGroup::buttonClicked, this, [this](QAbstractButton* card) {
    scroll_->ensureWidgetVisible(card, 0, 8);
    refresh_controls();
  });

  conditions_ = new QLabel;
  conditions_->setObjectName(QStringLiteral("LessonConditions"));
  conditions_->setTextFormat(Qt::RichText);
  conditions_->setWordWrap(true);
  conditions_->setFocusPolicy(Qt::TabFocus);
  ring_focus(*conditions_);
  body_->addWidget(conditions_);

  hints_ = new MarkdownView;
  hints_->setAccessibleName(tr("Hints"));
  body_->addWidget(hints_);

  build_feedback();
  body_->addStretch(1);

  scroll_ = new QScrollArea;
  scroll_->setObjectName(QStringLiteral("LessonScroll"));
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setFocusPolicy(Qt::NoFocus);
  scroll_->setWidget(content);
  scroll_->installEventFilter(this);
  layout()->addWidget(scroll_);
  add_scroll_hint(*scroll_);
  const QScrollBar* bar = scroll_->verticalScrollBar();
  connect(bar, &QScrollBar::rangeChanged, this, &LessonPanel::scroll_to_revealed,
          Qt::QueuedConnection);
  connect(bar, &QScrollBar::actionTriggered, this, [this] { revealed_ = nullptr; });
}

void LessonPanel::build_feedback() {
  feedback_box_ = new QFrame;
  feedback_box_->setProperty("edge", "top");
  auto* judged = new QVBoxLayout(feedback_box_);
  judged->setContentsMargins(0, 10, 0, 0);
  judged->setSpacing(6);
  verdict_ = new QLabel;
  verdict_->setObjectName(QStringLiteral("LessonVerdict"));
  verdict_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  feedback_ = new MarkdownView;
  feedback_->setObjectName(QStringLiteral("LessonFeedback"));
  feedback_->setAccessibleName(tr("Feedback"));
  judged->addWidget(verdict_);
  judged->addWidget(feedback_);
  way_out_ = new QPushButton;
  way_out_->setObjectName(QStringLiteral("LessonWayOut"));
  way_out_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  way_out_->setAutoDefault(true);
  connect(way_out_, &QPushButton::clicked, this,
          [this] { player_.may_show_answer() ? player_.show_answer() : player_.continue_unmet(); });
  judged->addWidget(way_out_);
  body_->addWidget(feedback_box_);

  show_answer_ = new QPushButton(tr("Explanation"));
  speak_as(*show_answer_, {QAccessible::Button});
  show_answer_->setCheckable(true);
  show_answer_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  connect(show_answer_, &QPushButton::toggled, this, [this] {
    if (!player_.is_open()) return;
    refresh_feedback();
    if (show_answer_->isChecked()) reveal(answer_);
  });
  body_->addWidget(show_answer_);
  answer_ = new MarkdownView;
  answer_->setAccessibleName(tr("Explanation"));
  body_->addWidget(answer_);
}

// The number stands beside the button that commits it, not in the text: hints and feedback never
// move it.
void LessonPanel::build_number() {
  number_row_ = new QWidget;
  auto* row = row_of(8);
  number_row_->setLayout(row);
  auto* label = new QLabel(tr("Your answer"));
  number_ = new QLineEdit;
  label->setBuddy(number_);
  number_->setObjectName(QStringLiteral("LessonNumber"));
  number_->setMaximumWidth(110);
  number_->setMaxLength(24);
  number_->setTextMargins(6, 0, 6, 0);
  unit_ = new QLabel;
  row->addWidget(label);
  row->addStretch();
  row->addWidget(number_);
  row->addWidget(unit_);
  connect(number_, &QLineEdit::textChanged, this, [this](const QString& text) {
    if (!player_.is_open()) return;
    if (player_.step().ask)
      unit_->setText(unit_beside(text, player_.step().ask->unit, player_.counted()));
    refresh_controls();
  });
  connect(number_, &QLineEdit::returnPressed, this, [this] {
    if (player_.is_open() && !player_.state().solved) primary();
  });
}

void LessonPanel::build_buttons() {
  auto* column = static_cast<QVBoxLayout*>(layout());
  note_ = new QLabel;
  note_->setWordWrap(true);
  note_->setProperty("role", "muted");
  note_->hide();
  column->addWidget(note_);
  progress_ = new QProgressBar;
  progress_->setObjectName(QStringLiteral("WorldBar"));
  progress_->setAccessibleName(tr("How far the run is"));
  progress_->setTextVisible(false);
  progress_->setFixedHeight(6);
  progress_->setRange(0, 100);
  progress_->hide();
  column->addWidget(progress_);
  build_number();
  column->addWidget(number_row_);
  hint_ = new QPushButton(tr("Hint"));
  back_ = new QPushButton(tr("Back"));
  primary_ = new QPushButton;
  primary_->setObjectName(QStringLiteral("LessonPrimary"));
  primary_->setProperty("primary", true);
  connect(hint_, &QPushButton::clicked, &player_, &LessonPlayer::show_hint);
  connect(back_, &QPushButton::clicked, this, [this] { turn(&LessonPlayer::back); });
  primary_->installEventFilter(this);
  connect(primary_, &QPushButton::clicked, this, &LessonPanel::primary);
  for (QPushButton* button : {hint_, back_, primary_, show_answer_})
    button->setAutoDefault(true);  // Enter presses it
  auto* row = row_of(8);
  row->addWidget(hint_);
  row->addStretch();
  row->addWidget(back_);
  row->addWidget(primary_);
  column->addSpacing(4);
  column->addLayout(row);
}

}  // namespace parallelarium

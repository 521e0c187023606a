// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/pipeline/editor/order_editor.h"

#include <QAccessible>
#include <QEvent>
#include <QFileDialog>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QSaveFile>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/look/saved_files.h"
#include "app/look/scroll_hint.h"
#include "app/look/sentence.h"
#include "app/look/spoken.h"
#include "app/look/words.h"
#include "app/settings/controls.h"
#include "app/views/pipeline/editor/editor_run.h"
#include "app/views/pipeline/editor/floor_words.h"
#include "app/views/pipeline/editor/known_schedules.h"

namespace parallelarium {

OrderEditor::OrderEditor(Session& session, QWidget* parent)
    : QWidget(parent), session_(session), edit_(session.order_edit()) {
  setAccessibleName(tr("Order editor"));
  setProperty("surface", true);  // nothing of the view below shows through
  setAttribute(Qt::WA_StyledBackground);
  build();
  connect(&edit_, &OrderEdit::changed, this, &OrderEditor::refresh);
  connect(&edit_, &OrderEdit::floor_changed, this, &OrderEditor::refresh);
  connect(&session, &Session::run_changed, this, &OrderEditor::follow_run);
  connect(&session.locks(), &LessonLocks::allowed_changed, this, &OrderEditor::refresh);
  connect(&session, &Session::run_state_changed, this, &OrderEditor::show_hang);
  connect(&session.history().stack(), &QUndoStack::canUndoChanged, undo_, &QWidget::setEnabled);
}

OrderEditor::~OrderEditor() = default;

void OrderEditor::build() {
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  scroll_ = new QScrollArea(this);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setWidgetResizable(true);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setAccessibleName(tr("Order editor"));  // a stop of Tab where it scrolls
  outer->addWidget(scroll_);
  add_scroll_hint(*scroll_);
  auto* page = new QWidget;
  page->setProperty("surface", true);
  page->setAutoFillBackground(true);  // so nothing that lies under it is painted
  scroll_->setWidget(page);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(16, 8, 16, 12);
  column->setSpacing(8);
  column->addWidget(build_head());
  for (QWidget** canvas : {&times_, &rows_}) {
    *canvas = new QWidget;
    (*canvas)->setMouseTracking(true);
    (*canvas)->setAttribute(Qt::WA_OpaquePaintEvent);
    (*canvas)->installEventFilter(this);
  }
  speak_as(*times_, {QAccessible::Graphic, [this] { return times_description(edit_); }});
  speak_as(*rows_, {QAccessible::Canvas, [this] { return editor_description(edit_); }});
  times_->setAccessibleName(tr("Your order in time"));
  rows_->setAccessibleName(tr("Your order, row by row"));
  rows_->setFocusPolicy(Qt::StrongFocus);
  setFocusProxy(rows_);
  column->addWidget(times_);
  column->addWidget(build_verdict());
  column->addWidget(rows_);
  column->addWidget(build_buttons());
  score_ = new QLabel;
  score_->setAccessibleName(tr("Length in forwards"));
  reason_ = new QLabel;
  seen_ = new QLabel;
  path_ = new QLabel;
  for (QLabel* label : {score_, reason_, path_, seen_}) label->setWordWrap(true);
  auto* score = new QHBoxLayout;
  score->addWidget(score_, 1);
  const auto file = [&](const QString& text, const QString& tip, auto act) {
    auto* button = new QPushButton(text);
    button->setToolTip(tip);
    connect(button, &QPushButton::clicked, this, act);
    score->addWidget(button);
    files_.push_back(button);
  };
  file(tr("Open …"), tr("An order of a file: this program's text, or PyTorch's compute-only CSV"),
       [this] { open_file(); });
  file(tr("Save …"), tr("As this program's text, or as PyTorch's compute-only CSV"),
       [this] { save_file(); });
  column->addLayout(score);
  column->addWidget(reason_);
  column->addWidget(path_);
  column->addWidget(seen_);
  known_ = new QLabel;
  known_->setObjectName(QStringLiteral("KnownSchedules"));
  known_->setTextFormat(Qt::RichText);
  known_->hide();
  column->addWidget(known_);
  // The bar takes its room from the margin: nothing moves when it comes.
  QScrollBar* bar = scroll_->verticalScrollBar();
  connect(bar, &QScrollBar::rangeChanged, column, [column, bar](int least, int most) {
    const int taken = most > least ? bar->sizeHint().width() : 0;
    column->setContentsMargins(16, 8, std::max(0, 16 - taken), 12);
  });
  for (QLabel* label : {reason_, path_}) set_style_property(label, "role", "muted");
  column->addStretch();
  text_ = new QLineEdit(rows_);
  text_->hide();
  text_->installEventFilter(this);
}

QWidget* OrderEditor::build_verdict() {
  verdict_ = new QFrame;
  verdict_->setObjectName(QStringLiteral("OrderVerdict"));
  auto* line = new QHBoxLayout(verdict_);
  line->setContentsMargins(12, 7, 12, 7);
  auto* words = new QVBoxLayout;
  line->addLayout(words, 1);
  hang_ = new QPushButton(tr("Let it hang for %1 s").arg(kHangSeconds));
  connect(hang_, &QPushButton::clicked, this, [this] { edit_.let_it_hang(); });
  line->addWidget(hang_, 0, Qt::AlignVCenter);
  words->setSpacing(2);
  headline_ = new QLabel;
  detail_ = new QLabel;
  for (QLabel* label : {headline_, detail_}) {
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    words->addWidget(label);
  }
  set_style_property(detail_, "role", "muted");
  return verdict_;
}

QWidget* OrderEditor::build_head() {
  auto* head = new QWidget;
  auto* line = new QHBoxLayout(head);
  line->setContentsMargins(0, 0, 0, 0);
  title_ = new ElidedLabel;
  set_style_property(title_, "role", "title");
  kind_ = new Segments(tr("How backwards are placed"),
                       {{QStringLiteral("whole"), tr("whole backward"), {}},
                        {QStringLiteral("split"), tr("split in I and W"),
                         tr("The gradient of the input and that of the weights are two actions")}});
  connect(kind_, &Segments::chosen, this,
          [this](const QString& value) { edit_.set_split(value == QLatin1String("split")); });
  done_ = new QPushButton(tr("Done"));
  done_->setToolTip(tr("Back to the timeline of this setup"));
  connect(done_, &QPushButton::clicked, this, [this] { edit_.set_open(false); });
  line->addWidget(title_, 1);
  line->addWidget(kind_);
  line->addWidget(done_);
  return head;
}

QWidget* OrderEditor::build_buttons() {
  buttons_ = new QWidget;
  auto* line = new QHBoxLayout(buttons_);
  line->setContentsMargins(0, 0, 0, 0);
  const auto add = [&](const QString& text, const QString& tip, auto act) {
    auto* button = new QPushButton(text);
    button->setToolTip(tip);
    connect(button, &QPushButton::clicked, this, act);
    line->addWidget(button);
    return button;
  };
  repeat_ =
      add(tr("Repeat to the end"),
          tr("Goes on with the pattern of each row's last actions, as far as it may; what cannot "
             "follow stays a gap"),
          [this] { edit_.repeat_to_the_end(); });
  undo_ = add(tr("Undo"), {}, [this] { session_.history().stack().undo(); });
  undo_->setEnabled(session_.history().stack().canUndo());
  clear_row_ = add(tr("Clear the row"), tr("Removes all actions of the row with the cursor"),
                   [this] { edit_.clear(static_cast<std::size_t>(std::max(0, cursor_.rank))); });
  clear_all_ = add(tr("Clear all"), {}, [this] { edit_.clear_all(); });
  reset_ = add(tr("Reset"), tr("The order that this step began with"), [this] { edit_.reset(); });
  goal_ = add(
      tr("Show the goal's shape"),
      tr("Lines below the rows say when each stage works in an order that solves it"), [this] {
        times_->setAccessibleDescription(goal_->isChecked() ? goal_description(edit_) : QString());
        times_->update();
      });
  goal_->setCheckable(true);
  line->addStretch();
  return buttons_;
}

EditorPicture OrderEditor::picture() const {
  EditorPicture picture;
  picture.draft = &edit_.draft();
  picture.times = &edit_.times();
  picture.durations = &edit_.durations();
  picture.faults = &edit_.faults();
  picture.limits = &edit_.limits();
  picture.unit = edit_.unit();
  if (edit_.floor() && std::isfinite(edit_.floor()->at_least))
    picture.floor = edit_.floor()->at_least;
  picture.par = edit_.par();
  picture.split = edit_.split();
  picture.ghosts = !edit_.task() || edit_.task()->ghosts;
  picture.editable = edit_.editable();
  picture.ghost = ghost_;
  picture.cursor = cursor_;
  picture.anchor = anchor_ < 0 ? cursor_.index : anchor_;
  picture.action = action_;
  picture.focused = rows_->hasFocus();
  picture.low = low();
  picture.path = &edit_.path();
  picture.chosen = &edit_.chosen_waits();
  if (run_ && run_->rows.size() == edit_.draft().ranks.size()) picture.run = &*run_;
  if (edit_.task() && goal_ && goal_->isChecked()) picture.goal = &edit_.task()->goal;
  return picture;
}

EditorRows OrderEditor::rows_geometry() const {
  return editor_rows(picture(), rows_->width(), row_scroll_);
}

void OrderEditor::refresh() {
  if (!edit_.open()) return forget_action();
  const bool possible = edit_.problem().isEmpty();
  for (QWidget* part : {times_, rows_, buttons_, static_cast<QWidget*>(kind_)})
    part->setVisible(possible);
  for (QWidget* part : files_) part->setVisible(possible);
  score_->setVisible(possible);
  reason_->setVisible(possible);
  run_ = possible ? editor_run(session_, edit_.draft(), edit_.unit()) : std::nullopt;
  if (possible) {
    const int ranks = static_cast<int>(edit_.draft().ranks.size());
    cursor_.rank = std::clamp(cursor_.rank, 0, ranks - 1);
    const auto size =
        static_cast<int>(edit_.draft().ranks[static_cast<std::size_t>(cursor_.rank)].size());
    cursor_.index = std::clamp(cursor_.index, 0, size);
    if (anchor_ > size) anchor_ = -1;
    ghost_.reset();
    if (action_) {
      const bool there = action_->rank < ranks &&
                         static_cast<std::size_t>(action_->index) <
                             edit_.draft().ranks[static_cast<std::size_t>(action_->rank)].size();
      there ? choose(*action_) : forget_action();
    }
    times_->setFixedHeight(
        static_cast<int>(editor_times(picture(), times_->width()).whole_height(ranks)) + 1);
    rows_->setFixedHeight(static_cast<int>(rows_geometry().height(ranks)) + 2);
    kind_->set_value(edit_.split() ? QStringLiteral("split") : QStringLiteral("whole"));
    const bool editable = picture().editable;
    for (QWidget* part : {static_cast<QWidget*>(kind_), static_cast<QWidget*>(repeat_),
                          static_cast<QWidget*>(clear_row_), static_cast<QWidget*>(clear_all_),
                          static_cast<QWidget*>(reset_)})
      part->setEnabled(editable);
  }
  const int ranks = static_cast<int>(edit_.draft().ranks.size());
  const int stages = edit_.draft().stages > 0 ? edit_.draft().stages : ranks;
  const int microbatches = edit_.draft().microbatches;
  static_cast<ElidedLabel*>(title_)->set_full_text(
      tr("Your order") + QStringLiteral(" · ") +
      (stages == 1 ? tr("1 stage") : tr("%1 stages").arg(stages)) + QStringLiteral(" · ") +
      (microbatches == 1 ? tr("1 micro-batch") : tr("%1 micro-batches").arg(microbatches)));
  const bool asked = edit_.task().has_value();
  done_->setVisible(!asked);
  clear_all_->setVisible(!asked);
  reset_->setVisible(asked);
  goal_->setVisible(asked);
  if (asked && edit_.task()->goal != goal_shown_) {  // of another step: not shown unasked
    goal_shown_ = edit_.task()->goal;
    goal_->setChecked(false);
  }
  kind_->setVisible(possible && !edit_.task());  // a lesson says how backwards are placed
  wrong_.clear();
  show_verdict();
  times_->update();
  rows_->update();
}

void OrderEditor::show_verdict() {
  if (!edit_.open()) return;
  EditorVerdict verdict = verdict_of(edit_);
  if (!wrong_.isEmpty()) verdict = {EditorVerdict::Tone::kWarning, wrong_, {}, false};
  using Tone = EditorVerdict::Tone;
  headline_->setText(verdict.headline);
  set_style_property(headline_, "role",
                     verdict.tone == Tone::kWarning ? "warning"
                     : verdict.tone == Tone::kGood  ? "good"
                                                    : "strong");
  set_style_property(verdict_, "tone", verdict.tone == Tone::kWarning ? "warning" : "plain");
  QString detail = verdict.detail;
  if (!edit_.hang_report().isEmpty())
    detail = tr("No rank moved for %1 s:").arg(kHangSeconds) + QLatin1Char('\n') +
             edit_.hang_report().join(QLatin1Char('\n'));
  detail_->setText(detail);
  detail_->setVisible(!detail.isEmpty());
  hang_->setVisible(verdict.hangs && wrong_.isEmpty());
  show_hang();
  score_->setText(tr("FORWARDS LONG") + QStringLiteral("   ") + score_text(edit_) +
                  (edit_.tries().count > 0
                       ? QStringLiteral("   ·   ") + tr("attempt %1").arg(edit_.tries().count)
                       : QString()));
  const QString par = tr("par: %1").arg(meaning_of("par")) + QLatin1Char('\n');
  score_->setToolTip((edit_.par() ? par : QString()) + tr("floor: %1").arg(meaning_of("floor")));
  reason_->setText(floor_reason(edit_));
  const QString path = path_text(edit_);
  path_->setText(path);
  path_->setVisible(!path.isEmpty());
  const QString run = run_text(session_);
  seen_->setText(run);
  seen_->setVisible(!run.isEmpty());
  const bool tells = shows_known_schedules(edit_);
  known_->setText(tells ? known_schedules_table(edit_) : QString());
  known_->setVisible(tells && !known_->text().isEmpty());
  text_->setAccessibleDescription(wrong_);
  describe(*rows_, edit_.problem().isEmpty()
                       ? cursor_words(edit_, cursor_) + QStringLiteral(". ") + verdict.headline
                       : verdict.headline);
}

void OrderEditor::show_hang() {
  if (!edit_.open()) return;
  const bool can = edit_.can_hang();
  hang_->setToolTip(can ? tr("Real ranks run this order until none has moved for so long; the "
                             "engine says what each waits for. What is not placed yet is put "
                             "behind it, where no rank comes")
                        : tr("Ranks of this computer run it, where every action is there once at "
                             "most"));
  hang_->setEnabled(can && session_.jobs().state() == RunState::kIdle);
}

// A run of this order stands under its drawing; one of another does not.
void OrderEditor::follow_run() {
  if (edit_.open() && (run_ || session_.runs().current() || !seen_->text().isEmpty())) refresh();
}

void OrderEditor::say_wrong(const QString& text) {
  wrong_ = text;
  show_verdict();
  QAccessibleEvent event(headline_, QAccessible::Alert);
  QAccessible::updateAccessibility(&event);
}

void OrderEditor::forget_action() {
  if (!action_) return;
  action_.reset();
  Q_EMIT described({});
}

void OrderEditor::choose(Spot action) {
  action_ = action;
  Q_EMIT described(action_words(edit_, action));
  // After the action a screen reader says what the whole order is: legal, or where it breaks.
  describe(*rows_, rows_->accessibleDescription() + QStringLiteral(". ") + headline_->text());
  times_->update();
  rows_->update();
}

void OrderEditor::open_file() {
  const QString path = QFileDialog::getOpenFileName(this, tr("Open an order"), {},
                                                    tr("Orders (*.txt *.csv);;All files (*)"));
  if (path.isEmpty()) return;
  const Result<std::string> text = text_of_order_file(path.toStdString());
  if (!text) return say_wrong(sentence(text.error()));
  const Result<Order> order = order_from_either(*text);
  if (!order) return say_wrong(sentence(order.error()));
  if (const QString why = edit_.set_order(*order); !why.isEmpty()) say_wrong(why);
}

void OrderEditor::save_file() {
  const QString text_kind = tr("Text of this program (*.txt)"),
                torch_kind = tr("PyTorch's compute-only schedule (*.csv)");
  QString kind = text_kind;
  QString path = QFileDialog::getSaveFileName(this, tr("Save the order"),
                                              in_documents(QStringLiteral("order.txt")),
                                              text_kind + QStringLiteral(";;") + torch_kind, &kind);
  if (path.isEmpty()) return;
  const bool torch =
      kind == torch_kind || path.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive);
  if (torch && !(edit_.times().whole() && edit_.faults().empty()))
    return say_wrong(tr("PyTorch's notation holds whole orders only; this one is not finished."));
  QSaveFile file(path);
  std::string text;
  for (const std::string& line : to_unfinished_lines(edit_.draft())) text += line + '\n';
  if (torch) text = to_pytorch(edit_.draft());
  if (!file.open(QIODevice::WriteOnly) ||
      file.write(text.data(), static_cast<qint64>(text.size())) < 0 || !file.commit())
    say_wrong(tr("%1 cannot be written: %2").arg(path, file.errorString()));
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/pipeline/pipeline_view.h"

#include <QApplication>
#include <QEvent>
#include <QKeyEvent>
#include <QToolTip>
#include <algorithm>

#include "app/look/figures.h"
#include "app/state/step/order_edit.h"
#include "app/state/step/training_step.h"
#include "app/views/pipeline/pipeline_state.h"
#include "app/views/shared/paint/legend.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "app/views/shared/words/words.h"
#include "app/views/timeline/picture_source.h"

namespace parallelarium {

PipelineView::PipelineView(Session& session, QWidget* parent)
    : View(session, parent), state_(std::make_unique<State>(session)) {
  State& s = *state_;
  setAccessibleName(tr("Pipeline"));
  setAttribute(Qt::WA_OpaquePaintEvent);
  s.turns = new QToolButton(this);
  s.turns->setText(tr("Micro-batches held"));
  s.turns->setToolTip(tr("Show them in place of the timeline; there is no room for both"));
  s.turns->setCheckable(true);
  s.turns->hide();
  connect(s.turns, &QToolButton::toggled, this, &PipelineView::align);
  s.find = new QLineEdit(this);
  s.find->setPlaceholderText(tr("F3, backward 2, all-reduce …"));
  s.find->setAccessibleName(tr("Find an op of the timeline"));
  s.find->setToolTip(tr("Enter: the next one; Esc: close"));
  s.find->setTextMargins(6, 0, 6, 0);
  s.find->installEventFilter(this);
  s.find->hide();
  connect(s.find, &QLineEdit::returnPressed, this, [this] {
    const QString said = state_->timeline->find(state_->find->text());
    if (!said.isEmpty())
      QToolTip::showText(state_->find->mapToGlobal(QPoint(0, state_->find->height())), said,
                         state_->find);
  });
  s.strip = new StageStrip(session, this);
  s.timeline = new TimelineView(session, this);
  setFocusProxy(s.timeline);
  s.plot = new HeldPlot(session, this);
  s.table = new OpTable(session, this);
  s.table->hide();
  s.one_stage = new QLabel(this);
  s.one_stage->setWordWrap(true);
  s.one_stage->setProperty("role", "muted");
  const auto action = [this](const QString& text, const char* name, bool checkable) {
    auto* made = new QAction(text, this);
    made->setObjectName(QLatin1String(name));
    made->setCheckable(checkable);
    return made;
  };
  s.pairs = action(tr("Predicted and run in &pairs"), "view-pairs", true);
  s.show_table = action(tr("&Table of ops"), "view-table", true);
  s.show_table->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_T));
  s.one_rank = action(tr("&One rank per stage"), "view-one-rank", true);
  s.unmark = action(tr("Remove all &marks"), "view-unmark", false);
  s.edit = action(tr("&Edit the order"), "view-edit-order", true);
  s.edit->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_B));
  add_editor();
  connect(s.pairs, &QAction::toggled, this, [this](bool on) {
    state_->timeline->set_arrangement(on ? Arrangement::kPairs : Arrangement::kBlocks);
  });
  connect(s.timeline, &TimelineView::arrangement_changed, this, [this] {
    state_->pairs->setChecked(state_->timeline->arrangement() == Arrangement::kPairs);
  });
  connect(s.show_table, &QAction::toggled, this,
          [this, &s, before = QPointer<QWidget>()](bool on) mutable {
            if (on) before = QApplication::focusWidget();
            const bool moves = on || s.table->isAncestorOf(QApplication::focusWidget());
            align();
            refresh();
            if (QWidget* to = on ? s.table : before.data(); moves && to) to->setFocus();
          });
  connect(s.one_rank, &QAction::toggled, this,
          [this](bool on) { state_->timeline->set_collapsed(on); });
  connect(s.unmark, &QAction::triggered, this, [this] { state_->session.subject().set_marks({}); });
  const auto follow_marks = [this] {
    state_->unmark->setEnabled(!state_->session.subject().marks().empty());
  };
  connect(&s.session.subject(), &Subject::marks_changed, this, follow_marks);
  follow_marks();
  connect(s.timeline, &TimelineView::picture_changed, this, &PipelineView::refresh);
  refresh();
}

PipelineView::~PipelineView() = default;

void PipelineView::add_editor() {
  State& s = *state_;
  OrderEdit& edit = s.session.order_edit();
  s.editor = new OrderEditor(s.session, this);
  s.editor->hide();
  s.edit_button = new QToolButton(this);
  s.edit_button->setText(tr("Edit the order"));
  s.edit_button->setToolTip(tr("Place the forwards and backwards of each stage yourself"));
  connect(s.edit_button, &QToolButton::clicked, s.edit, &QAction::trigger);
  connect(s.edit, &QAction::toggled, this, [&edit](bool on) { edit.set_open(on); });
  connect(s.editor, &OrderEditor::described, this, &View::described);
  connect(&edit, &OrderEdit::changed, this, [this, &edit] {
    state_->edit->setChecked(edit.open());
    state_->timeline->set_resting(edit.open());
    const bool opened = edit.open() && state_->editor->isHidden();
    if (edit.open() == state_->editor->isHidden()) refresh();
    if (opened) state_->editor->setFocus(Qt::OtherFocusReason);
    Q_EMIT quantities_changed();
  });
  connect(&edit, &OrderEdit::floor_changed, this, &View::quantities_changed);
  const auto follow_locks = [this, &edit] {
    const LessonLocks& locks = state_->session.locks();
    state_->edit->setEnabled(edit.open()
                                 ? !edit.task().has_value()
                                 : locks.allowed(QStringLiteral("schedule")) &&
                                       !locks.question_open() && locks.hidden_keys().isEmpty());
    align();
  };
  connect(&s.session.locks(), &LessonLocks::allowed_changed, this, follow_locks);
  connect(&s.session.locks(), &LessonLocks::question_changed, this, follow_locks);
  connect(&s.session.locks(), &LessonLocks::hidden_changed, this, follow_locks);
  connect(&edit, &OrderEdit::changed, this, follow_locks);
}

TimelineView& PipelineView::timeline() { return *state_->timeline; }

namespace {

ViewPicture pipeline_picture(const Session& session, const PictureStyle& style) {
  PictureOptions options;
  options.dark = style.dark;
  options.whole_step = style.whole_step;
  return {picture_size(session, options),
          [&session, options](QPainter& painter, QSizeF size, TextLog* texts) {
            paint_picture(painter, size, session, options, texts);
          }};
}

}  // namespace

ViewInfo PipelineView::info() {
  return {.id = "pipeline",
          .room = Room::kExplore,
          .title = [] { return tr("Pipeline"); },
          .command = [] { return tr("&Pipeline view"); },
          .menu = [] { return tr("&In the pipeline"); },
          .question = [] { return tr("Who computes what, when"); },
          .about =
              [] {
                return tr(
                    "Each row is one **rank**, and each bar one micro-batch that passes forward or "
                    "backward through the layers of that rank. Hatched time is **idle**: the "
                    "bubble. Above stands the prediction; press **Run**, and what real ranks did "
                    "appears below it.");
              },
          .selects =
              [] {
                return tr(
                    "Click a bar to see how long it takes and what it waited for; drag over a time "
                    "to see how it is spent.");
              },
          .formula = "bubble.of_total",
          .file = "timeline",
          .shows_range = true,
          .why_not = nullptr,
          .topic = [](Session& session) -> Topic& { return session.training_step(); },
          .picture = pipeline_picture,
          .make = [](Session& session, QWidget* parent) -> View* {
            return new PipelineView(session, parent);
          }};
}

std::vector<Quantity> PipelineView::quantities() const {
  const OrderEdit& edit = state_->session.order_edit();
  if (edit.open() && edit.problem().isEmpty()) return editor_quantities(edit, state_->session);
  return step_quantities(state_->session);
}

ViewPicture PipelineView::exported(const PictureStyle& style) const {
  return pipeline_picture(state_->session, style);
}

// Pairs, table, marks; what keys do while the table has the focus; those of the timeline.
std::vector<ViewActions> PipelineView::commands() const {
  const State& s = *state_;
  return {{{s.edit, s.pairs, s.one_rank, s.show_table, s.unmark}},
          {s.table->key_actions(), {}, tr("While the table of ops has the focus")},
          {s.timeline->key_actions(), tr("In the time&line"), {}, false}};
}

void PipelineView::refresh_keys() { state_->timeline->refresh_keys(); }

bool PipelineView::takes_orders() const { return state_->session.order_edit().open(); }

bool PipelineView::open_search() {
  state_->show_table->setChecked(false);
  state_->find->show();
  align();
  update();
  state_->find->setFocus(Qt::ShortcutFocusReason);
  state_->find->selectAll();
  return true;
}

bool PipelineView::eventFilter(QObject* watched, QEvent* event) {
  const bool escape =
      event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape;
  if (watched != state_->find || !escape) return QWidget::eventFilter(watched, event);
  state_->find->hide();
  state_->timeline->setFocus(Qt::OtherFocusReason);
  align();
  update();
  return true;
}

QString PipelineView::description() const {
  const OrderEdit& edit = state_->session.order_edit();
  return edit.open() ? editor_description(edit) : state_->timeline->description();
}

// The lanes changed: everything that follows from them.
void PipelineView::refresh() {
  State& s = *state_;
  const Picture& picture = s.timeline->picture();
  const PictureLane* lane = animated_lane(picture);
  s.strip->show_rows(lane ? lane->rows : nullptr, lane == nullptr);
  s.plot->show_rows(lane ? lane->rows : nullptr, lane == nullptr || picture.hides_held,
                    lane ? lane->short_title : QString());
  if (s.table->isVisibleTo(this)) {
    const auto rows = [&](LaneStyle style) -> std::shared_ptr<const LaneRows> {
      const int index = lane_of(picture, style);
      if (index < 0 || picture.lanes[static_cast<std::size_t>(index)].hidden) return nullptr;
      return picture.lanes[static_cast<std::size_t>(index)].rows;
    };
    const bool joined = joins(picture);
    s.table->show_rows(rows(LaneStyle::kPredicted), joined ? rows(LaneStyle::kObserved) : nullptr,
                       zoom_of(picture, s.timeline->layout_of_rows()), picture.hides);
  }
  const Mesh& mesh = s.session.subject().prediction()->setup.mesh;
  s.one_stage->setVisible(mesh.pp == 1);
  s.one_stage->setText(
      mesh.ranks() > 1
          ? tr("One stage, no pipeline. Below its bars stands what each rank sends: filled where "
               "the rank waits for it, hollow where it computes meanwhile. The height of many "
               "short ones is their share of the time.")
          : tr("One stage: no rank waits for another, so there is no pipeline to see. Set Pipeline "
               "PP to 2 or more and the stages work in turn."));
  align();
  update();
}

void PipelineView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) refresh();
}

}  // namespace parallelarium

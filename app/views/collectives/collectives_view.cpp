// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/collectives/collectives_view.h"

#include <QEvent>
#include <QHeaderView>
#include <QPainter>

#include "app/look/figures.h"
#include "app/views/collectives/collectives_state.h"
#include "app/views/collectives/picture/collective_parts.h"
#include "app/views/shared/paint/canvas.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/quantities/quantities.h"

namespace parallelarium {
namespace {

ViewPicture exported_collective(const Session& session, const PictureStyle& style) {
  return {collective_picture_size(session),
          [&session, dark = style.dark](QPainter& painter, QSizeF size, TextLog* texts) {
            paint_collective_picture(painter, size, session, dark, texts);
          }};
}

}  // namespace

ViewInfo CollectivesView::info() {
  return {.id = "collectives",
          .room = Room::kExplore,
          .title = [] { return tr("Collectives"); },
          .command = [] { return tr("&Collectives view"); },
          .menu = [] { return tr("In co&llectives"); },
          .question = [] { return tr("How ranks exchange an array"); },
          .about =
              [] {
                return tr(
                    "In a **collective** all ranks of a group take part: each column is a rank, "
                    "each row a chunk of its array. Choose a collective, an algorithm and the "
                    "links, and follow every chunk from rank to rank. Press **Run**, and ranks of "
                    "this computer do the same, counted and timed beside the prediction.");
              },
          .selects =
              [] {
                return tr(
                    "Click a chunk or a step to see what it carries, what it adds to, and how long "
                    "it waited; arrows walk over the moves.");
              },
          .formula = "collective.seconds",
          .file = "collectives",
          .shows_range = false,
          .why_not = nullptr,
          .topic = [](Session& session) -> Topic& { return session.collectives(); },
          .picture = exported_collective,
          .make = [](Session& session, QWidget* parent) -> View* {
            return new CollectivesView(session, parent);
          }};
}

CollectivesView::CollectivesView(Session& session, QWidget* parent)
    : View(session, parent), state_(std::make_unique<State>(session)) {
  State& s = *state_;
  setAccessibleName(tr("Collectives"));
  setObjectName(QStringLiteral("CollectivesView"));
  s.worker.setMaxThreadCount(1);
  const Canvas made = make_canvas(*this, tr("Picture of the collective"));
  s.scroll = made.scroll;
  s.canvas = made.canvas;
  s.table = new QTableWidget(this);
  s.table->setAccessibleName(tr("Moves of the collective"));
  s.table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  s.table->setSelectionBehavior(QAbstractItemView::SelectRows);
  s.table->setSelectionMode(QAbstractItemView::SingleSelection);
  s.table->setShowGrid(false);
  s.table->setFrameShape(QFrame::NoFrame);
  s.table->verticalHeader()->hide();
  s.table->verticalHeader()->setDefaultSectionSize(22);
  build_controls();
  s.sweep = new QToolButton(s.canvas);
  s.sweep->setObjectName(QStringLiteral("Link"));
  s.sweep->setText(tr("measure"));
  s.sweep->setToolTip(s.measure->toolTip());
  s.sweep->setAccessibleName(tr("Measure the bandwidth of every size"));
  connect(s.sweep, &QToolButton::clicked, s.measure, &QAction::trigger);
  connect(s.table, &QTableWidget::currentCellChanged, this, [this](int row, int, int before, int) {
    if (row < 0 || row == before || !state_->table->hasFocus()) return;
    const QVariant at = state_->table->item(row, 0)->data(Qt::UserRole);
    choose({at.toPoint().x(), at.toPoint().y()}, true);
  });
  const auto again = [this] {
    if (isVisible()) refresh();
  };
  connect(&s.collectives, &CollectiveSession::changed, this, again);
  connect(&s.collectives, &CollectiveSession::run_changed, this, again);
  connect(&s.collectives, &CollectiveSession::content_changed, this, again);
  connect(&s.collectives, &CollectiveSession::selection_changed, this, [this] {
    if (isVisible()) state_->canvas->update();
  });
  connect(&s.collectives, &CollectiveSession::playhead_changed, this,
          &CollectivesView::move_playhead);
  for (const auto signal : {&LessonLocks::hidden_changed, &LessonLocks::allowed_changed})
    connect(&session.locks(), signal, this, again);
  for (const auto signal : {&Playback::playing_changed, &Playback::motion_changed})
    connect(&session.playback(), signal, this, &CollectivesView::move_playhead);
  connect(&session, &Session::run_state_changed, this, [this] {
    const bool idle = state_->session.jobs().state() == RunState::kIdle;
    state_->measure->setEnabled(idle && !state_->collectives.problem() &&
                                !state_->session.locks().question_open());
    state_->sweep->setEnabled(state_->measure->isEnabled());
  });
  setFocusProxy(s.canvas);
  refresh_controls();
}

CollectivesView::~CollectivesView() {
  state_->canvas->removeEventFilter(this);
  state_->worker.waitForDone();
}

QWidget& CollectivesView::canvas() { return *state_->canvas; }

Topic& CollectivesView::topic() const { return state_->collectives; }

std::vector<Quantity> CollectivesView::quantities() const {
  return collective_quantities(state_->session);
}

QString CollectivesView::origin(const QString& quantity) const {
  if (quantity != QLatin1String("collective.correct")) return View::origin(quantity);
  return tr("Every cell of every rank is compared with the result that the inputs must give.");
}

ViewPicture CollectivesView::exported(const PictureStyle& style) const {
  return exported_collective(state_->session, style);
}

std::vector<ViewActions> CollectivesView::commands() const {
  const State& s = *state_;
  return {{{s.show_table, s.show_values, s.show_rounding, s.show_parts, s.measure}}};
}

// As collective_picture(), but with everything kept that the last frame has used.
CollectivePicture CollectivesView::picture() const {
  State& s = *state_;
  const CollectiveSession& collectives = s.collectives;
  CollectivePicture picture;
  picture.plan = collectives.plan();
  if (s.predicted_of != picture.plan) {
    s.predicted_of = picture.plan;
    s.predicted =
        std::make_shared<const CollectiveMotion>(picture.plan, picture.plan->cost.timeline);
  }
  picture.predicted = s.predicted;
  picture.run = collectives.run();
  picture.stale = collectives.run_is_stale();
  picture.times_compare = collectives.times_compare();
  if (picture.run && !picture.stale && picture.times_compare) {
    if (s.observed_of != picture.run->plan) {
      s.observed_of = picture.run->plan;
      s.observed =
          std::make_shared<const CollectiveMotion>(picture.run->plan, picture.run->seen.timeline);
    }
    picture.observed = s.observed;
  }
  picture.playhead = collectives.playhead();
  picture.tweened = !s.session.playback().reduced_motion();
  picture.dimmed = collectives.problem().has_value();
  picture.wanted = collectives.content();
  picture.hidden = hidden_of_collective(s.session);
  picture.sweep = collectives.sweep();
  picture.selected = collectives.selected();
  if (collectives.shows_parts()) {
    if (s.parts_of != picture.plan) {
      s.parts_of = picture.plan;
      s.parts = reduce_scatter_then_all_gather(*picture.plan);
    }
    picture.parts = s.parts;
  }
  picture.lines = s.lines && s.lines->of(picture.plan->choice) ? s.lines : nullptr;
  picture.plot_cache = s.plot_cache;
  return picture;
}

CollectiveLayout CollectivesView::layout_now() const {
  return collective_layout(picture(), state_->canvas->size());
}

void CollectivesView::refresh() {
  State& s = *state_;
  refresh_controls();
  refresh_lines();
  if (s.show_table->isChecked()) refresh_table();
  const bool ran = s.collectives.fresh_run() != nullptr;
  s.show_values->setEnabled(ran);
  s.show_rounding->setEnabled(ran);
  s.content->setEnabled(ran);
  s.content->setToolTip(ran ? QString() : tr("Values are those of a run; press Run first"));
  const ChunkContent content = ran ? s.collectives.content() : ChunkContent::kContributions;
  s.show_values->setChecked(content == ChunkContent::kValues);
  s.show_rounding->setChecked(content == ChunkContent::kRounding);
  s.content->set_value(name_of(content));
  s.show_parts->setChecked(s.collectives.shows_parts());
  s.show_parts->setEnabled(s.collectives.plan()->choice.spec.kind == CollectiveKind::kAllReduce);
  tell_shown();
  retell();
  s.canvas->update();
}

// The predicted lines of the plot, on a thread: they are dozens of simulations.
void CollectivesView::refresh_lines() {
  State& s = *state_;
  const CollectiveChoice choice = s.collectives.plan()->choice;
  if (s.computing || (s.lines && s.lines->of(choice))) return;
  s.computing = true;
  s.worker.start([this, choice] {
    auto lines = std::make_shared<const BandwidthLines>(bandwidth_lines(choice));
    QMetaObject::invokeMethod(
        this,
        [this, lines] {
          state_->computing = false;
          // Lines of a choice that is no longer there take nobody's place.
          if (lines->of(state_->collectives.plan()->choice)) state_->lines = lines;
          if (isVisible()) refresh();  // and asks again if the choice moved on meanwhile
        },
        Qt::QueuedConnection);
  });
}

void CollectivesView::wait() {
  State& s = *state_;
  s.worker.waitForDone();
  if (!s.lines || !s.lines->of(s.collectives.plan()->choice))
    s.lines = std::make_shared<const BandwidthLines>(bandwidth_lines(s.collectives.plan()->choice));
  refresh();
}

void CollectivesView::refresh_table() {
  State& s = *state_;
  const CollectivePicture picture = this->picture();
  const CollectivePlan& plan = *picture.plan;
  const CollectiveMotion* seen = picture.observed.get();
  QStringList heads{tr("Step"),
                    tr("From"),
                    tr("To"),
                    tr("Chunk"),
                    tr("Bytes"),
                    tr("There"),
                    tr("Predicted begin"),
                    tr("Predicted")};
  if (seen) heads << tr("Waited") << source_text(seen->source());
  const QSignalBlocker blocker(s.table);
  s.table->setColumnCount(int(heads.size()));
  s.table->setHorizontalHeaderLabels(heads);
  int rows = 0;
  for (const auto& moves : plan.collective.steps) rows += int(moves.size());
  s.table->setRowCount(rows);
  int row = 0;
  for (int step = 0; step < plan.steps(); ++step)
    for (int at = 0; at < int(plan.collective.steps[std::size_t(step)].size()); ++at, ++row) {
      const MoveRef ref{step, at};
      const Move& move = picture.predicted->move(ref);
      const Span span = picture.predicted->span_of(ref);
      QStringList texts{QString::number(step + 1),
                        tr("rank %1").arg(move.from),
                        tr("rank %1").arg(move.to),
                        chunk_name(plan, move.chunk),
                        bytes_text(move.bytes),
                        move.reduce ? tr("combined") : tr("kept"),
                        picture.hides_predicted() ? kHidden : time_text(span.begin),
                        picture.hides_predicted() ? kHidden : time_text(span.end - span.begin)};
      if (seen)
        texts << (picture.hides_run() ? kHidden : time_text(seen->waited(ref)))
              << (picture.hides_run()
                      ? kHidden
                      : time_text(seen->span_of(ref).end - seen->span_of(ref).begin));
      for (int column = 0; column < int(texts.size()); ++column) {
        auto* item = new QTableWidgetItem(texts[column]);
        if (column >= 4 && column != 5) item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        if (column == 0) item->setData(Qt::UserRole, QPoint(step, at));
        s.table->setItem(row, column, item);
      }
      if (s.collectives.selected() == ref) s.table->selectRow(row);
    }
  s.table->resizeColumnsToContents();
}

void CollectivesView::move_playhead() {
  State& s = *state_;
  if (!isVisible()) return;
  if (!s.session.playback().playing()) tell_shown();
  const CollectiveLayout layout = layout_now();
  const double bottom = layout.lanes.bottom() + 8;
  s.canvas->update(QRectF(0, 0, layout.size.width(), bottom).toAlignedRect());
}

void CollectivesView::paint_canvas(const QRect& dirty) {
  State& s = *state_;
  QPainter painter(s.canvas);
  painter.setClipRect(dirty);
  const Theme& theme = theme_for(palette());
  painter.fillRect(dirty, theme.surface);
  const CollectivePicture picture = this->picture();
  const CollectiveLayout layout = collective_layout(picture, s.canvas->size());
  paint_collective(painter, picture, layout, theme, nullptr);
  if (!s.canvas->hasFocus()) return;
  painter.setPen(QPen(theme.accent_line, 1, Qt::DotLine));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRectF(4, 2, layout.size.width() - 8, layout.bytes.bottom()));
}

QString CollectivesView::description() const {
  const CollectivePicture picture = this->picture();
  QString text = frame_sentence(picture.shown(), picture.playhead, picture.hidden);
  if (picture.run && !picture.stale && !picture.hides_run())
    text +=
        picture.run->seen.correct
            ? tr("%1: verified cell by cell. ").arg(result_sentence(picture.plan->collective.spec))
            : tr("%1 cells are wrong. ").arg(count_text(picture.run->seen.wrong_cells));
  if (const QString bits = rounding_line(picture); !bits.isEmpty())
    text += bits + QStringLiteral(". ");
  return text + plot_sentence(picture);
}

void CollectivesView::resizeEvent(QResizeEvent*) { place_parts(); }

void CollectivesView::showEvent(QShowEvent* event) {
  View::showEvent(event);
  refresh();
}

void CollectivesView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange)
    if (state_->canvas) refresh();
}

}  // namespace parallelarium

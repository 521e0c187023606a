// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/memory/memory_view.h"

#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/spoken.h"
#include "app/look/theme/focus_ring.h"
#include "app/state/step/training_step.h"
#include "app/views/memory/holders/shared_messages.h"
#include "app/views/memory/memory_state.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/qcustomplot_header.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "app/views/shared/words/words.h"

namespace parallelarium {
namespace {

constexpr int kHeader = 36, kLegend = 24, kPanes = 34, kSplitFrom = 520, kSideFrom = 640;
constexpr double kSide = 262;
constexpr double kHoldersShare = 0.67, kHoldersCurveFrom = 380;
constexpr std::int64_t kQuickOps = 12'000;  // a Program of so many ops is planned in a frame

// `rank_index`: as built.
ViewPicture memory_picture(const Session& session, const PictureStyle& style, int rank_index) {
  return {memory_picture_size(), [&session, dark = style.dark, rank_index](
                                     QPainter& painter, QSizeF size, TextLog* texts) {
            paint_memory_picture(painter, size, session, dark, rank_index, texts);
          }};
}

}  // namespace

bool MemoryView::State::shows(Pane which) const {
  if (split && (which == Pane::kStages || which == Pane::kBytes)) return true;
  return pane == which;
}

const BarChart* MemoryView::State::chart() const {
  if (pane == Pane::kRanks) return &shown.ranks;
  return shows(Pane::kStages) ? &shown.stages : nullptr;
}

std::int64_t MemoryView::State::limit_in_sight() const {
  if (shown.hidden) return 0;
  const bool drawn =
      (!stages_rect.isEmpty() && parallelarium::limit_in_sight(shown.stages)) ||
      (pane == Pane::kRanks && parallelarium::limit_in_sight(shown.ranks)) ||
      (!curve_rect.isEmpty() && parallelarium::limit_in_sight(shown.curve.limit, shown.curve.most));
  return drawn ? shown.stages.limit : 0;
}

QRectF MemoryView::State::chart_rect() const {
  const QRectF rect = pane == Pane::kRanks ? lower_rect : stages_rect;
  return rect.adjusted(0, 22, 0, 0);
}

MemoryView::MemoryView(Session& session, QWidget* parent)
    : View(session, parent), state_(std::make_unique<State>(session)) {
  // Who holds what is a picture of its own, with the keys and the text.
  speak_as(*this, {QAccessible::Canvas,
                   [this] { return state_->pane == Pane::kHolders ? QString() : description(); }});
  setAccessibleName(tr("Memory"));
  setAttribute(Qt::WA_OpaquePaintEvent);
  setFocusPolicy(Qt::StrongFocus);
  ring_focus(*this);
  setMouseTracking(true);
  state_->worker.setMaxThreadCount(1);
  build_controls();
  const auto again = [this] {
    if (isVisible()) refresh();
  };
  for (const auto signal :
       {&Session::prediction_changed, &Session::run_changed, &Session::setup_changed})
    connect(&session, signal, this, [this, again] {
      state_->point.reset();
      again();
    });
  for (const auto signal : {&LessonLocks::hidden_changed, &LessonLocks::allowed_changed})
    connect(&session.locks(), signal, this, again);
  connect(&session.subject(), &Subject::visible_changed, this, again);
  connect(&session.playback(), &Playback::playhead_changed, this, &MemoryView::move_playhead);
  connect(&session.playback(), &Playback::playing_changed, this, &MemoryView::move_playhead);
}

MemoryView::~MemoryView() { state_->worker.waitForDone(); }

std::vector<ViewActions> MemoryView::commands() const {
  return {{QList<QAction*>(state_->actions.begin(), state_->actions.end())},
          {state_->holders->key_actions(), {}, tr("While Who holds what is shown")}};
}

ViewInfo MemoryView::info() {
  return {.id = "memory",
          .room = Room::kExplore,
          .title = [] { return tr("Memory"); },
          .command = [] { return tr("Memor&y view"); },
          .menu = [] { return tr("In &memory"); },
          .question = [] { return tr("What fills the memory"); },
          .about =
              [] {
                return tr(
                    "Parameters, gradients, optimizer state, activations and buffers of each rank, "
                    "against the limit of its device. The panes show them by stage, "
                    "by formula, over the step, by rank, by tensor, and who holds what. After a "
                    "run the counted bytes stand beside the predicted ones.");
              },
          .selects =
              [] {
                return tr(
                    "Click a part of a bar or of the curve to see what holds it and how many bytes "
                    "it is.");
              },
          .formula = "memory.peak_bytes",
          .file = "memory",
          .shows_range = false,
          .why_not = nullptr,
          .topic = [](Session& session) -> Topic& { return session.training_step(); },
          .picture =
              [](const Session& session, const PictureStyle& style) {
                if (style.part == QLatin1String(kPaneKeys[int(Pane::kHolders)]))
                  return holders_export(session, style.dark);
                return memory_picture(session, style,
                                      fullest_rank(*session.subject().prediction()));
              },
          .make = [](Session& session, QWidget* parent) -> View* {
            return new MemoryView(session, parent);
          }};
}

ViewPicture MemoryView::exported(const PictureStyle& style) const {
  if (state_->pane == Pane::kHolders) return holders_export(state_->session, style.dark);
  return memory_picture(state_->session, style, rank_index());
}

std::vector<Quantity> MemoryView::quantities() const {
  return memory_quantities(state_->session, rank_index());
}

void MemoryView::show_part(const QString& part) {
  if (part.isEmpty()) show_pane(Pane::kStep);
  for (int at = 0; at < kPanesOfMemory; ++at)
    if (part == QLatin1String(kPaneKeys[at])) show_pane(Pane(at));
}

MemoryView::Pane MemoryView::pane() const { return state_->pane; }

void MemoryView::show_pane(Pane pane) {
  state_->pane = pane;
  state_->cursor = -1;
  state_->point.reset();
  refresh();
}

int MemoryView::rank_index() const {
  const Prediction& prediction = *state_->session.subject().prediction();
  for (std::size_t at = 0; at < prediction.program.ranks.size(); ++at)
    if (prediction.program.ranks[at].rank == state_->chosen_rank) return int(at);
  return fullest_rank(prediction);
}

void MemoryView::show_rank(int rank_index) {
  const auto& ranks = state_->session.subject().prediction()->program.ranks;
  if (rank_index < 0 || rank_index >= int(ranks.size())) return;
  state_->chosen_rank = ranks[std::size_t(rank_index)].rank;
  state_->holders->show_rank(state_->chosen_rank);
  refresh();
  Q_EMIT quantities_changed();
}

void MemoryView::wait() {
  State& s = *state_;
  const Setup& setup = s.session.subject().prediction()->setup;
  s.worker.waitForDone();
  if (!s.plans.holds(setup)) s.plans.keep(setup, ZeroPlans::compute(setup));
  refresh();
}

// The other three ZeRO stages: at once where that takes less than a frame, else on a thread.
void MemoryView::refresh_stages() {
  State& s = *state_;
  const std::shared_ptr<const Prediction> prediction = s.session.subject().prediction();
  if (s.plans.holds(prediction->setup) || s.computing) return;
  if (prediction->program.op_count() <= kQuickOps) {
    s.plans.keep(prediction->setup, ZeroPlans::compute(prediction->setup));
    return;
  }
  s.computing = true;
  const auto setup = std::make_shared<const Setup>(prediction->setup);
  s.worker.start([this, setup] {
    auto plans = std::make_shared<std::vector<ZeroPlans::Plan>>(ZeroPlans::compute(*setup));
    QMetaObject::invokeMethod(
        this,
        [this, setup, plans] {
          state_->computing = false;
          state_->plans.keep(*setup, std::move(*plans));
          if (isVisible()) refresh();  // and asks again if the Setup moved on meanwhile
        },
        Qt::QueuedConnection);
  });
}

void MemoryView::refresh() {
  State& s = *state_;
  refresh_stages();
  s.shown = memory_shown(s.session, s.plans, rank_index());
  const Prediction& prediction = *s.session.subject().prediction();
  const Theme& theme = theme_for(palette());
  s.rank->blockSignals(true);
  s.rank->clear();
  for (int at = 0; at < int(prediction.program.ranks.size()); ++at)
    s.rank->addItem(rank_text(prediction.program, at));
  s.rank->setCurrentIndex(s.shown.rank_index);
  s.rank->blockSignals(false);
  s.panes->set_value(QLatin1String(kPaneKeys[int(s.pane)]));
  const Precision& precision = s.session.resolved().precision;
  const int values[] = {precision.parameter_bytes, precision.gradient_bytes, precision.master_bytes,
                        precision.moments_bytes};
  for (std::size_t at = 0; at < s.bytes.size(); ++at) {
    s.bytes[at]->set_text(QString::number(values[at]));
    s.bytes[at]->setEnabled(s.session.locks().allowed(QStringLiteral("precision")));
  }
  s.recipe->setEnabled(s.session.locks().allowed(QStringLiteral("precision")));
  const int recipe = s.recipe->findData(QString::fromStdString(precision.name));
  s.recipe->setCurrentIndex(recipe);
  if (recipe < 0) s.recipe->setPlaceholderText(tr("custom"));
  refresh_tensors();
  s.playhead->setPen(QPen(theme.mark, 1));
  place_parts();
  fill_memory_plot(*s.plot, s.shown.curve, s.shown.run != nullptr, theme, s.axis(width()), width());
  move_playhead();
  s.plot->replot(QCustomPlot::rpQueuedReplot);
  tell_shown();
  update();
}

void MemoryView::place_parts() {
  State& s = *state_;
  const bool holders = s.pane == Pane::kHolders;
  s.split = height() >= kSplitFrom && width() >= kSideFrom && !holders;
  const int w = width();
  const int combo = std::min(190, w / 3);
  s.rank->setGeometry(w - 16 - combo, 4, combo, 28);
  // Above two halves the first two panes are seen anyway.
  for (const char* key : {kPaneKeys[0], kPaneKeys[1]})
    s.panes->set_choice_shown(QLatin1String(key), height() < kSplitFrom || width() < kSideFrom);
  if (s.split && int(s.pane) < 2) {
    s.pane = Pane::kStep;
    s.panes->set_value(QLatin1String(kPaneKeys[2]));
  }
  const double top = kHeader + kLegend;
  const double middle = s.split ? top + (height() - top) * 0.56 : top;
  const double panes_y = middle;
  s.panes->adjustSize();
  s.panes->setGeometry(16, int(panes_y), std::min(w - 32, s.panes->sizeHint().width()), 28);
  const QRectF lower(16, panes_y + kPanes, w - 32, height() - panes_y - kPanes - 6);
  s.lower_rect = lower;
  s.stages_rect = s.bytes_rect = s.traffic_rect = QRectF();
  if (s.split) {
    const double side = std::max(kSide, (w - 32) * 0.3);
    s.stages_rect = QRectF(16, top, w - 32 - side - 24, middle - top - 8);
    s.bytes_rect = QRectF(w - 16 - side, top, side, byte_table_height());
    s.traffic_rect = QRectF(w - 16 - side, s.bytes_rect.bottom() + 34, side,
                            middle - s.bytes_rect.bottom() - 40);
  } else if (s.pane == Pane::kStages) {
    s.stages_rect = lower;
  } else if (s.pane == Pane::kBytes) {
    const double half = (lower.width() - 24) / 2;
    s.bytes_rect = QRectF(lower.left(), lower.top(), half, byte_table_height());
    s.traffic_rect = QRectF(lower.left() + half + 24, lower.top(), half, lower.height());
  }
  const bool table = s.shows(Pane::kBytes) && !s.shown.hides_bytes && !s.shown.hidden;
  s.recipe->setVisible(table);
  s.recipe->setGeometry(int(s.bytes_rect.left()), int(s.bytes_rect.bottom()) + 2,
                        int(std::min(190.0, s.bytes_rect.width())), 26);
  // Where the table leaves room for its values.
  QImage nowhere(1, 1, QImage::Format_RGB32);
  QPainter painter(&nowhere);
  s.byte_values = paint_byte_table(painter, s.bytes_rect, s.session.subject().prediction()->setup,
                                   true, theme_for(palette()), nullptr);
  for (std::size_t at = 0; at < s.bytes.size(); ++at) {
    s.bytes[at]->setVisible(table);
    s.bytes[at]->setGeometry(s.byte_values[at].adjusted(-8, 2, 0, -2).toRect());
  }
  const bool tensors = s.pane == Pane::kTensors;
  s.tensors->setVisible(tensors);
  s.tensor_note->setVisible(tensors);
  const int note = s.tensor_note->heightForWidth(int(lower.width()));
  s.tensor_note->setGeometry(16, int(lower.bottom()) - note, int(lower.width()), note);
  s.tensors->setGeometry(16, int(lower.top()), int(lower.width()),
                         std::max(30, int(lower.height()) - note - 4));
  // Below who holds what, where there is room, the memory of the same buffers over the step.
  const double curve_top = holders ? lower.top() + lower.height() * kHoldersShare : lower.top();
  const bool curve = !s.shown.hidden &&
                     (s.pane == Pane::kStep || (holders && lower.height() >= kHoldersCurveFrom));
  s.curve_rect =
      curve ? QRectF(lower.left(), curve_top, lower.width(), lower.bottom() - curve_top) : QRectF();
  s.plot->setVisible(curve);
  const double plot_top = curve_top + kCurveCaption + (holders ? kSharedStrip : 0);
  s.plot->setGeometry(0, int(plot_top), w,
                      std::max(20, int(lower.bottom() - plot_top - kCurveFoot)));
  s.holders->setVisible(holders);
  setFocusProxy(holders ? s.holders : nullptr);  // whose cells the keys choose
  if (holders) setAccessibleDescription({});
  for (QAction* key : s.holders->key_actions()) key->setEnabled(holders);
  s.holders->setGeometry(16, int(lower.top()), w - 32,
                         int((curve ? curve_top - 6 : lower.bottom()) - lower.top()));
  if (holders) s.holders->refresh();
  if (!holders) retell();
}

void MemoryView::move_playhead() {
  State& s = *state_;
  if (!isVisible()) return;
  if (s.pane == Pane::kHolders) s.holders->move();
  const double x = s.axis(width()).x_of(s.session.playback().playhead());
  const bool shown = x >= kCurveAxis - 0.5 && x <= width() - 15.5;
  s.playhead->setVisible(shown);
  s.playhead->start->setCoords(x, 0);
  s.playhead->end->setCoords(x, s.plot->height());
  if (s.plot->isVisible()) s.plot->layer(QStringLiteral("playhead"))->replot();
  if (!s.session.playback().playing()) tell_shown();
}

void MemoryView::paintEvent(QPaintEvent*) {
  State& s = *state_;
  QPainter painter(this);
  const Theme& theme = theme_for(palette());
  painter.fillRect(rect(), theme.surface);
  painter.setRenderHint(QPainter::Antialiasing);
  put_elided(painter, QRectF(16, 6, s.rank->x() - 28, 22), Qt::AlignVCenter, s.shown.title,
             theme.font(13, true), theme.text, nullptr);
  bool unexplained = false;
  for (const BarChart* chart : {&s.shown.stages, &s.shown.ranks})
    for (const BarGroup& group : chart->groups)
      unexplained = unexplained || (group.counted && group.counted->unexplained > 0);
  paint_memory_legend(painter, QRectF(16, kHeader - 2, width() - 32, 20), unexplained,
                      s.shown.pinned, s.limit_in_sight(), theme, nullptr);
  const auto ask = [&](const QRectF& rect) {
    put_text(painter, rect, Qt::AlignCenter, kHidden, theme.font(15, true), theme.muted, nullptr);
  };
  const auto bars = [&](const QRectF& rect, const BarChart& chart, const QString& caption) {
    paint_caption(painter, QRectF(rect.left(), rect.top(), rect.width(), 20), caption, theme,
                  nullptr);
    if (s.shown.hidden) return ask(rect);
    const BarLayout layout = bar_layout(chart, rect.adjusted(0, 22, 0, 0), theme);
    const bool walks = hasFocus() && s.chart() == &chart;
    paint_bars(painter, chart, layout, theme, walks ? s.cursor : -1, nullptr);
  };
  if (!s.stages_rect.isEmpty()) bars(s.stages_rect, s.shown.stages, s.shown.stages_title);
  if (!s.bytes_rect.isEmpty()) {
    if (s.shown.hides_bytes || s.shown.hidden)
      ask(s.bytes_rect);
    else
      paint_byte_table(painter, s.bytes_rect, s.session.subject().prediction()->setup, true, theme,
                       nullptr);
    s.traffic_hits.clear();
    if (s.shown.hides_traffic)
      ask(s.traffic_rect);
    else
      paint_traffic(painter, s.traffic_rect, s.shown.traffic, s.shown.stale, theme, nullptr,
                    &s.traffic_hits);
  }
  if (s.pane == Pane::kRanks) bars(s.lower_rect, s.shown.ranks, s.shown.ranks_title);
  if (s.pane == Pane::kStep && s.shown.hidden) return ask(s.lower_rect);
  if (!s.curve_rect.isEmpty())
    paint_curve_frame(painter, s.curve_rect, s.shown.curve, s.shown.curve_title, theme,
                      s.axis(width()), nullptr);
  if (!s.curve_rect.isEmpty() && s.pane == Pane::kHolders)
    paint_shared_messages(painter, s.curve_rect.adjusted(0, kCurveCaption, 0, 0), s.shown.messages,
                          s.axis(width()), theme, nullptr);
}

void MemoryView::resizeEvent(QResizeEvent*) { refresh(); }

void MemoryView::showEvent(QShowEvent* event) {
  View::showEvent(event);
  refresh();
}

void MemoryView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) refresh();
}

}  // namespace parallelarium

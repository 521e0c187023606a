// SPDX-License-Identifier: GPL-3.0-or-later
// Building, laying out and painting; pointer and keys stand in timeline_pointer.cpp and
// timeline_walk.cpp.
#include "app/views/timeline/timeline_view.h"

#include <QCoreApplication>
#include <QEvent>
#include <QPaintEvent>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/spoken.h"
#include "app/views/shared/words/words.h"
#include "app/views/timeline/timeline_state.h"

namespace parallelarium {
namespace {

constexpr std::size_t kMostOpenRows = 32;  // of one lane; more are collapsed at first
constexpr int kPanSteps = 10'000;          // of the horizontal scroll bar

}  // namespace

TimelineView::TimelineView(Session& session, QWidget* parent)
    : QAbstractScrollArea(parent), state_(std::make_unique<State>(session)) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  speak_as(*this, {QAccessible::Canvas, [this] { return description(); }});
  setAccessibleName(tr("Timeline"));
  viewport()->setMouseTracking(true);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
  for (const ViewKeyInfo& info : view_keys()) {
    auto* action = new QAction(QCoreApplication::translate("ViewKey", info.text), this);
    action->setObjectName(QStringLiteral("timeline-") + QLatin1String(info.id));
    // Never added to a widget: the text is for menus and the sheet, the key comes through
    // keyPressEvent, by position.
    action->setShortcutContext(Qt::WidgetShortcut);
    const ViewKey key = info.key;
    connect(action, &QAction::triggered, this, [this, key] { act(key); });
    state_->actions.append(action);
  }
  refresh_keys();
  connect(&session, &Session::prediction_changed, this, &TimelineView::rebuild);
  connect(&session, &Session::setup_changed, this, &TimelineView::rebuild);
  connect(&session, &Session::run_changed, this, &TimelineView::rebuild);
  connect(&session, &Session::run_state_changed, this, &TimelineView::rebuild);
  connect(&session.locks(), &LessonLocks::hidden_changed, this, &TimelineView::rebuild);
  connect(&session.subject(), &Subject::visible_changed, this, [this] {
    relayout();
    announce();
    Q_EMIT picture_changed();
  });
  connect(&session.subject(), &Subject::marks_changed, viewport(), qOverload<>(&QWidget::update));
  connect(&session, &Session::restored, this, &TimelineView::rebuild);
  connect(&session.playback(), &Playback::playing_changed, this, &TimelineView::announce);
  connect(&session.playback(), &Playback::playhead_changed, this, [this] {
    state_->picture.playhead = state_->session.playback().playhead();
    viewport()->update();
    if (!state_->session.playback().playing()) announce();
  });
  connect(&session.subject(), &Subject::selection_changed, this, [this] {
    if (!state_->following) state_->arrow_from = state_->arrow_to = OpRef{};
    viewport()->update();
    announce();
  });
  connect(&session.subject(), &Subject::range_changed, this, [this] {
    viewport()->update();
    announce();
  });
  connect(horizontalScrollBar(), &QScrollBar::actionTriggered, this, [this](int) {
    const Session& s = state_->session;
    const Nanoseconds room = s.subject().horizon() - s.subject().visible().length();
    const double share = static_cast<double>(horizontalScrollBar()->sliderPosition()) / kPanSteps;
    const Nanoseconds begin(std::llround(share * static_cast<double>(room.count())));
    state_->session.subject().set_visible({begin, begin + s.subject().visible().length()});
  });
  rebuild();
}

TimelineView::~TimelineView() = default;

const Picture& TimelineView::picture() const { return state_->picture; }
const PictureLayout& TimelineView::layout_of_rows() const { return state_->layout; }
Arrangement TimelineView::arrangement() const { return state_->arrangement; }
QList<QAction*> TimelineView::key_actions() const { return state_->actions; }
void TimelineView::refresh_keys() {
  for (std::size_t at = 0; at < view_keys().size(); ++at)
    state_->actions[static_cast<qsizetype>(at)]->setShortcut(
        single_keys_act() ? sequence_of(view_keys()[at]) : QKeySequence());
}

int TimelineView::axis_left() const { return static_cast<int>(state_->layout.axis_left); }
int TimelineView::axis_width() const { return static_cast<int>(state_->layout.axis_width); }

void TimelineView::set_arrangement(Arrangement arrangement) {
  if (arrangement == state_->arrangement) return;
  state_->arrangement = arrangement;
  rebuild();
  Q_EMIT arrangement_changed();
}

void TimelineView::set_collapsed(bool collapsed) {
  state_->collapsed.clear();
  if (collapsed)
    for (const PictureLane& lane : state_->picture.lanes)
      if (lane.rows)
        for (const Row& row : lane.rows->rows) state_->collapsed.insert(row.stage);
  rebuild();
}

void TimelineView::set_resting(bool resting) {
  if (resting == state_->rests) return;
  state_->rests = resting;
  rebuild();
}

void TimelineView::rebuild() {
  if (state_->rests) return;
  state_->picture = state_->source.picture(state_->session, false);
  std::size_t most = 0;
  for (const PictureLane& lane : state_->picture.lanes)
    if (lane.rows) most = std::max(most, lane.rows->rows.size());
  if (most != state_->rows_seen) {
    state_->rows_seen = most;
    state_->collapsed.clear();
    if (most > kMostOpenRows)
      for (const PictureLane& lane : state_->picture.lanes)
        if (lane.rows)
          for (const Row& row : lane.rows->rows) state_->collapsed.insert(row.stage);
  }
  relayout();
  updateGeometry();
  announce();
  Q_EMIT picture_changed();
}

void TimelineView::relayout() {
  State& s = *state_;
  s.picture.arrangement = s.arrangement;
  s.picture.collapsed = s.collapsed;
  s.picture.range = s.session.subject().visible();
  s.picture.playhead = s.session.playback().playhead();
  s.layout = layout_of(s.picture, QSizeF(viewport()->size()), theme_for(palette()));
  s.past_valid = s.future_valid = false;
  s.hover.reset();

  const int room = viewport()->height() - static_cast<int>(s.layout.tick_band);
  verticalScrollBar()->setPageStep(room);
  verticalScrollBar()->setSingleStep(static_cast<int>(s.layout.pitch));
  verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(s.layout.height) - room));
  const double whole =
      static_cast<double>(std::max(s.session.subject().horizon(), Nanoseconds(1)).count());
  const double shown = static_cast<double>(s.picture.range.length().count()) / whole;
  const QSignalBlocker blocker(horizontalScrollBar());
  if (shown > 0.999 || shown <= 0) {
    horizontalScrollBar()->setRange(0, 0);
  } else {
    horizontalScrollBar()->setRange(0, kPanSteps);
    horizontalScrollBar()->setPageStep(
        static_cast<int>(std::lround(kPanSteps * shown / (1 - shown))));
    horizontalScrollBar()->setSingleStep(std::max(1, horizontalScrollBar()->pageStep() / 10));
    const double begin = static_cast<double>(s.picture.range.begin.count());
    horizontalScrollBar()->setValue(
        static_cast<int>(std::lround(kPanSteps * begin / (whole * (1 - shown)))));
  }
  viewport()->update();
}

void TimelineView::paintEvent(QPaintEvent*) {
  State& s = *state_;
  const Theme& theme = theme_for(palette());
  const QSizeF size = viewport()->size();
  const double ratio = viewport()->devicePixelRatioF();
  const double scroll = verticalScrollBar()->value();
  const auto draw_layer = [&](QPixmap& layer, bool& valid, Moment moment) {
    const QSize pixels = (size * ratio).toSize();
    if (valid && layer.size() == pixels) return;
    layer = QPixmap(pixels);
    layer.setDevicePixelRatio(ratio);
    layer.fill(theme.surface);
    QPainter painter(&layer);
    paint_lanes(painter, s.picture, s.layout, theme, size, scroll, moment);
    valid = true;
  };
  const TimeAxis axis = s.layout.axis(s.picture.range);
  const bool fills = std::any_of(s.picture.lanes.begin(), s.picture.lanes.end(),
                                 [](const PictureLane& lane) { return lane.fills && lane.rows; });
  const double split = fills ? std::clamp(axis.x_of(s.session.playback().playhead()), axis.left,
                                          axis.left + axis.width)
                             : size.width();
  QPainter painter(viewport());
  if (split > axis.left) {
    draw_layer(s.past, s.past_valid, Moment::kPast);
    painter.setClipRect(QRectF(0, 0, split, size.height()));
    painter.drawPixmap(0, 0, s.past);
  }
  if (split < axis.left + axis.width || (fills && split <= axis.left)) {
    draw_layer(s.future, s.future_valid, Moment::kFuture);
    const double from = split <= axis.left ? 0 : split;
    painter.setClipRect(QRectF(from, 0, size.width() - from, size.height()));
    painter.drawPixmap(0, 0, s.future);
  } else if (fills) {
    painter.setClipRect(QRectF(split, 0, size.width() - split, size.height()));
    painter.drawPixmap(0, 0, s.past);
  }
  painter.setClipping(false);

  Overlay overlay;
  overlay.hover = s.hover;
  overlay.selected = s.session.subject().selected();
  overlay.selected_zoom = s.session.subject().selected_zoom();
  overlay.selected_lane = s.selected_lane();
  overlay.joined = joins(s.picture);
  overlay.arrow_from = s.arrow_from;
  overlay.arrow_to = s.arrow_to;
  overlay.range = s.session.subject().range();
  overlay.marks = s.session.subject().marks();
  overlay.focused = hasFocus() && s.ring;
  if (s.pointer && s.drag != Drag::kPan && s.pointer->x() >= axis.left &&
      s.pointer->x() <= axis.left + axis.width)
    overlay.cursor = snap(axis.time_at(s.pointer->x()), s.snapping);
  paint_overlay(painter, overlay, s.picture, s.layout, theme, size, scroll);
}

void TimelineView::resizeEvent(QResizeEvent*) {
  const int left = axis_left(), width = axis_width();
  relayout();
  if (left != axis_left() || width != axis_width()) Q_EMIT picture_changed();
}

void TimelineView::scrollContentsBy(int, int) {
  state_->past_valid = state_->future_valid = false;
  viewport()->update();
}

void TimelineView::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::LanguageChange ||
      event->type() == QEvent::StyleChange)
    rebuild();
}

void TimelineView::focusInEvent(QFocusEvent* event) {
  state_->ring = event->reason() == Qt::TabFocusReason ||
                 event->reason() == Qt::BacktabFocusReason ||
                 event->reason() == Qt::ShortcutFocusReason;
  announce();
  viewport()->update();
}

void TimelineView::focusOutEvent(QFocusEvent*) { viewport()->update(); }

QSize TimelineView::sizeHint() const {
  return QSize(872, static_cast<int>(std::ceil(comfortable_height(state_->picture))));
}

QSize TimelineView::minimumSizeHint() const { return QSize(280, 110); }

Nanoseconds TimelineView::snap(Nanoseconds time, bool snapping) const {
  if (!snapping) return time;
  const TimeAxis axis = state_->layout.axis(state_->picture.range);
  return snapped(state_->picture, state_->layout, time, axis.length_of(6)).value_or(time);
}

std::optional<OpRef> TimelineView::op_at(QPointF position) const {
  const auto hit = hit_at(state_->picture, state_->layout, position, verticalScrollBar()->value());
  if (!hit || hit->bar < 0) return std::nullopt;
  const Row& row = state_->picture.lanes[static_cast<std::size_t>(hit->lane)]
                       .rows->rows[static_cast<std::size_t>(hit->row)];
  return OpRef{row.rank_index,
               row.lane(hit->which, hit->zoom).bars[static_cast<std::size_t>(hit->bar)].first_op};
}

QString TimelineView::tip_at(QPointF position) const {
  const State& s = *state_;
  const QPointF in_content(position.x(),
                           position.y() - s.layout.tick_band + verticalScrollBar()->value());
  for (const TitleBox& title : s.layout.titles)
    if (position.y() >= s.layout.tick_band && title.rect.contains(in_content))
      return s.picture.lanes[static_cast<std::size_t>(title.lane)].title_tip;
  const auto hit = hit_at(s.picture, s.layout, position, verticalScrollBar()->value());
  if (!hit) return {};
  const PictureLane& lane = s.picture.lanes[static_cast<std::size_t>(hit->lane)];
  const Row& row = lane.rows->rows[static_cast<std::size_t>(hit->row)];
  if (hit->bar < 0) {
    if (in_content.y() < 0) return {};
    return idle_sentence(*lane.rows, row.rank_index, hit->time, s.picture.hides);
  }
  if (hit->merged > 1)
    return tr("%n ops share these pixels; zoom in to see each.", nullptr, hit->merged);
  const BarList& list = row.lane(hit->which, hit->zoom);
  const OpRef op{row.rank_index, list.bars[static_cast<std::size_t>(hit->bar)].first_op};
  const bool joined = joins(s.picture) && lane.style != LaneStyle::kPinned;
  const auto visible_rows = [&](LaneStyle style) -> const LaneRows* {
    const int index = lane_of(s.picture, style);
    if (index < 0 || s.picture.lanes[static_cast<std::size_t>(index)].hidden) return nullptr;
    return s.picture.lanes[static_cast<std::size_t>(index)].rows.get();
  };
  QStringList lines;
  if (joined) {
    lines = bar_lines(visible_rows(LaneStyle::kPredicted), visible_rows(LaneStyle::kObserved), op,
                      true, hit->zoom, s.picture.hides);
  } else {
    const bool predicted = lane.rows->timeline->source == Source::kPredicted;
    lines = bar_lines(predicted ? lane.rows.get() : nullptr, predicted ? nullptr : lane.rows.get(),
                      op, false, hit->zoom, s.picture.hides);
  }
  return lines.join(QLatin1Char('\n'));
}

QString TimelineView::description() const {
  const State& s = *state_;
  QStringList parts;
  for (const PictureLane& lane : s.picture.lanes) {
    parts << (lane.rows ? lane.title : lane.title + QStringLiteral(": ") + lane.empty_text);
    if (!lane.other_text.isEmpty()) parts << lane.other_text;
  }
  parts << moment() << selected_words();
  parts.removeAll(QString());
  return parts.join(QStringLiteral(". "));
}

QString TimelineView::moment() const {
  const State& s = *state_;
  const PictureLane* lane = animated_lane(s.picture);
  return lane ? moment_sentence(*lane->rows, s.session.playback().playhead(), s.picture.hides,
                                !s.picture.hides_held)
              : QString();
}

QString TimelineView::selected_words() const {
  const State& s = *state_;
  if (s.session.subject().selected().rank < 0) return {};
  const int index = s.selected_lane();
  const LaneRows* rows = s.rows_of_lane(index);
  if (!rows || s.picture.lanes[static_cast<std::size_t>(index)].hidden) return {};
  const bool predicted = rows->timeline->source == Source::kPredicted;
  return tr("Selected: %1")
      .arg(bar_lines(predicted ? rows : nullptr, predicted ? nullptr : rows,
                     s.session.subject().selected(), false, s.session.subject().selected_zoom(),
                     s.picture.hides)
               .join(QStringLiteral(", ")));
}

void TimelineView::announce() {
  State& s = *state_;
  const QString now = moment(), selected = selected_words();
  const bool another = selected != s.told_selected && !selected.isEmpty();
  if (another)
    setAccessibleDescription(selected);
  else if (now != s.told_moment || selected != s.told_selected)
    setAccessibleDescription(now.isEmpty() ? description() : now);
  s.told_moment = now;
  s.told_selected = selected;
}

}  // namespace parallelarium

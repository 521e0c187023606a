// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/roofline/roofline_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPushButton>
#include <QScrollArea>
#include <QSpinBox>
#include <QToolTip>
#include <algorithm>

#include "app/state/plan/plan_search.h"
#include "app/state/step/training_step.h"
#include "app/views/roofline/roofline_paint.h"
#include "app/views/shared/words/plan_words.h"

namespace parallelarium {

struct RooflineView::State {
  explicit State(Session& of) : session(of) {}
  Session& session;
  std::shared_ptr<const RooflineData> data;
  int layer = -1, selected = 0;
  QSpinBox* layers = nullptr;
  QPushButton* whose = nullptr;
  RooflineHits hits;
  double beside_head() const {
    return layers->width() + 24 + (whose->isHidden() ? 0 : whose->width() + 8);
  }
};

namespace {

constexpr int kRooflinePicture = 1040, kLayerBox = 30, kLayerButtons = 40;

// Whether a point lies within a few pixels of the line, between its ends.
bool is_near(const QLineF& line, const QPointF& at) {
  constexpr double kReach = 5;
  QLineF across = line.normalVector();
  across.translate(at - across.p1());
  QPointF foot;
  if (line.intersects(across, &foot) == QLineF::NoIntersection) return false;
  const QPointF along = line.p2() - line.p1();
  const double share = QPointF::dotProduct(foot - line.p1(), along) /
                       std::max(1e-9, QPointF::dotProduct(along, along));
  return share >= 0 && share <= 1 && QLineF(foot, at).length() <= kReach;
}

ViewPicture exported_roofline(std::shared_ptr<const RooflineData> data, const PictureStyle& style) {
  const Theme& theme = style.dark ? dark_theme() : light_theme();
  const double height = roofline_height(kRooflinePicture, *data, 0, theme);
  return {QSize(kRooflinePicture, std::max(120, int(height))),
          [data, &theme](QPainter& painter, QSizeF size, TextLog* texts) {
            painter.save();
            painter.fillRect(QRectF(QPointF(0, 0), size), theme.surface);
            paint_roofline(painter, size.width(), *data, 0, theme, nullptr, texts);
            painter.restore();
          }};
}

}  // namespace

ViewInfo RooflineView::info() {
  return {
      .id = "roofline",
      .room = Room::kPlan,
      .title = [] { return tr("Roofline"); },
      .command = [] { return tr("Roo&fline view"); },
      .menu = nullptr,
      .question = [] { return tr("Bytes or arithmetic"); },
      .about =
          [] {
            return tr(
                "Each point is a piece of one layer: its FLOPs for each byte that it moves, and "
                "how fast it does them. The **roofs** are what the machine can move and compute at "
                "most: under the slope a piece waits for memory, under the flat roof it computes. "
                "The ladder lists rates and latencies, with where each comes from.");
          },
      .selects = [] { return tr("Click a dot or a row to see what limits that piece."); },
      .formula = "roofline.forward_seconds",
      .file = "roofline",
      .shows_range = false,
      .why_not = nullptr,
      .topic = [](Session& session) -> Topic& { return session.training_step(); },
      .picture =
          [](const Session& session, const PictureStyle& style) {
            return exported_roofline(std::make_shared<RooflineData>(roofline_data(session, -1, 0)),
                                     style);
          },
      .make = [](Session& session, QWidget* parent) -> View* {
        return new RooflineView(session, parent);
      },
      .plan = shown_plan};
}

RooflineView::RooflineView(Session& session, QWidget* parent)
    : CanvasView(session, tr("Picture of the roofline"), parent),
      state_(std::make_unique<State>(session)) {
  State& s = *state_;
  setAccessibleName(tr("Roofline"));
  s.layers = new QSpinBox(&canvas());
  s.layers->setPrefix(tr("layer "));
  s.layers->setAccessibleName(tr("Layer whose pieces are shown"));
  s.layers->setKeyboardTracking(false);
  connect(s.layers, &QSpinBox::valueChanged, this, &RooflineView::show_layer);
  PlanSearch& search = PlanSearch::of(session);
  s.whose = make_whose_button(search, &canvas());
  connect(&search, &PlanSearch::changed, this, [this] {
    if (isVisible()) refresh();
  });
  const auto again = [this] {
    if (isVisible()) refresh();
  };
  connect(&session, &Session::prediction_changed, this, again);
  connect(&session, &Session::setup_changed, this, again);
  connect(&session, &Session::run_changed, this, again);
  connect(&session.locks(), &LessonLocks::hidden_changed, this, again);
  refresh();
}

RooflineView::~RooflineView() = default;

const RooflineData& RooflineView::data() const { return *state_->data; }

std::vector<Quantity> RooflineView::quantities() const {
  return roofline_quantities(*state_->data);
}

QString RooflineView::origin(const QString&) const {
  return tr(
      "FLOPs are those that kernels execute, of fused attention half of the scores; bytes are the "
      "least that they move; times are those of the prediction. Ridge: peak FLOP/s over bytes/s of "
      "memory.");
}

ViewPicture RooflineView::exported(const PictureStyle& style) const {
  return exported_roofline(state_->data, style);
}

void RooflineView::wait() { PlanSearch::of(state_->session).predictions().wait(); }

QString RooflineView::description() const { return roofline_description(*state_->data); }

void RooflineView::show_layer(int layer) {
  if (layer == state_->layer) return;
  state_->layer = layer;
  refresh();
}

void RooflineView::select(int point) {
  State& s = *state_;
  const int count = s.data->roofline ? int(s.data->roofline->points.size()) : 0;
  if (point < 0 || point >= count) return;
  s.selected = point;
  refresh();
}

void RooflineView::refresh() {
  State& s = *state_;
  auto data = std::make_shared<RooflineData>(roofline_data(s.session, s.layer, s.selected));
  if (s.layer >= data->layers && data->layers > 0) {
    s.layer = -1;
    *data = roofline_data(s.session, s.layer, s.selected);
  }
  if (data->roofline) {
    const QSignalBlocker quiet(s.layers);
    s.layers->setRange(0, std::max(0, data->layers - 1));
    s.layers->setValue(data->roofline->layer);
    data->selected = s.selected =
        std::clamp(s.selected, 0, std::max(0, int(data->roofline->points.size()) - 1));
  }
  s.layers->setVisible(data->roofline.has_value());
  refresh_whose(*s.whose, PlanSearch::of(s.session));
  s.data = std::move(data);
  place_parts();
  tell_shown();
  canvas().update();
  if (isVisible()) describe_selected();
  Q_EMIT quantities_changed();
}

void RooflineView::place_parts() {
  State& s = *state_;
  const int width = canvas_width();
  s.layers->resize(s.layers->sizeHint().width() + kLayerButtons, kLayerBox);
  s.layers->move(width - 16 - s.layers->width(), 10);
  s.whose->resize(s.whose->sizeHint().width(), kLayerBox);
  s.whose->move(s.layers->x() - 8 - s.whose->width(), 10);
  const double tall = roofline_height(width, *s.data, s.beside_head(), theme_for(palette()));
  set_height(tall);
}

void RooflineView::paint(QPainter& painter) {
  State& s = *state_;
  s.hits = {};
  paint_roofline(painter, canvas().width(), *s.data, s.beside_head(), theme_for(palette()), &s.hits,
                 nullptr);
}

bool RooflineView::show_tip(QPointF at, QPoint global) {
  const State& s = *state_;
  QToolTip::hideText();
  if (!s.data->roofline) return true;
  for (const auto& [rect, index] : s.hits.points) {
    if (s.data->hidden || !rect.contains(at)) continue;
    const RooflinePoint& point = s.data->roofline->points[std::size_t(index)];
    QStringList lines{
        QStringLiteral("%1. %2").arg(s.data->numbers[std::size_t(index)]).arg(point_text(point))};
    for (const auto& [word, value] : point_facts(point))
      lines << QStringLiteral("%1 %2").arg(word, value);
    QToolTip::showText(global, lines.join(QLatin1Char('\n')), &canvas());
    return true;
  }
  for (const auto& [cell, text] : s.hits.origins)
    if (cell.contains(at)) {
      QToolTip::showText(global, text, &canvas());
      return true;
    }
  for (const auto& [roof, text] : s.hits.roofs)
    if (is_near(roof, at)) {
      QToolTip::showText(global, text, &canvas());
      return true;
    }
  return true;
}

void RooflineView::press(QPointF at) {
  for (const auto& [rect, index] : state_->hits.points)
    if (rect.contains(at)) return select(index);
}

bool RooflineView::press_key(int key) {
  if (key != Qt::Key_Up && key != Qt::Key_Down) return false;
  select(state_->selected + (key == Qt::Key_Down ? 1 : -1));
  return true;
}

void RooflineView::describe_selected() {
  SelectionText text;
  if (const RooflinePoint* point = state_->data->point()) {
    text.headline = point_text(*point);
    for (const auto& [word, value] : point_facts(*point)) text.facts.push_back({word, value});
  }
  Q_EMIT described(text);
}

}  // namespace parallelarium

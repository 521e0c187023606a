// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/layer/picture/experts/layer_experts.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {
namespace {

struct ExpertTexts {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

constexpr double kStripe = 5;
constexpr std::size_t kMostNamed = 8;  // runs that a sentence counts

// The ranks of one replica stand one behind the other.
int rank_at_home(const LayerSteps& layer, int home, int like) {
  const int homes = layer.routed ? layer.routed->ep : 1;
  const int each = int(layer.ranks.size()) / std::max(1, homes);
  return home * each + like % each;
}

// An all-to-all of rows, or the piece before or behind it that orders them.
bool carries_rows(const LayerStep& step) {
  return step.kind == LayerStepKind::kCompute
             ? step.piece == Piece::kDispatch || step.piece == Piece::kUnpermute
             : step.purpose == Purpose::kTokens;
}

std::vector<RowRun> runs_at(const LayerPicture& picture, const LayerStep& step, int rank) {
  if (!picture.shows_routes() || step.kind != LayerStepKind::kCompute) return {};
  if (carries_rows(step) && !picture.shows_sent_rows()) return {};
  return row_runs(*picture.routed, step.piece, picture.layer->ranks[std::size_t(rank)].home);
}

// "rank 0: 130 (stay), rank 2: 126"; "expert 0: 60, expert 1: 64"
QString runs_text(const LayerPicture& picture, const std::vector<RowRun>& runs, int rank) {
  const LayerSteps& layer = *picture.layer;
  QStringList parts;
  for (const RowRun& run : runs) {
    if (parts.size() == int(kMostNamed)) {
      parts << QStringLiteral("\u2026");
      break;
    }
    const int at = rank_at_home(layer, run.home, rank);
    parts << (run.expert >= 0
                  ? ExpertTexts::tr("expert %1: %2").arg(run.expert).arg(count_text(run.rows))
              : at == rank ? ExpertTexts::tr("rank %1: %2 (stay)")
                                 .arg(layer.ranks[std::size_t(at)].rank)
                                 .arg(count_text(run.rows))
                           : ExpertTexts::tr("rank %1: %2")
                                 .arg(layer.ranks[std::size_t(at)].rank)
                                 .arg(count_text(run.rows)));
  }
  return parts.join(QStringLiteral(", "));
}

// "expert 0: 12 of 76"; empty: all were taken.
QString dropped_text(const std::vector<RowRun>& runs) {
  QStringList parts;
  for (const RowRun& run : runs)
    if (run.dropped > 0)
      parts << ExpertTexts::tr("expert %1: %2 of %3")
                   .arg(run.expert)
                   .arg(count_text(run.dropped), count_text(run.rows + run.dropped));
  if (parts.size() > int(kMostNamed)) parts = parts.mid(0, kMostNamed) << QStringLiteral("\u2026");
  return parts.join(QStringLiteral(", "));
}

// In the backward gradients go to the experts where the forward's results came from them, and come
// back where its tokens went.
QString way_of_rows(const LayerStep& step) {
  const bool gradients = step.phase == Phase::kInputGrad;
  const bool back = step.kind == LayerStepKind::kCompute
                        ? (step.piece == Piece::kUnpermute) != gradients
                        : step.block == 1;
  if (gradients)
    return back ? ExpertTexts::tr("gradients back from") : ExpertTexts::tr("gradients to");
  return back ? ExpertTexts::tr("tokens back from") : ExpertTexts::tr("tokens to");
}

// Numbers of a run stand as the rows of memory do.
bool shows_limits(const LayerPicture& picture) { return !picture.look.inside; }

QString counted_text(const RoutedLayer& routed) {
  return routed.measured ? ExpertTexts::tr("counted in the run") : ExpertTexts::tr("predicted");
}

const LayerTensor* weights_of(const LayerSteps& layer, int rank) {
  for (const LayerStep& step : layer.steps)
    for (const LayerTensor& tensor : step.ranks[std::size_t(rank)].tensors)
      if (tensor.all_experts > 0) return &tensor;
  return nullptr;
}

// Where a run stands in its block of rows, and, of an expert with a limit, where that is and what
// found it full.
struct RunPlace {
  QRectF rows, dropped;
  double limit = 0;  // y
};

// One below the other, each as high as it has rows. Experts with a limit have equal room, for what
// most tokens chose or may be taken.
std::vector<RunPlace> places_of(const std::vector<RowRun>& runs, const QRectF& place, bool limits) {
  std::int64_t all = 0, most = 0;
  for (const RowRun& run : runs) {
    all += run.rows;
    most = std::max({most, run.capacity, run.rows + run.dropped});
  }
  std::vector<RunPlace> places;
  const double row = place.height() / double(limits ? most * std::int64_t(runs.size()) : all);
  double top = place.top();
  for (const RowRun& run : runs) {
    const double end = top + double(run.rows) * row;
    places.push_back({QRectF(place.left(), top, place.width(), end - top),
                      QRectF(place.left(), end, place.width(), double(run.dropped) * row),
                      top + double(run.capacity) * row});
    top += double(limits ? most : run.rows) * row;
  }
  return places;
}

// Room that no token takes, tokens that found their expert full, and its limit, as in the Experts
// view. `says`: how many tokens those are, where it has room.
void paint_limit(const LayerBrush& brush, const RunPlace& at, double end, std::int64_t dropped,
                 bool says) {
  const Theme& theme = brush.theme;
  QPainter& painter = brush.painter;
  painter.fillRect(
      QRectF(at.rows.left() + 0.5, at.rows.bottom(), at.rows.width() - 1, end - at.rows.bottom()),
      theme.surface);
  painter.setPen(QPen(theme.mark, 1, Qt::DashLine));
  painter.setBrush(Qt::NoBrush);
  if (dropped > 0) {
    painter.drawRect(at.dropped.adjusted(0.5, 0.5, -0.5, -0.5));
    const QString number = QStringLiteral("\u2212%1").arg(count_text(dropped));
    const QFont font = theme.font(9);
    if (says && at.dropped.height() >= kExpertNumberHeight &&
        label_width(font, number) + 2 <= at.dropped.width())
      put_label(painter, at.dropped, number, font, theme.mark, brush.texts);
  }
  painter.drawLine(QPointF(at.rows.left() - 3, at.limit), QPointF(at.rows.right() + 3, at.limit));
}

}  // namespace

void paint_row_runs(const LayerBrush& brush, const LayerBox& box, const QRectF& place, int rank) {
  const LayerSteps& layer = *brush.picture.layer;
  const LayerStep& step = layer.steps[std::size_t(box.step)];
  const std::vector<LayerTensor>& tensors = step.ranks[std::size_t(rank)].tensors;
  if (box.tensor >= int(tensors.size())) return;
  const LayerTensor& of = tensors[std::size_t(box.tensor)];
  if (!of.by_row) return;
  const std::vector<RowRun> runs = runs_at(brush.picture, step, rank);
  if (std::all_of(runs.begin(), runs.end(), [](const RowRun& run) { return run.rows == 0; }))
    return;
  const Theme& theme = brush.theme;
  const QFont font = theme.font(9);
  const int made = box.step - (of.written ? 0 : 1);
  const bool there = made < 0 || layer_share_done(brush.picture, made, rank) >= 1;
  const double stripe = std::min(kStripe, 0.4 * place.width());
  const bool limits = shows_limits(brush.picture) && runs.front().capacity > 0;
  const std::vector<RunPlace> places = places_of(runs, place, limits);
  for (std::size_t at = 0; at < runs.size(); ++at) {
    const RowRun& run = runs[at];
    const QRectF& rows = places[at].rows;
    const double end = at + 1 < runs.size() ? places[at + 1].rows.top() : place.bottom();
    if (limits && there) paint_limit(brush, places[at], end, run.dropped, !of.written);
    QColor color =
        theme.rank(layer_color_number(brush.picture, rank_at_home(layer, run.home, rank)));
    if (run.expert >= 0 && at % 2 == 1) color = mixed(color, theme.surface, 0.45);
    brush.painter.fillRect(QRectF(rows.left(), rows.top(), stripe, rows.height()), color);
    const QString number =
        run.expert >= 0 ? QStringLiteral("E%1").arg(run.expert) : count_text(run.rows);
    const QRectF rest = rows.adjusted(stripe, 0, 0, 0);
    // Crosses of partial sums leave no room, and shards are half empty.
    if (!there || of.partial || of.is_shard() || rest.height() < kExpertNumberHeight ||
        label_width(font, number) + 2 > rest.width())
      continue;
    put_label(brush.painter, rest, number, font, theme.ink_on(theme.memory(Category::kActivations)),
              brush.texts);
  }
}

bool rows_are_drawn(const LayerPicture& picture, const LayerLayout& layout) {
  if (!picture.shows_routes()) return false;
  return std::any_of(layout.halves.begin(), layout.halves.end(),
                     [](const LayerHalf& half) { return half.open && !half.attention; });
}

QString row_runs_legend(const LayerPicture& picture) {
  const QString legend =
      ExpertTexts::tr(
          "The strip beside each row shows the rank that its tokens go to or come from, with their "
          "number, %1. E3: expert 3.")
          .arg(counted_text(*picture.routed));
  if (!shows_limits(picture) || picture.routed->capacity == 0) return legend;
  return legend + QLatin1Char(' ') +
         ExpertTexts::tr("Dashed: what all homes together may send an expert, and what it drops.");
}

QString held_experts_text(const LayerTensor& weights) {
  const int held = weights.held_experts();
  return held == weights.all_experts
             ? ExpertTexts::tr("%1 experts").arg(held)
             : ExpertTexts::tr("%1 of %2 experts").arg(held).arg(weights.all_experts);
}

QString experts_of_rank_text(const LayerSteps& layer, int rank) {
  const LayerTensor* weights = weights_of(layer, rank);
  if (!weights) return {};
  const QString which = layer_places_text(weights->experts);
  return weights->held_experts() == 1 ? ExpertTexts::tr("expert %1").arg(which)
                                      : ExpertTexts::tr("experts %1").arg(which);
}

QString layer_way_text(const LayerStep& step) {
  if (step.kind != LayerStepKind::kCollective) return {};
  if (step.purpose == Purpose::kCounts) return ExpertTexts::tr("counts");
  if (step.purpose != Purpose::kTokens) return {};
  return step.block == 0 ? ExpertTexts::tr("dispatch") : ExpertTexts::tr("combine");
}

std::vector<FactLine> expert_facts(const LayerPicture& picture, int step, int rank) {
  std::vector<FactLine> facts;
  if (!picture.shows_routes()) return facts;
  const LayerStep& of = picture.layer->steps[std::size_t(step)];
  const RoutedLayer& routed = *picture.routed;
  const int home = picture.layer->ranks[std::size_t(rank)].home;
  if (carries_rows(of) && picture.shows_sent_rows())
    facts.push_back(
        {way_of_rows(of), runs_text(picture, row_runs(routed, Piece::kDispatch, home), rank) +
                              QStringLiteral(" \u00b7 ") + counted_text(routed)});
  if (of.kind != LayerStepKind::kCompute || of.piece != Piece::kExpert) return facts;
  facts.push_back({ExpertTexts::tr("tokens here"),
                   runs_text(picture, row_runs(routed, Piece::kExpert, home), rank) +
                       QStringLiteral(" \u00b7 ") + counted_text(routed)});
  std::int64_t dropped = 0;
  for (const std::int64_t of_expert : routed.dropped) dropped += of_expert;
  const QString here = dropped_text(row_runs(routed, Piece::kExpert, home));
  if (!here.isEmpty())
    facts.push_back({ExpertTexts::tr("dropped here"),
                     here + QStringLiteral(" \u00b7 ") + counted_text(routed)});
  facts.push_back({ExpertTexts::tr("capacity"),
                   routed.capacity == 0
                       ? ExpertTexts::tr("no limit, so that no token is dropped")
                       : ExpertTexts::tr("%1 tokens of each rank for an expert; the group drops %2")
                             .arg(count_text(routed.capacity), count_text(dropped))});
  return facts;
}

QString experts_sentence(const LayerPicture& picture) {
  if (!picture.layer->experts || !picture.drawn()) return {};
  const LayerSteps& layer = *picture.layer;
  QStringList lines;
  const int homes = picture.routed ? picture.routed->ep : 1;
  for (int home = 0; home < std::min(homes, int(kMostNamed)); ++home) {
    const int rank = rank_at_home(layer, home, 0);
    QString line = ExpertTexts::tr("Rank %1 has %2")
                       .arg(layer.ranks[std::size_t(rank)].rank)
                       .arg(experts_of_rank_text(layer, rank));
    if (picture.shows_sent_rows())
      line += ExpertTexts::tr(", tokens to %1")
                  .arg(runs_text(picture, row_runs(*picture.routed, Piece::kDispatch, home), rank));
    lines << line + QLatin1Char('.');
  }
  if (homes > int(kMostNamed))
    lines << ExpertTexts::tr("%n more ranks, with other experts", nullptr,
                             int(layer.ranks.size()) / homes * (homes - int(kMostNamed))) +
                 QLatin1Char('.');
  return lines.join(QLatin1Char(' '));
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/timeline/picture/lanes.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "app/views/timeline/picture/whole_bars.h"

namespace parallelarium {
namespace {

QString row_label(const Prediction& prediction, const RankProgram& rank) {
  const Mesh& mesh = prediction.setup.mesh;
  QString label = QObject::tr("Stage %1").arg(rank.stage);
  if (prediction.program.representatives) return label;
  const Coordinates at = coordinates_of(mesh, rank.rank);
  if (mesh.dp > 1) label += QObject::tr(" \u00b7 replica %1").arg(at.dp);
  if (mesh.tp > 1) label += QObject::tr(" \u00b7 tensor %1").arg(at.tp);
  if (mesh.cp > 1) label += QObject::tr(" \u00b7 context %1").arg(at.cp);
  return label;
}

// The compute lane from farther away. Time inside a whole is its own colour's or communication.
BarList whole_list(const BarList& pieces, Zoom zoom) {
  WholeBars wholes = whole_bars(pieces.bars, zoom);
  BarList list;
  list.busy.reserve(wholes.parts.size());
  std::array<std::int64_t, kOpColors> sum{};
  list.busy.push_back(sum);
  std::vector<Nanoseconds> again(wholes.bars.size(), Nanoseconds(0));
  for (std::size_t bar = 0; bar < wholes.bars.size(); ++bar) {
    Nanoseconds until = wholes.bars[bar].span.begin, waited(0);
    for (std::size_t part = wholes.parts[bar]; part < wholes.parts[bar + 1]; ++part) {
      const Bar& piece = pieces.bars[part];
      if (piece.span.begin > until) {
        list.waits.push_back({until, piece.span.begin});
        waited += piece.span.begin - until;
      }
      until = std::max(until, piece.span.end);
      const Nanoseconds length = piece.span.end - piece.span.begin;
      const bool inside = color_of(piece) == OpColor::kCommunication;
      const OpColor color = inside ? OpColor::kCommunication : color_of(wholes.bars[bar]);
      sum[static_cast<std::size_t>(color)] += length.count();
      if (piece.phase == Phase::kRecompute) again[bar] += length;
    }
    list.busy.push_back(sum);
    list.waited.push_back(waited);
  }
  if (std::any_of(again.begin(), again.end(), [](Nanoseconds time) { return time.count() > 0; }))
    list.recompute = std::move(again);
  list.bars = std::move(wholes.bars);
  list.parts = std::move(wholes.parts);
  return list;
}

// The mean length of the bars of actions.
Nanoseconds mean_length(const std::vector<Row>& rows, Zoom zoom) {
  std::int64_t sum = 0, count = 0;
  for (const Row& row : rows) {
    if (!row.opens()) continue;
    for (const Bar& bar : row.lane(Lane::kCompute, zoom).bars) {
      if (bar.microbatch < 0) continue;
      sum += (bar.span.end - bar.span.begin).count();
      ++count;
    }
  }
  return Nanoseconds(count > 0 ? std::max<std::int64_t>(1, sum / count) : 0);
}

std::vector<Hold> holds_of(const BarList& compute) {
  std::map<std::pair<int, int>, Hold> holds;
  for (const Bar& bar : compute.bars) {
    if (bar.microbatch < 0 || bar.kind != OpKind::kCompute || bar.phase == Phase::kUpdate) continue;
    Hold& hold = holds.try_emplace({bar.microbatch, bar.chunk}, Hold{bar.microbatch, bar.chunk})
                     .first->second;
    if (bar.action == ActionKind::kForward) hold.from = std::max(hold.from, bar.span.end);
    if (bar.action == ActionKind::kBackward || bar.action == ActionKind::kWeightGrad)
      hold.until = std::max(hold.until, bar.span.end);
  }
  std::vector<Hold> result;
  for (const auto& [key, hold] : holds) result.push_back(hold);
  std::stable_sort(result.begin(), result.end(),
                   [](const Hold& a, const Hold& b) { return a.from < b.from; });
  return result;
}

// When the bar that needs a parcel begins, on the receiver's compute lane.
Nanoseconds use_of(const Row& receiver, const StageParcel& parcel, int chunk) {
  for (const Bar& bar : receiver.lane(Lane::kCompute).bars) {
    if (bar.span.begin < parcel.end || bar.microbatch != parcel.microbatch) continue;
    if (bar.chunk != chunk || bar.kind != OpKind::kCompute) continue;
    const bool forward = bar.action == ActionKind::kForward;
    if (forward != parcel.gradient) return bar.span.begin;
  }
  return parcel.end;
}

std::vector<StageParcel> parcels_of(const LaneRows& rows) {
  std::map<int, const Row*> first_of_stage;
  std::map<int, const Row*> row_of_rank;
  for (const Row& row : rows.rows) {
    first_of_stage.try_emplace(row.stage, &row);
    row_of_rank[row.rank] = &row;
  }
  std::vector<StageParcel> parcels;
  for (const auto& [stage, row] : first_of_stage) {
    const auto index = static_cast<std::size_t>(row->rank_index);
    const RankProgram& rank = rows.program().ranks[index];
    const auto& spans = rows.timeline->ranks[index].spans;
    for (std::size_t at = 0; at < rank.ops.size(); ++at) {
      const Op& op = rank.ops[at];
      if (op.kind != OpKind::kSend || op.microbatch < 0) continue;
      if (op.purpose != Purpose::kActivations && op.purpose != Purpose::kGradients) continue;
      const auto receiver = row_of_rank.find(op.peer);
      if (receiver == row_of_rank.end() || receiver->second->stage == stage) continue;
      StageParcel parcel{stage,           receiver->second->stage,
                         op.microbatch,   op.purpose == Purpose::kGradients,
                         spans[at].begin, spans[at].end};
      parcel.used = use_of(*receiver->second, parcel, op.chunk);
      parcels.push_back(parcel);
    }
  }
  std::stable_sort(parcels.begin(), parcels.end(),
                   [](const StageParcel& a, const StageParcel& b) { return a.begin < b.begin; });
  return parcels;
}

bool has_replicas(const Program& program) {
  return std::any_of(program.groups.begin(), program.groups.end(), [](const Group& group) {
    return group.axis == Axis::kDp && group.ranks.size() > 1;
  });
}

// Of norms, losses and tied tables the data lane adds up what ranks of another axis have, too: that
// belongs to no layer, and where there are replicas it counts as what brings them in step.
void add_connection(const Program& program, bool replicas, const Op& op, Connects& connects) {
  if (op.kind == OpKind::kCompute || op.group < 0) return;
  const bool collective = op.kind == OpKind::kCollective;
  const bool in_layer = !collective || op.purpose == Purpose::kActivations ||
                        op.purpose == Purpose::kGradients || op.purpose == Purpose::kRegather;
  switch (program.groups[static_cast<std::size_t>(op.group)].axis) {
    case Axis::kPp:
      (collective && replicas ? connects.replicas : connects.stages) = true;
      break;
    case Axis::kTp:
      (!in_layer && replicas ? connects.replicas : connects.tensor) = true;
      break;
    case Axis::kCp:
      (collective && replicas ? connects.replicas : connects.context) = true;
      break;
    default:
      connects.replicas = true;
  }
}

}  // namespace

std::size_t BarList::first_after(Nanoseconds time) const {
  const auto found = std::partition_point(bars.begin(), bars.end(),
                                          [&](const Bar& bar) { return bar.span.end <= time; });
  return static_cast<std::size_t>(found - bars.begin());
}

int BarList::at(Nanoseconds time, Nanoseconds slack) const {
  const std::size_t next = first_after(time);
  if (next < bars.size() && bars[next].span.begin <= time) return static_cast<int>(next);
  int nearest = -1;
  Nanoseconds distance = slack + Nanoseconds(1);
  if (next < bars.size() && bars[next].span.begin - time < distance) {
    distance = bars[next].span.begin - time;
    nearest = static_cast<int>(next);
  }
  if (next > 0 && time - bars[next - 1].span.end < distance) nearest = static_cast<int>(next) - 1;
  return nearest;
}

bool BarList::waits_long(std::size_t bar) const {
  return !waited.empty() && 100 * waited[bar] > bars[bar].span.end - bars[bar].span.begin;
}

double BarList::recompute_share(std::size_t bar) const {
  if (recompute.empty()) return 0;
  const Nanoseconds length = bars[bar].span.end - bars[bar].span.begin;
  if (length.count() <= 0) return 0;
  return static_cast<double>(recompute[bar].count()) / static_cast<double>(length.count());
}

double BarList::inside_share(std::size_t bar) const {
  constexpr auto kInside = static_cast<std::size_t>(OpColor::kCommunication);
  if (parts_of(bar) < 2 || color_of(bars[bar]) == OpColor::kCommunication) return 0;
  std::int64_t total = 0;
  for (std::size_t kind = 0; kind < kOpColors; ++kind)
    total += busy[bar + 1][kind] - busy[bar][kind];
  if (total <= 0) return 0;
  return static_cast<double>(busy[bar + 1][kInside] - busy[bar][kInside]) /
         static_cast<double>(total);
}

BarList make_bar_list(std::vector<Bar> bars) {
  BarList list;
  list.bars = std::move(bars);
  list.busy.reserve(list.bars.size() + 1);
  std::array<std::int64_t, kOpColors> sum{};
  list.busy.push_back(sum);
  for (const Bar& bar : list.bars) {
    sum[static_cast<std::size_t>(color_of(bar))] += (bar.span.end - bar.span.begin).count();
    list.busy.push_back(sum);
  }
  return list;
}

InsideTimes inside_times(const BarList& pieces, const BarList& wholes, std::size_t bar) {
  InsideTimes inside;
  for (std::size_t part = wholes.parts[bar]; part < wholes.parts[bar + 1]; ++part) {
    const Bar& of = pieces.bars[part];
    const bool computes = of.kind == OpKind::kCompute;
    (computes ? inside.computing : inside.communicating) += of.span.end - of.span.begin;
    if (!computes) ++inside.collectives;
  }
  inside.waiting = wholes.waited[bar];
  return inside;
}

const Row* LaneRows::row_of(int rank_index) const {
  for (const Row& row : rows)
    if (row.rank_index == rank_index) return &row;
  return nullptr;
}

Zoom LaneRows::zoom_at(double pixels_per_nanosecond) const {
  const auto fits = [&](Nanoseconds mean, double least) {
    return static_cast<double>(mean.count()) * pixels_per_nanosecond >= least;
  };
  if (piece.count() == 0 || fits(piece, kLeastPiecePixels)) return Zoom::kPieces;
  return fits(layer, kLeastLayerPixels) ? Zoom::kLayers : Zoom::kActions;
}

const Bar* LaneRows::bar_of(OpRef op, Zoom zoom) const {
  const Row* row = row_of(op.rank);
  if (!row || op.op < 0) return nullptr;
  const auto& ops = program().ranks[static_cast<std::size_t>(op.rank)].ops;
  if (op.op >= static_cast<int>(ops.size())) return nullptr;
  const Lane lane = ops[static_cast<std::size_t>(op.op)].lane;
  const auto& bars = row->lane(lane, zoom).bars;
  const auto& spans = timeline->ranks[static_cast<std::size_t>(op.rank)].spans;
  // Bars of a lane are in time order, so the op's bar lies around the op's own begin.
  const Nanoseconds begin = spans[static_cast<std::size_t>(op.op)].begin;
  const auto after = std::partition_point(bars.begin(), bars.end(),
                                          [&](const Bar& bar) { return bar.span.end < begin; });
  for (auto bar = after; bar != bars.end() && bar->span.begin <= begin; ++bar)
    if (bar->first_op <= op.op && op.op <= bar->last_op) return &*bar;
  return nullptr;
}

const std::vector<IdleGap>& LaneRows::gaps_of(int rank_index) const {
  auto found = gaps_.find(rank_index);
  if (found == gaps_.end())
    found = gaps_.emplace(rank_index, idle_gaps(program(), *timeline, rank_index)).first;
  return found->second;
}

const std::vector<StageParcel>& LaneRows::parcels() const {
  if (!parcels_) parcels_ = parcels_of(*this);
  return *parcels_;
}

std::shared_ptr<const LaneRows> make_rows(std::shared_ptr<const Prediction> prediction,
                                          std::shared_ptr<const Timeline> timeline) {
  auto result = std::make_shared<LaneRows>();
  const Program& program = prediction->program;
  const bool replicas = has_replicas(program);
  for (std::size_t index = 0; index < program.ranks.size(); ++index) {
    const RankProgram& rank = program.ranks[index];
    Row row;
    row.rank_index = static_cast<int>(index);
    row.rank = rank.rank;
    row.stage = rank.stage;
    row.label = row_label(*prediction, rank);
    for (const Op& op : rank.ops)
      add_connection(program, replicas, op, result->connects[static_cast<std::size_t>(op.lane)]);
    std::array<std::vector<Bar>, kLanes> lanes;
    for (const Bar& bar : bars_of(program, *timeline, row.rank_index)) {
      lanes[static_cast<std::size_t>(bar.lane)].push_back(bar);
      result->end = std::max(result->end, bar.span.end);
      if (bar.microbatch >= 0) result->chunks = std::max(result->chunks, bar.chunk + 1);
    }
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      auto& bars = lanes[lane];
      const auto earlier = [](const Bar& a, const Bar& b) { return a.span.begin < b.span.begin; };
      if (!std::is_sorted(bars.begin(), bars.end(), earlier))
        std::stable_sort(bars.begin(), bars.end(), earlier);
      row.lanes[lane] = make_bar_list(std::move(bars));
    }
    const BarList& pieces = row.lanes[static_cast<std::size_t>(Lane::kCompute)];
    std::vector<Bar> inside;
    std::copy_if(pieces.bars.begin(), pieces.bars.end(), std::back_inserter(inside),
                 [](const Bar& bar) {
                   return bar.microbatch >= 0 && color_of(bar) == OpColor::kCommunication;
                 });
    row.inside = make_bar_list(std::move(inside));
    BarList actions = whole_list(pieces, Zoom::kActions);
    if (actions.bars.size() < pieces.bars.size()) {
      row.layers = whole_list(pieces, Zoom::kLayers);
      row.actions = std::move(actions);
    }
    row.holds = holds_of(row.lane(Lane::kCompute));
    result->rows.push_back(std::move(row));
  }
  std::stable_sort(result->rows.begin(), result->rows.end(),
                   [](const Row& a, const Row& b) { return a.stage < b.stage; });
  result->end = std::max(result->end, timeline->duration);
  result->layer = mean_length(result->rows, Zoom::kLayers);
  result->piece = mean_length(result->rows, Zoom::kPieces);
  result->prediction = std::move(prediction);
  result->timeline = std::move(timeline);
  return result;
}

StageMoment moment_of(const Row& row, Nanoseconds time) {
  StageMoment moment;
  const BarList& compute = row.lane(Lane::kCompute);
  const int current = compute.at(time);
  if (current >= 0) moment.bar = &compute.bars[static_cast<std::size_t>(current)];
  for (const Hold& hold : row.holds) {
    if (hold.from > time) break;
    if (hold.until > time) moment.held.push_back(hold.microbatch);
  }
  std::sort(moment.held.begin(), moment.held.end());
  moment.held.erase(std::unique(moment.held.begin(), moment.held.end()), moment.held.end());
  return moment;
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/expert_data.h"

#include <QCoreApplication>
#include <algorithm>
#include <numeric>

namespace parallelarium {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(experts)
};

// The built rank that stands for home `home` of the group: of the stage that holds the layer, first
// along TP and CP.
int rank_of_home(const Program& program, const RoutedLayer& layer, int home) {
  for (std::size_t index = 0; index < program.ranks.size(); ++index) {
    const RankProgram& rank = program.ranks[index];
    const bool holds =
        std::find(rank.layers.begin(), rank.layers.end(), layer.layer) != rank.layers.end();
    if (!holds || rank.at.tp != 0 || rank.at.cp != 0) continue;
    if (program.representatives || rank.at.dp == layer.first_replica + home)
      return static_cast<int>(index);
  }
  return -1;
}

// A part of the layer as the ops have it.
struct Part {
  LayerSpan span;
  bool exchange = false;  // all ranks of the group take part
};

// The parts of the layer in the order of the ops: from its router to where its branch is added.
std::vector<Part> parts_of(const RankProgram& rank, const RankTimeline& timeline,
                           const RoutedLayer& layer) {
  std::vector<Part> parts;
  bool computed = false;
  for (std::size_t index = 0; index < rank.ops.size() && index < timeline.spans.size(); ++index) {
    const Op& op = rank.ops[index];
    if (op.layer != layer.layer || op.microbatch != layer.microbatch || op.phase != Phase::kForward)
      continue;
    const bool computes = op.kind == OpKind::kCompute;
    const bool router = computes && op.piece == Piece::kRouter;
    if (parts.empty() && !router) continue;
    if (computes && op.piece == Piece::kResidual2) break;
    LayerPart part = computed ? LayerPart::kCombine : LayerPart::kDispatch;
    if (router) part = LayerPart::kRouter;
    if (computes && op.piece == Piece::kExpert) {
      part = LayerPart::kExperts;
      computed = true;
    }
    parts.push_back({{part, timeline.spans[index]}, !computes});
  }
  return parts;
}

// A rank that comes early to an exchange waits for the last one; the exchange begins then.
void wait_for_all(std::vector<std::vector<Part>>& homes) {
  std::vector<Nanoseconds> starts;
  for (const auto& parts : homes) {
    std::size_t exchange = 0;
    for (const Part& part : parts) {
      if (!part.exchange) continue;
      if (exchange == starts.size()) starts.push_back(part.span.span.begin);
      starts[exchange] = std::max(starts[exchange], part.span.span.begin);
      ++exchange;
    }
  }
  for (auto& parts : homes) {
    std::size_t exchange = 0;
    for (Part& part : parts) {
      Span& span = part.span.span;
      if (part.exchange) span.begin = std::clamp(starts[exchange++], span.begin, span.end);
    }
  }
}

}  // namespace

QString part_name(LayerPart part) {
  switch (part) {
    case LayerPart::kRouter:
      return Words::tr("router");
    case LayerPart::kDispatch:
      return Words::tr("dispatch");
    case LayerPart::kExperts:
      return Words::tr("expert MLPs");
    case LayerPart::kWait:
      return Words::tr("waiting for the fullest rank");
    case LayerPart::kCombine:
      return Words::tr("combine");
  }
  return {};
}

ExpertChoice valid_choice(const Setup& setup, ExpertChoice choice) {
  const int first = first_expert_layer(setup.model);
  choice.layer = choice.layer < 0 ? first : std::clamp(choice.layer, first, setup.model.layers - 1);
  choice.microbatch = std::clamp(choice.microbatch, 0, std::max(0, setup.microbatches - 1));
  choice.group = std::clamp(choice.group, 0, std::max(0, setup.mesh.dp / setup.mesh.ep - 1));
  return choice;
}

Result<RoutedLayer> routed(const Setup& setup, ExpertChoice choice) {
  if (setup.model.experts.count > 0) choice = valid_choice(setup, choice);
  return route_layer(setup, choice.layer, choice.microbatch, choice.group);
}

Span LayerTimes::whole(LayerPart part) const {
  Span whole;
  bool any = false;
  for (const auto& spans : homes)
    for (const LayerSpan& span : spans) {
      if (span.part != part) continue;
      whole.begin = any ? std::min(whole.begin, span.span.begin) : span.span.begin;
      whole.end = any ? std::max(whole.end, span.span.end) : span.span.end;
      any = true;
    }
  return whole;
}

double LayerTimes::done(LayerPart part, Nanoseconds time) const {
  const Span span = whole(part);
  if (time >= span.end) return 1;
  if (time <= span.begin) return 0;
  return double((time - span.begin).count()) / double((span.end - span.begin).count());
}

const LayerSpan* LayerTimes::at(int home, Nanoseconds time) const {
  for (const LayerSpan& span : homes[std::size_t(home)])
    if (span.span.begin <= time && time < span.span.end) return &span;
  return nullptr;
}

std::optional<LayerTimes> layer_times(const Prediction& prediction, const Timeline& timeline,
                                      const RoutedLayer& layer) {
  std::vector<std::vector<Part>> homes;
  for (int home = 0; home < layer.ep; ++home) {
    const int index = rank_of_home(prediction.program, layer, home);
    if (index < 0 || index >= int(timeline.ranks.size())) return std::nullopt;
    homes.push_back(parts_of(prediction.program.ranks[std::size_t(index)],
                             timeline.ranks[std::size_t(index)], layer));
    if (homes.back().empty()) return std::nullopt;
  }
  wait_for_all(homes);
  LayerTimes times;
  times.source = timeline.source;
  times.window = {homes.front().front().span.span.begin, Nanoseconds(0)};
  for (const auto& parts : homes) {
    std::vector<LayerSpan>& filled = times.homes.emplace_back();
    for (const Part& part : parts) {
      const Span& span = part.span.span;
      if (!filled.empty() && filled.back().span.end < span.begin)
        filled.push_back({LayerPart::kWait, {filled.back().span.end, span.begin}});
      filled.push_back(part.span);
      times.window.end = std::max(times.window.end, span.end);
    }
    times.window.begin = std::min(times.window.begin, filled.front().span.begin);
  }
  return times;
}

std::vector<std::int64_t> tokens_of_ranks(const RoutedLayer& layer) {
  std::vector<std::int64_t> tokens(std::size_t(layer.ep), 0);
  for (std::size_t expert = 0; expert < layer.load.size(); ++expert)
    tokens[std::size_t(layer.rank_of_expert[expert])] += layer.load[expert];
  return tokens;
}

double fullest_over_mean(const RoutedLayer& layer) {
  const std::vector<std::int64_t> tokens = tokens_of_ranks(layer);
  const auto sum = std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0});
  const auto most = *std::max_element(tokens.begin(), tokens.end());
  return sum > 0 ? double(most) * double(tokens.size()) / double(sum) : 1;
}

std::int64_t assignments(const RoutedLayer& layer) { return layer.tokens * layer.top_k * layer.ep; }

std::int64_t dropped_of(const RoutedLayer& layer) {
  return std::accumulate(layer.dropped.begin(), layer.dropped.end(), std::int64_t{0});
}

std::int64_t dispatched_bytes(const RoutedLayer& layer) {
  std::int64_t bytes = 0;
  for (int home = 0; home < layer.ep; ++home) bytes += layer.sent_bytes(home);
  return bytes;
}

double balance_of(const RoutedLayer& layer) {
  double sum = 0;
  for (const TokenRoutes& home : layer.homes) sum += home.load.balance;
  return layer.homes.empty() ? 1 : sum / double(layer.homes.size());
}

}  // namespace parallelarium

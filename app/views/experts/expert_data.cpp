// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/experts/expert_data.h"

#include <QCoreApplication>
#include <algorithm>

#include "app/settings/setup_fields.h"

namespace parallelarium {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(experts)
};

// The built rank that stands for home `home` of the group: of the stage that holds the layer, and
// where TP cuts experts, first along TP and CP.
int rank_of_home(const Program& program, const Mesh& mesh, const RoutedLayer& layer, int home) {
  for (std::size_t index = 0; index < program.ranks.size(); ++index) {
    const RankProgram& rank = program.ranks[index];
    const bool holds =
        std::find(rank.layers.begin(), rank.layers.end(), layer.layer) != rank.layers.end();
    if (!holds || (mesh.expert_tensor && (rank.at.tp != 0 || rank.at.cp != 0))) continue;
    if (program.representatives || place_in_row(mesh, rank.at) == layer.first_replica + home)
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
      return Words::tr("waiting for the last rank");
    case LayerPart::kCombine:
      return Words::tr("combine");
  }
  return {};
}

ExpertChoice valid_choice(const Setup& setup, ExpertChoice choice) {
  const int first = first_expert_layer(setup.model);
  choice.layer = choice.layer < 0 ? first : std::clamp(choice.layer, first, setup.model.layers - 1);
  choice.microbatch = std::clamp(choice.microbatch, 0, std::max(0, setup.microbatches - 1));
  choice.group = std::clamp(choice.group, 0, std::max(0, setup.mesh.expert_groups() - 1));
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
    const int index = rank_of_home(prediction.program, prediction.setup.mesh, layer, home);
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

const Observation* routed_run(const Session& session) {
  const RunRecord* run = session.runs().current();
  const bool seen = run && run->observed() && !session.runs().current_is_stale() &&
                    !session.locks().hidden(QStringLiteral("lane.run"));
  return seen && !run->observation.routing.empty() ? &run->observation : nullptr;
}

int training_step(const Observation& run, int step) {
  const int last = int(run.routing.size()) - 1;
  if (step < 0) step = training_step_of(run);
  return std::clamp(step, 0, last);
}

Result<RoutedLayer> counted(const Observation& run, ExpertChoice choice) {
  choice = valid_choice(run.setup, choice);
  return route_layer(run.setup, choice.layer, choice.microbatch, choice.group,
                     &run.routing[std::size_t(training_step(run, choice.step))]);
}

std::vector<LayerBalance> balance_by_step(const Observation& run, ExpertChoice choice) {
  choice = valid_choice(run.setup, choice);
  const int ep = run.setup.mesh.ep;
  std::vector<LayerBalance> steps;
  for (const Routing& step : run.routing) {
    const auto balance = balance_of_layer(step, choice.layer, choice.group * ep, ep);
    if (!balance) return {};  // of other layers
    steps.push_back(*balance);
  }
  return steps;
}

QString routing_difference(const Setup& of, const Setup& from) {
  QStringList words;
  for (const auto& [option, name] :
       {std::pair("balance-loss", Words::tr("balance loss %1")),
        std::pair("bias-rate", Words::tr("bias rate %1")),
        std::pair("z-loss", Words::tr("z-loss %1")), std::pair("router", Words::tr("%1 router")),
        std::pair("skew", Words::tr("skew %1")), std::pair("capacity", Words::tr("capacity %1")),
        std::pair("learning-rate", Words::tr("learning rate %1"))})
    if (fields_differ(of, from, {option})) words << name.arg(field_text(of, option));
  return words.join(QStringLiteral(", "));
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// What the views Layer and Who holds what say of a run, beside what the run counted: FLOPs and
// bytes of all layers, embedding and head of a rank are those of its ops and of its ledger, and
// bytes of each by itself those that the run counted of its ops. Bytes kept are those of the buffer
// table, states held those of its arena, and activations held those of its memory over time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "engine/plan/layer/layer_counted.h"
#include "engine/plan/program/holdings/held_activations.h"
#include "engine/plan/program/holdings/holdings.h"
#include "engine/plan/program/report.h"

namespace parallelarium {

struct LayerSums {
  double flops = 0;
  std::int64_t sent_bytes = 0, kept_bytes = 0;
};

// Of the first replica's ranks.
inline std::map<int, LayerSums> sums_of_layers(const Setup& setup, const Program& program) {
  std::map<int, LayerSums> sums;
  const auto add = [&](const LayerChoice& choice) {
    const LayerSteps layer = layer_steps(setup, program, choice);
    for (std::size_t at = 0; at < layer.ranks.size(); ++at) {
      if (layer.ranks[at].at.dp > 0) continue;
      LayerSums& of = sums[layer.ranks[at].rank];
      for (const LayerStep& step : layer.steps) {
        of.flops += step.ranks[at].flops;
        // How many tokens travel to experts, only the step knows.
        if (step.purpose != Purpose::kTokens) of.sent_bytes += step.ranks[at].sent_bytes;
        if (choice.place == LayerPlace::kLayer) of.kept_bytes += step.ranks[at].kept_bytes;
      }
    }
  };
  for (int microbatch = 0; microbatch < setup.microbatches; ++microbatch)
    for (const bool backward : {false, true}) {
      for (int layer = 0; layer < setup.model.layers; ++layer) add({layer, microbatch, backward});
      add({0, microbatch, backward, LayerPlace::kEmbedding});
      add({0, microbatch, backward, LayerPlace::kHead});
    }
  return sums;
}

// Once a step ranks of TP exchange norms and gradients of what they have whole, and no layer has
// that; what passes between stages belongs to no layer either.
inline bool is_of_layers(const TrafficRow& row) {
  if (row.purpose == Purpose::kNorm || row.purpose == Purpose::kReplicated) return false;
  return row.axis == Axis::kTp || row.purpose == Purpose::kKeysValues ||
         row.purpose == Purpose::kCounts;
}

// Activations of layers that are open behind the last op of their forward.
inline std::int64_t kept_for_backwards(const RankProgram& rank) {
  std::map<std::pair<int, int>, int> last_forward;
  for (std::size_t at = 0; at < rank.ops.size(); ++at) {
    const Op& op = rank.ops[at];
    if (op.layer >= 0 && op.phase == Phase::kForward)
      last_forward[{op.layer, op.microbatch}] = static_cast<int>(at);
  }
  std::int64_t kept = 0;
  for (const Buffer& buffer : rank.buffers) {
    const auto last = last_forward.find({buffer.layer, buffer.microbatch});
    if (last == last_forward.end() || buffer.category != Category::kActivations) continue;
    if (buffer.opened_by >= 0 && buffer.opened_by <= last->second &&
        buffer.closed_by > last->second)
      kept += buffer.bytes;
  }
  return kept;
}

// What the run counted op by op, of each rank and layer; all ops together make its ledger.
inline void expect_counted_by_layer(const Setup& setup, const Program& program,
                                    const Observation& seen) {
  for (std::size_t at = 0; at < program.ranks.size(); ++at) {
    std::int64_t of_ops = 0, of_rows = 0;
    for (const std::int64_t bytes : seen.sent_bytes[at]) of_ops += bytes;
    for (const TrafficRow& row : seen.traffic[at]) of_rows += row.sent_bytes;
    EXPECT_EQ(of_ops, of_rows) << "rank " << at;
  }
  const auto expect_of = [&](const LayerChoice& choice) {
    const LayerSteps layer = layer_steps(setup, program, choice);
    for (std::size_t rank = 0; rank < layer.ranks.size(); ++rank) {
      SCOPED_TRACE(testing::Message()
                   << "layer " << choice.layer << (choice.backward ? " backward" : " forward")
                   << " part " << int(choice.place) << " rank " << layer.ranks[rank].rank);
      const LayerCounted counted = layer_counted(layer, program, seen, int(rank));
      EXPECT_EQ(counted.kept_bytes, layer.ranks[rank].kept_bytes);
      if (!choice.backward) {
        EXPECT_EQ(layer_total(layer, int(rank)).kept_bytes, layer.ranks[rank].kept_bytes);
      }
      // How many tokens travel to experts, only the step knows.
      if (!layer.experts) {
        EXPECT_EQ(counted.sent_bytes, layer_total(layer, int(rank)).sent_bytes);
      }
    }
  };
  const int last = setup.microbatches - 1;
  for (const bool backward : {false, true}) {
    for (int layer = 0; layer < setup.model.layers; ++layer) expect_of({layer, last, backward});
    expect_of({0, last, backward, LayerPlace::kEmbedding});
    expect_of({0, last, backward, LayerPlace::kHead});
  }
}

inline void expect_layers_add_up(const Setup& setup, const Program& program,
                                 const Observation& seen) {
  const std::map<int, LayerSums> sums = sums_of_layers(setup, program);
  for (std::size_t at = 0; at < program.ranks.size(); ++at) {
    const RankProgram& rank = program.ranks[at];
    if (rank.at.dp > 0) continue;
    SCOPED_TRACE(testing::Message() << "rank " << rank.rank);
    LayerSums expected;
    for (const Op& op : rank.ops)
      if (op.kind == OpKind::kCompute && op.microbatch >= 0 && op.work >= 0)
        for (const Work& work : program.works[static_cast<std::size_t>(op.work)])
          expected.flops += work.flops;
    for (const TrafficRow& row : seen.traffic[at])
      if (is_of_layers(row)) expected.sent_bytes += row.sent_bytes;
    const LayerSums& found = sums.at(rank.rank);
    EXPECT_NEAR(found.flops, expected.flops, 1e-9 * expected.flops);
    EXPECT_EQ(found.sent_bytes, expected.sent_bytes);
    EXPECT_EQ(found.kept_bytes, kept_for_backwards(rank));
  }
}

inline std::int64_t open_passing_bytes(const RankProgram& rank, const std::vector<Span>& spans,
                                       Nanoseconds time) {
  std::int64_t open = 0;
  for (const Buffer& buffer : rank.buffers)
    if ((buffer.tensor == Tensor::kGathered || buffer.tensor == Tensor::kBucketGradients) &&
        buffer.opened_by >= 0 && spans[static_cast<std::size_t>(buffer.opened_by)].begin <= time &&
        time < spans[static_cast<std::size_t>(buffer.closed_by)].end)
      open += buffer.bytes;
  return open;
}

// In the arena of the run, at the moments that the view goes to and at both ends of the step.
inline void expect_holdings_add_up(const Setup& setup, const Program& program,
                                   const Observation& seen) {
  for (std::size_t at = 0; at < program.ranks.size(); ++at) {
    SCOPED_TRACE(testing::Message() << "rank " << program.ranks[at].rank);
    const Holdings held_by(program, seen.timeline, setup.mesh, static_cast<int>(at));
    const auto moments = held_by.moments();
    std::vector<Nanoseconds> times(moments.begin(), moments.end());
    times.insert(times.end(), {Nanoseconds(-1), seen.timeline.duration});
    for (const Nanoseconds time : times) {
      std::int64_t bytes[3] = {}, passing = 0;
      const std::vector<HeldBucket> buckets = held_by.at(time);
      for (const HeldBucket& bucket : buckets) {
        const HeldState* const states[] = {&bucket.parameters, &bucket.gradients,
                                           &bucket.optimizer};
        for (int state = 0; state < 3; ++state) {
          bytes[state] += states[state]->bytes - states[state]->passing_bytes;
          passing += states[state]->passing_bytes;
        }
      }
      // Shares of a bucket are rounded to bytes.
      for (const Category category :
           {Category::kParameters, Category::kGradients, Category::kOptimizer}) {
        const auto of = static_cast<std::size_t>(category);
        EXPECT_NEAR(double(bytes[of]), double(seen.memory[at].bytes[of]), double(buckets.size()))
            << name_of(category);
      }
      // The view reads collectives; the steps of an algorithm are none to it.
      if (setup.collectives == "direct") {
        EXPECT_EQ(passing,
                  open_passing_bytes(program.ranks[at], seen.timeline.ranks[at].spans, time));
      }
    }
  }
}

inline void expect_activations_add_up(const Program& program, const Observation& seen) {
  constexpr std::size_t kPoints = 6;  // of a step, evenly
  const auto activations = static_cast<std::size_t>(Category::kActivations);
  for (std::size_t at = 0; at < program.ranks.size(); ++at) {
    const ActivationsHeld held(program, seen.timeline, static_cast<int>(at));
    const auto points = memory_over_time(program, seen.timeline, static_cast<int>(at));
    for (std::size_t point = 0; point < points.size(); point += 1 + points.size() / kPoints) {
      std::int64_t bytes = 0;
      for (const HeldActivations& each : held.at(points[point].time)) bytes += each.bytes;
      EXPECT_EQ(bytes, points[point].bytes[activations]) << "rank " << at;
    }
  }
}

inline void expect_views_add_up(const Setup& setup, const Program& program,
                                const Observation& seen) {
  expect_counted_by_layer(setup, program, seen);
  expect_layers_add_up(setup, program, seen);
  expect_holdings_add_up(setup, program, seen);
  expect_activations_add_up(program, seen);
}

}  // namespace parallelarium

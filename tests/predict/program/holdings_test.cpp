// SPDX-License-Identifier: Apache-2.0
// Who holds what: held to the memory that the Program plans, and to what ZeRO says of each stage.
#include "engine/plan/program/holdings/holdings.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "engine/passes/build.h"
#include "engine/passes/replicate.h"
#include "engine/plan/program/collective_steps.h"
#include "engine/plan/program/report.h"
#include "engine/predict/predict.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

struct Held {
  int dp, zero, pp, cp, microbatches;
  const char* precision;
  int tp = 1, ep = 1, zero_group = 0;  // ep > 1: with experts
  const char* collectives = "direct";
  bool whole = false;  // experts that TP does not cut
};

class WhoHoldsWhat : public testing::TestWithParam<Held> {
 protected:
  Prediction predicted() const {
    parallelarium::Setup setup = default_setup();
    const bool experts = GetParam().ep > 1;
    EXPECT_TRUE(!experts || set_field(setup, "model", "moe-tiny").ok());
    setup.model.layers = 4;
    setup.mesh = {};
    setup.mesh.dp = GetParam().dp;
    setup.mesh.pp = GetParam().pp;
    setup.mesh.cp = GetParam().cp;
    setup.mesh.tp = GetParam().tp;
    setup.mesh.ep = GetParam().ep;
    setup.zero = GetParam().zero;
    setup.zero_group = GetParam().zero_group;
    setup.microbatches = GetParam().microbatches;
    setup.collectives = GetParam().collectives;
    setup.mesh.expert_tensor = !GetParam().whole;
    setup.sequence_parallel = GetParam().whole;
    EXPECT_TRUE(set_field(setup, "precision", GetParam().precision).ok());
    const Result<Prediction> prediction = predict(setup, uncalibrated_local_machine(), true);
    EXPECT_TRUE(prediction) << (prediction ? "" : prediction.error().text);
    return *prediction;
  }
  // The ranks that hold the same without ZeRO, and those among which ZeRO cuts it.
  int sharing(bool experts = false) const {
    return GetParam().dp * GetParam().cp * holders(experts) / (experts ? GetParam().ep : 1);
  }
  // Ranks of a TP group that hold whole experts.
  int holders(bool experts) const { return experts && GetParam().whole ? GetParam().tp : 1; }
  int cut(bool experts) const {
    if (GetParam().zero == 0) return 1;
    const int ranks = GetParam().zero_group > 0 ? GetParam().zero_group : sharing();
    return experts ? std::max(1, ranks * holders(true) / GetParam().ep) : ranks;
  }
  Holdings holdings(const Prediction& prediction, std::size_t rank) const {
    return {prediction.program, prediction.timeline, prediction.setup.mesh, int(rank)};
  }
};

const HeldState& state_of(const HeldBucket& bucket, Category category) {
  return category == Category::kParameters  ? bucket.parameters
         : category == Category::kGradients ? bucket.gradients
                                            : bucket.optimizer;
}
constexpr Category kStates[] = {Category::kParameters, Category::kGradients, Category::kOptimizer};

std::int64_t bytes_of(const RankProgram& rank, Category category) {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : rank.buffers)
    if (buffer.category == category && buffer.opened_by < 0) bytes += buffer.bytes;
  return bytes;
}

TEST_P(WhoHoldsWhat, AddsUpToTheMemoryThatIsPlanned) {
  const Prediction prediction = predicted();
  const Program& program = prediction.program;
  for (std::size_t at = 0; at < program.ranks.size(); ++at) {
    const RankProgram& rank = program.ranks[at];
    std::int64_t parameters = 0, gradients = 0, optimizer = 0;
    for (const HeldBucket& bucket : holdings(prediction, at).at(Nanoseconds(-1))) {
      parameters += bucket.parameters.bytes;
      gradients += bucket.gradients.bytes;
      optimizer += bucket.optimizer.bytes;
      EXPECT_EQ(bucket.gradients.as, HeldAs::kAbsent) << "before the step";
    }
    const auto buckets = static_cast<double>(rank.buckets.size());
    EXPECT_NEAR(double(parameters), double(bytes_of(rank, Category::kParameters)), buckets);
    EXPECT_NEAR(double(gradients), double(bytes_of(rank, Category::kGradients)), buckets);
    EXPECT_NEAR(double(optimizer), double(bytes_of(rank, Category::kOptimizer)), buckets);
  }
}

TEST_P(WhoHoldsWhat, IsWhatTheStageOfZeroSays) {
  const Prediction prediction = predicted();
  const Program& program = prediction.program;
  const int zero = GetParam().zero;
  for (std::size_t at = 0; at < program.ranks.size(); ++at) {
    const Holdings held_by = holdings(prediction, at);
    for (const HeldBucket& bucket : held_by.at(prediction.timeline.duration)) {
      const bool shared = cut(bucket.experts) > 1;
      const bool whole = bucket.to - bucket.from == 1;
      const auto as = [&](int stage) {
        return (shared && zero >= stage) || !whole ? HeldAs::kShard : HeldAs::kCopy;
      };
      EXPECT_EQ(bucket.parameters.as, as(3));
      EXPECT_EQ(bucket.optimizer.as, as(1));
      EXPECT_EQ(bucket.gradients.as, as(1)) << "added up, and cut where each updates its part";
      EXPECT_EQ(bucket.gradients.op, -1);
      EXPECT_TRUE(!shared || bucket.gradients.whole == (zero < 2)) << "ZeRO 1: the whole buffer";
    }
    // Somewhere on the way each gradient is a partial sum, and with ZeRO-3 each layer whole.
    const std::size_t buckets = program.ranks[at].buckets.size();
    std::vector<bool> partial(buckets), whole(buckets), moved(buckets), shared;
    for (const HeldBucket& bucket : held_by.at(Nanoseconds(0)))
      shared.push_back(sharing(bucket.experts) > 1);
    for (const Nanoseconds time : held_by.changes()) {
      const auto held = held_by.at(time);
      for (std::size_t each = 0; each < buckets; ++each) {
        const HeldBucket& bucket = held[each];
        partial[each] = partial[each] || bucket.gradients.as == HeldAs::kPartialSum;
        whole[each] = whole[each] || (bucket.parameters.begin == bucket.from &&
                                      bucket.parameters.end == bucket.to);
        moved[each] = moved[each] || bucket.gradients.op >= 0;
      }
    }
    EXPECT_EQ(partial, shared);
    EXPECT_EQ(moved, shared);
    EXPECT_THAT(whole, testing::Each(true));
  }
}

// How many times [0, 1] is covered by the parts; -1: not everywhere as often.
int covered(const std::vector<std::pair<double, double>>& parts) {
  std::map<double, int> steps;
  for (const auto& part : parts) {
    ++steps[std::round(part.first * 1e9)];
    --steps[std::round(part.second * 1e9)];
  }
  int times = 0, everywhere = -1;
  for (auto step = steps.begin(); step != steps.end(); ++step) {
    times += step->second;
    if (std::next(step) == steps.end()) break;
    if (everywhere < 0) everywhere = times;
    if (times != everywhere) return -1;
  }
  const bool all = steps.begin()->first == 0 && std::prev(steps.end())->first == 1e9;
  return all ? everywhere : -1;
}

// What all ranks hold is together so many whole copies, with nothing missing and nothing double.
TEST_P(WhoHoldsWhat, ShardsOfAllRanksAreWholeCopies) {
  const Prediction prediction = predicted();
  const Program& program = prediction.program;
  for (int stage = 0; stage < GetParam().pp; ++stage)
    for (const Category category : kStates) {
      std::vector<std::vector<std::pair<double, double>>> parts;
      std::vector<int> copies;
      for (std::size_t at = 0; at < program.ranks.size(); ++at) {
        if (program.ranks[at].stage != stage) continue;
        const auto held = holdings(prediction, at).at(prediction.timeline.duration);
        parts.resize(held.size());
        copies.resize(held.size());
        for (std::size_t bucket = 0; bucket < held.size(); ++bucket) {
          const HeldState& state = state_of(held[bucket], category);
          parts[bucket].emplace_back(state.begin, state.end);
          const int stage_of_zero = category == Category::kParameters ? 3 : 1;
          const bool experts = held[bucket].experts;
          const int by_zero = GetParam().zero >= stage_of_zero ? cut(experts) : 1;
          // Final norm and positions: every TP rank has all of them.
          const bool by_tp = held[bucket].to - held[bucket].from < 1;
          copies[bucket] = sharing(experts) / by_zero * (by_tp ? 1 : GetParam().tp);
          if (held[bucket].layer >= 0) {
            const bool cut_by_tp = GetParam().tp > 1 && holders(experts) == 1;
            EXPECT_EQ(by_tp, cut_by_tp || (experts && GetParam().ep > 1));
          }
        }
      }
      for (std::size_t bucket = 0; bucket < parts.size(); ++bucket)
        EXPECT_EQ(covered(parts[bucket]), copies[bucket]) << "bucket " << bucket;
    }
}

// The sizes of a replica's buckets are those of the model, which are counted without a Program.
TEST_P(WhoHoldsWhat, BucketsAreTheModel) {
  const Prediction prediction = predicted();
  const ParameterCounts counts = count_parameters(prediction.setup.model);
  std::map<int, std::int64_t> layers;
  std::int64_t tables = 0, head = 0;
  for (const RankProgram& rank : prediction.program.ranks) {
    if (rank.at.dp + rank.at.tp + rank.at.cp > 0) continue;
    const auto at = static_cast<std::size_t>(&rank - prediction.program.ranks.data());
    for (const HeldBucket& bucket : holdings(prediction, at).at(Nanoseconds(0)))
      (bucket.tables ? tables : bucket.layer < 0 ? head : layers[bucket.layer]) += bucket.elements;
  }
  EXPECT_EQ(tables, counts.embedding + counts.positions);
  const std::int64_t second_table = GetParam().pp > 1 ? counts.embedding : 0;  // tied
  EXPECT_EQ(head, counts.final_norm + counts.head + second_table);
  ASSERT_EQ(layers.size(), 4u);
  for (const auto& layer : layers)
    EXPECT_EQ(layer.second, GetParam().ep > 1 ? counts.expert_layer : counts.dense_layer);
}

// After the forward no gradient is there and each parameter is as ZeRO keeps it; after the backward
// every gradient is there; the update is after that.
TEST_P(WhoHoldsWhat, ThreeMomentsOfAStep) {
  const Prediction prediction = predicted();
  for (std::size_t at = 0; at < prediction.program.ranks.size(); ++at) {
    const Holdings held_by = holdings(prediction, at);
    const auto moments = held_by.moments();
    EXPECT_GT(moments[0], Nanoseconds(0));
    EXPECT_GT(moments[1], moments[0]);
    EXPECT_GT(moments[2], moments[1]);
    EXPECT_LT(moments[2], prediction.timeline.duration);
    for (const HeldBucket& bucket : held_by.at(moments[0]))
      EXPECT_EQ(bucket.gradients.as, HeldAs::kAbsent);
    for (const HeldBucket& bucket : held_by.at(moments[1]))
      EXPECT_NE(bucket.gradients.as, HeldAs::kAbsent);
    for (const HeldBucket& bucket : held_by.at(moments[2])) EXPECT_EQ(bucket.gradients.op, -1);
  }
}

// What the cells say to be in buffers is what buffers hold then.
TEST_P(WhoHoldsWhat, PassingBytesAreThoseOfOpenBuffers) {
  const Prediction prediction = predicted();
  const Program& program = prediction.program;
  for (std::size_t at = 0; at < program.ranks.size(); ++at) {
    const Holdings held_by = holdings(prediction, at);
    const auto& spans = prediction.timeline.ranks[at].spans;
    for (const Nanoseconds time : held_by.changes()) {
      std::int64_t open = 0, said = 0;
      for (const Buffer& buffer : program.ranks[at].buffers) {
        if (buffer.tensor != Tensor::kGathered && buffer.tensor != Tensor::kBucketGradients)
          continue;
        EXPECT_EQ(buffer.category, Category::kBuffers);
        if (spans[std::size_t(buffer.opened_by)].begin <= time &&
            time < spans[std::size_t(buffer.closed_by)].end)
          open += buffer.bytes;
      }
      for (const HeldBucket& bucket : held_by.at(time))
        said += bucket.parameters.passing_bytes + bucket.gradients.passing_bytes;
      EXPECT_EQ(said, open);
    }
  }
}

// A rank that is not built holds what it holds where all ranks are built. Its representative's ops
// are its own, so it stands at the same places of them.
TEST_P(WhoHoldsWhat, RanksThatAreNotBuiltHoldWhatBuiltOnesDo) {
  const Prediction all = predicted();
  const parallelarium::Setup& setup = all.setup;
  if (setup.collectives != "direct") GTEST_SKIP() << "all ranks are built";
  const Result<Program> few = build_program(setup, *make_order(setup), {.representatives = true});
  ASSERT_TRUE(few);
  for (std::size_t at = 0; at < all.program.ranks.size(); ++at) {
    const int rank = all.program.ranks[at].rank;
    const int like = representative_of(*few, setup.mesh, rank);
    const auto moved =
        std::make_shared<const RankProgram>(moved_rank(setup, few->ranks[std::size_t(like)], rank));
    const std::vector<Span>& spans = all.timeline.ranks[at].spans;
    ASSERT_EQ(moved->ops.size(), spans.size());
    const Holdings built = holdings(all, at), unbuilt(moved, spans, setup.mesh);
    EXPECT_EQ(built.moments(), unbuilt.moments());
    EXPECT_EQ(built.changes(), unbuilt.changes());
    for (const Nanoseconds time : built.changes()) {
      const std::vector<HeldBucket> one = built.at(time), other = unbuilt.at(time);
      ASSERT_EQ(one.size(), other.size());
      for (std::size_t bucket = 0; bucket < one.size(); ++bucket) {
        EXPECT_EQ(one[bucket].layer, other[bucket].layer);
        EXPECT_EQ(one[bucket].from, other[bucket].from);
        EXPECT_EQ(one[bucket].to, other[bucket].to);
        for (const Category category : kStates) {
          const HeldState& a = state_of(one[bucket], category);
          const HeldState& b = state_of(other[bucket], category);
          EXPECT_EQ(std::tie(a.as, a.begin, a.end, a.bytes, a.passing_bytes, a.whole, a.op, a.done),
                    std::tie(b.as, b.begin, b.end, b.bytes, b.passing_bytes, b.whole, b.op, b.done))
              << "rank " << rank << ", bucket " << bucket;
        }
      }
    }
  }
}

// What ranks send in collectives of states, done as one op or by steps, is what the Program's
// traffic counts; and in a ring, every step of a rank carries one of so many chunks to the next.
TEST_P(WhoHoldsWhat, SendsWhatTheTrafficCounts) {
  const Prediction prediction = predicted();
  const Program& program = prediction.program;
  const auto shares = [&](const Op& op) {
    return is_collective(op) &&
           (op.purpose == Purpose::kGradients || op.purpose == Purpose::kParameters) &&
           program.groups[std::size_t(op.group)].axis != Axis::kTp;
  };
  for (std::size_t at = 0; at < program.ranks.size(); ++at) {
    const RankProgram& rank = program.ranks[at];
    std::int64_t said = 0, counted = 0, seen = 0;
    for (std::int32_t op = 0; op < std::int32_t(rank.ops.size()); op = end_of_collective(rank, op))
      if (shares(rank.ops[std::size_t(op)])) said += sent_in_collective(program, rank, op);
    for (const TrafficRow& row : traffic_of(program, int(at)))
      if ((row.purpose == Purpose::kGradients || row.purpose == Purpose::kParameters) &&
          row.axis != Axis::kTp && row.axis != Axis::kPp)
        counted += row.sent_bytes;
    EXPECT_EQ(said, counted);
    if (GetParam().collectives != std::string("ring")) continue;
    const auto& spans = prediction.timeline.ranks[at].spans;
    std::set<std::int32_t> shown;
    for (const Nanoseconds time : holdings(prediction, at).changes())
      for (const HeldBucket& bucket : holdings(prediction, at).at(time))
        for (const HeldState* state : {&bucket.parameters, &bucket.gradients})
          if (state->op >= 0) shown.insert(state->op);
    for (const std::int32_t first : shown) {
      const Group& group = program.groups[std::size_t(rank.ops[std::size_t(first)].group)];
      const auto own = std::find(group.ranks.begin(), group.ranks.end(), rank.rank);
      const int next = own + 1 == group.ranks.end() ? group.ranks.front() : own[1];
      for (std::int32_t step = first; step < end_of_collective(rank, first); ++step) {
        const Op& op = rank.ops[std::size_t(step)];
        if (op.kind != OpKind::kSend) continue;
        const auto chunks = moving_chunks(rank, spans, first, spans[std::size_t(step)].begin);
        ASSERT_EQ(chunks.size(), 1u);
        EXPECT_EQ(chunks[0].to, next);
        EXPECT_EQ(chunks[0].done, 0);
        EXPECT_NEAR(chunks[0].end - chunks[0].begin, 1.0 / double(group.ranks.size()), 1e-2);
        seen += op.bytes;
      }
    }
    EXPECT_EQ(seen, counted) << "every collective of states is under way at some moment";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, WhoHoldsWhat,
    testing::Values(Held{1, 0, 1, 1, 2, "fp32"}, Held{2, 0, 1, 1, 1, "fp32"},
                    Held{2, 1, 1, 1, 2, "fp32"}, Held{3, 1, 1, 1, 1, "mixed-16"},
                    Held{4, 2, 1, 1, 2, "mixed-16"}, Held{2, 3, 1, 1, 2, "fp32"},
                    Held{4, 3, 1, 1, 3, "mixed-16"}, Held{2, 1, 2, 1, 4, "fp32"},
                    Held{2, 2, 1, 2, 1, "fp32"}, Held{1, 3, 1, 2, 1, "mixed-16"},
                    // TP, EP, and hybrid sharding
                    Held{1, 0, 1, 1, 1, "fp32", 2}, Held{2, 0, 1, 1, 2, "fp32", 2},
                    Held{2, 3, 1, 1, 1, "fp32", 2}, Held{2, 1, 2, 1, 2, "mixed-16", 2},
                    Held{4, 0, 1, 1, 1, "fp32", 1, 2}, Held{4, 1, 1, 1, 1, "fp32", 1, 2},
                    Held{4, 3, 1, 1, 2, "mixed-16", 1, 4}, Held{4, 2, 1, 1, 1, "fp32", 2, 2},
                    Held{4, 1, 1, 1, 1, "fp32", 1, 1, 2}, Held{4, 3, 1, 1, 2, "fp32", 1, 1, 2},
                    Held{4, 2, 2, 1, 2, "mixed-16", 2, 1, 2},
                    // whole experts, in groups over TP and DP
                    Held{2, 0, 1, 1, 1, "fp32", 2, 2, 0, "direct", true},
                    Held{4, 1, 1, 1, 2, "mixed-16", 2, 4, 0, "direct", true},
                    Held{2, 2, 1, 1, 2, "fp32", 2, 4, 0, "direct", true},
                    Held{4, 3, 1, 1, 2, "mixed-16", 2, 2, 2, "direct", true},
                    // collectives by steps
                    Held{4, 0, 1, 1, 1, "fp32", 1, 1, 0, "ring"},
                    Held{3, 1, 1, 1, 2, "mixed-16", 1, 1, 0, "ring"},
                    Held{4, 2, 1, 1, 2, "fp32", 1, 1, 0, "ring"},
                    Held{4, 3, 1, 1, 2, "mixed-16", 1, 1, 0, "ring"},
                    Held{4, 3, 1, 1, 1, "fp32", 1, 1, 2, "ring"},
                    Held{4, 2, 2, 1, 2, "mixed-16", 2, 1, 2, "ring"},
                    Held{4, 0, 1, 1, 1, "fp32", 1, 1, 0, "all_reduce=halving-doubling"}));

}  // namespace
}  // namespace parallelarium

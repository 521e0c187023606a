// SPDX-License-Identifier: Apache-2.0
// What overlaps with computing by choice, and what that costs the computing.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/predict/cost/launches.h"
#include "engine/predict/predict.h"
#include "tests/predict/built.h"

namespace parallelarium {
namespace {

parallelarium::Setup gpt2(std::initializer_list<std::pair<const char*, const char*>> fields) {
  parallelarium::Setup setup = default_setup();
  setup.model = *find_model("gpt2-124m");
  setup.mesh.pp = 1;
  setup.precision = precision_recipes().front();
  setup.attention = Attention::kFused;
  for (const auto& [field, value] : fields) {
    const Result<void> set = set_field(setup, field, value);
    EXPECT_TRUE(set.ok()) << set.error().text;
  }
  return setup;
}

double step(const parallelarium::Setup& setup, const Machine& machine) {
  return predicted(setup, machine).step.seconds;
}

// Transfers that nothing hides take their time on the way of every micro-batch.
TEST(OverlapOfThePipeline, HidesTransfers) {
  Machine machine = *find_machine("dgx-a100-80g");
  machine.intra_node.bytes_per_second.value /= 50;
  for (const char* schedule : {"1f1b", "zb-h1", "gpipe"}) {
    for (const char* m : {"8", "16"}) {
      parallelarium::Setup setup = gpt2({{"pp", "4"}, {"schedule", schedule}, {"microbatches", m}});
      const double hidden = step(setup, machine);
      setup.overlap_pipeline = false;
      EXPECT_GT(step(setup, machine), hidden) << schedule << " " << m;
    }
  }
  parallelarium::Setup one = gpt2({});
  const double alone = step(one, machine);
  one.overlap_pipeline = false;
  EXPECT_EQ(step(one, machine), alone) << "one stage sends nothing";
}

// Nanoseconds in which a rank computes beside a reduction of its gradients.
std::int64_t computed_beside_reductions(const Prediction& of) {
  const RankProgram& rank = of.program.ranks.front();
  const std::vector<Span>& spans = of.timeline.ranks.front().spans;
  std::int64_t beside = 0;
  for (std::size_t at = 0; at < rank.ops.size(); ++at) {
    if (rank.ops[at].collective != CollectiveKind::kReduceScatter) continue;
    for (std::size_t other = 0; other < rank.ops.size(); ++other) {
      if (rank.ops[other].lane != Lane::kCompute) continue;
      const Nanoseconds both =
          std::min(spans[at].end, spans[other].end) - std::max(spans[at].begin, spans[other].begin);
      beside += std::max<std::int64_t>(0, both.count());
    }
  }
  return beside;
}

// ZeRO 2 and 3 reduce a layer while the next one computes, or make the next one wait.
TEST(OverlapOfGradients, MakesABackwardOfZeroWait) {
  const Machine machine = *find_machine("dgx-a100-80g");
  for (const char* zero : {"2", "3"}) {
    parallelarium::Setup setup =
        gpt2({{"dp", "8"}, {"zero", zero}, {"micro-batch", "4"}, {"microbatches", "1"}});
    setup.model.tied = false;  // the head opens a tied table, for which its embedding waits no more
    const Prediction beside = predicted(setup, machine);
    setup.overlap_gradients = false;
    const Prediction waits = predicted(setup, machine);
    EXPECT_GT(computed_beside_reductions(beside), 500000) << zero;
    EXPECT_EQ(computed_beside_reductions(waits), 0) << zero;
    EXPECT_GT(waits.step.seconds, 1.02 * beside.step.seconds) << zero;
    EXPECT_EQ(waits.traffic.front().sent_bytes, beside.traffic.front().sent_bytes);
    EXPECT_EQ(waits.step.compute_seconds, beside.step.compute_seconds) << zero;
  }
}

// Hosts launch hidden transfers in turn with computing. Where nothing but transfers is between two
// ranks' computing, a step takes as long as if transfers took all of it, and else longer.
TEST(Launches, OfTransfersDoNotHide) {
  const Machine machine = *find_machine("dgx-a100-80g");
  const CollectiveTimes* sends = nullptr;
  for (const CollectiveTimes& times : machine.collective_times)
    if (times.collective == kSendTimes) sends = &times;
  ASSERT_NE(sends, nullptr);
  for (const char* m : {"1", "12"}) {
    parallelarium::Setup setup = gpt2({{"pp", "4"}, {"micro-batch", "8"}, {"microbatches", m}});
    const Prediction prediction = predicted(setup, machine);
    const CostModel cost(prediction.program, machine, setup);
    std::vector<std::vector<Nanoseconds>> plain;
    for (const RankProgram& rank : prediction.program.ranks) {
      auto& durations = plain.emplace_back();
      for (const Op& op : rank.ops) durations.emplace_back(cost.nanoseconds(op, rank.rank));
    }
    const Timeline without = simulate(prediction.program, plain);
    std::int64_t ends = 0, more = 0;
    for (std::size_t r = 0; r < plain.size(); ++r) {
      const RankProgram& rank = prediction.program.ranks[r];
      for (std::size_t at = 0; at < rank.ops.size(); ++at) {
        if (rank.ops[at].kind == OpKind::kSend || rank.ops[at].kind == OpKind::kRecv) ++ends;
        if (rank.ops[at].kind != OpKind::kCompute) continue;
        const Span span = prediction.timeline.ranks[r].spans[at];
        more += (span.end - span.begin - plain[r][at]).count();
      }
    }
    const auto count = static_cast<std::int64_t>(std::stoi(m));
    EXPECT_EQ(ends, 3 * 4 * count) << "three borders, two ways, two ends";
    EXPECT_NEAR(1e-9 * static_cast<double>(more),
                static_cast<double>(ends) * sends->seconds.front() / 2, 1e-7);
    if (count == 1)
      EXPECT_EQ(prediction.timeline.duration, without.duration);
    else
      EXPECT_GT(prediction.timeline.duration.count(), without.duration.count() + 1000000);
  }
  // Over a network, and where no table says it, nothing is known of a host's part.
  const Machine other = *find_machine("dgx-h100");
  const parallelarium::Setup setup = gpt2({{"pp", "4"}});
  const Prediction prediction = predicted(setup, other);
  const CostModel cost(prediction.program, other, setup);
  for (const Op& op : prediction.program.ranks[1].ops) EXPECT_EQ(cost.launch_nanoseconds(op, 1), 0);
}

// Half of the sums of a layer, those of input gradients, hide behind weight gradients that take
// longer.
TEST(OverlapOfTensorParallelism, HidesTheSumsOfInputGradients) {
  const Machine machine = *find_machine("dgx-a100-80g");
  parallelarium::Setup setup = gpt2({{"tp", "2"}, {"micro-batch", "4"}});
  const Prediction exposed = predicted(setup, machine);
  setup.overlap_tensor = true;
  const Prediction hidden = predicted(setup, machine);
  const auto sums = [](const Prediction& of, Phase phase) {
    double seconds = 0;
    const RankProgram& rank = of.program.ranks[0];
    for (std::size_t i = 0; i < rank.ops.size(); ++i)
      if (rank.ops[i].kind == OpKind::kCollective && rank.ops[i].phase == phase &&
          rank.ops[i].lane != Lane::kData) {
        const Span span = of.timeline.ranks[0].spans[i];
        seconds += std::chrono::duration<double>(span.end - span.begin).count();
      }
    return seconds;
  };
  const double all = sums(exposed, Phase::kInputGrad);
  EXPECT_GT(all, 0);
  EXPECT_NEAR((exposed.step.seconds - hidden.step.seconds) / all, 1, 0.02);
  EXPECT_EQ(exposed.traffic.front().sent_bytes, hidden.traffic.front().sent_bytes);
}

// A ring carries the bytes of the gathers and sums that it stands for, and hides them behind
// products that are cut. It can save no more than these took, since cut products are never faster.
TEST(RingOfTensorParallelism, HidesItsTransfersBehindCutProducts) {
  const auto sent = [](const Prediction& of) {
    std::int64_t bytes = 0;
    for (const TrafficRow& row : of.traffic)
      if (row.axis == Axis::kTp) bytes += row.sent_bytes;
    return bytes;
  };
  const auto collectives = [](const Prediction& of) {
    double seconds = 0;
    const RankProgram& rank = of.program.ranks[0];
    for (std::size_t i = 0; i < rank.ops.size(); ++i)
      if (rank.ops[i].kind == OpKind::kCollective && rank.ops[i].lane == Lane::kCompute) {
        const Span span = of.timeline.ranks[0].spans[i];
        seconds += std::chrono::duration<double>(span.end - span.begin).count();
      }
    return seconds;
  };
  const Machine machine = *find_machine("dgx-h100");
  for (const char* tp : {"2", "4", "8"}) {
    SCOPED_TRACE(tp);
    parallelarium::Setup setup = gpt2({{"model", "llama3-8b"},
                                       {"layers", "2"},
                                       {"tp", tp},
                                       {"sequence-parallel", "true"},
                                       {"microbatches", "2"}});
    const Prediction exposed = predicted(setup, machine);
    setup.ring_tensor = true;
    const Prediction hidden = predicted(setup, machine);
    EXPECT_GT(sent(exposed), 0);
    EXPECT_EQ(sent(hidden), sent(exposed));
    EXPECT_LT(hidden.step.seconds, exposed.step.seconds);
    EXPECT_GT(hidden.step.seconds, exposed.step.seconds - collectives(exposed));
  }
}

// A slowdown only ever slows, by at most itself, and only where something overlaps.
TEST(OverlapSlowdown, LiesBetweenNothingAndItself) {
  for (const auto& fields :
       std::initializer_list<std::initializer_list<std::pair<const char*, const char*>>>{
           {{"dp", "8"}, {"zero", "3"}},
           {{"dp", "4"}, {"pp", "2"}, {"microbatches", "6"}},
           {{"tp", "2"}, {"overlap-tensor", "true"}},
           {{"cp", "2"}}}) {
    Machine machine = *find_machine("dgx-a100-80g");
    const parallelarium::Setup setup = gpt2(fields);
    const double before = step(setup, machine);
    double last = before;
    for (const double factor : {1.1, 1.3, 2.0}) {
      machine.overlap_slowdown.value = factor;
      const double now = step(setup, machine);
      EXPECT_GT(now, last);
      EXPECT_LT(now, factor * before);
      last = now;
    }
  }
  Machine machine = *find_machine("dgx-a100-80g");
  for (const parallelarium::Setup& setup :
       {gpt2({}), gpt2({{"tp", "4"}}), gpt2({{"dp", "4"}, {"overlap-gradients", "false"}})}) {
    machine.overlap_slowdown.value = 1;
    const double before = step(setup, machine);
    machine.overlap_slowdown.value = 1.5;
    EXPECT_NEAR(step(setup, machine) / before, 1, 1e-6) << "nothing overlaps";
  }
}

TEST(OverlapSlowdown, IsReadFromAMachineWithItsOrigin) {
  Machine machine = *find_machine("dgx-h100");
  machine.overlap_slowdown = {1.2, origin_of("published in a test")};
  EXPECT_EQ(machine_from_json(to_json(machine))->overlap_slowdown, machine.overlap_slowdown);
  machine.overlap_slowdown.value = 0.5;
  EXPECT_EQ(machine_from_json(to_json(machine)).error().kind, "slowdown-range");
}

}  // namespace
}  // namespace parallelarium

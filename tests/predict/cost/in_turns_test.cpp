// SPDX-License-Identifier: Apache-2.0
// Communication of different groups that goes one after another.
#include "engine/predict/cost/in_turns.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/predict/cost/simulate.h"
#include "engine/predict/predict.h"
#include "tests/predict/built.h"
#include "tests/predict/cost/plain_machine.h"
#include "tests/predict/program/tiny_program.h"

namespace parallelarium {
namespace {

// A message and a collective at once: 10 and 20 ns, and 30 in turns.
TEST(InTurns, EndAfterEachOther) {
  TinyProgram tiny(2);
  for (const int rank : {0, 1}) {
    if (rank == 0)
      tiny.send(0, 1, 10);
    else
      tiny.recv(1, 0, 10);
    tiny.collective(rank, 20);
  }
  const auto seconds = [&](const Program& program) {
    return simulate(program, tiny.durations, Sharing::kNone).duration.count();
  };
  EXPECT_EQ(seconds(tiny.program), 20);
  EXPECT_EQ(seconds(in_turns(tiny.program)), 30);
  EXPECT_FALSE(has_several_groups(tiny.program)) << "both are of the one group";
}

// Ops of a batch still go together.
TEST(InTurns, LeaveBatchesTogether) {
  TinyProgram tiny(2);
  tiny.send(0, 1, 10, {}, 0);
  tiny.recv(0, 1, 10, {}, 0);
  tiny.recv(1, 0, 10, {}, 0);
  tiny.send(1, 0, 10, {}, 0);
  for (const int rank : {0, 1}) tiny.collective(rank, 20);
  tiny.program.batches = 1;
  const Program turns = in_turns(tiny.program);
  EXPECT_EQ(simulate(turns, tiny.durations, Sharing::kNone).duration.count(), 30);
  const RankProgram& rank = turns.ranks[0];
  EXPECT_TRUE(rank.after_of(rank.ops[1]).empty());
  ASSERT_EQ(rank.after_of(rank.ops[2]).size(), 1u);
  EXPECT_EQ(rank.after_of(rank.ops[2])[0], 1);
}

// A Machine says so where its driver is too old for groups at once.
TEST(InTurns, ArePredictedOfAMachineWhoseGroupsTakeThem) {
  parallelarium::Setup setup = small_setup("1f1b", 2, 2, 4, 4);
  setup.zero = 1;
  Machine at_once = machine();
  at_once.groups_take_turns = false;
  at_once.memory_bytes.value = 1e10;
  Machine in_turn = at_once;
  in_turn.groups_take_turns = true;
  const Result<Prediction> fast = predict(setup, at_once), slow = predict(setup, in_turn);
  ASSERT_TRUE(fast.ok() && slow.ok());
  EXPECT_TRUE(has_several_groups(slow->program));
  EXPECT_GE(slow->timeline.duration, fast->timeline.duration);
  const auto remark = [](const Prediction& prediction) {
    for (const Message& one : remarks_of(prediction))
      if (one.text.find("CUDA 12.3") != std::string::npos) return true;
    return false;
  };
  EXPECT_FALSE(remark(*fast));
  EXPECT_TRUE(remark(*slow));
  const Result<Machine> read = machine_from_json(to_json(in_turn));
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_TRUE(read->groups_take_turns);
}

}  // namespace
}  // namespace parallelarium

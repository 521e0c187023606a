// SPDX-License-Identifier: Apache-2.0
// Steps that assign: what the engine says of chunks and states is held to the blocks of the Program
// and to what ZeRO is predicted to hold and send; how choices are judged; faults of lessons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "engine/lesson/assign/assignment.h"
#include "engine/lesson/check/check.h"
#include "engine/lesson/play.h"
#include "engine/passes/build.h"
#include "engine/plan/layer/layer_steps.h"
#include "engine/schedules/schedule.h"
#include "tests/lesson/lesson_copy.h"

namespace parallelarium {
namespace {

using nlohmann::json;

// --- chunks ---

// Who holds which of 2 c chunks in the Program.
AssignmentFacts facts_of_split(const LayerContext& context, int chunks) {
  Assignment assignment;
  const std::int64_t each = context.runs.back().tokens.end / chunks;
  for (int chunk = 0; chunk < chunks; ++chunk)
    for (const TokenRun& run : context.runs)
      if (run.tokens.begin <= chunk * each && chunk * each < run.tokens.end)
        assignment["chunk-" + std::to_string(chunk)] = "rank-" + std::to_string(run.cp);
  return chunk_facts(assignment);
}

// Scores of so many blocks of eight tokens by eight, where a block on the diagonal counts half: its
// queries meet their own key, too, which is half a score more for each token of `chunks`.
double scores_of(double blocks, double chunks) { return blocks * 64 + chunks * 4; }

TEST(AssignChunks, WorkIsThatOfTheBlocksOfTheProgram) {
  for (const int cp : {2, 4})
    for (const ContextSplit split : {ContextSplit::kZigzag, ContextSplit::kContiguous}) {
      auto setup = default_setup();
      setup.mesh = {};
      setup.mesh.cp = cp;
      setup.cp_split = split;
      setup.attention = Attention::kFused;
      const auto order = make_order(setup);
      ASSERT_TRUE(order.ok());
      const auto program = build_program(setup, *order, BuildOptions{.all_ranks = true});
      ASSERT_TRUE(program.ok());
      const LayerContext context = layer_steps(setup, *program, {}).context;
      // A contiguous run is two chunks long, so a block of it has four of theirs.
      const double scale = split == ContextSplit::kZigzag ? 1 : 4;
      const AssignmentFacts made = facts_of_split(context, 2 * cp);
      for (int rank = 0; rank < cp; ++rank)
        EXPECT_DOUBLE_EQ(made.facts.at("work").at(std::size_t(rank)).get<double>(),
                         scores_of(scale * context.blocks_of[std::size_t(rank)], 2));
      EXPECT_EQ(made.facts.at("most_chunks"), 2);
      EXPECT_EQ(made.reasons.empty(), split == ContextSplit::kZigzag);
    }
}

// Every way to give four chunks to two ranks: what they computed is what the mask leaves, the same
// in sum, and each query has what one rank has for it.
TEST(AssignChunks, RanksComputeWhatTheMaskLeavesWhoeverHasWhat) {
  for (int choice = 0; choice < 16; ++choice) {
    Assignment assignment;
    double blocks[2] = {0, 0}, chunks[2] = {0, 0};
    for (int chunk = 0; chunk < 4; ++chunk) {
      const int rank = choice >> chunk & 1;
      assignment["chunk-" + std::to_string(chunk)] = "rank-" + std::to_string(rank);
      blocks[rank] += chunk + 0.5;
      ++chunks[rank];
    }
    const json facts = chunk_facts(assignment).facts;
    EXPECT_EQ(facts.at("as_one_rank"), 1) << choice;
    double all = 0, most = 0;
    for (int rank = 0; rank < 2; ++rank) {
      const double work = facts.at("work").at(std::size_t(rank));
      EXPECT_EQ(work, scores_of(blocks[rank], chunks[rank])) << choice;
      all += work;
      most = std::max(most, work);
    }
    EXPECT_EQ(all, 32 * 33 / 2);
    EXPECT_DOUBLE_EQ(facts.at("over_even").get<double>(), most / (all / 2));
    // Keys and values of 32 tokens, 4 wide, to one other rank each.
    EXPECT_EQ(facts.at("sent_bytes"), 2 * 32 * 4 * 8);
  }
}

TEST(AssignChunks, MoreChunksThanOthersAreTold) {
  const AssignmentFacts made = chunk_facts(
      {{"chunk-0", "rank-0"}, {"chunk-1", "rank-0"}, {"chunk-2", "rank-0"}, {"chunk-3", "rank-1"}});
  EXPECT_EQ(made.facts.at("most_chunks"), 3);
  EXPECT_EQ(made.facts.at("work"), json({scores_of(4.5, 3), scores_of(3.5, 1)}));
  ASSERT_EQ(made.reasons.size(), 2u);
  EXPECT_THAT(made.reasons[0].text, testing::HasSubstr("Rank 0 holds 3 of 4 chunks"));
}

// --- states ---

// Every placement trains, and costs what its shards and collectives cost; four of the eight are
// stages of ZeRO, which the engine predicts from a Program.
TEST(AssignStates, HoldAndSendWhatTheStageOfZeroIsPredictedTo) {
  const std::map<std::string, int> stages = {{"copy copy copy", 0},
                                             {"copy copy shard", 1},
                                             {"copy shard shard", 2},
                                             {"shard shard shard", 3}};
  for (const auto& [dp, microbatches] : {std::pair(2, 3), {4, 1}})
    for (int choice = 0; choice < 8; ++choice) {
      auto setup = default_setup();
      setup.mesh = {};
      setup.mesh.dp = dp;
      setup.microbatches = microbatches;
      const auto hold = [&](int state) { return (choice >> state & 1) != 0 ? "shard" : "copy"; };
      const auto made = state_facts(
          setup, {{"parameters", hold(0)}, {"gradients", hold(1)}, {"optimizer", hold(2)}});
      const json& facts = made.facts;
      const std::string placed = std::string(hold(0)) + " " + hold(1) + " " + hold(2);
      SCOPED_TRACE(placed);
      EXPECT_EQ(facts.at("as_one_rank"), 1);
      EXPECT_EQ(facts.at("unused_bytes") > 0, choice != 0 && hold(2) == std::string("copy"));
      EXPECT_EQ(made.reasons.size(), facts.at("unused_bytes") > 0 ? 3u : 2u);
      const auto stage = stages.find(placed);
      if (stage == stages.end()) continue;
      setup.zero = stage->second;
      const auto prediction = predict(setup, *find_machine("local"));
      ASSERT_TRUE(prediction);
      const json predicted = to_json(*prediction);
      const json& row = predicted.at("memory").at("ranks").at(0);
      EXPECT_EQ(facts.at("states_bytes").get<std::int64_t>(),
                row.at("parameters_bytes").get<std::int64_t>() +
                    row.at("gradients_bytes").get<std::int64_t>() +
                    row.at("optimizer_bytes").get<std::int64_t>());
      std::int64_t sent = 0;
      for (const json& traffic : predicted.at("traffic"))
        if (traffic.at("purpose") == "gradients" || traffic.at("purpose") == "parameters")
          sent += traffic.at("sent_bytes").get<std::int64_t>();
      EXPECT_EQ(facts.at("sent_bytes"), sent);
    }
}

// --- judged ---

Answer of_parts(const Step& step, const Assignment& changed = {}) {
  Answer answer;
  for (const QuestionPart& part : step.parts) answer.parts[part.id].option = part.option;
  for (const auto& [slot, value] : changed) answer.parts[slot].option = value;
  return answer;
}

Context at_step(const Lesson& lesson, const Step& step) {
  Context context;
  context.drawn = draw(lesson, 3);
  context.settings = *settings_at(lesson, std::size_t(&step - lesson.steps.data()), context.drawn);
  return context;
}

TEST(AssignSteps, AnyChoiceThatDoesItIsRightAndOthersAreRefusedWithTheirReason) {
  const auto lesson = read_lesson(shipped_lessons() + "/long-sequences");
  ASSERT_TRUE(lesson) << lesson.error().text;
  const Step& step = *lesson->find("two-pieces-each");
  const Context context = at_step(*lesson, step);
  int right = 0;
  // Every way to give the four fair pairs to the four ranks.
  std::vector<int> ranks{0, 1, 2, 3};
  do {
    Assignment chosen;
    for (int chunk = 0; chunk < 8; ++chunk)
      chosen["chunk-" + std::to_string(chunk)] =
          "rank-" + std::to_string(ranks[std::size_t(std::min(chunk, 7 - chunk))]);
    const auto judged = judge(step, of_parts(step, chosen), context);
    ASSERT_TRUE(judged);
    EXPECT_TRUE(judged->reasons.empty());
    right += judged->verdict == Verdict::kRight;
  } while (std::next_permutation(ranks.begin(), ranks.end()));
  EXPECT_EQ(right, 24);
  const auto neighbours = judge(step, of_parts(step, step.assign.tempting), context);
  ASSERT_TRUE(neighbours);
  EXPECT_EQ(neighbours->verdict, Verdict::kWrong);
  ASSERT_EQ(neighbours->reasons.size(), 1u);
  EXPECT_EQ(neighbours->reasons[0].text,
            "With 8 tokens in a chunk rank 1 computed 904 scores and rank 0 only 136: all wait for "
            "rank 1.");
}

TEST(AssignSteps, WhatIsNotChosenOrNotAnOptionIsToldAsOpen) {
  const auto lesson = read_lesson(shipped_lessons() + "/columns-then-rows");
  ASSERT_TRUE(lesson) << lesson.error().text;
  const Step& step = *lesson->find("four-matrices");
  const Context context = at_step(*lesson, step);
  Answer answer = of_parts(step);
  EXPECT_EQ(judge(step, answer, context)->verdict, Verdict::kRight);
  answer.parts["qkv"].option = "sideways";
  answer.parts.erase("mlp-in");
  const auto judged = judge(step, answer, context);
  ASSERT_TRUE(judged);
  EXPECT_EQ(judged->verdict, Verdict::kWrong);
  ASSERT_EQ(judged->reasons.size(), 1u);
  EXPECT_EQ(judged->reasons[0].text, "2 of 4 are not chosen yet.");
}

TEST(AssignSteps, StatesAreRefusedForWhatTheyHoldAndForWhatTheySend) {
  const auto lesson = read_lesson(shipped_lessons() + "/zero-one-and-two");
  ASSERT_TRUE(lesson) << lesson.error().text;
  const Step& step = *lesson->find("who-keeps-what");
  const Context context = at_step(*lesson, step);
  const auto failing = [&](const Assignment& changed) {
    const auto judged = judge(step, of_parts(step, changed), context);
    EXPECT_TRUE(judged);
    std::set<std::string> keys;
    for (const CheckOutcome& outcome : judged->checks)
      if (!outcome.holds) keys.insert(outcome.check.key);
    EXPECT_EQ(judged->reasons.empty(), keys.empty());
    return keys;
  };
  using Keys = std::set<std::string>;
  EXPECT_EQ(failing({}), Keys());
  EXPECT_EQ(failing({{"gradients", "copy"}}), Keys({"states_bytes"}));
  EXPECT_EQ(failing({{"parameters", "shard"}}), Keys({"sent_bytes"}));
  EXPECT_EQ(failing({{"parameters", "shard"}, {"gradients", "copy"}}), Keys({"sent_bytes"}));
  EXPECT_EQ(failing({{"optimizer", "copy"}}), Keys({"states_bytes"}));
}

// --- faults of lessons ---

struct AssignFault {
  const char* name;
  const char* rule;
  std::function<void(json&)> plant;
};

class AssignFaults : public testing::TestWithParam<AssignFault> {};

TEST_P(AssignFaults, IsTold) {
  LessonCopy copy("columns-then-rows");
  GetParam().plant(copy.step("four-matrices"));
  copy.write();
  const LessonReport report = check_lesson(copy.folder().string());
  EXPECT_TRUE(std::any_of(report.faults.begin(), report.faults.end(), [](const Message& fault) {
    return fault.kind == GetParam().rule;
  })) << (report.ok() ? "no fault" : report.faults.front().text);
}

INSTANTIATE_TEST_SUITE_P(
    All, AssignFaults,
    testing::Values(AssignFault{"WrongSolution", "assign-solution",
                                [](json& step) { step["parts"][0]["option"] = "rows"; }},
                    AssignFault{"TemptingIsRight", "assign-tempting",
                                [](json& step) {
                                  step["assign"]["tempting"] = {{"qkv", "columns"}};
                                }},
                    AssignFault{"NothingIsRefused", "assign-tempting",
                                [](json& step) { step["checks"][0]["value"] = 9; }},
                    AssignFault{"UnknownSlot", "lesson-form",
                                [](json& step) { step["parts"][0]["id"] = "mlp-middle"; }},
                    AssignFault{"UnknownValue", "lesson-form",
                                [](json& step) {
                                  step["options"].push_back({{"id", "diagonally"}});
                                }},
                    AssignFault{"TemptingNowhere", "lesson-form",
                                [](json& step) {
                                  step["assign"]["tempting"] = {{"head", "rows"}};
                                }},
                    AssignFault{"OtherChecks", "lesson-form",
                                [](json& step) { step["checks"][0]["of"] = "predicted"; }},
                    AssignFault{"NoSuchFact", "step-judge",
                                [](json& step) { step["checks"][0]["key"] = "beauty"; }},
                    AssignFault{"NeitherOrderNorAssign", "lesson-schema",
                                [](json& step) { step.erase("assign"); }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace parallelarium

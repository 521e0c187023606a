// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/wire/messages.h"
#include "engine/wire/rpc.h"
#include "engine/wire/version.h"

namespace parallelarium {
namespace {

using nlohmann::json;

Observation awkward() {
  Observation observation;
  observation.setup = default_setup();
  observation.setup.learning_rate = 0.1 + 0.2;
  observation.machine = "This \"computer\"";
  observation.backend = "paced";
  observation.setup.run.backend = Backend::kPaced;  // a run keeps its resolved Setup
  observation.source = Source::kPaced;
  observation.stretch = 31.0 / 3;
  observation.timeline.source = Source::kPaced;
  observation.timeline.duration = Nanoseconds(123456789012345);
  observation.timeline.clock_error = Nanoseconds(7);
  observation.timeline.step = 3;
  observation.timeline.steps = 5;
  for (int rank = 0; rank < 3; ++rank) {
    RankTimeline& times = observation.timeline.ranks.emplace_back();
    for (int op = 0; op < rank; ++op) {
      times.spans.push_back({Nanoseconds(op * 10), Nanoseconds(op * 10 + 3)});
      times.shortest.push_back(Nanoseconds(2));
      times.longest.push_back(Nanoseconds(4));
    }
    MemoryRow& row = observation.memory.emplace_back();
    row.rank = rank;
    row.stage = rank / 2;
    for (int category = 0; category < kCategories; ++category)
      row.bytes[category] = (std::int64_t{1} << 53) + category;
    row.peak_bytes = std::numeric_limits<std::int64_t>::max();
    auto& rows = observation.traffic.emplace_back();
    for (int at = 0; at < rank; ++at)
      rows.push_back({at == 0 ? Axis::kPp : Axis::kDp, at == 0 ? "send_recv" : "all_reduce",
                      at == 0 ? Purpose::kActivations : Purpose::kGradients, 3, 1000 + at, 17});
  }
  observation.sent_bytes = {{}, {0}, {std::int64_t{1} << 53, 0}};
  observation.bubble = {1.0 / 7, 0.125, 0.0625, {0.1, 0.2, 0.3}};
  observation.step.seconds = std::nextafter(0.1, 1.0);
  observation.step.seconds_min = 0.05;
  observation.step.seconds_max = 1e300;
  observation.step.compute_seconds = 5e-324;
  observation.step.exposed_communication_seconds = 1e-9;
  observation.step.tokens_per_second = 12345.678;
  observation.step.model_flops_per_second_per_rank = 3e15;
  observation.losses = {5.545177444479562, 1.0 / 3, 5e-324};
  observation.gradient_norms = {1e-17, 2, 3};
  observation.delay_factor = 1.1 / 3;
  observation.ranks_state = {
      {0, 1.0 / 3, 0.25, 0.5, "0123456789abcdef", "fedcba9876543210", 0, "00112233445566ff", 1},
      {1, std::nullopt, std::nullopt, 5e-324, "", "1", 0}};
  observation.process_bytes = 1234567;
  observation.gpu_memory = {{0, 4, std::int64_t{5} << 30, std::int64_t{4} << 30, 1 << 26, 7, 11},
                            {3}};
  observation.wall_seconds = 1.0 / 7;
  observation.host_seconds = 1e-5 / 3;
  observation.gpu_use = "GPU 1: python (4711) 11.2 GiB";
  observation.choices = {{"all_reduce", 4, "RING", "LL128", 16, 12, 1, std::int64_t{1} << 53}, {}};
  observation.date = "2026-11-21T08:00:00Z";
  return observation;
}

// Through the bytes, as app and engine do it.
Result<Observation> sent_and_received(const Observation& observation) {
  FrameReader reader;
  reader.append(frame(to_json(observation)));
  const auto message = reader.next();
  return observation_from_json(**message);
}

TEST(Observation, OthersOnItsGpusAreToldWhateverItsSource) {
  Observation seen = awkward();
  seen.delay_factor = 0;
  for (const Source source : {Source::kMeasured, Source::kSharedGpu}) {
    seen.source = source;
    const std::optional<Message> told = delay_of(seen);
    ASSERT_TRUE(told);
    EXPECT_NE(told->text.find(seen.gpu_use), std::string::npos);
  }
  seen.gpu_use.clear();
  EXPECT_FALSE(delay_of(seen));
}

TEST(Observation, ComesBackToTheLastBit) {
  const Observation sent = awkward();
  const Result<Observation> received = sent_and_received(sent);
  ASSERT_TRUE(received.ok()) << received.error().text;
  EXPECT_EQ(to_json(*received), to_json(sent));
  EXPECT_EQ(received->setup, sent.setup);
  EXPECT_EQ(received->machine, sent.machine);
  EXPECT_EQ(received->source, sent.source);
  EXPECT_EQ(received->stretch, sent.stretch);
  EXPECT_EQ(received->delay_factor, sent.delay_factor);
  EXPECT_EQ(received->losses, sent.losses);
  EXPECT_EQ(received->gradient_norms, sent.gradient_norms);
  EXPECT_EQ(received->ranks_state, sent.ranks_state);
  EXPECT_EQ(received->traffic, sent.traffic);
  EXPECT_EQ(received->sent_bytes, sent.sent_bytes);
  EXPECT_EQ(received->bubble.ranks, sent.bubble.ranks);
  EXPECT_EQ(received->step.seconds, sent.step.seconds);
  EXPECT_EQ(received->step.seconds_max, sent.step.seconds_max);
  EXPECT_EQ(received->step.compute_seconds, sent.step.compute_seconds);
  EXPECT_EQ(received->process_bytes, sent.process_bytes);
  EXPECT_EQ(received->gpu_memory, sent.gpu_memory);
  EXPECT_EQ(received->wall_seconds, sent.wall_seconds);
  EXPECT_EQ(received->host_seconds, sent.host_seconds);
  EXPECT_EQ(received->gpu_use, sent.gpu_use);
  EXPECT_EQ(received->choices, sent.choices);
  EXPECT_EQ(received->date, sent.date);
  ASSERT_EQ(received->timeline.ranks.size(), sent.timeline.ranks.size());
  EXPECT_EQ(received->timeline.duration, sent.timeline.duration);
  EXPECT_EQ(received->timeline.clock_error, sent.timeline.clock_error);
  for (std::size_t rank = 0; rank < sent.memory.size(); ++rank) {
    EXPECT_EQ(received->memory[rank].peak_bytes, sent.memory[rank].peak_bytes);
    for (int category = 0; category < kCategories; ++category)
      EXPECT_EQ(received->memory[rank].bytes[category], sent.memory[rank].bytes[category]);
    ASSERT_EQ(received->timeline.ranks[rank].spans.size(), rank);
    for (std::size_t op = 0; op < rank; ++op) {
      EXPECT_EQ(received->timeline.ranks[rank].spans[op].end,
                sent.timeline.ranks[rank].spans[op].end);
      EXPECT_EQ(received->timeline.ranks[rank].longest[op], sent.timeline.ranks[rank].longest[op]);
    }
  }
}

TEST(Observation, ALossThatDivergedIsNotANumberOnTheOtherSide) {
  Observation sent = awkward();
  sent.losses = {5.5, std::numeric_limits<double>::quiet_NaN(),
                 std::numeric_limits<double>::infinity()};
  const Result<Observation> received = sent_and_received(sent);
  ASSERT_TRUE(received.ok()) << received.error().text;
  ASSERT_EQ(received->losses.size(), 3u);
  EXPECT_EQ(received->losses[0], 5.5);
  EXPECT_TRUE(std::isnan(received->losses[1]));
  EXPECT_TRUE(std::isnan(received->losses[2]));
}

// Every key in turn replaced by what it must not be: an error in one sentence, never a crash.
TEST(Observation, AWrongTypeAtAnyKeyIsOneSentence) {
  const json right = to_json(awkward());
  int refused = 0;
  for (const auto& [key, value] : right.items()) {
    for (const json& wrong :
         {json("no"), json(-1.5), json(true), json::array({json("x")}), json{{"unknown", 1}}}) {
      if (wrong.type() == value.type()) continue;
      json changed = right;
      changed[key] = wrong;
      const Result<Observation> read = observation_from_json(changed);
      if (read.ok()) continue;  // a number where another number kind is fine
      ++refused;
      EXPECT_EQ(read.error().text.back(), '.') << key;
    }
  }
  EXPECT_GT(refused, 40);
}

TEST(Observation, APredictionIsNoObservation) {
  json changed = to_json(awkward());
  changed["source"] = "predicted";
  EXPECT_FALSE(observation_from_json(changed).ok());
  changed["source"] = "guessed";
  EXPECT_FALSE(observation_from_json(changed).ok());
}

TEST(RunRequest, NeedsASetup) {
  const auto good = run_request_from_json({{"setup", to_json(default_setup())}, {"verify", true}});
  ASSERT_TRUE(good.ok()) << good.error().text;
  EXPECT_EQ(good->setup, default_setup());
  EXPECT_TRUE(good->verify);
  EXPECT_EQ(good->let_it_hang_seconds, 0);
  const auto hangs =
      run_request_from_json({{"setup", to_json(default_setup())}, {"let_it_hang_seconds", 2.5}});
  ASSERT_TRUE(hangs.ok()) << hangs.error().text;
  EXPECT_EQ(hangs->let_it_hang_seconds, 2.5);
  for (const double seconds : {-1.0, 601.0})
    EXPECT_FALSE(run_request_from_json(
                     {{"setup", to_json(default_setup())}, {"let_it_hang_seconds", seconds}})
                     .ok());
  EXPECT_FALSE(run_request_from_json(json::object()).ok());
  EXPECT_FALSE(run_request_from_json({{"setup", 3}}).ok());
  EXPECT_FALSE(run_request_from_json({{"setup", {{"no-such-key", 1}}}}).ok());
  EXPECT_FALSE(run_request_from_json({{"setup", json::object()}, {"verify", "yes"}}).ok());
}

TEST(Version, IsTheBuilds) {
  std::ifstream file(PARALLELARIUM_SOURCE_DIR "/CMakeLists.txt");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find(std::string("VERSION ") + kVersion + " "), std::string::npos);
}

}  // namespace
}  // namespace parallelarium

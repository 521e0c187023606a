// SPDX-License-Identifier: Apache-2.0
// `layer` on the command line.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Bytes that a rank sends and keeps, over all steps.
std::int64_t sum_of(const json& layer, const char* key) {
  std::int64_t sum = 0;
  for (const json& step : layer.at("steps"))
    if (!step.at("ranks").at(0).is_null())
      sum += step.at("ranks").at(0).at(key).get<std::int64_t>();
  return sum;
}

TEST(LayerCommand, PrintsStepsWithTensorsBytesAndFlops) {
  const Folder folder;
  const json layer =
      command({"layer", "--pp", "1", "--tp", "2", "--sequence-parallel", "off", "--json"}).json();
  EXPECT_EQ(layer.at("layer"), 0);
  EXPECT_EQ(layer.at("ranks").size(), 2u);
  // Two all-reduces of s b h, each sent once over by one of two ranks.
  const json& x = layer.at("steps").at(0).at("ranks").at(0).at("tensors").at(0);
  const std::int64_t sbh = x.at("rows").get<std::int64_t>() * x.at("columns").get<std::int64_t>();
  EXPECT_EQ(sum_of(layer, "sent_bytes"), 2 * sbh * 4);
  bool partial = false;
  for (const json& step : layer.at("steps")) {
    if (step.at("ranks").at(0).is_null()) continue;
    for (const json& tensor : step.at("ranks").at(0).at("tensors"))
      partial = partial || tensor.at("partial_sum").get<bool>();
  }
  EXPECT_TRUE(partial);
  EXPECT_GT(layer.at("kept").at("terms").size(), 8u);
}

TEST(LayerCommand, TellsWhatTheLossSendsBesideAllLogits) {
  const Folder folder;
  const json head = command({"layer", "--pp", "1", "--tp", "4", "--part", "head", "--json"}).json();
  const json& loss = head.at("vocabulary").at("loss");
  EXPECT_EQ(loss.at("collectives"), 3);
  EXPECT_EQ(loss.at("sent_bytes"), sum_of(head, "sent_bytes"));
  EXPECT_LT(loss.at("sent_bytes"), loss.at("gathered_sent_bytes"));
  EXPECT_THAT(command({"layer", "--pp", "1", "--tp", "4", "--part", "head"}).out,
              HasSubstr("max all_reduce"));
  const json embedding =
      command({"layer", "--pp", "1", "--tp", "4", "--part", "embedding", "--backward", "--json"})
          .json();
  EXPECT_EQ(embedding.at("direction"), "backward");
  EXPECT_EQ(sum_of(embedding, "sent_bytes"), 0);
}

json context_of(const char* kind, const char* split) {
  return command({"layer", "--pp", "1", "--cp", "4", "--attention", "fused", "--context-parallel",
                  kind, "--cp-split", split, "--json"})
      .json()
      .at("context");
}

TEST(LayerCommand, ItsCausalGridHasEveryScoreOnceAndSaysWhoComputesIt) {
  const Folder folder;
  for (const char* kind : {"ring", "all-gather"})
    for (const char* split : {"contiguous", "zigzag"}) {
      SCOPED_TRACE(std::string(kind) + " " + split);
      const json context = context_of(kind, split);
      const auto& runs = context.at("runs");
      ASSERT_EQ(runs.size(), split == std::string("zigzag") ? 8u : 4u);
      std::int64_t tokens = 0, scores = 0;
      for (const json& run : runs) {
        EXPECT_EQ(run.at("tokens").at(0), tokens);
        tokens = run.at("tokens").at(1);
      }
      std::vector<std::int64_t> of_rank(4, 0);
      std::set<std::pair<int, int>> seen;
      for (const json& block : context.at("blocks")) {
        const int queries = block.at("queries"), keys = block.at("keys"), cp = block.at("cp");
        EXPECT_TRUE(seen.insert({queries, keys}).second);
        // Who holds the queries computes; in a ring, keys come one rank further each round.
        EXPECT_EQ(runs.at(std::size_t(queries)).at("cp"), cp);
        const int keys_of = runs.at(std::size_t(keys)).at("cp");
        EXPECT_EQ(block.at("round"), kind == std::string("ring") ? (cp - keys_of + 4) % 4 : 0);
        scores += block.at("scores").get<std::int64_t>();
        of_rank[std::size_t(cp)] += block.at("scores").get<std::int64_t>();
      }
      EXPECT_EQ(scores, tokens * (tokens + 1) / 2) << "the causal half";
      EXPECT_EQ(std::set<std::int64_t>(of_rank.begin(), of_rank.end()).size(),
                split == std::string("zigzag") ? 1u : 4u);
      if (split == std::string("contiguous")) {
        EXPECT_EQ(context.at("work"), json({0.5, 1.5, 2.5, 3.5}));
      }
    }
  const json heads = context_of("ulysses", "contiguous");
  EXPECT_EQ(heads.at("by_heads"), true);
  EXPECT_TRUE(heads.at("blocks").empty());
  std::int64_t next = 0;
  for (const json& rank : heads.at("heads")) {
    EXPECT_EQ(rank.at(0).at(0), next);
    next = rank.at(0).at(1);
  }
  EXPECT_EQ(heads.at("work"), json({8, 8, 8, 8}));
  EXPECT_FALSE(command({"layer", "--pp", "1", "--tp", "2", "--json"}).json().contains("context"));
}

TEST(LayerCommand, DrawsTheCausalGridAndTheWork) {
  const Folder folder;
  const auto drawn = [](const char* kind, const char* split) {
    return command({"layer", "--pp", "1", "--cp", "4", "--attention", "fused", "--context-parallel",
                    kind, "--cp-split", split})
        .out;
  };
  EXPECT_THAT(drawn("ring", "contiguous"),
              testing::AllOf(HasSubstr("   3.4    3.3    3.2     3.1\n"),
                             HasSubstr("Work of the CP ranks: 1 : 3 : 5 : 7; "),
                             HasSubstr("1.75 times as long as with even shares.")));
  EXPECT_THAT(drawn("all-gather", "zigzag"), HasSubstr("Work of the CP ranks: 1 : 1 : 1 : 1.\n"));
  EXPECT_THAT(drawn("ulysses", "contiguous"), HasSubstr("of its own heads"));
}

TEST(LayerCommand, SaysWhatThereIs) {
  const Folder folder;
  const Reply reply = command({"layer", "--layer", "99"});
  EXPECT_EQ(reply.status, 2);
  EXPECT_THAT(reply.err, HasSubstr("There is no layer 99 here; there are layers 0 to "));
  EXPECT_THAT(command({"layer", "--of-microbatch", "99"}).err,
              HasSubstr("There is no micro-batch"));
}

}  // namespace
}  // namespace parallelarium

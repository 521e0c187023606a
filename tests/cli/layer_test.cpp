// SPDX-License-Identifier: Apache-2.0
// `layer` on the command line.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

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

// SPDX-License-Identifier: Apache-2.0
// `route` and what `run` and `predict` say of routing.
#include <gmock/gmock.h>

#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::vector<std::string> kSetup = {"--model", "moe-tiny", "--pp",           "1", "--dp", "4",
                                         "--ep",    "4",        "--microbatches", "2"};

std::vector<std::string> with_setup(std::vector<std::string> words,
                                    const std::vector<std::string>& more = {}) {
  words.insert(words.end(), kSetup.begin(), kSetup.end());
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Route, ShowsLoadsDropsAndWhatTravels) {
  const Reply text = command(with_setup({"route"}, {"--skew", "0.5"}));
  EXPECT_EQ(text.status, kDone) << text.err;
  EXPECT_THAT(text.out, HasSubstr("an expert takes at most 40 tokens of each"));
  // It would be that of even routers, since a skew moves choices and not affinities.
  EXPECT_THAT(text.out, HasSubstr("balance loss is not known: a run tells it"));
  // Affinities alone make the z-loss.
  EXPECT_THAT(command(with_setup({"route"}, {"--skew", "0.5", "--z-loss", "0.001"})).out,
              HasSubstr("Z-loss 0."));
  EXPECT_THAT(command(with_setup({"route"})).out, HasSubstr("Balance loss 0"));
  const json routed = command(with_setup({"route", "--json"}, {"--skew", "0.5"})).json();
  EXPECT_TRUE(routed.at("balance_loss").is_null());
  EXPECT_TRUE(command(with_setup({"route", "--json"})).json().at("balance_loss").is_number());
  EXPECT_EQ(routed.at("capacity"), 40);
  EXPECT_EQ(routed.at("load").at(0), 160);
  EXPECT_GT(routed.at("dropped").at(0), 0);
  std::int64_t travels = 0, sent = 0;
  for (int home = 0; home < 4; ++home) {
    for (int rank = 0; rank < 4; ++rank)
      travels += home == rank ? 0 : routed.at("rows").at(home).at(rank).get<std::int64_t>();
    sent += routed.at("sent_bytes").at(home).get<std::int64_t>();
  }
  EXPECT_EQ(sent, travels * 64 * 4);
  EXPECT_EQ(routed.at("homes").at(1).at("tokens").size(), 128u);
}

// Below a capacity of 1, a router that spreads tokens evenly drops choices, too.
TEST(Route, AgreesWithPredictOnWhatEvenRoutersDrop) {
  for (const char* capacity : {"0.25", "0.5", "0.9", "1", "1.5"}) {
    const json routed = command(with_setup({"route", "--json"}, {"--capacity", capacity})).json();
    const json predicted =
        command(with_setup({"predict", "--json", "--rank", "1"}, {"--capacity", capacity})).json();
    std::int64_t sent = 0;
    for (const json& row : predicted.at("traffic"))
      if (row.at("group") == "ep" && row.at("purpose") == "tokens")
        sent += row.at("sent_bytes").get<std::int64_t>();
    // Dispatch and combine, forward and backward, of eight layers and two micro-batches.
    std::int64_t one_way = routed.at("sent_bytes").at(1);
    for (int home = 0; home < 4; ++home)
      if (home != 1) one_way += routed.at("rows").at(home).at(1).get<std::int64_t>() * 64 * 4;
    EXPECT_EQ(sent, one_way * 2 * 8 * 2) << capacity;
  }
}

TEST(Route, IsRefusedInOneSentence) {
  for (const auto& [words, text] :
       {std::pair{std::vector<std::string>{"route"}, "has no experts"},
        {with_setup({"route"}, {"--layer", "8"}), "Layer 8 has no experts"},
        {with_setup({"route"}, {"--layer", "-1"}), "Layer -1 has no experts"},
        {with_setup({"route"}, {"--at", "2"}), "no micro-batch 2"},
        {with_setup({"route"}, {"--group", "1"}), "no EP group 1"},
        {with_setup({"route"}, {"--routing", "/absent"}), "/absent"},
        {with_setup({"route"}, {"--skew", "2"}), "between 0 and 1"},
        {with_setup({"route"}, {"--router", "tanh"}), "softmax or sigmoid"}}) {
    const Reply reply = command(words);
    EXPECT_EQ(reply.status, kInvalid) << text;
    EXPECT_EQ(reply.out, "");
    EXPECT_THAT(reply.err, HasSubstr(text));
  }
}

TEST(Run, ReportsItsRoutingWhichRouteAndPredictRead) {
  const Folder folder;
  folder.pretend_calibrated();
  const Reply run = command(with_setup({"run", "--json", "--backend", "cpu", "--verify"},
                                       {"--steps", "2", "--capacity", "0", "--sequence", "32"}));
  ASSERT_EQ(run.status, kDone) << run.err;
  const json seen = run.json();
  EXPECT_TRUE(seen.at("proof").at("holds"));
  EXPECT_EQ(seen.at("routing").size(), 8u * 2 * 4);  // layers, micro-batches, replicas
  EXPECT_EQ(seen.at("balance").size(), 3u);          // steps, the warm-up too
  const std::string file = folder.file("run.json", run.out);
  const std::vector<std::string> of = {"--capacity", "0", "--sequence", "32", "--routing", file};
  const json routed =
      command(with_setup({"route", "--json", "--layer", "3", "--at", "1"}, of)).json();
  EXPECT_EQ(routed.at("source"), "measured");
  for (const json& entry : seen.at("routing")) {
    if (entry.at("layer") != 3 || entry.at("microbatch") != 1) continue;
    EXPECT_EQ(routed.at("homes").at(entry.at("replica").get<std::size_t>()).at("kept"),
              entry.at("kept"));
  }
  // By that routing the predicted bytes are the counted ones.
  const json predicted = command(with_setup({"predict", "--json"}, of)).json();
  const auto tokens = [](const json& rows) {
    for (const json& row : rows)
      if (row.at("purpose") == "tokens") return row;
    return json();
  };
  EXPECT_EQ(tokens(predicted.at("traffic")).at("sent_bytes"),
            tokens(seen.at("traffic")).at("sent_bytes"));
  EXPECT_EQ(tokens(predicted.at("traffic")).at("received_bytes"),
            tokens(seen.at("traffic")).at("received_bytes"));
  EXPECT_EQ(command(with_setup({"predict"}, {"--routing", file})).status, kInvalid);
  for (const char* name : {"route", "predict"}) {
    const Reply other =
        command(with_setup({name}, {"--capacity", "2", "--sequence", "32", "--routing", file}));
    EXPECT_EQ(other.status, kInvalid) << name;
    EXPECT_THAT(other.err, HasSubstr("another Setup: its capacity is 0.0, here it is 2.0")) << name;
  }
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// A sentence is its id and what stands in its places; the English is made of them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/plan/result.h"
#include "engine/plan/text/message_json.h"
#include "engine/plan/text/phrases.h"

namespace parallelarium {
namespace {

Message nested() {
  return message("test.nested", "{} waits {} s for {}.", counted_ranks(2), 0.5,
                 message("test-what", "{} of rank {}", plain("B3"), 1));
}

TEST(Message, IsItsPatternWithTheArgumentsPutIn) {
  const Message said = nested();
  EXPECT_EQ(said.text, "2 ranks waits 0.5 s for B3 of rank 1.");
  EXPECT_EQ(said.id, "test.nested");
  EXPECT_EQ(said.kind, "test");
  ASSERT_EQ(said.arguments.size(), 3u);
  EXPECT_EQ(said.arguments[0].id, "ranks");
  EXPECT_EQ(said.arguments[1].id, "figure") << "has a decimal point";
  EXPECT_EQ(said.arguments[2].arguments[0], plain("B3"));
  EXPECT_EQ(said.arguments[2].arguments[1].id, "") << "a whole number is the same everywhere";
}

TEST(Message, TakesAnArgumentWithBracesAsItStands) {
  EXPECT_EQ(message("test", "{} and {}.", "{}", "b").text, "{} and b.");
}

TEST(Message, ComesBackFromJsonWhole) {
  Message sent = nested();
  sent.kind = "passed-on";
  sent.field = "mesh.tp";
  sent.alternatives = {"2", "4"};
  EXPECT_EQ(message_from_json(to_json(sent)), sent);
  EXPECT_EQ(message_from_json(to_json(plain("GPU-5"))), plain("GPU-5"));
  EXPECT_EQ(to_json(plain("GPU-5")), "GPU-5") << "a text stays a text";
}

TEST(Message, FromAnyOtherJsonIsEmptyOrWhatCanBeRead) {
  for (const char* text : {"null", "3", "[]", "{}", R"({"id": 3, "arguments": {}})"})
    EXPECT_EQ(message_from_json(nlohmann::json::parse(text)), Message{}) << text;
  nlohmann::json deep = "x";
  for (int level = 0; level < 100; ++level)
    deep = {{"id", "a"}, {"arguments", nlohmann::json::array({deep})}};
  EXPECT_EQ(message_from_json(deep).id, "a") << "and is cut before it nests too deeply";
}

TEST(Message, StandsBesideItsTextForThoseWhoReadThat) {
  nlohmann::json json;
  put_text(json, "why", nested());
  put_text(json, "name", plain("H100"));
  EXPECT_EQ(json["why"], nested().text);
  EXPECT_EQ(message_at(json, "why"), nested());
  EXPECT_EQ(json["name"], "H100");
  EXPECT_FALSE(json.contains("name_message"));
  EXPECT_EQ(message_at(json, "name"), plain("H100"));
  EXPECT_EQ(message_at(json, "none"), Message{});
  EXPECT_EQ(message_at({{"why", nullptr}}, "why"), Message{});
}

TEST(Phrases, OfAnotherSentenceEndWithoutAFullStop) {
  const Message part = clause(nested());
  EXPECT_EQ(part.text, "2 ranks waits 0.5 s for B3 of rank 1");
  EXPECT_EQ(part.arguments, std::vector<Message>{nested()});
  EXPECT_EQ(message_from_json(to_json(part)), part);
  EXPECT_EQ(clause(counted_ranks(2)), counted_ranks(2));
  EXPECT_EQ(clause(plain("Wrong.")), plain("Wrong"));
}

TEST(Phrases, CountAndJoin) {
  EXPECT_EQ(counted_ranks(1).text, "1 rank");
  EXPECT_EQ(counted_cores(2).text, "2 cores");
  EXPECT_EQ(counted_gpus(3).text, "3 GPUs");
  EXPECT_EQ(join_or({}).text, "");
  EXPECT_EQ(join_or({"2"}).text, "2");
  EXPECT_EQ(join_or({"1", "2", "4"}).text, "1, 2 or 4");
  EXPECT_EQ(join_and({"a", "b"}).text, "a and b");
  EXPECT_EQ(listed({plain("a"), plain("b"), plain("c")}).text, "a, b, c");
  EXPECT_EQ(word("piece", "MLP in").id, "piece:MLP in");
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/wire/messages.h"
#include "engine/wire/rpc.h"

namespace parallelarium {
namespace {

using nlohmann::json;

std::vector<json> all_of(FrameReader& reader) {
  std::vector<json> messages;
  while (true) {
    Result<std::optional<json>> next = reader.next();
    EXPECT_TRUE(next.ok()) << next.error().text;
    if (!next.ok() || !next->has_value()) return messages;
    messages.push_back(std::move(**next));
  }
}

class Chunked : public testing::TestWithParam<std::size_t> {};

TEST_P(Chunked, AnyCutOfTheStreamGivesTheSameMessages) {
  const std::vector<json> sent = {{{"a", 1}},
                                  {{"text", "zwölf \r\n\r\n Content-Length: 3"}},
                                  json::object(),
                                  {{"deep", {{"list", {1, 2.5, nullptr, true}}}}}};
  std::string stream;
  for (const json& message : sent) stream += frame(message);
  FrameReader reader;
  std::vector<json> received;
  for (std::size_t at = 0; at < stream.size(); at += GetParam()) {
    reader.append(std::string_view(stream).substr(at, GetParam()));
    for (json& message : all_of(reader)) received.push_back(std::move(message));
  }
  EXPECT_EQ(received, sent);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Chunked, testing::Values(1, 2, 3, 7, 64, 4096));

TEST(FrameReader, OtherHeadersAndAnyCaseAreRead) {
  FrameReader reader;
  reader.append("Content-Type: application/json\r\ncontent-LENGTH:  2 \r\n\r\n{}");
  EXPECT_EQ(all_of(reader), std::vector<json>{json::object()});
}

class Malformed : public testing::TestWithParam<std::pair<const char*, std::string>> {};

TEST_P(Malformed, IsOneSentenceThatStays) {
  FrameReader reader;
  reader.append(GetParam().second);
  const auto first = reader.next();
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(first.error().id, GetParam().first);
  EXPECT_THAT(first.error().text, testing::EndsWith("."));
  reader.append(frame({{"fine", true}}));
  const auto again = reader.next();
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().text, first.error().text);
  EXPECT_TRUE(reader.is_lost());
}

INSTANTIATE_TEST_SUITE_P(
    Streams, Malformed,
    testing::Values(std::pair{"wire-header", std::string("hello\r\n\r\n")},
                    std::pair{"wire-no-length", std::string("\r\n\r\n{}")},
                    std::pair{"wire-no-length", std::string("X: 1\r\n\r\n{}")},
                    std::pair{"wire-length", std::string("Content-Length: -2\r\n\r\n{}")},
                    std::pair{"wire-length", std::string("Content-Length: 2x\r\n\r\n{}")},
                    std::pair{"wire-length", std::string("Content-Length:\r\n\r\n{}")},
                    std::pair{"wire-length",
                              std::string("Content-Length: 99999999999999999999999\r\n\r\n")},
                    std::pair{"wire-length-twice",
                              std::string("Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}")},
                    std::pair{"wire-too-long", std::string("Content-Length: 99999999999\r\n\r\n")},
                    std::pair{"wire-header-long", std::string(5000, 'x')}));

TEST(FrameReader, ABadBodyCostsItsOwnMessageAlone) {
  const std::pair<const char*, std::string> bodies[] = {
      {"wire-not-json", "{]"},
      {"wire-not-json", "{broken"},
      {"wire-not-json", ""},
      {"wire-not-json", "\xff"},
      {"wire-too-deep", std::string(100000, '[')}};
  const json fine = {{"fine", true}};
  FrameReader reader;
  for (const auto& [id, body] : bodies) {
    reader.append(fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body) + frame(fine));
    const auto wrong = reader.next();
    ASSERT_FALSE(wrong.ok());
    EXPECT_EQ(wrong.error().id, id);
    EXPECT_FALSE(reader.is_lost());
    EXPECT_EQ(all_of(reader), std::vector<json>{fine});
  }
  EXPECT_TRUE(reader.is_between_messages());
}

TEST(FrameReader, BracketsInsideTextAreNotNesting) {
  FrameReader reader;
  const json message = {{"text", std::string(1000, '[') + "\\\""}};
  reader.append(frame(message));
  EXPECT_EQ(all_of(reader), std::vector<json>{message});
}

TEST(Frame, TextThatIsNotUtf8IsReplacedNotThrown) {
  FrameReader reader;
  reader.append(frame({{"path", "/tmp/\xff"}}));
  EXPECT_EQ(all_of(reader).size(), 1u);
}

TEST(Message, ComesBackWhole) {
  Message sent = message("tp-heads", "TP {} does not divide {} heads; {} or {} would.", 3, 8, 2, 4);
  sent.field = "mesh.tp";
  sent.alternatives = {"2", "4"};
  const Message received = message_from_json(to_json(sent));
  EXPECT_EQ(received.id, sent.id);
  EXPECT_EQ(received.text, "TP 3 does not divide 8 heads; 2 or 4 would.");
  EXPECT_EQ(received.arguments, sent.arguments);
  EXPECT_EQ(received.field, sent.field);
  EXPECT_EQ(received.alternatives, sent.alternatives);
}

TEST(Message, AnyJsonIsReadWithoutHarm) {
  for (const json& wrong : {json(), json(3), json::array(), json{{"id", 3}, {"arguments", "x"}}})
    EXPECT_EQ(message_from_json(wrong).text, "");
}

TEST(Rpc, RequestsAndNotificationsAreTold) {
  const auto call = rpc_request_from_json(rpc_request(7, "run", {{"verify", true}}));
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(call->id, 7);
  EXPECT_EQ(call->method, "run");
  EXPECT_EQ(call->params.at("verify"), true);
  EXPECT_FALSE(call->is_notification());
  const auto note = rpc_request_from_json(rpc_notification("$/cancelRequest", {{"id", 7}}));
  ASSERT_TRUE(note.ok());
  EXPECT_TRUE(note->is_notification());
}

TEST(Rpc, WhatIsNoRequestGetsOneSentence) {
  for (const json& wrong :
       {json(3), json::array({json::object()}), json::object(), json{{"jsonrpc", "1.0"}},
        json{{"jsonrpc", "2.0"}}, json{{"jsonrpc", "2.0"}, {"method", 3}},
        json{{"jsonrpc", "2.0"}, {"method", "run"}, {"id", json::array()}},
        json{{"jsonrpc", "2.0"}, {"method", "run"}, {"id", 1}, {"params", 5}}}) {
    const auto request = rpc_request_from_json(wrong);
    ASSERT_FALSE(request.ok()) << wrong;
    EXPECT_THAT(request.error().text, testing::EndsWith("."));
  }
}

TEST(Rpc, ErrorsCarryTheWholeMessage) {
  Message why = message("tp-heads", "TP {} is wrong.", 3);
  why.field = "mesh.tp";
  const json error = rpc_error(4, RpcCode::kInvalidParams, why);
  EXPECT_EQ(error["error"]["code"], -32602);
  EXPECT_EQ(error["error"]["message"], "TP 3 is wrong.");
  EXPECT_EQ(message_from_json(error["error"]["data"]).field, "mesh.tp");
}

}  // namespace
}  // namespace parallelarium

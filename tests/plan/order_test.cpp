// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/order/order.h"

#include <gtest/gtest.h>

namespace parallelarium {
namespace {

Order read(std::string_view text) {
  auto order = order_from_text(text);
  EXPECT_TRUE(order.ok()) << order.error().text;
  return order.ok() ? *order : Order{};
}

std::string fault(std::string_view text) {
  const auto messages = check_order(read(text));
  return messages.empty() ? "" : messages.front().kind + ": " + messages.front().text;
}

TEST(OrderText, ReadsWhatItWrites) {
  for (const char* text : {
           "F0 B0\n",
           "F0 F1 I0 W0 I1 W1\nF0 I0 F1 W0 I1 W1\n",
           "F0.0 F0.1 B0.1 B0.0\n",
           "F0 (F1+B0) B1\n",
           "F0.0 F1.0 F0.1 (F1.1+B0.1) B0.0 B1.1 B1.0\n",
       }) {
    const Order order = read(text);
    EXPECT_EQ(to_text(order), text);
    const auto again = order_from_pytorch(to_pytorch(order));
    ASSERT_TRUE(again.ok()) << to_pytorch(order);
    EXPECT_EQ(*again, order) << to_pytorch(order);
  }
}

// As DualPipe's: what a chunk is called does not follow from the order of the stages alone.
TEST(OrderText, ReadsFromPyTorchWhatHoldsStagesTwice) {
  for (const char* text : {
           "F0.0 F1.1 B1.1 B0.0\nF1.1 F0.0 B0.0 B1.1\n",
           "F0.0 B0.0 F1.1 B1.1\nF0.0 B0.0 F1.1 B1.1\nF0.0 B0.0 F1.1 B1.1\nF0.0 B0.0 F1.1 B1.1\n",
       }) {
    const Order order = read(text);
    ASSERT_TRUE(check_order(order).empty()) << check_order(order).front().text;
    ASSERT_EQ(order.stages, static_cast<int>(order.ranks.size())) << text;
    const auto again = order_from_pytorch(to_pytorch(order));
    ASSERT_TRUE(again.ok()) << to_pytorch(order);
    EXPECT_EQ(*again, order) << to_pytorch(order);
  }
}

TEST(OrderText, SkipsIdleCellsAndBlankLines) {
  EXPECT_EQ(read("\nF0 F1 .. _ B0 B1\r\n\n.. F0 B0 F1 B1\n"), read("F0 F1 B0 B1\nF0 B0 F1 B1"));
}

TEST(OrderText, ReadsPyTorch) {
  const auto order = order_from_pytorch("0F0,2F0,,(0F1;2B0)OVERLAP_F_B,0I0\n1F0,3F0,3B0,1W0");
  ASSERT_TRUE(order.ok());
  EXPECT_EQ(order->stage_of, (std::vector<std::vector<int>>{{0, 2}, {1, 3}}));
  EXPECT_EQ(order->stages, 4);
  EXPECT_EQ(to_text(*order), "F0.0 F0.1 (F1.0+B0.1) I0.0\nF0.0 F0.1 B0.1 W0.0\n");
}

TEST(OrderText, NamesLineAndWordOfAnError) {
  for (const char* word : {"G0", "F", "F-1", "F0.", "F1.x", "(F0+B0", "F0+B0)", "(F0)", "0F0",
                           "F99999999999", "F0B0", "(F0+B0)x"}) {
    const auto order = order_from_text(std::string("F0 B0\nF0 ") + word);
    ASSERT_FALSE(order.ok()) << word;
    EXPECT_NE(order.error().text.find("Line 2"), std::string::npos) << order.error().text;
    EXPECT_NE(order.error().text.find(word), std::string::npos) << order.error().text;
  }
  EXPECT_FALSE(order_from_text("").ok());
  EXPECT_FALSE(order_from_text(".. ..").ok() && check_order(*order_from_text(".. ..")).empty());
  EXPECT_FALSE(order_from_pytorch("0F0,0SEND_F0").ok());
  EXPECT_FALSE(order_from_pytorch("0F0,2F0\n1F0").ok());
}

TEST(CheckOrder, FindsMissingAndDoubledWork) {
  EXPECT_EQ(fault("F0 B0\nF0 B0"), "");
  EXPECT_EQ(fault("F0 I0 W0\nF0 B0"), "");
  EXPECT_NE(fault("F0\nF0 B0").find("B0 of stage 0 is missing."), std::string::npos);
  EXPECT_NE(fault("B0\nF0 B0").find("F0 of stage 0 is missing"), std::string::npos);
  EXPECT_NE(fault("F0 I0\nF0 B0").find("W0 of stage 0 is missing"), std::string::npos);
  EXPECT_NE(fault("F0 F0 B0\nF0 B0").find("order-doubled: F0 of stage 0"), std::string::npos);
  EXPECT_NE(fault("F0 B0 I0 W0\nF0 B0").find("order-both"), std::string::npos);
  EXPECT_NE(fault("F0 F1 B0\nF0 B0 F1 B1").find("B1 of stage 0"), std::string::npos);
}

TEST(CheckOrder, FindsWorkBeforeWhatItNeedsOnTheSameRank) {
  EXPECT_NE(fault("B0 F0").find("B0 of stage 0 stands before F0 of stage 0"), std::string::npos);
  EXPECT_NE(fault("F0 W0 I0").find("W0 of stage 0 stands before I0 of stage 0"), std::string::npos);
  EXPECT_NE(fault("F0.1 F0.0 B0.1 B0.0").find("F0.1 of rank 0 stands before F0.0"),
            std::string::npos);
  EXPECT_NE(fault("(F0+B0)").find("cannot overlap"), std::string::npos);
}

TEST(CheckOrder, TellsMissingAndEarlyWorkInOneVerdict) {
  const auto order = order_from_text("F0 B0 B1 F1\nF0 B0 F1\n");
  ASSERT_TRUE(order.ok());
  const std::vector<Message> wrong = check_order(*order);
  ASSERT_EQ(wrong.size(), 2u);
  EXPECT_EQ(wrong[0].text, "B1 of stage 1 is missing.");
  EXPECT_EQ(wrong[1].text, "B1 of stage 0 stands before F1 of stage 0, which it needs.");
}

// Rank 0 holds both stages, so nothing is missing where rank 1, which holds them too, does nothing.
TEST(CheckOrder, RefusesARankThatDoesNothing) {
  EXPECT_EQ(fault("F0.0 F0.1 B0.1 B0.0\n.. _\n"), "order-idle: Rank 1 does nothing; give it work.");
  EXPECT_EQ(
      fault("F0.0 F0.1 B0.1 B0.0 F1.1 B1.1\nF1.1 B1.1\n"),
      "order-idle: Rank 1 does nothing in its chunk 0, which is stage 1; give it work there.");
}

// Chunks folded like a V, and stages held by two ranks, are told from the order itself.
TEST(OrderText, FindsThePlacementThatTheOrderIsRightWith) {
  const auto folded = order_from_text(
      "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 B0.0 B1.0\n"
      "F0.0 F0.1 F1.0 F1.1 B0.1 B0.0 B1.1 B1.0\n");
  ASSERT_TRUE(folded.ok());
  EXPECT_TRUE(check_order(*folded).empty());
  EXPECT_EQ(folded->stage_of, (std::vector<std::vector<int>>{{0, 3}, {1, 2}}));
  const auto mirrored = order_from_text("F0.0 F1.1 B1.1 B0.0\nF1.1 F0.0 B0.0 B1.1\n");
  ASSERT_TRUE(mirrored.ok());
  EXPECT_TRUE(check_order(*mirrored).empty());
  EXPECT_EQ(mirrored->stage_of, (std::vector<std::vector<int>>{{0, 1}, {1, 0}}));
  const auto looped = order_from_text("F0.0 F0.1 B0.1 B0.0\nF0.0 F0.1 B0.1\n");
  ASSERT_TRUE(looped.ok());
  EXPECT_FALSE(check_order(*looped).empty());
}

TEST(OrderText, IsReadAsEditorsAndTablesWriteIt) {
  const auto plain = order_from_either("0F0,0B0\n1F0,1B0\n");
  ASSERT_TRUE(plain.ok());
  for (const char* text : {"\xEF\xBB\xBF"
                           "0F0,0B0\n1F0,1B0\n",
                           "\"0F0\",\"0B0\"\r\n\"1F0\",\"1B0\"\r\n",
                           "\xEF\xBB\xBF"
                           "F0 B0\nF0 B0\n"}) {
    const auto read = order_from_either(text);
    ASSERT_TRUE(read.ok()) << read.error().text;
    EXPECT_EQ(read->ranks, plain->ranks);
  }
}

TEST(CheckOrder, SaysOnceThatAStageIsHeldByNobody) {
  const auto order = order_from_pytorch("0F0,0B0\n2F0,2B0\n");
  ASSERT_TRUE(order.ok());
  const std::vector<Message> wrong = check_order(*order);
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong[0].text, "No rank holds stage 1.");
}

TEST(CheckOrder, NamesTheCircleRankByRank) {
  // Rank 1 wants to give back micro-batch 1 before it has received it; rank 0 sends it only after
  // it got the gradient of micro-batch 0.
  EXPECT_EQ(
      fault("F0 B0 F1 B1\nF0 F1 B1 B0"),
      "order-circle: The ranks wait for each other in a circle: stage 0 stands at B0 and waits "
      "for B0 of stage 1, stage 1 stands at F1 and waits for F1 of stage 0.");
  // Three ranks, all in the circle.
  const std::string three = fault("F0 B0 F1 B1\nF0 F1 B0 B1\nF0 B0 F1 B1");
  EXPECT_NE(three.find("order-circle"), std::string::npos) << three;
}

TEST(CheckOrder, TellsWhatIsMissingWhatIsEarlyAndTheCircleTogether) {
  const Result<Order> order = order_from_text("F0 B0 F1 B1 F2 B2 F3 B3\nF0 F1 B1 B0 B2 F2 F3\n");
  ASSERT_TRUE(order.ok());
  std::vector<std::string> ids;
  for (const Message& wrong : check_order(*order)) ids.push_back(wrong.kind);
  EXPECT_EQ(ids, (std::vector<std::string>{"order-circle", "order-missing", "order-before"}));
  // Work in the wrong place of its own line alone is no circle.
  EXPECT_EQ(fault("F0 F1 B0 B1\nF0 B0 B1 F1").find("circle"), std::string::npos);
  EXPECT_EQ(check_order(*order_from_text("F0 F1 B0 B1\nF0 B0 B1 F1\n")).size(), 1U);
}

TEST(CheckOrder, RefusesNumbersOutsideTheOrder) {
  Order order = read("F0 B0");
  order.ranks[0][0].microbatch = 7;
  EXPECT_FALSE(check_order(order).empty());
  order = read("F0 B0");
  order.ranks[0][1].overlapped_with_next = true;
  EXPECT_FALSE(check_order(order).empty());
  order = read("F0 B0");
  order.stage_of[0][0] = 3;
  EXPECT_FALSE(check_order(order).empty());
  // A number that would need much memory is answered without taking it.
  EXPECT_NE(fault("F1000000 B1000000").find("F0 of stage 0 is missing"), std::string::npos);
}

}  // namespace
}  // namespace parallelarium

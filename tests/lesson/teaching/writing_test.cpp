// SPDX-License-Identifier: Apache-2.0
// What lessons are written in: expressions, the schema, texts and their Markdown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/lesson/lesson.h"
#include "engine/lesson/schema.h"
#include "tests/lesson/lesson_copy.h"

namespace parallelarium {
namespace {

using nlohmann::json;

// --- expressions ---

TEST(Expression, FollowsTheUsualRules) {
  const Symbols symbols = {{"p", 4}, {"m", 8}};
  const std::pair<const char*, double> cases[] = {
      {"(p - 1) / (m + p - 1)", 3.0 / 11},
      {"2 + 3 * 4 ^ 2", 50},
      {"2 ^ 3 ^ 2", 512},
      {"-2 ^ 2", -4},
      {"10 - 4 - 3", 3},
      {"16 / 4 / 2", 2},
      {"7 % 4", 3},
      {"min(p, m) + max(p, m)", 12},
      {"ceil(0.2) + floor(1.8) + round(2.5) + abs(-1) + sqrt(9) + log2(8)", 12},
      {"p < m && m <= 8 || 0", 1},
      {"p == 4 && p != 4", 0},
      {"p >= 5 || m > 7", 1},
      {" .5e1 ", 5},
  };
  for (const auto& [text, value] : cases) {
    const Result<double> found = evaluate(text, symbols);
    ASSERT_TRUE(found) << text;
    EXPECT_DOUBLE_EQ(*found, value) << text;
  }
}

TEST(Expression, RefusesWhatItCannotRead) {
  const Symbols symbols = {{"p", 4}};
  for (const std::string text : {"", "(", "1 +", "p p", "q", "min(1)", "min(1,2", "system(1)",
                                 "1 / 0", "log2(0)", "1..2", "p;p", "\xff", "p=4"})
    EXPECT_FALSE(evaluate(text, symbols)) << text;
  EXPECT_FALSE(evaluate(std::string(100, '('), symbols));
  EXPECT_FALSE(evaluate(std::string(150, '-') + "1", symbols));
  EXPECT_FALSE(evaluate(std::string(kMostExpressionBytes + 1, '1'), symbols));
  EXPECT_THAT(evaluate("q", symbols).error().text, testing::HasSubstr("known are p"));
}

// --- schema ---

TEST(Schema, UsesOnlyKeywordsThatAreUnderstood) {
  const Result<json> schema = lesson_schema();
  ASSERT_TRUE(schema);
  const json document =
      json::parse(content_of(shipped_lessons() + "/filling-the-bubble/lesson.json"));
  EXPECT_TRUE(validate_json(document, *schema));
  const Result<void> unknown = validate_json(1, {{"multipleOf", 2}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().id, "schema-keyword");
}

TEST(Schema, EveryKeywordRefusesAndAccepts) {
  struct Case {
    json schema, good, bad;
  };
  const Case cases[] = {
      {{{"type", "integer"}}, 3, 3.5},
      {{{"type", "number"}}, 3.5, "3"},
      {{{"type", "boolean"}}, true, 1},
      {{{"const", "a"}}, "a", "b"},
      {{{"enum", {"<", ">"}}}, "<", "="},
      {{{"minimum", 1}, {"maximum", 2}}, 1.5, 2.1},
      {{{"minLength", 2}, {"maxLength", 3}}, "äöü", "äöüß"},
      {{{"pattern", "^[a-z]+$"}, {"maxLength", 9}}, "abc", "a1"},
      {{{"minItems", 1}, {"maxItems", 2}}, json::array({1}), json::array()},
      {{{"items", {{"type", "string"}}}}, json::array({"a"}), json::array({"a", 1})},
      {{{"required", {"a"}}}, {{"a", 1}}, {{"b", 1}}},
      {{{"properties", {{"a", {{"type", "number"}}}}}, {"additionalProperties", false}},
       {{"a", 1}},
       {{"a", 1}, {"b", 1}}},
      {{{"propertyNames", {{"pattern", "^x"}}}}, {{"xa", 1}}, {{"a", 1}}},
      {{{"minProperties", 1}, {"maxProperties", 1}}, {{"a", 1}}, {{"a", 1}, {"b", 2}}},
      {{{"anyOf", {{{"type", "string"}}, {{"type", "number"}}}}}, 1, true},
      {{{"allOf", {{{"minimum", 1}}, {{"maximum", 3}}}}}, 2, 4},
      {{{"if", {{"const", 1}}}, {"then", {{"type", "string"}}}}, 2, 1},
      {{{"$ref", "#/$defs/a"}, {"$defs", {{"a", {{"type", "string"}}}}}}, "x", 1},
  };
  for (const Case& one : cases) {
    EXPECT_TRUE(validate_json(one.good, one.schema)) << one.schema << one.good;
    EXPECT_FALSE(validate_json(one.bad, one.schema)) << one.schema << one.bad;
  }
}

TEST(Schema, SentencesNameThePlace) {
  LessonCopy copy;
  copy.object["steps"][1]["ask"]["unit"] = "miles";
  copy.write();
  const Result<Lesson> lesson = read_lesson(copy.folder().string());
  ASSERT_FALSE(lesson);
  EXPECT_THAT(lesson.error().text, testing::HasSubstr("\"steps.1.ask.unit\" must be one of"));
}

// --- texts ---

TEST(Text, PutsNumbersInWithTheirUnits) {
  const Symbols symbols = {{"p", 4}, {"m", 8}};
  const Result<std::string> filled =
      fill_in("{{p}} of {{ m + p }}: {{share: (p - 1) / (m + p - 1)}}", symbols);
  ASSERT_TRUE(filled);
  EXPECT_EQ(*filled, "4 of 12: 27.3\u00a0%");
  EXPECT_FALSE(fill_in("{{miles: p}}", symbols));
  EXPECT_FALSE(fill_in("{{q}}", symbols));
  EXPECT_FALSE(fill_in("{{p", symbols));
  EXPECT_EQ(write_number(0.0857, "share"), "8.57\u00a0%");
  EXPECT_EQ(write_number(0.5, "share"), "50.0\u00a0%");
  EXPECT_EQ(write_number(3 * 1048576.0, "bytes"), "3.00\u00a0MiB");
  EXPECT_EQ(write_number(0.0841, "seconds"), "84.1\u00a0ms");
  EXPECT_EQ(write_number(2.5, "seconds"), "2.50\u00a0s");
}

TEST(Text, ALineForEachThingThatOneCanDoFollowsTheParagraph) {
  const Result<LessonText> text = lesson_text_from(
      "# T\n\nOne paragraph,\non two lines.\n\n- tell a\n- do b\n\n## a: A\n\n- x\n");
  ASSERT_TRUE(text);
  EXPECT_EQ(text->summary, "One paragraph,\non two lines.");
  EXPECT_EQ(text->afterwards, (std::vector<std::string>{"tell a", "do b"}));
  EXPECT_EQ(text->steps.at("a").body, "- x");
}

TEST(Text, HeadingsInCodeAreNotHeadings) {
  const Result<LessonText> text =
      lesson_text_from("# T\n\nS.\n\n## a: A\n\n```\n## not a step\n```\n");
  ASSERT_TRUE(text);
  EXPECT_EQ(text->order, std::vector<std::string>{"a"});
  EXPECT_THAT(text->steps.at("a").body, testing::HasSubstr("## not a step"));
}

TEST(Text, RefusesOtherForms) {
  for (const char* text :
       {"", "words", "## a: A\n", "# T\n# T\n", "# T\n## a\n", "# T\n## A: A\n", "# T\n### right\n",
        "# T\n## a: A\n### rite\n", "# T\n## a: A\n## a: A\n",
        "# T\n## a: A\n### right\n### right\n", "# T\n```\n"})
    EXPECT_FALSE(lesson_text_from(text)) << text;
}

TEST(Markdown, CodeMayHoldWhatTextMayNot) {
  EXPECT_TRUE(markdown_faults("Write `$p$` or `__init__`.\n\n```\n<img> $a$ {#x}\n```\n").empty());
  EXPECT_TRUE(markdown_faults("H<sub>2</sub>O and <b>bold</b>, 3 * 4").empty());
  EXPECT_FALSE(markdown_faults("<u>x</u>").empty());
}

}  // namespace
}  // namespace parallelarium

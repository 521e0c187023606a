// SPDX-License-Identifier: GPL-3.0-or-later
// Every sentence of the engine has its German, with the same in its places.
// tests/sentences/sentences.py holds the catalogue to the code.
#include <gtest/gtest.h>

#include <QFile>
#include <QRegularExpression>
#include <nlohmann/json.hpp>

#include "app/look/sentence.h"
#include "engine/collectives/collective.h"
#include "engine/plan/program/timeline.h"
#include "engine/plan/text/message_json.h"
#include "engine/plan/text/phrases.h"
#include "tests/app/window/texts/german.h"

namespace parallelarium {
namespace {

nlohmann::json catalogue() {
  QFile file(QStringLiteral(":/sentences.json"));
  EXPECT_TRUE(file.open(QIODevice::ReadOnly));
  return nlohmann::json::parse(file.readAll().toStdString());
}

// The sentence `id` with «0», «1» … in its places.
Message played(const std::string& id, const std::string& english) {
  std::vector<Message> arguments;
  for (std::size_t at = 0; (at = english.find("{}", at)) != std::string::npos; at += 2)
    arguments.push_back(plain("«" + std::to_string(arguments.size()) + "»"));
  return make_message(id, english, std::move(arguments));
}

// Whether there is a word in it that German would have otherwise: not a place, a name or a symbol.
bool has_words(QString text) {
  text.remove(QRegularExpression(QStringLiteral("\\{\\d*\\}")));
  return text.contains(QRegularExpression(QStringLiteral("[a-z]{3}")));
}

TEST(GermanSentences, AreThereForAllAndKeepWhatStandsInTheirPlaces) {
  const German german;
  const nlohmann::json all = catalogue();
  EXPECT_GT(all.size(), 700u);
  for (const auto& [id, texts] : all.items()) {
    const Message english = played(id, texts.at("en"));
    const QString said = sentence(english);
    for (const Message& argument : english.arguments)
      EXPECT_EQ(said.count(QString::fromStdString(argument.text)), 1)
          << id << ": " << said.toStdString();
    EXPECT_FALSE(said.contains(QLatin1String("{}"))) << id;
    const bool whole = english.text.ends_with('.');
    EXPECT_EQ(whole, said.endsWith(QLatin1Char('.'))) << id << ": " << said.toStdString();
    if (id.find(':') == std::string::npos && has_words(QString::fromStdString(texts.at("en")))) {
      EXPECT_NE(said, QString::fromStdString(english.text)) << id;
    }
  }
}

TEST(GermanSentences, AreThereForTheWordsOfThePlanAndTextsOfTables) {
  const nlohmann::json all = catalogue();
  int seen = 0;
  const auto expect = [&](const Message& message) {
    ++seen;
    ASSERT_TRUE(all.contains(message.id)) << message.id;
    EXPECT_EQ(all[message.id]["en"], message.text);
    EXPECT_FALSE(all[message.id].value("de", "").empty()) << message.id;
  };
  const auto each = [&](const char* family, auto last) {
    using Names = decltype(last);
    for (int at = 0; at <= static_cast<int>(last); ++at)
      expect(word(family, name_of(static_cast<Names>(at))));
  };
  for (int at = 0; at < kCollectiveKinds; ++at) {
    std::string name(name_of(static_cast<CollectiveKind>(at)));
    std::replace(name.begin(), name.end(), '_', '-');  // as describe() says it
    expect(word("collective", name));
  }
  each("purpose", Purpose::kCounts);
  each("piece", static_cast<Piece>(kPieces - 1));
  each("phase", Phase::kUpdate);
  each("tensor", Tensor::kResult);
  each("parameter", Parameter::kHeadWeight);
  for (int at = 0; at <= static_cast<int>(Source::kSharedGpu); ++at)
    expect(word("source", spoken_name(static_cast<Source>(at))));
  for (const AlgorithmInfo& info : collective_algorithms()) {
    expect(title_of(info));
    expect(summary_of(info));
  }
  int in_tables = 0;
  for (const auto& [id, texts] : all.items()) in_tables += id.find(':') != std::string::npos;
  EXPECT_EQ(seen, in_tables) << "no more are in the catalogue than are said";
}

TEST(GermanSentences, TranslateWhatStandsInsideAndTheDecimalPoint) {
  const Message late = message("rehearsal-late",
                               "Other work kept the cores: ops of the rehearsal began or ended "
                               "late, so that its times are off by a factor of {}.",
                               figure("1.25"));
  const Message said = message("backend", "{} on {}: {}", counted_ranks(4), counted_cores(2),
                               word("source", spoken_name(Source::kPaced)));
  EXPECT_EQ(sentence(late), QString::fromStdString(late.text)) << "English without a translator";
  const German german;
  EXPECT_EQ(sentence(late),
            QStringLiteral("Andere Arbeit hielt die Kerne: Ops der Probe begannen oder "
                           "endeten zu spät, sodass ihre Zeiten um den Faktor 1,25 "
                           "abweichen."));
  EXPECT_EQ(sentence(said), QStringLiteral("4 Ränge auf 2 Kernen: geprobt"));
  EXPECT_EQ(sentence(message_from_json(to_json(said))), sentence(said)) << "from the engine, too";
}

TEST(GermanSentences, EndWithoutAFullStopInsideOfAnother) {
  const German german;
  const Message full = message("gpu-none-chosen", "No GPU was chosen.");
  EXPECT_EQ(sentence(message("found-in", "{}: {}", "A", clause(full))),
            QStringLiteral("A: Es wurde keine GPU gewählt"));
}

TEST(GermanSentences, PutArgumentsWhereTheLanguageWantsThem) {
  const German german;
  EXPECT_EQ(sentence(message("hang.arrive", "Rank {} did not arrive at {} within {} s.", 3,
                             plain("B2"), 20)),
            QStringLiteral("Rang 3 kam nicht innerhalb von 20 s bei B2 an."));
}

TEST(GermanSentences, LeaveWhatNobodyTranslated) {
  const German german;
  EXPECT_EQ(sentence(plain("NVIDIA H100 1.5")), QStringLiteral("NVIDIA H100 1.5"));
  EXPECT_EQ(sentence(make_message("of-a-newer-engine", "Something {}.", {plain("new")})),
            QStringLiteral("Something new."));
}

}  // namespace
}  // namespace parallelarium

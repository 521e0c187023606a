// SPDX-License-Identifier: GPL-3.0-or-later
// The glossary: its data, its reader, the words of a text, and the sheet that shows it.
#include "app/look/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QSet>
#include <QSignalSpy>
#include <QTest>
#include <QTextDocument>
#include <QToolButton>
#include <nlohmann/json.hpp>

#include "app/lesson/text_words.h"
#include "app/sheets/words_sheet.h"
#include "engine/lesson/lesson.h"
#include "engine/wire/view_ids.h"
#include "tests/app/window/texts/german.h"

namespace parallelarium {
namespace {

const std::string kCourse = PARALLELARIUM_SOURCE_DIR "/lessons";

QByteArray file_of_words() {
  QFile file(QStringLiteral(":/words.json"));
  EXPECT_TRUE(file.open(QIODevice::ReadOnly));
  return file.readAll();
}

const std::map<QString, Glossary>& both() {
  static const Result<std::map<QString, Glossary>> all = read_glossaries(file_of_words());
  EXPECT_TRUE(all) << all.error().text;
  return *all;
}

QSet<QString> lessons_of_course() {
  QSet<QString> ids;
  const Result<Course> course = read_course(kCourse);
  EXPECT_TRUE(course);
  if (course)
    for (const CourseEntry& entry : course->lessons) ids << QString::fromStdString(entry.id);
  return ids;
}

// Every word in small letters: heads, their parts, and what lesson texts write.
QSet<QString> known_words(const Glossary& glossary) {
  QSet<QString> known;
  for (const Term& term : glossary.words) {
    known << term.word.toLower();
    for (const QString& part : term.word.split(QStringLiteral(", "))) known << part.toLower();
    for (const QString& spelling : term.in_text) known << spelling.toLower();
  }
  return known;
}

TEST(Glossary, HasEveryEntryInBothLanguagesAndOnce) {
  ASSERT_EQ(both().size(), 2u);
  const QSet<QString> lessons = lessons_of_course();
  for (const auto& [language, glossary] : both()) {
    EXPECT_GE(glossary.words.size(), 70u);
    QSet<QString> ids, heads, spellings;
    for (const Term& term : glossary.words) {
      SCOPED_TRACE((language + QLatin1Char(' ') + term.id).toStdString());
      EXPECT_FALSE(ids.contains(term.id));
      EXPECT_FALSE(heads.contains(term.word.toLower()));
      ids << term.id;
      heads << term.word.toLower();
      EXPECT_TRUE(term.meaning.endsWith(QLatin1Char('.')));
      EXPECT_TRUE(term.lesson.isEmpty() || lessons.contains(term.lesson));
      EXPECT_FALSE(term.source.isEmpty());
      EXPECT_FALSE(term.formula.isEmpty() && term.view.isEmpty()) << "neither formula nor picture";
      EXPECT_TRUE(term.view.isEmpty() || is_view_id(term.view.toStdString()));
      for (const QString& spelling : term.in_text) {
        EXPECT_FALSE(spellings.contains(spelling.toLower())) << spelling.toStdString();
        spellings << spelling.toLower();
      }
    }
  }
}

TEST(Glossary, SaysInGermanWhatItSaysInEnglish) {
  const Glossary &english = both().at(QStringLiteral("en")),
                 &german = both().at(QStringLiteral("de"));
  for (const Term& term : english.words) {
    const Term* other = german.find(term.id.toStdString());
    ASSERT_NE(other, nullptr);
    EXPECT_NE(term.meaning, other->meaning);
    EXPECT_TRUE(term.source == other->source || term.source.startsWith(QLatin1String("A word of")));
    EXPECT_EQ(term.view, other->view);
    EXPECT_EQ(term.formula.isEmpty(), other->formula.isEmpty());
  }
  ASSERT_EQ(english.alike.size(), german.alike.size());
  for (std::size_t at = 0; at < english.alike.size(); ++at) {
    ASSERT_EQ(english.alike[at].meanings.size(), german.alike[at].meanings.size());
    for (std::size_t one = 0; one < english.alike[at].meanings.size(); ++one)
      EXPECT_NE(english.alike[at].meanings[one].meaning, german.alike[at].meanings[one].meaning);
  }
}

TEST(Glossary, TellsApartWhatIsCalledAlike) {
  QStringList words;
  for (const AlikeTerm& alike : both().at(QStringLiteral("en")).alike) {
    words << alike.word;
    QSet<QString> meanings;
    for (const AlikeTerm::Meaning& meaning : alike.meanings) meanings << meaning.meaning;
    EXPECT_EQ(std::size_t(meanings.size()), alike.meanings.size()) << alike.word.toStdString();
  }
  for (const char* word : {"SP", "B", "bubble", "f, g, ḡ and f with a bar"})
    EXPECT_TRUE(words.contains(QString::fromUtf8(word))) << word;
}

// What a formula says is a claim of somebody, or a lesson shows it.
TEST(Glossary, NamesASourceOrALessonForEveryFormula) {
  for (const Term& term : both().at(QStringLiteral("en")).words) {
    if (term.formula.isEmpty() || term.id == QLatin1String("mesh")) continue;
    EXPECT_FALSE(term.source.isEmpty() && term.lesson.isEmpty()) << term.id.toStdString();
  }
}

TEST(Glossary, HasTheWordsThatTheWindowUses) {
  const QSet<QString> known = known_words(both().at(QStringLiteral("en")));
  for (const char* word : {"Bubble of whole step",
                           "Peak memory",
                           "Loss",
                           "Bus bandwidth",
                           "Algorithm bandwidth",
                           "Dropped",
                           "Fullest rank / mean",
                           "Bytes per parameter",
                           "Sent",
                           "predicted",
                           "measured",
                           "rehearsed",
                           "counted",
                           "set",
                           "oversubscribed",
                           "assumed rates",
                           "pt",
                           "Prove it",
                           "Pin",
                           "lower bound at peak rates",
                           "critical path",
                           "World size",
                           "throughput",
                           "residual stream",
                           "Placement",
                           "Recipe"})
    EXPECT_TRUE(known.contains(QString::fromLatin1(word).toLower())) << word;
}

// A lesson introduces a word in bold letters. Names of controls begin with a capital, questions end
// with a mark; and some bold words are stressed, not introduced.
TEST(Glossary, HasTheWordsThatLessonsIntroduce) {
  const QSet<QString> stressed{QStringLiteral("circle"),
                               QStringLiteral("none"),
                               QStringLiteral("least"),
                               QStringLiteral("compute"),
                               QStringLiteral("computes"),
                               QStringLiteral("half as fast"),
                               QStringLiteral("update"),
                               QStringLiteral("measure"),
                               QStringLiteral("copy"),
                               QStringLiteral("shared out"),
                               QStringLiteral("holds"),
                               QStringLiteral("free"),
                               QStringLiteral("the same 8 sequences"),
                               QStringLiteral("of the whole step"),
                               QStringLiteral("step"),
                               QStringLiteral("layers"),
                               QStringLiteral("calibrates"),
                               QStringLiteral("add up in fp32")};
  const QSet<QString> known = known_words(both().at(QStringLiteral("en")));
  const QRegularExpression bold(QStringLiteral("\\*\\*([^*]+)\\*\\*"));
  const QRegularExpression control(QStringLiteral("^\\p{Lu}[\\p{Ll}' ]"));
  int introduced = 0;
  for (const QString& id : lessons_of_course()) {
    QFile file(QString::fromStdString(kCourse) + QLatin1Char('/') + id +
               QStringLiteral("/text.en.md"));
    ASSERT_TRUE(file.open(QIODevice::ReadOnly)) << id.toStdString();
    const QString text = QString::fromUtf8(file.readAll());
    for (auto found = bold.globalMatch(text); found.hasNext();) {
      const QString word = found.next().captured(1);
      if (QStringView(u".?!").contains(word.back()) || control.match(word).hasMatch()) continue;
      if (stressed.contains(word)) continue;
      ++introduced;
      EXPECT_TRUE(known.contains(word.toLower())) << id.toStdString() << ": " << word.toStdString();
    }
  }
  EXPECT_GT(introduced, 50);
}

TEST(Glossary, IsTaughtByEveryLessonOfTheCourse) {
  QSet<QString> teaching;
  for (const Term& term : both().at(QStringLiteral("en")).words) teaching << term.lesson;
  for (const QString& lesson : lessons_of_course())
    EXPECT_TRUE(teaching.contains(lesson)) << lesson.toStdString();
}

TEST(Glossary, ComesInTheLanguageOfTheWindow) {
  const QString english = meaning_of("bubble");
  ASSERT_FALSE(english.isEmpty());
  EXPECT_TRUE(meaning_of("no such word").isEmpty());
  EXPECT_TRUE(meaning_of("").isEmpty());
  {
    const German german;
    EXPECT_NE(meaning_of("bubble"), english);
    EXPECT_FALSE(meaning_of("bubble").isEmpty());
  }
  const QLocale before;
  QLocale::setDefault(QLocale(QLocale::French, QLocale::France));
  EXPECT_EQ(meaning_of("bubble"), english);
  QLocale::setDefault(before);
}

TEST(Glossary, TellsWhichEntryLacksWhat) {
  const auto told = [](const nlohmann::json& all) {
    const auto read = read_glossaries(QByteArray::fromStdString(all.dump()));
    return read ? std::string("read") : read.error().text;
  };
  const nlohmann::json whole = nlohmann::json::parse(file_of_words().toStdString());
  EXPECT_EQ(told(whole), "read");
  nlohmann::json all = whole;
  all["words"][0]["meaning"].erase("de");
  EXPECT_THAT(told(all),
              testing::AllOf(testing::HasSubstr("\"rank\""), testing::HasSubstr("\"meaning\""),
                             testing::HasSubstr("de")));
  all = whole;
  all["words"][1]["id"] = "rank";
  EXPECT_THAT(told(all), testing::HasSubstr("\"rank\" twice"));
  all = whole;
  all["words"][0].erase("id");
  EXPECT_THAT(told(all), testing::HasSubstr("\"id\""));
  all = whole;
  all["words"][0]["in_text"] = "rank";
  EXPECT_THAT(told(all), testing::HasSubstr("\"in_text\""));
  all = whole;
  all["alike"][0]["meanings"].erase(0);
  all["alike"][0]["meanings"].erase(0);
  EXPECT_THAT(told(all), testing::HasSubstr("\"meanings\""));
  all = whole;
  all.erase("alike");
  EXPECT_THAT(told(all), testing::HasSubstr("\"alike\""));
  EXPECT_THAT(told(nlohmann::json{{"format", "other/1"}}), testing::HasSubstr("format"));
  EXPECT_FALSE(read_glossaries("{ no JSON"));
  EXPECT_FALSE(read_glossaries("[]"));
}

// The ids of the words that are found, in the order of the text.
QStringList found_in(const QString& markdown, const QString& untold = {}) {
  QTextDocument document;
  document.setMarkdown(markdown);
  QStringList ids;
  for (const TextWord& place : words_in(document, both().at(QStringLiteral("en")), untold))
    ids << place.word->id;
  return ids;
}

TEST(TextWords, AreFoundOnceAndWholeAndTheLongestFirst) {
  using List = QStringList;
  EXPECT_EQ(found_in(QStringLiteral("A rank waits. Another rank, and all ranks.")),
            List{QStringLiteral("rank")});
  EXPECT_EQ(found_in(QStringLiteral("An interleaved 1F1B and a 1F1B.")),
            (List{QStringLiteral("interleaved"), QStringLiteral("1f1b")}));
  EXPECT_EQ(found_in(QStringLiteral("ZeRO 1, then ZeRO.")),
            (List{QStringLiteral("zero-1"), QStringLiteral("zero")}));
  EXPECT_EQ(found_in(QStringLiteral("franked, ranking, my_rank, sub-rank, rank-wise, 3rank")),
            List());
  EXPECT_EQ(found_in(QStringLiteral("the rank's bubble")),
            (List{QStringLiteral("rank"), QStringLiteral("bubble")}));
}

TEST(TextWords, BeginWithACapitalOnlyWhereASentenceDoes) {
  EXPECT_EQ(found_in(QStringLiteral("Bubbles are gaps.")), QStringList{QStringLiteral("bubble")});
  EXPECT_EQ(found_in(QStringLiteral("There it is. Bubbles are gaps.")),
            QStringList{QStringLiteral("bubble")});
  EXPECT_EQ(found_in(QStringLiteral("Press Bubble now.")), QStringList());
  EXPECT_EQ(found_in(QStringLiteral("BUBBLE")), QStringList());
}

TEST(TextWords, AreNoneInCodeLinksAndHeadings) {
  EXPECT_EQ(found_in(QStringLiteral("## The bubble\n\ntext")), QStringList());
  EXPECT_EQ(found_in(QStringLiteral("see `bubble` there")), QStringList());
  EXPECT_EQ(found_in(QStringLiteral("```\nbubble\n```\n")), QStringList());
  EXPECT_EQ(found_in(QStringLiteral("[the bubble](https://arxiv.org/abs/1811.06965)")),
            QStringList());
  EXPECT_EQ(
      found_in(QStringLiteral("## The bubble\n\n`bubble` [bubble](https://a.org) **bubble**")),
      QStringList{QStringLiteral("bubble")});
  EXPECT_EQ(found_in(QStringLiteral("| a | b |\n|---|---|\n| the bubble | x |\n")),
            QStringList{QStringLiteral("bubble")});
}

TEST(TextWords, OfTheLessonThatAsksAreLeftOut) {
  const QString text = QStringLiteral("The bubble of an all-reduce.");
  EXPECT_EQ(found_in(text).size(), 2);
  EXPECT_EQ(found_in(text, QStringLiteral("naive-and-gpipe")),
            QStringList{QStringLiteral("all-reduce")});
}

TEST(TextWords, StandWhereTheySay) {
  QTextDocument document;
  document.setMarkdown(QStringLiteral("First words.\n\nThen a **bubble** in it."));
  const auto words = words_in(document, both().at(QStringLiteral("en")));
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(document.toPlainText().mid(words[0].begin, words[0].end - words[0].begin),
            QStringLiteral("bubble"));
}

class WordsOnTheSheet : public testing::Test {
 protected:
  // The ids of the words that are to be seen.
  static QStringList shown(const WordsSheet& sheet) {
    QStringList ids;
    for (const QWidget* row : sheet.findChildren<QWidget*>())
      if (row->objectName().startsWith(QLatin1String("Word:")) && row->isVisibleTo(&sheet))
        ids << row->objectName().mid(5);
    ids.sort();
    return ids;
  }
  static QString text_of(const WordsSheet& sheet, const QString& id) {
    QStringList texts;
    const auto* row = sheet.findChild<QWidget*>(QStringLiteral("Word:") + id);
    if (!row) return {};
    for (const QLabel* label : row->findChildren<QLabel*>()) texts << label->text();
    return texts.join(QLatin1Char('\n'));
  }
};

TEST_F(WordsOnTheSheet, AreFoundByWordMeaningAndSpelling) {
  WordsSheet sheet;
  sheet.show();
  auto* field = sheet.findChild<QLineEdit*>();
  ASSERT_NE(field, nullptr);
  const auto all = qsizetype(both().at(QStringLiteral("en")).words.size());
  EXPECT_EQ(shown(sheet).size(), all);
  QTest::keyClicks(field, QStringLiteral("RABENSEIFNER"));
  EXPECT_EQ(shown(sheet), QStringList{QStringLiteral("halving-doubling")});
  field->setText(QStringLiteral("FSDP"));
  EXPECT_TRUE(shown(sheet).contains(QStringLiteral("zero-3")));
  field->setText(QStringLiteral("root deals"));
  EXPECT_EQ(shown(sheet), QStringList{QStringLiteral("scatter")});
  field->setText(QStringLiteral("DeepSpeed-Ulysses"));
  EXPECT_TRUE(shown(sheet).isEmpty()) << "only among those that are called alike";
  field->setText(QStringLiteral("xyzzy"));
  EXPECT_TRUE(shown(sheet).isEmpty());
  bool said = false;
  for (const QLabel* label : sheet.findChildren<QLabel*>())
    said |= label->isVisible() && label->text().contains(QLatin1String("xyzzy"));
  EXPECT_TRUE(said);
  field->clear();
  EXPECT_EQ(shown(sheet).size(), all);
}

TEST_F(WordsOnTheSheet, HaveFormulaSourceAndALinkToTheirLesson) {
  WordsSheet sheet;
  const QString text = text_of(sheet, QStringLiteral("bubble-ideal"));
  EXPECT_TRUE(text.contains(QStringLiteral("(p − 1) ÷ m"))) << text.toStdString();
  EXPECT_TRUE(text.contains(QStringLiteral("2104.04473")));
  auto* link = sheet.findChild<QWidget*>(QStringLiteral("Word:bubble-ideal"))
                   ->findChild<QToolButton*>(QStringLiteral("Link"));
  ASSERT_NE(link, nullptr);
  EXPECT_TRUE(link->text().contains(QStringLiteral("Filling the bubble")));
  sheet.show();
  QSignalSpy wanted(&sheet, &WordsSheet::lesson_wanted);
  link->setFocus();
  QTest::keyClick(link, Qt::Key_Space);
  ASSERT_EQ(wanted.size(), 1);
  EXPECT_EQ(wanted[0][0].toString(), QStringLiteral("filling-the-bubble"));
  EXPECT_FALSE(sheet.isVisible());
}

TEST_F(WordsOnTheSheet, LeadToTheViewThatDrawsThem) {
  WordsSheet sheet;
  sheet.show();
  QSignalSpy wanted(&sheet, &WordsSheet::view_wanted);
  const QString name = QStringLiteral("In a picture: Memory");
  for (QToolButton* link : sheet.findChild<QWidget*>(QStringLiteral("Word:hsdp"))
                               ->findChildren<QToolButton*>(QStringLiteral("Link")))
    if (link->text() == name) QTest::keyClick(link, Qt::Key_Space);
  ASSERT_EQ(wanted.size(), 1);
  EXPECT_EQ(wanted[0][0].toString(), QStringLiteral("memory/holders"));
  EXPECT_FALSE(sheet.isVisible());
}

TEST_F(WordsOnTheSheet, HideFormulasWhereALessonDoes) {
  const WordsSheet sheet(true);
  for (const QLabel* label : sheet.findChildren<QLabel*>())
    EXPECT_FALSE(label->text().contains(QStringLiteral("÷ m"))) << label->text().toStdString();
  EXPECT_TRUE(text_of(sheet, QStringLiteral("bubble-ideal"))
                  .contains(QStringLiteral("Hidden until you answer.")));
}

}  // namespace
}  // namespace parallelarium

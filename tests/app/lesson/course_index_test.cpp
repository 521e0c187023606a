// SPDX-License-Identifier: GPL-3.0-or-later
// The index of the course: every concept leads to a lesson, every citation to a source, and every
// source is cited.
#include "app/lesson/index/course_index.h"

#include <gmock/gmock.h>

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTextBrowser>
#include <QtTest>

#include "app/lesson/map/course_map.h"
#include "app/look/words.h"
#include "engine/lesson/lesson.h"
#include "engine/predict/cases/cases.h"
#include "tests/app/lesson/lesson_fixture.h"
#include "tests/app/window/texts/german.h"

namespace parallelarium {
namespace {

const std::vector<CitedSource>& sources() {
  static const Result<const std::vector<CitedSource>*> all = bibliography();
  EXPECT_TRUE(all);
  return **all;
}

bool is_known(const QString& citation) {
  return std::any_of(sources().begin(), sources().end(),
                     [&](const CitedSource& source) { return source.cited_in(citation); });
}

TEST(Bibliography, HasWhateverLessonsWordsAndPublishedRunsCite) {
  const Result<Course> course = read_course(lessons_folder());
  ASSERT_TRUE(course);
  const QRegularExpression citation(
      QStringLiteral("\\]\\((https://[^)]+)\\)|\\b(?:Mc)?[A-Z][a-z]+ et al\\.,? (?:19|20)\\d\\d"));
  int found = 0;
  for (const CourseEntry& entry : course->lessons) {
    const Result<Lesson> lesson = read_lesson(course->folder + "/" + entry.id);
    ASSERT_TRUE(lesson);
    for (const auto& [language, text] : lesson->texts)
      for (const auto& [id, step] : text.steps) {
        QString all = QString::fromStdString(step.body);
        for (const auto& [name, part] : step.parts) all += QString::fromStdString(part);
        for (auto at = citation.globalMatch(all); at.hasNext();) {
          const QRegularExpressionMatch match = at.next();
          const QString cited = match.captured(1).isEmpty() ? match.captured(0) : match.captured(1);
          EXPECT_TRUE(is_known(cited)) << entry.id << "/" << id << ": " << cited.toStdString();
          ++found;
        }
      }
  }
  EXPECT_GT(found, 100);
  const Result<const Glossary*> words = glossary();
  ASSERT_TRUE(words);
  for (const Term& word : (*words)->words)
    EXPECT_TRUE(word.source == QLatin1String("A word of this program") || is_known(word.source))
        << word.source.toStdString();
  const Result<std::vector<Case>> cases = all_cases();
  ASSERT_TRUE(cases);
  for (const Case& published : *cases)
    EXPECT_TRUE(published.url.empty() || is_known(QString::fromStdString(published.url)))
        << published.name;
}

TEST(Bibliography, HasNothingThatNobodyCites) {
  const CourseIndex index = read_course_index();
  ASSERT_TRUE(index.error.isEmpty()) << index.error.toStdString();
  ASSERT_EQ(index.sources.size(), sources().size());
  QStringList ids;
  for (const IndexSource& one : index.sources) {
    const CitedSource& source = one.source;
    EXPECT_TRUE(!one.lessons.empty() || !one.words.isEmpty() || one.cases > 0 || source.formulas)
        << source.id.toStdString();
    EXPECT_FALSE(ids.contains(source.id)) << source.id.toStdString();
    EXPECT_TRUE(source.url.isEmpty() || source.url.startsWith(QLatin1String("https://")));
    ids << source.id;
  }
}

TEST(Bibliography, TellsWhatAnEntryLacks) {
  EXPECT_THAT(read_bibliography("{}").error().text, testing::HasSubstr("format"));
  EXPECT_THAT(read_bibliography(R"({"format": "parallelarium-bibliography/1",
                                    "sources": [{"id": "a", "authors": "A"}]})")
                  .error()
                  .text,
              testing::HasSubstr("source 0"));
  EXPECT_THAT(read_bibliography(R"({"format": "parallelarium-bibliography/1",
                                    "sources": [{"id": "a", "authors": "A", "title": "T"}]})")
                  .error()
                  .text,
              testing::HasSubstr("\"a\""));
}

TEST(CourseIndexData, LeadsFromEveryTaughtWordToALessonAndAStep) {
  const CourseIndex index = read_course_index();
  const Result<const Glossary*> words = glossary();
  ASSERT_TRUE(words);
  ASSERT_EQ(index.concepts.size(), (*words)->words.size());
  int with_step = 0;
  for (const IndexConcept& one : index.concepts) {
    const Term* word = (*words)->find(one.id.toStdString());
    ASSERT_NE(word, nullptr);
    if (word->lesson.isEmpty()) continue;
    ASSERT_FALSE(one.places.empty()) << one.id.toStdString();
    EXPECT_EQ(one.places.front().lesson, word->lesson) << one.id.toStdString();
    with_step += !one.places.front().step.isEmpty();
  }
  EXPECT_GT(with_step, 80);
}

TEST(CourseIndexData, SpeaksTheLanguageOfTheWindow) {
  const CourseIndex english = read_course_index();
  const German german;
  const CourseIndex other = read_course_index();
  ASSERT_EQ(english.concepts.size(), other.concepts.size());
  const auto named = [](const CourseIndex& index) {
    return std::find_if(index.concepts.begin(), index.concepts.end(),
                        [](const IndexConcept& one) { return one.id == QLatin1String("bubble"); });
  };
  EXPECT_NE(named(english)->word, named(other)->word);
  EXPECT_NE(named(english)->places.front().step, named(other)->places.front().step);
}

TEST(CourseIndexSheetTest, TypingNarrowsAndALessonIsALink) {
  CourseIndexSheet sheet;
  sheet.show();
  auto* search = sheet.findChild<QLineEdit*>();
  auto* tabs = sheet.findChild<QTabWidget*>();
  ASSERT_EQ(tabs->count(), 2);
  const auto page = [&](int at) { return qobject_cast<QTextBrowser*>(tabs->widget(at)); };
  const auto all = page(0)->toPlainText().size();
  QTest::keyClicks(search, QStringLiteral("bubble ZERO"));
  EXPECT_LT(page(0)->toPlainText().size(), all);
  EXPECT_TRUE(page(0)->toPlainText().contains(QLatin1String("ubble")));
  search->setText(QStringLiteral("rajbhandari"));
  EXPECT_TRUE(page(1)->toPlainText().contains(QLatin1String("Rajbhandari et al. 2019")));
  EXPECT_FALSE(page(1)->toPlainText().contains(QLatin1String("Huang")));
  // By keyboard: from the page on, Tab goes to the links and Enter follows one.
  QSignalSpy wanted(&sheet, &CourseIndexSheet::lesson_wanted);
  tabs->setCurrentIndex(0);
  search->setText(QStringLiteral("bubble"));
  page(0)->setFocus();
  QTest::keyClick(page(0), Qt::Key_Tab);
  QTest::keyClick(page(0), Qt::Key_Return);
  ASSERT_EQ(wanted.size(), 1);
  EXPECT_FALSE(wanted[0][0].toString().isEmpty());
  EXPECT_FALSE(sheet.isVisible());
}

class CourseIndexPlay : public LessonPlay {};

TEST_F(CourseIndexPlay, TheMapOpensTheIndexAndTheIndexALesson) {
  CourseMap map(player());
  map.show();
  for (QPushButton* button : map.findChildren<QPushButton*>())
    if (button->text().startsWith(QLatin1String("Index and sources"))) {
      EXPECT_TRUE(button->isVisible());
      button->click();
    }
  auto* sheet = map.findChild<CourseIndexSheet*>();
  ASSERT_NE(sheet, nullptr);
  Q_EMIT sheet->lesson_wanted(QStringLiteral("why-the-ring-wins"));
  ASSERT_TRUE(player().is_open());
  EXPECT_EQ(player().lesson().id, "why-the-ring-wins");
}

}  // namespace
}  // namespace parallelarium

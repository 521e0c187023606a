// SPDX-License-Identifier: GPL-3.0-or-later
// Lessons on paper, and the numbers of a class.
#include "app/lesson/teaching/handout.h"

#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTextBlock>
#include <QTextDocument>

#include "app/lesson/teaching/class_dialog.h"
#include "app/look/figures.h"
#include "engine/lesson/check/check_parts.h"
#include "engine/lesson/play.h"
#include "engine/lesson/teaching/grading/class_seed.h"
#include "tests/app/lesson/lesson_fixture.h"

namespace parallelarium {
namespace {

class Handouts : public LessonPlay {
 protected:
  Handout made(const Lesson& lesson, const HandoutWish& wish) {
    Result<Handout> handout = Handout::of(lesson, wish, predictions_);
    EXPECT_TRUE(handout) << lesson.id << (handout ? "" : handout.error().text);
    return handout ? std::move(*handout) : Handout();
  }
  static QByteArray content(const QString& path) {
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::ReadOnly)) << path.toStdString();
    return file.readAll();
  }
  Predictions predictions_{session_.placer().computer()};
  QTemporaryDir folder_;
};

// Two lines of a pipeline are one option, in two paragraphs.
TEST_F(Handouts, KeepTheParagraphsOfAnOptionTogether) {
  const Result<Lesson> lesson = lesson_named(QStringLiteral("the-job-that-hangs"));
  ASSERT_TRUE(lesson);
  QTextDocument paper;
  paper.setMarkdown(made(*lesson, {3, false}).markdown());
  int options = 0;
  for (QTextBlock block = paper.begin(); block.isValid(); block = block.next()) {
    if (!block.text().startsWith(QStringLiteral("Rank 0: F0"))) continue;
    ++options;
    EXPECT_NE(block.textList(), nullptr);
    EXPECT_TRUE(block.next().text().startsWith(QStringLiteral("Rank 1: F0")));
    EXPECT_GT(block.next().blockFormat().indent(), 0) << "it is indented as the item is";
  }
  EXPECT_EQ(options, 3);
}

// As behind the field in the window: nobody knows otherwise whether MiB or bytes are asked for.
TEST_F(Handouts, NameTheUnitOfEveryNumberThatIsAskedFor) {
  const QRegularExpression room(QStringLiteral("_{8,}\u00a0(\\S+)"));
  for (const auto& [id, unit] :
       {std::pair("the-ten-that-stay", "MiB"), std::pair("why-the-ring-wins", "ms"),
        std::pair("filling-the-bubble", "%")}) {
    const Result<Lesson> lesson = lesson_named(QLatin1String(id));
    ASSERT_TRUE(lesson);
    QStringList units;
    for (auto all = room.globalMatch(made(*lesson, {3, false}).markdown()); all.hasNext();)
      units << all.next().captured(1);
    EXPECT_TRUE(units.contains(QLatin1String(unit)))
        << id << ": " << units.join(QLatin1Char(' ')).toStdString();
  }
}

TEST_F(Handouts, OfEveryLessonHaveAllStepsAndTheAnswersOnlyWhereTheyAreAskedFor) {
  const Result<Course> course = read_course(lessons_folder());
  ASSERT_TRUE(course);
  for (const CourseEntry& entry : course->lessons) {
    SCOPED_TRACE(entry.id);
    const Result<Lesson> lesson = lesson_named(QString::fromStdString(entry.id));
    ASSERT_TRUE(lesson);
    const QString asks = made(*lesson, {3, false}).markdown();
    const QString tells = made(*lesson, {3, true}).markdown();
    EXPECT_FALSE(asks.contains("{{")) << "every number is filled in";
    EXPECT_FALSE(tells.contains("{{"));
    EXPECT_FALSE(tells.contains("____"));
    const LessonText& text = lesson->text("en");
    for (const Step& step : lesson->steps) {
      EXPECT_TRUE(tells.contains(QString::fromStdString(text.steps.at(step.id).title))) << step.id;
      const bool take_away = &step == &lesson->steps.back() && step.kind == StepKind::kRead;
      EXPECT_NE(asks.contains(QString::fromStdString(text.steps.at(step.id).title)), take_away)
          << step.id;
      if (!step.ask || step.ask->answer.empty()) continue;
      const std::size_t at = static_cast<std::size_t>(&step - lesson->steps.data());
      const Symbols drawn = draw(*lesson, 3);
      Context context;
      context.settings = *settings_at(*lesson, at, drawn, true);
      context.drawn = drawn;
      const Result<double> right = evaluate(step.ask->answer, context.symbols());
      ASSERT_TRUE(right) << step.id;
      const QString line = QStringLiteral("**Answer:** ") + value_text(*right, step.ask->unit);
      EXPECT_TRUE(tells.contains(line)) << step.id << ": " << line.toStdString();
      EXPECT_FALSE(asks.contains(line)) << step.id;
    }
  }
}

TEST_F(Handouts, AreFilesThatHoldTheirPictures) {
  Lesson lesson = *lesson_named(QStringLiteral("first-look"));
  lesson.folder = folder_.path().toStdString();
  QFile picture(folder_.filePath("drawn.svg"));
  ASSERT_TRUE(picture.open(QIODevice::WriteOnly));
  picture.write(R"(<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">
    <rect width="40" height="20" fill="red"/></svg>)");
  picture.close();
  for (auto& [language, text] : lesson.texts)
    text.steps.begin()->second.body += "\n\n![A red field](drawn.svg)\n";
  const Handout handout = made(lesson, {1, true});
  ASSERT_TRUE(handout.save(folder_.filePath("a.html")));
  const QRegularExpressionMatch kept =
      QRegularExpression(
          QStringLiteral("width=\"40\" src=\"data:image/png;base64,([A-Za-z0-9+/=]+)\""))
          .match(QString::fromUtf8(content(folder_.filePath("a.html"))));
  ASSERT_TRUE(kept.hasMatch());
  const QImage drawn = QImage::fromData(QByteArray::fromBase64(kept.captured(1).toLatin1()));
  EXPECT_EQ(drawn.width(), 2 * drawn.height());
  EXPECT_EQ(drawn.pixelColor(drawn.rect().center()), QColor(Qt::red));
  ASSERT_TRUE(handout.save(folder_.filePath("a.pdf")));
  const QByteArray pdf = content(folder_.filePath("a.pdf"));
  EXPECT_TRUE(pdf.startsWith("%PDF"));
  EXPECT_TRUE(pdf.contains(QByteArray("/Width ") + QByteArray::number(drawn.width())));
  const Result<void> wrong = handout.save(folder_.filePath("a.doc"));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().id, "handout-ending");
  EXPECT_FALSE(QFile::exists(folder_.filePath("a.doc")));
}

TEST_F(Handouts, AClassHasNumbersThatFollowFromItsCodeAndTheName) {
  LessonProgress& progress = player().progress();
  ClassDialog dialog(progress);
  const auto fields = dialog.findChildren<QLineEdit*>();
  ASSERT_EQ(fields.size(), 2);
  QPushButton* join = nullptr;
  for (auto* button : dialog.findChildren<QPushButton*>())
    if (button->text() == QStringLiteral("Join")) join = button;
  ASSERT_NE(join, nullptr);
  EXPECT_FALSE(join->isEnabled()) << "nothing is typed yet";
  fields[0]->setText("spring-26");
  fields[1]->setText("Ada");
  join->click();
  ASSERT_TRUE(player().open(kLessons + "first-look"));
  const std::uint64_t seed = player().answers()["seed"].get<std::uint64_t>();
  EXPECT_EQ(seed, class_seed("spring-26", "Ada", "first-look"));
  const LessonProgress read_again;
  ASSERT_TRUE(read_again.place());
  EXPECT_EQ(read_again.place()->name, "Ada");
  ASSERT_TRUE(progress.join(std::nullopt));
  EXPECT_FALSE(LessonProgress().place());
}

}  // namespace
}  // namespace parallelarium

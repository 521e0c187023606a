// SPDX-License-Identifier: GPL-3.0-or-later
// While a lesson asks for a number, nothing that the window shows or says has it.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QBuffer>
#include <QLabel>
#include <QMouseEvent>
#include <QRegularExpression>
#include <QSvgGenerator>
#include <QTest>
#include <QTextEdit>
#include <cmath>

#include "app/lesson/player/answers/guess_text.h"
#include "app/look/figures.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/timeline/timeline_view.h"
#include "app/views/view.h"
#include "engine/lesson/leak.h"
#include "engine/lesson/play.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

class AnswersHidden : public WindowFixture {
 protected:
  // The step as a student meets it who has answered all before.
  void enter(const Lesson& lesson, std::size_t step, std::uint64_t seed) {
    const Result<Settings> settings = settings_at(lesson, step, draw(lesson, seed));
    ASSERT_TRUE(settings) << settings.error().text;
    parallelarium::Setup setup = settings->setup;
    setup.run = session().setup().run;
    session().restore(setup, {}, std::nullopt);
    session().collectives().change(settings->collective, QStringLiteral("test"));
    session().locks().set_lesson_state(
        {{"id", lesson.id}, {"version", lesson.version}, {"seed", seed}, {"step", step}});
    Q_EMIT session().restored();
    session().wait_for_prediction();
    QApplication::processEvents();
  }

  // All that can be seen or read out now, one text a line.
  QStringList texts() {
    QStringList all;
    for (const QWidget* widget : window->findChildren<QWidget*>()) {
      if (!widget->isVisible()) continue;
      all << widget->toolTip() << widget->accessibleName() << widget->accessibleDescription();
      if (const auto* label = qobject_cast<const QLabel*>(widget)) all << label->text();
      if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) all << button->text();
      if (const auto* text = qobject_cast<const QTextEdit*>(widget)) all << text->toPlainText();
      if (const auto* view = qobject_cast<const View*>(widget)) {
        all << view->description();
        for (const Quantity& quantity : view->quantities()) all << view->origin(quantity.key);
        const ViewPicture picture = view->exported({});
        QImage image(picture.size, QImage::Format_ARGB32_Premultiplied);
        QPainter painter(&image);
        TextLog log;
        picture.paint(painter, picture.size, &log);
        for (const auto& placed : log) all << placed.text;
      }
    }
    QBuffer buffer;
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(window->size());
    QPainter painter(&generator);
    window->render(&painter);
    painter.end();
    static const QRegularExpression text(QStringLiteral("<text[^>]*>([^<]*)</text>"));
    for (auto found = text.globalMatch(QString::fromUtf8(buffer.data())); found.hasNext();)
      all << found.next().captured(1);
    for (QString& one : all) one.replace(QChar(0x00a0), QChar(' ')).replace(QChar(0x202f), ' ');
    return all;
  }
};

// A figure that a step asks for, and what it counts: "ranks".
struct Asked {
  const Ask* ask;
  QString counted;
};

std::vector<Asked> asked_of(const Step& step, const StepText& words) {
  std::vector<Asked> all;
  const auto counted = [&](const std::string& part) {
    return QString::fromStdString(words.part(part));
  };
  if (step.ask && !step.ask->answer.empty()) all.push_back({&*step.ask, counted("unit")});
  for (const QuestionPart& part : step.parts)
    if (part.option.empty()) all.push_back({&part.ask, counted("unit " + part.id)});
  return all;
}

QStringList with_answer(const QStringList& texts, double answer, const std::string& unit,
                        const QString& counted = {}) {
  QStringList found;
  for (const QString& text : texts)
    if (tells_number(text.toStdString(), answer, unit, counted.toStdString()))
      found << text.left(160);
  return found;
}

// The window writes figures in its own way, and the engine's rule reads them all.
TEST(AnswerRule, FindsWhatTheWindowWrites) {
  for (const char* unit : {"share", "seconds", "bytes", "bytes_per_second"})
    for (const double value : {0.2866, 0.123456, 0.071234})
      for (const double scale : unit == std::string("share")
                                    ? std::vector<double>{1}
                                    : std::vector<double>{1e-3, 1e3, 1e6, 1e10}) {
        const double answer =
            unit == std::string("bytes") ? std::round(value * scale * 1e4) : value * scale;
        for (const QLocale& locale : {QLocale::c(), QLocale(QLocale::German)})
          for (const QString& text :
               {value_text(answer, unit, locale), guess_text(answer, unit, locale)}) {
            if (std::count_if(text.begin(), text.end(),
                              [](QChar letter) { return letter > '0' && letter <= '9'; }) < 3)
              continue;
            const QString line = QStringLiteral("Peak: ") + text + QStringLiteral(" predicted");
            EXPECT_TRUE(tells_number(line.toStdString(), answer, unit, ""))
                << answer << " " << unit << ": " << text.toStdString();
            EXPECT_FALSE(tells_number(line.toStdString(), answer * 1.07, unit, ""))
                << answer << " " << unit << ": " << text.toStdString();
          }
      }
}

TEST_F(AnswersHidden, WhileALessonAsks) {
  const Result<Course> course = read_course(lessons_folder());
  ASSERT_TRUE(course);
  int questions = 0;
  for (const CourseEntry& entry : course->lessons) {
    const Result<Lesson> lesson = read_lesson(course->folder + "/" + entry.id);
    ASSERT_TRUE(lesson) << lesson.error().text;
    const auto leaks = [&](std::size_t at, std::uint64_t seed) -> QStringList {
      enter(*lesson, at, seed);
      const Step& step = lesson->steps[at];
      EXPECT_EQ(window->lesson().player().step().id, step.id);
      const Result<Settings> revealed = settings_at(*lesson, at, draw(*lesson, seed), true);
      if (!revealed) return {"no settings"};
      Context context;
      context.settings = *revealed;
      context.drawn = draw(*lesson, seed);
      QStringList found;
      const QStringList all = texts();
      for (const Asked& asked : asked_of(step, lesson->text("en").steps.at(step.id))) {
        const Result<double> answer = evaluate(asked.ask->answer, context.symbols());
        if (answer)
          found << with_answer(all, *answer, asked.ask->unit, asked.counted);
        else if (step.parts.empty())
          found << "no answer";  // a part may ask for what is predicted
      }
      return found;
    };
    for (std::size_t at = 0; at < lesson->steps.size(); ++at) {
      const Step& step = lesson->steps[at];
      const std::vector<Asked> all = asked_of(step, lesson->text("en").steps.at(step.id));
      if (step.sets_plan() || all.empty()) continue;
      questions += static_cast<int>(all.size());
      if (leaks(at, 7).isEmpty()) continue;
      // One figure of a picture may be the answer by chance; with other numbers it is not.
      for (const QString& text : leaks(at, 8))
        ADD_FAILURE() << entry.id << ", " << step.id << ": the answer stands in \""
                      << text.toStdString() << '"';
    }
  }
  EXPECT_GT(questions, 110);
}

// What every bar and gap of the timeline says to the pointer, where what is asked follows from how
// long they are; and what the selection and a screen reader say of one.
TEST_F(AnswersHidden, InWhatBarsSayWhereTheStepIsAskedFor) {
  const Result<Lesson> lesson = read_lesson(lessons_folder() + "/naive-and-gpipe");
  ASSERT_TRUE(lesson);
  enter(*lesson, 1, 7);
  auto* timeline = window->findChild<TimelineView*>();
  ASSERT_TRUE(timeline && timeline->isVisible());
  QStringList said;
  QObject::connect(timeline, &TimelineView::hovered, timeline,
                   [&](const QString& text) { said << text; });
  session().subject().select({0, 0}, false, Zoom::kActions);
  // Not by the pointer, whose moves go to whatever window lies there, such as a tooltip that opens
  // where the computer is so busy that it seems to rest; and each of them paints the window anew.
  const auto hover_all = [&] {
    said.clear();
    QWidget* bars = timeline->viewport();
    for (int y = 30; y < bars->height(); y += 6)
      for (int x = timeline->axis_left(); x < bars->width(); x += 24) {
        const QPointF at(x, y);
        QMouseEvent move(QEvent::MouseMove, at, bars->mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                         Qt::NoModifier);
        QApplication::sendEvent(bars, &move);
      }
    return said + texts();
  };
  static const QRegularExpression time(QStringLiteral("\\d\\s(?:s|ms|\\x{b5}s|ns)\\b"));
  for (const QString& text : hover_all().filter(time))
    if (!text.contains(QStringLiteral("per step")))  // how fast it plays
      ADD_FAILURE() << text.toStdString();
  EXPECT_GT(said.filter(QStringLiteral("predicted ?")).size(), 8);
  EXPECT_GT(said.filter(QStringLiteral("Idle ?")).size(), 8);
  session().locks().set_hidden({});
  QApplication::processEvents();
  EXPECT_GT(hover_all().filter(time).size(), 20);
}

// The same texts have it as soon as nothing is hidden, so the test would see it.
TEST_F(AnswersHidden, AreFoundWhereNothingIsHidden) {
  const Result<Lesson> lesson = read_lesson(lessons_folder() + "/naive-and-gpipe");
  ASSERT_TRUE(lesson);
  enter(*lesson, 1, 7);
  ASSERT_EQ(window->lesson().player().step().id, "how-much-waiting");
  const double bubble = session().subject().prediction()->bubble.of_total;
  EXPECT_TRUE(with_answer(texts(), bubble, "share").isEmpty());
  session().locks().set_hidden({});
  QApplication::processEvents();
  EXPECT_GE(with_answer(texts(), bubble, "share").size(), 2);
}

// A question whose figure the settings would compute locks them until it is answered.
TEST_F(AnswersHidden, WhereSettingsWouldComputeThem) {
  for (const auto& [id, asks] : {std::pair("the-slowest-expert", "how-many-ranks"),
                                 std::pair("chunks-in-turn", "which-layers")}) {
    const Result<Lesson> lesson = read_lesson(lessons_folder() + "/" + id);
    ASSERT_TRUE(lesson);
    const auto step = std::find_if(lesson->steps.begin(), lesson->steps.end(),
                                   [asks = asks](const Step& one) { return one.id == asks; });
    ASSERT_NE(step, lesson->steps.end());
    enter(*lesson, std::size_t(step - lesson->steps.begin()), 7);
    ASSERT_EQ(window->lesson().player().step().id, asks);
    for (const char* key : {"mesh.dp", "mesh.pp", "schedule"})
      EXPECT_FALSE(session().locks().allowed(QLatin1String(key))) << id << ": " << key;
  }
  // In words alone, and nothing hidden: the student may look.
  const Result<Lesson> lesson = read_lesson(lessons_folder() + "/same-bubble-less-memory");
  ASSERT_TRUE(lesson);
  for (std::size_t at = 0; at < lesson->steps.size(); ++at)
    if (lesson->steps[at].id == "and-the-bubble") enter(*lesson, at, 7);
  EXPECT_TRUE(session().locks().allowed(QStringLiteral("schedule")));
}

}  // namespace
}  // namespace parallelarium

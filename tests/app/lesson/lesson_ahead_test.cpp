// SPDX-License-Identifier: GPL-3.0-or-later
// Which lesson comes next, by the rule and in the real course.
#include "app/lesson/map/lesson_ahead.h"

#include "app/lesson/map/map_data.h"
#include "tests/app/lesson/teacher/teacher_fixture.h"

namespace parallelarium {
namespace {

// Two lessons each: 0 1 | 2 3, which needs 0 1 | 4 5, which needs nothing | 6 7, which needs 2 3.
const std::vector<AheadUnit> kUnits{{{}, {0, 1}}, {{0}, {2, 3}}, {{}, {4, 5}}, {{1}, {6, 7}}};

std::vector<AheadLesson> with_done(const std::vector<std::size_t>& done) {
  std::vector<AheadLesson> lessons(8);
  int day = 1;
  for (const std::size_t at : done) {
    lessons[at].done = true;
    lessons[at].seen = QDateTime(QDate(2026, 1, day++), QTime(8, 0), Qt::UTC);
  }
  return lessons;
}

TEST(LessonAhead, StaysInTheUnitAtHandThenGoesWhereItsNeedsAreMet) {
  const auto ahead = [](const std::vector<std::size_t>& done, std::optional<std::size_t> finished) {
    return lesson_ahead(kUnits, with_done(done), finished).value_or(99);
  };
  EXPECT_EQ(ahead({}, std::nullopt), 0u);
  EXPECT_EQ(ahead({4}, std::nullopt), 5u) << "the unit that was begun";
  EXPECT_EQ(ahead({4, 0}, std::nullopt), 1u) << "the one that was begun last";
  EXPECT_EQ(ahead({0, 4}, std::nullopt), 5u);
  EXPECT_EQ(ahead({3}, 3), 2u) << "back to the open one of its unit";
  EXPECT_EQ(ahead({0, 1}, 1), 2u);
  EXPECT_EQ(ahead({4, 5}, 5), 0u) << "not 6, whose needs are not met";
  EXPECT_EQ(ahead({0, 1, 4, 5}, 5), 2u);
  EXPECT_EQ(ahead({0, 1, 2, 3}, 3), 4u);
  EXPECT_EQ(ahead({0, 1, 2, 3, 4, 5}, 5), 6u);
  EXPECT_EQ(ahead({0, 1, 2, 3, 4, 5, 6, 7}, 7), 99u);
  std::vector<AheadLesson> lessons = with_done({2});
  lessons[1].playable = lessons[3].playable = false;
  lessons[0].known = true;
  EXPECT_EQ(lesson_ahead(kUnits, lessons, 2), std::optional<std::size_t>(4))
      << "what is known or cannot be played here holds nobody up";
}

// The map and the panel say the same.
TEST_F(Teacher, AfterTheLastLessonOfAUnitItsOpenOnesComeFirst) {
  ASSERT_TRUE(player().progress().use_folder(folder_.path()));
  finish("first-look");
  finish("who-made-it-late");
  window->show_room(Room::kExplore);
  window->show_room(Room::kLearn);
  QApplication::processEvents();
  EXPECT_EQ(next_on_map(), QStringLiteral("the-job-that-hangs"));
  EXPECT_EQ(window->lesson().next_to_do(), QStringLiteral("the-job-that-hangs"));
  const MapData data = read_map(player());
  const auto after = data.next_after(QString::fromStdString(lessons_folder()) +
                                     QStringLiteral("/who-made-it-late"));
  ASSERT_TRUE(after);
  EXPECT_EQ(data.lessons[*after].id, QStringLiteral("the-job-that-hangs"));
}

}  // namespace
}  // namespace parallelarium

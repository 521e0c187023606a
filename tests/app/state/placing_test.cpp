// SPDX-License-Identifier: GPL-3.0-or-later
// "I know the basics": one question from each of several lessons, and what is known can be skipped.
#include "app/lesson/map/map_data.h"
#include "tests/app/lesson/lesson_fixture.h"

namespace parallelarium {
namespace {

class Placing : public LessonPlay {
 protected:
  double right() {
    Context context;
    context.drawn = player().drawn();
    const Result<Settings> settings =
        settings_at(player().lesson(), player().step_index(), context.drawn, true);
    EXPECT_TRUE(settings);
    context.settings = *settings;
    return *evaluate(player().step().ask->answer, context.symbols());
  }
  const MapLesson& on_map(const MapData& map, const std::string& id) {
    return *std::find_if(map.lessons.begin(), map.lessons.end(), [&](const MapLesson& lesson) {
      return lesson.id == QString::fromStdString(id);
    });
  }
};

TEST_F(Placing, AsksTheLastNumberOfEachAndMarksWhatIsKnown) {
  const MapData before = read_map(player());
  ASSERT_EQ(before.basics.size(), 6);
  ASSERT_TRUE(player().place(before.basics));
  std::vector<std::string> asked;
  for (int question = 1; question <= 6; ++question) {
    ASSERT_TRUE(player().is_open());
    EXPECT_EQ(player().placing(), std::pair(question, 6));
    const Lesson& lesson = player().lesson();
    for (std::size_t at = player().step_index() + 1; at < lesson.steps.size(); ++at)
      EXPECT_FALSE(lesson.steps[at].kind == StepKind::kPredict && lesson.steps[at].ask &&
                   !lesson.steps[at].ask->answer.empty())
          << "a later number of " << lesson.id;
    asked.push_back(lesson.id);
    const double answer = right();
    player().commit({question == 2 ? answer * 3 + 1 : answer, "", {}, {}});
    ASSERT_TRUE(player().state().solved);
    EXPECT_EQ(player().state().judgement->verdict == Verdict::kRight, question != 2);
    player().next();
  }
  EXPECT_FALSE(player().is_open());
  const MapData after = read_map(player());
  for (std::size_t at = 0; at < asked.size(); ++at) {
    EXPECT_EQ(on_map(after, asked[at]).known, at != 1) << asked[at];
    EXPECT_FALSE(on_map(after, asked[at]).done);
  }
  // Those before it in its unit are known with it; the way on leads to what is not known.
  EXPECT_TRUE(on_map(after, "naive-and-gpipe").known);
  EXPECT_FALSE(on_map(after, "chunks-in-turn").known);
  EXPECT_LT(after.minutes_left(), before.minutes_left());
  ASSERT_TRUE(after.next());
  EXPECT_FALSE(after.lessons[*after.next()].known);
  // A lesson that is known can be played all the same, and stays known.
  open("filling-the-bubble");
  EXPECT_EQ(player().placing(), std::pair(0, 0));
  player().close();
  EXPECT_TRUE(on_map(read_map(player()), "filling-the-bubble").known);
}

TEST_F(Placing, LeavingItAsksNoMore) {
  ASSERT_TRUE(player().place(read_map(player()).basics));
  player().close();
  EXPECT_FALSE(player().is_open());
  EXPECT_EQ(player().placing(), std::pair(0, 0));
}

}  // namespace
}  // namespace parallelarium

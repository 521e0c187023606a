// SPDX-License-Identifier: GPL-3.0-or-later
// What the Search view shows of a range of GPUs, and of what the engine says beside the plans:
// rules of thumb, ties and examples.
#include <QImage>
#include <algorithm>
#include <random>
#include <set>

#include "app/look/sentence.h"
#include "app/views/search/picture/search_paint.h"
#include "app/views/search/picture/search_picture.h"
#include "app/views/search/search_words.h"
#include "tests/app/plan/search_fixture.h"

namespace parallelarium {
namespace {

class SearchRange : public SearchFixture {
 protected:
  TextLog paint(SearchPicture picture, SearchHits& hits) {
    const double width = 1100, height = search_height(width, picture, light_theme());
    QImage image(int(width), int(height), QImage::Format_RGB32);
    QPainter painter(&image);
    TextLog texts;
    paint_search(painter, width, picture, light_theme(), &hits, &texts);
    return texts;
  }
};

// Any plan on so many GPUs or fewer is covered by a step of its line, and no step covers another.
TEST(PlanFront, CoversAllPlansOnSoManyGpusOrFewer) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<FoundPlan> all(60);
    for (FoundPlan& plan : all) {
      plan.gpus = 8 * int(1 + random() % 4);
      plan.seconds = double(1 + random() % 40);
      plan.bytes = std::int64_t(1 + random() % 40);
    }
    PlanAnswer answer;
    for (const FoundPlan& plan : all)
      if (std::none_of(all.begin(), all.end(), [&](const FoundPlan& other) {
            return other.gpus <= plan.gpus && other.seconds <= plan.seconds &&
                   other.bytes <= plan.bytes &&
                   (other.gpus < plan.gpus || other.seconds < plan.seconds ||
                    other.bytes < plan.bytes);
          }))
        answer.front.push_back(plan);
    std::stable_sort(answer.front.begin(), answer.front.end(),
                     [](const FoundPlan& a, const FoundPlan& b) {
                       return std::pair(a.seconds, a.bytes) < std::pair(b.seconds, b.bytes);
                     });
    for (const int gpus : answer.gpu_counts()) {
      const std::vector<const FoundPlan*> line = answer.front_up_to(gpus);
      ASSERT_FALSE(line.empty());
      for (std::size_t at = 0; at < line.size(); ++at) {
        EXPECT_LE(line[at]->gpus, gpus);
        if (at > 0) {
          EXPECT_GT(line[at]->seconds, line[at - 1]->seconds);
          EXPECT_LT(line[at]->bytes, line[at - 1]->bytes);
        }
      }
      for (const FoundPlan& plan : all)
        EXPECT_TRUE(plan.gpus > gpus ||
                    std::any_of(line.begin(), line.end(), [&](const FoundPlan* other) {
                      return other->seconds <= plan.seconds && other->bytes <= plan.bytes;
                    }));
    }
  }
}

// A limit below the device's memory is one more thing to change where nothing fits.
TEST_F(SearchRange, NamesTheLimitWhereNothingFitsBelowIt) {
  PlanWish wish = small_wish();
  wish.model = QStringLiteral("llama3-70b");
  const auto advice = [&] {
    search_for(wish);
    EXPECT_TRUE(search().answer() && search().answer()->plans.empty());
    SearchHits hits;
    QStringList said;
    for (const PaintedText& text : paint(picture_of(search(), -1), hits)) said << text.text;
    return said.join(' ');
  };
  EXPECT_FALSE(advice().contains(QStringLiteral("A higher limit of memory")));
  wish.memory_bytes = std::int64_t{8} << 30;
  EXPECT_TRUE(advice().contains(QStringLiteral("A higher limit of memory, more GPUs")));
}

TEST_F(SearchRange, EveryRowSaysItsGpusAndNoTwoRowsLookAlike) {
  PlanWish wish = small_wish();
  wish.gpus = QStringLiteral("1..4");
  search_for(wish);
  ASSERT_TRUE(search().answer());
  EXPECT_GT(search().answer()->gpu_counts().size(), 1U);
  SearchHits hits;
  const TextLog texts = paint(picture_of(search(), -1), hits);
  const auto has = [&](const QString& part) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const PaintedText& text) { return text.text.contains(part); });
  };
  EXPECT_TRUE(has(QStringLiteral("GPUs")));
  EXPECT_TRUE(has(QStringLiteral("front up to %1 GPUs").arg(search().selected()->gpus)));
  std::set<QString> rows;
  for (const SearchHits::Plan& hit : hits.plans) {
    if (hit.rect.width() < 300) continue;  // a dot
    if (std::any_of(hits.rules.begin(), hits.rules.end(),
                    [&](const auto& rule) { return rule.first == hit.rect; }))
      continue;  // a sentence
    QStringList cells;
    for (const PaintedText& text : texts)
      if (hit.rect.contains(text.rect.center())) cells << text.text;
    const QString gpus = QString::number(hit.plan->gpus);
    EXPECT_TRUE(std::any_of(cells.begin(), cells.end(), [&](const QString& cell) {
      return cell == gpus || cell.startsWith(gpus + QStringLiteral(" GPU"));
    })) << cells.join(QLatin1Char('|')).toStdString();
    const QString row = cells.join(QLatin1Char('|'));
    EXPECT_TRUE(rows.insert(row).second) << row.toStdString();
  }
  EXPECT_GE(rows.size(), search().answer()->plans.size() - 1);  // the first has a rank of its own
  wish.gpus = QStringLiteral("4");
  search_for(wish);
  SearchHits one;
  for (const PaintedText& text : paint(picture_of(search(), -1), one))
    EXPECT_NE(text.text, QStringLiteral("GPUs"));
}

// A rule stands with what it costs, and its line knows who says so; the description has all of it.
TEST_F(SearchRange, RulesOfThumbAndTiesAreSaid) {
  PlanWish wish = small_wish();
  wish.model = QStringLiteral("llama3-8b");
  wish.gpus = QStringLiteral("4");
  search_for(wish);
  ASSERT_TRUE(search().answer());
  const PlanAnswer& answer = *search().answer();
  ASSERT_EQ(answer.rules.size(), 7U);
  SearchHits hits;
  const TextLog texts = paint(picture_of(search(), -1), hits);
  ASSERT_EQ(hits.rules.size(), 7U);
  int others = 0;
  for (const auto& [rect, rule] : hits.rules) {
    QString said;
    for (const PaintedText& text : texts)
      if (rect.contains(text.rect.center())) said += text.text + QLatin1Char(' ');
    EXPECT_TRUE(said.trimmed().startsWith(firm_text(sentence(rule->sentence)).left(30)));
    EXPECT_FALSE(rule->source.empty());
    EXPECT_TRUE(view().description().contains(rule_text(*rule)));
    // Where another plan keeps to it, its line selects that one.
    const auto opens =
        std::find_if(hits.plans.begin(), hits.plans.end(),
                     [rect = rect](const SearchHits::Plan& plan) { return plan.rect == rect; });
    ASSERT_EQ(opens != hits.plans.end(), rule->plan.has_value());
    if (rule->plan) {
      EXPECT_EQ(opens->plan->setup, rule->plan->setup);
      EXPECT_GT(rule->plan->seconds, answer.plans[answer.best_at].seconds);
      search().select(rule->plan->setup);
      ASSERT_NE(search().selected(), nullptr);
      EXPECT_EQ(search().selected()->setup, rule->plan->setup);
      ++others;
    }
  }
  EXPECT_GT(others, 0);
  // A change ties where it makes the step no longer than the threshold's share.
  ASSERT_TRUE(answer.tie_threshold);
  search().select(search().best()->setup);
  const SearchPicture picture = picture_of(search(), -1);
  ASSERT_FALSE(picture.why.empty());
  for (const PlanWhy& why : picture.why) {
    const bool within = why.seconds && *why.seconds >= 0 &&
                        *why.seconds <= *answer.tie_threshold * search().best()->seconds;
    EXPECT_EQ(why.tied, within);
    EXPECT_EQ(change_value(answer, why).contains(QStringLiteral("tie")), within);
  }
  EXPECT_EQ(std::count_if(picture.why.begin(), picture.why.end(),
                          [](const PlanWhy& why) { return why.tied; }),
            view().description().count(QStringLiteral("It is a tie.")));
}

// Where a class is opened, a click on a reason makes its example the setup, also a refused one.
TEST_F(SearchRange, AReasonOpensItsExampleInExplore) {
  search_for(small_wish());
  ASSERT_TRUE(search().answer());
  QWidget& canvas = view().canvas();
  const auto click = [&](const QRectF& rect) {
    QTest::mouseClick(&canvas, Qt::LeftButton, {}, rect.center().toPoint());
    QApplication::processEvents();
  };
  canvas.grab();
  const auto classes = view().hits().losses;
  const auto refused = std::find_if(classes.begin(), classes.end(), [](const auto& hit) {
    return hit.second == PlanAnswer::kRefused;
  });
  ASSERT_NE(refused, classes.end());
  click(refused->first);
  canvas.grab();
  ASSERT_FALSE(view().hits().examples.empty());
  // Each reason names the plan that a click opens.
  SearchHits hits;
  const TextLog texts = paint(picture_of(search(), PlanAnswer::kRefused), hits);
  for (const auto& [lines, of] : hits.examples) {
    QString said;
    for (const PaintedText& text : texts)
      if (lines.contains(text.rect.center())) said += text.text + QLatin1Char(' ');
    EXPECT_TRUE(said.contains(axes_text(*of).left(20))) << said.toStdString();
  }
  const auto [rect, first] = view().hits().examples.front();
  const parallelarium::Setup example = *first;
  ASSERT_FALSE(validate(example).empty());
  EXPECT_EQ(validate(example).front().text,
            search().answer()->losses[PlanAnswer::kRefused].front().sentence.text);
  const parallelarium::Setup before = session().setup();
  click(rect);
  EXPECT_EQ(session().setup(), example);
  EXPECT_FALSE(view().isVisible());
  session().history().stack().undo();
  EXPECT_EQ(session().setup(), before);
}

// What does not fit says the cheapest change with which it would, in the picture and in words.
TEST_F(SearchRange, AReasonThatDoesNotFitTellsTheChangeThatWould) {
  PlanWish wish = small_wish();
  wish.model = QStringLiteral("llama3-8b");
  wish.machine = QStringLiteral("dgx-h100");
  wish.gpus = QStringLiteral("8");
  wish.global_batch = 16;
  wish.fixed = {{QStringLiteral("pp"), QStringLiteral("1")},
                {QStringLiteral("cp"), QStringLiteral("1")},
                {QStringLiteral("schedule"), QStringLiteral("1f1b")},
                {QStringLiteral("micro-batch"), QStringLiteral("1")}};
  search_for(wish);
  ASSERT_TRUE(search().answer());
  const auto& losses = search().answer()->losses[PlanAnswer::kDoesNotFit];
  ASSERT_FALSE(losses.empty());
  SearchHits hits;
  QString painted;
  for (const PaintedText& text : paint(picture_of(search(), PlanAnswer::kDoesNotFit), hits))
    painted += text.text + QLatin1Char(' ');
  painted = painted.simplified();
  for (const PlanLoss& loss : losses) {
    ASSERT_FALSE(loss.fitting.text.empty());
    EXPECT_TRUE(search_description(search()).contains(sentence(loss.fitting)));
    EXPECT_TRUE(painted.contains(sentence(loss.fitting).simplified())) << painted.toStdString();
  }
}

// In a narrow window the wishes stand in a popup: it keeps them while something else is set, and
// makes way for what is found.
TEST_F(SearchRange, APopupKeepsItsWishesUntilTheSearchBegins) {
  window->resize(1024, 700);
  QApplication::processEvents();
  search().set_wish(small_wish());
  QPushButton* change = button(QStringLiteral("Change the search …"));
  ASSERT_NE(change, nullptr);
  const QPushButton* own = button(QStringLiteral("Search"));
  ASSERT_TRUE(own && own->window() == window.get()) << "nobody has to open the popup to search";
  QTest::mouseClick(change, Qt::LeftButton);
  QPushButton* go = nullptr;
  for (auto* each : window->findChildren<QPushButton*>())
    if (each->text() == QStringLiteral("Search") && each->isVisible() && each != own) go = each;
  ASSERT_NE(go, nullptr);
  ASSERT_NE(go->window(), window.get());
  const QWidget* popup = go->window();
  parallelarium::Setup setup = session().setup();
  setup.microbatches += 4;
  session().history().change(setup, QString());
  session().wait_for_prediction();
  QApplication::processEvents();
  EXPECT_TRUE(go->isVisible());
  QTest::mouseClick(go, Qt::LeftButton);
  EXPECT_TRUE(search().searching());
  QApplication::processEvents();
  EXPECT_FALSE(popup->isVisible());
  ASSERT_TRUE(wait_until([&] { return !search().searching(); }, kSearchMs));
}

}  // namespace
}  // namespace parallelarium

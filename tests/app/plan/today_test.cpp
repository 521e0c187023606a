// SPDX-License-Identifier: GPL-3.0-or-later
// What is trained today, as a line or as degrees, compared with what a search finds.
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>

#include "app/look/figures.h"
#include "app/settings/controls.h"
#include "app/sheets/recipes/recipe_reader.h"
#include "app/sheets/recipes/recipe_sheet.h"
#include "app/sheets/recipes/today_sheet.h"
#include "app/state/plan/plan_search.h"
#include "app/views/search/picture/search_picture.h"
#include "app/views/shared/words/plan_words.h"
#include "engine/wire/frameworks/framework.h"
#include "tests/app/plan/recipes_fixture.h"

namespace parallelarium {
namespace {

// What the search makes of today's setup is what the command line makes of it.
TEST_F(Recipes, TodayIsComparedWithTheBestPlan) {
  window->show_room(Room::kPlan);
  QApplication::processEvents();
  const PlanWish asked = search().wish();
  drop(file("line.sh", kRecipeLine));
  RecipeReader* reader = sheet<RecipeReader>();
  ASSERT_NE(reader, nullptr);
  QTest::mouseClick(button(reader, QStringLiteral("Compare with it")), Qt::LeftButton);
  QApplication::processEvents();
  EXPECT_EQ(search().wish().gpus, QStringLiteral("4"));
  EXPECT_EQ(search().wish().global_batch, 16);
  ASSERT_TRUE(search().wish().today.has_value());
  EXPECT_FALSE(search().searching()) << "nobody asked for it";
  QTest::mouseClick(button(window.get(), QStringLiteral("Search")), Qt::LeftButton);
  ASSERT_TRUE(wait_until([&] { return !search().searching(); }, kAnswerMs));
  ASSERT_TRUE(search().answer()) << search().error().toStdString();
  const PlanAnswer& answer = *search().answer();
  ASSERT_TRUE(answer.explained && answer.explained->seconds && answer.explained->change);
  auto today = *search().wish().today;
  today.machine = MachineChoice("dgx-h100");
  const QString setup = file_of(today, "today.json");
  const nlohmann::json predicted = command(
      {QStringLiteral("predict"), QStringLiteral("--setup"), setup, QStringLiteral("--json")});
  EXPECT_EQ(*answer.explained->seconds, predicted.at("step").at("seconds").get<double>());
  EXPECT_EQ(answer.explained->bytes, predicted.at("memory").at("needed_bytes").get<std::int64_t>());
  EXPECT_LE(answer.plans[answer.best_at].seconds, *answer.explained->seconds);
  EXPECT_TRUE(window->view().description().contains(QStringLiteral("Today: TP 4")));
  EXPECT_EQ(search().wish().framework, QStringLiteral("megatron")) << "it is that of the text";
  // The launch line of the plan that was found, in two clicks.
  QTest::mouseClick(button(window.get(), QStringLiteral("Launch line …")), Qt::LeftButton);
  RecipeSheet* open = sheet<RecipeSheet>();
  ASSERT_NE(open, nullptr);
  const std::string line = open->findChild<QPlainTextEdit*>()->toPlainText().toStdString();
  const Result<FrameworkSetup> again = read_from_framework("megatron", line, default_setup());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->setup.mesh, search().selected()->setup.mesh);
  open->reject();
  // What was pasted is there again, and what was asked before comes back.
  QTest::mouseClick(button(window.get(), QStringLiteral("Change it …")), Qt::LeftButton);
  TodaySheet* again_open = sheet<TodaySheet>();
  ASSERT_NE(again_open, nullptr);
  EXPECT_EQ(again_open->text().toStdString(), kRecipeLine);
  EXPECT_EQ(again_open->setup(), search().wish().today);
  // Another text is read on what the search would begin with, and not on this one.
  again_open->set_text(QString());
  for (StepBox* box : again_open->findChildren<StepBox*>())
    if (box->accessibleName() == QLatin1String("TP")) {
      EXPECT_EQ(box->findChild<QLineEdit*>()->text(), QStringLiteral("1"));
    }
  again_open->reject();
  // What was set since then stays.
  PlanWish since = search().wish();
  since.memory_bytes = std::int64_t{60} << 30;
  since.fixed[QStringLiteral("pp")] = QStringLiteral("1");
  search().set_wish(since);
  QTest::mouseClick(button(window.get(), QStringLiteral("Forget it")), Qt::LeftButton);
  PlanWish expected = asked;
  expected.memory_bytes = since.memory_bytes;
  expected.fixed[QStringLiteral("pp")] = QStringLiteral("1");
  EXPECT_EQ(search().wish(), expected);
}

// A line that leaves out the shape is of the model that the search has, or is taken as the one that
// it is like, with one click; and what is trained today follows the model of the search.
TEST_F(Recipes, TodayIsOnTheModelOfTheSearch) {
  const QByteArray line =
      "torchrun --nnodes 1 --nproc-per-node 4 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
      "--num-attention-heads 32 --seq-length 8192 --max-position-embeddings 8192 "
      "--tensor-model-parallel-size 4 --micro-batch-size 1 --global-batch-size 16 --bf16";
  const QString path = file("line.sh", line);
  const auto dropped = [&](const char* model) {
    search().set_wish(plan_wish(model, "4"));
    drop(path);
    return sheet<TodaySheet>();
  };
  const auto turn = [](TodaySheet* reader) {
    for (auto* each : reader->findChildren<QPushButton*>())
      if (each->text().remove(QLatin1Char('&')).startsWith(QLatin1String("Take ")) &&
          each->isVisibleTo(reader))
        return QTest::mouseClick(each, Qt::LeftButton);
    ADD_FAILURE() << "no button takes another model";
  };
  window->show_room(Room::kPlan);
  TodaySheet* reader = dropped("llama3-8b");
  ASSERT_TRUE(reader != nullptr && reader->setup());
  EXPECT_TRUE(reader->setup()->model == *find_model("llama3-8b")) << "the search has it";
  const auto says = [&](const char* words) {
    for (const auto* label : reader->findChildren<QLabel*>())
      if (label->text().contains(QLatin1String(words))) return true;
    return false;
  };
  EXPECT_TRUE(says("The search then is with a global batch of 16 (now: 8)."))
      << "what it changes is said before, and nothing that stays";
  turn(reader);
  EXPECT_EQ(reader->setup()->model.name, "custom") << "as the text says it";
  EXPECT_NE(reader->setup()->model.kv_heads, find_model("llama3-8b")->kv_heads);
  EXPECT_EQ(reader->setup()->mesh.tp, 4);
  delete reader;
  reader = dropped("gpt2-124m");
  ASSERT_TRUE(reader != nullptr && reader->setup());
  EXPECT_EQ(reader->setup()->model.name, "custom");
  turn(reader);
  const std::string taken = reader->setup()->model.name;
  ASSERT_TRUE(find_model(taken).ok()) << taken;
  EXPECT_EQ(reader->setup()->model.layers, 32);
  EXPECT_EQ(reader->setup()->model.sequence, 8192);
  QTest::mouseClick(button(reader, QStringLiteral("Compare with it")), Qt::LeftButton);
  QApplication::processEvents();
  PlanWish wish = search().wish();
  EXPECT_EQ(wish.model.toStdString(), taken);
  EXPECT_FALSE(search().searching());
  ASSERT_TRUE(wish.today);
  wish.model = QStringLiteral("gpt2-124m");
  wish.sequence = 0;
  search().set_wish(wish);
  EXPECT_TRUE(search().wish().today->model == *find_model("gpt2-124m"));
  EXPECT_EQ(search().wish().today->mesh.tp, 4) << "the layout is still the line's";
  EXPECT_TRUE(picture_of(search(), -1).today.contains(QStringLiteral("GPT-2 124M")));
}

// The plans that were found stay, with what is trained today and without it: only today's is
// predicted, and told as a search with it tells it.
TEST_F(Recipes, TodayIsComparedWithTheAnswerThatIsThere) {
  window->show_room(Room::kPlan);
  QApplication::processEvents();
  const PlanWish with_today = wish_with_today();
  PlanWish asked = with_today;
  asked.today.reset();
  ASSERT_NE(searched(asked), nullptr);
  const auto best = search().best()->setup;
  const std::int64_t candidates = search().answer()->candidates;
  search().compare_with(*with_today.today, QStringLiteral("--tensor-model-parallel-size 4"));
  EXPECT_FALSE(search().is_outdated());
  EXPECT_FALSE(search().searching());
  EXPECT_TRUE(search().comparing());
  EXPECT_TRUE(search().wish().framework.isEmpty()) << "the plans are of any";
  ASSERT_TRUE(wait_until([&] { return !search().comparing(); }, kAnswerMs));
  ASSERT_NE(search().today(), nullptr) << search().error().toStdString();
  EXPECT_EQ(search().best()->setup, best);
  EXPECT_EQ(search().answer()->candidates, candidates);
  EXPECT_EQ(picture_of(search(), -1).today_figures.empty(), false);
  const ExplainedPlan told = *search().today();
  search().forget_today();
  EXPECT_EQ(search().today(), nullptr);
  EXPECT_FALSE(search().is_stale()) << "the plans are still those that were asked for";
  EXPECT_EQ(search().wish(), asked);
  ASSERT_NE(search().selected(), nullptr);
  ASSERT_NE(searched(with_today), nullptr);
  ASSERT_NE(search().today(), nullptr);
  const ExplainedPlan& whole = *search().today();
  EXPECT_EQ(told.plan_class, whole.plan_class);
  EXPECT_EQ(told.sentence.text, whole.sentence.text);
  EXPECT_EQ(told.seconds, whole.seconds);
  EXPECT_EQ(told.bytes, whole.bytes);
  ASSERT_EQ(told.change.has_value(), whole.change.has_value());
  if (whole.change) {
    EXPECT_EQ(told.change->sentence.text, whole.change->sentence.text);
    EXPECT_EQ(told.change->plan.setup, whole.change->plan.setup);
  }
}

// What nobody chose is listed as added. The line of today says how a whole training with its own
// data learns: that goes into no plan, nor into what of it is proved, rehearsed and exported.
TEST_F(Recipes, ALineSaysWhichValuesNobodyChose) {
  PlanWish wish = plan_wish("gpt2-124m", "4");
  const auto adds = [&](const char* framework = "megatron") {
    const Result<parallelarium::Setup> base = base_of(wish);
    EXPECT_TRUE(base.ok());
    RecipeSheet open(session().resolved(*base), {}, window.get(), QLatin1String(framework));
    QString all;
    for (const auto* label : open.findChildren<QLabel*>()) all += label->text();
    const QString line = open.findChild<QPlainTextEdit*>()->toPlainText();
    return std::pair(all.section(QStringLiteral("Added: "), 1).section(QLatin1Char('.'), 0, 2),
                     line);
  };
  for (const char* value : {"learning rate", "gradient clip", "seed 1"})
    EXPECT_TRUE(adds().first.contains(QLatin1String(value))) << adds().first.toStdString();
  EXPECT_TRUE(adds("deepspeed").first.contains(QStringLiteral("learning rate")));
  EXPECT_FALSE(adds("deepspeed").first.contains(QStringLiteral("seed"))) << "it has none";
  const std::string trained =
      std::string(kRecipeLine) + " --train-iters 500000 --lr 3e-4 --clip-grad 1.0 --seed 1234";
  const Result<FrameworkSetup> read = read_from_framework("megatron", trained, new_setup());
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->setup.run.steps, 500'000);
  const auto before = adds();
  search().set_wish(wish);
  search().compare_with(read->setup, QString::fromStdString(trained));
  wish = search().wish();
  ASSERT_TRUE(wish.today);
  EXPECT_EQ(wish.today->mesh, read->setup.mesh);
  EXPECT_EQ(wish.today->run, new_setup().run);
  EXPECT_EQ(wish.today->learning_rate, new_setup().learning_rate);
  EXPECT_EQ(wish.today->clip, new_setup().clip);
  EXPECT_EQ(base_of(wish)->run, new_setup().run);
  const auto after = adds();
  EXPECT_EQ(after.first, before.first);
  for (const char* theirs : {"500000", "0.0003", "1234"})
    EXPECT_FALSE(after.second.contains(QLatin1String(theirs))) << theirs;
}

// Without a launch line degrees are typed; GPUs and batch stay those that were asked for.
TEST_F(Recipes, TodayIsTypedAsDegrees) {
  window->show_room(Room::kPlan);
  PlanWish wish = plan_wish("llama3-8b", "8");
  wish.global_batch = 64;
  search().set_wish(wish);
  QTest::mouseClick(button(window.get(), QStringLiteral("I train already …")), Qt::LeftButton);
  TodaySheet* open = sheet<TodaySheet>();
  ASSERT_NE(open, nullptr);
  ASSERT_TRUE(QTest::qWaitForWindowActive(open));
  const auto compare = button(open, QStringLiteral("Compare with it"));
  EXPECT_FALSE(compare->isEnabled()) << "nothing was said yet";
  const auto type = [&](const char* name, const char* text) {
    for (StepBox* box : open->findChildren<StepBox*>())
      if (box->accessibleName() == QLatin1String(name)) {
        auto* line = box->findChild<QLineEdit*>();
        QTest::mouseClick(line, Qt::LeftButton);
        QApplication::processEvents();
        EXPECT_EQ(line->selectedText(), line->text()) << "a click selects what will be replaced";
        QTest::keyClicks(line, QLatin1String(text));
        QTest::keyClick(line, Qt::Key_Return);
        return;
      }
    ADD_FAILURE() << "no field " << name;
  };
  type("TP", "2");
  ASSERT_TRUE(open->isVisible()) << "Enter ends a field alone";
  ASSERT_TRUE(open->setup());
  EXPECT_EQ(open->setup()->mesh.dp, 4) << "the rest of the GPUs";
  type("PP", "2");
  type("Micro-batch size", "4");
  for (auto* box : open->findChildren<QComboBox*>())
    if (box->findData(QStringLiteral("selective")) >= 0) {
      const int full = box->findData(QStringLiteral("full"));
      box->setCurrentIndex(full);
      Q_EMIT box->activated(full);
    }
  ASSERT_TRUE(open->setup());
  EXPECT_EQ(open->setup()->mesh.ranks(), 8);
  EXPECT_EQ(open->setup()->mesh.dp, 2);
  EXPECT_EQ(open->setup()->global_batch(), 64);
  EXPECT_EQ(open->setup()->recompute, Recompute::kFull);
  type("TP", "none");
  EXPECT_EQ(open->setup()->mesh.tp, 2) << "what is no number changes nothing";
  QTest::mouseClick(compare, Qt::LeftButton);
  QApplication::processEvents();
  ASSERT_TRUE(search().wish().today);
  EXPECT_EQ(search().wish().today->micro_batch, 4);
  EXPECT_EQ(search().wish().global_batch, 64);
  EXPECT_EQ(search().wish().gpus, QStringLiteral("8"));
  EXPECT_FALSE(search().searching());
}

}  // namespace
}  // namespace parallelarium

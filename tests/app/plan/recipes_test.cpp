// SPDX-License-Identifier: GPL-3.0-or-later
// Launch lines in the window: read, written, and compared with what a search finds; a model from
// its config.json.
#include <QClipboard>
#include <QComboBox>
#include <QDropEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>

#include "app/export/export.h"
#include "app/export/export_dialog.h"
#include "app/look/figures.h"
#include "app/settings/controls.h"
#include "app/sheets/recipes/recipe_reader.h"
#include "app/sheets/recipes/recipe_sheet.h"
#include "app/sheets/recipes/today_sheet.h"
#include "app/state/document/document.h"
#include "app/state/plan/plan_search.h"
#include "app/views/search/search_picture.h"
#include "app/views/shared/plan_words.h"
#include "engine/wire/export/csv.h"
#include "engine/wire/export/trace.h"
#include "engine/wire/frameworks/framework.h"
#include "tests/app/plan/plan_views_fixture.h"

namespace parallelarium {
namespace {

constexpr char kLine[] =
    "torchrun --nnodes 1 --nproc-per-node 4 pretrain_gpt.py --num-layers 12 --hidden-size 768 "
    "--num-attention-heads 12 --seq-length 1024 --max-position-embeddings 1024 "
    "--tensor-model-parallel-size 4 --micro-batch-size 1 --global-batch-size 16 --bf16 "
    "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1";

class Recipes : public PlanViewFixture {
 protected:
  template <class Sheet>
  Sheet* sheet() {
    QApplication::processEvents();
    for (Sheet* each : window->findChildren<Sheet*>())
      if (each->isVisible()) return each;
    ADD_FAILURE() << "no sheet is open";
    return nullptr;
  }
  QPushButton* button(QWidget* in, const QString& text) {
    for (auto* button : in->findChildren<QPushButton*>())
      if (button->text().remove(QLatin1Char('&')) == text && button->isVisibleTo(in)) return button;
    ADD_FAILURE() << "no button " << text.toStdString();
    return nullptr;
  }
  void trigger(const QString& text) {
    for (QAction* action : window->all_actions())
      if (action->text().remove(QLatin1Char('&')) == text) return action->trigger();
    ADD_FAILURE() << "no command " << text.toStdString();
  }
  QString file(const char* name, const QByteArray& text) {
    const QString path = folder_.filePath(QLatin1String(name));
    QFile written(path);
    EXPECT_TRUE(written.open(QIODevice::WriteOnly));
    written.write(text);
    return path;
  }
  void drop(const QString& path) {
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(path)});
    QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.get(), &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent event(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.get(), &event);
    QApplication::processEvents();
  }
  PlanSearch& search() { return PlanSearch::of(session()); }

 private:
  QTemporaryDir folder_;
};

TEST_F(Recipes, TheSheetWritesWhatTheEngineWritesForEachFramework) {
  set("tp", "2");
  trigger(QStringLiteral("Export launch line …"));
  RecipeSheet* open = sheet<RecipeSheet>();
  ASSERT_NE(open, nullptr);
  auto* box = open->findChild<QComboBox*>();
  auto* text = open->findChild<QPlainTextEdit*>();
  ASSERT_EQ(std::size_t(box->count()), framework_infos().size());
  for (int at = 0; at < box->count(); ++at) {
    box->setCurrentIndex(at);
    const Result<FrameworkText> written =
        write_for_framework(box->itemData(at).toString().toStdString(), session().resolved());
    ASSERT_TRUE(written.ok());
    EXPECT_EQ(text->toPlainText().toStdString(), written->text);
    QTest::mouseClick(button(open, QStringLiteral("Copy")), Qt::LeftButton);
    EXPECT_EQ(QGuiApplication::clipboard()->text().toStdString(), written->text);
  }
  open->save_to(QStringLiteral("/nowhere/line.sh"));
  bool said = false;
  for (const QLabel* label : open->findChildren<QLabel*>())
    said = said || label->text().contains(QStringLiteral("cannot be written"));
  EXPECT_TRUE(said);
}

// Megatron has no ZB-V: what its line starts is another schedule, and slower.
TEST_F(Recipes, TheSheetSaysWhatALineTakesThatCannotSayAll) {
  for (const auto& [field, value] : {std::pair("model", "llama3-8b"),
                                     {"machine", "dgx-h100"},
                                     {"pp", "4"},
                                     {"microbatches", "16"},
                                     {"schedule", "zb-v"}})
    set(field, value);
  trigger(QStringLiteral("Export launch line …"));
  RecipeSheet* open = sheet<RecipeSheet>();
  ASSERT_NE(open, nullptr);
  QString said;
  for (const QLabel* label : open->findChildren<QLabel*>())
    if (label->text().contains(QStringLiteral("As it is written"))) said = label->text();
  const Result<FrameworkText> written = write_for_framework("megatron", session().resolved());
  const Result<FrameworkSetup> read =
      read_from_framework("megatron", written->text, session().resolved());
  ASSERT_TRUE(read);
  const Result<Prediction> line = predict(read->setup, session().machine());
  ASSERT_TRUE(line);
  EXPECT_GT(line->step.seconds, session().subject().prediction()->step.seconds);
  EXPECT_TRUE(said.contains(seconds_text(line->step.seconds))) << said.toStdString();
  EXPECT_TRUE(said.contains(seconds_text(session().subject().prediction()->step.seconds)));
}

TEST_F(Recipes, APastedLineBecomesTheSetup) {
  trigger(QStringLiteral("Read a launch line …"));
  RecipeReader* reader = sheet<RecipeReader>();
  ASSERT_NE(reader, nullptr);
  QPushButton* use = button(reader, QStringLiteral("Use it"));
  EXPECT_FALSE(use->isEnabled());
  reader->set_text(QStringLiteral("Dear reader"));
  EXPECT_FALSE(use->isEnabled());
  reader->set_text(QLatin1String(kLine));
  ASSERT_TRUE(use->isEnabled());
  // The line says neither positions nor vocabulary of the model that it looks like.
  QString found;
  for (const QLabel* label : reader->findChildren<QLabel*>())
    if (label->text().contains(QStringLiteral("Like GPT-2 124M, but: "))) found = label->text();
  EXPECT_TRUE(found.contains(QStringLiteral("Vocabulary"))) << found.toStdString();
  QTest::mouseClick(use, Qt::LeftButton);
  session().wait_for_prediction();
  EXPECT_EQ(session().setup().mesh.tp, 4);
  EXPECT_EQ(session().setup().model.hidden, 768);
  EXPECT_EQ(session().setup().global_batch(), 16);
  EXPECT_EQ(session().setup().recompute, Recompute::kFull);
}

TEST_F(Recipes, ADroppedLineIsReadAndADroppedConfigurationIsTheModel) {
  drop(file("line.sh", kLine));
  RecipeReader* reader = sheet<RecipeReader>();
  ASSERT_NE(reader, nullptr);
  EXPECT_TRUE(reader->setup().has_value());
  reader->reject();
  const QByteArray config =
      R"({"model_type": "llama", "hidden_size": 2048, "intermediate_size": 5632,
          "num_hidden_layers": 22, "num_attention_heads": 32, "num_key_value_heads": 4,
          "vocab_size": 32000, "max_position_embeddings": 2048, "tie_word_embeddings": false})";
  drop(file("config.json", config));
  ASSERT_TRUE(window->wait_for_file());
  EXPECT_EQ(session().setup().model.layers, 22);
  EXPECT_EQ(session().setup().model.kv_heads, 4);
  window->show_room(Room::kPlan);
  const QByteArray smaller = QByteArray(config).replace(": 22", ": 11");
  drop(file("smaller.json", smaller));
  const Result<Model> model = search().model();
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->layers, 11);
  EXPECT_EQ(model->kv_heads, 4);
  EXPECT_EQ(session().setup().model.layers, 22);  // a wish of the search alone
}

// What the search makes of today's setup is what the command line makes of it.
TEST_F(Recipes, TodayIsComparedWithTheBestPlan) {
  window->show_room(Room::kPlan);
  QApplication::processEvents();
  const PlanWish asked = search().wish();
  drop(file("line.sh", kLine));
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
  EXPECT_LE(answer.plans[answer.best_time].seconds, *answer.explained->seconds);
  EXPECT_TRUE(window->view().description().contains(QStringLiteral("Today: TP 4")));
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
  EXPECT_EQ(again_open->text().toStdString(), kLine);
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

// What neither the line of today nor a person chose is listed as added; a line's own stays.
TEST_F(Recipes, ALineSaysWhichValuesNobodyChose) {
  PlanWish wish = plan_wish("gpt2-124m", "4");
  const auto adds = [&] {
    const Result<parallelarium::Setup> base = base_of(wish);
    EXPECT_TRUE(base.ok());
    RecipeSheet open(session().resolved(*base), {}, window.get());
    QString all;
    for (const auto* label : open.findChildren<QLabel*>()) all += label->text();
    const QString line = open.findChild<QPlainTextEdit*>()->toPlainText();
    return std::pair(all.section(QStringLiteral("Added: "), 1).section(QLatin1Char('.'), 0, 2),
                     line);
  };
  for (const char* value : {"learning rate", "gradient clip", "seed 1"})
    EXPECT_TRUE(adds().first.contains(QLatin1String(value))) << adds().first.toStdString();
  const Result<FrameworkSetup> read = read_from_framework("megatron", kLine, new_setup());
  ASSERT_TRUE(read.ok());
  wish.today = read->setup;
  const auto [added, line] = adds();
  EXPECT_TRUE(added.contains(QStringLiteral("learning rate"))) << "the line has none";
  EXPECT_FALSE(added.contains(QStringLiteral("clip")) || added.contains(QStringLiteral("seed")));
  EXPECT_TRUE(line.contains(QStringLiteral("--seed 1234"))) << line.toStdString();
  EXPECT_TRUE(line.contains(QStringLiteral("--clip-grad 1"))) << line.toStdString();
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
  search().cancel();
  ASSERT_TRUE(wait_until([&] { return !search().searching(); }, kAnswerMs));
}

// A text that leaves recompute to the training script promises no time of its own.
TEST_F(Recipes, ATextThatNeedsTheScriptSaysSoBesideItsTime) {
  auto setup = new_setup();
  for (const auto& [key, value] : {std::pair("machine", "dgx-h100"),
                                   {"model", "llama3-8b"},
                                   {"pp", "1"},
                                   {"dp", "8"},
                                   {"zero", "3"},
                                   {"recompute", "full"}})
    ASSERT_TRUE(set_field(setup, key, value).ok()) << key;
  const auto said = [&](const char* framework) {
    RecipeSheet open(session().resolved(setup), {}, window.get(), QLatin1String(framework));
    QString all;
    for (const auto* label : open.findChildren<QLabel*>()) all += label->text();
    return all;
  };
  const QString only = QStringLiteral("only where the training script sets");
  EXPECT_TRUE(said("deepspeed").contains(only));
  EXPECT_FALSE(said("deepspeed").contains(QStringLiteral("As it is written")));
  EXPECT_FALSE(said("megatron").contains(only));
  EXPECT_TRUE(said("megatron").contains(QStringLiteral("As it is written")));
}

// In the room Plan an export is of the plan that is selected, and the dialog says so; what is set
// in Explore is another.
TEST_F(Recipes, InThePlanRoomAnExportIsOfTheSelectedPlan) {
  show("search");
  ASSERT_NE(searched(wish_with_today()), nullptr);
  search().select(search().answer()->front.back().setup);
  const auto plan = search().selected()->setup;
  ASSERT_FALSE(plan == session().setup());
  const auto exported = [&] {
    trigger(QStringLiteral("Export launch line …"));
    RecipeSheet* open = sheet<RecipeSheet>();
    const std::pair said(open->findChild<QPlainTextEdit*>()->toPlainText().toStdString(),
                         open->findChild<QLabel*>(QStringLiteral("Whose"))->text());
    delete open;
    return said;
  };
  const auto line_of = [&](const parallelarium::Setup& setup) {
    return write_for_framework("megatron", setup)->text;
  };
  for (const char* view : {"search", "compare", "roofline", "sweep"}) {
    show(view);
    EXPECT_EQ(exported().first, line_of(session().resolved(plan))) << view;
    EXPECT_TRUE(exported().second.contains(QStringLiteral("selected in Search"))) << view;
  }
  show("memory");  // of Explore
  EXPECT_EQ(exported().first, line_of(session().resolved()));
  EXPECT_TRUE(exported().second.contains(QStringLiteral("set in Explore")));
  // What is trained today is selected as a plan is.
  show("search");
  search().select(search().answer()->explained->plan->setup);
  EXPECT_TRUE(exported().second.contains(QStringLiteral("trained today")));
  EXPECT_EQ(exported().first,
            line_of(session().resolved(search().answer()->explained->plan->setup)));
}

TEST_F(Recipes, InThePlanRoomPicturesTracesAndTablesAreOfTheSelectedPlan) {
  show("search");
  ASSERT_NE(searched(plan_wish("gpt2-124m", "2")), nullptr);
  search().select(search().answer()->front.back().setup);
  const auto plan = search().selected()->setup;
  const Result<Machine> machine = find_machine(kSearchedMachine);
  const Result<Prediction> predicted = predict(session().resolved(plan), *machine);
  ASSERT_TRUE(machine.ok() && predicted.ok());
  const auto written = [&](const char* name, ExportKind kind) {
    const QString path = file(name, {});
    ExportOptions options;
    options.kind = kind;
    options.view = &window->view_info();
    options.shown = &window->view();
    const Result<void> done = export_to(session(), path, options);
    EXPECT_TRUE(done.ok()) << done.error().text;
    return path;
  };
  const auto text_in = [](const QString& path) {
    QFile read(path);
    EXPECT_TRUE(read.open(QIODevice::ReadOnly));
    return read.readAll().toStdString();
  };
  EXPECT_EQ(text_in(written("plan.csv", ExportKind::kCsv)),
            to_csv(predicted->program, predicted->timeline));
  EXPECT_EQ(text_in(written("plan.json", ExportKind::kTrace)),
            to_chrome_trace(predicted->program, predicted->timeline));
  const Result<nlohmann::json> document = read_document(written("plan.png", ExportKind::kPng));
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->at("setup"), to_json(plan));
  ExportDialog dialog(false, false, ExportKind::kPng, window->view().topic(),
                      whose_text(session(), plan), window.get());
  EXPECT_TRUE(dialog.findChild<QLabel*>(QStringLiteral("Whose"))
                  ->text()
                  .contains(QStringLiteral("selected in Search")));
}

}  // namespace
}  // namespace parallelarium

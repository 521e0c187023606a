// SPDX-License-Identifier: GPL-3.0-or-later
// Launch lines in the window: read and written; a model from its config.json.
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
#include "app/state/document/document.h"
#include "app/state/plan/plan_search.h"
#include "app/views/shared/words/plan_words.h"
#include "engine/wire/export/csv.h"
#include "engine/wire/export/trace.h"
#include "engine/wire/frameworks/framework.h"
#include "tests/app/plan/recipes_fixture.h"

namespace parallelarium {
namespace {

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
  reader->set_text(QLatin1String(kRecipeLine));
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
  drop(file("line.sh", kRecipeLine));
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
  // The table is Search's own: a line for each plan, with what it was predicted to take.
  const QStringList plans =
      QString::fromStdString(text_in(written("plans.csv", ExportKind::kCsv))).split('\n');
  const auto column = [&](const char* name) {
    return plans[0].split(',').indexOf(QLatin1String(name));
  };
  ASSERT_GE(column("step_seconds"), 0);
  const auto& all = search().selectable();
  ASSERT_GT(std::size_t(plans.size()), all.size());
  EXPECT_GE(std::size_t(plans.size()), search().answer()->points.size() + 2)
      << "a line for each plan that was simulated, a title, and a last end";
  for (std::size_t at = 0; at < all.size(); ++at) {
    const QStringList fields = plans[qsizetype(at) + 1].split(',');
    EXPECT_EQ(fields[column("tp")].toInt(), all[at]->setup.mesh.tp);
    EXPECT_EQ(fields[column("step_seconds")].toDouble(), all[at]->seconds);
    EXPECT_EQ(fields[column("needed_bytes")].toLongLong(), all[at]->bytes);
  }
  show("compare");
  EXPECT_EQ(text_in(written("plan.csv", ExportKind::kCsv)),
            to_csv(predicted->program, predicted->timeline));
  show("search");
  EXPECT_EQ(text_in(written("plan.json", ExportKind::kTrace)),
            to_chrome_trace(predicted->program, predicted->timeline));
  const QString picture = written("plan.png", ExportKind::kPng);
  const Result<nlohmann::json> document = read_document(picture);
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->at("setup"), to_json(plan));
  ExportDialog dialog(false, false, ExportKind::kPng, window->view(), whose_text(session(), plan),
                      window.get());
  EXPECT_TRUE(dialog.findChild<QLabel*>(QStringLiteral("Whose"))
                  ->text()
                  .contains(QStringLiteral("selected in Search")));
  // It opens in the room Plan with what was asked, and nothing is saved over the picture.
  const PlanWish asked = search().answered();
  PlanWish other = asked;
  other.global_batch *= 2;
  search().set_wish(other);
  window->show_room(Room::kExplore);
  window->open_file(picture);
  ASSERT_TRUE(window->wait_for_file());
  EXPECT_EQ(search().wish(), asked);
  EXPECT_EQ(QString(window->view_info().id), QStringLiteral("search"));
  EXPECT_TRUE(window->windowTitle().startsWith(QStringLiteral("untitled")))
      << window->windowTitle().toStdString();
}

}  // namespace
}  // namespace parallelarium

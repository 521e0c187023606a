// SPDX-License-Identifier: GPL-3.0-or-later
// A step that names a view shows what the view opens with, not what an earlier step left in front.
#include <QComboBox>
#include <QFile>
#include <QStyle>
#include <QStyleOptionComboBox>

#include "app/views/memory/memory_data.h"
#include "app/views/memory/memory_view.h"
#include "tests/app/lesson/lesson_fixture.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

class LessonPanes : public WindowFixture {};

TEST_F(LessonPanes, OfMemoryAreThoseThatAStepNames) {
  LessonPlayer& player = window->lesson().player();
  ASSERT_TRUE(player.open(kLessons + QStringLiteral("copies-that-agree"), 4));
  const auto* memory = &window->view_of<MemoryView>();
  player.set_presents(true);  // goes to any step
  while (player.step().id != "run-it" && !player.at_end()) player.show_step(1);
  ASSERT_EQ(player.step().tab, "memory/holders");
  EXPECT_EQ(memory->pane(), MemoryView::Pane::kHolders);
  while (player.step().id != "twice-the-ranks" && !player.at_end()) player.show_step(1);
  ASSERT_EQ(player.step().tab, "memory");
  EXPECT_EQ(memory->pane(), MemoryView::Pane::kStep);
  player.close();
}

// Of a recipe that is no preset, a lesson's own list says so.
TEST_F(LessonPanes, AFreedListNamesWhatIsNoneOfItsChoices) {
  LessonPlayer& player = window->lesson().player();
  ASSERT_TRUE(player.open(kLessons + QStringLiteral("sixteen-bits"), 4));
  player.set_presents(true);
  while (player.step().id != "fit-and-add" && !player.at_end()) player.show_step(1);
  auto* box = qobject_cast<QComboBox*>(window->setup_panel().control("precision"));
  ASSERT_NE(box, nullptr);
  EXPECT_EQ(box->currentData().toString(), QStringLiteral("fp32"));
  auto setup = session().setup();
  setup.precision.name = "custom";
  setup.precision.moments_bytes = 2;
  session().history().change(setup, QStringLiteral("own"));
  session().wait_for_prediction();
  EXPECT_EQ(box->currentIndex(), -1);
  EXPECT_EQ(box->placeholderText(), QStringLiteral("custom"));
  player.close();
}

// "neighbours: 0 1, 2 3, ..." stood in a box with room for eight letters.
TEST_F(LessonPanes, AFreedListHasRoomForItsWords) {
  LessonPlayer& player = window->lesson().player();
  ASSERT_TRUE(player.open(kLessons + QStringLiteral("the-slowest-expert"), 4));
  player.set_presents(true);
  while (player.step().id != "share-it-wider" && !player.at_end()) player.show_step(1);
  QApplication::processEvents();
  auto* box = qobject_cast<QComboBox*>(window->setup_panel().control("expert-placement"));
  ASSERT_NE(box, nullptr);
  ASSERT_TRUE(box->isVisible());
  QStyleOptionComboBox look;
  look.initFrom(box);
  const int room =
      box->style()
          ->subControlRect(QStyle::CC_ComboBox, &look, QStyle::SC_ComboBoxEditField, box)
          .width();
  for (int at = 0; at < box->count(); ++at)
    EXPECT_LE(box->fontMetrics().horizontalAdvance(box->itemText(at)), room)
        << box->itemText(at).toStdString();
  player.close();
}

// The paper's terms have one set of names: lessons that list what a layer keeps use those that
// Memory > Tensors shows, in both languages.
TEST(LessonWords, WhatALayerKeepsIsNamedAsInTheMemoryView) {
  auto setup = pipeline_setup(1, 1);
  setup.dropout = 0.1;
  for (const Precision& recipe : precision_recipes())
    if (recipe.name == "mixed-16") setup.precision = recipe;
  QFile file(QStringLiteral(PARALLELARIUM_SOURCE_DIR "/resources/sentences.json"));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const auto sentences = nlohmann::json::parse(file.readAll().toStdString());
  QStringList english, german;
  for (const TensorTerm& term : tensor_table(*predicted(setup), 0).terms) {
    if (term.paper.isEmpty()) continue;
    english << term.name;
    const QString key = QStringLiteral("tensor:") + term.name;
    for (const auto& [id, texts] : sentences.items())
      if (key.compare(QString::fromStdString(id), Qt::CaseInsensitive) == 0)
        german << QString::fromStdString(texts.at("de"));
  }
  ASSERT_GE(english.size(), 9);
  ASSERT_EQ(german.size(), english.size());
  for (const char* id : {"memory-moves", "the-ten-that-stay"}) {
    const Result<Lesson> lesson = read_lesson((kLessons + QLatin1String(id)).toStdString());
    ASSERT_TRUE(lesson) << lesson.error().text;
    const std::string step = lesson->steps.front().id;
    for (const auto& [language, names] : {std::pair("en", english), {"de", german}}) {
      const QString body = QString::fromStdString(lesson->text(language).steps.at(step).body);
      for (const QString& name : names) {
        // Selective recompute: there are no scores.
        if (std::string(id) == "the-ten-that-stay" &&
            (name.contains(QStringLiteral("robabil")) || name.contains(QStringLiteral("Wahrsch"))))
          continue;
        EXPECT_TRUE(body.contains(name, Qt::CaseInsensitive))
            << id << ", " << language << ": " << name.toStdString();
      }
    }
  }
}

}  // namespace
}  // namespace parallelarium

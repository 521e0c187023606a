// SPDX-License-Identifier: GPL-3.0-or-later
// The panel "Selected" at the right: its figures are those of what is set now, whatever was set
// when something was chosen.
#include <gmock/gmock.h>

#include "app/look/figures.h"
#include "app/look/spoken.h"
#include "app/selection/selection_panel.h"
#include "app/views/collectives/collectives_view.h"
#include "app/views/experts/experts_view.h"
#include "app/views/layer/layer_view.h"
#include "app/views/memory/holders/holders_pane.h"
#include "app/views/memory/memory_view.h"
#include "app/views/mesh/mesh_view.h"
#include "engine/plan/setup/setup_settings.h"
#include "tests/app/pipeline/pipeline_fixture.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

class SelectedPanel : public WindowFixture {
 protected:
  void SetUp() override {
    WindowFixture::SetUp();
    session().playback().set_playing(false);
  }
  void set(const std::vector<std::pair<const char*, const char*>>& fields) {
    parallelarium::Setup setup = session().setup();
    for (const auto& [field, value] : fields) ASSERT_TRUE(set_field(setup, field, value)) << field;
    session().history().change(setup, QStringLiteral("set"));
    session().wait_for_prediction();
    QApplication::processEvents();
  }
  // HTML turns spaces that do not break into others.
  static std::string plain(QString text) {
    return text.replace(QChar(QChar::Nbsp), QLatin1Char(' ')).toStdString();
  }
  std::string said() { return plain(heard_text(*window->findChild<SelectionPanel*>())); }
  void expect_says(const SelectionText& text) {
    ASSERT_FALSE(text.headline.isEmpty());
    const std::string all = said();
    EXPECT_THAT(all, testing::HasSubstr(plain(text.headline)));
    for (const FactLine& fact : text.facts)
      EXPECT_THAT(all, testing::HasSubstr(plain(fact.value).substr(0, 40)));
  }
  QWidget& picture() {
    QWidget* shown = &window->view();
    while (shown->focusProxy()) shown = shown->focusProxy();
    return *shown;
  }
};

TEST_F(SelectedPanel, OfALayersPieceSaysTheShapesThatAreSet) {
  set({{"pp", "1"}, {"tp", "2"}});
  window->show_view(QStringLiteral("layer"));
  auto& view = static_cast<LayerView&>(window->view());
  view.show_part(QStringLiteral("mlp"));
  const auto piece = [&] {
    const int step = view.look().step;
    return step < 0 ? Piece::kStage : view.picture().layer->steps[std::size_t(step)].piece;
  };
  for (int press = 0; press < 20 && piece() != Piece::kMlpIn; ++press)
    QTest::keyClick(&picture(), Qt::Key_Right);
  ASSERT_EQ(piece(), Piece::kMlpIn);
  const auto columns = [&](int tp) {
    const std::int64_t ffn = session().resolved().model.ffn;
    return plain(count_text(ffn / tp) + QStringLiteral(" of ") + count_text(ffn));
  };
  EXPECT_THAT(said(), testing::HasSubstr(columns(2)));
  set({{"tp", "4"}});
  ASSERT_EQ(piece(), Piece::kMlpIn);
  EXPECT_THAT(said(), testing::HasSubstr(columns(4)));
  EXPECT_THAT(said(), testing::Not(testing::HasSubstr(columns(2))));
  // Another view says what the op is; back here the panel says again what the picture marks.
  window->show_view(QStringLiteral("pipeline"));
  EXPECT_THAT(said(), testing::Not(testing::HasSubstr(columns(4))));
  window->show_view(QStringLiteral("layer"));
  EXPECT_THAT(said(), testing::HasSubstr(columns(4)));
  view.show_part(QStringLiteral("head"));
  EXPECT_THAT(said(), testing::Not(testing::HasSubstr(columns(4)))) << "it has no such piece";
}

TEST_F(SelectedPanel, OfACellSaysWhatIsHeldNow) {
  set({{"pp", "1"}, {"dp", "4"}, {"zero", "1"}});
  window->show_view(QStringLiteral("memory"));
  window->view().show_part(QStringLiteral("holders"));
  QApplication::processEvents();
  auto* pane = window->findChild<HoldersPane*>();
  ASSERT_TRUE(pane && pane->isVisible());
  session().playback().set_playhead(Nanoseconds(0));
  pane->clearFocus();
  const QImage unchosen = pane->grab().toImage();
  pane->setFocus();
  for (const Qt::Key key : {Qt::Key_Right, Qt::Key_Right, Qt::Key_Right, Qt::Key_Down})
    QTest::keyClick(pane, key);
  const std::string name = "Rank 1";
  const auto cell = [&] { return holders_words(pane->picture(), 1, 2); };
  expect_says(cell());
  pane->clearFocus();
  EXPECT_NE(pane->grab().toImage(), unchosen) << "its frame stays";
  SelectionText before = cell();
  QTest::keyClick(pane, Qt::Key_M);  // after the forward: activations are held
  EXPECT_NE(cell(), before);
  expect_says(cell());
  before = cell();
  session().playback().set_playhead(session().subject().horizon() / 2);
  EXPECT_NE(cell(), before);
  expect_says(cell());
  before = cell();
  set({{"zero", "3"}});
  EXPECT_NE(cell(), before);
  expect_says(cell());
  set({{"dp", "1"}});
  EXPECT_THAT(said(), testing::Not(testing::HasSubstr(plain(before.headline)))) << "no such cell";
}

TEST_F(SelectedPanel, OfAStageOfZeroSaysItsBytesAndOfAPointWhatIsThere) {
  set({{"pp", "1"}, {"dp", "4"}, {"zero", "0"}});
  window->show_view(QStringLiteral("memory"));
  const auto bytes_of_zero_1 = [&] {
    parallelarium::Setup setup = session().resolved();
    setup.zero = 1;
    return plain(bytes_text(predicted(setup)->memory[0].peak_bytes));
  };
  window->view().setFocus();
  QTest::keyClick(&window->view(), Qt::Key_Right);
  QTest::keyClick(&window->view(), Qt::Key_Right);
  const std::string before = bytes_of_zero_1();
  EXPECT_THAT(said(), testing::HasSubstr(before));
  set({{"layers", "4"}});
  window->view().wait();
  ASSERT_NE(bytes_of_zero_1(), before);
  EXPECT_THAT(said(), testing::HasSubstr(bytes_of_zero_1()));
  EXPECT_THAT(said(), testing::Not(testing::HasSubstr(before)));
}

TEST_F(SelectedPanel, OfARankSaysTheLayersAndBytesThatAreSet) {
  set({{"pp", "2"}});
  window->show_view(QStringLiteral("mesh"));
  static_cast<MeshView&>(window->view()).show_rank(1);
  const auto memory = [&] {
    return plain(bytes_text(session().subject().prediction()->memory[1].peak_bytes));
  };
  EXPECT_THAT(said(), testing::HasSubstr(memory()));
  const std::string before = memory();
  set({{"pp", "4"}});
  ASSERT_NE(memory(), before);
  EXPECT_THAT(said(), testing::HasSubstr(memory()));
  EXPECT_THAT(said(), testing::HasSubstr("layers 2"));
  EXPECT_THAT(said(), testing::Not(testing::HasSubstr(before)));
  session().locks().set_hidden({QStringLiteral("memory.peak_bytes")});
  EXPECT_THAT(said(), testing::Not(testing::HasSubstr(memory()))) << "a lesson asks for it";
}

TEST_F(SelectedPanel, OfAnExpertSaysNothingOnceTokensGoElsewhere) {
  set({{"model", "moe-tiny"}, {"pp", "1"}, {"dp", "4"}, {"ep", "4"}});
  window->show_view(QStringLiteral("experts"));
  window->view().wait();
  QTest::keyClick(&picture(), Qt::Key_Down);
  EXPECT_THAT(said(), testing::HasSubstr("Expert 0 on rank 0"));
  set({{"skew", "0.5"}});
  window->view().wait();
  EXPECT_THAT(said(), testing::Not(testing::HasSubstr("Expert 0 on rank 0")));
}

TEST_F(SelectedPanel, OfAMoveOfACollectiveSaysItsOwnBytes) {
  window->show_view(QStringLiteral("collectives"));
  window->view().wait();
  QTest::keyClick(&picture(), Qt::Key_Right);
  const std::string chosen = said();
  ASSERT_GE(static_cast<CollectivesView&>(window->view()).picture().selected.step, 0);
  window->show_view(QStringLiteral("mesh"));
  EXPECT_NE(said(), chosen);
  window->show_view(QStringLiteral("collectives"));
  EXPECT_EQ(said(), chosen);
  QTest::keyClick(&picture(), Qt::Key_Escape);
  EXPECT_NE(said(), chosen);
}

}  // namespace
}  // namespace parallelarium

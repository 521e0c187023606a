// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers of tensors in the Layer view: in the tip, the selection and the text of the picture,
// and the cell under the pointer.
#include "app/views/layer/picture/layer_values.h"

#include <gmock/gmock.h>

#include <QHelpEvent>
#include <QTest>
#include <QTextDocumentFragment>
#include <QToolButton>
#include <QToolTip>
#include <cmath>

#include "app/state/run/engine_process.h"
#include "app/views/layer/layer_inside.h"
#include "app/views/layer/layer_view.h"
#include "app/views/layer/picture/experts/layer_experts.h"
#include "engine/plan/setup/setup_settings.h"
#include "tests/app/pipeline/pipeline_fixture.h"
#include "tests/app/wait.h"

namespace parallelarium {
namespace {

class LayerValues : public testing::Test {
 protected:
  void show(const std::vector<std::pair<const char*, const char*>>& fields) {
    PlanSetup setup = default_setup();
    for (const auto& [field, value] : fields) ASSERT_TRUE(set_field(setup, field, value)) << field;
    session.restore(setup, {}, std::nullopt);
    session.wait_for_prediction();
    view.resize(1000, 700);
    view.show();
  }
  void wait_for_the_run() {
    ASSERT_TRUE(wait_until([&] { return session.jobs().state() == RunState::kIdle; }, kRunMs));
    ASSERT_EQ(session.jobs().last_error(), QString());
    ASSERT_NE(view.picture().look.inside, nullptr);
  }
  QString tip(QPointF point) {
    QHelpEvent help(QEvent::ToolTip, point.toPoint(), view.canvas().mapToGlobal(point.toPoint()));
    QApplication::sendEvent(&view.canvas(), &help);
    return QTextDocumentFragment::fromHtml(QToolTip::text()).toPlainText();
  }
  // Of the whole tensor of the first shown rank.
  QRectF place_of(Piece piece, const char* name) {
    const LayerPicture picture = view.picture();
    for (const LayerHalf& half : view.layout_now().halves)
      for (const LayerBox& box : half.boxes) {
        const LayerStep& step = picture.layer->steps[std::size_t(box.step)];
        if (box.mark != LayerMark::kTensor || step.piece != piece ||
            step.ranks[0].tensors[std::size_t(box.tensor)].name != name)
          continue;
        return {box.x, half.rows[0] - box.height / 2, box.width, box.height};
      }
    ADD_FAILURE() << name << " is not drawn";
    return {};
  }
  Session session;
  LayerView view{session};
};

TEST_F(LayerValues, ADoubleClickBringsTheNumbersThatTheTipPromises) {
  ASSERT_FALSE(EngineProcess::find_program().isEmpty()) << "the engine is not built";
  show({{"pp", "1"}, {"tp", "2"}});
  const QRectF place = place_of(Piece::kMlpIn, "w");
  const QPointF point = QPoint(int(place.left() + place.width() * 0.2), int(place.center().y()));
  EXPECT_THAT(tip(point).toStdString(), testing::HasSubstr("Double-click, or press Look inside"));
  QTest::mouseDClick(&view.canvas(), Qt::LeftButton, {}, point.toPoint());
  EXPECT_NE(session.jobs().state(), RunState::kIdle);
  wait_for_the_run();

  // The cell under the pointer: rank 0 has the left half of the columns.
  const LayerPicture picture = view.picture();
  const LayerInside& inside = *picture.look.inside;
  const LayerTensorHit hit = layer_tensor_hit(view.layout_now(), point);
  ASSERT_GE(hit.step, 0);
  const InsideTensor* weights = layer_values(picture, hit.step, hit.tensor, hit.rank);
  ASSERT_NE(weights, nullptr);
  const int column =
      int((point.x() - hit.place.left()) / (hit.place.width() / 2) * weights->columns);
  const int row = int((point.y() - hit.place.top()) / hit.place.height() * weights->rows);
  // Or one beside it: the event comes at a whole pixel.
  const std::string said = tip(point).toStdString();
  bool found = false;
  for (int y = std::max(0, row - 1); y <= std::min(row + 1, weights->rows - 1); ++y)
    for (int x = std::max(0, column - 1); x <= std::min(column + 1, weights->columns - 1); ++x) {
      const double value = weights->means[std::size_t(y * weights->columns + x)];
      const QString cell = "w here: " + QLocale().toString(value, 'g', 4) + ",";
      found = found || said.find(cell.toStdString()) != std::string::npos;
    }
  EXPECT_TRUE(found) << said << " at row " << row << " of " << weights->rows << ", column "
                     << column << " of " << weights->columns;
  EXPECT_THAT(tip(place.center() + QPointF(place.width() * 0.3, 0)).toStdString(),
              testing::Not(testing::HasSubstr("w here")))
      << "the other rank's part";
  for (const InsideTensor& tensor : inside.tensors) {
    EXPECT_GE(tensor.norm, std::fabs(tensor.mean)) << tensor.name;
    EXPECT_LE(tensor.min, tensor.mean) << tensor.name;
    EXPECT_LE(tensor.mean, tensor.max) << tensor.name;
    for (const double mean : tensor.means) {
      EXPECT_GE(mean, tensor.min - 1e-6) << tensor.name;
      EXPECT_LE(mean, tensor.max + 1e-6) << tensor.name;
    }
  }
}

// The marks of partial sums would cover the colours that one should compare.
TEST_F(LayerValues, NoMarkOfAPartialSumCoversItsColours) {
  show({{"pp", "1"}, {"tp", "2"}});
  view.findChild<QToolButton*>(QStringLiteral("LookInside"))->click();
  wait_for_the_run();
  session.playback().set_playhead(session.subject().horizon());  // all is computed
  constexpr int kLarge = 4;  // so that a mark has pixels of its ink alone
  QImage image(view.canvas().size() * kLarge, QImage::Format_RGB32);
  image.setDevicePixelRatio(kLarge);
  view.canvas().render(&image);
  const LayerPicture picture = view.picture();
  int partial = 0, marked = 0;
  for (const LayerHalf& half : view.layout_now().halves)
    for (const LayerBox& box : half.boxes) {
      if (box.mark != LayerMark::kTensor) continue;
      const LayerTensor& of =
          picture.layer->steps[std::size_t(box.step)].ranks[0].tensors[std::size_t(box.tensor)];
      if (!of.partial || !layer_values(picture, box.step, box.tensor, 0)) continue;
      ++partial;
      const QRect place = QRectF(box.x * kLarge, (half.rows[0] - box.height / 2) * kLarge,
                                 box.width * kLarge, box.height * kLarge)
                              .toRect()
                              .adjusted(8, 8, -8, -8);
      for (int y = place.top(); y < place.bottom(); ++y)
        for (int x = place.left(); x < place.right(); ++x)
          marked += image.pixelColor(x, y) == light_theme().text;
    }
  EXPECT_GT(partial, 0);
  EXPECT_EQ(marked, 0);
}

// The view tells what a run established as long as it shows the run's numbers.
TEST_F(LayerValues, WhatARunEstablishedIsToldOfItsOwnSettingsAlone) {
  show({{"pp", "1"}, {"tp", "2"}});
  QString told;
  for (const auto signal : {&View::described, &View::retold})
    QObject::connect(&view, signal, &view,
                     [&](const SelectionText& text) { told = text.headline; });
  for (const bool other_part : {true, false}) {
    view.findChild<QToolButton*>(QStringLiteral("LookInside"))->click();
    wait_for_the_run();
    EXPECT_TRUE(told.startsWith(QStringLiteral("Looked inside"))) << told.toStdString();
    if (other_part)
      view.show_part(QStringLiteral("embedding"));
    else
      show({{"tp", "4"}});
    EXPECT_FALSE(told.startsWith(QStringLiteral("Looked inside"))) << other_part;
    view.show_part(QStringLiteral("mlp"));
    EXPECT_FALSE(told.startsWith(QStringLiteral("Looked inside"))) << other_part;
  }
}

TEST_F(LayerValues, EveryTensorOfAPieceHasItsFourNumbersOnEveryRank) {
  show({{"pp", "1"}, {"tp", "2"}});
  view.findChild<QToolButton*>(QStringLiteral("LookInside"))->click();
  wait_for_the_run();
  LayerLook look = view.look();
  int told = 0, differ = 0;
  const std::shared_ptr<const LayerSteps> layer = view.picture().layer;
  for (int step = 0; step < int(layer->steps.size()); ++step) {
    const LayerStep& of = layer->steps[std::size_t(step)];
    if (of.kind != LayerStepKind::kCompute) continue;
    std::vector<std::string> texts;
    for (int rank = 0; rank < 2; ++rank) {
      look.step = step;
      look.rank = rank;
      view.show_look(look);
      const LayerPicture picture = view.picture();
      const std::string facts =
          selection_sentence(describe_layer_step(picture, step, rank)).toStdString();
      const std::string heard = view.description().toStdString();
      const LayerRankStep& part = of.ranks[std::size_t(rank)];
      for (int tensor = 0; tensor < int(part.tensors.size()); ++tensor) {
        const InsideTensor* values = layer_values(picture, step, tensor, rank);
        if (!values) continue;
        const auto text = [](double number) { return QLocale().toString(number, 'g', 4); };
        const std::string numbers =
            QStringLiteral("norm %1, mean %2, from %3 to %4")
                .arg(text(values->norm), text(values->mean), text(values->min), text(values->max))
                .toStdString();
        EXPECT_THAT(facts, testing::HasSubstr(numbers)) << values->name;
        EXPECT_THAT(heard, testing::HasSubstr(numbers)) << values->name;
        ++told;
      }
      texts.push_back(facts.substr(facts.find("norm ")));
    }
    differ += texts[0] != texts[1];
  }
  EXPECT_GE(told, 30);
  EXPECT_GT(differ, 2) << "shards differ";
}

// Before the press and after it no communication is left without a word on what is compared. What
// no run compares says so before, too.
TEST_F(LayerValues, WhatIsNotComparedSaysWhy) {
  int without = 0;
  for (const auto& fields : std::vector<std::vector<std::pair<const char*, const char*>>>{
           {{"pp", "1"}, {"tp", "2"}, {"ring-tensor", "on"}, {"sequence-parallel", "on"}},
           {{"pp", "1"}, {"model", "moe-tiny"}, {"dp", "2"}, {"ep", "2"}}}) {
    show(fields);
    for (const bool looked : {false, true}) {
      if (looked) {
        view.findChild<QToolButton*>(QStringLiteral("LookInside"))->click();
        wait_for_the_run();
      }
      const LayerPicture picture = view.picture();
      int sent = 0;
      for (int step = 0; step < int(picture.layer->steps.size()); ++step) {
        const LayerStep& of = picture.layer->steps[std::size_t(step)];
        if (of.kind != LayerStepKind::kCollective && of.kind != LayerStepKind::kExchange) continue;
        ++sent;
        QString checked;
        for (const FactLine& fact : describe_layer_step(picture, step, 0).facts)
          if (fact.word == QLatin1String("checked")) checked = fact.value;
        EXPECT_FALSE(checked.isEmpty()) << layer_step_name(of).toStdString();
        const bool later_in_ring = of.blocks > 1 && of.block > 0;
        const bool never = !layer_way_text(of).isEmpty() || later_in_ring;
        EXPECT_EQ(checked.startsWith(QLatin1String("not yet")), !looked && !never)
            << checked.toStdString();
        if (never) {
          EXPECT_TRUE(checked.startsWith(later_in_ring ? QLatin1String("with the first exchange")
                                                       : QLatin1String("not here")))
              << checked.toStdString();
        }
        if (looked && !picture.look.inside->identity_of(step)) ++without;
      }
      EXPECT_GT(sent, 1);
    }
  }
  EXPECT_GT(without, 0) << "counts of tokens";
}

TEST_F(LayerValues, OnAnotherMachineWhatIsComparedNeedsARunHere) {
  show({{"pp", "1"}, {"tp", "2"}, {"machine", "dgx-h100"}});
  ASSERT_FALSE(view.findChild<QToolButton*>(QStringLiteral("LookInside"))->isEnabled());
  const LayerPicture picture = view.picture();
  int told = 0;
  for (int step = 0; step < int(picture.layer->steps.size()); ++step)
    for (const FactLine& fact : describe_layer_step(picture, step, 0).facts) {
      if (fact.word != QLatin1String("checked")) continue;
      EXPECT_EQ(fact.value, QLatin1String("needs a run on this computer"));
      ++told;
    }
  EXPECT_GT(told, 0);
}

// Both papers' letters: what Shoeybi et al. call g, Korthikanti et al. call f̄, with another g.
TEST_F(LayerValues, TheLettersOfBothPapersAreTold) {
  show({{"pp", "1"}, {"tp", "2"}});
  EXPECT_THAT(view.description().toStdString(),
              testing::HasSubstr("g (f\u0304 in Korthikanti et al.): an all-reduce forward"));
  show({{"pp", "1"}, {"tp", "2"}, {"sequence-parallel", "on"}});
  EXPECT_THAT(view.description().toStdString(),
              testing::AllOf(testing::HasSubstr("in Shoeybi et al. an all-reduce"),
                             testing::HasSubstr("\u1e21: a reduce-scatter forward")));
}

// Three heads cannot be shared by two ranks.
TEST_F(LayerValues, WhereNothingIsSplitWhatIsOfferedIsValid) {
  show({{"pp", "1"}, {"heads", "3"}, {"kv-heads", "3"}, {"hidden", "96"}});
  QStringList offered;
  for (auto* button : view.canvas().findChildren<QToolButton*>()) {
    if (!button->isVisible()) continue;
    offered << button->text();
    button->click();
    session.wait_for_prediction();
    EXPECT_TRUE(session.problems().empty()) << button->text().toStdString();
    session.history().stack().undo();
    session.wait_for_prediction();
  }
  EXPECT_TRUE(offered.front().endsWith(QStringLiteral("TP 3"))) << offered.join(u' ').toStdString();
}

}  // namespace
}  // namespace parallelarium

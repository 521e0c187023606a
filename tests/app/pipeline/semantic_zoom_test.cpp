// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline from far and near: an action of a stage, its layers, their pieces and collectives.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "app/look/figures.h"
#include "app/selection/selection_panel.h"
#include "app/views/shared/words/words.h"
#include "tests/app/pipeline/timelines_fixture.h"

namespace parallelarium {
namespace {

constexpr Zoom kZooms[] = {Zoom::kActions, Zoom::kLayers, Zoom::kPieces};

PlanSetup with(PlanSetup setup, const std::function<void(PlanSetup&)>& change) {
  change(setup);
  return setup;
}

// Setups whose compute lanes hold collectives, recomputed forwards, split backwards and chunks.
std::vector<std::pair<std::string, PlanSetup>> setups() {
  const auto tensor = [](PlanSetup& s) { s.mesh.tp = 2; };
  return {
      {"pipeline", pipeline_setup(4, 8)},
      {"tensor", with(pipeline_setup(2, 4), tensor)},
      {"sequence", with(pipeline_setup(2, 4),
                        [](PlanSetup& s) {
                          s.mesh.tp = 2;
                          s.sequence_parallel = true;
                        })},
      {"split", pipeline_setup(4, 8, "zb-h1")},
      {"split ahead", pipeline_setup(4, 8, "zb-h2")},
      {"split V", pipeline_setup(4, 8, "zb-v")},
      {"mirrored", with(pipeline_setup(4, 8, "dualpipe"), tensor)},
      {"mirrored V", pipeline_setup(4, 8, "dualpipe-v")},
      {"chunks", with(pipeline_setup(2, 4, "interleaved"),
                      [](PlanSetup& s) {
                        s.chunks = 2;
                        s.model.layers = 8;
                      })},
      {"recompute", with(pipeline_setup(2, 4),
                         [](PlanSetup& s) {
                           s.mesh.tp = 2;
                           s.recompute = Recompute::kFull;
                         })},
      {"zero", with(pipeline_setup(1, 2, "1f1b", 4), [](PlanSetup& s) { s.zero = 3; })},
  };
}

std::shared_ptr<const LaneRows> rows_for(const PlanSetup& setup) {
  return rows_of(predicted(setup), 1.1);
}

// What an order and a model say that there must be, without looking at ops: an action is one bar; a
// layer is one bar of each action of its chunk; embedding and head are one each where they stand
// (the embedding has no gradient of its input).
TEST(Levels, HaveABarForEachActionLayerAndPiece) {
  for (const auto& [name, setup] : setups()) {
    const auto prediction = predicted(setup);
    const auto rows = rows_of(prediction, 1.1);
    const Order& order = prediction->order;
    const int per_chunk = setup.model.layers / order.stages;
    for (const Row& row : rows->rows) {
      const RankProgram& rank = rows->program().ranks[std::size_t(row.rank_index)];
      std::size_t layers = 0, pieces = 0, others = 0;
      for (const Action& action : rank.actions) {
        const int stage = order.stage_of[std::size_t(row.stage)][std::size_t(action.chunk)];
        const bool first = stage == 0, last = stage == order.stages - 1;
        layers += std::size_t(per_chunk);
        if (first && action.kind != ActionKind::kInputGrad) ++layers;
        if (last) ++layers;
      }
      std::set<std::int32_t> batches;
      for (const Op& op : rank.ops) {
        if (op.lane != Lane::kCompute || (op.batch >= 0 && !batches.insert(op.batch).second))
          continue;
        ++pieces;
        others += op.microbatch < 0;
      }
      const auto count = [&](Zoom zoom) { return row.lane(Lane::kCompute, zoom).bars.size(); };
      EXPECT_EQ(count(Zoom::kActions), rank.actions.size() + others) << name;
      EXPECT_EQ(count(Zoom::kLayers), layers + others) << name << ", stage " << row.stage;
      EXPECT_EQ(count(Zoom::kPieces), pieces) << name;
      EXPECT_GT(pieces, 3 * layers) << name;
    }
  }
}

TEST(Levels, KeepAllTheTimeOfTheOps) {
  for (const auto& [name, setup] : setups()) {
    const auto rows = rows_for(setup);
    for (const Row& row : rows->rows) {
      const auto& ops = rows->program().ranks[std::size_t(row.rank_index)].ops;
      const auto& spans = rows->timeline->ranks[std::size_t(row.rank_index)].spans;
      std::int64_t all = 0, communicating = 0;
      std::set<std::int32_t> batches;
      for (std::size_t op = 0; op < ops.size(); ++op) {
        if (ops[op].lane != Lane::kCompute) continue;
        if (ops[op].batch >= 0 && !batches.insert(ops[op].batch).second) continue;
        const std::int64_t length = (spans[op].end - spans[op].begin).count();
        all += length;
        if (ops[op].kind != OpKind::kCompute) communicating += length;
      }
      const BarList& pieces = row.lane(Lane::kCompute, Zoom::kPieces);
      for (const Zoom zoom : kZooms) {
        const BarList& list = row.lane(Lane::kCompute, zoom);
        const auto& busy = list.busy.back();
        EXPECT_EQ(std::accumulate(busy.begin(), busy.end(), std::int64_t(0)), all) << name;
        EXPECT_EQ(busy[std::size_t(OpColor::kCommunication)], communicating) << name;
        if (zoom == Zoom::kPieces) continue;
        std::size_t next = 0;  // parts follow each other and none is left out
        for (std::size_t bar = 0; bar < list.bars.size(); ++bar) {
          ASSERT_EQ(list.parts[bar], next);
          next = list.parts[bar + 1];
          ASSERT_GT(next, list.parts[bar]);
          EXPECT_EQ(list.bars[bar].span.begin, pieces.bars[list.parts[bar]].span.begin);
          EXPECT_EQ(list.bars[bar].span.end, pieces.bars[next - 1].span.end);
          EXPECT_EQ(list.bars[bar].first_op, pieces.bars[list.parts[bar]].first_op);
          EXPECT_EQ(list.bars[bar].last_op, pieces.bars[next - 1].last_op);
        }
        EXPECT_EQ(next, pieces.bars.size());
      }
    }
  }
}

// A bar seen from far is no work where its next part waits: work and waiting make up its length.
TEST(Levels, TellWhereABarWaits) {
  for (const auto& [name, setup] : setups()) {
    const auto rows = rows_for(setup);
    std::int64_t waited = 0;
    int longs = 0;  // bars that are hatched
    for (const Row& row : rows->rows)
      for (const Zoom zoom : {Zoom::kActions, Zoom::kLayers}) {
        const BarList& list = row.lane(Lane::kCompute, zoom);
        for (std::size_t bar = 0; bar < list.bars.size(); ++bar) {
          const Span& span = list.bars[bar].span;
          std::int64_t filled = 0;
          for (int kind = 0; kind < kOpColors; ++kind)
            filled += list.busy[bar + 1][std::size_t(kind)] - list.busy[bar][std::size_t(kind)];
          for (const Span& wait : list.waits)
            if (wait.begin >= span.begin && wait.end <= span.end) {
              filled += (wait.end - wait.begin).count();
              waited += (wait.end - wait.begin).count();
            }
          ASSERT_EQ(filled, (span.end - span.begin).count()) << name;
          longs += list.waits_long(bar);
        }
      }
    if (name == "zero") {
      EXPECT_GT(waited, 0) << "for gathered parameters";
      EXPECT_GT(longs, 0) << "many short waits, together more than launches take";
    }
  }
}

// Collectives that drawings often leave out: in the Program, in the ledger and as a bar that says
// what it is.
TEST(Levels, ShowTheCollectivesThatAreEasilyForgotten) {
  const struct {
    const char* sentence;
    Purpose purpose;
    PlanSetup setup;
  } kCases[] = {
      {"All-reduce of embedding over the 2 ranks of the PP group", Purpose::kEmbedding,
       pipeline_setup(2, 4)},
      {"All-reduce of gradients over the 2 ranks of the PP group", Purpose::kGradients,
       pipeline_setup(4, 8, "dualpipe")},
      {"All-reduce of replicated-gradients over the 2 ranks of the TP group", Purpose::kReplicated,
       with(pipeline_setup(1, 2),
            [](PlanSetup& s) {
              s.mesh.tp = 2;
              s.sequence_parallel = true;
            })},
      {"All-reduce of replicated-gradients over the 2 ranks of the TP group", Purpose::kReplicated,
       with(pipeline_setup(1, 2),
            [](PlanSetup& s) {
              s.mesh.tp = 4;
              s.model.kv_heads = 2;
            })},
      {"All-reduce of gradients over the 4 ranks of the DP group", Purpose::kGradients,
       with(pipeline_setup(1, 2, "1f1b", 2),
            [](PlanSetup& s) {
              s.mesh.cp = 2;
              s.attention = Attention::kFused;
            })},
      {"All-reduce of norm over", Purpose::kNorm,
       with(pipeline_setup(2, 2), [](PlanSetup& s) { s.clip = 1; })},
      {"All-reduce of loss of micro-batch 1 over the 2 ranks of the TP group", Purpose::kLoss,
       with(pipeline_setup(1, 2), [](PlanSetup& s) { s.mesh.tp = 2; })},
  };
  for (const auto& one : kCases) {
    const auto rows = rows_for(one.setup);
    bool drawn = false;
    QStringList sentences;
    for (const Row& row : rows->rows)
      for (const Lane lane : {Lane::kCompute, Lane::kPipeline, Lane::kData})
        for (const Bar& bar : row.lane(lane, Zoom::kPieces).bars) {
          const Op& op = rows->program().ranks[std::size_t(row.rank_index)].ops[bar.first_op];
          if (op.purpose != one.purpose) continue;
          sentences << bar_sentence(rows->program(), row.rank_index, bar);
          drawn |= sentences.back().contains(QLatin1String(one.sentence));
        }
    sentences.removeDuplicates();
    EXPECT_TRUE(drawn) << one.sentence << "\n" << sentences.join(QLatin1Char('\n')).toStdString();
    const std::vector<TrafficRow> ledger = traffic_of(rows->program(), 0);
    EXPECT_TRUE(std::any_of(ledger.begin(), ledger.end(), [&](const TrafficRow& row) {
      return row.purpose == one.purpose && row.sent_bytes > 0;
    })) << one.sentence;
  }
}

// Of a whole backward the pieces show what the zero-bubble schedules pull apart.
TEST(Levels, ABackwardOpensIntoBothGradients) {
  const auto rows = rows_for(pipeline_setup(2, 4));
  std::map<OpColor, int> colors[3];
  for (const Row& row : rows->rows)
    for (const Zoom zoom : kZooms)
      for (const Bar& bar : row.lane(Lane::kCompute, zoom).bars)
        if (bar.microbatch >= 0 && bar.action == ActionKind::kBackward)
          ++colors[int(zoom)][color_of(bar)];
  EXPECT_EQ(colors[0].size(), 1u);
  EXPECT_EQ(colors[1].size(), 1u);
  EXPECT_EQ(colors[2].count(OpColor::kBackward), 1u);
  EXPECT_EQ(colors[2].count(OpColor::kWeight), 1u);
}

TEST(Levels, LabelsNeverOverlapAndStandInTheirBars) {
  for (const auto& [name, setup] : setups()) {
    Picture picture = two_lanes(setup, 1.3);
    const Nanoseconds end = picture.range.end;
    const QSize size(1100, 520);
    std::set<Zoom> seen;
    for (double share = 1; share > 0.002; share *= 0.6) {
      const Nanoseconds length(std::int64_t(double(end.count()) * share));
      picture.range = {(end - length) / 3, (end - length) / 3 + length};
      const PictureLayout layout = layout_of(picture, size, light_theme());
      seen.insert(zoom_of(picture, layout));
      QImage image(size, QImage::Format_RGB32);
      QPainter painter(&image);
      TextLog texts;
      paint_timeline(painter, picture, layout, light_theme(), size, 0, &texts);
      EXPECT_EQ(overlapping(texts), "") << name << " " << share;
      for (const PaintedText& text : texts) {
        EXPECT_GE(text.rect.left(), 0) << text.text.toStdString();
        EXPECT_LE(text.rect.right(), size.width()) << text.text.toStdString();
        const double x = text.rect.center().x(), y = text.rect.center().y();
        if (x < layout.axis_left || y < layout.tick_band) continue;
        const auto hit = hit_at(picture, layout, QPointF(x, y), 0);
        if (!hit || hit->bar < 0 || hit->merged > 1) continue;
        const PictureLane& lane = picture.lanes[std::size_t(hit->lane)];
        const Row& row = lane.rows->rows[std::size_t(hit->row)];
        const Bar& bar = row.lane(hit->which, hit->zoom).bars[std::size_t(hit->bar)];
        if (hit->which != Lane::kCompute) continue;
        EXPECT_TRUE(bar_labels(bar).contains(text.text)) << text.text.toStdString();
        const QRectF rect =
            rect_of_bar(picture, layout, hit->lane, bar, row.rank_index, 0, hit->zoom);
        EXPECT_TRUE(rect.adjusted(-1, 0, 1, 0).contains(text.rect.adjusted(0, 0, 0, -1)))
            << name << ": " << text.text.toStdString();
      }
    }
    EXPECT_EQ(seen.size(), 3u) << name << " opens twice on the way in";
  }
}

TEST(Levels, AllLanesAreShownAsNearAsEachOther) {
  Picture picture = two_lanes(with(pipeline_setup(2, 4), [](PlanSetup& s) { s.mesh.tp = 2; }), 3);
  const Nanoseconds end = picture.range.end;
  for (double share = 1; share > 0.002; share *= 0.7) {
    picture.range.end = Nanoseconds(std::int64_t(double(end.count()) * share));
    const PictureLayout layout = layout_of(picture, QSizeF(1100, 520), light_theme());
    const double pixels = layout.axis(picture.range).pixels_per_nanosecond();
    for (const PictureLane& lane : picture.lanes)
      EXPECT_LE(zoom_of(picture, layout), lane.rows->zoom_at(pixels));
  }
}

class Opened : public Timelines {
 protected:
  void SetUp() override {
    PlanSetup setup = pipeline_setup(2, 4);
    setup.mesh.tp = 2;
    open(setup, false);
  }
  const LaneRows& rows(int lane = 0) { return *view.picture().lanes[std::size_t(lane)].rows; }
  Zoom shown() { return zoom_of(view.picture(), view.layout_of_rows()); }
  // The first bar of the second row that is like this, brought into sight.
  template <class Like>
  QPoint seek(Zoom zoom, Like like) {
    const Row& row = rows().rows[1];
    for (const Bar& bar : row.lane(Lane::kCompute, zoom).bars) {
      if (!like(bar)) continue;
      const Nanoseconds length = bar.span.end - bar.span.begin;
      // As many bars as make the picture open so far and no farther.
      for (Nanoseconds margin = length / 4; margin < session.subject().horizon(); margin *= 2) {
        session.subject().set_visible({bar.span.begin - margin, bar.span.end + margin});
        if (shown() == zoom) break;
      }
      EXPECT_EQ(shown(), zoom);
      found = bar;
      return rect_of_bar(view.picture(), view.layout_of_rows(), 0, bar, row.rank_index, 0, zoom)
          .center()
          .toPoint();
    }
    ADD_FAILURE() << "no such bar";
    return {};
  }
  void expect_selection(const QString& headline) {
    EXPECT_EQ(describe_selection(session).headline, headline);
    QStringList facts;
    for (const FactLine& fact : describe_selection(session).facts) facts << fact.value;
    EXPECT_TRUE(facts.contains(time_text(found.span.end - found.span.begin)))
        << facts.join(' ').toStdString();
  }
  Bar found;
};

TEST_F(Opened, HoverAndSelectionSpeakOfTheAction) {
  const QPoint at = seek(Zoom::kActions, [](const Bar& bar) {
    return bar.action == ActionKind::kBackward && bar.microbatch == 2;
  });
  const QString sentence = QStringLiteral("Backward of micro-batch 2 on stage 0");
  const QString tip = view.tip_at(at);
  EXPECT_TRUE(tip.startsWith(sentence)) << tip.toStdString();
  EXPECT_TRUE(tip.contains(QStringLiteral("collectives"))) << tip.toStdString();
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, at);
  EXPECT_EQ(session.subject().selected_zoom(), Zoom::kActions);
  expect_selection(sentence);
}

TEST_F(Opened, HoverAndSelectionSpeakOfTheLayerAndTheBandAboveOfItsAction) {
  const QPoint at = seek(Zoom::kLayers, [](const Bar& bar) {
    return bar.action == ActionKind::kForward && bar.microbatch == 3 && bar.layer == 1;
  });
  const QString sentence = QStringLiteral("Layer 1 in the forward of micro-batch 3 on stage 0");
  EXPECT_TRUE(view.tip_at(at).startsWith(sentence)) << view.tip_at(at).toStdString();
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, at);
  EXPECT_EQ(session.subject().selected_zoom(), Zoom::kLayers);
  expect_selection(sentence);
  const RowBox& box = view.layout_of_rows().rows[1];
  const QPointF above(at.x(), box.bar.top() + 4 + view.layout_of_rows().tick_band);
  EXPECT_TRUE(view.tip_at(above).startsWith(QStringLiteral("Forward of micro-batch 3")))
      << view.tip_at(above).toStdString();
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, above.toPoint());
  EXPECT_EQ(session.subject().selected_zoom(), Zoom::kActions);
}

TEST_F(Opened, HoverAndSelectionSpeakOfThePieceAndTheCollective) {
  QPoint at = seek(Zoom::kPieces, [](const Bar& bar) {
    return bar.action == ActionKind::kBackward && bar.microbatch == 1 && bar.layer == 0 &&
           bar.piece == Piece::kMlpIn && bar.phase == Phase::kWeightGrad;
  });
  QString sentence = QStringLiteral(
      "Weight gradient of MLP in, layer 0, in the backward of micro-batch 1 on stage 0");
  EXPECT_TRUE(view.tip_at(at).startsWith(sentence)) << view.tip_at(at).toStdString();
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, at);
  EXPECT_EQ(session.subject().selected_zoom(), Zoom::kPieces);
  expect_selection(sentence);
  at = seek(Zoom::kPieces, [](const Bar& bar) {
    return bar.kind == OpKind::kCollective && bar.microbatch == 2 && bar.layer == 1 &&
           bar.action == ActionKind::kForward;
  });
  sentence = QStringLiteral(
      "All-reduce of activations of micro-batch 2 over the 2 ranks of the TP group, layer 1, "
      "stage 0");
  EXPECT_TRUE(view.tip_at(at).startsWith(sentence)) << view.tip_at(at).toStdString();
}

TEST_F(Opened, KeysOpenAndCloseAndWalkWhatIsDrawn) {
  session.playback().set_playhead(session.subject().horizon() / 2);
  ASSERT_EQ(shown(), Zoom::kActions);
  std::vector<Zoom> opened = {shown()};
  key(Qt::Key_Right);
  for (int press = 0; press < 40 && shown() != Zoom::kPieces; ++press) {
    key(Qt::Key_W);
    if (shown() == opened.back()) continue;
    opened.push_back(shown());
    for (int step = 0; step < 3; ++step) {
      const OpRef before = session.subject().selected();
      key(Qt::Key_Right);
      EXPECT_NE(session.subject().selected(), before);
      EXPECT_EQ(session.subject().selected_zoom(), shown());
      const Bar* bar = rows().bar_of(session.subject().selected(), shown());
      ASSERT_TRUE(bar);
      EXPECT_EQ(bar->first_op, session.subject().selected().op);
    }
  }
  EXPECT_EQ(opened, (std::vector<Zoom>{Zoom::kActions, Zoom::kLayers, Zoom::kPieces}));
  key(Qt::Key_0);
  EXPECT_EQ(shown(), Zoom::kActions);
  key(Qt::Key_Right);
  EXPECT_EQ(session.subject().selected_zoom(), Zoom::kActions);
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The Memory view: its figures are the Prediction's to the byte, and its picture is tidy.
#include "app/views/memory/memory_view.h"

#include <gtest/gtest.h>

#include <QImage>

#include "app/look/figures.h"
#include "app/views/memory/memory_curve.h"
#include "app/views/memory/memory_data.h"
#include "app/views/memory/memory_paint.h"
#include "app/views/memory/memory_state.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "tests/app/views/memory_fixture.h"

namespace parallelarium {
namespace {

std::int64_t sum(const CategoryBytes& parts) {
  std::int64_t all = 0;
  for (const std::int64_t part : parts) all += part;
  return all;
}

TEST(MemoryData, ThePeakOfEveryRankIsThePredictionsToTheByte) {
  for (const PlanSetup& setup : {pipeline_setup(4, 8), pipeline_setup(2, 4, "gpipe", 2),
                                 data_parallel(1), data_parallel(2), data_parallel(3)}) {
    const auto prediction = predicted(setup);
    const std::vector<MemoryRow> rows = memory_of(prediction->program);
    for (std::size_t rank = 0; rank < rows.size(); ++rank) {
      const PeakParts peak = peak_parts(prediction->program, prediction->program.ranks[rank]);
      EXPECT_EQ(peak.total, rows[rank].peak_bytes);
      EXPECT_EQ(peak.total, sum(peak.parts));
      EXPECT_EQ(peak.op, memory_peak(prediction->program, prediction->timeline, int(rank)).op);
    }
  }
}

TEST(MemoryData, EveryZeroStageIsWhatItsOwnSetupIsPredictedToNeed) {
  const auto plans = ZeroPlans::compute(data_parallel(2));
  ASSERT_EQ(plans.size(), 4u);
  for (int zero = 0; zero < 4; ++zero) {
    const auto own = predicted(data_parallel(zero));
    ASSERT_EQ(plans[std::size_t(zero)].peaks.size(), 4u)
        << plans[std::size_t(zero)].refusal.toStdString();
    EXPECT_EQ(plans[std::size_t(zero)].peaks[0].total, own->memory[0].peak_bytes) << zero;
  }
  EXPECT_GT(plans[0].peaks[0].total, plans[1].peaks[0].total);
}

TEST(MemoryData, WhatExceedsThePlanIsUnexplainedAndNeverSpreadOut) {
  const auto prediction = predicted(data_parallel(0));
  const MemoryRow planned = memory_of(prediction->program)[0];
  const PeakParts plan = peak_parts(prediction->program, prediction->program.ranks[0]);
  MemoryRow counted = planned;
  counted.peak_bytes += 1000;
  const CountedParts parts = counted_parts(counted, planned, plan);
  EXPECT_FALSE(parts.equals_plan);
  EXPECT_EQ(parts.unexplained, 1000);
  EXPECT_EQ(parts.parts, plan.parts);
}

TEST(MemoryData, TrafficIsThePredictionsAndComparedWithTheLedgerToTheByte) {
  const RunRecord run = made_up_run(data_parallel(2), 1.1);
  const std::vector<TrafficTerm> terms = traffic_terms(*run.prediction, &run, 0);
  std::int64_t sent = 0, expected = 0;
  for (const TrafficTerm& term : terms) {
    sent += term.sent;
    EXPECT_EQ(term.counted, term.sent) << term.name.toStdString();
    EXPECT_FALSE(term.formula.isEmpty());
  }
  for (const TrafficRow& row : traffic_of(run.prediction->program, 0)) expected += row.sent_bytes;
  EXPECT_EQ(sent, expected);
  EXPECT_GT(sent, 0);
}

// What a closed form says of messages between stages is what is sent; other messages have none.
TEST(MemoryData, FormulasOfMessagesAreThoseOfTheBytesSent) {
  for (const auto& fields : std::vector<std::vector<std::pair<const char*, const char*>>>{
           {{"pp", "4"}},
           {{"pp", "2"}, {"schedule", "interleaved"}, {"chunks", "2"}},
           {{"pp", "2"}, {"tp", "2"}, {"sequence-parallel", "true"}},
           {{"pp", "2"}, {"cp", "2"}, {"attention", "fused"}},
           {{"pp", "4"}, {"micro-batch", "2"}, {"precision", "mixed-16"}}}) {
    PlanSetup setup = default_setup();
    for (const auto& [field, value] : fields) ASSERT_TRUE(set_field(setup, field, value).ok());
    const auto prediction = predicted(setup);
    int closed = 0;
    for (int rank = 0; rank < int(prediction->program.ranks.size()); ++rank)
      for (const TrafficTerm& term : traffic_terms(*prediction, nullptr, rank)) {
        const QString residual = QStringLiteral("m \u00b7 b s h");
        const auto at = term.formula.indexOf(residual);
        if (at < 0) continue;
        ++closed;
        const double times = at == 0 ? 1 : term.formula.left(at - 1).toDouble();
        const double each =
            term.formula.section(QStringLiteral(" \u00b7 "), -1).chopped(2).toDouble();
        double bytes = times * setup.microbatches * setup.micro_batch *
                       double(setup.model.sequence) * double(setup.model.hidden) * each;
        if (term.formula.contains(QLatin1String("/t"))) bytes /= setup.mesh.tp;
        if (term.formula.contains(QLatin1String("/c"))) bytes /= setup.mesh.cp;
        EXPECT_EQ(bytes, double(term.sent)) << term.formula.toStdString();
      }
    EXPECT_GT(closed, 1) << fields[0].first << fields[0].second;
  }
  PlanSetup ring = default_setup();
  for (const auto& [field, value] : {std::pair("pp", "1"), {"cp", "2"}, {"attention", "fused"}})
    ASSERT_TRUE(set_field(ring, field, value).ok());
  for (const TrafficTerm& term : traffic_terms(*predicted(ring), nullptr, 0))
    EXPECT_FALSE(term.formula.contains(QLatin1String("b s h"))) << term.name.toStdString();
}

TEST(MemoryData, BytesPerParameterFollowTheZeroPaper) {
  PlanSetup setup = data_parallel(2);
  for (const Precision& recipe : precision_recipes())
    if (recipe.name == "mixed-16") setup.precision = recipe;
  EXPECT_EQ(bytes_formula(setup), QStringLiteral("2 + 14/N"));
  EXPECT_DOUBLE_EQ(bytes_per_parameter(setup), 5.5);
  setup.zero = 0;
  EXPECT_EQ(bytes_formula(setup), QStringLiteral("16"));
  setup.zero = 3;
  EXPECT_EQ(bytes_formula(setup), QStringLiteral("16/N"));
  EXPECT_DOUBLE_EQ(bytes_per_parameter(setup), 4);
  // Of a recipe of one's own, each moment says what it has.
  setup.precision.name = "custom";
  for (const auto& [bytes, said] : {std::pair(8, "fp32"), {7, "3.5 B each"}, {0, "none"}}) {
    setup.precision.moments_bytes = bytes;
    EXPECT_TRUE(byte_terms(setup).back().name.endsWith(QLatin1String(said)))
        << byte_terms(setup).back().name.toStdString();
  }
}

TEST(MemoryData, TensorsAddUpToTheActivationsHeldAtThePeak) {
  for (const PlanSetup& setup : {pipeline_setup(4, 8), data_parallel(0)}) {
    const auto prediction = predicted(setup);
    std::int64_t most = 0;
    const TensorTable table = tensor_table(*prediction, 0);
    for (const TensorTerm& term : table.terms) most += term.most;
    EXPECT_EQ(most, peak_parts(prediction->program, prediction->program.ranks[0])
                        .parts[std::size_t(Category::kActivations)]);
    EXPECT_FALSE(table.differences.isEmpty());
    EXPECT_GT(table.paper_layer, 0);
  }
}

// A layer that is computed again keeps its input, of which a TP rank has a part where the sequence
// is cut.
TEST(MemoryData, TheInputOfALayerThatIsComputedAgainIsAPartUnderSequenceParallelism) {
  PlanSetup setup = data_parallel(0);
  setup.recompute = Recompute::kFull;
  setup.mesh.dp = 1;
  setup.mesh.tp = 2;
  for (const Precision& recipe : precision_recipes())
    if (recipe.name == "mixed-16") setup.precision = recipe;
  const double whole = tensor_table(*predicted(setup), 0).paper_layer;
  setup.sequence_parallel = true;
  const TensorTable cut = tensor_table(*predicted(setup), 0);
  EXPECT_DOUBLE_EQ(cut.paper_layer, whole / 2);
  EXPECT_DOUBLE_EQ(double(cut.one_layer), cut.paper_layer);
}

// In 16 bit and without dropout the paper's terms are the planned buffers, tensor by tensor.
TEST(MemoryData, TensorsEqualTheTermsOfThePaper) {
  PlanSetup setup = data_parallel(0);
  for (const Precision& recipe : precision_recipes())
    if (recipe.name == "mixed-16") setup.precision = recipe;
  int compared = 0;
  for (const TensorTerm& term : tensor_table(*predicted(setup), 0).terms) {
    if (term.paper.isEmpty()) continue;
    ++compared;
    EXPECT_DOUBLE_EQ(double(term.one), term.paper_bytes) << term.name.toStdString();
  }
  EXPECT_GE(compared, 8);
}

TEST(MemoryData, APointOfTheCurveIsTheBufferThatLiesThere) {
  const auto prediction = predicted(data_parallel(0));
  const RankProgram& rank = prediction->program.ranks[0];
  const auto part = part_at(prediction->program, prediction->timeline, 0, Nanoseconds(0),
                            Category::kOptimizer, 0);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->how_long, QStringLiteral("held from start to end"));
  EXPECT_TRUE(part->what.startsWith(QStringLiteral("Optimizer state of")))
      << part->what.toStdString();
  // Walking up through a category meets every buffer that is open, and then nothing.
  const MemoryCurve curve = memory_curve(prediction->program, prediction->timeline, 0, 0);
  const Nanoseconds middle = prediction->timeline.duration / 2;
  const CategoryBytes held = held_at(curve, middle);
  const auto activations = held[std::size_t(Category::kActivations)];
  EXPECT_TRUE(part_at(prediction->program, prediction->timeline, 0, middle, Category::kActivations,
                      activations - 1));
  EXPECT_FALSE(part_at(prediction->program, prediction->timeline, 0, middle, Category::kActivations,
                       activations));
  EXPECT_FALSE(rank.buffers.empty());
}

TEST(MemoryData, TheCurveReachesThePeak) {
  for (const PlanSetup& setup : {pipeline_setup(4, 8), data_parallel(0)}) {
    const auto prediction = predicted(setup);
    const MemoryCurve curve = memory_curve(prediction->program, prediction->timeline, 0, 0);
    EXPECT_EQ(curve.peak.bytes, prediction->memory[0].peak_bytes);
    EXPECT_GE(curve_top(curve), double(curve.peak.bytes));
    EXPECT_FALSE(curve.parts.empty());
  }
}

TEST(MemoryPicture, NoTwoTextsLieOnEachOther) {
  for (const PlanSetup& setup : {data_parallel(2), pipeline_setup(4, 8), pipeline_setup(1, 2),
                                 pipeline_setup(8, 16, "1f1b", 8)})
    for (const QSize size : {QSize(1200, 820), QSize(860, 620)})
      for (const bool ran : {false, true}) {
        Session session;
        std::vector<RunRecord> runs;
        if (ran) runs.push_back(made_up_run(setup, 1.1));
        session.restore(setup, std::move(runs), std::nullopt);
        session.wait_for_prediction();
        QImage image(size, QImage::Format_RGB32);
        QPainter painter(&image);
        TextLog texts;
        paint_memory_picture(painter, size, session, false, 0, &texts);
        EXPECT_GT(texts.size(), 30u);
        EXPECT_EQ(overlapping(texts), "") << size.width() << (ran ? " ran" : "");
        for (const PaintedText& text : texts)
          EXPECT_TRUE(QRectF(QPointF(0, 0), QSizeF(size)).contains(text.rect))
              << text.text.toStdString();
      }
}

TEST(MemoryPicture, ItsScaleHasTwoLinesAboveZeroAndItsLimitAName) {
  for (double bytes = 1000; bytes < 1e13; bytes *= 1.3)
    for (const int lines : {2, 4, 9}) {
      const ByteScale scale = byte_scale(bytes, lines);
      EXPECT_GE(bytes / scale.step, 2) << bytes;
      EXPECT_LE(bytes / scale.step, std::max(5, lines)) << bytes;
    }
  QImage image(900, 20, QImage::Format_RGB32);
  QPainter painter(&image);
  for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{1} << 34}) {
    TextLog texts;
    paint_memory_legend(painter, QRectF(0, 0, 900, 20), false, {}, limit, light_theme(), &texts);
    EXPECT_EQ(std::count_if(texts.begin(), texts.end(),
                            [](const PaintedText& text) {
                              return text.text == QStringLiteral("limit 16\u00a0GiB");
                            }),
              limit > 0);
  }
}

TEST(MemoryPicture, ObservedAreasHaveTheColoursOfTheirCategories) {
  Session session;
  const PlanSetup setup = data_parallel(0);
  session.restore(setup, {made_up_run(setup, 1.1)}, std::nullopt);
  session.wait_for_prediction();
  for (const bool dark : {false, true}) {
    const Theme& theme = dark ? dark_theme() : light_theme();
    QImage image(memory_picture_size(), QImage::Format_RGB32);
    QPainter painter(&image);
    paint_memory_picture(painter, image.size(), session, dark, 0);
    painter.end();
    for (const Category category :
         {Category::kParameters, Category::kOptimizer, Category::kActivations}) {
      int seen = 0;
      for (int y = 60; y < image.height(); y += 3)
        for (int x = 0; x < image.width(); x += 3)
          seen += image.pixelColor(x, y) == theme.memory(category);
      EXPECT_GT(seen, 200) << int(category) << dark;
    }
  }
}

TEST(MemoryPicture, ThePinIsAThirdBarAndCurveToTheByte) {
  for (const bool observed : {false, true}) {
    Session session;
    const PlanSetup before = pipeline_setup(4, 8, "gpipe"), after = pipeline_setup(4, 8, "1f1b");
    std::vector<RunRecord> runs;
    if (observed) runs.push_back(made_up_run(before, 1.1));
    session.restore(before, std::move(runs), std::nullopt);
    session.wait_for_prediction();
    session.pin();
    session.history().change(after, QStringLiteral("1f1b"));
    session.wait_for_prediction();
    ZeroPlans plans;
    plans.keep(after, ZeroPlans::compute(after));
    const MemoryShown shown = memory_shown(session, plans, 0);
    const auto earlier = predicted(before), now = predicted(after);
    for (std::size_t rank = 0; rank < 4; ++rank) {
      ASSERT_TRUE(shown.ranks.groups[rank].pinned);
      EXPECT_EQ(shown.ranks.groups[rank].pinned->total, earlier->memory[rank].peak_bytes);
      EXPECT_EQ(shown.ranks.groups[rank].planned->total, now->memory[rank].peak_bytes);
    }
    EXPECT_EQ(shown.curve.pinned_peak, earlier->memory[0].peak_bytes);
    EXPECT_GE(shown.curve.most, double(earlier->memory[0].peak_bytes));
    EXPECT_TRUE(
        shown.pinned.contains(observed ? "PINNED \u00b7 rehearsed" : "PINNED \u00b7 predicted"))
        << shown.pinned.toStdString();
    EXPECT_TRUE(shown.pinned.endsWith(QStringLiteral("with GPipe"))) << shown.pinned.toStdString();
    // Three bars stand beside each other, none on another.
    const BarLayout layout = bar_layout(shown.ranks, QRectF(0, 0, 700, 300), light_theme());
    for (const BarBox& box : layout.boxes) {
      EXPECT_FALSE(box.planned.intersects(box.pinned));
      EXPECT_TRUE(box.group.contains(box.pinned));
    }
    session.locks().set_hidden({observed ? QStringLiteral("lane.run") : QStringLiteral("lane")});
    EXPECT_TRUE(memory_shown(session, plans, 0).pinned.isEmpty());
  }
}

TEST(MemoryPicture, BarsStandOverTheirLabelHoweverManyTheyAre) {
  Session session;
  const PlanSetup setup = data_parallel(3);
  session.restore(setup, {made_up_run(setup, 1.1)}, std::nullopt);
  session.wait_for_prediction();
  ZeroPlans plans;
  const PlanSetup& predicted = session.subject().prediction()->setup;
  plans.keep(predicted, ZeroPlans::compute(predicted));
  const BarChart chart = memory_shown(session, plans, 0).stages;
  ASSERT_EQ(chart.groups.size(), 4u);
  EXPECT_TRUE(chart.groups[3].counted);
  EXPECT_FALSE(chart.groups[0].counted);
  const BarLayout layout = bar_layout(chart, QRectF(0, 0, 700, 300), light_theme());
  for (const BarBox& box : layout.boxes) {
    const double right = box.counted.isNull() ? box.planned.right() : box.counted.right();
    EXPECT_NEAR((box.planned.left() + right) / 2, box.group.center().x(), 1e-9);
    EXPECT_EQ(box.planned.width(), layout.boxes[0].planned.width());
  }
}

// Where nothing can be shared out the four stages would be four equal bars.
TEST(MemoryPicture, OneRankAloneHasNoZeroStages) {
  Session session;
  session.restore(pipeline_setup(2, 4), {}, std::nullopt);
  session.wait_for_prediction();
  ZeroPlans plans;
  const PlanSetup& predicted = session.subject().prediction()->setup;
  plans.keep(predicted, ZeroPlans::compute(predicted));
  const MemoryShown shown = memory_shown(session, plans, 0);
  ASSERT_EQ(shown.stages.groups.size(), 1u);
  EXPECT_EQ(shown.zero_of_group, std::vector<int>{predicted.zero});
  EXPECT_FALSE(shown.stages_title.contains(QStringLiteral("ZERO")));
  EXPECT_FALSE(shown.stages.groups[0].label.contains(QStringLiteral("ZeRO")));
  ASSERT_TRUE(shown.stages.groups[0].planned.has_value());
  EXPECT_EQ(shown.stages.groups[0].planned->total, shown.curve.peak.bytes);
}

TEST(MemoryPicture, ThePeakIsNeverCut) {
  const PlanSetup setup = pipeline_setup(4, 8);
  const auto prediction = predicted(setup);
  MemoryCurve curve = memory_curve(prediction->program, prediction->timeline, 0, 1LL << 34);
  for (const bool pinned : {false, true}) {
    if (pinned) curve.pin(curve);
    for (const double width : {420.0, 560.0, 700.0, 840.0, 1200.0}) {
      QImage image(int(width), 200, QImage::Format_RGB32);
      QPainter painter(&image);
      TextLog texts;
      paint_curve_frame(painter, QRectF(16, 0, width - 32, 200), curve,
                        QStringLiteral("MEMORY OVER ONE STEP \u00b7 RANK 0 \u00b7 STAGE 0 \u00b7 "
                                       "predicted, published efficiencies"),
                        light_theme(), {{Nanoseconds(0), curve.end}, kCurveAxis, width - 86},
                        &texts);
      int peaks = 0;
      for (const PaintedText& text : texts)
        if (text.text.startsWith(QStringLiteral("peak "))) {
          ++peaks;
          EXPECT_TRUE(text.text.contains(bytes_text(curve.peak.bytes)));
          EXPECT_FALSE(text.text.contains(QChar(0x2026))) << text.text.toStdString();
        }
      EXPECT_EQ(peaks, 1) << width;
      EXPECT_EQ(overlapping(texts), "") << width;
    }
  }
}

TEST(MemoryPicture, HidesWhatALessonAsksFor) {
  Session session;
  session.restore(data_parallel(0), {}, std::nullopt);
  session.wait_for_prediction();
  session.locks().set_hidden({QStringLiteral("memory")});
  QImage image(memory_picture_size(), QImage::Format_RGB32);
  QPainter painter(&image);
  TextLog texts;
  paint_memory_picture(painter, image.size(), session, false, 0, &texts);
  const QString peak = bytes_text(session.subject().prediction()->memory[0].peak_bytes);
  for (const PaintedText& text : texts) EXPECT_FALSE(text.text.contains(peak));
}

TEST(MemoryQuantities, AreThoseOfTheRankAndComeFromThePrediction) {
  Session session;
  const PlanSetup setup = data_parallel(2);
  session.restore(setup, {made_up_run(setup, 1.1)}, std::nullopt);
  session.wait_for_prediction();
  const std::vector<Quantity> quantities = memory_quantities(session, 3);
  ASSERT_EQ(quantities.size(), 5u);
  EXPECT_EQ(std::int64_t(quantities[0].predicted_value),
            memory_of(session.subject().prediction()->program)[3].peak_bytes);
  EXPECT_EQ(quantities[0].observed_value, quantities[0].predicted_value);
  EXPECT_EQ(quantities[3].key, QStringLiteral("memory.bytes_per_parameter"));
  EXPECT_EQ(quantities[3].observed_value, quantities[3].predicted_value);
  EXPECT_GT(quantities[3].predicted_value, 0);
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The Collectives view: pictures that follow from (Collective, Timeline, time) alone, controls that
// set what they say, and runs through the real engine.
#include <gtest/gtest.h>

#include <QAction>
#include <QComboBox>
#include <QImage>
#include <QSignalSpy>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTest>
#include <bit>
#include <set>

#include "app/collective_session.h"
#include "app/document.h"
#include "app/engine_process.h"
#include "app/export.h"
#include "app/quantities.h"
#include "app/selection_panel.h"
#include "app/views/collective_parts.h"
#include "app/views/collectives_view.h"
#include "app/views/transport_bar.h"
#include "app/window.h"
#include "tests/app/pipeline_fixture.h"
#include "tests/app/wait.h"

namespace parallelarium {
namespace {

constexpr int kRunMs = 120'000;

CollectiveChoice choice_of(CollectiveKind kind, const char* algorithm, int ranks,
                           std::int64_t bytes = 4 << 20) {
  CollectiveChoice choice;
  choice.spec.kind = kind;
  choice.spec.algorithm = algorithm;
  choice.spec.ranks = ranks;
  choice.spec.bytes = bytes;
  return choice;
}

// Every algorithm that works with so many ranks.
std::vector<CollectiveChoice> all_choices(int ranks) {
  std::vector<CollectiveChoice> choices;
  for (const AlgorithmInfo& info : collective_algorithms()) {
    CollectiveChoice choice = choice_of(info.kind, info.name.c_str(), ranks);
    if (make_collective(choice.spec)) choices.push_back(choice);
  }
  return choices;
}

std::shared_ptr<const CollectivePlan> planned(const CollectiveChoice& choice) {
  Result<CollectivePlan> plan = plan_collective(choice, uncalibrated_local_machine());
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.error().text);
  return std::make_shared<const CollectivePlan>(std::move(*plan));
}

// A run as the engine would tell it: the predicted times, a little longer.
CollectiveObservation made_up(const CollectivePlan& plan, double factor) {
  CollectiveObservation seen;
  seen.timeline = stretched(plan.cost.timeline, factor, Source::kMeasured);
  seen.seconds = seen.seconds_min = seen.seconds_max = plan.cost.seconds * factor;
  seen.algorithm_bandwidth = plan.cost.algorithm_bandwidth / factor;
  seen.bus_bandwidth = plan.cost.bus_bandwidth / factor;
  seen.correct = true;
  seen.sent_bytes = plan.cost.sent_bytes;
  seen.received_bytes = plan.cost.received_bytes;
  return seen;
}

TEST(CollectiveMotionTest, EndsWithWhatTheSymbolicCheckEndsWithAndSendsEveryByteOnce) {
  for (const int ranks : {1, 2, 3, 4, 7, 8, 16})
    for (const CollectiveChoice& choice : all_choices(ranks)) {
      SCOPED_TRACE(choice.spec.algorithm + " of " + std::to_string(ranks));
      const auto plan = planned(choice);
      const CollectiveMotion motion(plan, plan->cost.timeline);
      const Nanoseconds end = motion.duration();
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(motion.sent_until(rank, Nanoseconds(-1)), 0);
        EXPECT_EQ(motion.sent_until(rank, end), plan->cost.sent_bytes[std::size_t(rank)]);
        for (int chunk = 0; chunk < plan->collective.chunks; ++chunk) {
          const auto at = std::size_t(rank * plan->collective.chunks + chunk);
          EXPECT_EQ(motion.held(rank, chunk, end), plan->holdings.back().sets[at]);
          EXPECT_EQ(motion.held(rank, chunk, Nanoseconds(-1)), plan->holdings.front().sets[at]);
        }
      }
    }
}

// Sums appear on arrival: not before, and at once.
TEST(CollectiveMotionTest, AContributionAppearsWhenItsMessageHasArrived) {
  const auto plan = planned(choice_of(CollectiveKind::kAllReduce, "ring", 4));
  const CollectiveMotion motion(plan, plan->cost.timeline);
  for (int step = 0; step < motion.steps(); ++step)
    for (int at = 0; at < int(plan->collective.steps[std::size_t(step)].size()); ++at) {
      const Move& move = motion.move({step, at});
      const Span span = motion.span_of({step, at});
      const RankSet before = motion.held(move.to, move.chunk, span.end - Nanoseconds(1));
      const RankSet after = motion.held(move.to, move.chunk, span.end);
      EXPECT_GT(std::popcount(after), std::popcount(before)) << "step " << step;
      EXPECT_EQ(before & ~after, 0u);
      bool under_way = false;
      for (const Flight& flight : motion.flights(span.begin + (span.end - span.begin) / 2))
        under_way = under_way ||
                    (flight.ref == MoveRef{step, at} && flight.share > 0.4 && flight.share < 0.6);
      EXPECT_TRUE(under_way);
    }
}

TEST(CollectiveWords, SayWhatTheStepDoes) {
  const auto ring = planned(choice_of(CollectiveKind::kAllReduce, "ring", 4));
  const CollectiveMotion motion(ring, ring->cost.timeline);
  EXPECT_EQ(phase_of(*ring, 0), QStringLiteral("reduce-scatter"));
  EXPECT_EQ(phase_of(*ring, 3), QStringLiteral("all-gather"));
  EXPECT_EQ(step_sentence(*ring, 0),
            QStringLiteral("every rank sends one chunk to its right neighbour, who adds it to its "
                           "own"));
  const Nanoseconds after_two = motion.step_span(2).begin;
  EXPECT_EQ(bytes_line(motion, after_two).replace(QChar(0x00a0), QLatin1Char(' ')),
            QStringLiteral("1 MiB on every link in this step \u00b7 each rank has sent 2 MiB of "
                           "its 6 MiB"));
  const SelectionText text = describe_move(motion, nullptr, {2, 3});
  EXPECT_TRUE(text.headline.startsWith(QStringLiteral("Chunk c")));
  for (const int ranks : {1, 2, 3, 5, 8})
    for (const CollectiveChoice& choice : all_choices(ranks)) {
      const auto plan = planned(choice);
      const CollectiveMotion any(plan, plan->cost.timeline);
      EXPECT_FALSE(frame_sentence(any, any.duration() / 3).isEmpty());
      EXPECT_FALSE(frame_sentence(any, any.duration() / 3).contains(QLatin1Char('%')));
    }
}

TEST(CollectiveParts, AReduceScatterAndAnAllGatherAreAnAllReduce) {
  for (const int ranks : {2, 3, 4, 8, 16})
    for (const char* algorithm : {"ring", "halving-doubling"}) {
      // Equal chunks: else who sends the larger ones differs.
      const CollectiveChoice choice =
          choice_of(CollectiveKind::kAllReduce, algorithm, ranks, std::int64_t{ranks} << 18);
      if (!make_collective(choice.spec)) continue;
      const auto plan = planned(choice);
      const CollectiveMotion whole(plan, plan->cost.timeline);
      const auto parts = reduce_scatter_then_all_gather(*plan);
      ASSERT_NE(parts, nullptr);
      EXPECT_EQ(parts->plan().cost.sent_bytes, plan->cost.sent_bytes);
      const Agreement start = agreement(whole, Nanoseconds(-1), *parts, Nanoseconds(-1));
      const Agreement end = agreement(whole, whole.duration(), *parts, parts->duration());
      EXPECT_EQ(start.same, start.all);
      EXPECT_GT(end.all, 0);
      EXPECT_EQ(end.same, end.all);
      EXPECT_EQ(parts->sent_until(0, parts->duration()), plan->cost.sent_bytes[0]);
    }
  EXPECT_EQ(
      reduce_scatter_then_all_gather(*planned(choice_of(CollectiveKind::kBroadcast, "tree", 4))),
      nullptr);
}

class CollectivePictures : public testing::TestWithParam<int> {};

TEST_P(CollectivePictures, HaveNoTextOverAnotherAndNoneOutside) {
  for (CollectiveChoice choice : all_choices(GetParam())) {
    SCOPED_TRACE(choice.spec.algorithm + " " + std::string(name_of(choice.spec.kind)));
    Session session;
    session.collectives().restore(choice, {}, {});
    const auto plan = session.collectives().plan();
    ASSERT_TRUE(session.collectives().keep_run(choice.spec, made_up(*plan, 1.1)).ok());
    session.collectives().set_playhead(session.collectives().horizon() * 2 / 5);
    const QSize size = collective_picture_size(session);
    for (const int width : {1000, 700}) {
      QImage image(QSize(width, size.height()), QImage::Format_RGB32);
      QPainter painter(&image);
      TextLog texts;
      paint_collective_picture(painter, image.size(), session, false, &texts);
      EXPECT_EQ(overlapping(texts), "") << width;
      for (const PaintedText& text : texts)
        EXPECT_TRUE(QRectF(QPointF(0, 0), QSizeF(image.size())).contains(text.rect))
            << text.text.toStdString() << " at " << width;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Ranks, CollectivePictures, testing::Values(1, 2, 4, 7, 16));

// The three golden frames: which chunks are under way and what every rank holds, as text.
std::string frame_text(const CollectiveMotion& motion, Nanoseconds time) {
  std::string text;
  for (const Flight& flight : motion.flights(time)) {
    const Move& move = motion.move(flight.ref);
    if (flight.share > 0 && flight.share < 1)
      text += fmt::format("{}>{} c{}; ", move.from, move.to, move.chunk);
  }
  for (int rank = 0; rank < motion.plan().ranks(); ++rank) {
    text += "|";
    for (int chunk = 0; chunk < motion.plan().collective.chunks; ++chunk)
      text += set_text(motion.held(rank, chunk, time)).remove(QLatin1Char(' ')).toStdString();
  }
  return text;
}

TEST(GoldenFrames, ShowChunksUnderWay) {
  CollectiveChoice choice = choice_of(CollectiveKind::kAllReduce, "ring", 3, 3 << 20);
  choice.topology = Topology::kSwitch;  // its links are the same on every computer
  const auto plan = planned(choice);
  const CollectiveMotion motion(plan, plan->cost.timeline);
  ASSERT_EQ(motion.steps(), 4);
  const auto middle = [&](int step) {
    const Span span = motion.step_span(step);
    return span.begin + (span.end - span.begin) / 2;
  };
  EXPECT_EQ(frame_text(motion, middle(0)),
            "0>1 c0; 1>2 c1; 2>0 c2; |{0}{0}{0}|{1}{1}{1}|{2}{2}{2}");
  EXPECT_EQ(frame_text(motion, middle(1)),
            "0>1 c2; 1>2 c0; 2>0 c1; |{0}{0}{0,2}|{0,1}{1}{1}|{2}{1,2}{2}");
  EXPECT_EQ(frame_text(motion, middle(2)),
            "0>1 c1; 1>2 c2; 2>0 c0; |{0}{0,1,2}{0,2}|{0,1}{1}{0,1,2}|{0,1,2}{1,2}{2}");
  // And they are in the picture: the token of a chunk under way covers its colour, which is not
  // there before the step.
  for (const int step : {0, 1, 2}) {
    Session session;
    session.collectives().restore(choice, {}, {});
    CollectivePicture picture = collective_picture(session);
    picture.playhead = middle(step);
    const QSize size(1000, int(collective_height(picture, 1000)));
    const CollectiveLayout layout = collective_layout(picture, size);
    QImage image(size, QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    paint_collective(painter, picture, layout, light_theme(), nullptr);
    painter.end();
    for (const Flight& flight : picture.shown().flights(picture.playhead)) {
      const QPointF at = way_of(picture, layout, flight.ref, false).pointAtPercent(flight.share);
      const QColor edge = image.pixelColor((at + QPointF(-14, -7)).toPoint());
      EXPECT_EQ(edge, light_theme().solid(OpColor::kCommunication)) << step;
    }
  }
}

TEST(CollectiveState, UndoBringsTheRunBack) {
  Session session;
  CollectiveSession& collectives = session.collectives();
  const CollectiveChoice first = collectives.choice();
  ASSERT_TRUE(collectives.keep_run(first.spec, made_up(*collectives.plan(), 1.2)).ok());
  EXPECT_FALSE(collectives.run_is_stale());
  CollectiveChoice next = first;
  next.spec.ranks = 8;
  collectives.change(next, QStringLiteral("8 ranks"));
  EXPECT_EQ(collectives.plan()->ranks(), 8);
  EXPECT_TRUE(collectives.run_is_stale());
  EXPECT_EQ(collectives.motion().source(), Source::kPredicted);
  for (const Quantity& quantity : collective_quantities(session)) {
    EXPECT_TRUE(quantity.observed.text.isEmpty()) << quantity.title.toStdString();
    EXPECT_TRUE(quantity.difference.isEmpty()) << quantity.title.toStdString();
  }
  session.undo_stack().undo();
  EXPECT_EQ(collectives.choice(), first);
  EXPECT_FALSE(collectives.run_is_stale());
  EXPECT_EQ(collectives.motion().source(), Source::kMeasured);
  session.undo_stack().redo();
  EXPECT_TRUE(collectives.run_is_stale());
}

TEST(CollectiveState, AnInvalidChoiceKeepsTheLastPictureAndSaysWhy) {
  Session session;
  CollectiveSession& collectives = session.collectives();
  CollectiveChoice wrong = collectives.choice();
  wrong.spec.ranks = 99;
  collectives.change(wrong, QStringLiteral("99"));
  ASSERT_TRUE(collectives.problem().has_value());
  EXPECT_EQ(collectives.plan()->ranks(), 4);
  session.set_collective_in_front(true);
  EXPECT_FALSE(session.run_refusal().isEmpty());
  session.undo_stack().undo();
  EXPECT_FALSE(collectives.problem().has_value());
  EXPECT_TRUE(session.run_refusal().isEmpty());
}

TEST(CollectiveState, ADifferenceOfTimesNeedsTheSameLinks) {
  Session session;
  CollectiveSession& collectives = session.collectives();
  ASSERT_TRUE(
      collectives.keep_run(collectives.choice().spec, made_up(*collectives.plan(), 1.2)).ok());
  EXPECT_TRUE(collective_quantities(session)[0].difference.contains(QLatin1Char('%')));
  CollectiveChoice other = collectives.choice();
  other.topology = Topology::kSwitch;
  collectives.change(other, QStringLiteral("switch"));
  EXPECT_FALSE(collective_quantities(session)[0].difference.contains(QLatin1Char('%')));
  EXPECT_EQ(collective_picture(session).observed, nullptr);
}

TEST(CollectiveState, AWrongRunOrOneOfAnotherProgramIsRefused) {
  Session session;
  CollectiveSession& collectives = session.collectives();
  CollectiveObservation seen = made_up(*collectives.plan(), 1);
  seen.timeline.ranks.pop_back();
  EXPECT_FALSE(collectives.keep_run(collectives.choice().spec, seen).ok());
  EXPECT_EQ(collectives.run(), nullptr);
}

TEST(CollectiveDocument, RoundTrips) {
  Session session;
  CollectiveChoice choice = choice_of(CollectiveKind::kReduceScatter, "ring", 3, 3 << 10);
  choice.topology = Topology::kMemory;
  choice.spec.type = DataType::kBf16;
  session.collectives().restore(choice, {}, {});
  ASSERT_TRUE(session.collectives()
                  .keep_run(choice.spec, made_up(*session.collectives().plan(), 1.3))
                  .ok());
  session.collectives().keep_sweep({choice.spec, Source::kOversubscribed, 0.5, 2e9});
  const nlohmann::json document = document_of(session);
  Session other;
  std::vector<Message> notes;
  ASSERT_TRUE(restore_document(other, document, notes).ok());
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(other.collectives().choice(), choice);
  ASSERT_NE(other.collectives().fresh_run(), nullptr);
  EXPECT_EQ(other.collectives().all_sweeps().size(), 1u);
  EXPECT_EQ(document_of(other)["collective"], document["collective"]);
  nlohmann::json damaged = document;
  damaged["collective"]["topology"] = 7;
  EXPECT_FALSE(restore_document(other, damaged, notes).ok());
  EXPECT_EQ(other.collectives().choice(), choice) << "an error leaves the session as it was";
}

TEST(CollectiveControls, SizesAreReadInTheUnitsOfTheScreen) {
  EXPECT_EQ(bytes_from_text(QStringLiteral("4 MiB")), 4 << 20);
  EXPECT_EQ(bytes_from_text(QStringLiteral("64K")), 64 << 10);
  EXPECT_EQ(bytes_from_text(QStringLiteral("1MB")), 1'000'000);
  EXPECT_EQ(bytes_from_text(QStringLiteral("1.5 KiB")), 1536);
  EXPECT_EQ(bytes_from_text(QStringLiteral("4096")), 4096);
  EXPECT_FALSE(bytes_from_text(QStringLiteral("much")).has_value());
  EXPECT_FALSE(bytes_from_text(QStringLiteral("-4")).has_value());
}

class CollectivesWindow : public testing::Test {
 protected:
  void SetUp() override {
    window.set_asks(false);
    window.session().set_playing(false);
    window.resize(1440, 900);
    window.show();
    window.show_view(ViewKind::kCollectives);
  }
  template <class Widget>
  Widget* control(const char* name) {
    for (auto* widget : window.collectives().findChildren<Widget*>())
      if (widget->accessibleName() == QLatin1String(name)) return widget;
    return nullptr;
  }
  CollectiveSession& collectives() { return window.session().collectives(); }
  Window window;
};

TEST_F(CollectivesWindow, ControlsSetWhatTheySay) {
  auto* kind = control<QComboBox>("Operation");
  auto* algorithm = control<QComboBox>("Algorithm");
  ASSERT_TRUE(kind && algorithm);
  for (int index = 0; index < kind->count(); ++index) {
    kind->setCurrentIndex(index);
    Q_EMIT kind->activated(index);
    EXPECT_EQ(int(collectives().choice().spec.kind), kind->itemData(index).toInt());
    EXPECT_FALSE(collectives().problem().has_value());
    // Only those that exist for the operation.
    std::set<std::string> offered, exist;
    for (int at = 0; at < algorithm->count(); ++at)
      offered.insert(algorithm->itemData(at).toString().toStdString());
    for (const AlgorithmInfo& info : collective_algorithms())
      if (info.kind == collectives().choice().spec.kind) exist.insert(info.name);
    EXPECT_EQ(offered, exist);
    EXPECT_EQ(control<StepBox>("Root")->isVisible(), has_root(collectives().choice().spec.kind));
  }
  auto* ranks = control<StepBox>("Ranks");
  auto* bytes = control<StepBox>("Size of the array");
  const int before = collectives().choice().spec.ranks;
  ranks->stepBy(1);
  EXPECT_GT(collectives().choice().spec.ranks, before);
  Q_EMIT bytes->committed(QStringLiteral("64 KiB"));
  EXPECT_EQ(collectives().choice().spec.bytes, 64 << 10);
  bytes->stepBy(1);
  EXPECT_EQ(collectives().choice().spec.bytes, 128 << 10);
  Q_EMIT bytes->committed(QStringLiteral("nonsense"));
  EXPECT_EQ(collectives().choice().spec.bytes, 128 << 10);
}

TEST_F(CollectivesWindow, TheTransportAndKeysDriveTheCollective) {
  const Nanoseconds step_of_training = window.session().playhead();
  QWidget& canvas = window.collectives().canvas();
  canvas.setFocus();
  QTest::keyClick(&canvas, Qt::Key_Period);
  EXPECT_EQ(collectives().playhead(), collectives().motion().step_span(1).begin);
  QTest::keyClick(&canvas, Qt::Key_Period);
  QTest::keyClick(&canvas, Qt::Key_Comma);
  EXPECT_EQ(collectives().motion().step_at(collectives().playhead()), 1);
  bool labelled = false;
  for (const auto* label : window.top_bar().transport().findChildren<QLabel*>())
    labelled = labelled || label->text() == QStringLiteral("step 2 of 6");
  EXPECT_TRUE(labelled);
  QTest::keyClick(&canvas, Qt::Key_Right);
  QTest::keyClick(&canvas, Qt::Key_Right);
  EXPECT_EQ(collectives().selected(), (MoveRef{1, 1}));
  QTest::keyClick(&canvas, Qt::Key_Down);
  EXPECT_EQ(collectives().selected(), (MoveRef{2, 1}));
  EXPECT_TRUE(window.collectives().description().contains(QStringLiteral("Step 3 of 6")));
  QTest::keyClick(&canvas, Qt::Key_Space);
  EXPECT_TRUE(window.session().playing());
  QTest::keyClick(&canvas, Qt::Key_Space);
  EXPECT_FALSE(window.session().playing());
  EXPECT_EQ(window.session().playhead(), step_of_training) << "the training step stays where it is";
}

TEST_F(CollectivesWindow, TheTableMirrorsTheMoves) {
  for (QAction* action : window.collectives().view_actions())
    if (action->isCheckable() && action->text().contains(QStringLiteral("table")))
      action->trigger();
  auto* table = control<QTableWidget>("Moves of the collective");
  ASSERT_TRUE(table && table->isVisible());
  EXPECT_EQ(table->rowCount(), 24);  // 6 steps of 4 messages
  EXPECT_EQ(table->item(0, 4)->text().remove(QChar(0x00a0)), QStringLiteral("1MiB"));
}

TEST_F(CollectivesWindow, RunSaysAndDoesTheCollective) {
  if (EngineProcess::find_program().isEmpty()) GTEST_SKIP() << "the engine is not built";
  Session& session = window.session();
  CollectiveChoice choice = choice_of(CollectiveKind::kAllReduce, "ring", 2, 256 << 10);
  collectives().change(choice, QStringLiteral("small"));
  EXPECT_TRUE(session.run_label().startsWith(QStringLiteral("Run on 2 CPU ranks")));
  session.start_run(false);
  ASSERT_TRUE(wait_until([&] { return session.run_state() == RunState::kIdle; }, kRunMs));
  ASSERT_NE(collectives().fresh_run(), nullptr) << session.last_error().toStdString();
  EXPECT_TRUE(session.runs().empty()) << "no training step ran";
  const CollectiveObservation& seen = collectives().fresh_run()->seen;
  EXPECT_TRUE(seen.correct);
  EXPECT_EQ(seen.sent_bytes, collectives().plan()->cost.sent_bytes);
  EXPECT_FALSE(seen.values.first.empty());
  const std::vector<Quantity> strip = collective_quantities(session);
  EXPECT_EQ(strip[3].observed.text, QStringLiteral("exact"));
  EXPECT_EQ(strip[2].observed_value, double(256 << 10));
  // Values: at the end every rank shows the same number in every chunk.
  const CollectivePlan& plan = *collectives().plan();
  for (int chunk = 0; chunk < plan.collective.chunks; ++chunk) {
    const auto at = [&](int rank) {
      return seen.values.first[std::size_t(
          (plan.steps() * plan.ranks() + rank) * plan.collective.chunks + chunk)];
    };
    EXPECT_EQ(at(0), at(1));
  }
}

TEST_F(CollectivesWindow, ASweepFillsThePlotAndCanBeCancelled) {
  if (EngineProcess::find_program().isEmpty()) GTEST_SKIP() << "the engine is not built";
  Session& session = window.session();
  std::vector<CollectiveSpec> specs;
  for (const std::int64_t bytes : {4 << 10, 16 << 10, 64 << 10})
    specs.push_back(choice_of(CollectiveKind::kAllReduce, "ring", 2, bytes).spec);
  collectives().change({specs[0], Topology::kMemory}, QStringLiteral("sweep"));
  session.start_sweep(specs);
  EXPECT_NE(session.run_state(), RunState::kIdle);
  ASSERT_TRUE(wait_until([&] { return session.run_state() == RunState::kIdle; }, kRunMs));
  EXPECT_EQ(session.last_error(), QString());
  EXPECT_EQ(collectives().sweep().size(), 3u);
  for (const SweepPoint& point : collectives().sweep()) EXPECT_GT(point.bus_bandwidth, 0);
  session.start_sweep(sweep_specs(specs[0]));
  session.cancel_run();
  ASSERT_TRUE(wait_until([&] { return session.run_state() == RunState::kIdle; }, kRunMs));
  EXPECT_FALSE(session.last_error().isEmpty());
}

TEST(CollectiveExport, WritesEveryKindAndTheSamePictureAsTheScreen) {
  QTemporaryDir folder;
  Session session;
  session.collectives().set_playhead(session.collectives().horizon() / 2);
  ExportOptions options;
  options.view = ViewKind::kCollectives;
  for (const auto& [kind, ending] : {std::pair(ExportKind::kPng, "png"),
                                     {ExportKind::kSvg, "svg"},
                                     {ExportKind::kPdf, "pdf"},
                                     {ExportKind::kCsv, "csv"},
                                     {ExportKind::kTrace, "json"}}) {
    options.kind = kind;
    const QString path = folder.filePath(QStringLiteral("c.") + QLatin1String(ending));
    const Result<void> written = export_to(session, path, options);
    ASSERT_TRUE(written.ok()) << written.error().text;
    EXPECT_GT(QFile(path).size(), 200) << ending;
  }
  QFile csv(folder.filePath(QStringLiteral("c.csv")));
  ASSERT_TRUE(csv.open(QIODevice::ReadOnly));
  EXPECT_EQ(csv.readAll().count('\n'), 1 + 24);
  QFile json(folder.filePath(QStringLiteral("c.json")));
  ASSERT_TRUE(json.open(QIODevice::ReadOnly));
  const auto read = nlohmann::json::parse(json.readAll().toStdString());
  EXPECT_EQ(read["steps"].size(), 6u);
  EXPECT_EQ(read["name"], "all_reduce");
}

}  // namespace
}  // namespace parallelarium

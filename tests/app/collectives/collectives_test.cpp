// SPDX-License-Identifier: GPL-3.0-or-later
// The Collectives view: its state and documents, controls that set what they say, and runs through
// the real engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QComboBox>
#include <QPushButton>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTest>
#include <random>
#include <set>

#include "app/export/export.h"
#include "app/selection/selection_panel.h"
#include "app/shell/bars/banner.h"
#include "app/shell/window.h"
#include "app/state/collective/collective_session.h"
#include "app/state/document/document.h"
#include "app/state/run/run_advice.h"
#include "app/views/collectives/collectives_view.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "app/views/shared/transport_bar.h"
#include "tests/app/collectives/collectives_fixture.h"
#include "tests/app/collectives/collectives_window_fixture.h"
#include "tests/app/pipeline/pipeline_fixture.h"
#include "tests/app/wait.h"

namespace parallelarium {
namespace {

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
  EXPECT_EQ(collective_picture(session).observed, nullptr) << "it is set aside, not drawn";
  for (const Quantity& quantity : collective_quantities(session)) {
    EXPECT_TRUE(quantity.observed.text.isEmpty()) << quantity.title.toStdString();
    EXPECT_TRUE(quantity.difference.isEmpty()) << quantity.title.toStdString();
  }
  session.history().stack().undo();
  EXPECT_EQ(collectives.choice(), first);
  EXPECT_FALSE(collectives.run_is_stale());
  EXPECT_EQ(collectives.motion().source(), Source::kMeasured);
  EXPECT_NE(collective_picture(session).observed, nullptr);
  session.history().stack().redo();
  EXPECT_TRUE(collectives.run_is_stale());
}

// Ranks of a run are uneven: a sender's step may last longer than its receiver's. Every message of
// a ring's rank is one that it got in the step before.
TEST(CollectiveMotions, NoChunkIsPassedOnBeforeItHasArrived) {
  const int n = 5;
  const auto plan = planned(choice_of(CollectiveKind::kAllReduce, "ring", n));
  Timeline timeline = plan->cost.timeline;
  std::mt19937 random(20261122);
  std::vector<Nanoseconds> free(n);
  for (int step = 0; step < plan->steps(); ++step) {
    std::vector<Nanoseconds> got(n), end(n);
    for (int rank = 0; rank < n; ++rank) {
      const auto before = std::size_t((rank + n - 1) % n);
      got[std::size_t(rank)] = std::max(free[std::size_t(rank)], free[before]) +
                               Nanoseconds(100 + std::int64_t(random() % 900));
    }
    for (int rank = 0; rank < n; ++rank) {
      const auto r = std::size_t(rank);
      end[r] = std::max(got[r], got[std::size_t((rank + 1) % n)]);
      const auto& ops = plan->collective.program.ranks[r].ops;
      for (std::size_t op = 0; op < ops.size(); ++op)
        if (ops[op].batch == step) timeline.ranks[r].spans[op] = {free[r], end[r]};
    }
    free = end;
  }
  timeline.duration = *std::max_element(free.begin(), free.end());
  const CollectiveMotion motion(plan, timeline);
  int handed = 0;
  for (int step = 0; step + 1 < plan->steps(); ++step) {
    const auto& moves = plan->collective.steps[std::size_t(step)];
    const auto& later = plan->collective.steps[std::size_t(step + 1)];
    for (std::size_t at = 0; at < moves.size(); ++at) {
      for (std::size_t next = 0; next < later.size(); ++next) {
        if (later[next].from != moves[at].to || later[next].chunk != moves[at].chunk) continue;
        EXPECT_LE(motion.span_of({step, int(at)}).end, motion.span_of({step + 1, int(next)}).begin)
            << "step " << step << " message " << at;
        ++handed;
      }
    }
  }
  EXPECT_EQ(handed, n * (2 * n - 3));
}

TEST(CollectiveState, AnInvalidChoiceKeepsTheLastPictureAndSaysWhy) {
  Session session;
  CollectiveSession& collectives = session.collectives();
  CollectiveChoice wrong = collectives.choice();
  wrong.spec.ranks = 99;
  collectives.change(wrong, QStringLiteral("99"));
  ASSERT_TRUE(collectives.problem().has_value());
  EXPECT_EQ(collectives.plan()->ranks(), 4);
  session.set_topic(session.collectives());
  EXPECT_FALSE(run_refusal(session).isEmpty());
  session.history().stack().undo();
  EXPECT_FALSE(collectives.problem().has_value());
  EXPECT_TRUE(run_refusal(session).isEmpty());
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

class CollectivesWindow : public CollectivesFixture {};

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

TEST_F(CollectivesWindow, AnInvalidChoiceHasButtonsThatMendIt) {
  const auto offered = [&] {
    QCoreApplication::processEvents();  // a layout shows its new buttons in the event loop
    std::vector<QPushButton*> buttons;
    for (auto* button : window.findChild<Banner*>()->findChildren<QPushButton*>())
      if (button->isVisible()) buttons.push_back(button);
    return buttons;
  };
  const auto choose = [&](CollectiveChoice choice) {
    collectives().change(choice, QStringLiteral("wrong"));
    EXPECT_TRUE(collectives().problem().has_value());
    std::vector<std::string> texts;
    for (const QPushButton* button : offered()) texts.push_back(button->text().toStdString());
    return texts;
  };
  using testing::ElementsAre;
  const auto wrong = choice_of(CollectiveKind::kAllReduce, "recursive-doubling", 3);
  EXPECT_THAT(choose(wrong), ElementsAre("2 ranks", "4 ranks", "Ring"));
  // What else has changed meanwhile stays.
  CollectiveChoice smaller = wrong;
  smaller.spec.bytes = 64 << 10;
  EXPECT_THAT(choose(smaller), ElementsAre("2 ranks", "4 ranks", "Ring"));
  offered()[1]->click();
  EXPECT_FALSE(collectives().problem().has_value());
  EXPECT_EQ(collectives().choice().spec.ranks, 4);
  EXPECT_EQ(collectives().choice().spec.bytes, 64 << 10);
  EXPECT_TRUE(offered().empty());
  choose(wrong);
  offered()[2]->click();
  EXPECT_EQ(collectives().choice(), choice_of(CollectiveKind::kAllReduce, "ring", 3));
  EXPECT_THAT(choose(choice_of(CollectiveKind::kAllReduce, "torus", 7)),
              ElementsAre("8 ranks", "Ring"));
  EXPECT_THAT(choose(choice_of(CollectiveKind::kAllReduce, "ring", 99)), ElementsAre("16 ranks"));
  CollectiveChoice rooted = choice_of(CollectiveKind::kBroadcast, "tree", 4);
  rooted.spec.root = 7;
  EXPECT_THAT(choose(rooted), ElementsAre("root 3"));
  CollectiveChoice cut = choice_of(CollectiveKind::kBroadcast, "tree", 4, 1022);
  choose(cut);
  ASSERT_EQ(offered().size(), 2u);
  offered()[0]->click();
  EXPECT_EQ(collectives().choice().spec.bytes, 1020);
  window.session().locks().set_allowed({QStringLiteral("collective.algorithm")});
  EXPECT_THAT(choose(wrong), ElementsAre("Ring")) << "a lesson keeps the ranks";
}

TEST_F(CollectivesWindow, TheTransportAndKeysDriveTheCollective) {
  const Nanoseconds step_of_training = window.session().playback().playhead();
  QWidget& canvas = window.view_of<CollectivesView>().canvas();
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
  EXPECT_TRUE(
      window.view_of<CollectivesView>().description().contains(QStringLiteral("Step 3 of 6")));
  QTest::keyClick(&canvas, Qt::Key_Space);
  EXPECT_TRUE(window.session().playback().playing());
  QTest::keyClick(&canvas, Qt::Key_Space);
  EXPECT_FALSE(window.session().playback().playing());
  EXPECT_EQ(window.session().playback().playhead(), step_of_training)
      << "the training step stays where it is";
}

TEST_F(CollectivesWindow, TheTableMirrorsTheMoves) {
  for (QAction* action : window.view_of<CollectivesView>().all_commands())
    if (action->isCheckable() && action->text().contains(QStringLiteral("table")))
      action->trigger();
  auto* table = control<QTableWidget>("Moves of the collective");
  ASSERT_TRUE(table && table->isVisible());
  EXPECT_EQ(table->rowCount(), 24);  // 6 steps of 4 messages
  EXPECT_EQ(table->item(0, 4)->text().remove(QChar(0x00a0)), QStringLiteral("1MiB"));
}

TEST_F(CollectivesWindow, RunSaysAndDoesTheCollective) {
  Session& session = window.session();
  CollectiveChoice choice = choice_of(CollectiveKind::kAllReduce, "ring", 2, 256 << 10);
  collectives().change(choice, QStringLiteral("small"));
  EXPECT_EQ(run_label(session), QStringLiteral("Run on 2 CPU ranks"));
  session.start_run(false);
  ASSERT_TRUE(wait_until([&] { return session.jobs().state() == RunState::kIdle; }, kRunMs));
  ASSERT_NE(collectives().fresh_run(), nullptr) << session.jobs().last_error().toStdString();
  EXPECT_TRUE(session.runs().all().empty()) << "no training step ran";
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
  Session& session = window.session();
  std::vector<CollectiveSpec> specs;
  for (const std::int64_t bytes : {4 << 10, 16 << 10, 64 << 10})
    specs.push_back(choice_of(CollectiveKind::kAllReduce, "ring", 2, bytes).spec);
  collectives().change({specs[0], Topology::kMemory}, QStringLiteral("sweep"));
  session.start_sweep(specs);
  EXPECT_NE(session.jobs().state(), RunState::kIdle);
  ASSERT_TRUE(wait_until([&] { return session.jobs().state() == RunState::kIdle; }, kRunMs));
  EXPECT_EQ(session.jobs().last_error(), QString());
  EXPECT_EQ(collectives().sweep().size(), 3u);
  for (const MeasuredPoint& point : collectives().sweep()) EXPECT_GT(point.bus_bandwidth, 0);
  session.start_sweep(sweep_specs(specs[0]));
  session.jobs().cancel();
  ASSERT_TRUE(wait_until([&] { return session.jobs().state() == RunState::kIdle; }, kRunMs));
  EXPECT_FALSE(session.jobs().last_error().isEmpty());
}

TEST(CollectiveExport, WritesEveryKindAndTheSamePictureAsTheScreen) {
  QTemporaryDir folder;
  Session session;
  session.collectives().set_playhead(session.collectives().horizon() / 2);
  ExportOptions options;
  options.view = find_view(QStringLiteral("collectives"));
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

// SPDX-License-Identifier: GPL-3.0-or-later
// A collective runs on GPUs where the engine tells of one for each rank.
#include "app/state/document/document.h"
#include "app/state/step/training_step.h"
#include "tests/app/collectives/collectives_fixture.h"
#include "tests/app/sheets/gpus_fixture.h"

namespace parallelarium {
namespace {

TEST_F(Gpus, OneForEachRankRunACollective) {
  CollectiveSession& collectives = session.collectives();
  session.set_topic(session.collectives());
  EXPECT_EQ(collectives.plan()->choice.gpus, 0);
  const CollectiveObservation on_cores = made_up(*collectives.plan(), 2);
  ASSERT_TRUE(collectives.keep_run(collectives.choice().spec, on_cores).ok());
  EXPECT_FALSE(collectives.run_is_stale());

  greet(computer(4, 4));
  EXPECT_EQ(label(), QStringLiteral("Run on 4 GPU ranks"));
  EXPECT_EQ(expected_source(session), Source::kMeasured);
  EXPECT_EQ(collectives.plan()->choice.gpus, 4);
  EXPECT_EQ(collectives.plan()->word, "assumed");
  EXPECT_EQ(collectives.plan()->network.topology, Topology::kSwitch);
  EXPECT_TRUE(collectives.run_is_stale()) << "it was on cores";
  EXPECT_TRUE(collectives.times_compare());
  session.start_run(false);
  ASSERT_TRUE(wait_until([&] { return heard().contains("\"method\":\"collective\""); }, 20'000));
  // As asked for, so that the engine may take cores where their check fails.
  EXPECT_TRUE(heard().contains("\"backend\":\"auto\"")) << heard().toStdString();

  CollectiveObservation on_gpus = made_up(*collectives.plan(), 2);
  on_gpus.on_gpus = true;
  ASSERT_TRUE(collectives.keep_run(collectives.choice().spec, on_gpus).ok());
  EXPECT_FALSE(collectives.run_is_stale());
  EXPECT_EQ(collectives.runs().size(), 2u) << "beside the one on cores";
  collectives.keep_sweep({collectives.choice().spec, Source::kMeasured, 1, 1, true});
  EXPECT_EQ(collectives.sweep().size(), 1u);

  // More ranks, or who wants it, take cores; both runs are kept, in a document too.
  PlanSetup setup = session.setup();
  setup.run.backend = Backend::kCpu;
  set(setup);
  EXPECT_EQ(label(), QStringLiteral("Run on 4 CPU ranks"));
  EXPECT_EQ(collectives.plan()->choice.gpus, 0);
  EXPECT_FALSE(collectives.run_is_stale());
  EXPECT_TRUE(collectives.sweep().empty());
  setup.run.backend = Backend::kAuto;
  set(setup);
  EXPECT_EQ(collectives.plan()->choice.gpus, 4);
  CollectiveChoice more = collectives.plan()->choice;
  collectives.change(more, QStringLiteral("nothing"));
  EXPECT_EQ(collectives.choice(), CollectiveChoice());
  more.spec.ranks = 8;
  collectives.change(more, QStringLiteral("8 ranks"));
  EXPECT_EQ(collectives.plan()->choice.gpus, 0);
  EXPECT_EQ(label(), QStringLiteral("Run on 8 CPU ranks"));

  Session later;
  std::vector<Message> notes;
  ASSERT_TRUE(restore_document(later, document_of(session), notes).ok());
  EXPECT_EQ(notes.size(), 1u) << "auto meant GPUs, and there are none";
  ASSERT_EQ(later.collectives().runs().size(), 2u);
  EXPECT_FALSE(later.collectives().runs()[0].seen.on_gpus);
  EXPECT_EQ(later.collectives().runs()[1].plan->choice.gpus, 4);
  EXPECT_TRUE(later.collectives().all_sweeps().at(0).on_gpus);
}

TEST_F(Gpus, ThatAreTooFewOrChosenAreSharedByACollective) {
  session.set_topic(session.collectives());
  PlanSetup setup = session.setup();
  setup.run.backend = Backend::kCuda;
  setup.run.devices = "1";
  greet(computer(4, 4));
  set(setup);
  EXPECT_EQ(expected_source(session), Source::kSharedGpu);
  EXPECT_EQ(session.collectives().plan()->choice.gpus, 1);
  EXPECT_EQ(session.collectives().plan()->network.topology, Topology::kMemory);
  CollectiveObservation seen = made_up(*session.collectives().plan(), 2);
  seen.on_gpus = true;
  seen.source = Source::kSharedGpu;
  ASSERT_TRUE(session.collectives().keep_run(session.collectives().choice().spec, seen).ok());
  EXPECT_FALSE(session.collectives().run_is_stale());
  setup.run.devices = "all";
  set(setup);
  EXPECT_EQ(session.collectives().plan()->choice.gpus, 4);
  EXPECT_TRUE(session.collectives().run_is_stale());
}

// A Setup from a computer with GPUs.
TEST_F(Gpus, ThatAreNotThereLeaveTheCoresToACollective) {
  session.set_topic(session.collectives());
  PlanSetup setup = session.setup();
  setup.run.backend = Backend::kCuda;
  greet(computer(0, 0));
  set(setup);
  EXPECT_EQ(run_refusal(session), QString());
  EXPECT_EQ(label(), QStringLiteral("Run on 4 CPU ranks"));
  EXPECT_EQ(session.collectives().plan()->choice.gpus, 0);
  session.set_topic(session.training_step());
  EXPECT_NE(run_refusal(session), QString()) << "a step does as the Setup says";
  // Nor are they there when the engine has died, which told so.
  session.set_topic(session.collectives());
  ASSERT_EQ(kill(pid_t(session.jobs().process().process_id()), SIGKILL), 0);
  ASSERT_TRUE(wait_until([&] { return !session.jobs().process().is_running(); }, 5000));
  session.collectives().refresh_place();
  EXPECT_EQ(session.collectives().plan()->choice.gpus, 0);
}

// The engine lets ranks share one GPU that is given alone, and refuses where several are too few.
TEST_F(Gpus, ThatAreSeveralAndTooFewLeaveTheCoresToACollective) {
  session.set_topic(session.collectives());
  greet(computer(2, 2));
  PlanSetup setup = session.setup();
  setup.run.backend = Backend::kCuda;
  set(setup);
  EXPECT_EQ(session.collectives().plan()->choice.gpus, 0);
  setup.run.devices = "0,1";
  set(setup);
  EXPECT_EQ(session.collectives().plan()->choice.gpus, 0);
  setup.run.devices = "0";
  set(setup);
  EXPECT_EQ(session.collectives().plan()->choice.gpus, 1);
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// Run means GPUs where the engine tells of one for each rank, also before they were ever
// calibrated.
#include <signal.h>

#include "app/state/document/document.h"
#include "app/state/run/run_advice.h"
#include "app/state/session.h"
#include "app/state/step/training_step.h"
#include "app/views/shared/words/words.h"
#include "engine/plan/machine/machine.h"
#include "engine/predict/predict.h"
#include "tests/app/sheets/gpus_fixture.h"

namespace parallelarium {
namespace {

// More ranks than most computers have cores for.
PlanSetup too_many_for_cores() {
  PlanSetup setup = pipeline_setup(8, 8);
  setup.run.backend = Backend::kAuto;
  setup.mesh.dp = 2;
  EXPECT_TRUE(validate(setup).empty());
  return setup;
}

// Terabytes, more than the memory of any computer that a test runs on.
PlanSetup too_large_for_host() {
  PlanSetup setup = default_setup();
  setup.run.backend = Backend::kAuto;
  EXPECT_TRUE(set_field(setup, "model", "gpt3-175b").ok());
  EXPECT_TRUE(set_field(setup, "pp", "16").ok());
  EXPECT_TRUE(validate(setup).empty()) << validate(setup).front().text;
  return setup;
}

TEST_F(Gpus, OneForEachRankAreWhatRunSaysAndNothingOfTheCoresRefusesIt) {
  set(too_large_for_host());
  EXPECT_TRUE(run_refusal(session).contains(QStringLiteral("memory")));
  set(too_many_for_cores());
  if (uncalibrated_local_machine().cores < 16) {
    EXPECT_EQ(label(), QStringLiteral("Rehearse on 16 ranks"));
    EXPECT_TRUE(run_details(session).contains(QStringLiteral("the rehearsal takes ")));
    EXPECT_EQ(run_refusal(session), QString());
  }
  EXPECT_FALSE(says_cores_for_gpus());

  EXPECT_EQ(session.placer().gpus_for(session.situation()), 0);
  greet(computer(16, 16));
  EXPECT_EQ(session.placer().gpus_for(session.situation()), 16);
  EXPECT_EQ(label(), QStringLiteral("Run on 16 GPU ranks"));
  EXPECT_EQ(expected_source(session), Source::kMeasured);
  EXPECT_EQ(run_refusal(session), QString());
  EXPECT_TRUE(says_cores_for_gpus());
  EXPECT_EQ(session.rehearsal_seconds(), 0);
  set(too_large_for_host());
  EXPECT_EQ(label(), QStringLiteral("Run on 16 GPU ranks"));
  EXPECT_EQ(run_refusal(session), QString());
  EXPECT_FALSE(memory_problem(session));
}

// Everything that is compared with resolved() knows it again: runs, pins, documents.
TEST_F(Gpus, LeaveTheSetupAsItWasWritten) {
  const PlanSetup setup = too_many_for_cores();
  set(setup);
  greet(computer(16, 16));
  ASSERT_TRUE(session.subject().prediction()->cores_for_gpus);
  EXPECT_EQ(session.setup(), setup);
  EXPECT_EQ(session.resolved().run.backend, Backend::kCuda);
  EXPECT_EQ(session.subject().prediction()->setup, session.resolved());
  session.pin();
  EXPECT_EQ(session.runs().pinned()->observation.setup, session.resolved());
  const Nanoseconds step = session.subject().prediction()->timeline.duration;

  Session later;
  std::vector<Message> notes;
  ASSERT_TRUE(restore_document(later, document_of(session), notes).ok());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].id, "document-auto");
  EXPECT_EQ(later.setup().run.backend, Backend::kCuda) << "what auto meant there";
  ASSERT_NE(later.runs().pinned(), nullptr);
  EXPECT_EQ(later.runs().pinned()->observation.setup, later.resolved());
  EXPECT_TRUE(later.runs().pinned()->prediction->cores_for_gpus);
  EXPECT_EQ(later.runs().pinned()->prediction->timeline.duration, step);
}

// Until somebody chooses, precision and attention are what the devices of the ranks do best.
TEST_F(Gpus, DecideWhatAutoMeans) {
  EXPECT_EQ(session.setup(), new_setup());
  EXPECT_EQ(session.resolved().precision.name, "fp32");
  EXPECT_EQ(session.resolved().attention, Attention::kUnfused);
  greet(computer(4, 4));
  EXPECT_EQ(session.setup(), new_setup());
  EXPECT_EQ(session.resolved().precision.name, "mixed-16-main-grads");
  EXPECT_EQ(session.resolved().attention, Attention::kFused);
  EXPECT_EQ(session.subject().prediction()->setup, session.resolved());

  // Saved there and opened on a computer without.
  const nlohmann::json document = document_of(session);
  EXPECT_EQ(document["setup"]["precision"], "auto");
  EXPECT_EQ(document["resolved"]["precision"], "mixed-16-main-grads");
  Session laptop;
  std::vector<Message> notes;
  ASSERT_TRUE(restore_document(laptop, document, notes).ok());
  EXPECT_EQ(laptop.resolved(), session.resolved());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(
      notes[0].text,
      "Auto meant precision mixed-16-main-grads, attention fused, backend cuda where this was "
      "saved, and that stays; set auto again to let this computer choose.");
}

// What this computer has is not known yet when the document is opened.
TEST_F(Gpus, AreWaitedForBeforeTheMeaningOfADocumentIsKept) {
  greet(computer(4, 4));
  const nlohmann::json document = document_of(session);
  serve(computer(0, 0));
  Session laptop;
  QStringList told;
  QObject::connect(&laptop, &Session::meaning_kept, &laptop,
                   [&](const QString& sentence) { told << sentence; });
  PlanSetup asks = laptop.setup();
  asks.run.backend = Backend::kCuda;
  laptop.history().change(asks, QStringLiteral("ask for GPUs"));
  ASSERT_TRUE(laptop.jobs().asks_for_devices());
  std::vector<Message> notes;
  ASSERT_TRUE(restore_document(laptop, document, notes).ok());
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(laptop.setup(), session.setup()) << "still auto";
  ASSERT_TRUE(wait_until([&] { return !told.empty(); }, 20'000));
  EXPECT_EQ(told.size(), 1);
  EXPECT_TRUE(told.front().startsWith(
      QStringLiteral("Auto meant precision mixed-16-main-grads, attention fused")))
      << told.front().toStdString();
  EXPECT_EQ(laptop.setup().run.backend, Backend::kCuda);
}

TEST_F(Gpus, AreOfferedAModelThatGivesThemWork) {
  EXPECT_FALSE(gpu_offer(session));
  greet(computer(4, 4));
  const std::optional<Message> offer = gpu_offer(session);
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->alternatives, std::vector<std::string>{"gpt2-124m"});
  PlanSetup larger = session.setup();
  ASSERT_TRUE(set_field(larger, offer->field, "gpt2-124m").ok());
  set(larger);
  EXPECT_FALSE(gpu_offer(session));
  EXPECT_EQ(label(), QStringLiteral("Run on 4 GPU ranks"));
}

// And the other way round: a laptop's document on a computer with GPUs.
TEST_F(Gpus, LeaveADocumentOfALaptopWhatItMeant) {
  Session laptop;
  const nlohmann::json document = document_of(laptop);
  greet(computer(4, 4));
  std::vector<Message> notes;
  ASSERT_TRUE(restore_document(session, document, notes).ok());
  EXPECT_EQ(session.resolved(), laptop.resolved());
  EXPECT_EQ(session.resolved().precision.name, "fp32");
  EXPECT_EQ(notes.size(), 1u);
}

// On a computer like the one where it was saved nothing is written out.
TEST_F(Gpus, AndTheDocumentOfALikeComputerStaysOpen) {
  Session other;
  std::vector<Message> notes;
  ASSERT_TRUE(restore_document(other, document_of(session), notes).ok());
  EXPECT_EQ(other.setup(), new_setup());
  EXPECT_TRUE(notes.empty());
}

TEST_F(Gpus, ThatAreTooFewOrNotChosenLeaveTheCores) {
  greet(computer(4, 4));
  PlanSetup setup = pipeline_setup(4, 8);
  setup.run.backend = Backend::kAuto;
  const auto label_of = [&](const PlanSetup& next) {
    set(next);
    return label();
  };
  EXPECT_EQ(label_of(setup), QStringLiteral("Run on 4 GPU ranks"));
  setup.run.devices = "0,1,2,3";
  EXPECT_EQ(label_of(setup), QStringLiteral("Run on 4 GPU ranks"));
  setup.run.devices = "0,1";
  EXPECT_TRUE(is_of_cores(label_of(setup), 4)) << label_of(setup).toStdString();
  setup.mesh.pp = 2;
  EXPECT_EQ(label_of(setup), QStringLiteral("Run on 2 GPU ranks"));
  setup.run.devices = "all";
  setup.run.backend = Backend::kCpu;
  EXPECT_TRUE(is_of_cores(label_of(setup), 2)) << label_of(setup).toStdString();
  setup.run.backend = Backend::kAuto;
  setup.mesh.pp = 8;
  EXPECT_TRUE(is_of_cores(label_of(setup), 8)) << label_of(setup).toStdString();
}

// None, and several that cannot meet for want of NCCL.
TEST_F(Gpus, ThatAreNotThereChangeNothing) {
  for (const nlohmann::json& devices : {computer(0, 0), computer(4, 1)}) {
    Session asked;
    asked.history().change(too_many_for_cores(), QStringLiteral("set"));
    asked.wait_for_prediction();
    const auto prediction = asked.subject().prediction();
    const QString label = run_label(asked), refusal = run_refusal(asked);
    serve(devices);
    wait_for_greeting(asked.jobs().process());
    asked.wait_for_prediction();
    EXPECT_EQ(asked.subject().prediction(), prediction) << "was not made again";
    EXPECT_EQ(run_label(asked), label);
    EXPECT_EQ(run_refusal(asked), refusal);
  }
}

// A calibration outlives its GPUs.
TEST_F(Gpus, ThatAreCalibratedAndGoneLeaveTheCores) {
  calibrate_gpus(4);
  Session late;  // with the calibration there from its start
  EXPECT_EQ(late.machine().name, "local");
  EXPECT_EQ(late.subject().prediction()->machine.name, "local");
  EXPECT_EQ(late.placer().gpus_for(late.situation()), 0);
  const QString on_cores = run_label(late);
  EXPECT_TRUE(is_of_cores(on_cores, 4)) << on_cores.toStdString();
  const auto greet_again = [&](const nlohmann::json& devices) {
    if (late.jobs().process().is_running()) {
      kill(pid_t(late.jobs().process().process_id()), SIGKILL);
      ASSERT_TRUE(wait_until([&] { return !late.jobs().process().is_running(); }, 5000));
    }
    serve(devices);
    wait_for_greeting(late.jobs().process());
    late.wait_for_prediction();
  };
  int told = 0;  // the panel of settings listens to this
  QObject::connect(&late, &Session::setup_changed, &late, [&] { ++told; });
  greet_again(computer(4, 4));
  EXPECT_EQ(late.subject().prediction()->machine.name, kLocalGpus);
  EXPECT_EQ(run_label(late), QStringLiteral("Run on 4 GPU ranks"));
  EXPECT_EQ(late.placer().gpus_for(late.situation()), 4);
  EXPECT_EQ(told, 1);
  // All gone, and fewer than there are ranks.
  for (const nlohmann::json& devices : {computer(0, 0), computer(2, 2)}) {
    greet_again(devices);
    EXPECT_EQ(late.subject().prediction()->machine.name, "local");
    EXPECT_EQ(run_label(late), on_cores);
    EXPECT_EQ(late.placer().gpus_for(late.situation()), 0);
    greet_again(computer(4, 4));
    EXPECT_EQ(late.subject().prediction()->machine.name, kLocalGpus);
  }
  EXPECT_EQ(told, 5);
  // Who asks for GPUs by name sees them predicted, and why they cannot run.
  PlanSetup setup = late.setup();
  setup.run.backend = Backend::kCuda;
  late.history().change(setup, QStringLiteral("set"));
  greet_again(computer(0, 0));
  EXPECT_EQ(late.subject().prediction()->machine.name, kLocalGpus);
  EXPECT_EQ(run_refusal(late), QStringLiteral("So it is."));
}

// A check bars one of two GPUs while the engine lives; another lifts it.
TEST_F(Gpus, ThatACheckBarsLeaveAtOnce) {
  nlohmann::json checked = computer(2, 2);
  checked["gpus"][1]["usable"] = false;
  checked["gpus"][1]["why"] = "GPU 1 failed its check.";
  PlanSetup setup = pipeline_setup(2, 8);
  setup.run.backend = Backend::kAuto;
  for (const bool fails : {true, false}) {
    Session session;
    session.history().change(setup, QStringLiteral("set"));
    serve(fails ? computer(2, 2) : checked, fails ? checked : computer(2, 2));
    wait_for_greeting(session.jobs().process());
    const Backend expected = fails ? Backend::kCpu : Backend::kCuda;
    EXPECT_TRUE(wait_until([&] { return session.resolved().run.backend == expected; }, 5000));
    session.wait_for_prediction();
    EXPECT_EQ(session.subject().prediction()->setup.run.backend, expected);
    EXPECT_EQ(run_label(session).contains(QStringLiteral("GPU")), !fails)
        << run_label(session).toStdString();
  }
}

// The engine may die at any time.
TEST_F(Gpus, AreRememberedWhenTheEngineDies) {
  greet(computer(4, 4));
  PlanSetup setup = pipeline_setup(4, 8);
  setup.run.backend = Backend::kAuto;
  set(setup);
  ASSERT_EQ(kill(pid_t(session.jobs().process().process_id()), SIGKILL), 0);
  ASSERT_TRUE(wait_until([&] { return !session.jobs().process().is_running(); }, 5000));
  EXPECT_EQ(label(), QStringLiteral("Run on 4 GPU ranks"));
}

using GpusAtTheStart = StandInEngine;

TEST_F(GpusAtTheStart, AreAskedForWhereThereIsADriver) {
  serve(computer(4, 4));
  Session session;
  ASSERT_EQ(session.setup().run.backend, Backend::kAuto);
  ASSERT_EQ(session.setup().mesh.ranks(), 4);
  EXPECT_EQ(session.jobs().asks_for_devices(), has_nvidia_driver());
  EXPECT_EQ(session.jobs().process().is_running(), has_nvidia_driver());
  int told = 0;  // the panel of settings listens to this
  QObject::connect(&session, &Session::setup_changed, &session, [&] { ++told; });
  ASSERT_TRUE(wait_until([&] { return !session.jobs().asks_for_devices(); }, 20'000));
  EXPECT_EQ(run_label(session) == QStringLiteral("Run on 4 GPU ranks"), has_nvidia_driver());
  EXPECT_EQ(told, has_nvidia_driver() ? 1 : 0);
}

// Where there is a driver, calibrated GPUs are believed in until the engine has told.
TEST_F(GpusAtTheStart, ThatAreCalibratedAndGoneLeaveTheCores) {
  Machine gpus = *find_machine("dgx-h100");
  set_gpus(gpus, std::vector<std::string>(8, "NVIDIA H100"));
  gpus.calibrated = "2026-11-23T08:00:00Z";
  ASSERT_TRUE(save_local_machine(gpus).ok());
  serve(computer(0, 0));
  Session session;
  EXPECT_EQ(session.machine().name, has_nvidia_driver() ? kLocalGpus : "local");
  ASSERT_TRUE(wait_until([&] { return !session.jobs().asks_for_devices(); }, 20'000));
  session.wait_for_prediction();
  EXPECT_EQ(session.subject().prediction()->machine.name, "local");
  EXPECT_TRUE(is_of_cores(run_label(session), 4)) << run_label(session).toStdString();
}

}  // namespace
}  // namespace parallelarium

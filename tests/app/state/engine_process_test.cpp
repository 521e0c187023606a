// SPDX-License-Identifier: GPL-3.0-or-later
// The engine may die at any time; the window lives and the next run works.
#include "app/state/run/engine_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <QDir>
#include <QFile>

#include "app/state/run/run_advice.h"
#include "app/state/session.h"
#include "tests/app/wait.h"

namespace parallelarium {
namespace {

// Children of this process, zombies included.
int children() {
  int count = 0;
  for (const QString& entry : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
    bool number = false;
    entry.toInt(&number);
    if (!number) continue;
    QFile stat(QStringLiteral("/proc/%1/stat").arg(entry));
    if (!stat.open(QIODevice::ReadOnly)) continue;
    const QByteArray text = stat.readAll();
    const QList<QByteArray> fields = text.mid(text.lastIndexOf(')') + 2).split(' ');
    if (fields.size() > 1 && fields[1].toInt() == getpid()) ++count;
  }
  return count;
}

QStringList shared_memory() {
  return QDir(QStringLiteral("/dev/shm")).entryList(QDir::Files, QDir::Name);
}

bool idle(const Session& session) { return session.jobs().state() == RunState::kIdle; }

void run_to_the_end(Session& session) {
  session.start_run(false);
  ASSERT_FALSE(idle(session)) << run_refusal(session).toStdString();
  ASSERT_TRUE(wait_until([&] { return idle(session); }, kRunMs));
  ASSERT_TRUE(session.jobs().last_error().isEmpty()) << session.jobs().last_error().toStdString();
}

TEST(Engine, GreetsWithItsVersionAndDevices) {
  EngineProcess engine;
  bool answered = false;
  engine.request("devices", nlohmann::json::object(), [&](Result<nlohmann::json> result) {
    ASSERT_TRUE(result.ok()) << result.error().text;
    EXPECT_GT((*result)["cores"].get<int>(), 0);
    answered = true;
  });
  ASSERT_TRUE(wait_until([&] { return answered; }, 20'000));
  EXPECT_EQ(engine.greeting()["version"], kProtocolVersion);
}

TEST(Engine, SurvivesTenKillsInTheMiddleOfARunAndLeavesNothingBehind) {
  const QStringList shared = shared_memory();
  const int before = children();
  {
    Session session;
    run_to_the_end(session);  // calibrates where that was never done
    parallelarium::Setup slow = session.setup();
    slow.run.steps = 200;
    session.history().change(slow, QStringLiteral("slow"));
    for (int kill_number = 0; kill_number < 10; ++kill_number) {
      session.start_run(false);
      ASSERT_TRUE(wait_until(
          [&] {
            return session.jobs().state() == RunState::kRunning && session.jobs().progress() > 0;
          },
          kRunMs))
          << kill_number;
      ASSERT_EQ(kill(pid_t(session.jobs().process().process_id()), SIGKILL), 0);
      ASSERT_TRUE(wait_until([&] { return idle(session); }, 5000)) << kill_number;
      EXPECT_EQ(session.jobs().last_error().toStdString(),
                "The engine stopped unexpectedly (killed by signal 9). Your settings are safe; "
                "the next run starts a fresh one.");
      EXPECT_EQ(session.setup(), slow);
    }
    EXPECT_EQ(session.runs().all().size(), 1u);  // the finished one is still there
    session.history().change(default_setup(), QStringLiteral("back"));
    run_to_the_end(session);
    EXPECT_FALSE(session.runs().current_is_stale());
  }
  QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  EXPECT_TRUE(wait_until([&] { return children() == before; }, 3000)) << children();
  EXPECT_EQ(shared_memory(), shared);
}

TEST(Engine, CancelEndsARunWithinHalfASecondAndTheNextRunWorks) {
  Session session;
  run_to_the_end(session);
  parallelarium::Setup slow = session.setup();
  slow.run.steps = 200;
  session.history().change(slow, QStringLiteral("slow"));
  session.start_run(false);
  ASSERT_TRUE(wait_until([&] { return session.jobs().progress() > 0; }, kRunMs));
  QElapsedTimer timer;
  timer.start();
  session.jobs().cancel();
  EXPECT_EQ(session.jobs().state(), RunState::kCancelling);
  ASSERT_TRUE(wait_until([&] { return idle(session); }, 5000));
  EXPECT_LT(timer.elapsed(), 900);  // half a second, and the time to end a process
  EXPECT_TRUE(session.jobs().last_error().contains(QStringLiteral("cancelled")));
  session.history().change(default_setup(), QStringLiteral("back"));
  run_to_the_end(session);
}

// An engine that is cancelled while it measures ends with its answer.
TEST(Engine, ARunThatBeginsAsACalibrationIsCancelledIsDone) {
  Session session;
  session.jobs().calibrate();
  ASSERT_TRUE(wait_until([&] { return session.jobs().state() == RunState::kCalibrating; }, kRunMs));
  QObject::connect(
      &session.jobs(), &EngineJobs::finished, &session,
      [&] {
        QMetaObject::invokeMethod(
            &session, [&] { session.start_run(false); }, Qt::QueuedConnection);
      },
      Qt::SingleShotConnection);
  session.jobs().cancel();
  ASSERT_TRUE(wait_until([&] { return session.runs().current() != nullptr; }, kRunMs))
      << session.jobs().last_error().toStdString();
  EXPECT_TRUE(session.jobs().last_error().isEmpty()) << session.jobs().last_error().toStdString();
}

TEST(Engine, ARunOfASetupIsBroughtBackByUndo) {
  Session session;
  run_to_the_end(session);
  EXPECT_FALSE(session.runs().current_is_stale());
  parallelarium::Setup other = session.setup();
  other.microbatches = 16;
  session.history().change(other, QStringLiteral("16"));
  EXPECT_TRUE(session.runs().current_is_stale());
  session.history().stack().undo();
  EXPECT_FALSE(session.runs().current_is_stale());
}

// What the engine says of GPUs is what Run says, as soon as GPUs are wanted and before it is
// pressed.
TEST(GpuBackend, RunIsOffWithItsSentenceWhereGpusAreWantedAndThereAreNone) {
  Session session;
  parallelarium::Setup setup = session.setup();
  setup.run.backend = Backend::kCuda;
  session.history().change(setup, QStringLiteral("GPUs"));
  session.wait_for_prediction();
  ASSERT_TRUE(wait_until([&] { return session.jobs().process().greeting().is_object(); }, 20000));
  QString why;
  for (const auto& backend : session.jobs().process().greeting().at("devices").at("backends"))
    if (backend.at("name") == "cuda" && !backend.at("available"))
      why = QString::fromStdString(backend.at("why").get<std::string>());
  if (why.isEmpty()) GTEST_SKIP() << "this computer has a GPU";
  EXPECT_EQ(run_refusal(session), why);
  setup.run.backend = Backend::kCpu;
  session.history().change(setup, QStringLiteral("CPU"));
  EXPECT_NE(run_refusal(session), why);
}

}  // namespace
}  // namespace parallelarium

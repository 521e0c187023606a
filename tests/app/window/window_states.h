// SPDX-License-Identifier: GPL-3.0-or-later
// The states in which a window is looked at, in an order in which one window can take them all.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <QString>

#include "app/lesson/lesson_panel.h"
#include "app/look/sentence.h"
#include "app/settings/setup_panel.h"
#include "app/shell/window.h"
#include "app/state/plan/plan_search.h"
#include "app/state/run/engine_process.h"
#include "app/state/step/order_edit.h"
#include "tests/app/wait.h"

namespace parallelarium {

inline constexpr const char* kWindowStates[] = {
    "start",     "invalid", "typed_wrong", "elsewhere", "does_not_fit", "single",
    "many",      "pinned",  "hidden",      "refused",   "editing",      "running",
    "cancelled", "died",    "ran",         "stale",     "searched",     "calibrating"};

// Stops the engine where it is, so that a window stays in the middle of a run for as long as it is
// looked at, and leaves the cores to others; or has it go on.
inline void hold_engine(Session& session, bool held) {
  const auto process = pid_t(session.jobs().process().process_id());
  ASSERT_GT(process, 0);
  EXPECT_EQ(kill(process, held ? SIGSTOP : SIGCONT), 0);
}

inline void run_into(Session& session, const QString& state) {
  const auto comes = [&](RunState wanted, bool with_progress) {
    return wait_until(
        [&] {
          return session.jobs().state() == wanted &&
                 (!with_progress || session.jobs().progress() > 0);
        },
        kRunMs);
  };
  if (state == QLatin1String("calibrating")) {
    session.jobs().calibrate();
    EXPECT_TRUE(comes(RunState::kCalibrating, false));
    return hold_engine(session, true);
  }
  const auto set_steps = [&](int steps) {
    Setup setup = session.setup();
    setup.run.steps = steps;
    session.history().change(setup, QStringLiteral("steps"));
  };
  if (state == QLatin1String("ran") || state == QLatin1String("stale")) {
    set_steps(2);  // more say nothing else
    session.start_run(state == QLatin1String("ran"));
    EXPECT_TRUE(comes(RunState::kIdle, false));
    EXPECT_NE(session.runs().current(), nullptr) << session.jobs().last_error().toStdString();
    return;
  }
  set_steps(200);
  session.start_run(false);
  EXPECT_TRUE(comes(RunState::kRunning, true));
  if (state == QLatin1String("running")) return hold_engine(session, true);
  if (state == QLatin1String("died"))
    EXPECT_EQ(kill(pid_t(session.jobs().process().process_id()), SIGKILL), 0);
  else
    session.jobs().cancel();
  EXPECT_TRUE(comes(RunState::kIdle, false));
  EXPECT_FALSE(session.jobs().last_error().isEmpty());
}

inline bool needs_engine(const QString& state) {
  for (const char* one : {"calibrating", "running", "cancelled", "died", "ran", "stale"})
    if (state == QLatin1String(one)) return true;
  return false;
}

// The window in one of kWindowStates; "start" is a new one as it is, with the first lesson.
inline void put_into(Window& window, const QString& state) {
  Session& session = window.session();
  if (state == QLatin1String("start")) return;
  window.lesson().player().close();
  session.restore(default_setup(), {}, std::nullopt);
  if (needs_engine(state)) run_into(session, state);
  const auto set = [&](const char* field, const char* value) {
    Setup setup = session.setup();
    ASSERT_TRUE(set_field(setup, field, value).ok()) << field;
    session.history().change(setup, QString::fromLatin1(field));
    session.wait_for_prediction();
  };
  if (state == QLatin1String("invalid")) set("tp", "3");
  if (state == QLatin1String("elsewhere")) {
    set("machine", "dgx-h100");
    set("model", "gpt3-175b");
  }
  if (state == QLatin1String("single")) set("pp", "1");
  if (state == QLatin1String("many")) {
    Setup setup = session.setup();
    for (const auto& [field, value] : {std::pair("layers", "16"), {"pp", "8"}, {"dp", "16"}})
      ASSERT_TRUE(set_field(setup, field, value).ok()) << field;
    session.history().change(setup, QStringLiteral("many"));
    session.wait_for_prediction();
    ASSERT_TRUE(session.problems().empty()) << session.problems().front().text;
  }
  if (state == QLatin1String("does_not_fit")) {
    set("machine", "dgx-h100");
    set("model", "gpt3-175b");
    ASSERT_FALSE(session.subject().prediction()->fits());
  }
  if (state == QLatin1String("typed_wrong")) {
    auto typed = session.setup();
    Q_EMIT window.setup_panel().typed_wrong(
        sentence(set_field(typed, "microbatches", "eight").error()));
  }
  if (state == QLatin1String("searched")) {
    PlanSearch& search = PlanSearch::of(session);
    PlanWish wish;
    wish.model = QStringLiteral("gpt2-124m");
    wish.machine = QStringLiteral("dgx-h200");  // its ties are known at once
    wish.gpus = QStringLiteral("2");
    wish.global_batch = 8;
    search.set_wish(wish);
    search.start();
    EXPECT_TRUE(wait_until([&] { return !search.searching(); }, kRunMs));
    EXPECT_TRUE(search.answer()) << search.error().toStdString();
  }
  if (state == QLatin1String("stale")) set("microbatches", "16");
  if (state == QLatin1String("pinned")) {
    session.pin();
    set("microbatches", "16");
    session.locks().set_guesses(
        {{QStringLiteral("bubble.of_total"), 0.16, QStringLiteral("16 %")}});
  }
  if (state == QLatin1String("hidden"))
    session.locks().set_hidden({QStringLiteral("bubble"), QStringLiteral("lane.predicted")});
  if (state == QLatin1String("refused")) set("tp", "2");
  if (state == QLatin1String("editing")) {  // an order that hangs, and unfinished rows
    session.order_edit().set_open(true);
    session.order_edit().wait();
    session.order_edit().set_line(1, QStringLiteral("F0 F1 B1 F2"));
    session.order_edit().set_line(2, QStringLiteral("F0 B1 F1"));
  }
}

// Ends what put_into() began, but for what the next call takes back.
inline void leave_state(Window& window) {
  Session& session = window.session();
  session.order_edit().set_open(false);
  Q_EMIT window.setup_panel().typed_wrong({});
  if (session.jobs().state() != RunState::kIdle) hold_engine(session, false);
  session.jobs().cancel();
  EXPECT_TRUE(wait_until([&] { return session.jobs().state() == RunState::kIdle; }, kRunMs));
}

// On a busy computer one painting takes longer than the wait, and layouts come after it.
inline void let_layouts_settle(int milliseconds) {
  wait_until([] { return false; }, milliseconds);
  QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// A Session whose engine tells of GPUs.
#pragma once

#include "app/state/run/run_advice.h"
#include "app/state/session.h"
#include "app/views/shared/words/words.h"
#include "engine/plan/machine/machine.h"
#include "tests/app/pipeline/pipeline_fixture.h"
#include "tests/app/state/stand_in_engine.h"

namespace parallelarium {

// Whether Run says that it takes cores, measured or rehearsed.
inline bool is_of_cores(const QString& label, int ranks) {
  return label == QStringLiteral("Run on %1 CPU ranks").arg(ranks) ||
         label == QStringLiteral("Rehearse on %1 ranks").arg(ranks);
}

class Gpus : public StandInEngine {
 protected:
  void SetUp() override {
    if (has_nvidia_driver()) GTEST_SKIP() << "here the Session has asked the real engine";
  }
  void set(const PlanSetup& setup) {
    session.history().change(setup, QStringLiteral("set"));
    session.wait_for_prediction();
    ASSERT_TRUE(session.problems().empty()) << session.problems().front().text;
  }
  void greet(const nlohmann::json& devices) {
    serve(devices);
    wait_for_greeting(session.jobs().process());
    session.wait_for_prediction();
  }
  bool says_cores_for_gpus() const {
    return predicted_title(*session.subject().prediction())
        .contains(QStringLiteral("for the cores"));
  }
  QString label() const { return run_label(session); }

  // Whether cores keep a pace is known of calibrated ones only.
  static bool calibrate_cores() {
    Machine cores = uncalibrated_local_machine();
    cores.calibrated = "2026-11-23T08:00:00Z";
    return save_local_machine(cores).ok();
  }
  static void calibrate_gpus(int count) {
    Machine gpus = uncalibrated_local_machine();
    set_gpus(gpus, std::vector<std::string>(std::size_t(count), "NVIDIA H100"));
    gpus.devices_per_node = count;
    gpus.cores = 0;
    gpus.calibrated = "2026-11-23T08:00:00Z";
    ASSERT_TRUE(save_local_machine(gpus).ok());
  }
  const bool calibrated = calibrate_cores();  // before the Session looks
  Session session;
};

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// What the Doctor says of the calibration of GPUs.
#include "engine/plan/machine/machine.h"
#include "tests/app/state/stand_in_engine.h"

namespace parallelarium {
namespace {

class DoctorOfGpus : public StandInEngine {
 protected:
  // What it found of their calibration, and what to do.
  QString calibration(const nlohmann::json& devices) {
    return doctor_line(devices, "Calibration of the GPUs").section(QLatin1Char('\n'), 1);
  }
  // `pairs`: as a calibration measures them where GPUs can meet, between any two.
  void store(const std::vector<std::string>& gpus, const std::vector<PairLink>& pairs = {}) {
    Machine machine = uncalibrated_local_machine();
    machine.name = kLocalGpus;
    set_gpus(machine, gpus);
    machine.pairs = pairs;
    machine.devices_per_node = static_cast<int>(gpus.size());
    machine.calibrated = "2026-11-23T08:00:00Z";
    ASSERT_TRUE(save_local_machine(machine).ok());
  }
};

TEST_F(DoctorOfGpus, ACalibrationIsOfTheseGpusOrOfOthers) {
  EXPECT_TRUE(calibration(computer(2, 2)).startsWith(QStringLiteral("never made")));
  const auto others = QStringLiteral("of other GPUs: ");
  store(std::vector<std::string>(4, "NVIDIA A100"));
  EXPECT_TRUE(calibration(computer(4, 4, "NVIDIA A100"))
                  .startsWith(QStringLiteral("This computer's 4 GPUs (NVIDIA A100): 2026-11-23")));
  for (const nlohmann::json& devices :
       {computer(4, 4, "NVIDIA A10"), computer(2, 2, "NVIDIA A100")})
    EXPECT_TRUE(calibration(devices).startsWith(
        others + QStringLiteral("This computer's 4 GPUs (NVIDIA A100)")));
  nlohmann::json mixed = computer(4, 4, "NVIDIA A100");
  mixed["gpus"][3]["name"] = "NVIDIA H100";
  EXPECT_TRUE(calibration(mixed).startsWith(others));
  store({"NVIDIA A100", "NVIDIA A100", "NVIDIA A100", "NVIDIA H100"});
  EXPECT_FALSE(calibration(mixed).startsWith(others));
  store({"NVIDIA A10"});
  EXPECT_TRUE(calibration(computer(1, 1, "NVIDIA A100")).startsWith(others));
  EXPECT_FALSE(calibration(computer(1, 1, "NVIDIA A10")).startsWith(others));
}

// As `run --devices 0` leaves it.
TEST_F(DoctorOfGpus, OfMixedGpusItSaysWhichAreCalibratedAndWhatToDo) {
  nlohmann::json mixed = computer(4, 4, "NVIDIA T4");
  mixed["gpus"][0]["name"] = "NVIDIA A100";
  const auto all = QStringLiteral("or let Run, Calibrate measure all that ranks can use.");
  store({"NVIDIA A100"});
  EXPECT_EQ(calibration(mixed),
            QStringLiteral("of GPU 0 (NVIDIA A100), not of GPUs 1, 2, 3 (NVIDIA T4): "
                           "2026-11-23T08:00:00Z\nSet GPUs to 0 in All settings to run with these "
                           "rates, ") +
                all);
  store({"NVIDIA A100", "NVIDIA T4"}, {{0, 2, {}}});
  EXPECT_EQ(calibration(mixed),
            QStringLiteral("of GPU 0 (NVIDIA A100), GPU 2 (NVIDIA T4), not of GPUs 1, 3 (NVIDIA "
                           "T4): 2026-11-23T08:00:00Z\nSet GPUs to 0,2 in All settings to run with "
                           "these rates, ") +
                all);
  store({"NVIDIA H100"});
  EXPECT_TRUE(calibration(mixed).startsWith(QStringLiteral("of other GPUs: ")));
}

}  // namespace
}  // namespace parallelarium

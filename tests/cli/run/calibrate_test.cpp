// SPDX-License-Identifier: Apache-2.0
// When a calibration is asked for, what it stores, and what goes on without a place for it.
#include <gmock/gmock.h>
#include <sched.h>

#include "engine/cli/commands/command.h"
#include "engine/cli/training.h"
#include "engine/plan/placement/cores.h"
#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Its threads begin on one of the computer's cores, as in a container that has no more.
class OneCore {
 public:
  OneCore() {
    available_core_count();  // of the whole computer, for the tests that follow
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (std::size_t unit = 0; CPU_COUNT(&one) == 0 && unit < CPU_SETSIZE; ++unit)
      if (CPU_ISSET(unit, &before_)) CPU_SET(unit, &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }
  ~OneCore() { sched_setaffinity(0, sizeof before_, &before_); }
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;

 private:
  cpu_set_t before_{};
};

// Measured on one core alone: that takes the least time, and what is measured is another test's.
TEST(Run, GoesOnWithACalibrationThatCannotBeStored) {
  const Folder folder;
  const OneCore alone;
  setenv("XDG_DATA_HOME", "/proc/none", 1);
  const Reply answer = command(small_run({"--pp", "1", "--backend", "cpu", "--json"}));
  ASSERT_EQ(answer.status, kDone) << answer.err;
  EXPECT_THAT(answer.err, HasSubstr("/proc/none"));
  EXPECT_FALSE(
      answer.json().at("predicted").at("machine").at("calibrated").get<std::string>().empty());
}

// Files of older versions do not tell in which.
TEST(Calibrate, IsAskedForAgainWhereBf16IsMultipliedInAnotherWay) {
  const Folder folder;
  const std::string here = bf16_products_here();
  EXPECT_EQ(command({"devices", "--json"}).json().at("bf16_products"), here);
  const std::string other = here == kNativeBf16 ? kWidenedBf16 : kNativeBf16;
  const std::vector<std::string> predict_fp32 = {"predict", "--pp", "2", "--backend", "cpu"};
  std::vector<std::string> predict_bf16 = predict_fp32;
  predict_bf16.insert(predict_bf16.end(), {"--precision", "mixed-16"});
  const auto calibrated = [](const char* precision) {
    parallelarium::Setup setup = default_setup();
    setup.run.backend = Backend::kCpu;
    EXPECT_TRUE(set_field(setup, "precision", precision).ok());
    const Result<Preparation> preparation = prepare(setup);
    EXPECT_TRUE(preparation.ok());
    return preparation && preparation->calibrated();
  };
  for (const std::string& then : {here, other, std::string()}) {
    Machine machine = uncalibrated_local_machine();
    machine.calibrated = "2026-11-22 for a test";
    machine.bf16_products = then;
    ASSERT_TRUE(save_local_machine(machine).ok());
    const bool outdated = then == other || (then.empty() && here == kNativeBf16);
    const auto says_so = [outdated](const std::string& text) {
      const bool found = text.find("bf16 may be off until `calibrate`") != std::string::npos ||
                         text.find("bf16 are off until `calibrate`") != std::string::npos;
      return found == outdated;
    };
    EXPECT_TRUE(says_so(command({"devices"}).out)) << then;
    EXPECT_TRUE(says_so(command({"machines", "local"}).out)) << then;
    EXPECT_TRUE(says_so(command(predict_bf16).out)) << then;
    EXPECT_EQ(calibrated("mixed-16"), !outdated) << "a run measures first";
    EXPECT_EQ(command(predict_fp32).out.find("off until"), std::string::npos);
    EXPECT_TRUE(calibrated("fp32"));
    std::vector<std::string> as_json = predict_bf16;
    as_json.emplace_back("--json");
    EXPECT_TRUE(says_so(command(as_json).json().at("remarks").dump())) << then;
  }
}

TEST(Calibrate, MeasuresStoresAndIsUsedByTheNextPrediction) {
  const Folder folder;
  const json before = command({"predict", "--json"}).json();
  EXPECT_EQ(before.at("rates").at("word"), "assumed");
  const Reply answer = command({"calibrate", "--json"});
  ASSERT_EQ(answer.status, kDone) << answer.err;
  EXPECT_THAT(answer.err, HasSubstr(folder.path("")));
  const json machine = answer.json();
  EXPECT_EQ(command({"machines", "local", "--json"}).json(), machine);
  EXPECT_EQ(machine.at("bf16_products"), bf16_products_here());
  if (machine.at("cores") >= 2) {
    const std::vector<std::string> words = {"collective", "all_gather", "--ranks", "2",
                                            "--bytes",    "128",        "--json"};
    std::vector<std::string> here = words;
    here.insert(here.end(), {"--machine", "local"});
    // A ring of two is two messages that cross, here of the smallest measured size.
    EXPECT_NEAR(command(here).json().at("seconds").get<double>(),
                machine.at("transfers").at(0).at("both").get<double>(), 1e-12);
    here.insert(here.end(), {"--latency", "1"});
    EXPECT_GE(command(here).json().at("seconds").get<double>(), 1);
  }
  const json after = command({"predict", "--json"}).json();
  EXPECT_EQ(after.at("rates").at("word"), "calibrated");
  EXPECT_EQ(after.at("machine"), machine);
}

}  // namespace
}  // namespace parallelarium

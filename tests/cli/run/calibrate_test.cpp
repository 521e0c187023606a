// SPDX-License-Identifier: Apache-2.0
// What is said of a calibration, and what follows from it.
#include <gmock/gmock.h>

#include "engine/cli/training.h"
#include "engine/run/calibrate/other_programs.h"
#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

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
  EXPECT_EQ(machine.contains("cores_used_by_others"), core_clocks(available_cores()).has_value());
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
  // The tests of the window need one, too, and to measure takes every core for seconds.
  if (const char* kept = std::getenv("PARALLELARIUM_KEEP_CALIBRATION"); kept && !HasFailure()) {
    std::filesystem::create_directories(kept);
    std::filesystem::copy(folder.path("parallelarium"), kept,
                          std::filesystem::copy_options::recursive |
                              std::filesystem::copy_options::overwrite_existing);
  }
}

TEST(Calibrate, SaysWhereverItIsNamedThatOtherProgramsUsedTheCores) {
  const Folder folder;
  Machine machine = uncalibrated_local_machine();
  machine.calibrated = "2026-11-27 for a test";
  machine.bf16_products = bf16_products_here();
  const std::vector<std::string> predict = {"predict", "--pp", "2", "--backend", "cpu"};
  std::vector<std::string> as_json = predict;
  as_json.emplace_back("--json");
  for (const bool disturbed : {true, false}) {
    machine.cores_used_by_others = disturbed ? 0.65 * machine.cores : 0.0;
    ASSERT_TRUE(save_local_machine(machine).ok());
    const std::string used =
        fmt::format("Other programs used {:.1f} of {} core", 0.65 * machine.cores, machine.cores);
    const testing::Matcher<std::string> says =
        disturbed ? testing::Matcher<std::string>(HasSubstr(used))
                  : testing::Matcher<std::string>(Not(HasSubstr("Other programs")));
    EXPECT_THAT(command({"devices"}).out, says);
    EXPECT_THAT(command({"machines", "local"}).out, says) << "as `calibrate` prints it";
    EXPECT_THAT(command(predict).out, says);
    EXPECT_THAT(command(as_json).json().at("remarks").dump(), says);
    EXPECT_THAT(command({"predict", "--machine", "dgx-h100", "--tp", "2"}).out,
                Not(HasSubstr("Other programs")));
    EXPECT_EQ(command({"machines", "local", "--json"}).json().at("cores_used_by_others"),
              *machine.cores_used_by_others);
  }
}

}  // namespace
}  // namespace parallelarium

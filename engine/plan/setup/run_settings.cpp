// SPDX-License-Identifier: Apache-2.0
// The rows of the table of settings that say how a Setup is run here.
#include "engine/plan/setup/setup_names.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {
namespace {

using Is = Of<Setup>;
using Row = SetupSetting;
// GCC 12 breaks down where the first row of all is one with names of members.
const Row kFirstOfRun = Row();

// "auto" is the default's name.
Value<Setup> stretch_value() {
  Value<Setup> value = Is::number(kStretch, &Setup::run, &RunSettings::stretch);
  value.get = [](const Setup& setup) -> nlohmann::json {
    if (setup.run.stretch == kAutoStretch) return "auto";
    return setup.run.stretch;
  };
  value.set = [number = value.set](Setup& setup, const nlohmann::json& json,
                                   const std::string& key) {
    if (json != "auto") return number(setup, json, key);
    setup.run.stretch = kAutoStretch;
    return Result<void>();
  };
  return value;
}

}  // namespace

SettingTable<Setup> run_rows() {
  const auto in = &Setup::run;
  const auto slow = &RunSettings::slow_rank;
  SettingTable<Setup> rows = {{.key = "run.backend",
                               .option = "backend",
                               .value = Is::choice(kBackends, in, &RunSettings::backend),
                               .label = "Backend",
                               .help = "auto, cpu, paced (a rehearsal) or cuda",
                               .captions = {{.value = "cpu", .text = "CPU"},
                                            {.value = "paced", .text = "CPU, rehearsal"},
                                            {.value = "cuda", .text = "CUDA"}}},
                              {.key = "run.devices",
                               .option = "devices",
                               .value = Is::text(in, &RunSettings::devices),
                               .written = where_changed<Setup>(in, &RunSettings::devices),
                               .label = "GPUs (all, or 0,2)",
                               .help = "all, or the GPUs that ranks may use, such as 0,2"},
                              {.key = "run.stretch",
                               .option = "stretch",
                               .value = stretch_value(),
                               .stride = kDoubling,
                               .label = "Least stretch",
                               .help = "at least so many seconds of a rehearsal for one of the "
                                       "machine, or auto"},
                              {.key = "run.steps",
                               .option = "steps",
                               .value = Is::whole({1, 1'000'000}, in, &RunSettings::steps),
                               .label = "Timed steps",
                               .help = "timed training steps"},
                              {.key = "run.warmup",
                               .option = "warmup",
                               .value = Is::whole({0, 1'000'000}, in, &RunSettings::warmup),
                               .label = "Warm-up steps",
                               .help = "training steps before the timed ones"},
                              {.key = "run.seed",
                               .option = "seed",
                               .value = Is::seed(in, &RunSettings::seed),
                               .label = "Seed",
                               .help = "seed of parameters and data"},
                              {.key = "run.text",
                               .option = "text",
                               .value = Is::text(in, &RunSettings::text),
                               .label = "Text",
                               .help = "default, or a UTF-8 file to train on"},
                              {.key = "run.slow_rank.rank",
                               .option = "slow-rank",
                               .value = Is::whole({0, 1'000'000}, in, slow, &SlowRank::rank),
                               .written = where_changed<Setup>(in, slow),
                               .label = "Slow rank",
                               .help = "the rank that --slow-factor slows down"},
                              {.key = "run.slow_rank.factor",
                               .option = "slow-factor",
                               .value = Is::number({1, 100}, in, slow, &SlowRank::factor),
                               .written = where_changed<Setup>(in, slow),
                               .label = "Slow rank's factor",
                               .help = "the slow rank's computing takes so many times as long: on "
                                       "CPUs it keeps its core busy for the extra time; 1: no "
                                       "rank is slow"}};
  for (Row& row : rows) row.section = Section::kRun;
  return rows;
}

}  // namespace parallelarium

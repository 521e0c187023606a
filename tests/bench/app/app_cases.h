// SPDX-License-Identifier: GPL-3.0-or-later
// Benchmarks of a view over Setups, each given by the settings that it changes.
#pragma once

#include <benchmark/benchmark.h>

#include <QApplication>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "app/look/theme/theme.h"
#include "app/state/session.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {

struct Given {
  const char *field, *value;
};
struct Case {
  const char* name;
  std::vector<Given> fields;
};

// Ends the program where the Setup is not valid.
inline void set_up(Session& session, const Case& of) {
  Setup setup = session.setup();
  for (const Given& given : of.fields)
    if (!set_field(setup, given.field, given.value)) std::abort();
  session.history().change(setup, QString());
  session.wait_for_prediction();
  if (!session.problems().empty()) std::abort();
}

using CaseRun = std::pair<const char*, void (*)(benchmark::State&, const Case&)>;

// Every run of every case, named "run/case".
template <class Cases>
int run_cases(int argc, char** argv, const Cases& cases, std::initializer_list<CaseRun> runs) {
  QApplication application(argc, argv);
  apply_theme(application, false);
  for (const Case& of : cases)
    for (const auto& [what, run] : runs)
      benchmark::RegisterBenchmark((std::string(what) + "/" + of.name).c_str(),
                                   [run = run, &of](benchmark::State& state) { run(state, of); })
          ->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace parallelarium

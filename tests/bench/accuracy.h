// SPDX-License-Identifier: Apache-2.0
// What the tables of accuracy have in common: Setups written as settings of the command line, times
// by piece, and the last line of a table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/plan/program/report.h"
#include "engine/plan/setup/setup.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// Setups of one and two ranks without experts: settings beside those of the default Setup.
inline constexpr const char* kDense[] = {
    "pp=1 microbatches=4",
    "pp=1 microbatches=2 micro-batch=4",
    "pp=2 microbatches=4",
    "pp=2 microbatches=8 micro-batch=2 schedule=gpipe",
    "pp=2 microbatches=4 schedule=naive",
    "pp=2 microbatches=8 schedule=interleaved chunks=2",
    "pp=2 microbatches=8 schedule=zb-h1",
    "pp=2 microbatches=8 schedule=zb-v",
    "pp=2 microbatches=4 recompute=full",
    "pp=2 microbatches=4 attention=fused",
    "pp=1 dp=2 microbatches=4",
    "pp=1 dp=2 microbatches=2 micro-batch=4 schedule=gpipe",
    "pp=1 dp=2 microbatches=4 zero=1",
    "pp=1 dp=2 microbatches=4 zero=2",
    "pp=1 dp=2 microbatches=4 zero=3",
    "pp=1 tp=2 microbatches=4",
    "pp=1 tp=2 sequence-parallel=true microbatches=4",
    "pp=1 tp=2 microbatches=2 micro-batch=4",
    "pp=1 cp=2 microbatches=4 attention=fused",
    "pp=1 cp=2 microbatches=4 context-parallel=ulysses",
    "model=gpt-small pp=1 microbatches=1",
    "model=gpt-small pp=2 microbatches=4",
    "model=gpt-small pp=2 microbatches=2 micro-batch=2 schedule=gpipe",
    "model=gpt-small pp=1 dp=2 microbatches=2",
    "model=gpt-small pp=1 dp=2 microbatches=2 zero=3",
    "model=gpt-small pp=1 tp=2 microbatches=2",
    "model=llama-tiny pp=1 microbatches=4",
    "model=llama-tiny pp=2 microbatches=4",
    "model=llama-tiny pp=1 tp=2 microbatches=4",
    "model=llama-tiny pp=1 dp=2 microbatches=4 zero=2",
};

// The default Setup with `settings`, as "dp=2 zero=3". Errors: those of set_field().
inline Result<Setup> setup_from(const std::string& settings) {
  Setup setup = default_setup();
  std::istringstream words(settings);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    const Result<void> set = set_field(setup, word.substr(0, equals), word.substr(equals + 1));
    if (!set) return set.error();
  }
  return setup;
}

// Predicted and observed microseconds by piece and phase, added over ranks.
using Pieces = std::map<std::string, std::pair<double, double>>;

// Adds `share` of all times: a half where a run has two predictions and both are added.
inline void add_pieces(Pieces& pieces, const Prediction& predicted, const Observation& seen,
                       double share) {
  for (std::size_t rank = 0; rank < predicted.program.ranks.size(); ++rank) {
    for (std::size_t i = 0; i < predicted.program.ranks[rank].ops.size(); ++i) {
      const Op& op = predicted.program.ranks[rank].ops[i];
      auto& [one, other] =
          pieces[fmt::format("{} {} {}", name_of(op.kind), name_of(op.piece), name_of(op.phase))];
      const auto length = [&](const Timeline& timeline) {
        const Span& span = timeline.ranks[rank].spans[i];
        return static_cast<double>((span.end - span.begin).count()) * share * 1e-3;
      };
      one += length(predicted.timeline);
      other += length(seen.timeline);
    }
  }
}

inline void print_pieces(const Pieces& pieces) {
  for (const auto& [piece, times] : pieces) {
    fmt::print("  {:40} {:9.1f} us predicted {:9.1f} us observed {:+6.1f} %\n", piece, times.first,
               times.second, (times.first / times.second - 1) * 100);
  }
}

// Of two in the middle the lower. There must be values.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

// The last line of a table, without what else it says. There must be errors, and none may be
// negative.
inline std::string errors_text(const std::string& name, const std::vector<double>& errors) {
  return fmt::format("{}: {} Setups, median |error| {:.1f} %, worst {:.1f} %", name, errors.size(),
                     median(errors) * 100, *std::max_element(errors.begin(), errors.end()) * 100);
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// `collective NAME --sweep`: several algorithms over sizes, predicted and, where asked for,
// measured.
#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/predict/network/network.h"
#include "engine/run/collective/collective_run.h"

namespace parallelarium {

struct SweepRow {
  CollectiveSpec spec;
  double seconds = 0, bus_bandwidth = 0;  // predicted
  // Measured: median of the repeats and its extremes; 0 where nothing was run.
  double measured_seconds = 0, measured_min = 0, measured_max = 0, measured_bus_bandwidth = 0;
  // Or oversubscribed: more ranks than cores; or shared GPU.
  Source source = Source::kMeasured;
  bool correct = true;
  // predicted / measured - 1
  double error() const { return measured_seconds > 0 ? seconds / measured_seconds - 1 : 0; }
};

// Sizes from 4 KiB to spec.bytes by factors of 4 (the last is spec.bytes), every algorithm of
// `algorithms` that can be made, run as `wishes` say; no repeats: predicted only. `tell` gets the
// share done.
// Error: an algorithm that cannot be made where only it was asked for; a run that failed.
Result<std::vector<SweepRow>> sweep(const CollectiveSpec& spec,
                                    const std::vector<std::string>& algorithms,
                                    const Network& network, const CollectiveRunOptions& wishes,
                                    const std::function<void(double)>& tell,
                                    const std::atomic<bool>* cancel);

std::string sweep_text(const std::vector<SweepRow>& rows);
// One line of titles and one for each row, RFC 4180.
std::string sweep_csv(const std::vector<SweepRow>& rows);
nlohmann::json sweep_json(const std::vector<SweepRow>& rows);
// Median of |error| over the measured rows; none where nothing was measured.
std::optional<double> median_error(const std::vector<SweepRow>& rows);

}  // namespace parallelarium

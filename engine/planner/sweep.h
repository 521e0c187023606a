// SPDX-License-Identifier: Apache-2.0
// Figures of predictions over one or more settings that vary: the points of curves.
#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

// More points than this are refused, since each prediction takes milliseconds.
inline constexpr std::size_t kMostSweepPoints = 10'000;

// A setting that varies, by its option or key, and its values as they are typed.
struct Variation {
  std::string key;                  // "tp" or "mesh.tp"
  std::vector<std::string> values;  // "1", "2", "4"
  double unlisted = 0;              // values of long ranges that are only counted: see sweep()
};
// Reads "tp=1,2,4,8". "64..512*2" stands for 64,128,256,512 and "1..4" for 1,2,3,4. If a value
// contains a comma, semicolons separate the values: "stage-layers=1,3;2,2". A range lists its first
// kMostSweepPoints values.
// Errors: there is no such setting, no value or an empty one, the same value twice, or a range that
// goes down, does not grow, or is not of whole numbers.
Result<Variation> variation_from(const std::string& text);

// A figure to show: its dotted key in `predict --json`, or one of the short names.
struct Metric {
  std::string name;  // as it was asked for: "step"
  std::string key;   // "step.seconds"
  std::string unit;  // "seconds", "bytes", "1", or empty if it is not known
};
// "step" stands for step.seconds, "memory" for memory.needed_bytes, and so on. "efficiency" is no
// key. It is the tokens per second of a rank as a share of those at the fewest ranks of its line
// with enough memory.
Metric metric_from(const std::string& name);
std::vector<std::string> short_metric_names();

struct SweepPoint {
  std::vector<std::string> values;             // one for each variation
  std::vector<std::optional<double>> figures;  // one for each metric; none if it is refused
  nlohmann::json setup;                        // as in the answer; null if it is refused
  std::optional<bool> fits;
  std::int64_t needed_bytes = 0;          // of a device; 0: it is refused
  double ranks = 0, tokens_per_rank = 0;  // tokens per second; 0: not known
  // The values of the point that its efficiency is relative to. None: it has no efficiency.
  std::optional<std::vector<std::string>> efficiency_of;
  std::optional<Message> refused;  // the sentence of validate(), or another one that refuses it
};

using Turned = std::vector<std::pair<std::string, std::string>>;  // setting, value
// What `predict --json` answers for the base Setup with these settings changed, or why there is no
// answer.
using TurnedAnswer = std::function<Result<nlohmann::json>(const Turned&)>;

// Returns a point for every combination of the values; the last variation changes fastest. A Setup
// that is not valid is a point with its sentence. `progress` hears the number of points done, and
// of all points.
// Errors: no variation or metric, more than kMostSweepPoints, a metric that is in no answer,
// "sweep-cancelled".
Result<std::vector<SweepPoint>> sweep(
    const std::vector<Variation>& variations, const std::vector<Metric>& metrics,
    const TurnedAnswer& answer, const std::atomic<bool>* cancel = nullptr,
    const std::function<void(std::size_t, std::size_t)>& progress = {});

// {"points": [{"values", "setup", "metrics", "fits", "needed_bytes", "refused"}]}. A point with an
// efficiency also has "efficiency_of", the values of the point that it is relative to.
nlohmann::json to_json(const std::vector<SweepPoint>& points,
                       const std::vector<Variation>& variations,
                       const std::vector<Metric>& metrics);

}  // namespace parallelarium

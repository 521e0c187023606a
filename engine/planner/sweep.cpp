// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/sweep.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "engine/plan/settings/alternatives.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/plan/text/phrases.h"
#include "engine/predict/cases/figure_at.h"

namespace parallelarium {

namespace {

using nlohmann::json;

constexpr double kMostCounted = 1e15;  // whole numbers below it are exact in a double

// No key of a prediction: it compares points.
constexpr const char* kEfficiency = "efficiency";

Metric metric(const char* name, const char* key, const char* unit) { return {name, key, unit}; }
const std::vector<Metric>& short_metrics() {
  static const std::vector<Metric> metrics = {
      metric("step", "step.seconds", "seconds"),
      metric("tokens", "step.tokens_per_second", "tokens/s"),
      metric("mfu", "step.mfu", "1"),
      metric("memory", "memory.needed_bytes", "bytes"),
      metric("fits", "memory.fits", ""),
      metric("bubble", "bubble.of_total", "1"),
      metric("compute", "step.compute_seconds", "seconds"),
      metric("exposed", "step.exposed_communication_seconds", "seconds"),
      metric("communication", "step.communication_seconds", "seconds"),
      metric("communication-over-compute", "step.communication_over_compute", "1"),
      metric("efficiency", kEfficiency, "1"),
      metric("ranks", "ranks", ""),
      metric("flops", "model.step_flops", "flops"),
  };
  return metrics;
}

std::string unit_of(const std::string& key) {
  for (const Metric& known : short_metrics())
    if (known.key == key) return known.unit;
  for (const char* unit : {"seconds", "bytes", "flops"})
    if (key.ends_with(unit)) return unit;
  return {};
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

// "64..512*2", or "1..4" whose factor is 1.
struct ValueRange {
  std::int64_t low = 0, high = 0, factor = 1;
};

// None where the text is no range: a path may have two dots, too.
std::optional<ValueRange> value_range_of(const std::string& text) {
  const auto dots = text.find("..");
  if (dots == std::string::npos) return std::nullopt;
  const auto star = text.find('*', dots);
  const std::string_view all = text;
  const auto low = whole(all.substr(0, dots)), high = whole(all.substr(dots + 2, star - dots - 2));
  const auto factor = star == std::string::npos ? 1 : whole(all.substr(star + 1));
  if (!low || !high || !factor) return std::nullopt;
  return ValueRange{*low, *high, *factor};
}

// `typed` is the whole variation, of which `text` is the range.
Result<void> add_range(const ValueRange& range, const std::string& text, const std::string& typed,
                       Variation& variation) {
  const bool multiplies = text.find('*') != std::string::npos;
  if (multiplies && (range.low < 1 || range.factor < 2))
    return message("vary-factor",
                   "In “{}” the range {} must begin at 1 or more and have a factor of 2 or "
                   "more: each value is the one before times the factor.",
                   shown(typed), shown(text));
  if (range.low > range.high)
    return message("vary-down", "In “{}” the range {} goes down; write {}..{}.", shown(typed),
                   shown(text), range.high,
                   fmt::format("{}{}", range.low, multiplies ? text.substr(text.find('*')) : ""));
  if (multiplies) {
    for (std::int64_t at = range.low;; at *= range.factor) {
      variation.values.push_back(std::to_string(at));
      if (at > range.high / range.factor) return {};
    }
  }
  const std::uint64_t steps =
      static_cast<std::uint64_t>(range.high) - static_cast<std::uint64_t>(range.low);
  const auto listed = std::min<std::uint64_t>(steps, kMostSweepPoints - 1) + 1;
  for (std::uint64_t at = 0; at < listed; ++at)
    variation.values.push_back(std::to_string(range.low + static_cast<std::int64_t>(at)));
  variation.unlisted += static_cast<double>(steps - (listed - 1));
  return {};
}

std::string without_spaces_around(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(separator, from), text.size());
    parts.push_back(without_spaces_around(text.substr(from, end - from)));
    from = end + 1;
  }
  return parts;
}

json value_of(const std::string& text) {
  if (const auto number = whole(text)) return *number;
  return text;
}

}  // namespace

Result<Variation> variation_from(const std::string& text) {
  const auto equals = text.find('=');
  Variation variation;
  variation.key = text.substr(0, equals);
  const SetupSetting* const row = find_setting(setup_settings(), variation.key);
  if (row == nullptr) {
    std::vector<std::string> names;
    for (const SetupSetting& row : setup_settings())
      if (!row.option.empty()) names.push_back(row.option);
    const std::string near = nearest(variation.key, names);
    return near.empty()
               ? message("vary-unknown", "There is no setting “{}” to vary.", shown(variation.key))
               : message("vary-unknown.near", "There is no setting “{}” to vary; did you mean {}?",
                         shown(variation.key), near);
  }
  const std::string list = equals == std::string::npos ? "" : text.substr(equals + 1);
  const char separator = list.find(';') != std::string::npos ? ';' : ',';
  std::vector<std::string> parts = parts_of(list, separator);
  const std::size_t places = parts.size();
  std::erase(parts, "");
  if (parts.empty())
    return message("vary-empty", "“{}” names no value; say which {} takes, such as {}=1,2,4.",
                   shown(text), variation.key, variation.key);
  if (parts.size() < places)
    return message("vary-gap", "“{}” has a “{}” too many; write {}={}.", shown(text),
                   std::string(1, separator), variation.key,
                   shown(fmt::format("{}", fmt::join(parts, std::string(1, separator)))));
  const SettingKind kind = row->value.kind;
  const bool of_numbers =
      kind == SettingKind::kWhole || kind == SettingKind::kSeed || kind == SettingKind::kNumber;
  for (const std::string& part : parts) {
    const std::optional<ValueRange> range = value_range_of(part);
    if (!range && of_numbers && part.find("..") != std::string::npos)
      return message("vary-fraction",
                     "In “{}” the range {} is not of whole numbers; list the values one by one.",
                     shown(text), shown(part));
    if (!range) {
      variation.values.push_back(part);
    } else if (Result<void> added = add_range(*range, part, text, variation); !added) {
      return added.error();
    }
  }
  std::set<json> before;
  for (const std::string& value : variation.values)
    if (!before.insert(value_of(value)).second)
      return message("vary-again", "“{}” names the value {} twice; name it once.", shown(text),
                     shown(value));
  return variation;
}

Metric metric_from(const std::string& name) {
  for (const Metric& known : short_metrics())
    if (known.name == name) return known;
  return {name, name, unit_of(name)};
}

std::vector<std::string> short_metric_names() {
  std::vector<std::string> names;
  for (const Metric& known : short_metrics()) names.push_back(known.name);
  return names;
}

namespace {

SweepPoint point_of(std::vector<std::string> values, const std::vector<Variation>& variations,
                    const std::vector<Metric>& metrics, const TurnedAnswer& answer) {
  SweepPoint point;
  Turned turned;
  for (std::size_t at = 0; at < variations.size(); ++at)
    turned.emplace_back(variations[at].key, values[at]);
  point.values = std::move(values);
  const Result<json> facts = answer(turned);
  for (const Metric& shown : metrics)
    point.figures.push_back(facts ? figure_at(*facts, shown.key) : std::nullopt);
  if (!facts) {
    point.refused = facts.error();
    return point;
  }
  point.setup = facts->value("setup", json());
  if (const auto fits = figure_at(*facts, "memory.fits")) point.fits = *fits != 0;
  point.needed_bytes = std::llround(figure_at(*facts, "memory.needed_bytes").value_or(0));
  const auto tokens = figure_at(*facts, "step.tokens_per_second");
  const auto ranks = figure_at(*facts, "ranks");
  if (tokens && ranks && *ranks > 0) {
    point.ranks = *ranks;
    point.tokens_per_rank = *tokens / *ranks;
  }
  return point;
}

// Efficiency: tokens/s of a rank as a share of those at the fewest ranks that are not known to need
// more memory than there is, among the points that differ in the first variation alone.
void fill_efficiency(std::vector<SweepPoint>& points, const std::vector<Metric>& metrics) {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [](const Metric& shown) { return shown.key == kEfficiency; });
  if (found == metrics.end()) return;
  const auto at = static_cast<std::size_t>(found - metrics.begin());
  using Others = std::vector<std::string>;
  const auto others = [](const SweepPoint& point) {
    return Others(point.values.begin() + 1, point.values.end());
  };
  std::map<Others, const SweepPoint*> fewest;
  for (const SweepPoint& point : points) {
    if (point.tokens_per_rank <= 0 || point.fits == false) continue;
    const SweepPoint*& least = fewest[others(point)];
    if (least == nullptr || point.ranks < least->ranks) least = &point;
  }
  for (SweepPoint& point : points) {
    const auto baseline = fewest.find(others(point));
    if (point.tokens_per_rank <= 0 || baseline == fewest.end()) continue;
    point.figures[at] = point.tokens_per_rank / baseline->second->tokens_per_rank;
    point.efficiency_of = baseline->second->values;
  }
}

// A name that no answer knows is a slip of the pen. Efficiency is known, though no point may fit.
Result<void> check_metrics(const std::vector<SweepPoint>& points,
                           const std::vector<Metric>& metrics) {
  const bool answered = std::any_of(points.begin(), points.end(),
                                    [](const SweepPoint& point) { return !point.refused; });
  for (std::size_t at = 0; answered && at < metrics.size(); ++at)
    if (metrics[at].key != kEfficiency &&
        std::none_of(points.begin(), points.end(),
                     [&](const SweepPoint& point) { return point.figures[at].has_value(); }))
      return message("metric-unknown",
                     "A prediction has no figure “{}”; there are {}, and every dotted key of "
                     "`predict --json`.",
                     shown(metrics[at].name), join_and(short_metric_names()));
  return {};
}

}  // namespace

Result<std::vector<SweepPoint>> sweep(
    const std::vector<Variation>& variations, const std::vector<Metric>& metrics,
    const TurnedAnswer& answer, const std::atomic<bool>* cancel,
    const std::function<void(std::size_t, std::size_t)>& progress) {
  if (variations.empty())
    return message("sweep-nothing", "Say what varies, such as --vary tp=1,2,4,8.");
  if (metrics.empty())
    return message("sweep-shows", "Say what to show, such as --show step,memory.");
  for (auto at = variations.begin(); at != variations.end(); ++at)
    if (std::any_of(variations.begin(), at, [&](const Variation& before) {
          return find_setting(setup_settings(), before.key) ==
                 find_setting(setup_settings(), at->key);
        }))
      return message("sweep-twice",
                     "{} varies twice; give all its values in one list, such as {}=1,2,4.", at->key,
                     at->key);
  double combinations = 1;
  for (const Variation& variation : variations)
    combinations *= static_cast<double>(variation.values.size()) + variation.unlisted;
  if (combinations > static_cast<double>(kMostSweepPoints))
    return message("sweep-many",
                   "These settings have {} combinations, and a sweep has {} at most; vary fewer "
                   "values.",
                   combinations < kMostCounted ? plain(fmt::format("{:.0f}", combinations))
                                               : ten_digits(combinations),
                   kMostSweepPoints);
  const auto count = static_cast<std::size_t>(combinations);
  std::vector<SweepPoint> points;
  for (std::size_t number = 0; number < count; ++number) {
    if (cancel != nullptr && *cancel)
      return message("sweep-cancelled", "The sweep was cancelled after {} of {} points.", number,
                     count);
    if (progress) progress(number, count);
    std::vector<std::string> values(variations.size());
    std::size_t rest = number;
    for (std::size_t at = variations.size(); at-- > 0;) {
      values[at] = variations[at].values[rest % variations[at].values.size()];
      rest /= variations[at].values.size();
    }
    points.push_back(point_of(std::move(values), variations, metrics, answer));
  }
  fill_efficiency(points, metrics);
  if (const Result<void> known = check_metrics(points, metrics); !known) return known.error();
  return points;
}

json to_json(const std::vector<SweepPoint>& points, const std::vector<Variation>& variations,
             const std::vector<Metric>& metrics) {
  const auto object_of = [&](const std::vector<std::string>& values) {
    json object = json::object();
    for (std::size_t at = 0; at < variations.size(); ++at)
      object[variations[at].key] = value_of(values[at]);
    return object;
  };
  json list = json::array();
  for (const SweepPoint& point : points) {
    json figures = json::object();
    for (std::size_t at = 0; at < metrics.size(); ++at)
      figures[metrics[at].name] = point.figures[at] ? json(*point.figures[at]) : json(nullptr);
    list.push_back({{"values", object_of(point.values)},
                    {"setup", point.setup},
                    {"metrics", std::move(figures)},
                    {"fits", point.fits ? json(*point.fits) : json(nullptr)},
                    {"needed_bytes", point.fits ? json(point.needed_bytes) : json(nullptr)},
                    {"refused", point.refused ? json(point.refused->text) : json(nullptr)}});
    if (point.efficiency_of) list.back()["efficiency_of"] = object_of(*point.efficiency_of);
  }
  return {{"points", std::move(list)}};
}

}  // namespace parallelarium

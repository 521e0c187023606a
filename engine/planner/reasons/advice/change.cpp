// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/reasons/advice/change.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "engine/plan/setup/schedule_rules.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/plan/text/message_json.h"
#include "engine/plan/text/phrases.h"
#include "engine/planner/search.h"
#include "engine/planner/space/space.h"

namespace parallelarium {

namespace {

// The settings that a Setup of one model and machine may have otherwise: axes first.
std::vector<const SetupSetting*> changing_rows() {
  std::vector<const SetupSetting*> rows;
  for (const PlanAxis& axis : plan_axes())
    rows.push_back(find_setting(setup_settings(), axis.option));
  for (const SetupSetting& row : setup_settings())
    if (row.section != Section::kNowhere && !row.option.empty() && !row.key.starts_with("model") &&
        std::find(rows.begin(), rows.end(), &row) == rows.end())
      rows.push_back(&row);
  return rows;
}

struct Words {
  std::string_view option, value;  // of a value; else of the axis itself
  Message (*said)();
};
constexpr Words kAxisWords[] = {
    {"zero-group", "", [] { return message("axis-zero-group", "ZeRO group"); }},
    {"order", "", [] { return message("axis-order", "rank order"); }},
    {"schedule", "", [] { return message("axis-schedule", "schedule"); }},
    {"chunks", "", [] { return message("axis-chunks", "chunks"); }},
    {"stage-layers", "", [] { return message("axis-layers", "layers"); }},
    {"micro-batch", "", [] { return message("axis-micro-batch", "micro-batch"); }},
    {"recompute", "", [] { return message("axis-recompute", "recompute"); }},
    {"zero-group", "0", [] { return message("axis-all-replicas", "all replicas"); }},
    {"order", "tp-cp-ep-dp-pp", [] { return message("axis-dp-pp", "DP, then PP"); }},
    {"order", "tp-cp-ep-pp-dp", [] { return message("axis-pp-dp", "PP, then DP"); }},
    {"stage-layers", "even", [] { return message("axis-even", "even"); }},
    {"stage-layers", "balanced", [] { return message("axis-balanced", "balanced"); }},
    {"expert-tensor", "true", [] { return message("axis-cut-experts", "TP"); }},
    {"expert-tensor", "false", [] { return message("axis-whole-experts", "1"); }},
    {"recompute", "none", [] { return message("axis-none", "none"); }},
    {"recompute", "selective", [] { return message("axis-selective", "selective"); }},
    {"recompute", "full", [] { return message("axis-full", "full"); }}};

std::optional<Message> axis_words(std::string_view option, std::string_view value) {
  for (const Words& words : kAxisWords)
    if (words.option == option && words.value == value) return words.said();
  return std::nullopt;
}

Message with_value(const SetupSetting& row, const Message& value) {
  return message("setting-value", "{} {}",
                 axis_words(row.option, "").value_or(words_of_setting(row)), value);
}

Message value_in(const Setup& setup, const SetupSetting& row) {
  return value_words(row.option, row.option == "stage-layers" ? layers_text(setup.stage_layers)
                                                              : text_of(setup, row));
}

}  // namespace

Message value_words(const std::string& axis, const std::string& value) {
  if (const std::optional<Message> words = axis_words(axis, value)) return *words;
  for (const ScheduleRule& rule : kScheduleRules)
    if (axis == "schedule" && value == rule.name) return title_of(rule);
  return words_of_value(*find_setting(setup_settings(), axis), value);
}

Message value_of_axis(const std::string& axis, const std::string& value) {
  return with_value(*find_setting(setup_settings(), axis), value_words(axis, value));
}

Change change_of(const Setup& from, const Setup& to) { return change_of(from, to, to); }

Change change_of(const Setup& from, const Setup& chosen, const Setup& to) {
  static const std::vector<const SetupSetting*> rows = changing_rows();
  Change change;
  std::vector<Message> said, followers;
  for (const SetupSetting* row : rows) {
    nlohmann::json before = row->value.get(from), after = row->value.get(to);
    if (before == after) continue;
    const bool follows = row->value.get(chosen) == before;
    change.settings.push_back({row->option, std::move(before), std::move(after), follows});
    if (row->option == "microbatches") continue;
    if (follows)
      followers.push_back(with_value(*row, value_in(to, *row)));
    else
      said.push_back(
          message("change", "{} → {}", with_value(*row, value_in(from, *row)), value_in(to, *row)));
  }
  change.said = listed(said);
  if (!followers.empty())
    change.said = message("change-follows", "{} (follows: {})", change.said, listed(followers));
  return change;
}

nlohmann::json to_json(const std::vector<ChangedSetting>& settings) {
  nlohmann::json list = nlohmann::json::array();
  for (const ChangedSetting& each : settings)
    list.push_back({{"setting", each.option},
                    {"from", each.from},
                    {"to", each.to},
                    {"follows", each.follows}});
  return list;
}

void put_change(nlohmann::json& object, const Change& change) {
  put_text(object, "change", change.said);
  object["changed"] = to_json(change.settings);
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// What a Setup has otherwise than another one, setting by setting: what was chosen, and what
// follows from it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

struct ChangedSetting {
  std::string option;       // "tp"
  nlohmann::json from, to;  // values as a Setup file has them
  bool follows = false;     // nobody chose it: other settings of the change entail it
};

struct Change {
  // Axes of a search first, in their order. What another setting spells out (GPUs, global batch) is
  // left out.
  std::vector<ChangedSetting> settings;
  // "TP 8 → 1 (follows: DP 64, SP off)", without the number of micro-batches, which follows from
  // the global batch. Empty where nothing else changed.
  Message said;
  bool empty() const { return settings.empty(); }
};

// All that differs. It was chosen, so nothing follows.
Change change_of(const Setup& from, const Setup& to);
// `chosen` is `from` with what was chosen alone: what `to` has otherwise than both follows.
Change change_of(const Setup& from, const Setup& chosen, const Setup& to);

// [{"setting": "tp", "from": 8, "to": 1, "follows": false}]
nlohmann::json to_json(const std::vector<ChangedSetting>& settings);
// Puts it into the object: "change" in words (put_text()), and "changed", the settings.
void put_change(nlohmann::json& object, const Change& change);

// An axis of a search, by its option, with a value as it is typed: "TP 8", "schedule ZB-H1". The
// axis must be one of plan_axes().
Message value_of_axis(const std::string& axis, const std::string& value);
Message value_words(const std::string& axis, const std::string& value);  // "8", "ZB-H1"

}  // namespace parallelarium

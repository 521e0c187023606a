// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/model/hugging_face/hugging_face_config.h"

#include <cmath>

#include "engine/plan/settings/alternatives.h"
#include "engine/plan/text/phrases.h"

namespace parallelarium {

const nlohmann::json* HuggingFaceConfig::find(Names names) const {
  for (const char* name : names) {
    const auto found = json_.find(name);
    if (found != json_.end() && !found->is_null()) return &*found;
  }
  return nullptr;
}

std::int64_t HuggingFaceConfig::whole(Names names, std::int64_t fallback) {
  const nlohmann::json* value = find(names);
  if (value == nullptr) return fallback;
  const double number = value->is_number() ? value->get<double>() : -1;
  if (!(number >= 0 && number <= kLargest && number == std::floor(number))) {
    fail(message("import-number", "{} in config.json must be a whole number from 0 to 2^24.",
                 *names.begin()));
    return fallback;
  }
  return static_cast<std::int64_t>(number);
}

void HuggingFaceConfig::need_all(std::initializer_list<Names> keys) {
  std::vector<std::string> missing;
  for (const Names& names : keys)
    if (find(names) == nullptr) missing.emplace_back(*names.begin());
  if (missing.empty()) return;
  fail(unknown_.empty()
           ? message("import-missing", "config.json has no {}, so the model's shape is not known.",
                     join_and(missing))
           : message("import-missing-unknown",
                     "Model type “{}” is not known here, and config.json has no {}, so the model's "
                     "shape is not known.",
                     shown(unknown_), join_and(missing)));
}

std::int64_t HuggingFaceConfig::assumed(Names names, std::int64_t fallback) {
  if (find(names) == nullptr) note_assumed(*names.begin(), fallback);
  return whole(names, fallback);
}

std::int64_t HuggingFaceConfig::said(const char* name) {
  if (!json_.contains(name)) note_assumed(name, 0);
  return whole({name}, 0);
}

bool HuggingFaceConfig::flag(const char* name, bool fallback) const {
  const nlohmann::json* value = find({name});
  return value != nullptr && value->is_boolean() ? value->get<bool>() : fallback;
}

std::string HuggingFaceConfig::text(Names names) const {
  for (const char* name : names)
    if (const nlohmann::json* value = find({name}); value != nullptr && value->is_string())
      return value->get<std::string>();
  return {};
}

void HuggingFaceConfig::fail(Message error) {
  if (!failed_) error_ = std::move(error);
  failed_ = true;
}

void HuggingFaceConfig::note_assumed(const char* name, std::int64_t value) {
  note(message("import-assumed", "config.json has no {}; {} is assumed.", name, value));
}

}  // namespace parallelarium

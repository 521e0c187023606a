// SPDX-License-Identifier: Apache-2.0
// Any bytes as a model's object form and as a Hugging Face config.json: one sentence, or a shape
// that can be counted.
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/plan/model/model.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/settings_reader.h"

namespace {

using namespace parallelarium;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const Result<Model>& model) {
  if (!model) {
    require(!model.error().text.empty() && is_utf8(model.error().text));
    return;
  }
  const std::vector<Message> wrong = check_model(*model);
  for (const Message& message : wrong) require(is_utf8(message.text));
  if (!wrong.empty()) return;
  const ParameterCounts counts = count_parameters(*model);
  require(counts.total >= counts.active && counts.active > 0);
  const double flops = model_flops_per_sequence(*model);
  require(std::isfinite(flops) && flops > 0);
  const Result<Model> again = model_from_json(to_json(*model));
  require(again.ok() && count_parameters(*again).total == counts.total);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<nlohmann::json> json = parse_json(text);
  if (!json) {
    require(!json.error().text.empty() && is_utf8(json.error().text));
    return 0;
  }
  check(model_from_json(*json));
  std::vector<Message> notes;
  check(import_hugging_face(*json, notes));
  for (const Message& note : notes) require(is_utf8(note.text));
  return 0;
}

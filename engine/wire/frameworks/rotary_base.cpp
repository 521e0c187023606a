// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/text/units.h"
#include "engine/wire/frameworks/table.h"

namespace parallelarium::frameworks {
namespace {

// The bases of rotary positions that published models were trained with, where they are not the
// usual 10000. A Setup has none, since no time and no memory follows from it; a model of one's
// own is written without, and a text that says another one than is written is told so. Sources:
// Llama Team 2024, section 3.2; Qwen Team 2025, section 2; of the others rope_theta in the
// config.json of the released weights.
struct RotaryBase {
  const char* preset;
  int base;
};
constexpr RotaryBase kRotaryBases[] = {
    {"llama3-8b", 500'000},       {"llama3-70b", 500'000},        {"llama3-405b", 500'000},
    {"llama4-scout", 500'000},    {"qwen3-8b", 1'000'000},        {"qwen3-32b", 1'000'000},
    {"qwen3-30b-a3b", 1'000'000}, {"qwen3-235b-a22b", 1'000'000}, {"mixtral-8x7b", 1'000'000},
    {"mixtral-8x22b", 1'000'000}, {"gpt-oss-20b", 150'000},       {"gpt-oss-120b", 150'000}};

// 0: the usual one. Other sequences and stages are the same model.
int rotary_base_of(const Model& model) {
  for (const RotaryBase& each : kRotaryBases) {
    const Result<Model> preset = find_model(each.preset);
    if (preset && preset->layers == model.layers && preset->hidden == model.hidden &&
        preset->heads == model.heads && preset->kv_heads == model.kv_heads &&
        preset->vocab == model.vocab && preset->learned_positions == model.learned_positions)
      return each.base;
  }
  return 0;
}

}  // namespace

FrameworkRow rotary_base(const std::string& name) {
  constexpr double kUsual = 10'000;
  FrameworkRow row = only_read({name}, {}, [name](Draft& draft) -> Result<void> {
    const Result<double> base = number_at(draft, name, kUsual);
    if (!base) return base.error();
    const int written = rotary_base_of(draft.setup.model);
    const bool says = draft.find(name) != nullptr && !draft.setup.model.learned_positions;
    if (says && *base != (written > 0 ? written : kUsual))
      draft.notes.push_back(
          message("framework-rotary-base",
                  "A Setup has no base of rotary positions, from which no time and no memory "
                  "follows: put {} {} back into what is exported.",
                  draft.shown_name(name), figure(fmt::format("{}", *base))));
    return {};
  });
  row.write = [name](const Setup& setup, Entries& entries) {
    if (const int base = rotary_base_of(setup.model); base > 0) entries.emplace_back(name, base);
  };
  return row;
}

}  // namespace parallelarium::frameworks

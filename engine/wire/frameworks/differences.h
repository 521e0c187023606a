// SPDX-License-Identifier: Apache-2.0
// Finds the settings by which two Setups train differently.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/plan/setup/setup.h"

namespace parallelarium::frameworks {

struct SettingDifference {
  std::string key;     // "mesh.pp", "model.norm"; "model" if models are compared as a whole
  std::string before;  // its values, as people write them
  std::string after;
};

// The setting and its value after, as people say them: "PP 4", "Norm layer".
Message words_of_difference(const SettingDifference& difference);

// Whether models are compared key by key or as a whole. The length of a sequence may be compared
// separately.
enum class CompareModels : std::uint8_t { kByKey, kAsOneButSequence, kAsOne };

// Three things are no difference: a setting that means nothing there (EP of a dense model), the
// same split of layers written in another way, and how a Setup is run on this computer (`run.…`).
std::vector<SettingDifference> differences(const Setup& before, const Setup& after,
                                           CompareModels models);

// Compares only the settings with these keys.
std::vector<SettingDifference> differences(const Setup& before, const Setup& after,
                                           const std::vector<std::string>& keys);

}  // namespace parallelarium::frameworks

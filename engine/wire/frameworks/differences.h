// SPDX-License-Identifier: Apache-2.0
// Which settings of two Setups train differently.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/plan/setup/setup.h"

namespace parallelarium::frameworks {

struct SettingDifference {
  std::string key;     // "mesh.pp", "model.norm"; "model" where the models are compared as one
  std::string before;  // its values, as people write them
  std::string after;
};

// "PP 4", "Norm layer": the setting, and the value after, as people say them.
Message words_of_difference(const SettingDifference& difference);

// Whether models are compared key by key, or are equal or not; the length of a sequence may stand
// apart.
enum class CompareModels : std::uint8_t { kByKey, kAsOneButSequence, kAsOne };

// A setting that means nothing where it stands (EP of a dense model) is no difference, nor is the
// same split of layers said in another way, nor how a Setup is run on this computer (`run.…`).
std::vector<SettingDifference> differences(const Setup& before, const Setup& after,
                                           CompareModels models);

// Of settings of these keys alone.
std::vector<SettingDifference> differences(const Setup& before, const Setup& after,
                                           const std::vector<std::string>& keys);

}  // namespace parallelarium::frameworks

// SPDX-License-Identifier: Apache-2.0
// The first lesson with some fields changed.
#pragma once

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "engine/plan/setup/setup.h"

namespace parallelarium {

using Fields = std::vector<std::pair<const char*, const char*>>;

inline Setup changed(const Fields& fields) {
  Setup setup = default_setup();
  for (const auto& [name, value] : fields) {
    const Result<void> set = set_field(setup, name, value);
    EXPECT_TRUE(set.ok()) << name << " " << value << ": " << (set.ok() ? "" : set.error().text);
  }
  return setup;
}

}  // namespace parallelarium

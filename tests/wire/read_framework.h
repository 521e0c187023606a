// SPDX-License-Identifier: Apache-2.0
// Reads a launch line or configuration that must be right.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "engine/wire/frameworks/framework.h"

namespace parallelarium {

inline FrameworkSetup read_or_fail(const std::string& framework, const std::string& text) {
  const Result<FrameworkSetup> read = read_from_framework(framework, text, default_setup());
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().text);
  return read.ok() ? *read : FrameworkSetup{default_setup(), {}, {}};
}

}  // namespace parallelarium

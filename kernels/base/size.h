// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace parallelarium {

// A count of elements as the standard library takes it. It must not be negative.
inline std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

}  // namespace parallelarium

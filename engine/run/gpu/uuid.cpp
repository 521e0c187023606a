// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/uuid.h"

#include <fmt/format.h>

namespace parallelarium {

std::string uuid_text(const GpuUuid& whole, const GpuUuid& own) {
  const GpuUuid none{};
  const GpuUuid& bytes = own == none ? whole : own;
  if (bytes == none) return {};
  std::string text = bytes == whole || whole == none ? "GPU" : "MIG";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

}  // namespace parallelarium

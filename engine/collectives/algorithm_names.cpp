// SPDX-License-Identifier: Apache-2.0
#include "engine/collectives/algorithm_names.h"

#include <algorithm>

namespace parallelarium {

bool by_steps(const std::string& collectives) {
  return collectives != kDirect && collectives != kOneRing;
}

Result<AlgorithmNames> algorithm_names(const std::string& text) {
  AlgorithmNames names;
  if (!by_steps(text)) return names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string entry = text.substr(begin, comma - begin);
    begin = comma + 1;
    const std::size_t equals = entry.find('=');
    const std::string name = equals == std::string::npos ? entry : entry.substr(equals + 1);
    const auto kind =
        equals == std::string::npos ? std::nullopt : collective_kind(entry.substr(0, equals));
    bool found = false;
    for (const AlgorithmInfo& info : collective_algorithms()) {
      if (info.name != name || (equals != std::string::npos && info.kind != kind)) continue;
      names[static_cast<std::size_t>(info.kind)] = name;
      found = true;
    }
    if (!found) {
      Message why = message("collectives-unknown",
                            "collectives \"{}\" is no algorithm; write direct, one-ring, ring, or "
                            "such as all_reduce=double-tree,all_gather=bruck.",
                            entry);
      why.field = "collectives";
      return why;
    }
  }
  return names;
}

std::string to_text(const AlgorithmNames& names) {
  std::string text;
  for (int kind = 0; kind < kCollectiveKinds; ++kind) {
    const std::string& name = names[static_cast<std::size_t>(kind)];
    if (name.empty()) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ",",
                        name_of(static_cast<CollectiveKind>(kind)), name);
  }
  return text.empty() ? kDirect : text;
}

}  // namespace parallelarium

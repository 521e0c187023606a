// SPDX-License-Identifier: Apache-2.0
// The JSON files of resources/: models, machines and the list of views, compiled into the program.
#pragma once

#include <string_view>
#include <vector>

namespace parallelarium {

struct EmbeddedFile {
  std::string_view path;     // below resources/, such as "models/gpt-tiny.json"
  std::string_view content;  // the whole file
};

// All of them, sorted by path.
const std::vector<EmbeddedFile>& embedded_files();

}  // namespace parallelarium

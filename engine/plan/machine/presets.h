// SPDX-License-Identifier: Apache-2.0
// The files of resources/models and resources/machines, compiled into the program.
#pragma once

#include <string_view>
#include <vector>

namespace parallelarium {

struct EmbeddedFile {
  std::string_view path;     // below resources/, such as "models/gpt-tiny.json"
  std::string_view content;  // the whole file
};

// All preset files, sorted by path.
const std::vector<EmbeddedFile>& embedded_files();

}  // namespace parallelarium

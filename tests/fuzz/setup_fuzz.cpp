// SPDX-License-Identifier: Apache-2.0
// Any bytes as a Setup file, and any word as a field: one sentence or a Setup that reads back as it
// was written, and whose rules can all be asked.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "engine/plan/settings/alternatives.h"
#include "engine/plan/setup/setup_settings.h"

namespace {

using namespace parallelarium;

void require(bool holds) {
  if (!holds) std::abort();
}

void require_sentence(const Message& message) {
  require(!message.id.empty() && !message.text.empty() && is_utf8(message.text));
  require(is_utf8(message.field));
}

void ask_everything(const Setup& setup) {
  const std::vector<Message> wrong = validate(setup);
  for (const Message& message : wrong) require_sentence(message);
  const std::string text = to_json(setup).dump();
  const Result<Setup> again = setup_from_text(text);
  require(again.ok() && *again == setup);
  if (!wrong.empty()) return;
  require(count_parameters(setup.model).total > 0);
  require(forward_flops_per_sequence(setup.model) > 0);
  int layers = 0;
  for (const int count : layers_of_stages(setup)) layers += count;
  require(layers == setup.model.layers);
  if (const Result<void> can = can_execute(setup); !can) require_sentence(can.error());
}

}  // namespace

// The first byte chooses: below 128 the rest is a file; else it names a field of the default Setup
// and the rest is its value.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] < 128) {
    const Result<Setup> setup = setup_from_text(rest);
    if (setup)
      ask_everything(*setup);
    else
      require_sentence(setup.error());
    return 0;
  }
  Setup setup = default_setup();
  const auto& fields = setup_settings();
  const std::string& option = fields[data[0] % fields.size()].option;
  if (const Result<void> set = set_field(setup, option, rest); !set) {
    require_sentence(set.error());
    require(setup == default_setup());
  }
  ask_everything(setup);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Megatron-LM's flags and the fields of Megatron-Bridge's ConfigContainer are the same settings
// under two names, so one table makes both. Names and meanings: Megatron-LM,
// megatron/training/arguments.py, core/transformer/transformer_config.py and
// core/model_parallel_config.py; Megatron-Bridge, src/megatron/bridge/training/config.py.
#pragma once

#include <string>
#include <vector>

#include "engine/wire/frameworks/table.h"

namespace parallelarium::frameworks {

// Which of the two names is used.
struct MegatronNames {
  bool line = true;  // Megatron-LM's flags
  std::string operator()(const char* flag, const char* field) const { return line ? flag : field; }
  // A switch. The flag is there if the setting is `where`. The field has the setting itself.
  FrameworkRow flag(const char* flag_name, bool where, const char* field, std::string key) const;
};

// The row, but it is written only for a Setup that meets the condition.
FrameworkRow only_where(bool (*condition)(const Setup&), FrameworkRow row);

// Whether Megatron-FSDP can build the Setup's model on the meta device, which never holds it whole.
bool can_build_in_parts(const Setup& setup);

std::vector<FrameworkRow> megatron_model_rows(const MegatronNames& names);
std::vector<FrameworkRow> megatron_expert_rows(const MegatronNames& names);
// Rows for experts on the mesh; they come behind the rows of the mesh.
std::vector<FrameworkRow> megatron_expert_mesh_rows(const MegatronNames& names);
std::vector<FrameworkRow> megatron_parallel_rows(const MegatronNames& names);
std::vector<FrameworkRow> megatron_training_rows(const MegatronNames& names);

// "Et*3|(t*4|)*14t*3L" for 16 stages: E is the embedding, L the loss, t a layer.
std::string layout_of(const std::vector<int>& layers);
// The layers of each stage. Error: there is another letter, or there are too many stages.
Result<std::vector<int>> layers_of_layout(std::string layout, const std::string& name);

// These write the texts. A recipe of Megatron-Bridge has its launch line in the heading, since the
// number of ranks decides DP. Reading takes it from there.
std::string megatron_line(const FrameworkTable& table, const Setup& setup, const Entries& entries,
                          const std::vector<Message>& not_expressible);
std::string bridge_recipe(const FrameworkTable& table, const Setup& setup, const Entries& entries,
                          const std::vector<Message>& not_expressible);
Result<Entries> parse_bridge_recipe(std::string_view text);

}  // namespace parallelarium::frameworks

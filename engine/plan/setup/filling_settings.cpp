// SPDX-License-Identifier: Apache-2.0
// Two settings that stand for others: how many GPUs, which DP fills, and sequences of a step, which
// micro-batches fill. They come last in the table, since they go by the mesh; a file never holds
// them, since it holds what they came to.
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {
namespace {

// Of the setting that is filled.
std::int64_t most_of(const char* option) {
  return static_cast<std::int64_t>(find_setting(setup_settings(), option)->value.range.high);
}

Result<void> fill_ranks(Setup& setup, const nlohmann::json& json, const std::string& key) {
  const Result<std::int64_t> gpus = whole_from(json, key, {1, 1'000'000});
  if (!gpus) return gpus.error();
  const Mesh& mesh = setup.mesh;
  const std::int64_t replica = std::int64_t{mesh.tp} * mesh.pp * mesh.cp;
  if (*gpus % replica != 0) {
    Message error = message(
        "gpus-replicas", "{} GPUs are no multiple of the {} of one replica (TP {}, PP {}, CP {}).",
        *gpus, replica, mesh.tp, mesh.pp, mesh.cp);
    error.field = key;
    return error;
  }
  const std::int64_t replicas = *gpus / replica, most = most_of("dp");
  if (replicas > most) {
    Message error =
        message("gpus-many", "{} GPUs make DP {} with TP {}, PP {} and CP {}; DP is at most {}.",
                *gpus, replicas, mesh.tp, mesh.pp, mesh.cp, most);
    error.field = key;
    return error;
  }
  setup.mesh.dp = static_cast<int>(replicas);
  return {};
}

Result<void> fill_batch(Setup& setup, const nlohmann::json& json, const std::string& key) {
  const Result<std::int64_t> batch = whole_from(json, key, {1, 1'000'000'000});
  if (!batch) return batch.error();
  const std::int64_t at_once = std::int64_t{setup.mesh.dp} * setup.micro_batch;
  if (*batch % at_once != 0) {
    Message error =
        message("batch-replicas",
                "A global batch of {} sequences is no multiple of the {} that DP {} with "
                "micro-batches of {} takes at once.",
                *batch, at_once, setup.mesh.dp, setup.micro_batch);
    error.field = key;
    return error;
  }
  const std::int64_t microbatches = *batch / at_once, most = most_of("microbatches");
  if (microbatches > most) {
    Message error = message("batch-many",
                            "A global batch of {} sequences makes {} micro-batches with DP {} and "
                            "{} in each; a step has at most {}.",
                            *batch, microbatches, setup.mesh.dp, setup.micro_batch, most);
    error.field = key;
    return error;
  }
  setup.microbatches = static_cast<int>(microbatches);
  return {};
}

SetupSetting filling(const char* key, const char* option, const char* label,
                     Result<void> (*fill)(Setup&, const nlohmann::json&, const std::string&),
                     const char* help) {
  SetupSetting row;
  row.key = key;
  row.option = option;
  row.label = label;
  row.value.kind = SettingKind::kWhole;
  row.value.set = fill;
  row.written = [](const Setup&) { return false; };
  row.help = help;
  return row;
}

}  // namespace

SettingTable<Setup> filling_rows() {
  SettingTable<Setup> rows = {
      filling("gpus", "gpus", "GPUs", fill_ranks, "GPUs in all, in place of DP, which fills them"),
      filling("global_batch", "global-batch", "Global batch", fill_batch,
              "sequences of a step, in place of micro-batches, which fill it")};
  rows[0].value.get = [](const Setup& setup) -> nlohmann::json { return setup.mesh.ranks(); };
  rows[1].value.get = [](const Setup& setup) -> nlohmann::json { return setup.global_batch(); };
  return rows;
}

}  // namespace parallelarium

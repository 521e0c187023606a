// SPDX-License-Identifier: Apache-2.0
// The table of a framework's settings. Each row says which settings of a Setup it is about, how
// they are written and how they are read.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/plan/result.h"
#include "engine/plan/settings/setting_values.h"
#include "engine/plan/setup/setup.h"
#include "engine/wire/frameworks/framework.h"

namespace parallelarium::frameworks {

// A setting of a framework: its full name ("tensor-model-parallel-size", "parallelism.tp") and its
// value. In a launch line the value is a text, several texts, or true if none follows. In other
// forms it is what was written.
using Entry = std::pair<std::string, nlohmann::json>;
using Entries = std::vector<Entry>;

// What has been read from a text so far.
struct Draft {
  Setup setup;
  Entries entries;
  std::string prefix;     // put before names in sentences: "--"
  std::int64_t gpus = 0;  // 0: the text does not say
  std::int64_t global_batch = 0;
  std::vector<int> stage_layers;  // empty: even
  std::vector<Message> notes;

  // The value of a name; the last one if there are several. Null: the text does not have it.
  const nlohmann::json* find(std::string_view name) const;
  std::string shown_name(std::string_view name) const { return prefix + std::string(name); }
};

struct FrameworkRow {
  std::vector<std::string> names;     // names in the framework; the first is the row's
  std::vector<std::string> settings;  // keys of the Setup
  std::function<void(const Setup&, Entries&)> write;
  std::function<Result<void>(Draft&)> read;  // called even if the text has none of the names
  bool says_norms = false;                   // it says whether queries and keys are normalized
};

struct FrameworkTable {
  FrameworkInfo info;
  std::string prefix;  // before names in sentences
  std::vector<FrameworkRow> rows;
  // Names that say nothing about a Setup, such as the place of data. "data.*" stands for all names
  // below.
  std::vector<std::string> ignored;
  // Why the framework cannot express a setting, by the setting's key.
  std::vector<std::pair<std::string, Message>> reasons;
  std::string (*print)(const FrameworkTable& table, const Setup& setup, const Entries& entries,
                       const std::vector<Message>& not_expressible) = nullptr;
  Result<Entries> (*parse)(std::string_view text) = nullptr;
  // Sentences about values of several rows together, or values that do not mean what the Setup
  // means; may be null.
  std::vector<Message> (*caveats)(const Setup& setup) = nullptr;
  // What the framework needs beside its usual trainer; may be null.
  std::optional<Message> (*needs)(const FrameworkTable& table, const Setup& setup) = nullptr;
};

FrameworkTable megatron_table();
FrameworkTable megatron_bridge_table();
FrameworkTable torchtitan_table();
FrameworkTable deepspeed_table();
FrameworkTable accelerate_table();
FrameworkTable nanotron_table();

// ---- One setting of a Setup by its key, also one that only files have: "model.tied". ----

nlohmann::json setting_of(const Setup& setup, const std::string& key);
// A text stands for the value that a person means by it. Errors name `name` instead of the key.
Result<void> put_setting(Setup& setup, const std::string& key, const nlohmann::json& value,
                         const std::string& name);

// ---- Makers of rows. ----

enum class Written { kAlways, kWhereNotUsual };
// A setting that both have, with equal values. `usual` is the framework's value if the text leaves
// the setting out; null: that of the base counts.
FrameworkRow same(std::string name, std::string key, nlohmann::json usual = nullptr,
                  Written written = Written::kAlways);
// Values that have other words in the framework. A word without a counterpart ("") becomes a note.
struct WordPair {
  nlohmann::json theirs, ours;
};
FrameworkRow translated(std::string name, std::string key, std::vector<WordPair> words,
                        nlohmann::json usual = nullptr, Written written = Written::kAlways);
// A row that always writes the same and says nothing about a Setup.
FrameworkRow fixed(std::string name, nlohmann::json value);
// A row about the optimizer, which is Adam here. Null: the row writes nothing.
FrameworkRow adam(std::string name, nlohmann::json value);
// A row that reads for other rows and writes nothing.
FrameworkRow only_read(std::vector<std::string> names, std::vector<std::string> settings,
                       std::function<Result<void>(Draft&)> read);

// ---- Values that rows read. ----

// A whole number, which may be written as text; `usual` if the text has no such name.
Result<std::int64_t> whole_at(const Draft& draft, const std::string& name, std::int64_t usual,
                              std::int64_t low = 0, std::int64_t high = 1'000'000'000'000);
Result<double> number_at(const Draft& draft, const std::string& name, double usual);
bool flag_at(const Draft& draft, const std::string& name, bool usual);
// The text or the identifier; `usual` if there is none.
std::string word_at(const Draft& draft, const std::string& name, const std::string& usual);
std::string word_of(const nlohmann::json& value);

// For recipes: a name that is no text ("torch.bfloat16"), and a call whose arguments follow as
// entries below its name.
nlohmann::json identifier(const std::string& name);
nlohmann::json call(const std::string& name);
bool is_identifier(const nlohmann::json& value);
bool is_call(const nlohmann::json& value);

// ---- What rows of several frameworks need. ----

// How many DP ranks share model states where FSDP cuts them: it does so over the ranks of CP, too,
// and a ZeRO group counts both. Where a group is no multiple of CP, no degree says it. Sources:
// torchtitan, distributed/parallel_dims.py (dp_shard_cp); accelerate, parallelism_config.py.
int fsdp_degree(const Setup& setup);
int group_of_fsdp(std::int64_t copies, std::int64_t degree, std::int64_t cp);
// Whether the model's family normalizes queries and keys; a Setup cannot say that (Qwen Team 2025,
// Qwen3 Technical Report, section 2).
bool norms_queries_and_keys(const Setup& setup);
// The base of rotary positions under its name in a framework whose own is 10000. Of published
// models it is written; of others it is left out, and a text that says one gets a note. It must
// stand behind the rows that tell the model.
FrameworkRow rotary_base(const std::string& name);
// Whether the Setup's schedule is one of these, which the framework has.
bool is_one_of(const Setup& setup, std::initializer_list<const char*> schedules);
// The layers of each of PP stages if the schedule itself cannot be expressed: those of a rank
// together, and for a V as evenly as possible.
std::vector<int> layers_of_ranks(const Setup& setup);
bool are_even(const std::vector<int>& layers);
// In an interleaved schedule, the micro-batches that a chunk computes before the next chunk does.
int interleaved_round(const Setup& setup);
// Sets the bytes, and the name of the recipe that has them.
void put_precision(Setup& setup, int parameter, int gradient, int master, int moments);
// The number of nodes and the ranks on each ("2 x 8") for `setup` on its machine.
std::pair<int, int> nodes_and_ranks(const Setup& setup);

}  // namespace parallelarium::frameworks

// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/frameworks/framework.h"

#include <algorithm>
#include <set>

#include "engine/plan/model/model_presets.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/plan/text/phrases.h"
#include "engine/wire/frameworks/differences.h"
#include "engine/wire/frameworks/table.h"

namespace parallelarium {
namespace frameworks {
namespace {

const std::vector<FrameworkTable>& all_tables() {
  static const std::vector<FrameworkTable> kTables = {megatron_table(),   megatron_bridge_table(),
                                                      torchtitan_table(), deepspeed_table(),
                                                      accelerate_table(), nanotron_table()};
  return kTables;
}

Result<const FrameworkTable*> table_of(const std::string& name) {
  std::vector<std::string> names;
  for (const FrameworkTable& table : all_tables()) {
    if (table.info.name == name) return &table;
    names.push_back(table.info.name);
  }
  Message why = message("framework-unknown", "There is no framework “{}”; choose {}.", shown(name),
                        join_or(names));
  why.alternatives = names;
  return why;
}

bool covers(const FrameworkTable& table, const char* key) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const FrameworkRow& row) {
    return std::find(row.settings.begin(), row.settings.end(), key) != row.settings.end();
  });
}

bool is_ignored(const FrameworkTable& table, const std::string& name) {
  return std::any_of(table.ignored.begin(), table.ignored.end(), [&](const std::string& pattern) {
    if (!pattern.ends_with('*')) return pattern == name;
    return name.starts_with(pattern.substr(0, pattern.size() - 1));
  });
}

bool is_read(const FrameworkTable& table, const std::string& name) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const FrameworkRow& row) {
    return std::find(row.names.begin(), row.names.end(), name) != row.names.end();
  });
}

// Notes on names that no row reads.
void note_unread(const FrameworkTable& table, Draft& draft) {
  std::vector<std::string> left_out;
  for (const auto& [name, value] : draft.entries) {
    if (is_read(table, name) || value.is_null() || is_ignored(table, name)) continue;
    const std::string shown_as = shown(draft.shown_name(name));
    if (std::find(left_out.begin(), left_out.end(), shown_as) != left_out.end()) continue;
    left_out.push_back(shown_as);
    draft.notes.push_back(message("framework-unread",
                                  "{} is left out: no setting of a Setup is known to follow from "
                                  "it.",
                                  shown_as));
  }
}

// The preset of this shape, if there is one; its own split of layers comes with it.
void name_model(Model& model) {
  for (const std::string& name : model_names()) {
    const Result<Model> preset = find_model(name);
    if (!preset) continue;
    Model shape = *preset;
    shape.name = model.name;
    shape.title = model.title;
    shape.sources = model.sources;
    shape.stage_layers = model.stage_layers;
    if (model.head_dim == 0 && shape.head_dim * shape.heads == shape.hidden) shape.head_dim = 0;
    if (shape == model) {
      model = *preset;
      return;
    }
  }
}

bool says_norms(const FrameworkTable& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const FrameworkRow& row) { return row.says_norms; });
}

Message norms_not_counted(const Setup& setup) {
  return message("framework-norms-said",
                 "No figure here counts that {} normalizes queries and keys.",
                 title_of(setup.model));
}

// Of a model that the text names, where no flag of it says that it has them.
void note_norms(const FrameworkTable& table, Draft& draft) {
  const bool has_model = covers(table, "model") || covers(table, "model.hidden");
  if (has_model && !says_norms(table) && norms_queries_and_keys(draft.setup))
    draft.notes.push_back(norms_not_counted(draft.setup));
}

// Ranks and batch make DP and micro-batches.
Result<void> fill(Draft& draft) {
  Setup& setup = draft.setup;
  if (draft.gpus > 0)
    if (Result<void> set = set_field(setup, "gpus", std::to_string(draft.gpus)); !set) return set;
  if (draft.global_batch > 0)
    if (Result<void> set = set_field(setup, "global-batch", std::to_string(draft.global_batch));
        !set)
      return set;
  return {};
}

// `keeps_layers`: the split into stages is the base's, which must be of as many stages.
void cut_layers(Draft& draft, bool keeps_layers) {
  Setup& setup = draft.setup;
  const int stages = stages_of(setup);
  setup.stage_layers = draft.stage_layers;
  if (keeps_layers && static_cast<int>(draft.stage_layers.size()) != stages)
    setup.stage_layers.clear();
  // Said only where it is not what the Setup means anyway.
  Setup unsaid = setup;
  unsaid.stage_layers.clear();
  const bool published = setup.model.stage_layers.size() == static_cast<std::size_t>(stages);
  if (setup.stage_layers.empty()) {
    if (published && setup.model.layers % stages == 0)
      setup.stage_layers.assign(static_cast<std::size_t>(stages), setup.model.layers / stages);
    return;
  }
  if ((published || setup.model.layers % stages == 0) &&
      layers_of_stages(unsaid) == setup.stage_layers)
    setup.stage_layers.clear();
}

// That what rows read is said in the text itself, and not by a shell that knows its variables.
Result<void> check_variables(const FrameworkTable& table, const Draft& draft) {
  std::vector<std::string> unsaid;
  for (const auto& [name, value] : draft.entries) {
    if (!is_read(table, name)) continue;
    for (const nlohmann::json& word : value.is_array() ? value : nlohmann::json::array({value}))
      if (word.is_string() && word.get_ref<const std::string&>().starts_with('$'))
        unsaid.push_back(draft.shown_name(name) + " " + shown(word.get<std::string>()));
  }
  if (unsaid.empty()) return {};
  return message("framework-variable", "The text does not say what stands for {}; put it in.",
                 join_and(unsaid));
}

// What the framework's defaults say in place of the text. Where several rows are about a setting,
// one that the text has says it.
std::optional<Message> by_default_of(const FrameworkTable& table, const Draft& draft,
                                     const Setup& base) {
  std::set<std::string> said, left_out;  // keys
  for (const FrameworkRow& row : table.rows) {
    const bool has = std::any_of(row.names.begin(), row.names.end(), [&](const std::string& name) {
      return draft.find(name) != nullptr;
    });
    (has ? said : left_out).insert(row.settings.begin(), row.settings.end());
  }
  std::vector<Message> defaults;
  for (const SettingDifference& each : differences(base, draft.setup, CompareModels::kByKey))
    if (left_out.count(each.key) > 0 && said.count(each.key) == 0)
      defaults.push_back(words_of_difference(each));
  if (defaults.empty()) return std::nullopt;
  return message("framework-by-default", "What the text leaves out is as {} has it by default: {}.",
                 table.info.title, listed(defaults));
}

Result<FrameworkSetup> read_with(const FrameworkTable& table, std::string_view text,
                                 const Setup& base) {
  Result<Entries> entries = table.parse(text);
  if (!entries) return entries.error();
  Draft draft;
  draft.setup = base;
  const bool keeps_layers = !covers(table, "stage_layers");
  if (keeps_layers) draft.stage_layers = base.stage_layers;
  draft.entries = std::move(*entries);
  draft.prefix = table.prefix;
  if (Result<void> said = check_variables(table, draft); !said) return said.error();
  if (covers(table, "model.hidden")) {
    draft.setup.model.name = "custom";
    draft.setup.model.title.clear();
    draft.setup.model.sources.clear();
    draft.setup.model.stage_layers.clear();
  }
  for (const FrameworkRow& row : table.rows)
    if (Result<void> read = row.read(draft); !read) return read.error();
  if (Result<void> filled = fill(draft); !filled) return filled.error();
  name_model(draft.setup.model);
  cut_layers(draft, keeps_layers);
  note_unread(table, draft);
  note_norms(table, draft);
  std::optional<Message> by_default = by_default_of(table, draft, base);
  return FrameworkSetup{std::move(draft.setup), std::move(draft.notes), std::move(by_default)};
}

// `setup`: what is written.
Message sentence_of(const FrameworkTable& table, const Setup& setup,
                    const SettingDifference& difference) {
  const std::string& key = difference.key;
  if (key == "machine")
    return message("framework-machine",
                   "{} does not say on which machine it runs; these settings are for {}.",
                   table.info.title, difference.before);
  if (key == "model" && !covers(table, "model"))
    return message("framework-model",
                   "{} does not say the model, {}, which the training script builds.",
                   table.info.title, difference.before);
  const auto reason = std::find_if(table.reasons.begin(), table.reasons.end(),
                                   [&](const auto& each) { return each.first == key; });
  const bool explained = reason != table.reasons.end();
  const bool of_script = explained && reason->second.kind == kScriptSays;
  const bool silent = !covers(table, key.c_str()) || key == "model" || of_script;
  const SettingDifference turned{difference.key, difference.after, difference.before};
  if (setup.mesh.pp == 1 && (key == "schedule" || key == "chunks") && covers(table, key.c_str()))
    return message("framework-no-pipeline",
                   "With PP 1 there is no pipeline, so {} says nothing of one: what is written "
                   "means {}, not {}, which needs PP above 1.",
                   table.info.title, words_of_difference(difference), words_of_difference(turned));
  Message lacks = silent ? message("framework-silent", "{} has no setting that says {}.",
                                   table.info.title, words_of_difference(turned))
                         : message("framework-lacks", "{} cannot say {}; what is written means {}.",
                                   table.info.title, words_of_difference(turned),
                                   words_of_difference(difference));
  if (!explained) return lacks;
  Message whole = message("framework-because", "{} {}", lacks, reason->second);
  if (of_script) whole.kind = kScriptSays;
  return whole;
}

// What a Setup says that says nothing.
Setup silent_setup() {
  Setup nothing = default_setup();
  nothing.mesh.pp = 1;
  return nothing;
}

// The rows say the Setup and read it back onto one in which these settings say nothing.
std::optional<Message> refusal_of(const FrameworkTable& table,
                                  const std::vector<const FrameworkRow*>& rows,
                                  const std::vector<std::string>& keys, const Setup& setup) {
  static const Setup kSilent = silent_setup();
  Draft draft;
  draft.setup = setup;
  draft.prefix = table.prefix;
  for (const FrameworkRow* row : rows) row->write(setup, draft.entries);
  for (const std::string& key : keys)
    if (Result<void> put = put_setting(draft.setup, key, setting_of(kSilent, key), key); !put)
      return put.error();
  draft.entries.emplace_back("nproc-per-node", setup.mesh.ranks());  // of its launch
  for (const FrameworkRow* row : rows)
    if (Result<void> read = row->read(draft); !read) return read.error();
  if (Result<void> filled = fill(draft); !filled) return filled.error();
  cut_layers(draft, false);
  const auto is_ours = [&](const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  for (const SettingDifference& difference : differences(setup, draft.setup, keys)) {
    Message why = sentence_of(table, setup, difference);
    why.field = difference.key;
    if (why.kind != kScriptSays) return why;
  }
  if (table.caveats != nullptr)
    for (Message& caveat : table.caveats(setup))
      if (caveat.kind != kScriptSays && is_ours(caveat.field)) return std::move(caveat);
  return std::nullopt;
}

}  // namespace
}  // namespace frameworks

std::vector<FrameworkInfo> framework_infos() {
  std::vector<FrameworkInfo> infos;
  for (const frameworks::FrameworkTable& table : frameworks::all_tables())
    infos.push_back(table.info);
  return infos;
}

std::string framework_title(const std::string& framework) {
  const Result<const frameworks::FrameworkTable*> found = frameworks::table_of(framework);
  return found ? (*found)->info.title : framework;
}

std::string framework_of_text(std::string_view text) {
  std::string found;
  std::int64_t most = 0;
  for (const frameworks::FrameworkTable& table : frameworks::all_tables()) {
    const Result<frameworks::Entries> entries = table.parse(text);
    if (!entries) continue;
    const auto known = std::count_if(entries->begin(), entries->end(), [&](const auto& entry) {
      return frameworks::is_read(table, entry.first);
    });
    if (known <= most) continue;
    most = known;
    found = table.info.name;
  }
  return found;
}

Result<FrameworkText> write_for_framework(const std::string& framework, const Setup& setup) {
  const Result<const frameworks::FrameworkTable*> found = frameworks::table_of(framework);
  if (!found) return found.error();
  const frameworks::FrameworkTable& table = **found;
  frameworks::Entries entries;
  for (const frameworks::FrameworkRow& row : table.rows) row.write(setup, entries);
  // Read back onto a Setup that says nothing, so that what is missing shows.
  const std::string plain = table.print(table, setup, entries, {});
  Setup nothing = frameworks::silent_setup();
  if (const Result<Model> other = find_model("llama-tiny"); other && setup.model == nothing.model)
    nothing.model = *other;
  const Result<FrameworkSetup> again = frameworks::read_with(table, plain, nothing);
  if (!again) return again.error();
  FrameworkText written;
  const auto models = frameworks::covers(table, "model.hidden") ? frameworks::CompareModels::kByKey
                      : frameworks::covers(table, "model.sequence")
                          ? frameworks::CompareModels::kAsOneButSequence
                          : frameworks::CompareModels::kAsOne;
  for (const frameworks::SettingDifference& difference :
       frameworks::differences(setup, again->setup, models)) {
    written.not_expressible.push_back(frameworks::sentence_of(table, setup, difference));
    written.not_expressible.back().field = difference.key;
  }
  if (table.caveats != nullptr)
    for (Message& caveat : table.caveats(setup))
      written.not_expressible.push_back(std::move(caveat));
  if (frameworks::covers(table, "model.hidden") && frameworks::norms_queries_and_keys(setup)) {
    if (frameworks::says_norms(table))
      written.not_counted = frameworks::norms_not_counted(setup);
    else
      written.not_expressible.push_back(
          message("framework-norms-unsaid",
                  "{} normalizes queries and keys. The text does not say so, and no figure here "
                  "counts it.",
                  title_of(setup.model)));
  }
  if (frameworks::covers(table, "model.hidden") && !setup.model.learned_positions &&
      preset_at_any_sequence(setup.model) == nullptr)
    written.not_counted =
        message("framework-own-model",
                "No Setup says the base of rotary positions, biases of attention alone, and norms "
                "of queries and keys, and no figure here counts them: where this model has them, "
                "add them to the text.");
  std::vector<Message> notes = written.not_expressible;
  if (written.not_counted) notes.push_back(*written.not_counted);
  written.text = table.print(table, setup, entries, notes);
  return written;
}

std::optional<Message> framework_needs(const std::string& framework, const Setup& setup) {
  const Result<const frameworks::FrameworkTable*> found = frameworks::table_of(framework);
  if (!found || (*found)->needs == nullptr) return std::nullopt;
  return (*found)->needs(**found, setup);
}

bool needs_script(const FrameworkText& written) {
  return std::any_of(written.not_expressible.begin(), written.not_expressible.end(),
                     [](const Message& unsaid) { return unsaid.kind == kScriptSays; });
}

Result<FrameworkRefusal> framework_refusal(const std::string& framework,
                                           std::vector<std::string> keys) {
  const Result<const frameworks::FrameworkTable*> found = frameworks::table_of(framework);
  if (!found) return found.error();
  const frameworks::FrameworkTable* table = *found;
  std::vector<const frameworks::FrameworkRow*> rows;
  for (const frameworks::FrameworkRow& row : table->rows)
    if (std::any_of(row.settings.begin(), row.settings.end(), [&](const std::string& key) {
          return std::find(keys.begin(), keys.end(), key) != keys.end();
        }))
      rows.push_back(&row);
  return FrameworkRefusal([=, keys = std::move(keys), rows = std::move(rows)](const Setup& setup) {
    return frameworks::refusal_of(*table, rows, keys, setup);
  });
}

Result<FrameworkSetup> read_from_framework(const std::string& framework, std::string_view text,
                                           const Setup& base) {
  const Result<const frameworks::FrameworkTable*> found = frameworks::table_of(framework);
  if (!found) return found.error();
  return frameworks::read_with(**found, text, base);
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/options/setup_options.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "engine/cli/commands/command.h"
#include "engine/cli/training.h"
#include "engine/plan/placement/resolve.h"
#include "engine/plan/settings/settings_reader.h"
#include "engine/plan/setup/setup_file.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/run/gpu/module/module.h"

namespace parallelarium {

void SetupOptions::add_to(CLI::App& command) {
  command
      .add_option("--setup", file_,
                  "a Setup, a document, or what predict --json printed, to start from; - reads "
                  "standard input (default: first lesson)")
      ->option_text("FILE");
  for (const SetupSetting& row : setup_settings()) {
    Field& field = fields_.emplace_back();
    field.option = row.option;
    field.key = row.key;
    field.is_flag = row.value.kind == SettingKind::kFlag;
    CLI::Option* option = command.add_option("--" + row.option, field.value, row.help);
    option->option_text("VALUE")->group("Setup");
    if (field.is_flag) option->expected(0, 1);  // a switch may stand alone
    field.parsed = option;
  }
}

bool SetupOptions::overrides() const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [](const Field& field) { return field.parsed->count() > 0; });
}

Result<Setup> setup_of_file(const std::string& text) {
  const Result<nlohmann::json> json = parse_json(text);
  if (!json) return json.error();
  Result<Setup> asked = setup_from_file(*json);
  if (!asked) return asked;
  const Result<std::optional<Setup>> there = resolved_from_json(*json);
  if (!there) return there.error();
  if (!*there) return asked;
  const Result<Situation> here =
      situation_of(*asked, computer_here(asked->run, asked->mesh.ranks()));
  if (!here) return here.error();
  return kept_meaning(*asked, **there, here->setup);
}

bool SetupOptions::typed(const std::string& option) const {
  return std::any_of(fields_.begin(), fields_.end(), [&](const Field& field) {
    return field.option == option && field.parsed->count() > 0;
  });
}

Message as_option(Message why, const std::string& key, const std::string& option) {
  const bool names = !why.arguments.empty() && why.arguments.front() == plain(key);
  const std::size_t at = why.text.find(key);
  if (!names || at == std::string::npos) return why;
  why.arguments.front() = plain("--" + option);
  why.text.replace(at, key.size(), why.arguments.front().text);
  return why;
}

Message SetupOptions::as_typed(Message why, const Turned& turned) const {
  for (const Field& field : fields_)
    if (field.parsed->count() > 0 || turned_to(field, turned) != nullptr)
      why = as_option(std::move(why), field.key, field.option);
  return why;
}

const std::string* SetupOptions::turned_to(const Field& field, const Turned& turned) {
  for (const auto& [name, value] : turned)
    if (name == field.option || name == field.key) return &value;
  return nullptr;
}

std::vector<std::string> SetupOptions::unsaid(const std::string& read_text) const {
  nlohmann::json file = nlohmann::json::object();
  if (const Result<nlohmann::json> json = parse_json(read_text); !read_text.empty() && json)
    if (Result<nlohmann::json> inside = setup_in(*json)) file = std::move(*inside);
  const auto says = [&](std::string_view option) {
    return std::any_of(fields_.begin(), fields_.end(), [&](const Field& field) {
      if (field.option != option) return false;
      if (field.parsed->count() > 0) return true;
      const Result<const nlohmann::json*> value = value_at(file, field.key, {});
      return value.ok() && *value != nullptr;
    });
  };
  std::vector<std::string> unsaid;
  for (const char* option : {"model", "machine", "dp", "tp", "pp", "microbatches", "micro-batch"}) {
    const std::string_view filled_by = option == std::string_view("dp")             ? "gpus"
                                       : option == std::string_view("microbatches") ? "global-batch"
                                                                                    : "";
    if (!says(option) && !says(filled_by)) unsaid.emplace_back(option);
  }
  return unsaid;
}

nlohmann::json SetupOptions::assumed(const std::string& read_text) const {
  nlohmann::json assumed = nlohmann::json::object();
  const Result<Setup> setup = asked_of(read_text);
  const std::vector<std::string> unsaid = this->unsaid(read_text);
  const auto says = [&](const char* option) {
    return std::find(unsaid.begin(), unsaid.end(), option) == unsaid.end();
  };
  if (!setup) return assumed;
  const auto assume = [&](const std::string& option) {
    const SetupSetting& row = *find_setting(setup_settings(), option);
    // What other options changed of the model was said.
    assumed[row.key] = row.value.get(option == "model" ? new_setup() : *setup);
  };
  if (says("model") || says("machine"))
    for (const std::string& option : unsaid) assume(option);
  const Result<Setup> dense = asked_of(read_text, {}, "experts");
  if (dense && dense->model.experts.count == 0 && setup->model.experts.count > 0) {
    if (dense->model.experts.top_k == 0) assume("top-k");
    if (dense->model.experts.ffn == 0) assume("expert-ffn");
  }
  return assumed;
}

std::string assumed_text(const nlohmann::json& assumed) {
  std::string text;
  for (const auto& [key, value] : assumed.items()) {
    const SetupSetting& row = *find_setting(setup_settings(), key);
    text += fmt::format("{}--{} {}", text.empty() ? "" : ", ", row.option, text_of_value(value));
  }
  return text;
}

std::string SetupOptions::assumed_sentence(const std::string& read_text,
                                           const Turned& turned) const {
  nlohmann::json left = assumed(read_text);
  for (const auto& [name, value] : turned)
    if (const SetupSetting* row = find_setting(setup_settings(), name)) left.erase(row->key);
  if (left.empty()) return {};
  return "Assumed, since nothing says otherwise: " + assumed_text(left) + ".";
}

Message no_such_model(Message why, const std::string& typed) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(typed, ignored)) return why;
  return message("model-file",
                 "{} is a file, and a model is named by its preset: `models --import {}` writes "
                 "the shape of a Hugging Face config.json, and --setup {} reads a Setup.",
                 typed, typed, typed);
}

std::vector<Message> SetupOptions::without_effect(const Setup& setup) const {
  std::vector<Message> idle;
  const Setup usual = new_setup();
  for (const Field& field : fields_) {
    const SetupSetting& row = *find_setting(setup_settings(), field.option);
    if (field.parsed->count() == 0 || !row.applies || row.applies(setup)) continue;
    const nlohmann::json value = row.value.get(setup);
    if (value == row.value.get(usual)) continue;
    idle.push_back(message("setting-idle", "--{} {} changes nothing here: it {}.", field.option,
                           text_of_value(value), row.needs));
    idle.back().field = row.key;
  }
  return idle;
}

Result<Situation> SetupOptions::situation(std::string* read_text) const {
  const Result<Setup> setup = asked(read_text);
  if (!setup) return setup.error();
  Result<Situation> here = situation_here(*setup);
  if (!here) return as_typed(here.error());
  return here;
}

Result<Situation> SetupOptions::situation_with(const Turned& turned,
                                               const std::string& text) const {
  const Result<Setup> setup = asked_of(text, turned);
  if (!setup) return setup.error();
  Result<Situation> here = situation_here(*setup);
  if (!here) return as_typed(here.error(), turned);
  return here;
}

Result<std::string> SetupOptions::file_text() const {
  if (file_.empty()) return std::string();
  return read_file(file_);
}

Result<Setup> SetupOptions::asked(std::string* read_text) const {
  if (file_.empty()) return asked_of({});
  Result<std::string> text = file_text();
  if (!text) return text.error();
  Result<Setup> setup = asked_of(*text);
  if (setup && read_text != nullptr) *read_text = std::move(*text);
  return setup;
}

Result<Setup> SetupOptions::asked_of(const std::string& text, const Turned& turned,
                                     std::string_view without) const {
  Setup setup = new_setup();
  const auto says = [&](std::string_view option) {
    return std::any_of(fields_.begin(), fields_.end(), [&](const Field& field) {
      return field.option == option &&
             (field.parsed->count() > 0 || turned_to(field, turned) != nullptr);
    });
  };
  if (file_.empty() && (says("model") || says("machine"))) setup.mesh.pp = 1;
  if (!file_.empty()) {
    Result<Setup> read = setup_of_file(text);
    if (!read) return about_file(file_, read.error());
    setup = std::move(*read);
  }
  std::optional<int> dp, microbatches;  // as they were typed
  for (const Field& field : fields_) {  // in the order of the table
    const std::string* turn = turned_to(field, turned);
    if ((turn == nullptr && field.parsed->count() == 0) || field.option == without) continue;
    const std::string& value = turn != nullptr ? *turn : field.value;
    const bool bare = value.empty() && field.is_flag;
    const Result<void> set = set_typed(setup, field.option, bare ? "true" : value);
    if (!set && field.option == "model") return no_such_model(as_typed(set.error(), turned), value);
    if (!set) return as_typed(set.error(), turned);
    if (field.option == "dp") dp = setup.mesh.dp;
    if (field.option == "microbatches") microbatches = setup.microbatches;
  }
  const Mesh& mesh = setup.mesh;
  if (dp && *dp != mesh.dp)
    return message("gpus-contradict",
                   "--gpus {} makes DP {} with TP {}, PP {} and CP {}, not {}; leave out --gpus or "
                   "--dp.",
                   mesh.ranks(), mesh.dp, mesh.tp, mesh.pp, mesh.cp, *dp);
  if (microbatches && *microbatches != setup.microbatches)
    return message("batch-contradicts",
                   "--global-batch {} makes {} micro-batch{} with DP {} and {} in each, not {}; "
                   "leave out --global-batch or --microbatches.",
                   setup.global_batch(), setup.microbatches, setup.microbatches == 1 ? "" : "es",
                   mesh.dp, setup.micro_batch, *microbatches);
  return setup;
}

std::string describe(const Setup& setup) {
  const Mesh& mesh = setup.mesh;
  std::string axes;
  const auto axis = [&axes](const char* name, int size) {
    if (size > 1) axes += fmt::format("{}{} {}", axes.empty() ? "" : ", ", name, size);
  };
  axis("DP", mesh.dp);
  axis("TP", mesh.tp);
  axis("PP", mesh.pp);
  axis("CP", mesh.cp);
  axis("EP", mesh.ep);
  if (differs_by_whole_experts(setup)) axes += ", ETP 1";
  std::string text = fmt::format("{}, {} rank{}", title_of(setup.model).text, mesh.ranks(),
                                 mesh.ranks() == 1 ? "" : "s");
  if (!axes.empty()) text += " (" + axes + ")";
  if (setup.zero > 0) text += fmt::format(", ZeRO-{}", setup.zero);
  text += fmt::format(", {}, {} micro-batch{} of {} sequence{}", setup.schedule.name(),
                      setup.microbatches, setup.microbatches == 1 ? "" : "es", setup.micro_batch,
                      setup.micro_batch == 1 ? "" : "s");
  if (const SlowRank& slow = setup.run.slow_rank; slow.factor != 1)
    text += fmt::format(", rank {} slowed {} times", slow.rank, slow.factor);
  if (setup.recompute != Recompute::kNone) text += ", " + text_of(setup.recompute) + " recompute";
  return text;
}

}  // namespace parallelarium

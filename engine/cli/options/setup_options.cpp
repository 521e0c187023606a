// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/options/setup_options.h"

#include <algorithm>

#include "engine/cli/commands/command.h"
#include "engine/cli/training.h"
#include "engine/plan/placement/resolve.h"
#include "engine/plan/settings/settings_reader.h"
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

// A sentence names a field as files do, such as mesh.dp.
Message SetupOptions::as_typed(Message why) const {
  for (const Field& field : fields_)
    if (field.parsed->count() > 0 && why.text.rfind(field.key + ' ', 0) == 0)
      why.text.replace(0, field.key.size(), "--" + field.option);
  return why;
}

nlohmann::json SetupOptions::assumed(const std::string& read_text) const {
  nlohmann::json file = nlohmann::json::object();
  if (const Result<nlohmann::json> json = parse_json(read_text); !read_text.empty() && json)
    file = json->contains("setup") ? (*json)["setup"] : *json;
  const auto says = [&](const Field& field) {
    if (field.parsed->count() > 0) return true;
    const Result<const nlohmann::json*> value = value_at(file, field.key, {});
    return value.ok() && *value != nullptr;
  };
  const auto says_option = [&](std::string_view option) {
    return std::any_of(fields_.begin(), fields_.end(),
                       [&](const Field& field) { return field.option == option && says(field); });
  };
  nlohmann::json assumed = nlohmann::json::object();
  const Result<Setup> setup = asked_of(read_text);
  if (!setup || !(says_option("model") || says_option("machine"))) return assumed;
  const bool fills_dp = says_option("gpus"), fills_batch = says_option("global-batch");
  for (const Field& field : fields_) {
    constexpr std::string_view kSizes[] = {"model", "machine",      "dp",         "tp",
                                           "pp",    "microbatches", "micro-batch"};
    const bool sizes =
        std::find(std::begin(kSizes), std::end(kSizes), field.option) != std::end(kSizes);
    const bool filled =
        (field.option == "dp" && fills_dp) || (field.option == "microbatches" && fills_batch);
    if (!sizes || filled || says(field)) continue;
    assumed[field.key] = find_setting(setup_settings(), field.option)->value.get(*setup);
  }
  return assumed;
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
  if (!here) return as_typed(here.error());
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

Result<Setup> SetupOptions::asked_of(const std::string& text, const Turned& turned) const {
  Setup setup = new_setup();
  const auto turned_to = [&turned](const Field& field) -> const std::string* {
    for (const auto& [name, value] : turned)
      if (name == field.option || name == field.key) return &value;
    return nullptr;
  };
  const auto says = [&](std::string_view option) {
    return std::any_of(fields_.begin(), fields_.end(), [&](const Field& field) {
      return field.option == option && (field.parsed->count() > 0 || turned_to(field) != nullptr);
    });
  };
  if (file_.empty() && (says("model") || says("machine"))) setup.mesh.pp = 1;
  if (!file_.empty()) {
    Result<Setup> read = setup_of_file(text);
    if (!read) {
      Message why = read.error();
      why.text = name_of_input(file_) + ": " + why.text;
      return why;
    }
    setup = std::move(*read);
  }
  for (const Field& field : fields_) {  // in the order of the table
    const std::string* turn = turned_to(field);
    if (turn == nullptr && field.parsed->count() == 0) continue;
    const std::string& value = turn != nullptr ? *turn : field.value;
    const bool bare = value.empty() && field.is_flag;
    const Result<void> set = set_typed(setup, field.option, bare ? "true" : value);
    if (!set) return as_typed(set.error());
  }
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

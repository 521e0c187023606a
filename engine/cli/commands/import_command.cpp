// SPDX-License-Identifier: Apache-2.0
// `import --as FRAMEWORK FILE`: a Setup from a launch line or a framework's configuration.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/cli/commands/command.h"
#include "engine/cli/options/setup_options.h"
#include "engine/cli/training.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/wire/frameworks/framework.h"
#include "engine/wire/messages.h"

namespace parallelarium {
namespace {

struct ImportOptions {
  SetupOptions setup;
  std::string framework, file;
  bool json = false;
};

// A Setup with another value of a setting; none where it takes no other.
std::optional<Setup> with_other(const Setup& setup, const SetupSetting& row) {
  Setup other = setup;
  const nlohmann::json value = row.value.get(setup);
  if (value.is_number()) {
    const Result<void> set = row.value.set(other, value.get<int>() + 1, row.key);
    return set ? std::optional(std::move(other)) : std::nullopt;
  }
  for (const std::string& name : row.values(setup))
    if (name != value && row.value.set(other, name, row.key)) return other;
  return std::nullopt;
}

// Which of `unsaid`, options that size a step, come from the defaults and not from the text:
// another default would make another Setup, or one that the text contradicts.
nlohmann::json assumed_of(const std::vector<std::string>& unsaid, const std::string& framework,
                          const std::string& text, const Setup& base, const Setup& read) {
  nlohmann::json assumed = nlohmann::json::object();
  for (const std::string& option : unsaid) {
    const SetupSetting& row = *find_setting(setup_settings(), option);
    const nlohmann::json value = row.value.get(read);
    const std::optional<Setup> other = with_other(base, row);
    if (!other) continue;
    const Result<FrameworkSetup> again = read_from_framework(framework, text, *other);
    if (!again || row.value.get(again->setup) != value) assumed[row.key] = value;
  }
  return assumed;
}

Outcome import_text(const ImportOptions& options, Progress& progress) {
  // A name that is wrong is told before anything is read.
  if (!options.framework.empty()) {
    if (const auto known = framework_refusal(options.framework, {}); !known)
      return Outcome::invalid(known.error());
  }
  const Result<std::string> text = read_file(options.file);
  if (!text) return Outcome::invalid(text.error());
  std::string setup_text;
  const Result<Setup> base = options.setup.asked(&setup_text);
  if (!base) return Outcome::invalid(base.error());
  const std::string framework =
      options.framework.empty() ? framework_of_text(*text) : options.framework;
  if (framework.empty())
    return Outcome::invalid(message(
        "framework-unclear", "{} names no setting of {}; --as says which framework it is of.",
        name_of_input(options.file), framework_names_text()));
  const Result<FrameworkSetup> read = read_from_framework(framework, *text, *base);
  if (!read) return Outcome::invalid(about_file(options.file, read.error()));
  // What predict would refuse; what is `auto` is chosen there.
  std::vector<Message> wrong = validate(read->setup);
  std::erase_if(wrong, [](const Message& why) { return why.kind == "setup-auto"; });
  const nlohmann::json assumed =
      assumed_of(options.setup.unsaid(setup_text), framework, *text, *base, read->setup);
  if (options.json) {
    nlohmann::json json = {{"framework", framework},
                           {"setup", to_json(read->setup)},
                           {"resolved", nullptr},
                           {"assumed", assumed},
                           {"by_default", nullptr},
                           {"not_expressible", nlohmann::json::array()},
                           {"invalid", nlohmann::json::array()}};
    if (const Result<Situation> situation = situation_here(read->setup))
      json["resolved"] = to_json(situation->setup);
    for (const Message& note : read->not_understood)
      json["not_expressible"].push_back(to_json(note));
    if (read->by_default) json["by_default"] = to_json(*read->by_default);
    for (const Message& why : wrong) json["invalid"].push_back(to_json(why));
    return Outcome::done(json_text(json));
  }
  if (options.framework.empty()) progress.say("Read as the framework " + framework + ".");
  for (const Message& note : read->not_understood) progress.say("Note: " + note.text);
  if (read->by_default) progress.say("Note: " + read->by_default->text);
  if (!assumed.empty())
    progress.say("Assumed, since neither the text nor an option says otherwise: " +
                 assumed_text(assumed) + ".");
  if (!wrong.empty()) progress.say("This cannot be predicted yet: " + wrong.front().text);
  return Outcome::done(json_text(to_json(read->setup)));
}

}  // namespace

std::string framework_names_text() {
  std::vector<std::string> names;
  for (const FrameworkInfo& info : framework_infos()) names.push_back(info.name);
  return join_or(names).text;
}

void add_import(Commands& commands) {
  CLI::App* command =
      commands.add("import", "read a framework's launch line or configuration as a Setup",
                   "  parallelarium-engine import launch.sh > mine.json\n"
                   "  parallelarium-engine import --as deepspeed ds_config.json --model llama3-8b\n"
                   "  cat launch.sh | parallelarium-engine import --as megatron - --json\n"
                   "What the text has no setting for comes from the options beside it.\n");
  auto options = std::make_shared<ImportOptions>();
  command->add_option("file", options->file, "the text; - reads it from standard input")
      ->option_text("FILE")
      ->required();
  command
      ->add_option("--as", options->framework,
                   framework_names_text() + "; without it, the one whose settings the text names")
      ->option_text("FRAMEWORK");
  command->add_flag("--json", options->json, "print JSON with what a Setup cannot say");
  options->setup.add_to(*command);
  commands.set_body(command,
                    [options](Progress& progress) { return import_text(*options, progress); });
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// `import --as FRAMEWORK FILE`: a Setup from a launch line or a framework's configuration.
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/commands/command.h"
#include "engine/cli/options/setup_options.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/wire/frameworks/framework.h"
#include "engine/wire/messages.h"

namespace parallelarium {
namespace {

struct ImportOptions {
  SetupOptions setup;
  std::string framework, file;
  bool json = false;
};

Outcome import_text(const ImportOptions& options, Progress& progress) {
  const Result<std::string> text = read_file(options.file);
  if (!text) return Outcome::invalid(text.error());
  const Result<Setup> base = options.setup.asked();
  if (!base) return Outcome::invalid(base.error());
  const std::string framework =
      options.framework.empty() ? framework_of_text(*text) : options.framework;
  if (framework.empty())
    return Outcome::invalid(message(
        "framework-unclear", "{} names no setting of {}; --as says which framework it is of.",
        name_of_input(options.file), framework_names_text()));
  const Result<FrameworkSetup> read = read_from_framework(framework, *text, *base);
  if (!read) {
    Message why = read.error();
    why.text = name_of_input(options.file) + ": " + why.text;
    return Outcome::invalid(why);
  }
  // What predict would refuse; what is `auto` is chosen there.
  std::vector<Message> wrong = validate(read->setup);
  std::erase_if(wrong, [](const Message& why) { return why.kind == "setup-auto"; });
  if (options.json) {
    nlohmann::json json = {{"framework", framework},
                           {"setup", to_json(read->setup)},
                           {"not_expressible", nlohmann::json::array()},
                           {"invalid", nlohmann::json::array()}};
    for (const Message& note : read->not_understood)
      json["not_expressible"].push_back(to_json(note));
    for (const Message& why : wrong) json["invalid"].push_back(to_json(why));
    return Outcome::done(json_text(json));
  }
  if (options.framework.empty()) progress.say("Read as the framework " + framework + ".");
  for (const Message& note : read->not_understood) progress.say("Note: " + note.text);
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

// SPDX-License-Identifier: Apache-2.0
// `manual`: the manual page of this program, and its completion for a shell, of the options that
// are really parsed.
#include <memory>

#include "engine/cli/commands/command.h"
#include "engine/cli/text/settings_text.h"
#include "engine/plan/program/program.h"
#include "engine/wire/frameworks/framework.h"
#include "engine/wire/manual/manual.h"
#include "engine/wire/view_ids.h"

namespace parallelarium {

namespace {

// The names that a user may write for an option, or behind a command.
std::vector<std::string> choices_of(const std::string& word) {
  if (word == "models") return setup_choices("--model");
  if (word == "machines") return setup_choices("--machine");
  if (word == "schedule") return setup_choices("--schedule");
  if (word == "--view") return view_ids();
  if (word == "--as") {
    std::vector<std::string> frameworks;
    for (const FrameworkInfo& info : framework_infos()) frameworks.push_back(info.name);
    return frameworks;
  }
  if (word == "manual") return {"man", "bash", "zsh", "fish", "settings"};
  std::vector<std::string> names = setup_choices(word);
  if (word == "collective")
    for (int kind = 0; kind < kCollectiveKinds; ++kind)
      names.emplace_back(name_of(static_cast<CollectiveKind>(kind)));
  return names;
}

ManualOption option_of(const CLI::Option& option) {
  ManualOption entry;
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0)
    entry.value = option.get_option_text().empty() ? "VALUE" : option.get_option_text();
  entry.help = option.get_description();
  entry.choices = choices_of(entry.names.back());
  if (option.get_group() != "Options") entry.group = option.get_group();
  return entry;
}

// The command, then its subcommands.
void append(const CLI::App& app, const std::vector<std::string>& words, Manual& manual) {
  ManualCommand command;
  command.words = words;
  command.help = app.get_description();
  command.examples = app.get_footer();
  if (!words.empty()) command.choices = choices_of(words.back());
  for (const CLI::Option* option : app.get_options({})) {
    if (option->nonpositional())
      command.options.push_back(option_of(*option));
    else
      command.operands +=
          (command.operands.empty() ? "" : " ") +
          (option->get_option_text().empty() ? option->get_name() : option->get_option_text());
  }
  manual.commands.push_back(std::move(command));
  for (const CLI::App* below : app.get_subcommands({})) {
    std::vector<std::string> longer = words;
    longer.push_back(below->get_name());
    append(*below, longer, manual);
  }
}

}  // namespace

void add_manual(Commands& commands) {
  CLI::App* command = commands.add(
      "manual", "print this program's manual page, its completion for a shell, or all settings",
      "  parallelarium-engine manual man | man -l -\n"
      "  source <(parallelarium-engine manual bash)\n"
      "  parallelarium-engine manual settings\n");
  auto format = std::make_shared<std::string>();
  command->add_option("format", *format, "man, bash, zsh, fish or settings")
      ->option_text("FORMAT")
      ->required();
  commands.set_body(command, [format, &app = commands.app()](Progress&) {
    if (*format == "settings") return Outcome::done(settings_text());
    Manual manual;
    manual.program = app.get_name();
    manual.summary = "predict and run the distributed training of language models";
    manual.about = app.get_description();
    manual.exit_status =
        "0: done. 1: a run failed. 2: the request was not valid; one sentence says why, and "
        "nothing "
        "was written.";
    manual.see_also = {"parallelarium"};
    append(app, {}, manual);
    const Result<std::string> text = manual_text(manual, *format);
    return text ? Outcome::done(*text) : Outcome::invalid(text.error());
  });
}

}  // namespace parallelarium

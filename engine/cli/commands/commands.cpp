// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/commands/commands.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>

#include "engine/cli/commands/command.h"
#include "engine/lesson/planner_lock.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/text/phrases.h"
#include "engine/wire/version.h"

namespace parallelarium {
namespace {

constexpr std::chrono::seconds kLinePause{4};

constexpr const char* kAbout =
    "Predicts how a language model trains on many devices, runs it on local ranks, and sets the "
    "two "
    "side by side.";
constexpr const char* kFooter = R"(Start here:
  parallelarium-engine predict                     the first lesson: GPT tiny on 4 pipeline stages
  parallelarium-engine run                         the same, executed on 4 local ranks
  parallelarium-engine schedule 1f1b --stages 4 --microbatches 6
  parallelarium-engine predict --model gpt3-175b --machine dgx-a100-80g --tp 8 --pp 16 --dp 6

Every command has --help with examples, and --json for machines. Exit status: 0 done, 1 a run failed,
2 the request was not valid.)";

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

// "lesson check" of a verb below a command.
std::string words_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  const bool below = parent != nullptr && parent->get_parent() != nullptr;
  return below ? parent->get_name() + " " + command.get_name() : command.get_name();
}

// Why the words of the command line make no command, in one sentence.
Message sentence_of(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  for (const CLI::App* parsed : app.get_subcommands()) command = parsed;
  const bool in_command = command != &app;
  if (in_command) {
    for (const CLI::App* parsed : command->get_subcommands()) command = parsed;
  }
  const std::string words = words_of(*command);
  const std::vector<std::string> left = app.remaining(true);
  const bool about_words = dynamic_cast<const CLI::ExtrasError*>(&error) ||
                           dynamic_cast<const CLI::RequiredError*>(&error);
  if (about_words && !in_command) {
    const std::vector<std::string> names = names_of(app);
    if (left.empty())
      return message("command-missing", "Say what to do: {}; --help explains them.",
                     join_and(names));
    if (left.front() == "help") return message("command-help", "Say --help for help.");
    const std::string near = nearest(left.front(), names);
    if (left.front().rfind('-', 0) == 0)
      return message("option-first", "The option {} belongs behind a command: {}.", left.front(),
                     join_and(names));
    return message("command-unknown", "There is no command \"{}\"{}; there are {}.", left.front(),
                   near.empty() ? "" : " (" + near + "?)", join_and(names));
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) && !left.empty()) {
    std::vector<std::string> options;
    for (const CLI::Option* option : command->get_options({}))
      if (!option->get_lnames().empty()) options.push_back("--" + option->get_lnames().front());
    const std::string word = left.front().substr(0, left.front().find('='));
    if (word.rfind('-', 0) != 0)
      return message("word-unexpected",
                     "{} does not expect the word \"{}\"; {} --help shows what it "
                     "takes.",
                     words, word, words);
    const std::string near = nearest(word, options);
    return message("option-unknown", "{} has no option {}{}; {} --help lists them.", words, word,
                   near.empty() ? "" : " (" + near + "?)", words);
  }
  const std::string what = error.what();
  const std::string option = what.substr(0, what.find(':'));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) && !option.starts_with('-'))
    return message("words-many", "{} does not expect so many words; {} --help shows what it takes.",
                   words, words);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error))
    return message("option-count", "{}: {} takes one value, once.", words, option);
  // "--layer: must be ..." of a check, "Could not convert: --rank = x".
  if (dynamic_cast<const CLI::ValidationError*>(&error) && what.starts_with(option + ": must "))
    return message("option-value", "{}: {} {}; {} --help shows what is expected.", words, option,
                   what.substr(option.size() + 2), words);
  if (const std::size_t equals = what.find(" = ");
      dynamic_cast<const CLI::ConversionError*>(&error) && equals != std::string::npos)
    return message("option-unread", "{}: {} cannot be “{}”; {} --help shows what is expected.",
                   words, what.substr(option.size() + 2, equals - option.size() - 2),
                   shown(what.substr(equals + 3)), words);
  if (dynamic_cast<const CLI::RequiredError*>(&error)) {
    if (what == "A subcommand is required")
      return message("verb-missing", "Say what {} is to do: {}; {} --help explains them.", words,
                     join_and(names_of(*command)), words);
    for (const CLI::Option* each : command->get_options({}))
      if (what == each->get_name() + " is required")
        return message("operand-missing", "{} needs {}; {} --help shows what it takes.", words,
                       each->get_option_text(), words);
  }
  std::string text = what;
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return message("option-wrong", "{}: {}; {} --help shows what is expected.", words, text, words);
}

// An empty name of a file is a slip, such as of a shell's variable that is not set.
void refuse_empty_files(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands({})) {
    refuse_empty_files(*command);
    for (CLI::Option* option : command->get_options({}))
      for (const char* what : {"FILE", "DIR"})
        if (option->get_option_text().find(what) != std::string::npos)
          option->check([](const std::string& text) {
            return text.empty() ? std::string("must be the name of a file") : std::string();
          });
  }
}

// Commands that show what a lesson may hide until a plan is committed. What `export --as` writes
// for a framework has no prediction.
constexpr std::string_view kShowPredictions[] = {"predict", "run",   "sweep",  "roofline", "plan",
                                                 "compare", "layer", "export", "schedule"};

std::optional<Message> hidden_command(const CLI::App& app) {
  const CLI::App& command = *app.get_subcommands().front();
  const std::string name = command.get_name();
  if (std::ranges::find(kShowPredictions, name) == std::end(kShowPredictions)) return {};
  if (name == "export" && command.count("--as") > 0) return {};
  return hidden_by_lesson(name);
}

}  // namespace

CLI::App* Commands::add(const std::string& name, const std::string& help,
                        const std::string& examples) {
  CLI::App* command = app_->add_subcommand(name, help);
  command->footer(examples.empty() ? "" : "Examples:\n" + examples);
  return command;
}

std::string check_from_zero(const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (digits && text.size() <= 9) return {};
  return fmt::format("must be a whole number, 0 or more, not “{}”", shown(text));
}

void Commands::set_body(CLI::App* command, CommandBody action) {
  bodies_.emplace_back(command, std::move(action));
}

const CommandBody* Commands::chosen() const {
  for (const auto& [command, action] : bodies_)
    if (command->parsed()) return &action;
  return nullptr;
}

void Progress::report(double share, const std::string& what) {
  std::string line =
      fmt::format("{:3.0f} %  {}", 100 * std::clamp(share, 0.0, 1.0), what.substr(0, 70));
  if (!terminal_) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_line_ < kLinePause) return;
    last_line_ = now;
    *err_ << line << std::endl;
    return;
  }
  const std::size_t length = line.size();
  if (line.size() < shown_) line.resize(shown_, ' ');
  shown_ = length;
  *err_ << '\r' << line << std::flush;
}

void Progress::clear() {
  if (shown_ > 0) *err_ << '\r' << std::string(shown_, ' ') << '\r' << std::flush;
  shown_ = 0;
}

void Progress::say(const std::string& sentence) {
  clear();
  *err_ << sentence << std::endl;
}

int run_command(int argc, const char* const* argv, std::ostream& out, std::ostream& err,
                bool err_is_terminal) {
  CLI::App app(kAbout, "parallelarium-engine");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("parallelarium-engine ") + kVersion);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  Commands commands(app);
  add_predict(commands);
  add_run(commands);
  add_sweep(commands);
  add_roofline(commands);
  add_layer(commands);
  add_plan(commands);
  add_compare(commands);
  add_schedule(commands);
  add_collective(commands);
  add_route(commands);
  add_models(commands);
  add_machines(commands);
  add_cases(commands);
  add_devices(commands);
  add_calibrate(commands);
  add_export(commands);
  add_import(commands);
  add_lesson(commands);
  add_serve(commands);
  add_manual(commands);
  refuse_empty_files(app);
  // CLI11 speaks in exceptions; they end here.
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    if (app.get_subcommands().empty() && !app.remaining(true).empty()) {
      err << sentence_of(app, CLI::ExtrasError(app.remaining(true))).text << std::endl;
      return kInvalid;
    }
    app.exit(asked, out, err);
    return kDone;
  } catch (const CLI::ParseError& error) {
    err << sentence_of(app, error).text << std::endl;
    return kInvalid;
  }
  const CommandBody* action = commands.chosen();
  if (!action) return kInvalid;
  if (const std::optional<Message> hidden = hidden_command(app)) {
    err << hidden->text << std::endl;
    return kInvalid;
  }
  Progress progress(err, err_is_terminal);
  Outcome outcome = (*action)(progress);
  progress.clear();
  if (outcome.status != kInvalid) out << outcome.text << std::flush;
  if (outcome.error) err << outcome.error->text << std::endl;
  if (outcome.status == kDone && !out) {
    err << "The answer could not be written; the disk may be full or the reader gone." << std::endl;
    return kFailed;
  }
  return outcome.status;
}

}  // namespace parallelarium

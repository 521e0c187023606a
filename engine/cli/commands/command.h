// SPDX-License-Identifier: Apache-2.0
// What every command of the command line is made of. To add one: write <name>_command.cpp with one
// `add_...` function, declare it here, and list it in commands.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>

#include "engine/cli/commands/commands.h"
#include "engine/plan/model/routing.h"
#include "engine/plan/result.h"

namespace parallelarium {

// What a command answers. Nothing is printed before it is whole, so a failure writes nothing.
struct Outcome {
  int status = kDone;
  std::string text;              // for stdout
  std::optional<Message> error;  // for stderr

  static Outcome done(std::string text) { return {kDone, std::move(text), std::nullopt}; }
  static Outcome invalid(Message why) { return {kInvalid, {}, std::move(why)}; }
  static Outcome failed(Message why) { return {kFailed, {}, std::move(why)}; }
};

// Where a command tells what it is doing while it works.
class Progress {
 public:
  Progress(std::ostream& err, bool terminal) : err_(&err), terminal_(terminal) {}
  // One line that the next report overwrites; elsewhere than on a terminal a line of its own every
  // few seconds. `share` from 0 to 1.
  void report(double share, const std::string& what);
  // A sentence that stays.
  void say(const std::string& sentence);
  // The same, unless it is empty.
  void note(const std::string& sentence) {
    if (!sentence.empty()) say(sentence);
  }
  void clear();

 private:
  std::ostream* err_;
  bool terminal_;
  std::chrono::steady_clock::time_point last_line_ = std::chrono::steady_clock::now();
  std::size_t shown_ = 0;
};

struct Watch;
// Reports the progress of a run, cancels it on Ctrl-C, and ends the program with the sentence where
// ranks do not end.
Watch watch_of(Progress& progress);
// Says what other processes do on the GPUs at hand, use_of() them.
void say_who_shares(const std::string& gpu_use, Progress& progress);

// The subcommand and what it does once its options are read.
using CommandBody = std::function<Outcome(Progress&)>;
class Commands {
 public:
  explicit Commands(CLI::App& app) : app_(&app) {}
  // A subcommand whose --help shows `example` lines below the options.
  CLI::App* add(const std::string& name, const std::string& help, const std::string& examples);
  void set_body(CLI::App* command, CommandBody action);
  const CommandBody* chosen() const;  // of the subcommand that was parsed
  const CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
  std::vector<std::pair<CLI::App*, CommandBody>> bodies_;
};

void add_devices(Commands& commands);
void add_calibrate(Commands& commands);
void add_models(Commands& commands);
void add_machines(Commands& commands);
void add_cases(Commands& commands);
void add_predict(Commands& commands);
void add_roofline(Commands& commands);
void add_layer(Commands& commands);
void add_plan(Commands& commands);
void add_sweep(Commands& commands);
void add_compare(Commands& commands);
void add_run(Commands& commands);
void add_schedule(Commands& commands);
void add_collective(Commands& commands);
void add_route(Commands& commands);
void add_export(Commands& commands);
void add_import(Commands& commands);
void add_lesson(Commands& commands);
void add_serve(Commands& commands);
void add_manual(Commands& commands);

// For CLI::Option::check(): why the text is no whole number from 0 on; empty: it is one.
std::string check_from_zero(const std::string& text);

// "megatron, megatron-bridge, ... or nanotron".
std::string framework_names_text();

// Indented JSON with a final newline; doubles keep every digit.
std::string json_text(const nlohmann::json& json);

// What a user writes in place of a path to give the content itself, or to have a timeline or a
// recipe printed.
inline constexpr const char* kStandardStream = "-";
std::string name_of_input(const std::string& path);  // for sentences
// A whole file, pipe or standard input; `most_bytes` bounds it. Error: one sentence with the path
// and the reason.
Result<std::string> read_file(const std::string& path, std::size_t most_bytes = 64u << 20);
// Written beside the target and renamed, so that a reader never sees half a file. Error: also for
// kStandardStream, which is no file.
Result<void> write_file(const std::string& path, const std::string& content);
// Whether write_file could begin: tried before what takes long. Leaves no file behind.
Result<void> can_write(const std::string& path);
// The routing in a file of `run --json`, or in one of its "routing" alone. Error: also where that
// run was of another Setup in what decides a routing: model, micro-batches, DP, CP and EP.
Result<Routing> read_routing(const std::string& path, const Setup& setup);
// The sentence with the name of the file that it is about.
Message about_file(const std::string& path, Message why);
// The file as JSON. Error: also names the file.
Result<nlohmann::json> read_json(const std::string& path);

}  // namespace parallelarium

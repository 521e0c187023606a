// SPDX-License-Identifier: Apache-2.0
// `export FILE`: the timeline of a Setup as Chrome trace or CSV, written here, or a view as a
// picture, drawn by the program `parallelarium` without a window; `export --as FRAMEWORK`: the
// Setup as that framework says it.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/cli/cancel.h"
#include "engine/cli/commands/check_before_run.h"
#include "engine/cli/commands/command.h"
#include "engine/cli/options/setup_options.h"
#include "engine/cli/training.h"
#include "engine/predict/predict.h"
#include "engine/wire/export/csv.h"
#include "engine/wire/export/trace.h"
#include "engine/wire/frameworks/framework.h"
#include "engine/wire/messages.h"
#include "engine/wire/view_ids.h"

extern char** environ;

namespace parallelarium {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
  SetupOptions setup;
  std::string file, format, view, framework;
  bool run = false, json = false;
  std::optional<int> rank;
};

// "PNG" of "a/b.PNG", in lower case.
std::string ending_of(const std::string& file) {
  std::string ending = fs::path(file).extension().string();
  ending.erase(0, 1);
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

Result<std::string> format_of(const ExportOptions& options) {
  static constexpr std::array<const char*, 5> kFormats = {"trace", "csv", "png", "svg", "pdf"};
  std::string format = options.format;
  if (format.empty()) {
    format = ending_of(options.file);
    if (format == "json") format = "trace";
  }
  if (std::find(kFormats.begin(), kFormats.end(), format) == kFormats.end())
    return message("export-format",
                   "The file must end in .json (Chrome trace), .csv, .png, .svg or "
                   ".pdf, or --format must say trace, csv, png, svg or pdf.");
  return format;
}

// `parallelarium` beside this program, else in PATH; empty if it is nowhere.
std::string find_window_program() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path beside = self.parent_path() / "parallelarium";
    if (access(beside.c_str(), X_OK) == 0) return beside.string();
  }
  const char* path = std::getenv("PATH");
  std::string folders = std::string(path ? path : "") + ':';
  for (std::size_t begin = 0, end; (end = folders.find(':', begin)) != std::string::npos;
       begin = end + 1) {
    const std::string file = folders.substr(begin, end - begin) + "/parallelarium";
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

// A file that is gone when this is.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) {
    std::error_code error;
    const fs::path folder = fs::temp_directory_path(error);
    path_ = ((error ? fs::path("/tmp") : folder) / "parallelarium-XXXXXX.json").string();
    const int file = mkstemps(path_.data(), 5);
    if (file < 0) {
      path_.clear();
      return;
    }
    const bool written =
        write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size());
    close(file);
    if (!written) {
      unlink(path_.c_str());
      path_.clear();
    }
  }
  ~TemporaryFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// `read_text`: what the file of the Setup holds, if there is one.
Outcome draw(const ExportOptions& options, const std::string& format, const Setup& setup,
             const std::string& read_text) {
  // The window draws beside it and renames, which would put a file in place of a pipe.
  std::error_code ignored;
  if (fs::exists(options.file, ignored) && !fs::is_regular_file(options.file, ignored))
    return Outcome::failed(message("export-picture-file",
                                   "Cannot write {}: a picture is written to a file alone.",
                                   options.file));
  const std::string program = find_window_program();
  if (program.empty())
    return Outcome::failed(message("export-no-window",
                                   "Pictures are drawn by the program parallelarium, which is "
                                   "neither beside this program nor in PATH; install it, or export "
                                   "to .json or .csv."));
  const std::atomic<bool>& was_cancelled = cancelled_by_signal();
  // A document may hold runs, which the picture then shows; fields given beside it leave the Setup.
  const bool as_it_is = !options.setup.file().empty() && !options.setup.overrides();
  const TemporaryFile written(as_it_is ? read_text : json_text(to_json(setup)));
  const std::string from = written.path();
  if (from.empty())
    return Outcome::failed(message("export-temporary",
                                   "No temporary file can be written; free some "
                                   "space or set TMPDIR."));
  const bool display = std::getenv("DISPLAY") || std::getenv("WAYLAND_DISPLAY");
  if (!display && !std::getenv("QT_QPA_PLATFORM")) setenv("QT_QPA_PLATFORM", "offscreen", 1);
  // The window goes by the ending, so a file that ends otherwise is renamed once it is drawn.
  const std::string drawn = ending_of(options.file) == format
                                ? options.file
                                : fmt::format("{}.{}.{}", options.file, getpid(), format);
  std::vector<std::string> words = {program, "--export", drawn, "--setup", from};
  if (!options.view.empty()) words.insert(words.end(), {"--view", options.view});
  if (options.run) words.push_back("--run");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int fault =
      posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ);
  if (fault != 0)
    return Outcome::failed(
        message("export-start", "{} does not start: {}.", program, std::strerror(fault)));
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (was_cancelled) kill(child, SIGTERM);  // where it alone was not told
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (was_cancelled) {
    if (drawn != options.file) std::remove(drawn.c_str());
    return Outcome::failed(message("cancelled.export", "The export was cancelled."));
  }
  const int ended = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (ended == 0 &&
      (drawn == options.file || std::rename(drawn.c_str(), options.file.c_str()) == 0))
    return Outcome::done("");
  const int fault_of_name = errno;
  if (drawn != options.file) std::remove(drawn.c_str());
  if (ended == 0)
    return Outcome::failed(message("file-unwritable", "Cannot write {}: {}.", options.file,
                                   std::strerror(fault_of_name)));
  // It has said why on the standard error that both share.
  if (ended == kFailed || ended == kInvalid) return Outcome{ended, {}, std::nullopt};
  return Outcome::failed(message("export-failed", "{} could not draw {}.", program, options.file));
}

Outcome write_timeline(const ExportOptions& options, const std::string& format,
                       const Program& program, const Timeline& timeline) {
  if (options.rank &&
      std::none_of(program.ranks.begin(), program.ranks.end(),
                   [&](const RankProgram& rank) { return rank.rank == *options.rank; }))
    return Outcome::invalid(message("export-rank",
                                    "Rank {} is not among the {} ranks that were "
                                    "built.",
                                    *options.rank, program.ranks.size()));
  const std::string content = format == "csv" ? to_csv(program, timeline)
                                              : to_chrome_trace(program, timeline, options.rank);
  if (options.file == kStandardStream) return Outcome::done(content);
  const Result<void> written = write_file(options.file, content);
  if (!written) return Outcome::failed(written.error());
  return Outcome::done("");
}

Outcome export_setup(const ExportOptions& options, Progress& progress) {
  const Result<std::string> format = format_of(options);
  if (!format) return Outcome::invalid(format.error());
  std::string read_text;
  const Result<Situation> situation = options.setup.situation(&read_text);
  if (!situation) return Outcome::invalid(situation.error());
  const Setup& setup = situation->asked;
  const bool picture = *format != "trace" && *format != "csv";
  if (options.rank && *format != "trace")
    return Outcome::invalid(message("export-rank-format", "--rank goes with a trace only."));
  if (!options.view.empty() && (!picture || !is_view_id(options.view)))
    return Outcome::invalid(message(
        "export-view", "--view must be {}, and goes with a picture only.", view_ids_text()));
  const bool printed = options.file == kStandardStream;
  if (printed && picture)
    return Outcome::invalid(message("export-picture-printed",
                                    "A picture is not printed: name a file in place of “-”."));
  if (printed && options.json)
    return Outcome::invalid(message(
        "export-json-printed", "--json tells which file was written: name one in place of “-”."));
  progress.note(options.setup.assumed_sentence(read_text));
  Outcome outcome;
  if (picture) {
    outcome = draw(options, *format, setup, read_text);
  } else if (options.run) {
    const Result<Preparation> preparation =
        prepare_checked(setup, {}, watch_of(progress),
                        [&](const std::string& sentence) { progress.say(sentence); });
    if (!preparation)
      return preparation.error().kind == "cancelled" ? Outcome::failed(preparation.error())
                                                     : Outcome::invalid(preparation.error());
    if (!preparation->calibrated()) progress.say(calibrating_text(*preparation));
    const Result<Training> training = train(*preparation, false, watch_of(progress));
    if (!training)
      return is_about_request(training.error()) ? Outcome::invalid(training.error())
                                                : Outcome::failed(training.error());
    if (training->unstored) progress.say(training->unstored->text + " It serves this run alone.");
    outcome = write_timeline(options, *format, training->prediction.program,
                             training->result.observation.timeline);
  } else {
    const Result<Prediction> prediction = predict(situation->setup, situation->machine);
    if (!prediction) return Outcome::invalid(prediction.error());
    outcome = write_timeline(options, *format, prediction->program, prediction->timeline);
  }
  if (outcome.status != kDone || printed) return outcome;
  if (options.json)
    outcome.text = json_text(
        {{"file", options.file}, {"format", *format}, {"of", options.run ? "run" : "prediction"}});
  else
    progress.say("Wrote " + options.file + ".");
  return outcome;
}

// The recipe goes to the file, or to standard output where none is named.
Outcome export_recipe(const ExportOptions& options, Progress& progress) {
  if (options.run || options.rank || !options.view.empty() || !options.format.empty())
    return Outcome::invalid(message("export-as-alone",
                                    "--as writes a Setup, so --run, --rank, --view and --format do "
                                    "not go with it."));
  std::string read_text;
  const Result<Situation> situation = options.setup.situation(&read_text);
  if (!situation) return Outcome::invalid(situation.error());
  const Result<FrameworkText> written = write_for_framework(options.framework, situation->setup);
  if (!written) return Outcome::invalid(written.error());
  progress.note(options.setup.assumed_sentence(read_text));
  const bool printed = options.file.empty() || options.file == kStandardStream;
  if (!printed) {
    const Result<void> stored = write_file(options.file, written->text);
    if (!stored) return Outcome::failed(stored.error());
  }
  if (options.json) {
    nlohmann::json json = {{"text", written->text},
                           {"setup", to_json(situation->asked)},
                           {"resolved", to_json(situation->setup)},
                           {"not_expressible", nlohmann::json::array()}};
    for (const Message& sentence : written->not_expressible)
      json["not_expressible"].push_back(to_json(sentence));
    if (written->not_counted) json["not_counted"] = to_json(*written->not_counted);
    return Outcome::done(json_text(json));
  }
  for (const Message& sentence : written->not_expressible) progress.say(sentence.text);
  if (written->not_counted) progress.say(written->not_counted->text);
  if (printed) return Outcome::done(written->text);
  progress.say("Wrote " + options.file + ".");
  return Outcome::done("");
}

}  // namespace

void add_export(Commands& commands) {
  CLI::App* command =
      commands.add("export",
                   "write the timeline as PNG, SVG, PDF, Chrome trace or CSV, or a Setup for a "
                   "framework",
                   "  parallelarium-engine export timeline.png --microbatches 16\n"
                   "  parallelarium-engine export step.json --run         (for ui.perfetto.dev)\n"
                   "  parallelarium-engine export step.csv --setup mine.json\n"
                   "  parallelarium-engine export --as megatron --model llama3-8b --tp 2 --dp 4\n");
  auto options = std::make_shared<ExportOptions>();
  command
      ->add_option("file", options->file,
                   "what to write; its ending says the format; - prints a trace or table")
      ->option_text("FILE");
  command
      ->add_option("--as", options->framework,
                   "the Setup for " + framework_names_text() + "; without FILE it is printed")
      ->option_text("FRAMEWORK");
  command->add_option("--format", options->format, "trace, csv, png, svg or pdf")->option_text("F");
  command
      ->add_option("--view", options->view,
                   view_ids_text() + " (pictures); or a part of one: " + view_parts_text())
      ->option_text("V");
  command->add_flag("--run", options->run, "of a run; without it, of the prediction");
  command->add_flag("--json", options->json, "print what was written as JSON");
  command->add_option("--rank", options->rank, "this rank alone (trace)")->option_text("R");
  options->setup.add_to(*command);
  commands.set_body(command, [options](Progress& progress) {
    if (!options->framework.empty()) return export_recipe(*options, progress);
    if (options->file.empty())
      return Outcome::invalid(message("export-file", "Say the file to write, or --as FRAMEWORK."));
    return export_setup(*options, progress);
  });
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// `compare`: setups, runs and cases side by side, and why each differs from the first.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/commands/command.h"
#include "engine/cli/options/setup_options.h"
#include "engine/cli/text/table.h"
#include "engine/cli/training.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/settings_reader.h"
#include "engine/plan/text/message_json.h"
#include "engine/plan/text/units.h"
#include "engine/planner/reasons/comparison.h"
#include "engine/planner/reasons/techniques.h"
#include "engine/predict/cases/cases.h"
#include "engine/predict/cases/figure_at.h"
#include "engine/wire/messages.h"

namespace parallelarium {
namespace {

Result<Column> predicted_column(const std::string& name, const Setup& setup,
                                const Machine& machine) {
  const Result<Prediction> prediction = predict(setup, machine);
  if (!prediction) return about_file(name, prediction.error());
  return column_of(name, *prediction);
}

// A row of a case, by its name or its number from 1.
Result<Column> case_column(const std::string& name) {
  const auto slash = name.find('/');
  const Result<Case> found = find_case(name.substr(0, slash));
  const bool is_path = slash == std::string::npos || slash == 0 || name[0] == '.';
  if (!found && is_path)
    return message("compare-unknown",
                   "Neither a file nor a case has the name “{}”; `cases` lists the cases.",
                   shown(name));
  if (!found) return found.error();
  const std::string wanted = slash == std::string::npos ? "" : name.substr(slash + 1);
  std::vector<std::string> names;
  for (std::size_t at = 0; at < found->rows.size(); ++at) {
    const CaseRow& row = found->rows[at];
    names.push_back("“" + row.name + "”");
    if (row.name != wanted && std::to_string(at + 1) != wanted &&
        (found->rows.size() > 1 || !wanted.empty()))
      continue;
    if (!row.impossible.empty())
      return message("case-impossible", "{} cannot be said as a Setup: {}", name, row.impossible);
    Result<Column> column = predicted_column(found->name + "/" + row.name, row.setup, row.machine);
    if (!column) return column;
    Result<std::vector<PublishedFigure>> published = published_beside(row);
    if (!published) return published.error();
    column->published = std::move(*published);
    return column;
  }
  return message("case-row", "Say which row of {} is meant, such as {}/1; there are {}.",
                 found->name, found->name, join_and(names));
}

// Where the time of the step went, as `run --json` tells; none: an older one did not.
std::optional<StepParts> parts_told(const nlohmann::json& run) {
  const auto told = run.find("parts_seconds"), exposed = run.find("exposed_seconds");
  if (told == run.end() || exposed == run.end()) return std::nullopt;
  StepParts parts;
  const std::pair<const char*, double StepParts::*> kParts[] = {
      {"compute", &StepParts::compute},     {"recompute", &StepParts::recompute},
      {"optimizer", &StepParts::optimizer}, {"warm_up", &StepParts::warm_up},
      {"wait", &StepParts::wait},           {"drain", &StepParts::drain}};
  for (const auto& [name, part] : kParts) {
    const auto seconds = figure_at(*told, name);
    if (!seconds) return std::nullopt;
    parts.*part = *seconds;
  }
  for (std::size_t axis = 0; axis < parts.exposed.size(); ++axis)
    parts.exposed[axis] =
        figure_at(*exposed, std::string(name_of(static_cast<Axis>(axis)))).value_or(0);
  return parts;
}

// The last run that a document keeps of the resolved Setup; none: it keeps none.
Result<std::optional<Column>> run_in_document(const std::string& title, const nlohmann::json& json,
                                              const Setup& setup) {
  std::optional<Column> column;
  if (!json.is_object() || json.value("format", "") != kDocumentFormat || !json.contains("runs"))
    return column;
  for (const nlohmann::json& run : json["runs"]) {
    if (!run.is_object() || !run.contains("observation") || !run.contains("machine")) continue;
    Result<Observation> observation = observation_from_json(run["observation"]);
    if (!observation) return observation.error();
    Setup of = setup;
    of.run = observation->setup.run;
    if (observation->setup != of) continue;
    const Result<Machine> machine = machine_from_json(run["machine"]);
    if (!machine) return machine.error();
    const Result<Prediction> prediction = predict(observation->setup, *machine, true);
    if (!prediction) return prediction.error();
    column = column_of(title, *prediction, *observation);
  }
  return column;
}

Result<Column> column_from(const std::string& name) {
  if (name != kStandardStream && !std::filesystem::exists(name)) return case_column(name);
  const Result<std::string> text = read_file(name);
  if (!text) return text.error();
  const std::string title = name_of_input(name);
  Result<nlohmann::json> json = parse_json(*text);
  if (json && json->is_object() && json->contains("step") && json->contains("source") &&
      (*json)["source"] != "predicted") {
    const std::optional<StepParts> parts = parts_told(*json);
    Result<Column> column = column_of(title, std::move(*json));
    if (column) column->parts = parts;
    return column;
  }
  const Result<Setup> asked = setup_of_file(*text);
  if (!asked) return about_file(name, asked.error());
  const Result<Situation> situation = situation_here(*asked);
  if (!situation) return about_file(name, situation.error());
  Result<std::optional<Column>> run = run_in_document(title, *json, situation->setup);
  if (!run) return about_file(name, run.error());
  if (*run) return std::move(**run);
  return predicted_column(title, situation->setup, situation->machine);
}

std::string value_text(double value, const std::string& unit) {
  if (unit.empty()) return exact_text(value);
  if (unit == "1") return percent_text(value);
  return in_unit(value, unit);
}

std::string signed_seconds(double seconds) {
  return (seconds < 0 ? "-" : "+") + seconds_text(std::abs(seconds));
}

// What the communication of predictions stands on.
std::string communication_text(const SideBySide& beside) {
  std::string text;
  for (std::size_t at = 0; at < beside.columns.size(); ++at) {
    const Column& column = beside.columns[at];
    const auto rates = column.facts.find("communication");
    if (!column.predicted() || rates == column.facts.end()) continue;
    for (const nlohmann::json& rate : *rates)
      text += fmt::format("{}, ", static_cast<char>('A' + at)) +
              wrapped(message_at(rate, "sentence").text, 96, 4) + "\n";
  }
  return text.empty() ? text : "\nCommunication stands on\n" + text;
}

// What was published of the columns that are cases.
std::string published_text(const SideBySide& beside) {
  Table table({"", "metric", ">published", ">predicted", ">error", "rates"});
  bool any = false;
  for (std::size_t at = 0; at < beside.columns.size(); ++at)
    for (const PublishedFigure& each : beside.columns[at].published) {
      any = true;
      const CaseMetric& metric = metric_of(each.figure);
      const auto value = [&](double of) { return three_digits(of) + " " + metric.unit; };
      table.add({std::string(1, static_cast<char>('A' + at)), metric.label,
                 value(each.figure.published), value(each.predicted),
                 fmt::format("{:+.1f} %", 100 * each.error()),
                 each.fitted ? "fitted" : "held out"});
    }
  return any ? "\nPublished\n" + table.text() : "";
}

// Why the steps of the others are not that of A: of those whose parts are all known, or of those of
// which a busiest rank is, or nothing.
std::string causes_text(const SideBySide& beside, bool with_parts) {
  std::vector<std::size_t> told;
  std::string letters, sentences;
  for (std::size_t at = 1; at < beside.columns.size(); ++at) {
    if ((beside.columns[0].parts && beside.columns[at].parts) != with_parts) continue;
    const char letter = static_cast<char>('A' + at);
    if (const auto& why = beside.explained[at].without_causes) {
      sentences += beside.columns.size() > 2 ? fmt::format("\n{}: {}\n", letter, why->text)
                                             : "\n" + why->text + "\n";
      continue;
    }
    told.push_back(at);
    letters += fmt::format("{}{}", letters.empty() ? "" : ", ", letter);
  }
  if (told.empty()) return sentences;
  std::vector<std::string> titles = {""};
  for (const std::size_t at : told)
    titles.push_back(told.size() > 1 ? fmt::format(">{}", static_cast<char>('A' + at)) : ">");
  std::vector<std::string> names;
  for (const std::size_t at : told)
    for (const Cause& cause : beside.explained[at].causes)
      if (const std::string name = name_of(cause);
          std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return name != name_of(Cause()); });
  Table table(titles);
  std::vector<double> sums(told.size());
  for (const std::string& name : names) {
    std::vector<std::string> cells = {name};
    for (std::size_t column = 0; column < told.size(); ++column) {
      const std::vector<Cause>& causes = beside.explained[told[column]].causes;
      const auto found = std::find_if(causes.begin(), causes.end(),
                                      [&](const Cause& cause) { return name_of(cause) == name; });
      cells.push_back(found == causes.end() ? "" : signed_seconds(found->seconds));
      if (found != causes.end()) sums[column] += found->seconds;
    }
    table.add(std::move(cells));
  }
  std::vector<std::string> together = {"together"};
  for (const double sum : sums) together.push_back(signed_seconds(sum));
  table.add(std::move(together));
  return fmt::format("\nStep of {} less that of A, by cause ({})\n", letters,
                     with_parts ? "mean over ranks" : "of each one's busiest rank") +
         table.text() + sentences;
}

std::string text_of(const SideBySide& beside) {
  std::vector<std::string> titles = {""};
  for (std::size_t at = 0; at < beside.columns.size(); ++at)
    titles.push_back(fmt::format(">{}", static_cast<char>('A' + at)));
  std::string text;
  for (std::size_t at = 0; at < beside.columns.size(); ++at) {
    const Column& column = beside.columns[at];
    const bool rehearsed = column.source == name_of(Source::kPaced);
    text += fmt::format("{}: {} ({}, {})\n", static_cast<char>('A' + at), column.name,
                        rehearsed ? spoken_name(Source::kPaced) : column.source, column.machine);
  }
  for (const Message& remark : beside.remarks) text += "\n" + wrapped(remark.text, 100, 0) + "\n";
  Table table(titles);
  std::vector<std::string> notes;
  for (const ComparedRow& row : beside.rows) {
    std::vector<std::string> cells = {row.metric};
    for (std::size_t at = 0; at < row.values.size(); ++at) {
      cells.push_back(row.values[at] ? value_text(*row.values[at], row.unit) : "-");
      if (!row.why[at]) continue;
      const std::string note =
          fmt::format("{}: {}", static_cast<char>('A' + at), row.why[at]->text);
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
    table.add(std::move(cells));
  }
  text += "\n" + table.text();
  for (const std::string& note : notes) text += "\n" + note + "\n";
  text += communication_text(beside);
  text += published_text(beside);
  return text + causes_text(beside, true) + causes_text(beside, false);
}

std::string text_of(const Techniques& techniques) {
  Table table({"alone", ">memory", "fits", ">sent", ">step", ">exposed", ">bubble", ">efficiency"});
  std::string cuts, refusals;
  for (const Technique& row : techniques.rows) {
    cuts += wrapped(row.title.text + ": " + row.cut.text, 100, 2) + "\n";
    if (!row.figures) {
      table.add({row.title.text, "-", "-", "-", "-", "-", "-", "-"});
      refusals += wrapped(row.title.text + ": " + row.refused->text, 100, 2) + "\n";
      continue;
    }
    const TechniqueFigures& of = *row.figures;
    table.add({row.title.text, bytes_text(static_cast<double>(of.memory_bytes)),
               of.fits ? "yes" : "no", bytes_text(static_cast<double>(of.sent_bytes)),
               seconds_text(of.seconds), seconds_text(of.exposed_seconds),
               row.setup.mesh.pp > 1 ? percent_text(of.bubble) : "-", percent_text(of.efficiency)});
  }
  return fmt::format(
             "Each technique alone on {} devices, {} sequences a step (predicted). Memory is of "
             "the "
             "fullest\ndevice, sent what the busiest rank sends in a step; efficiency is what each "
             "device does, as share\nof what one with room for all would do, which takes {} a "
             "step.\n\n",
             techniques.ranks, techniques.global_batch, seconds_text(techniques.one_seconds)) +
         table.text() + (refusals.empty() ? "" : "\n" + refusals) + "\n" + cuts;
}

Outcome compare_techniques(const SetupOptions& setup, bool json) {
  const Result<Situation> situation = setup.situation();
  if (!situation) return Outcome::invalid(situation.error());
  const Result<Techniques> techniques =
      techniques_of(situation->asked, situation->machine, situation->asked.mesh.ranks());
  if (!techniques) return Outcome::invalid(techniques.error());
  return Outcome::done(json ? json_text(to_json(*techniques)) : text_of(*techniques));
}

}  // namespace

void add_compare(Commands& commands) {
  CLI::App* command = commands.add(
      "compare", "set setups, runs and cases side by side and say why they differ",
      "  parallelarium-engine compare plan-1.json plan-2.json\n"
      "  parallelarium-engine compare plan.json run.json --json\n"
      "  parallelarium-engine compare korthikanti-2022-table-5/1 korthikanti-2022-table-5/2\n"
      "  parallelarium-engine compare --techniques --model llama3-8b --machine dgx-h100 --dp 8\n");
  struct Options {
    std::vector<std::string> names;
    SetupOptions setup;
    bool techniques = false, json = false;
  };
  auto options = std::make_shared<Options>();
  command
      ->add_option("columns", options->names,
                   "two or more of: a Setup's file, what run --json printed, a document (the last "
                   "run of its Setup, "
                   "if it keeps one), a case as NAME/ROW")
      ->option_text("A B ...");
  command->add_flag("--techniques", options->techniques,
                    "in place of columns: DP, ZeRO, TP, SP, CP, PP and EP, each alone over the "
                    "ranks of one Setup, with its batch");
  command->add_flag("--json", options->json, "print JSON");
  options->setup.add_to(*command);
  commands.set_body(command, [options](Progress&) {
    constexpr std::size_t kMostColumns = 26;
    const bool of_one = options->setup.overrides() || !options->setup.file().empty();
    if (options->techniques ? !options->names.empty() : of_one)
      return Outcome::invalid(message(
          "compare-techniques",
          "compare takes columns, or --techniques and the options of one Setup, not both."));
    if (options->techniques) return compare_techniques(options->setup, options->json);
    if (options->names.size() < 2 || options->names.size() > kMostColumns)
      return Outcome::invalid(message("compare-count",
                                      "compare sets 2 to {} columns side by side: files of Setups "
                                      "or runs, or cases as NAME/ROW.",
                                      kMostColumns));
    std::vector<Column> columns;
    for (const std::string& name : options->names) {
      Result<Column> column = column_from(name);
      if (!column) return Outcome::invalid(column.error());
      columns.push_back(std::move(*column));
    }
    const SideBySide beside = compare_columns(std::move(columns));
    return Outcome::done(options->json ? json_text(to_json(beside)) : text_of(beside));
  });
}

}  // namespace parallelarium

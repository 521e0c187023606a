// SPDX-License-Identifier: Apache-2.0
// What a report is written to: JSON and CSV.
#include <map>
#include <nlohmann/json.hpp>

#include "engine/lesson/teaching/grading/report.h"

namespace parallelarium {

namespace {

using nlohmann::json;

json step_json(const HandInStep& step) {
  json object = {
      {"step", step.step},         {"kind", name_of(step.kind)}, {"judged", step.judged},
      {"right", step.right},       {"claimed", step.claimed},    {"answer", step.answer},
      {"attempts", step.attempts}, {"hints", step.hints},        {"answered", step.answered}};
  if (!step.parts.empty()) {
    json parts = json::object();
    for (const HandInPart& part : step.parts) parts[part.id] = part.right;
    object["parts"] = std::move(parts);
  }
  if (!step.mistake.empty()) object["mistake"] = step.mistake;
  if (step.rerun)
    object["rerun"] = {{"verdict", name_of(step.rerun->verdict)},
                       {"difference", step.rerun->difference},
                       {"sentence", step.rerun->words.text}};
  return object;
}

// A field of a CSV file (RFC 4180). Spreadsheets would take a text that begins with = for a
// formula.
std::string csv_field(std::string text) {
  if (!text.empty() && std::string("=+-@").find(text[0]) != std::string::npos) text = "'" + text;
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text)
    quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return quoted + '"';
}

// What the engine gives for a step, and what is left to the teacher; empty without a rubric.
std::string points_columns(const HandIn& hand_in, const std::string& step) {
  if (hand_in.points.empty()) return ",";
  double given = 0;
  int to_give = 0;
  for (const HandInPoints& row : hand_in.points) {
    if (row.step != step) continue;
    given += row.points.value_or(0);
    to_give += row.points ? 0 : row.most;
  }
  return fmt::format("{:.3g},{}", given, to_give);
}

}  // namespace

json to_json(const ClassReport& report) {
  json files = json::array(), equal = json::array(), common = json::array();
  for (const HandIn& hand_in : report.hand_ins) {
    json steps = json::array(), faults = json::array(), points = json::array();
    for (const HandInPoints& row : hand_in.points)
      points.push_back({{"step", row.step},
                        {"row", row.id},
                        {"most", row.most},
                        {"points", row.points ? json(*row.points) : json()}});
    for (const HandInStep& step : hand_in.steps) steps.push_back(step_json(step));
    for (const Message& fault : hand_in.faults) faults.push_back(fault.text);
    files.push_back({{"file", hand_in.file},
                     {"name", hand_in.name},
                     {"lesson", hand_in.lesson},
                     {"version", hand_in.version},
                     {"seed", hand_in.seed},
                     {"minutes", hand_in.minutes},
                     {"exam", hand_in.exam},
                     {"rerun", hand_in.rerun() ? json(name_of(*hand_in.rerun())) : json()},
                     {"asked", hand_in.asked()},
                     {"right", hand_in.right()},
                     {"unanswered", hand_in.unanswered()},
                     {"steps", std::move(steps)},
                     {"points", std::move(points)},
                     {"faults", std::move(faults)}});
  }
  for (const auto& [first, second] : report.equal) equal.push_back({first, second});
  for (const WrongAnswer& answer : report.common)
    common.push_back({{"lesson", answer.lesson},
                      {"step", answer.step},
                      {"answer", answer.answer},
                      {"count", answer.count}});
  return {{"files", std::move(files)}, {"equal", std::move(equal)}, {"common", std::move(common)}};
}

std::string to_csv(const ClassReport& report) {
  std::string text =
      "file,name,lesson,seed,step,kind,right,claimed,attempts,hints,answer,mistake,"
      "exam,rerun,equal_to,answered,points,to_give,faults\n";
  std::map<std::string, std::string> equal_to;
  for (const auto& [first, second] : report.equal) equal_to[second] = first;
  for (const HandIn& hand_in : report.hand_ins) {
    std::string faults;
    for (const Message& fault : hand_in.faults) faults += (faults.empty() ? "" : " ") + fault.text;
    const std::string head =
        fmt::format("{},{},{},{}", csv_field(hand_in.file), csv_field(hand_in.name),
                    csv_field(hand_in.lesson), hand_in.seed);
    const std::string tail = csv_field(faults) + '\n';
    if (hand_in.steps.empty())
      text += fmt::format("{},,,,,,,,,{},,,,,,{}", head, hand_in.exam ? "yes" : "no", tail);
    for (const HandInStep& step : hand_in.steps)
      text += fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", head, step.step, name_of(step.kind),
          step.judged ? step.right ? "yes" : "no" : "", step.claimed ? "yes" : "no", step.attempts,
          step.hints, csv_field(step.answer), step.mistake, hand_in.exam ? "yes" : "no",
          step.rerun ? name_of(step.rerun->verdict) : "", csv_field(equal_to[hand_in.file]),
          step.kind == StepKind::kRead ? ""
          : step.answered              ? "yes"
                                       : "no",
          points_columns(hand_in, step.step), tail);
  }
  return text;
}

}  // namespace parallelarium

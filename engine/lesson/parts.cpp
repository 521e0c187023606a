// SPDX-License-Identifier: Apache-2.0
// Questions of several parts: what is right for each, and answers as they are kept.
#include <algorithm>

#include "engine/lesson/lesson.h"
#include "engine/lesson/play.h"
#include "engine/predict/cases/figure_at.h"

namespace parallelarium {

namespace {

using nlohmann::json;

// The axes by what rank 0 sends, most first: 1 TP, 2 PP, 3 DP, 0 none.
void add_axes(Symbols& symbols, const json& predicted) {
  std::vector<std::pair<double, double>> sent;
  double axis = 0;
  for (const char* key :
       {"traffic.tp.sent_bytes", "traffic.pp.sent_bytes", "traffic.dp.sent_bytes"}) {
    const std::optional<double> bytes = figure_at(predicted, key);
    ++axis;
    sent.emplace_back(bytes.value_or(0), axis);
  }
  std::stable_sort(sent.begin(), sent.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  const char* names[] = {"first_axis", "second_axis", "third_axis"};
  for (std::size_t place = 0; place < sent.size(); ++place)
    symbols[names[place]] = sent[place].first > 0 ? sent[place].second : 0;
}

}  // namespace

Result<double> value_of_part(const QuestionPart& part, const Context& context) {
  Symbols symbols = context.symbols();
  if (!part.ask.metric.empty())
    if (const auto figure = context.predicted_figure(part.ask.metric))
      symbols["predicted"] = *figure;
  return evaluate(part.ask.answer, symbols);
}

Result<std::string> option_of_part(const QuestionPart& part, const Context& context) {
  if (!part.option.starts_with('=')) return part.option;
  Symbols symbols = context.symbols();
  if (const json& predicted = context.predicted.json(); !predicted.is_null())
    add_axes(symbols, predicted);
  return picked(part.option, symbols);
}

json to_json(const std::map<std::string, PartAnswer>& parts) {
  json object = json::object();
  for (const auto& [id, part] : parts)
    object[id] = part.number ? json(*part.number) : json(part.option);
  return object;
}

std::map<std::string, PartAnswer> parts_from_json(const json& object) {
  std::map<std::string, PartAnswer> parts;
  if (!object.is_object()) return parts;
  for (const auto& member : object.items()) {
    if (member.value().is_number()) parts[member.key()].number = member.value().get<double>();
    if (member.value().is_string()) parts[member.key()].option = member.value().get<std::string>();
  }
  return parts;
}

}  // namespace parallelarium

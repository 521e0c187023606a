// SPDX-License-Identifier: Apache-2.0
// A question's answer is an expression that its author wrote once; the last hint often writes the
// same down in figures, for people. Two tellings of one thing find each other's slips.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/lesson/check/check_parts.h"
#include "engine/lesson/text/expression.h"

namespace parallelarium {
namespace {

constexpr double kRounded = 0.03;  // figures in texts have three digits, and there are several

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// "10²³" as "10^23".
void write_powers(std::string& text) {
  constexpr std::array<std::string_view, 10> kRaised = {"⁰", "¹", "²", "³", "⁴",
                                                        "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string plain;
  bool raised = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto digit = std::find_if(kRaised.begin(), kRaised.end(), [&](std::string_view one) {
      return text.compare(at, one.size(), one) == 0;
    });
    if (digit == kRaised.end()) {
      plain += text[at++];
      raised = false;
      continue;
    }
    if (!raised) plain += '^';
    raised = true;
    plain += static_cast<char>('0' + (digit - kRaised.begin()));
    at += digit->size();
  }
  text = plain;
}

// The answer in the unit that people write it in: a hint may count in GB/s or MiB what is judged in
// bytes.
double in_units_of(double told, double right, std::string_view unit) {
  if (unit == "1" || unit == "share" || told == 0) return right;
  for (const double base : {1000.0, 1024.0})
    for (double scale = 1; scale <= std::pow(base, 4); scale *= base)
      for (const double scaled : {right / scale, right * scale})
        if (std::abs(told - scaled) <= kRounded * std::abs(scaled)) return scaled;
  return right;
}

}  // namespace

std::optional<double> arithmetic_of(std::string text) {
  replace_all(text, "×", "*");
  replace_all(text, "÷", "/");
  replace_all(text, "−", "-");
  write_powers(text);
  while (!text.empty() && (text.back() == '.' || text.back() == '\n' || text.back() == ' '))
    text.pop_back();
  if (text.find_first_not_of("0123456789.+-*/^() ") != std::string::npos) return std::nullopt;
  if (text.find_first_of("+-*/^") == std::string::npos) return std::nullopt;  // a number alone
  const Result<double> value = evaluate(text, {});
  return value ? std::optional(*value) : std::nullopt;
}

void check_hint(const Step& step, const StepText& words, const Symbols& names,
                const std::string& where, Faults& faults) {
  const auto answer = names.find("answer");
  if (!step.ask || step.hints < 1 || answer == names.end()) return;
  const std::string part = fmt::format("hint {}", step.hints);
  const Result<std::string> shown = fill_in(words.part(part), names);
  const std::optional<double> told = shown ? arithmetic_of(*shown) : std::nullopt;
  if (!told) return;
  const double right = in_units_of(*told, answer->second, step.ask->unit);
  const double room = std::max(step.ask->tolerance.around(right), kRounded * std::abs(right));
  if (std::abs(*told - right) > room)
    faults.add(
        message("text-hint", "The last hint, \"{}\", comes to {}, and the answer is {}.", *shown,
                figure(fmt::format("{:.4g}", *told)), figure(fmt::format("{:.4g}", right))),
        where, part);
}

}  // namespace parallelarium

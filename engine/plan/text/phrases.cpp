// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/text/phrases.h"

namespace parallelarium {

namespace {

std::string all_but_last(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words.begin(), words.end() - 1, ", "));
}

}  // namespace

Message join_or(const std::vector<std::string>& words) {
  if (words.size() < 2) return plain(words.empty() ? "" : words.front());
  return message("join-or", "{} or {}", all_but_last(words), words.back());
}

Message join_and(const std::vector<std::string>& words) {
  if (words.size() < 2) return plain(words.empty() ? "" : words.front());
  return message("join-and", "{} and {}", all_but_last(words), words.back());
}

Message counted_ranks(int count) {
  return count == 1 ? message("one-rank", "1 rank") : message("ranks", "{} ranks", count);
}

Message counted_cores(int count) {
  return count == 1 ? message("one-core", "1 core") : message("cores", "{} cores", count);
}

Message counted_gpus(int count) {
  return count == 1 ? message("one-gpu", "1 GPU") : message("gpus", "{} GPUs", count);
}

Message clause(Message sentence) {
  if (!sentence.text.ends_with('.')) return sentence;
  Message part = plain(sentence.text);
  while (part.text.ends_with('.')) part.text.pop_back();
  if (sentence == plain(sentence.text)) return part;
  part.id = part.kind = "clause";
  part.arguments = {std::move(sentence)};
  return part;
}

// Splits the list by halves, so that a long one is not nested deeply.
Message listed(const std::vector<Message>& phrases) {
  if (phrases.empty()) return plain("");
  if (phrases.size() == 1) return phrases.front();
  const auto half = phrases.begin() + static_cast<std::ptrdiff_t>(phrases.size() / 2);
  return message("list", "{}, {}", listed({phrases.begin(), half}), listed({half, phrases.end()}));
}

Message of_settings(const std::string& english) {
  Message words = plain(english.substr(0, english.find(" (")));
  words.id = "settings";
  words.arguments = {plain(english)};
  return words;
}

Message ten_digits(double value) { return figure(fmt::format("{:.10g}", value)); }
Message seven_digits(double value) { return figure(fmt::format("{:.7g}", value)); }

Message entry(std::string_view family, std::string_view key, std::string english) {
  Message result = plain(std::move(english));
  result.id = fmt::format("{}:{}", family, key);
  return result;
}

Message word(std::string_view family, std::string_view name) {
  return entry(family, name, std::string(name));
}

}  // namespace parallelarium

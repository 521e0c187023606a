// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/leak.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace parallelarium {

namespace {

constexpr std::size_t kLeastDigits = 3;

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_letter(char letter) {
  return std::isalpha(static_cast<unsigned char>(letter)) != 0 ||
         static_cast<unsigned char>(letter) >= 0x80;
}

// Spaces of any width as plain ones, and Greek mu as the sign of micro.
std::string plainly(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kSame = {
      {{"\u00a0", " "}, {"\u202f", " "}, {"\u03bc", "\u00b5"}}};
  std::string plain(text);
  for (const auto& [from, to] : kSame)
    for (std::size_t at = 0; (at = plain.find(from, at)) != std::string::npos; at += to.size())
      plain.replace(at, from.size(), to);
  return plain;
}

// A number as it is written.
struct Written {
  double value = 0, step = 1;  // `step`: one of its last digit
  std::size_t digits = 0;      // from the first that is not 0
};

// `token` with `decimal` before its decimals, if it may be read so: the other sign then parts
// groups of three.
std::optional<Written> read_with(std::string_view token, char decimal) {
  const char group = decimal == '.' ? ',' : '.';
  const std::size_t point = token.find(decimal);
  const std::string_view whole = token.substr(0, point);
  std::string digits;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    if (is_digit(whole[at])) {
      digits += whole[at];
      continue;
    }
    const std::size_t next = std::min(whole.find(group, at + 1), whole.size());
    if (whole[at] != group || at == 0 || next - at != 4) return std::nullopt;
  }
  Written number;
  if (point != std::string_view::npos) {
    const std::string_view decimals = token.substr(point + 1);
    if (decimals.empty() || !std::all_of(decimals.begin(), decimals.end(), is_digit))
      return std::nullopt;
    number.step = std::pow(10.0, -static_cast<double>(decimals.size()));
    digits += decimals;
  }
  const std::size_t first = digits.find_first_not_of('0');
  number.digits = first == std::string::npos ? 0 : digits.size() - first;
  double all = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), all);
  number.value = all * number.step;
  return number;
}

bool same(const Written& number, double size, double answer) {
  return std::abs(number.value * size - answer) <= 0.5 * number.step * size * (1 + 1e-9);
}

std::string_view without_spaces(std::string_view rest) {
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  return rest;
}

// Whether the name stands at the begin of `rest`, perhaps behind a space, and ends there.
bool begins_with(std::string_view rest, std::string_view name) {
  rest = without_spaces(rest);
  if (!rest.starts_with(name)) return false;
  rest.remove_prefix(name.size());
  return rest.empty() || !(is_letter(rest.front()) || rest.front() == '/');
}

bool is_sign(char letter) { return letter == '.' || letter == ','; }

// Where the number that begins at `at` ends: its digits with the signs between them.
std::size_t end_of_number(std::string_view text, std::size_t at) {
  while (at < text.size() && (is_digit(text[at]) || (is_sign(text[at]) && at + 1 < text.size() &&
                                                     is_digit(text[at + 1]))))
    ++at;
  return at;
}

// A time in two parts or more, as "1 min 20 s" and "2 h 5 min", of which `number` is the first and
// `rest` what follows it. It has few digits at times, but does not stand there by chance.
bool is_time_in_parts(Written number, std::string_view rest, char decimal, double answer) {
  double sum = 0, size = 0;
  for (int parts = 0;; ++parts) {
    const auto unit =
        std::find_if(kTimeUnits.begin(), kTimeUnits.end(),
                     [&](const TypedUnit& each) { return begins_with(rest, each.name); });
    if (unit == kTimeUnits.end() || (parts > 0 && unit->size >= size)) return false;
    size = unit->size;
    sum += number.value * size;
    rest = without_spaces(without_spaces(rest).substr(std::string_view(unit->name).size()));
    const std::size_t end = end_of_number(rest, 0);
    const std::optional<Written> next =
        end > 0 ? read_with(rest.substr(0, end), decimal) : std::nullopt;
    if (parts > 0 && same({sum / size, number.step, 0}, size, answer)) return true;
    if (!next) return false;
    number = *next;
    rest.remove_prefix(end);
  }
}

bool is_answer(const Written& number, std::string_view rest, double answer, std::string_view unit,
               std::string_view counted) {
  const std::vector<TypedUnit>& units = typed_units(unit);
  if (units.empty() && answer == std::round(answer))
    return !counted.empty() && number.value == answer && begins_with(rest, counted);
  if (number.digits < kLeastDigits) return false;
  if (units.empty()) {  // a quantity of another kind is not meant
    for (const char* kind : {"share", "seconds", "bytes", "bytes_per_second"})
      for (const TypedUnit& each : typed_units(kind))
        if (counted != each.name && begins_with(rest, each.name)) return false;
    return same(number, 1, answer);
  }
  return std::any_of(units.begin(), units.end(),
                     [&](const TypedUnit& each) {
                       return begins_with(rest, each.name) && same(number, each.size, answer);
                     }) ||
         (unit == "bytes" && begins_with(rest, "bytes") && same(number, 1, answer));
}

// Numbers, names and signs, without those of multiplication, which texts leave out.
std::vector<std::string> tokens_of(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kSigns = {
      {{"\u2212", "-"}, {"\u00f7", "/"}, {"\u00d7", " "}, {"\u00b7", " "}}};
  std::string plain = plainly(text);
  for (const auto& [from, to] : kSigns)
    for (std::size_t at = 0; (at = plain.find(from, at)) != std::string::npos; at += to.size())
      plain.replace(at, from.size(), to);
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < plain.size();) {
    std::size_t end = at + 1;
    if (is_letter(plain[at]) || plain[at] == '_') {
      while (end < plain.size() &&
             (is_letter(plain[end]) || is_digit(plain[end]) || plain[end] == '_'))
        ++end;
    } else if (is_digit(plain[at])) {
      while (end < plain.size() &&
             (is_digit(plain[end]) ||
              (plain[end] == '.' && end + 1 < plain.size() && is_digit(plain[end + 1]))))
        ++end;
    }
    if (plain[at] != '*' && std::isspace(static_cast<unsigned char>(plain[at])) == 0)
      tokens.push_back(plain.substr(at, end - at));
    at = end;
  }
  return tokens;
}

}  // namespace

const std::vector<TypedUnit>& typed_units(std::string_view unit) {
  static const std::vector<TypedUnit> kShare = {{"%", 0.01}};
  static const std::vector<TypedUnit> kSeconds(kTimeUnits.begin(), kTimeUnits.end());
  static const std::vector<TypedUnit> kBytes = {
      {"MiB", 1 << 20}, {"B", 1},    {"KiB", 1 << 10},
      {"GiB", 1 << 30}, {"kB", 1e3}, {"KB", 1e3},
      {"MB", 1e6},      {"GB", 1e9}, {"TiB", 1024.0 * (1 << 30)},
      {"TB", 1e12}};
  static const std::vector<TypedUnit> kRates = {
      {"GB/s", 1e9},  {"B/s", 1},         {"kB/s", 1e3},      {"MB/s", 1e6},
      {"TB/s", 1e12}, {"KiB/s", 1 << 10}, {"MiB/s", 1 << 20}, {"GiB/s", 1 << 30}};
  static const std::vector<TypedUnit> kNone;
  return unit == "share"              ? kShare
         : unit == "seconds"          ? kSeconds
         : unit == "bytes"            ? kBytes
         : unit == "bytes_per_second" ? kRates
                                      : kNone;
}

bool tells_number(std::string_view text, double answer, std::string_view unit,
                  std::string_view counted) {
  const std::string plain = plainly(text);
  const std::string_view all = plain;
  for (std::size_t at = 0; at < all.size();) {
    if (!is_digit(all[at])) {
      ++at;
      continue;
    }
    const std::size_t end = end_of_number(all, at);
    const std::string_view token = all.substr(at, end - at), rest = all.substr(end);
    // A digit of a name, as in GPT-3 or T5, is no number.
    if (at == 0 || !(is_letter(all[at - 1]) || is_sign(all[at - 1])))
      for (const char decimal : {'.', ','})
        if (const auto number = read_with(token, decimal);
            number && (is_answer(*number, rest, answer, unit, counted) ||
                       (unit == "seconds" && is_time_in_parts(*number, rest, decimal, answer))))
          return true;
    at = end;
  }
  return false;
}

bool tells_formula(std::string_view text, std::string_view expression) {
  const std::vector<std::string> formula = tokens_of(expression);
  const bool has_name = std::any_of(formula.begin(), formula.end(), [](const std::string& token) {
    return is_letter(token.front());
  });
  if (!has_name || formula.size() < 2) return false;
  const std::vector<std::string> all = tokens_of(text);
  // A factor or a fraction of something else, as 2 (n - 1) in 2 (n - 1) / n, is another formula.
  const auto goes_on = [](const std::string& token) {
    return token == "/" || token == "^" || is_digit(token.front()) ||
           (is_letter(token.front()) &&
            (token.size() == 1 ||
             (token.size() == 2 && static_cast<unsigned char>(token[0]) >= 0x80)));
  };
  for (auto at = all.begin(); at != all.end(); ++at) {
    at = std::search(at, all.end(), formula.begin(), formula.end());
    if (at == all.end()) return false;
    const auto end = at + static_cast<std::ptrdiff_t>(formula.size());
    if ((at == all.begin() || !goes_on(*(at - 1))) && (end == all.end() || !goes_on(*end)))
      return true;
  }
  return false;
}

bool hides_formulas(const std::vector<std::string>& keys, std::string_view kind) {
  const std::string group(kind.substr(0, kind.find('.')));
  return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
    return key == group || key.starts_with(group + ".") || key == "formulas" ||
           key == "lane.predicted";
  });
}

}  // namespace parallelarium

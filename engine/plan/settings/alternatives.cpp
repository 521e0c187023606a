// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/settings/alternatives.h"

#include <algorithm>
#include <cassert>

namespace parallelarium {

std::vector<std::int64_t> divisors_near(std::int64_t number, std::int64_t wanted, std::int64_t most,
                                        std::size_t count) {
  assert(number >= 1);
  std::vector<std::int64_t> found;
  for (std::int64_t small = 1; small <= number / small; ++small) {
    if (number % small != 0) continue;
    if (small <= most) found.push_back(small);
    const std::int64_t large = number / small;
    if (large != small && large <= most) found.push_back(large);
  }
  // Near in ratio: of 6, both 3 and 12 are as far.
  const double target = static_cast<double>(std::max<std::int64_t>(1, wanted));
  const auto distance = [&](std::int64_t value) {
    const double ratio = static_cast<double>(value) / target;
    return ratio < 1 ? 1 / ratio : ratio;
  };
  std::stable_sort(found.begin(), found.end(), [&](std::int64_t a, std::int64_t b) {
    return distance(a) != distance(b) ? distance(a) < distance(b) : a < b;
  });
  if (found.size() > count) found.resize(count);
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> as_text(const std::vector<std::int64_t>& values) {
  std::vector<std::string> words;
  for (const std::int64_t value : values) words.push_back(std::to_string(value));
  return words;
}

namespace {

constexpr std::size_t kMostShown = 60;  // bytes of a stranger's word

// Bytes of the UTF-8 character at `at`, or 0 where there is none.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[at + k]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k)
    if ((byte(k) & 0xC0) != 0x80) return 0;
  const unsigned char second = byte(1);  // overlong forms, surrogates, beyond U+10FFFF
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
      (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F))
    return 0;
  return length;
}

// Letters to change, drop or add to make one word of another.
std::size_t letters_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string shown(std::string_view word) {
  std::string text;
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t length = utf8_length(word, at);
    if (text.size() + length > kMostShown) return text + "...";
    const bool printable = length > 1 || (length == 1 && word[at] >= 32 && word[at] != 127);
    text += printable ? word.substr(at, length) : "?";
    at += std::max<std::size_t>(1, length);
  }
  return text;
}

Message refuse(Message why, std::string field, std::vector<std::string> alternatives) {
  why.field = std::move(field);
  why.alternatives = std::move(alternatives);
  return why;
}

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
  std::string best;
  if (word.size() > kMostShown) return best;  // no typing error
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& name : names) {
    const std::size_t of_name = letters_between(word, name);
    if (of_name < least) {
      least = of_name;
      best = name;
    }
  }
  return best;
}

}  // namespace parallelarium

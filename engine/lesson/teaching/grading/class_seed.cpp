// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/teaching/grading/class_seed.h"

#include <algorithm>

namespace parallelarium {

namespace {

std::string_view without_space_around(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

char small_letter(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
}

}  // namespace

std::uint64_t class_seed(std::string_view code, std::string_view name, std::string_view lesson) {
  // FNV-1a (Fowler, Noll, Vo: 64 bits).
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto take = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (const std::string_view text :
       {without_space_around(code), without_space_around(name), lesson}) {
    for (const char letter : text) take(static_cast<unsigned char>(small_letter(letter)));
    take(0);  // "ab" with "c" is not "a" with "bc"
  }
  return hash >> 11;
}

bool says_exam(std::string_view code) {
  std::string word;
  for (const char letter : std::string(without_space_around(code)) + '-') {
    if (const char small = small_letter(letter); small >= 'a' && small <= 'z') {
      word += small;
      continue;
    }
    if (word == "exam") return true;
    word.clear();
  }
  return false;
}

std::string exam_code(std::string_view code) {
  const std::string plain(without_space_around(code));
  return says_exam(plain) ? plain : plain + "-exam";
}

std::string practice_code(std::string_view code) {
  constexpr std::string_view kBehind = "-exam";
  std::string plain(without_space_around(code)), small = plain;
  std::transform(small.begin(), small.end(), small.begin(), small_letter);
  if (small.ends_with(kBehind)) plain.resize(plain.size() - kBehind.size());
  return plain;
}

}  // namespace parallelarium

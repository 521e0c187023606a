// SPDX-License-Identifier: Apache-2.0
#include "engine/train/data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "kernels/base/random.h"

namespace parallelarium {
namespace {

constexpr std::uintmax_t kMostBytes = 1'000'000'000;
constexpr std::int64_t kMostSections = 10;

// The first byte that is not part of well-formed UTF-8, or the size. Source: the table of
// well-formed byte sequences in the Unicode standard, section 3.9.
std::size_t first_fault(const std::string& text) {
  const auto at = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  std::size_t index = 0;
  while (index < text.size()) {
    const unsigned lead = at(index);
    if (lead < 0x80) {
      ++index;
      continue;
    }
    std::size_t more = 0;
    unsigned low = 0x80;  // bounds of the second byte: no overlong forms, no surrogates
    unsigned high = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf) {
      more = 1;
    } else if (lead >= 0xe0 && lead <= 0xef) {
      more = 2;
      if (lead == 0xe0) low = 0xa0;
      if (lead == 0xed) high = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      more = 3;
      if (lead == 0xf0) low = 0x90;
      if (lead == 0xf4) high = 0x8f;
    } else {
      return index;
    }
    if (index + more >= text.size()) return index;
    if (at(index + 1) < low || at(index + 1) > high) return index;
    for (std::size_t next = 2; next <= more; ++next)
      if (at(index + next) < 0x80 || at(index + next) > 0xbf) return index;
    index += more + 1;
  }
  return text.size();
}

}  // namespace

Text::Text(std::string bytes, std::int64_t sequence)
    : bytes_(std::move(bytes)), sequence_(sequence) {
  const auto size = static_cast<std::int64_t>(bytes_.size());
  // At least four windows in every held-out part: what remains of each is wasted.
  const std::int64_t count =
      std::clamp<std::int64_t>(size / 10 / (4 * (sequence + 1)), 1, kMostSections);
  for (std::int64_t section = 0; section < count; ++section) {
    const std::int64_t begin = size * section / count;
    const std::int64_t end = size * (section + 1) / count;
    sections_.push_back({begin, end - (end - begin) / 10, end});
  }
}

std::int64_t Text::places(const Section& section) const {
  return std::max<std::int64_t>(section.held_out - section.begin - sequence_, 0);
}

std::int64_t Text::windows(const Section& section) const {
  return std::max<std::int64_t>(section.end - section.held_out - 1, 0) / sequence_;
}

Result<Text> Text::load(const std::string& source, std::int64_t sequence) {
  if (source == "default") return from_bytes(default_text(), source, sequence);
  const auto unreadable = [&] {
    return message("text-unreadable",
                   "The text file {} cannot be read; choose a readable file, or \"default\".",
                   source);
  };
  std::error_code error;
  const std::filesystem::path path(source);
  if (!std::filesystem::is_regular_file(path, error)) return unreadable();
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return unreadable();
  if (size > kMostBytes)
    return message("text-large", "The text file {} has {} MB; at most {} MB can be trained on.",
                   source, size / 1'000'000, kMostBytes / 1'000'000);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file || !file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    return unreadable();
  return from_bytes(std::move(bytes), source, sequence);
}

Result<Text> Text::from_bytes(std::string bytes, const std::string& name, std::int64_t sequence) {
  const std::size_t fault = first_fault(bytes);
  if (fault < bytes.size())
    return message("text-not-utf8",
                   "The text file {} is not UTF-8 at byte {}; save it as UTF-8, or choose another.",
                   name, fault);
  Text text(std::move(bytes), sequence);
  if (text.held_out_bytes() <= sequence)
    return message("text-short",
                   "The text file {} has {} bytes; a sequence of {} needs at least {}, because a "
                   "tenth is held out.",
                   name, text.bytes_.size(), sequence, 10 * (sequence + 1));
  return text;
}

std::int64_t Text::held_out_bytes() const {
  std::int64_t bytes = 0;
  for (const Section& section : sections_) bytes += section.end - section.held_out;
  return bytes;
}

std::int64_t Text::training_bytes() const {
  return static_cast<std::int64_t>(bytes_.size()) - held_out_bytes();
}

Text::Sequence Text::window(std::int64_t begin) const {
  const auto byte = [&](std::int64_t at) {
    return static_cast<std::int32_t>(
        static_cast<unsigned char>(bytes_[static_cast<std::size_t>(at)]));
  };
  Sequence sequence;
  sequence.tokens.resize(static_cast<std::size_t>(sequence_));
  sequence.targets.resize(static_cast<std::size_t>(sequence_));
  for (std::int64_t t = 0; t < sequence_; ++t) {
    sequence.tokens[static_cast<std::size_t>(t)] = byte(begin + t);
    sequence.targets[static_cast<std::size_t>(t)] = byte(begin + t + 1);
  }
  return sequence;
}

Text::Sequence Text::sequence(std::uint64_t seed, std::int64_t step, std::int64_t index) const {
  std::int64_t all = 0;
  for (const Section& section : sections_) all += places(section);
  const std::uint64_t key =
      random_key({seed, static_cast<std::uint64_t>(step), static_cast<std::uint64_t>(index)});
  auto place =
      static_cast<std::int64_t>(random_below(random_bits(key, 0), static_cast<std::uint64_t>(all)));
  std::size_t at = 0;
  for (; place >= places(sections_[at]); ++at) place -= places(sections_[at]);
  return window(sections_[at].begin + place);
}

std::int64_t Text::held_out_count() const {
  std::int64_t count = 0;
  for (const Section& section : sections_) count += windows(section);
  return count;
}

Text::Sequence Text::held_out(std::int64_t index) const {
  std::size_t at = 0;
  for (; index >= windows(sections_[at]); ++at) index -= windows(sections_[at]);
  return window(sections_[at].held_out + index * sequence_);
}

double Text::unigram_entropy() const {
  std::array<std::int64_t, 256> counts{};
  for (const char character : bytes_) ++counts[static_cast<unsigned char>(character)];
  double entropy = 0;
  for (const std::int64_t count : counts) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / static_cast<double>(bytes_.size());
    entropy -= share * std::log(share);
  }
  return entropy;
}

}  // namespace parallelarium

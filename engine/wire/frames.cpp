// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "engine/wire/messages.h"

namespace parallelarium {
namespace {

constexpr std::size_t kMostHeaderBytes = 4096;
constexpr std::string_view kHeaderEnd = "\r\n\r\n";
constexpr std::string_view kLength = "content-length:";

// Copying and writing JSON recurse, so a body of a million brackets must not get that far.
bool too_deep(std::string_view body) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < body.size(); ++at) {
    const char c = body[at];
    if (in_string) {
      if (c == '\\') {
        ++at;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMostMessageDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The length that the header lines give. Other header fields are allowed, as in the Language Server
// Protocol.
Result<std::size_t> length_of(std::string_view header) {
  std::optional<std::size_t> length;
  while (!header.empty()) {
    const std::size_t end = std::min(header.find("\r\n"), header.size());
    const std::string_view line = header.substr(0, end);
    header.remove_prefix(std::min(end + 2, header.size()));
    if (line.find(':') == std::string_view::npos)
      return message("wire-header", "A protocol header line has no colon.");
    if (line.size() < kLength.size() ||
        !std::equal(kLength.begin(), kLength.end(), line.begin(),
                    [](char expected, char c) { return expected == lower(c); }))
      continue;
    const std::string_view digits = trimmed(line.substr(kLength.size()));
    std::size_t value = 0;
    const auto [stop, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (fault != std::errc{} || stop != digits.data() + digits.size())
      return message("wire-length", "Content-Length of a protocol message is not a whole number.");
    if (length && *length != value)
      return message("wire-length-twice", "A protocol message gives two Content-Lengths.");
    length = value;
  }
  if (!length) return message("wire-no-length", "A protocol message has no Content-Length.");
  if (*length > kMostMessageBytes)
    return message("wire-too-long", "A protocol message of {} bytes is too long; {} are allowed.",
                   *length, kMostMessageBytes);
  return *length;
}

}  // namespace

std::string frame(const nlohmann::json& message) {
  const std::string body = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
}

void FrameReader::append(std::string_view bytes) {
  if (failure_) return;
  if (begin_ > 0 && begin_ >= pending_.size() / 2) {
    pending_.erase(0, begin_);
    begin_ = 0;
  }
  pending_.append(bytes);
}

Result<std::optional<nlohmann::json>> FrameReader::next() {
  const auto fail = [this](Message why) -> Result<std::optional<nlohmann::json>> {
    failure_ = std::move(why);
    pending_.clear();
    begin_ = 0;
    return *failure_;
  };
  if (failure_) return *failure_;
  const std::string_view unread = std::string_view(pending_).substr(begin_);
  const std::size_t header_end = unread.substr(0, kMostHeaderBytes).find(kHeaderEnd);
  if (header_end == std::string_view::npos) {
    if (unread.size() >= kMostHeaderBytes)
      return fail(message("wire-header-long", "A protocol header does not end within {} bytes.",
                          kMostHeaderBytes));
    return std::optional<nlohmann::json>{};
  }
  const Result<std::size_t> length = length_of(unread.substr(0, header_end));
  if (!length) return fail(length.error());
  const std::size_t body_begin = header_end + kHeaderEnd.size();
  if (unread.size() - body_begin < *length) return std::optional<nlohmann::json>{};
  const std::string_view body = unread.substr(body_begin, *length);
  begin_ += body_begin + *length;
  if (too_deep(body))
    return message("wire-too-deep", "A protocol message is nested deeper than {} levels.",
                   kMostMessageDepth);
  nlohmann::json parsed = nlohmann::json::parse(body, nullptr, false);
  if (parsed.is_discarded())
    return message("wire-not-json", "The body of a protocol message is not JSON.");
  return std::optional<nlohmann::json>{std::move(parsed)};
}

}  // namespace parallelarium

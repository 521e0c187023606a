// SPDX-License-Identifier: Apache-2.0
// Plain numbers and texts in a row, for messages between processes on computers of one kind.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace parallelarium {

class Bytes {
 public:
  template <class Plain>
  void put(const Plain& value) {
    static_assert(std::is_trivially_copyable_v<Plain>);
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_text(const std::string& value) {
    put(static_cast<std::uint64_t>(value.size()));
    text_ += value;
  }
  template <class Plain>
  void put_list(const std::vector<Plain>& values) {
    static_assert(std::is_trivially_copyable_v<Plain>);
    put(static_cast<std::uint64_t>(values.size()));
    text_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Plain));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// A missing value reads as zero or empty, and good() is false from then on.
class BytesReader {
 public:
  explicit BytesReader(const std::string& text) : text_(text) {}  // outlives the reader

  template <class Plain>
  Plain take() {
    static_assert(!std::is_same_v<Plain, bool>, "not every byte is a bool: take std::uint8_t");
    Plain value{};
    if (left() < sizeof value) {
      good_ = false;
      return value;
    }
    std::memcpy(&value, text_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string text() {
    const auto size = take<std::uint64_t>();
    if (left() < size) {
      good_ = false;
      return {};
    }
    at_ += size;
    return text_.substr(at_ - size, size);
  }
  template <class Plain>
  std::vector<Plain> list() {
    const auto count = take<std::uint64_t>();
    if (left() / sizeof(Plain) < count) {
      good_ = false;
      return {};
    }
    std::vector<Plain> values(count);
    if (count > 0) std::memcpy(values.data(), text_.data() + at_, count * sizeof(Plain));
    at_ += count * sizeof(Plain);
    return values;
  }
  bool good() const { return good_; }

 private:
  std::size_t left() const { return text_.size() - at_; }
  const std::string& text_;
  std::size_t at_ = 0;
  bool good_ = true;
};

}  // namespace parallelarium

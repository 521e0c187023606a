// SPDX-License-Identifier: Apache-2.0
// A number that follows from a stream of bytes. It shows whether two ranks hold the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace parallelarium {

// It has 64 bits and takes eight bytes at a time. Two streams of the same length that differ in one
// word always have different numbers; other streams do so except for one pair in 2^64. The reason
// is that each word takes the state through a one-to-one map (multiply by an odd number, rotate),
// as in Yann Collet's xxHash. It is no defence against somebody who wants a collision.
class Fingerprint {
 public:
  void add(const void* bytes, std::size_t count) {
    const auto* from = static_cast<const unsigned char*>(bytes);
    for (; count > 0 && filled_ > 0; --count) put(*from++);
    for (; count >= 8; count -= 8, from += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, from, 8);
      mix(word);
    }
    for (; count > 0; --count) put(*from++);
  }
  void add(std::int64_t number) { add(&number, sizeof number); }

  std::uint64_t value() const {
    Fingerprint end = *this;
    end.mix(pending_);
    end.mix(length_ * 8 + filled_);
    std::uint64_t bits = end.state_;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ULL;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBULL;
    return bits ^ (bits >> 31);
  }

 private:
  void put(unsigned char byte) {
    pending_ |= std::uint64_t{byte} << (8 * filled_);
    if (++filled_ < 8) return;
    mix(pending_);
    pending_ = 0;
    filled_ = 0;
  }
  void mix(std::uint64_t word) {
    state_ ^= word * 0x9E3779B97F4A7C15ULL;
    state_ = ((state_ << 29) | (state_ >> 35)) * 0xC2B2AE3D27D4EB4FULL;
    ++length_;
  }

  std::uint64_t state_ = 0x27D4EB2F165667C5ULL, pending_ = 0, length_ = 0;  // length in words
  unsigned filled_ = 0;                                                     // bytes of pending_
};

}  // namespace parallelarium

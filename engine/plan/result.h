// SPDX-License-Identifier: Apache-2.0
// How expected failures travel: a value, or one sentence that a student understands.
#pragma once

#include <fmt/format.h>

#include <cassert>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace parallelarium {

// One sentence for a person. `text` is the English sentence with the arguments put in; `id` and
// `arguments` let the app translate it. A sentence about a setting names its `field` by the dotted
// key of the Setup file ("mesh.tp") and values that would be valid there.
struct Message {
  std::string id;                      // "tp-heads": stable, lower case, dashes
  std::vector<std::string> arguments;  // already formatted, in the order of the {} of the sentence
  std::string text;                    // "TP 3 does not divide 8 heads; 2 or 4 would."
  std::string field;                   // "mesh.tp", or empty
  std::vector<std::string> alternatives;  // "2", "4": valid values of `field`, or empty
};

// A Message whose text is `pattern` (fmt syntax, only plain {}) with the arguments put in.
template <class... Arguments>
Message message(std::string id, std::string_view pattern, const Arguments&... arguments) {
  Message result;
  result.id = std::move(id);
  result.arguments = {fmt::format("{}", arguments)...};
  result.text = fmt::format(fmt::runtime(pattern), arguments...);
  return result;
}

// A T or the Message that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}        // NOLINT
  Result(Message error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Requires: ok().
  T& value() {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Requires: !ok().
  const Message& error() const {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Message> state_;
};

// Success, or the Message that says what went wrong.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Message error) : error_(std::move(error)), ok_(false) {}  // NOLINT

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  // Requires: !ok().
  const Message& error() const {
    assert(!ok_);
    return error_;
  }

 private:
  Message error_;
  bool ok_ = true;
};

}  // namespace parallelarium

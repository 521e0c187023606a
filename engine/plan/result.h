// SPDX-License-Identifier: Apache-2.0
// How expected failures travel: a value, or one sentence that a student understands.
#pragma once

#include <fmt/format.h>

#include <cassert>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace parallelarium {

// One sentence for a person, or a phrase inside another sentence. `text` is English. The window
// writes the same in its language from `id` and `arguments` (resources/sentences.json). A sentence
// about a setting names its `field` by the dotted key of the Setup file ("mesh.tp") and values that
// would be valid there.
struct Message {
  // The id of this sentence alone, in lower case with dashes: "tp-heads", "cuda-missing.stub". An
  // empty id is a name or a number, which is the same in every language. "figure" is a number that
  // a person reads. "clause" is its argument without a full stop. "settings" are words of the table
  // of settings.
  std::string id;
  // What went wrong, for programs; several sentences may say it. It is the id up to its dot. If a
  // sentence passes on another one, it is the kind of that one.
  std::string kind;
  std::vector<Message> arguments;         // what replaces each {} of the sentence, in order
  std::string text;                       // "TP 3 does not divide 8 heads; 2 or 4 would."
  std::string field;                      // "mesh.tp", or empty
  std::vector<std::string> alternatives;  // "2", "4": valid values of `field`, or empty
  bool operator==(const Message&) const = default;
};

// The id of a sentence. It must be a literal, since tests/sentences reads the ids from the code.
struct SentenceId {
  std::string_view text;
  consteval SentenceId(const char* id) : text(id) {}  // NOLINT
};

// An English sentence: a literal with one {} for each of `places` arguments. Any other number of {}
// does not compile.
template <std::size_t places>
struct Pattern {
  std::string_view text;
  consteval Pattern(const char* english) : text(english) {  // NOLINT
    std::size_t found = 0;
    for (std::size_t at = 0; at + 1 < text.size(); ++at)
      found += text[at] == '{' && text[at + 1] == '}' ? 1 : 0;
    if (found != places) throw "the sentence has another number of {} than there are arguments";
  }
};

// A sentence without arguments, for tables.
struct Sentence {
  SentenceId id;
  Pattern<0> english;
};

Message make_message(std::string_view id, std::string_view pattern, std::vector<Message> arguments);

// A text that is the same in every language: a name, a path, what another program said.
Message plain(std::string text);
// A number that is already text: "12.5 MiB", "0.03".
Message figure(std::string text);

template <class Argument>
Message argument_of(Argument&& argument) {
  using Plain = std::remove_cvref_t<Argument>;
  if constexpr (std::is_same_v<Plain, Message>)
    return std::forward<Argument>(argument);
  else if constexpr (std::is_floating_point_v<Plain>)
    return figure(fmt::format("{}", argument));
  else
    return plain(fmt::format("{}", argument));
}

// The sentence `id`, whose English is `pattern` with the arguments put in.
template <class... Arguments>
Message message(SentenceId id, Pattern<sizeof...(Arguments)> pattern, Arguments&&... arguments) {
  std::vector<Message> list;
  list.reserve(sizeof...(Arguments));
  (list.push_back(argument_of(std::forward<Arguments>(arguments))), ...);
  return make_message(id.text, pattern.text, std::move(list));
}
inline Message message(const Sentence& sentence) {
  return make_message(sentence.id.text, sentence.english.text, {});
}

// A T or the Message that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}        // NOLINT
  Result(Message error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // `ok()` must hold.
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

  // `ok()` must not hold.
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
  // `ok()` must not hold.
  const Message& error() const {
    assert(!ok_);
    return error_;
  }

 private:
  Message error_;
  bool ok_ = true;
};

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// A config.json of Hugging Face's transformers library, read key by key.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

// Looks keys up under the names that model families use; keeps the first error.
class HuggingFaceConfig {
 public:
  using Names = std::initializer_list<const char*>;
  static constexpr double kLargest = 1 << 24;

  // `unknown` is a model_type that no table here has, or empty.
  HuggingFaceConfig(const nlohmann::json& json, std::string unknown, std::vector<Message>& notes)
      : json_(json), unknown_(std::move(unknown)), notes_(notes) {}

  const nlohmann::json* find(Names names) const;
  // The number, or `fallback` where no name is there. Fills in no note.
  std::int64_t whole(Names names, std::int64_t fallback);
  // Fails with all of `keys` that are not there; a key may go by several names.
  void need_all(std::initializer_list<Names> keys);
  // As whole(), with a note where the fallback is taken.
  std::int64_t assumed(Names names, std::int64_t fallback);
  // Reads a number for which null means none (0). It notes where the key is missing, since the
  // file may mean another number.
  std::int64_t said(const char* name);
  bool flag(const char* name, bool fallback) const;
  // The first of the names that holds a text, or empty.
  std::string text(Names names) const;

  void note(Message message) { notes_.push_back(std::move(message)); }
  void fail(Message error);
  bool failed() const { return failed_; }
  const Message& error() const { return error_; }

 private:
  void note_assumed(const char* name, std::int64_t value);

  const nlohmann::json& json_;
  std::string unknown_;
  std::vector<Message>& notes_;
  bool failed_ = false;
  Message error_;
};

}  // namespace parallelarium

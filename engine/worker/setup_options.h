// SPDX-License-Identifier: Apache-2.0
// The options that every command about a Setup shares: --setup FILE and one per field.
#pragma once

#include <CLI/CLI.hpp>
#include <list>
#include <string>
#include <utility>

#include "engine/plan/result.h"
#include "engine/plan/setup.h"

namespace parallelarium {

class SetupOptions {
 public:
  // Requires: *this outlives the parse and does not move.
  void add_to(CLI::App& command);

  // The file's Setup (or the first lesson's) with the given fields put in, the model first; and
  // valid for prediction. Error: the one sentence to show.
  Result<Setup> resolve() const;

  const std::string& file() const { return file_; }
  bool overrides() const;  // whether any field was given besides the file

 private:
  std::string file_;
  struct Field {
    std::string option;
    std::string value;
    const CLI::Option* parsed = nullptr;
  };
  std::list<Field> fields_;
};

// "GPT tiny, 4 ranks (PP 4), 1f1b, 8 micro-batches of 1 sequence"
std::string describe(const Setup& setup);

}  // namespace parallelarium

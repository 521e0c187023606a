// SPDX-License-Identifier: Apache-2.0
// The options that every command about a Setup shares: --setup FILE and one per field.
#pragma once

#include <CLI/CLI.hpp>
#include <list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/plan/placement/resolve.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

class SetupOptions {
 public:
  // Settings by option or key, and the texts that they are set to.
  using Turned = std::vector<std::pair<std::string, std::string>>;

  // *this must outlive the parse and must not move.
  void add_to(CLI::App& command);

  // The file's Setup (or new_setup()) with the given fields put in, the model first. A document
  // whose `auto` meant something else where it was saved asks for that. Not yet validated: see
  // situation(). Error: the one sentence to show. `read_text`: where given, becomes what the file
  // holds, since a pipe can be read but once.
  Result<Setup> asked(std::string* read_text = nullptr) const;
  // What that means here; valid for prediction.
  Result<Situation> situation(std::string* read_text = nullptr) const;
  // The same with these settings turned as well, by option or key, as if they had been typed.
  // `text`: what the file holds, which the caller reads once.
  Result<Situation> situation_with(const Turned& turned, const std::string& text) const;
  // What the file holds; nothing where there is none.
  Result<std::string> file_text() const;

  // What the answer stands on though nobody said it, by key: where a model or a machine was named,
  // the least mesh, and defaults of what sizes a step; where a dense model was given experts, how
  // many a token visits and how wide they are. `read_text`: what asked() read of the file.
  nlohmann::json assumed(const std::string& read_text) const;
  // The same as a sentence with the options, empty for nothing: "Assumed, since nothing says
  // otherwise: --tp 1, --microbatches 8." Without those that are `turned` from point to point.
  std::string assumed_sentence(const std::string& read_text, const Turned& turned = {}) const;
  // Of the settings that size a step, by option, those that neither an option nor the file says.
  std::vector<std::string> unsaid(const std::string& read_text) const;
  // A sentence for each option that was typed and changes nothing of this Setup, such as --skew
  // where there are no experts.
  std::vector<Message> without_effect(const Setup& setup) const;

  const std::string& file() const { return file_; }
  bool overrides() const;  // whether any field was given besides the file
  bool typed(const std::string& option) const;

  // The sentence with options in place of the keys of a file, for who typed options, `turned` ones
  // too.
  Message as_typed(Message why, const Turned& turned = {}) const;

 private:
  // `text`: the file's, where there is one; `without`: an option that is passed over.
  Result<Setup> asked_of(const std::string& text, const Turned& turned = {},
                         std::string_view without = {}) const;

  std::string file_;
  struct Field {
    std::string option;  // "dp"
    std::string key;     // "mesh.dp"
    std::string value;
    bool is_flag = false;
    const CLI::Option* parsed = nullptr;
  };
  static const std::string* turned_to(const Field& field, const Turned& turned);  // or null
  std::list<Field> fields_;
};

// The Setup that a file holds: a Setup, a document, or what `predict --json` printed. Errors: those
// of setup_from_file(), resolved_from_json() and situation_of().
Result<Setup> setup_of_file(const std::string& text);

// A sentence about the setting `key` names it as files do ("mesh.dp"). The same sentence with the
// name that the command line has for it, "--dp". Other sentences stay as they are.
Message as_option(Message why, const std::string& key, const std::string& option);

// Of a model that there is not: the same sentence, or where `typed` is a file, which command reads
// it.
Message no_such_model(Message why, const std::string& typed);

// "--tp 1, --microbatches 8" of what SetupOptions::assumed() says; empty for nothing.
std::string assumed_text(const nlohmann::json& assumed);

// "GPT tiny, 4 ranks (PP 4), 1f1b, 8 micro-batches of 1 sequence"
std::string describe(const Setup& setup);

}  // namespace parallelarium

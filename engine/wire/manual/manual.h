// SPDX-License-Identifier: Apache-2.0
// The command line of a program as data, and the manual page and shell completions that follow from
// it. Both programs fill it from the options that they parse, so no option can be missing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

struct ManualOption {
  std::vector<std::string> names;    // "-h", "--help"
  std::string value;                 // "FILE"; empty: a switch
  std::string help;                  // one sentence
  std::vector<std::string> choices;  // values to offer; empty: files
  std::string group;                 // a named group is described once for all commands
};

// A subcommand, or the program itself.
struct ManualCommand {
  std::vector<std::string> words;    // "lesson", "check"; empty for the program itself
  std::string help;                  // one sentence
  std::string operands;              // "[NAME]"
  std::vector<std::string> choices;  // operands to offer; files are offered too
  std::vector<ManualOption> options;
  std::string examples;  // lines, printed as they are
};

struct Manual {
  std::string program;  // "parallelarium-engine"
  std::string summary;  // half a sentence, for lists of programs
  std::string about;    // paragraphs with empty lines between
  std::vector<ManualCommand>
      commands;                       // the program itself first; a command before its subcommands
  std::string exit_status;            // sentences
  std::vector<std::string> see_also;  // other programs
};

// `format`: "man" (a page of section 1), "bash", "zsh" or "fish". There must be commands.
// Error: there is no such format.
Result<std::string> manual_text(const Manual& manual, std::string_view format);

// The names to offer for an option of a Setup that takes names, such as "--model"; none for other
// options.
std::vector<std::string> setup_choices(std::string_view option);

// The parts of manual_text().
std::string manual_page(const Manual& manual);
std::string bash_completion(const Manual& manual);
std::string zsh_completion(const Manual& manual);
std::string fish_completion(const Manual& manual);

}  // namespace parallelarium

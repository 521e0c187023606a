// SPDX-License-Identifier: Apache-2.0
// Completion for bash, zsh and fish. Each script finds the command among the words so far, as
// "lesson/check", and offers that command's options, the values of the option before, or files.
#include <algorithm>
#include <set>

#include "engine/wire/manual/manual.h"

namespace parallelarium {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
  return fmt::format("{}", fmt::join(words, between));
}

// "parallelarium-engine" as a function's name.
std::string function_name(const std::string& program) {
  std::string name = "_" + program;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
}

// In single quotes, for every shell.
std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Words that may follow `command` besides its options.
std::vector<const ManualCommand*> below(const Manual& manual, const ManualCommand& command) {
  std::vector<const ManualCommand*> found;
  for (const ManualCommand& other : manual.commands)
    if (other.words.size() == command.words.size() + 1 &&
        std::equal(command.words.begin(), command.words.end(), other.words.begin()))
      found.push_back(&other);
  return found;
}

// The shell's case patterns by which a word turns one command into the next.
std::string steps(const Manual& manual) {
  std::string patterns;
  for (const ManualCommand& command : manual.commands) {
    if (command.words.empty()) continue;
    const std::vector<std::string> above(command.words.begin(), command.words.end() - 1);
    patterns += (patterns.empty() ? "" : " | ") + joined(above, "/") + "/" + command.words.back();
  }
  return patterns.empty() ? "/" : patterns;
}

}  // namespace

std::string bash_completion(const Manual& manual) {
  const std::string name = function_name(manual.program);
  std::string script = "# bash completion of " + manual.program + ", made by the program itself\n" +
                       name +
                       "() {\n"
                       "  local word command= words=\n"
                       "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
                       "    case $command/$word in\n      " +
                       steps(manual) +
                       ") command=${command:+$command/}$word ;;\n"
                       "    esac\n"
                       "  done\n"
                       "  case $command in\n";
  std::string values;
  std::set<std::string> seen;
  for (const ManualCommand& command : manual.commands) {
    std::vector<std::string> words;
    for (const ManualCommand* next : below(manual, command)) words.push_back(next->words.back());
    words.insert(words.end(), command.choices.begin(), command.choices.end());
    for (const ManualOption& option : command.options) {
      words.insert(words.end(), option.names.begin(), option.names.end());
      if (!option.value.empty() && seen.insert(option.names.back()).second)
        values += "    " + joined(option.names, " | ") +
                  ") words=" + in_quotes(joined(option.choices, " ")) + " ;;\n";
    }
    script += "    " + in_quotes(joined(command.words, "/")) +
              ") words=" + in_quotes(joined(words, " ")) + " ;;\n";
  }
  script += "  esac\n  case ${COMP_WORDS[COMP_CWORD-1]} in\n" + values +
            "  esac\n"
            "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
            "}\n"
            "complete -o default -F " +
            name + " " + manual.program + "\n";
  return script;
}

std::string zsh_completion(const Manual& manual) {
  // What _arguments reads as its own syntax inside a description.
  const auto plain = [](const std::string& text) {
    std::string out;
    for (const char c : text)
      out += (c == '[' || c == ']' || c == ':' || c == '\\' ? "\\" : "") + std::string(1, c);
    return out;
  };
  std::string script = "#compdef " + manual.program +
                       "\n# Made by the program itself.\n"
                       "local word command=\n"
                       "for word in ${words[2,CURRENT-1]}; do\n"
                       "  case $command/$word in\n    (" +
                       steps(manual) +
                       ") command=${command:+$command/}$word ;;\n"
                       "  esac\ndone\n"
                       "case $command in\n";
  for (const ManualCommand& command : manual.commands) {
    script += "  (" + in_quotes(joined(command.words, "/")) + ")\n";
    std::string next;
    for (const ManualCommand* other : below(manual, command))
      next += " " + in_quotes(plain(other->words.back()) + ":" + plain(other->help));
    if (!next.empty()) {
      script += "    local -a commands=(" + next + " )\n    _describe command commands\n";
    }
    script += "    _arguments";
    for (const ManualOption& option : command.options) {
      const std::string value = option.value.empty()     ? ""
                                : option.choices.empty() ? ":" + plain(option.value) + ":_files"
                                                         : ":" + plain(option.value) + ":(" +
                                                               joined(option.choices, " ") + ")";
      for (const std::string& name : option.names)
        script += " \\\n      " + in_quotes(name + "[" + plain(option.help) + "]" + value);
    }
    if (next.empty())
      script += " \\\n      " + in_quotes(command.choices.empty()
                                              ? "*:file:_files"
                                              : "*:name:(" + joined(command.choices, " ") + ")");
    script += "\n    ;;\n";
  }
  return script + "esac\n";
}

std::string fish_completion(const Manual& manual) {
  std::string script = "# fish completion of " + manual.program + ", made by the program itself\n";
  for (const ManualCommand& command : manual.commands) {
    const std::vector<const ManualCommand*> next = below(manual, command);
    std::string where;
    for (const std::string& word : command.words)
      where += (where.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + word);
    if (command.words.empty() && !next.empty()) where = "__fish_use_subcommand";
    const std::string line =
        "complete -c " + manual.program + (where.empty() ? "" : " -n " + in_quotes(where));
    for (const ManualCommand* other : next)
      script += line + " -f -a " + in_quotes(other->words.back()) + " -d " +
                in_quotes(other->help) + "\n";
    if (!command.choices.empty())
      script += line + " -a " + in_quotes(joined(command.choices, " ")) + "\n";
    for (const ManualOption& option : command.options) {
      script += line;
      for (const std::string& name : option.names)
        script += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.value.empty())
        script +=
            option.choices.empty() ? " -r" : " -x -a " + in_quotes(joined(option.choices, " "));
      script += " -d " + in_quotes(option.help) + "\n";
    }
  }
  return script;
}

}  // namespace parallelarium

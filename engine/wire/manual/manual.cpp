// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/manual/manual.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/plan/setup/setup_settings.h"
#include "engine/wire/version.h"

namespace parallelarium {
namespace {

// Text as groff prints it unchanged: "-" stays a hyphen-minus that can be copied, and no line
// begins a request.
std::string roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    line_begins = c == '\n';
  }
  return out;
}

// "the ranks" as a sentence: "The ranks."
std::string sentence(std::string text) {
  if (text.empty()) return text;
  if (text.front() >= 'a' && text.front() <= 'z') text.front() += 'A' - 'a';
  if (text.back() != '.') text += '.';
  return text;
}

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c + 'A' - 'a');
  return text;
}

std::string option_entry(const ManualOption& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += (names.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
  if (!option.value.empty()) names += " \\fI" + roff(option.value) + "\\fR";
  return ".TP\n" + names + "\n" + roff(sentence(option.help)) + "\n";
}

std::string paragraphs(const std::string& text) {
  std::string out;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", from), text.size());
    out += ".PP\n" + roff(text.substr(from, end - from)) + "\n";
    from = end + 2;
  }
  return out;
}

std::string as_it_stands(const std::string& lines) {
  return ".PP\n.nf\n" + roff(lines) + (lines.ends_with('\n') ? "" : "\n") + ".fi\n";
}

// Options of a named group stand once, in a section of their own that their commands point to.
struct SharedOptions {
  std::vector<std::pair<std::string, std::string>> groups;  // name, entries
  std::set<std::pair<std::string, std::string>> known;      // group, option

  // The entries of the command's own options, and where the others are.
  std::string entries_of(const ManualCommand& command) {
    std::string entries, pointers;
    for (const ManualOption& option : command.options) {
      if (option.group.empty()) {
        entries += option_entry(option);
        continue;
      }
      const std::string pointer = "See also " + upper(option.group) + " OPTIONS.\n";
      if (pointers.find(pointer) == std::string::npos) pointers += ".PP\n" + pointer;
      auto group = std::find_if(groups.begin(), groups.end(),
                                [&](const auto& entry) { return entry.first == option.group; });
      if (group == groups.end()) group = groups.emplace(group, option.group, "");
      if (known.emplace(option.group, option.names.back()).second)
        group->second += option_entry(option);
    }
    return entries + pointers;
  }
};

}  // namespace

std::string manual_page(const Manual& manual) {
  const ManualCommand& itself = manual.commands.front();
  const bool has_commands = manual.commands.size() > 1;
  std::string page = ".\\\" Made by the program itself.\n.TH " + upper(roff(manual.program)) +
                     " 1 \"\" \"Parallelarium " + kVersion + "\" \"User Commands\"\n";
  page += ".SH NAME\n" + roff(manual.program + " - " + manual.summary) + "\n";
  page += ".SH SYNOPSIS\n\\fB" + roff(manual.program) + "\\fR " +
          (has_commands ? "\\fICOMMAND\\fR " : "") + "[\\fIOPTION\\fR]...";
  page += (itself.operands.empty() ? "" : " " + roff(itself.operands)) + "\n";
  page += ".SH DESCRIPTION\n" + paragraphs(manual.about);

  SharedOptions shared;
  page += ".SH OPTIONS\n" + shared.entries_of(itself);
  if (!itself.examples.empty()) page += as_it_stands(itself.examples);
  if (has_commands) page += ".SH COMMANDS\n";
  for (std::size_t at = 1; at < manual.commands.size(); ++at) {
    const ManualCommand& command = manual.commands[at];
    page += ".SS \"" + roff(fmt::format("{}", fmt::join(command.words, " "))) +
            (command.operands.empty() ? "" : " " + roff(command.operands)) + "\"\n";
    page += roff(sentence(command.help)) + "\n" + shared.entries_of(command);
    if (!command.examples.empty()) page += as_it_stands(command.examples);
  }
  for (const auto& [group, entries] : shared.groups)
    page += ".SH \"" + upper(group) + " OPTIONS\"\n" + entries;
  page += ".SH \"EXIT STATUS\"\n" + roff(manual.exit_status) + "\n";
  if (!manual.see_also.empty()) {
    page += ".SH \"SEE ALSO\"\n";
    for (const std::string& other : manual.see_also) page += ".BR " + roff(other) + " (1)\n";
  }
  return page;
}

std::vector<std::string> setup_choices(std::string_view option) {
  const SetupSetting* row =
      option.starts_with("--") ? find_setting(setup_settings(), option.substr(2)) : nullptr;
  return row != nullptr && row->values ? row->values(new_setup()) : std::vector<std::string>();
}

Result<std::string> manual_text(const Manual& manual, std::string_view format) {
  if (format == "man") return manual_page(manual);
  if (format == "bash") return bash_completion(manual);
  if (format == "zsh") return zsh_completion(manual);
  if (format == "fish") return fish_completion(manual);
  return message("manual-format",
                 "There is no format \"{}\"; there are man, bash, zsh, fish and settings.", format);
}

}  // namespace parallelarium

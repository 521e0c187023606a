// SPDX-License-Identifier: Apache-2.0
// The manual page and the completions name what is parsed.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdio>
#include <regex>
#include <set>

#include "engine/plan/setup/setup_settings.h"
#include "engine/wire/view_ids.h"
#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// "--json" and its like in a text, one per line of help that begins with one.
std::set<std::string> options_of_help(const std::string& help) {
  std::set<std::string> found;
  const std::regex option("\\n  (?:-h,)?(--[a-z0-9-]+)");
  for (std::sregex_iterator at(help.begin(), help.end(), option), end; at != end; ++at)
    found.insert((*at)[1]);
  return found;
}

// Every command with what its --help says; "lesson check" among them.
std::vector<std::pair<std::string, std::string>> all_helps() {
  std::vector<std::pair<std::string, std::string>> helps = {{"", command({"--help"}).out}};
  const std::string commands = helps[0].second.substr(helps[0].second.find("Subcommands:"));
  const std::regex name("\\n  ([a-z]+) ");
  for (std::sregex_iterator at(commands.begin(), commands.end(), name), end; at != end; ++at)
    if ((*at)[1] != "parallelarium")
      helps.emplace_back((*at)[1], command({(*at)[1], "--help"}).out);
  helps.emplace_back("lesson check", command({"lesson", "check", "--help"}).out);
  helps.emplace_back("lesson coverage", command({"lesson", "coverage", "--help"}).out);
  return helps;
}

std::string without_roff(std::string text) {
  return std::regex_replace(text, std::regex("\\\\f[BIR]|\\\\(?=-)|\\\\&"), "");
}

// What a shell prints for the script; empty and a failed test where it is not there.
std::string said_by(const std::string& shell, const std::string& script) {
  FILE* pipe = popen((shell + " <<'THE END'\n" + script + "\nTHE END\n").c_str(), "r");
  if (!pipe) return {};
  std::string text;
  char part[4096];
  while (std::size_t read = std::fread(part, 1, sizeof part, pipe)) text.append(part, read);
  EXPECT_EQ(pclose(pipe), 0) << script;
  return text;
}

// The words that bash offers for the last of `words`.
std::set<std::string> completed(const std::vector<std::string>& words) {
  std::string array;
  for (const std::string& word : words) array += " '" + word + "'";
  const std::string out =
      said_by("bash", command({"manual", "bash"}).out + "COMP_WORDS=(parallelarium-engine" + array +
                          ")\nCOMP_CWORD=" + std::to_string(words.size()) +
                          "\n_parallelarium_engine\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
  std::istringstream lines(out);
  std::set<std::string> found;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) found.insert(line);
  return found;
}

TEST(ManualCommand, NamesEveryCommandAndOptionOfTheHelp) {
  const auto helps = all_helps();
  ASSERT_GT(helps.size(), 12u);
  const std::string page = without_roff(command({"manual", "man"}).out);
  const std::string zsh = command({"manual", "zsh"}).out, fish = command({"manual", "fish"}).out;
  for (const auto& [name, help] : helps) {
    EXPECT_THAT(page, HasSubstr(name.empty() ? ".SH NAME" : ".SS \"" + name)) << name;
    std::vector<std::string> words;
    std::istringstream all(name);
    for (std::string word; all >> word;) words.push_back(word);
    words.emplace_back("-");
    const std::set<std::string> offered = completed(words);
    const std::set<std::string> options = options_of_help(help);
    EXPECT_FALSE(options.empty()) << name;
    for (const std::string& option : options) {
      EXPECT_THAT(page, HasSubstr(option)) << name;
      EXPECT_THAT(offered, Contains(option)) << name;
      EXPECT_THAT(zsh, HasSubstr("'" + option + "[")) << name;
      EXPECT_THAT(fish, HasSubstr(" -l " + option.substr(2) + " ")) << name;
    }
  }
}

TEST(ManualCommand, BashOffersCommandsValuesAndNothingElse) {
  EXPECT_THAT(completed({"pre"}), testing::ElementsAre("predict"));
  EXPECT_THAT(completed({"lesson", "c"}), testing::ElementsAre("check", "coverage"));
  EXPECT_THAT(completed({"lesson", "check", "--sa"}), testing::ElementsAre("--samples"));
  EXPECT_THAT(completed({"predict", "--model", "llama3-8"}), testing::ElementsAre("llama3-8b"));
  EXPECT_THAT(completed({"predict", "--machine", ""}), Contains("dgx-h100"));
  EXPECT_THAT(completed({"schedule", "zb-h"}), testing::ElementsAre("zb-h1", "zb-h2"));
  EXPECT_THAT(completed({"collective", "all_r"}), testing::ElementsAre("all_reduce"));
  EXPECT_THAT(completed({"export", "a.svg", "--view", ""}),
              testing::UnorderedElementsAreArray(view_ids()));
  // A file is wanted: bash itself offers those.
  EXPECT_THAT(completed({"run", "--trace", ""}), testing::IsEmpty());
  // Options of another command are not offered.
  EXPECT_THAT(completed({"models", "--"}), Not(Contains("--verify")));
}

TEST(ManualCommand, ThePageHasEachSetupOptionOnce) {
  const std::string page = without_roff(command({"manual", "man"}).out);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = page.find("\n--microbatches VALUE", at)) != std::string::npos;
       ++at)
    ++count;
  EXPECT_EQ(count, 1u);
  EXPECT_THAT(page, HasSubstr(".SH \"SETUP OPTIONS\""));
}

TEST(ManualCommand, TellsEverySettingWithItsKeyAndDefault) {
  const std::string table = command({"manual", "settings"}).out;
  for (const SetupSetting& row : setup_settings())
    EXPECT_THAT(table, testing::ContainsRegex("\n +--" + row.option + " +" + row.key + " .*" +
                                              row.help.substr(0, 5)));
  EXPECT_THAT(table, testing::ContainsRegex("--pp +mesh.pp +1 to 65536 +4 +pipeline stages"));
  EXPECT_THAT(table, testing::ContainsRegex("--mlp +model.mlp +gelu, swiglu +gelu "));
}

TEST(ManualCommand, AnUnknownFormatIsOneSentence) {
  const Reply reply = command({"manual", "tcsh"});
  EXPECT_EQ(reply.status, kInvalid);
  EXPECT_EQ(reply.out, "");
  EXPECT_THAT(reply.err, HasSubstr("man, bash, zsh, fish and settings"));
}

}  // namespace
}  // namespace parallelarium

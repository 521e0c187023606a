// SPDX-License-Identifier: Apache-2.0
// Setups as the frameworks that train say them, in both directions: a launch line of Megatron-LM, a
// recipe of Megatron-Bridge or torchtitan, a configuration of DeepSpeed, accelerate or nanotron.
// Each framework has one table of settings, which writes and reads.
//
// To add a framework: write <name>.cpp with a function that returns its FrameworkTable (table.h),
// and list it in framework.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// A framework, and the version whose settings are written and read.
struct FrameworkInfo {
  std::string name;        // "megatron", on the command line
  std::string title;       // "Megatron-LM"
  std::string repository;  // "NVIDIA/Megatron-LM", on GitHub
  std::string commit;      // its first digits
  std::string date;        // of the commit, "2026-08-22"
  std::string ending;      // of a file that has its text, ".sh"
};
std::vector<FrameworkInfo> framework_infos();

// The name of the framework of whose settings the text has the most; empty: it has none of any.
std::string framework_of_text(std::string_view text);

// The kind of sentences about what the training script has to say.
inline constexpr const char* kScriptSays = "framework-script";

struct FrameworkText {
  std::string text;
  // What the text does not say, a sentence for each setting that would be another one if the text
  // were read back, or that no Setup knows; `field` is its key, or empty; `kind` may be
  // kScriptSays.
  std::vector<Message> not_expressible;
  // What the text says and no figure counts; none: there is nothing.
  std::optional<Message> not_counted;
};
// Whether the text trains what is meant only with what the training script has to say.
bool needs_script(const FrameworkText& written);
// validate(setup) must be empty, and nothing in it may be `auto`. Errors: "framework-unknown".
Result<FrameworkText> write_for_framework(const std::string& framework, const Setup& setup);

// What the framework needs for this Setup beside its usual trainer, in a sentence; none: nothing is
// known, or there is no such framework.
std::optional<Message> framework_needs(const std::string& framework, const Setup& setup);

// Says why the framework cannot train a Setup as far as settings of these keys go: the first
// sentence of `not_expressible` about one of them that is not for the training script to say (its
// kind is kScriptSays); none: it can. It needs no text, so that a search can ask it of every
// candidate, from any thread. Errors: "framework-unknown".
using FrameworkRefusal = std::function<std::optional<Message>(const Setup&)>;
Result<FrameworkRefusal> framework_refusal(const std::string& framework,
                                           std::vector<std::string> keys);

struct FrameworkSetup {
  Setup setup;
  // What the text says and a Setup cannot, or what it leaves open, in sentences.
  std::vector<Message> not_understood;
  // The settings that the text leaves out and that the framework's defaults make others than the
  // base's; none: there are none.
  std::optional<Message> by_default;
};
// What the framework has a setting for and the text leaves out is as the framework's default says;
// what it has no setting for comes from `base`. Errors: "framework-unknown", a text that cannot be
// read, a value that is wrong. Whether the Setup is valid is validate()'s to say.
Result<FrameworkSetup> read_from_framework(const std::string& framework, std::string_view text,
                                           const Setup& base);

}  // namespace parallelarium

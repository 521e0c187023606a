// SPDX-License-Identifier: Apache-2.0
// Converts Setups to and from the forms of training frameworks: a launch line of Megatron-LM, a
// recipe of Megatron-Bridge or torchtitan, a configuration of DeepSpeed, accelerate or nanotron.
// Each framework has one table of settings that writes and reads.
//
// To add a framework, write <name>.cpp with a function that returns its FrameworkTable (table.h),
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

// A framework, and the version for which settings are written and read.
struct FrameworkInfo {
  std::string name;        // "megatron", on the command line
  std::string title;       // "Megatron-LM"
  std::string repository;  // "NVIDIA/Megatron-LM", on GitHub
  std::string commit;      // first digits of the commit
  std::string date;        // of the commit, "2026-08-22"
  std::string ending;      // ending of a file with its text, ".sh"
};
std::vector<FrameworkInfo> framework_infos();
// "Megatron-LM" of "megatron"; another name as it is.
std::string framework_title(const std::string& framework);

// The name of the framework that has the most settings in the text. Empty: the text has no
// framework's settings.
std::string framework_of_text(std::string_view text);

// The kind of sentences about settings that the training script must make.
inline constexpr const char* kScriptSays = "framework-script";

struct FrameworkText {
  std::string text;
  // What the text does not say: a sentence for each setting that would differ if the text were read
  // back, or that no Setup knows. `field` is its key, or empty. `kind` may be kScriptSays.
  std::vector<Message> not_expressible;
  // What no figure counts, though the text says it, or the model may have it. None: there is
  // nothing.
  std::optional<Message> not_counted;
};
// Whether the text trains what is meant only if the training script makes some settings.
bool needs_script(const FrameworkText& written);
// validate(setup) must be empty, and nothing in it may be `auto`. Errors: "framework-unknown".
Result<FrameworkText> write_for_framework(const std::string& framework, const Setup& setup);

// A sentence about what the framework needs for this Setup beside its usual trainer. None: nothing
// is known, or there is no such framework.
std::optional<Message> framework_needs(const std::string& framework, const Setup& setup);

// Says why the framework cannot train a Setup, as far as settings with these keys go. It is the
// first sentence of `not_expressible` about one of them, unless the training script makes the
// setting (kind kScriptSays). None: it can. This needs no text, so a search can ask it for every
// candidate, from any thread. Errors: "framework-unknown".
using FrameworkRefusal = std::function<std::optional<Message>(const Setup&)>;
Result<FrameworkRefusal> framework_refusal(const std::string& framework,
                                           std::vector<std::string> keys);

struct FrameworkSetup {
  Setup setup;
  // Sentences about what the text says but a Setup cannot, and about what it leaves open.
  std::vector<Message> not_understood;
  // Says which settings the text leaves out for which the framework's default differs from the
  // base. None: there are no such settings.
  std::optional<Message> by_default;
};
// If the framework has a setting that the text leaves out, the framework's default counts. If it
// has no such setting, `base` counts. Errors: "framework-unknown", the text cannot be read, a value
// is wrong. validate() says whether the Setup is valid.
Result<FrameworkSetup> read_from_framework(const std::string& framework, std::string_view text,
                                           const Setup& base);

}  // namespace parallelarium

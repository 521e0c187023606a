// SPDX-License-Identifier: Apache-2.0
#include "engine/worker/setup_options.h"

#include <algorithm>

#include "engine/worker/command.h"

namespace parallelarium {

void SetupOptions::add_to(CLI::App& command) {
  command.add_option("--setup", file_, "a Setup or document to start from (default: first lesson)")
      ->option_text("FILE");
  for (const FieldInfo& info : setup_fields()) {
    Field& field = fields_.emplace_back();
    field.option = info.option;
    CLI::Option* option = command.add_option("--" + info.option, field.value, info.help);
    option->option_text("VALUE")->group("Setup");
    // A switch may stand alone.
    if (info.key == "sequence_parallel") option->expected(0, 1);
    field.parsed = option;
  }
}

bool SetupOptions::overrides() const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [](const Field& field) { return field.parsed->count() > 0; });
}

Result<Setup> SetupOptions::resolve() const {
  Setup setup = default_setup();
  if (!file_.empty()) {
    Result<std::string> text = read_file(file_);
    if (!text) return text.error();
    Result<Setup> read = setup_from_text(*text);
    if (!read) {
      Message why = read.error();
      why.text = file_ + ": " + why.text;
      return why;
    }
    setup = std::move(*read);
  }
  // The model first, whatever the order on the command line: it resets what its overrides set.
  for (const bool model : {true, false}) {
    for (const Field& field : fields_) {
      if (field.parsed->count() == 0 || (field.option == "model") != model) continue;
      const bool bare = field.value.empty() && field.option == "sequence-parallel";
      const Result<void> set = set_field(setup, field.option, bare ? "true" : field.value);
      if (!set) return set.error();
    }
  }
  const std::vector<Message> problems = validate(setup);
  if (!problems.empty()) return problems.front();
  return setup;
}

std::string describe(const Setup& setup) {
  const Mesh& mesh = setup.mesh;
  std::string axes;
  const auto axis = [&axes](const char* name, int size) {
    if (size > 1) axes += fmt::format("{}{} {}", axes.empty() ? "" : ", ", name, size);
  };
  axis("DP", mesh.dp);
  axis("TP", mesh.tp);
  axis("PP", mesh.pp);
  axis("CP", mesh.cp);
  axis("EP", mesh.ep);
  std::string text =
      fmt::format("{}, {} rank{}", setup.model.title.empty() ? setup.model.name : setup.model.title,
                  mesh.ranks(), mesh.ranks() == 1 ? "" : "s");
  if (!axes.empty()) text += " (" + axes + ")";
  if (setup.zero > 0) text += fmt::format(", ZeRO-{}", setup.zero);
  text += fmt::format(", {}, {} micro-batch{} of {} sequence{}", setup.schedule, setup.microbatches,
                      setup.microbatches == 1 ? "" : "es", setup.micro_batch,
                      setup.micro_batch == 1 ? "" : "s");
  if (setup.recompute != Recompute::kNone)
    text += setup.recompute == Recompute::kFull ? ", full recompute" : ", selective recompute";
  return text;
}

}  // namespace parallelarium

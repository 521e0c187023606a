// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/export/manual.h"

#include "engine/wire/manual/manual.h"
#include "engine/wire/view_ids.h"

namespace parallelarium {

namespace {

std::vector<std::string> choices_of(const std::string& option) {
  if (option == "--theme") return {"light", "dark"};
  if (option == "--view") return view_ids();
  if (option == "--manual") return {"man", "bash", "zsh", "fish"};
  return setup_choices(option);
}

}  // namespace

Result<std::string> manual_of(const QList<QCommandLineOption>& options, std::string_view format) {
  ManualCommand itself;
  itself.operands = "[FILE]";
  itself.examples =
      "Examples:\n"
      "  parallelarium\n"
      "  parallelarium --model gpt-tiny --pp 4 --schedule zb-h1\n"
      "  parallelarium --run --export timeline.png\n"
      "  parallelarium --collective all_reduce --algorithm ring --export ring.svg\n";
  for (const QCommandLineOption& option : options) {
    ManualOption& entry = itself.options.emplace_back();
    for (const QString& name : option.names())
      entry.names.push_back((name.size() == 1 ? "-" : "--") + name.toStdString());
    entry.value = option.valueName().toStdString();
    entry.help = option.description().toStdString();
    entry.choices = choices_of(entry.names.back());
  }
  Manual manual;
  manual.program = "parallelarium";
  manual.summary = "see how language models are trained in parallel";
  manual.about =
      "Opens the window: turn the parallel settings of a model and see at once what every rank "
      "will "
      "do, when, and what it costs; press Run, and ranks on this computer train a real transformer "
      "that way. FILE is a document, a setup, or a picture exported from here.\n\n"
      "With --export or --screenshot it writes a picture and opens no window; no display is "
      "needed.";
  manual.exit_status =
      "0: done. 1: the run or the file failed. 2: the request was not valid; one sentence says "
      "why.";
  manual.see_also = {"parallelarium-engine"};
  manual.commands.push_back(std::move(itself));
  return manual_text(manual, format);
}

}  // namespace parallelarium

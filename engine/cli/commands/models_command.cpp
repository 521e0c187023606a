// SPDX-License-Identifier: Apache-2.0
// `models`: the presets, one of them in full, or a Hugging Face configuration.
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/commands/command.h"
#include "engine/cli/options/setup_options.h"
#include "engine/cli/text/table.h"
#include "engine/plan/model/model.h"
#include "engine/plan/text/units.h"
#include "engine/wire/messages.h"

namespace parallelarium {
namespace {

struct ModelsOptions {
  std::string name;
  std::string import;
  bool json = false;
};

nlohmann::json with_counts(const Model& model) {
  const ParameterCounts counts = count_parameters(model);
  nlohmann::json json = to_json(model);
  json["name"] = model.name;
  json["title"] = title_of(model).text;
  json["sources"] = model.sources;
  return {{"model", json},
          {"parameters", counts.total},
          {"active_parameters", counts.active},
          {"forward_flops_per_sequence", forward_flops_per_sequence(model)}};
}

std::string details(const Model& model) {
  const ParameterCounts counts = count_parameters(model);
  std::string text = fmt::format("{} ({})\n\n", title_of(model).text, model.name);
  Table shape({"", ""});
  const auto row = [&shape](const char* name, const std::string& value) {
    shape.add({name, value});
  };
  row("layers", fmt::format("{}", model.layers));
  row("hidden", fmt::format("{}", model.hidden));
  row("heads", fmt::format("{}", model.heads));
  row("key/value heads", fmt::format("{}", model.kv_heads));
  row("MLP", fmt::format("{} wide, {}", model.ffn, model.mlp == Mlp::kGelu ? "GELU" : "SwiGLU"));
  row("norm", model.norm == Norm::kLayer ? "layer norm" : "RMS norm");
  row("vocabulary", fmt::format("{}", model.vocab));
  row("sequence", fmt::format("{} tokens", model.sequence));
  row("output head", model.tied ? "tied to the token table" : "a table of its own");
  if (model.experts.count > 0)
    row("experts",
        fmt::format(
            "{}, {} for each token, {} wide{}", model.experts.count, model.experts.top_k,
            model.experts.ffn,
            model.experts.shared > 0 ? fmt::format(", and {} shared", model.experts.shared) : ""));
  row("parameters",
      fmt::format("{} ({})", count_text(static_cast<double>(counts.total)), counts.total));
  if (counts.active != counts.total)
    row("active for a token",
        fmt::format("{} ({})", count_text(static_cast<double>(counts.active)), counts.active));
  row("forward of a sequence", count_text(forward_flops_per_sequence(model), "FLOP"));
  text += shape.text();
  if (!model.sources.empty()) {
    text += "\nSources\n";
    for (const std::string& source : model.sources) text += "  " + wrapped(source, 96, 4) + "\n";
  }
  return text;
}

Outcome import(const ModelsOptions& options, Progress& progress) {
  Result<nlohmann::json> config = read_json(options.import);
  if (!config) return Outcome::invalid(config.error());
  std::vector<Message> notes;
  Result<Model> model = import_hugging_face(*config, notes);
  if (!model) {
    Message why = model.error();
    why.text = options.import + ": " + why.text;
    return Outcome::invalid(why);
  }
  if (options.json) {
    nlohmann::json json = with_counts(*model);
    json["notes"] = nlohmann::json::array();
    for (const Message& note : notes) json["notes"].push_back(to_json(note));
    return Outcome::done(json_text(json));
  }
  for (const Message& note : notes) progress.say("Note: " + note.text);
  return Outcome::done(details(*model) + "\nAs the \"model\" of a Setup file:\n" +
                       json_text(to_json(*model)));
}

Outcome list(const ModelsOptions& options) {
  nlohmann::json json = nlohmann::json::array();
  Table table({"name", "title", ">layers", ">hidden", ">heads", ">vocabulary", ">sequence",
               ">parameters", ">active"});
  for (const std::string& name : model_names()) {
    Result<Model> model = find_model(name);
    if (!model) return Outcome::failed(model.error());
    const ParameterCounts counts = count_parameters(*model);
    table.add(
        {name, model->title, fmt::format("{}", model->layers), fmt::format("{}", model->hidden),
         fmt::format("{}", model->heads), fmt::format("{}", model->vocab),
         fmt::format("{}", model->sequence), count_text(static_cast<double>(counts.total)),
         counts.active == counts.total ? "" : count_text(static_cast<double>(counts.active))});
    json.push_back(with_counts(*model));
  }
  if (options.json) return Outcome::done(json_text({{"models", json}}));
  return Outcome::done(table.text() +
                       "\n`models NAME` shows one of them with the sources of its numbers.\n");
}

}  // namespace

void add_models(Commands& commands) {
  CLI::App* command = commands.add(
      "models", "list the model presets, show one, or read a Hugging Face configuration",
      "  parallelarium-engine models\n"
      "  parallelarium-engine models llama3-8b\n"
      "  parallelarium-engine models --import config.json\n");
  auto options = std::make_shared<ModelsOptions>();
  command->add_option("name", options->name, "a preset to show in full")->option_text("[NAME]");
  command->add_option("--import", options->import, "a config.json as Hugging Face models carry")
      ->option_text("FILE");
  command->add_flag("--json", options->json, "print JSON");
  commands.set_body(command, [options](Progress& progress) {
    if (!options->import.empty() && !options->name.empty())
      return Outcome::invalid(
          message("models-both", "Give a preset's name or --import, not both."));
    if (!options->import.empty()) return import(*options, progress);
    if (options->name.empty()) return list(*options);
    Result<Model> model = find_model(options->name);
    if (!model) return Outcome::invalid(no_such_model(model.error(), options->name));
    return Outcome::done(options->json ? json_text(with_counts(*model)) : details(*model));
  });
}

}  // namespace parallelarium

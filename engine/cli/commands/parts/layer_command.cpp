// SPDX-License-Identifier: Apache-2.0
// `layer`: what happens in a layer, or in the embedding, or in the head and the loss, on the ranks
// that share it.
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/commands/command.h"
#include "engine/cli/options/setup_options.h"
#include "engine/cli/text/context_text.h"
#include "engine/cli/text/table.h"
#include "engine/plan/layer/layer_json.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/text/units.h"
#include "engine/predict/predicted_layer.h"

namespace parallelarium {
namespace {

struct LayerOptions {
  SetupOptions setup;
  LayerChoice choice;
  std::string part = "layer";
  bool json = false;
};

// Error: what there is instead.
Result<LayerChoice> choice_of(const LayerOptions& options, const Setup& setup) {
  LayerChoice choice = options.choice;
  choice.place = options.part == "embedding" ? LayerPlace::kEmbedding
                 : options.part == "head"    ? LayerPlace::kHead
                                             : LayerPlace::kLayer;
  const LayerChoice valid = valid_layer_choice(setup, choice);
  if (valid.layer != choice.layer)
    return message("layer-number", "There is no layer {} here; there are layers 0 to {}.",
                   choice.layer, setup.model.layers - 1);
  if (valid.microbatch != choice.microbatch)
    return message("layer-microbatch",
                   "There is no micro-batch {} here; there are micro-batches 0 to {}.",
                   choice.microbatch, setup.microbatches - 1);
  return choice;
}

std::string side_text(std::int64_t held, std::int64_t whole) {
  return held == whole ? fmt::format("{}", whole) : fmt::format("{} of {}", held, whole);
}

std::string tensors_text(const LayerRankStep& part, bool written) {
  std::string text;
  for (const LayerTensor& tensor : part.tensors) {
    if (tensor.written != written || tensor.rows == 1) continue;
    const std::string experts =
        tensor.all_experts > 0
            ? fmt::format("{} experts ", side_text(tensor.held_experts(), tensor.all_experts))
            : std::string();
    text += fmt::format("{}{} {}[{} x {}]{}", text.empty() ? "" : ", ", tensor.name, experts,
                        side_text(tensor.held_rows, tensor.rows),
                        side_text(tensor.held_columns, tensor.columns),
                        tensor.partial ? " partial sum" : "");
  }
  return text;
}

std::string name_of_step(const LayerStep& step) {
  if (step.kind == LayerStepKind::kNothingSent) return step.symbol + " (nothing sent)";
  if (step.kind == LayerStepKind::kExchange) return "exchange";
  if (step.kind == LayerStepKind::kCompute)
    return std::string(name_of(step.piece)) +
           (step.blocks > 1 ? fmt::format(" {}/{}", step.block + 1, step.blocks) : "");
  const std::string& sign = step.symbol.empty() ? step.number : step.symbol;
  return sign.empty() ? std::string(name_of(step.collective))
                      : fmt::format("{} {}", sign, name_of(step.collective));
}

std::string layer_text(const LayerSteps& layer, const Setup& asked, bool even) {
  const auto bytes = [](std::int64_t of) {
    return of > 0 ? bytes_text(static_cast<double>(of)) : std::string();
  };
  Table table({"step", "phase", "finds", "leaves", ">FLOPs", ">sent", ">kept"});
  for (const LayerStep& step : layer.steps) {
    const LayerRankStep& part = step.ranks.front();
    table.add({name_of_step(step), std::string(name_of(step.phase)), tensors_text(part, false),
               tensors_text(part, true), part.flops > 0 ? count_text(part.flops) : std::string(),
               bytes(part.sent_bytes), bytes(part.kept_bytes)});
  }
  const LayerChoice& choice = layer.choice;
  const std::string place = choice.place == LayerPlace::kEmbedding ? "Embedding"
                            : choice.place == LayerPlace::kHead
                                ? "Head and loss"
                                : fmt::format("Layer {}", choice.layer);
  std::string text = fmt::format(
      "{}\n\n{}, micro-batch {}, {}, on rank {} of the {} that share it\n\n{}", describe(asked),
      place, choice.microbatch, choice.backward ? "backward" : "forward", layer.ranks.front().rank,
      layer.ranks.size(), table.text());
  if (layer.experts && !even) {
    std::vector<std::string> sent;
    for (std::size_t rank = 0; rank < layer.ranks.size(); ++rank)
      sent.push_back(fmt::format(
          "rank {} {}", layer.ranks[rank].rank,
          bytes_text(static_cast<double>(layer_total(layer, static_cast<int>(rank)).sent_bytes))));
    text += fmt::format(
        "\nSent in all: {}. Routing is uneven; rows of experts and what is kept stand as even "
        "routing has them.\n",
        fmt::join(sent, ", "));
  }
  if (const std::string context = context_text(layer.context); !context.empty())
    text += "\n" + context;
  const LayerVocabulary& of = layer.vocabulary;
  if (of.gathered_sent_bytes > 0)
    text += fmt::format(
        "\nThe loss sends {} for three numbers of each token; logits of all {} words would be "
        "{}.\n",
        bytes_text(static_cast<double>(of.loss_sent_bytes)), of.words,
        bytes_text(static_cast<double>(of.gathered_sent_bytes)));
  return text;
}

}  // namespace

void add_layer(Commands& commands) {
  CLI::App* command =
      commands.add("layer", "show what is cut, whole, added up, sent and kept inside a layer",
                   "  parallelarium-engine layer --pp 1 --tp 2 --layer 3\n"
                   "  parallelarium-engine layer --pp 1 --cp 4 --cp-split contiguous\n"
                   "  parallelarium-engine layer --pp 1 --tp 4 --part head --backward --json\n");
  auto options = std::make_shared<LayerOptions>();
  command
      ->add_option("--part", options->part,
                   "layer: attention and MLP (or experts) of one; embedding: the tables before the "
                   "first; head: final norm, logits and loss behind the last")
      ->option_text("PART")
      ->check([](const std::string& part) {
        const bool known = part == "layer" || part == "embedding" || part == "head";
        return known ? std::string()
                     : "must be layer, embedding or head, not “" + shown(part) + "”";
      });
  command->add_option("--layer", options->choice.layer, "which layer, from 0")
      ->option_text("L")
      ->check(check_from_zero);
  command->add_option("--of-microbatch", options->choice.microbatch, "which micro-batch, from 0")
      ->option_text("M")
      ->check(check_from_zero);
  command->add_flag("--backward", options->choice.backward, "the backward instead of the forward");
  command->add_flag("--json", options->json, "print JSON");
  options->setup.add_to(*command);
  commands.set_body(command, [options](Progress& progress) {
    std::string read_text;
    const Result<Situation> situation = options->setup.situation(&read_text);
    if (!situation) return Outcome::invalid(situation.error());
    const Result<LayerChoice> choice = choice_of(*options, situation->setup);
    if (!choice) return Outcome::invalid(choice.error());
    const Result<Prediction> prediction = predict(situation->setup, situation->machine);
    if (!prediction) return Outcome::invalid(prediction.error());
    const LayerSteps layer = predicted_layer(*prediction, *choice);
    if (layer.steps.empty())
      return Outcome::invalid(
          message("layer-whole-stages",
                  "A program of this size is made of whole stages; its layers have no pieces."));
    progress.note(options->setup.assumed_sentence(read_text));
    if (!options->json)
      return Outcome::done(layer_text(layer, situation->asked, prediction->rows.even()));
    nlohmann::json json = to_json(layer);
    json["setup"] = to_json(situation->asked);
    json["resolved"] = to_json(situation->setup);
    return Outcome::done(json_text(json));
  });
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/wire/frameworks/megatron/megatron.h"
#include "engine/wire/frameworks/syntax/syntax.h"

namespace parallelarium::frameworks {
namespace {

std::string launch_of(const Setup& setup, const char* script) {
  const auto [nodes, each] = nodes_and_ranks(setup);
  // `first-node` stands for the name of one of them.
  const char* const meet = nodes > 1 ? "--rdzv-backend c10d --rdzv-endpoint first-node:29500 " : "";
  return fmt::format("torchrun --nnodes {} --nproc-per-node {} {}{}", nodes, each, meet, script);
}

// What the shell has to do first. Before Blackwell Megatron-LM stops where ranks share layers or
// sequences and kernels may be issued side by side; its FSDP stops where they may not, which the
// shell may have said for another training (arguments.py, validate_args). Empty: nothing.
std::string connections(const Setup& setup, const Entries& entries) {
  const bool fsdp = std::any_of(entries.begin(), entries.end(), [](const auto& entry) {
    return entry.first.find("fsdp") != std::string::npos && entry.second != false;
  });
  if (fsdp) return "unset CUDA_DEVICE_MAX_CONNECTIONS";
  return setup.mesh.tp > 1 || setup.mesh.cp > 1 ? "export CUDA_DEVICE_MAX_CONNECTIONS=1" : "";
}

std::string steps_of(const Setup& setup) {
  return fmt::format("{} {}", setup.run.steps, setup.run.steps == 1 ? "step" : "steps");
}

std::string start_on_each(const Setup& setup) {
  const int nodes = nodes_and_ranks(setup).first;
  return nodes == 1
             ? ""
             : fmt::format("# Start it on each of the {} nodes; first-node is the name of one.\n",
                           nodes);
}

}  // namespace

std::string megatron_line(const FrameworkTable& table, const Setup& setup, const Entries& entries,
                          const std::vector<Message>& not_expressible) {
  const std::string first = connections(setup, entries);
  std::string text =
      heading(table, not_expressible) +
      fmt::format(
          "# It trains on made-up data for {}, prints the time of each, and evaluates nothing.\n",
          steps_of(setup)) +
      "# Replace what says so: mock-data, tokenizer-*, vocab-size, train-iters, log-interval,\n"
      "# eval-iters, lr, seed and clip-grad (0 limits nothing), and add checkpoints.\n"
      "# NullTokenizer has one more id than --vocab-size, so that there are " +
      std::to_string(setup.model.vocab) +
      ".\n"
      "# Left at Megatron-LM's own values: weight decay, Adam's betas and epsilon, warm-up, the\n"
      "# epsilon of norms and the spread of initial weights.\n" +
      start_on_each(setup) + first + (first.empty() ? "" : "\n") +
      launch_of(setup, "pretrain_gpt.py");
  for (const auto& [name, value] : entries) {
    text += " \\\n  --" + name;
    const bool list = value.is_array();
    for (const nlohmann::json& each : list ? value : nlohmann::json::array({value})) {
      if (each.is_boolean()) continue;
      const std::string word = each.is_string() ? each.get<std::string>() : each.dump();
      const bool quoted = word.find_first_of("|()* ") != std::string::npos;
      text += " " + (quoted ? "'" + word + "'" : word);
    }
  }
  return text + "\n";
}

std::string bridge_recipe(const FrameworkTable& table, const Setup& setup, const Entries& entries,
                          const std::vector<Message>& not_expressible) {
  const std::string first = connections(setup, entries);
  std::string text = heading(table, not_expressible);
  text +=
      "# Put the settings into a pretraining recipe's configuration, which has data, tokenizer "
      "and\n"
      "# checkpoints. It trains for " +
      steps_of(setup) +
      ": replace train_iters, lr, seed, vocab_size and\n"
      "# clip_grad (0 limits nothing). Weight decay, Adam's betas and epsilon, warm-up, the "
      "epsilon\n"
      "# of norms and the spread of initial weights stay the recipe's or GPTModelProvider's "
      "own.\n" +
      start_on_each(setup) + (first.empty() ? "" : "# Before the launch, run: " + first + "\n") +
      "# Launch it: " + launch_of(setup, "pretrain.py") + "\n";
  text +=
      "import torch\n"
      "import torch.nn.functional as F\n"
      "from megatron.bridge.models.gpt_provider import GPTModelProvider\n"
      "from megatron.bridge.training.comm_overlap import CommOverlapConfig\n"
      "from megatron.bridge.training.config import ConfigContainer\n"
      "from megatron.bridge.training.mixed_precision import MixedPrecisionConfig\n"
      "from megatron.core.transformer.enums import AttnBackend\n\n\n"
      "def configure(cfg: ConfigContainer) -> ConfigContainer:\n"
      "    cfg.model = GPTModelProvider(\n";
  constexpr std::string_view kOverlap = "comm_overlap.";
  std::string others, overlaps;
  for (const auto& [name, value] : entries) {
    if (name.starts_with(kOverlap))
      overlaps += "        " + name.substr(kOverlap.size()) + "=" + python_of(value) + ",\n";
    else if (name.starts_with("model."))
      text += "        " + name.substr(6) + "=" + python_of(value) + ",\n";
    else
      others += "    cfg." + name + " = " + python_of(value) + "\n";
  }
  return text + "    )\n" + others + "    cfg.comm_overlap = CommOverlapConfig(\n" + overlaps +
         "    )\n    return cfg\n";
}

Result<Entries> parse_bridge_recipe(std::string_view text) {
  Result<Entries> entries = parse_recipe(text);
  if (!entries) return entries;
  const std::size_t launch = text.find("torchrun ");
  if (launch == std::string_view::npos) return entries;
  const std::size_t end = std::min(text.find('\n', launch), text.size());
  const Result<Entries> flags = parse_launch_line(text.substr(launch, end - launch));
  if (flags) entries->insert(entries->end(), flags->begin(), flags->end());
  return entries;
}

}  // namespace parallelarium::frameworks

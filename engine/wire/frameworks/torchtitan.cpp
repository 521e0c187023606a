// SPDX-License-Identifier: Apache-2.0
// Names and meanings: torchtitan/config/configs.py, distributed/fsdp.py,
// distributed/pipeline_parallel.py, models/*/config_registry.py.
#include "engine/wire/frameworks/torchtitan.h"

#include <algorithm>
#include <array>

#include "engine/plan/settings/alternatives.h"
#include "engine/wire/frameworks/syntax/syntax.h"

namespace parallelarium::frameworks {
namespace {

// The models that torchtitan has, by the recipe that they are the baseline of; none: no recipe of
// that size is shipped, and the flavor is put into another one's.
struct Flavor {
  const char* preset;
  const char* module;  // below torchtitan.models
  const char* flavor;
  const char* recipe;
};
constexpr std::array kFlavors = {Flavor{"llama3-8b", "llama3", "8B", "llama3_8b"},
                                 Flavor{"llama3-70b", "llama3", "70B", "llama3_70b"},
                                 Flavor{"llama3-405b", "llama3", "405B", "llama3_405b"},
                                 Flavor{"qwen3-8b", "qwen3", "8B", "qwen3_14b"},
                                 Flavor{"qwen3-32b", "qwen3", "32B", "qwen3_32b"},
                                 Flavor{"qwen3-30b-a3b", "qwen3", "30B-A3B", "qwen3_30b_a3b"},
                                 Flavor{"qwen3-235b-a22b", "qwen3", "235B-A22B", "qwen3_30b_a3b"},
                                 Flavor{"deepseek-v2", "deepseek_v3", "236B", "deepseek_v3_671b"},
                                 Flavor{"deepseek-v3", "deepseek_v3", "671B", "deepseek_v3_671b"},
                                 Flavor{"gpt-oss-20b", "gpt_oss", "20b", "gpt_oss_20b"},
                                 Flavor{"gpt-oss-120b", "gpt_oss", "120b", "gpt_oss_120b"}};

const Flavor* flavor_of(const Model& model) {
  for (const Flavor& flavor : kFlavors) {
    const Result<Model> preset = find_model(flavor.preset);
    if (!preset) continue;
    Model shape = *preset;  // of any length of sequence, cut in any way
    shape.name = model.name;
    shape.title = model.title;
    shape.sources = model.sources;
    shape.sequence = model.sequence;
    shape.stage_layers = model.stage_layers;
    shape.experts.capacity = model.experts.capacity;
    if (shape == model) return &flavor;
  }
  return nullptr;
}

FrameworkRow titan_model() {
  FrameworkRow row;
  row.names = {"()", "model_spec", "model_spec.0"};
  for (const Flavor& flavor : kFlavors) row.names.push_back(std::string("import ") + flavor.recipe);
  row.names.emplace_back("import model_registry");
  row.settings = {"model"};
  row.write = [](const Setup& setup, Entries& entries) {
    const Flavor* flavor = flavor_of(setup.model);
    if (flavor == nullptr) return;
    const std::string module = std::string("torchtitan.models.") + flavor->module;
    entries.emplace_back(std::string("import ") + flavor->recipe, module + ".config_registry");
    entries.emplace_back("import model_registry", module);
    entries.emplace_back("()", call(flavor->recipe));
    entries.emplace_back("model_spec", call("model_registry"));
    entries.emplace_back("model_spec.0", flavor->flavor);
  };
  row.read = [](Draft& draft) -> Result<void> {
    const std::string module = word_at(draft, "import model_registry", "");
    const std::string size = word_at(draft, "model_spec.0", "");
    const std::string recipe = word_at(draft, "()", "");
    const Flavor* found = nullptr;
    for (const Flavor& flavor : kFlavors) {
      const bool by_size = !size.empty() && size == flavor.flavor &&
                           module == std::string("torchtitan.models.") + flavor.module;
      if (by_size || (size.empty() && recipe == flavor.recipe && found == nullptr)) found = &flavor;
    }
    if (found == nullptr) {
      if (!size.empty() || !recipe.empty())
        draft.notes.push_back(
            message("framework-flavor", "The model “{}” is none that is known here, so {} stays.",
                    shown(size.empty() ? recipe : size), title_of(draft.setup.model)));
      return {};
    }
    const Result<Model> preset = find_model(found->preset);
    if (!preset) return preset.error();
    draft.setup.model = *preset;
    return {};
  };
  return row;
}

// Shared out by FSDP: parameters, gradients and optimizer together, over all of DP or a group. With
// stages, PyTorch gathers parameters once a step, beside its first forwards, and reduces
// accumulated gradients behind a stage's last backward (torch/distributed/pipelining/stage.py,
// backward_maybe_with_nosync), as ZeRO 2 does that accumulates.
FrameworkRow data_parallel() {
  const std::string copies = "parallelism.data_parallel_replicate_degree";
  const std::string shards = "parallelism.data_parallel_shard_degree";
  const std::string reshard = "parallelism.fsdp_reshard_after_forward";
  FrameworkRow row;
  row.names = {copies, shards, reshard};
  row.settings = {"mesh.dp",           "zero",
                  "zero_group",        "zero_reshard",
                  "zero_accumulate",   "overlap_gradients",
                  "overlap_parameters"};
  row.write = [=](const Setup& setup, Entries& entries) {
    const int shared = fsdp_degree(setup);
    entries.emplace_back(copies, setup.mesh.dp / shared);
    entries.emplace_back(shards, shared);
    if (setup.zero > 0)
      entries.emplace_back(reshard, setup.zero == 3 && setup.zero_reshard ? "always" : "never");
  };
  row.read = [=](Draft& draft) -> Result<void> {
    Setup& setup = draft.setup;
    const Result<std::int64_t> all = whole_at(draft, copies, 1, 1, 65'536);
    const Result<std::int64_t> shared = whole_at(draft, shards, -1, -1, 65'536);
    const Result<std::int64_t> cp =
        whole_at(draft, "parallelism.context_parallel_degree", 1, 1, 65'536);
    for (const Result<std::int64_t>* number : {&all, &shared, &cp})
      if (!*number) return number->error();
    if (*shared == -1)
      draft.notes.push_back(message("framework-leftover",
                                    "{} is -1, what the number of GPUs leaves; 1 is taken.",
                                    draft.shown_name(shards)));
    const auto sharded = static_cast<int>(std::max<std::int64_t>(1, *shared));
    setup.mesh.dp = static_cast<int>(*all) * sharded;
    const bool cuts = sharded > 1 || *cp > 1;  // over both
    setup.zero = cuts || (*shared == 1 && *all == 1 && draft.find(reshard)) ? 3 : 0;
    setup.zero_group = setup.zero == 3 ? group_of_fsdp(*all, sharded, *cp) : 0;
    const std::string word = word_at(draft, reshard, "default");
    if (word != "always" && word != "never" && word != "default")
      return unknown_choice(draft.shown_name(reshard), word, {"always", "never", "default"});
    const bool keeps = word == "never" || (word == "default" && setup.mesh.pp > 1);
    const bool accumulates = setup.zero == 3 && keeps && setup.mesh.pp > 1;
    if (accumulates) setup.zero = 2;
    setup.zero_accumulate = accumulates;
    setup.overlap_gradients = !accumulates;
    setup.overlap_parameters = accumulates;
    setup.zero_reshard = setup.zero != 3 || !keeps;
    return {};
  };
  return row;
}

// Who balances CP ranks; None: nobody, so that each has one run of tokens.
FrameworkRow context_split() {
  const std::string name = "parallelism.context_parallel_load_balancer";
  FrameworkRow row =
      translated(name, "cp_split", {{"headtail", "zigzag"}, {"ptrr", nullptr}}, "headtail");
  row.write = [=](const Setup& setup, Entries& entries) {
    const bool cuts = setup.mesh.cp > 1 && setup.context_parallel != ContextParallel::kUlysses;
    if (cuts && setup.cp_split == ContextSplit::kContiguous) entries.emplace_back(name, nullptr);
  };
  row.read = [=, read = row.read](Draft& draft) -> Result<void> {
    const auto said = std::find_if(draft.entries.rbegin(), draft.entries.rend(),
                                   [&](const Entry& entry) { return entry.first == name; });
    if (said == draft.entries.rend() || !said->second.is_null()) return read(draft);
    draft.setup.cp_split = ContextSplit::kContiguous;
    return {};
  };
  return row;
}

// A product of DTensors saves its gathered input for the backward.
FrameworkRow gathered_inputs() {
  return only_read({}, {"sequence_regather"}, [](Draft& draft) {
    draft.setup.sequence_regather = false;
    return Result<void>();
  });
}

FrameworkRow titan_precision() {
  const std::string stored = "training.dtype", computed = "training.mixed_precision_param";
  FrameworkRow row;
  row.names = {stored, computed};
  row.settings = {"precision"};
  row.write = [=](const Setup& setup, Entries& entries) {
    const Precision& precision = setup.precision;
    const bool half = precision.parameter_bytes == 2;
    const bool all_half = half && precision.master_bytes == 0;
    entries.emplace_back(stored, all_half ? "bfloat16" : "float32");
    entries.emplace_back(computed, half ? "bfloat16" : "float32");
  };
  row.read = [=](Draft& draft) -> Result<void> {
    for (const std::string& name : {stored, computed})
      if (const std::string word = word_at(draft, name, "float32");
          word != "float32" && word != "bfloat16")
        return unknown_choice(draft.shown_name(name), word, {"float32", "bfloat16"});
    // What is stored in fp32 and gathered in bf16 is the master; gradients are reduced in fp32.
    if (word_at(draft, stored, "float32") == "bfloat16")
      put_precision(draft.setup, 2, 2, 0, 4);
    else if (word_at(draft, computed, "bfloat16") == "bfloat16")
      put_precision(draft.setup, 2, 4, 4, 8);
    else
      put_precision(draft.setup, 4, 4, 0, 8);
    return {};
  };
  return row;
}

FrameworkRow titan_recompute() {
  FrameworkRow row;
  row.names = {"activation_checkpoint"};
  row.settings = {"recompute"};
  row.write = [](const Setup& setup, Entries& entries) {
    const bool full = setup.recompute == Recompute::kFull;
    entries.emplace_back("activation_checkpoint",
                         full ? call("FullAC.Config") : nlohmann::json(identifier("None")));
  };
  row.read = [](Draft& draft) -> Result<void> {
    draft.setup.recompute = Recompute::kNone;
    draft.setup.recompute_layers = 0;
    const std::string word = word_at(draft, "activation_checkpoint", "None");
    if (word.starts_with("FullAC")) draft.setup.recompute = Recompute::kFull;
    if (word != "None" && !word.starts_with("FullAC"))
      draft.notes.push_back(message("framework-checkpoint",
                                    "{} keeps and computes again op by op, which a Setup cannot "
                                    "say; nothing is computed again here.",
                                    shown(word)));
    return {};
  };
  return row;
}

// A bound of 0 would make all gradients 0, so none is infinity.
FrameworkRow titan_clip() {
  const std::string name = "training.max_norm";
  FrameworkRow row = same(name, "clip", 1.0);
  row.names.push_back(name + ".0");
  row.write = [name](const Setup& setup, Entries& entries) {
    entries.emplace_back(
        name, setup.clip > 0 ? nlohmann::json(setup.clip) : identifier("float(\"inf\")"));
  };
  row.read = [name, read = row.read](Draft& draft) -> Result<void> {
    if (word_at(draft, name, "") != "float") return read(draft);
    draft.setup.clip = 0;
    return {};
  };
  return row;
}

std::string print_titan(const FrameworkTable& table, const Setup& setup, const Entries& entries,
                        const std::vector<Message>& not_expressible) {
  std::string text = heading(table, not_expressible), body, spec, recipe;
  text += fmt::format("# NGPU={} in all: the product of the degrees.\n", setup.mesh.ranks());
  for (const auto& [name, value] : entries) {
    if (name.starts_with("import ")) {
      text += "from " + word_of(value) + " import " + name.substr(7) + "\n";
    } else if (name == "()") {
      recipe = word_of(value);
    } else if (name == "model_spec.0") {
      spec = "    config.model_spec = model_registry(" + value.dump() + ")\n";
    } else if (name == "optimizer.lr") {
      body += "    config.optimizer = default_adamw(lr=" + python_of(value) + ")\n";
    } else if (name != "model_spec") {
      body += "    config." + name + " = " + python_of(value) + "\n";
    }
  }
  text +=
      "from torchtitan.components.optimizer import default_adamw\n"
      "from torchtitan.distributed.activation_checkpoint import FullAC\n"
      "from torchtitan.trainer import Trainer\n\n\n";
  if (recipe.empty())
    text +=
        "# For a model of your own: give its configuration.\n"
        "def recipe(config: Trainer.Config) -> Trainer.Config:\n";
  else
    text += "def recipe() -> Trainer.Config:\n    config = " + recipe + "()\n";
  return text + spec + body + "    return config\n";
}

// EP is taken out of TP as well, and no expert is cut then.
FrameworkRow whole_experts() {
  return only_read({}, {"mesh.expert_tensor"}, [](Draft& draft) {
    draft.setup.mesh.expert_tensor = draft.setup.mesh.ep == 1;
    return Result<void>();
  });
}

}  // namespace

bool has_flavor(const Model& model) { return flavor_of(model) != nullptr; }

FrameworkTable torchtitan_table() {
  FrameworkTable table;
  table.info = {"torchtitan",   "torchtitan", "pytorch/torchtitan",
                "b5bcd76c66d0", "2026-08-21", ".py"};
  FrameworkRow rate = same("optimizer.lr", "learning_rate", 8e-4);
  rate.names.emplace_back("optimizer");
  FrameworkRow overlap = same("compile.enable_async_tensor_parallel", "ring_tensor", false);
  overlap.write = [write = overlap.write](const Setup& setup, Entries& entries) {
    if (setup.ring_tensor) entries.emplace_back("compile.enable", true);  // which it needs
    write(setup, entries);
  };
  overlap.read = [read = overlap.read](Draft& draft) -> Result<void> {
    if (Result<void> set = read(draft); !set) return set;
    draft.setup.ring_tensor = draft.setup.ring_tensor && draft.setup.sequence_parallel;
    return {};
  };
  table.rows = {titan_model(),
                same("training.max_context_length", "model.sequence", 2048),
                same("parallelism.tensor_parallel_degree", "mesh.tp", 1),
                same("parallelism.pipeline_parallel_degree", "mesh.pp", 1),
                same("parallelism.context_parallel_degree", "mesh.cp", 1),
                same("parallelism.expert_parallel_degree", "mesh.ep", 1),
                whole_experts(),
                data_parallel(),
                same("parallelism.enable_sequence_parallel", "sequence_parallel", true),
                titan_pipeline(),
                titan_tokens(),
                titan_precision(),
                titan_recompute(),
                std::move(overlap),
                std::move(rate),
                titan_clip(),
                only_read({}, {"attention"},
                          [](Draft& draft) {
                            draft.setup.attention = Attention::kFused;  // flex or varlen
                            return Result<void>();
                          }),
                context_split(),
                gathered_inputs(),
                same("training.steps", "run.steps"),
                same("debug.seed", "run.seed")};
  // Sequence parallelism is on by default and means nothing without TP.
  table.rows[7].read = [read = table.rows[7].read](Draft& draft) -> Result<void> {
    if (Result<void> set = read(draft); !set) return set;
    if (draft.setup.mesh.tp == 1) draft.setup.sequence_parallel = false;
    return {};
  };
  table.ignored = {"import *",
                   "metrics*",
                   "checkpoint*",
                   "validator*",
                   "profiler*",
                   "dataloader*",
                   "lr_scheduler*",
                   "hf_assets_path",
                   "dump_folder",
                   "loss*",
                   "tokenizer*",
                   "comm*",
                   "training.gc_*",
                   "debug.*",
                   "compile.*",
                   "training",
                   "parallelism",
                   "training.disable_cuda_graphs",
                   "parallelism.spmd_backend",
                   "training.mixed_precision_reduce"};
  table.reasons = {
      {"schedule", message("framework-titan-schedule",
                           "An order of one's own can be given to it as a file "
                           "(pipeline_parallel_schedule_csv): schedule FILE --notation pytorch "
                           "--out CSV writes it.")},
      {"zero", message("framework-titan-zero",
                       "FSDP shares out parameters, gradients and optimizer states together.")},
      {"mesh.expert_tensor",
       message("framework-titan-ep",
               "torchtitan takes EP out of TP as well and never cuts an expert.")},
      {"model", message("framework-titan-model",
                        "It takes models from its own registry; give the recipe your model's "
                        "configuration.")}};
  table.print = print_titan;
  table.parse = parse_recipe;
  return table;
}

}  // namespace parallelarium::frameworks

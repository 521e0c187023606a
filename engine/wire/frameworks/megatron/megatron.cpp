// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/frameworks/megatron/megatron.h"

#include <algorithm>

#include "engine/plan/settings/alternatives.h"
#include "engine/wire/frameworks/syntax/syntax.h"

namespace parallelarium::frameworks {
namespace {

FrameworkRow batches(const MegatronNames& n) {
  const std::string name = n("global-batch-size", "train.global_batch_size");
  FrameworkRow row;
  row.names = {name};
  row.settings = {"microbatches"};
  row.write = [name](const Setup& setup, Entries& entries) {
    entries.emplace_back(name, setup.global_batch());
  };
  row.read = [name](Draft& draft) -> Result<void> {
    draft.setup.microbatches = 1;
    const Result<std::int64_t> batch = whole_at(draft, name, 0, 1, 1'000'000'000);
    if (!batch) return batch.error();
    draft.global_batch = *batch;
    return {};
  };
  return row;
}

int bytes_of_word(const std::string& word) {
  if (word.find("32") != std::string::npos) return 4;
  return word.find("8") != std::string::npos && word.find("16") == std::string::npos ? 1 : 2;
}

// Parameters in bf16, gradients as they are reduced, a master in fp32; a precision-aware optimizer
// may hold master and moments in fewer bytes.
FrameworkRow bytes_of_states(const MegatronNames& n) {
  const std::string bf16 = n("bf16", "mixed_precision.bf16");
  const std::string aware =
      n("use-precision-aware-optimizer", "optimizer.use_precision_aware_optimizer");
  const std::string master = n("main-params-dtype", "optimizer.main_params_dtype");
  const std::string mean = n("exp-avg-dtype", "optimizer.exp_avg_dtype");
  const std::string square = n("exp-avg-sq-dtype", "optimizer.exp_avg_sq_dtype");
  const std::string grads = n("main-grads-dtype", "optimizer.main_grads_dtype");
  const std::string reduced = n("grad-reduce-in-bf16", "mixed_precision.grad_reduce_in_fp32");
  const std::string sums = "accumulate-allreduce-grads-in-fp32";
  FrameworkRow row;
  row.names = {bf16,
               aware,
               master,
               mean,
               square,
               grads,
               reduced,
               "mixed_precision",
               sums,
               "fp16",
               "mixed_precision.params_dtype",
               "ddp.grad_reduce_in_fp32"};
  row.settings = {"precision"};
  row.write = [=, line = n.line](const Setup& setup, Entries& entries) {
    const Precision& precision = setup.precision;
    const auto type = [line](const char* short_name, const char* long_name) {
      return line ? nlohmann::json(short_name) : identifier(long_name);
    };
    if (precision.parameter_bytes == 4) {
      if (!line) entries.emplace_back("mixed_precision", nullptr);
      if (!line) entries.emplace_back(aware, false);
      return;
    }
    if (!line) entries.emplace_back("mixed_precision", call("MixedPrecisionConfig"));
    entries.emplace_back(bf16, true);
    if (!line) {
      entries.emplace_back("mixed_precision.params_dtype", identifier("torch.bfloat16"));
      entries.emplace_back(reduced, precision.gradient_bytes == 4);
    } else if (precision.gradient_bytes == 2) {
      entries.emplace_back(reduced, true);
    }
    const bool halved_master = precision.master_bytes == 2;
    const bool halved_moments = precision.moments_bytes == 4,
               eighths = precision.moments_bytes == 2;
    if (!halved_master && !halved_moments && !eighths && !setup.offload_optimizer) {
      if (!line) entries.emplace_back(aware, false);
      return;
    }
    entries.emplace_back(aware, true);
    if (halved_master) entries.emplace_back(master, type("fp16", "torch.float16"));
    for (const std::string& moment : {mean, square}) {
      if (halved_moments) entries.emplace_back(moment, type("bf16", "torch.bfloat16"));
      if (eighths) entries.emplace_back(moment, type("fp8", "torch.uint8"));
    }
  };
  row.read = [=, line = n.line](Draft& draft) -> Result<void> {
    const std::string recipe = word_at(draft, "mixed_precision", "");
    const bool half = flag_at(draft, bf16, false) || flag_at(draft, "fp16", false) ||
                      recipe.find("16") != std::string::npos;
    if (!half) {
      put_precision(draft.setup, 4, 4, 0, 8);
      return {};
    }
    // In bf16 Megatron sums in fp32 unless told otherwise, in fp16 only where told so.
    const bool wide =
        line ? (flag_at(draft, "fp16", false) ? flag_at(draft, sums, false)
                                              : !flag_at(draft, reduced, false))
             : flag_at(draft, reduced, flag_at(draft, "ddp.grad_reduce_in_fp32", true));
    const bool is_aware = flag_at(draft, aware, false);
    const auto of = [&](const std::string& name) {
      return is_aware ? bytes_of_word(word_at(draft, name, "fp32")) : 4;
    };
    put_precision(draft.setup, 2, wide ? 4 : 2, of(master), of(mean) + of(square));
    return {};
  };
  return row;
}

// Each tensor is scaled by its own largest number, as here, not by those of earlier steps.
FrameworkRow eighths(const MegatronNames& n) {
  const std::string name = n("fp8-format", "mixed_precision.fp8");
  const std::string scaling = n("fp8-recipe", "mixed_precision.fp8_recipe");
  FrameworkRow row;
  row.names = {name, scaling};
  row.settings = {"products"};
  row.write = [name, scaling](const Setup& setup, Entries& entries) {
    if (setup.products != ProductType::kFp8) return;
    entries.emplace_back(name, "hybrid");
    entries.emplace_back(scaling, "tensorwise");
  };
  row.read = [name, scaling](Draft& draft) -> Result<void> {
    if (const std::string own = word_at(draft, scaling, "tensorwise"); own != "tensorwise")
      draft.notes.push_back(message("framework-fp8-recipe",
                                    "FP8 is scaled by tensor here; the recipe {} is left out.",
                                    shown(own)));
    const std::string recipe = word_at(draft, "mixed_precision", "");
    const bool is_fp8 = draft.find(name) != nullptr || recipe.find("fp8") != std::string::npos;
    draft.setup.products = is_fp8 ? ProductType::kFp8 : ProductType::kSame;
    return {};
  };
  return row;
}

constexpr std::pair<const char*, const char*> kModules[] = {{"selective", "core_attn"},
                                                            {"norms", "layernorm"},
                                                            {"activation", "moe_act"},
                                                            {"up-projection", "mla_up_proj"},
                                                            {"experts", "moe"}};

// What the modules would be where the model has experts or none: the activation is theirs alone.
std::vector<std::string> modules_of(const Setup& setup) {
  const std::string parts = "," + text_of(setup.recompute) + ",";
  std::vector<std::string> modules;
  for (const auto& [ours, theirs] : kModules) {
    const bool only_experts = std::string_view(theirs) == "moe_act";
    if (parts.find("," + std::string(ours) + ",") == std::string::npos) continue;
    if (!only_experts || setup.model.experts.count > 0) modules.emplace_back(theirs);
  }
  return modules;
}

FrameworkRow recomputed(const MegatronNames& n) {
  const std::string kind = n("recompute-granularity", "model.recompute_granularity");
  const std::string method = n("recompute-method", "model.recompute_method");
  const std::string layers = n("recompute-num-layers", "model.recompute_num_layers");
  const std::string modules = n("recompute-modules", "model.recompute_modules");
  FrameworkRow row;
  row.names = {kind, method, layers, modules, "recompute-activations"};
  row.settings = {"recompute", "recompute_layers"};
  row.write = [=](const Setup& setup, Entries& entries) {
    if (setup.recompute == Recompute::kFull) {
      entries.emplace_back(kind, "full");
      entries.emplace_back(method, setup.recompute_layers > 0 ? "block" : "uniform");
      entries.emplace_back(layers, std::max(1, setup.recompute_layers));
    } else if (const std::vector<std::string> parts = modules_of(setup); !parts.empty()) {
      entries.emplace_back(kind, "selective");
      entries.emplace_back(modules, parts);
    }
  };
  row.read = [=](Draft& draft) -> Result<void> {
    Setup& setup = draft.setup;
    setup.recompute = Recompute::kNone;
    setup.recompute_layers = 0;
    const std::string usual = flag_at(draft, "recompute-activations", false) ? "selective" : "";
    const std::string word = word_at(draft, kind, usual);
    if (word.empty()) return {};
    if (word != "full" && word != "selective")
      return unknown_choice(draft.shown_name(kind), word, {"full", "selective"});
    const Result<std::int64_t> count = whole_at(draft, layers, 1, 0, 10'000);
    if (!count) return count.error();
    if (word == "full") {
      setup.recompute = Recompute::kFull;
      if (word_at(draft, method, "uniform") == "block")
        setup.recompute_layers = static_cast<int>(*count);
      else if (*count > 1)
        draft.notes.push_back(
            message("framework-uniform",
                    "{} {} keeps the input of every {}th layer; a Setup keeps that of each layer.",
                    draft.shown_name(layers), *count, *count));
      return {};
    }
    nlohmann::json list = draft.find(modules) ? *draft.find(modules) : nlohmann::json("core_attn");
    if (!list.is_array()) list = nlohmann::json::array({list});
    for (const nlohmann::json& entry : list) {
      const std::string module = word_of(entry);
      const auto found = std::find_if(std::begin(kModules), std::end(kModules),
                                      [&](const auto& pair) { return module == pair.second; });
      if (found == std::end(kModules)) {
        draft.notes.push_back(message("framework-module",
                                      "A Setup cannot compute “{}” of {} again, so it is kept.",
                                      shown(module), draft.shown_name(modules)));
        continue;
      }
      Setup one;
      if (Result<void> set = put_setting(one, "recompute", found->first, "recompute"); !set)
        return set;
      setup.recompute = setup.recompute | one.recompute;
    }
    return {};
  };
  return row;
}

FrameworkRow attention_kernel(const MegatronNames& n) {
  const std::string name = n("attention-backend", "model.attention_backend");
  const auto word = [line = n.line](const char* of) {
    return line ? nlohmann::json(of) : identifier(std::string("AttnBackend.") + of);
  };
  FrameworkRow row = translated(name, "attention",
                                {{word("fused"), "fused"},
                                 {word("unfused"), "unfused"},
                                 {word("flash"), "fused"},
                                 {word("auto"), "fused"},
                                 {word("local"), "unfused"}},
                                word("auto"));
  row.names.push_back("use-flash-attn");
  return row;
}

}  // namespace

std::vector<FrameworkRow> megatron_training_rows(const MegatronNames& n) {
  FrameworkRow offload =
      n.flag("optimizer-cpu-offload", true, "optimizer.optimizer_cpu_offload", "offload_optimizer");
  std::vector<FrameworkRow> rows = {
      same(n("micro-batch-size", "train.micro_batch_size"), "micro_batch"),
      batches(n),
      bytes_of_states(n),
      eighths(n),
      recomputed(n),
      attention_kernel(n),
      std::move(offload),
      same(n("lr", "optimizer.lr"), "learning_rate"),
      fixed(n("lr-decay-style", "scheduler.lr_decay_style"), "constant"),
      same(n("clip-grad", "optimizer.clip_grad"), "clip", 1.0),
      same(n("seed", "rng.seed"), "run.seed", 1234),
      same(n("train-iters", "train.train_iters"), "run.steps")};
  // The time of a step is printed every 100 steps, which a trial does not have.
  if (n.line)
    for (auto& [name, value] : std::vector<Entry>{
             {"mock-data", true}, {"log-interval", 1}, {"log-throughput", true}, {"eval-iters", 0}})
      rows.push_back(fixed(name, value));
  if (n.line) rows.push_back(adam("optimizer", nullptr));
  return rows;
}

}  // namespace parallelarium::frameworks

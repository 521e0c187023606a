// SPDX-License-Identifier: Apache-2.0
// One field from its name and text: the command line, lessons and the app's buttons.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "engine/plan/machine/machine.h"
#include "engine/plan/setup/alternatives.h"
#include "engine/plan/setup/setting_values.h"
#include "engine/plan/setup/settings_reader.h"
#include "engine/plan/setup/setup.h"
#include "engine/plan/setup/setup_names.h"

namespace parallelarium {
namespace {

using Set =
    std::function<Result<void>(Setup& setup, const std::string& key, std::string_view value)>;

struct Field {
  FieldInfo info;
  Set set;
};

Result<void> set_model(Setup& setup, const std::string&, std::string_view value) {
  Result<Model> model = plain("");
  if (value.starts_with('{')) {
    Result<nlohmann::json> json = parse_json(value);
    if (!json) return json.error();
    model = model_from_json(*json);
  } else {
    model = find_model(std::string(value));
  }
  if (!model) return model.error();
  setup.model = std::move(*model);
  setup.stage_layers.clear();
  return {};
}

Result<void> set_machine(Setup& setup, const std::string& key, std::string_view value) {
  const std::vector<std::string> names = machine_names();
  const std::string name = machine_called(std::string(value));
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    Message error = bad_value(key, value, join_or(names));
    error.alternatives = names;
    return error;
  }
  setup.machine = name;
  return {};
}

Result<void> set_precision(Setup& setup, const std::string& key, std::string_view value) {
  if (value.starts_with('{')) {
    Result<nlohmann::json> json = parse_json(value);
    if (!json) return json.error();
    const Result<Setup> read = setup_from_json({{"precision", std::move(*json)}});
    if (!read) return read.error();
    setup.precision = read->precision;
    return {};
  }
  if (std::optional<Precision> named = find_precision(value)) {
    setup.precision = std::move(*named);
    return {};
  }
  const std::vector<std::string> names = precision_names();
  Message error = bad_value(key, value, join_or(names));
  error.alternatives = names;
  return error;
}

Result<void> set_sequence_parallel(Setup& setup, const std::string& key, std::string_view value) {
  constexpr std::array kWords = {Word<bool>{true, "true"}, Word<bool>{false, "false"},
                                 Word<bool>{true, "on"},   Word<bool>{false, "off"},
                                 Word<bool>{true, "1"},    Word<bool>{false, "0"}};
  return set_choice(setup.sequence_parallel, key, value, kWords);
}

Result<void> set_stage_layers(Setup& setup, const std::string& key, std::string_view value) {
  std::vector<int> layers;
  if (value != "even") {
    while (true) {
      const std::size_t comma = value.find(',');
      int count = 0;
      if (auto set = set_whole(count, key, value.substr(0, comma), {1, 10'000}); !set) return set;
      layers.push_back(count);
      if (layers.size() > kMostStages) return bad_value(key, value, message(kValueShorterList));
      if (comma == std::string_view::npos) break;
      value.remove_prefix(comma + 1);
    }
  }
  setup.stage_layers = std::move(layers);
  return {};
}

Result<void> set_seed(Setup& setup, const std::string& key, std::string_view value) {
  std::uint64_t seed = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), seed);
  if (code != std::errc() || end != value.data() + value.size())
    return bad_value(key, value, message(kValueWholeFromZero));
  setup.run.seed = seed;
  return {};
}

// Changes the shape through `change`. What the preset derived from the changed number follows: the
// inner width where it was the default one, key/value heads where they were all heads, the
// published split where the layers change. The model is then "custom", unless it is a preset again.
template <class Change>
Result<void> change_model(Setup& setup, const Change& change) {
  const Model before = setup.model;
  Model model = before;
  if (Result<void> changed = change(model); !changed) return changed;
  if (model == before) return {};
  if (model.ffn == before.ffn && before.ffn == default_ffn(before.hidden, before.mlp))
    model.ffn = default_ffn(model.hidden, model.mlp);
  if (model.kv_heads == before.kv_heads && before.kv_heads == before.heads)
    model.kv_heads = model.heads;
  if (model.layers != before.layers) {
    model.stage_layers.clear();
    setup.stage_layers.clear();
  }
  model.name = "custom";
  model.title = "Custom model";
  model.sources.clear();
  for (const std::string& name : model_names()) {
    Result<Model> preset = find_model(name);
    if (!preset) continue;
    Model shape = *preset;
    shape.name = model.name;
    shape.title = model.title;
    shape.sources.clear();
    if (shape == model) {
      setup.model = std::move(*preset);
      return {};
    }
  }
  setup.model = std::move(model);
  return {};
}

constexpr Range kHeads{1, 1 << 16}, kWidth{1, 1 << 24}, kLayers{1, 10'000}, kHidden{1, 1 << 20};

// Setters of one plain member that `get` returns by reference.
template <class Get>
Set whole(Get get, Range range) {
  return [=](Setup& setup, const std::string& key, std::string_view value) {
    return set_whole(get(setup), key, value, range);
  };
}
template <class Get>
Set number(Get get, Range range) {
  return [=](Setup& setup, const std::string& key, std::string_view value) {
    return set_number(get(setup), key, value, range);
  };
}
template <class Get>
Set text(Get get) {
  return [=](Setup& setup, const std::string& key, std::string_view value) {
    return set_text(get(setup), key, value);
  };
}
template <class Get, class Words>
Set choice(Get get, const Words& words) {
  return [=](Setup& setup, const std::string& key, std::string_view value) {
    return set_choice(get(setup), key, value, words);
  };
}

// The same for a member of the model.
template <class Member>
Set shape(Member member, Range range) {
  return [=](Setup& setup, const std::string& key, std::string_view value) {
    return change_model(setup,
                        [&](Model& model) { return set_whole(model.*member, key, value, range); });
  };
}
template <class Member, class Words>
Set shape_choice(Member member, const Words& words) {
  return [=](Setup& setup, const std::string& key, std::string_view value) {
    return change_model(setup,
                        [&](Model& model) { return set_choice(model.*member, key, value, words); });
  };
}

// The same for a member of the model's experts.
template <class Member>
Set experts(Member member, Range range) {
  return [=](Setup& setup, const std::string& key, std::string_view value) {
    return change_model(
        setup, [&](Model& model) { return set_whole(model.experts.*member, key, value, range); });
  };
}

// In the order in which the command line applies them: what others are derived from comes first.
const std::vector<Field>& fields() {
  static const std::vector<Field> kFields = {
      {{"model", "model", "a preset's name, or its shape as {...}"}, set_model},
      {{"layers", "model.layers", "transformer layers"}, shape(&Model::layers, kLayers)},
      {{"hidden", "model.hidden", "width of the residual stream"}, shape(&Model::hidden, kHidden)},
      {{"heads", "model.heads", "attention heads"}, shape(&Model::heads, kHeads)},
      {{"kv-heads", "model.kv_heads", "key/value heads"}, shape(&Model::kv_heads, kHeads)},
      {{"mlp", "model.mlp", "gelu or swiglu"}, shape_choice(&Model::mlp, kMlps)},
      {{"norm", "model.norm", "layer or rms"}, shape_choice(&Model::norm, kNorms)},
      {{"ffn", "model.ffn", "inner width of the MLP"}, shape(&Model::ffn, kWidth)},
      {{"vocab", "model.vocab", "tokens in the vocabulary"}, shape(&Model::vocab, kWidth)},
      {{"sequence", "model.sequence", "tokens in a sequence"}, shape(&Model::sequence, kWidth)},
      {{"experts", "model.experts.count", "experts of a layer; 0: a dense model"},
       experts(&Experts::count, {0, 1 << 16})},
      {{"top-k", "model.experts.top_k", "experts that a token visits"},
       experts(&Experts::top_k, {0, 1 << 16})},
      {{"shared-experts", "model.experts.shared", "experts that every token visits"},
       experts(&Experts::shared, {0, 1 << 10})},
      {{"expert-ffn", "model.experts.ffn", "inner width of an expert"},
       experts(&Experts::ffn, {0, kWidth.high})},
      {{"first-dense", "model.experts.first_dense", "leading layers without experts"},
       experts(&Experts::first_dense, {0, kLayers.high})},
      {{"capacity", "model.experts.capacity",
        "capacity factor of an expert; 0: no token is dropped"},
       [](Setup& setup, const std::string& key, std::string_view value) {
         return change_model(setup, [&](Model& model) {
           return set_number(model.experts.capacity, key, value, {0, 1 << 16});
         });
       }},
      {{"router", "model.experts.router", "softmax or sigmoid"},
       [](Setup& setup, const std::string& key, std::string_view value) {
         return change_model(setup, [&](Model& model) {
           return set_choice(model.experts.router, key, value, kRouters);
         });
       }},
      {{"expert-groups", "model.experts.groups", "groups of experts, such as nodes; 0: none"},
       experts(&Experts::groups, {0, 1 << 16})},
      {{"group-limit", "model.experts.group_limit", "groups whose experts a token may use"},
       experts(&Experts::group_limit, {0, 1 << 16})},
      {{"machine", "machine", "a machine's name: local, dgx-h100, ..."}, set_machine},
      {{"nodes", "nodes", "nodes of the machine; 0: as many as the ranks need"},
       whole(
           [](Setup & s) -> auto& { return s.nodes; }, kNodes)},
      {{"dp", "mesh.dp", "data-parallel replicas"},
       whole(
           [](Setup & s) -> auto& { return s.mesh.dp; }, kDegrees)},
      {{"tp", "mesh.tp", "tensor-parallel ranks"},
       whole(
           [](Setup & s) -> auto& { return s.mesh.tp; }, kDegrees)},
      {{"pp", "mesh.pp", "pipeline stages"},
       whole(
           [](Setup & s) -> auto& { return s.mesh.pp; }, kDegrees)},
      {{"cp", "mesh.cp", "context-parallel ranks"},
       whole(
           [](Setup & s) -> auto& { return s.mesh.cp; }, kDegrees)},
      {{"ep", "mesh.ep", "expert-parallel ranks, out of DP"},
       whole(
           [](Setup & s) -> auto& { return s.mesh.ep; }, kDegrees)},
      {{"order", "mesh.order", "rank order, innermost axis first: tp-cp-ep-dp-pp, tp-cp-ep-pp-dp"},
       choice(
           [](Setup & s) -> auto& { return s.mesh.order; }, kRankOrders)},
      {{"sequence-parallel", "sequence_parallel", "split norms along the sequence: true or false"},
       set_sequence_parallel},
      {{"zero", "zero", "ZeRO stage 0, 1, 2 or 3"},
       whole(
           [](Setup & s) -> auto& { return s.zero; }, kZero)},
      {{"zero-group", "zero_group", "ranks that share model states; 0: all of DP"},
       whole(
           [](Setup & s) -> auto& { return s.zero_group; }, kZeroGroup)},
      {{"zero-prefetch", "zero_prefetch", "layers that ZeRO 3 gathers ahead of the computing one"},
       whole(
           [](Setup & s) -> auto& { return s.zero_prefetch; }, kZeroPrefetch)},
      {{"precision", "precision",
        "auto, mixed-16, mixed-16-main-grads, bf16-states, fp32 or {...}"},
       set_precision},
      {{"schedule", "schedule",
        "naive, gpipe, 1f1b, interleaved, zb-h1, zb-h2, zb-v, dualpipe, dualpipe-v, or a file of "
        "orders"},
       text([](Setup & s) -> auto& { return s.schedule; })},
      {{"chunks", "chunks", "model chunks per rank"},
       whole(
           [](Setup & s) -> auto& { return s.chunks; }, kChunks)},
      {{"stage-layers", "stage_layers", "layers of each stage, as 3,2,2,1; or even"},
       set_stage_layers},
      {{"micro-batch", "micro_batch", "sequences in a micro-batch"},
       whole(
           [](Setup & s) -> auto& { return s.micro_batch; }, kMicroBatch)},
      {{"microbatches", "microbatches", "micro-batches per replica and step"},
       whole(
           [](Setup & s) -> auto& { return s.microbatches; }, kMicrobatches)},
      {{"recompute", "recompute", "none, selective or full"},
       choice(
           [](Setup & s) -> auto& { return s.recompute; }, kRecomputes)},
      {{"context-parallel", "context_parallel", "ring, all-gather or ulysses"},
       choice(
           [](Setup & s) -> auto& { return s.context_parallel; }, kContextParallels)},
      {{"attention", "attention", "auto, unfused or fused"},
       choice(
           [](Setup & s) -> auto& { return s.attention; }, kAttentions)},
      {{"collectives", "collectives", "direct, ring, ..., or all_reduce=ring,all_gather=bruck"},
       text([](Setup & s) -> auto& { return s.collectives; })},
      {{"dropout", "dropout", "probability from 0 to 0.99"},
       number(
           [](Setup & s) -> auto& { return s.dropout; }, kDropout)},
      {{"learning-rate", "learning_rate", "AdamW's step size"},
       number(
           [](Setup & s) -> auto& { return s.learning_rate; }, kLearningRate)},
      {{"clip", "clip", "bound of the gradient norm; 0: none"},
       number(
           [](Setup & s) -> auto& { return s.clip; }, kClip)},
      {{"balance-loss", "balance_loss", "coefficient of the experts' balance loss; 0: none"},
       number(
           [](Setup & s) -> auto& { return s.balance_loss; }, kBalance)},
      {{"z-loss", "z_loss", "coefficient of the routers' z-loss; 0: none"},
       number(
           [](Setup & s) -> auto& { return s.z_loss; }, kBalance)},
      {{"bias-rate", "bias_rate", "change of an expert's selection bias per step; 0: no bias"},
       number(
           [](Setup & s) -> auto& { return s.bias_rate; }, kBalance)},
      {{"expert-placement", "expert_placement", "blocked or round-robin"},
       choice(
           [](Setup & s) -> auto& { return s.expert_placement; }, kExpertPlacements)},
      {{"skew", "skew", "share of the tokens that is sent to expert 0, from 0 to 1"},
       number(
           [](Setup & s) -> auto& { return s.skew; }, kSkew)},
      {{"backend", "run.backend", "auto, cpu, paced or cuda"},
       choice(
           [](Setup & s) -> auto& { return s.run.backend; }, kBackends)},
      {{"pace", "run.pace_seconds", "seconds of one sequence's forward in a paced run"},
       number(
           [](Setup & s) -> auto& { return s.run.pace_seconds; }, kPace)},
      {{"steps", "run.steps", "timed training steps"},
       whole(
           [](Setup & s) -> auto& { return s.run.steps; }, kSteps)},
      {{"warmup", "run.warmup", "training steps before the timed ones"},
       whole(
           [](Setup & s) -> auto& { return s.run.warmup; }, kWarmup)},
      {{"seed", "run.seed", "seed of parameters and data"}, set_seed},
      {{"text", "run.text", "default, or a UTF-8 file to train on"},
       text([](Setup & s) -> auto& { return s.run.text; })},
      {{"devices", "run.devices", "all, or the GPUs that ranks may use, such as 0,2"},
       text([](Setup & s) -> auto& { return s.run.devices; })},
  };
  return kFields;
}

}  // namespace

const std::vector<FieldInfo>& setup_fields() {
  static const std::vector<FieldInfo> kInfos = [] {
    std::vector<FieldInfo> infos;
    for (const Field& field : fields()) infos.push_back(field.info);
    return infos;
  }();
  return kInfos;
}

Result<void> set_field(Setup& setup, std::string_view name, std::string_view value) {
  for (const Field& field : fields()) {
    if (field.info.option != name && field.info.key != name) continue;
    return field.set(setup, field.info.key, value);
  }
  std::vector<std::string> names;
  for (const Field& field : fields()) names.push_back(field.info.option);
  Message error = message("field-unknown", "There is no setting “{}”; there are {}.", shown(name),
                          fmt::format("{}", fmt::join(names, ", ")));
  error.alternatives = names;
  return error;
}

}  // namespace parallelarium

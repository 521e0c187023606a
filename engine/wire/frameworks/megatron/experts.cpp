// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/plan/settings/alternatives.h"
#include "engine/wire/frameworks/megatron/megatron.h"
#include "engine/wire/frameworks/syntax/syntax.h"

namespace parallelarium::frameworks {
namespace {

bool has_experts(const Setup& setup) { return setup.model.experts.count > 0; }

// Layers without experts come first: "([0]*3+[1]*58)".
FrameworkRow dense_layers(const MegatronNames& n) {
  const std::string name = n("moe-layer-freq", "model.moe_layer_freq");
  FrameworkRow row;
  row.names = {name};
  row.settings = {"model.experts.first_dense"};
  row.write = [name, line = n.line](const Setup& setup, Entries& entries) {
    const int dense = setup.model.experts.first_dense, all = setup.model.layers;
    if (!has_experts(setup) || dense == 0) return;
    std::string list = fmt::format("[0]*{}+[1]*{}", dense, all - dense);
    if (line)
      entries.emplace_back(name, "(" + list + ")");
    else
      entries.emplace_back(name, identifier(list));
  };
  row.read = [name](Draft& draft) -> Result<void> {
    draft.setup.model.experts.first_dense = 0;
    const nlohmann::json* value = draft.find(name);
    if (value == nullptr || draft.setup.model.experts.count == 0) return {};
    nlohmann::json list = *value;
    if (value->is_string()) {
      const Result<nlohmann::json> parsed = parse_expression(value->get<std::string>());
      if (!parsed) return parsed.error();
      list = *parsed;
    }
    if (list == 1) return {};
    std::size_t dense = 0;
    bool leading = list.is_array();
    while (leading && dense < list.size() && list[dense] == 0) ++dense;
    for (std::size_t layer = dense; leading && layer < list.size(); ++layer)
      leading = list[layer] == 1;
    if (leading) {
      draft.setup.model.experts.first_dense = static_cast<int>(dense);
      return {};
    }
    draft.notes.push_back(message("framework-moe-layers",
                                  "{} puts experts into some layers in between; a Setup has them "
                                  "in all layers behind the first ones, so here in all.",
                                  draft.shown_name(name)));
    return {};
  };
  return row;
}

FrameworkRow shared_experts(const MegatronNames& n) {
  const std::string name =
      n("moe-shared-expert-intermediate-size", "model.moe_shared_expert_intermediate_size");
  FrameworkRow row;
  row.names = {name};
  row.settings = {"model.experts.shared"};
  row.write = [name](const Setup& setup, Entries& entries) {
    const Experts& experts = setup.model.experts;
    if (experts.count > 0 && experts.shared > 0)
      entries.emplace_back(name, experts.shared * experts.ffn);
  };
  row.read = [name](Draft& draft) -> Result<void> {
    Experts& experts = draft.setup.model.experts;
    experts.shared = 0;
    const Result<std::int64_t> width = whole_at(draft, name, 0);
    if (!width) return width.error();
    if (experts.count == 0 || *width == 0) return {};
    if (*width % experts.ffn != 0)
      return message(
          "framework-shared-experts",
          "{} is {}, no multiple of an expert's inner width of {}; a Setup counts shared "
          "experts of that width.",
          draft.shown_name(name), *width, experts.ffn);
    experts.shared = static_cast<int>(*width / experts.ffn);
    return {};
  };
  return row;
}

FrameworkRow selection_bias(const MegatronNames& n) {
  const std::string on = n("moe-router-enable-expert-bias", "model.moe_router_enable_expert_bias");
  const std::string rate = n("moe-router-bias-update-rate", "model.moe_router_bias_update_rate");
  FrameworkRow row;
  row.names = {on, rate};
  row.settings = {"bias_rate"};
  row.write = [on, rate](const Setup& setup, Entries& entries) {
    // transformer_config.py: not of a softmax.
    if (setup.bias_rate == 0 || setup.model.experts.router != Router::kSigmoid) return;
    entries.emplace_back(on, true);
    entries.emplace_back(rate, setup.bias_rate);
  };
  row.read = [on, rate](Draft& draft) -> Result<void> {
    draft.setup.bias_rate = 0;
    if (!flag_at(draft, on, false)) return {};
    const nlohmann::json usual = 1e-3;
    const nlohmann::json* value = draft.find(rate);
    return put_setting(draft.setup, "bias_rate", value ? *value : usual, draft.shown_name(rate));
  };
  return row;
}

FrameworkRow balance(const MegatronNames& n) {
  const std::string kind =
      n("moe-router-load-balancing-type", "model.moe_router_load_balancing_type");
  const std::string name = n("moe-aux-loss-coeff", "model.moe_aux_loss_coeff");
  FrameworkRow row;
  row.names = {name, kind};
  row.settings = {"balance_loss"};
  row.write = [kind, name](const Setup& setup, Entries& entries) {
    if (!has_experts(setup)) return;
    entries.emplace_back(kind, setup.balance_loss > 0 ? "aux_loss" : "none");
    entries.emplace_back(name, setup.balance_loss);
  };
  row.read = [kind, name](Draft& draft) -> Result<void> {
    const nlohmann::json* value = draft.find(name);
    const std::string type = word_at(draft, kind, "aux_loss");
    draft.setup.balance_loss = 0;
    if (value == nullptr || type == "none") return {};
    if (type != "aux_loss")
      draft.notes.push_back(message("framework-balance",
                                    "{} {} is read as the balance loss of a micro-batch.",
                                    draft.shown_name(kind), shown(type)));
    return put_setting(draft.setup, "balance_loss", *value, draft.shown_name(name));
  };
  return row;
}

// transformer_config.py: with EP, without full recompute, and in a pipeline interleaved only.
FrameworkRow exchanges_overlap(const MegatronNames& n) {
  FrameworkRow row = n.flag("overlap-moe-expert-parallel-comm", true,
                            "model.overlap_moe_expert_parallel_comm", "overlap_experts");
  row.write = [write = row.write](const Setup& setup, Entries& entries) {
    const bool staged = setup.mesh.pp == 1 || setup.schedule == "interleaved";
    const bool can = setup.mesh.ep > 1 && staged && setup.recompute != Recompute::kFull;
    if (can || !setup.overlap_experts) write(setup, entries);
  };
  return row;
}

// TP cuts experts, too, unless told otherwise; EP takes the ranks of CP in either case, which a
// Setup says of whole experts alone. Source: core/model_parallel_config.py, __post_init__;
// core/parallel_state.py, initialize_model_parallel.
FrameworkRow expert_tensor(const MegatronNames& n) {
  const std::string name = n("expert-tensor-parallel-size", "model.expert_tensor_parallel_size");
  FrameworkRow row;
  row.names = {name};
  row.settings = {"mesh.expert_tensor"};
  row.write = [name](const Setup& setup, Entries& entries) {
    if (has_whole_experts(setup)) entries.emplace_back(name, 1);
  };
  row.read = [name](Draft& draft) -> Result<void> {
    Mesh& mesh = draft.setup.mesh;
    const Result<std::int64_t> size = whole_at(draft, name, mesh.tp, 1, 65'536);
    if (!size) return size.error();
    const bool over_context = mesh.tp == 1 && mesh.cp > 1 && mesh.ep > 1;
    mesh.expert_tensor = (*size == mesh.tp && !over_context) || !has_experts(draft.setup);
    if (!mesh.expert_tensor && *size != 1)
      draft.notes.push_back(message("framework-expert-tensor",
                                    "{} {} cuts each expert into fewer parts than TP {}; a Setup "
                                    "cuts it into as many as TP, or not at all, as here.",
                                    draft.shown_name(name), *size, mesh.tp));
    return {};
  };
  return row;
}

// Under sequence parallelism each TP rank sends its own tokens to the ranks of its EP group, and
// those that hold the parts of an expert gather what came. Without it Megatron does not train
// experts. Source: core/transformer/moe/token_dispatcher.py, MoEAlltoAllTokenDispatcher,
// token_dispatch and dispatch_postprocess; moe_layer.py, forward.
FrameworkRow dispatcher(const MegatronNames& n) {
  FrameworkRow row = translated(n("moe-token-dispatcher-type", "model.moe_token_dispatcher_type"),
                                "expert_dispatch",
                                {{"alltoall", "copies"},
                                 {"alltoall", "tensor-shares"},
                                 {"flex", "once-per-node"},
                                 {"allgather", nullptr}},
                                "alltoall");
  row.write = [write = row.write, type = n("moe-router-dtype", "model.moe_router_dtype")](
                  const Setup& setup, Entries& entries) {
    write(setup, entries);
    if (setup.expert_dispatch == ExpertDispatch::kOncePerNode)
      entries.emplace_back(type, "fp32");  // DeepEP asks for it
  };
  row.read = [read = row.read](Draft& draft) -> Result<void> {
    if (Result<void> set = read(draft); !set) return set;
    Setup& setup = draft.setup;
    const bool shares = setup.mesh.tp > 1 && setup.mesh.expert_tensor && setup.sequence_parallel;
    if (shares && setup.expert_dispatch == ExpertDispatch::kCopies)
      setup.expert_dispatch = ExpertDispatch::kTensorShares;
    return {};
  };
  return row;
}

// What means nothing of a dense model.
FrameworkRow of_experts(FrameworkRow row) {
  row.read = [read = row.read](Draft& draft) -> Result<void> {
    return has_experts(draft.setup) ? read(draft) : Result<void>();
  };
  return only_where(has_experts, std::move(row));
}

}  // namespace

std::vector<FrameworkRow> megatron_expert_mesh_rows(const MegatronNames& n) {
  return {expert_tensor(n), of_experts(dispatcher(n))};
}

std::vector<FrameworkRow> megatron_expert_rows(const MegatronNames& n) {
  std::vector<FrameworkRow> rows;
  const auto add = [&](FrameworkRow row) { rows.push_back(of_experts(std::move(row))); };
  FrameworkRow count = same(n("num-experts", "model.num_moe_experts"), "model.experts.count", 0,
                            Written::kWhereNotUsual);
  count.read = [read = count.read](Draft& draft) {
    draft.setup.model.experts = {};
    return read(draft);
  };
  rows.push_back(only_where(has_experts, std::move(count)));
  add(same(n("moe-router-topk", "model.moe_router_topk"), "model.experts.top_k", 2));
  FrameworkRow width =
      same(n("moe-ffn-hidden-size", "model.moe_ffn_hidden_size"), "model.experts.ffn");
  width.read = [read = width.read](Draft& draft) {
    draft.setup.model.experts.ffn = draft.setup.model.ffn;
    return read(draft);
  };
  add(std::move(width));
  add(shared_experts(n));
  add(dense_layers(n));
  add(same(n("moe-expert-capacity-factor", "model.moe_expert_capacity_factor"),
           "model.experts.capacity", 0, Written::kWhereNotUsual));
  add(translated(
      n("moe-router-score-function", "model.moe_router_score_function"), "model.experts.router",
      {{"softmax", "softmax"}, {"sigmoid", "sigmoid"}, {"sqrtsoftplus", nullptr}}, "softmax"));
  add(same(n("moe-router-num-groups", "model.moe_router_num_groups"), "model.experts.groups", 0,
           Written::kWhereNotUsual));
  add(same(n("moe-router-group-topk", "model.moe_router_group_topk"), "model.experts.group_limit",
           0, Written::kWhereNotUsual));
  add(balance(n));
  add(same(n("moe-z-loss-coeff", "model.moe_z_loss_coeff"), "z_loss", 0, Written::kWhereNotUsual));
  add(selection_bias(n));
  add(exchanges_overlap(n));
  add(fixed(n("moe-grouped-gemm", "model.moe_grouped_gemm"), true));
  return rows;
}

}  // namespace parallelarium::frameworks

// SPDX-License-Identifier: Apache-2.0
// Why the degrees of a Setup's axes cannot be.
#include <algorithm>

#include "engine/plan/settings/alternatives.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/plan/setup/setup_names.h"
#include "engine/plan/setup/validate_rules.h"

namespace parallelarium {
namespace {

// Whether TP cuts experts: all of them, or those alone that all tokens visit.
bool cuts_experts(const Setup& setup) {
  return setup.mesh.expert_tensor || setup.model.experts.shared > 0;
}

bool tp_fits(const Setup& setup, std::int64_t tp) {
  const Model& model = setup.model;
  return model.heads % tp == 0 && (model.kv_heads % tp == 0 || tp % model.kv_heads == 0) &&
         model.ffn % tp == 0 && (!cuts_experts(setup) || model.experts.ffn % tp == 0);
}

// Where the setting means something: elsewhere it changes nothing.
void check_scatter_gather(const Setup& setup, Messages& wrong) {
  if (!scatters_transfers(setup)) return;
  const std::int64_t tokens = setup.micro_batch * (setup.model.sequence / setup.mesh.cp);
  if (tokens * setup.model.hidden % setup.mesh.tp != 0)
    add(wrong,
        message("scatter-gather-share",
                "Scatter/gather needs TP {} to divide the {} numbers that a stage sends.",
                setup.mesh.tp, tokens * setup.model.hidden),
        "scatter_gather", {"false"});
  if (hands_over_in_a_rank(setup))
    add(wrong,
        message("scatter-gather-v",
                "Scatter/gather cuts what ranks send, and in this schedule a rank hands a whole "
                "micro-batch on to itself; choose another schedule, or turn it off."),
        "scatter_gather", {"false"});
}

}  // namespace

void check_tensor(const Setup& setup, Messages& wrong) {
  const Model& model = setup.model;
  const Mesh& mesh = setup.mesh;
  const int tp = mesh.tp;
  if (!tp_fits(setup, tp)) {
    std::vector<std::int64_t> fitting = divisors_near(model.heads, tp, kDegrees.high, 1'000);
    std::erase_if(fitting, [&](std::int64_t value) { return !tp_fits(setup, value); });
    // The nearest below and above.
    std::vector<std::int64_t> near;
    for (const std::int64_t value : fitting) {
      if (value < tp) near.assign(1, value);
      if (value > tp) {
        near.push_back(value);
        break;
      }
    }
    const auto values = as_text(near);
    const auto divided = [&] {
      if (model.heads % tp != 0) return message("tp-heads.heads", "{} heads", model.heads);
      if (model.kv_heads % tp != 0 && tp % model.kv_heads != 0)
        return message("tp-heads.kv-heads", "{} key/value heads", model.kv_heads);
      if (model.ffn % tp != 0)
        return message("tp-heads.ffn", "the MLP's inner width {}", model.ffn);
      return message("tp-heads.experts", "the experts' inner width {}", model.experts.ffn);
    };
    add(wrong,
        message("tp-heads", "TP {} does not divide {}; {} would.", tp, divided(), join_or(values)),
        "mesh.tp", values);
  }
  constexpr int kMostRing = 1024;
  if (setup.ring_tensor && tp == 1)
    add(wrong, message("ring-tensor-tp", "A ring of TP products needs TP above 1."), "ring_tensor",
        {"false"});
  else if (setup.ring_tensor && !setup.sequence_parallel)
    add(wrong,
        message("ring-tensor",
                "A ring of TP products passes on the tokens that sequence parallelism gives each "
                "rank; turn it on."),
        "sequence_parallel", {"true"});
  else if (setup.ring_tensor && tp > kMostRing)
    add(wrong,
        message("ring-tensor-long", "A ring of TP products has at most {} ranks, and TP is {}.",
                kMostRing, tp),
        "ring_tensor", {"false"});
  check_scatter_gather(setup, wrong);
  if (!setup.sequence_parallel) return;
  if (tp == 1) {
    add(wrong,
        message("sp-tp",
                "Sequence parallelism needs TP above 1: it splits norms over the TP ranks."),
        "sequence_parallel", {"false"});
  } else if (model.sequence / mesh.cp % tp != 0) {
    add(wrong,
        message("sp-sequence",
                "Sequence parallelism needs TP {} to divide the {} tokens of a rank.", tp,
                model.sequence / mesh.cp),
        "sequence_parallel", {"false"});
  }
  // Of a product that is computed again the input is gathered again, and its weight gradient reads
  // that.
  const bool gathered_again =
      names(setup.recompute, Recompute::kSecondProducts) && model.mlp == Mlp::kSwiglu;
  if (keeps_gathered_inputs(setup) && names(setup.recompute, Recompute::kNorms) && !gathered_again)
    add(wrong,
        message("sp-kept-norms",
                "Norms that are computed again are gathered again, too: recompute norms or keep "
                "gathered inputs, not both."),
        "sequence_regather", {"true"});
}

void check_context(const Setup& setup, Messages& wrong) {
  const Model& model = setup.model;
  const int cp = setup.mesh.cp;
  if (cp == 1) return;
  if (model.sequence % cp != 0) {
    const auto values = as_text(divisors_near(model.sequence, cp));
    add(wrong,
        message("cp-sequence", "CP {} does not divide a sequence of {} tokens; {} would.", cp,
                model.sequence, join_or(values)),
        "mesh.cp", values);
    return;
  }
  if (setup.context_parallel != ContextParallel::kUlysses) return;
  const int heads = model.heads / setup.mesh.tp;
  if (heads >= 1 && heads % cp != 0) {
    const auto values = as_text(divisors_near(heads, cp));
    add(wrong,
        message("cp-heads",
                "Ulysses shares out heads, and CP {} does not divide {} of them; {} would.", cp,
                heads, join_or(values)),
        "mesh.cp", values);
  }
}

void check_experts(const Setup& setup, Messages& wrong) {
  const Mesh& mesh = setup.mesh;
  const int ep = mesh.ep, count = setup.model.experts.count;
  if (routes_own_tokens(setup) && !setup.sequence_parallel)
    add(wrong,
        mesh.expert_tensor
            ? message("dispatch-shares",
                      "TP ranks have tokens of their own to send only with sequence parallelism; "
                      "turn it on, or send all tokens from each.")
            : message("whole-experts-sp",
                      "Whole experts (ETP 1) get each token from one TP rank, and TP ranks have "
                      "tokens of their own only with sequence parallelism; turn it on, or let TP "
                      "cut experts."),
        "sequence_parallel", {"true"});
  if (ep == 1) return;
  if (count == 0) {
    add(wrong,
        message("ep-dense", "EP {} needs a model with experts, such as moe-tiny or mixtral-8x7b.",
                ep),
        "mesh.ep", {"1"});
    return;
  }
  const int row = mesh.expert_row();
  if (row % ep == 0 && count % ep == 0) return;
  std::vector<std::int64_t> fitting = divisors_near(row, ep, kDegrees.high, 1'000);
  std::erase_if(fitting, [&](std::int64_t value) { return count % value != 0; });
  const auto values = as_text(fitting);
  const auto why = [&] {
    if (row % ep == 0)
      return message("ep-experts", "EP {} does not divide {} experts; {} would.", ep, count,
                     join_or(values));
    if (mesh.expert_tensor)
      return message("ep-dp", "EP {} must divide DP {}, out of which it is taken; {} would.", ep,
                     mesh.dp, join_or(values));
    return message("ep-stage",
                   "EP {} must divide the {} ranks of a stage (TP × CP × DP), out of which it is "
                   "taken where experts are whole; {} would.",
                   ep, row, join_or(values));
  };
  add(wrong, why(), "mesh.ep", values);
}

namespace {

// Whether so many neighbours along CP and DP hold every expert equally often.
bool holds_all_experts(const Mesh& mesh, std::int64_t neighbours) {
  return mesh.expert_tensor ? neighbours % (mesh.ep * mesh.cp) == 0
                            : neighbours * mesh.tp % mesh.ep == 0;
}

}  // namespace

void check_zero(const Setup& setup, Messages& wrong) {
  const Mesh& mesh = setup.mesh;
  if (setup.zero_group == 0) return;
  if (mesh.dp % setup.zero_group == 0) {
    // Replicas of experts are every EP-th: a group holds equally many of each, or one of one.
    const bool one_of_each = mesh.expert_tensor && mesh.cp == 1 && mesh.ep % setup.zero_group == 0;
    if (mesh.ep == 1 || one_of_each || holds_all_experts(mesh, setup.zero_group)) return;
    auto fitting = divisors_near(mesh.dp, setup.zero_group, mesh.dp, 1'000);
    std::erase_if(fitting, [&](std::int64_t value) { return !holds_all_experts(mesh, value); });
    auto values = as_text(fitting);
    values.insert(values.begin(), "0");
    add(wrong,
        mesh.cp > 1
            ? message("zero-group-ep.cp",
                      "A ZeRO group of {} would cut across EP groups of {} with CP {}; {} would "
                      "not.",
                      setup.zero_group, mesh.ep, mesh.cp, join_or(values))
            : message("zero-group-ep",
                      "A ZeRO group of {} would cut across EP groups of {}; {} would not.",
                      setup.zero_group, mesh.ep, join_or(values)),
        "zero_group", values);
    return;
  }
  const auto values = as_text(divisors_near(setup.mesh.dp, setup.zero_group));
  add(wrong,
      message("zero-group", "A ZeRO group of {} does not divide DP {}; {} would.", setup.zero_group,
              setup.mesh.dp, join_or(values)),
      "zero_group", values);
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// The closed forms of what a rank sends over each axis.
#include <algorithm>
#include <cmath>

#include "engine/passes/pieces.h"
#include "engine/plan/model/routing.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/predict/formulas/formula_parts.h"
#include "engine/predict/memory.h"

namespace parallelarium {

namespace {

// "3.322e+09" as "3.322·10⁹".
std::string with_power(const std::string& digits) {
  const std::size_t at = digits.find('e');
  if (at == std::string::npos) return digits;
  static constexpr const char* kRaised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const int exponent = std::stoi(digits.substr(at + 1));
  std::string text = digits.substr(0, at) + "·10" + (exponent < 0 ? "⁻" : "");
  for (const char digit : std::to_string(std::abs(exponent))) text += kRaised[digit - '0'];
  return text;
}

}  // namespace

std::string four_digits(double value) { return with_power(fmt::format("{:.4g}", value)); }

std::string number(double value) {
  if (value != std::floor(value) || std::fabs(value) >= 1e15)
    return with_power(fmt::format("{:.6g}", value));
  std::string digits = fmt::format("{:.0f}", std::fabs(value));
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return value < 0 ? "−" + digits : digits;
}

std::vector<ModelPart> parts_of(const Setup& setup) {
  const RankParameters held = first_rank_parameters(setup);
  if (held.total() == 0) return {};
  const double share = holds_stages_twice(setup) ? 0.5 : 1;
  const double used = share * (held.shared + held.shared_table);
  const int replicas = setup.mesh.dp * setup.mesh.cp, shards = shards_of(setup);
  if (setup.mesh.expert_replicas() == replicas || held.experts == 0)
    return {{{}, held.total(), used + share * held.experts, replicas, shards}};
  return {{message("part-dense", "without routed experts"), held.shared, used, replicas, shards},
          {message("part-experts", "routed experts"), held.experts, share * held.experts,
           setup.mesh.expert_replicas(), expert_shards(setup.mesh, shards)}};
}

Message of_part(Message name, const ModelPart& part) {
  if (part.of.text.empty()) return name;
  Message named = message("formula-of", "{}, {}", name, part.of);
  named.kind = name.kind;
  return named;
}

Message both_notes(const Message& first, const Message& second) {
  if (first.text.empty()) return second;
  if (second.text.empty()) return first;
  return message("notes", "{}; {}", first, second);
}

Message in_bytes(std::string product) {
  return message("formula-in-bytes", "{} · bytes", std::move(product));
}

namespace {

void add_data_traffic(const Setup& setup, const ModelPart& part, Formulas& out) {
  const int N = part.replicas, S = setup.zero > 0 ? part.shards : N, groups = N / S;
  if (N == 1) return;
  const double P = part.parameters, U = part.used;
  const int par = setup.precision.parameter_bytes, grad = reduced_bytes(setup);
  const int m = setup.microbatches;
  std::string expression, values;
  Message note;
  double value = 0;
  if (setup.zero == 0) {
    expression = "2 P (N − 1) / N · grad";
    values = fmt::format("2 · {} · ({} − 1) / {} · {}", number(P), N, N, grad);
    value = 2 * P * (N - 1.0) / N * grad;
  } else {
    const char* u = U == P ? "P" : "U";
    const char* s = groups > 1 ? "S" : "N";
    if (setup.zero == 1) {
      expression = fmt::format("P (grad + par) ({0} − 1) / {0}", s);
      values = fmt::format("{} · ({} + {})", number(P), grad, par);
      value = P * (grad + par);
    } else if (setup.zero == 2) {
      expression = fmt::format("(m {0} grad + P par) ({1} − 1) / {1}", u, s);
      values = fmt::format("({} · {} · {} + {} · {})", m, number(U), grad, number(P), par);
      value = m * U * grad + P * par;
      note = message("note-reduced", "gradients that are sharded are reduced in every micro-batch");
    } else {
      const bool twice = setup.zero_reshard;
      expression = fmt::format("m {0} (grad + {2}par) ({1} − 1) / {1}", u, s, twice ? "2 " : "");
      values = fmt::format("{} · {} · ({} + {}{})", m, number(U), grad, twice ? "2 · " : "", par);
      value = m * U * (grad + (twice ? 2 : 1) * par);
      note = twice ? message("note-gathered",
                             "parameters are gathered for every forward and every backward")
                   : message("note-kept",
                             "parameters that a forward gathered are kept until the next backward "
                             "has used them");
    }
    values += fmt::format(" · ({0} − 1) / {0}", S);
    value *= (S - 1.0) / S;
    if (groups > 1) {
      expression += " + 2 P / S · (G − 1) / G · grad";
      values +=
          fmt::format(" + 2 · {} / {} · ({} − 1) / {} · {}", number(P), S, groups, groups, grad);
      value += 2 * P / S * (groups - 1.0) / groups * grad;
      note = both_notes(
          note, message("note-groups", "G = {} groups of S ranks add up their shards once a step",
                        groups));
    }
    if (U != P && setup.zero >= 2)
      note = both_notes(
          note,
          U < P ? message("note-copies", "U: of the two copies, the one that a micro-batch meets")
                : message("note-tied", "U: the tied table is used at both ends of the V"));
  }
  out.push_back({of_part(message("traffic.data",
                                 "data-parallel traffic sent by a first-stage rank, per step"),
                         part),
                 plain(expression), values, value, "bytes", section_of(kZeroPaper, "VII"), note});
}

// Keys and values of all ranks' tokens for every part of the queries, or heads for tokens.
void add_context(const Setup& setup, Formulas& out) {
  const Model& model = setup.model;
  const int c = setup.mesh.cp, t = setup.mesh.tp;
  const bool local = setup.context_parallel == ContextParallel::kLocal;
  if (c == 1 || local || model.latent.kv_rank > 0 || recomputes_some_layers(setup)) return;
  const double bytes = setup.precision.activation_bytes();
  const double D =
      model.head_dim > 0 ? model.head_dim : static_cast<double>(model.hidden) / model.heads;
  const int H = model.heads / t, K = std::max(1, model.kv_heads / t);
  const double tokens = setup.micro_batch * static_cast<double>(model.sequence) / c;
  if (is_unbalanced(setup))
    out.push_back(
        {message("work.context", "attention of the last CP rank, times the mean"),
         plain("(2 c − 1) / c"), fmt::format("(2 · {} − 1) / {}", c, c), (2.0 * c - 1) / c, "1",
         plain("Brandon et al. 2023, Striped Attention (arXiv 2311.09431)"),
         message("note-contiguous",
                 "of the causal square rank r of c has 1 + 2 r parts of c²: 1 : 3 : 5 …")});
  // Keys and values come once more for any recompute; heads are exchanged outside of attention.
  const bool full = setup.recompute == Recompute::kFull;
  const bool again = full || names(setup.recompute, Recompute::kSelective);
  const Message name =
      message("traffic.context",
              "context traffic sent by a rank, per layer and micro-batch, forward and backward");
  if (setup.context_parallel == ContextParallel::kUlysses) {
    const double heads = 2 * (H / c) + 2 * std::max(K / c, 1), times = full ? 3 : 2;
    out.push_back(
        {name, in_bytes(fmt::format("{} (c − 1) b s/c · d (2 H/c + 2 K/c)", full ? 3 : 2)),
         fmt::format("{} · ({} − 1) · {} · {} · {} · {}", number(times), c, number(tokens),
                     number(D), number(heads), number(bytes)),
         times * (c - 1) * tokens * D * heads * bytes, "bytes",
         section_of("Jacobs et al. 2023, DeepSpeed Ulysses (arXiv 2309.14509)", "3.2"),
         K < c ? message("note-few-heads",
                         "H query and K key/value heads of a rank; those that are fewer than c are "
                         "sent whole, K/c = 1")
               : message("note-heads",
                         "H query and K key/value heads of a rank: all-to-alls of queries, keys, "
                         "values and outputs, and of their gradients")});
    return;
  }
  const double times = again ? 4 : 3;
  out.push_back(
      {name, in_bytes(fmt::format("{} (c − 1) · 2 b s/c K d", again ? 4 : 3)),
       fmt::format("{} · ({} − 1) · 2 · {} · {} · {} · {}", number(times), c, number(tokens),
                   number(K), number(D), number(bytes)),
       times * (c - 1) * 2 * tokens * K * D * bytes, "bytes",
       message("cited-both", "{}; {}",
               section_of("Dubey et al. 2024, Llama 3 (arXiv 2407.21783)", "3.3.2"),
               "Liu et al. 2023, ring attention (arXiv 2310.01889)"),
       setup.context_parallel == ContextParallel::kRing && setup.attention == Attention::kUnfused
           ? message("note-unfused",
                     "keys and values, again for the backward, and their gradients; unfused "
                     "attention keeps whole scores, so they are gathered before it rather than "
                     "passed round")
           : message("note-keys",
                     "K key/value heads of a rank: keys and values, again for the backward, and "
                     "their gradients")});
}

// What a layer with experts takes and sends, in one forward of one micro-batch.
void add_experts(const Setup& setup, Formulas& out) {
  const Experts& experts = setup.model.experts;
  if (experts.count == 0) return;
  const std::int64_t tokens = setup.micro_batch * (setup.model.sequence / setup.mesh.cp);
  const std::int64_t own = home_tokens(setup);
  const double T = static_cast<double>(tokens), k = experts.top_k, ep = setup.mesh.ep;
  const double h = static_cast<double>(setup.model.hidden);
  const double bytes = setup.precision.activation_bytes();
  if (experts.capacity > 0) {
    out.push_back({message("capacity", "capacity of an expert, per replica and micro-batch"),
                   message("formula-capacity", "⌈T k / E · factor⌉"),
                   fmt::format("⌈{} · {} / {} · {}⌉", number(static_cast<double>(own)), number(k),
                               number(experts.count), number(experts.capacity)),
                   static_cast<double>(expert_capacity(experts, own)),
                   "1",
                   section_of("Fedus et al. 2021, Switch Transformers (arXiv 2101.03961)", "2.2"),
                   {}});
  }
  if (setup.mesh.ep == 1) return;
  const bool gates = setup.expert_gates == ExpertGates::kActivations;  // one goes with each row
  const double t = routes_own_tokens(setup) ? setup.mesh.tp : 1;
  out.push_back(
      {message("traffic.experts",
               "expert traffic sent by a rank, per layer and micro-batch, forward"),
       gates ? message("formula-gates", "T k (2 h · bytes + 4) (1 − 1/EP){}", t > 1 ? " / t" : "")
             : in_bytes(fmt::format("2 T k h (1 − 1/EP){}", t > 1 ? " / t" : "")),
       (gates ? fmt::format("{} · {} · (2 · {} · {} + 4) · (1 − 1/{})", number(T), number(k),
                            number(h), number(bytes), number(ep))
              : fmt::format("2 · {} · {} · {} · (1 − 1/{}) · {}", number(T), number(k), number(h),
                            number(ep), number(bytes))) +
           (t > 1 ? fmt::format(" / {}", number(t)) : ""),
       T * k * (2 * h * bytes + (gates ? 4 : 0)) * (1 - 1 / ep) / t, "bytes",
       message("cited-dispatch", "{}: dispatch and combine",
               section_of("Lepikhin et al. 2020, GShard (arXiv 2006.16668)", "3.2")),
       message("note-even", "for even routing without drops; the backward sends as much")});
}

}  // namespace

void add_traffic(const Setup& setup, Formulas& out) {
  const Model& model = setup.model;
  const Mesh& mesh = setup.mesh;
  const double bytes = setup.precision.activation_bytes();
  const double s = static_cast<double>(model.sequence) / mesh.cp;
  const double h = static_cast<double>(model.hidden), b = setup.micro_batch;
  const double m = setup.microbatches;
  const int v = chunks_of(setup);
  if (mesh.pp > 1 && (v == 1 || setup.schedule == "interleaved")) {
    const bool shares = scatters_transfers(setup);
    const double t = setup.sequence_parallel || shares ? mesh.tp : 1;
    out.push_back(
        {message("traffic.pipeline", "pipeline traffic of one boundary, one direction, per step"),
         in_bytes(fmt::format("{}m b s h{}", v > 1 ? "v " : "", t > 1 ? " / t" : "")),
         fmt::format("{}{} · {} · {} · {} · {}{}", v > 1 ? fmt::format("{} · ", v) : "", number(m),
                     number(b), number(s), number(h), number(bytes),
                     t > 1 ? fmt::format(" / {}", mesh.tp) : std::string()),
         v * m * b * s * h * bytes / t, "bytes", section_of(kNarayanan, "3.2"),
         v > 1 ? message("note-chunks",
                         "every chunk sends; between the last rank and the first, one chunk less")
               : Message{}});
    if (shares)
      out.push_back(
          {message("traffic.gathered-transfers",
                   "tensor traffic of one boundary sent by a rank, one direction, per step: what "
                   "came from another stage, gathered"),
           in_bytes(fmt::format("{}m b s h (t − 1) / t", v > 1 ? "v " : "")),
           fmt::format("{}{} · {} · {} · {} · ({} − 1) / {} · {}",
                       v > 1 ? fmt::format("{} · ", v) : "", number(m), number(b), number(s),
                       number(h), mesh.tp, mesh.tp, number(bytes)),
           v * m * b * s * h * (t - 1) / t * bytes,
           "bytes",
           section_of(kNarayanan, "4.1"),
           {}});
  }
  const bool experts_again = model.experts.count > 0 && names(setup.recompute, Recompute::kExperts);
  const bool second = names(setup.recompute, Recompute::kSecondProducts);
  if (mesh.tp > 1 && !recomputes_some_layers(setup) && !experts_again && !second &&
      !routes_own_tokens(setup)) {
    const double t = mesh.tp;
    const bool full = setup.recompute == Recompute::kFull;
    const double factor = full ? 12 : 8;
    out.push_back(
        {message("traffic.tensor",
                 "tensor traffic sent by a rank, per layer and micro-batch, forward and backward"),
         in_bytes(full ? "12 b s h (t − 1) / t" : "8 b s h (t − 1) / t"),
         fmt::format("{} · {} · {} · {} · ({} − 1) / {} · {}", number(factor), number(b), number(s),
                     number(h), mesh.tp, mesh.tp, number(bytes)),
         factor * b * s * h * (t - 1) / t * bytes, "bytes", section_of(kNarayanan, "3.2"),
         keeps_gathered_inputs(setup)
             ? message("note-gathered-kept",
                       "as all-gathers and reduce-scatters; gathered inputs are kept")
         : setup.sequence_parallel
             ? message("note-gathers",
                       "as all-gathers and reduce-scatters; a gathered input that is not "
                       "kept costs one more all-gather")
             : Message{}});
  }
  add_experts(setup, out);
  add_context(setup, out);
  for (const ModelPart& part : parts_of(setup)) add_data_traffic(setup, part, out);
}

}  // namespace parallelarium

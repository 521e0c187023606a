// SPDX-License-Identifier: Apache-2.0
// The formula column: closed forms with the student's numbers put in. Each function appends what
// applies to the Setup; where the literature has two definitions, both stand with their names.
#include <algorithm>
#include <cmath>

#include "engine/plan/setup/schedule_rules.h"
#include "engine/predict/formulas/formula_parts.h"
#include "engine/predict/formulas/pipeline_formulas.h"
#include "engine/predict/memory.h"
#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

void add_times(const Setup& setup, const Machine& machine, Formulas& out) {
  const Mesh& mesh = setup.mesh;
  const Sourced& rate = machine.peak_flops_per_second(setup.precision.activation_bytes());
  const double peak = rate.value;
  const double efficiency = machine.matmul_efficiency.value;
  if (peak <= 0 || efficiency <= 0) return;
  const double step =
      model_flops_per_sequence(setup.model) * static_cast<double>(setup.global_batch());
  const double ranks = mesh.ranks();
  out.push_back({message("time.peak", "step time at peak, a lower bound"),
                 message("formula-at-peak", "FLOPs / (ranks · peak)"),
                 fmt::format("{} / ({} · {})", four_digits(step), mesh.ranks(), four_digits(peak)),
                 step / (ranks * peak), "seconds",
                 message("cited-peak", "peak: {}", message_of(rate.origin)),
                 message("note-peak",
                         "no bubble, no communication, no memory traffic, perfect matrix "
                         "products")});
  if (held_microbatches(setup.schedule, mesh.pp, setup.microbatches, 0) == 0) return;
  const double both = model_flops_per_sequence(setup.model) * setup.micro_batch /
                      (mesh.pp * mesh.tp * mesh.cp * peak * efficiency);
  const bool naive = setup.schedule == "naive";
  const double slots = naive ? static_cast<double>(mesh.pp) * setup.microbatches
                             : setup.microbatches + mesh.pp - 1.0;
  out.push_back(
      {message("time.without-communication", "step time without communication"),
       plain(naive ? "m p (tF + tB)" : "(m + p − 1) (tF + tB)"),
       naive ? fmt::format("{} · {} · {}", setup.microbatches, mesh.pp, four_digits(both))
             : fmt::format("({} + {} − 1) · {}", setup.microbatches, mesh.pp, four_digits(both)),
       slots * both, "seconds", equation_of(section_of(kNarayanan, "3.4"), "1"),
       message("note-large-products",
               "tF + tB of one stage: its matrix products at the rate of large ones; small ones, "
               "other kernels and the optimizer make the simulated time larger")});
}

// Parameters of the largest layer or table, as a rank of a TP group holds it.
double largest_layer(const Setup& setup) {
  const ParameterCounts counts = count_parameters(setup.model);
  const std::int64_t table = setup.model.vocab * setup.model.hidden;
  return static_cast<double>(std::max({counts.dense_layer, counts.expert_layer, table})) /
         setup.mesh.tp;
}

// "par + (grad + opt) / N": bytes of model states for each parameter, as ZeRO leaves them to a
// rank. With names or with numbers in them.
std::string states_sum(int zero, const std::string& par, const std::string& grad,
                       const std::string& opt, const std::string& shards) {
  std::string whole, sharded;
  int terms = 0;
  for (const auto& [category, term] : {std::pair{Category::kParameters, &par},
                                       {Category::kGradients, &grad},
                                       {Category::kOptimizer, &opt}}) {
    const bool cut = zero_shards(category, zero);
    std::string& sum = cut ? sharded : whole;
    sum += (sum.empty() ? "" : " + ") + *term;
    terms += cut;
  }
  if (terms == 0) return whole;
  if (terms > 1) sharded = "(" + sharded + ")";
  return whole + (whole.empty() ? "" : " + ") + sharded + " / " + shards;
}
std::string states_sum(const Setup& setup, int shards) {
  const Precision& precision = setup.precision;
  return states_sum(setup.zero, std::to_string(precision.parameter_bytes),
                    std::to_string(precision.gradient_bytes),
                    std::to_string(precision.master_bytes + precision.moments_bytes),
                    std::to_string(shards));
}
std::string states_sum(const Setup& setup) {
  return states_sum(setup.zero, "par", "grad", "opt", "N");
}

void add_stage_states(const Setup& setup, const ModelPart& part, Formulas& out) {
  const std::string P = number(part.parameters);
  const int N = part.shards;
  const bool all_sharded = zero_shards(Category::kParameters, setup.zero);
  const auto times = [&](const std::string& parameters, const std::string& sum) {
    return parameters + (all_sharded ? sum : "(" + sum + ")");
  };
  out.push_back({of_part(message("memory.states", "model states of a first-stage rank"), part),
                 plain(times("P ", states_sum(setup))), times(P + " · ", states_sum(setup, N)),
                 model_states(part.parameters, setup.precision, setup.zero, N).total(), "bytes",
                 section_of(kZeroPaper, "V"),
                 setup.zero == 0 ? Message{}
                                 : message("note-padded",
                                           "shards are padded to whole elements, and gathered "
                                           "layers are counted as buffers")});
  const bool away = setup.offload_optimizer;
  if (setup.zero == 2)
    out.push_back(
        {of_part(message("memory.zero2", "model states, DeepSpeed's ZeRO-2 estimator"), part),
         plain(away ? "2 P" : "4 P + 16 P / N"),
         away ? fmt::format("2 · {}", P) : fmt::format("4 · {0} + 16 · {0} / {1}", P, N),
         deepspeed_zero2_bytes(part.parameters, N, away), "bytes",
         message("cited-documentation", "{} documentation, {}", "DeepSpeed", "memory.rst"),
         message("note-zero2",
                 "16-bit parameters and gradients whole; fp32 parameters, gradients and moments "
                 "sharded")});
  if (setup.zero == 3) {
    const double largest = largest_layer(setup);
    out.push_back(
        {of_part(message("memory.zero3", "model states, DeepSpeed's ZeRO-3 estimator"), part),
         message("formula-largest", "4 · largest layer + {} P / N", away ? 2 : 18),
         fmt::format("4 · {} + {} · {} / {}", number(largest), away ? 2 : 18, P, N),
         deepspeed_zero3_bytes(part.parameters, largest, N,
                               away ? Offload::kOptimizer : Offload::kNone),
         "bytes", message("cited-documentation", "{} documentation, {}", "DeepSpeed", "memory.rst"),
         message("note-zero3",
                 "the largest layer gathered with its gradients in 16 bit; fp32 "
                 "parameters and moments, and 16-bit parameters, sharded")});
  }
}

void add_states(const Setup& setup, const Machine& machine, Formulas& out) {
  const Precision& precision = setup.precision;
  const bool main_grads = precision.name == "mixed-16-main-grads";
  const bool bf16 = precision.name == "bf16-states";
  const Message source = precision.name == "mixed-16" ? section_of(kZeroPaper, "III-A")
                         : main_grads ? message("cited-documentation", "{} documentation, {}",
                                                "Megatron-LM", "distributed optimizer")
                         : precision.name == "fp32"
                             ? message("cited-documentation", "{} documentation, {}", "Megatron-LM",
                                       "distributed optimizer (fp32)")
                         : bf16 ? section_of("DeepSeek-AI 2024 (arXiv 2412.19437)", "3.3")
                                : message("cited-setup", "chosen in this Setup");
  out.push_back(
      {message("memory.state-bytes", "model states per parameter"),
       message("formula-states", "parameter + gradient + master + moments"),
       fmt::format("{} + {} + {} + {}", precision.parameter_bytes, precision.gradient_bytes,
                   precision.master_bytes, precision.moments_bytes),
       static_cast<double>(precision.state_bytes()), "bytes", source,
       bf16 ? message("note-bf16-states",
                      "moments in bf16; gradients in bf16 too, which that report keeps in fp32")
            : Message{}});
  const std::vector<ModelPart> parts = parts_of(setup);
  for (const ModelPart& part : parts) add_stage_states(setup, part, out);
  const bool together = machine.ranks_share_memory() || ranks_share_gpu(setup, machine);
  if (parts.size() != 1 || together) return;
  const double memory = machine.memory_bytes.value;
  const int N = parts[0].shards;
  out.push_back(
      {message("parameters.of-device", "parameters of a rank whose model states fill a device"),
       message("formula-device", "device memory / ({})", states_sum(setup)),
       fmt::format("{} / ({})", number(memory), states_sum(setup, N)),
       largest_parameters(memory, precision, setup.zero, N), "1", table_of(kZeroPaper, "II"),
       message("note-no-room", "leaves no room for activations")});
}

// What the activations of a layer leave out or count otherwise.
Message note_of_layer(Recompute kept, bool wide, bool dropout, bool sequence_parallel) {
  if (kept == Recompute::kFull && sequence_parallel)
    return message("note-table-2", "table 2 has 2 s b h for it, without sequence parallelism");
  if (kept == Recompute::kFull)
    return wide ? message("note-wide", "counted for 16-bit activations; here they are fp32")
                : Message{};
  if (!wide && dropout)
    return sequence_parallel
               ? message("note-norms-part", "the norms' statistics, 16 s b / t more, are left out")
               : message("note-norms", "the norms' statistics, 16 s b more, are left out");
  if (wide && dropout)
    return message("note-wide-differ",
                   "counted for 16-bit activations; here activations are fp32, so the counted "
                   "bytes differ");
  if (wide)
    return message("note-wide-masks",
                   "counted for 16-bit activations and dropout masks of one byte; here activations "
                   "are fp32 and there is no dropout, so the counted bytes differ");
  return message("note-masks",
                 "counted for dropout masks of one byte; here there is no dropout, so the counted "
                 "bytes differ");
}

void add_activations(const Setup& setup, Formulas& out) {
  const Model& model = setup.model;
  if (!is_paper_gpt(model) || recomputes_some_layers(setup) || setup.offload_activations) return;
  const Mesh& mesh = setup.mesh;
  const auto [shape, kept, input_part, layer] = layer_activations(setup);
  const std::string sbh =
      fmt::format("{} · {} · {}", number(shape.s), number(shape.b), number(shape.h));
  const double scores = 5 * shape.a * shape.s / shape.h;
  std::string expression, values;
  if (kept == Recompute::kFull) {
    expression = input_part ? "2 s b h / t" : "2 s b h";
    values = fmt::format("2 · {}{}", sbh, input_part ? fmt::format(" / {}", mesh.tp) : "");
  } else {
    const KeptParts parts = kept_parts(shape, kept);
    const bool all = parts.scores > 0;
    if (parts.whole == 0) {
      const int sum = parts.cut;
      expression =
          all ? fmt::format("s b h / t · ({} + 5 a s / h)", sum) : fmt::format("{} s b h / t", sum);
      values = all ? fmt::format("{} / {} · ({} + {})", sbh, mesh.tp, sum, number(scores))
                   : fmt::format("{} · {} / {}", sum, sbh, mesh.tp);
    } else {
      expression = fmt::format("s b h ({} + {} / t{})", parts.whole, parts.cut,
                               all ? " + 5 a s / (h t)" : "");
      values = fmt::format("{} · ({} + {} / {}{})", sbh, parts.whole, parts.cut, mesh.tp,
                           all ? fmt::format(" + {} / {}", number(scores), mesh.tp) : "");
    }
  }
  const bool wide = setup.precision.activation_bytes() == 4, dropout = setup.dropout > 0;
  // Table 2 leaves out the two norms' statistics; and full recompute with sequence parallelism.
  const Message about = note_of_layer(kept, wide, dropout, shape.sequence_parallel);
  const bool gathered = shape.gathered_kept && kept != Recompute::kFull;
  const Message note =
      gathered ? both_notes(about, message("note-gathered-whole",
                                           "the inputs of QKV and MLP, 4 s b h, are kept gathered"))
               : about;
  const Message source = table_of(kKorthikanti, "2");
  out.push_back({message("memory.layer", "activations of one layer and micro-batch"),
                 plain(expression), values, layer, "bytes", source, note});
  const int p = mesh.pp, v = chunks_of(setup);
  if (setup.schedule == "interleaved" && p > 1 && setup.microbatches > p) {
    const double all =
        first_stage_activation_bytes(shape, kept, model.layers, p, v) / (input_part ? shape.t : 1);
    out.push_back({message("memory.stage", "layers' activations held by the first stage"),
                   message("formula-interleaved", "L · (1 + (p − 1) / (p v)) · one layer"),
                   fmt::format("{0} · (1 + ({1} − 1) / ({1} · {2})) · {3}", model.layers, p, v,
                               number(layer)),
                   all, "bytes", section_of(kKorthikanti, "4.2.3"), note});
  }
  const int held = held_microbatches(setup.schedule, mesh.pp, setup.microbatches, 0);
  if (held == 0 || v > 1) return;
  const int layers = layers_of_stages(setup).front();
  out.push_back({message("memory.stage", "layers' activations held by the first stage"),
                 message("formula-held", "layers · held · one layer"),
                 fmt::format("{} · {} · {}", layers, held, number(layer)), layers * held * layer,
                 "bytes", section_of(kKorthikanti, "4.2.3"), note});
  if (held == mesh.pp) {
    const double vocab = static_cast<double>(model.vocab);
    const bool one = mesh.pp == 1;
    out.push_back(
        {message("memory.ends", "embedding, final norm and head held by the first stage"),
         plain(!one                  ? "s b h p / t"
               : shape.gathered_kept ? "s b h / t · (p + 2 + 2 t + 4 V / h)"
                                     : "s b h / t · (p + 4 (1 + V / h))"),
         one && shape.gathered_kept ? fmt::format("{} / {} · (1 + 2 + 2 · {} + 4 · {} / {})", sbh,
                                                  mesh.tp, mesh.tp, number(vocab), number(shape.h))
         : one ? fmt::format("{} / {} · (1 + 4 · (1 + {} / {}))", sbh, mesh.tp, number(vocab),
                             number(shape.h))
               : fmt::format("{} · {} / {}", sbh, mesh.pp, mesh.tp),
         first_stage_extra_bytes(shape, vocab, mesh.pp), "bytes", section_of(kKorthikanti, "4.3"),
         both_notes(wide
                        ? message("note-wide", "counted for 16-bit activations; here they are fp32")
                        : Message{},
                    message("note-embedding-dropout",
                            "s b h p / t is a dropout of the embedding, which is not applied "
                            "here"))});
  }
}

void add_work(const Setup& setup, Formulas& out) {
  const Model& model = setup.model;
  const double sequences = static_cast<double>(setup.global_batch());
  const double tokens = sequences * static_cast<double>(model.sequence);
  if (is_paper_gpt(model)) {
    const double L = model.layers, h = static_cast<double>(model.hidden);
    const double s = static_cast<double>(model.sequence), V = static_cast<double>(model.vocab);
    const double B = sequences;
    const std::string in_h = fmt::format("{} · {}²", number(L), number(h));
    out.push_back(
        {message("parameters", "parameters"), plain("12 L h² (1 + 13/(12 h) + (V + s)/(12 L h))"),
         fmt::format("12 · {0} · (1 + 13/(12 · {1}) + ({2} + {3})/(12 · {4} · {1}))", in_h,
                     number(h), number(V), number(s), number(L)),
         12 * L * h * h * (1 + 13 / (12 * h) + (V + s) / (12 * L * h)), "1",
         equation_of(section_of(kNarayanan, "5.1"), "2"),
         model.tied
             ? message("note-final-norm", "leaves out the final norm's 2 h")
             : message("note-untied", "leaves out the final norm's 2 h and the untied head")});
    const std::string base = fmt::format("{} · {} · {}", number(B), number(s), in_h);
    out.push_back({message("work.model", "model FLOPs of a step"),
                   plain("72 B s L h² (1 + s/(6 h) + V/(12 L h))"),
                   fmt::format("72 · {} · (1 + {}/(6 · {}) + {}/(12 · {} · {}))", base, number(s),
                               number(h), number(V), number(L), number(h)),
                   72 * B * L * s * h * h * (1 + s / (6 * h) + V / (12 * h * L)),
                   "flops",
                   equation_of(appendix_of(kKorthikanti, "A"), "7"),
                   {}});
    if (setup.recompute == Recompute::kFull && !recomputes_some_layers(setup))
      out.push_back({message("work.full-recompute", "hardware FLOPs of a step, full recompute"),
                     plain("96 B s L h² (1 + s/(6 h) + V/(16 L h))"),
                     fmt::format("96 · {} · (1 + {}/(6 · {}) + {}/(16 · {} · {}))", base, number(s),
                                 number(h), number(V), number(L), number(h)),
                     96 * B * L * s * h * h * (1 + s / (6 * h) + V / (16 * h * L)),
                     "flops",
                     equation_of(section_of(kNarayanan, "5.1"), "3"),
                     {}});
    if (setup.recompute == Recompute::kSelective)
      out.push_back(
          {message("work.selective-recompute", "hardware FLOPs of a step, selective recompute"),
           plain("72 B s L h² (1 + s/(3 h) + V/(12 L h))"),
           fmt::format("72 · {} · (1 + {}/(3 · {}) + {}/(12 · {} · {}))", base, number(s),
                       number(h), number(V), number(L), number(h)),
           72 * B * L * s * h * h * (1 + s / (3 * h) + V / (12 * h * L)),
           "flops",
           equation_of(appendix_of(kKorthikanti, "A"), "8"),
           {}});
  }
  // The same N as MFU by 6N has.
  const double in_products = model_flops_per_sequence(model, ScoreFlops::kNone) /
                             (6 * static_cast<double>(model.sequence));
  out.push_back({message("work.rule-of-thumb", "model FLOPs of a step, rule of thumb"),
                 plain("6 N D"), fmt::format("6 · {} · {}", number(in_products), number(tokens)),
                 6 * in_products * tokens, "flops",
                 section_of("Kaplan et al. 2020, Scaling Laws (arXiv 2001.08361)", "2.1"),
                 message("note-six",
                         "N counts the weights that a token is multiplied with: the head's, but "
                         "not those of look-up tables. D counts tokens. Attention scores are left "
                         "out")});
}

}  // namespace

std::vector<Formula> formulas_of(const Setup& asked, const Machine& machine) {
  Setup setup = asked;
  setup.zero = held_zero(asked);
  setup.precision = held_precision(asked);
  Formulas formulas = pipeline_formulas(setup);
  add_times(setup, machine, formulas);
  add_states(setup, machine, formulas);
  add_activations(setup, formulas);
  add_traffic(setup, formulas);
  add_work(setup, formulas);
  return formulas;
}

}  // namespace parallelarium

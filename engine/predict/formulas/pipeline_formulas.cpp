// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/formulas/pipeline_formulas.h"

#include <algorithm>

#include "engine/plan/setup/schedule_rules.h"
#include "engine/predict/formulas/formula_parts.h"
#include "engine/predict/memory.h"

namespace parallelarium {

namespace {

// The bubble is `idle` slots beside `busy` on every rank.
struct PipelineForm {
  std::string over, of_total, over_values, of_total_values;
  double idle = 0, busy = 0;
  std::string held, held_values;
  double held_value = 0;
  Message source, held_source;
  Message total_source;  // of the bubble of the whole step, where it is another
};

constexpr const char* kZeroBubble = "Qi et al. 2024, Zero Bubble (arXiv 2401.10241)";
constexpr Sentence kNoneBetween{"note-none-between",
                                "between a rank's own first and last action there is none"};
constexpr Sentence kPair{"note-pair", "a pair counts F + B here, less where its halves overlap"};
constexpr const char* kDualPipe = "deepseek-ai/DualPipe, README";

// Naive, GPipe and 1F1B. Naive lets one micro-batch after another through all stages.
PipelineForm whole_backward(const Schedule& schedule, int p, int m) {
  const bool naive = schedule == "naive";
  PipelineForm form;
  form.over = naive ? "p − 1" : "(p − 1) / m";
  form.of_total = naive ? "(p − 1) / p" : "(p − 1) / (m + p − 1)";
  form.over_values = naive ? fmt::format("{} − 1", p) : fmt::format("({} − 1) / {}", p, m);
  form.of_total_values =
      naive ? fmt::format("({0} − 1) / {0}", p) : fmt::format("({0} − 1) / ({1} + {0} − 1)", p, m);
  form.idle = p - 1.0;
  form.busy = naive ? 1 : m;
  form.held = naive ? "1" : schedule == "gpipe" ? "m" : "min(p, m)";
  form.held_values = naive                 ? "1"
                     : schedule == "gpipe" ? std::to_string(m)
                                           : fmt::format("min({}, {})", p, m);
  form.held_value = held_microbatches(schedule, p, m, 0);
  form.source = form.held_source = section_of(kNarayanan, "2.2.1");
  form.total_source = section_of("Huang et al. 2019, GPipe (arXiv 1811.06965)", "2.3");
  return form;
}

PipelineForm interleaved(int p, int m, int v) {
  const bool one_round = m == p;  // no second follows
  PipelineForm form;
  form.over = "(p − 1) / (v m)";
  form.of_total = "(p − 1) / (v m + p − 1)";
  form.over_values = fmt::format("({} − 1) / ({} · {})", p, v, m);
  form.of_total_values = fmt::format("({0} − 1) / ({1} · {2} + {0} − 1)", p, v, m);
  form.idle = p - 1.0;
  form.busy = 1.0 * v * m;
  form.held = one_round ? "m" : "p (1 + (p − 1) / (p v))";
  form.held_values =
      one_round ? std::to_string(m) : fmt::format("{0} · (1 + ({0} − 1) / ({0} · {1}))", p, v);
  form.held_value = one_round ? m : p + (p - 1.0) / v;
  form.source = section_of(kNarayanan, "2.2.2");
  form.held_source = section_of(kKorthikanti, "4.2.3");
  return form;
}

// (p - 1)(F + I - W) beside m (F + I + W), of `parts` chunks on each rank.
PipelineForm split(int p, int m, int parts, std::string held, std::string held_values,
                   double held_value, const char* section) {
  const int slots = 3 * parts;
  PipelineForm form;
  form.over = fmt::format("(p − 1) / ({} m)", slots);
  form.of_total = fmt::format("(p − 1) / ({} m + p − 1)", slots);
  form.over_values = fmt::format("({} − 1) / ({} · {})", p, slots, m);
  form.of_total_values = fmt::format("({0} − 1) / ({1} · {2} + {0} − 1)", p, slots, m);
  form.idle = p - 1.0;
  form.busy = 1.0 * slots * m;
  form.held = std::move(held);
  form.held_values = std::move(held_values);
  form.held_value = held_value;
  form.source = form.held_source = section_of(kZeroBubble, section);
  return form;
}

// Of V-Half and V-Min, whose bubbles have no closed form.
Formula held_by_v(bool half, int p, int m, const Message& note) {
  const int held = half ? p / 2 + 1 : (p + 4) / 3;
  return {
      message("held.microbatches", "micro-batches held by the first stage"),
      plain(half ? "min(m, ⌊p / 2⌋ + 1)" : "min(m, ⌈(p + 2) / 3⌉)"),
      half ? fmt::format("min({}, ⌊{} / 2⌋ + 1)", m, p)
           : fmt::format("min({}, ⌈({} + 2) / 3⌉)", m, p),
      static_cast<double>(std::min(m, held)),
      "1",
      section_of("Qi et al. 2024, Pipeline Parallelism with Controllable Memory (arXiv 2405.15362)",
                 "3"),
      note};
}

PipelineForm dualpipe(int p, int m) {
  PipelineForm form;
  form.over = "(p/2 − 1)(F&B + B − 3W) / (m (F + B))";
  form.of_total = "(p − 2) / (3 m + p − 2)";
  form.over_values = fmt::format("({} / 2 − 1) · (3 + 2 − 3) / ({} · 3)", p, m);
  form.of_total_values = fmt::format("({0} − 2) / (3 · {1} + {0} − 2)", p, m);
  form.idle = p - 2.0;
  form.busy = 3.0 * m;
  form.held = "p + 1";
  form.held_values = fmt::format("{} + 1", p);
  form.held_value = p + 1.0;
  form.source = form.held_source = plain(kDualPipe);
  return form;
}

PipelineForm dualpipe_v(int p, int m) {
  PipelineForm form;
  form.over = "(s/2 − 1)(F&B + B − 3W) / (m · 2 (F + B))";
  form.of_total = "(p − 1) / (3 m + p − 1)";
  form.over_values = fmt::format("({} / 2 − 1) · (3 + 2 − 3) / ({} · 2 · 3)", 2 * p, m);
  form.of_total_values = fmt::format("({0} − 1) / (3 · {1} + {0} − 1)", p, m);
  form.idle = p - 1.0;
  form.busy = 3.0 * m;
  form.held = "(s + 1) / 2";
  form.held_values = fmt::format("({} + 1) / 2", 2 * p);
  form.held_value = p + 0.5;
  form.source = form.held_source = plain(kDualPipe);
  return form;
}

}  // namespace

std::vector<Formula> pipeline_formulas(const Setup& setup) {
  const int p = setup.mesh.pp, m = setup.microbatches;
  const Schedule& name = setup.schedule;
  PipelineForm form;
  const Message unequal = message(kUnequalStages);
  Message note =
      both_notes(message("note-equal-times", "for equal forward, input and weight times"), unequal);
  Message held_note = message(
      "note-chunk",
      "a chunk counts its share of a rank's layers; held until the weight gradient is done");
  if (held_microbatches(name, p, m, 0) > 0) {
    form = whole_backward(name, p, m);
    note = unequal;
    held_note = {};
  } else if (name == "interleaved" && m % p == 0) {
    form = interleaved(p, m, chunks_of(setup));
    note = unequal;
  } else if (name == "zb-h1" && m >= p) {
    form = split(p, m, 1, "p", std::to_string(p), p, "2.3");
  } else if (name == "zb-h2" && m >= 2 * p - 1) {
    form = split(p, m, 1, "2 p − 1", fmt::format("2 · {} − 1", p), 2.0 * p - 1, "2.3");
    note = both_notes(note, message(kNoneBetween));
  } else if (name == "zb-1p" && m >= p) {
    form = split(p, m, 1, "p", std::to_string(p), p, "3.1");
  } else if (name == "zb-2p" && m >= 2 * p) {
    form = split(p, m, 1, "2 p", fmt::format("2 · {}", p), 2.0 * p, "3.1");
    note = both_notes(note, message(kNoneBetween));
  } else if (name == "v-half" || name == "v-min") {
    return {held_by_v(name == "v-half", p, m, held_note)};
  } else if (name == "zb-v" && m >= 2 * p - 1) {
    form = split(p, m, 2, "p", std::to_string(p), p, "6");
    note = both_notes(note, message(kNoneBetween));
  } else if (name == "dualpipe" && p % 2 == 0) {
    form = dualpipe(p, m);
    note = both_notes(
        note, both_notes(message(kPair), message("note-twice", "parameters are held twice")));
  } else if (name == "dualpipe-v") {
    form = dualpipe_v(p, m);
    note = both_notes(note, both_notes(message("note-stages", "s = 2 p stages"), message(kPair)));
  } else {
    return {};
  }
  return {{message("bubble.over-ideal", "bubble over ideal time"), plain(form.over),
           form.over_values, form.idle / form.busy, "1", form.source, note},
          {message("bubble.whole-step", "bubble of whole step"), plain(form.of_total),
           form.of_total_values, form.idle / (form.busy + form.idle), "1",
           form.total_source.text.empty() ? form.source : form.total_source, note},
          {message("held.microbatches", "micro-batches held by the first stage"), plain(form.held),
           form.held_values, form.held_value, "1", form.held_source, held_note}};
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/formulas/pipeline_formulas.h"

#include "engine/plan/setup/schedule_rules.h"
#include "engine/predict/formulas/formula_parts.h"

namespace parallelarium {

namespace {

// The bubble is `idle` slots beside `busy` on every rank.
struct PipelineForm {
  std::string over, of_total, over_values, of_total_values;
  double idle = 0, busy = 0;
  std::string held, held_values;
  double held_value = 0;
  std::string source, held_source;
};

constexpr const char* kZeroBubble = "Qi et al. 2024, Zero Bubble (arXiv 2401.10241)";
constexpr Sentence kNoneBetween{"note-none-between",
                                "between a rank's own first and last action there is none"};
constexpr Sentence kPair{"note-pair", "a pair counts F + B here, less where its halves overlap"};
constexpr const char* kDualPipe = "deepseek-ai/DualPipe, README";

PipelineForm interleaved(int p, int m, int v) {
  return {"(p − 1) / (v m)",
          "(p − 1) / (v m + p − 1)",
          fmt::format("({} − 1) / ({} · {})", p, v, m),
          fmt::format("({0} − 1) / ({1} · {2} + {0} − 1)", p, v, m),
          p - 1.0,
          1.0 * v * m,
          "p (1 + (p − 1) / (p v))",
          fmt::format("{0} · (1 + ({0} − 1) / ({0} · {1}))", p, v),
          p + (p - 1.0) / v,
          "Narayanan et al. 2021 (arXiv 2104.04473), section 2.2.2",
          "Korthikanti et al. 2022 (arXiv 2205.05198), section 4.2.3"};
}

// (p - 1)(F + I - W) beside m (F + I + W), of `parts` chunks on each rank.
PipelineForm split(int p, int m, int parts, std::string held, std::string held_values,
                   double held_value, std::string source) {
  const int slots = 3 * parts;
  return {fmt::format("(p − 1) / ({} m)", slots),
          fmt::format("(p − 1) / ({} m + p − 1)", slots),
          fmt::format("({} − 1) / ({} · {})", p, slots, m),
          fmt::format("({0} − 1) / ({1} · {2} + {0} − 1)", p, slots, m),
          p - 1.0,
          1.0 * slots * m,
          std::move(held),
          std::move(held_values),
          held_value,
          source,
          source};
}

}  // namespace

std::vector<Formula> pipeline_formulas(const Setup& setup) {
  const int p = setup.mesh.pp, m = setup.microbatches, v = chunks_of(setup);
  const std::string& name = setup.schedule;
  PipelineForm form;
  Message note =
      both_notes(message("note-equal-times", "for equal forward, input and weight times"),
                 message(kUnequalStages));
  if (name == "interleaved" && m % p == 0) {
    form = interleaved(p, m, v);
    if (m == p) {  // no second round follows
      form.held = "m";
      form.held_values = std::to_string(m);
      form.held_value = m;
    }
    note = message(kUnequalStages);
  } else if (name == "zb-h1" && m >= p) {
    form = split(p, m, 1, "p", std::to_string(p), p, fmt::format("{}, section 2.3", kZeroBubble));
  } else if (name == "zb-h2" && m >= 2 * p - 1) {
    form = split(p, m, 1, "2 p − 1", fmt::format("2 · {} − 1", p), 2.0 * p - 1,
                 fmt::format("{}, section 2.3", kZeroBubble));
    note = both_notes(note, message(kNoneBetween));
  } else if (name == "zb-v" && m >= 2 * p - 1) {
    form = split(p, m, 2, "p", std::to_string(p), p, fmt::format("{}, section 6", kZeroBubble));
    note = both_notes(note, message(kNoneBetween));
  } else if (name == "dualpipe" && p % 2 == 0) {
    form = {"(p/2 − 1)(F&B + B − 3W) / (m (F + B))",
            "(p − 2) / (3 m + p − 2)",
            fmt::format("({} / 2 − 1) · (3 + 2 − 3) / ({} · 3)", p, m),
            fmt::format("({0} − 2) / (3 · {1} + {0} − 2)", p, m),
            p - 2.0,
            3.0 * m,
            "p + 1",
            fmt::format("{} + 1", p),
            p + 1.0,
            kDualPipe,
            kDualPipe};
    note = both_notes(
        note, both_notes(message(kPair), message("note-twice", "parameters are held twice")));
  } else if (name == "dualpipe-v") {
    form = {"(s/2 − 1)(F&B + B − 3W) / (m · 2 (F + B))",
            "(p − 1) / (3 m + p − 1)",
            fmt::format("({} / 2 − 1) · (3 + 2 − 3) / ({} · 2 · 3)", 2 * p, m),
            fmt::format("({0} − 1) / (3 · {1} + {0} − 1)", p, m),
            p - 1.0,
            3.0 * m,
            "(s + 1) / 2",
            fmt::format("({} + 1) / 2", 2 * p),
            p + 0.5,
            kDualPipe,
            kDualPipe};
    note = both_notes(note, both_notes(message("note-stages", "s = 2 p stages"), message(kPair)));
  } else {
    return {};
  }
  return {{message("bubble.over-ideal", "bubble over ideal time"), form.over, form.over_values,
           form.idle / form.busy, "1", form.source, note},
          {message("bubble.whole-step", "bubble of whole step"), form.of_total,
           form.of_total_values, form.idle / (form.busy + form.idle), "1", form.source, note},
          {message("held.microbatches", "micro-batches held by the first stage"), form.held,
           form.held_values, form.held_value, "1", form.held_source,
           message("note-chunk",
                   "a chunk counts its share of a rank's layers; held until the weight gradient is "
                   "done")}};
}

}  // namespace parallelarium

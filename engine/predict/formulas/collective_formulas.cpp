// SPDX-License-Identifier: Apache-2.0
// Symbols: n ranks, S bytes of the whole array, α latency and B bandwidth of a link, γ seconds per
// combined byte, k segments.
#include "engine/predict/formulas/collective_formulas.h"

#include <cmath>

#include "engine/plan/text/units.h"
#include "engine/predict/formulas/formula_parts.h"

namespace parallelarium {

namespace {

constexpr const char* kThakur =
    "Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, "
    "IJHPCA 19 (2005)";
constexpr const char* kChan = "Chan et al., Collective communication, CCPE 19 (2007)";
constexpr const char* kPatarasuk = "Patarasuk and Yuan, JPDC 69 (2009)";
constexpr Sentence kLatencyBandwidth{
    "cited-latency-bandwidth",
    "the latency-bandwidth model itself: messages of a step share the busiest port"};

// time = messages · α + volume · S / B + combined · S γ, as text and as numbers.
struct CollectiveForm {
  double messages = 0, volume = 0, combined = 0;
  const char *messages_text = "", *volume_text = "", *combined_text = "";  // empty: a factor of 1
  Message source = plain(kThakur);
  bool power_of_two = false;  // holds for these; close for others
  bool close = false;         // holds for none
};

constexpr const char *kShare = "(n − 1)/n", *kLevels = "⌈log2 n⌉", *kLog = "log2 n";

CollectiveForm direct_form(const CollectiveSpec& spec) {
  const double n = spec.ranks, share = (n - 1) / n;
  const bool whole = spec.kind == CollectiveKind::kBroadcast ||
                     spec.kind == CollectiveKind::kReduce ||
                     spec.kind == CollectiveKind::kAllReduce;
  const double volume = whole ? n - 1 : share;
  const char* text = whole ? "(n − 1)" : kShare;
  return {1, volume, reduces(spec.kind) ? volume : 0, "", text, text, message(kLatencyBandwidth)};
}

CollectiveForm tree_form(const CollectiveSpec& spec, double levels) {
  const bool parts = spec.kind == CollectiveKind::kScatter || spec.kind == CollectiveKind::kGather;
  if (parts) return {levels, 1 - 1.0 / spec.ranks, 0, kLog, kShare, "", plain(kThakur), true};
  const bool twice = spec.kind == CollectiveKind::kAllReduce;
  const char* text = twice ? "2 ⌈log2 n⌉" : kLevels;
  return {twice ? 2 * levels : levels,
          twice ? 2 * levels : levels,
          reduces(spec.kind) ? levels : 0,
          text,
          text,
          kLevels,
          plain(kThakur)};
}

CollectiveForm ring_form(const CollectiveSpec& spec) {
  const double n = spec.ranks, share = (n - 1) / n, k = spec.segments;
  const bool reducing = reduces(spec.kind);
  if (has_root(spec.kind)) {
    const double steps = n - 2 + k;
    return {steps,           steps / k,   reducing ? steps / k : 0, "(n − 2 + k)", "(n − 2 + k)/k",
            "(n − 2 + k)/k", plain(kChan)};
  }
  if (spec.kind == CollectiveKind::kAllReduce)
    return {2 * (n - 1), 2 * share, share, "2 (n − 1)", "2 (n − 1)/n", kShare, plain(kPatarasuk)};
  if (spec.kind == CollectiveKind::kAllToAll && spec.algorithm == "ring")
    return {n - 1, (n - 1) / 2, 0, "(n − 1)", "(n − 1)/2", "", message(kLatencyBandwidth)};
  return {n - 1,
          share,
          reducing ? share : 0,
          "(n − 1)",
          kShare,
          kShare,
          plain(reducing ? kPatarasuk : kThakur)};
}

CollectiveForm grid_form(const CollectiveSpec& spec) {
  const double n = spec.ranks, g = spec.node_size, other = n / g;
  const double once = (g - 1) / g + (other - 1) / n;
  if (spec.algorithm == "hierarchical") {
    return {2 * (g - 1 + other - 1),
            2 * once,
            once,
            "2 (g − 1 + n/g − 1)",
            "2 ((g − 1)/g + (n/g − 1)/n)",
            "((g − 1)/g + (n/g − 1)/n)",
            section_of("Jia et al. 2018 (arXiv 1807.11205)", "3.3")};
  }
  return {2 * (g - 1 + other - 1),
          2 * once,
          once,
          "2 (r − 1 + c − 1)",
          "2 (n − 1)/n",
          kShare,
          section_of("Ying et al. 2018 (arXiv 1811.06992)", "2.2"),
          false,
          g != other};
}

// Ones in the binary digits of 1 to n - 1: the blocks that Bruck's all-to-all passes on, digit by
// digit.
constexpr const char* kOnes = "Σ ones(j)/n";
double ones_below(int n) {
  double ones = 0;
  for (int j = 1; j < n; ++j) ones += std::popcount(static_cast<unsigned>(j));
  return ones;
}

// Ranks below the largest child of a binomial tree's root.
double largest_subtree(int n) {
  int largest = 0;
  for (int child = 1; child < n; child *= 2)
    largest = std::max(largest, std::min(child, n - child));
  return largest;
}

std::optional<CollectiveForm> form_of(const CollectiveSpec& spec) {
  const double n = spec.ranks, share = (n - 1) / n;
  const double levels = std::ceil(std::log2(n));
  const std::string& name = spec.algorithm;
  const bool all_reduce = spec.kind == CollectiveKind::kAllReduce;
  const double reduced = reduces(spec.kind) ? share : 0;
  if (name == "direct") return direct_form(spec);
  if (name == "root")
    return CollectiveForm{
        2, 2 * (n - 1), n - 1, "2", "2 (n − 1)", "(n − 1)", message(kLatencyBandwidth)};
  if (name == "tree") return tree_form(spec, levels);
  if (name == "ring" || name == "bidirectional-ring" || name == "pairwise") return ring_form(spec);
  if (name == "scatter-all-gather")
    return CollectiveForm{levels + n - 1, 2 * share, 0, "(log2 n + n − 1)", "2 (n − 1)/n", "",
                          plain(kThakur), true};
  if (name == "recursive-doubling" && all_reduce)
    return CollectiveForm{levels, levels, levels, kLog, kLog, kLog, plain(kThakur), true};
  if (name == "bruck" && spec.kind == CollectiveKind::kAllToAll)
    return CollectiveForm{levels,        ones_below(spec.ranks) / n, 0, kLevels, kOnes, "",
                          plain(kThakur)};
  if (name == "bruck") return CollectiveForm{levels, share, 0, kLevels, kShare, "", plain(kThakur)};
  if (name == "recursive-doubling" || name == "recursive-halving")
    return CollectiveForm{levels, share, reduced, kLog, kShare, kShare, plain(kThakur), true};
  if (name == "halving-doubling")
    return CollectiveForm{2 * levels,    2 * share, share,          "2 log2 n",
                          "2 (n − 1)/n", kShare,    plain(kThakur), true};
  if (name == "hierarchical" || name == "torus") return grid_form(spec);
  if (name == "double-tree") {
    return CollectiveForm{
        4 * levels, 2, 1, "4 log2 n", "2", "", plain("Sanders, Speck, Traeff 2009"), false, true};
  }
  return std::nullopt;
}

// The most bytes that a rank sends, as a multiple of S.
struct Sent {
  double volume = 0;
  const char* text = "";
  bool power_of_two = false;  // holds for these; close for others
  bool bound = false;         // no rank sends more, some may send less
};

Sent sent_form(const CollectiveSpec& spec) {
  const double n = spec.ranks, share = (n - 1) / n, levels = std::ceil(std::log2(n));
  const std::string& name = spec.algorithm;
  const Sent shared{share, kShare}, twice{2 * share, "2 (n − 1)/n"};
  const Sent by_level{levels, kLevels};
  using K = CollectiveKind;
  switch (spec.kind) {
    case K::kAllReduce:
      if (name == "direct" || name == "root") return {n - 1, "(n − 1)"};
      if (name == "tree") return by_level;
      if (name == "recursive-doubling") return {levels, kLog, true};
      if (name == "double-tree") return {2, "2", false, true};
      if (name == "hierarchical") {
        const CollectiveForm form = grid_form(spec);
        return {form.volume, form.volume_text};
      }
      return twice;
    case K::kBroadcast:
      if (name == "direct") return {n - 1, "(n − 1)"};
      if (name == "tree") return by_level;
      return name == "ring" ? Sent{1, ""} : twice;
    case K::kReduce:
      return {1, ""};
    case K::kGather:
      return name == "direct" ? Sent{1 / n, "1/n"}
                              : Sent{largest_subtree(spec.ranks) / n, "max min(2ᵏ, n − 2ᵏ)/n"};
    case K::kAllToAll:
      if (name == "ring") return {(n - 1) / 2, "(n − 1)/2"};
      return name == "bruck" ? Sent{ones_below(spec.ranks) / n, kOnes} : shared;
    case K::kScatter:
    case K::kAllGather:
    case K::kReduceScatter:
      return shared;
  }
  return shared;
}

constexpr Sentence kPowersOfTwo{
    "note-powers",
    "holds for powers of two; at other numbers of ranks the simulation tells how far it is off"};

// How many steps, and the most bytes that a rank sends: whatever the links are.
void add_counts(const CollectiveSpec& spec, const CollectiveForm& form,
                std::vector<Formula>& formulas) {
  const bool power = (spec.ranks & (spec.ranks - 1)) == 0;
  Formula steps;
  steps.name = message("steps", "steps");
  steps.expression = plain(*form.messages_text == '\0' ? "1" : form.messages_text);
  steps.value = form.messages;
  steps.values = fmt::format("{:g}", steps.value);
  steps.unit = "1";
  steps.source = form.source;
  if (form.power_of_two && !power) steps.note = message(kPowersOfTwo);
  if (form.close) steps.note = message("note-approximation", "an approximation for large S");
  formulas.push_back(std::move(steps));
  if (!spec.counts.empty()) return;
  const Sent sent = sent_form(spec);
  Formula bytes;
  bytes.name = message("traffic.rank", "sent per rank");
  bytes.expression = plain(*sent.text == '\0' ? "S" : fmt::format("{} · S", sent.text));
  bytes.value = sent.volume * static_cast<double>(spec.bytes);
  bytes.values = fmt::format("{:g} · {} B", sent.volume, spec.bytes);
  bytes.unit = "bytes";
  bytes.source = form.source;
  bytes.note = message("note-most", "of the rank that sends most");
  if (sent.power_of_two && !power) bytes.note = both_notes(bytes.note, message(kPowersOfTwo));
  if (sent.bound) bytes.note = both_notes(bytes.note, message("note-bound", "a bound"));
  formulas.push_back(std::move(bytes));
}

}  // namespace

std::optional<ClosedForm> closed_form(const Collective& collective, const Network& network) {
  const CollectiveSpec& spec = collective.spec;
  // Uneven counts have no form: their largest messages decide, step by step.
  if (spec.ranks < 2 || !spec.counts.empty()) return std::nullopt;
  const std::optional<CollectiveForm> form = form_of(spec);
  if (!form) return std::nullopt;
  const auto bytes = static_cast<double>(spec.bytes);
  const double gamma =
      network.combine_bytes_per_second > 0 ? 1 / network.combine_bytes_per_second : 0;
  ClosedForm closed;
  Formula& formula = closed.formula;
  formula.name = message("time", "time");
  formula.unit = "seconds";
  formula.source = form->source;
  const auto term = [](const char* factor, const char* unit) {
    return *factor == '\0' ? std::string(unit) : fmt::format("{} {}", factor, unit);
  };
  // Its own topology has two kinds of links, and the ranks of a node share the outer one.
  const bool two_levels = spec.algorithm == "hierarchical" &&
                          network.topology == Topology::kTwoLevel &&
                          network.node_size == spec.node_size;
  const std::string size = bytes_text(bytes);
  const std::string latency = seconds_text(network.latency_seconds);
  const std::string bandwidth = count_text(network.bytes_per_second, "B/s");
  std::string expression;
  if (two_levels) {
    const double g = spec.node_size, k = spec.ranks / g;
    const double outer = std::min(network.node_bytes_per_second, g * network.bytes_per_second);
    const double inside = 2 * (g - 1) / g, between = 2 * (k - 1) / k;
    formula.value = 2 * (g - 1) * network.latency_seconds +
                    2 * (k - 1) * network.node_latency_seconds +
                    inside * bytes / network.bytes_per_second + between * bytes / outer +
                    form->combined * bytes * gamma;
    expression = "2 (g − 1) α + 2 (k − 1) αₙ + 2 (g − 1)/g S / B + 2 (k − 1)/k S / Bₙ";
    formula.values =
        fmt::format("{:g} · {} + {:g} · {} + {:g} · {} / ({}) + {:g} · {} / ({})", 2 * (g - 1),
                    latency, 2 * (k - 1), seconds_text(network.node_latency_seconds), inside, size,
                    bandwidth, between, size, count_text(outer, "B/s"));
  } else {
    formula.value = form->messages * network.latency_seconds +
                    form->volume * bytes / network.bytes_per_second +
                    form->combined * bytes * gamma;
    expression = term(form->messages_text, "α") + " + " + term(form->volume_text, "S / B");
    formula.values = fmt::format("{:g} · {} + {:g} · {} / ({})", form->messages, latency,
                                 form->volume, size, bandwidth);
  }
  if (gamma > 0 && form->combined > 0) {
    expression += " + " + term(form->combined_text, "S γ");
    formula.values += fmt::format(" + {:g} · {} · {:.3g} ns/B", form->combined, size, gamma * 1e9);
  }
  formula.expression = plain(std::move(expression));
  const std::int64_t elements = spec.bytes / size_of(spec.type);
  const int parts = spec.kind == CollectiveKind::kAllToAll ? spec.ranks : collective.chunks;
  const bool equal = elements % parts == 0;
  const bool power = !form->power_of_two || (spec.ranks & (spec.ranks - 1)) == 0;
  // Two messages that are combined at once on one rank count as one in the simulation.
  const bool crowded =
      gamma > 0 && (spec.algorithm == "bidirectional-ring" || spec.algorithm == "torus");
  const bool switched = network.topology == Topology::kSwitch || two_levels;
  closed.exact = switched && equal && power && !form->close && !crowded;
  if (!equal)
    formula.note = message("note-uneven", "chunks differ by one element, and the largest decides");
  if (!power) formula.note = message(kPowersOfTwo);
  if (form->close)
    formula.note = message(
        "note-segments",
        "an approximation for large S in many segments; the simulation follows every message");
  if (!switched) {
    formula.note = both_notes(
        formula.note, message("note-switch",
                              "as if a switch lay between the ranks; the simulation follows the "
                              "links there are"));
  }
  return closed;
}

std::vector<Formula> formulas_of(const Collective& collective, const Network& network) {
  std::vector<Formula> formulas;
  if (std::optional<ClosedForm> time = closed_form(collective, network))
    formulas.push_back(std::move(time->formula));
  const CollectiveSpec& spec = collective.spec;
  if (const std::optional<CollectiveForm> form = spec.ranks > 1 ? form_of(spec) : std::nullopt)
    add_counts(spec, *form, formulas);
  const double factor = bus_factor(spec.kind, spec.ranks);
  const double n = spec.ranks;
  std::string expression = "1", values = "1";
  if (spec.kind == CollectiveKind::kAllReduce) {
    expression = "2 (n − 1)/n";
    values = fmt::format("2 ({0:g} − 1)/{0:g}", n);
  } else if (factor != 1 || spec.ranks == 1) {
    expression = "(n − 1)/n";
    values = fmt::format("({0:g} − 1)/{0:g}", n);
  }
  formulas.push_back({message("bandwidth", "bus bandwidth over algorithm bandwidth"),
                      plain(expression), values, factor, "1",
                      plain("NVIDIA/nccl-tests, doc/PERFORMANCE.md"),
                      message("note-bus",
                              "what a link would carry if every rank sent the least bytes "
                              "possible")});
  return formulas;
}

}  // namespace parallelarium

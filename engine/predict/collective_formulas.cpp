// SPDX-License-Identifier: Apache-2.0
// Symbols: n ranks, S bytes of the whole array, α latency and B bandwidth of a link, γ seconds per
// combined byte, k segments.
#include "engine/predict/collective_formulas.h"

#include <cmath>

namespace parallelarium {

namespace {

constexpr const char* kThakur =
    "Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, "
    "IJHPCA 19 (2005)";
constexpr const char* kChan = "Chan et al., Collective communication, CCPE 19 (2007)";

// time = messages · α + volume · S / B + combined · S γ, as text and as numbers.
struct Form {
  double messages = 0, volume = 0, combined = 0;
  std::string messages_text, volume_text, combined_text;  // empty: no such term
  const char* source = kThakur;
  bool equal_chunks = true;  // needs chunks of one size
  bool power_of_two = false;
};

std::optional<Form> form_of(const CollectiveSpec& spec) {
  const double n = spec.ranks;
  const std::string& name = spec.algorithm;
  const double share = (n - 1) / n;
  using K = CollectiveKind;
  if (name == "ring") {
    switch (spec.kind) {
      case K::kAllGather:
        return Form{n - 1, share, 0, "(n − 1)", "(n − 1)/n", "", kThakur};
      case K::kReduceScatter:
        return Form{n - 1, share, share, "(n − 1)", "(n − 1)/n", "(n − 1)/n", kThakur};
      case K::kAllReduce:
        return Form{2 * (n - 1),
                    2 * share,
                    share,
                    "2 (n − 1)",
                    "2 (n − 1)/n",
                    "(n − 1)/n",
                    "Patarasuk and Yuan, JPDC 69 (2009)"};
      default:
        break;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<ClosedForm> closed_form(const Collective& collective, const Network& network) {
  const CollectiveSpec& spec = collective.spec;
  if (network.topology != Topology::kSwitch || spec.ranks < 2) return std::nullopt;
  const std::optional<Form> form = form_of(spec);
  if (!form) return std::nullopt;
  const auto bytes = static_cast<double>(spec.bytes);
  const double gamma =
      network.combine_bytes_per_second > 0 ? 1 / network.combine_bytes_per_second : 0;
  ClosedForm closed;
  Formula& formula = closed.formula;
  formula.name = "time";
  formula.unit = "seconds";
  formula.source = form->source;
  formula.value = form->messages * network.latency_seconds +
                  form->volume * bytes / network.bytes_per_second + form->combined * bytes * gamma;
  formula.expression = fmt::format("{} α + {} S / B", form->messages_text, form->volume_text);
  formula.values =
      fmt::format("{:g} · {:g} s + {:g} · {} / {:g} B/s", form->messages, network.latency_seconds,
                  form->volume, spec.bytes, network.bytes_per_second);
  if (gamma > 0 && !form->combined_text.empty()) {
    formula.expression += fmt::format(" + {} S γ", form->combined_text);
    formula.values += fmt::format(" + {:g} · {} · {:g} s", form->combined, spec.bytes, gamma);
  }
  const std::int64_t elements = spec.bytes / size_of(spec.type);
  const bool equal = !form->equal_chunks || elements % collective.chunks == 0;
  const bool power = !form->power_of_two || (spec.ranks & (spec.ranks - 1)) == 0;
  closed.exact = equal && power && spec.counts.empty();
  if (!equal) formula.note = "chunks differ by one element, and the largest decides";
  if (!power) formula.note = "holds for powers of two; other numbers of ranks come close";
  return closed;
}

std::vector<Formula> formulas_of(const Collective& collective, const Network& network) {
  std::vector<Formula> formulas;
  if (std::optional<ClosedForm> time = closed_form(collective, network))
    formulas.push_back(std::move(time->formula));
  const CollectiveSpec& spec = collective.spec;
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
  formulas.push_back({"bus bandwidth over algorithm bandwidth", expression, values, factor, "1",
                      "NVIDIA/nccl-tests, doc/PERFORMANCE.md",
                      "what a link would carry if every rank sent the least bytes possible"});
  return formulas;
}

}  // namespace parallelarium

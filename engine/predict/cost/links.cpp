// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cost/links.h"

#include <algorithm>
#include <tuple>

namespace parallelarium {
namespace {

constexpr double kRounding = 1e-5;  // of sums of shares

// What begins or ends at a time; what ends there is gone before anything begins.
struct Change {
  std::int64_t time = 0;
  std::int32_t op = 0;
  bool begins = false;
  bool operator<(const Change& other) const {
    return time != other.time ? time < other.time : begins < other.begins;
  }
};

}  // namespace

LinkShares shares_of(const Op& op, const LinkSeconds& use, double seconds) {
  if (seconds <= 0) return {};
  const auto share = [&](double of) { return static_cast<float>(std::min(1.0, of / seconds)); };
  const bool out = op.kind != OpKind::kRecv, in = op.kind != OpKind::kSend;
  return {out ? share(use.inside) : 0, in ? share(use.inside) : 0, out ? share(use.card_out) : 0,
          in ? share(use.card_in) : 0};
}

double slowdown_of(const LinkShares& op, const LinkShares& asked) {
  double most = 1;
  for (std::size_t link = 0; link < op.size(); ++link)
    if (op[link] > 0 && asked[link] > 1 + kRounding) most = std::max<double>(most, asked[link]);
  return most;
}

bool exceeds_links(const Program& program, const LinkDemand& links, const Timeline& timeline) {
  std::size_t base = 0;
  std::vector<Change> changes;
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    const std::vector<Op>& ops = program.ranks[rank].ops;
    changes.clear();
    for (std::size_t at = 0; at < ops.size(); ++at) {
      const Span& span = timeline.ranks[rank].spans[at];
      if (links[base + at] == LinkShares{} || span.begin == span.end) continue;
      const auto op = static_cast<std::int32_t>(at);
      changes.push_back({span.begin.count(), op, true});
      changes.push_back({span.end.count(), op, false});
    }
    std::sort(changes.begin(), changes.end());
    double asked[std::tuple_size_v<LinkShares>] = {};
    for (const Change& change : changes) {
      const LinkShares& own = links[base + static_cast<std::size_t>(change.op)];
      for (std::size_t link = 0; link < own.size(); ++link) {
        asked[link] += change.begins ? own[link] : -own[link];
        if (asked[link] > 1 + kRounding) return true;
      }
    }
    base += ops.size();
  }
  return false;
}

}  // namespace parallelarium

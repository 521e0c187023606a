// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/repeats/program_repeats.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include "engine/plan/program/matching.h"
#include "engine/predict/repeats/alike_ops.h"

namespace parallelarium {

namespace {

// The first op of the compute lane of each of two actions; -1: none.
std::int32_t first_op_of(const RankProgram& rank, std::size_t action) {
  for (std::size_t at = 0; at < rank.ops.size(); ++at)
    if (rank.ops[at].lane == Lane::kCompute &&
        rank.ops[at].action == static_cast<std::int32_t>(action))
      return static_cast<std::int32_t>(at);
  return -1;
}

// The transfers from one rank to another in one group, in order, as one of both ranks has them.
struct Messages {
  std::vector<Span> spans;
  std::size_t before = 0, in_body = 0;  // those before the cut, and of them in the body
};

// Whether messages that one rank has before its cut and the other behind it come a period later
// than those a body before them, so that both ranks agree on when each message of the step is.
bool agree(const Messages& sent, const Messages& received, Nanoseconds period) {
  if (sent.in_body != received.in_body || sent.spans.size() != received.spans.size()) return false;
  const std::size_t body = sent.in_body;
  const auto [low, high] = std::minmax(sent.before, received.before);
  if (low == high) return true;
  if (body == 0 || low < body) return false;
  for (std::size_t at = low - body; at < high; ++at) {
    if (at + body >= sent.spans.size()) return false;
    for (const Messages* each : {&sent, &received})
      if (each->spans[at].begin + period != each->spans[at + body].begin ||
          each->spans[at].end + period != each->spans[at + body].end)
        return false;
  }
  return true;
}

class MessageCheck {
 public:
  MessageCheck(const Program& program, const Timeline& timeline, const Repeats& repeats,
               const std::deque<AlikeOps>& alike)
      : program_(program), built_(built_ranks(program)) {
    members_.assign(program.groups.size(), 0);
    for (std::size_t group = 0; group < program.groups.size(); ++group)
      for (const int rank : program.groups[group].ranks)
        members_[group] += built_[static_cast<std::size_t>(rank)] >= 0 ? 1 : 0;
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank)
      read(rank, timeline.ranks[rank].spans, repeats.ranks[rank], alike[rank]);
    for (const auto& [channel, messages] : channels_)
      fine_ = fine_ && agree(messages[0], messages[1], repeats.period);
  }
  bool fine() const { return fine_; }

 private:
  void read(std::size_t index, const std::vector<Span>& spans, const Repeats::Body& body,
            const AlikeOps& alike) {
    const RankProgram& rank = program_.ranks[index];
    for (std::size_t op = 0; op < rank.ops.size(); ++op) {
      const Op& each = rank.ops[op];
      const auto at = static_cast<std::int32_t>(op);
      if (each.kind == OpKind::kCompute) continue;
      if (each.kind == OpKind::kCollective) {
        // Of several built ranks: behind all that repeats itself, or before it.
        if (members_[static_cast<std::size_t>(each.group)] > 1 && at >= alike.first() &&
            at < alike.last())
          fine_ = false;
        continue;
      }
      if (built_[static_cast<std::size_t>(each.peer)] < 0) continue;
      const bool sends = each.kind == OpKind::kSend;
      const int from = sends ? rank.rank : each.peer, to = sends ? each.peer : rank.rank;
      Messages& messages = channels_[{from, to, each.group}][sends ? 0 : 1];
      messages.spans.push_back(spans[op]);
      messages.before += at < body.last ? 1 : 0;
      messages.in_body += at >= body.first && at < body.last ? 1 : 0;
    }
  }

  const Program& program_;
  const std::vector<std::int32_t> built_;
  std::vector<int> members_;  // built ranks of each group
  std::map<std::tuple<int, int, std::int32_t>, std::array<Messages, 2>> channels_;
  bool fine_ = true;
};

}  // namespace

std::optional<Repeats> program_repeats(const OrderRepeats& order, const Program& program,
                                       const Timeline& timeline) {
  Repeats repeats;
  repeats.times = order.times;
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    const OrderRepeats::Line& line = order.ranks[rank];
    const Repeats::Body body{first_op_of(program.ranks[rank], line.cut - line.length),
                             first_op_of(program.ranks[rank], line.cut)};
    if (body.first < 0 || body.last <= body.first) return std::nullopt;
    repeats.ranks.push_back(body);
  }
  const auto begin_of = [&](std::int32_t op) {
    return timeline.ranks[0].spans[static_cast<std::size_t>(op)].begin;
  };
  repeats.period = begin_of(repeats.ranks[0].last) - begin_of(repeats.ranks[0].first);
  std::deque<AlikeOps> alike;
  Nanoseconds last{0};  // end of what is behind the cuts
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    const std::vector<Span>& spans = timeline.ranks[rank].spans;
    Repeats::Body& body = repeats.ranks[rank];
    alike.emplace_back(program.ranks[rank], spans,
                       AlikeOps::BodySize{body, static_cast<std::int32_t>(order.ranks[rank].length),
                                          order.microbatches, repeats.times, repeats.period});
    if (!alike.back().holds()) return std::nullopt;
    body = alike.back().body();
    for (auto op = static_cast<std::size_t>(body.last); op < spans.size(); ++op)
      last = std::max(last, spans[op].end);
  }
  if (last != timeline.duration) return std::nullopt;
  if (!MessageCheck(program, timeline, repeats, alike).fine()) return std::nullopt;
  return repeats;
}

}  // namespace parallelarium

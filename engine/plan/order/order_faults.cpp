// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/order/order_faults.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "engine/plan/order/order_graph.h"
#include "engine/plan/text/phrases.h"

namespace parallelarium {

namespace {

const Action& fault_action(const Order& order, ActionRef ref) {
  return order.ranks[static_cast<std::size_t>(ref.rank)][static_cast<std::size_t>(ref.index)];
}

int fault_stage(const Order& order, ActionRef ref) {
  const auto chunk = static_cast<std::size_t>(fault_action(order, ref).chunk);
  return order.stage_of[static_cast<std::size_t>(ref.rank)][chunk];
}

// "B3", "B3.1"
std::string letters_of(const Order& order, ActionRef ref) {
  const Action& action = fault_action(order, ref);
  const std::string plain = fmt::format("{}{}", letter_of(action.kind), action.microbatch);
  return order.chunks > 1 ? fmt::format("{}.{}", plain, action.chunk) : plain;
}

// Whether rank and stage are one, as people draw it: its sentences say stage.
bool is_stage(const Order& order) {
  return order.chunks == 1 && order.stages == static_cast<int>(order.ranks.size());
}

// "B3 of stage 1", "B3.1 of rank 1"
Message words_of(const Order& order, ActionRef ref) {
  if (is_stage(order))
    return message("action-of-stage", "{} of stage {}", letters_of(order, ref), ref.rank);
  return message("action-of-rank", "{} of rank {}", letters_of(order, ref), ref.rank);
}

// Sentences enough for a person; the rest would say the same.
constexpr std::size_t kMostFaults = 20;

// Numbers that point outside the Order.
void check_shape(const Order& order, std::vector<OrderFault>& faults) {
  const auto chunks = static_cast<std::size_t>(std::max(order.chunks, 0));
  if (order.ranks.empty() || order.chunks < 1 || order.microbatches < 1 || order.stages < 1 ||
      order.stage_of.size() != order.ranks.size()) {
    faults.push_back({-1, "", "",
                      message("order-empty.work",
                              "The order has no work; it needs one line per rank, such as F0 "
                              "B0.")});
    return;
  }
  for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
    const bool stages_right =
        order.stage_of[rank].size() == chunks &&
        std::all_of(order.stage_of[rank].begin(), order.stage_of[rank].end(),
                    [&](int stage) { return stage >= 0 && stage < order.stages; });
    if (!stages_right) {
      faults.push_back({static_cast<int>(rank), "", "",
                        message("order-stages.held", "Rank {} does not hold {} of the {} stages.",
                                rank, chunks, order.stages)});
      return;
    }
    for (std::size_t index = 0; index < order.ranks[rank].size(); ++index) {
      const Action& action = order.ranks[rank][index];
      if (action.microbatch < 0 || action.microbatch >= order.microbatches || action.chunk < 0 ||
          action.chunk >= order.chunks) {
        faults.push_back(
            {static_cast<int>(rank), "", "",
             message("order-range",
                     "Rank {} works on micro-batch {} of chunk {}, but there are {} "
                     "micro-batches and {} chunks.",
                     rank, action.microbatch, action.chunk, order.microbatches, order.chunks)});
        return;
      }
      if (action.overlapped_with_next && (index + 1 == order.ranks[rank].size() ||
                                          order.ranks[rank][index + 1].overlapped_with_next)) {
        const ActionRef ref{static_cast<int>(rank), static_cast<int>(index)};
        faults.push_back({ref.rank, letters_of(order, ref), "",
                          message("order-pair", "{} is overlapped with nothing; close the pair.",
                                  words_of(order, ref))});
        return;
      }
    }
  }
}

// An action as check_work sorts them: by the work that it names, then by its place.
struct NamedWork {
  int stage, microbatch;
  ActionKind kind;
  ActionRef ref;
};

std::vector<NamedWork> sorted_work(const Order& order) {
  std::vector<NamedWork> entries;
  for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
    for (std::size_t index = 0; index < order.ranks[rank].size(); ++index) {
      const ActionRef ref{static_cast<int>(rank), static_cast<int>(index)};
      const Action& action = fault_action(order, ref);
      entries.push_back({fault_stage(order, ref), action.microbatch, action.kind, ref});
    }
  }
  std::sort(entries.begin(), entries.end(), [](const NamedWork& a, const NamedWork& b) {
    return std::tie(a.stage, a.microbatch, a.kind, a.ref.rank, a.ref.index) <
           std::tie(b.stage, b.microbatch, b.kind, b.ref.rank, b.ref.index);
  });
  return entries;
}

int holder_of(const Order& order, int stage) {
  for (std::size_t rank = 0; rank < order.stage_of.size(); ++rank) {
    for (const int held : order.stage_of[rank]) {
      if (held == stage) return static_cast<int>(rank);
    }
  }
  return -1;
}

// What an order says of one micro-batch of one stage.
struct SaidWork {
  int count[4] = {};  // by ActionKind
  int holder = -1;    // the rank that works on it first; -1: none

  bool has(ActionKind kind) const { return count[static_cast<int>(kind)] > 0; }
};

// Counts `entries`, and finds what stands twice or on two ranks.
SaidWork count_work(const Order& order, std::span<const NamedWork> entries,
                    std::vector<OrderFault>& faults) {
  SaidWork said;
  int holder_chunk = -1;
  for (const NamedWork& entry : entries) {
    if (++said.count[static_cast<int>(entry.kind)] == 2) {
      faults.push_back({entry.ref.rank, letters_of(order, entry.ref), "",
                        message("order-doubled", "{} stands in the order twice; remove one.",
                                words_of(order, entry.ref))});
    }
    const int chunk = fault_action(order, entry.ref).chunk;
    if (said.holder < 0) {
      said.holder = entry.ref.rank;
      holder_chunk = chunk;
    } else if (said.holder != entry.ref.rank || holder_chunk != chunk) {
      faults.push_back({entry.ref.rank, letters_of(order, entry.ref), "",
                        message("order-elsewhere",
                                "{} works on a micro-batch that rank {} holds in its chunk {}.",
                                words_of(order, entry.ref), said.holder, holder_chunk)});
    }
  }
  return said;
}

OrderFault missing_work(const Order& order, const char* what, int stage, int microbatch,
                        int holder) {
  const int rank = holder >= 0 ? holder : holder_of(order, stage);
  if (rank < 0)
    return {-1, "", "", message("order-stage-unheld", "No rank holds stage {}.", stage)};
  return {
      rank, "", fmt::format("{}{}", what, microbatch),
      is_stage(order)
          ? message("order-missing.stage", "{}{} of stage {} is missing.", what, microbatch, stage)
          : message("order-missing", "{}{} of stage {} is missing in the line of rank {}.", what,
                    microbatch, stage, rank)};
}

// Missing (where it is `finished`) and doubled work. Memory: proportional to the actions, not to
// what they name.
void check_work(const Order& order, bool finished, std::vector<OrderFault>& faults) {
  const std::vector<NamedWork> entries = sorted_work(order);
  auto begin = entries.begin();
  for (int stage = 0; stage < order.stages; ++stage) {
    for (int microbatch = 0; microbatch < order.microbatches; ++microbatch) {
      if (faults.size() >= kMostFaults) return;
      const auto end = std::find_if(begin, entries.end(), [&](const NamedWork& entry) {
        return entry.stage != stage || entry.microbatch != microbatch;
      });
      const SaidWork said = count_work(order, {begin, end}, faults);
      begin = end;
      const auto lacks = [&](const char* what) {
        OrderFault fault = missing_work(order, what, stage, microbatch, said.holder);
        const bool told =
            !faults.empty() && fault.rank < 0 && faults.back().sentence.text == fault.sentence.text;
        if (!told) faults.push_back(std::move(fault));
      };
      const bool whole = said.has(ActionKind::kBackward), input = said.has(ActionKind::kInputGrad),
                 weight = said.has(ActionKind::kWeightGrad);
      if (!said.has(ActionKind::kForward) && finished) lacks("F");
      if (whole && (input || weight)) {
        faults.push_back({said.holder, fmt::format("B{}", microbatch), "",
                          message("order-both",
                                  "Stage {} has micro-batch {} backward whole (B) and in parts (I, "
                                  "W); keep one of the two.",
                                  stage, microbatch)});
      } else if (!finished) {
        continue;
      } else if (!whole && !input && !weight) {
        lacks("B");
      } else if (!whole && !input) {
        lacks("I");
      } else if (!whole && !weight) {
        lacks("W");
      }
    }
  }
}

// Where every stage is on two ranks, one of them could do all of its work: the other would hold a
// stage for nothing, and PyTorch's notation could not say that it does.
void check_idle(const Order& order, std::vector<OrderFault>& faults) {
  for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
    if (faults.size() >= kMostFaults) return;
    if (order.ranks[rank].empty()) {
      faults.push_back({static_cast<int>(rank), "", "",
                        message("order-idle", "Rank {} does nothing; give it work.", rank)});
      continue;
    }
    for (int chunk = 0; chunk < order.chunks; ++chunk) {
      const bool works = std::any_of(order.ranks[rank].begin(), order.ranks[rank].end(),
                                     [&](const Action& action) { return action.chunk == chunk; });
      if (!works)
        faults.push_back(
            {static_cast<int>(rank), "", "",
             message("order-idle.chunk",
                     "Rank {} does nothing in its chunk {}, which is stage {}; give "
                     "it work there.",
                     rank, chunk, order.stage_of[rank][static_cast<std::size_t>(chunk)])});
    }
  }
}

// Work that stands before what it needs in the line of one rank.
void check_lines(const Order& order, const OrderGraph& graph, std::vector<OrderFault>& faults) {
  for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
    for (std::size_t index = 0; index < order.ranks[rank].size(); ++index) {
      const ActionRef ref{static_cast<int>(rank), static_cast<int>(index)};
      // The first half of a pair starts with the second, and the second with the first.
      const bool second = index > 0 && order.ranks[rank][index - 1].overlapped_with_next;
      for (const ActionRef need : graph.needs_of(ref)) {
        if (faults.size() >= kMostFaults) return;
        if (need.rank != ref.rank) continue;
        if (need.index > ref.index) {
          faults.push_back({ref.rank, letters_of(order, ref), letters_of(order, need),
                            message("order-before", "{} stands before {}, which it needs.",
                                    words_of(order, ref), words_of(order, need))});
        } else if (second && need.index == ref.index - 1) {
          faults.push_back(
              {ref.rank, letters_of(order, ref), letters_of(order, need),
               message("order-pair-needs", "{} cannot overlap with {}, which it needs.",
                       words_of(order, ref), words_of(order, need))});
        }
      }
    }
  }
}

// The ranks that wait for each other when nothing can go on.
void check_circle(const Order& order, const OrderGraph& graph, std::vector<OrderFault>& faults) {
  const std::vector<int> walked = graph.walk([](int, int, int) {});
  int rank = -1;
  for (std::size_t r = 0; r < walked.size() && rank < 0; ++r) {
    if (walked[r] < static_cast<int>(order.ranks[r].size())) rank = static_cast<int>(r);
  }
  if (rank < 0) return;
  // From any waiting rank, following what it waits for leads into the circle.
  const auto next_of = [&](int from) {
    return graph.missing({from, walked[static_cast<std::size_t>(from)]}, walked);
  };
  std::vector<bool> seen(walked.size(), false);
  while (!seen[static_cast<std::size_t>(rank)]) {
    seen[static_cast<std::size_t>(rank)] = true;
    rank = next_of(rank).rank;
  }
  std::vector<Message> circle;
  const int first = rank;
  do {
    const ActionRef need = next_of(rank);
    const ActionRef here{rank, walked[static_cast<std::size_t>(rank)]};
    const std::string at = letters_of(order, here);
    const Message needs = words_of(order, need);
    circle.push_back(
        is_stage(order)
            ? message("stands-waits.stage", "stage {} stands at {} and waits for {}", rank, at,
                      needs)
            : message("stands-waits", "rank {} stands at {} and waits for {}", rank, at, needs));
    rank = need.rank;
  } while (rank != first);
  // First: of all faults it is the hardest to see.
  const ActionRef here{first, walked[static_cast<std::size_t>(first)]};
  faults.insert(
      faults.begin(),
      {first, letters_of(order, here), letters_of(order, next_of(first)),
       message("order-circle", "The ranks wait for each other in a circle: {}.", listed(circle))});
}

std::vector<OrderFault> all_faults(const Order& order, bool finished) {
  std::vector<OrderFault> faults;
  check_shape(order, faults);
  if (!faults.empty()) return faults;
  check_work(order, finished, faults);
  // What stands too early can be told although something is missing; with more faults than a person
  // reads, or work that stands twice, it would be a guess.
  const bool only_missing = std::all_of(faults.begin(), faults.end(), [](const OrderFault& found) {
    return found.sentence.kind == "order-missing";
  });
  if (!only_missing || faults.size() >= kMostFaults) return faults;
  const OrderGraph graph(order);
  check_lines(order, graph, faults);
  // A circle stays one whatever is added to the lines.
  if (faults.size() < kMostFaults) check_circle(order, graph, faults);
  if (faults.empty() && finished) check_idle(order, faults);
  return faults;
}

}  // namespace

std::vector<OrderFault> faults_of(const Order& order) { return all_faults(order, true); }

std::vector<OrderFault> faults_so_far(const Order& order) { return all_faults(order, false); }

bool only_waits(const Order& order) {
  const std::vector<OrderFault> faults = faults_of(order);
  return std::all_of(faults.begin(), faults.end(), [](const OrderFault& fault) {
    return fault.sentence.id == "order-circle" || fault.sentence.id == "order-before";
  });
}

std::vector<Message> check_order(const Order& order) {
  std::vector<Message> sentences;
  for (OrderFault& fault : faults_of(order)) sentences.push_back(std::move(fault.sentence));
  return sentences;
}

}  // namespace parallelarium

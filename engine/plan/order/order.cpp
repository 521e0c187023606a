// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/order/order.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

namespace parallelarium {

namespace {

// Larger numbers are typing errors, and would only waste memory.
constexpr int kMostMicrobatches = 1'000'000;
constexpr int kMostChunks = 1'000;
constexpr int kMostOrderStages = 100'000;

std::string text_of(const Action& action, int chunks) {
  std::string text = letter_of(action.kind) + std::to_string(action.microbatch);
  if (chunks > 1) text += '.' + std::to_string(action.chunk);
  return text;
}

std::optional<ActionKind> kind_of(char letter) {
  switch (letter) {
    case 'F':
      return ActionKind::kForward;
    case 'B':
      return ActionKind::kBackward;
    case 'I':
      return ActionKind::kInputGrad;
    case 'W':
      return ActionKind::kWeightGrad;
    default:
      return std::nullopt;
  }
}

// Takes a number of at most `most` from the front of `word`.
std::optional<int> take_number(std::string_view& word, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || value < 0 || value > most) return std::nullopt;
  word.remove_prefix(static_cast<std::size_t>(end - word.data()));
  return value;
}

// "F3.1": the whole word.
std::optional<Action> action_from_word(std::string_view word) {
  if (word.empty()) return std::nullopt;
  const auto kind = kind_of(word.front());
  if (!kind) return std::nullopt;
  word.remove_prefix(1);
  if (word.empty() || word.front() < '0' || word.front() > '9') return std::nullopt;
  const auto microbatch = take_number(word, kMostMicrobatches);
  if (!microbatch) return std::nullopt;
  int chunk = 0;
  if (!word.empty()) {
    if (word.front() != '.') return std::nullopt;
    word.remove_prefix(1);
    if (word.empty() || word.front() < '0' || word.front() > '9') return std::nullopt;
    const auto number = take_number(word, kMostChunks);
    if (!number || !word.empty()) return std::nullopt;
    chunk = *number;
  }
  return Action{*kind, *microbatch, chunk, false};
}

// "2F0": the whole word. `chunk` of the result holds the stage.
std::optional<Action> action_from_pytorch_word(std::string_view word) {
  if (word.empty() || word.front() < '0' || word.front() > '9') return std::nullopt;
  const auto stage = take_number(word, kMostOrderStages);
  if (!stage || word.empty()) return std::nullopt;
  const auto kind = kind_of(word.front());
  if (!kind) return std::nullopt;
  word.remove_prefix(1);
  if (word.empty() || word.front() < '0' || word.front() > '9') return std::nullopt;
  const auto microbatch = take_number(word, kMostMicrobatches);
  if (!microbatch || !word.empty()) return std::nullopt;
  return Action{*kind, *microbatch, *stage, false};
}

constexpr std::string_view kOverlapMark = "OVERLAP_F_B";

// One or two actions of a word in either notation.
template <class Parse>
std::optional<std::vector<Action>> actions_from_word(std::string_view word, char separator,
                                                     std::string_view suffix, Parse parse) {
  if (word.empty() || word.front() != '(') {
    const auto action = parse(word);
    if (!action) return std::nullopt;
    return std::vector{*action};
  }
  if (word.size() < suffix.size() + 2 || word.substr(word.size() - suffix.size()) != suffix) {
    return std::nullopt;
  }
  word.remove_suffix(suffix.size());
  if (word.back() != ')') return std::nullopt;
  word = word.substr(1, word.size() - 2);
  const std::size_t middle = word.find(separator);
  if (middle == std::string_view::npos) return std::nullopt;
  auto first = parse(word.substr(0, middle));
  const auto second = parse(word.substr(middle + 1));
  if (!first || !second) return std::nullopt;
  first->overlapped_with_next = true;
  return std::vector{*first, *second};
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string_view next_word(std::string_view& line, std::string_view separators) {
  const std::size_t begin = line.find_first_not_of(separators);
  if (begin == std::string_view::npos) {
    line = {};
    return {};
  }
  line.remove_prefix(begin);
  const std::size_t end = line.find_first_of(separators);
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end);
  return word;
}

// What a student typed, short enough and printable for a sentence.
std::string quoted(std::string_view word) {
  std::string shown;
  for (const char letter : word.substr(0, 24)) {
    shown += letter >= ' ' && letter <= '~' ? letter : '?';
  }
  return word.size() > 24 ? shown + "…" : shown;
}

Result<Order> finish(Order order) {
  if (order.ranks.empty()) {
    return message("order-empty", "The order is empty; it needs one line per rank, such as F0 B0.");
  }
  for (const auto& line : order.ranks) {
    for (const Action& action : line) {
      order.microbatches = std::max(order.microbatches, action.microbatch + 1);
    }
  }
  return order;
}

// How chunks lie on the ranks; a text may say it in a line of its own, such as "placement v".
constexpr std::array<std::string_view, 3> kPlacements = {"interleaved", "v", "mirrored"};

constexpr std::string_view kPlacementWord = "placement";

// Of a line such as "placement v 2": the placement and the chunks of each rank.
std::optional<std::pair<std::string_view, int>> placement_from(std::string_view line) {
  line.remove_prefix(kPlacementWord.size());
  const std::string_view word = next_word(line, " \t\r");
  std::string_view number = next_word(line, " \t\r");
  const auto known = std::find(kPlacements.begin(), kPlacements.end(), word);
  const auto chunks = take_number(number, kMostChunks);
  if (known == kPlacements.end() || !chunks || *chunks < 1 || !number.empty() ||
      !next_word(line, " \t\r").empty() || (*known == "mirrored" && *chunks != 2))
    return std::nullopt;
  return std::pair{*known, *chunks};
}

void place_as(Order& order, std::string_view placement) {
  const int ranks = static_cast<int>(order.ranks.size());
  const bool mirrored = placement == "mirrored";
  order.stages = mirrored ? ranks : ranks * order.chunks;
  order.stage_of.assign(order.ranks.size(), {});
  for (int rank = 0; rank < ranks; ++rank) {
    for (int chunk = 0; chunk < order.chunks; ++chunk) {
      const int next = chunk * ranks + rank;
      const bool back = chunk % 2 == 1 && placement != "interleaved";
      order.stage_of[static_cast<std::size_t>(rank)].push_back(
          back ? (mirrored ? ranks : (chunk + 1) * ranks) - 1 - rank : next);
    }
  }
}

// The notation does not say which stage a chunk is: the placement with the fewest faults.
void place_chunks(Order& order) {
  const int ranks = static_cast<int>(order.ranks.size());
  place_as(order, "interleaved");
  if (order.chunks != 2 || ranks == 1) return;
  Order best = order;
  std::size_t fewest = check_order(order).size();
  const auto take_if_better = [&] {
    const std::size_t faults = check_order(order).size();
    if (faults < fewest) {
      fewest = faults;
      best = order;
    }
  };
  if (fewest == 0) return;
  place_as(order, "v");
  take_if_better();
  if (ranks % 2 == 0) {
    place_as(order, "mirrored");
    take_if_better();
  }
  order = std::move(best);
}

// Begins the lines with the one that says how chunks are placed.
void state_placement(const Order& order, std::vector<std::string>& lines) {
  for (const std::string_view placement : kPlacements) {
    Order placed = order;
    place_as(placed, placement);
    if (placed.stage_of != order.stage_of || placed.stages != order.stages) continue;
    lines.insert(lines.begin(), fmt::format("{} {} {}", kPlacementWord, placement, order.chunks));
    break;
  }
}

// Rank r of DualPipe holds the stages r and ranks - 1 - r, in this order: each is on two ranks.
// The stages of each rank must be in ascending order, and its chunks numbered so.
void number_mirrored_chunks(Order& order) {
  const int ranks = static_cast<int>(order.ranks.size());
  if (order.chunks != 2 || order.stages != ranks) return;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<int>& stages = order.stage_of[static_cast<std::size_t>(rank)];
    if (stages != std::vector{std::min(rank, ranks - 1 - rank), std::max(rank, ranks - 1 - rank)})
      return;
  }
  for (int rank = ranks / 2; rank < ranks; ++rank) {
    std::vector<int>& stages = order.stage_of[static_cast<std::size_t>(rank)];
    std::swap(stages[0], stages[1]);
    for (Action& action : order.ranks[static_cast<std::size_t>(rank)])
      action.chunk = 1 - action.chunk;
  }
}

}  // namespace

char letter_of(ActionKind kind) {
  static constexpr std::array<char, 4> kLetters = {'F', 'B', 'I', 'W'};
  return kLetters[static_cast<std::size_t>(kind)];
}

std::vector<std::string> to_lines(const Order& order) {
  std::vector<std::string> lines;
  for (const auto& actions : order.ranks) {
    std::string line;
    bool in_pair = false;
    for (const Action& action : actions) {
      if (!line.empty() && !in_pair) line += ' ';
      if (action.overlapped_with_next) line += '(';
      line += text_of(action, order.chunks);
      if (action.overlapped_with_next) line += '+';
      if (in_pair) line += ')';
      in_pair = action.overlapped_with_next;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> to_file_lines(const Order& order) {
  std::vector<std::string> lines = to_lines(order);
  Order read = order;
  place_chunks(read);
  if (read.stage_of != order.stage_of) state_placement(order, lines);
  return lines;
}

std::string to_text(const Order& order) {
  std::string text;
  for (const std::string& line : to_file_lines(order)) text += line + '\n';
  return text;
}

std::vector<std::string> to_unfinished_lines(const Order& order) {
  std::vector<std::string> lines = to_lines(order);
  for (std::string& line : lines)
    if (line.empty()) line = "..";
  if (order.chunks > 1) state_placement(order, lines);
  return lines;
}

Result<Order> order_from_text(std::string_view text) {
  Order order;
  int number = 0;
  std::string_view placement;
  while (!text.empty()) {
    std::string_view line = next_line(text);
    ++number;
    if (line.starts_with(kPlacementWord)) {
      const auto stated = placement_from(line);
      if (!stated || !order.ranks.empty())
        return message("order-placement",
                       "Line {} of the order: a placement is one of interleaved, v and mirrored "
                       "with the number of chunks, before the first rank: placement v 2.",
                       number);
      std::tie(placement, order.chunks) = *stated;
      continue;
    }
    std::vector<Action> actions;
    bool any_word = false;
    for (std::string_view word = next_word(line, " \t\r,|"); !word.empty();
         word = next_word(line, " \t\r,|")) {
      any_word = true;
      if (word.find_first_not_of("._-") == std::string_view::npos) continue;  // an idle cell
      const auto parsed = actions_from_word(word, '+', "", action_from_word);
      if (!parsed) {
        return message("order-word",
                       "Line {} of the order: “{}” is not an action; write F3, B3, I3, W3, F3.1 "
                       "for chunk 1, or (F4.0+B1.1) for a pair.",
                       number, quoted(word));
      }
      for (const Action& action : *parsed) {
        order.chunks = std::max(order.chunks, action.chunk + 1);
        actions.push_back(action);
      }
    }
    if (any_word) order.ranks.push_back(std::move(actions));
  }
  const int ranks = static_cast<int>(order.ranks.size());
  if (std::int64_t{ranks} * order.chunks > kMostOrderStages) {
    return message("order-large", "The order has {} ranks with {} chunks; at most {} stages fit.",
                   ranks, order.chunks, kMostOrderStages);
  }
  Result<Order> finished = finish(std::move(order));
  if (!finished.ok()) return finished;
  if (placement.empty())
    place_chunks(*finished);
  else
    place_as(*finished, placement);
  return finished;
}

std::string to_pytorch(const Order& order) {
  std::string text;
  for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
    bool in_pair = false, first = true;
    for (const Action& action : order.ranks[rank]) {
      if (!first && !in_pair) text += ',';
      first = false;
      if (action.overlapped_with_next) text += '(';
      text += fmt::format("{}{}{}", order.stage_of[rank][static_cast<std::size_t>(action.chunk)],
                          letter_of(action.kind), action.microbatch);
      if (action.overlapped_with_next) text += ';';
      if (in_pair) text += fmt::format("){}", kOverlapMark);
      in_pair = action.overlapped_with_next;
    }
    text += '\n';
  }
  return text;
}

Result<Order> order_from_pytorch(std::string_view text) {
  Order order;
  int number = 0;
  while (!text.empty()) {
    std::string_view line = next_line(text);
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    std::vector<Action>& actions = order.ranks.emplace_back();
    std::vector<int>& stages = order.stage_of.emplace_back();
    // Cells may stand in quotes.
    for (std::string_view word = next_word(line, " \t\r,\""); !word.empty();
         word = next_word(line, " \t\r,\"")) {
      const auto parsed = actions_from_word(word, ';', kOverlapMark, action_from_pytorch_word);
      if (!parsed) {
        return message("order-word-pytorch",
                       "Line {} of the order: “{}” is not an action in PyTorch's notation; write "
                       "2F0, 1B3, 0I2, 3W1 or (0F1;1B0)OVERLAP_F_B, without the transfers.",
                       number, quoted(word));
      }
      for (const Action& action : *parsed) {
        actions.push_back(action);
        stages.push_back(action.chunk);
        order.stages = std::max(order.stages, action.chunk + 1);
      }
    }
    std::sort(stages.begin(), stages.end());
    stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
    for (Action& action : actions) {
      action.chunk = static_cast<int>(std::lower_bound(stages.begin(), stages.end(), action.chunk) -
                                      stages.begin());
    }
    order.chunks = std::max(order.chunks, static_cast<int>(stages.size()));
  }
  for (std::size_t rank = 0; rank < order.stage_of.size(); ++rank) {
    if (static_cast<int>(order.stage_of[rank].size()) != order.chunks) {
      return message("order-chunks",
                     "Rank {} works on {} stages and another rank on {}; every rank must hold "
                     "equally many.",
                     rank, order.stage_of[rank].size(), order.chunks);
    }
  }
  number_mirrored_chunks(order);
  return finish(std::move(order));
}

}  // namespace parallelarium

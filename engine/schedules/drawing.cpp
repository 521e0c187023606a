// SPDX-License-Identifier: Apache-2.0
#include "engine/schedules/drawing.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace parallelarium {

namespace {

constexpr std::size_t kMostRows = 32;
constexpr std::size_t kMostSlots = 128;

std::string drawn_name(const Action& action) {
  return fmt::format("{}{}", letter_of(action.kind), action.microbatch);
}

std::optional<Action> drawn_action(const std::string& word) {
  Action action;
  if (word.size() < 2 || (word[0] != 'F' && word[0] != 'B')) return std::nullopt;
  action.kind = word[0] == 'F' ? ActionKind::kForward : ActionKind::kBackward;
  const char* end = word.data() + word.size();
  const auto [at, code] = std::from_chars(word.data() + 1, end, action.microbatch);
  if (code != std::errc() || at != end || action.microbatch < 0) return std::nullopt;
  return action;
}

// Where the action stands in that row, or -1.
int slot_of(const Drawing& drawing, int stage, const Action& action) {
  const auto& row = drawing.rows[static_cast<std::size_t>(stage)];
  const auto found = std::find(row.begin(), row.end(), std::optional<Action>(action));
  return found == row.end() ? -1 : static_cast<int>(found - row.begin());
}

}  // namespace

std::size_t Drawing::slots() const {
  std::size_t most = 0;
  for (const auto& row : rows) most = std::max(most, row.size());
  return most;
}

bool Drawing::has(int stage, int slot) const {
  return stage >= 0 && stage < static_cast<int>(rows.size()) && slot >= 0 &&
         slot < static_cast<int>(rows[static_cast<std::size_t>(stage)].size());
}

Result<Drawing> drawing_from_lines(const std::vector<std::string>& lines) {
  Drawing drawing;
  if (lines.empty() || lines.size() > kMostRows)
    return message("drawing-rows", "A drawing has 1 to {} rows.", kMostRows);
  for (const std::string& line : lines) {
    auto& row = drawing.rows.emplace_back();
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      const std::optional<Action> action = drawn_action(word);
      if (!action && word != "..")
        return message("drawing-word", "Row {} of the drawing: \"{}\" is neither F0, B0 nor ..",
                       drawing.rows.size(), word);
      if (action && std::find(row.begin(), row.end(), action) != row.end())
        return message("drawing-twice", "Row {} of the drawing: {} stands twice.",
                       drawing.rows.size(), word);
      row.push_back(action);
    }
    if (row.empty() || row.size() > kMostSlots)
      return message("drawing-slots", "A row of a drawing has 1 to {} slots.", kMostSlots);
  }
  return drawing;
}

Message DrawnFault::sentence() const {
  if (needs_slot < 0)
    return message("drawing-missing", "{} of stage {} needs {} of stage {}, which is not drawn.",
                   drawn_name(action), stage, drawn_name(needs), needs_stage);
  return message("drawing-early",
                 "{} of stage {} begins in slot {}, but needs {} of stage {}, which ends with slot "
                 "{}.",
                 drawn_name(action), stage, slot, drawn_name(needs), needs_stage, needs_slot);
}

std::vector<DrawnFault> faults_of(const Drawing& drawing) {
  std::vector<DrawnFault> faults;
  const int stages = static_cast<int>(drawing.rows.size());
  for (int stage = 0; stage < stages; ++stage) {
    const auto& row = drawing.rows[static_cast<std::size_t>(stage)];
    for (int slot = 0; slot < static_cast<int>(row.size()); ++slot) {
      const std::optional<Action>& action = row[static_cast<std::size_t>(slot)];
      if (!action) continue;
      std::vector<std::pair<int, Action>> needs;
      if (action->kind == ActionKind::kForward) {
        if (stage > 0) needs.emplace_back(stage - 1, *action);
      } else {
        needs.emplace_back(stage, Action{ActionKind::kForward, action->microbatch});
        if (stage + 1 < stages) needs.emplace_back(stage + 1, *action);
      }
      for (const auto& [of, needed] : needs) {
        const int ends = slot_of(drawing, of, needed);
        if (ends >= 0 && ends < slot) continue;
        faults.push_back({stage, slot, *action, needed, of, ends});
        break;
      }
    }
  }
  return faults;
}

Message sound_sentence(const Drawing& drawing, int stage, int slot) {
  const auto& row = drawing.rows[static_cast<std::size_t>(stage)];
  const std::optional<Action>& action = row[static_cast<std::size_t>(slot)];
  if (!action)
    return message("drawing-idle", "Stage {} does nothing in slot {}: that breaks no rule.", stage,
                   slot);
  return message("drawing-sound", "{} of stage {} in slot {} has all that it needs by then.",
                 drawn_name(*action), stage, slot);
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// What a student changes of the order: each change is one that undo takes back.
#include <algorithm>

#include "app/look/sentence.h"
#include "app/state/session.h"
#include "app/state/step/order_edit.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

void OrderEdit::change(Order draft, const QString& what) {
  Result<Schedule> schedule = Schedule::own(kOwnOrderName, to_unfinished_lines(draft));
  if (!schedule) return;  // what came from an Order is readable
  Setup setup = session_.setup();
  setup.schedule = std::move(*schedule);
  setup.chunks = draft.chunks;
  session_.history().change(setup, what);
}

QString OrderEdit::words_of(std::size_t rank, const Action& action) const {
  const QString letter = QLatin1Char(letter_of(action.kind)) + QString::number(action.microbatch);
  if (draft_.chunks == 1) return tr("%1 on stage %2").arg(letter).arg(rank);
  return tr("%1 of chunk %2 on rank %3").arg(letter).arg(action.chunk).arg(rank);
}

void OrderEdit::place(std::size_t rank, const Action& action) {
  insert(rank, draft_.ranks[rank].size(), {action});
}

void OrderEdit::insert(std::size_t rank, std::size_t index, std::vector<Action> actions) {
  if (actions.empty()) return;
  Order draft = draft_;
  auto& line = draft.ranks[rank];
  line.insert(line.begin() + static_cast<std::ptrdiff_t>(std::min(index, line.size())),
              actions.begin(), actions.end());
  change(std::move(draft), actions.size() == 1 ? tr("Place %1").arg(words_of(rank, actions.front()))
                                               : tr("Insert %1 actions").arg(actions.size()));
}

void OrderEdit::replace(std::size_t rank, std::size_t index, const Action& action) {
  Order draft = draft_;
  draft.ranks[rank][index] = action;
  change(std::move(draft), tr("Place %1").arg(words_of(rank, action)));
}

void OrderEdit::erase(std::size_t rank, std::size_t first, std::size_t count) {
  Order draft = draft_;
  auto& line = draft.ranks[rank];
  if (count == 0 || first + count > line.size()) return;
  const QString what = count == 1 ? tr("Remove %1").arg(words_of(rank, line[first]))
                                  : tr("Remove %1 actions").arg(count);
  const auto begin = line.begin() + static_cast<std::ptrdiff_t>(first);
  line.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
  if (first > 0) line[first - 1].overlapped_with_next = false;  // its partner may be gone
  change(std::move(draft), what);
}

void OrderEdit::move(std::size_t rank, std::size_t from, std::size_t to) {
  Order draft = draft_;
  auto& line = draft.ranks[rank];
  if (from >= line.size() || to >= line.size() || from == to) return;
  const QString what = tr("Move %1").arg(words_of(rank, line[from]));
  const auto at = [&line](std::size_t index) {
    return line.begin() + static_cast<std::ptrdiff_t>(index);
  };
  for (const std::size_t index : {from, from > 0 ? from - 1 : from})
    line[index].overlapped_with_next = false;
  if (from < to)
    std::rotate(at(from), at(from + 1), at(to + 1));
  else
    std::rotate(at(to), at(from), at(from + 1));
  change(std::move(draft), what);
}

QString OrderEdit::set_line(std::size_t rank, const QString& text) {
  const std::string typed = text.simplified().toUpper().toStdString();
  const Result<Order> read = order_from_text(typed.empty() ? ".." : typed);
  if (!read) return sentence(read.error());
  Order draft = draft_;
  draft.ranks[rank] = read->ranks.front();
  for (const Action& action : draft.ranks[rank])
    if (action.chunk >= draft.chunks)
      return tr("There is no chunk %1: the last one is %2.")
          .arg(action.chunk)
          .arg(draft.chunks - 1);
  change(std::move(draft), tr("Type the order of stage %1").arg(rank));
  return {};
}

void OrderEdit::clear(std::size_t rank) {
  Order draft = draft_;
  draft.ranks[rank].clear();
  change(std::move(draft), tr("Clear the order of stage %1").arg(rank));
}

void OrderEdit::clear_all() { change(without_actions(draft_), tr("Clear the order")); }

void OrderEdit::reset() { change(task_->start, tr("Reset the order")); }

void OrderEdit::repeat_to_the_end() {
  change(repeated_to_the_end(draft_, durations_, split_), tr("Repeat the order to the end"));
}

// Backwards that stand already become of the other kind: W follows its I at once.
void OrderEdit::set_split(bool split) {
  if (split == split_) return;
  Order draft = draft_;
  for (auto& line : draft.ranks) {
    std::vector<Action> changed;
    for (Action action : line) {
      action.overlapped_with_next = false;
      if (split && action.kind == ActionKind::kBackward) {
        action.kind = ActionKind::kInputGrad;
        changed.push_back(action);
        action.kind = ActionKind::kWeightGrad;
      } else if (!split && action.kind == ActionKind::kInputGrad) {
        action.kind = ActionKind::kBackward;
      } else if (!split && action.kind == ActionKind::kWeightGrad) {
        continue;
      }
      changed.push_back(action);
    }
    line = std::move(changed);
  }
  split_ = split;
  const bool same = draft == draft_;
  change(std::move(draft), split ? tr("Split the backwards in two") : tr("Keep backwards whole"));
  if (!same || !problem_.isEmpty()) return;
  judge();
  Q_EMIT changed();
}

QString OrderEdit::set_order(const Order& order) {
  if (order.ranks.size() != draft_.ranks.size())
    return tr("The order has a line for each of %1 ranks, but PP is %2. Set PP to %1, or choose a "
              "schedule to begin anew.")
        .arg(order.ranks.size())
        .arg(draft_.ranks.size());
  if (order.microbatches > draft_.microbatches)
    return tr("The order names micro-batch %1, but there are only %2.")
        .arg(order.microbatches - 1)
        .arg(draft_.microbatches);
  change(order, tr("Open an order"));
  return {};
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cost/shared_items.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace parallelarium {

void SharedItems::clear(const LinkDemand& links, Timeline& timeline) {
  links_ = &links;
  timeline_ = &timeline;
  const std::size_t meetings = matching_.meetings.size();
  const std::size_t alone = sharing_ == Sharing::kNone ? static_cast<std::size_t>(ops()) : 0;
  items_.assign(static_cast<std::size_t>(ops()) + meetings - alone, {});
  asks_.assign(meetings, false);
  for (std::size_t meeting = 0; meeting < meetings && !links.empty(); ++meeting)
    for_lanes_of(ops() + static_cast<std::int32_t>(meeting), -1, [&](int, std::int32_t op, bool) {
      if (links[static_cast<std::size_t>(op)] != LinkShares{}) asks_[meeting] = true;
    });
  working_on_lane_.assign(program_.ranks.size() * kLanes, 0);
  processors_.assign(sharing_ == Sharing::kGpu ? 1 : program_.ranks.size(), {});
  each_item_ = sharing_ == Sharing::kGpu;
  // Ranks that are not built do what those that stand for them do, at the same time.
  if (sharing_ == Sharing::kGpu)
    copies_ = std::max<std::int64_t>(
        1, program_.world / static_cast<std::int64_t>(program_.ranks.size()));
}

void SharedItems::start(std::int32_t number, int lane, std::int64_t begin, std::int64_t duration,
                        std::int64_t now) {
  if (begin <= now) return activate(number, lane, begin, duration);
  Item& comes = item_of(number);
  comes.lane = lane;
  comes.duration = duration;
  comes.is_to_come = true;
  events_.push({begin, number, comes.version});
}

std::optional<std::int64_t> SharedItems::next_time() const {
  if (events_.empty()) return std::nullopt;
  return events_.top().time;
}

std::optional<SharedItems::Ended> SharedItems::end_one(std::int64_t now) {
  while (!events_.empty() && events_.top().time == now) {
    const Event event = events_.top();
    events_.pop();
    Item& item = item_of(event.item);
    if (event.version != item.version) continue;  // its rate has changed since
    if (std::exchange(item.is_to_come, false)) {
      activate(event.item, item.lane, now, item.duration);
      continue;
    }
    deactivate(event.item, now);
    return Ended{event.item, item.lane, item.begin};
  }
  return std::nullopt;
}

void SharedItems::activate(std::int32_t number, int lane, std::int64_t begin,
                           std::int64_t duration) {
  Item& item = item_of(number);
  item.remaining = static_cast<double>(duration);
  item.duration = duration;
  item.begin = item.updated = begin;
  item.lane = lane;
  item.rate = 0;  // set with the changed processors
  for_lanes_of(number, lane, [&](int at, std::int32_t op, bool works) {
    Processor& processor = processor_of(at);
    if (works && (working_on_lane_[static_cast<std::size_t>(at)]++ == 0 || each_item_))
      ++processor.working;
    processor.active.push_back({number, op});
    changed_.push_back(number_of(at));
  });
}

void SharedItems::deactivate(std::int32_t number, std::int64_t now) {
  Item& item = item_of(number);
  // Rounding makes a nanosecond.
  const std::int64_t lost = now - item.begin - item.duration;
  const bool slowed = !links_->empty() && number >= ops() && lost > 1;
  for_lanes_of(number, item.lane, [&](int at, std::int32_t op, bool works) {
    Processor& processor = processor_of(at);
    if (works && (--working_on_lane_[static_cast<std::size_t>(at)] == 0 || each_item_))
      --processor.working;
    processor.active.erase(
        std::find_if(processor.active.begin(), processor.active.end(),
                     [&](const Active& active) { return active.item == number; }));
    changed_.push_back(number_of(at));
    if (!slowed) return;
    const auto rank = static_cast<std::size_t>(at / kLanes);
    timeline_->ranks[rank].slowed.push_back({op - matching_.base[rank], Nanoseconds{lost}});
  });
  ++item.version;
}

double SharedItems::rate_beside(const Item& item, int busiest) const {
  if (sharing_ == Sharing::kNone) return 1.0;
  if (sharing_ != Sharing::kOverlap)
    return 1.0 / (static_cast<double>(busiest) * static_cast<double>(copies_));
  const bool computes = item.lane >= 0 && item.lane % kLanes == static_cast<int>(Lane::kCompute);
  return computes && busiest > 0 ? 1.0 / slowdown_ : 1.0;
}

void SharedItems::update_rates(std::int64_t now) {
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  ++looks_;
  if (!links_->empty())
    for (const int changed : changed_) ask_links(processors_[static_cast<std::size_t>(changed)]);
  for (const int changed : changed_) {
    for (const Active& active : processors_[static_cast<std::size_t>(changed)].active) {
      const std::int32_t number = active.item;
      Item& item = item_of(number);
      if (std::exchange(item.looked, looks_) == looks_) continue;
      int busiest = sharing_ == Sharing::kOverlap ? 0 : 1;
      double slowdown = 1;
      for_lanes_of(number, item.lane, [&](int at, std::int32_t op, bool) {
        const Processor& one = processor_of(at);
        busiest = std::max(busiest, one.working);
        if (!links_->empty())
          slowdown =
              std::max(slowdown, slowdown_of((*links_)[static_cast<std::size_t>(op)], one.asked));
      });
      const double rate = rate_beside(item, busiest) / slowdown;
      if (rate == item.rate) continue;
      item.remaining -= static_cast<double>(now - item.updated) * item.rate;
      item.remaining = std::max(item.remaining, 0.0);
      item.rate = rate;
      item.updated = now;
      const auto left = static_cast<std::int64_t>(std::ceil(item.remaining / rate - 1e-6));
      events_.push({now + left, number, ++item.version});
    }
  }
  changed_.clear();
}

void SharedItems::ask_links(Processor& processor) const {
  processor.asked = {};
  for (const Active& active : processor.active)
    for (std::size_t link = 0; link < processor.asked.size(); ++link)
      processor.asked[link] += (*links_)[static_cast<std::size_t>(active.op)][link];
}

}  // namespace parallelarium

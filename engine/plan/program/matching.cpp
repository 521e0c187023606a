// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/program/matching.h"

#include <algorithm>

namespace parallelarium {

namespace {

// All transfers from one rank to another in one group, in order.
struct Channel {
  std::int32_t to, group;
  std::vector<std::int32_t> meetings;
  std::size_t sent = 0, received = 0;
};

Channel& channel_of(std::vector<Channel>& channels, std::int32_t to, std::int32_t group) {
  for (Channel& channel : channels) {
    if (channel.to == to && channel.group == group) return channel;
  }
  return channels.emplace_back(Channel{to, group, {}});
}

}  // namespace

std::vector<std::int32_t> built_ranks(const Program& program) {
  std::vector<std::int32_t> built(static_cast<std::size_t>(std::max(program.world, 0)), -1);
  for (std::size_t index = 0; index < program.ranks.size(); ++index) {
    const auto rank = static_cast<std::size_t>(program.ranks[index].rank);
    if (rank < built.size()) built[rank] = static_cast<std::int32_t>(index);
  }
  return built;
}

Matching match(const Program& program) {
  const std::vector<std::int32_t> built = built_ranks(program);
  Matching matching;
  matching.base.push_back(0);
  for (const RankProgram& rank : program.ranks) {
    matching.base.push_back(matching.base.back() + static_cast<std::int32_t>(rank.ops.size()));
  }
  matching.meeting_of.assign(static_cast<std::size_t>(matching.base.back()), -1);

  const auto meet = [&](std::int32_t expected) {
    matching.meetings.push_back({expected, 0, 0});
    return static_cast<std::int32_t>(matching.meetings.size() - 1);
  };
  std::vector<std::int32_t> members_built(program.groups.size(), 0);
  for (std::size_t group = 0; group < program.groups.size(); ++group) {
    for (const int rank : program.groups[group].ranks) {
      members_built[group] += built[static_cast<std::size_t>(rank)] >= 0;
    }
  }
  std::vector<std::vector<Channel>> channels(program.ranks.size());  // by sender
  std::vector<std::vector<std::int32_t>> collectives(program.groups.size());
  std::vector<std::size_t> passed(program.groups.size());

  for (std::size_t index = 0; index < program.ranks.size(); ++index) {
    const RankProgram& rank = program.ranks[index];
    std::fill(passed.begin(), passed.end(), 0);
    std::int32_t flat = matching.base[index];
    for (const Op& op : rank.ops) {
      std::int32_t meeting = -1;
      if (op.kind == OpKind::kCollective) {
        const auto group = static_cast<std::size_t>(op.group);
        if (passed[group] == collectives[group].size()) {
          collectives[group].push_back(meet(std::max(1, members_built[group])));
        }
        meeting = collectives[group][passed[group]++];
      } else if (op.kind != OpKind::kCompute) {
        const std::int32_t peer = built[static_cast<std::size_t>(op.peer)];
        if (peer < 0) {
          meeting = meet(1);
        } else {
          const bool sends = op.kind == OpKind::kSend;
          Channel& channel = channel_of(channels[sends ? index : static_cast<std::size_t>(peer)],
                                        sends ? op.peer : rank.rank, op.group);
          std::size_t& done = sends ? channel.sent : channel.received;
          if (done == channel.meetings.size()) channel.meetings.push_back(meet(2));
          meeting = channel.meetings[done++];
        }
      }
      if (meeting >= 0) ++matching.meetings[static_cast<std::size_t>(meeting)].count;
      matching.meeting_of[static_cast<std::size_t>(flat++)] = meeting;
    }
  }

  std::int32_t total = 0;
  for (Meeting& meeting : matching.meetings) {
    meeting.first = total;
    total += meeting.count;
    meeting.count = 0;
  }
  matching.members.resize(static_cast<std::size_t>(total));
  for (std::size_t index = 0; index < program.ranks.size(); ++index) {
    for (std::int32_t flat = matching.base[index]; flat < matching.base[index + 1]; ++flat) {
      const std::int32_t number = matching.meeting_of[static_cast<std::size_t>(flat)];
      if (number < 0) continue;
      Meeting& meeting = matching.meetings[static_cast<std::size_t>(number)];
      matching.members[static_cast<std::size_t>(meeting.first + meeting.count++)] = {
          static_cast<std::int32_t>(index), flat - matching.base[index]};
    }
  }
  return matching;
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/mesh/mesh_data.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <map>
#include <optional>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/state/collective/collective_plan.h"
#include "app/views/shared/quantities/quantities.h"
#include "engine/passes/replicate.h"
#include "engine/passes/shard/shard.h"

namespace parallelarium {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(mesh)
};

QString spaced(std::string_view name) {
  return QString::fromUtf8(name.data(), qsizetype(name.size()))
      .replace(QLatin1Char('_'), QLatin1Char(' '));
}

QString operation_text(const Op& op) {
  if (op.kind != OpKind::kCollective) return name_text(op.purpose);
  return Words::tr("%1 of %2").arg(in_sentence(title_of(op.collective)), name_text(op.purpose));
}

int built_of(const Prediction& prediction, int rank) {
  return representative_of(prediction.program, prediction.setup.mesh, rank);
}

// `ranks`: of the op's group, `rank` among them.
std::int64_t sent_of(const Op& op, const std::vector<int>& ranks, int rank) {
  if (op.kind == OpKind::kSend) return op.bytes * op.repeat;
  if (op.kind != OpKind::kCollective) return 0;
  const auto place = std::find(ranks.begin(), ranks.end(), rank);
  return collective_volume(op.collective, op.type, op.bytes, int(ranks.size()),
                           int(place - ranks.begin()))
             .sent *
         op.repeat;
}

}  // namespace

QString axis_text(Axis axis) {
  if (axis == Axis::kWorld) return Words::tr("all ranks");
  return spaced(name_of(axis)).toUpper();
}

QString layers_text(const std::vector<int>& layers) {
  QStringList parts;
  for (std::size_t at = 0; at < layers.size();) {
    std::size_t end = at + 1;
    while (end < layers.size() && layers[end] == layers[end - 1] + 1) ++end;
    parts << (end - at == 1 ? QString::number(layers[at])
                            : QStringLiteral("%1\u2013%2").arg(layers[at]).arg(layers[end - 1]));
    at = end;
  }
  return parts.isEmpty() ? Words::tr("none") : parts.join(QStringLiteral(", "));
}

QString ranks_text(const std::vector<int>& ranks) {
  constexpr std::size_t kMost = 8;
  QStringList parts;
  for (std::size_t at = 0; at < ranks.size(); ++at) {
    if (ranks.size() > kMost && at == 3) {
      return QStringLiteral("%1 \u2026 %2 (%3)")
          .arg(parts.join(QLatin1Char(' ')))
          .arg(ranks.back())
          .arg(Words::tr("%1 ranks").arg(ranks.size()));
    }
    parts << QString::number(ranks[at]);
  }
  return parts.join(QLatin1Char(' '));
}

std::vector<RankClass> rank_classes(const Prediction& prediction) {
  std::vector<RankClass> classes;
  const Program& program = prediction.program;
  const Mesh& mesh = prediction.setup.mesh;
  const std::vector<MemoryRow> memory = memory_of(program);
  for (std::size_t at = 0; at < program.ranks.size(); ++at) {
    const RankProgram& rank = program.ranks[at];
    auto found = std::find_if(classes.begin(), classes.end(),
                              [&](const RankClass& one) { return one.stage == rank.stage; });
    if (found != classes.end()) {
      found->peak_bytes = std::max(found->peak_bytes, memory[at].peak_bytes);
      continue;
    }
    RankClass one;
    one.stage = rank.stage;
    one.built = int(at);
    one.ranks = std::int64_t(mesh.ranks()) / mesh.pp;
    one.first = rank.rank;
    one.layers = rank.layers;
    one.peak_bytes = memory[at].peak_bytes;
    classes.push_back(one);
  }
  std::sort(classes.begin(), classes.end(),
            [](const RankClass& a, const RankClass& b) { return a.stage < b.stage; });
  return classes;
}

RankFacts rank_facts(const Prediction& prediction, const RunRecord* run, int rank) {
  const Program& program = prediction.program;
  const Mesh& mesh = prediction.setup.mesh;
  RankFacts facts;
  facts.rank = rank;
  facts.built = built_of(prediction, rank);
  facts.at = coordinates_of(mesh, rank);
  std::optional<RankProgram> own;  // with its own chunks of what ZeRO cuts
  if (program.representatives) {
    own = program.ranks[std::size_t(facts.built)];
    own->at = facts.at;
    take_own_shards(prediction.setup, *own);
  }
  const RankProgram& built = own ? *own : program.ranks[std::size_t(facts.built)];
  facts.layers = built.layers;
  facts.peak_bytes = memory_of(program)[std::size_t(facts.built)].peak_bytes;
  for (const Axis axis : {Axis::kTp, Axis::kCp, Axis::kDp, Axis::kPp, Axis::kEp}) {
    std::vector<int> ranks = group_of(mesh, axis, rank);
    if (ranks.size() > 1) facts.groups.emplace_back(axis, std::move(ranks));
  }
  std::map<std::tuple<int, int, QString>, RankLink> links;
  std::vector<std::vector<int>> groups(program.groups.size());  // as this rank has them
  for (const Op& op : built.ops) {
    if (op.kind == OpKind::kCompute || op.kind == OpKind::kRecv || op.group < 0) continue;
    const Group& group = program.groups[std::size_t(op.group)];
    std::vector<int>& members = groups[std::size_t(op.group)];
    if (members.empty())
      members =
          program.representatives ? moved_group(prediction.setup, group, facts.at) : group.ranks;
    const std::int64_t sent = sent_of(op, members, rank);
    if (sent == 0) continue;
    RankLink link;
    link.axis = group.axis;
    link.what = operation_text(op);
    if (op.kind == OpKind::kCollective)
      link.group = members;
    else
      link.peer =
          program.representatives ? moved_peer(mesh, group.axis, op.peer, facts.at) : op.peer;
    const int key = op.kind == OpKind::kSend ? link.peer : -1 - op.group;
    RankLink& kept = links.try_emplace({int(group.axis), key, link.what}, link).first->second;
    kept.calls += op.repeat;
    kept.sent += sent;
    facts.sent += sent;
  }
  for (auto& [key, link] : links) facts.links.push_back(std::move(link));
  if (!run) return facts;
  for (const MemoryRow& row : run->observation.memory)
    if (row.rank == rank) facts.counted_bytes = row.peak_bytes;
  const auto& ranks = run->prediction->program.ranks;
  for (std::size_t at = 0; at < ranks.size() && at < run->observation.traffic.size(); ++at) {
    if (ranks[at].rank != rank || !all_counted(run->observation.traffic[at])) continue;
    facts.counted_sent = 0;
    for (const TrafficRow& row : run->observation.traffic[at])
      *facts.counted_sent += row.sent_bytes;
  }
  return facts;
}

QString rank_headline(const RankFacts& facts, const Mesh& mesh) {
  QStringList at;
  const auto add = [&](const char* name, int degree, int value) {
    if (degree > 1) at << QStringLiteral("%1 %2").arg(QLatin1String(name)).arg(value);
  };
  add("DP", mesh.dp, facts.at.dp);
  add("PP", mesh.pp, facts.at.pp);
  add("CP", mesh.cp, facts.at.cp);
  add("TP", mesh.tp, facts.at.tp);
  const QString name = Words::tr("Rank %1").arg(facts.rank);
  return at.isEmpty() ? name : name + QStringLiteral(" \u00b7 ") + at.join(QStringLiteral(", "));
}

MeshMotion::MeshMotion(const Program& program, const Timeline& timeline) : program_(&program) {
  ranks_.resize(program.ranks.size());
  for (std::size_t at = 0; at < program.ranks.size() && at < timeline.ranks.size(); ++at) {
    const RankProgram& rank = program.ranks[at];
    const std::vector<Span>& spans = timeline.ranks[at].spans;
    std::map<std::pair<int, int>, std::vector<std::pair<Nanoseconds, std::int64_t>>> sent;
    for (std::size_t op = 0; op < rank.ops.size() && op < spans.size(); ++op) {
      const Op& one = rank.ops[op];
      if (one.kind == OpKind::kCompute || one.group < 0) continue;
      const Group& group = program.groups[std::size_t(one.group)];
      if (group.ranks.size() < 2) continue;
      if (one.kind != OpKind::kRecv)
        ranks_[at].lanes[int(one.lane)].push_back({spans[op], std::int32_t(op)});
      int stage = -1;
      if (one.kind == OpKind::kSend)
        for (const RankProgram& other : program.ranks)
          if (other.rank == one.peer) stage = other.stage;
      if (const std::int64_t bytes = sent_of(one, group.ranks, rank.rank); bytes > 0)
        sent[{int(group.axis), stage}].emplace_back(spans[op].end, bytes);
    }
    for (auto& lane : ranks_[at].lanes)
      std::stable_sort(lane.begin(), lane.end(),
                       [](const Event& a, const Event& b) { return a.span.begin < b.span.begin; });
    for (auto& [key, ends] : sent) {
      std::sort(ends.begin(), ends.end());
      Link link;
      link.axis = Axis(key.first);
      link.stage = key.second;
      std::int64_t sum = 0;
      for (const auto& [end, bytes] : ends) {
        link.ends.push_back(end);
        link.sums.push_back(sum += bytes);
      }
      most_ = std::max(most_, sum);
      ranks_[at].links.push_back(std::move(link));
    }
  }
}

MeshMotion::Moment MeshMotion::at(Nanoseconds time) const {
  Moment moment;
  for (std::size_t at = 0; at < ranks_.size(); ++at) {
    const RankProgram& rank = program_->ranks[at];
    for (const auto& lane : ranks_[at].lanes) {
      auto next = std::upper_bound(
          lane.begin(), lane.end(), time,
          [](Nanoseconds now, const Event& event) { return now < event.span.begin; });
      // Ops of one batch overlap: the few that began last are looked at.
      for (int back = 0; next != lane.begin() && back < 8; ++back) {
        --next;
        if (next->span.end <= time) continue;
        const Op& op = rank.ops[std::size_t(next->op)];
        if (op.kind == OpKind::kCollective) {
          moment.lit.push_back({int(at), op.group, next->op});
          continue;
        }
        const auto way = double((next->span.end - next->span.begin).count());
        moment.messages.push_back({rank.rank, op.peer,
                                   way > 0 ? double((time - next->span.begin).count()) / way : 1.0,
                                   op.purpose});
      }
    }
  }
  return moment;
}

std::int64_t MeshMotion::sent_until(int built, Axis axis, int stage, Nanoseconds time) const {
  std::int64_t sum = 0;
  if (built < 0 || built >= int(ranks_.size())) return sum;
  for (const Link& link : ranks_[std::size_t(built)].links) {
    if (link.axis != axis || (stage >= 0 && link.stage != stage)) continue;
    const auto after = std::upper_bound(link.ends.begin(), link.ends.end(), time);
    if (after != link.ends.begin()) sum += link.sums[std::size_t(after - link.ends.begin()) - 1];
  }
  return sum;
}

QString mesh_sentence(const Program& program, const MeshMotion& motion, Nanoseconds time,
                      const HiddenOfOps& hides) {
  const MeshMotion::Moment moment = motion.at(time);
  std::map<QString, int> collectives;
  for (const MeshMotion::Lit& lit : moment.lit) {
    const Op& op = program.ranks[std::size_t(lit.built)].ops[std::size_t(lit.op)];
    ++collectives[Words::tr("%1 (%2)").arg(operation_text(op),
                                           axis_text(program.groups[std::size_t(lit.group)].axis))];
  }
  QStringList parts;
  for (const auto& [what, ranks] : collectives)
    parts << (ranks == 1 ? Words::tr("one rank in %1").arg(what)
                         : Words::tr("%1 ranks in %2").arg(ranks).arg(what));
  constexpr std::size_t kMost = 6;
  for (std::size_t at = 0; at < moment.messages.size() && at < kMost; ++at) {
    const MeshMotion::Message& message = moment.messages[at];
    parts << Words::tr("%1 from rank %2 to rank %3")
                 .arg(name_text(message.purpose))
                 .arg(message.from)
                 .arg(message.to);
  }
  if (moment.messages.size() > kMost)
    parts << Words::tr("%1 further messages").arg(moment.messages.size() - kMost);
  if (parts.isEmpty()) parts << Words::tr("nobody sends");
  return Words::tr("At %1: %2.")
      .arg(shown_time(time, hides.times), parts.join(QStringLiteral("; ")));
}

}  // namespace parallelarium

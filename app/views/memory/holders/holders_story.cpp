// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/memory/holders/holders_story.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>
#include <iterator>
#include <map>

#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {

namespace {

struct HoldersStory {
  Q_DECLARE_TR_FUNCTIONS(holders)
};

constexpr double kStoryTop = 22, kStoryStep = 22, kStoryLine = 17;

// "4.791 to 4.851"
QString range_words(const std::vector<double>& values, char format, int digits) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const QString from = QLocale().toString(*least, format, digits);
  const QString to = QLocale().toString(*most, format, digits);
  return from == to ? from : HoldersStory::tr("%1 to %2").arg(from, to);
}

// Whether all ranks have the same fingerprint.
QString prints_words(const std::vector<RankState>& ranks, std::string RankState::*print) {
  const bool same = std::all_of(ranks.begin(), ranks.end(), [&](const RankState& rank) {
    return rank.*print == ranks.front().*print;
  });
  return same ? HoldersStory::tr("In the run: fingerprint %1 on every rank \u2713")
                    .arg(QString::fromStdString(ranks.front().*print).left(kHashDigits))
              : HoldersStory::tr("In the run: fingerprints differ \u2717");
}

QString own_words(const std::vector<RankState>& ranks) {
  std::vector<double> losses, norms;
  for (const RankState& rank : ranks) {
    if (rank.loss) losses.push_back(*rank.loss);
    if (rank.gradient_norm) norms.push_back(*rank.gradient_norm);
  }
  QString words;
  if (!losses.empty())
    words = HoldersStory::tr("In the run: losses %1").arg(range_words(losses, 'f', 3));
  if (!words.isEmpty() && !norms.empty())
    words += HoldersStory::tr(", norms of own gradients %1").arg(range_words(norms, 'g', 4));
  return words;
}

QString summed_words(const std::vector<RankState>& ranks) {
  std::vector<double> norms;
  for (const RankState& rank : ranks) norms.push_back(rank.gradient_norm_reduced);
  return HoldersStory::tr("In the run: norm of the gradients, added up: %1")
      .arg(range_words(norms, 'g', 4));
}

Nanoseconds middle_of(const TimeRange& range) {
  return range.begin + (range.end - range.begin) / 2;
}

// What goes on in ZeRO 3 with a layer: the messages that begin while the rank computes forward or
// backward bring parameters, or take gradients away.
struct ShardMessages {
  std::vector<TimeRange> forward, backward, gradients;
};
ShardMessages messages_of_shards(const RankProgram& rank, const std::vector<Span>& spans,
                                 const std::vector<SharedMessage>& messages) {
  std::map<Nanoseconds, bool> is_backward;  // by the begin of what the rank computes
  for (std::size_t op = 0; op < spans.size(); ++op)
    if (rank.ops[op].kind == OpKind::kCompute && rank.ops[op].microbatch >= 0)
      is_backward[spans[op].begin] = rank.ops[op].phase != Phase::kForward;
  ShardMessages sorted;
  for (const SharedMessage& message : messages) {
    const auto next = is_backward.upper_bound(message.range.begin);
    const bool backward = next != is_backward.begin() && std::prev(next)->second;
    const bool gradients =
        rank.ops[static_cast<std::size_t>(message.op)].purpose == Purpose::kGradients;
    (gradients  ? sorted.gradients
     : backward ? sorted.backward
                : sorted.forward)
        .push_back(message.range);
  }
  return sorted;
}

std::vector<Nanoseconds> begins_of(const std::vector<TimeRange>& ranges) {
  std::vector<Nanoseconds> begins;
  for (const TimeRange& range : ranges) begins.push_back(range.begin);
  return begins;
}

// ZeRO 3. What a forward gathered may be kept for its backward (Setup::zero_reshard).
std::vector<HoldersStep> story_of_shards(const Setup& setup, const RankProgram& rank,
                                         const std::vector<Span>& spans, const Holdings& holdings,
                                         const std::vector<SharedMessage>& messages,
                                         const Observation* seen) {
  const auto moment = [&](HeldMoment which) {
    return holdings.moments()[static_cast<std::size_t>(which)];
  };
  const ShardMessages by_kind = messages_of_shards(rank, spans, messages);
  if (by_kind.forward.empty() || by_kind.gradients.empty()) return {};
  const Nanoseconds update = moment(HeldMoment::kInUpdate);
  std::vector<HoldersStep> story{
      {HoldersStory::tr("Own shards"),
       HoldersStory::tr("Every rank keeps 1 \u00f7 %1 of the parameters, gradients and optimizer "
                        "state, and nothing else.")
           .arg(setup.mesh.dp),
       {},
       Nanoseconds(0),
       {Nanoseconds(0)}},
      {HoldersStory::tr("Gather, compute, free"),
       HoldersStory::tr("An all-gather brings a layer's parameters to every rank, for the forward "
                        "of its own sequences; then they are freed."),
       {},
       // Something is gathered then, and the next is on its way.
       middle_of(by_kind.forward[std::min<std::size_t>(1, by_kind.forward.size() - 1)]),
       begins_of(by_kind.forward)},
      {HoldersStory::tr("Gather again"),
       HoldersStory::tr("The backward needs each layer once more: it is gathered again."),
       {},
       {},
       begins_of(by_kind.backward)},
      {HoldersStory::tr("Reduce-scatter"),
       HoldersStory::tr("A layer's gradients are added up; each rank gets the sum of its shard."),
       {},
       middle_of(by_kind.gradients.front()),
       begins_of(by_kind.gradients)},
      {HoldersStory::tr("Own update"),
       HoldersStory::tr("Every rank updates its own shard; no parameters are sent."),
       {},
       update,
       {update}}};
  if (by_kind.backward.empty()) {
    story[2].name = HoldersStory::tr("Use again");
    story[2].words = HoldersStory::tr("The backward uses what the forward gathered, and frees it.");
    story[2].at = moment(HeldMoment::kAfterForward);
    story[2].from = {story[2].at};
  } else {
    story[2].at = middle_of(by_kind.backward.front());
  }
  if (!seen || seen->ranks_state.empty()) return story;
  story[1].seen = own_words(seen->ranks_state);
  story[3].seen = summed_words(seen->ranks_state);
  return story;
}

// In the middle of the rank's first forward.
Nanoseconds first_forward(const RankProgram& rank, const std::vector<Span>& spans) {
  for (std::size_t op = 0; op < spans.size(); ++op)
    if (rank.ops[op].kind == OpKind::kCompute && rank.ops[op].phase == Phase::kForward)
      return spans[op].begin + (spans[op].end - spans[op].begin) / 2;
  return Nanoseconds(0);
}

// When the first gradient is there: of the first micro-batch, or before the first sum of one.
Nanoseconds first_gradient(const RankProgram& rank, const std::vector<Span>& spans,
                           Nanoseconds before_sums) {
  Nanoseconds first = before_sums;
  for (std::size_t op = 0; op < spans.size(); ++op)
    if (rank.ops[op].kind == OpKind::kCompute && rank.ops[op].phase == Phase::kWeightGrad)
      first = std::min(first, spans[op].end);
  return first;
}

// Amid the sums, when some gradients are added up, some are under way, and some are still own.
Nanoseconds amid_sums(const std::vector<SharedMessage>& messages) {
  return middle_of(messages[messages.size() / 2].range);
}

}  // namespace

bool has_story(const Setup& setup) {
  const bool replicas =
      setup.mesh.dp > 1 && setup.mesh.ranks() == setup.mesh.dp && setup.mesh.ep == 1;
  const bool one_group = setup.zero_group == 0 || setup.zero_group == setup.mesh.dp;
  return replicas && (setup.zero == 0 || (setup.zero == 3 && one_group));
}

std::vector<HoldersStep> holders_story(const Setup& setup, const Program& program,
                                       const Timeline& timeline, int rank_index,
                                       const Holdings& holdings,
                                       const std::vector<SharedMessage>& messages,
                                       const Observation* seen) {
  if (!has_story(setup) || messages.empty()) return {};
  const RankProgram& own = program.ranks[static_cast<std::size_t>(rank_index)];
  if (setup.zero == 3)
    return story_of_shards(setup, own, timeline.ranks[static_cast<std::size_t>(rank_index)].spans,
                           holdings, messages, seen);
  const auto rank = static_cast<std::size_t>(rank_index);
  const std::int64_t sequences = setup.global_batch();
  const Nanoseconds data = first_forward(program.ranks[rank], timeline.ranks[rank].spans);
  const Nanoseconds first_sum = messages.front().range.begin;
  // The rank has most gradients of its own then.
  const Nanoseconds before_sums = std::max(first_sum - Nanoseconds(1), Nanoseconds(0));
  const Nanoseconds update = holdings.moments()[static_cast<std::size_t>(HeldMoment::kInUpdate)];
  std::vector<HoldersStep> story{
      {HoldersStory::tr("Same copy"),
       HoldersStory::tr("Every rank begins with the same copy of all parameters."),
       {},
       Nanoseconds(0),
       {Nanoseconds(0)}},
      {HoldersStory::tr("Own data"),
       HoldersStory::tr("The batch is split: each rank gets %1 of the %2 sequences.")
           .arg(sequences / setup.mesh.dp)
           .arg(sequences),
       {},
       data,
       {data}},
      {HoldersStory::tr("Own gradients"),
       HoldersStory::tr("Forward and backward of its own sequences: own loss, own gradients."),
       {},
       before_sums,
       {first_gradient(program.ranks[rank], timeline.ranks[rank].spans, before_sums)}},
      {HoldersStory::tr("All-reduce"),
       HoldersStory::tr("The gradients of all ranks are added up; every rank gets the sum."),
       {},
       amid_sums(messages),
       {first_sum}},
      {HoldersStory::tr("Same update"),
       HoldersStory::tr("Every rank updates its copy with the same sums."),
       {},
       update,
       {update}}};
  if (!seen || seen->ranks_state.empty()) return story;
  const std::vector<RankState>& ranks = seen->ranks_state;
  story[0].seen = prints_words(ranks, &RankState::weights_before);
  story[2].seen = own_words(ranks);
  story[3].seen = summed_words(ranks);
  story[4].seen = prints_words(ranks, &RankState::weights_after);
  return story;
}

int story_step_at(const std::vector<HoldersStep>& story, Nanoseconds now) {
  int last = 0;
  Nanoseconds latest(0);
  for (std::size_t step = 0; step < story.size(); ++step)
    for (const Nanoseconds from : story[step].from) {
      if (from > now || from < latest) continue;
      last = static_cast<int>(step);
      latest = from;
    }
  return last;
}

void place_story(const HoldersPicture& picture, double width, HoldersLayout& at) {
  if (picture.story.empty()) return;
  at.story_height = kStoryHeight;
  const double each = width / static_cast<double>(picture.story.size());
  for (std::size_t step = 0; step < picture.story.size(); ++step)
    at.story.emplace_back(each * static_cast<double>(step), kStoryTop, each - 6, kStoryStep);
}

// Five boxes, of which those that the playhead has reached are filled, and below them what the last
// of these is and what a run showed of it.
void paint_story(QPainter& painter, const HoldersPicture& picture, const HoldersLayout& at,
                 double width, const Theme& theme, TextLog* texts) {
  if (picture.story.empty()) return;
  for (int step = 0; step < static_cast<int>(at.story.size()); ++step) {
    const QRectF& box = at.story[static_cast<std::size_t>(step)];
    const bool now = step == picture.story_step, reached = step <= picture.story_step;
    painter.setPen(QPen(now ? theme.accent_line : theme.hairline, now ? 1.5 : 1));
    painter.setBrush(reached ? QBrush(mixed(theme.surface, theme.accent_line, 0.12))
                             : QBrush(Qt::NoBrush));
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
    const QString& name = picture.story[static_cast<std::size_t>(step)].name;
    const QFont font = theme.font(11, now);
    put_elided(painter, box.adjusted(4, 0, -4, 0), Qt::AlignCenter,
               longest_that_fits({QString::number(step + 1) + QStringLiteral("  ") + name, name},
                                 font, box.width() - 8),
               font, theme.text, texts);
  }
  const HoldersStep& now = picture.story[static_cast<std::size_t>(picture.story_step)];
  const QRectF line(0, at.story.front().bottom() + 2, width, kStoryLine);
  put_elided(painter, line, Qt::AlignVCenter, now.words, theme.font(12), theme.text, texts);
  put_elided(painter, line.translated(0, kStoryLine), Qt::AlignVCenter,
             now.seen.isEmpty() && !picture.from_run
                 ? HoldersStory::tr("Run shows the losses, norms and fingerprints of the ranks.")
                 : now.seen,
             theme.font(12), theme.muted, texts);
}

}  // namespace parallelarium

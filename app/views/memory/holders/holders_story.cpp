// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/memory/holders/holders_story.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>

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
  const TimeRange& middle = messages[messages.size() / 2].range;
  return middle.begin + (middle.end - middle.begin) / 2;
}

}  // namespace

bool is_plain_data_parallel(const Setup& setup) {
  return setup.mesh.dp > 1 && setup.mesh.ranks() == setup.mesh.dp && setup.mesh.ep == 1 &&
         setup.zero == 0;
}

std::vector<HoldersStep> data_parallel_story(const Setup& setup, const Program& program,
                                             const Timeline& timeline, int rank_index,
                                             const Holdings& holdings,
                                             const std::vector<SharedMessage>& messages,
                                             const Observation* seen) {
  if (!is_plain_data_parallel(setup) || messages.empty()) return {};
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
       Nanoseconds(0)},
      {HoldersStory::tr("Own data"),
       HoldersStory::tr("The batch is split: each rank gets %1 of the %2 sequences.")
           .arg(sequences / setup.mesh.dp)
           .arg(sequences),
       {},
       data,
       data},
      {HoldersStory::tr("Own gradients"),
       HoldersStory::tr("Forward and backward of its own sequences: own loss, own gradients."),
       {},
       before_sums,
       first_gradient(program.ranks[rank], timeline.ranks[rank].spans, before_sums)},
      {HoldersStory::tr("All-reduce"),
       HoldersStory::tr("The gradients of all ranks are added up; every rank gets the sum."),
       {},
       amid_sums(messages),
       first_sum},
      {HoldersStory::tr("Same update"),
       HoldersStory::tr("Every rank updates its copy with the same sums."),
       {},
       update,
       update}};
  if (!seen || seen->ranks_state.empty()) return story;
  const std::vector<RankState>& ranks = seen->ranks_state;
  story[0].seen = prints_words(ranks, &RankState::weights_before);
  story[2].seen = own_words(ranks);
  story[3].seen = summed_words(ranks);
  story[4].seen = prints_words(ranks, &RankState::weights_after);
  return story;
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

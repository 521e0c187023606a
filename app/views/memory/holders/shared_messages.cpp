// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/memory/holders/shared_messages.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>
#include <map>
#include <tuple>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/state/collective/collective_plan.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/quantities/quantities.h"
#include "engine/plan/program/collective_steps.h"
#include "engine/plan/text/describe_op.h"

namespace parallelarium {

namespace {

struct SharedMessages {
  Q_DECLARE_TR_FUNCTIONS(holders)
};

constexpr double kShared = 12;  // height of a bar

// What TP ranks add up as gradients are those of activations: they share no parameters.
bool is_shared(Purpose purpose, Axis axis) {
  return axis != Axis::kTp && (purpose == Purpose::kParameters || purpose == Purpose::kGradients);
}

// Calls `visit` with the first op of each collective by which the rank shares states, and behind
// its last one.
template <class Visit>
void for_shared(const Program& program, const RankProgram& rank, const Visit& visit) {
  const auto ops = static_cast<std::int32_t>(rank.ops.size());
  for (std::int32_t at = 0, end = 0; at < ops; at = end) {
    end = end_of_collective(rank, at);
    const Op& op = rank.ops[std::size_t(at)];
    if (is_collective(op) && is_shared(op.purpose, program.groups[std::size_t(op.group)].axis))
      visit(at, end);
  }
}

}  // namespace

std::vector<SharedMessage> shared_messages(const Program& program, const Timeline& timeline,
                                           int rank_index) {
  const RankProgram& rank = program.ranks[std::size_t(rank_index)];
  const std::vector<Span>& spans = timeline.ranks[std::size_t(rank_index)].spans;
  std::vector<SharedMessage> messages;
  for_shared(program, rank, [&](std::int32_t at, std::int32_t end) {
    messages.push_back({{spans[std::size_t(at)].begin, spans[std::size_t(end - 1)].end},
                        in_sentence(title_of(rank.ops[std::size_t(at)].collective)),
                        at});
  });
  std::stable_sort(
      messages.begin(), messages.end(),
      [](const SharedMessage& a, const SharedMessage& b) { return a.range.begin < b.range.begin; });
  return messages;
}

SharedSent shared_sent_words(const Program& program, int rank_index,
                             const std::vector<int>& sharing) {
  const RankProgram& rank = program.ranks[std::size_t(rank_index)];
  struct Sum {
    int collectives = 0;
    std::int64_t bytes = 0;
  };
  std::map<std::tuple<CollectiveKind, Purpose, bool>, Sum> sums;
  for_shared(program, rank, [&](std::int32_t at, std::int32_t) {
    const Op& op = rank.ops[std::size_t(at)];
    const std::vector<int>& ranks = program.groups[std::size_t(op.group)].ranks;
    const bool beyond =
        sharing.size() > 1 && std::any_of(ranks.begin(), ranks.end(), [&](int other) {
          return std::find(sharing.begin(), sharing.end(), other) == sharing.end();
        });
    Sum& sum = sums[{op.collective, op.purpose, beyond}];
    ++sum.collectives;
    sum.bytes += sent_in_collective(program, rank, at);
  });
  QStringList inside, between;
  for (const auto& [what, sum] : sums) {
    const auto& [kind, purpose, beyond] = what;
    if (sum.bytes == 0) continue;
    (beyond ? between : inside) << SharedMessages::tr("%1 \u00d7 %2 of %3 %4",
                                                      "8 x all-gather of parameters 1.2 MiB")
                                       .arg(QLocale().toString(sum.collectives),
                                            in_sentence(title_of(kind)), name_text(purpose),
                                            bytes_text(sum.bytes));
  }
  return {inside.join(QStringLiteral(", ")), between.join(QStringLiteral(", "))};
}

QString next_shared_words(const RankProgram& rank, const std::vector<SharedMessage>& messages,
                          Nanoseconds now, const HiddenOfOps& hides) {
  const auto next = std::upper_bound(
      messages.begin(), messages.end(), now,
      [](Nanoseconds time, const SharedMessage& message) { return time < message.range.begin; });
  if (next == messages.end()) return {};
  return SharedMessages::tr("Next: %1, in %2")
      .arg(sentence(describe(whole_of(rank.ops[static_cast<std::size_t>(next->op)]))),
           shown_time(next->range.begin - now, hides.times));
}

void paint_shared_messages(QPainter& painter, const QRectF& rect,
                           const std::vector<SharedMessage>& messages, const TimeAxis& axis,
                           const Theme& theme, TextLog* texts) {
  put_text(painter, QRectF(rect.left(), rect.top(), axis.left - rect.left() - 8, kSharedStrip),
           Qt::AlignRight | Qt::AlignVCenter, SharedMessages::tr("sent"), theme.font(11),
           theme.muted, texts);
  const QFont font = theme.font(10);
  const QFontMetricsF metrics(font);
  painter.save();
  painter.setClipRect(QRectF(axis.left, rect.top(), axis.width, kSharedStrip));
  for (const SharedMessage& message : messages) {
    const double from = axis.x_of(message.range.begin), to = axis.x_of(message.range.end);
    if (to < axis.left || from >= axis.left + axis.width) continue;
    const QRectF bar(from, rect.top() + (kSharedStrip - kShared) / 2, std::max(1.5, to - from),
                     kShared);
    const bool named = metrics.horizontalAdvance(message.name) + 6 <= bar.width();
    painter.fillRect(
        bar, named ? theme.tint(OpColor::kCommunication) : theme.solid(OpColor::kCommunication));
    if (named)
      put_text(painter, bar, Qt::AlignCenter, message.name, font,
               theme.ink_on(theme.tint(OpColor::kCommunication)), texts);
  }
  painter.restore();
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/timeline/picture/range_readout.h"

#include <algorithm>

#include "app/look/figures.h"

namespace parallelarium {
namespace {

std::int64_t overlap(const Span& span, const TimeRange& range) {
  return std::max<std::int64_t>(
      0, (std::min(span.end, range.end) - std::max(span.begin, range.begin)).count());
}

// The bars [first, last) that touch the range.
std::pair<std::size_t, std::size_t> touching(const BarList& list, const TimeRange& range) {
  const std::size_t first = list.first_after(range.begin);
  const auto last =
      std::partition_point(list.bars.begin() + static_cast<std::ptrdiff_t>(first), list.bars.end(),
                           [&](const Bar& bar) { return bar.span.begin < range.end; });
  return {first, static_cast<std::size_t>(last - list.bars.begin())};
}

// Nanoseconds by kind of action, and of communication: whole actions from the running sums, the two
// at the edges by what their pieces have outside of the range.
void add_busy(const Row& row, const TimeRange& range, std::array<std::int64_t, kOpColors>& busy) {
  const BarList& list = row.lane(Lane::kCompute);
  const BarList& pieces = row.lane(Lane::kCompute, Zoom::kPieces);
  const auto [first, last] = touching(list, range);
  if (first >= last) return;
  for (std::size_t kind = 0; kind < kOpColors; ++kind)
    busy[kind] += list.busy[last][kind] - list.busy[first][kind];
  const auto take_off = [&](std::size_t bar) {
    const std::size_t begin = list.parts.empty() ? bar : list.parts[bar];
    for (std::size_t part = begin; part < begin + list.parts_of(bar); ++part) {
      const Bar& piece = pieces.bars[part];
      const bool inside = color_of(piece) == OpColor::kCommunication;
      busy[static_cast<std::size_t>(color_of(inside ? piece : list.bars[bar]))] -=
          (piece.span.end - piece.span.begin).count() - overlap(piece.span, range);
    }
  };
  take_off(first);
  if (last - 1 > first) take_off(last - 1);
}

}  // namespace

double RangeReadout::sent_bytes_per_second() const {
  return duration.count() > 0 ? sent_bytes / (static_cast<double>(duration.count()) / 1e9) : 0;
}

std::int64_t sent_bytes_of(const Program& program, int rank_index, const Bar& bar) {
  const RankProgram& rank = program.ranks[static_cast<std::size_t>(rank_index)];
  std::int64_t sent = 0;
  for (auto index = bar.first_op; index <= bar.last_op; ++index) {
    const Op& op = rank.ops[static_cast<std::size_t>(index)];
    if (op.lane != bar.lane) continue;
    if (op.kind == OpKind::kSend) sent += op.bytes * op.repeat;
    if (op.kind != OpKind::kCollective || op.group < 0) continue;
    const auto& members = program.groups[static_cast<std::size_t>(op.group)].ranks;
    const auto found = std::find(members.begin(), members.end(), rank.rank);
    const int place = found == members.end() ? 0 : static_cast<int>(found - members.begin());
    sent += op.repeat * collective_volume(op.collective, op.type, op.bytes,
                                          static_cast<int>(members.size()), place)
                            .sent;
  }
  return sent;
}

RangeReadout read_range(const LaneRows& rows, TimeRange range) {
  RangeReadout out;
  out.duration = range.length();
  out.ranks = static_cast<int>(rows.rows.size());
  std::array<std::int64_t, kOpColors> busy{};
  for (const Row& row : rows.rows) {
    add_busy(row, range, busy);
    for (const BarList& list : row.lanes) {  // the compute lane in pieces
      const auto [first, last] = touching(list, range);
      for (std::size_t index = first; index < last; ++index) {
        const Bar& bar = list.bars[index];
        if (bar.kind == OpKind::kCompute) continue;
        const double length = static_cast<double>((bar.span.end - bar.span.begin).count());
        const double part = length > 0 ? static_cast<double>(overlap(bar.span, range)) / length : 1;
        out.sent_bytes +=
            part * static_cast<double>(sent_bytes_of(rows.program(), row.rank_index, bar));
      }
    }
  }
  const double whole = static_cast<double>(out.ranks) * static_cast<double>(out.duration.count());
  if (whole <= 0) return out;
  double sum = 0;
  for (std::size_t kind = 0; kind < kOpColors; ++kind) {
    out.busy[kind] = static_cast<double>(busy[kind]) / whole;
    sum += out.busy[kind];
  }
  out.idle = 1 - sum;
  return out;
}

std::vector<ReadoutLine> readout_lines(const Picture& picture, TimeRange range,
                                       const QLocale& locale) {
  static const char* kNames[kOpColors] = {
      QT_TRANSLATE_NOOP("QObject", "forward"), QT_TRANSLATE_NOOP("QObject", "backward"),
      QT_TRANSLATE_NOOP("QObject", "weight gradient"),
      QT_TRANSLATE_NOOP("QObject", "communication"), QT_TRANSLATE_NOOP("QObject", "optimizer")};
  std::vector<ReadoutLine> lines;
  ReadoutLine head{picture.hides.times ? QObject::tr("range") : time_text(range.length(), locale),
                   {}};
  std::vector<RangeReadout> readouts;
  for (const PictureLane& lane : picture.lanes) {
    if (!lane.rows || lane.hidden) continue;
    head.values << lane.short_title;
    readouts.push_back(read_range(*lane.rows, range));
  }
  lines.push_back(head);
  const auto add = [&](const QString& name, auto&& value, bool always) {
    ReadoutLine line{name, {}};
    bool any = always;
    for (const RangeReadout& readout : readouts) {
      const double number = value(readout);
      any = any || number > 0;
      line.values << share_text(number, locale);
    }
    if (any) lines.push_back(line);
  };
  for (std::size_t kind = 0; kind < kOpColors && !picture.hides_shares; ++kind)
    add(
        QObject::tr(kNames[kind]), [&](const RangeReadout& r) { return r.busy[kind]; }, false);
  if (!picture.hides_shares)
    add(
        QObject::tr("idle"), [](const RangeReadout& r) { return r.idle; }, true);
  if (picture.hides.bytes) return lines;
  ReadoutLine sent{QObject::tr("sent, all ranks"), {}}, rate{QObject::tr("mean rate"), {}};
  for (const RangeReadout& readout : readouts) {
    sent.values << bytes_text(static_cast<std::int64_t>(readout.sent_bytes + 0.5), locale);
    rate.values << rate_text(readout.sent_bytes_per_second(), locale);
  }
  lines.push_back(sent);
  // Bytes over their rate are the length of the range.
  if (!picture.hides.times) lines.push_back(rate);
  return lines;
}

}  // namespace parallelarium

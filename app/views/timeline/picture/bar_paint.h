// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the bars of one lane of one row. Bars under a few pixels are merged into one block whose
// height is divided by what its bars are.
#pragma once

#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

// Forms of bar_labels(), counted from the shortest.
inline constexpr int kLongestForm = 9;

struct BarLook {
  const Theme* theme = nullptr;
  LaneStyle style = LaneStyle::kPredicted;
  Moment moment = Moment::kPast;
  QFont font;
  int form = kLongestForm;  // of the labels; where that does not fit, a shorter one
  int chunks = 1;           // that a rank holds; of several, a bar says by a mark which it is of
};

// Bars narrower than this are merged with their neighbours.
inline constexpr double kLeastBarPixels = 2.5;

// A run of bars that is drawn as one thing: [first, last], one bar or several merged ones.
struct BarRun {
  std::size_t first = 0, last = 0;
  double x0 = 0, x1 = 0;
};
// Calls `draw` for every run that touches [axis.left, axis.left + axis.width].
// Cost: a binary search for each pixel at most.
template <class Draw>
void for_each_run(const BarList& list, const TimeAxis& axis, Draw&& draw);

// The longest form for which every bar that has room for its shortest label has room, so that all
// of a lane can use it: "backward 2", or else "2". Bars that the visible range cuts do not count.
int label_form(const BarList& list, const TimeAxis& axis, const QFont& font);
// Full bars with their numbers, in `box` (x of it is ignored).
void paint_bars(QPainter& painter, const BarList& list, const TimeAxis& axis, const QRectF& box,
                const BarLook& look, TextLog* texts);
// Where the mark of a chunk stands in a bar: at the left, the first chunk's at the top, the last
// one's at the bottom. So it is seen in bars that are too narrow for any text, and without colours.
QRectF chunk_mark(const QRectF& bar, int chunk, int chunks);

template <class Draw>
void for_each_run(const BarList& list, const TimeAxis& axis, Draw&& draw) {
  const auto& bars = list.bars;
  const Nanoseconds least = axis.length_of(kLeastBarPixels);
  const Nanoseconds pixel = std::max(Nanoseconds(1), axis.length_of(1));
  std::size_t index = list.first_after(axis.range.begin);
  const auto small = [&](std::size_t i) { return bars[i].span.end - bars[i].span.begin < least; };
  while (index < bars.size() && bars[index].span.begin < axis.range.end) {
    BarRun run{index, index, axis.x_of(bars[index].span.begin), axis.x_of(bars[index].span.end)};
    if (small(index)) {
      // Column by column: all bars but the last that begin within one pixel end within it too.
      for (;;) {
        const Nanoseconds column = bars[run.last].span.begin + pixel;
        auto next = run.last + 1;
        if (next < bars.size() && bars[next].span.begin < column) {
          // Gallop, then search: far away a pixel holds thousands of bars, nearer one or two.
          std::size_t step = 1;
          while (next + step < bars.size() && bars[next + step].span.begin < column) step *= 2;
          const auto begin = bars.begin() + static_cast<std::ptrdiff_t>(next + step / 2);
          const auto end =
              bars.begin() + static_cast<std::ptrdiff_t>(std::min(next + step + 1, bars.size()));
          next = static_cast<std::size_t>(
              std::partition_point(begin, end,
                                   [&](const Bar& bar) { return bar.span.begin < column; }) -
              bars.begin());
        }
        const std::size_t before = next - 1;
        if (before > run.last && !small(before)) {  // a wide one began in this column
          run.last = before - 1;
          break;
        }
        run.last = before;
        if (next >= bars.size() || !small(next) ||
            bars[next].span.begin - bars[run.last].span.end > pixel ||
            bars[run.last].span.begin >= axis.range.end)
          break;
        run.last = next;
      }
      run.x1 = axis.x_of(bars[run.last].span.end);
    }
    draw(run);
    index = run.last + 1;
  }
}

}  // namespace parallelarium

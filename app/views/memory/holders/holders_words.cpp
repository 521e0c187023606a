// SPDX-License-Identifier: GPL-3.0-or-later
// What the pane "Who holds what" shows, in words.
#include <QCoreApplication>
#include <algorithm>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/memory/holders/holders.h"

namespace parallelarium {

namespace {

struct HoldersWords {
  Q_DECLARE_TR_FUNCTIONS(holders)
};

QString as_words(const HeldState& state, const HeldBucket& bucket) {
  const QString from = share_text(state.begin), to = share_text(state.end);
  const bool all = state.begin == bucket.from && state.end == bucket.to;
  switch (state.as) {
    case HeldAs::kShard:
      if (!state.whole || all) return HoldersWords::tr("shard, %1 to %2 of it").arg(from, to);
      if (bucket.to - bucket.from == 1)
        return HoldersWords::tr("shard, %1 to %2 of it; memory is reserved for all of it")
            .arg(from, to);
      return HoldersWords::tr("shard, %1 to %2 of it; memory is reserved for %3 to %4")
          .arg(from, to, share_text(bucket.from), share_text(bucket.to));
    case HeldAs::kPartialSum:
      return state.end - state.begin == 1
                 ? HoldersWords::tr("partial sum of its own data")
                 : (all ? HoldersWords::tr("partial sum of its own data, %1 to %2 of it")
                        : HoldersWords::tr("partial sum of its group's data, %1 to %2 of it"))
                       .arg(from, to);
    case HeldAs::kCopy:
      return HoldersWords::tr("copy");
    case HeldAs::kAbsent:
      break;
  }
  return state.bytes > 0 ? HoldersWords::tr("absent: memory is reserved, nothing is in it yet")
                         : HoldersWords::tr("absent");
}

QString kind_name(int kind, bool experts) {
  if (experts)
    return kind == 0   ? HoldersWords::tr("parameters of experts")
           : kind == 1 ? HoldersWords::tr("gradients of experts")
                       : HoldersWords::tr("optimizer state of experts");
  return kind == 0   ? HoldersWords::tr("parameters")
         : kind == 1 ? HoldersWords::tr("gradients")
                     : HoldersWords::tr("optimizer state");
}

// "805 KiB, 398 KiB of it gathered (a buffer in the curve)"
QString held_bytes_words(int kind, std::int64_t bytes, std::int64_t passing_bytes) {
  if (passing_bytes == 0) return bytes_text(bytes);
  return (kind == 0 ? HoldersWords::tr("%1, %2 of it gathered (a buffer in the curve)")
                    : HoldersWords::tr("%1, %2 of it in buckets (a buffer in the curve)"))
      .arg(bytes_text(bytes), bytes_text(passing_bytes));
}

QString column_name(const HoldersColumn& column) {
  bool layer = false;
  column.name.section(QChar(0x2013), 0, 0).toInt(&layer);
  if (!layer) return column.name;
  return column.first == column.last ? HoldersWords::tr("layer %1").arg(column.name)
                                     : HoldersWords::tr("layers %1").arg(column.name);
}

// Each kind of state of a cell, the dense part and the experts apart. Where ZeRO cuts stretches of
// one part that are held in one way, their bytes are one figure.
struct CellWords {
  int kind = 0;
  bool experts = false;
  QString as;
  std::int64_t bytes = 0, passing_bytes = 0;
};
std::vector<CellWords> words_of(const std::vector<HeldBucket>& cell) {
  std::vector<CellWords> words;
  for (int kind = 0; kind < kHeldKinds; ++kind)
    for (const HeldBucket& bucket : cell) {
      const HeldState& state = state_of_kind(bucket, kind);
      const QString as = as_words(state, bucket);
      CellWords* same = nullptr;
      for (CellWords& each : words)
        if (each.kind == kind && each.experts == bucket.experts && each.as == as) same = &each;
      if (!same) same = &words.emplace_back(CellWords{kind, bucket.experts, as, 0, 0});
      same->bytes += state.bytes;
      same->passing_bytes += state.passing_bytes;
    }
  return words;
}

// "1.2 MiB · micro-batches 0 to 3 · 0 B to 300 KiB in each layer"
QString activations_words(const ColumnActivations& held) {
  if (held.bytes == 0) return HoldersWords::tr("none");
  QString words = bytes_text(held.bytes);
  if (!held.microbatches.empty())
    words += QStringLiteral(" \u00b7 ") + microbatches_words(held.microbatches);
  if (held.least_bytes < held.most_bytes)
    words += QStringLiteral(" \u00b7 ") +
             HoldersWords::tr("%1 to %2 in each layer")
                 .arg(bytes_text(held.least_bytes), bytes_text(held.most_bytes));
  if (held.place == HeldPlace::kStage)
    words += QStringLiteral(" \u00b7 ") + HoldersWords::tr("of all layers of its stage");
  return words;
}

// "340 KiB: gradients of the residual stream 256 KiB, scratch 84 KiB"
QString buffers_words(const HoldersRow& row) {
  constexpr std::size_t kMostNamed = 4;
  QStringList names;
  for (std::size_t at = 0; at < std::min(kMostNamed, row.buffers.size()); ++at)
    names << name_text(row.buffers[at].tensor) + QLatin1Char(' ') +
                 bytes_text(row.buffers[at].bytes);
  if (row.buffers.size() > kMostNamed) names << QStringLiteral("\u2026");
  const QString all = bytes_text(row.buffer_bytes());
  return names.isEmpty() ? all : all + QStringLiteral(": ") + names.join(QStringLiteral(", "));
}

// Of everything that a rank holds: "parameters 805 KiB, 398 KiB of it gathered (...)"
QStringList sums_words(const HoldersRow& row) {
  QStringList words;
  for (int kind = 0; kind < kHeldKinds; ++kind)
    words << kind_name(kind, false) + QLatin1Char(' ') +
                 held_bytes_words(kind, row.bytes[kind], row.passing_bytes[kind]);
  words << HoldersWords::tr("activations") + QLatin1Char(' ') + bytes_text(row.activation_bytes);
  words << HoldersWords::tr("buffers for work and messages") + QLatin1Char(' ') +
               buffers_words(row);
  return words;
}

// What a run showed of the rank: its loss, norms of its gradients before and after ranks add them
// up, and the fingerprint of its parameters.
QStringList run_words(const HoldersRow& row) {
  QStringList words;
  if (!row.loss.isEmpty()) words << HoldersWords::tr("loss %1").arg(row.loss);
  if (!row.own_norm.isEmpty())
    words << HoldersWords::tr("norm of its own gradients: %1").arg(row.own_norm);
  if (!row.norm.isEmpty())
    words << (row.part_norm
                  ? HoldersWords::tr("norm of the gradients that it updates with, added up: %1")
                  : HoldersWords::tr("norm of all gradients, added up: %1"))
                 .arg(row.norm);
  if (row.hash.isEmpty()) return words;
  words << (row.own_part ? HoldersWords::tr("fingerprint of the part that it updates alone: %1")
            : row.agrees
                ? HoldersWords::tr("fingerprint of its parameters: %1")
                : HoldersWords::tr("fingerprint of its parameters: %1, another than that of the "
                                   "rank that must hold the same"))
               .arg(row.hash);
  return words;
}

// What a cell holds: "parameters copy, gradients absent".
QString cell_words(const HoldersRow& row, std::size_t column) {
  QStringList kinds;
  for (const CellWords& words : words_of(row.cells[column]))
    kinds << kind_name(words.kind, words.experts) + QLatin1Char(' ') + words.as;
  if (row.activations[column].bytes > 0)
    kinds << HoldersWords::tr("activations") + QLatin1Char(' ') +
                 activations_words(row.activations[column]);
  return kinds.join(QStringLiteral(", "));
}

// What a rank holds; layers side by side that hold alike are said together.
QString row_words(const HoldersPicture& picture, const HoldersRow& row) {
  const auto is_layer = [&](std::size_t column) {
    return column > 0 && column + 1 < picture.columns.size();
  };
  QStringList cells;
  for (std::size_t first = 0, last; first < picture.columns.size(); first = last + 1) {
    last = first;
    if (row.cells[first].empty()) continue;
    const QString words = cell_words(row, first);
    while (is_layer(first) && is_layer(last + 1) && !row.cells[last + 1].empty() &&
           cell_words(row, last + 1) == words)
      ++last;
    const QString where = last == first ? column_name(picture.columns[first])
                                        : HoldersWords::tr("each of layers %1\u2013%2")
                                              .arg(picture.columns[first].first - 1)
                                              .arg(picture.columns[last].last - 1);
    cells << where + QLatin1Char(' ') + words;
  }
  if (row.head_adds) cells << HoldersWords::tr("tables: the head adds to the gradients, too");
  cells << HoldersWords::tr("together %1: %2")
               .arg(bytes_text(row.all_bytes()), sums_words(row).join(QStringLiteral(", ")));
  return cells.join(QStringLiteral("; "));
}

// Of rows that hold alike: "Each of ranks 0, 1, 2".
QString rows_name(const HoldersPicture& picture, std::size_t first, std::size_t last) {
  if (first == last) return picture.rows[first].name;
  QStringList names;
  for (std::size_t row = first; row <= last; ++row)
    names << QString::number(picture.rows[row].rank);
  return HoldersWords::tr("Each of ranks %1").arg(names.join(QStringLiteral(", ")));
}

}  // namespace

SelectionText holders_words(const HoldersPicture& picture, int row, int column) {
  SelectionText text;
  if (row < 0 || row >= static_cast<int>(picture.rows.size()) ||
      column >= static_cast<int>(picture.columns.size()))
    return text;
  const HoldersRow& line = picture.rows[static_cast<std::size_t>(row)];
  text.headline = line.name;
  if (column < 0) {
    for (int kind = 0; kind < kHeldKinds; ++kind)
      text.facts.push_back({kind_name(kind, false),
                            held_bytes_words(kind, line.bytes[kind], line.passing_bytes[kind])});
    text.facts.push_back({HoldersWords::tr("activations"), bytes_text(line.activation_bytes)});
    text.facts.push_back({HoldersWords::tr("buffers for work and messages"), buffers_words(line)});
    text.facts.push_back({HoldersWords::tr("together"), bytes_text(line.all_bytes())});
    for (const QString& words : run_words(line)) text.facts.push_back({QString(), words});
    return text;
  }
  const HoldersColumn& where = picture.columns[static_cast<std::size_t>(column)];
  text.headline += QStringLiteral(" \u00b7 ") + column_name(where);
  const std::vector<HeldBucket>& cell = line.cells[static_cast<std::size_t>(column)];
  if (cell.empty()) {
    text.facts.push_back({QString(), HoldersWords::tr("absent: another stage has it")});
    return text;
  }
  for (const CellWords& words : words_of(cell))
    text.facts.push_back({kind_name(words.kind, words.experts),
                          held_bytes_words(words.kind, words.bytes, words.passing_bytes) +
                              QStringLiteral(" \u00b7 ") + words.as});
  text.facts.push_back({HoldersWords::tr("activations"),
                        activations_words(line.activations[static_cast<std::size_t>(column)])});
  if (line.head_adds && where.first == 0)
    text.facts.push_back(
        {QString(),
         HoldersWords::tr("The head has the same table: its gradient is added here too, long "
                          "before the embedding's.")});
  for (const HoldersPicture::Moving& moving : picture.moving)
    if (moving.column == column &&
        std::find(moving.rows.begin(), moving.rows.end(), row) != moving.rows.end())
      text.facts.push_back(
          {HoldersWords::tr("under way"),
           HoldersWords::tr("%1, %2 done").arg(moving.name, share_text(moving.done))});
  return text;
}

QString microbatches_words(const std::vector<int>& microbatches) {
  if (microbatches.size() == 1) return HoldersWords::tr("micro-batch %1").arg(microbatches.front());
  if (microbatches.back() - microbatches.front() + 1 == static_cast<int>(microbatches.size()))
    return HoldersWords::tr("micro-batches %1 to %2")
        .arg(microbatches.front())
        .arg(microbatches.back());
  QStringList numbers;
  for (const int microbatch : microbatches) numbers << QString::number(microbatch);
  return HoldersWords::tr("micro-batches %1").arg(numbers.join(QStringLiteral(", ")));
}

QString other_rows_words(const HoldersPicture& picture) {
  return HoldersWords::tr("%1 of %2 ranks \u00b7 Enter: the next")
      .arg(static_cast<int>(picture.rows.size()))
      .arg(picture.all_rows);
}

SelectionText holders_story_words(const HoldersPicture& picture, int step) {
  const HoldersStep& of = picture.story[static_cast<std::size_t>(step)];
  SelectionText text{HoldersWords::tr("Step %1 of %2: %3")
                         .arg(step + 1)
                         .arg(static_cast<int>(picture.story.size()))
                         .arg(of.name),
                     {{QString(), of.words}}};
  if (!of.seen.isEmpty()) text.facts.push_back({QString(), of.seen});
  return text;
}

QString holders_moment(const HoldersPicture& picture) {
  if (picture.instead) return picture.title + QStringLiteral(". ") + picture.instead->sentence;
  QString text = picture.title + QStringLiteral(". ") + picture.moment;
  for (const QString& words : picture.messages) text += QLatin1Char('\n') + words;
  if (!picture.story.empty())
    text +=
        QLatin1Char('\n') + selection_sentence(holders_story_words(picture, picture.story_step));
  return text;
}

QString holders_description(const HoldersPicture& picture) {
  QString text = holders_moment(picture);
  if (picture.instead) return text;
  for (std::size_t first = 0, last; first < picture.rows.size(); first = last + 1) {
    const QString words = row_words(picture, picture.rows[first]);
    for (last = first; last + 1 < picture.rows.size(); ++last)
      if (const HoldersRow& next = picture.rows[last + 1];
          !next.group.isEmpty() || row_words(picture, next) != words)
        break;
    if (!picture.rows[first].group.isEmpty()) text += QLatin1Char('\n') + picture.rows[first].group;
    text += QLatin1Char('\n') + rows_name(picture, first, last) + QStringLiteral(": ") + words;
    for (std::size_t row = first; row <= last; ++row)
      if (const QStringList own = run_words(picture.rows[row]); !own.isEmpty())
        text += QLatin1Char('\n') + picture.rows[row].name + QStringLiteral(": ") +
                own.join(QStringLiteral("; "));
  }
  if (static_cast<int>(picture.rows.size()) < picture.all_rows)
    text += QLatin1Char('\n') + other_rows_words(picture);
  for (int step = 0; step < static_cast<int>(picture.story.size()); ++step)
    text += QLatin1Char('\n') + selection_sentence(holders_story_words(picture, step));
  if (!picture.story.empty())
    text += QLatin1Char('\n') + HoldersWords::tr("E: the next of the five steps.");
  return text + QLatin1Char('\n') +
         HoldersWords::tr(
             "N and P: next and previous change. M: after the forward, after the "
             "backward, in the update.");
}

}  // namespace parallelarium

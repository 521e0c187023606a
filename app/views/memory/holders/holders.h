// SPDX-License-Identifier: GPL-3.0-or-later
// "Who holds what": ranks by layers, each cell with its parameters, gradients and optimizer state
// as a copy, a shard, a partial sum or absent at the playhead's time, and with the activations that
// wait there for their backward. Plain data, words and paint.
#pragma once

#include <QPainter>
#include <QStringList>
#include <map>
#include <optional>
#include <vector>

#include "app/look/theme/theme.h"
#include "app/selection/selection_panel.h"
#include "app/state/session.h"
#include "app/views/memory/holders/shared_messages.h"
#include "app/views/timeline/picture/timeline_paint.h"
#include "app/views/view.h"
#include "engine/plan/program/holdings/held_activations.h"
#include "engine/plan/program/holdings/holdings.h"

namespace parallelarium {

inline constexpr int kHeldKinds = 3;    // parameters, gradients, optimizer
inline constexpr int kHeldBars = 4;     // of a cell: these and activations
inline constexpr int kMostHolders = 8;  // ranks shown at once
inline constexpr int kHashDigits = 6;   // of a fingerprint

// Buckets that stand side by side and look the same on every rank are one column. Activations do
// not count: they come and go layer by layer while a step plays.
struct HoldersColumn {
  int first = 0, last = 0;  // buckets, as the first row that has them counts
  QString name;             // "3", "4–27", "tables", "head"
};

// What a column's layers hold together, and what one of them holds.
struct ColumnActivations : HeldActivations {
  std::int64_t least_bytes = 0, most_bytes = 0;  // of one layer
  std::size_t most_microbatches = 0;             // of one layer
};

struct HoldersRow {
  int index = 0;  // in Program::ranks, of its representative where it is not built itself
  int rank = 0;   // global
  // What colours it: its place in the group below, so that the same shard looks the same in all
  // groups; where it shares nothing, its rank.
  int hue = 0;
  QString name;
  // "group 0: ranks 0 to 3": the ranks among which ZeRO cuts what these hold. Empty: those of the
  // row above, or there is only one such group.
  QString group;
  // By column, the buckets that the rank has of it; empty: another stage's.
  std::vector<std::vector<HeldBucket>> cells;
  // By column; without bytes: it holds none of them. A Program of whole stages says of each column
  // what the stage holds.
  std::vector<ColumnActivations> activations;
  std::int64_t activation_bytes = 0;  // of all columns
  std::vector<HeldBuffer> buffers;    // for work and messages; most bytes first
  std::int64_t bytes[kHeldKinds] = {0, 0, 0};
  std::int64_t passing_bytes[kHeldKinds] = {0, 0, 0};
  QString loss, hash;  // of a run; empty: not known
  // Likewise: norm of its gradients before ranks add them up, and of the sums that it updates with.
  QString own_norm, norm;
  bool agrees = true;      // with the rank that must hold the same
  bool own_part = false;   // the hash is of what the rank updates alone
  bool part_norm = false;  // the norm is of a part of the model, since the rank updates no more
  // The head on this rank has the same table, whose gradient it adds to before the embedding does.
  bool head_adds = false;
  std::int64_t buffer_bytes() const;
  // All that the rank holds then, as the memory over the step has it.
  std::int64_t all_bytes() const;
};

// One of the five steps by which replicas train one model.
struct HoldersStep {
  QString name, words;            // "Own gradients", and what happens
  QString seen;                   // what a run showed of it; empty: there is none
  Nanoseconds at{0};              // a moment at which it can be seen
  std::vector<Nanoseconds> from;  // when it begins, each time, ascending
};

// Why there is nothing to see, and what would change that.
struct HoldersInstead {
  QString sentence, button;  // empty button: none
};

struct HoldersPicture {
  QString title, moment;           // what goes on now, in a sentence
  QStringList messages;            // what the first rank sends next and computes; sends in a step
  std::vector<HoldersStep> story;  // empty: there is none (has_story)
  int story_step = 0;              // the one that the playhead has reached
  std::vector<HoldersColumn> columns;
  std::vector<HoldersRow> rows;
  int first_row = 0, all_rows = 0;  // which rows of all are shown
  bool from_run = false;
  bool colours_above = false;  // what is around the picture says what its colours mean
  std::optional<HoldersInstead> instead;
  int microbatches = 0;  // that any rank, shown or not, holds of one layer at once, at most
  // A chunk of a bucket on its way between two rows.
  struct Chunk {
    int from = 0, to = 0;       // rows
    double begin = 0, end = 1;  // where it lies in the cell, as shares
    double share = 0;           // of its way
  };
  // A collective that is under way with a column, and the rows of its ranks, ascending.
  struct Moving {
    int column = 0;
    std::vector<int> group;  // global ranks
    std::vector<int> rows;
    QString name;  // with what each rank sends
    double done = 0;
    int kind = 0;  // 0 parameters, 1 gradients
    std::vector<Chunk> chunks = {};
  };
  std::vector<Moving> moving;
};

// All ranks by stage and by the group among which ZeRO cuts what they hold.
struct SharingRank {
  int rank = 0;  // global
  int stage = 0;
  std::size_t group = 0;
};
struct SharingRanks {
  std::vector<std::vector<int>> groups;
  std::vector<SharingRank> ranks;
};

// Kept while the Session shows the same prediction and run.
struct HoldersKept {
  std::optional<SharingRanks> sharing;
  std::map<int, Holdings> holdings;            // by global rank
  std::map<int, ActivationsHeld> activations;  // by index in Program::ranks
  std::map<int, BuffersHeld> buffers;          // likewise
  std::optional<int> most_microbatches;        // HoldersPicture::microbatches
  struct Messages {
    std::vector<SharedMessage> all;
    SharedSent sent;  // in a step
  };
  std::map<int, Messages> messages;
  std::vector<HoldersStep> story;
};
// At the playhead's time, of the run if there is a fresh one, else of the prediction. Ranks stand
// by the group among which ZeRO cuts what they hold; of those pages of `rows` rows each `page`, or
// the one that has the global `rank` if there is such a rank.
HoldersPicture holders_picture(const Session& session, HoldersKept& kept, int page = 0,
                               int rows = kMostHolders, int rank = -1);

// Fills picture.moving from what its rows have; `bytes`: names say what each rank sends.
void note_moving(const Program& program, const Timeline& timeline, const Setup& setup,
                 Nanoseconds now, bool bytes, HoldersPicture& picture);

// Where a cell stands.
struct HoldersLayout {
  double left = 0, top = 0, column = 60, row = 48, right = 0, bar = 11, gap = 2;
  bool sums = true;           // the columns behind the cells have room
  double sums_width = 240;    // of these
  bool named = false;         // there each bar has its name and its bytes
  std::vector<QRectF> story;  // its steps; clicks lead to their moments
  double story_height = 0;
  int message_lines = 1;     // below the rows
  std::vector<double> tops;  // of the rows
  QRectF other_rows;         // says that there are more rows, and shows them; empty: all are shown
  QRectF cell(int row_index, int column_index) const;
  QRectF bar_of(const QRectF& cell, int bar_index) const;  // activations are the last
};
HoldersLayout holders_layout(const HoldersPicture& picture, QSizeF size);
// So many rows are to be read in a pane so high, kMostHolders at most. Fewer where the steps of
// plain data parallelism, which `setup` may be, stand above them.
int holders_rows(double height, const Setup& setup);
void paint_holders(QPainter& painter, const HoldersPicture& picture, const HoldersLayout& at,
                   QSizeF size, std::pair<int, int> chosen, const Theme& theme, TextLog* texts);

// The pane as an exported picture.
ViewPicture holders_export(const Session& session, bool dark);

// `Bucket`: HeldBucket, or a const one. `kind`: 0 parameters, 1 gradients, 2 optimizer.
template <class Bucket>
auto& state_of_kind(Bucket& bucket, int kind) {
  return kind == 0 ? bucket.parameters : kind == 1 ? bucket.gradients : bucket.optimizer;
}

// What a cell holds, for tooltip, selection and screen readers. Column -1: what the rank holds of
// all columns.
SelectionText holders_words(const HoldersPicture& picture, int row, int column);
// One of HoldersPicture::story, likewise.
SelectionText holders_story_words(const HoldersPicture& picture, int step);
// "micro-batches 0 to 3"
QString microbatches_words(const std::vector<int>& microbatches);
// How many of the ranks are shown, and what shows the others.
QString other_rows_words(const HoldersPicture& picture);
// The whole picture as text, a line for each rank.
QString holders_description(const HoldersPicture& picture);
// The part of it that says the moment and what is under way.
QString holders_moment(const HoldersPicture& picture);

}  // namespace parallelarium

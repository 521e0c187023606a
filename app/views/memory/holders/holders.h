// SPDX-License-Identifier: GPL-3.0-or-later
// "Who holds what": ranks by layers, each cell with its parameters, gradients and optimizer state
// as a copy, a shard, a partial sum or absent at the playhead's time. Plain data, words and paint.
#pragma once

#include <QPainter>
#include <QStringList>
#include <map>
#include <optional>
#include <vector>

#include "app/look/theme/theme.h"
#include "app/selection/selection_panel.h"
#include "app/state/session.h"
#include "app/views/timeline/picture/timeline_paint.h"
#include "app/views/view.h"
#include "engine/plan/program/holdings.h"

namespace parallelarium {

inline constexpr int kHeldKinds = 3;  // parameters, gradients, optimizer

// Buckets that stand side by side and look the same on every rank are one column.
struct HoldersColumn {
  int first = 0, last = 0;  // buckets, as the first row that has them counts
  QString name;             // "3", "4–27", "tables", "head"
};

struct HoldersRow {
  int index = 0;  // in Program::ranks
  int rank = 0;   // global
  QString name;
  std::vector<std::optional<HeldBucket>> cells;  // by column; none: another stage's
  std::int64_t bytes[kHeldKinds] = {0, 0, 0};
  QString loss, hash;     // of a run; empty: not known
  bool agrees = true;     // with the rank that must hold the same
  bool own_part = false;  // the hash is of what the rank updates alone
};

// Why there is nothing to see, and what would change that.
struct HoldersInstead {
  QString sentence, button;  // empty button: none
};

struct HoldersPicture {
  QString title, moment;  // what goes on now, in a sentence
  QString messages;       // what the first rank sends next, and in a step
  std::vector<HoldersColumn> columns;
  std::vector<HoldersRow> rows;
  int more_ranks = 0;  // that are not shown
  bool from_run = false;
  bool colours_above = false;  // what is around the picture says what its colours mean
  std::optional<HoldersInstead> instead;
  // The collective under way over a column, if any.
  struct Moving {
    int column = 0;
    QString name;
    double done = 0;
  };
  std::vector<Moving> moving;
};

// By index in Program::ranks; kept while the Session shows the same prediction and run.
using HoldingsOfRanks = std::map<int, Holdings>;
// At the playhead's time, of the run if there is a fresh one, else of the prediction.
HoldersPicture holders_picture(const Session& session, HoldingsOfRanks& kept);

// Where a cell stands.
struct HoldersLayout {
  double left = 0, top = 0, column = 60, row = 48, right = 0, bar = 11;
  bool sums = true;    // the columns behind the cells have room
  bool named = false;  // there each bar has its name and its bytes
  QRectF cell(int row_index, int column_index) const;
  double height(int rows) const;
};
HoldersLayout holders_layout(const HoldersPicture& picture, QSizeF size);
void paint_holders(QPainter& painter, const HoldersPicture& picture, const HoldersLayout& at,
                   QSizeF size, std::pair<int, int> chosen, const Theme& theme, TextLog* texts);

// The pane as an exported picture.
ViewPicture holders_export(const Session& session, bool dark);

// What a cell holds, for tooltip, selection and screen readers. `kind`: 0 parameters, 1 gradients,
// 2 optimizer.
SelectionText holders_words(const HoldersPicture& picture, int row, int column);
// The whole picture as text, a line for each rank.
QString holders_description(const HoldersPicture& picture);

}  // namespace parallelarium

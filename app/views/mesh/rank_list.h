// SPDX-License-Identifier: GPL-3.0-or-later
// Everything about one rank as a list: what it holds, its groups, and what it sends to whom, with a
// bar as long as the bytes. One painter serves the widget beside the mesh and exported pictures.
#pragma once

#include <QListWidget>

#include "app/views/mesh/mesh_data.h"
#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

struct RankLine {
  QString section;  // head above the line, where a new section begins
  QString word, value;
  QString detail;          // below both: where the figure comes from, what is sent
  std::int64_t bytes = 0;  // of a link: the length of its bar
  QString text() const;    // all of it, for screen readers and tooltips
};
// Figures that a lesson hides read "?".
std::vector<RankLine> rank_lines(const RankFacts& facts, bool hides_memory, bool hides_traffic);

// Headline and lines; those without room are left out.
void paint_rank_facts(QPainter& painter, const QRectF& rect, const RankFacts& facts,
                      const Mesh& mesh, bool hides_memory, bool hides_traffic, const Theme& theme,
                      TextLog* texts);

class RankList : public QListWidget {
  Q_OBJECT

 public:
  explicit RankList(QWidget* parent = nullptr);
  void set_lines(std::vector<RankLine> lines);
  const std::vector<RankLine>& lines() const { return lines_; }
  std::int64_t most() const { return most_; }
  // Its facts are those of the last settings that were valid.
  void set_dimmed(bool dimmed);
  bool dimmed() const { return dimmed_; }

 private:
  std::vector<RankLine> lines_;
  std::int64_t most_ = 0;
  bool dimmed_ = false;
};

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of a search: how few candidates remain and why, step time over memory, what one
// change would do, and the best. Nothing here knows a widget or the Session.
#pragma once

#include <QPainter>
#include <optional>
#include <vector>

#include "app/look/theme/theme.h"
#include "app/state/plan/plan_answer.h"
#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

// What is trained today beside the best plan.
struct TodayFigure {
  QString title, today, best;
};

struct SearchPicture {
  QString title;                       // the question
  QString remark;                      // beside it: that the answer is of other settings, or empty
  bool outdated = false;               // it is, and is dimmed
  QString status;                      // in place of what is not there yet
  const PlanAnswer* answer = nullptr;  // null: there is none
  const FoundPlan* selected = nullptr;
  std::vector<const FoundPlan*> selectable;  // each has a dot
  std::optional<std::size_t> pointed;        // the one of PlanAnswer::points that was clicked
  int gpus = 0;              // on at most so many the front is drawn: those of the selected plan
  bool gpus_vary = false;    // a range of GPUs was searched
  std::vector<PlanWhy> why;  // of the selected plan
  QString why_head;
  QString value_head, value_said;         // what was asked of a value of an axis, or empty
  const FoundPlan* value_plan = nullptr;  // of which the answer speaks; null: none
  QString today;                          // axes of what is trained today, or empty
  std::vector<TodayFigure> today_figures;
  QStringList today_said;                     // where it stands, or that it was not searched yet
  const ExplainedPlan* today_told = nullptr;  // for its mark in the plot; null: there is none
  const FoundPlan* today_change = nullptr;    // of which the last of these speaks; null: none
  std::string framework;                      // in whose words plans are told, or empty
  int opened = -1;                            // the class whose reasons are listed; -1: none
  double beside_head = 0;                     // width that is taken at the right of the title
  double under_head = 0;                      // height that is taken below it
  std::int64_t limit_bytes = 0;               // where its line stands
  std::int64_t device_bytes = 0;              // to where the limit may go
  bool limit_focus = false;                   // keys move the limit
};

// What a click means.
struct SearchHits {
  struct Plan {
    QRectF rect;
    const FoundPlan* plan = nullptr;
  };
  std::vector<Plan> plans;  // rows, and points of the scatter
  // Points whose plans the search did not keep: where, and which of PlanAnswer::points.
  std::vector<std::pair<QRectF, std::size_t>> others;
  std::vector<std::pair<QRectF, PlanAnswer::Class>> losses;
  std::vector<std::pair<QRectF, const Setup*>> examples;  // lines that open a Setup
  std::vector<std::pair<QRectF, const ToldRule*>> rules;
  QRectF published;                        // the line that opens published runs of the model
  QRectF limit, plot;                      // the line of the limit, and what bytes are over
  double least_bytes = 0, most_bytes = 0;  // at its sides
  std::int64_t bytes_at(double x) const;
};

// Paints it `width` wide and returns its height.
double paint_search(QPainter& painter, double width, const SearchPicture& picture,
                    const Theme& theme, SearchHits* hits, TextLog* texts);
double search_height(double width, const SearchPicture& picture, const Theme& theme);
double search_title_bottom(double width, const SearchPicture& picture, const Theme& theme);

// The parts, each in `rect`; they return the height that they take, where it is not the rect's.
double paint_recommended(QPainter& painter, const QRectF& rect, const SearchPicture& picture,
                         const Theme& theme, SearchHits* hits, TextLog* texts);
double paint_funnel(QPainter& painter, const QRectF& rect, const SearchPicture& picture,
                    const Theme& theme, SearchHits* hits, TextLog* texts);
void paint_scatter(QPainter& painter, const QRectF& rect, const SearchPicture& picture,
                   const Theme& theme, SearchHits* hits, TextLog* texts);
double paint_changes(QPainter& painter, const QRectF& rect, const SearchPicture& picture,
                     const Theme& theme, SearchHits* hits, TextLog* texts);
double paint_best(QPainter& painter, const QRectF& rect, const SearchPicture& picture,
                  const Theme& theme, SearchHits* hits, TextLog* texts);
double paint_rules(QPainter& painter, const QRectF& rect, const SearchPicture& picture,
                   const Theme& theme, SearchHits* hits, TextLog* texts);

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/search/picture/search_picture.h"

#include <algorithm>

#include "app/views/search/search_view.h"
#include "app/views/search/search_words.h"

namespace parallelarium {
namespace {

constexpr int kPictureWidth = 1000;

}  // namespace

SearchPicture picture_of(const PlanSearch& search, int opened) {
  SearchPicture picture;
  picture.title = question_text(search);
  picture.opened = opened;
  if (search.answer()) {
    picture.answer = &*search.answer();
    picture.selected = search.selected();
    picture.selectable = search.selectable();
    picture.gpus_vary = search.answered().gpus.contains(QStringLiteral(".."));
    if (const FoundPlan* plan = search.selected() ? search.selected() : search.best())
      picture.gpus = plan->gpus;
    picture.value_head = value_head(search);
    picture.value_said = value_said(search);
    if (const ValueAnswer* asked = search.value_answer(); asked && asked->plan && !search.asking())
      picture.value_plan = &*asked->plan;
  }
  picture.framework = framework_of(search.wish());
  if (search.searching() && !search.asking())
    picture.status =
        search.progress_text().isEmpty() ? SearchView::tr("Searching …") : search.progress_text();
  else if (!search.error().isEmpty())
    picture.status = search.error();
  else if (!search.answer())
    picture.status = SearchView::tr(
        "Not searched yet. Search tries every combination of the free axes that makes the GPUs and "
        "the batch, and says of each why it is not the best. On more than 16 GPUs, CP is tried "
        "only where it leaves enough tokens on a rank.");
  const bool limit_alone = search.differs_in_limit_alone();
  if (search.answer())
    picture.limit_bytes = limit_alone ? search.limit_bytes() : search.answer()->capacity_bytes;
  picture.device_bytes = limit_alone ? search.device_bytes() : picture.limit_bytes;
  picture.outdated = search.is_outdated();
  picture.remark = remark_text(search);
  if (const auto& today = search.wish().today) {
    picture.today = today_text(*today);
    if (const ExplainedPlan* told = search.today()) {
      picture.today_told = told;
      picture.today_figures = today_figures(search);
      // The sentences are about the best plan of the search.
      if (!search.is_limited()) {
        picture.today_said = today_sentences(*search.answer(), *told);
        if (told->change) picture.today_change = &told->change->plan;
      }
    } else if (search.comparing()) {
      picture.today_said = {SearchView::tr("It is being compared with the best plan …")};
    } else if (!search.searching()) {
      picture.today_said = {SearchView::tr("Search to see how far it is from the best plan.")};
    }
  }
  if (const FoundPlan* plan = picture.selected) {
    const std::vector<PlanWhy>* neighbours = search.neighbours();
    picture.why = neighbours ? *neighbours : search.why_selected();
    search.answer()->note_ties(
        neighbours || !search.best() ? plan->seconds : search.best()->seconds, picture.why);
    if (!picture.why.empty())
      picture.why_head = neighbours                    ? SearchView::tr("What one change would do")
                         : !search.answer()->by_time() ? plan == search.best()
                                                             ? SearchView::tr("Why it is the best")
                                                             : SearchView::tr("Beside the best")
                         : plan == search.best() ? SearchView::tr("Why it is the fastest")
                                                 : SearchView::tr("Why it is not the fastest");
  }
  return picture;
}

ViewPicture exported_search(const PlanSearch& search, const PictureStyle& style, int opened) {
  const Theme& theme = style.dark ? dark_theme() : light_theme();
  const double height = search_height(kPictureWidth, picture_of(search, opened), theme);
  return {QSize(kPictureWidth, std::max(120, int(height))),
          [&search, &theme, opened](QPainter& painter, QSizeF size, TextLog* texts) {
            painter.save();
            painter.fillRect(QRectF(QPointF(0, 0), size), theme.surface);
            paint_search(painter, size.width(), picture_of(search, opened), theme, nullptr, texts);
            painter.restore();
          }};
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The best plans as rows; those that cannot be told apart share a rank.
#include <QCoreApplication>
#include <algorithm>
#include <functional>
#include <numeric>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/search/picture/search_paint.h"
#include "app/views/search/search_words.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/text_lines.h"
#include "engine/planner/search.h"

namespace parallelarium {
namespace {

// Behind the ZeRO of a plan that the framework trains in no usual way.
constexpr QChar kUnusual(0x2020);
constexpr double kTableHead = 22, kRow = 20, kTableLine = 18;

struct TableTexts {
  Q_DECLARE_TR_FUNCTIONS(SearchView)
};

struct Column {
  QString title;
  bool is_text = false;
  std::function<QString(const FoundPlan& plan)> cell = {};  // null: a mark
  int spare = 0;  // where there is no room for all, 1 is left out first; 0 stays
  double width = 0;
};

// What plans may differ in and no column of the table says.
std::vector<Column> hidden_columns() {
  std::vector<Column> columns;
  columns.push_back({QStringLiteral("SP"), false, [](const FoundPlan& of) {
                       return of.setup.sequence_parallel ? QStringLiteral("SP")
                                                         : QStringLiteral("–");
                     }});
  columns.push_back({TableTexts::tr("layers"), true, [](const FoundPlan& of) {
                       const std::vector<int>& layers = of.setup.stage_layers;
                       return layers.empty() ? TableTexts::tr("even")
                                             : QString::fromStdString(layers_text(layers));
                     }});
  columns.push_back({TableTexts::tr("order"), true,
                     [](const FoundPlan& of) { return order_words(of.setup.mesh.order); }});
  return columns;
}

// Adds those without which two rows would look alike, or a row and a recommended plan.
void tell_apart(std::vector<Column>& columns, const PlanAnswer& answer) {
  std::vector<const FoundPlan*> plans;
  for (const FoundPlan& plan : answer.plans) plans.push_back(&plan);
  for (const PlanAdvice& advice : answer.recommended) plans.push_back(&advice.plan);
  std::vector<Column> more;
  for (Column& hidden : hidden_columns()) {
    const auto differ = [&](const FoundPlan& a, const FoundPlan& b) {
      const auto same = [&](const Column& column) {
        return !column.cell || column.cell(a) == column.cell(b);
      };
      return std::all_of(columns.begin(), columns.end(), same) &&
             std::all_of(more.begin(), more.end(), same) && !same(hidden);
    };
    const auto twin = [&](const FoundPlan* a) {
      return std::any_of(plans.begin(), plans.end(),
                         [&](const FoundPlan* b) { return differ(*a, *b); });
    };
    if (std::any_of(plans.begin(), plans.end(), twin)) more.push_back(std::move(hidden));
  }
  columns.insert(columns.end(), more.begin(), more.end());
}

std::vector<Column> columns_of(const SearchPicture& picture) {
  const PlanAnswer& answer = *picture.answer;
  const bool experts =
      std::any_of(answer.plans.begin(), answer.plans.end(),
                  [](const FoundPlan& plan) { return plan.setup.model.experts.count > 0; });
  std::vector<Column> columns;
  if (picture.gpus_vary)
    columns.push_back({TableTexts::tr("GPUs"), false,
                       [](const FoundPlan& of) { return QString::number(of.gpus); }});
  const std::vector<Column> axes = {
      {QStringLiteral("TP"), false,
       [](const FoundPlan& of) { return QString::number(of.setup.mesh.tp); }},
      {QStringLiteral("PP"), false,
       [](const FoundPlan& of) { return QString::number(of.setup.mesh.pp); }},
      {QStringLiteral("DP"), false,
       [](const FoundPlan& of) { return QString::number(of.setup.mesh.dp); }},
      {QStringLiteral("CP"), false,
       [](const FoundPlan& of) { return QString::number(of.setup.mesh.cp); }}};
  columns.insert(columns.end(), axes.begin(), axes.end());
  if (experts)
    columns.push_back({QStringLiteral("EP"), false, [](const FoundPlan& of) {
                         const bool whole = differs_by_whole_experts(of.setup);
                         const QString ep = QString::number(of.setup.mesh.ep);
                         return whole ? ep + QStringLiteral(", ETP 1") : ep;
                       }});
  columns.push_back({QStringLiteral("ZeRO"), false, [&picture](const FoundPlan& of) {
                       const bool usual = needs_text(picture.framework, of.setup).isEmpty();
                       return usual ? zero_words(of.setup)
                                    : zero_words(of.setup) + QChar(0x00a0) + kUnusual;
                     }});
  columns.push_back({TableTexts::tr("schedule"), true,
                     [](const FoundPlan& of) { return schedule_words(of.setup); }});
  columns.push_back({TableTexts::tr("micro"), false,
                     [](const FoundPlan& of) { return QString::number(of.setup.micro_batch); }});
  columns.push_back({TableTexts::tr("recompute"), true,
                     [](const FoundPlan& of) { return recompute_words(of.setup); }});
  tell_apart(columns, answer);
  columns.push_back({TableTexts::tr("step"), false,
                     [](const FoundPlan& of) { return seconds_text(of.seconds); }});
  // It follows from the step.
  columns.push_back({TableTexts::tr("tokens/s"), false,
                     [](const FoundPlan& of) { return number_text(of.tokens_per_second); }, 1});
  columns.push_back(
      {QStringLiteral("MFU"), false, [](const FoundPlan& of) { return share_text(of.mfu); }, 4});
  columns.push_back(
      {TableTexts::tr("memory"), false, [](const FoundPlan& of) { return bytes_text(of.bytes); }});
  // The panel beside says these of the selected plan.
  columns.push_back({TableTexts::tr("bubble"), false, bubble_text, 3});
  columns.push_back({TableTexts::tr("exposed comm."), false,
                     [](const FoundPlan& of) { return seconds_text(of.exposed_seconds); }, 2});
  columns.push_back({TableTexts::tr("Pareto"), false, nullptr});  // a mark
  return columns;
}

// What cells say in short.
QStringList cell_notes(const SearchPicture& picture) {
  const PlanAnswer& answer = *picture.answer;
  QStringList notes;
  const auto first = [&](const auto& has) -> const Setup* {
    for (const FoundPlan& plan : answer.plans)
      if (has(plan.setup)) return &plan.setup;
    return nullptr;
  };
  if (const Setup* of = first([](const Setup& each) { return each.chunks > 1; }))
    notes << TableTexts::tr("%1: a rank has %2 chunks of layers.")
                 .arg(schedule_words(*of))
                 .arg(of->chunks);
  if (const Setup* of = first([](const Setup& each) { return each.zero_group > 0; }))
    notes << TableTexts::tr("ZeRO %1: ZeRO %2 in groups of %3 ranks.")
                 .arg(zero_words(*of))
                 .arg(of->zero)
                 .arg(of->zero_group);
  if (first([](const Setup& each) { return each.mesh.pp == 1; }) != nullptr)
    notes << TableTexts::tr(
        "Of plans with PP 1 that differ in the schedule alone the fastest "
        "stands here.");
  if (const Setup* of =
          first([&](const Setup& each) { return !needs_text(picture.framework, each).isEmpty(); }))
    notes << QStringLiteral("%1: %2").arg(kUnusual).arg(needs_text(picture.framework, *of));
  return notes.isEmpty() ? notes : QStringList{notes.join(QLatin1Char(' '))};
}

// As the front has it in the plot.
void paint_mark(QPainter& painter, const QRectF& cell, bool on_front, const Theme& theme) {
  if (!on_front) return;
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.accent_line);
  painter.drawEllipse(QPointF(cell.right() - 5, cell.center().y()), 3.5, 3.5);
}

// The title, and who shares rank 1: beside it, or below where that is longer. The lower end of
// both.
double paint_best_head(QPainter& painter, const QRectF& rect, const PlanAnswer& answer,
                       const Theme& theme, TextLog* texts) {
  const QRectF line(rect.left(), rect.top(), rect.width(), kTableHead);
  const QFont small = theme.font(11);
  const QString tied = tied_text(answer);
  const QString count = QString::number(answer.plans.size());
  const QString title =
      (!answer.by_time()
           ? TableTexts::tr("The best %1 by %2").arg(count, objective_text(answer.objective))
       : tied.isEmpty() ? TableTexts::tr("The fastest %1").arg(count)
                        : TableTexts::tr("The fastest %1, ties by memory").arg(count))
          .toUpper();
  put_elided(painter, line, Qt::AlignVCenter, title, theme.caps(), theme.muted, texts);
  const QRectF beside =
      line.adjusted(QFontMetricsF(theme.caps()).horizontalAdvance(title) + 20, 0, 0, 0);
  if (QFontMetricsF(small).horizontalAdvance(tied) <= beside.width()) {
    put_elided(painter, beside, Qt::AlignVCenter, tied, small, theme.muted, texts);
    return line.bottom();
  }
  return line.bottom() + put_lines(painter, QRectF(rect.left(), line.bottom(), rect.width(), kRow),
                                   tied, small, theme.muted, texts);
}

constexpr double kRank = 84, kBetween = 10;
constexpr int kSmall = 11, kNormal = 12;  // sizes of text

struct FittingColumns {
  std::vector<Column> all;
  int size = kNormal;  // of the cells' text
  double sum() const {
    return std::accumulate(all.begin(), all.end(), 0.0, [](double sum, const Column& column) {
      return sum + column.width + kBetween;
    });
  }
};

// Each column is as wide as its title and its longest cell. Where there is no room for all, the
// text is smaller, some are left out, and then words are cut.
FittingColumns fitting_columns(const SearchPicture& picture, const Theme& theme, double room) {
  FittingColumns columns{columns_of(picture)};
  const auto measure = [&](int size) {
    columns.size = size;
    for (Column& column : columns.all) {
      column.width = label_width(theme.font(kSmall), column.title) + 2;
      for (const FoundPlan& plan : picture.answer->plans)
        if (column.cell)
          column.width =
              std::max(column.width, label_width(theme.font(size, true), column.cell(plan)) + 2);
    }
  };
  const auto leave_out = [&](int spare) {
    if (columns.sum() > room)
      std::erase_if(columns.all, [&](const Column& column) { return column.spare == spare; });
  };
  measure(kNormal);
  leave_out(1);
  if (columns.sum() > room) measure(kSmall);
  for (const int spare : {2, 3, 4}) leave_out(spare);
  // A word may be cut, a figure never.
  const double excess = columns.sum() - room;
  const double words = std::accumulate(
      columns.all.begin(), columns.all.end(), 0.0,
      [](double sum, const Column& column) { return sum + (column.is_text ? column.width : 0); });
  constexpr double kLeastShare = 0.4;
  if (excess > 0 && words > 0)
    for (Column& column : columns.all)
      if (column.is_text) column.width *= std::max(kLeastShare, 1 - excess / words);
  return columns;
}

}  // namespace

double paint_best(QPainter& painter, const QRectF& rect, const SearchPicture& picture,
                  const Theme& theme, SearchHits* hits, TextLog* texts) {
  const PlanAnswer& answer = *picture.answer;
  const FittingColumns columns = fitting_columns(picture, theme, rect.width() - kRank);
  const QFont plain = theme.font(columns.size), bold = theme.font(columns.size, true),
              small = theme.font(kSmall);
  double y = paint_best_head(painter, rect, answer, theme, texts);
  const double stretch = (rect.width() - kRank) / columns.sum();
  const auto each_cell = [&](double top, const auto& put) {
    double x = rect.left() + kRank;
    for (const Column& column : columns.all) {
      const double wide = (column.width + kBetween) * stretch;
      const QRectF cell(x + kBetween, top, wide - kBetween, kRow);
      put(column, cell);
      x += wide;
    }
  };
  const auto flags = [](const Column& column) {
    return int(Qt::AlignVCenter) | int(column.is_text ? Qt::AlignLeft : Qt::AlignRight);
  };
  put_text(painter, QRectF(rect.left(), y, kRank, kRow), Qt::AlignVCenter, TableTexts::tr("rank"),
           small, theme.muted, texts);
  each_cell(y, [&](const Column& column, const QRectF& cell) {
    put_elided(painter, cell, flags(column), column.title, small, theme.muted, texts);
  });
  y += kRow;
  const auto ties = std::size_t(std::count_if(answer.plans.begin(), answer.plans.end(),
                                              [](const FoundPlan& plan) { return plan.tied; }));
  const double first = y;
  for (std::size_t at = 0; at < answer.plans.size(); ++at) {
    const FoundPlan& plan = answer.plans[at];
    const QRectF row(rect.left(), y, rect.width(), kRow);
    const bool selected = picture.selected && picture.selected->setup == plan.setup;
    if (selected) painter.fillRect(row.adjusted(kRank - 2, 0, 4, 0), theme.accent_soft);
    painter.fillRect(QRectF(rect.left() + kRank, y + kRow - 1, rect.width() - kRank, 1),
                     theme.hairline);
    // All of a tie share the first rank, and stand by memory.
    const bool tie = at < ties && ties > 1, fastest = at == answer.best_at;
    const QString rank = !tie      ? QString::number(at + 1)
                         : fastest ? TableTexts::tr("1 fastest")
                                   : QStringLiteral("1");
    put_text(painter, row, Qt::AlignVCenter, rank, fastest ? bold : plain, theme.text, texts);
    each_cell(y, [&](const Column& column, const QRectF& cell) {
      if (!column.cell) return paint_mark(painter, cell, plan.on_front, theme);
      put_elided(painter, cell, flags(column), column.cell(plan),
                 selected || fastest ? bold : plain,
                 selected ? theme.ink_on(theme.accent_soft) : theme.text, texts);
    });
    if (hits) hits->plans.push_back({row, &plan});
    y += kRow;
  }
  if (ties > 1) {  // a bracket about the rows that share the rank
    painter.setPen(QPen(theme.muted, 1));
    const double x = rect.left() + kRank - 8, bottom = first + double(ties) * kRow - 4;
    painter.drawLine(QPointF(x, first + 3), QPointF(x, bottom));
    painter.drawLine(QPointF(x, first + 3), QPointF(x + 4, first + 3));
    painter.drawLine(QPointF(x, bottom), QPointF(x + 4, bottom));
  }
  y += 4;
  QStringList said = trust_texts(answer);
  if (!answer.recommended.empty()) said.removeFirst();  // it stands there
  said << cell_notes(picture) << TableTexts::tr("MFU counts attention in full, masked scores too.")
       << TableTexts::tr(
              "Exposed communication is the time in which a rank communicates and "
              "computes nothing, as the mean of the ranks. A dot under Pareto: no plan "
              "is faster and needs less memory.");
  for (const QString& line : said)
    y += put_lines(painter, QRectF(rect.left(), y, rect.width(), kTableLine), line, small,
                   theme.muted, texts);
  return y - rect.top();
}

double paint_rules(QPainter& painter, const QRectF& rect, const SearchPicture& picture,
                   const Theme& theme, SearchHits* hits, TextLog* texts) {
  if (picture.answer->rules.empty()) return 0;
  double y = rect.top() + kRow;
  put_caps(painter, QRectF(rect.left(), y, rect.width(), kTableHead),
           TableTexts::tr("Rules of thumb beside the search"), theme, texts);
  y += kTableHead;
  for (const ToldRule& rule : picture.answer->rules) {
    const QString opens = rule.plan ? QStringLiteral("\u00a0▸") : QString();
    const double tall = put_lines(painter, QRectF(rect.left(), y, rect.width(), kTableLine),
                                  firm_text(sentence(rule.sentence) + opens), theme.font(12),
                                  rule.plan    ? theme.accent_line
                                  : rule.costs ? theme.text
                                               : theme.muted,
                                  texts);
    const QRectF lines(rect.left(), y, rect.width(), tall);
    if (hits) hits->rules.emplace_back(lines, &rule);
    if (hits && rule.plan) hits->plans.push_back({lines, &*rule.plan});
    y += tall;
  }
  return y - rect.top();
}

}  // namespace parallelarium

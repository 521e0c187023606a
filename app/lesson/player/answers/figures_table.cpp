// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/player/answers/figures_table.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

#include "app/look/figures.h"

namespace parallelarium {

namespace {

struct Figures {
  Q_DECLARE_TR_FUNCTIONS(ownFigures)
};

}  // namespace

QString table_row(const QStringList& cells) {
  return QStringLiteral("| %1 |\n").arg(cells.join(QStringLiteral(" | ")));
}

QString table_head(const QStringList& cells) {
  return table_row(cells) + table_row(QStringList(cells.size(), QStringLiteral("---")));
}

QString mark_of(bool right) { return right ? QStringLiteral("✓") : QStringLiteral("✗"); }

QString figures_table(const Step& step, const std::vector<HandInPart>& parts,
                      const std::function<QString(const std::string&)>& words) {
  QString table = table_head({Figures::tr("Figure"), Figures::tr("Own"),
                              step.sets_plan() ? Figures::tr("Predicted") : Figures::tr("Right"),
                              QStringLiteral(" ")});
  for (const HandInPart& part : parts) {
    const auto asked = std::find_if(step.parts.begin(), step.parts.end(),
                                    [&](const QuestionPart& one) { return one.id == part.id; });
    const auto value = [&](const PartAnswer& answer) {
      if (answer.number) return value_text(*answer.number, asked->ask.unit);
      return answer.option.empty() ? QStringLiteral("–") : words("option " + answer.option);
    };
    table += table_row(
        {words("part " + part.id), value(part.given), value(part.wanted), mark_of(part.right)});
  }
  return table;
}

}  // namespace parallelarium

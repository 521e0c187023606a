// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/compare/compare_words.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "app/views/shared/words/case_words.h"
#include "engine/plan/text/message_json.h"

namespace parallelarium {
namespace {

struct CompareWords {
  Q_DECLARE_TR_FUNCTIONS(CompareView)
};

const QString kDash = QStringLiteral("–");

QString signed_text(double difference, const QString& size) {
  if (difference == 0) return size;
  return (difference < 0 ? QStringLiteral("−") : QStringLiteral("+")) + size;
}

QString short_why(const Message& why) {
  return why.id == "compare-machine" ? CompareWords::tr("other machine") : set_text();
}

// "TP" of "traffic.tp.sent_bytes".
QString axis_in(const std::string& metric) {
  return QString::fromStdString(metric).section(QLatin1Char('.'), 1, 1).toUpper();
}

// Where there is no pipeline, Search and Compare show no bubble.
bool has_no_bubble(const ComparedEntries& comparison, std::size_t row, std::size_t column) {
  return comparison.beside.rows[row].metric == "bubble.of_total" &&
         comparison.entries[column].record.prediction->setup.mesh.pp == 1;
}

bool hides_difference(const ComparedEntries& comparison, std::size_t row, std::size_t column) {
  return comparison.hidden_rows[row] || comparison.hidden_columns[column] ||
         comparison.hidden_columns[0];
}

// Why the cell of a difference says "late", or none: it says something else.
std::optional<Message> late_row(const ComparedEntries& comparison, std::size_t row,
                                std::size_t column) {
  const ComparedRow& of = comparison.beside.rows[row];
  if (hides_difference(comparison, row, column) || has_no_bubble(comparison, row, column) ||
      has_no_bubble(comparison, row, 0) || !can_be_late(QString::fromStdString(of.metric)))
    return {};
  const std::optional<Message>& why = of.why_no_difference[column];
  if (!of.differences[column] && !(why && why->id == "compare-set")) return {};
  for (const std::size_t at : {std::size_t(0), column})
    if (const RunRecord& record = comparison.entries[at].record; record.observed())
      if (auto late = lateness_of(record.observation)) return late;
  return {};
}

// The rate of an axis that a prediction stands on; null: none was said.
const nlohmann::json* rate_of_axis(const Column& column, const std::string& axis) {
  const auto rates = column.facts.find("communication");
  if (!column.predicted() || rates == column.facts.end()) return nullptr;
  const auto found = std::find_if(rates->begin(), rates->end(), [&](const nlohmann::json& rate) {
    return rate.value("axis", std::string()) == axis;
  });
  return found == rates->end() ? nullptr : &*found;
}

bool same_links(nlohmann::json one, nlohmann::json other) {
  for (nlohmann::json* rate : {&one, &other}) {
    rate->erase("sent_bytes");
    rate->erase("sentence");
    rate->erase("sentence_message");
  }
  return one == other;
}

// What the exposed communication of the predictions that are explained stands on: of the first, and
// of the chosen one unless its links are the same.
QStringList rates_of_exposed(const ComparedEntries& comparison) {
  QStringList said;
  const std::vector<ComparedRow>& rows = comparison.beside.rows;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (!rows[row].metric.starts_with("exposed_seconds.") || comparison.hidden_rows[row]) continue;
    const std::string axis = rows[row].metric.substr(rows[row].metric.find('.') + 1);
    const nlohmann::json* first = nullptr;
    for (std::size_t at = 0; at < comparison.entries.size(); ++at) {
      if ((at != 0 && at != comparison.chosen) || comparison.hidden_columns[at]) continue;
      const nlohmann::json* rate = rate_of_axis(comparison.beside.columns[at], axis);
      if (rate == nullptr) continue;
      if (first != nullptr && same_links(*first, *rate))
        said << CompareWords::tr("%1, %2: over the same links at the same rate")
                    .arg(letter_of(at), axis_in(rows[row].metric));
      else
        said << QStringLiteral("%1, %2").arg(letter_of(at),
                                             sentence(message_at(*rate, "sentence")));
      if (first == nullptr) first = rate;
    }
  }
  return said;
}

}  // namespace

QString compared_text(const std::string& metric) {
  const std::pair<const char*, QString> known[] = {
      {"ranks", CompareWords::tr("ranks")},
      {"step.seconds", CompareWords::tr("step")},
      {"step.compute_seconds", CompareWords::tr("computing, busiest rank")},
      {"step.exposed_communication_seconds", CompareWords::tr("exposed, rank that computes most")},
      {"step.tokens_per_second", CompareWords::tr("tokens per second")},
      {"step.mfu", CompareWords::tr("MFU, attention in full")},
      {"bubble.of_total", CompareWords::tr("bubble of whole step")},
      {"memory.ranks.*.peak_bytes", CompareWords::tr("memory, fullest rank")},
      {"memory.ranks.*.parameters_bytes", CompareWords::tr("parameters")},
      {"memory.ranks.*.gradients_bytes", CompareWords::tr("gradients")},
      {"memory.ranks.*.optimizer_bytes", CompareWords::tr("optimizer states")},
      {"memory.ranks.*.activations_bytes", CompareWords::tr("activations")},
      {"memory.ranks.*.buffers_bytes", CompareWords::tr("buffers")},
      {"memory.capacity_bytes", CompareWords::tr("memory of a device")}};
  for (const auto& [key, text] : known)
    if (metric == key) return text;
  if (metric.starts_with("exposed_seconds."))
    return CompareWords::tr("exposed, %1, mean").arg(axis_in(metric));
  if (metric.starts_with("traffic.")) return CompareWords::tr("sent, %1").arg(axis_in(metric));
  return QString::fromStdString(metric);
}

QString compared_value(double value, const std::string& unit) {
  if (unit == "seconds") return seconds_text(value);
  if (unit == "bytes") return bytes_text(std::int64_t(value));
  return unit == "1" ? share_text(value) : number_text(value);
}

QString compared_difference(double from, double to, const std::string& unit) {
  if (unit == "1") return share_difference_text(from, to);
  if (unit == "seconds") return seconds_difference_text(to - from);
  return signed_text(to - from, compared_value(std::abs(to - from), unit));
}

std::vector<QStringList> published_rows(const ComparedEntries& comparison) {
  std::vector<QStringList> rows;
  const std::vector<Column>& columns = comparison.beside.columns;
  for (const CaseMetric& metric : kCaseMetrics) {
    QStringList published{CompareWords::tr("%1, published").arg(metric_text(metric.name))};
    QStringList predicted{CompareWords::tr("%1, predicted").arg(metric_text(metric.name))};
    QStringList error{CompareWords::tr("error of the prediction")};
    bool any = false;
    for (std::size_t at = 0; at < columns.size(); ++at) {
      const auto& figures = columns[at].published;
      const auto found = std::find_if(
          figures.begin(), figures.end(),
          [&](const PublishedFigure& each) { return each.figure.metric == metric.name; });
      if (found == figures.end()) {
        for (QStringList* row : {&published, &predicted, &error}) row->append(kDash);
        continue;
      }
      any = true;
      const bool hidden = comparison.hidden_causes || comparison.hidden_columns[at];
      published << metric_value_text(metric.name, found->figure.published);
      predicted << (hidden ? kHidden : metric_value_text(metric.name, found->predicted));
      error << (hidden ? kHidden : error_text(found->error()));
    }
    if (any) rows.insert(rows.end(), {published, predicted, error});
  }
  return rows;
}

QString why_no_value(const ComparedEntries& comparison, std::size_t row, std::size_t column) {
  const ComparedRow& of = comparison.beside.rows[row];
  return !of.values[column] && of.why[column] ? sentence(*of.why[column]) : QString();
}

QString why_no_difference(const ComparedEntries& comparison, std::size_t row, std::size_t column) {
  const ComparedRow& of = comparison.beside.rows[row];
  if (hides_difference(comparison, row, column)) return {};
  if (const auto late = late_row(comparison, row, column)) return sentence(*late);
  return !of.differences[column] && of.why_no_difference[column]
             ? sentence(*of.why_no_difference[column])
             : QString();
}

QString value_cell(const ComparedEntries& comparison, std::size_t row, std::size_t column) {
  if (comparison.hidden_rows[row] || comparison.hidden_columns[column]) return kHidden;
  if (has_no_bubble(comparison, row, column)) return kDash;
  const ComparedRow& of = comparison.beside.rows[row];
  if (of.values[column]) return compared_value(*of.values[column], of.unit);
  return of.why[column] ? short_why(*of.why[column]) : kDash;
}

QString difference_cell(const ComparedEntries& comparison, std::size_t row, std::size_t column) {
  if (hides_difference(comparison, row, column)) return kHidden;
  if (has_no_bubble(comparison, row, column) || has_no_bubble(comparison, row, 0)) return kDash;
  const ComparedRow& of = comparison.beside.rows[row];
  if (late_row(comparison, row, column)) return late_text();
  if (of.differences[column])
    return compared_difference(*of.values[0], *of.values[column], of.unit);
  return of.why_no_difference[column] ? short_why(*of.why_no_difference[column]) : kDash;
}

bool difference_stands(const ComparedEntries& comparison, std::size_t row, std::size_t column) {
  return comparison.beside.rows[row].differences[column] &&
         !hides_difference(comparison, row, column) && !late_row(comparison, row, column) &&
         !has_no_bubble(comparison, row, column) && !has_no_bubble(comparison, row, 0);
}

QString later_text(const ComparedEntries& comparison, std::size_t column, Nanoseconds later) {
  const std::vector<ComparedRow>& rows = comparison.beside.rows;
  const auto step = std::find_if(rows.begin(), rows.end(), [](const ComparedRow& row) {
    return row.metric == "step.seconds";
  });
  if (step == rows.end()) return kDash;
  const auto row = std::size_t(step - rows.begin());
  const bool told = step->differences[column] && !comparison.lanes.hides.times &&
                    !comparison.hidden_columns[column] && !comparison.hidden_columns[0];
  return told ? seconds_difference_text(seconds_of(later))
              : difference_cell(comparison, row, column);
}

QStringList compare_notes(const ComparedEntries& comparison) {
  QStringList notes;
  for (const ComparedRow& row : comparison.beside.rows)
    for (const auto* list : {&row.why, &row.why_no_difference})
      for (const std::optional<Message>& why : *list)
        if (why && !notes.contains(sentence(*why))) notes << sentence(*why);
  for (std::size_t row = 0; row < comparison.beside.rows.size(); ++row)
    for (std::size_t column = 1; column < comparison.entries.size(); ++column)
      if (const auto late = late_row(comparison, row, column);
          late && !notes.contains(sentence(*late)))
        notes << sentence(*late);
  return notes + rates_of_exposed(comparison);
}

QStringList compare_remarks(const ComparedEntries& comparison) {
  QStringList remarks;
  for (const Message& remark : comparison.beside.remarks) remarks << sentence(remark);
  return remarks;
}

QString compare_title(const ComparedEntries& comparison) {
  const std::size_t columns = comparison.entries.size();
  if (columns == 0) return CompareWords::tr("No prediction yet");
  if (columns == 1) return CompareWords::tr("Nothing to compare with yet");
  return CompareWords::tr("What makes the difference between A and %1?")
      .arg(letter_of(comparison.chosen));
}

QString causes_title(const ComparedEntries& comparison) {
  return CompareWords::tr("Step of %1 less that of A, by cause").arg(letter_of(comparison.chosen));
}

std::vector<QStringList> compare_table(const ComparedEntries& comparison) {
  const std::size_t columns = comparison.entries.size();
  QStringList titles{QString()};
  for (std::size_t at = 0; at < columns; ++at) titles << letter_of(at);
  for (std::size_t at = 1; at < columns; ++at)
    titles << QStringLiteral("%1 − A").arg(letter_of(at));
  std::vector<QStringList> table{titles};
  for (std::size_t row = 0; row < comparison.beside.rows.size(); ++row) {
    QStringList cells{compared_text(comparison.beside.rows[row].metric)};
    for (std::size_t at = 0; at < columns; ++at) cells << value_cell(comparison, row, at);
    for (std::size_t at = 1; at < columns; ++at) cells << difference_cell(comparison, row, at);
    table.push_back(cells);
  }
  for (QStringList row : published_rows(comparison)) {
    while (row.size() < titles.size()) row << QString();
    table.push_back(row);
  }
  return table;
}

QString compare_description(const ComparedEntries& comparison) {
  QStringList said{compare_title(comparison), comparison.whose};
  said << compare_remarks(comparison);
  for (std::size_t at = 0; at < comparison.entries.size(); ++at)
    said << QStringLiteral("%1: %2").arg(letter_of(at), comparison.entries[at].title);
  const std::vector<QStringList> table = compare_table(comparison);
  for (std::size_t row = 1; row <= comparison.beside.rows.size() && row < table.size(); ++row) {
    QStringList cells;
    for (qsizetype at = 1; at < table[row].size(); ++at)
      cells << QStringLiteral("%1 %2").arg(table[0][at], table[row][at]);
    said << QStringLiteral("%1: %2").arg(table[row][0], cells.join(QStringLiteral(", ")));
  }
  for (const QStringList& row : published_rows(comparison))
    for (qsizetype at = 1; at < row.size(); ++at)
      if (row[at] != kDash)
        said << QStringLiteral("%1: %2 %3").arg(row[0], letter_of(std::size_t(at - 1)), row[at]);
  said << compare_notes(comparison);
  if (comparison.explained.causes.empty()) return said.join(QLatin1Char('\n'));
  said << causes_title(comparison);
  for (const Cause& cause : comparison.explained.causes)
    said << QStringLiteral("%1: %2").arg(
        sentence(words_of(cause)),
        comparison.hidden_causes ? kHidden : seconds_difference_text(cause.seconds));
  return said.join(QLatin1Char('\n'));
}

}  // namespace parallelarium

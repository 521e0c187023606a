// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/compare/compare_data.h"

#include <QCoreApplication>
#include <algorithm>
#include <set>

#include "app/state/plan/plan_search.h"
#include "app/views/shared/words/plan_words.h"
#include "app/views/shared/words/setup_words.h"
#include "app/views/shared/words/words.h"

namespace parallelarium {
namespace {

struct CompareTexts {
  Q_DECLARE_TR_FUNCTIONS(CompareView)
};

QString first_word(const QString& key) { return key.section(QLatin1Char('.'), 0, 0); }

// A lesson that asks about one figure of a kind has the others of its kind read "?" too: most of
// them would tell.
bool hides_row(const LessonLocks& locks, const QString& metric) {
  const QString kind =
      metric.startsWith(QLatin1String("exposed")) ? QStringLiteral("step") : first_word(metric);
  return std::any_of(locks.hidden_keys().begin(), locks.hidden_keys().end(),
                     [&](const QString& key) { return first_word(key) == kind; });
}

bool hides_column(const LessonLocks& locks, const CompareEntry& entry) {
  return locks.hidden(entry.record.observed() ? QStringLiteral("lane.run")
                                              : QStringLiteral("lane.predicted"));
}

Picture lanes_of(const Session& session, const ComparedEntries& comparison) {
  Picture picture;
  picture.folds = false;
  picture.hides_shares = session.locks().hidden(QStringLiteral("bubble.of_total"));
  picture.hides_held = session.locks().hidden(QStringLiteral("held.peak"));
  picture.hides = session.locks().hidden_of_ops();
  Nanoseconds end{1};
  for (std::size_t at = 0; at < comparison.entries.size(); ++at) {
    PictureLane lane;
    lane.title = comparison.entries[at].title;
    lane.short_title = letter_of(at);
    lane.style = comparison.entries[at].style;
    lane.hidden = comparison.hidden_columns[at];
    lane.rows = comparison.rows[at];
    end = std::max(end, lane.rows->end);
    // One replica stands for all of its stage.
    std::set<int> stages;
    for (const Row& row : lane.rows->rows)
      if (!stages.insert(row.stage).second) picture.collapsed.insert(row.stage);
    picture.lanes.push_back(std::move(lane));
  }
  picture.range = {Nanoseconds(0), end};
  return picture;
}

// The search is the Session's own part; what it has predicted is no state that is shown.
PlanSearch& search_of(const Session& session) {
  return PlanSearch::of(const_cast<Session&>(session));
}

std::vector<CompareEntry> plan_entries(const Session& session, PlanSearch& search) {
  std::vector<CompareEntry> entries;
  const auto add = [&](const QString& title, const Setup& setup) {
    if (const auto prediction = search.prediction_of(setup))
      entries.push_back({title.arg(axes_text(setup)), record_of(prediction)});
  };
  const Setup selected = search.selected()->setup;
  // What is trained today may fit where no plan of the search does.
  std::optional<Setup> best;
  if (const FoundPlan* fastest = search.best()) best = fastest->setup;
  const bool is_today = search.is_today(*search.selected());
  add(best == selected ? CompareTexts::tr("BEST PLAN, SELECTED · %1")
      : is_today       ? CompareTexts::tr("TODAY, SELECTED · %1")
                       : CompareTexts::tr("SELECTED PLAN · %1"),
      selected);
  if (best && !(*best == selected)) add(CompareTexts::tr("BEST PLAN · %1"), *best);
  if (const ExplainedPlan* today = search.today(); today && !is_today)
    add(CompareTexts::tr("TODAY · %1"), today->setup);
  const RunRecord* pinned = session.runs().pinned();
  const auto is_there = [&](const CompareEntry& entry) {
    return entry.record.prediction->setup == pinned->prediction->setup;
  };
  if (pinned && (pinned->observed() || std::none_of(entries.begin(), entries.end(), is_there)))
    entries.push_back(
        {pinned_title(*pinned, session.resolved(selected)), *pinned, LaneStyle::kPinned});
  return entries;
}

}  // namespace

QString letter_of(std::size_t column) { return QString(QChar(char16_t('A' + column))); }

std::vector<CompareEntry> entries_of(const Session& session) {
  PlanSearch& search = search_of(session);
  if (search.shows_plan()) return plan_entries(session, search);
  std::vector<CompareEntry> entries;
  if (const RunRecord* pinned = session.runs().pinned())
    entries.push_back({pinned_title(*pinned, session.resolved()), *pinned, LaneStyle::kPinned});
  const std::shared_ptr<const Prediction> prediction = session.subject().prediction();
  if (!prediction->program.ranks.empty())
    entries.push_back({predicted_title(*prediction), record_of(prediction)});
  const RunRecord* run = session.runs().current();
  if (run && run->observed() && !session.runs().current_is_stale())
    entries.push_back({run_title(run->observation, false), *run, LaneStyle::kObserved});
  return entries;
}

const CompareSource::Kept& CompareSource::kept_of(const CompareEntry& entry,
                                                  std::vector<Kept>& now) {
  const RunRecord& record = entry.record;
  const bool observed = record.observed();
  const auto same = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
    return kept.prediction == record.prediction && kept.observed == observed;
  });
  if (same != kept_.end()) {
    now.push_back(*same);
    return now.back();
  }
  Kept made;
  made.prediction = record.prediction;
  made.observed = observed;
  if (observed) {
    made.column = column_of({}, *record.prediction, record.observation);
    made.rows =
        make_rows(record.prediction, std::make_shared<const Timeline>(record.observation.timeline));
  } else {
    made.column = column_of({}, *record.prediction);
    made.rows = make_rows(record.prediction, std::shared_ptr<const Timeline>(
                                                 record.prediction, &record.prediction->timeline));
  }
  now.push_back(std::move(made));
  return now.back();
}

ComparedEntries CompareSource::compare(const Session& session,
                                       const std::vector<CompareEntry>& added, std::size_t chosen) {
  ComparedEntries comparison;
  comparison.entries = entries_of(session);
  comparison.whose = whose_text(session);
  comparison.outdated = search_of(session).shows_outdated();
  comparison.waiting = search_of(session).predictions().busy();
  comparison.entries.insert(comparison.entries.end(), added.begin(), added.end());
  if (comparison.entries.size() > kMostCompared) comparison.entries.resize(kMostCompared);
  std::vector<Kept> now;
  std::vector<Column> columns;
  for (std::size_t at = 0; at < comparison.entries.size(); ++at) {
    const CompareEntry& entry = comparison.entries[at];
    const Kept& kept = kept_of(entry, now);
    Column column = kept.column;
    column.name = letter_of(at).toStdString();
    column.published = entry.published;
    columns.push_back(std::move(column));
    comparison.rows.push_back(kept.rows);
    comparison.hidden_columns.push_back(hides_column(session.locks(), entry));
  }
  kept_ = std::move(now);
  if (columns.empty()) return comparison;
  comparison.chosen = std::min(chosen, columns.size() - 1);
  if (columns.size() > 1) comparison.explained = explain_difference(columns, 0, comparison.chosen);
  comparison.beside = compare_columns(std::move(columns));
  for (const ComparedRow& row : comparison.beside.rows)
    comparison.hidden_rows.push_back(
        hides_row(session.locks(), QString::fromStdString(row.metric)));
  comparison.hidden_causes = !session.locks().hidden_keys().isEmpty();
  comparison.lanes = lanes_of(session, comparison);
  return comparison;
}

const Bar* bar_of(const PictureLane& lane, const FollowedAction& action, int* rank_index) {
  if (lane.hidden || !lane.rows) return nullptr;
  for (const Row& row : lane.rows->rows) {
    if (row.stage != action.stage) continue;
    for (const Bar& bar : row.lane(Lane::kCompute).bars)
      if (bar.microbatch == action.microbatch && bar.chunk == action.chunk &&
          bar.action == action.action) {
        *rank_index = row.rank_index;
        return &bar;
      }
  }
  return nullptr;
}

std::optional<FollowedAction> action_at(const Picture& picture, const Hit& hit) {
  if (hit.bar < 0) return std::nullopt;
  const Row& row = picture.lanes[std::size_t(hit.lane)].rows->rows[std::size_t(hit.row)];
  const Bar& bar = row.lane(hit.which, hit.zoom).bars[std::size_t(hit.bar)];
  if (bar.microbatch < 0) return std::nullopt;
  return FollowedAction{row.stage, bar.microbatch, bar.chunk, bar.action};
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/plan/setting_sweep.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "app/look/sentence.h"
#include "app/state/plan/plan_search.h"
#include "app/state/run/run_request.h"
#include "app/state/session.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/plan/text/message_json.h"
#include "engine/planner/sweep.h"
#include "engine/wire/reading.h"

namespace parallelarium {
namespace {

Message no_sweep_answer() {
  return message("sweep-answer", "The engine's answer to the sweep cannot be read.");
}

QString value_of(const nlohmann::json& values, const QString& key) {
  const auto found = values.find(key.toStdString());
  if (found == values.end()) return {};
  return QString::fromStdString(found->is_string() ? found->get<std::string>() : found->dump());
}

std::size_t place_in(std::vector<QString>& list, const QString& value) {
  auto found = std::find(list.begin(), list.end(), value);
  if (found == list.end()) found = list.insert(list.end(), value);
  return std::size_t(found - list.begin());
}

// What a run was seen to do of a figure that a sweep shows; none where it says nothing of it.
std::optional<double> ran_figure(const RunRecord& record, const QString& figure) {
  const Observation& run = record.observation;
  const StepFigures& step = run.step;
  if (figure == QLatin1String("step")) return step.seconds;
  if (figure == QLatin1String("tokens")) return step.tokens_per_second;
  if (figure == QLatin1String("compute")) return step.compute_seconds;
  if (figure == QLatin1String("exposed")) return step.exposed_communication_seconds;
  // A run that was stored before this was told has none, though some of it was exposed.
  const bool tells = step.communication_seconds >= step.exposed_communication_seconds;
  if (figure == QLatin1String("communication") && tells) return step.communication_seconds;
  if (figure == QLatin1String("communication-over-compute") && tells && step.compute_seconds > 0)
    return step.communication_seconds / step.compute_seconds;
  if (figure == QLatin1String("bubble")) return run.bubble.of_total;
  if (figure == QLatin1String("mfu") && step.mfu > 0) return step.mfu;
  if (figure != QLatin1String("memory") || run.memory.empty()) return std::nullopt;
  std::int64_t most = 0, sum = 0;
  for (const MemoryRow& row : run.memory) {
    most = std::max(most, row.peak_bytes);
    sum += row.peak_bytes;
  }
  return double(record.prediction->memory_together() ? sum : most);
}

// All that have a short name, so that another one is shown without a sweep of its own.
std::string shown_metrics(const QString& wanted) {
  QStringList all = {wanted};
  for (const std::string& name : short_metric_names())
    if (name != wanted.toStdString()) all.append(QString::fromStdString(name));
  return all.join(QLatin1Char(',')).toStdString();
}

std::string variation_text(const QString& key, const QString& values) {
  return QStringLiteral("%1=%2").arg(key, values.simplified()).toStdString();
}

}  // namespace

std::vector<std::pair<std::string, std::string>> kept_sizes(const SweepWish& wish,
                                                            const Setup& base) {
  const auto varies = [&](const char* option) {
    return wish.first == QLatin1String(option) || wish.second == QLatin1String(option);
  };
  std::vector<std::pair<std::string, std::string>> kept;
  if (!wish.keeps_sizes) return kept;
  if (!varies("dp") && !varies("gpus"))
    kept.emplace_back("gpus", std::to_string(base.mesh.ranks()));
  if (!varies("microbatches") && !varies("global-batch"))
    kept.emplace_back("global-batch", std::to_string(base.global_batch()));
  return kept;
}

std::optional<std::size_t> SweepAnswer::first_of_base() const {
  const SetupSetting* row = find_setting(setup_settings(), wish.first.toStdString());
  if (!row || !row->value.get) return std::nullopt;
  const nlohmann::json value = row->value.get(base);
  const QString text =
      QString::fromStdString(value.is_string() ? value.get<std::string>() : value.dump());
  const auto found = std::find(firsts.begin(), firsts.end(), text);
  if (found == firsts.end()) return std::nullopt;
  return std::size_t(found - firsts.begin());
}

Result<SweepAnswer> sweep_answer_from_json(const nlohmann::json& json, const SweepWish& wish,
                                           const Setup& base, const SweptLimits& limits) {
  SweepAnswer answer;
  answer.wish = wish;
  answer.base = base;
  answer.limits = limits;
  const Metric metric = metric_from(wish.figure.toStdString());
  answer.unit = metric.unit;
  ObjectReader reader(json, "sweep");
  const nlohmann::json* points = reader.array("points");
  if (reader.error()) return *reader.error();
  answer.capacity_bytes = json.value("capacity_bytes", std::int64_t{0});
  for (const nlohmann::json& entry : *points) {
    if (!entry.is_object() || !entry.contains("values") || !entry.contains("metrics"))
      return no_sweep_answer();
    SweptPoint point;
    point.first = place_in(answer.firsts, value_of(entry["values"], wish.first));
    if (!wish.second.isEmpty())
      point.second = place_in(answer.seconds, value_of(entry["values"], wish.second));
    const nlohmann::json figure = entry["metrics"].value(metric.name, nlohmann::json());
    if (figure.is_number()) point.figure = figure.get<double>();
    if (const auto fits = entry.find("fits"); fits != entry.end() && fits->is_boolean())
      point.fits = fits->get<bool>();
    if (const auto needed = entry.find("needed_bytes");
        needed != entry.end() && needed->is_number_integer())
      point.needed_bytes = needed->get<std::int64_t>();
    point.nodes = entry.value("nodes", 0);
    point.group_nodes = entry.value("group_nodes", point.nodes);
    if (entry.contains("message")) {
      point.refused = message_from_json(entry["message"]);
    } else {
      Result<Setup> setup = setup_from_json(entry.value("setup", nlohmann::json()));
      if (!setup) return setup.error();
      point.setup = std::move(*setup);
    }
    answer.points.push_back(std::move(point));
  }
  return answer;
}

SettingSweep& SettingSweep::of(Session& session) {
  auto* found = session.findChild<SettingSweep*>(QString(), Qt::FindDirectChildrenOnly);
  return found ? *found : *new SettingSweep(session);
}

SettingSweep::SettingSweep(Session& session) : QObject(&session), session_(session) {
  connect(&session, &Session::run_state_changed, this, &SettingSweep::hear);
  connect(&session, &Session::setup_changed, this, &SettingSweep::changed);
  connect(&PlanSearch::of(session), &PlanSearch::changed, this, &SettingSweep::changed);
  connect(&session.runs(), &RunStore::changed, this, [this] {
    find_runs();
    Q_EMIT changed();
  });
}

void SettingSweep::set_wish(const SweepWish& wish) {
  if (wish == wish_) return;
  wish_ = wish;
  if (!error_.isEmpty() && error_ == session_.jobs().last_error()) session_.jobs().dismiss_error();
  error_.clear();
  show_figure();
  Q_EMIT changed();
}

void SettingSweep::show_figure() {
  if (!answer_) return;
  SweepWish same = wish_;
  same.figure = answer_->wish.figure;
  if (answer_->wish != same || answer_->wish == wish_) return;
  Result<SweepAnswer> answer = sweep_answer_from_json(told_, wish_, answer_->base, answer_->limits);
  if (answer) answer_ = std::move(*answer);
  find_runs();
}

Setup SettingSweep::base() const {
  const PlanSearch& search = PlanSearch::of(session_);
  return search.shows_plan() ? search.selected()->setup : session_.setup();
}

SweptLimits SettingSweep::limits() const {
  const PlanSearch& search = PlanSearch::of(session_);
  if (!search.shows_plan()) return {};
  return {search.limits().memory_bytes, search.limits().framework};
}

void SettingSweep::start() {
  if (sweeping_ || session_.jobs().state() != RunState::kIdle) return;
  nlohmann::json vary = {variation_text(wish_.first, wish_.first_values)};
  if (!wish_.second.isEmpty()) vary.push_back(variation_text(wish_.second, wish_.second_values));
  EngineRequest request;
  request.method = "sweep";
  request.parameters = {
      {"setup", to_json(base())}, {"vary", std::move(vary)}, {"show", shown_metrics(wish_.figure)}};
  for (const auto& [setting, value] : kept_sizes(wish_, base()))
    request.parameters["keep"][setting] = value;
  const SweptLimits within = limits();
  if (within.memory_bytes > 0) request.parameters["memory_bytes"] = within.memory_bytes;
  if (!within.framework.isEmpty()) request.parameters["for"] = within.framework.toStdString();
  request.read = [this, wish = wish_, base = base(),
                  within](const nlohmann::json& json) -> Result<EngineRequest::Keep> {
    Result<SweepAnswer> answer = sweep_answer_from_json(json, wish, base, within);
    if (!answer) return answer.error();
    return EngineRequest::Keep([this, answer = std::move(*answer), json]() -> Result<void> {
      answer_ = answer;
      told_ = json;
      show_figure();  // another one may be wished for by now
      selected_ = -1;
      used_.reset();
      find_runs();
      return {};
    });
  };
  error_.clear();
  sweeping_ = true;
  session_.jobs().run(request);
  Q_EMIT changed();
}

void SettingSweep::cancel() {
  if (sweeping_) session_.jobs().cancel();
}

double SettingSweep::progress() const { return session_.jobs().progress(); }

bool SettingSweep::is_stale() const {
  if (!answer_) return false;
  const bool of_it = (answer_->base == base() && answer_->limits == limits()) || used_ == base();
  return answer_->wish != wish_ || !of_it;
}

void SettingSweep::hear() {
  if (sweeping_ && session_.jobs().state() == RunState::kIdle) {
    sweeping_ = false;
    error_ = session_.jobs().last_error();
  }
  Q_EMIT changed();
}

void SettingSweep::select(int point) {
  if (!answer_ || point < 0 || point >= int(answer_->points.size()) || point == selected_) return;
  selected_ = point;
  Q_EMIT changed();
}

const Setup* SettingSweep::selected_setup() const {
  if (selected_ < 0) return nullptr;
  const std::optional<Setup>& setup = answer_->points[std::size_t(selected_)].setup;
  return setup ? &*setup : nullptr;
}

void SettingSweep::find_runs() {
  runs_.clear();
  if (!answer_ || session_.runs().shown().empty()) return;
  for (int point = 0; point < int(answer_->points.size()); ++point) {
    const std::optional<Setup>& setup = answer_->points[std::size_t(point)].setup;
    const RunRecord* run = setup ? session_.runs().run_of(session_.resolved(*setup)) : nullptr;
    if (!run) continue;
    if (const auto figure = ran_figure(*run, answer_->wish.figure))
      runs_.push_back({point, *figure, run->observation.source == Source::kPaced});
  }
}

void SettingSweep::use() {
  const Setup* setup = selected_setup();
  if (!setup) return;
  used_ = *setup;
  session_.history().change(*setup, tr("The point of the sweep"));
}

namespace {

// `least` and its first multiples by powers of two.
QString doubled(std::int64_t least) {
  QStringList values;
  for (std::int64_t at = least; values.size() < 6; at *= 2) values << QString::number(at);
  return values.join(QLatin1Char(','));
}

// Sets `filled`, a number of `setup`, to the least value up to its own with which the Setup is
// valid, and returns it. A Setup that is not valid stays as it is and gives 1.
int least_valid(Setup& setup, int& filled) {
  const int now = filled;
  if (!validate(setup).empty()) return 1;
  for (filled = 1; filled < now && !validate(setup).empty();) ++filled;
  return filled;
}

// Of a short range all, of others doublings: from 1, of a size from a quarter of what it is; and
// what it is.
QStringList wholes_of(const SetupSetting& row, const Setup& meant) {
  constexpr std::int64_t kSmall = 16, kShort = 4, kDoublings = 6;
  const auto low = std::int64_t(row.value.range.low), high = std::int64_t(row.value.range.high);
  const auto own = row.value.get(meant).get<std::int64_t>();
  std::set<std::int64_t> values{own};
  if (low == 0) values.insert(0);
  std::int64_t at = own > kSmall ? own / 4 : 1;
  for (std::int64_t count = 0; count < kDoublings && at <= high; ++count) {
    if (at >= low) values.insert(at);
    at = high <= kShort ? at + 1 : at * 2;
  }
  QStringList texts;
  for (const std::int64_t value : values) texts << QString::number(value);
  return texts;
}

// Whether the Setup may have the value; `kept` are settings that are filled again then.
bool may_have(Setup setup, const SetupSetting& row, const QString& value,
              const std::vector<std::pair<std::string, std::string>>& kept) {
  bool done = turn(setup, row, value.toStdString()).ok();
  for (const auto& [option, size] : kept) done = done && set_field(setup, option, size).ok();
  return done && validate(setup).empty();
}

// Those of the values that a sweep which keeps the sizes does not refuse; where that leaves no
// curve, those that the Setup may have. All, where nothing is valid, which the sweep explains.
QString first_values(const SetupSetting& row, const Setup& meant, const QStringList& values) {
  SweepWish wish;
  wish.first = QString::fromStdString(row.option);
  QStringList keeping, valid;
  for (const QString& value : values) {
    if (may_have(meant, row, value, kept_sizes(wish, meant))) keeping << value;
    if (may_have(meant, row, value, {})) valid << value;
  }
  return (keeping.size() > 1 ? keeping : valid.isEmpty() ? values : valid).join(QLatin1Char(','));
}

// Of GPUs and the batch those that can be made.
QString first_sizes(const std::string& option, Setup meant) {
  Mesh& mesh = meant.mesh;
  if (option == "gpus")
    return doubled(std::int64_t{mesh.tp} * mesh.pp * mesh.cp * least_valid(meant, mesh.dp));
  return doubled(std::int64_t{mesh.dp} * meant.micro_batch *
                 least_valid(meant, meant.microbatches));
}

bool fills(const SetupSetting& row) { return row.option == "gpus" || row.option == "global-batch"; }

// GPUs and the global batch stand nowhere in the panel, since other settings make them.
bool can_vary(const SetupSetting& row) {
  return !row.option.empty() && row.section != Section::kRun &&
         (row.section != Section::kNowhere || fills(row));
}

}  // namespace

std::vector<Sweepable> sweepable_settings(const Setup& setup, const Setup& meant) {
  std::vector<Sweepable> all;
  for (const SetupSetting& row : setup_settings()) {
    if (!can_vary(row) || (row.applies && !row.applies(setup))) continue;
    QStringList values;
    if (row.value.kind == SettingKind::kFlag) {
      values = {QStringLiteral("false"), QStringLiteral("true")};
    } else if (row.value.kind == SettingKind::kChoice) {
      for (const std::string& word : row.value.words) values << QString::fromStdString(word);
    } else if (row.value.kind == SettingKind::kWhole) {
      if (!fills(row)) values = wholes_of(row, meant);
    } else {
      continue;
    }
    QString label = QCoreApplication::translate("settings", row.label.c_str());
    if (!row.symbol.empty()) label += QLatin1Char(' ') + QString::fromStdString(row.symbol);
    all.push_back({QString::fromStdString(row.option), label,
                   fills(row) ? first_sizes(row.option, meant) : first_values(row, meant, values)});
  }
  return all;
}

}  // namespace parallelarium

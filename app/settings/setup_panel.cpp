// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/setup_panel.h"

#include <QDate>
#include <QProgressBar>
#include <algorithm>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/look/words.h"
#include "app/settings/setup_fields.h"
#include "app/state/run/run_advice.h"
#include "app/views/shared/words/words.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

// `gpus`: of this computer, on which the ranks are; `outdated`: Placer::outdated_rates().
QString age_of_calibration(const Machine& machine, int gpus, bool outdated) {
  if (!machine.local) return origin_text(machine.half_flops_per_second.origin);
  const bool of_cores_alone = gpus > 0 && machine.name != kLocalGpus;
  if (machine.calibrated.empty() || of_cores_alone) return QObject::tr("not calibrated yet");
  if (outdated) return QObject::tr("calibrate again for bf16");
  if (disturbed_calibration(machine)) return QObject::tr("calibrate again when it is quiet");
  const QString date = QString::fromStdString(machine.calibrated).left(10);
  const QString today = QDate::currentDate().toString(Qt::ISODate);
  return date == today ? QObject::tr("calibrated today") : QObject::tr("calibrated %1").arg(date);
}

}  // namespace

QWidget* SetupPanel::control(const std::string& option) const {
  const auto found = rows_.find(option);
  return found == rows_.end() ? nullptr : found->second.control;
}

void SetupPanel::change(const std::string& option, const QString& value) {
  if (refreshing_) return;
  if (!session_.locks().allowed(key_of(option))) {
    refresh();
    return;
  }
  Setup next = session_.setup();
  const std::int64_t batch = next.global_batch();
  const Result<void> set = set_field(next, option, value.toStdString());
  if (!set) {
    Q_EMIT typed_wrong(setting_sentence(set.error()));
    refresh();
    return;
  }
  Q_EMIT typed_wrong({});
  if (lock_->isChecked() && option == "dp" && !keep_global_batch(next, batch))
    Q_EMIT typed_wrong(tr("No whole number of micro-batches keeps %1 sequences with DP %2; the "
                          "global batch changes.")
                           .arg(batch)
                           .arg(next.mesh.dp));
  const QString said = option == "schedule" ? schedule_title(next.schedule) : value;
  session_.history().change(next, tr("%1 %2").arg(field_title(option), said));
  refresh();
}

void SetupPanel::reset_section(int section) {
  std::vector<std::string> options = section_options_[std::size_t(section)];
  std::erase_if(options, [&](const std::string& option) {
    return !session_.locks().allowed(key_of(option));
  });
  session_.history().change(with_fields_of(session_.history().base(), session_.setup(), options),
                            tr("Reset %1").arg(section_names_[section]));
}

bool SetupPanel::section_changed(int section) const {
  return fields_differ(session_.setup(), session_.history().base(),
                       section_options_[std::size_t(section)]);
}

void SetupPanel::refresh() {
  refreshing_ = true;
  refresh_model();
  refresh_machine();
  refresh_rows();
  refresh_world();
  const Setup& setup = session_.setup();
  const QString schedule = field_text(setup, "schedule");
  if (schedule_->findData(schedule) < 0)  // an order of one's own
    schedule_->addItem(schedule_title(setup.schedule), schedule);
  schedule_->setCurrentIndex(schedule_->findData(schedule));
  const bool own = schedule_->currentIndex() >= int(schedules().size());  // added above
  schedule_->set_keeps(own ? schedule_->currentIndex() : -1);
  schedule_->setAccessibleDescription(
      own ? tr("An order of your own. Keys open the list; a schedule from it replaces the "
               "order, and Undo brings it back.")
          : schedule_->currentData(Qt::ToolTipRole).toString());
  // Beside a schedule that wants a number of them, and where a number is set.
  const ScheduleRule* rule = find_schedule_rule(setup.schedule);
  rows_["chunks"].whole->setVisible(setup.chunks > 1 || (rule != nullptr && rule->chunks == 0));
  for (int section = 0; section < int(heads_.size()); ++section)
    heads_[std::size_t(section)]->set_changed(section_changed(section));
  refresh_batch();
  refreshing_ = false;
}

void SetupPanel::refresh_model() {
  const Setup& setup = session_.setup();
  const QString own =
      tr("%1 · %2 layers").arg(sentence(title_of(setup.model))).arg(setup.model.layers);
  const int known = model_->findData(QString::fromStdString(setup.model.name));
  const int custom = model_->findData(QString());
  if (known >= 0) {
    if (custom >= 0) model_->removeItem(custom);
    model_->setCurrentIndex(model_->findData(QString::fromStdString(setup.model.name)));
  } else {
    if (custom < 0)
      model_->addItem(own, QString());
    else
      model_->setItemText(custom, own);
    model_->setCurrentIndex(model_->findData(QString()));
  }
  const ParameterCounts counts = count_parameters(setup.model);
  QString note = tr("%1 parameters · %2 wide · %3 heads")
                     .arg(parameters_text(counts.total))
                     .arg(count_text(setup.model.hidden))
                     .arg(setup.model.heads);
  if (counts.active != counts.total)
    note = tr("%1 parameters, %2 active · %3 wide")
               .arg(parameters_text(counts.total), parameters_text(counts.active))
               .arg(count_text(setup.model.hidden));
  model_note_->set_full_text(note);
}

void SetupPanel::refresh_machine() {
  const Machine& machine = session_.machine();
  const QString machine_text = field_text(session_.setup(), "machine");
  if (machine_->findData(machine_text) < 0)  // a changed one
    machine_->addItem(sentence(title_of(machine)), machine_text);
  machine_->setCurrentIndex(machine_->findData(machine_text));
  const Source source = expected_source(session_);
  const int gpus = session_.placer().gpus_for(session_.situation());
  const int devices_here = gpus > 0 ? gpus : machine.cores;
  machine_note_->set_full_text(
      !machine.local ? tr("%1 per node").arg(machine.devices_per_node)
      : gpus > 0     ? (devices_here == 1 ? tr("%1 GPU") : tr("%1 GPUs")).arg(devices_here)
                     : (devices_here == 1 ? tr("%1 core") : tr("%1 cores")).arg(devices_here));
  source_tag_->setText(source_text(source));
  source_tag_->setVisible(source != Source::kMeasured && source != Source::kPredicted);
  source_tag_->setToolTip(meaning_of(name_of(source)));
  set_style_property(source_tag_, "paced", source == Source::kPaced);
  machine_age_->set_full_text(age_of_calibration(
      machine, gpus, session_.placer().outdated_rates(session_.situation()).has_value()));
}

void SetupPanel::refresh_rows() {
  const Setup& setup = session_.setup();
  const Setup& base = session_.history().base();
  for (auto& [option, row] : rows_) {
    const QString value = field_text(setup, option);
    const bool changed = value != field_text(base, option);
    const QString key = key_of(option);
    const bool wrong = std::any_of(
        session_.problems().begin(), session_.problems().end(),
        [&](const Message& problem) { return QString::fromStdString(problem.field) == key; });
    if (auto* box = qobject_cast<StepBox*>(row.control)) {
      box->set_text(value);
      box->set_changed(changed);
      box->set_invalid(wrong);
    } else if (auto* segments = qobject_cast<Segments*>(row.control)) {
      segments->set_value(value);
      segments->set_changed(changed);
    } else {
      if (auto* box = qobject_cast<ChoiceBox*>(row.control);
          box &&
          std::find(freed_options_.begin(), freed_options_.end(), option) != freed_options_.end()) {
        const int known = box->findData(value);
        box->setCurrentIndex(known);
        if (known < 0)
          box->setPlaceholderText(caption_of(setting_of(option), value.toStdString()).text);
      }
      set_style_property(row.control, "changed", changed);
    }
    if (row.reason == nullptr) continue;
    const bool applies = setting_of(option).applies(setup);
    row.control->setVisible(applies);
    row.reason->setVisible(!applies);
  }
}

// How many ranks there are, and of how many devices.
void SetupPanel::refresh_world() {
  const Setup& setup = session_.setup();
  const Machine& machine = session_.machine();
  const int ranks = setup.mesh.ranks();
  const int devices = machine.devices_per_node * std::max(1, setup.nodes);
  const int gpus = session_.placer().gpus_for(session_.situation());
  if (gpus > 0)
    world_->setText((gpus == 1    ? ranks == 1 ? tr("%1 rank on %2 GPU") : tr("%1 ranks on %2 GPU")
                        : ranks == 1 ? tr("%1 rank on %2 GPUs")
                                  : tr("%1 ranks on %2 GPUs"))
                        .arg(ranks)
                        .arg(gpus));
  else if (machine.local)
    world_->setText((ranks == 1 ? tr("%1 rank on %2 cores") : tr("%1 ranks on %2 cores"))
                        .arg(ranks)
                        .arg(machine.cores));
  else if (setup.nodes > 0)
    world_->setText(tr("%1 of %2 ranks").arg(ranks).arg(devices));
  else {
    const int nodes = (ranks + machine.devices_per_node - 1) / machine.devices_per_node;
    world_->setText((ranks == 1   ? tr("%1 rank on %2 node")
                     : nodes == 1 ? tr("%1 ranks on %2 node")
                                  : tr("%1 ranks on %2 nodes"))
                        .arg(ranks)
                        .arg(nodes));
  }
  world_->setProperty("source", tr("set"));
  world_bar_->setRange(0, std::max(gpus > 0 ? gpus : devices, ranks));
  world_bar_->setValue(ranks);
}

void SetupPanel::refresh_batch() {
  const Setup& setup = session_.setup();
  const std::int64_t sequences = setup.global_batch();
  constexpr std::int64_t kExactTokens = 1'000'000;  // more have no room
  const std::int64_t tokens = sequences * setup.model.sequence;
  global_batch_->setText(
      tr("%1 seq. · %2 tok.")
          .arg(count_text(sequences))
          .arg(tokens < kExactTokens ? count_text(tokens) : parameters_text(tokens)));
  global_batch_->setToolTip(tr("%1 sequences of %2 tokens in one training step")
                                .arg(count_text(sequences))
                                .arg(count_text(setup.model.sequence)));
  global_batch_->setProperty("source", tr("set"));
}

}  // namespace parallelarium

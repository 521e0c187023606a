// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/doctor.h"

#include <QClipboard>
#include <QDialogButtonBox>
#include <QGuiApplication>
#include <QLabel>
#include <QPointer>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/sheets/gpu_check_row.h"
#include "engine/plan/machine/machine.h"

namespace parallelarium {

namespace {

QString string_at(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string()
             ? QString::fromStdString(found->get<std::string>())
             : QString();
}

QString sentence_at(const nlohmann::json& json, const char* key) {
  return sentence(message_at(json, key));
}

constexpr int kIndent = 18;  // under the words, not under the sign before them

std::int64_t number_at(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<std::int64_t>() : 0;
}

// A line for every GPU and for every pair, as the engine told them; empty without GPUs.
QString topology_text(const nlohmann::json& devices) {
  const nlohmann::json none = nlohmann::json::array();
  QStringList lines;
  int index = 0;
  for (const nlohmann::json& gpu : devices.value("gpus", none)) {
    const QString pcie = string_at(gpu, "pcie");
    lines << Doctor::tr("GPU %1: %2, %3%4")
                 .arg(index++)
                 .arg(string_at(gpu, "name"), bytes_text(number_at(gpu, "memory_bytes")),
                      pcie.isEmpty() ? pcie : QStringLiteral(", ") + pcie);
  }
  for (const nlohmann::json& link : devices.value("links", none))
    lines << Doctor::tr("GPU %1 to %2: %3, %4")
                 .arg(link.value("from", 0))
                 .arg(link.value("to", 0))
                 .arg(string_at(link, "kind"), link.value("p2p", false)
                                                   ? Doctor::tr("peer to peer")
                                                   : Doctor::tr("through host memory"));
  return lines.join(QLatin1Char('\n'));
}

// "GPU 0 (NVIDIA A100), GPUs 1, 3 (NVIDIA T4)"
QString gpus_by_kind(const std::vector<int>& gpus, const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, QStringList>> kinds;
  for (const int gpu : gpus) {
    const std::string& name = names[std::size_t(gpu)];
    auto kind = std::find_if(kinds.begin(), kinds.end(),
                             [&](const auto& other) { return other.first == name; });
    if (kind == kinds.end()) kind = kinds.insert(kind, {name, {}});
    kind->second << QString::number(gpu);
  }
  QStringList parts;
  for (const auto& [name, numbers] : kinds)
    parts << (numbers.size() == 1 ? Doctor::tr("GPU %1 (%2)") : Doctor::tr("GPUs %1 (%2)"))
                 .arg(numbers.join(QStringLiteral(", ")), QString::fromStdString(name));
  return parts.join(QStringLiteral(", "));
}

}  // namespace

Doctor::Doctor(EngineProcess& engine, QWidget* parent) : Sheet(parent) {
  setWindowTitle(tr("Doctor"));
  resize(620, 480);
  auto* column = new QVBoxLayout(this);
  summary_ = new QLabel(tr("Asking the engine what this computer has …"), this);
  summary_->setWordWrap(true);
  column->addWidget(summary_);
  area_ = new QScrollArea(this);
  area_->setWidgetResizable(true);
  auto* content = new QWidget;
  content->setObjectName(QStringLiteral("SelectionContent"));
  auto* all = new QVBoxLayout(content);
  for (QVBoxLayout** part : {&check_, &facts_}) {
    *part = new QVBoxLayout;
    (*part)->setSpacing(2);
    all->addLayout(*part);
  }
  all->addStretch();
  area_->setWidget(content);
  column->addWidget(area_, 1);
  row_ = new GpuCheckRow(engine, this);
  column->addWidget(row_);
  connect(row_, &GpuCheckRow::answered, this, &Doctor::show_check);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  QPushButton* copy = buttons->addButton(tr("&Copy"), QDialogButtonBox::ActionRole);
  column->addWidget(buttons);
  connect(copy, &QPushButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(as_text()); });
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  const QPointer<Doctor> self(this);
  engine.request("devices", nlohmann::json::object(), [self](Result<nlohmann::json> result) {
    if (!self) return;
    if (!result)
      self->summary_->setText(sentence(result.error()));
    else if (result->is_object())
      self->show_devices(*result);
  });
}

void Doctor::show_devices(const nlohmann::json& devices) {
  summary_->setText(tr("%1: %2, %3 cores, %4 memory")
                        .arg(string_at(devices, "host"), string_at(devices, "processor"))
                        .arg(number_at(devices, "cores"))
                        .arg(bytes_text(number_at(devices, "memory_bytes"))));
  text_ = summary_->text() + QLatin1Char('\n');
  add_line({true, tr("there")}, tr("Engine program"), EngineProcess::find_program(), {});
  if (const Result<Machine> local = find_machine("local")) {
    const bool measured = !local->calibrated.empty();
    const std::optional<Message> outdated =
        outdated_bf16(*local, string_at(devices, "bf16_products").toStdString());
    const std::optional<Message> disturbed = disturbed_calibration(*local);
    add_line(outdated    ? State{false, tr("outdated in bf16")}
             : disturbed ? State{false, tr("disturbed")}
             : measured  ? State{true, tr("there")}
                         : State{false, tr("missing")},
             tr("Calibration"),
             measured ? QString::fromStdString(local->calibrated)
                      : tr("never made: rates are "
                           "assumed"),
             outdated    ? outdated_text(*outdated)
             : disturbed ? sentence(*disturbed)
             : measured  ? QString()
                         : tr("The first run measures this computer, or Run, Calibrate."));
  }
  show_calibration_of_gpus(devices);
  const auto backends = devices.find("backends");
  if (backends != devices.end() && backends->is_array())
    for (const nlohmann::json& backend : *backends)
      add_line(backend.value("available", false) ? State{true, tr("there")}
                                                 : State{false, tr("missing")},
               tr("Backend %1").arg(string_at(backend, "name")), sentence_at(backend, "why"), {});
  const QString topology = topology_text(devices);
  if (!topology.isEmpty()) add_line({true, tr("there")}, tr("GPUs and their links"), topology, {});
  const auto facts = devices.find("facts");
  if (facts != devices.end() && facts->is_array())
    for (const nlohmann::json& fact : *facts)
      add_line(fact.value("state", "") == "there"     ? State{true, tr("there")}
               : fact.value("state", "") == "limited" ? State{false, tr("limited")}
                                                      : State{false, tr("missing")},
               sentence_at(fact, "title"), sentence_at(fact, "found"), sentence_at(fact, "advice"));
  row_->set_gpus(int(devices.value("gpus", nlohmann::json::array()).size()));
}

// A line for each GPU, link and group of GPUs, with what failed as the engine says it.
void Doctor::show_check(const nlohmann::json& check) {
  while (QLayoutItem* item = check_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  const nlohmann::json none = nlohmann::json::array();
  const auto add = [&](const QString& title, const nlohmann::json& one, QString found) {
    const nlohmann::json failures = one.value("failures", none);
    for (const nlohmann::json& list : {failures, one.value("warnings", none)})
      for (const nlohmann::json& finding : list)
        found +=
            (found.isEmpty() ? QString() : QStringLiteral("\n")) + sentence_at(finding, "sentence");
    const bool passed = one.value("passed", false);
    add_line(check_,
             passed             ? State{true, tr("passed")}
             : failures.empty() ? State{false, tr("not reached in time")}
                                : State{false, tr("failed")},
             title, found, {});
  };
  for (const nlohmann::json& gpu : check.value("gpus", none))
    add(tr("Check of GPU %1").arg(number_at(gpu, "device")), gpu, string_at(gpu, "name"));
  for (const nlohmann::json& link : check.value("links", none)) {
    const double rate = link.value("bytes_per_second", 0.0);
    add(tr("Check of GPU %1 and GPU %2").arg(number_at(link, "from")).arg(number_at(link, "to")),
        link, rate > 0 ? tr("%1 measured").arg(rate_text(rate)) : QString());
  }
  for (const nlohmann::json& group : check.value("groups", none)) {
    QStringList numbers;
    for (const nlohmann::json& device : group.value("devices", none))
      if (device.is_number()) numbers << QString::number(device.get<int>());
    add(tr("Check of collectives of GPUs %1").arg(numbers.join(QStringLiteral(", "))), group, {});
  }
  if (check.value("gpus", none).empty())
    add_line(check_, {false, tr("missing")}, tr("Check of the GPUs"), sentence_at(check, "why"),
             {});
  report_ = QLatin1Char('\n') + string_at(check, "report");
  area_->verticalScrollBar()->setValue(0);
}

// As a run takes it: that of other GPUs counts as none, that of some of several kinds for these.
void Doctor::show_calibration_of_gpus(const nlohmann::json& devices) {
  std::vector<std::string> names;
  for (const nlohmann::json& gpu : devices.value("gpus", nlohmann::json::array()))
    names.push_back(string_at(gpu, "name").toStdString());
  if (names.empty()) return;
  const QString head = tr("Calibration of the GPUs");
  const Result<Machine> stored = find_machine(kLocalGpus);
  const QString title = stored ? sentence(title_of(*stored)) : QString();
  const QString date = stored ? QString::fromStdString(stored->calibrated) : QString();
  const std::vector<int> measured = stored ? calibrated_among(*stored, names) : std::vector<int>();
  if (measured.empty()) {
    add_line({false, tr("missing")}, head,
             stored ? tr("of other GPUs: %1").arg(title) : tr("never made"),
             tr("The first run on them measures them, or Run, Calibrate."));
    return;
  }
  if (measured.size() == names.size()) {
    add_line({true, tr("there")}, head, QStringLiteral("%1: %2").arg(title, date), {});
    return;
  }
  std::vector<int> others;
  QStringList numbers;
  for (int gpu = 0; gpu < int(names.size()); ++gpu)
    if (std::find(measured.begin(), measured.end(), gpu) == measured.end()) others.push_back(gpu);
  for (const int gpu : measured) numbers << QString::number(gpu);
  add_line({false, tr("in part")}, head,
           tr("of %1, not of %2: %3")
               .arg(gpus_by_kind(measured, names), gpus_by_kind(others, names), date),
           tr("Set GPUs to %1 in All settings to run with these rates, or let Run, Calibrate "
              "measure all that ranks can use.")
               .arg(numbers.join(QLatin1Char(','))));
}

void Doctor::add_line(const State& state, const QString& title, const QString& found,
                      const QString& advice) {
  add_line(facts_, state, title, found, advice);
  text_ += QStringLiteral("%1: %2 (%3)\n").arg(title, state.text, found);
}

void Doctor::add_line(QVBoxLayout* to, const State& state, const QString& title,
                      const QString& found, const QString& advice) {
  auto* head = new QLabel(QStringLiteral("%1  <b>%2</b>  %3")
                              .arg(state.good ? QStringLiteral("✓") : QStringLiteral("–"),
                                   title.toHtmlEscaped(), state.text.toHtmlEscaped()));
  if (to->count() > 0) to->addSpacing(10);
  to->addWidget(head);
  auto* body = new QLabel(advice.isEmpty() ? found : found + QLatin1Char('\n') + advice);
  body->setTextFormat(Qt::PlainText);
  body->setWordWrap(true);
  body->setContentsMargins(kIndent, 0, 0, 0);
  body->setProperty("role", "muted");
  body->setTextInteractionFlags(Qt::TextSelectableByMouse);
  to->addWidget(body);
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/machine_sheet.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QVBoxLayout>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "engine/plan/placement/machine_choice.h"

namespace parallelarium {

// A number of a Machine file, or yes or no: where it stands there, and how it is shown.
struct MachineSheet::Figure {
  enum Kind : std::uint8_t { kNumber, kWhole, kFlag };
  const char* path;
  const char* label;
  const char* unit;
  double scale = 1;  // of one in the unit
  Kind kind = kNumber;
  double otherwise = 0;             // what a file means that leaves it out
  const char* otherwise_as = "";    // the path of a number that it has then
  const char* otherwise_text = "";  // and why
};

namespace {

constexpr int kControlWidth = 112;
constexpr double kMicro = 1e-6, kGiga = 1e9, kTera = 1e12, kPercent = 0.01;

using Pointer = nlohmann::json::json_pointer;

// The number at a path, which may stand beside its origin.
double number_at(const nlohmann::json& machine, const char* path, double otherwise) {
  const Pointer at(path);
  if (!machine.contains(at)) return otherwise;
  const nlohmann::json& found = machine.at(at);
  if (found.is_boolean()) return found.get<bool>() ? 1 : 0;
  return found.is_object() ? found.value("value", otherwise) : found.get<double>();
}

QString origin_at(const nlohmann::json& machine, const char* path) {
  const Pointer at(path);
  if (!machine.contains(at) || !machine.at(at).is_object()) return {};
  return origin_text(origin_of(machine.at(at).value("origin", std::string())));
}

QString shown(double value, double scale) { return QLocale().toString(value / scale, 'g', 6); }

// The changed keys of the Machine that is set; none where it is a preset.
nlohmann::json changes_of(const Setup& setup) {
  nlohmann::json changes = to_json(setup.machine);
  if (!changes.is_object()) return nlohmann::json::object();
  changes.erase("based_on");
  return changes;
}

// Takes away what is at a path, and what is empty then.
void erase_at(nlohmann::json& changes, const Pointer& at) {
  if (!changes.contains(at)) return;
  const Pointer above = at.parent_pointer();
  changes.at(above).erase(at.back());
  if (!above.empty() && changes.at(above).empty()) erase_at(changes, above);
}

}  // namespace

MachineSheet::MachineSheet(Session& session, QWidget* parent) : Sheet(parent), session_(session) {
  setWindowTitle(tr("Change devices"));
  resize(620, 540);
  auto* outer = new QVBoxLayout(this);
  auto* head = new QHBoxLayout;
  title_ = new QLabel(this);
  title_->setObjectName(QStringLiteral("Strong"));
  back_ = new QToolButton(this);
  back_->setObjectName(QStringLiteral("Link"));
  back_->setText(tr("Reset all"));
  head->addWidget(title_, 1);
  head->addWidget(back_);
  outer->addLayout(head);
  problem_ = new QLabel(this);
  problem_->setWordWrap(true);
  problem_->setProperty("role", "warning");
  outer->addWidget(problem_);
  column_ = add_scrolled_column(outer);

  const struct {
    const char* title;
    std::vector<Figure> figures;
  } sections[] = {
      {QT_TR_NOOP("Nodes"),
       {{"/devices_per_node", QT_TR_NOOP("Devices per node"), "", 1, Figure::kWhole},
        {"/nodes", QT_TR_NOOP("Nodes"), "", 1, Figure::kWhole}}},
      {QT_TR_NOOP("Memory of a device"),
       {{"/memory_bytes", QT_TR_NOOP("Size"), "GB", kGiga},
        {"/usable_memory_share", QT_TR_NOOP("Share for training"), "%", kPercent, Figure::kNumber,
         1},
        {"/memory_bytes_per_second", QT_TR_NOOP("Bandwidth"), "GB/s", kGiga},
        {"/memory_efficiency", QT_TR_NOOP("Share that steps reach"), "%", kPercent, Figure::kNumber,
         1},
        {"/host_bytes_per_second", QT_TR_NOOP("To the host, one way"), "GB/s", kGiga}}},
      {QT_TR_NOOP("Arithmetic of a device"),
       {{"/half_flops_per_second", QT_TR_NOOP("Peak, 16 bit"), "TFLOP/s", kTera},
        {"/fp32_flops_per_second", QT_TR_NOOP("Peak, fp32"), "TFLOP/s", kTera},
        {"/sustained", QT_TR_NOOP("Share that is kept up"), "%", kPercent, Figure::kNumber, 1},
        {"/overlap_slowdown", QT_TR_NOOP("Slower beside communication"), "×", 1, Figure::kNumber,
         1},
        {"/launch_seconds", QT_TR_NOOP("Fixed cost of an op"), "µs", kMicro}}},
      {QT_TR_NOOP("Links in a node"),
       {{"/intra_node/bytes_per_second", QT_TR_NOOP("Rate, one way"), "GB/s", kGiga},
        {"/intra_node/sustained", QT_TR_NOOP("Share that steps reach"), "%", kPercent,
         Figure::kNumber, 1},
        {"/intra_node/latency_seconds", QT_TR_NOOP("Latency"), "µs", kMicro}}},
      {QT_TR_NOOP("Network between nodes"),
       {{"/inter_node/bytes_per_second", QT_TR_NOOP("Rate of a card, one way"), "GB/s", kGiga},
        {"/inter_node/sustained", QT_TR_NOOP("Share that steps reach"), "%", kPercent,
         Figure::kNumber, 1},
        {"/inter_node/latency_seconds", QT_TR_NOOP("Latency"), "µs", kMicro},
        {"/nics_per_node", QT_TR_NOOP("Network cards of a node"), "", 1, Figure::kWhole, 0,
         "/devices_per_node", QT_TR_NOOP("one for each device")},
        {"/nodes_per_leaf", QT_TR_NOOP("Nodes of a leaf group"), "", 1, Figure::kWhole, 1},
        {"/oversubscription", QT_TR_NOOP("Oversubscription above it"), ": 1", 1, Figure::kNumber,
         1},
        {"/in_network_reduction", QT_TR_NOOP("Switches add up (SHARP)"), "", 1, Figure::kFlag}}}};
  for (const auto& section : sections)
    for (const Figure& figure : section.figures)
      label_width_ = std::max(label_width_, fontMetrics().horizontalAdvance(tr(figure.label)));
  for (const auto& section : sections) {
    column_->addWidget(new SectionHead(tr(section.title)));
    auto* form = new QFormLayout;
    form->setLabelAlignment(Qt::AlignLeft);
    column_->addLayout(form);
    for (const Figure& figure : section.figures) add_figure(form, tr(section.title), figure);
  }
  column_->addStretch();
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  outer->addWidget(buttons);
  connect(back_, &QToolButton::clicked, this, [this] {
    Setup next = session_.history().setup();
    next.machine = MachineChoice(next.machine.name());
    session_.history().change(next, tr("Reset devices"));
  });
  connect(&session_, &Session::setup_changed, this, &MachineSheet::refresh);
  refresh();
}

StepBox* MachineSheet::add_box(const QString& name, const Figure& figure) {
  auto* box = new StepBox(name, [this, figure](int direction) {
    const double scaled = value_of(figure) / figure.scale;
    const double next = figure.kind == Figure::kWhole ? scaled + direction
                                                      : scaled * (direction > 0 ? 1.1 : 1 / 1.1);
    return next > 0 ? shown(next, 1) : QString();
  });
  box->setFixedWidth(kControlWidth);
  connect(box, &StepBox::committed, this, [this, figure](const QString& text) {
    bool is_number = false;
    const double value = QLocale().toDouble(text.trimmed(), &is_number);
    if (is_number && std::isfinite(value)) return change(figure, value * figure.scale);
    problem_->setText(tr("“%1” is not a number.").arg(text));
    problem_->show();
  });
  return box;
}

Segments* MachineSheet::add_choice(const QString& name, const Figure& figure) {
  const QString no = QStringLiteral("0"), yes = QStringLiteral("1");
  auto* choice = new Segments(name, {{no, tr("no"), {}}, {yes, tr("yes"), {}}});
  choice->setFixedWidth(kControlWidth);
  connect(choice, &Segments::chosen, this,
          [this, figure](const QString& value) { change(figure, value.toDouble()); });
  return choice;
}

void MachineSheet::add_figure(QFormLayout* form, const QString& section, const Figure& figure) {
  const QString label = tr(figure.label), full_name = section + QStringLiteral(": ") + label;
  const bool is_flag = figure.kind == Figure::kFlag;
  StepBox* box = is_flag ? nullptr : add_box(full_name, figure);
  Segments* choice = is_flag ? add_choice(full_name, figure) : nullptr;
  QWidget* control = is_flag ? static_cast<QWidget*>(choice) : box;
  auto* unit = new QLabel(QString::fromUtf8(figure.unit));
  unit->setProperty("role", "muted");
  unit->setFixedWidth(56);
  auto* origin = new ElidedLabel;
  origin->setProperty("role", "muted");
  auto* reset = new QToolButton;
  reset->setObjectName(QStringLiteral("Link"));
  reset->setText(tr("reset"));
  auto* row = new QHBoxLayout;
  for (QWidget* part : {control, static_cast<QWidget*>(unit)}) row->addWidget(part);
  row->addWidget(origin, 1);
  row->addWidget(reset);
  auto* name = new QLabel(label);
  name->setMinimumWidth(label_width_);
  form->addRow(name, row);
  connect(reset, &QToolButton::clicked, this, [this, figure] { change(figure, std::nullopt); });
  refreshers_.push_back([this, figure, box, choice, control, origin, reset] {
    const nlohmann::json machine = to_json(session_.machine());
    const double value = value_of(figure);
    const bool changed = changes_of(session_.history().setup()).contains(Pointer(figure.path));
    if (box != nullptr) {
      box->set_text(shown(value, figure.scale));
      box->set_changed(changed);
    } else {
      choice->set_value(QString::number(value));
      choice->set_changed(changed);
    }
    control->setEnabled(!session_.machine().local && session_.locks().allowed("machine"));
    const bool absent = !machine.contains(Pointer(figure.path));
    origin->set_full_text(changed ? tr("changed here")
                          : absent && *figure.otherwise_text != 0
                              ? tr(figure.otherwise_text)
                              : origin_at(machine, figure.path));
    reset->setVisible(changed);
  });
}

double MachineSheet::value_of(const Figure& figure) const {
  const nlohmann::json machine = to_json(session_.machine());
  const double otherwise = *figure.otherwise_as != 0
                               ? number_at(machine, figure.otherwise_as, figure.otherwise)
                               : figure.otherwise;
  return number_at(machine, figure.path, otherwise);
}

void MachineSheet::change(const Figure& figure, std::optional<double> value) {
  Setup next = session_.history().setup();
  nlohmann::json changes = changes_of(next);
  const Pointer at(figure.path);
  erase_at(changes, at);
  if (value)
    changes[at] = figure.kind == Figure::kFlag ? nlohmann::json(*value > 0)
                  : figure.kind == Figure::kWhole && *value == std::floor(*value)
                      ? nlohmann::json(std::llround(*value))
                      : nlohmann::json(*value);
  if (changes.empty()) {
    next.machine = MachineChoice(next.machine.name());
  } else {
    const Result<MachineChoice> made = MachineChoice::changed(next.machine.name(), changes);
    if (!made) {
      refresh();
      problem_->setText(sentence(made.error()));
      problem_->show();
      return;
    }
    next.machine = *made;
  }
  session_.history().change(next, value ? tr("%1 of devices").arg(tr(figure.label))
                                        : tr("Reset %1 of devices").arg(tr(figure.label)));
}

void MachineSheet::refresh() {
  const Machine& machine = session_.machine();
  title_->setText(sentence(title_of(machine)));
  back_->setVisible(session_.history().setup().machine.is_changed());
  problem_->setVisible(machine.local);
  problem_->setText(machine.local
                        ? tr("This computer's rates are measured. Choose other devices to "
                             "change theirs.")
                        : QString());
  for (const auto& refresh_row : refreshers_) refresh_row();
}

}  // namespace parallelarium

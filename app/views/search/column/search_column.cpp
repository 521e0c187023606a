// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/search/column/search_column.h"

#include <QHBoxLayout>
#include <QInputDialog>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/search/search_words.h"
#include "engine/plan/machine/machine.h"
#include "engine/planner/space/space.h"
#include "engine/predict/training/whole_training.h"
#include "engine/wire/frameworks/framework.h"

namespace parallelarium {
namespace {

constexpr int kFieldWidth = 112, kWideField = 148, kFieldHeight = 28;

// "0, 1 ," as "0,1".
QString comma_list(const QString& text) {
  QStringList values;
  for (const QString& value : text.split(QLatin1Char(',')))
    if (!value.trimmed().isEmpty()) values << value.trimmed();
  return values.join(QLatin1Char(','));
}

// What is typed into a number that is shown with separators may leave them where none belongs.
QString plain_number(QString text) {
  return text.remove(QLocale().groupSeparator()).remove(QLatin1Char(' '));
}

// The next power of two above or below.
QString doubled(const QString& text, int direction) {
  bool is_number = false;
  const qlonglong value = QLocale().toLongLong(text, &is_number);
  if (!is_number || (direction < 0 && value < 2)) return {};
  return QLocale().toString(direction > 0 ? value * 2 : value / 2);
}

}  // namespace

SearchColumn::SearchColumn(PlanSearch& search, QWidget* parent)
    : QFrame(parent), search_(search), content_(new QWidget) {
  setAccessibleName(tr("What is searched"));
  auto* parts = new QVBoxLayout(this);
  parts->setContentsMargins(0, 0, 0, 0);
  parts->setSpacing(0);
  auto* scroll = new QScrollArea(this);
  scroll->setObjectName(QStringLiteral("SetupPanel"));
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setFrameShape(QFrame::NoFrame);
  content_->setObjectName(QStringLiteral("SetupContent"));
  column_ = new QVBoxLayout(content_);
  column_->setContentsMargins(12, 12, 12, 12);
  column_->setSpacing(4);
  scroll->setWidget(content_);
  parts->addWidget(scroll, 1);
  add_model();
  add_cluster();
  add_batch();
  add_limits();
  add_today();
  add_training();
  add_axes();
  column_->addStretch();
  auto* foot = new QFrame(this);
  foot->setObjectName(QStringLiteral("SearchFoot"));
  foot->setProperty("surface", true);
  foot->setProperty("edge", "top");
  auto* under = new QVBoxLayout(foot);
  under->setContentsMargins(12, 8, 12, 8);
  under->setSpacing(6);
  progress_ = new QProgressBar(foot);
  progress_->setAccessibleName(tr("Progress of the search"));
  progress_->setTextVisible(false);
  progress_->setRange(0, 1000);
  progress_->setFixedHeight(6);
  under->addWidget(progress_);
  progress_text_ = new QLabel(foot);
  progress_text_->setProperty("role", "muted");
  progress_text_->setWordWrap(true);
  under->addWidget(progress_text_);
  // The lowest, so that it stays in its place when a text comes.
  go_ = new QPushButton(foot);
  go_->setProperty("primary", true);
  go_->setAutoDefault(true);
  under->addWidget(go_);
  parts->addWidget(foot);
  connect(go_, &QPushButton::clicked, this, [this] {
    if (search_.searching())
      search_.cancel();
    else
      search_.start();
  });
  connect(&search_, &PlanSearch::changed, this, &SearchColumn::refresh);
  refresh();
}

void SearchColumn::take_focus() { model_->setFocus(Qt::OtherFocusReason); }

void SearchColumn::add_head(const QString& title) {
  if (column_->count() > 0) column_->addSpacing(8);
  auto* head = new QLabel(title.toUpper(), content_);
  make_caps(head);
  column_->addWidget(head);
}

void SearchColumn::add_row(const QString& label, QWidget* control) {
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  row->addWidget(make_label(label, control));
  row->addStretch();
  control->setFixedSize(kFieldWidth, kFieldHeight);
  row->addWidget(control);
  column_->addLayout(row);
}

QLabel* SearchColumn::add_note() {
  auto* note = new QLabel(content_);
  note->setProperty("role", "muted");
  note->setWordWrap(true);
  column_->addWidget(note);
  return note;
}

QComboBox* SearchColumn::choice(const QString& name, const QString& tip) {
  auto* box = new ChoiceBox(content_);
  box->setAccessibleName(name);
  box->setToolTip(tip);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(6);
  return box;
}

StepBox* SearchColumn::number(const QString& name, const StepBox::Step& step) {
  auto* box = new StepBox(name, step, content_);
  connect(box, &StepBox::entered, this, [this, box] {
    const bool valid = !box->property("invalid").toBool() && search_.refusal().isEmpty();
    if (valid && !search_.searching()) search_.start();
  });
  return box;
}

void SearchColumn::add_model() {
  add_head(tr("Model"));
  model_ = choice(tr("Model"));
  for (const std::string& name : model_names()) {
    const Result<Model> model = find_model(name);
    if (model) model_->addItem(sentence(title_of(*model)), QString::fromStdString(name));
  }
  model_->insertSeparator(model_->count());
  model_->addItem(tr("From a config.json …"), QString());
  model_->setFixedHeight(34);
  column_->addWidget(model_);
  model_note_ = add_note();
  connect(model_, &QComboBox::activated, this, [this](int at) {
    model_note_->clear();
    if (model_->itemData(at).toString().isEmpty()) {
      choose_model_file();
      return refresh();
    }
    // The tokens of a sequence that somebody typed stay.
    change([&](PlanWish& wish) { wish.model = model_->itemData(at).toString(); });
  });
}

void SearchColumn::add_cluster() {
  add_head(tr("Cluster"));
  machine_ = choice(tr("Cluster"));
  for (const std::string& name : machine_names()) {
    const Result<Machine> machine = find_machine(name);
    if (machine && !machine->local && machine->torus.empty())  // no search takes a torus
      machine_->addItem(sentence(title_of(*machine)), QString::fromStdString(name));
  }
  machine_->insertSeparator(machine_->count());
  machine_->addItem(tr("From nvidia-smi topo -m …"), QString());
  machine_->setFixedHeight(34);
  column_->addWidget(machine_);
  gpus_ = number(tr("GPUs"), [this](int way) { return doubled(gpus_->text(), way); });
  gpus_->setToolTip(tr("Exactly so many, or a range such as 8..64"));
  add_row(tr("GPUs"), gpus_);
  connect(machine_, &QComboBox::activated, this, [this](int at) {
    if (machine_->itemData(at).toString().isEmpty()) {
      read_cluster_text();
      return refresh();
    }
    change([&](PlanWish& wish) {
      wish.machine = machine_->itemData(at).toString();
      wish.memory_bytes = 0;
    });
  });
  connect(gpus_, &StepBox::committed, this, [this](const QString& text) {
    change([&](PlanWish& wish) { wish.gpus = plain_number(text); });
  });
}

void SearchColumn::add_batch() {
  add_head(tr("Batch"));
  batch_ =
      number(tr("Sequences of a step"), [this](int way) { return doubled(batch_->text(), way); });
  add_row(tr("Sequences"), batch_);
  sequence_ = number(tr("Tokens of a sequence"),
                     [this](int way) { return doubled(sequence_->text(), way); });
  add_row(tr("Tokens each"), sequence_);
  batch_note_ = add_note();
  connect(batch_, &StepBox::committed, this,
          [this](const QString& text) { take_number(batch_, text, &PlanWish::global_batch); });
  connect(sequence_, &StepBox::committed, this,
          [this](const QString& text) { take_number(sequence_, text, &PlanWish::sequence); });
}

void SearchColumn::add_limits() {
  add_head(tr("Limits"));
  memory_ = number(tr("Memory of a GPU that may be used, in GiB"), [this](int way) -> QString {
    bool is_number = false;
    const double gib = QLocale().toDouble(memory_->text(), &is_number);
    const double all = double(search_.device_bytes()) / double(kGib);
    if (!is_number || gib + way < 1 || (way > 0 && gib >= all)) return {};
    return gib + way >= all ? gib_text(search_.device_bytes())
                            : QLocale().toString(std::round(gib + way), 'f', 0);
  });
  objective_ = choice(tr("Objective"), tr("What the best plan has least of; of tokens for each "
                                          "GPU, the most"));
  for (const Objective each : kObjectives) {
    const std::string name(name_of(each));
    objective_->addItem(objective_text(name), QString::fromStdString(name));
  }
  add_row(tr("Objective"), objective_);
  objective_->setFixedWidth(kWideField);
  connect(objective_, &QComboBox::activated, this, [this](int at) {
    change([&](PlanWish& wish) { wish.objective = objective_->itemData(at).toString(); });
  });
  add_row(tr("Memory, GiB"), memory_);
  memory_note_ = add_note();
  framework_ = choice(tr("Framework"),
                      tr("Only plans that this framework's launch line can say; others are refused "
                         "with its sentence"));
  framework_->addItem(tr("any"), QString());
  for (const FrameworkInfo& info : framework_infos())
    framework_->addItem(QString::fromStdString(info.title), QString::fromStdString(info.name));
  add_row(tr("Launch line of"), framework_);
  framework_->setFixedWidth(kWideField);
  connect(framework_, &QComboBox::activated, this, [this](int at) {
    change([&](PlanWish& wish) { wish.framework = framework_->itemData(at).toString(); });
  });
  connect(memory_, &StepBox::committed, this, [this](const QString& text) { take_memory(text); });
}

// It changes no plan: the panel beside says days, GPU hours and cost of the selected one.
void SearchColumn::add_training() {
  add_head(tr("Whole training"));
  tokens_ = new StepBox(
      tr("Tokens of a whole training"),
      [this](int way) {
        const QString text = tokens_->text();
        const QString half = doubled(text.chopped(1), way);
        return text.isEmpty() || half.isEmpty() ? QString() : half + text.back();
      },
      content_);
  tokens_->setToolTip(tr("Such as 300B or 15T: the selected plan says its days and GPU hours"));
  add_row(tr("Tokens in all"), tokens_);
  price_ = new StepBox(
      tr("Price of a GPU hour"),
      [this](int way) {
        const double price = QLocale().toDouble(price_->text()) + way;
        return price < 0 ? QString() : QLocale().toString(price);
      },
      content_);
  price_->setToolTip(tr("In any currency: the selected plan says what the training costs"));
  add_row(tr("Price of a GPU hour"), price_);
  connect(tokens_, &StepBox::committed, this, [this](const QString& text) {
    QString plain = text.trimmed();
    plain.replace(QLocale().decimalPoint(), QStringLiteral("."));
    const Result<WholeTraining> training = whole_training_from(plain.toStdString(), 0);
    tokens_->set_invalid(!training || training->tokens == 0);
    if (training && training->tokens > 0) change([&](PlanWish& wish) { wish.tokens = plain; });
  });
  connect(price_, &StepBox::committed, this, [this](const QString& text) {
    bool is_number = false;
    const double price = QLocale().toDouble(text, &is_number);
    price_->set_invalid(!is_number || price < 0);
    if (is_number && price >= 0) change([&](PlanWish& wish) { wish.price = price; });
  });
}

// What is shown of all the memory stands for all of it, however it was rounded.
void SearchColumn::take_memory(const QString& text) {
  bool is_number = false;
  const auto bytes = std::int64_t(QLocale().toDouble(text, &is_number) * double(kGib));
  const std::int64_t all = search_.device_bytes();
  const bool is_all = is_number && gib_text(bytes) == gib_text(all);
  const bool valid = is_number && bytes > 0 && (is_all || bytes < all);
  memory_->set_invalid(!valid);
  if (valid) return change([&](PlanWish& wish) { wish.memory_bytes = is_all ? 0 : bytes; });
  set_style_property(memory_note_, "role", "warning");
  memory_note_->setText(
      tr("The limit is a number of GiB up to what a device has: %1.").arg(gib_text(all)));
}

void SearchColumn::take_number(StepBox* box, const QString& text, std::int64_t PlanWish::*member) {
  bool is_number = false;
  const qlonglong value = plain_number(text).toLongLong(&is_number);
  box->set_invalid(!is_number || value < 1);
  if (is_number && value >= 1) change([&](PlanWish& wish) { wish.*member = value; });
}

void SearchColumn::add_axis(const SearchAxis& added) {
  QComboBox* box = choice(added.label, tr("Free, or the values that candidates may have"));
  box->addItem(tr("free"), QString());
  for (qsizetype at = 0; at < added.values.size(); ++at)
    box->addItem(added.words[at], added.values[at]);
  box->insertSeparator(box->count());
  box->addItem(tr("Several …"), QString());
  const QString axis = added.option;
  add_row(added.label, box);
  if (axis == QLatin1String("ep")) {
    no_experts_ = new QLabel(tr("not for this model"), content_);
    no_experts_->setProperty("role", "muted");
    no_experts_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    no_experts_->setToolTip(tr("The model has no experts that EP could spread over ranks."));
    column_->itemAt(column_->count() - 1)->layout()->addWidget(no_experts_);
  }
  axes_[axis] = box;
  connect(box, &QComboBox::activated, this, [this, axis, box](int at) {
    if (at > 0 && box->itemData(at).toString().isEmpty()) return ask_values(axis);
    take_values(axis, at == 0 ? QString() : box->itemData(at).toString());
  });
}

void SearchColumn::take_values(const QString& axis, const QString& values) {
  change([&](PlanWish& wish) {
    if (values.isEmpty())
      wish.fixed.erase(axis);
    else
      wish.fixed[axis] = values;
  });
}

// As `--allow` of the command line has them.
void SearchColumn::ask_values(const QString& axis) {
  QStringList all;
  QString label;
  for (const SearchAxis& each : search_axes())
    if (each.option == axis) {
      all = each.values;
      label = each.label;
    }
  const auto fixed = search_.wish().fixed.find(axis);
  auto* dialog = new QInputDialog(window());
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(label);
  dialog->setLabelText(tr("Values that it may take, with commas between them:"));
  const bool is_free = fixed == search_.wish().fixed.end();
  const QString before = is_free ? all.join(QLatin1Char(',')) : fixed->second;
  dialog->setTextValue(before);
  // The values of a free axis are a proposal: left as they are, they pin nothing.
  connect(dialog, &QInputDialog::textValueSelected, this,
          [this, axis, is_free, before](const QString& text) {
            const QString values = comma_list(text);
            take_values(axis, is_free && values == before ? QString() : values);
          });
  connect(dialog, &QDialog::finished, this, &SearchColumn::refresh);
  dialog->open();
}

void SearchColumn::change(const std::function<void(PlanWish&)>& turn) {
  PlanWish wish = search_.wish();
  turn(wish);
  search_.set_wish(wish);
  refresh();
}

void SearchColumn::add_axes() {
  add_head(tr("Axes"));
  free_ = add_note();
  for (const SearchAxis& axis : search_axes()) {
    // What the others leave follows TP and PP, which it stands behind.
    if (axis.option == QLatin1String("cp")) {
      auto* left = new QLabel(tr("what is left"), content_);
      left->setProperty("role", "muted");
      left->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
      add_row(tr("Data, DP"), left);
    }
    add_axis(axis);
  }
}

}  // namespace parallelarium

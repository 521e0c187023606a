// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/all_settings.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "app/look/sentence.h"
#include "app/settings/setup_fields.h"
#include "app/state/collective_plan.h"
#include "app/state/engine_process.h"
#include "engine/collectives/algorithm_names.h"

namespace parallelarium {

namespace {

// The sections are forms of their own; their fields stand in one column all the same.
void align_labels(const QWidget& content) {
  int widest = 0;
  const QList<QLabel*> labels = content.findChildren<QLabel*>();
  for (const QLabel* label : labels)
    if (label->buddy()) widest = std::max(widest, label->sizeHint().width());
  for (QLabel* label : labels)
    if (label->buddy()) label->setMinimumWidth(widest);
}

const std::vector<std::string>& expert_options() {
  static const std::vector<std::string> options{
      "experts", "top-k",     "shared-experts",   "expert-ffn",  "first-dense",
      "router",  "capacity",  "expert-groups",    "group-limit", "balance-loss",
      "z-loss",  "bias-rate", "expert-placement", "skew"};
  return options;
}

}  // namespace

AllSettings::AllSettings(Session& session, QWidget* parent) : Sheet(parent), session_(session) {
  setWindowTitle(tr("All settings"));
  resize(460, 488);
  auto* outer = new QVBoxLayout(this);
  problem_ = new QLabel(this);
  problem_->setWordWrap(true);
  problem_->setProperty("role", "warning");
  outer->addWidget(problem_);
  auto* area = new QScrollArea(this);
  area->setWidgetResizable(true);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* content = new QWidget;
  content->setObjectName(QStringLiteral("SelectionContent"));
  column_ = new QVBoxLayout(content);
  area->setWidget(content);
  outer->addWidget(area, 1);

  QFormLayout* batch = begin_section(
      tr("Batch and model"),
      {"micro-batch", "sequence", "precision", "attention", "dropout", "learning-rate", "clip"});
  add_step(batch, tr("&Micro-batch size"), "micro-batch");
  add_step(batch, tr("Se&quence"), "sequence");
  const std::pair<QString, QString> by_devices{QStringLiteral("auto"), {}};  // named in refresh()
  std::vector<std::pair<QString, QString>> recipes{by_devices};
  for (const Precision& recipe : precision_recipes())
    recipes.emplace_back(
        QString::fromStdString(recipe.name),
        tr("%1 (%2 bytes)").arg(QString::fromStdString(recipe.name)).arg(recipe.state_bytes()));
  add_choice(batch, tr("&Precision"), "precision", recipes);
  add_choice(batch, tr("&Attention"), "attention",
             {by_devices,
              {QStringLiteral("unfused"), tr("unfused: keeps the scores")},
              {QStringLiteral("fused"), tr("fused: computes them again")}});
  add_step(batch, tr("&Dropout"), "dropout");
  add_step(batch, tr("&Learning rate"), "learning-rate");
  add_step(batch, tr("Gradient &clip (0: none)"), "clip");
  QFormLayout* mesh = begin_section(
      tr("Parallelism"), {"chunks", "context-parallel", "zero-group", "zero-prefetch", "nodes"});
  add_step(mesh, tr("C&hunks per rank"), "chunks");
  add_choice(mesh, tr("Context &kind"), "context-parallel",
             {{QStringLiteral("ring"), tr("ring")},
              {QStringLiteral("all-gather"), tr("all-gather")},
              {QStringLiteral("ulysses"), tr("Ulysses")}});
  add_step(mesh, tr("ZeRO &group (0: all of DP)"), "zero-group");
  add_step(mesh, tr("ZeRO 3 pre&fetch, layers"), "zero-prefetch");
  add_step(mesh, tr("&Nodes (0: as needed)"), "nodes");
  add_experts();
  QFormLayout* collectives = begin_section(tr("Collectives"), {"collectives"});
  for (const CollectiveKind kind : kTrainingCollectives)
    add_algorithm(collectives, title_of(kind), kind);
  QFormLayout* run =
      begin_section(tr("Run"), {"backend", "devices", "pace", "steps", "warmup", "seed", "text"});
  add_choice(run, tr("&Backend"), "backend",
             {by_devices,
              {QStringLiteral("cpu"), tr("CPU, unpaced")},
              {QStringLiteral("paced"), tr("CPU, paced")},
              {QStringLiteral("cuda"), tr("CUDA")}});
  add_step(run, tr("GPUs (all, or 0,2)"), "devices",
           [this](int direction) { return next_gpus(direction); });
  add_step(run, tr("Pac&e, seconds a forward"), "pace");
  add_step(run, tr("&Timed steps"), "steps");
  add_step(run, tr("&Warm-up steps"), "warmup");
  add_step(run, tr("Seed (&x)"), "seed");
  add_text_file(run);
  column_->addStretch();
  align_labels(*content);

  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  outer->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(&session_, &Session::setup_changed, this, &AllSettings::refresh);
  refresh();
}

// Of the layers with experts: what the model has, then how tokens are routed.
void AllSettings::add_experts() {
  QFormLayout* form = begin_section(tr("Experts"), expert_options());
  add_step(form, tr("Experts of a layer"), "experts");
  add_step(form, tr("Experts a token visits (top-k)"), "top-k");
  add_step(form, tr("Shared, visited by all"), "shared-experts");
  add_step(form, tr("Inner width of an expert"), "expert-ffn");
  add_step(form, tr("First layers without"), "first-dense");
  add_choice(form, tr("Router"), "router",
             {{QStringLiteral("softmax"), tr("softmax: affinities sum to 1")},
              {QStringLiteral("sigmoid"), tr("sigmoid: each by itself")}});
  add_step(form, tr("Capacity factor (0: dropless)"), "capacity");
  add_step(form, tr("Groups of experts (0: none)"), "expert-groups");
  add_step(form, tr("Groups a token may use"), "group-limit");
  add_step(form, tr("Balance loss, \u03b1 (0: none)"), "balance-loss");
  add_step(form, tr("Router z-loss (0: none)"), "z-loss");
  add_step(form, tr("Bias \u00b1\u03b3 per step (0: none)"), "bias-rate");
  add_choice(form, tr("Placement"), "expert-placement",
             {{QStringLiteral("blocked"), tr("neighbours: 0 1, 2 3, ...")},
              {QStringLiteral("round-robin"), tr("in turn: 0 4, 1 5, ...")}});
  add_step(form, tr("Skew, share sent to expert 0"), "skew");
}

// Experts of a model are compared where the base has experts, too.
bool AllSettings::is_compared(const std::string& option) const {
  return session_.base().model.experts.count > 0 ||
         !key_of(option).startsWith(QLatin1String("model.experts."));
}

bool AllSettings::is_enabled(const std::string& option) const {
  const std::vector<std::string>& experts = expert_options();
  const bool of_experts = std::find(experts.begin(), experts.end(), option) != experts.end();
  return session_.allowed(key_of(option)) &&
         (!of_experts || session_.setup().model.experts.count > 0);
}

QFormLayout* AllSettings::begin_section(const QString& title,
                                        const std::vector<std::string>& options) {
  auto* head = new SectionHead(title);
  column_->addWidget(head);
  auto* form = new QFormLayout;
  form->setFieldGrowthPolicy(QFormLayout::FieldsStayAtSizeHint);
  column_->addLayout(form);
  connect(head, &SectionHead::reset_requested, this, [this, options, title] {
    std::vector<std::string> open = options;
    std::erase_if(open, [&](const std::string& option) {
      return !is_enabled(option) || !is_compared(option);
    });
    session_.change_setup(with_fields_of(session_.base(), session_.setup(), open),
                          tr("Reset %1").arg(title));
  });
  refreshers_.push_back([this, head, options] {
    std::vector<std::string> compared = options;
    std::erase_if(compared, [&](const std::string& option) { return !is_compared(option); });
    head->set_changed(fields_differ(session_.setup(), session_.base(), compared));
  });
  return form;
}

void AllSettings::add_step(QFormLayout* form, const QString& label, const std::string& option,
                           StepBox::Step step) {
  if (!step)
    step = [this, option](int direction) {
      return next_valid(session_.setup(), option, direction);
    };
  auto* box = new StepBox(QString(label).remove(QLatin1Char('&')), std::move(step));
  box->setFixedWidth(120);
  form->addRow(label, box);
  connect(box, &StepBox::committed, this,
          [this, option](const QString& value) { change(option, value); });
  refreshers_.push_back([this, box, option] {
    const QString value = field_text(session_.setup(), option);
    box->set_text(value);
    box->set_changed(is_compared(option) && value != field_text(session_.base(), option));
    box->setEnabled(is_enabled(option));
  });
}

// All, then each GPU that the engine told of; a list of several is typed.
QString AllSettings::next_gpus(int direction) const {
  const nlohmann::json& greeting = session_.engine().greeting();
  const nlohmann::json none = nlohmann::json::array();
  const int count = greeting.is_object() && greeting.contains("devices")
                        ? int(greeting["devices"].value("gpus", none).size())
                        : 0;
  const std::string& devices = session_.setup().run.devices;
  const int next = (devices == "all" ? -1 : std::atoi(devices.c_str())) + direction;
  if (next < -1 || next >= count) return {};
  return next < 0 ? QStringLiteral("all") : QString::number(next);
}

void AllSettings::add_choice(QFormLayout* form, const QString& label, const std::string& option,
                             const std::vector<std::pair<QString, QString>>& values) {
  auto* box = new ChoiceBox;
  box->setAccessibleName(QString(label).remove(QLatin1Char('&')));
  for (const auto& [value, text] : values) box->addItem(text, value);
  form->addRow(label, box);
  connect(box, &QComboBox::activated, this,
          [this, box, option](int index) { change(option, box->itemData(index).toString()); });
  refreshers_.push_back([this, box, option] {
    const QString value = field_text(session_.setup(), option);
    name_auto(*box, option);
    if (box->findData(value) < 0) box->addItem(value, value);
    box->setCurrentIndex(box->findData(value));
    set_style_property(box, "changed",
                       is_compared(option) && value != field_text(session_.base(), option));
    box->setEnabled(is_enabled(option));
  });
}

// "auto (fp32)": beside the word, what it means for this computer or the Machine that is set.
void AllSettings::name_auto(QComboBox& box, const std::string& option) const {
  const int at = box.findData(QStringLiteral("auto"));
  if (at < 0) return;
  Setup open = session_.setup();
  if (!set_field(open, option, "auto")) return;
  const QString chosen = field_text(session_.resolved(open), option);
  const int same = box.findData(chosen);
  const QString words = same < 0 ? chosen : box.itemText(same);
  box.setItemText(at, tr("auto (%1)").arg(words.section(QLatin1Char(':'), 0, 0)));
}

void AllSettings::add_text_file(QFormLayout* form) {
  auto* button = new QPushButton;
  form->addRow(tr("Te&xt"), button);
  connect(button, &QPushButton::clicked, this, [this] {
    const QString file =
        QFileDialog::getOpenFileName(this, tr("Text to train on"), {}, tr("Text (*)"));
    if (!file.isEmpty()) change("text", file);
  });
  refreshers_.push_back([this, button] {
    const QString value = field_text(session_.setup(), "text");
    button->setText(value == QLatin1String("default") ? tr("simple English, made here")
                                                      : value.section(QLatin1Char('/'), -1));
    button->setToolTip(value);
    button->setAccessibleName(tr("Text to train on: %1").arg(value));
  });
}

void AllSettings::add_algorithm(QFormLayout* form, const QString& label, CollectiveKind kind) {
  const auto slot = static_cast<std::size_t>(kind);
  const auto name_in = [slot](const Setup& setup) {
    const Result<AlgorithmNames> names = algorithm_names(setup.collectives);
    return names ? QString::fromStdString((*names)[slot]) : QString();
  };
  auto* box = new ChoiceBox;
  box->setAccessibleName(tr("Algorithm of %1").arg(label.toLower()));
  box->addItem(tr("the transport's own"), QString());
  for (const AlgorithmInfo& info : collective_algorithms()) {
    if (info.kind != kind) continue;
    box->addItem(sentence(title_of(info)), QString::fromStdString(info.name));
    box->setItemData(box->count() - 1, sentence(summary_of(info)), Qt::ToolTipRole);
  }
  form->addRow(label, box);
  connect(box, &QComboBox::activated, this, [this, box, slot](int index) {
    // Text that is no list of algorithms is replaced as a whole.
    const Result<AlgorithmNames> now = algorithm_names(session_.setup().collectives);
    AlgorithmNames names = now ? *now : AlgorithmNames{};
    names[slot] = box->itemData(index).toString().toStdString();
    change("collectives", QString::fromStdString(to_text(names)));
  });
  refreshers_.push_back([this, box, name_in] {
    const QString name = name_in(session_.setup());
    box->setCurrentIndex(box->findData(name));
    set_style_property(box, "changed", name != name_in(session_.base()));
    box->setEnabled(session_.allowed(key_of("collectives")));
  });
}

void AllSettings::change(const std::string& option, const QString& value) {
  if (refreshing_) return;
  Setup next = session_.setup();
  const Result<void> set = set_field(next, option, value.toStdString());
  if (set) session_.change_setup(next, tr("%1 %2").arg(field_title(option), value));
  refresh();
  if (!set) {
    problem_->setText(sentence(set.error()));
    problem_->show();
  }
}

void AllSettings::refresh() {
  refreshing_ = true;
  for (const auto& refresher : refreshers_) refresher();
  const bool wrong = !session_.problems().empty();
  problem_->setText(wrong ? sentence(session_.problems().front()) : QString());
  problem_->setVisible(wrong);
  refreshing_ = false;
}

}  // namespace parallelarium

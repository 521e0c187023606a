// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of the setup panel and where they stand; what they show and change stands in
// setup_panel.cpp.
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QProgressBar>
#include <QVBoxLayout>
#include <QWheelEvent>

#include "app/look/sentence.h"
#include "app/look/words.h"
#include "app/settings/setup_fields.h"
#include "app/settings/setup_panel.h"
#include "app/views/shared/words/words.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

constexpr int kComboHeight = 34;

class Combo : public ChoiceBox {
 public:
  explicit Combo(const QString& accessible_name, QWidget* parent) : ChoiceBox(parent) {
    setAccessibleName(accessible_name);
    setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    setMinimumContentsLength(8);
    setFixedHeight(kComboHeight);
  }
};

// Qt leads from a button to its neighbour by arrows; there the next arrow would change a number.
class LockButton : public QToolButton {
 public:
  using QToolButton::QToolButton;

 protected:
  void keyPressEvent(QKeyEvent* event) override {
    for (const Qt::Key arrow : {Qt::Key_Up, Qt::Key_Down, Qt::Key_Left, Qt::Key_Right})
      if (event->key() == arrow) return;
    QToolButton::keyPressEvent(event);
  }
};

QString machine_title(const std::string& name) {
  const Result<Machine> machine = find_machine(name);
  return machine ? sentence(title_of(*machine)) : QString::fromStdString(name);
}

}  // namespace

SetupPanel::SetupPanel(Session& session, QWidget* parent) : QScrollArea(parent), session_(session) {
  setObjectName(QStringLiteral("SetupPanel"));
  setAccessibleName(tr("Setup"));
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFrameShape(QFrame::NoFrame);
  auto* content = new QWidget;
  content->setObjectName(QStringLiteral("SetupContent"));
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(12, 12, 12, 12);
  column->setSpacing(4);
  column_ = column;

  begin_section(tr("Model"), options_of(Section::kModel));
  add_model(content);
  std::vector<std::string> devices = options_of(Section::kDevices);
  devices.emplace_back("nodes");  // which "All settings" has
  begin_section(tr("Devices"), devices);
  add_devices(content);
  begin_section(tr("Parallelism"), options_of(Section::kParallelism));
  for (const std::string& option : options_of(Section::kParallelism)) {
    if (option == "zero") add_world(content);
    add_row(setting_of(option));
  }
  rows_["zero"].whole->setToolTip(meaning_of("zero"));
  std::vector<std::string> pipeline = options_of(Section::kPipeline);
  pipeline.emplace_back("chunks");  // which "All settings" has, too
  begin_section(tr("Batch and pipeline"), pipeline);
  for (const std::string& option : options_of(Section::kPipeline)) {
    if (option == "schedule") {
      add_schedule(content);
      add_row(setting_of("chunks"));
    } else {
      add_row(setting_of(option));
    }
    if (option == "microbatches") add_global_batch(content);
  }

  auto* all = new QToolButton(content);
  all->setObjectName(QStringLiteral("Link"));
  all->setText(tr("All settings …"));
  column->addWidget(all);
  connect(all, &QToolButton::clicked, this, &SetupPanel::all_settings_requested);
  column->addStretch();
  setWidget(content);

  connect(model_, &QComboBox::activated, this, [this](int index) {
    if (!model_->itemData(index).toString().isEmpty())
      change("model", model_->itemData(index).toString());
  });
  connect(machine_, &QComboBox::activated, this,
          [this](int index) { change("machine", machine_->itemData(index).toString()); });
  connect(schedule_, &QComboBox::activated, this,
          [this](int index) { change("schedule", schedule_->itemData(index).toString()); });
  connect(&session_, &Session::setup_changed, this, &SetupPanel::refresh);
  connect(&session_, &Session::run_changed, this, [this] {  // a calibration, or other devices
    refreshing_ = true;
    refresh_machine();
    refresh_world();
    refreshing_ = false;
  });
  connect(&session_.locks(), &LessonLocks::allowed_changed, this, [this] {
    add_freed();
    for (auto& [option, row] : rows_) {
      const bool open = session_.locks().allowed(key_of(option));
      row.control->setEnabled(open);
      row.control->setToolTip(open ? QString() : tr("Locked by this part of the lesson"));
    }
  });
  fill_models();
  refresh();
}

void SetupPanel::add_model(QWidget* content) {
  model_ = new Combo(tr("Model"), content);
  column_->addWidget(model_);
  model_note_ = new ElidedLabel({}, content);
  model_note_->setProperty("role", "muted");
  column_->addWidget(model_note_);
  rows_["model"].control = model_;
}

void SetupPanel::add_devices(QWidget* content) {
  machine_ = new Combo(tr("Devices"), content);
  for (const std::string& name : machine_names())
    machine_->addItem(machine_title(name), QString::fromStdString(name));
  column_->addWidget(machine_);
  rows_["machine"].control = machine_;
  auto* note = new QHBoxLayout;
  note->setSpacing(4);
  machine_note_ = new ElidedLabel({}, content);
  machine_note_->setProperty("role", "muted");
  source_tag_ = new QLabel(content);
  source_tag_->setObjectName(QStringLiteral("Tag"));
  machine_age_ = new ElidedLabel({}, content);
  machine_age_->setProperty("role", "muted");
  note->addWidget(machine_note_);
  note->addWidget(source_tag_);
  note->addStretch();
  auto* edit = new QToolButton(content);
  edit->setObjectName(QStringLiteral("Link"));
  edit->setText(tr("Change …"));
  edit->setToolTip(tr("Change rates, memory and links of the devices"));
  note->addWidget(edit);
  connect(edit, &QToolButton::clicked, this, &SetupPanel::devices_requested);
  column_->addLayout(note);
  column_->addWidget(machine_age_);
}

void SetupPanel::add_world(QWidget* content) {
  auto* world_row = new QHBoxLayout;
  auto* world_label = new QLabel(tr("World size"), content);
  world_label->setProperty("role", "muted");
  world_ = new QLabel(content);
  world_->setObjectName(QStringLiteral("Strong"));
  world_->setProperty("figure", true);
  world_->setWordWrap(true);  // thousands of ranks on hundreds of nodes
  world_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  world_row->addWidget(world_label);
  world_row->addWidget(world_, 1);
  column_->addLayout(world_row);
  world_bar_ = new QProgressBar(content);
  world_bar_->setObjectName(QStringLiteral("WorldBar"));
  world_bar_->setAccessibleName(world_label->text());
  world_bar_->setTextVisible(false);
  world_bar_->setFixedHeight(6);
  world_bar_->setFocusPolicy(Qt::NoFocus);
  column_->addWidget(world_bar_);
}

void SetupPanel::add_schedule(QWidget* content) {
  schedule_ = new Combo(tr("Schedule"), content);
  for (const ScheduleInfo& schedule : schedules()) {
    schedule_->addItem(schedule_title(Schedule(schedule.name)),
                       QString::fromStdString(schedule.name));
    schedule_->setItemData(schedule_->count() - 1, sentence(schedule.summary), Qt::ToolTipRole);
  }
  constexpr int kLetters = 14;  // "Interleaved 1F1B"
  schedule_->setMinimumContentsLength(kLetters);
  labelled_row(tr("Schedule"), {}, schedule_)->setFixedHeight(kComboHeight);
  rows_["schedule"].control = schedule_;
}

void SetupPanel::add_global_batch(QWidget* content) {
  auto* batch = new QWidget(content);
  auto* batch_row = new QHBoxLayout(batch);
  batch_row->setContentsMargins(0, 0, 0, 0);
  batch_row->setSpacing(4);
  global_batch_ = new QLabel(batch);
  global_batch_->setProperty("role", "small");
  global_batch_->setProperty("figure", true);
  lock_ = new LockButton(batch);
  lock_->setObjectName(QStringLiteral("Lock"));
  lock_->setCheckable(true);
  QIcon lock;
  lock.addFile(QStringLiteral(":/icons/lock-open.svg"), {}, QIcon::Normal, QIcon::Off);
  lock.addFile(QStringLiteral(":/icons/lock-closed.svg"), {}, QIcon::Normal, QIcon::On);
  lock_->setIcon(lock);
  lock_->setAccessibleName(tr("Keep the global batch"));
  lock_->setToolTip(
      tr("Keep the global batch: DP and micro-batch size then change the number of "
         "micro-batches"));
  batch_row->addWidget(global_batch_);
  batch_row->addWidget(lock_);
  labelled_row(tr("Global batch"), {}, batch);
}

int SetupPanel::begin_section(const QString& title, const std::vector<std::string>& options) {
  const int section = int(heads_.size());
  auto* head = new SectionHead(title);
  if (section > 0) column_->addSpacing(8);
  column_->addWidget(head);
  heads_.push_back(head);
  section_names_ << title;
  section_options_.push_back(options);
  connect(head, &SectionHead::reset_requested, this, [this, section] { reset_section(section); });
  return section;
}

QWidget* SetupPanel::labelled_row(const QString& label, const QString& short_name, QWidget* control,
                                  QLabel* reason) {
  auto* whole = new QWidget;
  whole->setFixedHeight(28);
  auto* row = new QHBoxLayout(whole);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(5);
  auto* name = new QLabel(label, whole);
  row->addWidget(name);
  name->setBuddy(control);
  if (!short_name.isEmpty()) {
    auto* muted = new QLabel(short_name, whole);
    muted->setProperty("role", "muted");
    row->addWidget(muted);
  }
  row->addStretch();
  row->addWidget(control);
  if (reason) {
    reason->setProperty("role", "muted");
    row->addWidget(reason);
  }
  column_->addWidget(whole);
  return whole;
}

// Captions stand side by side; numbers step.
QWidget* SetupPanel::make_control(const SetupSetting& row, const QString& name) {
  const std::string option = row.option;
  if (row.captions.empty()) {
    auto* box = new StepBox(name, [this, option](int direction) {
      return next_valid(session_.setup(), option, direction);
    });
    const bool list = row.value.kind == SettingKind::kWholes;  // which has no next value
    if (list) {
      box->setButtonSymbols(QAbstractSpinBox::NoButtons);
      box->show_as(QStringLiteral("even"), setting_words("even"));
    }
    box->setFixedWidth(list ? 124 : 86);
    connect(box, &StepBox::committed, this,
            [this, option](const QString& value) { change(option, value); });
    return box;
  }
  std::vector<Segments::Choice> choices;
  for (const Caption& caption : row.captions)
    choices.push_back({QString::fromStdString(caption.value), setting_words(caption.text),
                       setting_words(caption.tip)});
  auto* segments = new Segments(name, choices);
  connect(segments, &Segments::chosen, this,
          [this, option](const QString& value) { change(option, value); });
  return segments;
}

void SetupPanel::add_row(const SetupSetting& row) {
  const std::string option = row.option;
  const QString label = setting_words(row.label), symbol = QString::fromStdString(row.symbol);
  QLabel* reason = row.needs.empty() ? nullptr : new QLabel(setting_words(row.needs));
  QWidget* control =
      make_control(row, symbol.isEmpty() ? label : label + QLatin1Char(' ') + symbol);
  rows_[option] = {control, reason, labelled_row(label, symbol, control, reason)};
}

// A part of a lesson may free settings that stand in "All settings" alone. A student who may change
// nothing else must find them: they come first.
void SetupPanel::add_freed() {
  for (const std::string& option : freed_options_) rows_.erase(option);
  freed_options_.clear();
  delete freed_;
  freed_ = nullptr;
  QVBoxLayout* column = nullptr;
  for (const SetupSetting& row : setup_settings()) {
    const std::string option = row.option;
    if (option.empty() || rows_.contains(option) ||
        !session_.locks().allowed_keys().contains(key_of(option)))
      continue;
    const QString label = setting_words(row.label);
    QWidget* control = nullptr;
    if (const std::vector<std::string> values = choices_of(row, session_.setup());
        !values.empty()) {
      auto* box = new Combo(label, nullptr);
      for (const std::string& value : values)
        box->addItem(caption_of(row, value).text, QString::fromStdString(value));
      connect(box, &QComboBox::activated, this,
              [this, box, option](int index) { change(option, box->itemData(index).toString()); });
      control = box;
    } else {
      control = make_control(row, label);
    }
    if (freed_ == nullptr) {
      freed_ = new QWidget;
      column = new QVBoxLayout(freed_);
      column->setContentsMargins(0, 0, 0, 8);
      column->setSpacing(4);
      column->addWidget(new SectionHead(tr("Free in this part")));
      column_->insertWidget(0, freed_);
    }
    QWidget* whole = nullptr;
    if (qobject_cast<ChoiceBox*>(control)) {  // its words have no room beside the label
      whole = new QWidget;
      auto* lines = new QVBoxLayout(whole);
      lines->setContentsMargins(0, 0, 0, 0);
      lines->setSpacing(2);
      auto* name = new QLabel(label, whole);
      name->setBuddy(control);
      lines->addWidget(name);
      lines->addWidget(control);
    } else {
      whole = labelled_row(label, {}, control);
    }
    column->addWidget(whole);
    rows_[option] = {control, nullptr, whole};
    freed_options_.push_back(option);
  }
  refresh();
}

void SetupPanel::fill_models() {
  for (const std::string& name : model_names()) {
    const Result<Model> model = find_model(name);
    if (!model) continue;
    model_->addItem(
        tr("%1 · %2 layers").arg(QString::fromStdString(model->title)).arg(model->layers),
        QString::fromStdString(name));
  }
}

}  // namespace parallelarium

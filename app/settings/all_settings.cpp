// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/all_settings.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/look/sentence.h"
#include "app/settings/setup_fields.h"
#include "app/state/collective/collective_plan.h"
#include "app/state/run/engine_process.h"
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

// Labels with a letter of their own to jump to: the first of a word that is free.
class Mnemonics {
 public:
  QString next(const QString& label) {
    for (const bool begins : {true, false})
      for (int at = 0; at < label.size(); ++at) {
        const QChar letter = label[at].toLower();
        if (begins && at > 0 && label[at - 1].isLetterOrNumber()) continue;
        if (letter < QLatin1Char('a') || letter > QLatin1Char('z') || taken_.contains(letter))
          continue;
        taken_ += letter;
        return QString(label).insert(at, QLatin1Char('&'));
      }
    return label;
  }

 private:
  QString taken_{QLatin1Char('c')};  // Close
};

}  // namespace

AllSettings::AllSettings(Session& session, QWidget* parent) : Sheet(parent), session_(session) {
  setWindowTitle(tr("All settings"));
  resize(460, 488);
  auto* outer = new QVBoxLayout(this);
  problem_ = new QLabel(this);
  problem_->setWordWrap(true);
  problem_->setProperty("role", "warning");
  outer->addWidget(problem_);
  column_ = add_scrolled_column(outer);

  const std::pair<Section, QString> sections[] = {{Section::kMoreModel, tr("Batch and model")},
                                                  {Section::kMoreParallelism, tr("Parallelism")},
                                                  {Section::kExperts, tr("Experts")},
                                                  {Section::kCollectives, tr("Collectives")},
                                                  {Section::kRun, tr("Run")}};
  Mnemonics mnemonics;
  for (const auto& [section, title] : sections) {
    const std::vector<std::string> options = options_of(section);
    QFormLayout* form = begin_section(title, options);
    for (const std::string& option : options) {
      const SetupSetting& row = setting_of(option);
      if (option == "collectives")
        for (const CollectiveKind kind : kTrainingCollectives)
          add_algorithm(form, title_of(kind), kind);
      else
        add_row(form, mnemonics.next(setting_words(row.label)), row);
    }
  }
  column_->addStretch();
  align_labels(*column_->parentWidget());

  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  outer->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(&session_, &Session::setup_changed, this, &AllSettings::refresh);
  refresh();
  const QList<QWidget*> fields = column_->parentWidget()->findChildren<QWidget*>();
  const auto first = std::find_if(fields.begin(), fields.end(), [](const QWidget* field) {
    return !field->focusProxy() && (field->focusPolicy() & Qt::TabFocus) && field->isEnabled() &&
           !field->isHidden();
  });
  if (first != fields.end()) (*first)->setFocus(Qt::TabFocusReason);
}

void AllSettings::add_row(QFormLayout* form, const QString& label, const SetupSetting& row) {
  if (row.option == "text")
    add_text_file(form, label);
  else if (row.option == "devices")
    add_step(form, label, row, [this](int direction) { return next_gpus(direction); });
  else if (!choices_of(row, session_.setup()).empty())
    add_choice(form, label, row);
  else
    add_step(form, label, row, [this, option = row.option](int direction) {
      return next_valid(session_.setup(), option, direction);
    });
}

// What the models of the base and of the setup do not share is not compared: experts where the base
// has none.
bool AllSettings::is_compared(const std::string& option) const {
  const SetupSetting& row = setting_of(option);
  return !is_inside(setup_settings(), row.key) || !row.applies ||
         row.applies(session_.history().base());
}

bool AllSettings::is_enabled(const std::string& option) const {
  const SetupSetting& row = setting_of(option);
  return session_.locks().allowed(key_of(option)) &&
         (!row.applies || row.applies(session_.setup()));
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
    session_.history().change(with_fields_of(session_.history().base(), session_.setup(), open),
                              tr("Reset %1").arg(title));
  });
  refreshers_.push_back([this, head, options] {
    std::vector<std::string> compared = options;
    std::erase_if(compared, [&](const std::string& option) { return !is_compared(option); });
    head->set_changed(fields_differ(session_.setup(), session_.history().base(), compared));
  });
  return form;
}

void AllSettings::add_step(QFormLayout* form, const QString& label, const SetupSetting& row,
                           StepBox::Step step) {
  auto* box = new StepBox(QString(label).remove(QLatin1Char('&')), std::move(step));
  box->setFixedWidth(120);
  if (row.value.kind == SettingKind::kWholes)
    box->show_as(QStringLiteral("even"), setting_words("even"));
  form->addRow(label, box);
  const std::string option = row.option;
  connect(box, &StepBox::committed, this,
          [this, option](const QString& value) { change(option, value); });
  refreshers_.push_back([this, box, option] {
    const QString value = field_text(session_.setup(), option);
    box->set_text(value);
    box->set_changed(is_compared(option) && value != field_text(session_.history().base(), option));
    box->setEnabled(is_enabled(option));
  });
}

// All, then each GPU that the engine told of; a list of several is typed.
QString AllSettings::next_gpus(int direction) const {
  const nlohmann::json& greeting = session_.jobs().process().greeting();
  const nlohmann::json none = nlohmann::json::array();
  const int count = greeting.is_object() && greeting.contains("devices")
                        ? int(greeting["devices"].value("gpus", none).size())
                        : 0;
  const std::string& devices = session_.setup().run.devices;
  const int next = (devices == "all" ? -1 : std::atoi(devices.c_str())) + direction;
  if (next < -1 || next >= count) return {};
  return next < 0 ? QStringLiteral("all") : QString::number(next);
}

void AllSettings::add_choice(QFormLayout* form, const QString& label, const SetupSetting& row) {
  auto* box = new ChoiceBox;
  box->setAccessibleName(QString(label).remove(QLatin1Char('&')));
  const auto add_item = [box, &row](const std::string& value) {
    const CaptionText caption = caption_of(row, value);
    const std::optional<Precision> recipe =
        row.option == "precision" ? find_precision(value) : std::nullopt;
    box->addItem(
        recipe ? tr("%1 (%2 bytes)").arg(caption.text).arg(recipe->state_bytes()) : caption.text,
        QString::fromStdString(value));
  };
  for (const std::string& value : choices_of(row, session_.setup())) add_item(value);
  form->addRow(label, box);
  const std::string option = row.option;
  connect(box, &QComboBox::activated, this,
          [this, box, option](int index) { change(option, box->itemData(index).toString()); });
  refreshers_.push_back([this, box, option, add_item] {
    const QString value = field_text(session_.setup(), option);
    name_auto(*box, option);
    if (box->findData(value) < 0) add_item(value.toStdString());
    box->setCurrentIndex(box->findData(value));
    set_style_property(
        box, "changed",
        is_compared(option) && value != field_text(session_.history().base(), option));
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

void AllSettings::add_text_file(QFormLayout* form, const QString& label) {
  auto* button = new QPushButton;
  form->addRow(label, button);
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
  box->setAccessibleName(tr("Algorithm of %1").arg(in_sentence(label)));
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
    set_style_property(box, "changed", name != name_in(session_.history().base()));
    box->setEnabled(session_.locks().allowed(key_of("collectives")));
  });
}

void AllSettings::change(const std::string& option, const QString& value) {
  if (refreshing_) return;
  Setup next = session_.setup();
  const Result<void> set = set_field(next, option, value.toStdString());
  if (set) session_.history().change(next, tr("%1 %2").arg(field_title(option), value));
  refresh();
  if (!set) {
    problem_->setText(setting_sentence(set.error()));
    problem_->show();
  }
}

void AllSettings::refresh() {
  refreshing_ = true;
  for (const auto& refresher : refreshers_) refresher();
  const bool wrong = !session_.problems().empty();
  problem_->setText(wrong ? setting_sentence(session_.problems().front()) : QString());
  problem_->setVisible(wrong);
  refreshing_ = false;
}

}  // namespace parallelarium

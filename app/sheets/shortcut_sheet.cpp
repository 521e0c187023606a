// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/shortcut_sheet.h"

#include <QCheckBox>
#include <QCoreApplication>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "app/look/sentence.h"
#include "app/look/spoken.h"
#include "app/settings/controls.h"
#include "app/views/shared/view_keys.h"

namespace parallelarium {

namespace {

// Takes the key that is pressed in it, but Escape, which closes the dialog as everywhere.
class KeyField : public QKeySequenceEdit {
 protected:
  void keyPressEvent(QKeyEvent* event) override {
    if (event->key() == Qt::Key_Escape) return event->ignore();
    QKeySequenceEdit::keyPressEvent(event);
  }
};

}  // namespace

ShortcutSheet::ShortcutSheet(const std::vector<ShortcutSection>& sections,
                             const QList<QAction*>& more, QWidget* parent)
    : Sheet(parent) {
  setWindowTitle(tr("Help and shortcuts"));
  resize(640, 488);
  auto* column = new QVBoxLayout(this);
  auto* leads = new QHBoxLayout;
  leads->setSpacing(8);
  for (QAction* action : more) {
    auto* button = new QPushButton(QString(action->text()).remove(QLatin1Char('&')), this);
    button->setToolTip(action->toolTip());
    connect(button, &QPushButton::clicked, this, [this, action] {
      close();
      action->trigger();
    });
    leads->addWidget(button);
  }
  leads->addStretch();
  column->addLayout(leads);
  auto* area = new QScrollArea(this);
  area->setWidgetResizable(true);
  auto* content = new QWidget;
  content->setObjectName(QStringLiteral("SelectionContent"));
  grid_ = new QGridLayout(content);
  grid_->setColumnStretch(1, 1);
  area->setWidget(content);
  column->addWidget(area);
  const auto strong = [content](const QString& text) {
    auto* label = new QLabel(text, content);
    label->setObjectName(QStringLiteral("Strong"));
    return label;
  };
  for (const ShortcutSection& section : sections) {
    add_head(section.where);
    for (const QAction* action : section.actions)
      if (!action->shortcut().isEmpty())
        add_line(strong(action->shortcut().toString(QKeySequence::NativeText)),
                 QString(action->text()).remove(QLatin1Char('&')));
  }
  add_head(tr("Keys of the current view"));
  add_view_keys();
  add_head(tr("With the mouse on the timeline"));
  add_line(strong(tr("Ctrl+wheel")), tr("Zoom at the pointer"));
  add_line(strong(tr("Wheel, Shift+wheel")), tr("Scroll; move through time"));
  add_line(strong(tr("Drag")), tr("Select a range of time"));
  add_head(tr("While you present"));
  add_line(strong(tr("Page Down, Page Up")), tr("Next step, previous step of the lesson"));
  add_line(strong(tr("Esc")), tr("Leave the presentation"));
  grid_->setRowStretch(grid_->rowCount(), 1);
  note_ = new QLabel(this);
  note_->setProperty("role", "warning");
  note_->setWordWrap(true);
  note_->hide();
  column->addWidget(note_);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  QPushButton* reset = buttons->addButton(tr("Reset the keys"), QDialogButtonBox::ResetRole);
  connect(reset, &QPushButton::clicked, this, [this] {
    reset_view_keys();
    note_->hide();
    show_keys();
    Q_EMIT keys_changed();
  });
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  show_keys();
}

void ShortcutSheet::add_head(const QString& text) {
  auto* label = new QLabel(text.toUpper());
  make_caps(label);
  grid_->addWidget(label, grid_->rowCount(), 0, 1, 2);
}

void ShortcutSheet::add_line(QWidget* key, const QString& text) {
  const int row = grid_->rowCount();
  grid_->addWidget(key, row, 0);
  auto* what = new QLabel(text);
  what->setWordWrap(true);
  grid_->addWidget(what, row, 1);
}

void ShortcutSheet::add_view_keys() {
  act_ = new QCheckBox(tr("Single keys act; press another key in a field to change it"));
  grid_->addWidget(act_, grid_->rowCount(), 0, 1, 2);
  connect(act_, &QCheckBox::clicked, this, [this](bool on) {
    set_single_keys_act(on);
    show_keys();
    Q_EMIT keys_changed();
  });
  for (const ViewKeyInfo& info : view_keys()) {
    const QString text = QCoreApplication::translate("ViewKey", info.text);
    auto* edit = new KeyField;
    speak_as(*edit,
             {.role = QAccessible::HotkeyField,
              .text = [edit] { return edit->keySequence().toString(QKeySequence::NativeText); },
              .whole = true});
    edit->setAccessibleName(tr("Key: %1").arg(text));
    edit->setMaximumWidth(140);
    // Tells the change a second after the last key; the first one is the whole of it here.
    connect(edit, &QKeySequenceEdit::keySequenceChanged, this,
            [this, &info](const QKeySequence& pressed) {
              if (pressed.isEmpty() || pressed == sequence_of(info)) return;
              const Result<void> taken = set_sequence(info, QKeySequence(pressed[0]));
              note_->setText(taken ? QString() : sentence(taken.error()));
              note_->setVisible(!taken);
              show_keys();
              Q_EMIT keys_changed();
            });
    add_line(edit, text);
    keys_.push_back(edit);
  }
}

void ShortcutSheet::show_keys() {
  act_->setChecked(single_keys_act());
  for (std::size_t at = 0; at < keys_.size(); ++at) {
    const QSignalBlocker quiet(keys_[at]);
    keys_[at]->setKeySequence(sequence_of(view_keys()[at]));
    keys_[at]->setEnabled(single_keys_act());
  }
}

}  // namespace parallelarium

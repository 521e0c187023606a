// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shortcut_sheet.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include "app/controls.h"

namespace parallelarium {

ShortcutSheet::ShortcutSheet(const std::vector<ShortcutSection>& sections,
                             const QList<QAction*>& more, QWidget* parent)
    : QDialog(parent) {
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
  auto* grid = new QGridLayout(content);
  grid->setColumnStretch(1, 1);
  area->setWidget(content);
  column->addWidget(area);
  int row = 0;
  const auto add_head = [&](const QString& text) {
    auto* label = new QLabel(text.toUpper(), content);
    make_caps(label);
    grid->addWidget(label, row++, 0, 1, 2);
  };
  const auto add_line = [&](const QString& keys, const QString& text) {
    auto* key = new QLabel(keys, content);
    key->setObjectName(QStringLiteral("Strong"));
    grid->addWidget(key, row, 0);
    auto* what = new QLabel(text, content);
    what->setWordWrap(true);
    grid->addWidget(what, row++, 1);
  };
  for (const ShortcutSection& section : sections) {
    add_head(section.where);
    for (const QAction* action : section.actions)
      if (!action->shortcut().isEmpty())
        add_line(action->shortcut().toString(QKeySequence::NativeText),
                 QString(action->text()).remove(QLatin1Char('&')));
  }
  add_head(tr("With the mouse on the timeline"));
  add_line(tr("Ctrl+wheel"), tr("Zoom at the pointer"));
  add_line(tr("Wheel, Shift+wheel"), tr("Scroll; move through time"));
  add_line(tr("Drag"), tr("Select a range of time"));
  grid->setRowStretch(row, 1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

}  // namespace parallelarium

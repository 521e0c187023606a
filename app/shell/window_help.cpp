// SPDX-License-Identifier: GPL-3.0-or-later
// The menu Help: its actions, and the windows that they open.
#include <QMessageBox>

#include "app/lesson/lesson_panel.h"
#include "app/lesson/markdown_view.h"
#include "app/sheets/doctor.h"
#include "app/sheets/guide_sheet.h"
#include "app/sheets/shortcut_sheet.h"
#include "app/sheets/words_sheet.h"
#include "app/shell/bars/view_tabs.h"
#include "app/shell/window.h"
#include "engine/wire/version.h"

namespace parallelarium {

void Window::build_help_actions() {
  do_.shortcuts = add_action(tr("&Shortcuts"), QKeySequence(Qt::Key_F1),
                             tr("All keys, and where else help is"), [this] {
                               if (!MarkdownView::explain_at(QCursor::pos())) show_shortcuts();
                             });
  do_.words = add_action(tr("&Words"), {}, tr("What the words in this window mean"), [this] {
    auto* words = new WordsSheet(session_.locks().hidden(QStringLiteral("formulas")), this);
    words->setAttribute(Qt::WA_DeleteOnClose);
    connect(words, &WordsSheet::lesson_wanted, lesson_, &LessonPanel::open);
    connect(words, &WordsSheet::view_wanted, this, &Window::show_view);
    words->show();
  });
  do_.doctor = add_action(tr("&Doctor"), {},
                          tr("What this computer has for training, and what is "
                             "missing"),
                          [this] {
                            auto* doctor = new Doctor(session_.jobs().process(), this);
                            doctor->setAttribute(Qt::WA_DeleteOnClose);
                            doctor->show();
                          });
  do_.guide =
      add_action(tr("For &teachers"), {},
                 tr("Sessions, playlists, exams, marking, and how to write a lesson"), [this] {
                   auto* guide = new GuideSheet(this);
                   guide->setAttribute(Qt::WA_DeleteOnClose);
                   guide->show();
                 });
  do_.about = add_action(tr("&About Parallelarium"), {}, {}, [this] { show_about(); });
}

void Window::show_shortcuts() {
  std::vector<ShortcutSection> sections{{tr("Anywhere"), actions()}, {tr("Views"), {}}};
  std::vector<ShortcutSection> with_focus;
  for (int at = 0; at < tabs_->count(); ++at)
    for (const ViewActions& group : tabs_->view_at(at).commands()) {
      if (!group.on_sheet) continue;
      if (group.heading.isEmpty())
        sections[1].actions += group.actions;
      else
        with_focus.push_back({group.heading, group.actions});
    }
  sections.insert(sections.end(), with_focus.begin(), with_focus.end());
  auto* sheet = new ShortcutSheet(sections, {do_.lessons, do_.words, do_.guide, do_.doctor}, this);
  connect(sheet, &ShortcutSheet::keys_changed, this, [this] {
    for (View* view : tabs_->made()) view->refresh_keys();
  });
  sheet->setAttribute(Qt::WA_DeleteOnClose);
  sheet->show();
}

void Window::show_about() {
  QMessageBox box(this);
  box.setWindowTitle(tr("About Parallelarium"));
  box.setText(tr("<b>Parallelarium %1</b>").arg(QLatin1String(kVersion)));
  box.setInformativeText(tr(
      "A workbench for learning and planning distributed training of language models: every "
      "picture is predicted first, then run on real ranks.\n\nThe window is free software under "
      "the GNU General Public License, version 3 or later; engine, kernels and lessons are under "
      "the Apache License 2.0."));
  box.setStandardButtons(QMessageBox::Close);
  box.exec();
}

}  // namespace parallelarium

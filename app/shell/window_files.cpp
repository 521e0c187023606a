// SPDX-License-Identifier: GPL-3.0-or-later
// Documents of the window: new, open, save, recent files, drag and drop, export.
#include <QComboBox>
#include <QDir>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QStandardPaths>
#include <QTimer>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/export/export_dialog.h"
#include "app/lesson/lesson_panel.h"
#include "app/look/saved_files.h"
#include "app/look/sentence.h"
#include "app/sheets/cases/cases_sheet.h"
#include "app/sheets/recipes/recipe_reader.h"
#include "app/sheets/recipes/recipe_sheet.h"
#include "app/sheets/techniques_sheet.h"
#include "app/shell/window.h"
#include "app/state/collective/collective_session.h"
#include "app/state/document/document.h"
#include "app/state/plan/plan_search.h"
#include "app/views/shared/words/plan_words.h"
#include "engine/wire/frameworks/framework.h"

namespace parallelarium {

namespace {

constexpr qint64 kMostRecipe = 1 << 20;  // bytes of a launch line
constexpr int kMostRecent = 8;
constexpr int kNoteMs = 6000;  // how long "Wrote …" stands
const char* const kRecentKey = "recent_files";
const char* const kEnding = ".parallelarium.json";
const char* const kWishKey = "plan/wish";  // what a search was asked for last

}  // namespace

// Whether something would be lost: settings that were changed and not changed back, runs, a pin,
// marks. In a new document a run of what it began with is none: pressing Run brings it back.
bool Window::modified() const {
  const Saved now = current();
  if (!(now.setup == saved_.setup) || !(*now.collective == *saved_.collective) ||
      (now.pinned && now.pinned != saved_.pinned) || now.marks != saved_.marks)
    return true;
  if (!path_.isEmpty()) return now.runs > saved_.runs;
  const std::vector<RunRecord>& runs = session_.runs().all();
  const std::vector<CollectiveRun>& collectives = session_.collectives().runs();
  const auto repeatable =
      std::count_if(runs.begin(), runs.end(),
                    [&](const RunRecord& run) {
                      return run.observation.setup == session_.resolved(saved_.setup) && !run.proof;
                    }) +
      std::count_if(collectives.begin(), collectives.end(), [&](const CollectiveRun& run) {
        return run.plan->choice.spec == saved_.collective->spec;
      });
  return now.runs > saved_.runs + std::size_t(repeatable);
}

Window::Saved Window::current() const {
  const RunRecord* pinned = session_.runs().pinned();
  return {session_.runs().all().size() + session_.collectives().runs().size(), session_.setup(),
          std::make_shared<const CollectiveChoice>(session_.collectives().choice()),
          pinned ? pinned->prediction : nullptr, session_.subject().marks()};
}

bool Window::may_discard() {
  // A lesson keeps its own progress; without a file there is nothing else to lose.
  const bool only_a_lesson = path_.isEmpty() && lesson_->player().is_open();
  if (!asks_ || !modified() || only_a_lesson) return true;
  const auto answer = QMessageBox::question(
      this, tr("Unsaved changes"),
      tr("Save the changes to %1?")
          .arg(path_.isEmpty() ? tr("this document") : QFileInfo(path_).fileName()),
      QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, QMessageBox::Save);
  if (answer == QMessageBox::Cancel) return false;
  return answer == QMessageBox::Discard || save();
}

bool Window::may_replace() { return !exam_refuses_to_leave() && may_discard(); }

void Window::set_path(const QString& path) {
  path_ = path;
  saved_ = current();
  refresh_name();
}

// The file's name, or the lesson's where there is no file. What a lesson has set is no work of the
// student's that could be lost.
void Window::refresh_name() {
  const bool lesson_is_open = lesson_->player().is_open();
  if (lesson_was_open_ && !lesson_is_open && path_.isEmpty()) saved_ = current();
  lesson_was_open_ = lesson_is_open;
  QString name = QFileInfo(path_).fileName();
  if (name.endsWith(QLatin1String(kEnding))) name.chop(int(qstrlen(kEnding)));
  if (path_.isEmpty())
    name = lesson_->player().is_open() ? lesson_->player().lesson_title() : tr("untitled");
  top_bar_->set_document_name(name);
  setWindowTitle(tr("%1[*] — Parallelarium").arg(name));
  setWindowModified(modified());
}

void Window::new_document() {
  if (may_replace()) start_with(new_setup());
}

void Window::start_with(const Setup& setup) {
  session_.locks().set_lesson_state(nullptr);
  session_.restore(setup, {}, std::nullopt);
  session_.playback().set_playing(!session_.playback().reduced_motion());
  Q_EMIT session_.restored();
  set_path({});
}

// The first start ever shows the ways to begin; later ones what was there before.
void Window::greet() {
  const std::string wish = settings_.value(QLatin1String(kWishKey)).toString().toStdString();
  const auto asked = wish_from_json(nlohmann::json::parse(wish, nullptr, false));
  if (asked) PlanSearch::of(session_).set_wish(*asked);
  const QString begun = QStringLiteral("begun");
  if (settings_.value(begun).toBool()) return;
  settings_.setValue(begun, true);
  show_room(Room::kLearn);
}

// The room where a setup is searched, with the cursor in its first setting.
void Window::plan() {
  last_tab_.erase(Room::kPlan);
  if (!show_room(Room::kPlan)) return;
  if (auto* column = view().property("left_column").value<QWidget*>())
    if (auto* first = column->findChild<QComboBox*>()) first->setFocus(Qt::OtherFocusReason);
}

void Window::show_cases(const QString& model) {
  Result<std::vector<Case>> cases = all_cases();
  if (!cases) {
    typed_wrong_ = sentence(cases.error());
    return refresh_banner();
  }
  auto* sheet = new CasesSheet(std::move(*cases), this);
  sheet->show_model(model);
  sheet->setAttribute(Qt::WA_DeleteOnClose);
  connect(sheet, &CasesSheet::setup_chosen, this, [this, sheet](const Setup& setup) {
    if (!may_replace()) return;
    start_with(setup);
    if (room_ == Room::kLearn) show_room(Room::kExplore);
    sheet->close();
  });
  sheet->show();
}

void Window::show_techniques() {
  auto* sheet = new TechniquesSheet(session_.setup(), session_.machine(), this);
  sheet->setAttribute(Qt::WA_DeleteOnClose);
  connect(sheet, &TechniquesSheet::setup_chosen, this, [this, sheet](const Setup& setup) {
    session_.history().change(setup, tr("One technique alone"));
    if (room_ == Room::kLearn) show_room(Room::kExplore);
    sheet->close();
  });
  sheet->show();
}

// What a framework starts with is read on a sheet of its own, where it can be looked at before.
void Window::read_recipe(const QString& path) {
  auto* reader = new RecipeReader(session_.setup(), tr("&Use it"), this);
  reader->setAttribute(Qt::WA_DeleteOnClose);
  if (!path.isEmpty()) reader->open_file(path);
  connect(reader, &QDialog::accepted, this, [this, reader] {
    if (!may_replace()) return;
    start_with(*reader->setup());
    if (room_ != Room::kExplore) show_room(Room::kExplore);
  });
  reader->open();
}

void Window::open_file(const QString& path) { documents_.read(path); }

// A file that a person chose, whatever it is.
void Window::open_any(const QString& path) {
  if (view().take_file(path)) return;
  const QFileInfo info(path);
  if (info.fileName() == QLatin1String("lesson.json") || info.isDir()) {
    open_lesson_folder(info.isDir() ? path : info.path());
    return;
  }
  QFile file(path);
  if (file.open(QIODevice::ReadOnly) && file.size() <= kMostRecipe &&
      !framework_of_text(file.readAll().toStdString()).empty())
    return read_recipe(path);
  if (may_replace()) open_file(path);
}

bool Window::wait_for_file() {
  documents_.wait();
  return opened_;
}

void Window::show_document(const QString& path, Result<Document>& document) {
  opened_ = document.ok();
  if (!document) {
    typed_wrong_ = sentence(document.error());
    return refresh_banner();
  }
  // A picture or a bare setup is no document to be saved over.
  const bool bare = document->is_bare;
  const QString tab = document->tab;
  const std::vector<Message> notes = restore_document(session_, std::move(*document));
  show_view(tab);
  typed_wrong_ = notes.empty() ? QString() : sentence(notes.front());
  refresh_banner();
  remember_file(path);
  set_path(bare ? QString() : path);
}

void Window::open_dialog() {
  if (exam_refuses_to_leave()) return;
  const QString path = QFileDialog::getOpenFileName(
      this, tr("Open"), path_.isEmpty() ? QString() : QFileInfo(path_).path(),
      tr("Documents, setups and exported pictures (*.json *.png);;All files (*)"));
  if (!path.isEmpty()) open_any(path);
}

bool Window::save_file(const QString& path) {
  nlohmann::json document = document_of(session_);
  document["view"]["tab"] = view_info().id;
  const Result<void> written = write_document(path, document);
  typed_wrong_ = written ? QString() : sentence(written.error());
  refresh_banner();
  if (!written) return false;
  remember_file(path);
  set_path(path);
  return true;
}

bool Window::save() { return path_.isEmpty() ? save_as() : save_file(path_); }

bool Window::save_as() {
  QString path = QFileDialog::getSaveFileName(
      this, tr("Save"),
      path_.isEmpty() ? in_documents(QStringLiteral("untitled") + QLatin1String(kEnding)) : path_,
      tr("Documents (*%1)").arg(QLatin1String(kEnding)));
  if (path.isEmpty()) return false;
  if (QFileInfo(path).suffix().isEmpty()) path += QLatin1String(kEnding);
  return save_file(path);
}

void Window::remember_file(const QString& path) {
  const QString absolute = QFileInfo(path).absoluteFilePath();
  QStringList recent = settings_.value(QLatin1String(kRecentKey)).toStringList();
  recent.removeAll(absolute);
  recent.prepend(absolute);
  while (recent.size() > kMostRecent) recent.removeLast();
  settings_.setValue(QLatin1String(kRecentKey), recent);
  fill_recent();
}

void Window::fill_recent() {
  recent_->clear();
  int number = 0;
  for (const QString& path : settings_.value(QLatin1String(kRecentKey)).toStringList()) {
    if (!QFileInfo::exists(path)) continue;
    QAction* action =
        recent_->addAction(QStringLiteral("&%1 %2").arg(++number).arg(QFileInfo(path).fileName()));
    action->setToolTip(path);
    connect(action, &QAction::triggered, this, [this, path] {
      if (may_replace()) open_file(path);
    });
  }
  recent_->setEnabled(number > 0);
}

// Of what is chosen in the view in front, or of the plan that it is about, or of what is set.
void Window::export_recipe() {
  const std::optional<ChosenSetup> chosen = view().chosen();
  const std::optional<Setup> plan =
      chosen ? std::optional(chosen->setup) : plan_of(session_, view_info());
  auto* sheet = new RecipeSheet(
      plan ? session_.resolved(*plan) : session_.resolved(),
      chosen ? chosen->whose : whose_text(session_, plan), this,
      // The one that the search was asked for is of its plans alone.
      plan && !chosen ? QString::fromStdString(framework_of(PlanSearch::of(session_).answered()))
                      : QString());
  sheet->setAttribute(Qt::WA_DeleteOnClose);
  sheet->show();
}

void Window::export_dialog(ExportKind kind) {
  const bool zoomed =
      session_.subject().visible() != TimeRange{Nanoseconds(0), session_.subject().horizon()};
  const QString whose = view_info().room == Room::kPlan
                            ? whose_text(session_, plan_of(session_, view_info()))
                            : QString();
  ExportDialog dialog(dark_, zoomed && view_info().shows_range, kind, view(), whose, this);
  if (dialog.exec() != QDialog::Accepted) return;
  ExportOptions options = dialog.options();
  options.view = &view_info();
  options.shown = &view();
  const QString ending = ExportDialog::ending_of(options.kind);
  QString path = QFileDialog::getSaveFileName(
      this, tr("Export"), in_documents(QLatin1String(view_info().file) + ending),
      QStringLiteral("*") + ending);
  if (path.isEmpty()) return;
  if (QFileInfo(path).suffix().isEmpty()) path += ending;
  const Result<void> written = export_to(session_, path, options);
  typed_wrong_ = written ? QString() : sentence(written.error());
  if (written) return say_written(path);
  refresh_banner();
}

void Window::say_written(const QString& path) {
  note_ = tr("Wrote %1.").arg(QDir::toNativeSeparators(path));
  QTimer::singleShot(kNoteMs, this, [this] {
    note_.clear();
    refresh_banner();
  });
  refresh_banner();
}

void Window::closeEvent(QCloseEvent* event) {
  if (!may_discard()) {
    event->ignore();
    return;
  }
  settings_.setValue(QStringLiteral("geometry"), presents_ ? geometry_before_ : saveGeometry());
  // A window that was opened for something else has asked for nothing.
  if (const PlanWish& wish = PlanSearch::of(session_).wish(); wish != PlanWish())
    settings_.setValue(QLatin1String(kWishKey), QString::fromStdString(to_json(wish).dump()));
  session_.playback().set_playing(false);
  event->accept();
}

void Window::dragEnterEvent(QDragEnterEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (urls.size() == 1 && urls.front().isLocalFile()) event->acceptProposedAction();
}

void Window::dropEvent(QDropEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (urls.size() != 1) return;
  open_any(urls.front().toLocalFile());
  event->acceptProposedAction();
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/export/export.h"

#include <QBuffer>
#include <QFileInfo>
#include <QImage>
#include <QPainter>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>

#include "app/state/collective/collective_session.h"
#include "app/state/document/document.h"
#include "app/state/plan/plan_search.h"
#include "engine/wire/collective_messages.h"
#include "engine/wire/export/csv.h"
#include "engine/wire/export/trace.h"

namespace parallelarium {

namespace {

constexpr int kMostPixels = 16384;  // a side of a PNG

// What a picture carries, so that it can be opened again: a document of the setup and, where it
// differs from a fresh start, of the collective. One of a plan has what the search was asked, and
// opens in its view.
std::string setup_text(const Session& session, const ViewInfo& view) {
  const std::optional<Setup> plan = plan_of(session, view);
  nlohmann::json document{
      {"format", kDocumentFormat},
      {"setup", to_json(plan ? *plan : session.setup())},
      {"resolved", to_json(plan ? session.resolved(*plan) : session.resolved())}};
  if (session.collectives().choice() != CollectiveChoice{})
    document["collective"] = to_json(session.collectives().choice());
  if (plan) {
    document["plan"] = to_json(PlanSearch::of(session).subject());
    document["view"] = {{"tab", view.id}};
  }
  return document.dump();
}

QByteArray png(const Session& session, const ViewPicture& picture, const ExportOptions& options) {
  QImage image(picture.size * options.scale, QImage::Format_RGB32);
  image.setDevicePixelRatio(options.scale);
  image.fill(Qt::white);
  QPainter painter(&image);
  picture.paint(painter, picture.size, nullptr);
  painter.end();
  image.setText(QLatin1String(kSetupChunk),
                QString::fromStdString(setup_text(session, *options.view)));
  image.setText(QStringLiteral("Software"), QStringLiteral("Parallelarium"));
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  image.save(&buffer, "PNG");
  return bytes;
}

QByteArray svg(const Session& session, const ViewPicture& picture, const ExportOptions& options) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setSize(picture.size);
  generator.setViewBox(QRect(QPoint(0, 0), picture.size));
  generator.setTitle(QStringLiteral("Parallelarium %1").arg(QLatin1String(options.view->id)));
  generator.setDescription(QString::fromStdString(setup_text(session, *options.view)));
  QPainter painter(&generator);
  picture.paint(painter, picture.size, nullptr);
  painter.end();
  return bytes;
}

QByteArray pdf(const ViewPicture& picture, const ExportOptions& options) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  QPdfWriter writer(&buffer);
  writer.setTitle(QStringLiteral("Parallelarium %1").arg(QLatin1String(options.view->id)));
  writer.setCreator(QStringLiteral("Parallelarium"));
  writer.setResolution(96);
  writer.setPageMargins(QMarginsF(0, 0, 0, 0));
  writer.setPageSize(QPageSize(QSizeF(picture.size) * 72.0 / 96.0, QPageSize::Point, QString(),
                               QPageSize::ExactMatch));
  QPainter painter(&writer);
  picture.paint(painter, picture.size, nullptr);
  painter.end();
  return bytes;
}

// A search says sums of a plan alone: this predicts it op by op, if no view did before.
Result<std::string> figures_of_plan(Session& session, const Setup& plan, bool table) {
  if (session.locks().hidden(QStringLiteral("lane.predicted"))) return hidden_figures();
  PlanSearch& search = PlanSearch::of(session);
  if (!search.prediction_of(plan)) search.predictions().wait();
  const std::shared_ptr<const Prediction> of = search.prediction_of(plan);
  if (!of)
    return message("export-plan",
                   "This plan cannot be predicted op by op; use it, and Explore says why.");
  return table ? to_csv(of->program, of->timeline) : to_chrome_trace(of->program, of->timeline);
}

}  // namespace

std::optional<Setup> plan_of(const Session& session, const ViewInfo& view) {
  return view.plan ? view.plan(session) : std::nullopt;
}

Result<void> write_bytes(const QString& path, const QByteArray& bytes) {
  QSaveFile file(path);
  if (bytes.isEmpty())
    return message("export-empty", "{} could not be made; try a smaller size.", path.toStdString());
  if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit())
    return message("export-write", "{} cannot be written: {}.", path.toStdString(),
                   file.errorString().toStdString());
  return {};
}

std::optional<ExportKind> export_kind_of(const QString& path) {
  const QString ending = QFileInfo(path).suffix().toLower();
  if (ending == QLatin1String("png")) return ExportKind::kPng;
  if (ending == QLatin1String("svg")) return ExportKind::kSvg;
  if (ending == QLatin1String("pdf")) return ExportKind::kPdf;
  if (ending == QLatin1String("json")) return ExportKind::kTrace;
  if (ending == QLatin1String("csv")) return ExportKind::kCsv;
  return std::nullopt;
}

Result<void> export_to(Session& session, const QString& path, const ExportOptions& options) {
  const Topic& topic = options.shown ? options.shown->topic() : options.view->topic(session);
  const std::optional<Setup> plan = plan_of(session, *options.view);
  if (const std::optional<Message> problem = topic.problem(); problem && !plan)
    return message("export-invalid",
                   "There is nothing to export while the settings are not valid: {}", *problem);
  if (options.figures()) {
    const bool table = options.kind == ExportKind::kCsv;
    std::optional<ViewTable> own;
    if (table && options.shown)
      own = options.shown->table();
    else if (table && options.view->table)
      own = options.view->table(session);
    const Result<std::string> text = own     ? own->text()
                                     : plan  ? figures_of_plan(session, *plan, table)
                                     : table ? topic.table_text(session)
                                             : topic.trace_text(session);
    if (!text) return text.error();
    return write_bytes(path, QByteArray(text->data(), qsizetype(text->size())));
  }
  const PictureStyle style{options.dark, options.whole_step, options.part};
  ViewPicture picture =
      options.shown ? options.shown->exported(style) : options.view->picture(session, style);
  if (!options.size.isEmpty()) picture.size = options.size;
  const QSizeF pixels = QSizeF(picture.size) * options.scale;
  if (pixels.width() > kMostPixels || pixels.height() > kMostPixels)
    return message("export-size",
                   "A picture of {} by {} pixels is too large; choose a smaller scale, or SVG.",
                   pixels.width(), pixels.height());
  switch (options.kind) {
    case ExportKind::kSvg:
      return write_bytes(path, svg(session, picture, options));
    case ExportKind::kPdf:
      return write_bytes(path, pdf(picture, options));
    default:
      return write_bytes(path, png(session, picture, options));
  }
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/export/export.h"

#include <QBuffer>
#include <QFileInfo>
#include <QImage>
#include <QPainter>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>

#include "app/quantities/quantities.h"
#include "app/state/collective_session.h"
#include "app/state/document.h"
#include "app/views/collectives/collectives_view.h"
#include "app/views/experts/experts_view.h"
#include "app/views/memory/memory_view.h"
#include "app/views/mesh/mesh_view.h"
#include "app/views/pipeline/pipeline_view.h"
#include "engine/wire/collective_messages.h"
#include "engine/wire/csv.h"
#include "engine/wire/trace.h"

namespace parallelarium {

namespace {

constexpr int kMostPixels = 16384;  // a side of a PNG

PictureOptions picture_options(const ExportOptions& options) {
  PictureOptions picture;
  picture.dark = options.dark;
  picture.whole_step = options.whole_step;
  return picture;
}

void paint_view(QPainter& painter, QSizeF size, const Session& session,
                const ExportOptions& options) {
  const int fullest = fullest_rank(*session.prediction());
  switch (options.view) {
    case ViewKind::kMemory:
      paint_memory_picture(painter, size, session, options.dark,
                           options.rank < 0 ? fullest : options.rank);
      break;
    case ViewKind::kMesh:
      paint_mesh_picture(painter, size, session, options.dark, std::max(0, options.rank));
      break;
    case ViewKind::kCollectives:
      paint_collective_picture(painter, size, session, options.dark);
      break;
    case ViewKind::kExperts:
      paint_expert_picture(painter, size, session, options.dark, options.experts);
      break;
    case ViewKind::kPipeline:
      paint_picture(painter, size, session, picture_options(options));
  }
}

QSize size_of_view(const Session& session, const ExportOptions& options) {
  switch (options.view) {
    case ViewKind::kMemory:
      return memory_picture_size();
    case ViewKind::kMesh:
      return mesh_picture_size();
    case ViewKind::kCollectives:
      return collective_picture_size(session);
    case ViewKind::kExperts:
      return expert_picture_size(session, options.experts);
    case ViewKind::kPipeline:
      break;
  }
  return picture_size(session, picture_options(options));
}

// What a picture carries, so that it can be opened again: a document of the setup and, where it
// differs from a fresh start, of the collective.
std::string setup_text(const Session& session) {
  nlohmann::json document{{"format", kDocumentFormat},
                          {"setup", to_json(session.setup())},
                          {"resolved", to_json(session.resolved())}};
  if (session.collectives().choice() != CollectiveChoice{})
    document["collective"] = to_json(session.collectives().choice());
  return document.dump();
}

// Every move with its times, a line each; or all of it as `collective --json` prints it.
std::string collective_text(const CollectiveSession& collectives, bool csv) {
  const CollectivePlan& plan = *collectives.plan();
  const CollectiveRun* run = collectives.fresh_run();
  if (!csv) {
    nlohmann::json json = to_json(plan.collective, plan.network, plan.cost);
    if (run) {
      json["measured"] = to_json(run->seen);
      json["correct"] = run->seen.correct;
    }
    return json.dump(1) + '\n';
  }
  std::string text =
      "source,step,from,to,chunk,bytes,combined,waited_nanoseconds,begin_nanoseconds,"
      "end_nanoseconds\n";
  const auto add = [&](const CollectiveMotion& motion) {
    for (int step = 0; step < plan.steps(); ++step)
      for (int at = 0; at < int(plan.collective.steps[std::size_t(step)].size()); ++at) {
        const Move& move = motion.move({step, at});
        const Span span = motion.span_of({step, at});
        text +=
            fmt::format("{},{},{},{},{},{},{},{},{},{}\n", name_of(motion.source()), step + 1,
                        move.from, move.to, move.chunk, move.bytes, move.reduce ? 1 : 0,
                        motion.waited({step, at}).count(), span.begin.count(), span.end.count());
      }
  };
  add(CollectiveMotion(collectives.plan(), plan.cost.timeline));
  if (run) add(CollectiveMotion(run->plan, run->seen.timeline));
  return text;
}

QByteArray png(const Session& session, QSize size, const ExportOptions& options) {
  QImage image(size * options.scale, QImage::Format_RGB32);
  image.setDevicePixelRatio(options.scale);
  image.fill(Qt::white);
  QPainter painter(&image);
  paint_view(painter, size, session, options);
  painter.end();
  image.setText(QLatin1String(kSetupChunk), QString::fromStdString(setup_text(session)));
  image.setText(QStringLiteral("Software"), QStringLiteral("Parallelarium"));
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  image.save(&buffer, "PNG");
  return bytes;
}

QByteArray svg(const Session& session, QSize size, const ExportOptions& options) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setSize(size);
  generator.setViewBox(QRect(QPoint(0, 0), size));
  generator.setTitle(QStringLiteral("Parallelarium %1").arg(name_of(options.view)));
  generator.setDescription(QString::fromStdString(setup_text(session)));
  QPainter painter(&generator);
  paint_view(painter, size, session, options);
  painter.end();
  return bytes;
}

QByteArray pdf(const Session& session, QSize size, const ExportOptions& options) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  QPdfWriter writer(&buffer);
  writer.setTitle(QStringLiteral("Parallelarium %1").arg(name_of(options.view)));
  writer.setCreator(QStringLiteral("Parallelarium"));
  writer.setResolution(96);
  writer.setPageMargins(QMarginsF(0, 0, 0, 0));
  writer.setPageSize(
      QPageSize(QSizeF(size) * 72.0 / 96.0, QPageSize::Point, QString(), QPageSize::ExactMatch));
  QPainter painter(&writer);
  paint_view(painter, size, session, options);
  painter.end();
  return bytes;
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

}  // namespace

std::optional<ExportKind> export_kind_of(const QString& path) {
  const QString ending = QFileInfo(path).suffix().toLower();
  if (ending == QLatin1String("png")) return ExportKind::kPng;
  if (ending == QLatin1String("svg")) return ExportKind::kSvg;
  if (ending == QLatin1String("pdf")) return ExportKind::kPdf;
  if (ending == QLatin1String("json")) return ExportKind::kTrace;
  if (ending == QLatin1String("csv")) return ExportKind::kCsv;
  return std::nullopt;
}

Result<void> export_to(const Session& session, const QString& path, const ExportOptions& options) {
  const bool collective = options.view == ViewKind::kCollectives;
  if (collective && session.collectives().problem())
    return message("export-invalid.collective",
                   "There is nothing to export while the setting is wrong: {}",
                   *session.collectives().problem());
  if (collective && (options.kind == ExportKind::kTrace || options.kind == ExportKind::kCsv)) {
    if (session.hidden(QStringLiteral("lane.run")) ||
        session.hidden(QStringLiteral("lane.predicted")))
      return message("export-hidden",
                     "This step of the lesson hides the figures; commit your answer, then export.");
    const std::string text =
        collective_text(session.collectives(), options.kind == ExportKind::kCsv);
    return write_bytes(path, QByteArray(text.data(), qsizetype(text.size())));
  }
  if (!collective && !session.problems().empty())
    return message("export-invalid", "There is nothing to export while the setup is not valid: {}",
                   session.problems().front());
  if (options.kind == ExportKind::kTrace || options.kind == ExportKind::kCsv) {
    const RunRecord* record = session.run_record();
    const bool observed = record && !session.run_is_stale();
    if (session.hidden(observed ? QStringLiteral("lane.run") : QStringLiteral("lane.predicted")))
      return message("export-hidden",
                     "This step of the lesson hides the figures; commit your answer, then export.");
    const Prediction& prediction = observed ? *record->prediction : *session.prediction();
    const Timeline& timeline = observed ? record->observation.timeline : prediction.timeline;
    const std::string text = options.kind == ExportKind::kCsv
                                 ? to_csv(prediction.program, timeline)
                                 : to_chrome_trace(prediction.program, timeline);
    return write_bytes(path, QByteArray(text.data(), qsizetype(text.size())));
  }
  QSize size = options.size;
  if (size.isEmpty()) size = size_of_view(session, options);
  if (size.width() * options.scale > kMostPixels || size.height() * options.scale > kMostPixels)
    return message("export-size",
                   "A picture of {} by {} pixels is too large; choose a smaller scale, or SVG.",
                   size.width() * options.scale, size.height() * options.scale);
  switch (options.kind) {
    case ExportKind::kSvg:
      return write_bytes(path, svg(session, size, options));
    case ExportKind::kPdf:
      return write_bytes(path, pdf(session, size, options));
    default:
      return write_bytes(path, png(session, size, options));
  }
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// A device on which nothing is seen: it counts what a frame draws.
#pragma once

#include <QPaintDevice>
#include <QPaintEngine>
#include <QSize>

namespace parallelarium {

class CountingDevice : public QPaintDevice {
 public:
  explicit CountingDevice(QSize size) : size_(size) {}
  QPaintEngine* paintEngine() const override { return &engine_; }
  // Shapes, lines, images and texts so far.
  int drawn() const { return engine_.drawn; }

 protected:
  int metric(PaintDeviceMetric metric) const override {
    switch (metric) {
      case PdmWidth:
        return size_.width();
      case PdmHeight:
        return size_.height();
      case PdmDpiX:
      case PdmDpiY:
      case PdmPhysicalDpiX:
      case PdmPhysicalDpiY:
        return 96;
      case PdmDepth:
        return 32;
      case PdmDevicePixelRatio:
        return 1;
      default:
        return QPaintDevice::metric(metric);
    }
  }

 private:
  struct Engine : QPaintEngine {
    Engine() : QPaintEngine(AllFeatures) {}
    bool begin(QPaintDevice*) override { return true; }
    bool end() override { return true; }
    Type type() const override { return User; }
    void updateState(const QPaintEngineState&) override {}
    void drawRects(const QRectF*, int count) override { drawn += count; }
    void drawRects(const QRect*, int count) override { drawn += count; }
    void drawLines(const QLineF*, int count) override { drawn += count; }
    void drawLines(const QLine*, int count) override { drawn += count; }
    void drawPoints(const QPointF*, int count) override { drawn += count; }
    void drawPoints(const QPoint*, int count) override { drawn += count; }
    void drawEllipse(const QRectF&) override { ++drawn; }
    void drawEllipse(const QRect&) override { ++drawn; }
    void drawPath(const QPainterPath&) override { ++drawn; }
    void drawPolygon(const QPointF*, int, PolygonDrawMode) override { ++drawn; }
    void drawPolygon(const QPoint*, int, PolygonDrawMode) override { ++drawn; }
    void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override { ++drawn; }
    void drawTiledPixmap(const QRectF&, const QPixmap&, const QPointF&) override { ++drawn; }
    void drawImage(const QRectF&, const QImage&, const QRectF&, Qt::ImageConversionFlags) override {
      ++drawn;
    }
    void drawTextItem(const QPointF&, const QTextItem&) override { ++drawn; }
    int drawn = 0;
  };
  QSize size_;
  mutable Engine engine_;
};

}  // namespace parallelarium

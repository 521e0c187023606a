// SPDX-License-Identifier: GPL-3.0-or-later
// How far apart two colours are, for whom. Sources: Sharma, Wu, Dalal 2005, "The CIEDE2000
// color-difference formula"; Machado, Oliveira, Fernandes 2009, table 1; WCAG 2.1, contrast ratio.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "app/look/theme/theme.h"
#include "app/look/theme/theme_lab.h"

namespace parallelarium {
namespace {

using Rgb = std::array<double, 3>;

double linear(double channel) {
  return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

double companded(double channel) {
  const double inside = std::clamp(channel, 0.0, 1.0);
  return inside <= 0.0031308 ? 12.92 * inside : 1.055 * std::pow(inside, 1 / 2.4) - 0.055;
}

Rgb linear_of(const QColor& color) {
  return {linear(color.redF()), linear(color.greenF()), linear(color.blueF())};
}

Lab lab_of(const QColor& color) {
  const auto [r, g, b] = linear_of(color);
  const auto f = [](double t) {
    return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
  };
  const double x = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
  const double y = f(0.2126729 * r + 0.7151522 * g + 0.0721750 * b);
  const double z = f((0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

// Of the colour in 8 bits a channel: a frame asks for some thousands.
double luminance(const QColor& color) {
  static const std::array<double, 256> kLinear = [] {
    std::array<double, 256> table;
    for (std::size_t at = 0; at < table.size(); ++at)
      table[at] = linear(static_cast<double>(at) / 255);
    return table;
  }();
  const auto of = [&](int channel) { return kLinear[static_cast<std::size_t>(channel)]; };
  const double r = of(color.red()), g = of(color.green()), b = of(color.blue());
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

constexpr double kDegree = std::numbers::pi / 180;

double hue_degrees(double a, double b) {
  if (a == 0 && b == 0) return 0;
  const double hue = std::atan2(b, a) / kDegree;
  return hue < 0 ? hue + 360 : hue;
}

}  // namespace

// Names follow Sharma et al., equations 2 to 22, with kL = kC = kH = 1.
double ciede2000(const Lab& one, const Lab& two) {
  const auto pow7 = [](double c) { return std::pow(c, 7); };
  const double mean_c = (std::hypot(one.a, one.b) + std::hypot(two.a, two.b)) / 2;
  const double g = 0.5 * (1 - std::sqrt(pow7(mean_c) / (pow7(mean_c) + pow7(25))));
  const double a1 = (1 + g) * one.a, a2 = (1 + g) * two.a;
  const double c1 = std::hypot(a1, one.b), c2 = std::hypot(a2, two.b);
  const double h1 = hue_degrees(a1, one.b), h2 = hue_degrees(a2, two.b);

  const double dl = two.l - one.l, dc = c2 - c1;
  const bool grey = c1 * c2 == 0;
  double dh = grey ? 0 : h2 - h1;
  if (dh > 180) dh -= 360;
  if (dh < -180) dh += 360;
  const double big_dh = 2 * std::sqrt(c1 * c2) * std::sin(dh / 2 * kDegree);

  const double mean_l = (one.l + two.l) / 2, mean_cp = (c1 + c2) / 2;
  double mean_h = h1 + h2;
  if (!grey) {
    if (std::abs(h1 - h2) > 180) mean_h += mean_h < 360 ? 360 : -360;
    mean_h /= 2;
  }
  const double t =
      1 - 0.17 * std::cos((mean_h - 30) * kDegree) + 0.24 * std::cos(2 * mean_h * kDegree) +
      0.32 * std::cos((3 * mean_h + 6) * kDegree) - 0.20 * std::cos((4 * mean_h - 63) * kDegree);
  const double turn = 30 * std::exp(-std::pow((mean_h - 275) / 25, 2));
  const double rc = 2 * std::sqrt(pow7(mean_cp) / (pow7(mean_cp) + pow7(25)));
  const double from_50 = std::pow(mean_l - 50, 2);
  const double sl = 1 + 0.015 * from_50 / std::sqrt(20 + from_50);
  const double sc = 1 + 0.045 * mean_cp;
  const double sh = 1 + 0.015 * mean_cp * t;
  const double rt = -std::sin(2 * turn * kDegree) * rc;
  const double l = dl / sl, c = dc / sc, h = big_dh / sh;
  return std::sqrt(l * l + c * c + h * h + rt * c * h);
}

double color_difference(const QColor& a, const QColor& b) {
  return ciede2000(lab_of(a), lab_of(b));
}

QColor seen_with(Vision vision, const QColor& color) {
  static constexpr std::array<std::array<Rgb, 3>, 3> kMachado = {
      {{{{0.152286, 1.052583, -0.204868},
         {0.114503, 0.786281, 0.099216},
         {-0.003882, -0.048116, 1.051998}}},
       {{{0.367322, 0.860646, -0.227968},
         {0.280085, 0.672501, 0.047413},
         {-0.011820, 0.042940, 0.968881}}},
       {{{1.255528, -0.076749, -0.178779},
         {-0.078411, 0.930809, 0.147602},
         {0.004733, 0.691367, 0.303900}}}}};
  if (vision == Vision::kNormal) return color;
  const auto& matrix = kMachado[static_cast<std::size_t>(vision) - 1];
  const Rgb rgb = linear_of(color);
  Rgb seen{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column)
      seen[row] += matrix[row][column] * rgb[column];
    seen[row] = companded(seen[row]);
  }
  return QColor::fromRgbF(static_cast<float>(seen[0]), static_cast<float>(seen[1]),
                          static_cast<float>(seen[2]));
}

double contrast_ratio(const QColor& a, const QColor& b) {
  const auto [low, high] = std::minmax({luminance(a), luminance(b)});
  return (high + 0.05) / (low + 0.05);
}

}  // namespace parallelarium

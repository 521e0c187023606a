// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/index/bibliography.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/plan/machine/presets.h"

namespace parallelarium {

namespace {

constexpr std::string_view kArxiv = "https://arxiv.org/abs/";

CitedSource source_from(const nlohmann::json& entry) {
  const auto text = [&](const char* key) { return entry.value(key, std::string()); };
  CitedSource source;
  source.id = QString::fromStdString(entry.at("id").get<std::string>());
  source.authors = QString::fromStdString(entry.at("authors").get<std::string>());
  source.title = QString::fromStdString(entry.at("title").get<std::string>());
  source.venue = QString::fromStdString(text("venue"));
  source.url = QString::fromStdString(text("url"));
  source.year = entry.value("year", 0);
  source.formulas = entry.value("formulas", false);
  for (const std::string& known : entry.value("known_by", std::vector<std::string>()))
    source.known_by << QString::fromStdString(known);
  const std::string url = text("url");
  if (!url.empty()) source.known_by << source.url;
  if (url.rfind(kArxiv, 0) == 0)
    source.known_by << QStringLiteral("arXiv ") + QString::fromStdString(url.substr(kArxiv.size()));
  if (source.year > 0 && source.authors.endsWith(QLatin1String("et al.")))
    source.known_by << QStringLiteral("%1 %2").arg(source.authors).arg(source.year);
  return source;
}

Result<std::vector<CitedSource>> read_own_bibliography() {
  for (const EmbeddedFile& file : embedded_files())
    if (file.path == "bibliography.json") return read_bibliography(file.content);
  return plain("bibliography.json is missing.");
}

}  // namespace

bool CitedSource::cited_in(const QString& text) const {
  return std::any_of(known_by.begin(), known_by.end(),
                     [&](const QString& known) { return text.contains(known); });
}

Result<std::vector<CitedSource>> read_bibliography(std::string_view text) {
  const nlohmann::json all = nlohmann::json::parse(text, nullptr, false);
  if (!all.is_object() || all.value("format", nlohmann::json()) != "parallelarium-bibliography/1")
    return plain("bibliography.json is not of the format parallelarium-bibliography/1.");
  std::vector<CitedSource> sources;
  try {
    for (const nlohmann::json& entry : all.at("sources")) {
      sources.push_back(source_from(entry));
      if (sources.back().known_by.isEmpty())
        return plain(fmt::format("bibliography.json: no citation can be known to be of \"{}\".",
                                 sources.back().id.toStdString()));
    }
  } catch (const nlohmann::json::exception&) {
    return plain(fmt::format("bibliography.json: source {} lacks \"id\", \"authors\" or \"title\".",
                             sources.size()));
  }
  std::stable_sort(sources.begin(), sources.end(), [](const auto& one, const auto& other) {
    return std::tuple(one.authors.toLower(), one.year, one.title) <
           std::tuple(other.authors.toLower(), other.year, other.title);
  });
  return sources;
}

Result<const std::vector<CitedSource>*> bibliography() {
  static const Result<std::vector<CitedSource>> all = read_own_bibliography();
  if (!all) return all.error();
  return &*all;
}

}  // namespace parallelarium

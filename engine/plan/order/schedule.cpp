// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/order/schedule.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/setting.h"

namespace parallelarium {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != std::string_view::npos) lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

Result<Schedule> Schedule::own(std::string name, std::vector<std::string> lines) {
  Result<Order> order = order_from_either(fmt::format("{}\n", fmt::join(lines, "\n")));
  if (!order) return order.error();
  return Schedule(std::move(name), std::move(lines), std::move(*order));
}

Schedule::Schedule(std::string name, std::vector<std::string> lines, Order order)
    : name_(std::move(name)) {
  order.name = name_;
  own_ = std::make_shared<const Own>(Own{std::move(lines), std::move(order)});
}

Result<Schedule> Schedule::from_file(const std::string& path) {
  Result<std::string> text = text_of_order_file(path);
  if (!text) return text.error();
  Result<Order> order = order_from_either(*text);
  if (!order) return order.error();
  return Schedule(shown(std::filesystem::path(path).stem().string()), lines_of(*text),
                  std::move(*order));
}

bool Schedule::operator==(const Schedule& other) const {
  if (name_ != other.name_ || (own_ == nullptr) != (other.own_ == nullptr)) return false;
  return own_ == other.own_ || own_->lines == other.own_->lines;
}

Result<Schedule> schedule_from_json(const nlohmann::json& json, const std::string& key) {
  if (json.is_string()) return Schedule(json.get<std::string>());
  const Result<const nlohmann::json*> name = value_at(json, "name", key + ".");
  if (!name) return name.error();
  const Result<const nlohmann::json*> order = value_at(json, "order", key + ".");
  if (!order) return order.error();
  if (*name == nullptr || *order == nullptr) {
    Message error =
        message("schedule-own", "{} needs a name and an order, a line for each rank.", key);
    error.field = key;
    return error;
  }
  Result<std::string> title = text_from(**name, key + ".name");
  if (!title) return title.error();
  Result<std::vector<std::string>> lines = texts_from(**order, key + ".order");
  if (!lines) return lines.error();
  if (Result<void> known = check_keys(json, {"name", "order"}, key + "."); !known)
    return known.error();
  Result<Schedule> schedule = Schedule::own(std::move(*title), std::move(*lines));
  if (schedule) return schedule;
  Message error = schedule.error();
  error.field = key;
  return error;
}

nlohmann::json to_json(const Schedule& schedule) {
  if (schedule.own_ == nullptr) return schedule.name_;
  return {{"name", schedule.name_}, {"order", schedule.own_->lines}};
}

}  // namespace parallelarium

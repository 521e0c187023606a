// SPDX-License-Identifier: Apache-2.0
// Which schedule a Setup has: one of the list, or an order of one's own.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/order/order.h"
#include "engine/plan/result.h"

namespace parallelarium {

class Schedule {
 public:
  // One of the list, by its name: "1f1b".
  Schedule(std::string_view name) : name_(name) {}    // NOLINT: names stand for schedules
  Schedule(const char* name) : name_(name) {}         // NOLINT
  Schedule(const std::string& name) : name_(name) {}  // NOLINT
  // An order of one's own: a line for each rank, in either notation (order.h). Error: a line
  // cannot be read; whether the order is right is check_order()'s to say.
  static Result<Schedule> own(std::string name, std::vector<std::string> lines);
  // The same from a file, whose stem is the name.
  static Result<Schedule> from_file(const std::string& path);

  const std::string& name() const { return name_; }
  // The order of one's own; null for a schedule of the list.
  const Order* order() const { return own_ ? &own_->order : nullptr; }
  bool operator==(const Schedule& other) const;

 private:
  Schedule(std::string name, std::vector<std::string> lines, Order order);
  friend nlohmann::json to_json(const Schedule& schedule);
  struct Own {
    std::vector<std::string> lines;  // as they were given
    Order order;
  };
  std::string name_;
  std::shared_ptr<const Own> own_;  // Setups are copied often
};

// A name, or {"name": ..., "order": [a line for each rank]}; `key` stands in errors.
Result<Schedule> schedule_from_json(const nlohmann::json& json, const std::string& key);
nlohmann::json to_json(const Schedule& schedule);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// The schedule of a Setup: one of the list, or an order of the user.
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
  // Takes one of the list, by its name: "1f1b".
  Schedule(std::string_view name) : name_(name) {}    // NOLINT: names stand for schedules
  Schedule(const char* name) : name_(name) {}         // NOLINT
  Schedule(const std::string& name) : name_(name) {}  // NOLINT
  // Takes an order of the user: a line for each rank, in either notation (order.h). Error: a line
  // cannot be read. check_order() says whether the order is right.
  static Result<Schedule> own(std::string name, std::vector<std::string> lines);
  // The same from a file. The stem of the file is the name.
  static Result<Schedule> from_file(const std::string& path);

  const std::string& name() const { return name_; }
  // The order of the user; null for a schedule of the list.
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

// Reads a name, or {"name": ..., "order": [a line for each rank]}. Errors name `key`.
Result<Schedule> schedule_from_json(const nlohmann::json& json, const std::string& key);
nlohmann::json to_json(const Schedule& schedule);

}  // namespace parallelarium

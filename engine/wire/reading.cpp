// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/reading.h"

#include <limits>

#include "engine/plan/text/phrases.h"

namespace parallelarium {
namespace {

std::optional<std::int64_t> whole(const nlohmann::json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  return std::nullopt;
}

}  // namespace

ObjectReader::ObjectReader(const nlohmann::json& object, std::string where)
    : object_(&object), where_(std::move(where)) {
  if (!object.is_object())
    error_ = message("wire-not-object", "\"{}\" is not a JSON object.", where_);
}

const nlohmann::json* ObjectReader::find(const char* key) const {
  if (!object_->is_object()) return nullptr;
  const auto found = object_->find(key);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

void ObjectReader::fail(const char* key, const Message& expected) {
  if (!error_) error_ = message("wire-key", "\"{}.{}\" must be {}.", where_, key, expected);
}

void ObjectReader::read(const char* key, bool& into) {
  const nlohmann::json* value = find(key);
  if (!value) return;
  if (!value->is_boolean()) return fail(key, message(kValueTrueOrFalse));
  into = value->get<bool>();
}

void ObjectReader::read(const char* key, std::int64_t& into) {
  const nlohmann::json* value = find(key);
  if (!value) return;
  const auto number = whole(*value);
  if (!number) return fail(key, message(kValueWhole));
  into = *number;
}

void ObjectReader::read(const char* key, int& into) {
  std::int64_t number = into;
  read(key, number);
  if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max())
    return fail(key, message(kValueSmallerWhole));
  into = static_cast<int>(number);
}

void ObjectReader::read(const char* key, double& into) {
  const nlohmann::json* value = find(key);
  if (!value) return;
  if (!value->is_number()) return fail(key, message(kValueNumber));
  into = value->get<double>();
}

void ObjectReader::read(const char* key, std::string& into) {
  const nlohmann::json* value = find(key);
  if (!value) return;
  if (!value->is_string()) return fail(key, message(kValueText));
  into = value->get<std::string>();
}

void ObjectReader::read(const char* key, std::vector<double>& into) {
  const nlohmann::json* value = find(key);
  if (!value) return;
  if (!value->is_array()) return fail(key, message(kValueNumbers));
  std::vector<double> numbers;
  numbers.reserve(value->size());
  for (const nlohmann::json& entry : *value) {
    if (!entry.is_number() && !entry.is_null()) return fail(key, message(kValueNumbers));
    numbers.push_back(entry.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                      : entry.get<double>());
  }
  into = std::move(numbers);
}

const nlohmann::json* ObjectReader::object(const char* key) {
  const nlohmann::json* value = find(key);
  if (value && value->is_object()) return value;
  fail(key, message(kValueObject));
  return nullptr;
}

const nlohmann::json* ObjectReader::array(const char* key) {
  const nlohmann::json* value = find(key);
  if (value && value->is_array()) return value;
  fail(key, message(kValueList));
  return nullptr;
}

}  // namespace parallelarium

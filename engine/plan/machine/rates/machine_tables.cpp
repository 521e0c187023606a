// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/machine/rates/machine_tables.h"

#include <algorithm>
#include <functional>

namespace parallelarium {
namespace {

constexpr double kLargestSize = 1e24;

bool is_positive(const nlohmann::json& number) {
  return number.is_number() && number.get<double>() > 0 && number.get<double>() < kLargestSize;
}

// Ascending sizes of a table's axis.
void read_sizes(SettingsReader& reader, const char* key, std::vector<double>& into) {
  const nlohmann::json* json = reader.child(key);
  if (json == nullptr) return;
  if (json->is_array() && std::all_of(json->begin(), json->end(), is_positive))
    into = json->get<std::vector<double>>();
  if (into.empty() ||
      std::adjacent_find(into.begin(), into.end(), std::greater_equal<>()) != into.end())
    reader.fail(
        message("products-sizes", "{} must be a list of ascending sizes.", reader.dotted(key)));
}

// As many shares as the sizes ask for.
void read_shares(SettingsReader& reader, const char* key, std::size_t points,
                 std::vector<double>& into) {
  if (const nlohmann::json* shares = reader.child(key)) {
    const auto is_share = [](const nlohmann::json& share) {
      return is_positive(share) && share.get<double>() <= 1;
    };
    if (shares->is_array() && shares->size() == points &&
        std::all_of(shares->begin(), shares->end(), is_share))
      into = shares->get<std::vector<double>>();
  }
  if (into.empty())
    reader.fail(message("shares-count",
                        "{} must be a list of {} shares above 0 and at most 1, one for each size.",
                        reader.dotted(key), points));
}

Result<AttentionShares> read_attention(const nlohmann::json& json, const std::string& prefix) {
  AttentionShares attention;
  SettingsReader reader(json, prefix);
  read_sizes(reader, "rows", attention.rows);
  read_sizes(reader, "keys", attention.keys);
  read_origin(reader, attention.origin);
  const std::size_t points =
      attention.rows.size() * std::max<std::size_t>(1, attention.keys.size());
  read_shares(reader, "shares", points, attention.shares);
  if (reader.has("backward")) read_shares(reader, "backward", points, attention.backward);
  if (auto done = reader.finish(); !done) return done.error();
  return attention;
}

nlohmann::json to_json(const AttentionShares& attention) {
  nlohmann::json json = {{"rows", attention.rows},
                         {"shares", attention.shares},
                         {"origin", text_of(attention.origin)}};
  if (!attention.keys.empty()) json["keys"] = attention.keys;
  if (!attention.backward.empty()) json["backward"] = attention.backward;
  return json;
}

Result<ProductShares> read_products(const nlohmann::json& json, const std::string& prefix) {
  ProductShares products;
  SettingsReader reader(json, prefix);
  read_sizes(reader, "m", products.m);
  read_sizes(reader, "n", products.n);
  read_sizes(reader, "k", products.k);
  read_origin(reader, products.origin);
  const std::size_t points = products.m.size() * products.n.size() * products.k.size();
  read_shares(reader, "shares", points, products.shares);
  if (reader.has("input_grad")) read_shares(reader, "input_grad", points, products.input_grad);
  if (reader.has("weight_grad")) read_shares(reader, "weight_grad", points, products.weight_grad);
  if (reader.has("weight_grad_half"))
    read_shares(reader, "weight_grad_half", points, products.weight_grad_half);
  if (auto done = reader.finish(); !done) return done.error();
  return products;
}

nlohmann::json to_json(const ProductShares& products) {
  nlohmann::json json = {{"m", products.m},
                         {"n", products.n},
                         {"k", products.k},
                         {"shares", products.shares},
                         {"origin", text_of(products.origin)}};
  if (!products.input_grad.empty()) json["input_grad"] = products.input_grad;
  if (!products.weight_grad.empty()) json["weight_grad"] = products.weight_grad;
  if (!products.weight_grad_half.empty()) json["weight_grad_half"] = products.weight_grad_half;
  return json;
}

nlohmann::json to_json(const ExpertShares& experts) {
  nlohmann::json json = {{"rows", experts.rows},
                         {"forward", experts.forward},
                         {"input_grad", experts.input_grad},
                         {"weight_grad", experts.weight_grad},
                         {"origin", text_of(experts.origin)}};
  if (!experts.weight_grad_half.empty()) json["weight_grad_half"] = experts.weight_grad_half;
  return json;
}

Result<ExpertShares> read_experts(const nlohmann::json& json, const std::string& prefix) {
  ExpertShares experts;
  SettingsReader reader(json, prefix);
  read_sizes(reader, "rows", experts.rows);
  read_origin(reader, experts.origin);
  read_shares(reader, "forward", experts.rows.size(), experts.forward);
  read_shares(reader, "input_grad", experts.rows.size(), experts.input_grad);
  read_shares(reader, "weight_grad", experts.rows.size(), experts.weight_grad);
  if (reader.has("weight_grad_half"))
    read_shares(reader, "weight_grad_half", experts.rows.size(), experts.weight_grad_half);
  if (auto done = reader.finish(); !done) return done.error();
  return experts;
}

Result<PassShares> read_pass(const nlohmann::json& json, const std::string& prefix) {
  PassShares pass;
  SettingsReader reader(json, prefix);
  reader.text("kernel", pass.kernel);
  read_sizes(reader, "bytes", pass.bytes);
  read_origin(reader, pass.origin);
  read_shares(reader, "shares", pass.bytes.size(), pass.shares);
  if (auto done = reader.finish(); !done) return done.error();
  return pass;
}

Result<CollectiveTimes> read_times(const nlohmann::json& json, const std::string& prefix) {
  CollectiveTimes times;
  SettingsReader reader(json, prefix);
  reader.text("collective", times.collective);
  reader.whole("ranks", times.ranks, 2, 65'536);
  reader.number("link_bytes_per_second", times.link_bytes_per_second, 1, kLargestSize);
  read_sizes(reader, "bytes", times.bytes);
  read_origin(reader, times.origin);
  const nlohmann::json* seconds = reader.child("seconds");
  if (seconds != nullptr && seconds->is_array() && seconds->size() == times.bytes.size() &&
      std::all_of(seconds->begin(), seconds->end(), is_positive))
    times.seconds = seconds->get<std::vector<double>>();
  if (times.seconds.empty())
    reader.fail(message("seconds-count", "{} must be a list of {} times, one for each size.",
                        reader.dotted("seconds"), times.bytes.size()));
  if (auto done = reader.finish(); !done) return done.error();
  return times;
}

}  // namespace

void read_origin(SettingsReader& reader, Origin& origin) {
  std::string line = text_of(origin);
  reader.text("origin", line);
  origin = origin_of(line);
}

Result<Sourced> read_sourced(const nlohmann::json& json, const std::string& prefix) {
  Sourced number;
  SettingsReader reader(json, prefix);
  reader.number("value", number.value, 0, kLargestSize);
  read_origin(reader, number.origin);
  if (!reader.has("value") || !reader.has("origin"))
    reader.fail(message("origin-missing", "{} needs a value and its origin.",
                        prefix.substr(0, prefix.size() - 1)));
  if (auto done = reader.finish(); !done) return done.error();
  return number;
}

nlohmann::json to_json(const Sourced& number) {
  return {{"value", number.value}, {"origin", text_of(number.origin)}};
}

void read_tables(SettingsReader& reader, Machine& machine) {
  read_dotted(reader, "products", machine.products, read_products);
  read_dotted(reader, "fp8_products", machine.fp8_products, read_products);
  read_dotted(reader, "attention", machine.attention, read_attention);
  read_dotted(reader, "wide_attention", machine.wide_attention, read_attention);
  read_dotted(reader, "narrow_attention", machine.narrow_attention, read_attention);
  read_dotted(reader, "experts", machine.experts, read_experts);
  read_list(reader, "passes", machine.passes, read_pass);
  read_list(reader, "collective_times", machine.collective_times, read_times);
}

void put_tables(nlohmann::json& json, const Machine& machine) {
  if (!machine.products.shares.empty()) json["products"] = to_json(machine.products);
  if (!machine.fp8_products.shares.empty()) json["fp8_products"] = to_json(machine.fp8_products);
  if (!machine.attention.shares.empty()) json["attention"] = to_json(machine.attention);
  if (!machine.wide_attention.shares.empty())
    json["wide_attention"] = to_json(machine.wide_attention);
  if (!machine.narrow_attention.shares.empty())
    json["narrow_attention"] = to_json(machine.narrow_attention);
  if (!machine.experts.rows.empty()) json["experts"] = to_json(machine.experts);
  for (const PassShares& pass : machine.passes)
    json["passes"].push_back({{"kernel", pass.kernel},
                              {"bytes", pass.bytes},
                              {"shares", pass.shares},
                              {"origin", text_of(pass.origin)}});
  for (const CollectiveTimes& times : machine.collective_times)
    json["collective_times"].push_back({{"collective", times.collective},
                                        {"ranks", times.ranks},
                                        {"bytes", times.bytes},
                                        {"seconds", times.seconds},
                                        {"link_bytes_per_second", times.link_bytes_per_second},
                                        {"origin", text_of(times.origin)}});
}

}  // namespace parallelarium

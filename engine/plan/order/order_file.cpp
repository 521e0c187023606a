// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "engine/plan/order/order.h"

namespace parallelarium {

namespace {

constexpr std::uintmax_t kMostOrderBytes = 16'000'000;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // of UTF-8, as some editors write it

}  // namespace

// PyTorch's words start with a stage, ours with a letter.
Result<Order> order_from_either(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n,(\"");
  const bool is_pytorch =
      first != std::string_view::npos && text[first] >= '0' && text[first] <= '9';
  return is_pytorch ? order_from_pytorch(text) : order_from_text(text);
}

Result<std::string> text_of_order_file(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file || !std::filesystem::is_regular_file(path, error))
    return message("order-file-unread", "{} cannot be read.", path);
  if (size > kMostOrderBytes) {
    return message("order-file-large", "{} is larger than {} MB, so it is no file of orders.", path,
                   kMostOrderBytes / 1'000'000);
  }
  std::ostringstream content;
  content << file.rdbuf();
  std::string text = content.str();
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

}  // namespace parallelarium

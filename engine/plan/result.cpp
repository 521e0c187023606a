// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/result.h"

namespace parallelarium {

Message plain(std::string text) {
  Message result;
  result.text = std::move(text);
  return result;
}

Message figure(std::string text) {
  Message result = plain(std::move(text));
  result.id = "figure";
  return result;
}

Message make_message(std::string_view id, std::string_view pattern,
                     std::vector<Message> arguments) {
  Message result;
  result.id = id;
  result.kind = id.substr(0, id.find('.'));
  std::size_t written = 0;
  for (const Message& argument : arguments) {
    const std::size_t place = pattern.find("{}", written);
    assert(place != std::string_view::npos);
    result.text += pattern.substr(written, place - written);
    result.text += argument.text;
    written = place + 2;
  }
  result.text += pattern.substr(written);
  result.arguments = std::move(arguments);
  return result;
}

}  // namespace parallelarium

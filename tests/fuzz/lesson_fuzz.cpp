// SPDX-License-Identifier: Apache-2.0
// Feeds a lesson's two files to the reader, the text reader, the Markdown linter and the
// arithmetic. The input is lesson.json and text.en.md with a zero byte between them.
#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/lesson/files.h"
#include "engine/lesson/lesson.h"
#include "engine/lesson/play.h"

using namespace parallelarium;

namespace {

const nlohmann::json& schema() {
  static const nlohmann::json kSchema = [] {
    const Result<nlohmann::json> found = lesson_schema();
    if (!found) __builtin_trap();  // set PARALLELARIUM_LESSONS to the source's lessons/
    return *found;
  }();
  return kSchema;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const auto cut = input.find('\0');
  const std::string object = input.substr(0, cut);
  const std::string text = cut == std::string::npos ? "# T\n" : input.substr(cut + 1);
  const Symbols symbols = {{"p", 4}, {"m", 8}};
  (void)evaluate(object, symbols);
  (void)fill_in(text, symbols);
  if (size < 4096) (void)markdown_faults(text);
  const Result<Lesson> lesson =
      lesson_from_files({{"lesson.json", object}, {"text.en.md", text}}, schema());
  if (!lesson) {
    if (lesson.error().text.empty()) __builtin_trap();
    return 0;
  }
  const Symbols drawn = draw(*lesson, 1);
  for (std::size_t step = 0; step < lesson->steps.size(); ++step) {
    Context context;
    const Result<Settings> settings = settings_at(*lesson, step, drawn);
    if (settings) context.settings = *settings;
    context.drawn = drawn;
    Answer answer;
    answer.number = 0.5;
    answer.order = lesson->steps[step].order.start;
    (void)judge(lesson->steps[step], answer, context);
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/teaching/new_lesson.h"

#include <filesystem>
#include <fstream>

namespace parallelarium {

namespace {

constexpr const char* kLesson = R"lesson({
  "format": "parallelarium-lesson/1",
  "id": "ID",
  "version": 1,
  "minutes": 10,
  "requires": { "ranks": 4, "source": ["measured", "paced"], "gpu": false },
  "start": {
    "precision": "fp32",
    "attention": "unfused",
    "model": "gpt-tiny",
    "layers": 32,
    "mesh.pp": 4,
    "schedule": "gpipe",
    "microbatches": 4,
    "micro_batch": 1
  },
  "parameters": { "more": { "list": [5, 6, 7, 8, 9, 10, 11, 12] } },
  "steps": [
    { "id": "look", "kind": "read", "view": { "tab": "pipeline" }, "hide": ["formulas"] },
    {
      "id": "more-micro-batches",
      "kind": "predict",
      "view": { "tab": "pipeline" },
      "hide": ["bubble", "step", "lane", "formulas"],
      "reveal": { "microbatches": "=more" },
      "ask": {
        "metric": "bubble.of_total",
        "unit": "share",
        "answer": "(p - 1) / (more + p - 1)",
        "tolerance": { "absolute": 0.03 }
      },
      "options": [
        { "id": "over-ideal", "value": "(p - 1) / more", "misconception": "bubble-over-ideal" }
      ],
      "hints": 3
    },
    {
      "id": "run-it",
      "kind": "run",
      "view": { "tab": "pipeline" },
      "checks": [
        {
          "of": "run",
          "key": "bubble.of_total",
          "op": "==",
          "value": "predicted",
          "tolerance": { "absolute": 0.08 }
        }
      ]
    },
    {
      "id": "small-and-light",
      "kind": "goal",
      "setup": { "microbatches": 4 },
      "view": { "tab": "pipeline" },
      "allow": ["microbatches"],
      "checks": [
        { "of": "predicted", "key": "bubble.of_total", "op": "<=", "value": 0.22 },
        { "of": "predicted", "key": "held.peak", "op": "<=", "value": 16, "limit": true }
      ],
      "solution": { "microbatches": 16 },
      "tempting": { "microbatches": 32 },
      "hints": 3
    },
    { "id": "take-away", "kind": "read" }
  ]
}
)lesson";

constexpr const char* kText = R"lesson(# A new lesson

One paragraph for the index: what the lesson is about.

- tell one thing that the student can do afterwards

## look: Look first

What stands in front of the student, and what it means. {{p}} stages, {{m}} micro-batches.

## more-micro-batches: More micro-batches

**Predict first.** With {{more}} micro-batches instead of {{m}}, what share of the whole step is bubble?

### feedback over-ideal
{{share: guess}} is the bubble divided by the useful time. Of the whole step it is {{share: answer}}.

### right
Yes, {{share: answer}}: {{p - 1}} of {{more + p - 1}} slots are idle.

### wrong
You said {{share: guess}}; {{p - 1}} of {{more + p - 1}} slots are idle: {{share: answer}}.

### hint 1
A nudge: how many slots does a stage wait?

### hint 2
The idea: the first micro-batch has to reach the last stage.

### hint 3
The worked way: (p − 1) ÷ (m + p − 1).

### answer
The formula, and where it comes from: a source with its section.

## run-it: Run it

Press **Run**: real ranks train this way.

### right
Your ranks idled {{share: observed}} of the step; {{share: predicted}} was predicted.

### again
This run idled {{share: observed}}, and {{share: predicted}} was predicted. Run it again.

## small-and-light: Within a limit

**Your goal.** A bubble of at most 22 %, with at most 16 micro-batches held.

### right
Both hold.

### wrong
Not yet: see which line has a cross.

### hint 1
A nudge.

### hint 2
The idea.

### hint 3
The worked way: 16 micro-batches.

### answer
Why these numbers do it, and no smaller ones.

## take-away: Take away

What to remember, as a formula and a figure.
)lesson";

Result<void> write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return message("lesson-unwritten", "{} cannot be written.", path.string());
  return {};
}

}  // namespace

Result<void> write_new_lesson(const std::string& folder) {
  namespace fs = std::filesystem;
  const fs::path path = fs::path(folder).lexically_normal();
  const std::string id =
      path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
  const bool plain =
      !id.empty() && id.size() <= 48 && id.front() != '-' && id.back() != '-' &&
      id.find("--") == std::string::npos &&
      id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  if (!plain)
    return message("lesson-name",
                   "\"{}\" cannot be a lesson's id: small letters, digits and single hyphens can.",
                   id);
  std::error_code error;
  if (fs::exists(path, error) && (!fs::is_directory(path, error) || !fs::is_empty(path, error)))
    return message("lesson-exists", "{} is there already; nothing was changed.", path.string());
  fs::create_directories(path, error);
  if (error) return message("lesson-unwritten", "{} cannot be written.", path.string());
  std::string lesson = kLesson;
  lesson.replace(lesson.find("\"ID\""), 4, '"' + id + '"');
  if (Result<void> written = write(path / "lesson.json", lesson); !written) return written;
  return write(path / "text.en.md", kText);
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// The numbers of a class. They follow from lesson, class code and name. So a teacher can tell whose
// numbers a hand-in has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace parallelarium {

// The seed that draws the lesson's numbers. It ignores space around code and name, and the case of
// Latin letters. It is below 2^53, so that every reader of JSON keeps it.
std::uint64_t class_seed(std::string_view code, std::string_view name, std::string_view lesson);

// Whether a class code is that of an exam: one of its words is "exam". Everything that is no Latin
// letter separates words: "exam 7", "Exam2026".
bool says_exam(std::string_view code);
// The code that draws the numbers of the class's exam: the code itself if it says exam, else the
// code with "-exam" behind it. So nobody has met these numbers before.
std::string exam_code(std::string_view code);
// The code of the class that takes this exam: without the "-exam" that exam_code() adds.
std::string practice_code(std::string_view code);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// The numbers of a class: whoever plays a lesson with a class code and a name meets numbers that
// follow from the three, so a teacher can tell whose numbers a hand-in has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace parallelarium {

// The seed that draws the lesson's numbers. Space around code and name does not count, nor does
// whether Latin letters are large or small. It is below 2^53, so that every reader of JSON keeps
// it.
std::uint64_t class_seed(std::string_view code, std::string_view name, std::string_view lesson);

// Whether a class code says that it is of an exam: one of its words is "exam". What
// is no Latin letter parts words: "exam 7", "Exam2026".
bool says_exam(std::string_view code);
// The code that draws the numbers of the class's exam: its own if it says so, else with "-exam"
// behind it, so that nobody has met these numbers before.
std::string exam_code(std::string_view code);
// The code of the class whose exam this is: without the "-exam" that exam_code() puts behind it.
std::string practice_code(std::string_view code);

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// Whether Run can be pressed, what it says, and what else could be done: sentences that need all
// that the Session keeps.
#pragma once

#include <QString>
#include <optional>

#include "app/state/session.h"

namespace parallelarium {

// Whether setup() is of another Machine than this computer, and no rehearsal of that.
bool machine_is_elsewhere(const Session& session);
// Where the ranks would run: measured, oversubscribed, rehearsed.
Source expected_source(const Session& session);
// Why Run is disabled, or empty.
QString run_refusal(const Session& session);
// What the Run button says, and the same where there is little room: "Rehearse on 8 ranks" and
// "Rehearse". What its tooltip says beside it: how long a rehearsal takes, or empty.
QString run_label(const Session& session);
QString run_verb(const Session& session);
// A text that says to press **Run**, with the name that the button has now.
QString naming_run(QString markdown, const Session& session);
QString run_details(const Session& session);
// What a run does before its ranks run: that it measures this computer, and how long that takes;
// where it is measured already, that other programs disturbed that, or empty.
QString measuring_note(const Session& session);
// "Measuring this computer first, 40 %: products of matrices": the job that is under way.
QString job_text(const Session& session);
// Why the ranks of a valid Setup of this computer cannot run, most lasting first: what this version
// cannot execute, memory that is not there. With the field to change and values that would do,
// where there are any.
std::optional<Message> run_problem(const Session& session);
// What the shown prediction needs more memory than its Machine has, or none, also where that is not
// what a run would have: the cores' in place of GPUs that were never calibrated.
std::optional<Message> memory_problem(const Session& session);
// A larger model for ranks that are on GPUs of this computer, which a tiny one keeps waiting; none
// in a lesson, which chooses its own.
std::optional<Message> gpu_offer(const Session& session);
// Of a Setup that is of another Machine: that nothing can run on it from here, and what can be done
// instead.
QString elsewhere_text(const Session& session, const Setup& of);
// Of a small copy of setup() or a plan: what the button says, why it is disabled, or empty, and
// doing it: the copy of small_copy.h becomes setup() and runs; verify: "Prove it".
QString small_copy_label();
QString small_copy_refusal(const Session& session, const Setup& of);
void run_small_copy(Session& session, const Setup& of, bool verify);

}  // namespace parallelarium

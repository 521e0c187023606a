// SPDX-License-Identifier: GPL-3.0-or-later
// Whether Run can be pressed, what it says, and what else could be done. These sentences need the
// whole Session.
#pragma once

#include <QString>
#include <optional>

#include "app/state/session.h"

namespace parallelarium {

// Whether setup() is for another Machine than this computer, and is no rehearsal of that Machine.
bool machine_is_elsewhere(const Session& session);
// Where the ranks would run: measured, oversubscribed, rehearsed.
Source expected_source(const Session& session);
// Why Run is disabled, or empty.
QString run_refusal(const Session& session);
// The text of the Run button, in full and for little room: "Rehearse on 8 ranks" and "Rehearse".
// run_details() is the text of its tooltip beside that: how long a rehearsal takes, or empty.
QString run_label(const Session& session);
QString run_verb(const Session& session);
// A text that says to press **Run**, with the name that the button has now.
QString naming_run(QString markdown, const Session& session);
QString run_details(const Session& session);
// Says what a run does before its ranks run: it measures this computer, and how long that takes. If
// this computer is already measured, it says that other programs disturbed that, or is empty.
QString measuring_note(const Session& session);
// The job that is under way: "Measuring this computer first, 40 %: products of matrices".
QString job_text(const Session& session);
// Why the ranks of a valid Setup cannot run on this computer. The most lasting reason comes first:
// this version cannot execute it, then there is not enough memory. The Message has the field to
// change and values that would do, if there are any.
std::optional<Message> run_problem(const Session& session);
// Says that the shown prediction needs more memory than its Machine has. None if it fits, and if a
// run would have other memory: the prediction is for cores in place of GPUs that were never
// calibrated.
std::optional<Message> memory_problem(const Session& session);
// Offers a larger model for ranks on GPUs of this computer, since a tiny one keeps GPUs waiting.
// None in a lesson, which chooses its own model.
std::optional<Message> gpu_offer(const Session& session);
// Says that a Setup of another Machine cannot run here, and what can be done instead.
QString elsewhere_text(const Session& session, const Setup& of);
// The button that runs a small copy of setup() or of a plan: its label; why it is disabled, or
// empty; and its action. The action makes the copy of small_copy.h the setup() and runs it;
// `verify`: "Prove it".
QString small_copy_label();
QString small_copy_refusal(const Session& session, const Setup& of);
void run_small_copy(Session& session, const Setup& of, bool verify);

}  // namespace parallelarium

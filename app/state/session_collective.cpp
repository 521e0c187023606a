// SPDX-License-Identifier: GPL-3.0-or-later
// Running a collective, and sweeps over sizes.
#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/state/session.h"
#include "app/state/session_state.h"
#include "engine/wire/collective_messages.h"

namespace parallelarium {

CollectiveSession& Session::collectives() { return state_->collectives; }
const CollectiveSession& Session::collectives() const { return state_->collectives; }

// A run of the topic in front, which is not the Setup's.
void Session::start_topic() {
  state_->run_verifies = false;
  begin_request(tr("Starting the ranks"));
  RunRequest request =
      topic().run_request(collective_placement(topic().ranks()), state_->setup.run);
  state_->request = state_->engine->request(
      request.method, request.parameters,
      [this, keep = std::move(request.keep)](Result<nlohmann::json> answer) {
        const Result<void> kept = answer ? keep(*answer) : Result<void>(answer.error());
        finish_request(kept ? QString() : sentence(kept.error()));
      });
}

void Session::start_sweep(std::vector<CollectiveSpec> specs) {
  if (state_->run_state != RunState::kIdle || specs.empty() || question_open()) return;
  state_->sweep.assign(specs.rbegin(), specs.rend());
  state_->sweep_size = specs.size();
  state_->run_verifies = false;
  begin_request(sweep_text());
  continue_sweep();
}

QString Session::sweep_text() const {
  if (state_->sweep.empty()) return {};
  const CollectiveSpec& spec = state_->sweep.back();
  return tr("%1, %2").arg(algorithm_title(spec), bytes_text(spec.bytes));
}

// One request after the other: each is short, so that Cancel acts at once.
void Session::continue_sweep() {
  const CollectiveSpec spec = state_->sweep.back();
  state_->request = state_->engine->request(
      "collective", sweep_request(spec, collective_placement(spec.ranks), state_->setup.run),
      [this, spec](Result<nlohmann::json> answer) {
        const Result<CollectiveObservation> seen =
            answer ? collective_observation_from_json(*answer)
                   : Result<CollectiveObservation>(answer.error());
        if (!seen) return finish_request(sentence(seen.error()));
        if (!seen->correct)
          return finish_request(tr("%1: %2 cells of the result are wrong, so the measuring ends.")
                                    .arg(algorithm_title(spec))
                                    .arg(seen->wrong_cells));
        state_->collectives.keep_sweep(
            {spec, seen->source, seen->seconds, seen->bus_bandwidth, seen->on_gpus});
        state_->sweep.pop_back();
        if (state_->sweep.empty()) return finish_request({});
        state_->run_state = RunState::kRunning;
        state_->run_progress = 1 - double(state_->sweep.size()) / double(state_->sweep_size);
        state_->run_progress_text = sweep_text();
        Q_EMIT run_state_changed();
        continue_sweep();
      });
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// Running a collective, and sweeps over sizes.
#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/state/session.h"
#include "app/state/session_state.h"
#include "engine/wire/collective_messages.h"

namespace parallelarium {
namespace {

constexpr int kRunRepeats = 20, kSweepRepeats = 10, kWarmupRepeats = 3;

// On the devices that its prediction is of. GPUs are asked for as the user did: `auto` takes cores
// where their check fails.
void put_on(const Placement& placed, const RunSettings& asked, CollectiveRequest& request) {
  request.backend = placed.on_gpus() ? asked.backend : placed.backend;
  if (placed.on_gpus()) request.devices = asked.devices;
}

}  // namespace

CollectiveSession& Session::collectives() { return state_->collectives; }
const CollectiveSession& Session::collectives() const { return state_->collectives; }

bool Session::collective_in_front() const { return state_->collective_in_front; }

void Session::set_collective_in_front(bool in_front) {
  if (in_front == state_->collective_in_front) return;
  state_->collective_in_front = in_front;
  Q_EMIT run_state_changed();  // what Run says, and whether it may
  Q_EMIT view_changed();
}

void Session::start_collective() {
  const CollectiveSpec spec = state_->collectives.choice().spec;
  state_->run_verifies = false;
  begin_request(tr("Starting the ranks"));
  CollectiveRequest request{spec, kRunRepeats, kWarmupRepeats, true, rounding_rival_of(spec)};
  put_on(collective_placement(spec.ranks), state_->setup.run, request);
  state_->request = state_->engine->request(
      "collective", to_json(request), [this, spec](Result<nlohmann::json> answer) {
        Result<CollectiveObservation> seen = answer ? collective_observation_from_json(*answer)
                                                    : Result<CollectiveObservation>(answer.error());
        const Result<void> kept = seen ? state_->collectives.keep_run(spec, std::move(*seen))
                                       : Result<void>(seen.error());
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
  CollectiveRequest request{spec, kSweepRepeats, kWarmupRepeats, false, {}};
  put_on(collective_placement(spec.ranks), state_->setup.run, request);
  state_->request = state_->engine->request(
      "collective", to_json(request), [this, spec](Result<nlohmann::json> answer) {
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

// SPDX-License-Identifier: Apache-2.0
// The protocol of messages.h over two file descriptors.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <thread>

#include "engine/plan/result.h"
#include "engine/wire/rpc.h"

namespace parallelarium {

struct Watch;

// Reads requests on the calling thread; one run or calibration at a time works on another, so that
// it can be cancelled. Malformed messages are answered with an error.
class Server {
 public:
  Server(int input, int output) : input_(input), output_(output) {}
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Until the other side asks for shutdown or goes away. Returns kDone, or kInvalid where the byte
  // stream cannot be understood or ends within a message. A run under way is told to stop, but not
  // waited for.
  int serve();

  // Whether a run or calibration is under way.
  bool busy() const { return busy_; }

 private:
  using Job = std::function<Result<nlohmann::json>(const Watch&)>;
  bool handle(const nlohmann::json& message);  // false: end
  void answer(const RpcRequest& request);
  void start(const RpcRequest& request, Job job);
  void cancel(const nlohmann::json& id);
  void send(const nlohmann::json& message);

  int input_, output_;
  std::mutex output_mutex_;
  std::mutex job_mutex_;  // guards job_id_
  nlohmann::json job_id_;
  std::atomic<bool> busy_{false}, cancel_{false};
  std::thread job_;
};

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// `parallelarium-engine serve` as a process of its own, over pipes, as the window drives it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "engine/wire/messages.h"
#include "engine/wire/rpc.h"

extern char** environ;

namespace parallelarium {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

inline const char* const kEngine = PARALLELARIUM_BINARY_DIR "/parallelarium-engine";

class Engine {
 public:
  Engine() {
    int in[2], out[2];
    EXPECT_EQ(pipe2(in, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    std::string program = kEngine, verb = "serve";
    char* arguments[] = {program.data(), verb.data(), nullptr};
    EXPECT_EQ(posix_spawn(&pid_, kEngine, &actions, nullptr, arguments, environ), 0)
        << kEngine << " is not built";
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }
  ~Engine() {
    if (to_ >= 0) close(to_);
    if (!ended_) kill(pid_, SIGKILL);
    wait_for_end(5);
    close(from_);
  }

  void write_bytes(const std::string& bytes) {
    EXPECT_EQ(write(to_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void send(const json& message) { write_bytes(frame(message)); }
  void call(int id, const char* method, json params = json::object()) {
    send(rpc_request(id, method, std::move(params)));
  }
  void cancel(int id) { send(rpc_notification("$/cancelRequest", {{"id", id}})); }
  void close_input() {
    close(to_);
    to_ = -1;
  }

  // The next message, or null after `seconds` or at the end of the stream.
  json next(double seconds = 30) {
    const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
    while (true) {
      auto message = reader_.next();
      EXPECT_TRUE(message.ok());
      if (!message.ok()) return nullptr;
      if (message->has_value()) return **message;
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      pollfd look{from_, POLLIN, 0};
      if (left <= 0 || poll(&look, 1, static_cast<int>(left)) <= 0) return nullptr;
      char block[65536];
      const ssize_t count = read(from_, block, sizeof block);
      if (count <= 0) return nullptr;
      reader_.append({block, static_cast<std::size_t>(count)});
    }
  }
  // The answer to request `id`; progress on the way goes to `on_progress`.
  json answer(const json& id, const std::function<void(const json&)>& on_progress = {},
              double seconds = 60) {
    while (true) {
      const json message = next(seconds);
      if (message.is_null()) return nullptr;
      if (message.contains("method")) {
        if (on_progress) on_progress(message);
      } else if (message.at("id") == id) {
        return message;
      }
    }
  }

  // Exit status, or -signal, or nothing within `seconds`.
  std::optional<int> wait_for_end(double seconds) {
    const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
    while (!ended_ && Clock::now() < deadline) {
      int status = 0;
      if (waitpid(pid_, &status, WNOHANG) == pid_) {
        ended_ = true;
        status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    }
    return ended_ ? std::optional(status_) : std::nullopt;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  FrameReader reader_;
  bool ended_ = false;
  int status_ = 0;
};

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/cli/commands/command.h"
#include "engine/plan/settings/settings_reader.h"

namespace parallelarium {

std::string json_text(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string name_of_input(const std::string& path) {
  return path == kStandardStream ? "standard input" : path;
}

namespace {

constexpr int kWriterMs = 2000;  // that a pipe may wait for whoever writes to it

// Bytes of `file` to its end, into `content`; at most `most_bytes` and one block. Waits as long as
// something has a pipe open to write to it. Returns errno's number, ENODATA where nothing has.
int read_to_end(int file, std::size_t most_bytes, std::string& content) {
  char block[65536];
  bool waited = false;
  while (content.size() <= most_bytes) {
    const ssize_t count = read(file, block, sizeof block);
    pollfd readable{file, POLLIN, 0};
    if (count > 0) {
      content.append(block, static_cast<std::size_t>(count));
    } else if (count < 0 && errno == EAGAIN) {
      poll(&readable, 1, -1);
    } else if (count < 0 && errno != EINTR) {
      return errno;
    } else if (count == 0) {
      struct stat facts {};
      const bool pipe = fstat(file, &facts) == 0 && S_ISFIFO(facts.st_mode);
      const bool blocks = (fcntl(file, F_GETFL) & O_NONBLOCK) == 0;
      if (!content.empty() || !pipe || blocks) return 0;
      if (waited) return ENODATA;
      poll(&readable, 1, kWriterMs);
      waited = true;
    }
  }
  return 0;
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t most_bytes) {
  const bool standard = path == kStandardStream;
  const auto unreadable = [&](const char* why) {
    return message("file-unreadable", "Cannot read {}: {}.", name_of_input(path), why);
  };
  struct stat facts {};
  if (!standard && stat(path.c_str(), &facts) != 0) return unreadable(std::strerror(errno));
  if (!standard && !S_ISREG(facts.st_mode) && !S_ISFIFO(facts.st_mode))
    return message("file-not-file", "Cannot read {}: it is not a file.", path);
  // Not to wait for a writer, which a pipe may never have.
  const int file = standard ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return unreadable(std::strerror(errno));
  std::string content;
  const int fault = read_to_end(file, most_bytes, content);
  if (!standard) close(file);
  if (fault == ENODATA) return unreadable("it is a pipe, and nothing writes to it");
  if (fault != 0) return unreadable(std::strerror(fault));
  if (content.size() > most_bytes)
    return message("file-too-long", "{} is longer than {} MiB, which no such file should be.",
                   name_of_input(path), most_bytes >> 20);
  return content;
}

namespace {

Message unwritable(const std::string& path, int why) {
  return message("file-unwritable", "Cannot write {}: {}.", path, std::strerror(why));
}

// A device or pipe, such as /dev/stdout, cannot be renamed over.
bool is_plain(const std::string& path) {
  std::error_code ignored;
  return !std::filesystem::exists(path, ignored) || std::filesystem::is_regular_file(path, ignored);
}

// Opening a pipe waits for a reader, which it may never have.
std::optional<Message> pipe_without_reader(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0 || !S_ISFIFO(facts.st_mode)) return std::nullopt;
  const int file = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (file >= 0) close(file);
  if (file >= 0 || errno != ENXIO) return std::nullopt;
  return message("file-no-reader", "Cannot write {}: it is a pipe, and nothing reads from it.",
                 path);
}

// Why the path is nothing to write to, where that can be told before.
std::optional<Message> unfit(const std::string& path) {
  std::error_code ignored;
  if (path == kStandardStream)
    return message("file-printed", "This is not printed: name a file in place of “-”.");
  if (std::filesystem::is_directory(path, ignored)) return unwritable(path, EISDIR);
  return pipe_without_reader(path);
}

std::string part_of(const std::string& path) { return fmt::format("{}.{}.part", path, getpid()); }

}  // namespace

Result<void> can_write(const std::string& path) {
  if (const auto why = unfit(path)) return *why;
  if (!is_plain(path)) {
    if (access(path.c_str(), W_OK) == 0) return {};
    return unwritable(path, errno);
  }
  const std::string part = part_of(path);
  std::FILE* file = std::fopen(part.c_str(), "wb");
  if (!file) return unwritable(path, errno);
  std::fclose(file);
  std::remove(part.c_str());
  return {};
}

Result<void> write_file(const std::string& path, const std::string& content) {
  const auto fail = [&path](int why) { return unwritable(path, why); };
  if (const auto why = unfit(path)) return *why;
  const bool plain = is_plain(path);
  const std::string target = plain ? part_of(path) : path;
  std::FILE* file = std::fopen(target.c_str(), "wb");
  if (!file) return fail(errno);
  const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size() &&
                       std::fflush(file) == 0;
  int why = errno;
  const bool closed = std::fclose(file) == 0;
  if (written && !closed) why = errno;
  if (written && closed && (!plain || std::rename(target.c_str(), path.c_str()) == 0)) return {};
  if (written && closed) why = errno;
  if (plain) std::remove(target.c_str());
  return fail(why);
}

Message about_file(const std::string& path, Message why) {
  why.text = name_of_input(path) + ": " + why.text;
  return why;
}

Result<nlohmann::json> read_json(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (!text) return text.error();
  Result<nlohmann::json> json = parse_json(*text);
  if (!json) return about_file(path, json.error());
  return json;
}

}  // namespace parallelarium

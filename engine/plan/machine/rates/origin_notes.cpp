// SPDX-License-Identifier: Apache-2.0
// The phrases that notes of an origin are made of.
#include <algorithm>
#include <cassert>
#include <utility>

#include "engine/plan/machine/rates/origin.h"

namespace parallelarium {
namespace {

struct OriginPhrase {
  SentenceId id;
  std::string_view english;  // with {} for each argument
};

constexpr OriginPhrase kOriginPhrases[] = {
    OriginPhrase{"origin-note-only-node", "as within this computer, which is the only node"},
    OriginPhrase{"origin-note-products-at-peak",
                 "products at peak, so that times are lower bounds"},
    OriginPhrase{"origin-note-peak", "the peak, so that times are lower bounds"},
    OriginPhrase{"origin-note-best-product", "best matrix product"},
    OriginPhrase{"origin-note-best-bf16", "best product in bf16"},
    OriginPhrase{"origin-note-best-fp8", "best product in FP8, with its copies"},
    OriginPhrase{"origin-note-slowest-pair", "the slowest pair"},
    OriginPhrase{"origin-note-slowest-kind", "{}, the slowest kind"},
    OriginPhrase{"origin-note-rate-of-fp32", "the rate of fp32"},
    OriginPhrase{"origin-note-bf16-failed", "in bf16 it failed: {}"},
    OriginPhrase{"origin-note-copy", "a copy"},
    OriginPhrase{"origin-note-card-each", "one for each device"},
    OriginPhrase{"origin-note-measured-step", "{} measured step"},
    OriginPhrase{"origin-note-measured-steps", "{} measured steps"},
    OriginPhrase{"origin-note-one-way", "one way"},
    OriginPhrase{"origin-note-one-way-over-one", "one way over one link"},
    OriginPhrase{"origin-note-one-way-specified", "of {} one way by specification"},
    OriginPhrase{"origin-note-both-ways-superchip", "{} both ways for the two GPUs of a superchip"},
    OriginPhrase{"origin-note-both-ways", "{} both ways together"},
    OriginPhrase{"origin-note-both-ways-links", "{} of one chip both ways over {} links"},
    OriginPhrase{"origin-note-share-of-links", "{} of {} links of {}"},
    OriginPhrase{"origin-note-links", "{} links of {}"},
    OriginPhrase{"origin-note-bridge", "NVLink bridge"},
    OriginPhrase{"origin-note-bridge-of-two",
                 "an NVLink bridge joins two cards only, so a ring of four passes PCIe"},
    OriginPhrase{"origin-note-no-nvlink", "there is no NVLink"},
    OriginPhrase{"origin-note-same-nvlink", "the same NVLink"},
    OriginPhrase{"origin-note-through-host", "through host memory"},
    OriginPhrase{"origin-note-no-peer-access", "GeForce drivers switch peer access off"},
    OriginPhrase{"origin-note-per-gpu", "{} per GPU"},
    OriginPhrase{"origin-note-per-port", "{} per port"},
    OriginPhrase{"origin-note-ports", "{} InfiniBand ports for {} GPUs"},
    OriginPhrase{"origin-note-data-center-network", "{} of the data center network"},
    OriginPhrase{"origin-note-one-gpu", "of one GPU"},
    OriginPhrase{"origin-note-one-chip", "of one chip"},
    OriginPhrase{"origin-note-gpus-in", "{} of {} GPUs in {}"},
    OriginPhrase{"origin-note-gpus", "{} of {} GPUs"},
    OriginPhrase{"origin-note-dense", "{} dense"},
    OriginPhrase{"origin-note-with-sparsity", "half of the figure with sparsity"},
    OriginPhrase{"origin-note-quarter-of-fp8", "a quarter of the rate of FP8 with sparsity"},
    OriginPhrase{"origin-note-without-sparsity", "without sparsity"},
    OriginPhrase{"origin-note-outside-tensor-cores", "{} outside tensor cores"},
    OriginPhrase{"origin-note-fp32-accumulate", "{} and {} tensor cores with FP32 accumulate"},
    OriginPhrase{"origin-note-fp16-alone",
                 "its tensor cores multiply FP16 alone, and this is bf16"},
    OriginPhrase{"origin-note-of-vector-units", "{} of the vector units"},
    OriginPhrase{"origin-note-vector-units", "of the vector units"},
    OriginPhrase{"origin-note-vector-lanes", "{} cores with {} lanes of {} units each at {}"},
    OriginPhrase{"origin-note-times-of", "{} times {}"},
    OriginPhrase{"origin-note-workstation", "as of the Workstation Edition"},
    OriginPhrase{"origin-note-part-of", "{} of {}"},
    OriginPhrase{"origin-note-collected", "collected with {} on {}"},
    OriginPhrase{"origin-note-products", "products"},
    OriginPhrase{"origin-note-attention", "attention"},
    OriginPhrase{"origin-note-collectives", "collectives"},
    OriginPhrase{"origin-note-fp8-products", "products of FP8 without the passes that make it"},
    OriginPhrase{"origin-note-nothing-of-its-own", "of its own nothing is published"},
    OriginPhrase{"origin-note-ring-step-network", "ring step over the network, Simple"},
    OriginPhrase{"origin-note-ring-step", "ring step over {}, Simple"},
    OriginPhrase{"origin-note-collectives-on", "collectives on {}"},
    OriginPhrase{"origin-note-latencies-and-shares", "latencies and shares"},
    OriginPhrase{"origin-note-all-scores", "of all scores"},
    OriginPhrase{"origin-note-half-causal", "half of them for causal ones"},
    OriginPhrase{"origin-note-mean-of-step", "mean of the products of a training step on {}"},
    OriginPhrase{"origin-note-products-of-step", "products of a training step on {}"},
    OriginPhrase{"origin-note-mean-of-grouped", "mean of grouped products on {}"},
    OriginPhrase{"origin-note-grouped-of-step", "grouped products of a training step on {}"},
    OriginPhrase{"origin-note-reaches-counting",
                 "dispatch to {} reaches {} of {}, counting the eighth that stays on its node"},
    OriginPhrase{"origin-note-reaches", "{} reaches {} of {} on {}"},
    OriginPhrase{"origin-note-read-everywhere", "read of {} on every processor"},
    OriginPhrase{"origin-note-read", "read of {}"},
    OriginPhrase{"origin-note-same-kind", "on an {}, of the same kind"},
    OriginPhrase{"origin-note-copy-of", "copy of {}"},
    OriginPhrase{"origin-note-cycles-at", "{} cycles at {}"},
    OriginPhrase{"origin-note-cycles", "{} cycles"},
    OriginPhrase{"origin-note-card-with-pcie", "on the card with PCIe"},
    OriginPhrase{"origin-note-nearer-half", "of the nearer half"},
    OriginPhrase{"origin-note-bus-bandwidth-of", "all-reduce bus bandwidth of {}"},
    OriginPhrase{"origin-note-bus-bandwidth", "all-reduce bus bandwidth"},
    OriginPhrase{"origin-note-by-maintainer", "by a maintainer of {}"},
    OriginPhrase{"origin-note-without-sharp", "without NVLink SHARP"},
    OriginPhrase{"origin-note-at-bytes", "at {}"},
    OriginPhrase{"origin-note-achievable-matmul", "maximum achievable matmul FLOPS"},
    OriginPhrase{"origin-note-median-of", "median of {} products of at least {} each way"},
    OriginPhrase{"origin-note-short-bursts", "short bursts"},
    OriginPhrase{"origin-note-mean-of-products", "mean of the {} products of {} rows and more"},
    OriginPhrase{"origin-note-shapes-of", "shapes of {} on {}"},
    OriginPhrase{"origin-note-stage-transfers",
                 "transfers between stages of PyTorch with the host's part"},
    OriginPhrase{"origin-note-mean-of-runs", "each the mean of {} runs"},
    OriginPhrase{"origin-note-transfers-inside",
                 "{} of {} and {} of {} transfers of the two small sizes inside nodes"},
    OriginPhrase{"origin-note-line-through-them", "less on a line through them"},
    OriginPhrase{"origin-note-processors", "{} of {} processors communicate"},
    OriginPhrase{"origin-note-hop", "about {} a hop"},
    OriginPhrase{"origin-note-pods", "pods of {} GPUs"},
    OriginPhrase{"origin-note-between-pods", "{} between pods"},
    OriginPhrase{"origin-note-rows", "{} rows"},
    OriginPhrase{"origin-note-steps", "{} steps"},
    OriginPhrase{"origin-note-version", "of the {} version"},
    OriginPhrase{"origin-note-limited", "of GPUs limited to {}"},
    OriginPhrase{"origin-note-llama-rows", "the {} Llama rows of {} micro-batches and {} tokens"},
    OriginPhrase{"origin-note-is-published", "{} is published"},
    OriginPhrase{"origin-note-compiled-and-tp",
                 "FSDP, compiled, and {} in {} with plain and asynchronous TP"},
    OriginPhrase{"origin-note-as-of", "as of {}"},
    OriginPhrase{"origin-note-of", "of {}"},
    OriginPhrase{"origin-note-shared-one", "{} shared by {} core"},
    OriginPhrase{"origin-note-shared", "{} shared by {} cores"},
    OriginPhrase{"origin-note-on-device", "on {}"},
    OriginPhrase{"origin-note-on-one", "on one {} on {}"},
    OriginPhrase{"origin-note-assumed-start", "beside an assumed {} to start an op"},
    OriginPhrase{"origin-note-bytes-of-pass",
                 "bytes that a pass counts beside those that PyTorch moves op by op for it"},
    OriginPhrase{"origin-note-with-derivatives", "{} with their derivatives"},
    OriginPhrase{"origin-note-of-bandwidth", "at {} of the bandwidth"},
};

// So long a note is no phrase; it is kept as it is, without a search for one.
constexpr std::size_t kLongestNote = 200;

// Whether the text is the pattern with something in each of its places, which are then the
// arguments: the shortest that fit.
bool fits(std::string_view pattern, std::string_view text,
          std::vector<std::string_view>& arguments) {
  const std::size_t place = pattern.find("{}");
  if (place == pattern.npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, place))) return false;
  pattern.remove_prefix(place + 2);
  text.remove_prefix(place);
  if (pattern.empty()) {
    if (!text.empty()) arguments.push_back(text);
    return !text.empty();
  }
  const std::string_view next = pattern.substr(0, pattern.find("{}"));  // ends the argument
  for (std::size_t end = text.find(next, 1); end != text.npos; end = text.find(next, end + 1)) {
    arguments.push_back(text.substr(0, end));
    if (fits(pattern, text.substr(end), arguments)) return true;
    arguments.pop_back();
  }
  return false;
}

// Whether two words of small letters stand in a row. They are English that a person wrote, and no
// name: with a phrase around them, they would make a sentence of two languages.
bool is_prose(std::string_view text) {
  int words = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    const bool small = word.size() > 1 && std::all_of(word.begin(), word.end(),
                                                      [](char c) { return c >= 'a' && c <= 'z'; });
    words = small ? words + 1 : 0;
    if (words == 2) return true;
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return false;
}

}  // namespace

Origin with_note(Origin origin, SentenceId id, std::vector<std::string> arguments) {
  origin.notes.push_back({std::string(id.text), std::move(arguments)});
  return origin;
}

// Of several phrases that fit, the one with the most words of its own says what is meant.
OriginNote origin_note_of(std::string_view text) {
  OriginNote best{{}, {std::string(text)}};
  if (text.size() > kLongestNote) return best;
  std::size_t most = 0;
  std::vector<std::string_view> arguments;
  for (const OriginPhrase& phrase : kOriginPhrases) {
    arguments.clear();
    if (!fits(phrase.english, text, arguments)) continue;
    // What a program said stands behind a colon.
    const bool quotes = phrase.english.ends_with(": {}");
    if (!quotes && std::any_of(arguments.begin(), arguments.end(), is_prose)) continue;
    const std::size_t own = phrase.english.size() - 2 * arguments.size();
    if (own <= most) continue;
    most = own;
    best = {std::string(phrase.id.text), {arguments.begin(), arguments.end()}};
  }
  return best;
}

Message message_of(const OriginNote& note) {
  std::vector<Message> arguments;
  for (const std::string& argument : note.arguments) {
    const bool number = !argument.empty() && argument[0] >= '0' && argument[0] <= '9';
    arguments.push_back(number ? figure(argument) : plain(argument));
  }
  if (note.id.empty()) return std::move(arguments.front());
  const auto* const phrase =
      std::find_if(std::begin(kOriginPhrases), std::end(kOriginPhrases),
                   [&](const OriginPhrase& of) { return of.id.text == note.id; });
  assert(phrase != std::end(kOriginPhrases));
  return make_message(phrase->id.text, phrase->english, std::move(arguments));
}

}  // namespace parallelarium

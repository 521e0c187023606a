// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/model/hugging_face/hugging_face_beyond.h"

#include <algorithm>

#include "engine/plan/text/phrases.h"

namespace parallelarium {
namespace {

// The parts that are left out, with their parameters.
class LeftOut {
 public:
  LeftOut(const Family& family) : beyond_(family.beyond) {}  // NOLINT

  void add(Beyond part, std::int64_t parameters, Message name) {
    if ((beyond_ & part) == 0) return;
    parts_.push_back(std::move(name));
    parameters_ += parameters;
  }
  const std::vector<Message>& parts() const { return parts_; }
  std::int64_t parameters() const { return parameters_; }

 private:
  unsigned beyond_;
  std::vector<Message> parts_;
  std::int64_t parameters_ = 0;
};

// Outputs of the products that make queries, keys and values.
std::int64_t qkv_outputs(const Model& model, std::int64_t head_dim) {
  const LatentAttention& latent = model.latent;
  return latent.kv_rank > 0 ? latent.q_rank + latent.kv_rank + latent.rope_dim
                            : (model.heads + 2 * model.kv_heads) * head_dim;
}

// Layers that choose tokens themselves; the others take the choice of a layer before them.
std::int64_t indexers(const HuggingFaceConfig& config, std::int64_t layers) {
  const nlohmann::json* types = config.find({"indexer_types"});
  if (types == nullptr || !types->is_array()) return layers;
  return layers - std::count(types->begin(), types->end(), "shared");
}

LeftOut left_out(HuggingFaceConfig& config, const Family& family, const Model& model) {
  const std::int64_t L = model.layers, C = model.hidden, H = model.heads;
  const std::int64_t D = model.head_dim > 0 ? model.head_dim : C / H;
  const std::int64_t E = model.experts.count;
  const std::int64_t expert_layers = E > 0 ? L - model.experts.first_dense : 0;
  LeftOut left(family);
  left.add(kQkvBiases, L * qkv_outputs(model, D),
           message("left-qkv-biases", "the biases of queries, keys and values"));
  left.add(kOutputBiases, L * C,
           message("left-output-biases", "the biases of the projection after attention"));
  left.add(kMlpBiases, (L - expert_layers) * ((family.gated ? 2 : 1) * model.ffn + C),
           message("left-mlp-biases", "the biases of the MLPs"));
  left.add(kHeadNorms, L * 2 * D, message("left-norms", "the norms of queries and keys"));
  left.add(kWideNorms, L * (H + model.kv_heads) * D,
           message("left-norms", "the norms of queries and keys"));
  left.add(kOuterNorms, L * 2 * C,
           message("left-outer-norms", "the norms after attention and after the MLP"));
  left.add(kExpertBiases, expert_layers * (E * (2 * model.experts.ffn + C) + E + H),
           message("left-expert-biases",
                   "the biases of experts and routers and the sinks of attention"));
  left.add(kSharedGates, expert_layers * C,
           message("left-shared-gates", "the gates of the shared experts"));
  left.add(kPositionRows, 2 * C, message("left-position-rows", "two rows of the positions' table"));
  left.add(kEmbeddingNorm, 2 * C, message("left-embedding-norm", "the norm after the token table"));
  left.add(kHeadBias, model.vocab, message("left-head-bias", "the biases of the output head"));
  if ((family.beyond & kIndexer) != 0) {
    constexpr std::int64_t kMost = 1 << 12;  // keeps the product in range
    const std::int64_t heads = std::min(config.whole({"index_n_heads"}, 0), kMost);
    const std::int64_t width = std::min(config.whole({"index_head_dim"}, 0), kMost);
    left.add(kIndexer,
             indexers(config, L) *
                 (model.latent.q_rank * heads * width + C * (width + heads) + 2 * width),
             message("left-indexer", "the indexers of sparse attention"));
  }
  return left;
}

}  // namespace

void note_beyond(HuggingFaceConfig& config, const Family& family, const Model& model) {
  const LeftOut left = left_out(config, family, model);
  if (!left.parts().empty()) {
    const auto all = static_cast<double>(count_parameters(model).total);
    config.note(message(
        "import-left-out", "The counts leave out {}: {} parameters, {} % of what is counted.",
        listed(left.parts()), left.parameters(),
        figure(fmt::format("{:.2g}", 100 * static_cast<double>(left.parameters()) / all))));
  }
  const std::int64_t norm = (model.norm == Norm::kLayer ? 2 : 1) * model.hidden;
  if ((family.beyond & kOneNorm) != 0)
    config.note(message("import-one-norm",
                        "A layer of this model has one norm, and two are counted: {} parameters "
                        "too many.",
                        model.layers * norm));
  if ((family.beyond & kBareNorms) != 0)
    config.note(message("import-bare-norms",
                        "The norms of this model have no parameters, and those of usual norms are "
                        "counted: {} parameters too many.",
                        (2 * model.layers + 1) * norm));
  if ((family.beyond & kUnbiasedNorms) != 0)
    config.note(message("import-unbiased-norms",
                        "The layer norms of this model have gains alone; they are counted as RMS "
                        "norms, which have as many parameters."));
  if ((family.beyond & kSideBySide) != 0)
    config.note(message("import-side-by-side",
                        "Attention and MLP of a layer read the same input in this model; here the "
                        "MLP comes after attention, so TP sends twice as often as it has to."));
  if (const std::int64_t layers = config.whole({"num_nextn_predict_layers", "num_mtp_layers"}, 0);
      layers > 0)
    config.note(message("import-prediction",
                        "num_nextn_predict_layers is {}: what predicts tokens after the next one "
                        "is left out of the counts.",
                        layers));
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// The settings of a model: the keys of its files, and the options that change its shape.
#pragma once

#include "engine/plan/model/model.h"
#include "engine/plan/settings/setting.h"

namespace parallelarium {

const SettingTable<Model>& model_settings();

// Brings along what a person who changed the shape expects. The inner width follows if it was the
// default one, and key/value heads follow if they were all heads. A published split of other layers
// goes. A dense model that gets experts has two of them for a token, each as wide as its MLP. The
// model is then "custom", unless it is a preset again.
void follow_shape(Model& model, const Model& before);

}  // namespace parallelarium

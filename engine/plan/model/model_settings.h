// SPDX-License-Identifier: Apache-2.0
// The settings of a model: the keys of its files, and the options that change its shape.
#pragma once

#include "engine/plan/model/model.h"
#include "engine/plan/settings/setting.h"

namespace parallelarium {

const SettingTable<Model>& model_settings();

// What a person who changed the shape expects to follow: the inner width where it was the default
// one, key/value heads where they were all heads, no published split of other layers. The model is
// then "custom", unless it is a preset again.
void follow_shape(Model& model, const Model& before);

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Makes ":/fonts/" and ":/icons/" known. Called before apply_theme(); outside of any namespace,
// because Q_INIT_RESOURCE must be.
void load_resources();

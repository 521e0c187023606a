// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/resources.h"

#include <QDir>
#include <QtGlobal>

void load_resources() { Q_INIT_RESOURCE(parallelarium); }

// All of the Transformer family.
#pragma once

#include "fovea/model/language_model.h"
#include "fovea/model/transformer_heads.h"
#include "fovea/model/transformer_translator.h"

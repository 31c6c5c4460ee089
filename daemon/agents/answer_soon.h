// An answer that is known at once, given as the interface promises: not before Send has returned.
#pragma once

#include <memory>

#include "agents/alarms.h"
#include "agents/provider.h"

namespace cupilot::agents {

std::unique_ptr<ModelCall> AnswerSoon(Alarms& alarms, ModelResult result, TextHandler on_text,
                                      AnswerHandler done);

}  // namespace cupilot::agents

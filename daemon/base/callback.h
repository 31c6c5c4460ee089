// The one asynchronous signature: void Op(arguments..., Callback<T> done).
#pragma once

#include "base/result.h"
#include "base/unique_function.h"

namespace cupilot::base {

// Called exactly once, on the loop thread, never before the operation that took it has returned.
template <class T = void>
using Callback = UniqueFunction<void(Result<T>)>;

}  // namespace cupilot::base

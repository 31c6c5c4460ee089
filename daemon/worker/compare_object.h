// A kernel's code in the user's object beside the code of our own text of it: evidence about the
// text is evidence about the program only where both are the same.
#pragma once

#include "base/result.h"
#include "protocol/compare_object.h"

namespace cupilot::worker {

// Compiles our text as the object was compiled (once: builds are kept) and compares. What the user
// can change is in the reply; errors say nothing about the object. kNotFound: it is not there.
base::Result<protocol::CompareObjectReply> CompareObject(
    const protocol::CompareObjectRequest& request);

}  // namespace cupilot::worker

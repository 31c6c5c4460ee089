// op "compare_object" of build workers: whether a kernel in the user's object is the code that our
// own text of it is compiled to. GPUs. Pure values.
#pragma once

#include <string>

#include "base/result.h"
#include "protocol/worker_messages.h"
#include "records/json.h"

namespace cupilot::protocol {

struct CompareObjectRequest {
  BuildRequest original;  // our text, as_compiled
  std::string object;     // absolute path
  std::string kernel;     // qualified name in our text
  std::string signature;  // mangled name in the object
  std::string instance;   // of a kernel without one (records::Kernel::instance)
};

struct CompareObjectReply {
  // What tells the two apart, as source::WhyCodeDiffers says it. Both empty: nothing does.
  std::string difference;
  std::string not_compared;  // why nothing is known, with what to do
  // The object's own code for the GPU, where it differs: a file that can be loaded, and the mangled
  // name of the kernel in it.
  std::string image;
  std::string entry;
  std::string not_loadable;  // why there is no such file
};

records::Json ToJson(const CompareObjectRequest& request);
base::Result<CompareObjectRequest> ParseCompareObjectRequest(const records::Json& json);
records::Json ToJson(const CompareObjectReply& reply);
base::Result<CompareObjectReply> ParseCompareObjectReply(const records::Json& json);

}  // namespace cupilot::protocol

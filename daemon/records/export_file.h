// What `cupilot export` writes (cupilot.export/1, cache/FORMAT.md), as another machine reads it. It
// comes from anywhere: nothing of it is believed but its form.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/evaluation.h"
#include "records/json.h"
#include "records/pool_entry.h"
#include "records/variant.h"

namespace cupilot::records {

inline constexpr const char* kExportSchema = "cupilot.export/1";

struct ExportFile {
  struct Tried {
    Variant variant;  // its id is that of its text
    std::vector<Evaluation> evaluations;
  };
  // What the user decided there.
  struct Decision {
    bool pinned = false;  // else rejected
    std::string variant;
    std::string kernel;  // label
    std::string title;
    std::string date;
  };
  struct OfKernel {
    std::string kernel_key;
    std::vector<Tried> variants;
    std::vector<Decision> marks;
  };
  std::vector<OfKernel> kernels;
  std::optional<PoolFile> strategies;
};

// kInvalidArgument names the path of what is wrong. Keys that are not known are left alone.
base::Result<ExportFile> ParseExportFile(const Json& json);
// A document that says the same.
Json ToJson(const ExportFile& file);

}  // namespace cupilot::records

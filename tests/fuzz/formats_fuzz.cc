#include "records/compile_command.h"
#include "records/evaluation.h"
#include "records/export_file.h"
#include "records/json.h"
#include "records/kernel.h"
#include "records/lock.h"
#include "records/pool_entry.h"
#include "records/selection.h"
#include "records/settings.h"
#include "records/variant.h"
#include "records/workload.h"
#include "tests/fuzz/fuzz_targets.h"

namespace cupilot::fuzz {
namespace {

// What was understood, written and read again, is the same document.
template <class T>
std::string ReadsBack(const records::Json& json, base::Result<T> (*parse)(const records::Json&)) {
  const auto value = parse(json);
  if (!value) return {};
  const records::Json written = ToJson(*value);
  const auto text = records::ParseJson(records::PrettyJson(written));
  if (!text) return "what was written is not JSON: " + text.error().message;
  const auto again = parse(*text);
  if (!again) return "not read again: " + again.error().message + "\n" + written.dump();
  if (ToJson(*again) != written) return "read otherwise: " + written.dump();
  return {};
}

std::string LockReadsBack(std::string_view bytes) {
  const auto lock = records::ParseLock(bytes);
  if (!lock) return {};
  const std::string text = records::LockText(*lock);
  const auto again = records::ParseLock(text);
  if (!again) return "a lock is not read again: " + again.error().message;
  return records::LockText(*again) == text ? "" : "a lock is read otherwise";
}

}  // namespace

// A document of any of our formats.
std::string Formats(std::string_view bytes) {
  if (std::string wrong = LockReadsBack(bytes); !wrong.empty()) return wrong;
  const auto json = records::ParseJson(bytes);
  if (!json) return {};
  for (std::string wrong :
       {ReadsBack<records::Selection>(*json, records::ParseSelection),
        ReadsBack<records::Kernel>(*json, records::ParseKernel),
        ReadsBack<records::Variant>(*json, records::ParseVariant),
        ReadsBack<records::Strategy>(*json, records::ParseStrategy),
        ReadsBack<records::Workload>(*json, records::ParseWorkload),
        ReadsBack<records::Evaluation>(*json, records::ParseEvaluation),
        ReadsBack<records::ExportFile>(*json, records::ParseExportFile),
        ReadsBack<records::PoolFile>(*json, records::ParsePoolFile),
        ReadsBack<records::CompileCommand>(*json, records::ParseCompileCommand)}) {
    if (!wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace cupilot::fuzz

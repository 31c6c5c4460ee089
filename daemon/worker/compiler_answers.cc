#include "worker/compiler_answers.h"

#include <utility>

#include "records/compile_command.h"
#include "records/read_parts.h"
#include "records/reader.h"
#include "source/swap/ask_compiler.h"
#include "source/swap/compiled_text.h"

namespace cupilot::worker {

using records::Json;

bool CompilerAnswers::AddTo(Json& request) {
  constexpr std::size_t kMostKnown = 64;
  if (!request.is_object() || !request.contains("params")) return false;
  Json& params = request["params"];
  if (!params.is_object() || !params.contains("command")) return false;
  auto command = records::ParseCompileCommand(params["command"]);
  if (!command || command->arguments.empty() || command->setup) return false;
  const std::string key =
      records::ToJson(*command).dump(-1, ' ', false, Json::error_handler_t::replace);
  const bool scans = request.value("op", "") == "scan";
  auto known = setups_.find(key);
  if (known == setups_.end() || scans) {
    if (setups_.size() >= kMostKnown) setups_.clear();
    auto answer = source::AskCompiler(*command);
    known = setups_.insert_or_assign(key, answer ? records::ToJson(answer->setup) : Json()).first;
    if (scans && answer) {
      params["passes"] = records::ArrayJson(answer->passes);
      params["compiled"] = records::ArrayJson(source::Summarise(answer->passes));
      params["entered"] = answer->files;
    } else if (scans) {
      params["compiler_error"] = answer.error().message;
    }
  }
  if (!known->second.is_null()) params["command"]["setup"] = known->second;
  return scans || !known->second.is_null();
}

}  // namespace cupilot::worker

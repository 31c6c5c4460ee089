#include "mechanical_request.h"

#include <utility>

#include "base/file.h"

namespace cupilot::source {

base::Result<SwapRequest> MechanicalRequest(const std::string& source, const std::string& file,
                                            std::size_t program,
                                            const std::vector<std::string>& targets) {
  TRY_ASSIGN(const std::string text, base::ReadFile(file));
  TRY_ASSIGN(const records::Json json, records::ParseJson(text));
  const records::Json& programs = json["programs"];
  if (program >= programs.size()) {
    return base::Fail(base::NotFound("there are " + std::to_string(programs.size()) + " programs"));
  }
  SwapRequest request;
  request.source = source;
  request.unit = "mechanical" + std::to_string(program);
  for (const records::Json& row : programs[program]) {
    SwappedVariant published;
    TRY_ASSIGN(records::Kernel kernel, records::ParseKernel(row["kernel"]));
    TRY_ASSIGN(published.variant, records::ParseVariant(row["variant"]));
    published.guard = row["guard"].get<std::string>();
    published.title = row["title"].get<std::string>();
    if (request.kernels.empty() || request.kernels.back().kernel.name != kernel.name) {
      request.kernels.push_back({std::move(kernel), {}});
    }
    for (const std::string& target : targets) {
      published.target = target;
      request.kernels.back().variants.push_back(published);
    }
  }
  return request;
}

}  // namespace cupilot::source

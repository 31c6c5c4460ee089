#include "agents/roles/request.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "agents/roles/prompt.h"
#include "agents/roles/schema.h"

namespace cupilot::agents {
namespace {

constexpr std::string_view kRepairMark = "+repair";
constexpr const char* kRepairPrompt = "repair.v1";
constexpr std::size_t kMostShownAnswer = 24 * 1024;

Prompt RenderOwn(const std::string& name, const records::Json& data) {
  base::Result<Prompt> prompt = RenderPrompt(name, data);
  if (prompt) return std::move(*prompt);
  std::fprintf(stderr, "cupilot: %s\n", prompt.error().message.c_str());
  std::abort();
}

}  // namespace

ModelRequest MakeRequest(const Asked& asked, const records::Json& data,
                         const RoleSettings& settings) {
  Prompt prompt = RenderOwn(asked.prompt, data);
  ModelRequest request;
  request.role = asked.prompt;
  request.model = settings.model;
  request.system = std::move(prompt.system);
  request.prompt = std::move(prompt.user);
  request.schema_name = asked.schema_name;
  request.schema = SentSchema(asked.schema);
  request.max_tokens = settings.max_tokens > 0 ? settings.max_tokens : asked.max_tokens;
  request.temperature = settings.temperature;
  request.seed = settings.seed;
  request.sample = settings.sample;
  request.project = settings.project;
  request.kernel = asked.kernel_key;
  return request;
}

bool IsRepair(const ModelRequest& request) { return request.role.ends_with(kRepairMark); }

std::optional<ModelRequest> RepairRequest(const ModelRequest& request, const std::string& answer,
                                          const Complaint& complaint) {
  if (IsRepair(request)) return std::nullopt;
  const records::Json data = {{"complaint", AsData("complaint", complaint.message, kMostComplaint)},
                              {"answer", AsData("previous_answer", answer, kMostShownAnswer)}};
  ModelRequest repair = request;
  repair.role += kRepairMark;
  repair.prompt += RenderOwn(kRepairPrompt, data).user;
  return repair;
}

}  // namespace cupilot::agents

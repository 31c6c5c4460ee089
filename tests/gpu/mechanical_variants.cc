// mechanical_variants SOURCE NVCC OUT.json
//
// Every variant that the mechanical techniques make of the tagged kernels of SOURCE, with the guard
// that would be published for it: as programs, in each of which every declared case of a kernel is
// taken by another variant. Runs where cuPilot is built, since it needs clang's libraries;
// swap_cases reads what it writes.
#include <cstdio>
#include <string>
#include <vector>

#include "base/file.h"
#include "source/rewrite/techniques.h"
#include "source/scan.h"
#include "worker/case_plan.h"
#include "worker/published_guard.h"

namespace cupilot {
namespace {

using records::Json;

struct Rewritten {
  records::Variant variant;
  std::string title;
};

base::Result<std::vector<Rewritten>> VariantsOf(const records::CompileCommand& command,
                                                const records::Kernel& kernel) {
  std::vector<Rewritten> found;
  TRY_ASSIGN(const protocol::ProposeReply opinions,
             source::Propose({kernel, kernel.cases.front(), "cuda"}));
  for (const protocol::Proposal& proposal : opinions.proposals) {
    if (!proposal.applies) continue;
    for (const Json& parameters : proposal.parameters) {
      protocol::RewriteRequest request;
      request.command = command;
      request.kernel = kernel;
      request.workload = kernel.cases.front();
      request.device = "cuda";
      records::StrategyStep step;
      step.technique = proposal.technique;
      step.parameters = parameters;
      request.strategy.steps = {step};
      TRY_ASSIGN(protocol::RewriteReply reply, source::Rewrite(request));
      if (reply.declined) continue;
      found.push_back({std::move(reply.variant), proposal.technique + " " + parameters.dump()});
    }
  }
  return found;
}

base::Result<std::vector<worker::CasePlan>> PlansOf(const records::Kernel& kernel) {
  device::Properties properties;  // what launches may ask of a device is not in the published guard
  properties.architecture = "sm_90";
  std::vector<worker::CasePlan> plans;
  for (const records::Case& workload : kernel.cases) {
    TRY_ASSIGN(worker::CasePlan plan, worker::PlanCase(kernel, workload, properties, nullptr));
    plans.push_back(std::move(plan));
  }
  return plans;
}

base::Result<Json> Programs(const std::string& source, const std::string& nvcc) {
  protocol::ScanRequest request;
  request.command.directory = source.substr(0, source.rfind('/'));
  request.command.source = source;
  request.command.object = source + ".o";
  request.command.arguments = {nvcc, "-O3", "-std=c++17", "-c", source, "-o", source + ".o"};
  TRY_ASSIGN(const protocol::ScanReply scan, source::Scan(request));
  Json programs = Json::array();
  for (const records::Kernel& kernel : scan.kernels) {
    if (!kernel.declined.empty()) {
      return base::Fail(base::InvalidArgument(kernel.name + ": " + kernel.declined));
    }
    TRY_ASSIGN(const std::vector<worker::CasePlan> plans, PlansOf(kernel));
    TRY_ASSIGN(const std::vector<Rewritten> rewritten, VariantsOf(request.command, kernel));
    std::printf("%s: %zu variants\n", kernel.name.c_str(), rewritten.size());
    for (std::size_t v = 0; v < rewritten.size(); ++v) {
      const std::size_t program = v / plans.size();
      while (programs.size() <= program) programs.push_back(Json::array());
      records::Kernel shipped = kernel;
      shipped.closure_source.clear();
      const worker::CasePlan& plan = plans[v % plans.size()];
      programs[program].push_back(
          {{"kernel", records::ToJson(shipped)},
           {"variant", records::ToJson(rewritten[v].variant)},
           {"title", rewritten[v].title},
           {"guard", worker::PublishedGuard(kernel, rewritten[v].variant, {plan})}});
    }
  }
  if (programs.empty()) return base::Fail(base::InvalidArgument("no variant was made"));
  return Json{{"programs", programs}};
}

}  // namespace
}  // namespace cupilot

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: mechanical_variants SOURCE NVCC OUT.json\n");
    return 2;
  }
  const auto programs = cupilot::Programs(argv[1], argv[2]);
  const auto written = programs ? cupilot::base::WriteFileAtomically(argv[3], programs->dump(1))
                                : cupilot::base::Fail(programs.error());
  if (written) return 0;
  std::fprintf(stderr, "mechanical_variants: %s\n", written.error().message.c_str());
  return 1;
}

#include <algorithm>

#include "client/commands/commands.h"
#include "client/doctor/checks.h"
#include "client/doctor/gather.h"
#include "client/doctor/mend.h"

namespace cupilot::client {
namespace {

using records::Json;

// What could be mended, as lines that say what was done; what failed is a line, too.
std::vector<std::string> MendAll(const std::vector<DoctorCheck>& checks) {
  std::vector<std::string> done;
  for (const DoctorCheck& check : checks) {
    const std::string what = MendText(check);
    if (what.empty()) continue;
    const auto mended = Mend(check);
    done.push_back(mended ? what : "could not be mended: " + mended.error().message);
  }
  return done;
}

}  // namespace

int RunDoctor(const Arguments& arguments, Output& output) {
  static constexpr const char* kLevels[] = {"good", "note", "wrong"};
  std::vector<DoctorCheck> checks = RunDoctorChecks(GatherDoctorFacts());
  std::vector<std::string> fixed;
  if (arguments.fix) {
    fixed = MendAll(checks);
    if (!fixed.empty()) checks = RunDoctorChecks(GatherDoctorFacts());
  }
  for (const std::string& line : fixed) output.Line("fixed: " + line);
  Json document = {{"schema", "cupilot.doctor/1"},
                   {"healthy", true},
                   {"fixed", fixed},
                   {"checks", Json::array()}};
  bool healthy = true, mendable = false;
  for (const DoctorCheck& check : checks) {
    const char* level = kLevels[static_cast<int>(check.level)];
    const bool by_us = check.mend != DoctorCheck::Mend::kNone;
    healthy = healthy && check.level != DoctorCheck::Level::kWrong;
    mendable = mendable || by_us;
    document["checks"].push_back({{"name", check.name},
                                  {"level", level},
                                  {"found", check.found},
                                  {"fix", check.fix},
                                  {"fixable", by_us}});
    output.Line(std::string(level) + "  " + check.name + ": " + check.found);
    if (!check.fix.empty()) output.Line("      do: " + check.fix);
  }
  if (mendable && !arguments.fix) output.Line("`cupilot doctor --fix` mends a part of this");
  document["healthy"] = healthy;
  output.Document(document);
  return healthy ? kDone : kEnvironment;
}

}  // namespace cupilot::client

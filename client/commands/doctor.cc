#include "client/commands/commands.h"
#include "client/doctor_checks.h"

namespace cupilot::client {

int RunDoctor(const Arguments&, Output& output) {
  static constexpr const char* kLevels[] = {"good", "note", "wrong"};
  records::Json document = {
      {"schema", "cupilot.doctor/1"}, {"healthy", true}, {"checks", records::Json::array()}};
  bool healthy = true;
  for (const DoctorCheck& check : RunDoctorChecks()) {
    const char* level = kLevels[static_cast<int>(check.level)];
    healthy = healthy && check.level != DoctorCheck::Level::kWrong;
    document["checks"].push_back(
        {{"name", check.name}, {"level", level}, {"found", check.found}, {"fix", check.fix}});
    output.Line(std::string(level) + "  " + check.name + ": " + check.found);
    if (!check.fix.empty()) output.Line("      do: " + check.fix);
  }
  document["healthy"] = healthy;
  output.Document(document);
  return healthy ? kDone : kEnvironment;
}

}  // namespace cupilot::client

// The files of a report's page, as the build put them into the program (EmbedReport.cmake).
#pragma once

#include <string_view>

namespace cupilot::client {

struct ReportFile {
  enum class Kind { kPage, kLibrary, kProgram, kLicence };
  Kind kind;
  std::string_view name;
  std::string_view text;
};

// In the order in which they belong; the last one has no name.
extern const ReportFile kReportFiles[];

}  // namespace cupilot::client

#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "base/clock.h"
#include "base/file.h"
#include "base/paths.h"
#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/report/page.h"

namespace cupilot::client {
namespace {

using records::Json;

constexpr const char* kDefaultFile = "cupilot-report.html";

base::Result<Json> ReadReport(Output& output) {
  TRY_ASSIGN(const Json reply, AskWhenRead(output, "report", {{"folder", CurrentFolder()}}));
  const std::string path = TextOf(reply, "document");
  const auto text = base::ReadFile(path);
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  if (!text) return base::Fail(text.error().In("the daemon's report"));
  auto document = records::ParseJson(*text);
  if (!document) return base::Fail(document.error().In("the daemon's report"));
  return std::move(*document);
}

// SOURCE_DATE_EPOCH (reproducible-builds.org) in place of now.
base::Result<> SetDate(Json& document) {
  const char* const text = std::getenv("SOURCE_DATE_EPOCH");
  if (text == nullptr || *text == '\0') return {};
  char* end = nullptr;
  const long long seconds = std::strtoll(text, &end, 10);
  constexpr long long kYear10000 = 253402300800;
  if (*end != '\0' || seconds < 0 || seconds >= kYear10000) {
    return base::Fail(base::InvalidArgument("SOURCE_DATE_EPOCH: '" + std::string(text) +
                                            "' is no time; write seconds since 1970, or unset it"));
  }
  document["date"] = base::FormatDate(std::chrono::seconds(seconds));
  return {};
}

// A report takes the place of an earlier one, and of nothing else.
base::Result<> WriteReport(const Json& document, const std::string& path) {
  if (base::FileExists(path)) {
    TRY_ASSIGN(const std::string there, base::ReadFile(path));
    if (there.find(kReportMark) == std::string::npos) {
      return base::Fail(base::InvalidArgument(
          path + " exists and is no report of cuPilot; name another file with -o, or remove it"));
    }
  }
  return base::WriteFileAtomically(path, ReportPage(document));
}

}  // namespace

int RunReport(const Arguments& arguments, Output& output) {
  auto document = ReadReport(output);
  if (!document) return output.Fail(document.error());
  if (const auto dated = SetDate(*document); !dated) return output.Fail(dated.error());
  // Who asks for the document gets a file only where one is named.
  const bool write = !output.json() || !arguments.output_file.empty();
  const std::string name =
      arguments.output_file.empty() ? std::string(kDefaultFile) : arguments.output_file;
  if (write) {
    const std::string path = base::AbsolutePath(name, CurrentFolder());
    if (const auto written = WriteReport(*document, path); !written) {
      return output.Fail(written.error());
    }
  }
  output.Document(*document);
  output.Line("the report is in " + name + "; it holds source text and paths of the project");
  return kDone;
}

}  // namespace cupilot::client

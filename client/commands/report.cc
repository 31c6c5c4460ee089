#include <cstdlib>
#include <ctime>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/paths.h"
#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/connection.h"
#include "client/named_output.h"
#include "client/report/page.h"
#include "client/report/variant_tree.h"

namespace cupilot::client {
namespace {

using records::Json;

constexpr const char* kDefaultFile = "cupilot-report.html";

// A kernel's verdicts and variants, as many pages as there are.
base::Result<> AddEvidence(Connection& connection, Json& kernel) {
  Json evaluations = Json::array();
  Json variants = Json::array();
  std::set<std::string> seen;
  for (Json from = 0; from.is_number();) {
    TRY_ASSIGN(Json page,
               connection.Request("report_evidence", {{"kernel_key", TextOf(kernel, "kernel_key")},
                                                      {"workload", TextOf(kernel, "workload")},
                                                      {"from", from}}));
    for (Json& row : page["evaluations"]) evaluations.push_back(std::move(row));
    for (Json& row : page["variants"]) {
      if (seen.insert(TextOf(row, "id")).second) variants.push_back(std::move(row));
    }
    const Json next = page.value("next", Json());
    if (next.is_number() && NumberOf(page, "next") <= from.get<double>()) {
      return base::Fail(base::ProtocolError("the daemon's pages of evidence do not go on"));
    }
    from = next;
  }
  PlaceVariants(variants);
  kernel["evaluations"] = std::move(evaluations);
  kernel["variants"] = std::move(variants);
  return {};
}

base::Result<Json> ReadReport(Output& output) {
  TRY_ASSIGN(const Json reply, AskWhenRead(output, "report", {{"folder", CurrentFolder()}}));
  const auto text = TakeReplyFile(TextOf(reply, "document"));
  if (!text) return base::Fail(text.error().In("the daemon's report"));
  auto document = records::ParseJson(*text);
  if (!document) return base::Fail(document.error().In("the daemon's report"));
  TRY_ASSIGN(Connection connection, Connection::Open(Connection::Start::kOnDemand));
  for (Json& kernel : (*document)["kernels"]) TRY(AddEvidence(connection, kernel));
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
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) {
    TRY_ASSIGN(const std::string there, base::ReadFile(path));
    if (there.find(kReportMark) == std::string::npos) {
      return base::Fail(base::InvalidArgument(
          path + " exists and is no report of cuPilot; name another file with -o, or remove it"));
    }
  }
  return WriteNamedOutput(path, ReportPage(document));
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

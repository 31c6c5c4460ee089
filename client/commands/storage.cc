// `cupilot prune`, `forget`, `export` and `import` of what the daemon keeps.
#include <cstdio>
#include <string>

#include "base/file.h"
#include "client/commands/ask.h"
#include "client/commands/commands.h"
#include "client/connection.h"
#include "client/named_output.h"

namespace cupilot::client {
namespace {

using records::Json;

std::string Bytes(double bytes) {
  char text[48];
  if (bytes < 1024) {
    std::snprintf(text, sizeof text, "%.0f bytes", bytes);
  } else if (bytes < 1024 * 1024) {
    std::snprintf(text, sizeof text, "%.1f kB", bytes / 1024);
  } else {
    std::snprintf(text, sizeof text, "%.1f MB", bytes / (1024 * 1024));
  }
  return text;
}

std::string Plural(const Json& json, const char* key, const char* one, const char* many) {
  return CountOf(json, key) + " " + (NumberOf(json, key) == 1 ? one : many);
}

int PrintForgotten(const Json& document, Output& output) {
  output.Document(document);
  const bool dry = FlagOf(document, "dry_run");
  const std::string verb = dry ? "would drop " : "dropped ";
  for (const Json& folder : ListOf(document, "projects")) {
    if (folder.is_string()) output.Line(verb + "the project built in " + folder.get<std::string>());
  }
  std::string kernels;
  for (const Json& kernel : ListOf(document, "kernels")) {
    if (kernel.is_string()) kernels += (kernels.empty() ? "" : ", ") + kernel.get<std::string>();
  }
  if (!kernels.empty()) output.Line("  kernels: " + kernels);
  output.Line("  " + Plural(document, "evaluations", "evaluation", "evaluations") + ", " +
              Plural(document, "variants", "variant", "variants") + ", " +
              Plural(document, "captured", "captured workload", "captured workloads") + ", " +
              Plural(document, "marks", "mark", "marks") + " (pinned, rejected), " +
              Bytes(NumberOf(document, "bytes")));
  if (NumberOf(document, "objects") > 0) {
    output.Line(std::string("  the next build ") + (dry ? "would compile" : "compiles") +
                " the originals of " + Plural(document, "objects", "object", "objects") +
                ", unless a lock file says otherwise");
  }
  for (const Json& problem : ListOf(document, "problems")) {
    if (problem.is_string()) output.Warning(problem.get<std::string>());
  }
  if (!dry && !ListOf(document, "projects").empty()) {
    output.Line(
        "it is known again when CMake configures it; the strategy pool and what models "
        "cost are kept");
  }
  return kDone;
}

base::Result<> ExportKept(const Arguments& arguments, Output& output) {
  Json params = {{"folder", CurrentFolder()}};
  if (arguments.all) params["all"] = true;
  TRY_ASSIGN(const Json reply, AskWhenRead(output, "export", params));
  TRY_ASSIGN(const std::string text, TakeReplyFile(TextOf(reply, "document")));
  if (arguments.output_file.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return {};
  }
  const std::string path = base::AbsolutePath(arguments.output_file, CurrentFolder());
  TRY(WriteNamedOutput(path, text));
  output.Document({{"schema", "cupilot.exported/1"},
                   {"file", path},
                   {"kernels", reply.value("kernels", Json(0))},
                   {"variants", reply.value("variants", Json(0))},
                   {"evaluations", reply.value("evaluations", Json(0))}});
  output.Line(Plural(reply, "kernels", "kernel", "kernels") + ", " +
              Plural(reply, "variants", "variant", "variants") + " and " +
              Plural(reply, "evaluations", "evaluation", "evaluations") + " written to " +
              arguments.output_file + "; it holds source text of kernels");
  return {};
}

}  // namespace

int RunPrune(const Arguments& arguments, Output& output) {
  Json params = Json::object();
  if (arguments.seconds) params["older_seconds"] = *arguments.seconds;
  if (arguments.prune_bytes) params["max_bytes"] = *arguments.prune_bytes;
  if (arguments.dry_run) params["dry_run"] = true;
  const auto reply = AskWhenRead(output, "prune", params);
  if (!reply) return output.Fail(reply.error());
  output.Document(*reply);
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "evaluations", "room", "newest", "what"}};
  for (const Json& one : ListOf(*reply, "kernels")) {
    rows.push_back({TextOf(one, "kernel"), CountOf(one, "evaluations"),
                    Bytes(NumberOf(one, "bytes")), TextOf(one, "newest"),
                    FlagOf(one, "whole") ? "all of it" : "what is not in use"});
  }
  const char* verb = arguments.dry_run ? "would drop " : "dropped ";
  if (rows.size() > 1) output.Table(rows);
  if (NumberOf(*reply, "left_out") > 0) {
    output.Line("and of " + CountOf(*reply, "left_out") + " more kernels");
  }
  output.Line(verb + Plural(*reply, "evaluations", "evaluation", "evaluations") + " and " +
              Plural(*reply, "variants", "variant", "variants") + ": " +
              Bytes(NumberOf(*reply, "bytes_before")) + " before, " +
              Bytes(NumberOf(*reply, "bytes_after")) + " after");
  return kDone;
}

int RunForget(const Arguments& arguments, Output& output) {
  // A path of somewhere, or the name of a project.
  const std::string path = base::AbsolutePath(arguments.project, CurrentFolder());
  const bool is_path = arguments.project.find('/') != std::string::npos ||
                       arguments.project.starts_with(".") || base::FileExists(path);
  Json params = {{"project", is_path ? path : arguments.project}};
  if (arguments.dry_run) params["dry_run"] = true;
  const auto reply = AskWhenRead(output, "forget", params);
  return reply ? PrintForgotten(*reply, output) : output.Fail(reply.error());
}

int RunExport(const Arguments& arguments, Output& output) {
  const auto exported = ExportKept(arguments, output);
  return exported ? kDone : output.Fail(exported.error());
}

int RunImportKept(const std::string& path, bool marks, Output& output) {
  Json params = {{"file", path}};
  if (marks) params["marks"] = true;
  const auto reply = AskWhenRead(output, "import", params);
  if (!reply) return output.Fail(reply.error());
  output.Document(*reply);
  output.Line(Plural(*reply, "proposals", "new proposal", "new proposals") + " of " +
              Plural(*reply, "variants", "accepted variant", "accepted variants") + " for " +
              Plural(*reply, "kernels", "kernel", "kernels") +
              ": they are verified and measured here before they count");
  if (NumberOf(*reply, "waiting") > 0) {
    output.Line(
        CountOf(*reply, "waiting") +
        " of them wait for kernels that no source here is known to have yet, with their text and "
        "flags");
  }
  if (NumberOf(*reply, "strategies") > 0) {
    output.Line(Plural(*reply, "strategies", "entry", "entries") + " for the strategy pool");
  }
  if (marks) {
    output.Line(Plural(*reply, "marks", "mark", "marks") + " (pinned, rejected) taken over");
  } else if (NumberOf(*reply, "marks_left") > 0) {
    output.Line(Plural(*reply, "marks_left", "mark", "marks") +
                " (pinned, rejected) left out; --marks takes what nothing is decided of here");
  }
  return kDone;
}

}  // namespace cupilot::client

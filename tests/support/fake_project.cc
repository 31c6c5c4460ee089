#include "tests/support/fake_project.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/file.h"
#include "base/hash.h"
#include "protocol/worker_messages.h"
#include "source/swap/ask_compiler.h"
#include "source/swap/compiled_text.h"
#include "source/swap/selection_check.h"
#include "tests/support/make_records.h"

namespace cupilot::test {
namespace {

using records::Json;

constexpr timespec kLongAgo = {946684800, 0};
constexpr const char* kLoops = "// loops: ";
constexpr const char* kTarget = "host-x86-64-v3";

void WriteText(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// "weight=3" -> "3"
std::string OptionOf(const std::vector<std::string>& words, const std::string& name) {
  for (const std::string& word : words) {
    if (word.rfind(name + "=", 0) == 0) return word.substr(name.size() + 1);
  }
  return {};
}

// `arguments`: of the compile command.
records::Kernel MakeKernel(const std::string& file, std::int64_t line,
                           const std::vector<std::string>& words,
                           const std::vector<std::string>& arguments) {
  records::Kernel kernel;
  kernel.name = kernel.base_name = words[1];
  kernel.signature = "_Z" + words[1];
  kernel.key = base::HashHex(words[1] + " " + words[2]);
  kernel.file = file;
  kernel.line = line;
  kernel.parameters = {MakeParameter("out", "float *", records::ParameterKind::kPointer, 8),
                       MakeParameter("n", "int", records::ParameterKind::kInteger, 4)};
  if (std::string more = OptionOf(words, "more"); !more.empty()) {
    for (const std::string& argument : arguments) {
      if (argument.starts_with("-D" + more + "=")) more = argument.substr(more.size() + 3);
    }
    kernel.parameters.push_back(MakeParameter("more", more, records::ParameterKind::kFloating, 8));
    kernel.key = base::HashHex(kernel.key + more);
    kernel.signature += more;
  }
  if (const std::string bytes = OptionOf(words, "bytes"); !bytes.empty()) {
    kernel.parameters[0].element_bytes = std::stoll(bytes);
    kernel.key = base::HashHex(kernel.key + bytes);
  }
  kernel.closure_source = "kernel " + words[1] + " " + words[2] + "\n";
  // What the fake techniques read.
  kernel.closure_macros = OptionOf(words, "refuses");
  if (const std::string loops = OptionOf(words, "loops"); !loops.empty()) {
    kernel.closure_source += kLoops + loops;
  }
  if (const std::string name = OptionOf(words, "tunable"); !name.empty()) {
    records::Tunable tunable;
    tunable.name = name;
    tunable.values = {16, 32};
    tunable.default_value = 16;
    kernel.tunables = {tunable};
  }
  records::Case one;
  one.name = "only";
  one.grid = {"4", "1", "1"};
  one.block = {"64", "1", "1"};
  if (const std::string weight = OptionOf(words, "weight"); !weight.empty()) {
    one.weight = std::stod(weight);
  }
  records::Argument out;
  out.name = "out";
  out.type = "float*";
  out.count = "256";
  out.access = records::Access::kOut;
  records::Argument n;
  n.name = "n";
  n.type = "int";
  n.value = "256";
  one.arguments = {out, n};
  kernel.cases = {one};
  if (const std::string name = OptionOf(words, "smaller"); !name.empty()) {
    one.name = name;
    one.grid = {"2", "1", "1"};
    kernel.cases.push_back(one);
  }
  if (OptionOf(words, "workload") == "none") kernel.cases.clear();
  if (const std::string why = OptionOf(words, "declined"); !why.empty()) {
    kernel.declined = file + ":" + std::to_string(line) + ": " + why;
  }
  return kernel;
}

// It lists a preprocessing that prints the source and the header beside it. Each by rename: who
// makes the project may be killed at any moment, and makes it again.
void WriteProgram(const std::string& path, const std::string& text) {
  WriteText(path + ".new", text);
  ::chmod((path + ".new").c_str(), 0755);
  std::filesystem::rename(path + ".new", path);
}
void WriteCompiler(const std::string& folder) {
  const std::string find =
      "#!/bin/sh\nfor word; do case \"$word\" in *.cu) file=\"$word\" ;; esac; done\n";
  WriteProgram(folder + "/cpp", find +
                                    "for one in \"$file\" \"${file%.cu}.h\"; do\n"
                                    "  echo \"# 1 \\\"$one\\\" 1\"\n  cat \"$one\"\ndone\n");
  WriteProgram(folder + "/nvcc", find + "echo \"#\\$ " + folder + "/cpp -E $file\" >&2\n");
}

// One millisecond behind all of them, and behind itself: times of files are coarse.
void MakeNewer(const std::string& file, const std::vector<std::string>& than) {
  std::int64_t newest = 0;
  for (const std::string& path : than) {
    if (const auto identity = base::IdentifyFile(path)) {
      newest = std::max(newest, identity->mtime_ns);
    }
  }
  newest += 1'000'000;
  const timespec time = {newest / 1'000'000'000, newest % 1'000'000'000};
  const timespec times[2] = {time, time};
  ::utimensat(AT_FDCWD, file.c_str(), times, 0);
}

base::Result<Json> Scan(const Json& params) {
  TRY_ASSIGN(const protocol::ScanRequest request, protocol::ParseScanRequest(params));
  protocol::ScanReply reply;
  const std::string folder = std::filesystem::path(request.command.source).parent_path();
  reply.files = {request.command.source, folder + "/main.h"};
  std::istringstream lines(request.source_text);
  std::int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (!words.empty() && words[0] == "error") {
      return base::Fail(base::ToolFailed(request.command.source + ": error"));
    }
    if (words.size() > 2 && words[0] == "__global__") {
      reply.untagged_kernels.push_back(words[2].substr(0, words[2].find('(')));
    }
    if (words.size() < 3 || words[0] != "kernel") continue;
    reply.kernels.push_back(
        MakeKernel(request.command.source, number, words, request.command.arguments));
    if (const std::string& why = reply.kernels.back().declined; !why.empty()) {
      reply.warnings.push_back(why);
    }
  }
  if (const auto compiler = source::AskCompiler(request.command)) {
    reply.compiled = source::Summarise(compiler->passes);
  }
  return protocol::ToJson(reply);
}

base::Result<Json> Propose(const Json& params) {
  TRY_ASSIGN(const protocol::ProposeRequest request, protocol::ParseProposeRequest(params));
  const std::string& refuses = request.kernel.closure_macros;
  protocol::ProposeReply reply;
  reply.proposals = {{"restrict_readonly", refuses.empty(), refuses, {Json::object()}},
                     {"launch_bounds", refuses.empty(), refuses, {Json::object()}},
                     {"shared_padding", false, refuses.empty() ? "no shared memory" : refuses, {}}};
  const std::string& text = request.kernel.closure_source;
  if (const std::size_t at = text.find(kLoops); at != std::string::npos) {
    reply.features.emplace().values[records::FeatureAt("loops")] =
        std::stod(text.substr(at + std::string(kLoops).size()));
  }
  return protocol::ToJson(reply);
}

base::Result<Json> Rewrite(const Json& params) {
  TRY_ASSIGN(const protocol::RewriteRequest request, protocol::ParseRewriteRequest(params));
  protocol::RewriteReply reply;
  reply.strategy = request.strategy;
  reply.variant.kernel = request.kernel.name;
  reply.variant.source = "__global__ void faster(float *out, int n) { /* " + request.kernel.key +
                         " " + request.strategy.title + " */ }";
  reply.variant.entry = "faster";
  for (const records::StrategyStep& step : request.strategy.steps) {
    if (step.technique == "size_class") reply.variant.guard = step.parameters["guard"];
  }
  reply.variant.strategy = request.strategy;
  reply.variant.id = records::VariantId(reply.variant);
  return protocol::ToJson(reply);
}

base::Result<Json> Retune(const Json& params) {
  TRY_ASSIGN(const protocol::RetuneRequest request, protocol::ParseRetuneRequest(params));
  protocol::RewriteReply reply;
  records::StrategyStep step;
  step.technique = "other:tunables";
  reply.strategy.title = "tunables";
  for (const auto& [name, value] : request.values) {
    step.parameters[name] = value;
    reply.strategy.title += " " + name + "=" + std::to_string(value);
  }
  reply.strategy.steps = {step};
  reply.variant.kernel = request.kernel.name;
  reply.variant.source =
      "__global__ void retuned(float *out, int n) { /* " + reply.strategy.title + " */ }";
  reply.variant.entry = "retuned";
  reply.variant.strategy = reply.strategy;
  reply.variant.id = records::VariantId(reply.variant);
  return protocol::ToJson(reply);
}

}  // namespace

FakeProject::FakeProject(std::string root)
    : source_(root + "/source"), build_(root + "/build"), object_(ObjectFolderIn(root)) {
  if (!base::FileExists(header())) WriteText(header(), "a header\n");
  const std::string nvcc = root + "/toolkit/bin/nvcc";
  if (!base::FileExists(nvcc)) WriteCompiler(root + "/toolkit/bin");
  if (!base::FileExists(root + "/toolkit/version.json")) {
    WriteText(root + "/toolkit/version.json", R"({"cuda": {"version": "13.0.0"}})");
  }
  // By it the daemon knows the compiler of the host device.
  const std::string mark = root + "/toolkit/include/cupilot_host_abi.h";
  if (!base::FileExists(mark)) WriteText(mark, "the host's\n");
  command_.directory = build_;
  command_.arguments = {nvcc, "-O3", "-c", source(), "-o", build_ + "/main.cu.o"};
  command_.source = source();
  command_.object = build_ + "/main.cu.o";
  command_.folder = object_;
}

std::string FakeProject::ObjectFolderIn(const std::string& root) {
  return root + "/build/cupilot/app/main.cu.o";
}

void FakeProject::SetTarget(const std::string& name) {
  object_ = build_ + "/cupilot/" + name + "/main.cu.o";
  command_.object = build_ + "/" + name + ".cu.o";
  command_.arguments.back() = command_.object;
  command_.folder = object_;
}

void FakeProject::WriteSource(const std::string& text) const {
  WriteText(source(), text);
  if (base::FileExists(command_.object)) MakeNewer(source(), {source(), command_.object});
}

void FakeProject::WriteObject() const {
  const std::string before = command_.object + ".before";
  if (base::FileExists(command_.object)) std::filesystem::rename(command_.object, before);
  WriteText(command_.object, "an object\n");
  MakeNewer(command_.object, {command_.object, before, source(), header()});
}

void FakeProject::SaveByRename(const std::string& text) const {
  WriteText(source() + ".new", text);
  std::filesystem::rename(source() + ".new", source());
}

void FakeProject::Configure(const Json& options) const {
  Json target = options;
  target["name"] = "app";
  const Json project = {{"schema", "cupilot.project/1"},
                        {"source_folder", source_},
                        {"build_folder", build_},
                        {"targets", {target}}};
  (void)base::WriteFileIfDifferent(build_ + "/cupilot/project.json", project.dump());
}

void FakeProject::Register(const std::string& state_folder) const {
  const Json json = {{"schema", "cupilot.registration/1"}, {"build_folder", build_}};
  (void)base::WriteFileIfDifferent(state_folder + "/projects/" + base::HashHex(build_) + ".json",
                                   json.dump());
}

void FakeProject::WriteApplied(const std::string& selection, const std::string& reason,
                               const std::string& compiled, const Json& text) const {
  Json json = {{"schema", "cupilot.applied/1"}, {"selection", selection}, {"reason", reason}};
  if (!compiled.empty()) json["compiled"] = compiled;
  if (!text.is_null()) json["text"] = text;
  (void)base::WriteFileIfDifferent(object_ + "/applied.json", json.dump());
}

void FakeProject::AgeStamp() const {
  const std::string stamp = object_ + "/stamp.h";
  if (!base::FileExists(stamp)) WriteText(stamp, "\n");
  const timespec times[2] = {kLongAgo, kLongAgo};
  ::utimensat(AT_FDCWD, stamp.c_str(), times, 0);
}

Json FakeProject::TextOf(const records::Selection& selection) const {
  Json rows = nullptr;
  for (const records::SelectedKernel& kernel : selection.kernels) {
    for (const records::SelectedVariant& variant : kernel.variants) {
      const std::string hash = code_ ? code_(variant.id, variant.target) : "";
      if (hash.empty()) continue;
      rows.push_back({{"variant", variant.id}, {"target", variant.target}, {"hash", hash}});
    }
  }
  return rows;
}

bool FakeProject::Compile(bool refuse, const std::string& log) const {
  WriteObject();
  AgeStamp();
  (void)base::WriteFileIfDifferent(object_ + "/command.json", records::ToJson(command_).dump());
  const source::CheckedSelection checked = source::CheckSelection(command_);
  if (!checked.holds) {
    WriteApplied("", checked.reason);
    return false;
  }
  if (refuse) {
    const Json refused = {{"schema", "cupilot.refused/1"}, {"selection", checked.id}, {"log", log}};
    (void)base::WriteFileIfDifferent(object_ + "/refused.json", refused.dump());
    WriteApplied("", "refused: its swapped source did not compile");
    return false;
  }
  WriteApplied(checked.id, "", records::CompiledHash(checked.selection), TextOf(checked.selection));
  return true;
}

void FakeProject::CompileTurnedOff() const {
  WriteObject();
  AgeStamp();
  (void)base::WriteFileIfDifferent(object_ + "/command.json", records::ToJson(command_).dump());
  WriteApplied("", "CUPILOT=0");
}

std::string FakeProject::PublishedSwap() const {
  const auto text = base::ReadFile(object_ + "/selection.json");
  if (!text) return {};
  const auto selection = records::ParseSelection(*records::ParseJson(*text));
  return selection ? selection->swap : "unreadable";
}

std::vector<std::string> FakeProject::PublishedVariants() const {
  std::vector<std::string> ids;
  const auto text = base::ReadFile(object_ + "/selection.json");
  if (!text) return ids;
  const auto selection = records::ParseSelection(*records::ParseJson(*text));
  if (!selection) return ids;
  for (const records::SelectedKernel& kernel : selection->kernels) {
    for (const records::SelectedVariant& variant : kernel.variants) ids.push_back(variant.id);
  }
  return ids;
}

bool FakeProject::StampIsNew() const {
  const auto identity = base::IdentifyFile(object_ + "/stamp.h");
  return identity && identity->mtime_ns > std::int64_t{kLongAgo.tv_sec} * 1'000'000'000;
}

const std::map<std::string, FakeWorkers::Answer>& AnswersForFakeProjects() {
  static const std::map<std::string, FakeWorkers::Answer> answers = {
      {"scan", Scan}, {"propose", Propose}, {"rewrite", Rewrite}, {"retune", Retune}};
  return answers;
}

void AnswerForFakeProjects(FakeWorkers& workers) {
  for (const auto& [op, answer] : AnswersForFakeProjects()) workers.On(op, answer);
  workers.On("describe_device", [](const Json&) -> base::Result<Json> {
    return Json{{"name", "a processor"},
                {"arch", kTarget},
                {"sm_count", 2},
                {"memory_bytes", 1024},
                {"driver", ""}};
  });
}

records::Evaluation MakeEvaluation(const evaluate::EvaluateRequest& request, double speedup) {
  records::Evaluation evaluation;
  evaluation.variant = request.variant.id;
  evaluation.kernel_key = request.kernel.key;
  evaluation.target = kTarget;
  evaluation.device = {"a processor", kTarget, 2, 1024};
  evaluation.toolchain = "toolchain";
  evaluation.date = "2026-11-21T08:30:00Z";
  evaluation.accepted = speedup > 1;
  if (!evaluation.accepted) evaluation.reason = "not_faster";
  records::CaseResult result = MakeCaseResult("only", speedup);
  result.floor_us = 10;
  evaluation.cases = {result};
  if (evaluation.accepted) {
    evaluation.speedup = speedup;
    evaluation.interval = result.interval;
  }
  return evaluation;
}

double SpeedupOf(const std::string& variant_id) {
  const std::string digits = base::HashHex(variant_id).substr(0, 4);
  return 0.5 + static_cast<double>(std::stoi(digits, nullptr, 16)) / 65535.0;
}

}  // namespace cupilot::test

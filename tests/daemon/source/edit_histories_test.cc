// What the launcher decides by names, held against what the parser says: 200 generated histories of
// edits. The figure of the design: of the edits that touch no kernel at least 95 % keep the tuned
// path, and none that does.
#include <gmock/gmock.h>

#include <cstdio>
#include <random>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "edit_sources.h"
#include "scan_fixture.h"
#include "source/swap/selection_check.h"

namespace cupilot::source {
namespace {

constexpr int kHistories = 200;
constexpr unsigned kSeed = 20261122;

// What the projects need of a toolkit: the real headers take ten times as long to parse.
constexpr const char* kRuntime = R"(#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
struct uint3 { unsigned x, y, z; };
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
enum cudaError_t { cudaSuccess };
extern "C" cudaError_t cudaGetLastError();
extern "C" __host__ __device__ float sqrtf(float);
extern "C" __device__ void __syncthreads();
)";

class EditHistories : public ScanFixture {
 protected:
  void SetUp() override {
    ScanFixture::SetUp();
    std::filesystem::remove(folder_ + "/toolkit/include");
    Write("toolkit/include/cuda_runtime.h", kRuntime);
    Write("toolkit/include/cupilot_host_abi.h", "");
    Write("toolkit/include/cstdio", "namespace std { int printf(const char*, ...); }\n");
    Write("toolkit/include/cstdlib", "namespace std { void abort(); }\n");
    Write("toolkit/include/cmath", "namespace std {}\n");
    Write("toolkit/include/vector", "namespace std {}\n");
    setenv("CUPILOT_HOST_TOOLKIT", (folder_ + "/toolkit").c_str(), 1);
  }
  void TearDown() override {
    unsetenv("CUPILOT_HOST_TOOLKIT");
    ScanFixture::TearDown();
  }

  std::size_t Pick(std::size_t below) { return below == 0 ? 0 : random_() % below; }
  std::string Fresh(const std::string& stem) { return stem + std::to_string(++fresh_); }

  // Where `what` stands in the files.
  struct Spot {
    std::string file;
    std::size_t at = 0;
  };
  std::vector<Spot> Find(const std::string& what) const {
    std::vector<Spot> spots;
    for (const auto& [name, text] : files_) {
      for (std::size_t at = text.find(what); at != std::string::npos;
           at = text.find(what, at + 1)) {
        spots.push_back({name, at});
      }
    }
    return spots;
  }
  Spot OneOf(const std::vector<Spot>& spots) { return spots[Pick(spots.size())]; }
  void Insert(const Spot& spot, const std::string& more) {
    files_[spot.file].insert(spot.at, more);
  }
  // At a boundary of declarations.
  void Declare(const std::string& more) { Insert(OneOf(Find("//|")), more + "\n"); }
  bool ReplaceOne(const std::string& from, const std::string& to) {
    const std::vector<Spot> spots = Find(from);
    if (spots.empty()) return false;
    const Spot spot = OneOf(spots);
    files_[spot.file].replace(spot.at, from.size(), to);
    return true;
  }

  // Lines at whose beginning a comment or a blank line may be put.
  Spot AnyLine() {
    std::vector<Spot> lines;
    for (const auto& [name, text] : files_) {
      for (std::size_t at = text.find('\n'); at != std::string::npos;
           at = text.find('\n', at + 1)) {
        if (at == 0 || text[at - 1] != '\\') lines.push_back({name, at + 1});
      }
    }
    return OneOf(lines);
  }

  void ChangeNumber(const std::string& mark) {
    const Spot spot = OneOf(Find(mark));
    std::string& text = files_[spot.file];
    const std::size_t digit = spot.at + mark.size() + 1;
    text[digit] = text[digit] == '9' ? '1' : static_cast<char>(text[digit] + 1);
  }

  void MoveHostDeclaration() {
    const std::vector<Spot> begins = Find("//<");
    const Spot spot = OneOf(begins);
    std::string& text = files_[spot.file];
    const std::size_t end = text.find("//>\n", spot.at) + 4;
    const std::string block = text.substr(spot.at, end - spot.at);
    text.erase(spot.at, block.size());
    // In the same file and scope: before the next boundary, or the one before.
    const bool forward = Pick(2) == 0;
    std::size_t to = forward ? text.find("//|", spot.at + 4) : text.rfind("//|", spot.at - 6);
    if (to == std::string::npos) to = spot.at;
    text.insert(to, block);
  }

  // An edit that a person makes elsewhere; what it was.
  std::string EditElsewhere() {
    switch (Pick(23)) {
      case 0:
        Insert(AnyLine(), "// " + Fresh("Note ") + ": it's \"quoted\" { and not closed\n");
        return "a comment";
      case 1:
        Insert(AnyLine(), "/* " + Fresh("Note ") + "\n   on two lines */\n");
        return "a block comment";
      case 2:
        Insert(AnyLine(), std::string(1 + Pick(3), '\n'));
        return "blank lines";
      case 3:
        ReplaceOne(";\n", ";  \n");
        return "white space at a line's end";
      case 4:
        ReplaceOne("\n  ", "\n      ");
        return "indentation";
      case 5:
      case 6:
        ChangeNumber("/*~*/");
        return "a number of the host";
      case 7: {
        const std::string name = Fresh("Helper");
        Declare("static inline int " + name +
                "(int n, float* out) {\n  for (int i = 0; i < n; ++i) out[i] "
                "*= 2;\n  return n;\n}");
        return "a host function";
      }
      case 8:
        Declare(
            "__global__ void " + Fresh("Kernel") +
            "(const float* in, float* out, int n) {\n  int i = threadIdx.x;\n  if (i < n) out[i] "
            "= in[i];\n}");
        return "a kernel";
      case 9:
        Declare("// cupilot: tune\n__global__ void " + Fresh("Tuned") +
                "(float* out, int n) {\n  if (n > 3) out[n] = n;\n}");
        return "a tagged kernel";
      case 10:
        Declare("struct " + Fresh("Settings") +
                " {\n  int count = 3;\n  float sum() const { return "
                "count * 0.5f; }\n};");
        return "a structure";
      case 11:
        Declare("namespace " + Fresh("tools") + " {\nint Count(const char* text);\n}");
        return "a namespace";
      case 12:
        Declare("using " + Fresh("Real") + " = double;");
        return "an alias";
      case 13:
        Declare("enum class " + Fresh("Mode") + " { kFast, kExact };");
        return "an enumeration";
      case 14: {
        const std::string name = Fresh("Pair");
        Declare("template <class T>\nstruct " + name + " {\n  T first, second;\n};");
        Declare("static int " + Fresh("Uses") + "(int a) { return a + 1; }");
        return "a template";
      }
      case 15:
        Declare("__device__ float " + Fresh("Device") + "(float x) { return x * 2; }");
        return "a device function";
      case 16:
      case 17:
        MoveHostDeclaration();
        return "a host declaration moved";
      case 18:
        Declare("static_assert(sizeof(int) == 4, \"ints have four bytes\");");
        return "a static_assert";
      case 19:
        Declare("static const float " + Fresh("kTable") + "[3] = {1, 2.5f, 3};");
        return "a table";
      case 20:
        Declare("static void " + Fresh("Log") + "(const char* text);");
        return "a declaration";
      case 21:
        Declare("template <class T>\nT " + Fresh("Twice") + "(T x) { return x + x; }");
        return "a function template";
      default:
        ReplaceOne("int n)", "int n )");
        return "white space in a head";
    }
  }

  // Seldom in an edit: nothing that the launcher may judge alone, though the kernel stays.
  std::string EditDirectives() {
    switch (Pick(3)) {
      case 0:
        files_["main.cu"].insert(0, "#include <vector>\n");
        return "an include";
      case 1:
        Declare("#define " + Fresh("UNUSED") + " 1");
        return "a macro";
      default:
        Declare("using namespace std;");
        return "a using-directive";
    }
  }

  // An edit that changes a kernel, or would if names fell otherwise.
  std::string EditNear() {
    switch (Pick(16)) {
      case 0:
      case 1:
        ChangeNumber("/*!*/");
        return "a number of a kernel";
      case 2:
        Declare("__device__ inline float Luma(const void* p, int extra = 0) { return 1; }");
        return "an overload of a helper";
      case 3:
        Declare(
            "__host__ __device__ inline float Clamp(double x, double low, double high) { return "
            "low; }");
        return "an overload by conversion";
      case 4:
        Declare("template <class T>\n__device__ inline T Square(T x, T y) { return x * y; }");
        return "an overload of a template";
      case 5:
        Insert(OneOf(Find("__device__")), "static ");
        return "a specifier";
      case 6:
        ReplaceOne("int n", "long n");
        return "a parameter's type";
      case 7:
        ReplaceOne("float", "double");
        return "a type";
      case 8:
        ReplaceOne(" + ", " - ");
        return "an operator";
      case 9:
        Insert(OneOf(Find("__global__")), "/*");
        return "a comment that is not closed";
      case 10:
        ReplaceOne("// cupilot: tune", "// cupilot: tune\n// cupilot: tolerance relative=1e-3");
        return "a tag";
      case 11:
        ReplaceOne("int x", "int y");
        return "a name";
      case 12:
        Declare("namespace detail { __device__ inline float Norm(float v) { return v; } }");
        return "an overload in a namespace";
      case 13:
        Insert(OneOf(Find("__device__")), "namespace other {\n");
        return "a namespace that is opened";
      case 14:
        ReplaceOne("threadIdx.x", "threadIdx.y");
        return "an index";
      default:
        Declare(
            "struct Wide { float v; };\n__host__ __device__ inline Wide operator+(Wide a, Wide b) "
            "{ return a; }");
        return "an operator of another type";
    }
  }

  std::string Edit() {
    const std::size_t die = Pick(100);
    return die < 70 ? EditElsewhere() : die < 72 ? EditDirectives() : EditNear();
  }

  // What a scan says of the kernels that were published.
  struct Truth {
    bool valid = false;
    std::map<std::string, std::string> kernels;
    protocol::ScanReply reply;
  };
  Truth Look(const std::set<std::string>& wanted = {}) {
    Truth truth;
    for (const auto& [name, text] : files_) Write(name, text);
    protocol::ScanRequest request;
    request.command = Command();
    auto reply = Scan(request);
    if (!reply) return truth;
    truth.valid = true;
    for (const records::Kernel& kernel : reply->kernels) {
      if (!wanted.empty() && wanted.count(kernel.name) == 0) continue;
      records::Json what = records::ToJson(kernel);
      truth.kernels[kernel.name] = kernel.key + kernel.declined +
                                   (kernel.tolerance ? what["tolerance"].dump() : "") +
                                   what.value("require", records::Json()).dump();
    }
    truth.reply = std::move(*reply);
    return truth;
  }

  // As the daemon publishes.
  void Publish(const Truth& truth) {
    records::CompileCommand command = Command();
    command.folder = folder_ + "/object";
    const std::string text = "// the swapped source\n";
    records::Selection selection;
    selection.source = command.source;
    selection.swap = "swap." + base::HashHex(text) + ".cu";
    selection.command_hash = records::CommandHash(command);
    selection.environment_hash = records::EnvironmentHash(command);
    selection.toolchain = ToolchainIdentity(command);
    SwapRequest request;
    for (const records::Kernel& kernel : truth.reply.kernels) {
      records::Variant variant;
      variant.source = "__global__ void faster(float* out, int n) { if (n > 0) out[0] = 1; }";
      request.kernels.push_back({kernel, {{variant, "target", {}, "", "title", 1.5}}});
      selection.kernels.push_back({kernel.name, kernel.signature, kernel.key, {}});
    }
    for (const std::string& path : truth.reply.files) {
      selection.files.push_back(RecordFile(path).value());
    }
    RecordEditWindow(request, selection);
    for (const records::SelectedFile& file : selection.files) {
      EXPECT_NE(file.outline, "") << file.path;
    }
    Write("object/" + selection.swap, text);
    Write("object/selection.json", records::PrettyJson(records::ToJson(selection)));
  }

  CheckedSelection Check() const {
    records::CompileCommand command = Command();
    command.folder = folder_ + "/object";
    return CheckSelection(command);
  }

  std::mt19937 random_{kSeed};
  int fresh_ = 0;
  ProjectText files_;
};

TEST_F(EditHistories, KeepWhatIsElsewhereAndNothingElse) {
  const std::vector<ProjectText> projects = ProjectsToEdit();
  int elsewhere = 0, kept = 0, touched = 0;
  std::map<std::string, int> missed;
  for (int history = 0; history < kHistories; ++history) {
    files_ = projects[static_cast<std::size_t>(history) % projects.size()];
    std::filesystem::remove_all(folder_ + "/object");
    const Truth before = Look();
    ASSERT_FALSE(before.kernels.empty());
    Publish(before);
    ASSERT_TRUE(Check().holds) << Check().reason;
    std::set<std::string> names;
    for (const auto& [name, what] : before.kernels) names.insert(name);
    std::string story;
    for (std::size_t edits = 1 + Pick(3); edits > 0; --edits) {
      const std::string what = Edit();
      story += (story.empty() ? "" : ", then ") + what;
      const Truth now = Look(names);
      const bool holds = Check().holds;
      if (!now.valid || now.kernels != before.kernels) {
        ++touched;
        EXPECT_FALSE(holds) << story << "\n" << files_["main.cu"];
        break;
      }
      ++elsewhere;
      if (holds) {
        ++kept;
        continue;
      }
      ++missed[what + ": " + Check().reason.substr(Check().reason.rfind('/') + 1)];
      break;  // the daemon would look now
    }
  }
  std::printf("%d histories: %d edits elsewhere, %d kept (%.1f %%); %d touched a kernel\n",
              kHistories, elsewhere, kept, 100.0 * kept / elsewhere, touched);
  for (const auto& [what, count] : missed) std::printf("  not kept %d x %s\n", count, what.c_str());
  EXPECT_GE(kept * 100, elsewhere * 95);
  EXPECT_GE(touched, kHistories / 5);
}

}  // namespace
}  // namespace cupilot::source

// Headers that are read once and kept: every text's tree is as if they had been read anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "source/syntax/leading_headers.h"
#include "source/syntax/parse.h"
#include "source/syntax/preprocess.h"
#include "source/syntax/query.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::source {
namespace {

constexpr const char* kText = R"(#include <cuda_runtime.h>
#include <cassert>
#include <cmath>
#include <vector>

namespace std { struct Ours; }
struct Pair { float a; int b; };
template <class T> __device__ T Larger(T a, T b) { return a < b ? b : a; }
__constant__ float weights[16];
__global__ void k(const float* in, Pair* out, dim3 shape, std::size_t n) {
  __shared__ float tile[32];
  const std::size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i < n);
  tile[threadIdx.x] = fmaxf(in[i], std::sqrt(in[0])) + weights[i % 16];
  __syncthreads();
  if (i < n) out[i] = {Larger(tile[0], __ldg(in + i)), static_cast<int>(shape.x)};
}
std::vector<float> run(float* in, Pair* out, cudaStream_t stream) {
  k<<<dim3(4), 32, 0, stream>>>(in, out, dim3(1), 3);
  return std::vector<float>(3, 1.0f);
}
)";

ParseOptions HostOptions() {
  ParseOptions options;
  options.system_folders = {std::string(CUPILOT_TEST_SOURCE_DIR) + "/daemon/host_runtime/include"};
  return options;
}

ParseOutcome ParseWith(const std::string& text, ParseOptions options, bool keep) {
  options.keep_headers = keep;
  auto outcome = Parse(text, options);
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome.value_or(ParseOutcome{});
}

void ExpectSame(const Tree& a, const Tree& b) {
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  EXPECT_EQ(a.text, b.text);
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    const Node &x = a.nodes[i], &y = b.nodes[i];
    SCOPED_TRACE(std::to_string(i) + ": " + x.qualified + " " + x.name);
    EXPECT_EQ(x.kind, y.kind);
    EXPECT_EQ(x.flags, y.flags);
    EXPECT_EQ(x.parent, y.parent);
    // Where a header's declaration stands is not asked.
    if ((x.flags & kSystem) == 0) {
      EXPECT_EQ(x.begin, y.begin);
      EXPECT_EQ(x.end, y.end);
      EXPECT_EQ(x.name_begin, y.name_begin);
      EXPECT_EQ(x.name_end, y.name_end);
      EXPECT_EQ(x.template_begin, y.template_begin);
      EXPECT_EQ(x.parameters_begin, y.parameters_begin);
      EXPECT_EQ(x.parameters_end, y.parameters_end);
      EXPECT_EQ(x.type_begin, y.type_begin);
      EXPECT_EQ(x.type_end, y.type_end);
    }
    EXPECT_EQ(x.declaration, y.declaration);
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.qualified, y.qualified);
    EXPECT_EQ(x.type, y.type);
    EXPECT_EQ(x.canonical, y.canonical);
    EXPECT_EQ(x.value, y.value);
    EXPECT_EQ(x.header, y.header);
    EXPECT_EQ(x.mangled, y.mangled);
    EXPECT_EQ(x.type_class, y.type_class);
    EXPECT_EQ(x.type_bytes, y.type_bytes);
    EXPECT_EQ(x.element, y.element);
    EXPECT_EQ(x.element_bytes, y.element_bytes);
    EXPECT_EQ(x.element_count, y.element_count);
    EXPECT_EQ(x.types_used, y.types_used);
    EXPECT_EQ(x.children, y.children);
  }
}

TEST(KeptHeaders, GiveTheSameTree) {
  for (const bool runtime : {false, true}) {
    SCOPED_TRACE(runtime);
    ParseOptions options = HostOptions();
    options.include_runtime = runtime;
    options.standard = "c++20";
    const ParseOutcome fresh = ParseWith(kText, options, false);
    EXPECT_TRUE(fresh.errors.empty()) << fresh.errors.front().message;
    ASSERT_NE(FindDefinition(fresh.tree, "k"), kNone);
    // The first may be the last, the second keeps what the third finds.
    for (int i = 0; i < 3; ++i) {
      SCOPED_TRACE(i);
      const ParseOutcome kept = ParseWith(kText, options, true);
      EXPECT_EQ(kept.kept_headers, i > 0);
      EXPECT_TRUE(kept.errors.empty()) << kept.errors.front().message;
      ExpectSame(fresh.tree, kept.tree);
    }
  }
}

// All at the same time: one of them keeps the headers, and the others wait for them.
TEST(KeptHeaders, AreKeptAtOnceWhereOthersFollow) {
  ParseOptions options = HostOptions();
  options.standard = "c++23";
  const ParseOutcome fresh = ParseWith(kText, options, false);
  options.keep_at_once = true;
  std::vector<ParseOutcome> outcomes(4);
  {
    std::vector<std::jthread> threads;
    for (ParseOutcome& outcome : outcomes) {
      threads.emplace_back([&] { outcome = ParseWith(kText, options, true); });
    }
  }
  for (const ParseOutcome& outcome : outcomes) {
    EXPECT_TRUE(outcome.kept_headers);
    ExpectSame(fresh.tree, outcome.tree);
  }
}

TEST(KeptHeaders, ServeAnotherTextThatBeginsAlikeWithItsOwnErrors) {
  for (int i = 0; i < 3; ++i) ParseWith(kText, HostOptions(), true);
  const std::string text = std::string(kText) + "__device__ int wrong() { return nothing; }\n";
  const ParseOutcome fresh = ParseWith(text, HostOptions(), false);
  const ParseOutcome kept = ParseWith(text, HostOptions(), true);
  EXPECT_TRUE(kept.kept_headers);
  ExpectSame(fresh.tree, kept.tree);
  ASSERT_EQ(kept.errors.size(), 1u);
  ASSERT_EQ(fresh.errors.size(), 1u);
  EXPECT_EQ(kept.errors[0].message, fresh.errors[0].message);
  EXPECT_EQ(kept.errors[0].line, fresh.errors[0].line);
}

TEST(KeptHeaders, AreReadAnewWhenOneChanges) {
  const test::TemporaryFolder folder;
  folder.Write("ours.h", "#pragma once\ntypedef int Number;\n");
  ParseOptions options = HostOptions();
  options.system_folders.push_back(folder.path());
  const std::string text = "#include <cuda_runtime.h>\n#include <ours.h>\nNumber number;\n";
  const auto type = [&] {
    const ParseOutcome outcome = ParseWith(text, options, true);
    const std::vector<NodeId> found = FindByName(outcome.tree, "number");
    return found.size() == 1 ? outcome.tree.at(found[0]).canonical : "none";
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(type(), "int");
  folder.Write("ours.h", "#pragma once\ntypedef unsigned long Number;\n");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(type(), "unsigned long");
}

// A translation unit after preprocessing, as LoadUnit parses it.
ParseOutcome ParseUnit(const std::string& text, const PreprocessOptions& read, bool keep) {
  const auto source = Preprocess(text, read);
  EXPECT_TRUE(source) << source.error().message;
  ParseOptions options;
  options.preprocessed = true;
  options.file_name = read.file_name;
  options.standard = read.standard;
  options.system_folders = read.toolkit_folders;
  return ParseWith(source.value_or(Preprocessed{}).text, options, keep);
}

PreprocessOptions UnitOptions(const std::string& path) {
  PreprocessOptions options;
  options.file_name = path;
  options.directory = std::filesystem::path(path).parent_path().string();
  options.toolkit_folders = HostOptions().system_folders;
  options.includes = {"cuda_runtime.h"};
  options.macros = {"-D__CUDACC__", "-D__NVCC__"};
  return options;
}

TEST(KeptHeaders, OfAPreprocessedTextGiveTheSameTree) {
  std::vector<std::string> sources;
  for (const auto& file : std::filesystem::directory_iterator(std::string(CUPILOT_TEST_SOURCE_DIR) +
                                                              "/tests/data/sources")) {
    if (file.path().extension() == ".cu") sources.push_back(file.path().string());
  }
  std::sort(sources.begin(), sources.end());
  int kept = 0;
  // Some of the corpus (all were alike on 2026-11-25): each is parsed four times.
  for (std::size_t i = 0; i < sources.size(); i += 9) {
    SCOPED_TRACE(sources[i]);
    std::ifstream file(sources[i]);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const PreprocessOptions options = UnitOptions(sources[i]);
    const ParseOutcome fresh = ParseUnit(text, options, false);
    ParseUnit(text, options, true);
    for (int times = 0; times < 2; ++times) {
      const ParseOutcome again = ParseUnit(text, options, true);
      kept += again.kept_headers ? 1 : 0;
      ASSERT_EQ(fresh.errors.size(), again.errors.size());
      ExpectSame(fresh.tree, again.tree);
    }
  }
  EXPECT_GT(kept, 15);
}

TEST(KeptHeaders, ServeOtherValuesOfMacros) {
  const std::string text =
      "#include <cmath>\n#include <vector>\nstruct Tile { int of[SIZE]; };\n"
      "__device__ int wrong() { return nothing; }\n";
  PreprocessOptions options = UnitOptions("/nowhere/main.cu");
  for (int size = 1; size < 4; ++size) {
    options.macros.push_back("-USIZE");
    options.macros.push_back("-DSIZE=" + std::to_string(size));
    const ParseOutcome outcome = ParseUnit(text, options, true);
    EXPECT_EQ(outcome.kept_headers, size > 1);
    EXPECT_NE(outcome.tree.text.find("of[" + std::to_string(size) + "]"), std::string::npos);
    const std::vector<NodeId> found = FindByName(outcome.tree, "Tile");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(outcome.tree.text.substr(outcome.tree.at(found[0]).begin, 11), "struct Tile");
    ASSERT_EQ(outcome.errors.size(), 1u);
    EXPECT_EQ(outcome.errors[0].line, 4);
    EXPECT_EQ(outcome.errors[0].file, "/nowhere/main.cu");
  }
}

TEST(LeadingHeaders, EndWhereTheUsersTextBegins) {
  const std::string text =
      "# 1 \"main.cu\"\n# 1 \"ours.h\" 1\n# 1 \"cmath\" 1 3\nint a;\n# 2 \"ours.h\" 2\n\n"
      "# 1 \"vector\" 1 3\n# 1 \"inner\" 1 3\nint b;\n# 7 \"vector\" 2 3\nint c;\n"
      "# 3 \"ours.h\" 2\nint ours;\n# 2 \"main.cu\" 2\n# 1 \"cstdio\" 1 3\nint d;\n";
  const LeadingHeaders headers(text);
  const std::string own = headers.Text(text);
  EXPECT_EQ(own, text.substr(0, text.find("# 3 \"ours.h\" 2")) + "# 1 \"main.cu\"\n");
  std::string rest = text;
  headers.LeaveOut(rest);
  const std::size_t at = text.find("# 3 \"ours.h\" 2");
  EXPECT_EQ(rest.substr(at), text.substr(at)) << "offsets are the same";
  const std::string markers = "\n# 1 \"main.cu\"\n# 1 \"ours.h\" 1\n# 1 \"vector\" 1 3\n";
  EXPECT_EQ(rest.substr(0, at), std::string(at - markers.size(), ' ') + markers);
  EXPECT_EQ(LeadingHeaders("# 1 \"main.cu\"\nint ours;\n").Text(text), "");
}

TEST(LeadingHeaders, AreWholeWhereNothingIsOpen) {
  EXPECT_TRUE(IsWhole(""));
  EXPECT_TRUE(IsWhole("# 1 \"a\"\nnamespace a { int f(); }\nint x;\n#pragma once\n"));
  EXPECT_FALSE(IsWhole("extern \"C\" {\nint x;\n"));
  EXPECT_FALSE(IsWhole("int x; }\n"));
  EXPECT_FALSE(IsWhole("static inline\n")) << "the user's text says of what";
}

}  // namespace
}  // namespace cupilot::source

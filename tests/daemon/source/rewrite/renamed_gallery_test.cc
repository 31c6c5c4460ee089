// Techniques look at the tree, never at names: with every identifier of a gallery kernel's source
// renamed, each technique decides as before and proposes the same parameters.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/install_layout.h"
#include "source/rewrite/techniques.h"
#include "source/syntax/parse.h"
#include "source/syntax/query.h"
#include "tests/daemon/source/gallery_sources.h"
#include "tests/daemon/source/scan_fixture.h"
#include "tests/daemon/source/toolkit_for_tests.h"

namespace cupilot::source {
namespace {

using Names = std::map<std::string, std::string>;

class RenamedGalleryTest : public ScanFixture {
 protected:
  static void SetUpTestSuite() { UseSourceTreeToolkit(); }
  static void TearDownTestSuite() { DropSourceTreeToolkit(); }

  // What the user declares in a kernel and what it reaches: parameters, locals, functions, globals.
  static Names NamesOf(const records::Kernel& kernel) {
    ParseOptions options;
    options.file_name = "closure.cu";
    options.system_folders = {base::HostToolkitFolder() + "/include"};
    options.defines = {"__CUDACC__", "__NVCC__"};
    const auto outcome = Parse(kernel.closure_source, options);
    EXPECT_TRUE(outcome) << kernel.name;
    std::set<std::string> declared;
    if (outcome) {
      for (const Node& node : outcome->tree.nodes) {
        const bool named = node.kind == Kind::kFunction || node.kind == Kind::kVariable ||
                           node.kind == Kind::kParameter;
        if (named && (node.flags & kSystem) == 0 && !node.name.empty()) declared.insert(node.name);
      }
    }
    for (const records::Tunable& tunable : kernel.tunables) declared.insert(tunable.name);
    Names names;
    for (const std::string& name : declared) {
      // Unlike the name in length and place in the alphabet.
      names[name] = "q" + std::to_string(97 * (declared.size() - names.size())) + "_";
    }
    return names;
  }

  static bool IsWordCharacter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  }

  // Every whole word of the text; tags are comments and are renamed with it.
  static std::string Renamed(const std::string& text, const Names& names) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      while (end < text.size() && IsWordCharacter(text[end])) ++end;
      if (end == at) {
        result += text[at++];
        continue;
      }
      const std::string word = text.substr(at, end - at);
      const auto found = names.find(word);
      const bool member = at > 0 && text[at - 1] == '.';
      result += found == names.end() || member ? word : found->second;
      at = end;
    }
    return result;
  }

  // The part of a source before its host code: the kernel, its tag and what it reaches.
  static std::string DevicePart(const std::string& text) {
    std::string part;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("Timing ")) break;
      if (!line.starts_with("#include")) part += line + "\n";
    }
    return part;
  }

  // As captured, where the tag says none: the same for every name.
  static records::Case CaseOf(const records::Kernel& kernel) {
    if (!kernel.cases.empty()) return kernel.cases.front();
    records::Case one;
    one.name = "only";
    one.grid = {"64", "64", "1"};
    one.block = {"16", "16", "1"};
    for (const records::Parameter& parameter : kernel.parameters) {
      records::Argument argument;
      argument.name = parameter.name;
      argument.type = parameter.type;
      const bool pointer = parameter.kind == records::ParameterKind::kPointer;
      (pointer ? argument.count : argument.value) = pointer ? "1048576" : "1024";
      one.arguments.push_back(argument);
    }
    return one;
  }

  static protocol::ProposeReply OpinionsOf(const records::Kernel& kernel, const char* device) {
    const auto reply = Propose({kernel, CaseOf(kernel), device});
    EXPECT_TRUE(reply) << (reply ? "" : reply.error().message);
    return reply.value_or(protocol::ProposeReply{});
  }
};

TEST_F(RenamedGalleryTest, NoDecisionChanges) {
  int kernels = 0;
  for (const std::string& source : GallerySources()) {
    const auto text = base::ReadFile(source);
    ASSERT_TRUE(text);
    if (text->find("// cupilot: tune\n") == std::string::npos) continue;
    SCOPED_TRACE(source);
    const std::string device = DevicePart(*text);
    const records::Kernel before = OneKernel(device);
    const Names names = NamesOf(before);
    ASSERT_TRUE(names.contains(before.base_name));
    const records::Kernel after = OneKernel(Renamed(device, names));
    ASSERT_EQ(before.cases.size(), after.cases.size());
    ASSERT_EQ(after.base_name, names.at(before.base_name));
    for (const records::Parameter& parameter : after.parameters) {
      EXPECT_TRUE(parameter.name.starts_with("q")) << parameter.name;
    }
    for (const char* on : {"host", "cuda"}) {
      const protocol::ProposeReply first = OpinionsOf(before, on), second = OpinionsOf(after, on);
      ASSERT_EQ(first.proposals.size(), second.proposals.size());
      for (std::size_t i = 0; i < first.proposals.size(); ++i) {
        const protocol::Proposal &a = first.proposals[i], &b = second.proposals[i];
        EXPECT_EQ(a.applies, b.applies) << a.technique << ": " << a.reason << " / " << b.reason;
        EXPECT_EQ(a.parameters, b.parameters) << a.technique;
        // A name may also be an English word of the reason: renamed in both.
        EXPECT_EQ(Renamed(a.reason, names), Renamed(b.reason, names)) << a.technique;
      }
    }
    ++kernels;
  }
  EXPECT_EQ(kernels, 10);
}

}  // namespace
}  // namespace cupilot::source

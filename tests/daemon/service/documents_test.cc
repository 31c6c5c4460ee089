// How a kernel is named in requests.
#include "service/documents.h"

#include <filesystem>

#include "base/file.h"
#include "service/untagged.h"
#include "tests/daemon/service/service_fixture.h"

namespace cupilot::service {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class FindKernelTest : public ServiceTest {
 protected:
  void Scan(const std::string& source_text) {
    Prepare(source_text);
    Start();
    DrainUntil([&] { return service_->counters().scans == 1; });
  }
  // The kernel's name, else what is wrong.
  std::string Find(const std::string& name, const std::string& folder = "") {
    const auto place = FindKernel(*service_, name, folder);
    return place ? place->kernel->name : place.error().message;
  }
  std::string SourceFolder() const {
    return std::filesystem::path(project_.source()).parent_path().string();
  }
};

TEST_F(FindKernelTest, ByItsQualifiedName) {
  Scan("kernel ns::one a\nkernel two b\n");
  EXPECT_EQ(Find("ns::one"), "ns::one");
  EXPECT_EQ(Find("two"), "two");
}

TEST_F(FindKernelTest, ByAUniqueSuffix) {
  Scan("kernel a::b::one x\nkernel another_one y\n");
  EXPECT_EQ(Find("one"), "a::b::one");
  EXPECT_EQ(Find("b::one"), "a::b::one");
  for (const char* name : {"ne", ":one", "::one", "::b::one", ""}) {
    EXPECT_THAT(Find(name), HasSubstr("no tagged kernel")) << name;
  }
}

TEST_F(FindKernelTest, AnAmbiguousSuffixNamesTheCandidates) {
  Scan("kernel a::one x\n\n\nkernel b::one y\n");
  EXPECT_THAT(Find("one"), AllOf(HasSubstr("'one' is ambiguous"),
                                 HasSubstr("a::one (" + project_.source() + ":1)"),
                                 HasSubstr("b::one (" + project_.source() + ":4)")));
  const auto place = FindKernel(*service_, "one", "");
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error().code, base::ErrorCode::kInvalidArgument);
}

TEST_F(FindKernelTest, AWholeNameIsNotAmbiguousBesideASuffix) {
  Scan("kernel a::one x\nkernel one y\n");
  EXPECT_EQ(Find("one"), "one");
}

TEST_F(FindKernelTest, ByFileAndLine) {
  Scan("\n\nkernel one a\n\n\n\nkernel two b\n");
  EXPECT_EQ(Find(project_.source() + ":3"), "one");
  EXPECT_EQ(Find(project_.source() + ":7"), "two");
  // The tag above the name.
  EXPECT_EQ(Find(project_.source() + ":2"), "one");
  EXPECT_EQ(Find("main.cu:7", SourceFolder()), "two");
  EXPECT_EQ(Find("./main.cu:7", SourceFolder()), "two");
  EXPECT_EQ(Find("../source/main.cu:7", project_.build_folder()), "two");
  for (const char* name : {"main.cu:5", "main.h:3", "main.cu:", "main.cu", "main.cu:7x",
                           "main.cu:0", "main.cu:99999999999999999999"}) {
    EXPECT_THAT(Find(name, SourceFolder()), HasSubstr("no tagged kernel")) << name;
  }
}

TEST_F(FindKernelTest, ALineIsNotAmbiguousBesideItsNeighbour) {
  Scan("kernel one a\nkernel two b\n\nkernel three c\n");
  EXPECT_EQ(Find("main.cu:1", SourceFolder()), "one");
  EXPECT_EQ(Find("main.cu:2", SourceFolder()), "two");
  EXPECT_THAT(Find("main.cu:3", SourceFolder()), HasSubstr("ambiguous"));
}

TEST_F(FindKernelTest, OneWithoutATagIsToldWhereItsTagGoes) {
  Scan(
      "kernel one a\nint twofold;\n\ntemplate <int kRows>\n__global__ void two(float* out) {\n}\n");
  const std::string said =
      "'two' has no tag: write `// cupilot: tune` above " + project_.source() + ":4, and build";
  EXPECT_EQ(Find("two"), said);
  EXPECT_EQ(Find("main.cu:5", SourceFolder()), said);
  EXPECT_THAT(Find("twofold"), HasSubstr("no tagged kernel"));
  EXPECT_THAT(Find("main.cu:7", SourceFolder()), HasSubstr("no tagged kernel"));
  EXPECT_EQ(FindKernel(*service_, "two", "").error().code, base::ErrorCode::kNotFound);
}

TEST(KernelHead, IsFoundByItsDeclaration) {
  const auto lines = [](const std::string& text, const std::string& kernel) {
    const HeadLines head = FindHead(text, kernel);
    return std::pair(head.first, head.last);
  };
  const std::string text =
      "void caller() { blur<<<1, 1>>>(x); blur(x); }\n"
      "static __global__ void\n__launch_bounds__(256)\nblur (float* out);\n";
  EXPECT_EQ(lines(text, "image::blur"), std::pair(std::int64_t{2}, std::int64_t{4}));
  EXPECT_EQ(lines(text, "lur"), std::pair(std::int64_t{0}, std::int64_t{0}));
  EXPECT_EQ(lines("", "blur"), std::pair(std::int64_t{0}, std::int64_t{0}));
}

TEST_F(FindKernelTest, WhatIsSaidOfOneKernelIsNotSaidOfAnotherNorTwice) {
  Scan("kernel one a declined=recursion\nkernel two b declined=textures\n");
  const auto one = FindKernel(*service_, "one", "");
  ASSERT_TRUE(one);
  const records::Json explained = ExplainDocument(*service_, *one);
  EXPECT_EQ(explained["why_not"], project_.source() + ":1: recursion");
  EXPECT_EQ(explained["warnings"], records::Json::array());
  EXPECT_EQ(StatusDocument(*service_)["projects"][0]["warnings"],
            records::Json::array(
                {project_.source() + ":1: recursion", project_.source() + ":2: textures"}));
}

TEST_F(FindKernelTest, OnlyInTheProjectOfTheFolder) {
  const test::FakeProject other(folder_ / "other");
  other.WriteSource("kernel two::one y\n");
  other.Configure();
  other.Register(state());
  other.Compile();
  Prepare("kernel one::one x\n");
  Start();
  DrainUntil([&] { return service_->counters().scans == 2; });
  EXPECT_EQ(Find("one", SourceFolder()), "one::one");
  EXPECT_EQ(Find("one", other.build_folder()), "two::one");
  EXPECT_EQ(Find("one", other.build_folder() + "/cupilot"), "two::one");
  // From elsewhere all are meant.
  EXPECT_THAT(Find("one", "/"), HasSubstr("ambiguous"));
}

// Debug and Release of one source: other flags, so another key.
TEST_F(FindKernelTest, OfSeveralBuildTreesItIsThatOfTheFolderOrTheNewest) {
  Prepare("kernel one x\n");
  const std::string second = folder_ / "debug";
  ASSERT_TRUE(base::MakeFolders(second));
  std::filesystem::copy(project_.build_folder(), second, std::filesystem::copy_options::recursive);
  const std::string path = second + "/cupilot/project.json";
  records::Json json = *records::ParseJson(*base::ReadFile(path));
  json["build_folder"] = second;
  ASSERT_TRUE(base::WriteFileAtomically(path, json.dump()));
  const std::string object = project_.object_folder().substr(project_.build_folder().size());
  records::CompileCommand command = project_.command();
  command.arguments.insert(command.arguments.begin() + 1, "-DNDEBUG");
  command.object = second + "/other.o";
  ASSERT_TRUE(base::WriteFileAtomically(second + object + "/command.json",
                                        records::ToJson(command).dump()));
  ASSERT_TRUE(base::WriteFileAtomically(command.object, "built"));
  ASSERT_TRUE(base::WriteFileAtomically(
      state() + "/projects/second.json",
      records::Json{{"schema", "cupilot.registration/1"}, {"build_folder", second}}.dump()));
  Start();
  DrainUntil([&] { return service_->counters().scans == 2; });
  const auto where = [&](const std::string& folder) {
    const auto place = FindKernel(*service_, "one", folder);
    return place ? place->object->build_folder : place.error().message;
  };
  EXPECT_EQ(where(second), second);
  EXPECT_EQ(where(project_.build_folder() + "/cupilot"), project_.build_folder());
  EXPECT_EQ(where(SourceFolder()), second) << "its object is the newer one";
  EXPECT_EQ(where(""), second);
  const auto place = FindKernel(*service_, "one", second);
  ASSERT_TRUE(place);
  EXPECT_EQ(ExplainDocument(*service_, *place)["also_built_in"],
            records::Json::array({project_.build_folder()}));
}

TEST_F(FindKernelTest, AKernelOfTwoObjectsIsOne) {
  Prepare("kernel a::one x\nkernel b::one y\n");
  const std::string again = project_.build_folder() + "/cupilot/app/again.o";
  ASSERT_TRUE(base::MakeFolders(again));
  ASSERT_TRUE(base::WriteFileIfDifferent(again + "/command.json",
                                         records::ToJson(project_.command()).dump()));
  Start();
  DrainUntil([&] { return service_->counters().scans == 2; });
  EXPECT_EQ(Find("a::one"), "a::one");
  const std::string ambiguous = Find("one");
  EXPECT_EQ(ambiguous.find("a::one ("), ambiguous.rfind("a::one (")) << ambiguous;
}

}  // namespace
}  // namespace cupilot::service

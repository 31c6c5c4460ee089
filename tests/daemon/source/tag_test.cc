#include "source/tag_parser.h"

#include <gmock/gmock.h>

#include "scan_fixture.h"

namespace cupilot::source {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tag Parsed(const std::string& text) {
  Tag tag;
  const auto parsed = ParseTagComment({"x.cu", 7, text}, tag);
  EXPECT_TRUE(parsed.has_value()) << parsed.error().message;
  return tag;
}

std::string ErrorOf(const std::string& text) {
  Tag tag;
  const auto parsed = ParseTagComment({"x.cu", 7, text}, tag);
  return parsed ? "" : parsed.error().message;
}

TEST(TagParser, ReadsAWorkload) {
  const Tag tag = Parsed(
      " cupilot: workload 1080p grid=(120,135) block=((n+255)/256) shared=4*n weight=2.5 n=1920 "
      "in=normal(1,2)[n*3] out=out [n] bins=inout unordered constant(0)[ 256 ] "
      "idx=indices(0, n)[n] global:w=uniform(-1,1)[49] bias=null");
  ASSERT_EQ(tag.workloads.size(), 1u);
  const TagWorkload& workload = tag.workloads[0];
  EXPECT_EQ(workload.name, "1080p");
  EXPECT_EQ(workload.weight, 2.5);
  EXPECT_THAT(workload.grid, ElementsAre("120", "135", "1"));
  EXPECT_THAT(workload.block, ElementsAre("(n+255)/256", "1", "1"));
  EXPECT_EQ(workload.shared_bytes, "4*n");
  ASSERT_EQ(workload.values.size(), 7u);
  EXPECT_EQ(workload.values[1].fill->mean, 1);
  EXPECT_EQ(workload.values[1].count, "n*3");
  EXPECT_EQ(workload.values[2].access, records::Access::kOut);
  EXPECT_TRUE(workload.values[3].unordered);
  EXPECT_EQ(workload.values[3].fill->value, "0");
  EXPECT_EQ(workload.values[3].count, "256");
  EXPECT_EQ(workload.values[4].fill->high, "n");
  EXPECT_TRUE(workload.values[5].global);
  EXPECT_EQ(workload.values[5].name, "w");
  EXPECT_EQ(workload.values[6].scalar, "null");
}

TEST(TagParser, ParametersMayHaveTheNamesOfLaunchFields) {
  const Tag tag = Parsed(
      " cupilot: workload a grid=2 block=64 weight=uniform(0,1)[n] shared=out [n] grid=7 n=4\n"
      " cupilot: workload b grid=2 block=64 weight=0.5 weight=out [n] block=[3*n]");
  ASSERT_EQ(tag.workloads.size(), 2u);
  const TagWorkload &a = tag.workloads[0], &b = tag.workloads[1];
  EXPECT_THAT(a.grid, ElementsAre("2", "1", "1"));
  EXPECT_EQ(a.weight, 1);
  ASSERT_EQ(a.values.size(), 4u);
  EXPECT_EQ(a.values[0].name, "weight");
  EXPECT_EQ(a.values[0].count, "n");
  EXPECT_EQ(a.values[1].access, records::Access::kOut);
  EXPECT_EQ(a.values[2].scalar, "7");
  EXPECT_EQ(b.weight, 0.5);
  ASSERT_EQ(b.values.size(), 2u);
  EXPECT_EQ(b.values[1].name, "block");
  EXPECT_EQ(b.values[1].count, "3*n");
  EXPECT_THAT(ErrorOf(" cupilot: workload a grid=2 block=64 weight=heavy"), HasSubstr("heavy"));
}

TEST(TagParser, SortedValuesHaveBoundsWhereTheTagSaysThem) {
  const Tag tag =
      Parsed("cupilot: workload grid=1 block=1 n=9 plain=sorted[n] rows=in sorted(0,4*n)[n+1]");
  ASSERT_EQ(tag.workloads.size(), 1u);
  const auto& values = tag.workloads[0].values;
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[1].fill->kind, "sorted");
  EXPECT_EQ(values[1].fill->low, "");
  EXPECT_EQ(values[2].fill->kind, "sorted");
  EXPECT_EQ(values[2].fill->low, "0");
  EXPECT_EQ(values[2].fill->high, "4*n");
  EXPECT_THAT(ErrorOf("cupilot: workload grid=1 block=1 a=sorted(3)[4]"),
              HasSubstr("write sorted(low,high)"));
}

TEST(TagParser, ReadsBlockCommentsAndContinuedLines) {
  const Tag tag =
      Parsed("\n * cupilot: tune\n * cupilot: workload grid=1 \\\n *   block=32 n=4\n ");
  EXPECT_TRUE(tag.tune);
  EXPECT_EQ(tag.line, 8);
  ASSERT_EQ(tag.workloads.size(), 1u);
  EXPECT_EQ(tag.workloads[0].name, "case1");
  EXPECT_EQ(tag.workloads[0].values[0].name, "n");
}

TEST(TagParser, ReadsTheOtherDirectives) {
  EXPECT_THAT(Parsed("cupilot: tunable T = 8, 16,32").tunables[0].values, ElementsAre(8, 16, 32));
  EXPECT_EQ(Parsed("cupilot: require A * B <= 1024").require[0].expression, "A * B <= 1024");
  EXPECT_THAT(Parsed("cupilot: launch block=(A, B) grid=ceil_div(n, A)").launch_block,
              ElementsAre("A", "B", "1"));
  EXPECT_EQ(Parsed("cupilot: tolerance relative=1e-4").tolerance->relative, 1e-4);
  EXPECT_TRUE(Parsed("cupilot: bitwise").tolerance->bitwise);
}

TEST(TagParser, ErrorsSayWhereAndWhatToWrite) {
  EXPECT_THAT(ErrorOf("cupilot: tuna"), HasSubstr("x.cu:7: unknown directive 'tuna'; write tune,"));
  EXPECT_THAT(ErrorOf("cupilot: tune now"), HasSubstr("'now' is not expected"));
  EXPECT_THAT(ErrorOf("cupilot: workload grid=1"), HasSubstr("lacks its launch"));
  EXPECT_THAT(ErrorOf("cupilot: workload grid=(1,2,3,4) block=1"), HasSubstr("three dimensions"));
  EXPECT_THAT(ErrorOf("cupilot: workload grid=1 block=1 a=gauss[4]"),
              HasSubstr("unknown fill 'gauss'"));
  EXPECT_THAT(ErrorOf("cupilot: workload grid=1 block=1 a=integers[4]"),
              HasSubstr("write integers(low,high)"));
  EXPECT_THAT(ErrorOf("cupilot: workload grid=1 block=1 a=in normal"), HasSubstr("lacks its size"));
  EXPECT_THAT(ErrorOf("cupilot: workload grid=1 block=1 a=normal[n*]"),
              HasSubstr("not an expression"));
  EXPECT_THAT(ErrorOf("cupilot: tunable T = a"), HasSubstr("'a' is not an integer"));
  EXPECT_THAT(ErrorOf("cupilot: tolerance relative=-1"), HasSubstr("not negative"));
  EXPECT_THAT(ErrorOf(std::string("cupilot: workload n=1\0 grid=1 block=1", 38)),
              HasSubstr("holds a control character; remove it"));
  EXPECT_THAT(ErrorOf("cupilot: workload grid=1 block=1 n=3\\\\"),
              HasSubstr("ends with a backslash"));
  EXPECT_THAT(ErrorOf("cupilot: workload n=3\\ grid=1 block=1"),
              HasSubstr("ends with a backslash"));
}

TEST(TagParser, ReadsTablesOfPointers) {
  const Tag tag = Parsed(
      "cupilot: workload grid=1 block=1 a=pointers(batch, n*n*4) "
      "c=out unordered pointers(2*batch,n, uniform(-1,1))");
  ASSERT_EQ(tag.workloads.size(), 1u);
  const TagValue &a = tag.workloads[0].values[0], &c = tag.workloads[0].values[1];
  EXPECT_TRUE(a.IsTable() && a.array && !a.access);
  EXPECT_EQ(a.count, "batch");
  EXPECT_EQ(a.fill->bytes, "n*n*4");
  EXPECT_TRUE(a.fill->inner.empty());
  EXPECT_EQ(c.access, records::Access::kOut);
  EXPECT_TRUE(c.unordered);
  EXPECT_EQ(c.count, "2*batch");
  ASSERT_EQ(c.fill->inner.size(), 1u);
  EXPECT_EQ(c.fill->inner[0].kind, "uniform");
  // Alone they say no workload.
  const Tag declared = Parsed("cupilot: workload a=pointers(batch, n)  c=pointers(1, 4)");
  EXPECT_TRUE(declared.workloads.empty());
  ASSERT_EQ(declared.tables.size(), 2u);
  EXPECT_EQ(declared.tables[1].name, "c");

  const std::string workload = "cupilot: workload grid=1 block=1 ";
  EXPECT_THAT(ErrorOf(workload + "a=pointers(4)"), HasSubstr("needs a count and the bytes"));
  EXPECT_THAT(ErrorOf(workload + "a=pointers(4,4)[4]"), HasSubstr("between its brackets"));
  EXPECT_THAT(ErrorOf(workload + "a=pointers(4,n*)"), HasSubstr("is not an expression"));
  EXPECT_THAT(ErrorOf(workload + "a=pointers(4,4,gauss)"), HasSubstr("unknown fill 'gauss'"));
  EXPECT_THAT(ErrorOf(workload + "a=pointers(4,4,pointers(1,4))"), HasSubstr("followed one level"));
  EXPECT_THAT(ErrorOf(workload + "a=pointers(4,4,file(x))"), HasSubstr("from one file"));
  EXPECT_THAT(ErrorOf(workload + "global:a=pointers(4,4)"), HasSubstr("cannot hold pointers"));
  EXPECT_THAT(ErrorOf("cupilot: workload a=pointers(4,4) n=3"), HasSubstr("lacks its launch"));
}

class TagTest : public ScanFixture {
 protected:
  std::string Declined(const std::string& tag, const std::string& parameters) const {
    return OneKernel("// cupilot: tune\n// cupilot: " + tag + "\n__global__ void k(" + parameters +
                     ") {}\n")
        .declined;
  }
};

TEST_F(TagTest, FitsItsKernel) {
  EXPECT_THAT(Declined("workload grid=1 block=1 m=4", "int n"),
              HasSubstr("main.cu:2: the kernel has no parameter 'm'; it has n"));
  EXPECT_THAT(Declined("workload grid=1 block=1", "int n"), HasSubstr("'n' (int) has no value"));
  EXPECT_THAT(Declined("workload grid=1 block=1 p=4", "float* p"),
              HasSubstr("write p=fill[count]"));
  EXPECT_THAT(Declined("workload grid=1 block=1 p=out [4]", "const float* p"),
              HasSubstr("its access is 'in'"));
  EXPECT_THAT(Declined("workload grid=1 block=1 p=[4]", "const int* p"), HasSubstr("has no fill"));
  EXPECT_THAT(Declined("workload grid=n/4 block=1 n=3", "int n"),
              HasSubstr("is 0; it must be at least"));
  EXPECT_THAT(Declined("workload grid=1 block=1 s=1", "struct S* s"), HasSubstr("is a pointer"));
  EXPECT_THAT(Declined("tunable T = 1, 2", "int n"), HasSubstr("under '#ifndef T'"));
  EXPECT_THAT(Declined("require X > 1", "int n"),
              HasSubstr("there is no 'X' here; the kernel has n"));
  EXPECT_THAT(Declined("workload grid=1 block=1 n=4 global:w=normal", "int n"),
              HasSubstr("reaches no global 'w'"));
  EXPECT_EQ(Declined("workload grid=m/4 block=1 n=64 m=n*n", "int n, long long m"), "");
}

TEST_F(TagTest, DeclaresTablesOfPointers) {
  const records::Kernel kernel = OneKernel(
      "// cupilot: tune\n// cupilot: workload grid=b block=1 n=4 b=2 x=pointers(b, 4*n) "
      "y=out pointers(b, 4*n) z=pointers(b, 2*n, integers(0,9))\n"
      "__global__ void k(const float* const* x, float** y, const short* const* z, int n, int b) "
      "{ y[0][0] = x[0][0] + z[0][0]; }\n");
  ASSERT_EQ(kernel.declined, "");
  ASSERT_EQ(kernel.cases.size(), 1u);
  const std::vector<records::Argument>& arguments = kernel.cases[0].arguments;
  EXPECT_EQ(arguments[0].count, "b");
  EXPECT_EQ(arguments[0].access, records::Access::kIn);
  EXPECT_EQ(arguments[0].fill->bytes, "4*n");
  EXPECT_EQ(arguments[0].fill->inner.at(0).kind, "normal");
  EXPECT_EQ(arguments[1].access, records::Access::kOut);
  EXPECT_EQ(arguments[2].fill->inner.at(0).kind, "integers");
  EXPECT_TRUE(kernel.parameters[0].table);
  EXPECT_TRUE(kernel.parameters[0].element_const && kernel.parameters[0].pointee_const);
  EXPECT_EQ(kernel.parameters[2].pointee, "short");
  EXPECT_EQ(kernel.parameters[2].pointee_bytes, 2);
  EXPECT_FALSE(kernel.parameters[1].element_const || kernel.parameters[1].pointee_const);
  const auto again = records::ParseKernel(records::ToJson(kernel));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->parameters[0].table && again->parameters[0].pointee_const);
}

TEST_F(TagTest, DeclaresTablesWithoutAWorkload) {
  const records::Kernel kernel = OneKernel(
      "// cupilot: tune\n// cupilot: workload x=pointers(2, 16)\n"
      "__global__ void k(float** x) { x[0][0] = 1; }\n");
  EXPECT_EQ(kernel.declined, "");
  EXPECT_TRUE(kernel.cases.empty());
  EXPECT_TRUE(kernel.parameters[0].table);
}

TEST_F(TagTest, StructuresWithPointersInThemAreTold) {
  const records::Kernel kernel = OneKernel(
      "struct Plain { float x; int at[3]; };\n"
      "struct Node { Plain plain; float* data[2]; };\n"
      "struct Tree { int count; Node root; };\n"
      "// cupilot: tune\n"
      "__global__ void k(const Node* nodes, Tree* trees, Plain* plain, float* out) "
      "{ out[0] = nodes[0].plain.x + trees[0].count + plain[0].x; }\n");
  EXPECT_EQ(kernel.declined, "");
  EXPECT_TRUE(kernel.parameters[0].element_has_pointers);
  EXPECT_TRUE(kernel.parameters[1].element_has_pointers);
  EXPECT_FALSE(kernel.parameters[2].element_has_pointers);
  EXPECT_FALSE(kernel.parameters[3].element_has_pointers);
  const auto again = records::ParseKernel(records::ToJson(kernel));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->parameters[1].element_has_pointers);
}

TEST_F(TagTest, TablesFitTheirParameters) {
  const std::string launch = "workload grid=1 block=1 ";
  EXPECT_THAT(Declined(launch + "p=normal[4]", "float** p"),
              HasSubstr("'p' leads to pointers in memory (float **); write p=pointers(count, "));
  EXPECT_THAT(Declined(launch, "float** p"), HasSubstr("write p=pointers(count, bytes)"));
  EXPECT_THAT(Declined(launch + "p=pointers(1,4)", "float* p"),
              HasSubstr("'p' is a float *, no pointer to pointers; write p=fill[count]"));
  EXPECT_THAT(Declined(launch + "n=pointers(1,4)", "int n"), HasSubstr("write n=NUMBER"));
  EXPECT_THAT(Declined("workload n=pointers(1,4)", "int n"), HasSubstr("write n=NUMBER"));
  EXPECT_THAT(Declined("workload m=pointers(1,4)", "int n"), HasSubstr("no parameter 'm'"));
  EXPECT_THAT(Declined(launch + "p=pointers(1,8)", "float*** p"), HasSubstr("pointers again"));
  EXPECT_THAT(OneKernel("struct S { float* x; };\n// cupilot: tune\n// cupilot: " + launch +
                        "p=pointers(1,8)\n__global__ void k(S** p) { p[0]->x[0] = 1; }\n")
                  .declined,
              HasSubstr("holds pointers again"));
  EXPECT_THAT(Declined(launch + "p=pointers(1,6)", "float** p"),
              HasSubstr("6 bytes are no whole float"));
  EXPECT_THAT(Declined(launch + "p=out pointers(1,4)", "const float* const* p"),
              HasSubstr("its access is 'in'"));
  EXPECT_THAT(Declined(launch + "p=pointers(1,4)", "int** p"),
              HasSubstr("pointers(count,bytes,integers(0,255))"));
  EXPECT_EQ(Declined(launch + "p=null", "int** p"), "");
}

TEST_F(TagTest, AboveNoKernelIsAWarning) {
  const protocol::ScanReply reply = ScanText(
      "// cupilot: tune\nint x;\n__global__ void k() {}\n// cupilot: bitwise\n"
      "__global__ void l() {}\n");
  EXPECT_TRUE(reply.kernels.empty());
  EXPECT_THAT(reply.warnings, ElementsAre(HasSubstr("main.cu:1: this tag stands above no kernel"),
                                          HasSubstr("main.cu:4: the tag of l lacks the line")));
}

TEST_F(TagTest, MayStandAboveAttributesTemplatesCommentsAndDeclarations) {
  const protocol::ScanReply reply = ScanText(R"(
/* cupilot: tune
   cupilot: workload grid=1 block=32 x=[32] */
// What the kernel does.
static
__global__ void k(float* x);
__global__ void k(float* x) { x[0] = 1; }
)");
  ASSERT_EQ(reply.kernels.size(), 1u);
  EXPECT_EQ(reply.kernels[0].declined, "");
  EXPECT_EQ(reply.kernels[0].cases.size(), 1u);
}

// The file stands for several kernels when it is included several times.
TEST_F(TagTest, AreThereAgainWhereAFileIsIncludedAgain) {
  Write("part.inc",
        "// cupilot: tune\n// cupilot: workload grid=1 block=32 x=out[5]\n"
        "#if SIZE == 4\n__global__ void first(int* x) { x[0] = 1; }\n"
        "#else\n__global__ void NAME(int* x) { x[0] = SIZE; }\n#endif\n");
  const auto reply = ScanText(
      "#define SIZE 4\n#include \"part.inc\"\n#undef SIZE\n#define SIZE 5\n"
      "#define NAME second\n#include \"part.inc\"\n#undef NAME\n#define NAME third\n"
      "#include \"part.inc\"\n");
  EXPECT_THAT(reply.warnings, ::testing::IsEmpty());
  ASSERT_EQ(reply.kernels.size(), 3u);
  EXPECT_EQ(reply.kernels[0].name, "first");
  EXPECT_EQ(reply.kernels[1].name, "second");
  EXPECT_EQ(reply.kernels[2].name, "third");
}

TEST_F(TagTest, MayUseLettersOfOtherAlphabets) {
  const records::Kernel kernel = OneKernel(
      "// cupilot: tune\n// cupilot: workload größte grid=1 block=32 x=out[4]\n"
      "__global__ void k(int* x) { x[0] = 1; }\n");
  EXPECT_EQ(kernel.declined, "");
  ASSERT_EQ(kernel.cases.size(), 1u);
  EXPECT_EQ(kernel.cases[0].name, "größte");
}

TEST_F(TagTest, UnfilledTablesNeedValues) {
  const std::string text =
      "__constant__ float w[9];\n// cupilot: tune\n// cupilot: workload grid=1 block=1 x=[1]%s\n"
      "__global__ void k(float* x) { x[0] = w[3]; }\n";
  std::string without = text, with = text;
  without.replace(without.find("%s"), 2, "");
  with.replace(with.find("%s"), 2, " global:w=normal");
  EXPECT_THAT(OneKernel(without).declined, HasSubstr("write global:w=fill"));
  const records::Kernel kernel = OneKernel(with);
  EXPECT_EQ(kernel.declined, "");
  ASSERT_EQ(kernel.cases[0].globals.size(), 1u);
  EXPECT_EQ(kernel.cases[0].globals[0].count, "9");
}

// Networks call an array so, and so does a blend its share.
TEST_F(TagTest, AWeightMayBeTheKernels) {
  const auto reply = ScanText(R"(
// cupilot: tune
// cupilot: workload a grid=1 block=32 n=4 weight=uniform(0,1)[n] out=[n]
__global__ void scaled(const float* weight, float* out, int n) { out[threadIdx.x] = weight[n - 1]; }
// cupilot: tune
// cupilot: workload a grid=1 block=32 weight=0.25 out=[4]
// cupilot: workload b grid=1 block=32 weight=3 weight=0.25 out=[4]
__global__ void blended(float weight, float* out) { out[threadIdx.x] = weight; }
)");
  ASSERT_EQ(reply.kernels.size(), 2u);
  ASSERT_EQ(reply.kernels[0].cases.size(), 1u);
  EXPECT_EQ(reply.kernels[0].cases[0].arguments[0].fill->kind, "uniform");
  ASSERT_EQ(reply.kernels[1].cases.size(), 2u);
  EXPECT_EQ(reply.kernels[1].cases[0].weight, 1);
  EXPECT_EQ(reply.kernels[1].cases[0].arguments[0].value, "0.25");
  EXPECT_EQ(reply.kernels[1].cases[1].weight, 3);
  EXPECT_EQ(reply.kernels[1].cases[1].arguments[0].value, "0.25");
}

}  // namespace
}  // namespace cupilot::source

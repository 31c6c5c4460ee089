#include "worker/compare_object.h"

#include <cstdlib>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "device/cuda/cubin.h"
#include "source/swap/device_text.h"
#include "source/swap/kernel_code.h"
#include "worker/build_cuda.h"
#include "worker/run_tool.h"

namespace cupilot::worker {
namespace {

using source::FatEntry;

// Stands for the constants of other kernels that the user's file declares before ours: where they
// lie is part of our instructions.
constexpr const char* kBefore = "cupilot_constants_before";

std::string TextBehind(std::int64_t bytes, const std::string& text) {
  return "__constant__ unsigned char " + std::string(kBefore) + "[" + std::to_string(bytes) +
         "];\n" + text;
}

// 90 of "sm_90a".
int NumberOf(const std::string& architecture) {
  return std::atoi(architecture.substr(architecture.find('_') + 1).c_str());
}

class Comparison {
 public:
  // `placed`: our text has been put behind what is before it in the object.
  Comparison(const protocol::CompareObjectRequest& request, const CompiledCuda& compiled,
             bool placed)
      : request_(request),
        compiled_(compiled),
        placed_(placed),
        architecture_(NumberOf(compiled.code)) {}

  base::Result<protocol::CompareObjectReply> Run() {
    TRY_ASSIGN(source::KernelCode ours,
               source::KernelCodeOf(compiled_.cubin, architecture_, [&](const std::string& symbol) {
                 return device::cuda::QualifiedName(symbol) ==
                        device::cuda::WithoutUnnamedNamespaces(request_.kernel);
               }));
    std::erase_if(ours.constants, [](const auto& one) { return one.name == kBefore; });
    auto entries = source::FatEntriesOf(request_.object, compiled_.by_driver);
    if (!entries && entries.error().code != base::ErrorCode::kUnsupported) {
      return base::Fail(entries.error());
    }
    if (!entries) return NotCompared(entries.error().message);
    bool found = false;
    for (FatEntry& entry : *entries) {
      TRY_ASSIGN(const std::optional<std::string> cubin, CubinOf(entry));
      if (!cubin) continue;
      const auto theirs = source::KernelCodeOf(
          *cubin, architecture_, [&](const std::string& symbol) { return IsTheirs(symbol); });
      if (!theirs && theirs.error().code == base::ErrorCode::kNotFound) continue;
      if (!theirs) return NotCompared(theirs.error().message);
      found = true;
      reply_.difference = source::WhyCodeDiffers(*theirs, ours);
      if (reply_.difference.empty()) continue;
      if (!placed_) constants_before_ = source::ConstantsBefore(*theirs, ours);
      if (constants_before_ > 0) return std::move(reply_);
      TRY(MakeImage(*cubin));
      return std::move(reply_);
    }
    if (!found) return NotCompared(WhyNotFound(*entries));
    return std::move(reply_);
  }

  // Where our text has to be compiled behind so many bytes of constants to be comparable: then the
  // answer says nothing yet.
  std::int64_t constants_before() const { return constants_before_; }

 private:
  base::Result<protocol::CompareObjectReply> NotCompared(std::string why) {
    reply_.not_compared = std::move(why);
    return std::move(reply_);
  }

  // Names the kernel, and keeps how the object calls it.
  bool IsTheirs(const std::string& symbol) {
    const std::string& wanted = request_.instance.empty() ? request_.signature : request_.instance;
    const bool is = source::StableName(symbol) == source::StableName(wanted) ||
                    source::IsSameName(symbol, wanted);
    if (is) reply_.entry = symbol;
    return is;
  }

  // Nothing: it is not what runs on the GPU.
  base::Result<std::optional<std::string>> CubinOf(FatEntry& entry) {
    const bool code = entry.kind == FatEntry::Kind::kMachineCode;
    if (!compiled_.by_driver && code && entry.architecture == architecture_) {
      return std::optional(std::move(entry.bytes));
    }
    const bool ptx = entry.kind == FatEntry::Kind::kPtx;
    if (!compiled_.by_driver || !ptx || entry.architecture != NumberOf(compiled_.ptx)) {
      return std::optional<std::string>();
    }
    return Assembled(entry.bytes);
  }

  // By the assembler that made our code: the driver's would make other code of both.
  base::Result<std::optional<std::string>> Assembled(const std::string& ptx) {
    const std::string base = NameFor(ptx), source = base + ".ptx", cubin = base + ".assembled";
    TRY(base::MakeFolders(request_.original.cache_folder));
    // What follows the text in the container is padding.
    TRY(base::WriteFileUnsynced(source, ptx.substr(0, ptx.find('\0'))));
    std::vector<std::string> words = {compiled_.tools + "/ptxas", "-arch=" + compiled_.code};
    if (compiled_.relocatable) words.emplace_back("-c");
    words.insert(words.end(), compiled_.assembler_options.begin(),
                 compiled_.assembler_options.end());
    words.insert(words.end(), {source, "-o", cubin});
    TRY_ASSIGN(const ToolEnd ended, Run(words, base + ".log"));
    auto made = base::ReadFile(cubin);
    for (const std::string& file : {source, cubin}) (void)base::RemoveTree(file);
    if (ended.succeeded && made) return std::optional(*std::move(made));
    return base::Fail(base::Unavailable("the PTX in " + request_.object +
                                        " cannot be assembled: " + BeginningOf(base + ".log")));
  }

  base::Result<ToolEnd> Run(const std::vector<std::string>& words, const std::string& log) const {
    return RunTool(words, log, std::chrono::milliseconds(request_.original.timeout_ms));
  }

  std::string NameFor(const std::string& bytes) const {
    return request_.original.cache_folder + "/object." + base::HashHex(bytes);
  }

  base::Result<> MakeImage(const std::string& cubin) {
    TRY(base::MakeFolders(request_.original.cache_folder));
    const std::string base = NameFor(cubin), image = base + ".cubin";
    if (!compiled_.relocatable) {
      TRY(base::WriteFileUnsynced(image, cubin));
      reply_.image = image;
      return {};
    }
    const std::string unlinked = base + ".unlinked.cubin", log = base + ".log";
    TRY(base::WriteFileUnsynced(unlinked, cubin));
    TRY_ASSIGN(
        const ToolEnd ended,
        Run({compiled_.tools + "/nvlink", "-arch=" + compiled_.code, unlinked, "-o", image}, log));
    (void)base::RemoveTree(unlinked);
    if (ended.succeeded) {
      reply_.image = image;
    } else {
      reply_.not_loadable =
          "it does not link without the program's other objects: " + BeginningOf(log);
    }
    return {};
  }

  std::string WhyNotFound(const std::vector<FatEntry>& entries) const {
    for (const FatEntry& entry : entries) {
      if (entry.kind == FatEntry::Kind::kIntermediate) {
        return "the object holds intermediate code, of which the device linker makes the "
               "program's; compile without -dlto";
      }
    }
    return "the object has no code of it for " + compiled_.code +
           "; launch the kernel in this source, and compile it for this architecture";
  }

  const protocol::CompareObjectRequest& request_;
  const CompiledCuda& compiled_;
  const bool placed_;
  const int architecture_;
  protocol::CompareObjectReply reply_;
  std::int64_t constants_before_ = 0;
};

}  // namespace

base::Result<protocol::CompareObjectReply> CompareObject(
    const protocol::CompareObjectRequest& request) {
  if (!base::FileExists(request.object)) {
    return base::Fail(base::NotFound(request.object + " is not there"));
  }
  TRY_ASSIGN(CompiledCuda compiled, CompileCuda(request.original));
  if (compiled.cubin.empty()) {
    protocol::CompareObjectReply reply;
    reply.not_compared =
        compiled.build.timed_out
            ? "the compiler took too long for its text alone"
            : "its text alone does not compile with the object's command: " + compiled.build.log;
    return reply;
  }
  Comparison comparison(request, compiled, false);
  TRY_ASSIGN(protocol::CompareObjectReply reply, comparison.Run());
  if (comparison.constants_before() == 0) return reply;
  protocol::CompareObjectRequest behind = request;
  behind.original.text = TextBehind(comparison.constants_before(), request.original.text);
  TRY_ASSIGN(compiled, CompileCuda(behind.original));
  if (compiled.cubin.empty()) {
    return base::Fail(
        base::Internal("a text does not compile behind a constant: " + compiled.build.log));
  }
  return Comparison(behind, compiled, true).Run();
}

}  // namespace cupilot::worker

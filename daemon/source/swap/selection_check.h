// Whether a published selection holds for a compile: what the launcher asks before it swaps, and
// what the publisher uses to write the parts that are asked for. Reads files, and for the launcher
// runs the command's preprocessing; writes nothing.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "records/compile_command.h"
#include "records/selection.h"
#include "source/swap/swapped_source.h"

namespace cupilot::source {

// Names inside the folder of an object.
inline constexpr const char* kStampFile = "stamp.h";
inline constexpr const char* kCommandFile = "command.json";
inline constexpr const char* kAppliedFile = "applied.json";
inline constexpr const char* kSelectionFile = "selection.json";
inline constexpr const char* kRefusedFile = "refused.json";

struct CheckedSelection {
  bool holds = false;
  std::string reason;  // why not: "the header x.h has changed"
  std::string id;      // hash of the file's bytes; empty: there is no selection
  records::Selection selection;
};

// Reads `folder`/selection.json and checks it against the command: source, command, environment,
// compiler, swapped source and the variants' files (by their hashes), tags, and last what the
// compiler itself reads (ask_compiler.h): no list of files can be complete. That takes 6 to 13 % of
// the compile, and is asked whatever the files' times say.
CheckedSelection CheckSelection(const records::CompileCommand& command);
// The same, where `compiled` is what the compiler said at a scan of the files as they are: runs
// nothing.
CheckedSelection CheckSelection(const records::CompileCommand& command,
                                const std::vector<records::PassSummary>& compiled);

// Why the published texts in `folder` cannot be compiled: `swap`, or a variant's file that it
// includes, is missing or has other bytes than its name says. Empty if they can.
std::string WhyTextsDiffer(const std::string& folder, const std::string& swap);

// Whether a compile of what is called `id` failed in this folder before: it is not tried again.
bool WasRefused(const std::string& folder, const std::string& id);

// The machine code of a variant in the object that was made, named as an evaluation's text_hash:
// where both are equal, what ships is what was measured.
struct ShippedText {
  std::string variant;  // id
  std::string target;   // "compute_90,sm_90"
  std::string hash;
};
// What the launcher said of the object's code in `folder`/applied.json; empty where it said nothing
// (the original was compiled, or the code could not be read).
std::vector<ShippedText> ReadShippedText(const std::string& folder);

// Whether an object ships the code that an evaluation measured. kDifferent: the evidence is not of
// this code, so it is measured again. kUnknown: nothing is said against the evidence.
enum class ShippedCode { kSame, kDifferent, kUnknown };
ShippedCode CompareShipped(const std::vector<ShippedText>& shipped, const std::string& variant,
                           const std::string& target, const std::string& measured_hash);

// What the compiler is, without running it: the program and the toolkit's version file by path,
// size and time. Empty if it cannot be found.
std::string ToolchainIdentity(const records::CompileCommand& command);

// A file as a selection records it. kNotFound, kIo.
base::Result<records::SelectedFile> RecordFile(const std::string& path);

// What the selection's kernels and variants look up, and what the compiler said of it at the scan.
void RecordTokens(const SwapRequest& request, const std::vector<records::PassSummary>& compiled,
                  records::Selection& selection);

// The variables that change what nvcc does: their names, and those that this process has.
const std::vector<const char*>& CompilerVariables();
std::vector<std::pair<std::string, std::string>> CompilerEnvironment();

}  // namespace cupilot::source

// cupilot-launcher ROOT TARGET -- [LAUNCHER...] --compiler COMPILER ARGUMENTS...
// cupilot-launcher --register BUILD_FOLDER [DAEMON]
// cupilot-launcher --lock ROOT
// cupilot-launcher --hints ROOT
//
// Stands in front of the CUDA compiler of a tuned target. ROOT is the folder `cupilot` of the
// user's build tree, where a folder for each object holds what we know about it; LAUNCHER is what
// the project had in front of its compiler before us (ccache, say).
//
// Rule: the build never waits for us and never breaks because of us. Whatever goes wrong here, the
// user's own command runs in place of this process, and its exit code and output are its own.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/child.h"
#include "base/file.h"
#include "base/hash.h"
#include "client/launcher_hints.h"
#include "client/launcher_lock.h"
#include "client/registration.h"
#include "records/compile_command.h"
#include "records/selection.h"
#include "records/variant.h"
#include "source/swap/compile_line.h"
#include "source/swap/device_text.h"
#include "source/swap/elf_file.h"
#include "source/swap/selection_check.h"
#include "source/swap/swapped_source.h"

namespace cupilot::client {
namespace {

constexpr const char* kSeparator = "--";
constexpr const char* kCompilerWord = "--compiler";
constexpr std::size_t kMostLogBytes = 65536;
// Compilers' time stamps are finer than this; any time that is surely before the build will do.
constexpr timespec kLongAgo = {946684800, 0};

using Words = std::vector<std::string>;

// What we were asked to run.
struct Request {
  std::string root;
  std::string target;
  Words prefix;   // the launcher that was there before
  Words command;  // compiler first
};

bool ReadRequest(const Words& words, Request& out) {
  if (words.size() < 5 || words[3] != kSeparator) return false;
  out.root = words[1];
  out.target = words[2];
  std::size_t at = 4;
  while (at < words.size() && words[at] != kCompilerWord) out.prefix.push_back(words[at++]);
  if (at + 1 >= words.size()) return false;
  out.command.assign(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
  return true;
}

// Becomes the command. Returns only if that is impossible.
int Become(Words words) {
  std::vector<char*> pointers = base::ArgumentPointers(words);
  execvp(pointers[0], pointers.data());
  const int code = errno;
  std::fprintf(stderr, "cupilot-launcher: cannot run %s: %s\n", pointers[0], std::strerror(code));
  return 127;
}

Words Joined(const Words& prefix, const Words& command, const Words& more = {}) {
  Words all = prefix;
  all.insert(all.end(), command.begin(), command.end());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// As base::WriteFileAtomically without the wait for the disk: these files are made again by the
// next build. `aged`: its time lies in the past.
bool WriteByRename(const std::string& path, const std::string& bytes, bool aged) {
  const std::string temporary = path + "." + std::to_string(getpid());
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return false;
  const timespec times[2] = {kLongAgo, kLongAgo};
  const bool written =
      write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
      (!aged || futimens(fd, times) == 0);
  close(fd);
  if (written && std::rename(temporary.c_str(), path.c_str()) == 0) return true;
  unlink(temporary.c_str());
  return false;
}

// A file that has these bytes is left alone.
bool WriteQuickly(const std::string& path, const std::string& bytes, bool aged = false) {
  const auto present = base::ReadFile(path);
  if (present && *present == bytes) return true;
  return WriteByRename(path, bytes, aged);
}

// The header that every compile of this object includes, so that the build tool knows that the
// object depends on it. Its time lies in the past: a file that appears during a command would make
// newer Ninja run the command once more.
bool MakeStamp(const std::string& path) {
  if (base::FileExists(path)) return true;
  return WriteByRename(path, "// cuPilot touches this file when another variant was published.\n",
                       true);
}

// The swapped source and what it includes, which the object then depends on: as the stamp.
bool WriteSwapped(const std::string& folder, const source::SwappedSource& swap) {
  for (const source::SwappedText& one : swap.Files()) {
    if (!WriteQuickly(folder + "/" + one.file_name, one.text, true)) return false;
  }
  return true;
}

// While this descriptor is open (here and in the compiler that we become) the daemon sees a build.
// A launcher that leaves a server behind would keep it open for ever: then only the file's time
// tells.
void HoldBuildLock(const Request& request) {
  bool leaves_server = false;
  for (const std::string& word : request.prefix) {
    leaves_server = leaves_server || word.find("sccache") != std::string::npos;
  }
  const std::string path = request.root + "/build.lock";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | (leaves_server ? O_CLOEXEC : 0), 0644);
  if (fd < 0) return;
  futimens(fd, nullptr);
  if (leaves_server || flock(fd, LOCK_SH | LOCK_NB) != 0) close(fd);
}

// "<root>/<target>/CMakeFiles/app.dir/main.cu.o"
std::string FolderOf(const Request& request, const std::string& object) {
  std::string build = request.root.substr(0, request.root.rfind('/') + 1);
  if (!object.starts_with(build)) {
    // The build tool may have come here by a symbolic link, or by the folder behind it.
    char* real = realpath(build.c_str(), nullptr);
    if (real != nullptr) build = std::string(real) + "/";
    std::free(real);
  }
  return request.root + "/" + request.target + "/" +
         object.substr(object.starts_with(build) ? build.size() : 1);
}

// What became of a compile: applied.json.
struct Applied {
  std::string selection = {};  // id; empty: the original, or variants of a lock file
  std::string reason = {};     // why the original
  // By what the object is known once the selection was written again for other files.
  std::string compiled = {};
  std::string lock = {};         // what the lock file said (source::LockChoice::digest)
  records::Json text = nullptr;  // the machine code of the variants
  std::vector<records::SelectedKernel> kernels = {};  // not written: for NoteForHints()
};

void WriteApplied(const std::string& folder, const Applied& applied) {
  records::Json json = {{"schema", "cupilot.applied/1"},
                        {"selection", applied.selection},
                        {"reason", applied.reason}};
  if (!applied.compiled.empty()) json["compiled"] = applied.compiled;
  if (!applied.lock.empty()) json["lock"] = applied.lock;
  if (!applied.text.is_null()) json["text"] = applied.text;
  WriteQuickly(folder + "/" + source::kAppliedFile, records::CompactJson(json) + "\n");
}

void WriteRefused(const std::string& folder, const std::string& selection, std::string log) {
  if (log.size() > kMostLogBytes) log.resize(kMostLogBytes);
  const records::Json json = {
      {"schema", "cupilot.refused/1"}, {"selection", selection}, {"log", log}};
  WriteQuickly(folder + "/" + source::kRefusedFile, records::CompactJson(json) + "\n");
}

void Show(int fd, const std::string& bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t written = write(fd, bytes.data() + at, bytes.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    at += static_cast<std::size_t>(written);
  }
}

// Whether a compile that failed was ended by this machine (out of memory, a full disk, somebody's
// kill), which says nothing about its source. Compilers start other programs and report their ends
// in words: nvcc's "died due to signal 9", GCC's and clang's "Killed".
bool EndedByMachine(int exit_code, const std::string& said) {
  if (exit_code == 128 + SIGKILL || exit_code == 128 + SIGTERM) return true;
  for (const char* words :
       {"died due to signal 9 ", "died due to signal 9\n", "died due to signal 15", "Killed",
        "Terminated signal", "No space left on device", "annot allocate memory",
        "virtual memory exhausted"}) {
    if (said.find(words) != std::string::npos) return true;
  }
  return false;
}

// The swapped compile. True if the object is made; else `reason` says why the original must be.
bool CompileSwapped(const Request& request, const source::CompileLine& line,
                    const std::string& folder, const source::CheckedSelection& checked,
                    std::string& reason) {
  Words command = request.command;
  for (std::string& word : command) {
    if (word == line.source_word) word = folder + "/" + checked.selection.swap;
  }
  Words more = source::HookDefinitions(checked.selection.hook);
  more.insert(more.end(), {"-include", folder + "/" + source::kStampFile});
  base::ChildEnd outcome;
  // Its output is kept back, since it is shown only if the compile succeeds.
  if (!base::RunToEnd({Joined(request.prefix, command, more)}, outcome)) {
    reason = "the swapped compile could not be started";
    return false;
  }
  if (!WIFEXITED(outcome.status)) {  // killed from outside: says nothing about the selection
    reason = "the swapped compile was killed";
    return false;
  }
  const int code = WEXITSTATUS(outcome.status);
  if (code != 0 && EndedByMachine(code, outcome.errors + outcome.output)) {
    reason = "the swapped compile was ended: no memory, no room on the disk, or killed";
    return false;
  }
  if (code != 0) {
    reason = "refused: its swapped source did not compile";
    WriteRefused(folder, checked.id, outcome.errors + outcome.output);
    return false;
  }
  const auto refers = source::ObjectRefersTo(line.object, checked.selection.hook);
  if (!refers || !*refers) {
    reason = "refused: the object does not call the hook";
    WriteRefused(folder, checked.id, refers ? reason : refers.error().message);
    return false;
  }
  Show(STDOUT_FILENO, outcome.output);
  Show(STDERR_FILENO, outcome.errors);
  return true;
}

// The machine code of the variants that the object holds, by which one sees whether it is what was
// measured. Empty where there is none to read (the host device, PTX alone, unknown packing).
std::vector<source::ShippedText> ShippedCodeOf(const std::string& object,
                                               const records::Selection& selection) {
  const auto images = source::DeviceImagesOf(object);
  std::vector<source::ShippedText> shipped;
  if (!images) return shipped;
  for (const records::SelectedKernel& kernel : selection.kernels) {
    for (const records::SelectedVariant& variant : kernel.variants) {
      const std::size_t binary = variant.target.find(",sm_");
      if (binary == std::string::npos) continue;
      const int architecture = std::atoi(variant.target.c_str() + binary + 4);
      std::string hash =
          source::TextOfVariant(*images, architecture, records::VariantNamespace(variant.id));
      if (!hash.empty()) shipped.push_back({variant.id, variant.target, std::move(hash)});
    }
  }
  return shipped;
}

records::Json RowsOf(const std::vector<source::ShippedText>& shipped) {
  records::Json rows = nullptr;
  for (const source::ShippedText& one : shipped) {
    rows.push_back({{"variant", one.variant}, {"target", one.target}, {"hash", one.hash}});
  }
  return rows;
}

records::CompileCommand Record(const source::CompileLine& line, const std::string& directory,
                               const std::string& folder) {
  records::CompileCommand command;
  command.directory = directory;
  command.arguments = line.arguments;
  command.source = line.source;
  command.object = line.object;
  command.environment = source::CompilerEnvironment();
  command.folder = folder;
  return command;
}

// A compile that we leave alone keeps no record of ours: an old one would describe another object.
void Forget(const std::string& folder, const std::string& reason) {
  if (!base::FileExists(folder + "/" + source::kCommandFile)) return;
  unlink((folder + "/" + source::kCommandFile).c_str());
  WriteApplied(folder, {.reason = reason});
}

bool TurnedOff() {
  const char* value = std::getenv("CUPILOT");
  return value != nullptr && std::strcmp(value, "0") == 0;
}

// Of other code than what was measured nothing is proven.
std::string OtherCode(const std::vector<source::ShippedText>& shipped,
                      const std::vector<source::ShippedText>& measured) {
  for (const source::ShippedText& one : measured) {
    if (source::CompareShipped(shipped, one.variant, one.target, one.hash) ==
        source::ShippedCode::kDifferent) {
      return "the compiler made other code of variant " + one.variant + " than what was measured";
    }
  }
  return {};
}

// With the variants of the lock file that the target names. A compile that failed with them is not
// tried again.
bool CompileLocked(const Request& request, const source::CompileLine& line,
                   const records::CompileCommand& command, const source::LockChoice& lock,
                   Applied& applied) {
  for (const std::string& note : lock.notes) std::fprintf(stderr, "%s\n", note.c_str());
  applied.lock = lock.digest;
  applied.reason = lock.reason;
  if (lock.request.kernels.empty()) return false;
  const auto swap = source::WriteSwappedSource(lock.request);
  if (!swap || !WriteSwapped(command.folder, *swap)) {
    applied.reason = swap ? "the swapped source cannot be written" : swap.error().message;
    return false;
  }
  source::CheckedSelection checked;
  checked.id = base::HashHex(swap->file_name + records::CommandHash(command) +
                             source::ToolchainIdentity(command));
  checked.selection.swap = swap->file_name;
  checked.selection.hook = swap->hook;
  for (const source::SwappedKernel& kernel : lock.request.kernels) {
    records::SelectedKernel& selected = checked.selection.kernels.emplace_back();
    for (const source::SwappedVariant& variant : kernel.variants) {
      records::SelectedVariant& one = selected.variants.emplace_back();
      one.id = variant.variant.id;
      one.target = variant.target;
      one.speedup = variant.speedup;
    }
  }
  if (source::WasRefused(command.folder, checked.id)) {
    applied.reason = "refused before: " + command.folder + "/" + source::kRefusedFile;
  } else if (CompileSwapped(request, line, command.folder, checked, applied.reason)) {
    const auto shipped = ShippedCodeOf(line.object, checked.selection);
    applied.reason = OtherCode(shipped, lock.measured);
    if (applied.reason.empty()) {
      applied.text = RowsOf(shipped);
      applied.kernels = checked.selection.kernels;
      return true;
    }
    WriteRefused(command.folder, checked.id, applied.reason);
  }
  std::fprintf(stderr, "cupilot: %s is compiled as it is, without the lock file's variants: %s\n",
               line.source.c_str(), applied.reason.c_str());
  return false;
}

// True if the object was made with variants.
bool CompileTuned(const Request& request, const source::CompileLine& line,
                  const records::CompileCommand& command, Applied& applied) {
  const source::LockChoice lock = AskLock(request.root, request.target, command);
  if (lock.there) return CompileLocked(request, line, command, lock, applied);
  const source::CheckedSelection checked = source::CheckSelection(command);
  applied.reason = checked.reason;
  if (!checked.holds) return false;
  if (!CompileSwapped(request, line, command.folder, checked, applied.reason)) return false;
  applied = {.selection = checked.id,
             .compiled = records::CompiledHash(checked.selection),
             .text = RowsOf(ShippedCodeOf(line.object, checked.selection)),
             .kernels = checked.selection.kernels};
  return true;
}

int Compile(const Request& request) {
  const Words untouched = Joined(request.prefix, request.command);
  char* current = get_current_dir_name();
  const std::string directory = current == nullptr ? "" : current;
  std::free(current);
  const source::CompileLine line = source::ReadCompileLine(request.command, directory);
  if (directory.empty() || !line.compiles) return Become(untouched);
  const std::string folder = FolderOf(request, line.object);
  if (!line.left_alone.empty()) {
    Forget(folder, line.left_alone);
    return Become(untouched);
  }
  const std::string stamp = folder + "/" + source::kStampFile;
  if (!base::MakeFolders(folder) || !MakeStamp(stamp)) return Become(untouched);
  HoldBuildLock(request);
  const records::CompileCommand command = Record(line, directory, folder);
  WriteQuickly(folder + "/" + source::kCommandFile,
               records::CompactJson(records::ToJson(command)) + "\n");
  Applied applied{.reason = "CUPILOT=0"};
  const bool swapped = !TurnedOff() && CompileTuned(request, line, command, applied);
  WriteApplied(folder, applied);
  NoteForHints(request.root, folder, applied.kernels);
  if (swapped) return 0;
  return Become(Joined(request.prefix, request.command, {"-include", stamp}));
}

}  // namespace
}  // namespace cupilot::client

int main(int argc, char** argv) {
  if (argc >= 3 && std::strcmp(argv[1], "--register") == 0) {
    cupilot::client::RegisterBuildTree(argv[2], argc > 3 ? argv[3] : "");
    return 0;
  }
  if (argc == 3 && std::strcmp(argv[1], "--lock") == 0) {
    cupilot::client::LookAtLocks(argv[2]);
    return 0;
  }
  if (argc == 3 && std::strcmp(argv[1], "--hints") == 0) {
    cupilot::client::ShowHints(argv[2]);
    return 0;
  }
  cupilot::client::Request request;
  if (!cupilot::client::ReadRequest({argv, argv + argc}, request)) {
    std::fprintf(stderr,
                 "usage: cupilot-launcher ROOT TARGET -- [LAUNCHER...] --compiler COMPILER "
                 "ARGUMENTS...\nIt is set by cupilot_tune() in CMake and is not run by hand.\n");
    return 2;
  }
  return cupilot::client::Compile(request);
}

#include "loop/child_process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <map>

#include "base/child.h"
#include "loop/uv_handle.h"

extern char** environ;

namespace cupilot::loop {
namespace {

std::vector<std::string> MergedEnvironment(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::map<std::string, std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) merged[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : added) merged[name] = value;
  std::vector<std::string> result;
  result.reserve(merged.size());
  for (const auto& [name, value] : merged)
    result.push_back(std::string(name).append("=").append(value));
  return result;
}

struct PendingWrite {
  uv_write_t request{};
  std::string bytes;
};

}  // namespace

struct ChildProcess::State {
  // One of the child's streams, as lines.
  struct Reader {
    explicit Reader(State* state) : pipe(state) {}
    UvHandle<uv_pipe_t> pipe;
    LineHandler on_line;
    std::string partial;
    bool ended = false;
  };

  State() : process(this), input(this), output(this), errors(this) {}
  // libuv waits for a child as long as its handle is open: closed now, it would stay a zombie.
  ~State() {
    if (pid > 0 && !exited) process.Abandon();
  }

  void OnRead(Reader& reader, ssize_t count, const char* bytes);
  Reader& ReaderOf(const uv_stream_t* stream) {
    return stream == output.pipe.stream() ? output : errors;
  }
  void OnExit(std::int64_t status, int signal_number);
  void OnWritten() {
    if (--writes == 0 && input_ends) input.Close();
  }
  void Finish();
  void KillGroup() const {
    if (pid > 0 && !exited) ::kill(-pid, SIGKILL);
  }

  UvHandle<uv_process_t> process;
  UvHandle<uv_pipe_t> input;
  Reader output;
  Reader errors;
  ExitHandler on_exit;
  std::array<char, 65536> buffer{};
  std::size_t max_line = 0;
  int pid = 0;
  bool exited = false;
  bool last_line_may_lack_end = false;
  int writes = 0;  // queued, not written yet
  bool input_ends = false;
  ChildExit exit;
  bool* destroyed = nullptr;
};

// A handler may destroy this object: after each call the flag is asked before anything is touched.
void ChildProcess::State::OnRead(Reader& reader, ssize_t count, const char* bytes) {
  bool gone = false;
  std::string& partial = reader.partial;
  if (count < 0) {
    destroyed = &gone;
    // Of an answer half a line is nothing, of a complaint it may be the reason.
    const bool counts = &reader == &errors || last_line_may_lack_end;
    if (counts && !partial.empty() && !exit.line_too_long) reader.on_line(partial);
    if (gone) return;
    destroyed = nullptr;
    reader.ended = true;
    Finish();
    return;
  }
  partial.append(bytes, static_cast<std::size_t>(count));
  destroyed = &gone;
  std::size_t begin = 0;
  for (std::size_t end = partial.find('\n'); end != std::string::npos;
       end = partial.find('\n', begin)) {
    const std::string line = partial.substr(begin, end - begin);
    begin = end + 1;
    reader.on_line(line);
    if (gone) return;
  }
  destroyed = nullptr;
  partial.erase(0, begin);
  if (partial.size() > max_line) {
    exit.line_too_long = true;
    KillGroup();
    partial.clear();
  }
}

void ChildProcess::State::OnExit(std::int64_t status, int signal_number) {
  exited = true;
  exit.status = status;
  exit.signal = signal_number;
  // A descendant may hold the pipe open for ever: what the process itself wrote is in the pipe
  // already.
  ::kill(-pid, SIGKILL);
  Finish();
}

void ChildProcess::State::Finish() {
  if (!exited || !output.ended || !errors.ended || !on_exit) return;
  auto handler = std::move(on_exit);
  on_exit = nullptr;
  handler(exit);
}

namespace {

uv_stdio_container_t PipeTo(uv_stream_t* stream, uv_stdio_flags direction) {
  uv_stdio_container_t container{};
  container.flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | direction);
  container.data.stream = stream;
  return container;
}

int OpenErrorFile(const std::string& path) {
  if (path.empty()) return STDERR_FILENO;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  return file < 0 ? STDERR_FILENO : file;
}

}  // namespace

base::Result<std::unique_ptr<ChildProcess>> ChildProcess::Start(Loop& loop, ChildOptions options,
                                                                LineHandler on_line,
                                                                ExitHandler on_exit) {
  auto state = std::make_unique<State>();
  const bool reads_errors = static_cast<bool>(options.on_error_line);
  state->output.on_line = std::move(on_line);
  state->errors.on_line = std::move(options.on_error_line);
  state->errors.ended = !reads_errors;
  state->on_exit = std::move(on_exit);
  state->max_line = options.max_line;
  state->last_line_may_lack_end = options.last_line_may_lack_end;
  uv_pipe_init(loop.uv(), state->input.get(), 0);
  uv_pipe_init(loop.uv(), state->output.pipe.get(), 0);
  uv_pipe_init(loop.uv(), state->errors.pipe.get(), 0);
  const int error = reads_errors ? STDERR_FILENO : OpenErrorFile(options.error_file);
  uv_stdio_container_t error_container{};
  error_container.flags = UV_INHERIT_FD;
  error_container.data.fd = error;
  if (reads_errors) error_container = PipeTo(state->errors.pipe.stream(), UV_WRITABLE_PIPE);
  std::array stdio = {PipeTo(state->input.stream(), UV_READABLE_PIPE),
                      PipeTo(state->output.pipe.stream(), UV_WRITABLE_PIPE), error_container};

  std::vector<std::string> environment = MergedEnvironment(options.environment);
  std::vector<char*> environment_pointers = base::ArgumentPointers(environment);
  std::vector<char*> argument_pointers = base::ArgumentPointers(options.arguments);
  uv_process_options_t uv_options{};
  uv_options.file = argument_pointers[0];
  uv_options.args = argument_pointers.data();
  uv_options.env = environment_pointers.data();
  uv_options.cwd = options.folder.empty() ? nullptr : options.folder.c_str();
  uv_options.stdio = stdio.data();
  uv_options.stdio_count = static_cast<int>(stdio.size());
  uv_options.flags =
      UV_PROCESS_DETACHED;  // a process group of its own, so that all of it can be killed
  uv_options.exit_cb = [](uv_process_t* process, std::int64_t status, int signal_number) {
    if (process->data == nullptr) return UvHandle<uv_process_t>::CloseAbandoned(process);
    static_cast<State*>(process->data)->OnExit(status, signal_number);
  };
  // Whatever somebody opened without the flag: no child of ours inherits it.
  ::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
  const int result = uv_spawn(loop.uv(), state->process.get(), &uv_options);
  if (error != STDERR_FILENO) ::close(error);
  if (result != 0) {
    return base::Fail(
        base::Unavailable("cannot start " + options.arguments[0] + ": " + uv_strerror(result)));
  }
  state->pid = state->process.get()->pid;
  if (options.nice != 0) ::setpriority(PRIO_PROCESS, static_cast<id_t>(state->pid), options.nice);
  const auto allocate = [](uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
    auto* owner = static_cast<State*>(handle->data);
    *buffer = owner == nullptr ? uv_buf_init(nullptr, 0)
                               : uv_buf_init(owner->buffer.data(), owner->buffer.size());
  };
  const auto read = [](uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
    if (stream->data == nullptr || count == 0) return;
    auto* owner = static_cast<State*>(stream->data);
    owner->OnRead(owner->ReaderOf(stream), count, buffer->base);
  };
  uv_read_start(state->output.pipe.stream(), allocate, read);
  if (reads_errors) uv_read_start(state->errors.pipe.stream(), allocate, read);
  return std::unique_ptr<ChildProcess>(new ChildProcess(std::move(state)));
}

ChildProcess::ChildProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}

ChildProcess::~ChildProcess() {
  state_->KillGroup();
  if (state_->destroyed != nullptr) *state_->destroyed = true;
}

void ChildProcess::WriteLine(std::string_view line) {
  if (!state_->input || state_->input_ends) return;
  auto* write = new PendingWrite;
  write->bytes.reserve(line.size() + 1);
  write->bytes.append(line).push_back('\n');
  write->request.data = write;
  const uv_buf_t buffer =
      uv_buf_init(write->bytes.data(), static_cast<unsigned int>(write->bytes.size()));
  const auto written = [](uv_write_t* request, int) {
    auto* owner = static_cast<State*>(request->handle->data);
    delete static_cast<PendingWrite*>(request->data);
    if (owner != nullptr) owner->OnWritten();
  };
  if (uv_write(&write->request, state_->input.stream(), &buffer, 1, written) != 0) {
    delete write;
    return;
  }
  ++state_->writes;
}

void ChildProcess::CloseInput() {
  state_->input_ends = true;
  if (state_->writes == 0) state_->input.Close();
}

void ChildProcess::Kill() { state_->KillGroup(); }
int ChildProcess::pid() const { return state_->pid; }

}  // namespace cupilot::loop

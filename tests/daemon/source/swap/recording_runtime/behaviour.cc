// The hook's decisions, on a runtime that records. Compiled with -DSWAPPED="swap.<hash>.cu" and
// -DHOOK=<name>; see swapped_source_behaviour_test.cc for the variants. Prints what does not hold.
#if defined(CUPILOT_DRIVER_ENTRIES) && !defined(CUPILOT_TUNED_GRAPHS)
static const bool by_driver = true;
#else
static const bool by_driver = false;
#endif
#include SWAPPED

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) std::printf("line %d: %s\n", __LINE__, #condition); \
  } while (false)

extern "C" cudaError_t HOOK(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);

#define JOIN(a, b) a##b
#define NAMED(a, b) JOIN(a, b)
extern "C" cudaError_t NAMED(HOOK, _call)(const void*, dim3, dim3, void**, std::size_t,
                                          cudaStream_t);
extern "C" cudaError_t NAMED(HOOK, _call_ex)(const cudaLaunchConfig_t*, const void*, void**);

static float buffer[4096];
static const void* const original = reinterpret_cast<const void*>(
    static_cast<void (*)(float, const float*, float*, int)>(&app::scale));

struct Call {
  float factor = 3;
  const float* in = buffer;
  float* out = buffer + 2048;
  int n = 1000;
  dim3 grid = dim3(8), block = dim3(128);
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;

  cudaError_t Launch(const void* handle = original) {
    void* arguments[] = {&factor, &in, &out, &n};
    recording::launches.clear();
    recording::calls.clear();
    recording::questions = 0;
    return HOOK(handle, grid, block, arguments, shared, stream);
  }
  bool RunsOriginal() {
    Launch();
    const auto& all = recording::launches;
    return all.size() == 1 && all[0].handle == original && all[0].grid.x == grid.x &&
           all[0].block.x == block.x && all[0].shared == shared;
  }
  bool RunsPlain() {
    Launch();
    return recording::launches.size() == 1 && recording::launches[0].handle != original;
  }
  bool RunsSteps() {
    Launch();
    return recording::launches.size() == 3;
  }
};

// The plain variant takes even n, the one of steps odd n above 100.
static void Guards() {
  Call call;
  CHECK(call.RunsPlain());
  CHECK(recording::launches[0].grid.x == 4 && recording::launches[0].block.x == 128);
  call.n = 11;
  CHECK(call.RunsOriginal());
  call.n = 1000;
  call.factor = 2;  // the guard asks factor != 2
  CHECK(call.RunsOriginal());
  call.factor = 3;
  call.out = const_cast<float*>(call.in) + 10;  // overlaps
  CHECK(call.RunsOriginal());
  call.out = nullptr;
  CHECK(call.RunsOriginal());
  call.out = buffer + 2048;
  call.in = buffer + 1;  // not aligned to 16 bytes
  CHECK(call.RunsOriginal());
}

static void IllegalLaunchesAreTheOriginals() {
  Call call;
  call.grid.x = 0;
  CHECK(call.RunsOriginal());
  call = Call();
  call.block = dim3(2048);
  CHECK(call.RunsOriginal());
  call = Call();
  call.block = dim3(32, 1, 128);
  CHECK(call.RunsOriginal());
  call = Call();
  call.shared = 60000;  // above what the original was given
  CHECK(call.RunsOriginal());
  recording::shared_limit = 70000;  // now the program has raised it
  CHECK(call.RunsPlain());
  CHECK(recording::calls == std::vector<std::string>{"raise 60000"});
  CHECK(call.RunsPlain());
  CHECK(recording::calls.empty());
  call.grid = dim3(8, 70000);
  CHECK(call.RunsOriginal());
}

static void ErrorsAreTheProgramsOwn() {
  Call call;
  recording::pending = cudaErrorInvalidValue;
  // The driver's launch neither clears nor sets what the runtime keeps.
  CHECK(by_driver ? call.RunsPlain() : call.RunsOriginal());
  CHECK(recording::pending == cudaErrorInvalidValue);
  call.n = 1001;  // several launches are the runtime's
  CHECK(call.RunsOriginal());
  CHECK(recording::pending == cudaErrorInvalidValue);
  call.n = 1000;
  recording::pending = cudaSuccess;
  // An error of the variant's launch is not the program's: the original's is.
  recording::launch_error = cudaErrorInvalidConfiguration;
  CHECK(call.Launch() == cudaErrorInvalidConfiguration);
  CHECK(recording::launches.size() == 2 && recording::launches[1].handle == original);
  CHECK(recording::pending == cudaErrorInvalidConfiguration);
  recording::launch_error = recording::pending = cudaSuccess;
}

// Nothing was queued by a refused launch: the original runs, and at last it is not tried again.
static void RefusedLaunches() {
  Call call;
  recording::launches_only = original;
  // A driver that refuses a function in its context has not refused the kernel yet.
  std::vector<int> sizes = {1000, 1001, 1000, 1001};
  if (by_driver) sizes.push_back(1000);
  for (const int n : sizes) {
    call.n = n;
    CHECK(call.Launch() == cudaSuccess);
    CHECK(recording::launches.size() == 2 && recording::launches[1].handle == original);
    CHECK(recording::pending == cudaSuccess);
  }
  CHECK(call.RunsOriginal());
  recording::launches_only = nullptr;
  CHECK(call.RunsOriginal());
}

// Of two variants for a launch the first is refused: that the second runs is what is told.
static void RefusedBefore() {
  Call call;
  call.n = 1001;
  recording::runtime_refuses = true;
  CHECK(call.Launch() == cudaSuccess);
  CHECK(recording::launches.size() == 2 && recording::launches[1].handle != original);
  CHECK(recording::by_driver == 1 && recording::pending == cudaSuccess);
}

#if defined(TWO_KERNELS)
// What is given up stays so, whatever becomes of other kernels.
static void RefusedInTurns() {
  Call call;
  const void* const other = reinterpret_cast<const void*>(
      static_cast<void (*)(float, const float*, float*, int)>(&app::other));
  recording::launches_only = original;
  recording::launches_also = other;
  for (int i = 0; i < 4; ++i) {
    for (const void* kernel : {original, other}) {
      CHECK(call.Launch(kernel) == cudaSuccess);
      CHECK(recording::launches.size() == 2 && recording::launches[1].handle == kernel);
    }
  }
  for (int i = 0; i < 4; ++i) {
    for (const void* kernel : {original, other}) {
      call.Launch(kernel);
      CHECK(recording::launches.size() == 1 && recording::launches[0].handle == kernel);
    }
  }
}
#endif

// A thread that has no context yet: the original's launch makes it, and nothing is held against the
// variant.
static void NoContextYet() {
  Call call;
  for (const int code : {201, 3, 201, 3, 201, 3}) {
    recording::driver_code = code;
    CHECK(call.Launch() == cudaSuccess);
    CHECK(recording::launches.size() == 2 && recording::launches[1].handle == original);
  }
  recording::driver_code = 0;
  recording::by_driver = 0;
  CHECK(call.RunsPlain() && recording::by_driver == 1);
}

// A function of the driver's ends with its context: in another one, and once it was refused, the
// kernel is launched.
static void Contexts() {
  Call call;
  CHECK(call.RunsPlain() && recording::by_function == 1);
  CHECK(call.RunsPlain() && recording::by_function == 2);
  recording::thread_context = 8;
  CHECK(call.RunsPlain() && recording::by_function == 2 && recording::by_driver == 3);
  recording::thread_context = 0;  // the thread has none, and only the runtime makes one
  CHECK(call.RunsOriginal() && recording::by_driver == 3);
  recording::number_of_none = true;
  CHECK(call.RunsOriginal() && recording::by_driver == 3);
  recording::number_of_none = false;
  recording::thread_context = 7;
  CHECK(call.RunsPlain() && recording::by_function == 3);
  recording::launches_only = original;
  CHECK(call.Launch() == cudaSuccess);
  CHECK(recording::launches.size() == 2 && recording::launches[1].handle == original);
  recording::launches_only = nullptr;
  CHECK(call.RunsPlain() && recording::by_function == 4 && recording::by_driver == 6);
}

// A variant of one device's runs there only, whichever was current at the first launch.
static void SeveralDevices() {
  Call call;
  recording::device_count = 2;
  for (const int device : {1, 0, 1, 0}) {
    recording::device = device;
    CHECK(device == 0 ? call.RunsPlain() : call.RunsOriginal());
  }
}

// What a stub passes where its kernel could not be found.
static void NoHandle() {
  Call call;
  for (int i = 0; i < 2; ++i) {
    call.Launch(nullptr);
    CHECK(recording::launches.size() == 1 && recording::launches[0].handle == nullptr);
    CHECK(call.RunsPlain());
  }
}

// Launches by the function's address, as a program writes them.
static void CallsByName() {
  Call call;
  void* arguments[] = {&call.factor, &call.in, &call.out, &call.n};
  const auto launches = [&](const void* function) {
    recording::launches.clear();
    recording::calls.clear();
    NAMED(HOOK, _call)(function, call.grid, call.block, arguments, 0, nullptr);
    return recording::launches.size() == 1 ? recording::launches[0].handle : nullptr;
  };
  CHECK(launches(original) != original && recording::calls.empty());
  call.n = 11;  // outside of the guards
  CHECK(launches(original) == original);
  call.n = 1000;
  CHECK(launches(&call) == &call);  // another object's kernel
  CHECK(recording::calls == std::vector<std::string>{"cudaLaunchKernel"});

  cudaLaunchConfig_t config;
  config.gridDim = call.grid;
  config.blockDim = call.block;
  const auto extended = [&] {
    recording::launches.clear();
    recording::calls.clear();
    NAMED(HOOK, _call_ex)(&config, original, arguments);
    return recording::launches.size() == 1 ? recording::launches[0].handle : nullptr;
  };
  CHECK(extended() != original && recording::calls.empty());
  config.numAttrs = 1;  // they are for the original
  CHECK(extended() == original);
  CHECK(recording::calls == std::vector<std::string>{"cudaLaunchKernelExC"});
}

static void Steps() {
  Call call;
  call.n = 1001;
  recording::on_launch = [](void** arguments) {
    if (recording::launches.size() > 2) return;
    const int step = static_cast<int>(recording::launches.size()) - 1;
    CHECK(*static_cast<const float**>(arguments[0]) == buffer);
    CHECK(*static_cast<long long*>(arguments[2]) == 1001);
    CHECK(*static_cast<int*>(arguments[3]) == step);
  };
  CHECK(call.RunsSteps());
  recording::on_launch = nullptr;
  // 4004 bytes and 1 byte, each rounded up to 256, behind a header.
  CHECK(recording::calls ==
        (std::vector<std::string>{"occupancy", "allocate 4608", "fill 4004", "fill 1"}));
  CHECK(recording::launches[1].grid.x == 8 && recording::launches[2].grid.x == 8);
  CHECK(call.RunsSteps());
  CHECK(recording::calls == (std::vector<std::string>{"fill 4004", "fill 1"}));
  recording::capturing = true;
  CHECK(call.RunsOriginal());
  recording::capturing = false;
  call.n = 100001;  // the kept arena is too small
  recording::fails_allocation = true;
  CHECK(call.RunsOriginal());
  CHECK(recording::pending == cudaSuccess);
  recording::fails_allocation = false;
  CHECK(call.RunsSteps());
  recording::launch_error = cudaErrorInvalidConfiguration;
  CHECK(call.Launch() == cudaErrorInvalidConfiguration);
  CHECK(recording::launches.size() == 2 && recording::launches[1].handle == original);
  recording::launch_error = recording::pending = cudaSuccess;
  CHECK(call.RunsSteps());
}

static const cudaStream_t some_stream = reinterpret_cast<cudaStream_t>(&buffer);
#if defined(CUPILOT_TUNED_GRAPHS)
static const bool tuned_graphs = true;
#else
static const bool tuned_graphs = false;
#endif

// A graph's node holds the kernel, grid and arguments that the program knows, whoever reads it and
// sets it again, unless the project says that nobody does.
static void Captures() {
  Call call;
  call.stream = some_stream;
  const int asked = tuned_graphs ? 0 : 1;
  CHECK(call.RunsPlain() && recording::questions == asked);
  recording::capturing = true;
  CHECK(tuned_graphs ? call.RunsPlain() : call.RunsOriginal());
  CHECK(recording::questions == asked);
  call.n = 1001;  // several launches are never captured
  CHECK(call.RunsOriginal());
  call.n = 11;
  CHECK(call.RunsOriginal() && recording::questions == 0);
  recording::capturing = false;
  call.n = 1000;
  CHECK(call.RunsPlain());
  // No capture records the legacy stream.
  for (const cudaStream_t stream : {cudaStream_t(), cudaStreamLegacy}) {
    call.stream = stream;
    CHECK(call.RunsPlain() && recording::questions == 0);
  }
  call.stream = some_stream;
  recording::fails_question = true;
  CHECK(tuned_graphs ? call.RunsPlain() : call.RunsOriginal());
  CHECK(recording::pending == cudaSuccess);
  recording::fails_question = false;
  CHECK(call.RunsPlain());
}

static void OtherKernelsPassThrough() {
  Call call;
  int other = 0;
  call.Launch(&other);
  CHECK(recording::launches.size() == 1 && recording::launches[0].handle == &other);
}

// Once for each kernel and device: the facts are kept.
static void FactsAreRead() {
  Call call;
  CHECK(call.RunsPlain());
  const int reads = recording::attribute_reads;
  for (int i = 0; i < 100; ++i) CHECK(call.RunsPlain());
  CHECK(recording::attribute_reads == reads);
}

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  Call call;
  if (what == "disabled") {
    setenv("CUPILOT_DISABLE", "1", 1);
    CHECK(call.RunsOriginal());
  } else if (what == "named") {
    setenv("CUPILOT_DISABLE", argv[2], 1);
    CHECK(call.RunsOriginal());
  } else if (what == "not named") {
    setenv("CUPILOT_DISABLE", argv[2], 1);
    CHECK(call.RunsPlain());
  } else if (what == "other image") {
    recording::architecture = "host-x86-64-v2";
    CHECK(call.RunsOriginal());
  } else if (what == "other device") {
    recording::device_name = "another device";
    CHECK(call.RunsOriginal());
  } else if (what == "block limit") {
    // The variant's __launch_bounds__ are narrower than what the program chose for the original.
    recording::all_but = original;
    CHECK(call.RunsOriginal());
    call.block = dim3(64);
    CHECK(call.RunsPlain());
  } else if (what == "refused") {
    RefusedLaunches();
  } else if (what == "refused before") {
    RefusedBefore();
#if defined(TWO_KERNELS)
  } else if (what == "refused in turns") {
    RefusedInTurns();
#endif
  } else if (what == "no context yet") {
    NoContextYet();
  } else if (what == "contexts") {
    Contexts();
  } else if (what == "devices") {
    SeveralDevices();
  } else if (what == "no handle") {
    NoHandle();
  } else if (what == "statistics") {
    setenv("CUPILOT_STATS", argc > 2 ? argv[2] : "1", 1);
    CHECK(call.RunsPlain());
    call.n = 11;
    CHECK(call.RunsOriginal());
    CHECK(call.RunsOriginal());
    call.n = 1000;
    call.stream = some_stream;
    recording::capturing = true;
    CHECK(call.RunsOriginal());
  } else {
    FactsAreRead();
    Guards();
    IllegalLaunchesAreTheOriginals();
    ErrorsAreTheProgramsOwn();
    Steps();
    Captures();
    CallsByName();
    OtherKernelsPassThrough();
  }
  return 0;
}

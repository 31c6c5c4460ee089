// What the hook of a CUDA toolkit's version comes to, on a runtime that records. Compiled with
// -DRECORDED_TOOLKIT=11080 or another, -DSWAPPED="swap.<hash>.cu" and the options of a swapped
// compile; see swapped_source_behaviour_test.cc for the variants. Prints what does not hold.
#include SWAPPED

#undef cudaLaunchKernel  // launcher functions are compiled behind the preprocessor

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) std::printf("line %d: %s\n", __LINE__, #condition); \
  } while (false)

static float buffer[4096];
static const void* const original = reinterpret_cast<const void*>(
    static_cast<void (*)(float, const float*, float*, int)>(&app::scale));

// As the compiler writes a launcher function behind the text.
static void Launch(int n, cudaStream_t stream) {
  float factor = 3;
  const float* in = buffer;
  float* out = buffer + 2048;
  void* arguments[] = {&factor, &in, &out, &n};
  recording::launches.clear();
  recording::calls.clear();
  (void)cudaLaunchKernel(((char*)((void (*)(float, const float*, float*, int))app::scale)), dim3(8),
                         dim3(128), &arguments[0], std::size_t(0), stream);
}

static bool RunsOriginal(int n, cudaStream_t stream = nullptr) {
  Launch(n, stream);
  return recording::launches.size() == 1 && recording::launches[0].handle == original;
}
static bool RunsPlain(int n, cudaStream_t stream = nullptr) {
  Launch(n, stream);
  return recording::launches.size() == 1 && recording::launches[0].handle != original;
}

static void VariantsRun() {
  CHECK(RunsPlain(1000));
  CHECK(recording::launches[0].grid.x == 4);
  CHECK(RunsOriginal(11));
  // A stream that captures is the driver's to tell.
  const auto some_stream = reinterpret_cast<cudaStream_t>(&buffer);
  recording::capturing = true;
  CHECK(RunsOriginal(1000, some_stream));
  recording::capturing = false;
  CHECK(RunsPlain(1000, some_stream));
  CHECK(recording::pending == cudaSuccess);
}

// Their memory is of a pool that ends with its context, which only the driver can tell.
static void WorkspacesAreOpened() {
  Launch(1001, nullptr);
  CHECK(recording::launches.size() == 3);
  CHECK(recording::calls.size() > 1 && recording::calls[1] == "pool");
  Launch(1001, nullptr);
  CHECK(recording::launches.size() == 3);
  CHECK(recording::calls.front() != "pool");
  recording::context = 2;
  Launch(1001, nullptr);
  CHECK(recording::launches.size() == 3);
  CHECK(recording::calls.front() == "pool");
  CHECK(recording::pending == cudaSuccess);
}

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  recording::narrow = reinterpret_cast<const void*>(&cupilot_image::probe);
  recording::image = 90;
  if (what == "clusters") {
    recording::cluster_width = 2;
    CHECK(RunsOriginal(1000));
    CHECK(recording::pending == cudaSuccess);
  } else if (what == "other image") {
    recording::image = 80;
    CHECK(RunsOriginal(1000));
  } else if (what == "devices") {
    recording::device_count = 2;
    CHECK(RunsPlain(1000));
    recording::asked.clear();
    CHECK(RunsPlain(1000));
    CHECK(recording::asked.empty());
  } else {
    VariantsRun();
    WorkspacesAreOpened();
  }
  return 0;
}

// Two kernels in several geometries, constant memory, pinned and managed memory, variables whose
// address is taken, a cooperative launch, threads, a forked child. What it prints is of its results
// alone. Its argument is how it ends.
#include <cooperative_groups.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

__constant__ float weights[4];
__device__ int hits;

namespace flow {
struct Grid {
  int nx, ny;
  float* cells;
};
__global__ void advance(Grid grid, float step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= grid.nx * grid.ny) return;
  grid.cells[i] = grid.cells[i] * weights[i % 4] + step;
  atomicAdd(&hits, 1);
}
}  // namespace flow
__global__ void add(const float* from, float* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[i];
}
__global__ void count(int* to) { atomicAdd(to, 1); }
__global__ void everywhere(int* to) {
  if (threadIdx.x == 0) atomicAdd(to, 1);
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) *to *= 2;
}
// Looks at its memory for a while, in which another thread would like to write there.
__global__ void looks(volatile int* begun, volatile int* data) {
  *begun = 1;
  for (int i = 0; i < 50000000 && *data == 0; ++i) {
  }
}
__global__ void fails(int* to) {
  to[0] = 1;
  __trap();
}

namespace {
void Sum(const char* what, const float* values, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += values[i] * static_cast<float>(i % 7);
  printf("%s %a\n", what, static_cast<double>(sum));
}
void* Adds(void*) {
  float *from, *to;
  cudaMalloc(&from, 256 * sizeof(float));
  cudaMalloc(&to, 256 * sizeof(float));
  for (int i = 0; i < 50; ++i) {
    cudaMemset(to, 0, 256 * sizeof(float));
    add<<<4, 64>>>(from, to, 256);
  }
  cudaFree(from);
  cudaFree(to);
  return nullptr;
}
struct Shared {
  int* begun;
  int* data;
};
void* Writes(void* argument) {
  const Shared& shared = *static_cast<Shared*>(argument);
  while (*static_cast<volatile int*>(shared.begun) == 0) {
  }
  cudaMemset(shared.data, 1, sizeof(int));
  return nullptr;
}
void* Exits(void*) { exit(0); }
void Child(float* to) {
  for (int i = 0; i < 3; ++i) add<<<1, 64>>>(to, to, 64);
  Sum("child", to, 64);
  fflush(stdout);
}
struct Late {  // launches when all else has ended
  ~Late() {
    if (to != nullptr) count<<<7, 1>>>(to);
  }
  int* to = nullptr;
} late;
}  // namespace

int main(int argc, char** argv) {
  const char* end = argc > 1 ? argv[1] : "";
  const float w[4] = {0.5f, 1.5f, 2.0f, 0.25f};
  cudaMemcpyToSymbol(weights, w, sizeof w);
  flow::Grid grid = {16, 8, nullptr};
  cudaMallocManaged(&grid.cells, 128 * sizeof(float));
  for (int i = 0; i < 128; ++i) grid.cells[i] = static_cast<float>(i);
  for (int i = 0; i < 20; ++i) flow::advance<<<2, 64>>>(grid, 0.5f);
  grid.nx = 8;
  for (int i = 0; i < 5; ++i) flow::advance<<<2, 64>>>(grid, 0.5f);
  Sum("advance", grid.cells, 128);

  float* to;
  cudaMallocHost(&to, 200 * sizeof(float));
  for (int i = 0; i < 200; ++i) to[i] = 1.0f / static_cast<float>(i + 1);
  add<<<1, 64>>>(grid.cells, to, 64);
  add<<<3, 64>>>(grid.cells, to, 128);
  Sum("add", to, 128);
  int registered[8] = {};
  cudaHostRegister(registered, sizeof registered, 0);
  count<<<2, 32>>>(registered + 3);
  cudaHostUnregister(registered);
  int* variable;
  cudaGetSymbolAddress(reinterpret_cast<void**>(&variable), hits);
  count<<<3, 32>>>(variable);
  int result;
  cudaMemcpyFromSymbol(&result, hits, sizeof result);
  printf("count %d %d\n", registered[3], result);
  void* arguments[] = {&variable};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(everywhere), dim3(3), dim3(32), arguments, 0,
                              nullptr);
  count<<<1, 2000>>>(variable);  // does not start
  printf("error %d\n", static_cast<int>(cudaGetLastError()));

  pthread_t threads[2];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, Adds, nullptr);
  for (pthread_t& thread : threads) pthread_join(thread, nullptr);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    Child(to);
    if (strcmp(end, "child") == 0) exit(0);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  add<<<1, 64>>>(to, to, 64);
  Sum("parent", to, 64);
  if (strcmp(end, "fails") == 0) fails<<<1, 1>>>(variable);
  if (strcmp(end, "quick") == 0) {
    fflush(stdout);
    _exit(0);
  }
  if (strcmp(end, "thread") == 0) {
    pthread_create(&threads[0], nullptr, Exits, nullptr);
    pthread_join(threads[0], nullptr);
  }
  if (strcmp(end, "looks") == 0) {
    Shared shared;
    cudaMallocManaged(&shared.begun, sizeof(int));
    cudaMallocManaged(&shared.data, sizeof(int));
    *shared.begun = *shared.data = 0;
    pthread_create(&threads[0], nullptr, Writes, &shared);
    looks<<<1, 1>>>(shared.begun, shared.data);
    pthread_join(threads[0], nullptr);
  }
  if (strcmp(end, "late") == 0) late.to = variable;
}

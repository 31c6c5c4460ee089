// corpus: swapped
// corpus: declined "'fill' is a friend of this class"
// corpus: declined "'scale' is a friend of this class"
// corpus: declined "'scale' is a friend of this class"
// Kernels that classes call their friends: ordinary, with private types, overloaded, of another
// namespace, templates. The host device runs them; copies of them would be nobody's friends. A kernel that merely
// uses such a class is tuned.
#include "support.cuh"

class Table;
__global__ void fill(Table table, int n);
__global__ void fill(int* data, int n);

class Table {
 public:
  explicit Table(int* data) : data_(data) {}
  void Fill(int n);
  __device__ int Read(int i) const { return data_[i]; }

 private:
  friend __global__ void fill(Table table, int n);
  struct Entry {
    int value;
  };
  __device__ Entry At(int i) const { return Entry{i * kFactor}; }
  static constexpr int kFactor = 7;
  int* data_;
};

// cupilot: tune
__global__ void fill(Table table, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) table.data_[i] = table.At(i).value;
}
__global__ void fill(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i;
}

// cupilot: tune
__global__ void read(Table table, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += table.Read(i);
}

void Table::Fill(int n) { fill<<<(n + 63) / 64, 64>>>(*this, n); }

class Pairs;
namespace work {
static __global__ void twice(Pairs* pairs, int n);
}
class Pairs {
 public:
  void Double(int* data, int n);

 private:
  friend __global__ void work::twice(Pairs* pairs, int n);
  int* data_;
};

namespace work {
static __global__ void twice(Pairs* pairs, int n) {
  __shared__ int box[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  box[threadIdx.x] = i < n ? pairs->data_[i] : 0;
  __syncthreads();
  if (i < n) pairs->data_[i] += box[threadIdx.x];
}
}  // namespace work

void Pairs::Double(int* data, int n) {
  data_ = data;
  Pairs* copy = 0;
  support::Check(cudaMalloc(reinterpret_cast<void**>(&copy), sizeof(Pairs)));
  support::Check(cudaMemcpy(copy, this, sizeof(Pairs), cudaMemcpyHostToDevice));
  work::twice<<<(n + 63) / 64, 64>>>(copy, n);
  support::Check(cudaFree(copy));
}

template <class T>
class Scale {
 public:
  explicit Scale(T by) : by_(by) {}

 private:
  template <class U>
  friend __global__ void scale(Scale<U> scale, U* data, int n);
  T by_;
};

// cupilot: tune
template <class U>
__global__ void scale(Scale<U> scale, U* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= scale.by_;
}

int main() {
  support::Array<int> data(256), plain(256);
  support::Array<float> floats(256, 1, 0.5);
  Table(data.get()).Fill(256);
  fill<<<4, 64>>>(plain.get(), 256);
  read<<<4, 64>>>(Table(data.get()), plain.get(), 256);
  Pairs().Double(data.get(), 256);
  scale<<<4, 64>>>(Scale<int>(3), data.get(), 256);
  scale<<<4, 64>>>(Scale<float>(0.5f), floats.get(), 256);
  support::Show("data", data);
  support::Show("plain", plain);
  support::Show("floats", floats);
}

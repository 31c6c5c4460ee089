namespace library {
__global__ void add(int* data, int by, int n);
template <int By>
__global__ void multiply(int* data, int n);
extern template __global__ void multiply<5>(int*, int);
}  // namespace library

void RunElsewhere(int* data, int n) {
  library::add<<<(n + 63) / 64, 64>>>(data, 4, n);
  library::multiply<5><<<(n + 31) / 32, 32>>>(data, n);
}

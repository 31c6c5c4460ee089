// Lambdas for which it matters what a compiler captures, and in which order: tests compare what we
// write with what nvcc writes.
struct Pair {
  short small;
  double large;
};

template <class F>
__global__ void apply(F f) {
  f(1);
}

template <class A, class B>
__device__ A first_of(A a, B) {
  return a;
}

void run(int* out, int x, int y, int z, Pair pair) {
  const int five = 5;
  constexpr float half = 0.5f;
  const double third = x / 3.0;
  apply<<<1, 1>>>([=] __device__(int i) { out[i] = z - y - x; });
  apply<<<1, 1>>>([=] __device__(int i) {
    if (y > x) out[z] = 1;
  });
  apply<<<1, 1>>>([=] __device__(int i) { out[i] = first_of(z, y) + x; });
  apply<<<1, 1>>>([=] __device__(int i) {
    for (int j = y; j < z; ++j) out[j] = x;
  });
  apply<<<1, 1>>>([=] __device__(int i) {
    int a{z};
    int b(y);
    out[i] = a + b + x;
  });
  apply<<<1, 1>>>([=] __device__(int i) -> int { return x > 0 ? z : y; });
  apply<<<1, 1>>>([=] __device__(int i) { out[i] += y, out[z] = x; });
  apply<<<1, 1>>>([=] __device__(int i) {
    switch (z) {
      case 1:
        out[i] = x;
      default:
        out[i] = y;
    }
  });
  apply<<<1, 1>>>([=] __device__(int i) {
    do {
      out[i] = y;
    } while (x > z);
  });
  apply<<<1, 1>>>([=] __device__(int i) {
    int values[2] = {z, x};
    out[i] = values[i] + y;
  });
  apply<<<1, 1>>>([=] __device__(int i) {
    if (int t = z) out[i] = t + x + y;
  });
  apply<<<1, 1>>>([=] __device__(int i) { out[i] = int(pair.large) + y; });
  apply<<<1, 1>>>([x, pair, y, out] __device__(int i) { out[i] = y + pair.small + x; });
  apply<<<1, 1>>>([=] __host__ __device__(int i) { out[i] = z - y - x; });
  apply<<<1, 1>>>([] __host__ __device__(int) {});
  // Constants.
  apply<<<1, 1>>>([=] __device__(int i) { out[i] = five + i; });
  apply<<<1, 1>>>([=] __device__(int i) { out[i] = int(five + half + third); });
  apply<<<1, 1>>>([=] __device__(int i) {
    for (int j = 0; j < five; ++j) out[i] += int(half);
  });
  apply<<<1, 1>>>([out] __device__(int i) {
    for (int j = 0; j < five; ++j) out[i] += int(half);
  });
  apply<<<1, 1>>>([five, out] __device__(int i) {
    for (int j = 0; j < five; ++j) out[i] += int(half);
  });
  apply<<<1, 1>>>([=] __device__(int i) {
    int values[2] = {five, x};
    out[i] = values[i];
  });
  apply<<<1, 1>>>([=] __device__(int i) { out[five] = x; });
  apply<<<1, 1>>>([=] __device__(int i) {
    out[i] = x << five;
    if (five) out[i] = 1;
  });
  apply<<<1, 1>>>([=] __device__(int i) { out[i] = true ? x : five; });
  apply<<<1, 1>>>([=] __host__ __device__(int i) { out[i] = five + int(half); });
  // Not known to be the same everywhere: declined.
  apply<<<1, 1>>>([=] __device__(int i) { out[i] = first_of(five, x) + int(sizeof(y)) + y; });
  apply<<<1, 1>>>([=] __device__(int i) {
    const int& use = five;
    out[i] = use;
  });
}

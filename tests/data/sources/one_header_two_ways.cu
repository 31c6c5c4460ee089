// corpus: swapped
// corpus: kernels 2
// corpus: flags -DWIDTH=2
// corpus: also one_header_two_ways_other.cu -DWIDTH=3 -DNAME=other
// One header that two sources compile with different macros.
#define NAME own
#include "one_header_two_ways.cuh"

void RunOther(int* data, int n);

int main() {
  support::Array<int> data(256, 1, 1);
  run(data.get(), 256);
  RunOther(data.get(), 256);
  support::Show("data", data);
}

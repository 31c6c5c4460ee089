#include "wrapper_in_header.cuh"

void RunOther(int* data, int n) { wrapper::Fill(data + 200, n - 200, 9); }

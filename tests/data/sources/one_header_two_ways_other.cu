#include "one_header_two_ways.cuh"

void RunOther(int* data, int n) { run(data, n); }

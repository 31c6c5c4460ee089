/* The C library's functions that device code may call (expf, printf, memcpy, ...). Device code is host
 * code here; the pragma tells clang's CUDA mode so, and every other compiler skips it. Comes first of all
 * headers that could include these. */
#ifndef CUPILOT_HOST_CRT_LIBRARY_FUNCTIONS_H_
#define CUPILOT_HOST_CRT_LIBRARY_FUNCTIONS_H_

#pragma clang force_cuda_host_device begin
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>
#pragma clang force_cuda_host_device end

#endif

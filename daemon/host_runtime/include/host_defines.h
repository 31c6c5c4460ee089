#ifndef CUPILOT_HOST_HOST_DEFINES_H_
#define CUPILOT_HOST_HOST_DEFINES_H_
#include "crt/host_defines.h"
#endif

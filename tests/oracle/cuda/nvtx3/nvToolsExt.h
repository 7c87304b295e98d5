// Marks for a profiler: nobody profiles here.
#pragma once

static inline int nvtxRangePush(const char *) { return 0; }
static inline int nvtxRangePushA(const char *) { return 0; }
static inline int nvtxRangePop() { return 0; }

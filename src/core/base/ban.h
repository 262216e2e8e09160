/* The build includes this before every file of ours: it bans functions that have a safer version in
 * base/. Headers that mention a banned name come first, so that only our own use is an error. */
#ifndef PL_BASE_BAN_H
#define PL_BASE_BAN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <mm_malloc.h>
#endif

/* glibc defines some of them as macros, which cannot be poisoned. */
#undef alloca
#undef sprintf
#undef vsprintf
#pragma GCC poison strcpy strcat strtok sprintf vsprintf gets
#pragma GCC poison atoi atol atoll strtol strtoul strtoll strtoull
#pragma GCC poison gmtime localtime ctime asctime alloca
#ifndef PL_ROOM_BASE
#pragma GCC poison malloc calloc realloc free strdup
#endif

#endif

/* SQLite's allocations go through base/mem.h, each with its size in front, because SQLite asks for
 * it. So a failed allocation inside SQLite is tested like any other. */
#include "store/sqlite/sqlite_int.h"
#include "base/mem.h"

enum { HEAD = 16 }; /* keeps the memory after it aligned */

static void *take(int n)
{
    char *block = pl_mem_alloc((size_t)n + HEAD, 1);
    if (!block)
        return NULL;
    memcpy(block, &n, sizeof n);
    return block + HEAD;
}

static void give(void *ptr)
{
    if (ptr)
        pl_mem_free((char *)ptr - HEAD);
}

static void *resize(void *ptr, int n)
{
    char *block = pl_mem_grow((char *)ptr - HEAD, (size_t)n + HEAD, 1);
    if (!block)
        return NULL;
    memcpy(block, &n, sizeof n);
    return block + HEAD;
}

static int size_of(void *ptr)
{
    int n = 0;
    if (ptr)
        memcpy(&n, (char *)ptr - HEAD, sizeof n);
    return n;
}

static int round_up(int n)
{
    return (n + 7) & ~7;
}

static int start(void *ctx)
{
    (void)ctx;
    return SQLITE_OK;
}

static void stop(void *ctx)
{
    (void)ctx;
}

/* If the program has used SQLite before us, it keeps its allocator, and this does nothing. Memory
 * statistics are off: they would lock every allocation. */
static void configure(void)
{
    static const sqlite3_mem_methods methods = {take,     give,  resize, size_of,
                                                round_up, start, stop,   NULL};
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}

void sqlite_use_memory(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, configure);
}

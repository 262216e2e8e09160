#include "store/postgres/libpq.h"

#include <dlfcn.h>
#include <pthread.h>

struct libpq libpq;
static bool is_loaded;

/* The library stays: threads may be using it until the program ends. */
static void load(void)
{
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    bool has_all = true;
#define X(name)                                                                                    \
    {                                                                                              \
        void *symbol = dlsym(library, #name);                                                      \
        memcpy(&libpq.name, &symbol, sizeof symbol);                                               \
        has_all = has_all && symbol;                                                               \
    }
    LIBPQ_TABLE(X)
#undef X
    is_loaded = has_all;
}

enum pl_status libpq_load(struct pl_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded ? PL_OK
                     : pl_fail(err, PL_IO,
                               "PostgreSQL's client library (libpq.so.5, version 14 or newer) is "
                               "not installed: on Debian, apt install libpq5");
}

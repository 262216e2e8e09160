#include "store/postgres/libpq.h"
#include "io/system/library.h"

#include <dlfcn.h>
#include <pthread.h>

struct libpq libpq;
static bool is_loaded;

/* The library is never unloaded: threads may use it until the program ends. */
static void load(void)
{
#define X(name) {#name, &libpq.name},
    static const struct pl_library_function functions[] = {LIBPQ_TABLE(X)};
#undef X
    is_loaded = pl_library_fill(dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL), functions,
                                sizeof functions / sizeof *functions);
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

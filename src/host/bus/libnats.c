#include "bus/libnats.h"
#include "bus/bus.h"
#include "io/system/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

/* Every minor version has its own soname, and all of them have the functions of the table. */
enum { NEWEST_MINOR = 20, OLDEST_MINOR = 4 };

struct libnats libnats;
static bool is_loaded;

static void *open_library(void)
{
    void *library = NULL;
    for (int minor = NEWEST_MINOR; !library && minor >= OLDEST_MINOR; minor--) {
        char name[32];
        snprintf(name, sizeof name, "libnats.so.3.%d", minor);
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

bool pl_bus_has_nats_library(void)
{
    void *library = open_library();
    if (library)
        dlclose(library);
    return library != NULL;
}

/* The library stays loaded: its threads run until the program ends. */
static void load(void)
{
#define X(name) {#name, &libnats.name},
    static const struct pl_library_function functions[] = {LIBNATS_TABLE(X)};
#undef X
    bool has_all = pl_library_fill(open_library(), functions, sizeof functions / sizeof *functions);
    /* Only one thread delivers, so that letters of two subjects keep their order. */
    is_loaded = has_all && libnats.nats_Open(-1) == NATS_OK &&
                libnats.nats_SetMessageDeliveryPoolSize(1) == NATS_OK;
}

enum pl_status libnats_load(struct pl_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded ? PL_OK
                     : pl_fail(err, PL_IO,
                               "the client library of NATS (libnats.so.3.4 or a newer 3.x) is not "
                               "installed: on Debian, apt install libnats3.4");
}

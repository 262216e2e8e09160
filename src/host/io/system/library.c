#include "io/system/library.h"

#include <dlfcn.h>
#include <string.h>

bool pl_library_fill(void *library, const struct pl_library_function *functions, size_t n)
{
    bool has_all = library != NULL;
    for (size_t i = 0; has_all && i < n; i++) {
        void *symbol = dlsym(library, functions[i].name);
        memcpy(functions[i].place, &symbol, sizeof symbol);
        has_all = symbol != NULL;
    }
    return has_all;
}

#include "access/model_list.h"

#include <string.h>

static bool is_meant(struct pl_str line, struct pl_str name)
{
    bool is_family = line.len > 1 && line.ptr[line.len - 1] == '*' && line.ptr[line.len - 2] == '/';
    return is_family ? pl_str_starts(name, pl_str_slice(line, 0, line.len - 1))
                     : pl_str_eq(line, name);
}

bool pl_model_list_has(struct pl_str list, struct pl_str name)
{
    if (!list.len)
        return true;
    while (list.len) {
        const char *end = memchr(list.ptr, '\n', list.len);
        size_t n = end ? (size_t)(end - list.ptr) : list.len;
        if (is_meant(pl_str_slice(list, 0, n), name))
            return true;
        list = pl_str_slice(list, end ? n + 1 : n, list.len);
    }
    return false;
}

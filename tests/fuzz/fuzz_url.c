/* Any bytes as a URL, and as one relative to the text before their first line break. It may be
 * refused, with a reason. An accepted URL is ASCII, and is the same when written and read again. */
#include "wire/url.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

static void must_be_same(const struct pl_url *a, const struct pl_url *b)
{
    must(pl_str_eq(a->scheme, b->scheme) && pl_str_eq(a->username, b->username) &&
         pl_str_eq(a->password, b->password) && pl_str_eq(a->host, b->host) &&
         pl_str_eq(a->path, b->path) && pl_str_eq(a->query, b->query) &&
         pl_str_eq(a->fragment, b->fragment));
    must(a->host_kind == b->host_kind && a->port == b->port &&
         a->has_opaque_path == b->has_opaque_path);
    must(!a->query.ptr == !b->query.ptr && !a->fragment.ptr == !b->fragment.ptr);
    must(a->host_kind != PL_URL_HOST_ADDRESS ||
         memcmp(&a->address, &b->address, sizeof a->address) == 0);
}

static bool check(struct pl_arena *arena, struct pl_str text, const struct pl_url *base,
                  struct pl_url *ret_url)
{
    PL_CLEANUP_BUF struct pl_buf href;
    struct pl_error err = {0};
    struct pl_url again;
    pl_buf_init(&href, 0);
    if (pl_url_parse(arena, text, base, ret_url, &err) != PL_OK) {
        must(err.status == PL_SYNTAX && err.message[0]);
        return false;
    }
    pl_url_write(ret_url, &href);
    must(href.status == PL_OK);
    for (size_t i = 0; i < href.len; i++)
        must((unsigned char)href.ptr[i] >= 0x20 && (unsigned char)href.ptr[i] < 0x7F);
    must(pl_url_parse(arena, pl_buf_str(&href), NULL, &again, NULL) == PL_OK);
    must_be_same(ret_url, &again);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_str text = {(const char *)data, size};
    const char *line = size ? memchr(text.ptr, '\n', size) : NULL;
    size_t n_base = line ? (size_t)(line - text.ptr) : size;
    struct pl_url base, url;
    pl_arena_init(&arena, 0);
    if (check(&arena, pl_str_slice(text, 0, n_base), NULL, &base) && line)
        (void)check(&arena, pl_str_slice(text, n_base + 1, size), &base, &url);
    return 0;
}

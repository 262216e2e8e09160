/* Any bytes as an address. It may be refused. The parts of an accepted address are printable UTF-8
 * and no longer than the address; encoded again in the simplest way, it has the same parts. */
#include "base/text/utf8.h"
#include "wire/target.h"

#include "base/buf.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

static void add_encoded(struct pl_buf *to, struct pl_str text)
{
    must(text.ptr && pl_utf8_is_valid(text));
    for (size_t i = 0; i < text.len; i++) {
        must((unsigned char)text.ptr[i] >= 0x20 && text.ptr[i] != 0x7F);
        pl_buf_addf(to, "%%%02X", (unsigned)(unsigned char)text.ptr[i]);
    }
}

static void add_target(struct pl_buf *to, const struct pl_target *target)
{
    for (size_t i = 0; i < target->n_segments; i++) {
        pl_buf_addc(to, '/');
        add_encoded(to, target->segments[i]);
    }
    if (!target->n_segments)
        pl_buf_addc(to, '/');
    pl_buf_addc(to, '?');
    for (size_t i = 0; i < target->n_params; i++) {
        add_encoded(to, target->params[i].name);
        pl_buf_addc(to, '=');
        add_encoded(to, target->params[i].value);
        pl_buf_addc(to, '&');
    }
}

static void must_be_same(const struct pl_target *a, const struct pl_target *b)
{
    must(a->n_segments == b->n_segments && a->n_params == b->n_params);
    for (size_t i = 0; i < a->n_segments; i++)
        must(pl_str_eq(a->segments[i], b->segments[i]));
    for (size_t i = 0; i < a->n_params; i++)
        must(pl_str_eq(a->params[i].name, b->params[i].name) &&
             pl_str_eq(a->params[i].value, b->params[i].value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf text;
    struct pl_target target, again;
    pl_arena_init(&arena, 0);
    pl_buf_init(&text, 0);
    if (pl_target_parse(&arena, (struct pl_str){(const char *)data, size}, &target, NULL) != PL_OK)
        return 0;
    add_target(&text, &target);
    must(text.status == PL_OK);
    must(pl_target_parse(&arena, pl_buf_str(&text), &again, NULL) == PL_OK);
    must_be_same(&target, &again);
    return 0;
}

/* Any bytes as the payload of a register and, after a NUL, as the arguments of a tool. The
 * registration can be asked about every hook. Arguments are valid, invalid with a message, or
 * beyond a limit. */
#include "ext/run/host_int.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

static void try_input(const struct pl_ext_registered *r, struct pl_str text)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    pl_arena_init(&arena, 0);
    if (pl_json_parse(&arena, text, NULL, &doc, NULL) != PL_OK)
        return;
    for (size_t i = 0; i < r->said.n_tools; i++) {
        const struct pl_json_node *schema = r->said.tools[i].parameters;
        struct pl_error err = {0};
        char says[64] = "";
        if (r->said.tools[i].refusal || !schema)
            continue;
        enum pl_status status = pl_ext_input_check(&arena, pl_json_span(&r->doc, schema), &doc,
                                                   doc.root, says, sizeof says, &err);
        must(status == PL_OK || err.message[0]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pl_str all = {(const char *)data, size};
    const char *nul = size ? memchr(data, 0, size) : NULL;
    size_t n = nul ? (size_t)(nul - all.ptr) : size;
    struct pl_ext_registered *r = NULL;
    struct pl_error err = {0};
    if (pl_ext_registered_create(pl_str_slice(all, 0, n), PL_STR("a"), NULL, 0, &r, &err) !=
        PL_OK) {
        must(err.message[0]);
        return 0;
    }
    for (unsigned hook = 0; hook < PL_EXT_HOOK_COUNT; hook++) {
        struct pl_ext_subscription subscription;
        if (pl_ext_registered_wants(r, (enum pl_ext_hook)hook, PL_STR("tool"), &subscription))
            must(subscription.hook == (enum pl_ext_hook)hook);
    }
    try_input(r, pl_str_slice(all, n + 1, size));
    pl_ext_registered_release(r);
    return 0;
}

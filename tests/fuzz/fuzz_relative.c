/* A relative JSON Pointer from every value of a document: the first line is the pointer, the rest
 * the document. It may be refused, with a reason. A value that is found is in the document, and an
 * absolute pointer to it finds the same value. */
#include "json/pointer.h"
#include "json/relative.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

/* An absolute pointer finds the last of two members with the same name, so duplicates are
 * refused. */
static void must_be_found(const struct pl_json_doc *doc, const struct pl_json_node *node)
{
    PL_CLEANUP_BUF struct pl_buf pointer;
    const struct pl_json_node *again = NULL;
    pl_buf_init(&pointer, 0);
    must(node >= doc->root && node < doc->root + doc->n_nodes);
    pl_json_pointer_of(&pointer, doc, node);
    must(pl_json_pointer_get(doc, pl_buf_str(&pointer), &again, NULL) == PL_OK && again == node);
}

static void check(const struct pl_json_doc *doc, const struct pl_json_node *from,
                  struct pl_str pointer)
{
    struct pl_json_found found = {0};
    struct pl_error err = {0};
    enum pl_status status = pl_json_relative_get(doc, from, pointer, &found, &err);
    if (status != PL_OK) {
        must((status == PL_SYNTAX || status == PL_NOT_FOUND) && err.message[0]);
        return;
    }
    must((found.kind == PL_JSON_FOUND_INDEX) == !found.node);
    if (found.kind == PL_JSON_FOUND_VALUE)
        must_be_found(doc, found.node);
    else if (found.kind == PL_JSON_FOUND_KEY)
        must(found.node->tag & PL_JSON_KEY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_str text = {(const char *)data, size};
    struct pl_json_doc doc;
    const char *line = size ? memchr(text.ptr, '\n', size) : NULL;
    pl_arena_init(&arena, 0);
    if (!line)
        return 0;
    size_t n_pointer = (size_t)(line - text.ptr);
    if (pl_json_parse(&arena, pl_str_slice(text, n_pointer + 1, size), NULL, &doc, NULL) != PL_OK)
        return 0;
    for (uint32_t i = 0; i < doc.n_nodes && i < 64; i++)
        check(&doc, doc.root + i, pl_str_slice(text, 0, n_pointer));
    return 0;
}

/* The public API for the values of a document: lookup and conversion. */
#include "lib/parley_int.h"

#include "base/mem.h"
#include "json/number.h"
#include "json/pointer.h"
#include "json/relative.h"
#include "json/text.h"

_Static_assert((int)PARLEY_OBJECT == (int)PL_JSON_OBJECT, "parley_kind follows pl_json_kind");
_Static_assert((int)PARLEY_FOUND_KEY == (int)PL_JSON_FOUND_KEY &&
                   (int)PARLEY_FOUND_INDEX == (int)PL_JSON_FOUND_INDEX,
               "parley_found_kind follows pl_json_found_kind");

enum parley_kind parley_value_kind(const struct parley_value *value)
{
    return (enum parley_kind)pl_json_kind((const struct pl_json_node *)value);
}

size_t parley_value_count(const struct parley_value *value)
{
    const struct pl_json_node *node = (const struct pl_json_node *)value;
    return pl_json_is_container(node) ? pl_json_count(node) : 0;
}

/* --- another type ---------------------------------------------------------------------------- */

static const char *describe(const struct pl_json_node *node)
{
    static const char *const names[] = {
        [PL_JSON_NULL] = "null",        [PL_JSON_FALSE] = "a boolean", [PL_JSON_TRUE] = "a boolean",
        [PL_JSON_NUMBER] = "a number",  [PL_JSON_STRING] = "a string", [PL_JSON_ARRAY] = "an array",
        [PL_JSON_OBJECT] = "an object",
    };
    return names[pl_json_kind(node)];
}

/* Fills *err with the failure and the place of the value. */
static enum parley_status blame(const struct parley_json *json, const struct pl_json_node *node,
                                enum pl_status status, struct pl_error *detail,
                                struct parley_error *err)
{
    if (err)
        pl_json_pointer_blame(detail, &json->doc, node);
    return pl_export_error(status, detail, err);
}

static enum parley_status wrong_type(const struct parley_json *json,
                                     const struct pl_json_node *node, const char *wanted,
                                     struct parley_error *err)
{
    struct pl_error detail = {0};
    enum pl_status status =
        pl_fail(&detail, PL_USAGE, "expected %s, but this is %s", wanted, describe(node));
    return blame(json, node, status, &detail, err);
}

/* --- looking up ------------------------------------------------------------------------------ */

enum parley_status parley_json_get(const struct parley_json *json, const char *pointer,
                                   const struct parley_value **ret_value, struct parley_error *err)
{
    return parley_value_find(json, NULL, pointer, ret_value, err);
}

enum parley_status parley_value_find(const struct parley_json *json,
                                     const struct parley_value *value, const char *pointer,
                                     const struct parley_value **ret_value,
                                     struct parley_error *err)
{
    struct pl_error detail = {0};
    const struct pl_json_node *node;
    enum pl_status status = pl_json_pointer_get_from(&json->doc, pl_import_node(json, value),
                                                     pl_str_of(pointer), &node, &detail);
    if (status == PL_OK)
        *ret_value = pl_export_node(node);
    return pl_export_error(status, &detail, err);
}

enum parley_status parley_value_get(const struct parley_json *json,
                                    const struct parley_value *object, const char *key,
                                    const struct parley_value **ret_value, struct parley_error *err)
{
    const struct pl_json_node *node = pl_import_node(json, object);
    struct pl_str name = pl_str_of(key);
    if (pl_json_kind(node) != PL_JSON_OBJECT)
        return wrong_type(json, node, "an object", err);
    const struct pl_json_node *found = pl_json_get(&json->doc, node, name);
    if (!found) {
        struct pl_error detail = {0};
        enum pl_status status = pl_fail(
            &detail, PL_NOT_FOUND, "the object %s has no member \"%.*s\"",
            node == json->doc.root ? "at the top" : "there", pl_json_pointer_shown(name), key);
        return blame(json, node, status, &detail, err);
    }
    *ret_value = pl_export_node(found);
    return PARLEY_OK;
}

enum parley_status parley_value_at(const struct parley_json *json, const struct parley_value *array,
                                   size_t index, const struct parley_value **ret_value,
                                   struct parley_error *err)
{
    const struct pl_json_node *node = pl_import_node(json, array);
    if (pl_json_kind(node) != PL_JSON_ARRAY)
        return wrong_type(json, node, "an array", err);
    if (index >= pl_json_count(node)) {
        struct pl_error detail = {0};
        enum pl_status status =
            pl_fail(&detail, PL_NOT_FOUND, "the array %s has %u elements, so there is no index %zu",
                    node == json->doc.root ? "at the top" : "there", pl_json_count(node), index);
        return blame(json, node, status, &detail, err);
    }
    const struct pl_json_node *element = pl_json_first(node);
    while (index--)
        element = pl_json_next(element);
    *ret_value = pl_export_node(element);
    return PARLEY_OK;
}

enum parley_status parley_value_relative(const struct parley_json *json,
                                         const struct parley_value *value, const char *relative,
                                         struct parley_found *ret_found, struct parley_error *err)
{
    struct pl_error detail = {0};
    struct pl_json_found found;
    enum pl_status status = pl_json_relative_get(&json->doc, pl_import_node(json, value),
                                                 pl_str_of(relative), &found, &detail);
    if (status == PL_OK)
        *ret_found = (struct parley_found){(enum parley_found_kind)found.kind,
                                           pl_export_node(found.node), found.index};
    return pl_export_error(status, &detail, err);
}

enum parley_status parley_value_pointer(const struct parley_json *json,
                                        const struct parley_value *value, char **ret_pointer,
                                        size_t *ret_size)
{
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 0);
    pl_json_pointer_of(&buf, &json->doc, pl_import_node(json, value));
    return pl_export_status(pl_export_text(&buf, ret_pointer, ret_size));
}

/* --- the content of a value ------------------------------------------------------------------ */

const char *parley_value_raw(const struct parley_json *json, const struct parley_value *value,
                             size_t *ret_size)
{
    struct pl_str span = pl_json_span(&json->doc, pl_import_node(json, value));
    if (ret_size)
        *ret_size = span.len;
    return span.ptr;
}

enum parley_status parley_value_text(const struct parley_json *json,
                                     const struct parley_value *value, const char **ret_text,
                                     size_t *ret_size, struct parley_error *err)
{
    const struct pl_json_node *node = pl_import_node(json, value);
    struct pl_str text;
    if (pl_json_kind(node) != PL_JSON_STRING)
        return wrong_type(json, node, "a string", err);
    if (pl_decoded_get(json->decoded, &json->doc, node, &text) != PL_OK)
        return pl_export_error(PL_NOMEM, &(struct pl_error){0}, err);
    *ret_text = text.ptr;
    *ret_size = text.len;
    return PARLEY_OK;
}

enum parley_status parley_value_string(const struct parley_json *json,
                                       const struct parley_value *value, char **ret_text,
                                       size_t *ret_size, struct parley_error *err)
{
    const struct pl_json_node *node = pl_import_node(json, value);
    if (pl_json_kind(node) != PL_JSON_STRING)
        return wrong_type(json, node, "a string", err);
    struct pl_str raw = pl_json_raw(&json->doc, node);
    char *text = pl_mem_alloc(raw.len + 1, 1);
    if (!text)
        return pl_export_error(PL_NOMEM, &(struct pl_error){0}, err);
    size_t size = pl_json_decode(text, raw);
    text[size] = '\0';
    if (ret_size)
        *ret_size = size;
    *ret_text = text;
    return PARLEY_OK;
}

int parley_value_is(const struct parley_json *json, const struct parley_value *value,
                    const char *text)
{
    return pl_json_text_is(&json->doc, pl_import_node(json, value), pl_str_of(text));
}

enum parley_status parley_value_bool(const struct parley_json *json,
                                     const struct parley_value *value, int *ret_is_true,
                                     struct parley_error *err)
{
    const struct pl_json_node *node = pl_import_node(json, value);
    enum pl_json_kind kind = pl_json_kind(node);
    if (kind != PL_JSON_TRUE && kind != PL_JSON_FALSE)
        return wrong_type(json, node, "a boolean", err);
    *ret_is_true = kind == PL_JSON_TRUE;
    return PARLEY_OK;
}

enum parley_status parley_value_number(const struct parley_json *json,
                                       const struct parley_value *value, const char **ret_digits,
                                       size_t *ret_size, struct parley_error *err)
{
    const struct pl_json_node *node = pl_import_node(json, value);
    if (pl_json_kind(node) != PL_JSON_NUMBER)
        return wrong_type(json, node, "a number", err);
    *ret_digits = parley_value_raw(json, value, ret_size);
    return PARLEY_OK;
}

enum parley_status parley_value_int64(const struct parley_json *json,
                                      const struct parley_value *value, int64_t *ret_number,
                                      struct parley_error *err)
{
    const struct pl_json_node *node = pl_import_node(json, value);
    if (pl_json_kind(node) != PL_JSON_NUMBER)
        return wrong_type(json, node, "a number", err);
    struct pl_str digits = pl_json_span(&json->doc, node);
    if (pl_json_number_int64(digits, ret_number))
        return PARLEY_OK;
    struct pl_error detail = {0};
    enum pl_status status = pl_fail(&detail, PL_INVALID,
                                    pl_json_number_is_integer(digits)
                                        ? "this number does not fit into 64 bits"
                                        : "expected a whole number, but this has a fraction");
    return blame(json, node, status, &detail, err);
}

enum parley_status parley_value_double(const struct parley_json *json,
                                       const struct parley_value *value, double *ret_number,
                                       struct parley_error *err)
{
    const struct pl_json_node *node = pl_import_node(json, value);
    if (pl_json_kind(node) != PL_JSON_NUMBER)
        return wrong_type(json, node, "a number", err);
    *ret_number = pl_json_number_double(pl_json_span(&json->doc, node));
    return PARLEY_OK;
}

/* --- all of them ----------------------------------------------------------------------------- */

struct parley_iter parley_iter_of(const struct parley_value *container)
{
    const struct pl_json_node *node = (const struct pl_json_node *)container;
    if (!pl_json_is_container(node))
        return (struct parley_iter){0};
    return (struct parley_iter){
        .at = pl_export_node(pl_json_first(node)),
        .end = pl_export_node(pl_json_end(node)),
        .has_keys = pl_json_kind(node) == PL_JSON_OBJECT,
    };
}

int parley_iter_next(struct parley_iter *iter, const struct parley_value **ret_key,
                     const struct parley_value **ret_value)
{
    if (iter->at == iter->end)
        return 0;
    const struct pl_json_node *at = (const struct pl_json_node *)iter->at;
    const struct pl_json_node *value = iter->has_keys ? at + 1 : at;
    if (ret_key)
        *ret_key = iter->has_keys ? iter->at : NULL;
    *ret_value = pl_export_node(value);
    iter->at = pl_export_node(pl_json_next(value));
    return 1;
}

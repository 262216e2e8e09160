/* The public API over base and json: handles around their structs, C strings around views. */
#include "lib/parley_int.h"

#include "base/hash.h"
#include "base/mem.h"
#include "json/edit/edit.h"
#include "json/parse/lenient.h"
#include "json/number.h"
#include "json/pointer.h"
#include "json/text.h"
#include "json/write.h"

/* Statuses cross the border by value. */
#define SAME(name)                                                                                 \
    _Static_assert((int)PARLEY_##name == (int)PL_##name, "parley_status follows pl_status")
SAME(OK);
SAME(NOMEM);
SAME(LIMIT);
SAME(SYNTAX);
SAME(INVALID);
SAME(USAGE);
SAME(NOT_FOUND);
SAME(CONFLICT);
SAME(INTERNAL);
_Static_assert((int)PARLEY_OBJECT == (int)PL_JSON_OBJECT, "parley_kind follows pl_json_kind");

_Static_assert(sizeof((struct parley_error){0}.pointer) == sizeof((struct pl_error){0}.pointer),
               "pointers fit");
_Static_assert(sizeof((struct parley_error){0}.message) == sizeof((struct pl_error){0}.message),
               "messages fit");

enum parley_status pl_export_status(enum pl_status status)
{
    /* What the outside cannot cause (I/O) cannot come out of core. */
    return status <= PL_CONFLICT ? (enum parley_status)status : PARLEY_INTERNAL;
}

enum parley_status pl_export_error(enum pl_status status, const struct pl_error *from,
                                   struct parley_error *to)
{
    if (!to || status == PL_OK)
        return pl_export_status(status);
    *to = (struct parley_error){
        .status = pl_export_status(status),
        .has_position = from->has_position,
        .offset = from->offset,
        .line = from->line,
        .column = from->column,
    };
    /* A failure deep inside may have left no words. */
    const char *message = from->message[0] ? from->message : pl_status_info(status)->text;
    memcpy(to->pointer, from->pointer, sizeof to->pointer);
    memcpy(to->message, message, strnlen(message, sizeof to->message - 1));
    return pl_export_status(status);
}

enum pl_status pl_export_text(struct pl_buf *buf, char **ret_text, size_t *ret_size)
{
    pl_buf_addc(buf, '\0');
    if (buf->status != PL_OK)
        return buf->status;
    if (ret_size)
        *ret_size = buf->len - 1;
    *ret_text = PL_TAKE(buf->ptr);
    return PL_OK;
}

/* A parley_value is a pl_json_node the outside cannot look into. */
static const struct parley_value *export_node(const struct pl_json_node *node)
{
    return (const struct parley_value *)node;
}

static const struct pl_json_node *import_node(const struct parley_value *value)
{
    return (const struct pl_json_node *)value;
}

const char *parley_status_text(enum parley_status status)
{
    return pl_status_info((enum pl_status)status)->text;
}

const char *parley_version(void)
{
    return PARLEY_VERSION;
}

void parley_set_allocator(parley_alloc_fn *fn, void *ctx)
{
    pl_mem_set_hook(fn, ctx);
}

void parley_set_hash_key(const unsigned char key[16])
{
    struct pl_hash_key words;
    memcpy(words.word, key, sizeof words.word);
    pl_hash_set_key(words);
}

void parley_free(void *text)
{
    pl_mem_free(text);
}

static enum pl_status parse(struct parley_json *json, struct pl_str text, unsigned flags,
                            struct pl_error *err)
{
    struct pl_json_opts opts = {.refuses_nul = (flags & PARLEY_REFUSE_NUL) != 0};
    if (!(flags & PARLEY_BORROW) && text.len > 0) {
        text = pl_arena_dup(&json->arena, text);
        if (!text.ptr)
            return pl_fail(err, PL_NOMEM, "out of memory for a copy of the text");
    }
    json->text = text;
    if (flags & PARLEY_LENIENT)
        return pl_json_parse_lenient(&json->arena, text, &opts, &json->doc, &json->notes, err);
    return pl_json_parse(&json->arena, text, &opts, &json->doc, err);
}

enum parley_status parley_json_parse(const char *text, size_t size, unsigned flags,
                                     struct parley_json **ret_json, struct parley_error *err)
{
    struct pl_error detail = {0};
    if (flags & ~(unsigned)(PARLEY_LENIENT | PARLEY_BORROW | PARLEY_REFUSE_NUL))
        return pl_export_error(pl_fail(&detail, PL_USAGE, "unknown flag in %#x", flags), &detail,
                               err);
    struct parley_json *json = pl_mem_alloc(1, sizeof *json);
    if (!json)
        return pl_export_error(PL_NOMEM, &detail, err);
    *json = (struct parley_json){0};
    pl_arena_init(&json->arena, 0);
    enum pl_status status = parse(json, (struct pl_str){text, size}, flags, &detail);
    if (status != PL_OK) {
        parley_json_destroy(json);
        return pl_export_error(status, &detail, err);
    }
    *ret_json = json;
    return PARLEY_OK;
}

void parley_json_destroy(struct parley_json *json)
{
    if (!json)
        return;
    pl_arena_deinit(&json->arena);
    pl_mem_free(json);
}

enum parley_status parley_json_note(const struct parley_json *json, size_t index,
                                    struct parley_note *ret_note)
{
    if (index >= json->notes.len)
        return PARLEY_NOT_FOUND;
    const struct pl_json_note *note = &json->notes.items[index];
    *ret_note = (struct parley_note){pl_json_note_name(note->kind), note->off, note->len};
    return PARLEY_OK;
}

const struct parley_value *parley_json_root(const struct parley_json *json)
{
    return export_node(json->doc.root);
}

enum parley_status parley_json_get(const struct parley_json *json, const char *pointer,
                                   const struct parley_value **ret_value, struct parley_error *err)
{
    struct pl_error detail = {0};
    const struct pl_json_node *node;
    enum pl_status status = pl_json_pointer_get(&json->doc, pl_str_of(pointer), &node, &detail);
    if (status == PL_OK)
        *ret_value = export_node(node);
    return pl_export_error(status, &detail, err);
}

enum parley_kind parley_value_kind(const struct parley_value *value)
{
    return (enum parley_kind)pl_json_kind(import_node(value));
}

size_t parley_value_count(const struct parley_value *value)
{
    const struct pl_json_node *node = import_node(value);
    return pl_json_is_container(node) ? pl_json_count(node) : 0;
}

const char *parley_value_raw(const struct parley_json *json, const struct parley_value *value,
                             size_t *ret_size)
{
    struct pl_str span = pl_json_span(&json->doc, import_node(value));
    if (ret_size)
        *ret_size = span.len;
    return span.ptr;
}

enum parley_status parley_value_string(const struct parley_json *json,
                                       const struct parley_value *value, char **ret_text,
                                       size_t *ret_size)
{
    const struct pl_json_node *node = import_node(value);
    if (pl_json_kind(node) != PL_JSON_STRING)
        return PARLEY_USAGE;
    struct pl_str raw = pl_json_raw(&json->doc, node);
    char *text = pl_mem_alloc(raw.len + 1, 1);
    if (!text)
        return PARLEY_NOMEM;
    size_t size = pl_json_decode(text, raw);
    text[size] = '\0';
    if (ret_size)
        *ret_size = size;
    *ret_text = text;
    return PARLEY_OK;
}

enum parley_status parley_value_int64(const struct parley_json *json,
                                      const struct parley_value *value, int64_t *ret_number)
{
    const struct pl_json_node *node = import_node(value);
    if (pl_json_kind(node) != PL_JSON_NUMBER)
        return PARLEY_USAGE;
    bool fits = pl_json_number_int64(pl_json_span(&json->doc, node), ret_number);
    return fits ? PARLEY_OK : PARLEY_INVALID;
}

enum parley_status parley_value_double(const struct parley_json *json,
                                       const struct parley_value *value, double *ret_number)
{
    const struct pl_json_node *node = import_node(value);
    if (pl_json_kind(node) != PL_JSON_NUMBER)
        return PARLEY_USAGE;
    *ret_number = pl_json_number_double(pl_json_span(&json->doc, node));
    return PARLEY_OK;
}

struct parley_iter parley_iter_of(const struct parley_value *container)
{
    const struct pl_json_node *node = import_node(container);
    if (!pl_json_is_container(node))
        return (struct parley_iter){0};
    return (struct parley_iter){
        .at = export_node(pl_json_first(node)),
        .end = export_node(pl_json_end(node)),
        .has_keys = pl_json_kind(node) == PL_JSON_OBJECT,
    };
}

int parley_iter_next(struct parley_iter *iter, const struct parley_value **ret_key,
                     const struct parley_value **ret_value)
{
    if (iter->at == iter->end)
        return 0;
    const struct pl_json_node *at = import_node(iter->at);
    const struct pl_json_node *value = iter->has_keys ? at + 1 : at;
    if (ret_key)
        *ret_key = iter->has_keys ? iter->at : NULL;
    *ret_value = export_node(value);
    iter->at = export_node(pl_json_next(value));
    return 1;
}

enum parley_status parley_json_write(const struct parley_json *json,
                                     const struct parley_value *value, enum parley_form form,
                                     char **ret_text, size_t *ret_size)
{
    const struct pl_json_node *node = pl_import_node(json, value);
    enum pl_status status = PL_OK;
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 0);
    switch (form) {
    case PARLEY_MINIFIED:
        pl_json_write_min(&buf, &json->doc, node);
        break;
    case PARLEY_PRETTY:
        pl_json_write_pretty(&buf, &json->doc, node);
        break;
    case PARLEY_CANONICAL:
        status = pl_json_write_canonical(&buf, &json->doc, node);
        break;
    default:
        return PARLEY_USAGE;
    }
    return pl_export_status(status != PL_OK ? status : pl_export_text(&buf, ret_text, ret_size));
}

static enum pl_status add_change(struct pl_json_edit *edit, const struct parley_change *change,
                                 struct pl_error *err)
{
    struct pl_str pointer = pl_str_of(change->pointer), value = pl_str_of(change->value);
    switch (change->op) {
    case PARLEY_SET:
        return pl_json_edit_set(edit, pointer, value, err);
    case PARLEY_INSERT:
        return pl_json_edit_insert(edit, pointer, value, err);
    case PARLEY_REMOVE:
        return pl_json_edit_remove(edit, pointer, err);
    default:
        return pl_fail(err, PL_USAGE, "unknown kind of change: %d", (int)change->op);
    }
}

enum parley_status parley_json_edit(const struct parley_json *json,
                                    const struct parley_change *changes, size_t n_changes,
                                    char **ret_text, size_t *ret_size, struct parley_error *err)
{
    struct pl_error detail = {0};
    enum pl_status status = PL_OK;
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf buf;
    __attribute__((cleanup(pl_json_edit_deinit))) struct pl_json_edit edit;
    pl_arena_init(&arena, 0);
    pl_buf_init(&buf, 0);
    /* Over the text as given, so that comments stay. */
    struct pl_json_doc doc = {json->text, json->doc.root, json->doc.n_nodes};
    pl_json_edit_init(&edit, &arena, &doc);
    for (size_t i = 0; i < n_changes && status == PL_OK; i++)
        status = add_change(&edit, &changes[i], &detail);
    if (status == PL_OK)
        status = pl_json_edit_write(&edit, &buf);
    if (status == PL_OK)
        status = pl_export_text(&buf, ret_text, ret_size);
    return pl_export_error(status, &detail, err);
}

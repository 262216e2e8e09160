/* The public API for base and whole JSON documents: handles for internal structs, C strings for
 * views. */
#include "lib/parley_int.h"

#include "base/hash.h"
#include "base/mem.h"
#include "json/edit/edit.h"
#include "json/parse/lenient.h"
#include "json/write.h"

/* Public statuses have the values of the internal ones. */
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

_Static_assert(sizeof((struct parley_error){0}.pointer) == sizeof((struct pl_error){0}.pointer),
               "pointers fit");
_Static_assert(sizeof((struct parley_error){0}.message) == sizeof((struct pl_error){0}.message),
               "messages fit");

enum parley_status pl_export_status(enum pl_status status)
{
    /* Statuses that a caller cannot cause (I/O) do not occur in core. */
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
    /* Some failures have no message. */
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

const char *parley_status_text(enum parley_status status)
{
    return pl_status_info((enum pl_status)status)->text;
}

const char *parley_version(void)
{
    return PARLEY_VERSION;
}

int parley_version_number(void)
{
    return PARLEY_VERSION_NUMBER;
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
    json->decoded = pl_arena_zalloc(&json->arena, 1, sizeof *json->decoded);
    if (!json->decoded)
        return pl_fail(err, PL_NOMEM, "out of memory for the document");
    enum pl_status status =
        flags & PARLEY_LENIENT
            ? pl_json_parse_lenient(&json->arena, text, &opts, &json->doc, &json->notes, err)
            : pl_json_parse(&json->arena, text, &opts, &json->doc, err);
    if (status == PL_OK)
        pl_decoded_init(json->decoded, &json->doc);
    return status;
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
    if (json->decoded)
        pl_decoded_deinit(json->decoded);
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
    return pl_export_node(json->doc.root);
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
    /* Edit the text as given, so that comments stay. */
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

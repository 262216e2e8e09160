/* Edits are collected as changes to nodes and become replacements of bytes (splices) only when they
 * are written: sorted once, checked for overlap once, copied once. layout.c handles the
 * separators. */
#include "json/edit/edit.h"
#include "base/sort.h"
#include "base/text/utf8.h"
#include "json/edit/edit_int.h"
#include "json/pointer.h"
#include "json/text.h"

void pl_json_edit_init(struct pl_json_edit *edit, struct pl_arena *arena,
                       const struct pl_json_doc *doc)
{
    *edit = (struct pl_json_edit){.arena = arena, .doc = doc};
    pl_arena_init(&edit->scratch, 0);
}

void pl_json_edit_deinit(struct pl_json_edit *edit)
{
    pl_vec_deinit(&edit->changes);
    pl_arena_deinit(&edit->scratch);
}

static enum pl_status no_memory(struct pl_error *err)
{
    return pl_fail(err, PL_NOMEM, "out of memory");
}

/* Copies `value` into the arena, after checking that it is JSON if nobody did. */
static enum pl_status take_value(struct pl_json_edit *edit, struct pl_str value,
                                 struct pl_str *ret_value, struct pl_error *err)
{
    struct pl_json_doc doc;
    struct pl_error wrong;
    enum pl_status status = PL_OK;
    pl_arena_reset(&edit->scratch);
    if (!edit->trusts_values)
        status = pl_json_parse(&edit->scratch, value, NULL, &doc, &wrong);
    if (status == PL_NOMEM)
        return no_memory(err);
    if (status != PL_OK)
        return pl_fail(err, status, "the new value is not JSON (line %zu, column %zu): %.300s",
                       wrong.line, wrong.column, wrong.message);
    struct pl_str copy = pl_arena_dup(edit->arena, value);
    if (!copy.ptr)
        return no_memory(err);
    *ret_value = copy;
    return PL_OK;
}

/* The name of a new member: decoded, and as a JSON string. */
static enum pl_status take_key(struct pl_json_edit *edit, struct pl_str key,
                               struct pl_json_change *change, struct pl_error *err)
{
    if (!pl_utf8_is_valid(key))
        return pl_fail(err, PL_SYNTAX, "the name of the new member is not valid UTF-8");
    PL_CLEANUP_BUF struct pl_buf quoted;
    pl_buf_init(&quoted, 0);
    pl_json_quote(&quoted, key);
    if (quoted.status != PL_OK)
        return no_memory(err);
    change->key = pl_arena_dup(edit->arena, key);
    change->key_json = pl_arena_dup(edit->arena, pl_buf_str(&quoted));
    return change->key.ptr && change->key_json.ptr ? PL_OK : no_memory(err);
}

static enum pl_status add_change(struct pl_json_edit *edit, struct pl_json_change change,
                                 struct pl_error *err)
{
    return pl_vec_push(&edit->changes, change) ? PL_OK : no_memory(err);
}

enum pl_status pl_json_edit_set_node(struct pl_json_edit *edit, const struct pl_json_node *node,
                                     struct pl_str value, struct pl_error *err)
{
    struct pl_json_change change = {.kind = PL_JSON_CHANGE_SET, .at = node};
    enum pl_status status = take_value(edit, value, &change.value, err);
    return status == PL_OK ? add_change(edit, change, err) : status;
}

/* `child` is the key or value of a member: returns its key. An element is returned as it is. */
static const struct pl_json_node *member_start(const struct pl_json_node *parent,
                                               const struct pl_json_node *child)
{
    bool is_value = pl_json_kind(parent) == PL_JSON_OBJECT && !(child->tag & PL_JSON_KEY);
    return is_value ? child - 1 : child;
}

enum pl_status pl_json_edit_remove_node(struct pl_json_edit *edit,
                                        const struct pl_json_node *parent,
                                        const struct pl_json_node *child, struct pl_error *err)
{
    struct pl_json_change change = {
        .kind = PL_JSON_CHANGE_REMOVE,
        .parent = parent,
        .at = member_start(parent, child),
    };
    return add_change(edit, change, err);
}

/* `at` is the child (the key, in an object) to insert before, or the end. */
static enum pl_status insert_at(struct pl_json_edit *edit, const struct pl_json_node *parent,
                                const struct pl_json_node *at, struct pl_str key,
                                struct pl_str value, struct pl_error *err)
{
    if (!pl_json_is_container(parent))
        return pl_fail(err, PL_INVALID, "a %s cannot hold a new value",
                       pl_json_kind_name(pl_json_kind(parent)));
    struct pl_json_change change = {.kind = PL_JSON_CHANGE_INSERT, .parent = parent, .at = at};
    enum pl_status status = take_value(edit, value, &change.value, err);
    if (status == PL_OK && pl_json_kind(parent) == PL_JSON_OBJECT)
        status = take_key(edit, key, &change, err);
    return status == PL_OK ? add_change(edit, change, err) : status;
}

enum pl_status pl_json_edit_insert_before(struct pl_json_edit *edit,
                                          const struct pl_json_node *parent,
                                          const struct pl_json_node *child, struct pl_str key,
                                          struct pl_str value, struct pl_error *err)
{
    const struct pl_json_node *at = child ? member_start(parent, child) : pl_json_end(parent);
    return insert_at(edit, parent, at, key, value, err);
}

enum pl_status pl_json_edit_insert_after(struct pl_json_edit *edit,
                                         const struct pl_json_node *parent,
                                         const struct pl_json_node *child, struct pl_str key,
                                         struct pl_str value, struct pl_error *err)
{
    const struct pl_json_node *at = pl_json_first(parent);
    if (child)
        at = child->tag & PL_JSON_KEY ? pl_json_next_member(child) : pl_json_next(child);
    return insert_at(edit, parent, at, key, value, err);
}

/* The place that the last token of a pointer names. */
struct place {
    const struct pl_json_node *parent; /* NULL for the root */
    const struct pl_json_node *value;  /* NULL if it does not exist */
    struct pl_str token;
};

/* Like pl_json_pointer_step, but an element after the one last found is reached from there. */
static const struct pl_json_node *step(struct pl_json_edit *edit, const struct pl_json_node *at,
                                       struct pl_str token)
{
    uint32_t index;
    if (pl_json_kind(at) != PL_JSON_ARRAY)
        return pl_json_pointer_step(edit->doc, at, token);
    if (!pl_json_pointer_index(token, &index) || index >= pl_json_count(at))
        return NULL;
    if (at != edit->last_array || index < edit->last_index) {
        edit->last_array = at;
        edit->last_element = pl_json_first(at);
        edit->last_index = 0;
    }
    for (; edit->last_index < index; edit->last_index++)
        edit->last_element = pl_json_next(edit->last_element);
    return edit->last_element;
}

/* Only the last step may fail. */
static enum pl_status find_place(struct pl_json_edit *edit, struct pl_str pointer,
                                 struct place *ret_place, struct pl_error *err)
{
    struct place place = {.value = edit->doc->root};
    struct pl_str rest = pointer;
    bool is_lost = !pl_json_pointer_is_valid(pointer);
    while (!is_lost && pl_json_pointer_next(&rest, &place.token)) {
        place.parent = place.value;
        place.value = step(edit, place.parent, place.token);
        is_lost = !place.value && (rest.len || !pl_json_is_container(place.parent));
    }
    const struct pl_json_node *found;
    if (is_lost) /* repeated for the error message */
        return pl_json_pointer_get(edit->doc, pointer, &found, err);
    *ret_place = place;
    return PL_OK;
}

/* The decoded token, in scratch memory. */
static bool decode_token(struct pl_arena *scratch, struct pl_str token, struct pl_str *ret_key)
{
    char *to = pl_arena_alloc(scratch, token.len + 1, 1);
    if (!to)
        return false;
    size_t n = 0;
    for (size_t i = 0; i < token.len; i++) {
        bool is_escape = token.ptr[i] == '~' && i + 1 < token.len;
        to[n++] = !is_escape ? token.ptr[i] : token.ptr[i + 1] == '0' ? '~' : '/';
        i += is_escape;
    }
    *ret_key = (struct pl_str){to, n};
    return true;
}

/* Appends a member, or an element if the token is "-" or the length. */
static enum pl_status append(struct pl_json_edit *edit, struct pl_str pointer,
                             const struct place *place, struct pl_str value, struct pl_error *err)
{
    struct pl_str key = {0};
    uint32_t index;
    if (pl_json_kind(place->parent) == PL_JSON_ARRAY) {
        bool is_end =
            pl_str_eq(place->token, PL_STR("-")) ||
            (pl_json_pointer_index(place->token, &index) && index == pl_json_count(place->parent));
        const struct pl_json_node *found;
        if (!is_end)
            return pl_json_pointer_get(edit->doc, pointer, &found, err);
        return insert_at(edit, place->parent, pl_json_end(place->parent), key, value, err);
    }
    PL_CLEANUP_ARENA struct pl_arena scratch;
    pl_arena_init(&scratch, 0);
    if (!decode_token(&scratch, place->token, &key))
        return no_memory(err);
    return insert_at(edit, place->parent, pl_json_end(place->parent), key, value, err);
}

enum pl_status pl_json_edit_set(struct pl_json_edit *edit, struct pl_str pointer,
                                struct pl_str value, struct pl_error *err)
{
    struct place place;
    enum pl_status status = find_place(edit, pointer, &place, err);
    if (status != PL_OK)
        return status;
    if (place.value)
        return pl_json_edit_set_node(edit, place.value, value, err);
    return append(edit, pointer, &place, value, err);
}

enum pl_status pl_json_edit_insert(struct pl_json_edit *edit, struct pl_str pointer,
                                   struct pl_str value, struct pl_error *err)
{
    struct place place;
    enum pl_status status = find_place(edit, pointer, &place, err);
    if (status != PL_OK)
        return status;
    if (!place.parent)
        return pl_fail(err, PL_INVALID, "nothing can be inserted next to the root; set it instead");
    if (!place.value)
        return append(edit, pointer, &place, value, err);
    if (pl_json_kind(place.parent) == PL_JSON_OBJECT)
        return pl_fail(err, PL_CONFLICT, "the object already has this member; set it instead");
    return insert_at(edit, place.parent, place.value, (struct pl_str){0}, value, err);
}

enum pl_status pl_json_edit_remove(struct pl_json_edit *edit, struct pl_str pointer,
                                   struct pl_error *err)
{
    struct place place;
    enum pl_status status = find_place(edit, pointer, &place, err);
    if (status != PL_OK)
        return status;
    if (!place.parent)
        return pl_fail(err, PL_INVALID, "the root cannot be removed; set it instead");
    const struct pl_json_node *found;
    if (!place.value)
        return pl_json_pointer_get(edit->doc, pointer, &found, err);
    return pl_json_edit_remove_node(edit, place.parent, place.value, err);
}

void pl_json_splice_add(struct pl_json_splices *splices, uint32_t off, uint32_t end,
                        struct pl_str text)
{
    struct pl_json_splice splice = {off, end, text};
    if (off == end && !text.len)
        return;
    if (!pl_vec_push(&splices->list, splice))
        splices->is_out_of_memory = true;
}

/* Compares addresses as integers: all nodes are in one array. */
static int node_order(const struct pl_json_node *a, const struct pl_json_node *b)
{
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

static int change_order(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    const struct pl_json_change *x = a, *y = b;
    int order = node_order(x->parent, y->parent);
    order = order ? order : node_order(x->at, y->at);
    return order ? order : (int)x->kind - (int)y->kind;
}

/* At one place, inserts come before replacements. */
static int splice_order(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    const struct pl_json_splice *x = a, *y = b;
    int order = (x->off > y->off) - (x->off < y->off);
    return order ? order : (x->end > x->off) - (y->end > y->off);
}

/* Turns changes into splices: set values directly, the others container by container. */
static enum pl_status make_splices(const struct pl_json_edit *edit, struct pl_json_splices *splices)
{
    size_t n = edit->changes.len, n_laid_out = 0;
    PL_CLEANUP_FREE const void **order = pl_mem_alloc(n ? 2 * n : 1, sizeof *order);
    if (!order)
        return PL_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct pl_json_change *change = &edit->changes.ptr[i];
        if (change->kind == PL_JSON_CHANGE_SET)
            pl_json_splice_add(splices, change->at->off, change->at->off + change->at->len,
                               change->value);
        else
            order[n_laid_out++] = change;
    }
    pl_sort(order, order + n, n_laid_out, change_order, NULL);
    const struct pl_json_change *const *changes = (const struct pl_json_change *const *)order;
    enum pl_status status = PL_OK;
    for (size_t from = 0, to = 0; from < n_laid_out && status == PL_OK; from = to) {
        while (to < n_laid_out && changes[to]->parent == changes[from]->parent)
            to++;
        status = pl_json_layout(splices, edit->doc, changes + from, to - from);
    }
    return status == PL_OK && splices->is_out_of_memory ? PL_NOMEM : status;
}

static enum pl_status write_splices(const struct pl_json_edit *edit,
                                    const struct pl_json_splices *splices, struct pl_buf *to)
{
    size_t n = splices->list.len;
    struct pl_str text = edit->doc->text;
    PL_CLEANUP_FREE const void **order = pl_mem_alloc(n ? 2 * n : 1, sizeof *order);
    if (!order)
        return PL_NOMEM;
    for (size_t i = 0; i < n; i++)
        order[i] = &splices->list.ptr[i];
    pl_sort(order, order + n, n, splice_order, NULL);
    uint32_t done = 0;
    for (size_t i = 0; i < n; i++) {
        const struct pl_json_splice *splice = order[i];
        if (splice->off < done)
            return PL_CONFLICT;
        done = splice->end;
    }
    done = 0;
    for (size_t i = 0; i < n; i++) {
        const struct pl_json_splice *splice = order[i];
        pl_buf_add(to, pl_str_slice(text, done, splice->off));
        pl_buf_add(to, splice->text);
        done = splice->end;
    }
    pl_buf_add(to, pl_str_slice(text, done, text.len));
    return to->status;
}

enum pl_status pl_json_edit_write(struct pl_json_edit *edit, struct pl_buf *to)
{
    if (to->status != PL_OK)
        return to->status;
    struct pl_json_splices splices = {0};
    enum pl_status status = make_splices(edit, &splices);
    if (status == PL_OK)
        status = write_splices(edit, &splices, to);
    pl_vec_deinit(&splices.list);
    if (status == PL_NOMEM)
        to->status = PL_NOMEM;
    return status;
}

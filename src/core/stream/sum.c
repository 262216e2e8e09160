/* Adds events to the answer. Each dialect has a function for its events; this file has the common
 * code: parsing, copying members, and strays. */
#include "stream/sum.h"

#include "base/mem.h"
#include "base/text/utf8.h"

#include <stdarg.h>
#include <stdio.h>

enum pl_status pl_sum_init(struct pl_sum *sum, const struct pl_dialect *dialect)
{
    *sum = (struct pl_sum){.dialect = dialect};
    pl_arena_init(&sum->trees.arena, 0);
    pl_arena_init(&sum->event, 0);
    sum->state = pl_mem_alloc(1, dialect->sum_size ? dialect->sum_size : 1);
    sum->answer = pl_tree_new(&sum->trees, PL_TREE_OBJECT);
    if (!sum->state || !sum->answer) {
        pl_mem_free(sum->state);
        sum->state = NULL;
        return PL_NOMEM;
    }
    memset(sum->state, 0, dialect->sum_size);
    return PL_OK;
}

void pl_sum_deinit(struct pl_sum *sum)
{
    if (sum->state && sum->dialect->sum_deinit)
        sum->dialect->sum_deinit(sum->state);
    pl_mem_free(sum->state);
    pl_arena_deinit(&sum->trees.arena);
    pl_arena_deinit(&sum->event);
    pl_vec_deinit(&sum->strays);
}

/* Limit of strays by place; beyond it the report only says that there are more. */
enum { MAX_STRAYS = 256 };

/* The start of a text, in whole characters. */
static struct pl_str head_of(struct pl_str text, size_t n_most)
{
    struct pl_str head = pl_str_slice(text, 0, text.len < n_most ? text.len : n_most);
    return pl_str_slice(head, 0, pl_utf8_valid_prefix(head));
}

void pl_sum_stray(struct pl_sum *sum, enum pl_loss_code code, const char *detail, struct pl_str of,
                  const char *pointer, ...)
{
    char where[256] = "", what[256];
    va_list args;
    va_start(args, pointer);
    if (sum->strays.len < MAX_STRAYS - 1)
        vsnprintf(where, sizeof where, pointer, args);
    else
        detail = "there is more that an answer has no place for", of.len = 0;
    va_end(args);
    of = head_of(of, 80);
    snprintf(what, sizeof what, "%s%s%.*s", detail, of.len ? " " : "", (int)of.len,
             of.len ? of.ptr : "");
    struct pl_str place = head_of(pl_str_of(where), sizeof where);
    for (size_t i = sum->strays.len; i-- > 0;)
        if (pl_str_eq(sum->strays.ptr[i].pointer, place) &&
            pl_str_eq(sum->strays.ptr[i].detail, pl_str_of(what)))
            return;
    struct pl_stray stray = {code, pl_arena_dup(&sum->trees.arena, place),
                             pl_arena_dup(&sum->trees.arena, pl_str_of(what))};
    if (!stray.detail.ptr || !pl_vec_push(&sum->strays, stray))
        sum->trees.status = PL_NOMEM;
}

void pl_sum_refuse(struct pl_sum *sum, const struct pl_tree *at, struct pl_str key)
{
    char where[200];
    struct pl_buf pointer = {.ptr = where, .cap = sizeof where - 1, .max = sizeof where - 1};
    pl_tree_point(&pointer, at, key);
    pl_sum_stray(sum, PL_LOSS_DROPPED, "an event has a value of another type", (struct pl_str){0},
                 "%.*s", pointer.status == PL_OK ? (int)pointer.len : 0, where);
}

bool pl_sum_fits(struct pl_sum *sum, const struct pl_sum_kind *table, size_t n,
                 const struct pl_tree *at, struct pl_str key, const struct pl_json_node *value)
{
    for (size_t i = 0; i < n; i++)
        if (pl_str_eq(key, table[i].key)) {
            bool fits = (table[i].kinds | 1 << PL_JSON_NULL) >> pl_json_kind(value) & 1;
            if (!fits)
                pl_sum_refuse(sum, at, key);
            return fits;
        }
    return true;
}

/* Whether a value may take the place of the one before. */
static bool replaces(const struct pl_tree *old, const struct pl_json_node *value)
{
    static const enum pl_tree_kind kinds[] = {[PL_JSON_STRING] = PL_TREE_TEXT,
                                              [PL_JSON_ARRAY] = PL_TREE_ARRAY,
                                              [PL_JSON_OBJECT] = PL_TREE_OBJECT};
    bool is_nothing = !old || pl_tree_is_null(old) || (old->kind == PL_TREE_TEXT && !old->first);
    enum pl_json_kind kind = pl_json_kind(value);
    return is_nothing || old->kind == (kind >= PL_JSON_STRING ? kinds[kind] : PL_TREE_LITERAL);
}

static void replace(struct pl_sum *sum, struct pl_tree *object, struct pl_str key,
                    const struct pl_json_doc *doc, const struct pl_json_node *value)
{
    struct pl_tree *old = pl_tree_get(object, key);
    if (pl_json_kind(value) == PL_JSON_NULL && old)
        return;
    if (replaces(old, value))
        pl_tree_set(&sum->trees, object, key, pl_tree_copy(&sum->trees, doc, value));
    else
        pl_sum_refuse(sum, object, key);
}

void pl_sum_keep(struct pl_sum *sum, struct pl_tree *object, struct pl_str key,
                 const struct pl_json_doc *doc, const struct pl_json_node *value)
{
    struct pl_tree *old = pl_tree_get_kind(object, key, PL_TREE_OBJECT);
    if (!old || pl_json_kind(value) != PL_JSON_OBJECT) {
        replace(sum, object, key, doc, value);
        return;
    }
    for (const struct pl_json_node *k = pl_json_first_member(value); k < pl_json_end(value);
         k = pl_json_next_member(k))
        replace(sum, old, pl_json_raw(doc, k), doc, k + 1);
}

/* ---- events ---- */

static void take_object(struct pl_sum *sum, const struct pl_json_doc *doc)
{
    if (sum->is_over)
        sum->n_after++;
    else if (pl_json_kind(doc->root) == PL_JSON_OBJECT)
        sum->dialect->sum(sum, doc);
    else
        pl_sum_stray(sum, PL_LOSS_DROPPED, "an event is not a JSON object", (struct pl_str){0},
                     "%s", "");
}

static enum pl_status take_json(struct pl_sum *sum, struct pl_str data)
{
    struct pl_json_opts opts = {.allows_duplicate_keys = true, .allows_lone_surrogates = true};
    struct pl_json_doc doc;
    pl_arena_reset(&sum->event);
    enum pl_status status = pl_json_parse(&sum->event, data, &opts, &doc, NULL);
    if (status == PL_NOMEM)
        return PL_NOMEM;
    if (status != PL_OK)
        return PL_SYNTAX;
    if (sum->dialect->reads_json_framing && pl_json_is(doc.root, PL_JSON_ARRAY))
        return PL_SYNTAX; /* of objects: take_objects reads them */
    take_object(sum, &doc);
    return sum->trees.status;
}

/* Takes consecutive objects, or the elements of an array. */
static enum pl_status take_objects(struct pl_sum *sum, struct pl_str bytes)
{
    struct pl_json_frames frames;
    struct pl_str object;
    enum pl_status status;
    pl_json_frames_init(&frames, 0);
    pl_json_frames_feed(&frames, bytes);
    while ((status = pl_json_frames_next(&frames, &object)) == PL_OK)
        if ((status = take_json(sum, object)) != PL_OK)
            break;
    pl_json_frames_deinit(&frames);
    return status == PL_NOT_FOUND ? PL_OK : status;
}

static enum pl_status take_event(struct pl_sum *sum, const struct pl_sse_event *event)
{
    if (!event->data.len)
        return PL_OK;
    if (pl_sse_is_done(event)) {
        sum->is_over |= sum->dialect == &pl_dialect_openai_chat;
        return PL_OK;
    }
    sum->type = event->type;
    enum pl_status status = take_json(sum, event->data);
    if (status == PL_SYNTAX && sum->dialect->reads_json_framing)
        status = take_objects(sum, event->data);
    if (status != PL_SYNTAX)
        return status;
    pl_sum_stray(sum, PL_LOSS_DROPPED, "an event is not JSON", event->type, "%s", "");
    return PL_OK;
}

static enum pl_status take_events(struct pl_sum *sum, struct pl_str bytes)
{
    struct pl_sse sse;
    struct pl_sse_event event;
    enum pl_status status;
    pl_sse_init(&sse, 0);
    pl_sse_feed(&sse, bytes);
    while ((status = pl_sse_next(&sse, &event)) == PL_OK)
        if ((status = take_event(sum, &event)) != PL_OK)
            break;
    if (status == PL_NOT_FOUND && (status = pl_sse_finish(&sse, &event)) == PL_OK)
        status = take_event(sum, &event);
    pl_sse_deinit(&sse);
    return status == PL_NOT_FOUND ? PL_OK : status;
}

static bool is_json_framed(const struct pl_sum *sum, struct pl_str bytes)
{
    size_t i = 0;
    while (i < bytes.len && memchr(" \n\r\t", bytes.ptr[i], 4))
        i++;
    return sum->dialect->reads_json_framing && i < bytes.len &&
           (bytes.ptr[i] == '{' || bytes.ptr[i] == '[');
}

enum pl_status pl_sum_add(struct pl_sum *sum, struct pl_str stream, struct pl_error *err)
{
    enum pl_status status =
        is_json_framed(sum, stream) ? take_objects(sum, stream) : take_events(sum, stream);
    if (status == PL_SYNTAX)
        status = PL_OK;
    if (status == PL_OK && sum->dialect->sum_end)
        sum->dialect->sum_end(sum);
    if (status == PL_OK && sum->n_after)
        pl_sum_stray(sum, PL_LOSS_DROPPED, "there are events after the end of the answer",
                     (struct pl_str){0}, "%s", "");
    if (status == PL_OK)
        status = sum->trees.status;
    if (status == PL_LIMIT)
        return pl_fail(err, PL_LIMIT, "the answer has too many members to be assembled");
    return status;
}

void pl_sum_write(const struct pl_sum *sum, struct pl_buf *to)
{
    pl_tree_write(sum->answer, to);
}

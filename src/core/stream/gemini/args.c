/* partialArgs: the arguments of a call, one path at a time ("$.city", "$.days[0].date", "$['first
 * name']"). A string may come in several pieces. Array elements are kept in order of arrival; their
 * indexes only tell which pieces belong together. */
#include "stream/gemini/gemini_int.h"

#include "base/ascii.h"
#include "json/text.h"

enum arg_kind { ARG_NONE, ARG_OBJECT, ARG_ARRAY, ARG_STRING, ARG_LITERAL };

/* The same depth as the limit for JSON input. */
enum { MAX_DEPTH = 64 };

struct piece {
    struct piece *next;
    struct pl_str raw; /* arena */
};

struct pl_gemini_arg {
    struct pl_gemini_arg *parent, *next, *first, *last; /* arena */
    uint32_t number;
    enum arg_kind kind;
    struct pl_str key; /* arena; decoded; of a member */
    struct piece *pieces, *last_piece;
};

void pl_gemini_args_init(struct pl_gemini_args *args)
{
    *args = (struct pl_gemini_args){0};
    pl_arena_init(&args->arena, 0);
}

void pl_gemini_args_deinit(struct pl_gemini_args *args)
{
    pl_arena_deinit(&args->arena);
    pl_map_deinit(&args->children);
    *args = (struct pl_gemini_args){0};
}

/* ---- paths ---- */

struct step {
    bool is_index;
    struct pl_str name;
};

/* Takes the bracketed step at the start of *path: [0], ['name'] or ["name"]. */
static bool take_bracket(struct pl_str *path, struct step *ret_step)
{
    struct pl_str p = *path;
    char quote = p.len > 1 && (p.ptr[1] == '\'' || p.ptr[1] == '"') ? p.ptr[1] : '\0';
    size_t from = quote ? 2 : 1, to = from;
    while (to < p.len && (quote ? p.ptr[to] != quote : pl_ascii_is_digit(p.ptr[to])))
        to++;
    size_t end = to + (quote ? 1 : 0);
    if (end >= p.len || p.ptr[end] != ']' || (!quote && to == from))
        return false;
    *ret_step = (struct step){.is_index = !quote, .name = pl_str_slice(p, from, to)};
    *path = pl_str_slice(p, end + 1, p.len);
    return true;
}

static bool take_step(struct pl_str *path, struct step *ret_step)
{
    if (path->ptr[0] == '[')
        return take_bracket(path, ret_step);
    if (path->ptr[0] != '.')
        return false;
    size_t to = 1;
    while (to < path->len && path->ptr[to] != '.' && path->ptr[to] != '[')
        to++;
    *ret_step = (struct step){.name = pl_str_slice(*path, 1, to)};
    *path = pl_str_slice(*path, to, path->len);
    return to > 1;
}

/* ---- the tree ---- */

static struct pl_gemini_arg *make(struct pl_gemini_args *args, struct pl_gemini_arg *parent)
{
    struct pl_gemini_arg *arg = pl_arena_zalloc(&args->arena, 1, sizeof *arg);
    if (!arg)
        return NULL;
    arg->number = args->n_nodes++;
    arg->parent = parent;
    return arg;
}

static void append(struct pl_gemini_arg *parent, struct pl_gemini_arg *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
}

/* Finds or makes the child that a step leads to; NULL if out of memory. */
static struct pl_gemini_arg *step_to(struct pl_gemini_args *args, struct pl_gemini_arg *parent,
                                     const struct step *step)
{
    size_t n_bytes = sizeof parent->number + 1 + step->name.len;
    char *key = pl_arena_alloc(&args->arena, n_bytes, 1);
    bool is_new;
    if (!key)
        return NULL;
    memcpy(key, &parent->number, sizeof parent->number);
    key[sizeof parent->number] = step->is_index ? '[' : '.';
    memcpy(key + sizeof parent->number + 1, step->name.ptr, step->name.len);
    struct pl_str name = {key + sizeof parent->number + 1, step->name.len};
    struct pl_map_entry *entry =
        pl_map_put(&args->children, (struct pl_str){key, n_bytes}, &is_new);
    if (!entry)
        return NULL;
    if (!is_new) {
        pl_arena_shrink(&args->arena, key, n_bytes, 0);
        return (struct pl_gemini_arg *)(uintptr_t)entry->value;
    }
    struct pl_gemini_arg *child = make(args, parent);
    entry->value = (uintptr_t)child;
    if (!child)
        return NULL;
    child->key = name;
    append(parent, child);
    return child;
}

static enum pl_status find(struct pl_gemini_args *args, struct pl_str path,
                           struct pl_gemini_arg **ret_arg, struct pl_error *err)
{
    struct pl_str rest = pl_str_slice(path, 1, path.len);
    if (!args->root && !(args->root = make(args, NULL)))
        return PL_NOMEM;
    struct pl_gemini_arg *at = args->root;
    size_t depth = 0;
    struct step step;
    if (!path.len || path.ptr[0] != '$' || !rest.len)
        return pl_fail(err, PL_INVALID, "a jsonPath must name an argument, like \"$.city\"");
    while (rest.len) {
        if (!take_step(&rest, &step) || ++depth > MAX_DEPTH)
            return pl_fail(
                err, PL_INVALID,
                "the jsonPath \"%.*s\" is not a list of names and indexes at most %d deep",
                path.len > 200 ? 200 : (int)path.len, path.ptr, MAX_DEPTH);
        at->kind = step.is_index ? ARG_ARRAY : ARG_OBJECT;
        at = step_to(args, at, &step);
        if (!at)
            return PL_NOMEM;
    }
    *ret_arg = at;
    return PL_OK;
}

static enum pl_status put(struct pl_gemini_args *args, struct pl_gemini_arg *arg,
                          enum arg_kind kind, struct pl_str raw)
{
    struct piece *piece = pl_arena_zalloc(&args->arena, 1, sizeof *piece);
    if (!piece)
        return PL_NOMEM;
    piece->raw = pl_arena_dup(&args->arena, raw);
    if (raw.len && !piece->raw.ptr)
        return PL_NOMEM;
    bool continues = kind == ARG_STRING && arg->kind == ARG_STRING && arg->last_piece;
    arg->kind = kind;
    if (continues)
        arg->last_piece->next = piece;
    else
        arg->pieces = piece;
    arg->last_piece = piece;
    return PL_OK;
}

static const struct {
    const char *key;
    enum pl_json_kind min, max; /* kinds of value it accepts */
    const char *says;           /* what is written for it; NULL: the value's own JSON */
} values[] = {
    {"stringValue", PL_JSON_STRING, PL_JSON_STRING, NULL},
    {"numberValue", PL_JSON_NUMBER, PL_JSON_NUMBER, NULL},
    {"boolValue", PL_JSON_FALSE, PL_JSON_TRUE, NULL},
    {"nullValue", PL_JSON_NULL, PL_JSON_STRING, "null"},
};

enum pl_status pl_gemini_args_add(struct pl_gemini_args *args, const struct pl_json_doc *doc,
                                  const struct pl_json_node *partial, struct pl_error *err)
{
    const struct pl_json_node *path = pl_json_get(doc, partial, PL_STR("jsonPath"));
    struct pl_gemini_arg *arg;
    struct pl_str text;
    if (!path || pl_json_kind(path) != PL_JSON_STRING)
        return PL_OK;
    enum pl_status status = pl_json_text(&args->arena, doc, path, &text);
    if (status == PL_OK)
        status = find(args, text, &arg, err);
    for (size_t i = 0; i < sizeof values / sizeof *values && status == PL_OK; i++) {
        const struct pl_json_node *value = pl_json_get(doc, partial, pl_str_of(values[i].key));
        if (!value || pl_json_kind(value) < values[i].min || pl_json_kind(value) > values[i].max)
            continue;
        if (values[i].min == PL_JSON_STRING)
            return put(args, arg, ARG_STRING, pl_json_raw(doc, value));
        return put(args, arg, ARG_LITERAL,
                   values[i].says ? pl_str_of(values[i].says) : pl_json_span(doc, value));
    }
    return status;
}

/* ---- writing ---- */

static void write_scalar(const struct pl_gemini_arg *arg, struct pl_buf *to)
{
    if (arg->kind == ARG_NONE)
        pl_buf_adds(to, "null");
    if (arg->kind == ARG_STRING)
        pl_buf_addc(to, '"');
    for (const struct piece *piece = arg->pieces; piece; piece = piece->next)
        pl_buf_add(to, piece->raw);
    if (arg->kind == ARG_STRING)
        pl_buf_addc(to, '"');
}

static bool is_container(const struct pl_gemini_arg *arg)
{
    return arg->kind == ARG_OBJECT || arg->kind == ARG_ARRAY;
}

void pl_gemini_args_write(const struct pl_gemini_args *args, struct pl_buf *to)
{
    const struct pl_gemini_arg *at = args->root;
    if (!at || !at->first) {
        pl_buf_adds(to, "{}");
        return;
    }
    /* Go down into containers, and up again after the last child. */
    while (at) {
        if (at->parent && at->parent->kind == ARG_OBJECT) {
            pl_json_quote(to, at->key);
            pl_buf_addc(to, ':');
        }
        if (is_container(at)) {
            pl_buf_addc(to, at->kind == ARG_OBJECT ? '{' : '[');
            at = at->first;
            continue;
        }
        write_scalar(at, to);
        while (at && !at->next) {
            at = at->parent;
            if (at)
                pl_buf_addc(to, at->kind == ARG_OBJECT ? '}' : ']');
        }
        if (at) {
            pl_buf_addc(to, ',');
            at = at->next;
        }
    }
}

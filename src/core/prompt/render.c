/* Copies the source and replaces each spot. Offsets refer to the escaped text, so values are
 * escaped when inserted. */
#include "prompt/render_int.h"

#include "base/text/utf8.h"
#include "json/parse/lenient.h"
#include "json/pointer.h"
#include "json/text.h"

void pl_rendered_init(struct pl_rendered *rendered)
{
    pl_buf_init(&rendered->out, 0);
    pl_buf_init(&rendered->problems, 0);
    pl_buf_init(&rendered->notes, 0);
}

void pl_rendered_deinit(struct pl_rendered *rendered)
{
    pl_buf_deinit(&rendered->out);
    pl_buf_deinit(&rendered->problems);
    pl_buf_deinit(&rendered->notes);
}

/* Texts. */

/* A spot in a text: a variable, or a backslash to remove. */
struct spot {
    size_t from, to; /* in the decoded text */
    bool is_escape;
    struct pl_str name, preset; /* of a variable */
    bool has_preset;
};

static struct pl_str trim(struct pl_str s)
{
    while (s.len && strchr(" \t\r\n", s.ptr[0]) && s.ptr[0])
        s = pl_str_slice(s, 1, s.len);
    while (s.len && strchr(" \t\r\n", s.ptr[s.len - 1]) && s.ptr[s.len - 1])
        s.len--;
    return s;
}

/* Reads {{…}} at `at`; false if it is plain text. */
static bool read_spot(struct pl_render_run *r, struct pl_str text, size_t at, struct spot *ret_spot)
{
    size_t end = at + 2;
    for (; end + 1 < text.len; end++) {
        if (text.ptr[end] == '}' && text.ptr[end + 1] == '}')
            break;
        if (text.ptr[end] == '{' && text.ptr[end + 1] == '{')
            return false;
    }
    if (end + 1 >= text.len)
        return false;
    struct pl_str inner = pl_str_slice(text, at + 2, end);
    const char *colon = inner.len ? memchr(inner.ptr, ':', inner.len) : NULL;
    size_t n_name = colon ? (size_t)(colon - inner.ptr) : inner.len;
    struct spot spot = {.from = at, .to = end + 2, .name = trim(pl_str_slice(inner, 0, n_name))};
    if (colon) {
        spot.has_preset = true;
        spot.preset = trim(pl_str_slice(inner, n_name + 1, inner.len));
    }
    if (!pl_render_is_name(r, spot.name))
        return false;
    *ret_spot = spot;
    return true;
}

/* The next spot at or after `at`; false if there is none. The end of each {{ is searched only up to
 * the next {{, so a text is scanned once. */
static bool next_spot(struct pl_render_run *r, struct pl_str text, size_t at, struct spot *ret_spot)
{
    while (at + 1 < text.len) {
        const char *brace = memchr(text.ptr + at, '{', text.len - at - 1);
        if (!brace)
            return false;
        at = (size_t)(brace - text.ptr);
        if (text.ptr[at + 1] == '{') {
            if (at > 0 && text.ptr[at - 1] == '\\') {
                *ret_spot = (struct spot){.from = at - 1, .to = at + 2, .is_escape = true};
                return true;
            }
            if (read_spot(r, text, at, ret_spot))
                return true;
        }
        at++;
    }
    return false;
}

/* Moves the walk to an offset in the decoded text and returns its address in the source. Spots
 * begin and end at ASCII, never inside an escape. */
static const char *walk_to(struct pl_json_walk *walk, size_t *at, size_t place)
{
    while (*at < place && pl_json_walk_next(walk) >= 0)
        ++*at;
    return walk->at;
}

/* The string between quotes, escaped. */
static void add_escaped(struct pl_render_run *r, struct pl_str text)
{
    pl_buf_clear(&r->scratch);
    pl_json_quote(&r->scratch, text);
    pl_render_note(r, r->scratch.status);
    if (r->scratch.len >= 2)
        pl_buf_add(&r->raw, pl_str_slice(pl_buf_str(&r->scratch), 1, r->scratch.len - 1));
}

static size_t max_bytes(const struct pl_render_run *r)
{
    return r->opts->max_bytes ? r->opts->max_bytes : PL_RENDER_MAX_BYTES;
}

/* Subtracts n_bytes from the limit; false if less is left. */
static bool take_room(struct pl_render_run *r, struct pl_str name, const struct pl_json_node *node,
                      size_t n_bytes)
{
    if (n_bytes <= r->n_left) {
        r->n_left -= n_bytes;
        return true;
    }
    r->too_much.name = name;
    r->too_much.at = node;
    pl_render_note(r, PL_LIMIT);
    return false;
}

/* The places of the values in a rendered text. */
struct places {
    size_t n_points; /* in the text written so far */
    size_t n_variables;
};

/* Counts plain text up to the next spot. */
static void pass_words(struct places *places, struct pl_str words)
{
    places->n_points += pl_utf8_count(words);
}

static void pass_value(struct pl_render_run *r, struct places *places,
                       const struct pl_json_node *node, const struct spot *spot,
                       struct pl_str value)
{
    size_t from = places->n_points;
    places->n_points += pl_utf8_count(value);
    if (spot->is_escape || !r->opts->keeps_places)
        return;
    struct pl_buf *to = &r->filled;
    if (!places->n_variables++) {
        pl_buf_adds(to, to->len ? ",{\"at\":\"" : "{\"at\":\"");
        pl_json_pointer_of(to, &r->doc, node);
        pl_buf_adds(to, "\",\"variables\":[");
    } else {
        pl_buf_addc(to, ',');
    }
    pl_buf_adds(to, "{\"name\":");
    pl_json_quote(to, spot->name);
    pl_buf_addf(to, ",\"from\":%zu,\"to\":%zu}", from, places->n_points);
}

static void render_text(struct pl_render_run *r, const struct pl_json_node *node)
{
    struct pl_str text = pl_render_text_of(r, node);
    struct places places = {0};
    size_t passed = 0;
    struct pl_json_walk walk = pl_json_walk(&r->doc, node);
    const char *copied = walk.at, *end = walk.end;
    size_t at = 0;
    struct spot spot = {0};
    pl_buf_clear(&r->raw);
    pl_buf_addc(&r->raw, '"');
    bool is_changed = false;
    while (r->status == PL_OK && next_spot(r, text, spot.to, &spot)) {
        struct pl_str value = PL_STR("{{");
        const struct pl_str *preset = spot.has_preset ? &spot.preset : NULL;
        if (!spot.is_escape && !pl_render_value(r, spot.name, preset, node, &value))
            continue;
        const char *from = walk_to(&walk, &at, spot.from);
        pl_buf_add(&r->raw, (struct pl_str){copied, (size_t)(from - copied)});
        if (!take_room(r, spot.name, node, value.len))
            return;
        size_t n_before = r->raw.len;
        add_escaped(r, value);
        size_t n_added = r->raw.len - n_before;
        if (n_added > value.len && !take_room(r, spot.name, node, n_added - value.len))
            return;
        copied = walk_to(&walk, &at, spot.to);
        is_changed = true;
        pass_words(&places, pl_str_slice(text, passed, spot.from));
        pass_value(r, &places, node, &spot, value);
        passed = spot.to;
    }
    if (places.n_variables)
        pl_buf_adds(&r->filled, "]}");
    pl_render_note(r, r->filled.status);
    pl_buf_add(&r->raw, (struct pl_str){copied, (size_t)(end - copied)});
    pl_buf_addc(&r->raw, '"');
    pl_render_note(r, r->raw.status);
    if (is_changed && r->status == PL_OK)
        pl_render_note(r, pl_json_edit_set_node(&r->edit, node, pl_buf_str(&r->raw), NULL));
}

/* The content of a message is a string; a list of parts, as in other formats, is read too. */
static void render_message(struct pl_render_run *r, const struct pl_json_node *message)
{
    const struct pl_json_node *role = pl_json_member(&r->doc, message, "role", PL_JSON_STRING);
    if (role && pl_json_text_is(&r->doc, role, PL_STR("tool")))
        return;
    const struct pl_json_node *content = pl_json_get(&r->doc, message, PL_STR("content"));
    if (content && pl_json_kind(content) == PL_JSON_STRING)
        render_text(r, content);
    if (!content || pl_json_kind(content) != PL_JSON_ARRAY)
        return;
    for (const struct pl_json_node *part = pl_json_first(content);
         part < pl_json_end(content) && r->status == PL_OK; part = pl_json_next(part)) {
        const struct pl_json_node *text = pl_json_member(&r->doc, part, "text", PL_JSON_STRING);
        if (text)
            render_text(r, text);
    }
}

static const struct pl_json_node *messages_of(const struct pl_json_doc *doc)
{
    return pl_json_member(doc, doc->root, "messages", PL_JSON_ARRAY);
}

static const struct pl_json_node *system_of(const struct pl_json_doc *doc)
{
    return pl_json_member(doc, doc->root, "system_prompt", PL_JSON_STRING);
}

static void render_all(struct pl_render_run *r)
{
    const struct pl_json_node *prompt = system_of(&r->doc), *messages = messages_of(&r->doc);
    if (prompt)
        render_text(r, prompt);
    if (!messages)
        return;
    for (const struct pl_json_node *n = pl_json_first(messages);
         n < pl_json_end(messages) && r->status == PL_OK; n = pl_json_next(n))
        render_message(r, n);
}

enum pl_status pl_render_parse(struct pl_arena *arena, struct pl_str text,
                               struct pl_json_doc *ret_doc, struct pl_error *err)
{
    struct pl_json_opts opts = {.allows_duplicate_keys = true, .allows_lone_surrogates = true};
    struct pl_json_doc doc = {0};
    enum pl_status status = pl_json_parse(arena, text, &opts, &doc, err);
    struct pl_json_notes notes;
    struct pl_error ignored;
    if (status == PL_SYNTAX &&
        pl_json_parse_lenient(arena, text, &opts, &doc, &notes, &ignored) == PL_OK)
        status = PL_OK;
    if (status != PL_OK)
        return status;
    if (!messages_of(&doc) && !system_of(&doc))
        return pl_fail(err, PL_INVALID,
                       "not a structured chat: there must be an object with \"system_prompt\" or "
                       "\"messages\"");
    *ret_doc = doc;
    return PL_OK;
}

enum pl_status pl_render_search(struct pl_render_run *r, struct pl_str text, struct pl_error *err)
{
    enum pl_status status = pl_render_parse(&r->arena, text, &r->doc, err);
    if (status != PL_OK)
        return status;
    r->doc.text = text;
    r->n_left = max_bytes(r) > text.len ? max_bytes(r) - text.len : 0;
    pl_render_declare(r);
    render_all(r);
    return r->status;
}

/* The error names the variable, its place and a remedy. */
static enum pl_status fail_too_much(struct pl_render_run *r, struct pl_error *err)
{
    enum { SHOWN = 80 };
    struct pl_str name = r->too_much.name;
    PL_CLEANUP_BUF struct pl_buf pointer;
    pl_buf_init(&pointer, 0);
    pl_json_pointer_of(&pointer, &r->doc, r->too_much.at);
    pl_buf_addc(&pointer, '\0');
    if (pointer.status != PL_OK)
        return pointer.status;
    return pl_fail(
        err, PL_LIMIT,
        "with its variables filled in, this would have more than %zu bytes: there was no room for "
        "\"%.*s\" at %.100s; give it a shorter value, or use it less often",
        max_bytes(r), (int)(name.len < SHOWN ? name.len : SHOWN), name.ptr, pointer.ptr);
}

static enum pl_status add_filled(struct pl_render_run *r, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf list;
    pl_buf_init(&list, 0);
    pl_buf_addc(&list, '[');
    pl_buf_add(&list, pl_buf_str(&r->filled));
    pl_buf_addc(&list, ']');
    if (r->filled.status != PL_OK || list.status != PL_OK)
        return PL_NOMEM;
    return pl_json_edit_set(&r->edit, PL_STR("/filled"), pl_buf_str(&list), err);
}

static enum pl_status render(struct pl_render_run *r, struct pl_str text, struct pl_error *err)
{
    enum pl_status status = pl_render_search(r, text, err);
    if (status == PL_LIMIT && r->too_much.at)
        return fail_too_much(r, err);
    if (status != PL_OK)
        return status;
    pl_render_review(r);
    if (r->status == PL_OK && r->made->problems.len)
        r->status = pl_fail(err, PL_INVALID, "the variables are incomplete or invalid");
    if (r->status == PL_OK && r->filled.len)
        r->status = add_filled(r, err);
    if (r->status == PL_OK)
        r->status = pl_json_edit_write(&r->edit, &r->made->out);
    return r->status;
}

void pl_render_begin(struct pl_render_run *r, const struct pl_render_opts *opts,
                     struct pl_rendered *made)
{
    *r = (struct pl_render_run){.opts = opts, .made = made};
    pl_arena_init(&r->arena, 0);
    pl_json_edit_init(&r->edit, &r->arena, &r->doc);
    pl_buf_init(&r->raw, 0);
    pl_buf_init(&r->scratch, 0);
    pl_buf_init(&r->filled, 0);
}

void pl_render_end(struct pl_render_run *r)
{
    pl_json_edit_deinit(&r->edit);
    pl_regex_scratch_destroy(r->name_scratch);
    pl_regex_destroy(r->name_regex);
    pl_vec_deinit(&r->variables);
    pl_map_deinit(&r->names);
    pl_map_deinit(&r->options);
    pl_buf_deinit(&r->raw);
    pl_buf_deinit(&r->scratch);
    pl_buf_deinit(&r->filled);
    pl_arena_deinit(&r->arena);
}

enum pl_status pl_render(struct pl_str text, const struct pl_render_opts *opts,
                         struct pl_rendered *ret, struct pl_error *err)
{
    struct pl_render_run r;
    pl_render_begin(&r, opts, ret);
    enum pl_status status = render(&r, text, err);
    if (err && status != PL_OK && !err->message[0])
        status = pl_fail(err, status, "%s", pl_status_info(status)->text);
    pl_render_end(&r);
    return status;
}

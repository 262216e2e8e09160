#include "conv/render.h"

#include "base/map.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "json/edit.h"
#include "json/lenient.h"
#include "json/pointer.h"
#include "json/text.h"
#include "schema/regex.h"

struct variable {
    struct pl_str name;
    struct pl_str value;                   /* given, or declared as default */
    const struct pl_json_node *declared;   /* in variables[]; NULL: nowhere */
    const struct pl_json_node *missing_at; /* the first text that needs a value it has not got */
    bool has_value, is_given, is_used;
};

struct render {
    const struct pl_render_opts *opts;
    struct pl_rendered *made;
    struct pl_arena arena;
    struct pl_json_doc doc; /* its text is the one that was given, comments and all */
    struct pl_json_edit edit;
    struct pl_map names; /* to an index of variables */
    PL_VEC(struct variable) variables;
    struct pl_regex *name_regex; /* NULL until a name needs it */
    struct pl_regex_scratch *name_scratch;
    struct pl_buf raw, scratch;
    enum pl_status status; /* sticky: PL_NOMEM and the like */
};

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

static void note_status(struct render *r, enum pl_status status)
{
    if (status != PL_OK && r->status == PL_OK)
        r->status = status;
}

/* Names. Most are ASCII; the others are left to Unicode's own classes. Marks belong to letters:
 * without them no word of Hindi or Thai could be written. */

enum name_kind { NAME_NO, NAME_YES, NAME_MAYBE };

static enum name_kind look_at_name(struct pl_str name)
{
    enum name_kind kind = name.len ? NAME_YES : NAME_NO;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i], lower = c | 0x20;
        if (c >= 0x80)
            kind = NAME_MAYBE;
        else if (!(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') && c != '_' &&
                 c != '.' && c != '-')
            return NAME_NO;
    }
    return kind;
}

static enum pl_status prepare_names(struct pl_regex **regex, struct pl_regex_scratch **scratch)
{
    enum pl_status status = PL_OK;
    if (!*regex)
        status = pl_regex_compile(PL_STR("^[\\p{L}\\p{M}\\p{N}_.\\-]+$"), regex, NULL);
    if (status == PL_OK && !*scratch)
        status = pl_regex_scratch_create(scratch);
    return status;
}

static bool is_name(struct render *r, struct pl_str name)
{
    enum name_kind kind = look_at_name(name);
    if (kind != NAME_MAYBE)
        return kind == NAME_YES;
    enum pl_status status = prepare_names(&r->name_regex, &r->name_scratch);
    if (status == PL_OK)
        status = pl_regex_search(r->name_regex, r->name_scratch, name);
    if (status != PL_NOT_FOUND)
        note_status(r, status);
    return status == PL_OK;
}

enum pl_status pl_render_check_name(struct pl_str name)
{
    enum name_kind kind = pl_utf8_is_valid(name) ? look_at_name(name) : NAME_NO;
    if (kind != NAME_MAYBE)
        return kind == NAME_YES ? PL_OK : PL_INVALID;
    struct pl_regex *regex = NULL;
    struct pl_regex_scratch *scratch = NULL;
    enum pl_status status = prepare_names(&regex, &scratch);
    if (status == PL_OK)
        status = pl_regex_search(regex, scratch, name);
    pl_regex_scratch_destroy(scratch);
    pl_regex_destroy(regex);
    return status == PL_NOT_FOUND ? PL_INVALID : status;
}

/* The variable of a name, made when it is new; NULL when out of memory. */
static struct variable *find(struct render *r, struct pl_str name)
{
    bool is_new;
    struct pl_map_entry *entry = pl_map_put(&r->names, name, &is_new);
    if (entry && is_new) {
        entry->value = r->variables.len;
        if (!pl_vec_push(&r->variables, (struct variable){.name = name}))
            entry = NULL;
    }
    if (!entry) {
        r->status = PL_NOMEM;
        return NULL;
    }
    return &r->variables.ptr[entry->value];
}

static const struct pl_json_node *member(const struct render *r, const struct pl_json_node *object,
                                         const char *key, enum pl_json_kind kind)
{
    const struct pl_json_node *n = pl_json_get(&r->doc, object, pl_str_of(key));
    return n && pl_json_kind(n) == kind ? n : NULL;
}

/* A string decoded, anything else as it is spelled. */
static struct pl_str text_of(struct render *r, const struct pl_json_node *n)
{
    struct pl_str text = pl_json_span(&r->doc, n);
    if (pl_json_kind(n) == PL_JSON_STRING)
        note_status(r, pl_json_text(&r->arena, &r->doc, n, &text));
    return text;
}

static void add_place(struct render *r, const struct pl_json_node *node)
{
    struct pl_buf *to = &r->made->problems;
    pl_buf_adds(to, " (at ");
    pl_json_pointer_of(to, &r->doc, node);
    pl_buf_adds(to, ")\n");
}

/* Declarations. */

static void declare(struct render *r, const struct pl_json_node *entry)
{
    const struct pl_json_node *name = member(r, entry, "name", PL_JSON_STRING);
    if (!name || !is_name(r, text_of(r, name))) {
        pl_buf_adds(&r->made->problems, "a declared variable needs a \"name\" of letters, digits, "
                                        "\"_\", \".\" and \"-\"");
        add_place(r, entry);
        return;
    }
    struct variable *v = find(r, text_of(r, name));
    if (!v)
        return;
    v->declared = entry;
    const struct pl_json_node *preset = pl_json_get(&r->doc, entry, PL_STR("default"));
    if (preset && pl_json_kind(preset) != PL_JSON_NULL) {
        v->value = text_of(r, preset);
        v->has_value = true;
    }
}

static void declare_all(struct render *r)
{
    const struct pl_json_node *list = member(r, r->doc.root, "variables", PL_JSON_ARRAY);
    if (!list)
        return;
    for (const struct pl_json_node *n = pl_json_first(list);
         n < pl_json_end(list) && r->status == PL_OK; n = pl_json_next(n))
        declare(r, n);
}

static void give_all(struct render *r)
{
    for (size_t i = 0; i < r->opts->n_vars && r->status == PL_OK; i++) {
        struct variable *v = find(r, r->opts->vars[i].name);
        if (!v)
            return;
        v->value = r->opts->vars[i].value;
        v->has_value = v->is_given = true;
    }
}

static bool is_number(struct render *r, struct pl_str value)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(&arena, value, NULL, &doc, NULL);
    if (status == PL_NOMEM)
        note_status(r, status);
    return status == PL_OK && pl_json_kind(doc.root) == PL_JSON_NUMBER &&
           doc.root->len == value.len;
}

/* An option is a value, or an object with a "value" and a label. */
static bool is_option(struct render *r, const struct pl_json_node *options, struct pl_str value)
{
    for (const struct pl_json_node *n = pl_json_first(options); n < pl_json_end(options);
         n = pl_json_next(n)) {
        const struct pl_json_node *said =
            pl_json_kind(n) == PL_JSON_OBJECT ? pl_json_get(&r->doc, n, PL_STR("value")) : n;
        if (said && pl_str_eq(text_of(r, said), value))
            return true;
    }
    return false;
}

static void add_options(struct render *r, const struct pl_json_node *options)
{
    struct pl_buf *to = &r->made->problems;
    for (const struct pl_json_node *n = pl_json_first(options); n < pl_json_end(options);
         n = pl_json_next(n)) {
        const struct pl_json_node *said =
            pl_json_kind(n) == PL_JSON_OBJECT ? pl_json_get(&r->doc, n, PL_STR("value")) : n;
        if (n != pl_json_first(options))
            pl_buf_adds(to, ", ");
        if (said)
            pl_buf_add(to, pl_json_span(&r->doc, said));
    }
}

/* Whether a declared variable may have this value. */
static void check_value(struct render *r, const struct variable *v, struct pl_str value)
{
    const struct pl_json_node *type = member(r, v->declared, "type", PL_JSON_STRING);
    const struct pl_json_node *options = member(r, v->declared, "options", PL_JSON_ARRAY);
    const struct pl_json_node *required = member(r, v->declared, "required", PL_JSON_TRUE);
    struct pl_buf *to = &r->made->problems;
    bool is_select = type && pl_json_text_is(&r->doc, type, PL_STR("select"));
    if (required && value.len == 0) {
        pl_buf_addf(to, "the variable \"%.*s\" is required and must not be empty",
                    PL_STR_ARG(v->name));
    } else if (type && pl_json_text_is(&r->doc, type, PL_STR("number")) && !is_number(r, value)) {
        pl_buf_addf(to, "the variable \"%.*s\" must be a number, not \"%.*s\"", PL_STR_ARG(v->name),
                    PL_STR_ARG(value));
    } else if (is_select && options && !is_option(r, options, value)) {
        pl_buf_addf(to, "the variable \"%.*s\" cannot be \"%.*s\"; it is one of ",
                    PL_STR_ARG(v->name), PL_STR_ARG(value));
        add_options(r, options);
    } else {
        return;
    }
    add_place(r, v->declared);
}

/* Texts. */

/* A piece of a text: a variable, or a backslash to be left out. */
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

/* Reads {{…}} at `at`; false when it is none, and then it is just text. */
static bool read_spot(struct render *r, struct pl_str text, size_t at, struct spot *ret_spot)
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
    if (!is_name(r, spot.name))
        return false;
    *ret_spot = spot;
    return true;
}

/* The next spot at or behind `at`; false when there is none. Each {{ is searched for its end only
 * up to the next one, so any text is gone through once. */
static bool next_spot(struct render *r, struct pl_str text, size_t at, struct spot *ret_spot)
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

/* What a variable says here; false when it has no value and stays as it is. */
static bool value_at(struct render *r, const struct spot *spot, const struct pl_json_node *node,
                     struct pl_str *ret_value)
{
    struct variable *v = find(r, spot->name);
    if (!v)
        return false;
    v->is_used = true;
    if (spot->has_preset && !v->is_given) {
        if (v->declared)
            check_value(r, v, spot->preset);
        *ret_value = spot->preset;
        return true;
    }
    if (!v->has_value && !v->missing_at)
        v->missing_at = node;
    *ret_value = v->value;
    return v->has_value;
}

/* Moves the walk to a place in the decoded text and returns where that is in the source. Spots
 * begin and end at ASCII, never within an escape. */
static const char *walk_to(struct pl_json_walk *walk, size_t *at, size_t place)
{
    while (*at < place && pl_json_walk_next(walk) >= 0)
        ++*at;
    return walk->at;
}

/* The string between quotes, escaped. */
static void add_escaped(struct render *r, struct pl_str text)
{
    pl_buf_clear(&r->scratch);
    pl_json_quote(&r->scratch, text);
    note_status(r, r->scratch.status);
    if (r->scratch.len >= 2)
        pl_buf_add(&r->raw, pl_str_slice(pl_buf_str(&r->scratch), 1, r->scratch.len - 1));
}

static void render_text(struct render *r, const struct pl_json_node *node)
{
    struct pl_str text = text_of(r, node);
    struct pl_json_walk walk = pl_json_walk(&r->doc, node);
    const char *copied = walk.at, *end = pl_json_raw(&r->doc, node).ptr + node->len - 2;
    size_t at = 0;
    struct spot spot = {0};
    pl_buf_clear(&r->raw);
    pl_buf_addc(&r->raw, '"');
    bool is_changed = false;
    while (r->status == PL_OK && next_spot(r, text, spot.to, &spot)) {
        struct pl_str value = PL_STR("{{");
        if (!spot.is_escape && !value_at(r, &spot, node, &value))
            continue;
        const char *from = walk_to(&walk, &at, spot.from);
        pl_buf_add(&r->raw, (struct pl_str){copied, (size_t)(from - copied)});
        add_escaped(r, value);
        copied = walk_to(&walk, &at, spot.to);
        is_changed = true;
    }
    pl_buf_add(&r->raw, (struct pl_str){copied, (size_t)(end - copied)});
    pl_buf_addc(&r->raw, '"');
    note_status(r, r->raw.status);
    if (is_changed && r->status == PL_OK)
        note_status(r, pl_json_edit_set_node(&r->edit, node, pl_buf_str(&r->raw), NULL));
}

/* A message's content is a string; a list of parts, as other formats have, is read too. */
static void render_message(struct render *r, const struct pl_json_node *message)
{
    const struct pl_json_node *role = member(r, message, "role", PL_JSON_STRING);
    if (role && pl_json_text_is(&r->doc, role, PL_STR("tool")))
        return;
    const struct pl_json_node *content = pl_json_get(&r->doc, message, PL_STR("content"));
    if (content && pl_json_kind(content) == PL_JSON_STRING)
        render_text(r, content);
    if (!content || pl_json_kind(content) != PL_JSON_ARRAY)
        return;
    for (const struct pl_json_node *part = pl_json_first(content);
         part < pl_json_end(content) && r->status == PL_OK; part = pl_json_next(part)) {
        const struct pl_json_node *text = member(r, part, "text", PL_JSON_STRING);
        if (text)
            render_text(r, text);
    }
}

static void render_all(struct render *r, const struct pl_json_node *messages)
{
    const struct pl_json_node *prompt = member(r, r->doc.root, "system_prompt", PL_JSON_STRING);
    if (prompt)
        render_text(r, prompt);
    if (!messages)
        return;
    for (const struct pl_json_node *n = pl_json_first(messages);
         n < pl_json_end(messages) && r->status == PL_OK; n = pl_json_next(n))
        render_message(r, n);
}

/* What was missing, wrong or of no use, once every text has been seen. */
static void review(struct render *r)
{
    struct pl_buf *to = &r->made->problems;
    for (size_t i = 0; i < r->variables.len; i++) {
        struct variable *v = &r->variables.ptr[i];
        if (v->declared && v->has_value)
            check_value(r, v, v->value);
        const struct pl_json_node *at = v->missing_at;
        if (!at && !v->has_value && !v->is_used && v->declared &&
            member(r, v->declared, "required", PL_JSON_TRUE))
            at = v->declared;
        if (at && !r->opts->is_preview) {
            pl_buf_addf(to, "the variable \"%.*s\" has no value; give it with --var %.*s=…",
                        PL_STR_ARG(v->name), PL_STR_ARG(v->name));
            add_place(r, at);
        }
        if (v->is_given && !v->is_used && !v->declared)
            pl_buf_addf(&r->made->notes, "no text has the variable \"%.*s\"\n",
                        PL_STR_ARG(v->name));
    }
    note_status(r, to->status);
    note_status(r, r->made->notes.status);
}

static enum pl_status parse(struct render *r, struct pl_str text, struct pl_error *err)
{
    struct pl_json_opts opts = {.allows_duplicate_keys = true, .allows_lone_surrogates = true};
    enum pl_status status = pl_json_parse(&r->arena, text, &opts, &r->doc, err);
    struct pl_json_notes notes;
    struct pl_error ignored;
    if (status == PL_SYNTAX &&
        pl_json_parse_lenient(&r->arena, text, &opts, &r->doc, &notes, &ignored) == PL_OK)
        status = PL_OK;
    if (status == PL_OK)
        r->doc.text = text;
    return status;
}

static enum pl_status render(struct render *r, struct pl_str text, struct pl_error *err)
{
    enum pl_status status = parse(r, text, err);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *messages = member(r, r->doc.root, "messages", PL_JSON_ARRAY);
    if (!messages && !member(r, r->doc.root, "system_prompt", PL_JSON_STRING))
        return pl_fail(err, PL_INVALID,
                       "no structured chat: there must be an object with \"system_prompt\" or "
                       "\"messages\"");
    pl_json_edit_init(&r->edit, &r->arena, &r->doc);
    declare_all(r);
    give_all(r);
    render_all(r, messages);
    if (r->status == PL_OK)
        review(r);
    if (r->status == PL_OK && r->made->problems.len)
        r->status = pl_fail(err, PL_INVALID, "the variables are not complete and right");
    if (r->status == PL_OK)
        r->status = pl_json_edit_write(&r->edit, &r->made->out);
    pl_json_edit_deinit(&r->edit);
    return r->status;
}

enum pl_status pl_render(struct pl_str text, const struct pl_render_opts *opts,
                         struct pl_rendered *ret, struct pl_error *err)
{
    struct render r = {.opts = opts, .made = ret};
    pl_arena_init(&r.arena, 0);
    pl_buf_init(&r.raw, 0);
    pl_buf_init(&r.scratch, 0);
    enum pl_status status = render(&r, text, err);
    if (err && status != PL_OK && !err->message[0])
        status = pl_fail(err, status, "%s", pl_status_info(status)->text);
    pl_regex_scratch_destroy(r.name_scratch);
    pl_regex_destroy(r.name_regex);
    pl_vec_deinit(&r.variables);
    pl_map_deinit(&r.names);
    pl_buf_deinit(&r.raw);
    pl_buf_deinit(&r.scratch);
    pl_arena_deinit(&r.arena);
    return status;
}

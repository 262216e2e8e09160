/* The variables of a prompt: names, declarations, and valid values. */
#include "prompt/render_int.h"

#include "base/ascii.h"
#include "base/text/suggest.h"
#include "base/text/utf8.h"
#include "json/pointer.h"
#include "json/text.h"

#include <stdio.h>

void pl_render_note(struct pl_render_run *r, enum pl_status status)
{
    if (status != PL_OK && r->status == PL_OK)
        r->status = status;
}

/* Names. Most are ASCII; the others use Unicode classes. Marks count as letters: words in Hindi or
 * Thai need them. */

enum name_kind { NAME_NO, NAME_YES, NAME_MAYBE };

static enum name_kind look_at_name(struct pl_str name)
{
    enum name_kind kind = name.len ? NAME_YES : NAME_NO;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (c >= 0x80)
            kind = NAME_MAYBE;
        else if (!pl_ascii_is_alnum(c) && c != '_' && c != '.' && c != '-')
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

bool pl_render_is_name(struct pl_render_run *r, struct pl_str name)
{
    enum name_kind kind = look_at_name(name);
    if (kind != NAME_MAYBE)
        return kind == NAME_YES;
    enum pl_status status = prepare_names(&r->name_regex, &r->name_scratch);
    if (status == PL_OK)
        status = pl_regex_search(r->name_regex, r->name_scratch, name);
    if (status != PL_NOT_FOUND)
        pl_render_note(r, status);
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

/* The variable of this name, created if new; NULL when out of memory. */
static struct pl_render_variable *find(struct pl_render_run *r, struct pl_str name)
{
    bool is_new;
    struct pl_map_entry *entry = pl_map_put(&r->names, name, &is_new);
    if (entry && is_new) {
        entry->value = r->variables.len;
        if (!pl_vec_push(&r->variables, (struct pl_render_variable){.name = name}))
            entry = NULL;
    }
    if (!entry) {
        r->status = PL_NOMEM;
        return NULL;
    }
    return &r->variables.ptr[entry->value];
}

struct pl_str pl_render_text_of(struct pl_render_run *r, const struct pl_json_node *n)
{
    struct pl_str text = pl_json_span(&r->doc, n);
    if (pl_json_kind(n) == PL_JSON_STRING)
        pl_render_note(r, pl_json_text(&r->arena, &r->doc, n, &text));
    return text;
}

/* Problems. At most this many are reported, and the rest are counted. */
enum { MOST_PROBLEMS = 100, MOST_SHOWN = 200, MOST_OPTIONS = 20 };

/* Whether one more may be reported. */
static bool begin_problem(struct pl_render_run *r)
{
    return ++r->n_problems <= MOST_PROBLEMS;
}

/* The start of a text for a message, whole characters only. */
static struct pl_str shown(struct pl_str text)
{
    if (text.len <= MOST_SHOWN)
        return text;
    text.len = MOST_SHOWN;
    while (text.len && ((unsigned char)text.ptr[text.len] & 0xC0) == 0x80)
        text.len--;
    return text;
}

static void add_place(struct pl_render_run *r, const struct pl_json_node *node)
{
    struct pl_buf *to = &r->made->problems;
    pl_buf_adds(to, " (at ");
    pl_json_pointer_of(to, &r->doc, node);
    pl_buf_adds(to, ")\n");
}

/* Declarations. */

static void declare(struct pl_render_run *r, const struct pl_json_node *entry)
{
    const struct pl_json_node *name = pl_json_member(&r->doc, entry, "name", PL_JSON_STRING);
    if (!name || !pl_render_is_name(r, pl_render_text_of(r, name))) {
        if (!begin_problem(r))
            return;
        pl_buf_adds(&r->made->problems, "a declared variable needs a \"name\" of letters, digits, "
                                        "\"_\", \".\" and \"-\"");
        add_place(r, entry);
        return;
    }
    struct pl_render_variable *v = find(r, pl_render_text_of(r, name));
    if (!v)
        return;
    v->declared = entry;
    const struct pl_json_node *preset = pl_json_get(&r->doc, entry, PL_STR("default"));
    if (preset && pl_json_kind(preset) != PL_JSON_NULL) {
        v->value = pl_render_text_of(r, preset);
        v->has_value = true;
    }
}

static void declare_all(struct pl_render_run *r)
{
    const struct pl_json_node *list =
        pl_json_member(&r->doc, r->doc.root, "variables", PL_JSON_ARRAY);
    if (!list)
        return;
    for (const struct pl_json_node *n = pl_json_first(list);
         n < pl_json_end(list) && r->status == PL_OK; n = pl_json_next(n))
        declare(r, n);
}

static void give_all(struct pl_render_run *r)
{
    for (size_t i = 0; i < r->opts->n_vars && r->status == PL_OK; i++) {
        struct pl_render_variable *v = find(r, r->opts->vars[i].name);
        if (!v)
            return;
        v->value = r->opts->vars[i].value;
        v->has_value = v->is_given = true;
    }
}

void pl_render_declare(struct pl_render_run *r)
{
    declare_all(r);
    give_all(r);
}

static bool is_number(struct pl_render_run *r, struct pl_str value)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(&arena, value, NULL, &doc, NULL);
    if (status == PL_NOMEM)
        pl_render_note(r, status);
    return status == PL_OK && pl_json_kind(doc.root) == PL_JSON_NUMBER &&
           doc.root->len == value.len;
}

/* An option is a value, or an object with a "value" and a label. NULL: it has no value. */
static const struct pl_json_node *option_of(const struct pl_render_run *r,
                                            const struct pl_json_node *n)
{
    return pl_json_kind(n) == PL_JSON_OBJECT ? pl_json_get(&r->doc, n, PL_STR("value")) : n;
}

/* The key of an option in r->options, in the scratch buffer. */
static struct pl_str option_key(struct pl_render_run *r, const struct pl_render_variable *v,
                                struct pl_str value)
{
    size_t place = (size_t)(v - r->variables.ptr);
    pl_buf_clear(&r->scratch);
    pl_buf_add(&r->scratch, (struct pl_str){(const char *)&place, sizeof place});
    pl_buf_add(&r->scratch, value);
    pl_render_note(r, r->scratch.status);
    return pl_buf_str(&r->scratch);
}

/* Once for each variable: texts may have many defaults for one. */
static void list_options(struct pl_render_run *r, struct pl_render_variable *v,
                         const struct pl_json_node *options)
{
    v->has_listed_options = true;
    for (const struct pl_json_node *n = pl_json_first(options);
         n < pl_json_end(options) && r->status == PL_OK; n = pl_json_next(n)) {
        const struct pl_json_node *said = option_of(r, n);
        bool is_new;
        if (!said)
            continue;
        struct pl_str key = option_key(r, v, pl_render_text_of(r, said));
        key = pl_arena_dup(&r->arena, key);
        if (!key.ptr || !pl_map_put(&r->options, key, &is_new))
            pl_render_note(r, PL_NOMEM);
    }
}

static bool is_option(struct pl_render_run *r, struct pl_render_variable *v,
                      const struct pl_json_node *options, struct pl_str value)
{
    if (!v->has_listed_options)
        list_options(r, v, options);
    return pl_map_get(&r->options, option_key(r, v, value)) != NULL;
}

static void add_options(struct pl_render_run *r, const struct pl_json_node *options)
{
    struct pl_buf *to = &r->made->problems;
    int n_said = 0;
    for (const struct pl_json_node *n = pl_json_first(options); n < pl_json_end(options);
         n = pl_json_next(n)) {
        const struct pl_json_node *said = option_of(r, n);
        if (n_said)
            pl_buf_adds(to, ", ");
        if (n_said++ == MOST_OPTIONS) {
            pl_buf_adds(to, "…");
            return;
        }
        if (said)
            pl_buf_add(to, shown(pl_json_span(&r->doc, said)));
    }
}

/* Whether a declared variable may have this value. */
static void check_value(struct pl_render_run *r, struct pl_render_variable *v, struct pl_str value)
{
    const struct pl_json_node *type = pl_json_member(&r->doc, v->declared, "type", PL_JSON_STRING);
    const struct pl_json_node *options =
        pl_json_member(&r->doc, v->declared, "options", PL_JSON_ARRAY);
    const struct pl_json_node *required =
        pl_json_member(&r->doc, v->declared, "required", PL_JSON_TRUE);
    bool is_select = type && options && pl_json_text_is(&r->doc, type, PL_STR("select"));
    bool is_empty = required && value.len == 0;
    bool is_no_number =
        type && pl_json_text_is(&r->doc, type, PL_STR("number")) && !is_number(r, value);
    bool is_no_option = is_select && !is_option(r, v, options, value);
    if (!(is_empty || is_no_number || is_no_option) || !begin_problem(r))
        return;
    struct pl_buf *to = &r->made->problems;
    struct pl_str name = shown(v->name), said = shown(value);
    if (is_empty) {
        pl_buf_addf(to, "the variable \"%.*s\" is required and must not be empty",
                    PL_STR_ARG(name));
    } else if (is_no_number) {
        pl_buf_addf(to, "the variable \"%.*s\" must be a number, not \"%.*s\"", PL_STR_ARG(name),
                    PL_STR_ARG(said));
    } else {
        pl_buf_addf(to, "the variable \"%.*s\" cannot be \"%.*s\"; it must be one of ",
                    PL_STR_ARG(name), PL_STR_ARG(said));
        add_options(r, options);
    }
    add_place(r, v->declared);
}

bool pl_render_value(struct pl_render_run *r, struct pl_str name, const struct pl_str *preset,
                     const struct pl_json_node *node, struct pl_str *ret_value)
{
    struct pl_render_variable *v = find(r, name);
    if (!v)
        return false;
    v->is_used = true;
    if (preset && !v->has_preset) {
        v->preset = *preset;
        v->has_preset = true;
    }
    if (preset && !v->is_given) {
        if (v->declared)
            check_value(r, v, *preset);
        *ret_value = *preset;
        return true;
    }
    if (!v->has_value && !v->missing_at)
        v->missing_at = node;
    *ret_value = v->value;
    return v->has_value;
}

/* Reports a given variable that the document lacks, with the nearest name it has: probably a
 * misspelling. */
static void say_unknown(struct pl_render_run *r, const struct pl_render_variable *unknown)
{
    struct pl_buf *to = &r->made->problems;
    struct pl_str name = shown(unknown->name);
    struct pl_suggest suggest = pl_suggest(name);
    char best[MOST_SHOWN + 1] = "", word[MOST_SHOWN + 1];
    for (size_t i = 0; i < r->variables.len; i++) {
        const struct pl_render_variable *v = &r->variables.ptr[i];
        if ((!v->is_used && !v->declared) || v->name.len > MOST_SHOWN)
            continue;
        snprintf(word, sizeof word, "%.*s", PL_STR_ARG(v->name));
        const char *before = suggest.best;
        pl_suggest_offer(&suggest, word);
        if (suggest.best != before)
            memcpy(best, word, sizeof best);
        suggest.best = suggest.best ? best : NULL;
    }
    pl_buf_addf(to, "there is no variable \"%.*s\"", PL_STR_ARG(name));
    if (suggest.best)
        pl_buf_addf(to, "; did you mean \"%s\"?", best);
    pl_buf_addc(to, '\n');
}

void pl_render_review(struct pl_render_run *r)
{
    struct pl_buf *to = &r->made->problems;
    for (size_t i = 0; i < r->variables.len; i++) {
        struct pl_render_variable *v = &r->variables.ptr[i];
        if (v->declared && v->has_value)
            check_value(r, v, v->value);
        const struct pl_json_node *at = v->missing_at;
        if (!at && !v->has_value && !v->is_used && v->declared &&
            pl_json_member(&r->doc, v->declared, "required", PL_JSON_TRUE))
            at = v->declared;
        if (at && !r->opts->is_preview && begin_problem(r)) {
            struct pl_str name = shown(v->name);
            pl_buf_addf(to, "the variable \"%.*s\" has no value; give it ", PL_STR_ARG(name));
            if (r->opts->is_command)
                pl_buf_addf(to, "with --var %.*s=…", PL_STR_ARG(name));
            else
                pl_buf_adds(to, "in \"variables\"");
            add_place(r, at);
        }
        if (!v->is_given || v->is_used || v->declared)
            continue;
        if (!r->opts->refuses_unknown)
            pl_buf_addf(&r->made->notes, "no text uses the variable \"%.*s\"\n",
                        PL_STR_ARG(v->name));
        else if (begin_problem(r))
            say_unknown(r, v);
    }
    if (r->n_problems > MOST_PROBLEMS)
        pl_buf_addf(to, "and %zu more problems; correct these first\n",
                    r->n_problems - MOST_PROBLEMS);
    pl_render_note(r, to->status);
    pl_render_note(r, r->made->notes.status);
}

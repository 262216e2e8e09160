/* Values of variables in a text: reads their places from one format and writes them in another. */
#include "format/pieces/variables.h"

#include "base/ascii.h"
#include "base/text/utf8.h"
#include "json/number.h"
#include "json/text.h"
#include "schema/regex/regex.h"

/* --- reading --------------------------------------------------------------------------------- */

/* Advances to a code point and returns its address in the source; NULL: the text is shorter. */
static const char *walk_to(struct pl_json_walk *walk, int64_t *at, int64_t place)
{
    for (; *at < place; ++*at) {
        int byte = pl_json_walk_next(walk);
        if (byte < 0)
            return NULL;
        for (int n = byte < 0xC0 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3; n; n--)
            (void)pl_json_walk_next(walk);
    }
    return walk->at;
}

static bool read_place(const struct pl_conv *conv, const struct pl_json_node *mark, const char *key,
                       int64_t *ret_place)
{
    const struct pl_json_node *n = pl_conv_node(conv, mark, key);
    return pl_json_is(n, PL_JSON_NUMBER) &&
           pl_json_number_int64(pl_json_span(conv->doc, n), ret_place);
}

struct cutting {
    struct pl_conv *conv;
    const struct pl_json_node *node;
    struct pl_json_walk walk;
    int64_t at; /* of the walk, in code points */
    struct pl_piece *pieces;
    size_t n_pieces;
};

/* The text between two addresses of the source. */
static struct pl_piece *cut(struct cutting *c, const char *from, const char *to)
{
    struct pl_piece *piece = &c->pieces[c->n_pieces++];
    *piece = (struct pl_piece){
        .text = {.kind = PL_VAL_SPAN, .node = c->node, .str = {from, (size_t)(to - from)}},
    };
    return piece;
}

static bool cut_mark(struct cutting *c, const struct pl_json_node *mark)
{
    int64_t from, to;
    const struct pl_json_node *name = pl_conv_node(c->conv, mark, "name");
    if (!pl_json_is(name, PL_JSON_STRING) || !read_place(c->conv, mark, "from", &from) ||
        !read_place(c->conv, mark, "to", &to) || from < c->at || to < from)
        return false;
    const char *last = c->walk.at;
    const char *begin = walk_to(&c->walk, &c->at, from);
    const char *end = begin ? walk_to(&c->walk, &c->at, to) : NULL;
    if (!end)
        return false;
    if (begin > last)
        cut(c, last, begin);
    struct pl_piece *piece = cut(c, begin, end);
    piece->name = pl_val_node(name);
    piece->about = pl_conv_get(c->conv, mark, "description", PL_WANT_STRING);
    piece->node = mark;
    return true;
}

struct pl_val pl_variables_read(struct pl_conv *conv, const struct pl_json_node *node,
                                const struct pl_json_node *list)
{
    if (!pl_json_is(node, PL_JSON_STRING) || !pl_json_is(list, PL_JSON_ARRAY) ||
        !pl_json_count(list))
        return pl_val_node(node);
    struct cutting c = {.conv = conv, .node = node, .walk = pl_json_walk(conv->doc, node)};
    const char *end = c.walk.end;
    c.pieces = pl_arena_alloc(conv->arena, 2 * (size_t)pl_json_count(list) + 1, sizeof *c.pieces);
    if (!c.pieces) {
        conv->status = PL_NOMEM;
        return pl_val_node(node);
    }
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n))
        if (!cut_mark(&c, n))
            return pl_val_node(node);
    if (c.walk.at < end)
        cut(&c, c.walk.at, end);
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n)) {
        pl_conv_know(conv, pl_conv_node(conv, n, "from"));
        pl_conv_know(conv, pl_conv_node(conv, n, "to"));
    }
    return (struct pl_val){
        .kind = PL_VAL_RUN, .node = node, .pieces = c.pieces, .n_pieces = c.n_pieces};
}

/* --- writing --------------------------------------------------------------------------------- */

void pl_variables_write(struct pl_writer *w, struct pl_val text)
{
    bool has_any = false;
    int64_t at = 0;
    for (size_t i = 0; text.kind == PL_VAL_RUN && text.node && i < text.n_pieces; i++)
        has_any |= pl_val_is_set(text.pieces[i].name);
    if (!has_any)
        return;
    pl_w_key(w, "variables");
    pl_w_open(w, '[');
    for (size_t i = 0; i < text.n_pieces; i++) {
        const struct pl_piece *piece = &text.pieces[i];
        int64_t to = at + (int64_t)pl_utf8_count(pl_conv_text(w->conv, piece->text));
        if (pl_val_is_set(piece->name)) {
            pl_w_open(w, '{');
            pl_w_opt_string(w, "name", piece->name);
            pl_w_key(w, "from");
            pl_w_int(w, at);
            pl_w_key(w, "to");
            pl_w_int(w, to);
            pl_w_opt_string(w, "description", piece->about);
            pl_w_close(w, '}');
        }
        at = to;
    }
    pl_w_close(w, ']');
}

/* --- names ----------------------------------------------------------------------------------- */

/* Whether {{name}} would be read as a variable (prompt/render.h). */
static bool is_name(struct pl_conv *conv, struct pl_str name)
{
    bool is_ascii = true;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        is_ascii &= c < 0x80;
        if (c < 0x80 && !pl_ascii_is_alnum(c) && c != '_' && c != '.' && c != '-')
            return false;
    }
    if (is_ascii)
        return name.len;
    struct pl_regex *regex = NULL;
    struct pl_regex_scratch *scratch = NULL;
    enum pl_status status = pl_utf8_is_valid(name) ? PL_OK : PL_INVALID;
    if (status == PL_OK)
        status = pl_regex_compile(PL_STR("^[\\p{L}\\p{M}\\p{N}_.\\-]+$"), &regex, NULL);
    if (status == PL_OK)
        status = pl_regex_scratch_create(&scratch);
    if (status == PL_OK)
        status = pl_regex_search(regex, scratch, name);
    pl_regex_scratch_destroy(scratch);
    pl_regex_destroy(regex);
    if (status == PL_NOMEM)
        conv->status = PL_NOMEM;
    return status == PL_OK;
}

/* Whether a value can be the default in {{name:value}}, which ends at the first }} and loses white
 * space around it. */
static bool is_default(struct pl_str value)
{
    if (!value.len || memchr(value.ptr, '{', value.len) || memchr(value.ptr, '}', value.len))
        return false;
    return !pl_ascii_is_space(value.ptr[0]) && !pl_ascii_is_space(value.ptr[value.len - 1]);
}

static void say_again(struct pl_conv *conv, const struct pl_piece *piece,
                      const struct pl_piece *first)
{
    pl_conv_repeat(conv, piece->name.node, first->name.node);
    if (piece->text.kind == PL_VAL_NODE)
        pl_conv_repeat(conv, piece->text.node, first->text.node);
    else
        pl_conv_know(conv, piece->text.node);
    if (pl_val_is_set(piece->about) && pl_val_is_set(first->about) &&
        pl_str_eq(pl_conv_text(conv, piece->about), pl_conv_text(conv, first->about)))
        pl_conv_repeat(conv, piece->about.node, first->about.node);
}

/* The text for a variable; the piece itself if it cannot be one. */
static struct pl_piece name_piece(struct pl_variables *vars, const struct pl_piece *piece)
{
    struct pl_conv *conv = vars->conv;
    struct pl_str name = pl_conv_text(conv, piece->name);
    struct pl_str value = pl_conv_text(conv, piece->text);
    bool is_new = false;
    if (!pl_val_is_set(piece->name) || !is_name(conv, name))
        return *piece;
    struct pl_map_entry *entry = pl_map_put(&vars->by_name, name, &is_new);
    if (entry && is_new) {
        entry->value = vars->pieces.len + 1;
        if (!pl_vec_push(&vars->pieces, piece))
            entry = NULL;
    }
    if (!entry) {
        conv->status = PL_NOMEM;
        return *piece;
    }
    const struct pl_piece *first = vars->pieces.ptr[entry->value - 1];
    struct pl_str text = {0};
    if (first == piece || pl_str_eq(value, pl_conv_text(conv, first->text))) {
        text = pl_conv_printf(conv, "{{%.*s}}", PL_STR_ARG(name));
        if (first != piece)
            say_again(conv, piece, first);
    } else if (is_default(value)) {
        text = pl_conv_printf(conv, "{{%.*s:%.*s}}", PL_STR_ARG(name), PL_STR_ARG(value));
        pl_conv_know(conv, piece->name.node);
        pl_conv_know(conv, piece->text.node);
    } else {
        return *piece;
    }
    return (struct pl_piece){.text = pl_val_text(text)};
}

static void name_text(struct pl_variables *vars, struct pl_val *text)
{
    struct pl_piece *made = pl_arena_alloc(vars->conv->arena, text->n_pieces + 1, sizeof *made);
    if (!made) {
        vars->conv->status = PL_NOMEM;
        return;
    }
    for (size_t i = 0; i < text->n_pieces; i++)
        made[i] = name_piece(vars, &text->pieces[i]);
    *text = (struct pl_val){.kind = PL_VAL_RUN, .pieces = made, .n_pieces = text->n_pieces};
}

void pl_variables_name(struct pl_variables *vars)
{
    struct pl_conv *conv = vars->conv;
    for (size_t i = 0; i < conv->messages.len && conv->status == PL_OK; i++) {
        const struct pl_message *m = &conv->messages.ptr[i];
        for (uint32_t k = 0; k < m->n_parts; k++) {
            struct pl_part *part = &pl_conv_parts(conv, m)[k];
            if (part->kind == PL_PART_TEXT && part->text.kind == PL_VAL_RUN)
                name_text(vars, &part->text);
        }
    }
}

void pl_variables_declare(struct pl_writer *w, const struct pl_variables *vars)
{
    if (!vars->pieces.len)
        return;
    pl_w_key(w, "variables");
    pl_w_open(w, '[');
    for (size_t i = 0; i < vars->pieces.len; i++) {
        const struct pl_piece *piece = vars->pieces.ptr[i];
        pl_w_open(w, '{');
        pl_w_opt_string(w, "name", piece->name);
        pl_w_opt_string(w, "label", piece->about);
        pl_w_key(w, "default");
        pl_w_string(w, piece->text);
        pl_w_close(w, '}');
    }
    pl_w_close(w, ']');
}

void pl_variables_deinit(struct pl_variables *vars)
{
    pl_vec_deinit(&vars->pieces);
    pl_map_deinit(&vars->by_name);
}

/* Reads both versions into blocks, matches the blocks (diff_match.c), and writes each
 * difference; words and members have files of their own (diff_words.c, diff_members.c). */
#include "prompt/diff_int.h"

#include "base/text/utf8.h"
#include "prompt/render_int.h"
#include "json/equal.h"
#include "json/pointer.h"
#include "json/text.h"

#include <stdio.h>

/* --- blocks ---------------------------------------------------------------------------------- */

/* The text of a string member; empty if absent. */
static enum pl_status text_at(struct pl_arena *arena, const struct pl_json_doc *doc,
                              const struct pl_json_node *object, const char *key,
                              struct pl_str *ret_text)
{
    const struct pl_json_node *n = pl_json_get(doc, object, pl_str_of(key));
    *ret_text = (struct pl_str){0};
    return n && pl_json_kind(n) == PL_JSON_STRING ? pl_json_text(arena, doc, n, ret_text) : PL_OK;
}

/* The text of a text part: {"type": "text", "text": …} or a string. NULL for other parts. */
static const struct pl_json_node *part_text(const struct pl_json_doc *doc,
                                            const struct pl_json_node *part)
{
    const struct pl_json_node *n =
        pl_json_kind(part) == PL_JSON_OBJECT ? pl_json_get(doc, part, PL_STR("text")) : part;
    return n && pl_json_kind(n) == PL_JSON_STRING ? n : NULL;
}

static enum pl_status join_parts(struct pl_arena *arena, const struct pl_json_doc *doc,
                                 const struct pl_json_node *parts, struct pl_str *ret_text)
{
    PL_CLEANUP_BUF struct pl_buf all;
    pl_buf_init(&all, 0);
    bool is_first = true;
    for (const struct pl_json_node *n = pl_json_first(parts); n < pl_json_end(parts);
         n = pl_json_next(n)) {
        const struct pl_json_node *words = part_text(doc, n);
        struct pl_str text;
        if (!words)
            continue;
        if (pl_json_text(arena, doc, words, &text) != PL_OK)
            return PL_NOMEM;
        if (!is_first)
            pl_buf_adds(&all, "\n\n");
        is_first = false;
        pl_buf_add(&all, text);
    }
    *ret_text = pl_arena_dup(arena, pl_buf_str(&all));
    return all.status == PL_OK && all.len && !ret_text->ptr ? PL_NOMEM : all.status;
}

static enum pl_status read_message(struct pl_arena *arena, const struct pl_json_doc *doc,
                                   struct pl_diff_block *block)
{
    const struct pl_json_node *content = pl_json_get(doc, block->node, PL_STR("content"));
    enum pl_status status = text_at(arena, doc, block->node, "id", &block->id);
    if (status == PL_OK)
        status = text_at(arena, doc, block->node, "role", &block->role);
    if (status == PL_OK && content && pl_json_kind(content) == PL_JSON_ARRAY)
        return join_parts(arena, doc, content, &block->text);
    return status == PL_OK ? text_at(arena, doc, block->node, "content", &block->text) : status;
}

/* Makes the blocks of a structured chat: one for each message, and at most one more. */
static enum pl_status read_blocks(struct pl_arena *arena, struct pl_diff_side *side,
                                  struct pl_error *err)
{
    const struct pl_json_doc *doc = &side->doc;
    const struct pl_json_node *system = pl_json_get(doc, doc->root, PL_STR("system_prompt"));
    const struct pl_json_node *list = pl_json_get(doc, doc->root, PL_STR("messages"));
    if (list && pl_json_kind(list) != PL_JSON_ARRAY)
        return pl_fail(err, PL_INVALID, "not a structured chat: \"messages\" must be an array");
    size_t n = (list ? pl_json_count(list) : 0) + (size_t)1;
    side->blocks = pl_arena_zalloc(arena, n, sizeof *side->blocks);
    if (!side->blocks)
        return PL_NOMEM;
    if (system && pl_json_kind(system) == PL_JSON_STRING) {
        struct pl_diff_block *block = &side->blocks[side->n_blocks++];
        *block = (struct pl_diff_block){.id = PL_STR("system"), .role = PL_STR("system")};
        if (pl_json_text(arena, doc, system, &block->text) != PL_OK)
            return PL_NOMEM;
    }
    uint32_t place = 0;
    for (const struct pl_json_node *m = list ? pl_json_first(list) : NULL;
         list && m < pl_json_end(list); m = pl_json_next(m), place++) {
        struct pl_diff_block *block = &side->blocks[side->n_blocks++];
        if (pl_json_kind(m) != PL_JSON_OBJECT)
            return pl_fail(err, PL_INVALID, "not a structured chat: message %u is not an object",
                           place);
        *block = (struct pl_diff_block){.node = m, .place = place};
        enum pl_status status = read_message(arena, doc, block);
        if (status != PL_OK)
            return status;
    }
    return PL_OK;
}

static enum pl_status read_text(struct pl_arena *arena, struct pl_str text,
                                struct pl_diff_side *side, struct pl_error *err)
{
    if (!pl_utf8_is_valid(text))
        return pl_fail(err, PL_INVALID, "the text is not UTF-8");
    side->blocks = pl_arena_zalloc(arena, 1, sizeof *side->blocks);
    if (!side->blocks)
        return PL_NOMEM;
    side->n_blocks = 1;
    side->blocks[0] = (struct pl_diff_block){.id = PL_STR("text"), .text = text};
    return PL_OK;
}

static enum pl_status read_side(struct pl_arena *arena, const struct pl_prompt_text *prompt,
                                const char *which, struct pl_diff_side *ret_side,
                                struct pl_error *err)
{
    struct pl_diff_side side = {0};
    struct pl_error why = {0};
    enum pl_status status = PL_OK;
    if (prompt->is_structured)
        status = pl_render_parse(arena, prompt->content, &side.doc, &why);
    if (status == PL_OK)
        status = prompt->is_structured ? read_blocks(arena, &side, &why)
                                       : read_text(arena, prompt->content, &side, &why);
    if (status == PL_NOMEM)
        return pl_fail(err, status, "out of memory");
    if (status != PL_OK) {
        enum pl_status failed = pl_fail(err, status, "the %s version: %s", which, why.message);
        if (err && why.has_position) {
            memcpy(why.message, err->message, sizeof why.message);
            *err = why;
        }
        return failed;
    }
    for (uint32_t i = 0; i < side.n_blocks; i++)
        side.blocks[i].match = PL_DIFF_NONE;
    *ret_side = side;
    return PL_OK;
}

/* --- members of a message besides its text --------------------------------------------------- */

static bool is_told_by_block(const struct pl_json_doc *doc, const struct pl_json_node *key)
{
    return pl_json_text_is(doc, key, PL_STR("id")) || pl_json_text_is(doc, key, PL_STR("content"));
}

static bool is_text_key(const struct pl_json_doc *doc, const struct pl_json_node *key)
{
    return pl_json_text_is(doc, key, PL_STR("text"));
}

/* The next part from *at on that is (not) a text; *index is its place. NULL at the end. */
static const struct pl_json_node *next_part(const struct pl_json_doc *doc,
                                            const struct pl_json_node *parts, bool is_text,
                                            const struct pl_json_node **at, uint32_t *index)
{
    while (parts && *at < pl_json_end(parts)) {
        const struct pl_json_node *part = *at;
        *at = pl_json_next(part);
        ++*index;
        if ((part_text(doc, part) != NULL) == is_text)
            return part;
    }
    return NULL;
}

/* Compares parts of one kind in order. Words of texts are reported elsewhere, so only their other
 * members count. */
static void tell_parts(struct pl_diff_members *m, struct pl_str pointer,
                       const struct pl_json_node *from, const struct pl_json_node *to, bool is_text)
{
    const struct pl_json_node *a_at = from ? pl_json_first(from) : NULL;
    const struct pl_json_node *b_at = to ? pl_json_first(to) : NULL, *a, *b;
    uint32_t a_index = 0, b_index = 0;
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    do {
        a = next_part(&m->from->doc, from, is_text, &a_at, &a_index);
        b = next_part(&m->to->doc, to, is_text, &b_at, &b_index);
        pl_buf_clear(&path);
        pl_buf_add(&path, pointer);
        pl_json_pointer_add_index(&path, (b ? b_index : a_index) - 1);
        if (path.status != PL_OK)
            m->status = path.status;
        else if (is_text && a && b && pl_json_kind(a) == PL_JSON_OBJECT &&
                 pl_json_kind(b) == PL_JSON_OBJECT)
            pl_diff_members_of(m, pl_buf_str(&path), a, b, is_text_key);
        else if (!is_text)
            pl_diff_value(m, pl_buf_str(&path), a, b);
    } while ((a || b) && m->status == PL_OK);
}

static const struct pl_json_node *array_of(const struct pl_json_node *n)
{
    return n && pl_json_kind(n) == PL_JSON_ARRAY ? n : NULL;
}

/* Compares the content except its words. A difference that shows nowhere else (a string that became
 * a list of one part, parts in another order) is reported as a whole. */
static void tell_content(struct pl_diff_members *m, struct pl_str pointer,
                         const struct pl_json_node *from, const struct pl_json_node *to,
                         bool has_words)
{
    uint32_t n_told = m->n_told;
    bool is_equal = !from && !to;
    if (from && to && m->status == PL_OK)
        m->status = pl_json_equal(&m->from->doc, from, &m->to->doc, to, &is_equal);
    if (is_equal || m->status != PL_OK)
        return;
    if (array_of(from) || array_of(to)) {
        tell_parts(m, pointer, array_of(from), array_of(to), false);
        tell_parts(m, pointer, array_of(from), array_of(to), true);
    }
    if (m->n_told == n_told && !has_words && m->status == PL_OK)
        pl_diff_tell(m, pointer, from, to);
}

/* Reports the differences of two messages other than their words; false if there are none. */
static bool tell_message(struct pl_diff_members *m, const struct pl_diff_block *from,
                         const struct pl_diff_block *to)
{
    uint32_t n_told = m->n_told;
    if (!from->node || !to->node)
        return false;
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    pl_buf_adds(&path, "/messages");
    pl_json_pointer_add_index(&path, to->place);
    pl_diff_members_of(m, pl_buf_str(&path), from->node, to->node, is_told_by_block);
    pl_buf_adds(&path, "/content");
    if (m->status == PL_OK)
        m->status = path.status;
    if (m->status == PL_OK)
        tell_content(m, pl_buf_str(&path),
                     pl_json_get(&m->from->doc, from->node, PL_STR("content")),
                     pl_json_get(&m->to->doc, to->node, PL_STR("content")),
                     !pl_str_eq(from->text, to->text));
    return m->n_told > n_told;
}

/* --- output ---------------------------------------------------------------------------------- */

struct telling {
    struct pl_arena *arena;
    struct pl_diff_side from, to;
    struct pl_json_out blocks, members;
    struct pl_diff_members m;
    int64_t n_work; /* comparisons left */
    bool is_changed;
};

static void put_index(struct pl_json_out *out, const char *key, uint32_t index)
{
    pl_json_out_key(out, key);
    if (index == PL_DIFF_NONE)
        pl_json_out_null(out);
    else
        pl_json_out_int(out, index);
}

static void put_name(struct pl_json_out *out, const struct pl_diff_block *block)
{
    char place[32];
    pl_json_out_key(out, "id");
    if (block->id.len) {
        pl_json_out_text(out, block->id);
    } else {
        snprintf(place, sizeof place, "/messages/%u", block->place);
        pl_json_out_text(out, pl_str_of(place));
    }
    pl_json_out_key(out, "role");
    if (block->role.len)
        pl_json_out_text(out, block->role);
    else
        pl_json_out_null(out);
}

/* `from` or `to` may be PL_DIFF_NONE. */
static enum pl_status tell_block(struct telling *t, uint32_t from, uint32_t to)
{
    static const char *const changes[2][2] = {{"same", "changed"}, {"moved", "moved_changed"}};
    static const struct pl_diff_block nothing = {.text = {"", 0}};
    const struct pl_diff_block *a = from == PL_DIFF_NONE ? &nothing : &t->from.blocks[from];
    const struct pl_diff_block *b = to == PL_DIFF_NONE ? &nothing : &t->to.blocks[to];
    bool has_words = !pl_str_eq(a->text, b->text);
    bool is_kept = a != &nothing && b != &nothing;
    bool is_changed = is_kept && (tell_message(&t->m, a, b) || has_words);
    const char *change = is_kept         ? changes[b->is_moved][is_changed]
                         : a == &nothing ? "added"
                                         : "removed";
    t->is_changed |= !is_kept || is_changed || b->is_moved;
    struct pl_json_out *out = &t->blocks;
    pl_json_out_open(out, '{');
    put_name(out, b == &nothing ? a : b);
    pl_json_out_key(out, "change");
    pl_json_out_text(out, pl_str_of(change));
    put_index(out, "from_index", from);
    put_index(out, "to_index", to);
    enum pl_status status = t->m.status;
    if (status == PL_OK && has_words) {
        pl_json_out_key(out, "words");
        status = pl_diff_words(t->arena, a->text, b->text, &t->n_work, out);
    }
    pl_json_out_close(out, '}');
    return status == PL_OK ? out->buf->status : status;
}

/* In the order of the new prompt; a removed block comes before the next one that kept its place. */
static enum pl_status tell_blocks(struct telling *t)
{
    enum pl_status status = PL_OK;
    uint32_t n_old = 0;
    for (uint32_t i = 0; i <= t->to.n_blocks && status == PL_OK; i++) {
        const struct pl_diff_block *block = i < t->to.n_blocks ? &t->to.blocks[i] : NULL;
        uint32_t until = !block                                             ? t->from.n_blocks
                         : block->match != PL_DIFF_NONE && !block->is_moved ? block->match
                                                                            : n_old;
        for (; n_old < until && status == PL_OK; n_old++)
            if (t->from.blocks[n_old].match == PL_DIFF_NONE)
                status = tell_block(t, n_old, PL_DIFF_NONE);
        if (block && status == PL_OK)
            status = tell_block(t, block->match, i);
    }
    return status;
}

static bool is_told_by_blocks(const struct pl_json_doc *doc, const struct pl_json_node *key)
{
    enum pl_json_kind kind = pl_json_kind(key + 1);
    return pl_json_text_is(doc, key, PL_STR("messages")) ||
           (pl_json_text_is(doc, key, PL_STR("system_prompt")) &&
            (kind == PL_JSON_STRING || kind == PL_JSON_NULL));
}

static enum pl_status tell_all(struct telling *t)
{
    pl_json_out_open(&t->blocks, '[');
    pl_json_out_open(&t->members, '[');
    pl_diff_members_of(&t->m, PL_STR(""), t->from.doc.root, t->to.doc.root, is_told_by_blocks);
    enum pl_status status = t->m.status == PL_OK ? tell_blocks(t) : t->m.status;
    pl_json_out_close(&t->members, ']');
    pl_json_out_close(&t->blocks, ']');
    return status == PL_OK ? t->members.buf->status : status;
}

enum pl_status pl_prompt_diff(struct pl_arena *arena, const struct pl_prompt_text *from,
                              const struct pl_prompt_text *to, struct pl_buf *out,
                              struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf blocks, members;
    pl_buf_init(&blocks, 0);
    pl_buf_init(&members, 0);
    struct telling t = {.arena = arena,
                        .blocks = pl_json_out(&blocks),
                        .members = pl_json_out(&members),
                        .n_work = PL_DIFF_MAX_WORK};
    t.m = (struct pl_diff_members){.from = &t.from, .to = &t.to, .arena = arena, .out = &t.members};
    enum pl_status status = read_side(arena, from, "older", &t.from, err);
    if (status == PL_OK)
        status = read_side(arena, to, "newer", &t.to, err);
    if (status != PL_OK)
        return status;
    status = pl_diff_match(arena, &t.from, &t.to);
    if (status == PL_OK)
        status = tell_all(&t);
    if (status == PL_OK && !pl_buf_reserve(out, blocks.len + members.len + 64))
        status = out->status;
    if (status != PL_OK)
        return pl_fail(err, status, "%s", pl_status_info(status)->text);
    pl_buf_addf(out, "{\"is_same\":%s,\"blocks\":", t.is_changed || t.m.n_told ? "false" : "true");
    pl_buf_add(out, pl_buf_str(&blocks));
    pl_buf_adds(out, ",\"members\":");
    pl_buf_add(out, pl_buf_str(&members));
    pl_buf_addc(out, '}');
    return PL_OK;
}

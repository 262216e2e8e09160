/* Applies values that changed in the target to their places in the source.
 *
 * The writer's links map each value of the target to bytes of the source. So a change is inverted:
 * JSON in a string is written as a string, the data of a data URL is put back into its URL, and one
 * of several texts in one string is cut out again. Errors are found later: the result is converted
 * and compared (home.c). */
#include "carry/home/home_int.h"

#include "base/overlap.h"
#include "base/sort.h"
#include "carry/home/merge.h"
#include "conv/tool_error.h"
#include "json/text.h"

/* New bytes for [off, off + len) of the source. */
struct splice {
    uint32_t off, len;
    struct pl_str bytes; /* arena */
};

struct setter {
    struct pl_arena *arena;
    const struct pl_leg *there;
    const struct pl_json_doc *target;
    PL_VEC(struct splice) splices; /* owned */
    enum pl_status status;
};

static void splice(struct setter *s, size_t off, size_t len, struct pl_str bytes)
{
    struct splice one = {(uint32_t)off, (uint32_t)len, bytes};
    if (!pl_vec_push(&s->splices, one))
        s->status = PL_NOMEM;
}

/* Moves the content of a buffer into the arena and empties the buffer. */
static struct pl_str keep(struct setter *s, struct pl_buf *buf)
{
    struct pl_str kept = pl_arena_dup(s->arena, pl_buf_str(buf));
    if (buf->status != PL_OK)
        s->status = buf->status;
    else if (!kept.ptr && buf->len)
        s->status = PL_NOMEM;
    pl_buf_clear(buf);
    return kept;
}

static struct pl_str text_of(struct setter *s, const struct pl_json_doc *doc,
                             const struct pl_json_node *string)
{
    struct pl_str text = {0};
    enum pl_status status = pl_json_text(s->arena, doc, string, &text);
    if (status != PL_OK)
        s->status = status;
    return text;
}

/* --- strings ------------------------------------------------------------------------------------
 */

/* The offset of decoded byte `at` in the escaped bytes of a string. */
static size_t raw_offset(const struct pl_json_doc *doc, const struct pl_json_node *string,
                         size_t at)
{
    if (!(string->tag & PL_JSON_ESCAPED))
        return at;
    const char *start = pl_json_raw(doc, string).ptr;
    struct pl_json_walk walk = pl_json_walk(doc, string);
    while (at-- > 0 && pl_json_walk_next(&walk) >= 0)
        ;
    return (size_t)(walk.at - start);
}

static bool is_inside_character(struct pl_str text, size_t at)
{
    return at < text.len && ((unsigned char)text.ptr[at] & 0xC0) == 0x80;
}

/* The length of the common start of two texts, and of the common end of the rest. */
static void find_common(struct pl_str a, struct pl_str b, size_t *ret_head, size_t *ret_tail)
{
    size_t head = pl_overlap_head(a, b);
    while (head && (is_inside_character(a, head) || is_inside_character(b, head)))
        head--;
    size_t tail = pl_overlap_tail(pl_str_slice(a, head, a.len), pl_str_slice(b, head, b.len));
    while (tail && (is_inside_character(a, a.len - tail) || is_inside_character(b, b.len - tail)))
        tail--;
    *ret_head = head;
    *ret_tail = tail;
}

/* Gives a string of the source the new `text`. Unchanged parts keep their spelling. */
static void set_text(struct setter *s, const struct pl_json_node *string, struct pl_str text)
{
    const struct pl_json_doc *doc = &s->there->doc;
    struct pl_str old = text_of(s, doc, string);
    size_t head, tail;
    find_common(old, text, &head, &tail);
    size_t from = raw_offset(doc, string, head), end = raw_offset(doc, string, old.len - tail);
    PL_CLEANUP_BUF struct pl_buf quoted;
    pl_buf_init(&quoted, 0);
    pl_json_quote(&quoted, pl_str_slice(text, head, text.len - tail));
    struct pl_str middle = keep(s, &quoted);
    if (s->status == PL_OK)
        splice(s, string->off + 1 + from, end - from, pl_str_slice(middle, 1, middle.len - 1));
}

/* --- one way back for each kind of link ----------------------------------------------------------
 */

/* Applies the change from a to b to `ours`, which means the same as a in its own spelling. */
static struct pl_str merged(struct setter *s, const struct pl_json_doc *doc, struct pl_str text,
                            const struct pl_json_node *ours, const struct pl_json_doc *a_doc,
                            const struct pl_json_node *a, const struct pl_json_doc *b_doc,
                            const struct pl_json_node *b)
{
    struct pl_merge merge = {.arena = s->arena,
                             .ours = doc,
                             .ours_text = text,
                             .base = a_doc,
                             .theirs = b_doc,
                             .place = PL_SAME_DATA};
    PL_CLEANUP_BUF struct pl_buf made;
    pl_buf_init(&made, 0);
    enum pl_status status = pl_merge_put(&merge, &made, ours, a, b);
    if (status != PL_OK)
        s->status = status;
    return keep(s, &made);
}

static bool set_copy(struct setter *s, const struct pl_link *link, const struct pl_json_node *a,
                     const struct pl_json_node *b)
{
    const struct pl_json_node *ours = link->node;
    if (pl_json_kind(ours) == PL_JSON_STRING && pl_json_kind(b) == PL_JSON_STRING) {
        set_text(s, ours, text_of(s, s->target, b));
        return true;
    }
    struct pl_str made =
        merged(s, &s->there->doc, s->there->text, ours, &s->there->made, a, s->target, b);
    splice(s, ours->off, ours->len, made);
    return true;
}

/* The source has JSON, the target has it as text in a string. */
static bool set_quoted(struct setter *s, const struct pl_link *link, const struct pl_json_node *b)
{
    const struct pl_json_node *ours = link->node;
    struct pl_json_doc now;
    if (pl_json_kind(b) != PL_JSON_STRING)
        return false;
    struct pl_str text = text_of(s, s->target, b);
    enum pl_status status = pl_json_parse(s->arena, text, &pl_json_any, &now, NULL);
    if (status == PL_NOMEM)
        s->status = status;
    if (status != PL_OK || pl_json_kind(now.root) != pl_json_kind(ours))
        return false;
    splice(s, ours->off, ours->len,
           merged(s, &s->there->doc, s->there->text, ours, &s->there->doc, ours, &now, now.root));
    return true;
}

/* The target's string ends with a piece of the source's, such as the data of a data URL. */
static bool set_inside(struct setter *s, const struct pl_link *link, const struct pl_json_node *a,
                       const struct pl_json_node *b)
{
    if (pl_json_kind(b) != PL_JSON_STRING)
        return false;
    struct pl_str was = pl_json_raw(&s->there->made, a), is = pl_json_raw(s->target, b);
    struct pl_str head = pl_str_slice(was, 0, was.len - link->len);
    if (pl_str_starts(is, head)) {
        splice(s, link->off, link->len, pl_str_slice(is, head.len, is.len));
        return true;
    }
    const char *comma = pl_str_starts(is, PL_STR("data:")) ? memchr(is.ptr, ',', is.len) : NULL;
    if (!comma)
        return false;
    splice(s, link->off, link->len, pl_str_slice(is, (size_t)(comma - is.ptr) + 1, is.len));
    return true;
}

/* The source has JSON in a string, the target has it as a value. */
static bool set_json(struct setter *s, const struct pl_link *link, const struct pl_json_node *a,
                     const struct pl_json_node *b)
{
    struct pl_json_doc held;
    struct pl_str text = text_of(s, &s->there->doc, link->node);
    enum pl_status status = pl_json_parse(s->arena, text, &pl_json_any, &held, NULL);
    if (status == PL_NOMEM)
        s->status = status;
    if (status != PL_OK)
        return false;
    struct pl_str made = merged(s, &held, text, held.root, &s->there->made, a, s->target, b);
    struct pl_buf whole;
    pl_buf_init(&whole, 0);
    pl_buf_add(&whole, pl_str_slice(text, 0, held.root->off));
    pl_buf_add(&whole, made);
    pl_buf_add(&whole, pl_str_slice(text, (size_t)held.root->off + held.root->len, text.len));
    struct pl_str now = keep(s, &whole);
    pl_buf_deinit(&whole);
    if (s->status == PL_OK)
        set_text(s, link->node, now);
    return true;
}

/* The source's text is the message of an error object; the target has that object as text in a
 * string. */
static bool set_message(struct setter *s, const struct pl_link *link, const struct pl_json_node *a,
                        const struct pl_json_node *b)
{
    if (pl_json_kind(a) != PL_JSON_STRING || pl_json_kind(b) != PL_JSON_STRING)
        return false;
    struct pl_json_doc now;
    struct pl_str text = text_of(s, s->target, b), message;
    enum pl_status status =
        s->status == PL_OK ? pl_json_parse(s->arena, text, &pl_json_any, &now, NULL) : s->status;
    if (status == PL_NOMEM)
        s->status = status;
    const struct pl_json_node *said =
        status == PL_OK ? pl_tool_error_flagged(&now, now.root) : NULL;
    if (!said)
        return false;
    if (pl_json_text(s->arena, &now, said, &message) != PL_OK) {
        s->status = PL_NOMEM;
        return false;
    }
    set_text(s, link->node, message);
    return true;
}

/* --- one string made of several texts -----------------------------------------------------------
 */

/* The texts of a joined string, and the glue between them. */
struct joined {
    const struct pl_link *links;
    size_t first, end;  /* the texts that may have changed */
    struct pl_str was;  /* the old string */
    struct pl_str left; /* of the new string: these texts with their glue */
};

static struct pl_str part_of(const struct joined *j, size_t i)
{
    return pl_str_slice(j->was, j->links[i].before, (size_t)j->links[i].before + j->links[i].own);
}

/* The glue before text `i`; for i == n, the glue after the last text. */
static struct pl_str glue_before(const struct joined *j, size_t i, size_t n)
{
    size_t from = i ? (size_t)j->links[i - 1].before + j->links[i - 1].own : 0;
    return pl_str_slice(j->was, from, i < n ? j->links[i].before : j->was.len);
}

static bool ends_with(struct pl_str s, struct pl_str tail)
{
    return s.len >= tail.len && pl_str_eq(pl_str_slice(s, s.len - tail.len, s.len), tail);
}

/* Removes unchanged texts from both ends. False if the glue between them is gone. */
static bool take_unchanged(struct joined *j, size_t n)
{
    struct pl_str head = glue_before(j, 0, n), tail = glue_before(j, n, n);
    if (!pl_str_starts(j->left, head))
        return false;
    j->left = pl_str_slice(j->left, head.len, j->left.len);
    if (!ends_with(j->left, tail))
        return false;
    j->left.len -= tail.len;
    for (; j->first + 1 < j->end; j->first++) {
        struct pl_str part = part_of(j, j->first), glue = glue_before(j, j->first + 1, n);
        if (!pl_str_starts(j->left, part) ||
            !pl_str_starts(pl_str_slice(j->left, part.len, j->left.len), glue))
            break;
        j->left = pl_str_slice(j->left, part.len + glue.len, j->left.len);
    }
    for (; j->first + 1 < j->end; j->end--) {
        struct pl_str part = part_of(j, j->end - 1), glue = glue_before(j, j->end - 1, n);
        if (!ends_with(j->left, part) ||
            !ends_with(pl_str_slice(j->left, 0, j->left.len - part.len), glue))
            break;
        j->left.len -= part.len + glue.len;
    }
    return true;
}

static bool set_parts(struct setter *s, const struct pl_link *links, size_t n,
                      const struct pl_json_node *a, const struct pl_json_node *b)
{
    if (pl_json_kind(a) != PL_JSON_STRING || pl_json_kind(b) != PL_JSON_STRING)
        return false;
    struct joined j = {.links = links, .end = n};
    j.was = text_of(s, &s->there->made, a);
    j.left = text_of(s, s->target, b);
    if (s->status != PL_OK || !take_unchanged(&j, n))
        return false;
    for (size_t i = j.first; i < j.end; i++) {
        struct pl_str glue = glue_before(&j, i + 1, n), text = j.left;
        if (i + 1 < j.end) {
            size_t at = glue.len ? pl_str_find(text, glue) : SIZE_MAX;
            if (at == SIZE_MAX)
                return false;
            text.len = at;
            j.left = pl_str_slice(j.left, text.len + glue.len, j.left.len);
        }
        if (!pl_str_eq(text, part_of(&j, i)))
            set_text(s, links[i].node, text);
    }
    return true;
}

/* The links of the value that begins at `off`: they are adjacent. */
static const struct pl_link *links_at(const struct pl_leg *leg, uint32_t off, size_t *ret_n)
{
    size_t low = pl_leg_link_at(leg, off);
    *ret_n = 0;
    while (low + *ret_n < leg->writer.links.len && leg->writer.links.ptr[low + *ret_n].at == off)
        ++*ret_n;
    return leg->writer.links.ptr + low;
}

/* Half of a surrogate pair cannot be decoded; it exists only as an escape. Such a string is left to
 * the merge, which copies bytes. */
static bool has_half(struct setter *s, const struct pl_json_node *b)
{
    return pl_json_kind(b) == PL_JSON_STRING && (b->tag & PL_JSON_ESCAPED) &&
           pl_str_find(text_of(s, s->target, b), PL_STR("\xEF\xBF\xBD")) != SIZE_MAX;
}

/* Whether the change could be applied to the source. */
static bool set(struct setter *s, const struct pl_json_node *a, const struct pl_json_node *b)
{
    size_t n;
    const struct pl_link *link = links_at(s->there, a->off, &n);
    if (!n || has_half(s, b))
        return false;
    switch (link->how) {
    case PL_LINK_COPY:
        return set_copy(s, link, a, b);
    case PL_LINK_QUOTED:
        return set_quoted(s, link, b);
    case PL_LINK_INSIDE:
        return set_inside(s, link, a, b);
    case PL_LINK_JSON:
        return set_json(s, link, a, b);
    case PL_LINK_PART:
        return set_parts(s, link, n, a, b);
    case PL_LINK_ESCAPED:
        return set_message(s, link, a, b);
    }
    return false;
}

static bool visit(void *ctx, const struct pl_difference *delta)
{
    struct setter *s = ctx;
    bool is_change = delta->kind == PL_DIFFERENCE_INSIDE || delta->kind == PL_DIFFERENCE_CHANGED;
    return s->status == PL_OK && is_change && !set(s, delta->a, delta->b);
}

static int by_offset(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    const struct splice *x = a, *y = b;
    return (x->off > y->off) - (x->off < y->off);
}

/* A value that the target has twice may have two changes: the first one counts. */
static enum pl_status put_spliced(struct setter *s, struct pl_buf *to)
{
    size_t n = s->splices.len, end = 0;
    const void **order = pl_arena_alloc(s->arena, 2 * n + 1, sizeof *order);
    if (!order)
        return PL_NOMEM;
    for (size_t i = 0; i < n; i++)
        order[i] = &s->splices.ptr[i];
    pl_sort(order, order + n, n, by_offset, NULL);
    for (size_t i = 0; i < n; i++) {
        const struct splice *one = order[i];
        if (one->off < end)
            continue;
        pl_buf_add(to, pl_str_slice(s->there->text, end, one->off));
        pl_buf_add(to, one->bytes);
        end = (size_t)one->off + one->len;
    }
    pl_buf_add(to, pl_str_slice(s->there->text, end, s->there->text.len));
    return to->status;
}

enum pl_status pl_home_set_values(struct pl_buf *to, struct pl_arena *arena,
                                  const struct pl_leg *there, const struct pl_json_doc *target,
                                  const struct pl_differences *found, size_t *ret_n)
{
    struct setter s = {.arena = arena, .there = there, .target = target};
    pl_difference_visit(found, visit, &s);
    enum pl_status status = s.status;
    if (status == PL_OK && s.splices.len)
        status = put_spliced(&s, to);
    *ret_n = s.splices.len;
    pl_vec_deinit(&s.splices);
    return status;
}

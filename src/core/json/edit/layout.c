/* How inserts and removals change the bytes between the children of one container.
 *
 *     [ 1, 2 /+ two +/ ]      lead " "   gap ", "   tail " /+ two +/ "        (/+ for a comment)
 *
 * - The gap before a removed child is removed too; for the first child, the gap after it. So each
 *   removal removes one separator. If that gap has a comment, only its comma is removed.
 * - A new child is inserted after the gap and gets a separator like its neighbour's.
 * - The lead stays before the new first child, the tail after the new last one.
 * - A tail with comments or a trailing comma stays whole; a new last child comes after it.
 *
 * Only documents that were read leniently have comments and trailing commas. */
#include "json/edit/edit_int.h"
#include "base/map.h"
#include "json/text.h"

/* Longer white space is not copied: many inserts must not multiply a huge gap. */
enum { MAX_COPIED = 256 };

/* White space, comments and at most one mark (a comma, a colon) between two tokens. */
struct gap {
    uint32_t from, to;
    uint32_t mark;      /* offset of the mark, if has_mark */
    uint32_t solid_end; /* after the last comment or mark: only white space follows */
    bool has_mark, has_comment, ends_in_line_comment;
};

struct layout {
    struct pl_json_splices *splices;
    struct pl_str text;
    const struct pl_json_node *root, *parent;
    uint32_t at;      /* where new bytes go */
    bool has_output;  /* an element is before `at` */
    bool is_gap_used; /* the gap before the current child already follows another element */
    struct gap gap;   /* before the current child */
    struct gap model; /* the gap that new separators copy */
    const struct pl_json_node *sibling; /* key whose colon new members copy; or NULL */
};

static uint32_t after_comment(struct pl_str text, uint32_t at, uint32_t end)
{
    bool is_line = text.ptr[at + 1] == '/';
    for (at += 2; at < end; at++) {
        if (is_line && (text.ptr[at] == '\n' || text.ptr[at] == '\r'))
            return at;
        if (!is_line && text.ptr[at] == '*' && at + 1 < end && text.ptr[at + 1] == '/')
            return at + 2;
    }
    return end;
}

static struct gap scan_gap(struct pl_str text, uint32_t from, uint32_t to, char mark)
{
    struct gap gap = {.from = from, .to = to, .solid_end = from};
    for (uint32_t at = from; at < to;) {
        char c = text.ptr[at];
        if (c == '/' && at + 1 < to) {
            gap.ends_in_line_comment = text.ptr[at + 1] == '/';
            gap.has_comment = true;
            gap.solid_end = at = after_comment(text, at, to);
            continue;
        }
        if (c == mark) {
            gap.has_mark = true;
            gap.ends_in_line_comment = false;
            gap.mark = at;
            gap.solid_end = at + 1;
        }
        at++;
    }
    return gap;
}

static void add(struct layout *l, struct pl_str text)
{
    pl_json_splice_add(l->splices, l->at, l->at, text);
}

static void drop(struct layout *l, uint32_t from, uint32_t to)
{
    if (from < to)
        pl_json_splice_add(l->splices, from, to, (struct pl_str){0});
}

static struct pl_str copied(const struct layout *l, uint32_t from, uint32_t to)
{
    return to - from > MAX_COPIED ? PL_STR("") : pl_str_slice(l->text, from, to);
}

/* The white space before a child in the model. */
static struct pl_str model_space(const struct layout *l)
{
    return copied(l, l->model.solid_end, l->model.to);
}

/* Copies the whole gap if it is white space and its mark; otherwise adds the mark and the white
 * space at the end of the gap. */
static void add_like(struct layout *l, const struct gap *gap, struct pl_str mark)
{
    struct pl_str all = copied(l, gap->from, gap->to);
    if (gap->has_mark && !gap->has_comment && all.len) {
        add(l, all);
        return;
    }
    add(l, mark);
    add(l, copied(l, gap->solid_end, gap->to));
}

static void add_separator(struct layout *l)
{
    add_like(l, &l->model, PL_STR(","));
}

static uint32_t end_of(const struct pl_json_node *n)
{
    return n->off + n->len;
}

static void add_new(struct layout *l, const struct pl_json_change *change)
{
    if (pl_json_kind(l->parent) == PL_JSON_OBJECT) {
        add(l, change->key_json);
        if (l->sibling) {
            struct gap colon = scan_gap(l->text, end_of(l->sibling), l->sibling[1].off, ':');
            add_like(l, &colon, PL_STR(":"));
        } else {
            add(l, PL_STR(":"));
        }
    }
    add(l, change->value);
}

static void drop_gap(struct layout *l)
{
    if (!l->gap.has_comment)
        drop(l, l->gap.from, l->gap.to);
    else if (l->gap.has_mark)
        drop(l, l->gap.mark, l->gap.mark + 1);
    l->is_gap_used = true;
}

/* Called before each element, new or kept, in front of the current child. */
static void begin_element(struct layout *l)
{
    if (!l->has_output && !l->is_gap_used)
        drop_gap(l);
    else if (l->has_output && l->is_gap_used)
        add_separator(l);
    l->has_output = l->is_gap_used = true;
}

/* A line comment ends with its line, so a new element after it needs a line break. */
static void add_break(struct layout *l, const struct gap *gap, struct pl_str space)
{
    bool has_break =
        space.len && (memchr(space.ptr, '\n', space.len) || memchr(space.ptr, '\r', space.len));
    if (gap->ends_in_line_comment && !has_break)
        add(l, PL_STR("\n"));
    add(l, space);
}

/* For an empty container with a line break inside: indents one step deeper than its closing
 * bracket. */
static void add_first_space(struct layout *l, const struct gap *inner)
{
    uint32_t from = inner->to;
    while (from > inner->solid_end && l->text.ptr[from] != '\n')
        from--;
    struct pl_str indent = copied(l, from, inner->to);
    add_break(l, inner, indent);
    if (indent.len && indent.ptr[0] == '\n')
        add(l, memchr(indent.ptr, '\t', indent.len) ? PL_STR("\t") : PL_STR("  "));
}

static void fill_empty(struct layout *l, const struct pl_json_change *const *changes, size_t n)
{
    struct gap inner = scan_gap(l->text, l->parent->off + 1, end_of(l->parent) - 1, ',');
    bool is_member = l->parent != l->root && (l->parent[-1].tag & PL_JSON_KEY);
    l->sibling = is_member ? l->parent - 1 : NULL;
    l->at = inner.solid_end;
    for (size_t i = 0; i < n; i++) {
        if (i)
            add(l, PL_STR(","));
        add_first_space(l, &inner);
        add_new(l, changes[i]);
    }
}

static void append(struct layout *l, const struct gap *tail,
                   const struct pl_json_change *const *changes, size_t n)
{
    bool had_output = l->has_output;
    l->at = tail->from;
    if (tail->solid_end > tail->from) {
        if (had_output && !tail->has_mark)
            add(l, PL_STR(","));
        if (!had_output && tail->has_mark)
            drop(l, tail->mark, tail->mark + 1);
        l->at = tail->solid_end;
        add_break(l, tail, model_space(l));
        l->has_output = false; /* its separator exists already */
    }
    for (size_t i = 0; i < n; i++) {
        if (l->has_output)
            add_separator(l);
        add_new(l, changes[i]);
        l->has_output = true;
    }
    if (had_output && tail->has_mark)
        add(l, PL_STR(","));
}

/* No child is left: removes the white space and any comma, keeps comments. */
static void finish_emptied(struct layout *l, const struct gap *lead, const struct gap *tail)
{
    if (lead->has_comment || tail->has_comment) {
        if (tail->has_mark)
            drop(l, tail->mark, tail->mark + 1);
        return;
    }
    drop(l, lead->from, lead->to);
    drop(l, tail->from, tail->to);
}

static const struct pl_json_node *next_child(const struct pl_json_node *parent,
                                             const struct pl_json_node *child)
{
    return pl_json_kind(parent) == PL_JSON_OBJECT ? pl_json_next_member(child)
                                                  : pl_json_next(child);
}

/* End offset of an element, or of the value of a key. */
static uint32_t child_end(const struct pl_json_node *parent, const struct pl_json_node *child)
{
    return end_of(pl_json_kind(parent) == PL_JSON_OBJECT ? child + 1 : child);
}

/* Sets gap and model for the child after `from`. The gap of the first child is the lead, which
 * stays. */
static void look_at(struct layout *l, const struct pl_json_node *child, uint32_t from)
{
    bool is_first = child == pl_json_first(l->parent);
    const struct pl_json_node *second = next_child(l->parent, child);
    l->gap = scan_gap(l->text, from, child->off, is_first ? 0 : ',');
    l->is_gap_used = is_first;
    l->at = child->off;
    l->sibling = child;
    l->model = l->gap;
    if (is_first && second < pl_json_end(l->parent))
        l->model = scan_gap(l->text, child_end(l->parent, child), second->off, ',');
}

/* Applies the inserts before one child, and its removal; returns the number of changes. */
static size_t change_child(struct layout *l, const struct pl_json_node *child,
                           const struct pl_json_change *const *changes, size_t n)
{
    size_t i = 0;
    for (; i < n && changes[i]->at == child && changes[i]->kind == PL_JSON_CHANGE_INSERT; i++) {
        begin_element(l);
        add_new(l, changes[i]);
    }
    if (i == n || changes[i]->at != child) {
        begin_element(l);
        return i;
    }
    if (!l->is_gap_used)
        drop_gap(l);
    drop(l, child->off, child_end(l->parent, child));
    return i + 1;
}

static enum pl_status lay_out(struct layout *l, const struct pl_json_change *const *changes,
                              size_t n)
{
    const struct pl_json_node *child = pl_json_first(l->parent), *end = pl_json_end(l->parent);
    const struct pl_json_node *last = NULL;
    uint32_t from = l->parent->off + 1, before_last = from;
    size_t i = 0;
    struct gap lead = scan_gap(l->text, from, child->off, 0);
    for (; child < end; child = next_child(l->parent, child)) {
        if (!l->has_output || (i < n && changes[i]->at == child)) {
            look_at(l, child, from);
            i += change_child(l, child, changes + i, n - i);
            if (i < n && changes[i]->at == child)
                return PL_CONFLICT;
        }
        before_last = from;
        from = child_end(l->parent, child);
        last = child;
    }
    struct gap tail = scan_gap(l->text, from, end_of(l->parent) - 1, ',');
    if (i < n) {
        look_at(l, last, before_last);
        append(l, &tail, changes + i, n - i);
    } else if (!l->has_output) {
        finish_emptied(l, &lead, &tail);
    }
    return PL_OK;
}

static bool is_taken(const struct pl_json_doc *doc, const struct pl_json_node *key,
                     const struct pl_map *names, struct pl_arena *scratch,
                     enum pl_status *ret_status)
{
    struct pl_str text;
    *ret_status = pl_json_text(scratch, doc, key, &text);
    return *ret_status == PL_OK && pl_map_get(names, text);
}

/* A new member must not have the name of another new member or of one that stays. */
static enum pl_status check_names(const struct pl_json_doc *doc, const struct pl_json_node *parent,
                                  const struct pl_json_change *const *changes, size_t n)
{
    struct pl_map names = {0};
    PL_CLEANUP_ARENA struct pl_arena scratch;
    pl_arena_init(&scratch, 0);
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < n && status == PL_OK; i++) {
        bool is_new = true;
        if (changes[i]->kind == PL_JSON_CHANGE_INSERT &&
            !pl_map_put(&names, changes[i]->key, &is_new))
            status = PL_NOMEM;
        else if (!is_new)
            status = PL_CONFLICT;
    }
    const struct pl_json_node *key = pl_json_first(parent);
    size_t i = 0;
    for (; names.n_entries && key < pl_json_end(parent) && status == PL_OK;
         key = pl_json_next_member(key)) {
        while (i < n && (changes[i]->at < key ||
                         (changes[i]->at == key && changes[i]->kind == PL_JSON_CHANGE_INSERT)))
            i++;
        bool is_removed = i < n && changes[i]->at == key;
        if (!is_removed && is_taken(doc, key, &names, &scratch, &status))
            status = PL_CONFLICT;
    }
    pl_map_deinit(&names);
    return status;
}

enum pl_status pl_json_layout(struct pl_json_splices *splices, const struct pl_json_doc *doc,
                              const struct pl_json_change *const *changes, size_t n_changes)
{
    struct layout l = {
        .splices = splices, .text = doc->text, .root = doc->root, .parent = changes[0]->parent};
    if (pl_json_kind(l.parent) == PL_JSON_OBJECT) {
        enum pl_status status = check_names(doc, l.parent, changes, n_changes);
        if (status != PL_OK)
            return status;
    }
    if (l.parent->skip > 1)
        return lay_out(&l, changes, n_changes);
    fill_empty(&l, changes, n_changes);
    return PL_OK;
}

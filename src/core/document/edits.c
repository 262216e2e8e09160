/* Finds candidate edits for each finding, nearest first, and tries each one. */
#include "document/edits.h"

#include "base/text/decimal.h"
#include "format/convert.h"
#include "json/edit/edit.h"
#include "json/pointer.h"
#include "json/text.h"
#include "json/write.h"

enum {
    MAX_OPS = 64,    /* for one finding: more would be another document */
    MAX_TRIES = 4,   /* hunks tried for one finding */
    MAX_HUNKS = 256, /* differences considered */
    WINDOW = 32,     /* how far apart equal elements are searched */
};

struct op {
    enum pl_json_change_kind kind;
    struct pl_str pointer; /* arena */
    struct pl_str place;   /* arena; for an insert: the element it goes before, in the original
                              document */
    struct pl_str value;   /* JSON; borrowed; empty for a removal */
};

struct ops {
    struct op list[MAX_OPS];
    size_t n;
    bool is_full;
};

/* Elements [from, end) of the document's list are [made_from, made_end) of the repaired one. */
struct hunk {
    uint32_t from, end, made_from, made_end;
};

struct editing {
    struct pl_arena *arena; /* of the edits; borrowed */
    const struct pl_lint_request *request;
    struct pl_linted *linted;
    struct pl_json_doc made; /* repaired */
    struct pl_str prefix;    /* "/messages" */
    struct hunk hunks[MAX_HUNKS];
    size_t n_hunks;
    size_t n_left; /* bytes */
    enum pl_status status;
};

/* --- the differences ------------------------------------------------------------------------- */

struct elements {
    const struct pl_json_doc *doc;
    const struct pl_json_node **at; /* arena */
    uint32_t n;
};

static bool list_elements(struct pl_arena *arena, const struct pl_json_doc *doc,
                          const struct pl_json_node *array, struct elements *ret)
{
    uint32_t n = 0;
    *ret = (struct elements){.doc = doc, .n = pl_json_count(array)};
    ret->at = pl_arena_alloc(arena, (size_t)ret->n + 1, sizeof *ret->at);
    if (!ret->at)
        return false;
    for (const struct pl_json_node *node = pl_json_first(array); node < pl_json_end(array);
         node = pl_json_next(node))
        ret->at[n++] = node;
    return true;
}

static bool are_equal(const struct elements *a, uint32_t i, const struct elements *b, uint32_t k)
{
    return pl_str_eq(pl_json_span(a->doc, a->at[i]), pl_json_span(b->doc, b->at[k]));
}

/* Finds the nearest place where both lists continue with equal elements, or the end of both. */
static void find_again(const struct elements *a, const struct elements *b, uint32_t *i, uint32_t *k)
{
    for (uint32_t sum = 1; sum <= 2 * WINDOW; sum++)
        for (uint32_t on = sum > WINDOW ? sum - WINDOW : 0; on <= sum && on <= WINDOW; on++) {
            uint32_t to = *i + on, made = *k + (sum - on);
            if (to < a->n && made < b->n && are_equal(a, to, b, made)) {
                *i = to;
                *k = made;
                return;
            }
        }
    *i = a->n;
    *k = b->n;
}

static void compare(struct editing *e, const struct elements *a, const struct elements *b)
{
    uint32_t i = 0, k = 0;
    while ((i < a->n || k < b->n) && e->n_hunks < MAX_HUNKS) {
        if (i < a->n && k < b->n && are_equal(a, i, b, k)) {
            i++;
            k++;
            continue;
        }
        struct hunk hunk = {.from = i, .made_from = k};
        find_again(a, b, &i, &k);
        hunk.end = i;
        hunk.made_end = k;
        e->hunks[e->n_hunks++] = hunk;
    }
}

/* --- operations of an edit ------------------------------------------------------------------- */

static void add_op(struct editing *e, struct ops *ops, enum pl_json_change_kind kind,
                   struct pl_str pointer, struct pl_str value)
{
    if (ops->n == MAX_OPS) {
        ops->is_full = true;
        return;
    }
    struct op op = {.kind = kind, .pointer = pl_arena_dup(e->arena, pointer), .value = value};
    op.place = op.pointer;
    if (!op.pointer.ptr)
        e->status = PL_NOMEM;
    ops->list[ops->n++] = op;
}

static void add_at(struct editing *e, struct ops *ops, enum pl_json_change_kind kind,
                   uint32_t index, struct pl_str value)
{
    PL_CLEANUP_BUF struct pl_buf pointer;
    pl_buf_init(&pointer, 0);
    pl_buf_add(&pointer, e->prefix);
    pl_json_pointer_add_index(&pointer, index);
    if (pointer.status != PL_OK)
        e->status = pointer.status;
    else
        add_op(e, ops, kind, pl_buf_str(&pointer), value);
}

/* Replacements first, because they shift no indexes; then removals, from the end, or inserts. */
static void ops_of_hunk(struct editing *e, const struct hunk *hunk, const struct elements *made,
                        struct ops *ops)
{
    uint32_t n = hunk->end - hunk->from, n_made = hunk->made_end - hunk->made_from;
    uint32_t n_both = n < n_made ? n : n_made;
    for (uint32_t i = 0; i < n_both; i++)
        add_at(e, ops, PL_JSON_CHANGE_SET, hunk->from + i,
               pl_json_span(made->doc, made->at[hunk->made_from + i]));
    for (uint32_t i = n; i > n_both; i--)
        add_at(e, ops, PL_JSON_CHANGE_REMOVE, hunk->from + i - 1, (struct pl_str){0});
    for (uint32_t i = n_both; i < n_made; i++) {
        add_at(e, ops, PL_JSON_CHANGE_INSERT, hunk->from + i,
               pl_json_span(made->doc, made->at[hunk->made_from + i]));
        if (i > n_both && !ops->is_full && e->status == PL_OK)
            ops->list[ops->n - 1].place = ops->list[ops->n - 2].place;
    }
}

static void write_ops(const struct ops *ops, struct pl_buf *to)
{
    static const char *const names[] = {[PL_JSON_CHANGE_SET] = "replace",
                                        [PL_JSON_CHANGE_INSERT] = "add",
                                        [PL_JSON_CHANGE_REMOVE] = "remove"};
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < ops->n; i++) {
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "op");
        pl_json_out_text(&out, pl_str_of(names[ops->list[i].kind]));
        pl_json_out_key(&out, "pointer");
        pl_json_out_text(&out, ops->list[i].pointer);
        if (ops->list[i].kind != PL_JSON_CHANGE_REMOVE) {
            pl_json_out_key(&out, "value");
            pl_json_out_raw(&out, ops->list[i].value);
        }
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
}

/* --- the trial ------------------------------------------------------------------------------- */

/* Edits refer to the original document: consecutive inserts all go before the same element. */
static enum pl_status apply(struct editing *e, const struct ops *ops, struct pl_arena *arena,
                            struct pl_buf *to)
{
    struct pl_json_edit edit;
    enum pl_status status = PL_OK;
    pl_json_edit_init(&edit, arena, &e->linted->doc);
    for (size_t i = 0; i < ops->n && status == PL_OK; i++) {
        const struct op *op = &ops->list[i];
        status = op->kind == PL_JSON_CHANGE_SET
                     ? pl_json_edit_set(&edit, op->pointer, op->value, NULL)
                 : op->kind == PL_JSON_CHANGE_REMOVE
                     ? pl_json_edit_remove(&edit, op->pointer, NULL)
                     : pl_json_edit_insert(&edit, op->place, op->value, NULL);
    }
    if (status == PL_OK)
        status = pl_json_edit_write(&edit, to);
    pl_json_edit_deinit(&edit);
    return status;
}

static size_t count_like(const struct pl_findings *findings, const struct pl_finding *like)
{
    size_t n = 0;
    for (size_t i = 0; i < findings->list.len; i++)
        n += strcmp(findings->list.ptr[i].code, like->code) == 0 &&
             pl_str_eq(findings->list.ptr[i].message, like->message);
    return n;
}

/* The number of findings of a code (counts_all), or of its listed errors. */
static size_t count_errors(const struct pl_findings *findings, const char *code, bool counts_all)
{
    size_t n = 0;
    for (size_t i = 0; i < findings->n_codes && counts_all; i++)
        if (strcmp(findings->counts[i].code, code) == 0)
            return findings->counts[i].n;
    for (size_t i = 0; i < findings->list.len; i++)
        n += findings->list.ptr[i].severity == PL_SEVERITY_ERROR &&
             strcmp(findings->list.ptr[i].code, code) == 0;
    return n;
}

static bool is_better(const struct pl_findings *before, const struct pl_findings *after,
                      const struct pl_finding *finding)
{
    if (count_like(after, finding) >= count_like(before, finding))
        return false;
    for (size_t i = 0; i < after->n_codes; i++) {
        const struct pl_finding_count *count = &after->counts[i];
        bool counts_all = count->n > count->n_listed;
        if (count_errors(after, count->code, counts_all) >
            count_errors(before, count->code, counts_all))
            return false;
    }
    return true;
}

/* Whether these edits fix the finding. */
static bool try(struct editing *e, const struct pl_finding *finding, const struct ops *ops)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf text;
    struct pl_lint_request request = *e->request;
    struct pl_linted after = {0};
    if (!ops->n || ops->is_full || e->status != PL_OK || e->n_left < e->linted->doc.text.len)
        return false;
    e->n_left -= e->linted->doc.text.len;
    pl_arena_init(&arena, 0);
    pl_buf_init(&text, 0);
    request.as = e->linted->as;
    request.lang = PL_SCHEMA_EN;
    request.wants_edits = false;
    enum pl_status status = apply(e, ops, &arena, &text);
    if (status == PL_OK)
        status = pl_lint_document(&arena, pl_buf_str(&text), &request, &after, NULL);
    if (status == PL_NOMEM)
        e->status = PL_NOMEM;
    bool is_good = status == PL_OK && is_better(&e->linted->findings, &after.findings, finding);
    pl_linted_deinit(&after);
    return is_good;
}

static void offer(struct editing *e, struct pl_finding *finding, const struct ops *ops)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    write_ops(ops, &text);
    finding->edits = pl_arena_dup(e->arena, pl_buf_str(&text));
    if (text.status != PL_OK || !finding->edits.ptr)
        e->status = PL_NOMEM;
}

/* --- candidates ------------------------------------------------------------------------------ */

/* The element of the list that contains the pointer; false if it is outside the list. */
static bool element_of(const struct editing *e, struct pl_str pointer, uint32_t *ret_index)
{
    struct pl_str token;
    if (!pl_str_starts(pointer, e->prefix))
        return false;
    pointer = pl_str_slice(pointer, e->prefix.len, pointer.len);
    return pointer.len && pointer.ptr[0] == '/' && pl_json_pointer_next(&pointer, &token) &&
           pl_json_pointer_index(token, ret_index);
}

static uint32_t distance(const struct hunk *hunk, uint32_t index)
{
    if (index < hunk->from)
        return hunk->from - index;
    return index >= hunk->end ? index - hunk->end + 1 : 0;
}

/* The hunk nearest to the element that is not taken yet; n_hunks: none. */
static size_t nearest(const struct editing *e, uint32_t index, const size_t *taken, size_t n_taken)
{
    size_t best = e->n_hunks;
    for (size_t i = 0; i < e->n_hunks; i++) {
        bool is_taken = false;
        for (size_t k = 0; k < n_taken; k++)
            is_taken |= taken[k] == i;
        if (!is_taken && (best == e->n_hunks ||
                          distance(&e->hunks[i], index) < distance(&e->hunks[best], index)))
            best = i;
    }
    return best;
}

static bool try_some(struct editing *e, struct pl_finding *finding, const struct elements *made,
                     size_t first, size_t second)
{
    struct ops ops = {0};
    /* From the end, so that earlier indexes stay valid. */
    size_t late = first > second ? first : second, early = first > second ? second : first;
    ops_of_hunk(e, &e->hunks[late], made, &ops);
    if (early != late)
        ops_of_hunk(e, &e->hunks[early], made, &ops);
    bool is_good = try(e, finding, &ops);
    if (is_good)
        offer(e, finding, &ops);
    return is_good;
}

/* Tries the changes of the repair at the finding or near it, one at a time; then two together, as
 * for a moved element. */
static bool try_hunks(struct editing *e, struct pl_finding *finding, uint32_t index,
                      const struct elements *made)
{
    size_t taken[MAX_TRIES], n = 0;
    for (; n < MAX_TRIES; n++) {
        taken[n] = nearest(e, index, taken, n);
        if (taken[n] == e->n_hunks)
            break;
        if (try_some(e, finding, made, taken[n], taken[n]))
            return true;
    }
    for (size_t i = 1; i < n; i++)
        if (try_some(e, finding, made, taken[0], taken[i]))
            return true;
    return false;
}

/* Tries a setting outside the list: as the repair has it, or removed. */
static bool try_member(struct editing *e, struct pl_finding *finding)
{
    struct pl_str rest = finding->pointer, token;
    struct ops ops = {0};
    const struct pl_json_node *now = NULL;
    if (!e->made.root || !rest.len || !pl_json_pointer_next(&rest, &token))
        return false;
    struct pl_str pointer = pl_str_slice(finding->pointer, 0, token.len + 1);
    (void)pl_json_pointer_get(&e->made, pointer, &now, NULL);
    if (now)
        add_op(e, &ops, PL_JSON_CHANGE_SET, pointer, pl_json_span(&e->made, now));
    else
        add_op(e, &ops, PL_JSON_CHANGE_REMOVE, pointer, (struct pl_str){0});
    bool is_good = try(e, finding, &ops);
    if (is_good)
        offer(e, finding, &ops);
    return is_good;
}

/* Edits for findings that the repair does not cover; the message contains the right value. */
enum own_edit { OWN_REMOVE, OWN_NUMBER, OWN_WORD, OWN_NEW_ID };
static const struct {
    const char *code;
    enum own_edit edit;
} own_edits[] = {
    {"content.empty", OWN_REMOVE},
    {"cite.unused", OWN_REMOVE},
    {"tool.duplicate_name", OWN_REMOVE},
    {"segment.char_count", OWN_NUMBER},
    {"part.type", OWN_WORD},
    {"id.duplicate", OWN_NEW_ID},
};

/* The number in the message. */
static void add_number(struct pl_str message, struct pl_buf *to)
{
    for (size_t i = 0; i < message.len; i++)
        if (message.ptr[i] >= '0' && message.ptr[i] <= '9')
            pl_buf_addc(to, message.ptr[i]);
}

/* The last quoted word of the message: "did you mean …?". */
static void add_word(struct pl_str message, struct pl_buf *to)
{
    size_t end = message.len;
    while (end > 0 && message.ptr[end - 1] != '"')
        end--;
    size_t start = end ? end - 1 : 0;
    while (start > 0 && message.ptr[start - 1] != '"')
        start--;
    if (start > 0)
        pl_json_quote(to, pl_str_slice(message, start, end - 1));
}

/* The id with a number after it, probably unique. */
static void add_new_id(struct editing *e, const struct pl_finding *finding, struct pl_buf *to)
{
    struct pl_str id;
    if (pl_json_kind(finding->node) != PL_JSON_STRING)
        return;
    if (pl_json_text(e->arena, &e->linted->doc, finding->node, &id) != PL_OK) {
        e->status = PL_NOMEM;
        return;
    }
    PL_CLEANUP_BUF struct pl_buf name;
    pl_buf_init(&name, 0);
    pl_buf_add(&name, id);
    pl_buf_addf(&name, "-%zu", (size_t)finding->node->off);
    pl_json_quote(to, pl_buf_str(&name));
}

static bool try_own(struct editing *e, struct pl_finding *finding)
{
    size_t i = 0, n = sizeof own_edits / sizeof *own_edits;
    while (i < n && strcmp(own_edits[i].code, finding->code) != 0)
        i++;
    if (i == n || !finding->pointer.len)
        return false;
    PL_CLEANUP_BUF struct pl_buf value;
    struct ops ops = {0};
    pl_buf_init(&value, 0);
    switch (own_edits[i].edit) {
    case OWN_REMOVE:
        add_op(e, &ops, PL_JSON_CHANGE_REMOVE, finding->pointer, (struct pl_str){0});
        break;
    case OWN_NUMBER:
        add_number(finding->message, &value);
        break;
    case OWN_WORD:
        add_word(finding->message, &value);
        break;
    case OWN_NEW_ID:
        add_new_id(e, finding, &value);
        break;
    }
    if (value.status != PL_OK)
        e->status = value.status;
    if (value.len)
        add_op(e, &ops, PL_JSON_CHANGE_SET, finding->pointer, pl_buf_str(&value));
    bool is_good = try(e, finding, &ops);
    if (is_good)
        offer(e, finding, &ops);
    return is_good;
}

/* --- the whole list -------------------------------------------------------------------------- */

/* Repairs the whole document. PL_OK without e->made: it cannot be repaired. */
static enum pl_status repair(struct editing *e, struct pl_converted *made)
{
    struct pl_convert_opts opts = {.from = e->linted->as,
                                   .to = e->linted->as,
                                   .mode = PL_MODE_REPAIR,
                                   .max_items = e->request->max_items};
    if (e->request->profile && e->request->target == e->linted->as) {
        opts.mode = PL_MODE_GATEWAY;
        opts.profile = e->request->profile;
    }
    enum pl_status status = pl_convert(e->linted->doc.text, &opts, made, NULL);
    if (status == PL_OK)
        status = pl_json_parse(e->arena, pl_buf_str(&made->out), &pl_json_made, &e->made, NULL);
    if (status != PL_OK)
        e->made.root = NULL;
    return status == PL_NOMEM ? status : PL_OK;
}

static enum pl_status find_all(struct editing *e)
{
    const struct pl_format *as = e->linted->as;
    const struct pl_json_node *list = pl_format_list(as, &e->linted->doc),
                              *made_list = e->made.root ? pl_format_list(as, &e->made) : NULL;
    struct elements before = {0}, made = {0};
    PL_CLEANUP_BUF struct pl_buf prefix;
    pl_buf_init(&prefix, 0);
    if (as->list_key[0])
        pl_json_pointer_add(&prefix, pl_str_of(as->list_key));
    e->prefix = pl_buf_str(&prefix);
    e->status = prefix.status;
    if (list && made_list &&
        (!list_elements(e->arena, &e->linted->doc, list, &before) ||
         !list_elements(e->arena, &e->made, made_list, &made)))
        return PL_NOMEM;
    compare(e, &before, &made);
    for (size_t i = 0; i < e->linted->findings.list.len && e->status == PL_OK; i++) {
        struct pl_finding *finding = &e->linted->findings.list.ptr[i];
        uint32_t index;
        bool is_done = try_own(e, finding);
        if (is_done || !finding->has_fix)
            continue;
        if (made_list && element_of(e, finding->pointer, &index))
            (void)try_hunks(e, finding, index, &made);
        else
            (void)try_member(e, finding);
    }
    return e->status;
}

enum pl_status pl_edits_find(struct pl_arena *arena, const struct pl_lint_request *request,
                             struct pl_linted *linted)
{
    struct pl_converted made;
    struct editing *e;
    if (!linted->findings.list.len || linted->doc.text.len > PL_EDITS_MAX_TEXT)
        return PL_OK;
    e = pl_arena_zalloc(arena, 1, sizeof *e);
    if (!e)
        return PL_NOMEM;
    *e = (struct editing){
        .arena = arena,
        .request = request,
        .linted = linted,
        .n_left = PL_EDITS_BYTES,
    };
    pl_converted_init(&made);
    enum pl_status status = repair(e, &made);
    if (status == PL_OK)
        status = find_all(e);
    pl_converted_deinit(&made);
    return status;
}

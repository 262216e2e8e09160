/* Leaf assertions (validation specification, section 6). Numbers are compared exactly, whatever
 * their size: by machine integers when both are small, by their digits otherwise. */
#include "schema/assert.h"

#include "json/equal.h"
#include "json/number.h"
#include "schema/lookup.h"

#define FEW_ITEMS  12  /* compared pairwise */
#define STEP_BYTES 256 /* text bytes per step */

bool pl_run_text(struct pl_schema_run *run, const struct pl_json_node *n, struct pl_str *ret_text)
{
    struct pl_str raw = pl_json_raw(run->doc, n);
    if (!(n->tag & PL_JSON_ESCAPED)) {
        *ret_text = raw;
        return true;
    }
    pl_buf_clear(&run->text);
    char *to = pl_buf_reserve(&run->text, raw.len);
    if (!to)
        return pl_run_stop(run, PL_NOMEM);
    *ret_text = (struct pl_str){to, pl_json_decode(to, raw)};
    return true;
}

bool pl_assert_number(struct pl_schema_run *run, uint8_t code, uint32_t a,
                      const struct pl_json_node *n)
{
    const struct pl_limit *limit = &run->schema->limits.ptr[a];
    int64_t value;
    bool is_small = limit->is_small && pl_small_integer(run->doc, n, &value);
    struct pl_str span = pl_json_span(run->doc, n);
    if (code == PL_OP_MULTIPLE)
        return is_small ? value % limit->value == 0 : pl_json_number_is_multiple(span, limit->span);
    int order = is_small ? (value > limit->value) - (value < limit->value)
                         : pl_json_number_cmp(span, limit->span);
    switch (code) {
    case PL_OP_MINIMUM:
        return order >= 0;
    case PL_OP_MAXIMUM:
        return order <= 0;
    case PL_OP_ABOVE:
        return order > 0;
    default:
        return order < 0;
    }
}

bool pl_assert_length(struct pl_schema_run *run, uint32_t least, uint32_t most,
                      const struct pl_json_node *n)
{
    uint32_t n_bytes = n->len - 2;
    /* A code point is one to four bytes, and at most twelve when escaped. */
    if (n_bytes < least)
        return false;
    if (n_bytes <= most && n_bytes / 12 >= least)
        return true;
    if (!pl_run_spend(run, n_bytes / STEP_BYTES))
        return false;
    size_t count = pl_json_text_count(run->doc, n);
    return count >= least && count <= most;
}

bool pl_assert_pattern(struct pl_schema_run *run, uint32_t regex, const struct pl_json_node *n)
{
    struct pl_str text;
    if (!pl_run_spend(run, PL_SCHEMA_REGEX_STEPS + n->len / STEP_BYTES) ||
        !pl_run_text(run, n, &text))
        return false;
    enum pl_status status = run->regex ? PL_OK : pl_regex_scratch_create(&run->regex);
    if (status == PL_OK)
        status = pl_regex_search(run->schema->regexes.ptr[regex], run->regex, text);
    if (status != PL_OK && status != PL_NOT_FOUND)
        return pl_run_stop(run, status);
    return status == PL_OK;
}

bool pl_assert_format(struct pl_schema_run *run, uint32_t format, const struct pl_json_node *n)
{
    struct pl_str text;
    if (!pl_run_spend(run, PL_SCHEMA_REGEX_STEPS + n->len / STEP_BYTES) ||
        !pl_run_text(run, n, &text))
        return false;
    return run->schema->formats.ptr[format]->is_valid(text);
}

bool pl_assert_types(struct pl_schema_run *run, uint32_t types, const struct pl_json_node *n)
{
    if (!(types >> pl_json_kind(n) & 1))
        return false;
    if (pl_json_kind(n) != PL_JSON_NUMBER || !(types & PL_SCHEMA_INTEGER) ||
        (n->tag & PL_JSON_INTEGER))
        return true;
    return pl_json_number_is_integer(pl_json_span(run->doc, n));
}

static bool same(struct pl_schema_run *run, const struct pl_json_doc *a_doc,
                 const struct pl_json_node *a, const struct pl_json_node *b)
{
    bool is_equal = false;
    if (pl_json_kind(a) != pl_json_kind(b))
        return false;
    uint32_t n_nodes = a->skip < b->skip ? a->skip : b->skip;
    uint32_t n_bytes = a->len < b->len ? a->len : b->len;
    if (!pl_run_spend(run, n_nodes + n_bytes / STEP_BYTES))
        return false;
    enum pl_status status = pl_json_equal(a_doc, a, run->doc, b, &is_equal);
    if (status != PL_OK)
        return pl_run_stop(run, status);
    return is_equal;
}

bool pl_assert_equal(struct pl_schema_run *run, uint32_t doc, const struct pl_json_node *value,
                     const struct pl_json_node *n)
{
    return same(run, &run->schema->docs.ptr[doc].json, value, n);
}

struct hashed {
    uint64_t hash;
    const struct pl_json_node *node; /* NULL: free */
};

/* Many items: compares only items with equal hashes. */
static bool unique_by_hash(struct pl_schema_run *run, const struct pl_json_node *n)
{
    uint32_t bits = 5;
    while (((size_t)1 << bits) < 2 * (size_t)pl_json_count(n))
        bits++;
    size_t mask = ((size_t)1 << bits) - 1;
    if (!pl_run_spend(run, n->skip + n->len / STEP_BYTES))
        return false;
    PL_CLEANUP_FREE struct hashed *table = pl_mem_alloc(mask + 1, sizeof *table);
    if (!table)
        return pl_run_stop(run, PL_NOMEM);
    memset(table, 0, (mask + 1) * sizeof *table);
    for (const struct pl_json_node *e = pl_json_first(n); e != pl_json_end(n);
         e = pl_json_next(e)) {
        uint64_t hash = pl_json_value_hash(run->doc, e);
        size_t at = (size_t)(hash * 0x9E3779B97F4A7C15u >> (64 - bits));
        for (; table[at].node; at = (at + 1) & mask) {
            if (!pl_run_spend(run, 1))
                return false;
            if (table[at].hash == hash && same(run, run->doc, table[at].node, e))
                return false;
        }
        table[at] = (struct hashed){hash, e};
    }
    return run->status == PL_OK;
}

bool pl_assert_unique(struct pl_schema_run *run, const struct pl_json_node *n)
{
    uint32_t count = pl_json_count(n);
    if (count > FEW_ITEMS)
        return unique_by_hash(run, n);
    for (const struct pl_json_node *e = pl_json_first(n); e != pl_json_end(n); e = pl_json_next(e))
        for (const struct pl_json_node *f = pl_json_first(n); f != e; f = pl_json_next(f))
            if (same(run, run->doc, f, e))
                return false;
    return run->status == PL_OK;
}

bool pl_assert_names(struct pl_schema_run *run, const struct pl_dep *dep,
                     const struct pl_json_node *n)
{
    const struct pl_name *names = run->schema->names.ptr;
    if (!dep->n_names || !pl_member_find(run->doc, n, &names[dep->name]))
        return true;
    for (uint32_t i = 0; i < dep->n_names; i++)
        if (!pl_run_spend(run, 1 + pl_json_count(n) / 8) ||
            !pl_member_find(run->doc, n, &names[dep->names + i]))
            return false;
    return true;
}

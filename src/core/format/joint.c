#include "format/joint.h"

#include "base/hash.h"
#include "base/utf8.h"
#include "json/number.h"
#include "json/text.h"

static uint64_t look_of(struct pl_str text)
{
    static const struct pl_hash_key key = {{0x7061726C65792070, 0x6172742D6C6F6F6B}};
    /* What the carry keeps is a number of JSON, exact in every reader. */
    return pl_hash_with(key, text) >> 12;
}

/* Offset behind n code points from the front; false when there are fewer. */
static bool from_front(struct pl_str text, size_t n, size_t *ret_off)
{
    size_t at = 0;
    for (; n > 0 && at < text.len; n--)
        (void)pl_utf8_next(text, &at);
    *ret_off = at;
    return n == 0;
}

/* Offset before n code points from the end. */
static bool from_back(struct pl_str text, size_t n, size_t *ret_off)
{
    size_t at = text.len;
    for (; n > 0 && at > 0; n--) {
        at--;
        while (at > 0 && ((unsigned char)text.ptr[at] & 0xC0) == 0x80)
            at--;
    }
    *ret_off = at;
    return n == 0;
}

static const char *find(struct pl_str text, size_t from, struct pl_str glue)
{
    const char *at = text.ptr + from, *end = text.ptr + text.len;
    if (!glue.len || text.len < glue.len)
        return NULL;
    for (; at < end && (at = memchr(at, glue.ptr[0], (size_t)(end - at))); at++)
        if ((size_t)(end - at) >= glue.len && memcmp(at, glue.ptr, glue.len) == 0)
            return at;
    return NULL;
}

static size_t count(struct pl_str text, struct pl_str glue)
{
    size_t n = 0, at = 0;
    for (const char *found; (found = find(text, at, glue)); n++)
        at = (size_t)(found - text.ptr) + glue.len;
    return n;
}

/* The n code points behind n_before. */
static bool slice(struct pl_str whole, size_t n_before, size_t n, struct pl_str *ret)
{
    size_t start, n_bytes;
    if (!from_front(whole, n_before, &start) ||
        !from_front(pl_str_slice(whole, start, whole.len), n, &n_bytes))
        return false;
    *ret = pl_str_slice(whole, start, start + n_bytes);
    return true;
}

static size_t next_place(size_t n_before, size_t n_own, struct pl_str glue)
{
    return n_before + n_own + pl_utf8_count(glue);
}

bool pl_joint_make(struct pl_str whole, struct pl_str glue, size_t n_before, size_t n_own,
                   size_t n_next, struct pl_joint *ret_joint, struct pl_str *ret_part)
{
    struct pl_str part, next = {0};
    if (!slice(whole, n_before, n_own, &part) ||
        (n_next && !slice(whole, next_place(n_before, n_own, glue), n_next, &next)))
        return false;
    size_t start = (size_t)(part.ptr - whole.ptr);
    *ret_joint = (struct pl_joint){
        .glue = glue,
        .n_before = n_before,
        .n_own = n_own,
        .n_after = pl_utf8_count(pl_str_slice(whole, start + part.len, whole.len)),
        .glues_before = count(pl_str_slice(whole, 0, start), glue),
        .glues_own = count(part, glue),
        .n_next = n_next,
        .look = look_of(part),
        .look_next = look_of(next),
    };
    *ret_part = part;
    return true;
}

void pl_joint_write(struct pl_json_out *out, const struct pl_joint *joint)
{
    pl_json_out_open(out, '[');
    pl_json_out_text(out, joint->glue);
    pl_json_out_int(out, (int64_t)joint->n_before);
    pl_json_out_int(out, (int64_t)joint->n_own);
    pl_json_out_int(out, (int64_t)joint->n_after);
    pl_json_out_int(out, (int64_t)joint->glues_before);
    pl_json_out_int(out, (int64_t)joint->glues_own);
    pl_json_out_int(out, (int64_t)joint->look);
    pl_json_out_int(out, (int64_t)joint->n_next);
    pl_json_out_int(out, (int64_t)joint->look_next);
    pl_json_out_close(out, ']');
}

bool pl_joint_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                   const struct pl_json_node *array, struct pl_joint *ret_joint)
{
    enum { N_NUMBERS = 8 };
    int64_t numbers[N_NUMBERS];
    struct pl_str glue;
    if (pl_json_kind(array) != PL_JSON_ARRAY || pl_json_count(array) != N_NUMBERS + 1 ||
        pl_json_kind(array + 1) != PL_JSON_STRING ||
        pl_json_text(arena, doc, array + 1, &glue) != PL_OK)
        return false;
    for (int i = 0; i < N_NUMBERS; i++)
        if (pl_json_kind(array + 2 + i) != PL_JSON_NUMBER ||
            !pl_json_number_int64(pl_json_span(doc, array + 2 + i), &numbers[i]) ||
            numbers[i] < 0 || numbers[i] >= (int64_t)1 << 53)
            return false;
    *ret_joint = (struct pl_joint){
        .glue = glue,
        .n_before = (size_t)numbers[0],
        .n_own = (size_t)numbers[1],
        .n_after = (size_t)numbers[2],
        .glues_before = (size_t)numbers[3],
        .glues_own = (size_t)numbers[4],
        .look = (uint64_t)numbers[5],
        .n_next = (size_t)numbers[6],
        .look_next = (uint64_t)numbers[7],
    };
    return true;
}

/* Glue, or the end of the whole, stands on both sides of it. */
static bool is_between_glue(const struct pl_joint *j, struct pl_str whole, size_t start, size_t end)
{
    size_t n = j->glue.len;
    bool is_begun =
        start == 0 || (start >= n && pl_str_eq(pl_str_slice(whole, start - n, start), j->glue));
    return is_begun && (end == whole.len || pl_str_eq(pl_str_slice(whole, end, end + n), j->glue));
}

/* Where the glues before it say that it is. */
static struct pl_str cut_by_glue(const struct pl_joint *j, struct pl_str whole)
{
    size_t start = 0, end;
    const char *found = NULL;
    for (size_t i = 0; i < j->glues_before; i++) {
        found = find(whole, start, j->glue);
        if (!found)
            return pl_str_slice(whole, whole.len, whole.len);
        start = (size_t)(found - whole.ptr) + j->glue.len;
    }
    end = start;
    for (size_t i = 0; i <= j->glues_own; i++) {
        found = find(whole, end, j->glue);
        if (!found)
            return pl_str_slice(whole, start, whole.len);
        end = (size_t)(found - whole.ptr) + j->glue.len;
    }
    return pl_str_slice(whole, start, end - j->glue.len);
}

/* The part where it was, counted from the front. When the next one is not where it was, what stands
 * between them is new and goes with this one. */
static bool cut_from_front(const struct pl_joint *j, struct pl_str whole, struct pl_str *ret)
{
    struct pl_str part, next;
    size_t end;
    if (!slice(whole, j->n_before, j->n_own, &part) || look_of(part) != j->look)
        return false;
    size_t start = (size_t)(part.ptr - whole.ptr);
    if (!is_between_glue(j, whole, start, start + part.len))
        return false;
    bool is_next_there =
        j->n_next && slice(whole, next_place(j->n_before, j->n_own, j->glue), j->n_next, &next) &&
        look_of(next) == j->look_next;
    if (!is_next_there && from_back(whole, j->n_after, &end) && end >= start + part.len &&
        is_between_glue(j, whole, start, end))
        part.len = end - start;
    *ret = part;
    return true;
}

/* Counted from the end. What stands before the first part is new and goes with it. */
static bool cut_from_back(const struct pl_joint *j, struct pl_str whole, struct pl_str *ret)
{
    size_t start, end;
    if (!from_back(whole, j->n_after, &end) || !from_back(whole, j->n_after + j->n_own, &start) ||
        look_of(pl_str_slice(whole, start, end)) != j->look ||
        !is_between_glue(j, whole, start, end))
        return false;
    *ret = pl_str_slice(whole, j->n_before ? start : 0, end);
    return true;
}

/* The part that was edited: what is left between its neighbours. */
static bool cut_between(const struct pl_joint *j, struct pl_str whole, struct pl_str *ret)
{
    size_t start, end;
    if (!from_front(whole, j->n_before, &start) || !from_back(whole, j->n_after, &end) ||
        start > end || !is_between_glue(j, whole, start, end))
        return false;
    *ret = pl_str_slice(whole, start, end);
    return true;
}

struct pl_str pl_joint_cut(const struct pl_joint *j, struct pl_str whole)
{
    struct pl_str part;
    if (cut_from_front(j, whole, &part) || cut_from_back(j, whole, &part) ||
        cut_between(j, whole, &part))
        return part;
    return cut_by_glue(j, whole);
}

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

/* ---- marks ---- */

enum { POINTS_PER_MARK = 64 };

static bool is_point(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

static enum pl_status mark_points(struct pl_joined *joined, struct pl_arena *arena)
{
    struct pl_str whole = joined->whole;
    size_t n_points = 0;
    if (joined->n_points == whole.len)
        return PL_OK;
    joined->marks =
        pl_arena_alloc(arena, joined->n_points / POINTS_PER_MARK + 1, sizeof *joined->marks);
    if (!joined->marks)
        return PL_NOMEM;
    joined->marks[0] = 0;
    for (size_t i = 0; i < whole.len; i++)
        if (is_point(whole.ptr[i]) && n_points++ % POINTS_PER_MARK == 0)
            joined->marks[(n_points - 1) / POINTS_PER_MARK] = (uint32_t)i;
    return PL_OK;
}

static enum pl_status mark_glues(struct pl_joined *joined, struct pl_arena *arena)
{
    size_t n = count(joined->whole, joined->glue), at = 0;
    joined->glues = pl_arena_alloc(arena, n + 1, sizeof *joined->glues);
    if (!joined->glues)
        return PL_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const char *found = find(joined->whole, at, joined->glue);
        at = (size_t)(found - joined->whole.ptr) + joined->glue.len;
        joined->glues[i] = (uint32_t)at;
    }
    joined->n_glues = n;
    return PL_OK;
}

enum pl_status pl_joined_init(struct pl_joined *joined, struct pl_arena *arena, struct pl_str whole,
                              struct pl_str glue)
{
    /* A part is looked at where it was from the front and from the end, and by the one before. */
    enum { LOOKS = 3 };
    if (whole.len > PL_JSON_MAX_BYTES)
        return PL_LIMIT;
    *joined = (struct pl_joined){.whole = whole,
                                 .glue = glue,
                                 .n_points = pl_utf8_count(whole),
                                 .n_looks_left = LOOKS * whole.len};
    enum pl_status status = mark_points(joined, arena);
    return status == PL_OK ? mark_glues(joined, arena) : status;
}

/* Offset behind n code points from the front; false when there are fewer. */
static bool from_front(const struct pl_joined *joined, size_t n, size_t *ret_off)
{
    if (n > joined->n_points)
        return false;
    size_t at = n;
    if (n == joined->n_points) {
        at = joined->whole.len;
    } else if (joined->marks) {
        at = joined->marks[n / POINTS_PER_MARK];
        for (size_t left = n % POINTS_PER_MARK; left > 0; left--)
            (void)pl_utf8_next(joined->whole, &at);
    }
    *ret_off = at;
    return true;
}

/* Offset before n code points from the end. */
static bool from_back(const struct pl_joined *joined, size_t n, size_t *ret_off)
{
    return n <= joined->n_points && from_front(joined, joined->n_points - n, ret_off);
}

/* How many glues end before or at an offset. */
static size_t glues_until(const struct pl_joined *joined, size_t off)
{
    size_t from = 0, to = joined->n_glues;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (joined->glues[middle] <= off)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The n code points behind n_before. */
static bool slice(const struct pl_joined *joined, size_t n_before, size_t n, struct pl_str *ret)
{
    size_t start, end, n_end;
    if (__builtin_add_overflow(n_before, n, &n_end) || !from_front(joined, n_before, &start) ||
        !from_front(joined, n_end, &end))
        return false;
    *ret = pl_str_slice(joined->whole, start, end);
    return true;
}

static size_t next_place(size_t n_before, size_t n_own, struct pl_str glue)
{
    return n_before + n_own + pl_utf8_count(glue);
}

bool pl_joint_make(const struct pl_joined *joined, size_t n_before, size_t n_own, size_t n_next,
                   struct pl_joint *ret_joint, struct pl_str *ret_part)
{
    struct pl_str part, next = {0};
    if (!slice(joined, n_before, n_own, &part) ||
        (n_next && !slice(joined, next_place(n_before, n_own, joined->glue), n_next, &next)))
        return false;
    *ret_joint = (struct pl_joint){
        .glue = joined->glue,
        .n_before = n_before,
        .n_own = n_own,
        .n_after = joined->n_points - n_before - n_own,
        .glues_before = glues_until(joined, (size_t)(part.ptr - joined->whole.ptr)),
        .glues_own = count(part, joined->glue),
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
static struct pl_str cut_by_glue(const struct pl_joint *j, const struct pl_joined *joined)
{
    struct pl_str whole = joined->whole;
    if (j->glues_before > joined->n_glues)
        return pl_str_slice(whole, whole.len, whole.len);
    size_t start = j->glues_before ? joined->glues[j->glues_before - 1] : 0;
    if (j->glues_own >= joined->n_glues - j->glues_before)
        return pl_str_slice(whole, start, whole.len);
    return pl_str_slice(whole, start, joined->glues[j->glues_before + j->glues_own] - j->glue.len);
}

/* Whether it says what a part did. Joints that we made ask for each part a few times; those that
 * overlap are not ours, and are not looked at for ever. */
static bool looks_like(struct pl_joined *joined, struct pl_str part, uint64_t look)
{
    if (part.len > joined->n_looks_left)
        return false;
    joined->n_looks_left -= part.len;
    return look_of(part) == look;
}

/* The part where it was, counted from the front. When the next one is not where it was, what stands
 * between them is new and goes with this one. */
static bool cut_from_front(const struct pl_joint *j, struct pl_joined *joined, struct pl_str *ret)
{
    struct pl_str part, next, whole = joined->whole;
    size_t end;
    if (!slice(joined, j->n_before, j->n_own, &part) || !looks_like(joined, part, j->look))
        return false;
    size_t start = (size_t)(part.ptr - whole.ptr);
    if (!is_between_glue(j, whole, start, start + part.len))
        return false;
    bool is_next_there =
        j->n_next && slice(joined, next_place(j->n_before, j->n_own, j->glue), j->n_next, &next) &&
        looks_like(joined, next, j->look_next);
    if (!is_next_there && from_back(joined, j->n_after, &end) && end >= start + part.len &&
        is_between_glue(j, whole, start, end))
        part.len = end - start;
    *ret = part;
    return true;
}

/* Counted from the end. What stands before the first part is new and goes with it. */
static bool cut_from_back(const struct pl_joint *j, struct pl_joined *joined, struct pl_str *ret)
{
    struct pl_str whole = joined->whole;
    size_t start, end;
    if (!from_back(joined, j->n_after, &end) || !from_back(joined, j->n_after + j->n_own, &start) ||
        !looks_like(joined, pl_str_slice(whole, start, end), j->look) ||
        !is_between_glue(j, whole, start, end))
        return false;
    *ret = pl_str_slice(whole, j->n_before ? start : 0, end);
    return true;
}

/* The part that was edited: what is left between its neighbours. */
static bool cut_between(const struct pl_joint *j, const struct pl_joined *joined,
                        struct pl_str *ret)
{
    size_t start, end;
    if (!from_front(joined, j->n_before, &start) || !from_back(joined, j->n_after, &end) ||
        start > end || !is_between_glue(j, joined->whole, start, end))
        return false;
    *ret = pl_str_slice(joined->whole, start, end);
    return true;
}

struct pl_str pl_joint_cut(const struct pl_joint *j, struct pl_joined *joined)
{
    struct pl_str part;
    if (cut_from_front(j, joined, &part) || cut_from_back(j, joined, &part) ||
        cut_between(j, joined, &part))
        return part;
    return cut_by_glue(j, joined);
}

/* Collects the turns of the store and of the session, sorts them by sequence, and writes as many as
 * the limits allow. */
#include "live/turn_page.h"

#include "json/number.h"
#include "json/text.h"

enum pl_status pl_session_snapshot_read(struct pl_arena *arena, struct pl_str reply,
                                        int64_t position, struct pl_session_snapshot *ret_look,
                                        struct pl_error *err)
{
    struct pl_session_snapshot look = {.position = position};
    enum pl_status status = pl_json_parse(arena, reply, &pl_json_own, &look.doc, err);
    if (status == PL_OK)
        *ret_look = look;
    return status;
}

struct pl_str pl_session_snapshot_member(const struct pl_session_snapshot *look, const char *name)
{
    const struct pl_json_node *node = pl_json_get(&look->doc, look->doc.root, pl_str_of(name));
    return node ? pl_json_span(&look->doc, node) : PL_STR("null");
}

/* A turn from either source. */
struct entry {
    int64_t sequence;
    const struct pl_turn_row *row; /* NULL: open */
    struct pl_str open;            /* its projection */
};

static int64_t member_int(const struct pl_session_snapshot *look, const struct pl_json_node *turn,
                          const char *name)
{
    const struct pl_json_node *node = pl_json_get(&look->doc, turn, pl_str_of(name));
    int64_t value = -1;
    if (!node || !pl_json_number_int64(pl_json_span(&look->doc, node), &value))
        return -1;
    return value;
}

static bool is_wanted(const struct pl_turn_query *query, const struct pl_session_snapshot *look,
                      const struct pl_json_node *turn, int64_t sequence)
{
    const struct pl_json_node *loop = pl_json_get(&look->doc, turn, PL_STR("loop_id"));
    if (query->loop_id.len && !(loop && pl_json_text_is(&look->doc, loop, query->loop_id)))
        return false;
    return sequence > query->after && sequence < query->before;
}

/* Whether an open turn is beyond the part of the store that was read, so that other turns are
 * between them. */
static bool is_beyond(const struct pl_turn_query *query, const struct pl_turn_page *page,
                      int64_t sequence)
{
    if (!page->has_more || !page->n_items)
        return false;
    return query->is_newest_first ? sequence < page->items[0].sequence
                                  : sequence > page->items[page->n_items - 1].sequence;
}

/* Open turns first, then the finished ones of the store; sorted afterwards. */
static size_t gather(const struct pl_turn_query *query, const struct pl_session_snapshot *look,
                     const struct pl_turn_page *page, struct entry *entries)
{
    size_t n = 0;
    const struct pl_json_node *open = pl_json_get(&look->doc, look->doc.root, PL_STR("open_turns"));
    for (const struct pl_json_node *turn = pl_json_first(open); turn < pl_json_end(open);
         turn = pl_json_next(turn)) {
        int64_t sequence = member_int(look, turn, "sequence");
        if (is_wanted(query, look, turn, sequence) && !is_beyond(query, page, sequence))
            entries[n++] = (struct entry){sequence, NULL, pl_json_span(&look->doc, turn)};
    }
    for (size_t i = 0; i < page->n_items; i++)
        if (page->items[i].last_event <= look->position)
            entries[n++] = (struct entry){page->items[i].sequence, &page->items[i], {0}};
    return n;
}

/* By insertion: both parts are sorted already, and one of them is short. */
static void sort_entries(struct entry *entries, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct entry entry = entries[i];
        size_t at = i;
        while (at && entry.sequence < entries[at - 1].sequence) {
            entries[at] = entries[at - 1];
            at--;
        }
        entries[at] = entry;
    }
}

/* The number of entries, from the kept end, that are within the limits. The first is on every page,
 * so its bytes do not count. */
static size_t count_fitting(const struct pl_turn_query *query, const struct entry *entries,
                            size_t n)
{
    size_t n_bytes = 0, n_fitting = 0;
    while (n_fitting < n && n_fitting < query->limit) {
        const struct entry *entry =
            &entries[query->is_newest_first ? n - 1 - n_fitting : n_fitting];
        if (n_fitting)
            n_bytes += entry->row ? entry->row->body.len : entry->open.len;
        if (query->max_bytes && n_bytes > query->max_bytes)
            break;
        n_fitting++;
    }
    return n_fitting;
}

enum pl_status pl_turn_page_write(struct pl_store *store, struct pl_arena *arena,
                                  const struct pl_turn_query *query,
                                  const struct pl_session_snapshot *look, struct pl_buf *to,
                                  struct pl_turn_page_end *ret_end, struct pl_error *err)
{
    struct pl_turn_query finished = *query;
    finished.is_terminal_only = true;
    struct pl_turn_page page;
    enum pl_status status = pl_store_turn_list(store, arena, &finished, &page, err);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *open = pl_json_get(&look->doc, look->doc.root, PL_STR("open_turns"));
    struct entry *entries =
        pl_arena_alloc(arena, page.n_items + pl_json_count(open) + 1, sizeof *entries);
    if (!entries)
        return PL_NOMEM;
    size_t n = gather(query, look, &page, entries);
    sort_entries(entries, n);
    size_t n_fitting = count_fitting(query, entries, n);
    size_t first = query->is_newest_first ? n - n_fitting : 0, end = first + n_fitting;
    for (size_t i = first; i < end; i++) {
        if (i > first)
            pl_buf_addc(to, ',');
        if (!entries[i].row)
            pl_buf_add(to, entries[i].open);
        else if ((status = pl_turn_row_write(entries[i].row, to)) != PL_OK)
            return status;
    }
    ret_end->has_more = page.has_more || n_fitting < n;
    ret_end->edge = !n_fitting               ? -1
                    : query->is_newest_first ? entries[first].sequence
                                             : entries[end - 1].sequence;
    return to->status;
}

/* Puts the parts of an answer in the order of their places.
 *
 * The source may interleave several items; every other dialect interleaves only calls. So a part is
 * emitted as it comes when all parts before it are complete; otherwise it waits. A finished part
 * keeps only its slot, so that a repeated event is recognised. */
#include "stream/openai_responses/openai_responses_int.h"

#include "json/text.h"

/* Far more than any answer has; this bounds the work per event. */
enum { MAX_SLOTS = 4096 };

static void add(struct pl_stream *s, struct pl_buf *to, struct pl_str text)
{
    pl_buf_add(to, text);
    if (to->status != PL_OK)
        s->status = PL_NOMEM;
}

/* ---- finding ---- */

/* The first slot that is not before the place. */
static size_t lower_bound(const struct pl_responses_reader *r, uint64_t place)
{
    size_t low = 0, high = r->slots.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->slots.ptr[middle].place < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct pl_responses_slot *pl_responses_slot_find(struct pl_responses_reader *r, uint64_t place)
{
    if (r->last < r->slots.len && r->slots.ptr[r->last].place == place)
        return &r->slots.ptr[r->last];
    size_t at = lower_bound(r, place);
    if (at == r->slots.len || r->slots.ptr[at].place != place)
        return NULL;
    r->last = at;
    return &r->slots.ptr[at];
}

struct pl_responses_slot *pl_responses_slot_need(struct pl_stream *s, struct pl_responses_reader *r,
                                                 uint64_t place)
{
    struct pl_responses_slot *there = pl_responses_slot_find(r, place);
    if (there)
        return there;
    struct pl_responses_slot slot = {.place = place, .key = r->n_keys};
    if (r->slots.len == MAX_SLOTS) {
        r->is_full = true;
        return NULL;
    }
    if (!pl_vec_push(&r->slots, slot)) {
        s->status = PL_NOMEM;
        return NULL;
    }
    r->n_keys++;
    pl_buf_init(&slot.words, 0);
    pl_buf_init(&slot.held, 0);
    pl_buf_init(&slot.said, 0);
    pl_buf_init(&slot.cites, 0);
    pl_buf_init(&slot.logprobs, 0);
    r->slots.len--;
    size_t at = lower_bound(r, place);
    memmove(&r->slots.ptr[at + 1], &r->slots.ptr[at], (r->slots.len - at) * sizeof slot);
    r->slots.ptr[at] = slot;
    r->slots.len++;
    if (r->n_over > at)
        r->n_over = at;
    r->last = at;
    return &r->slots.ptr[at];
}

/* The slots of an item are adjacent, so the scan is short even among thousands of items. */
void pl_responses_slots_complete(struct pl_responses_reader *r, uint64_t first)
{
    for (size_t i = lower_bound(r, first);
         i < r->slots.len && r->slots.ptr[i].place >> 32 == first >> 32; i++)
        r->slots.ptr[i].is_done = true;
}

bool pl_responses_slot_claim(struct pl_responses_slot *slot, enum pl_part_kind kind)
{
    bool is_settled = slot->state != PL_SLOT_WAITING || slot->has_text || slot->words.len;
    if (slot->is_known && is_settled)
        return slot->kind == kind;
    slot->kind = kind;
    slot->is_known = true;
    return true;
}

/* ---- life ---- */

static bool is_complete(const struct pl_responses_slot *slot)
{
    return slot->state == PL_SLOT_OVER || slot->is_done || slot->is_idle;
}

static bool are_both_calls(const struct pl_responses_slot *a, const struct pl_responses_slot *b)
{
    return a->is_known && b->is_known && a->kind == PL_PART_CALL && b->kind == PL_PART_CALL;
}

/* Whether there is something to emit. A call needs its name first. */
static bool has_something(const struct pl_responses_slot *slot)
{
    if (slot->is_known && slot->kind == PL_PART_CALL)
        return slot->words.len > 0;
    return slot->held.len || slot->cites.len;
}

static bool may_start(const struct pl_responses_reader *r, const struct pl_responses_slot *slot)
{
    if (slot->state != PL_SLOT_WAITING || !has_something(slot))
        return false;
    for (size_t i = r->n_over; i < r->slots.len; i++) {
        const struct pl_responses_slot *other = &r->slots.ptr[i];
        bool is_before = other < slot || other->state == PL_SLOT_LIVE;
        if (other != slot && is_before && !is_complete(other) && !are_both_calls(other, slot))
            return false;
    }
    return true;
}

static void emit_cites(struct pl_stream *s, const struct pl_responses_slot *slot)
{
    size_t n = 0;
    for (size_t at = 0; at + sizeof n <= slot->cites.len; at += sizeof n + n) {
        struct pl_json_doc doc;
        memcpy(&n, slot->cites.ptr + at, sizeof n);
        struct pl_delta cite = {
            .kind = PL_DELTA_CITATION,
            .part = slot->part,
            .part_kind = slot->kind,
            .json = {slot->cites.ptr + at + sizeof n, n},
        };
        if (pl_stream_json(s, cite.json, &doc, NULL) != PL_OK) {
            s->status = PL_NOMEM;
            return;
        }
        const struct pl_json_node *url = pl_json_get(&doc, doc.root, PL_STR("url"));
        const struct pl_json_node *title = pl_json_get(&doc, doc.root, PL_STR("title"));
        if (url && pl_json_kind(url) == PL_JSON_STRING)
            cite.url = pl_json_raw(&doc, url);
        if (title && pl_json_kind(title) == PL_JSON_STRING)
            cite.title = pl_json_raw(&doc, title);
        pl_stream_emit(s, &cite);
    }
}

static void drop_bufs(struct pl_responses_slot *slot)
{
    pl_buf_deinit(&slot->words);
    pl_buf_deinit(&slot->held);
    pl_buf_deinit(&slot->said);
    pl_buf_deinit(&slot->cites);
    pl_buf_deinit(&slot->logprobs);
}

static void be_over(struct pl_responses_slot *slot)
{
    slot->state = PL_SLOT_OVER;
    drop_bufs(slot);
}

/* With the log probabilities that wait for it. */
static void emit_text(struct pl_stream *s, struct pl_responses_slot *slot, struct pl_str raw)
{
    PL_CLEANUP_BUF struct pl_buf list;
    pl_buf_init(&list, 0);
    if (slot->logprobs.len) {
        pl_buf_addc(&list, '[');
        pl_buf_add(&list, pl_buf_str(&slot->logprobs));
        pl_buf_addc(&list, ']');
        pl_buf_clear(&slot->logprobs);
        if (list.status != PL_OK)
            s->status = PL_NOMEM;
    }
    pl_stream_emit(s, &(struct pl_delta){
                          .kind = PL_DELTA_FRAGMENT,
                          .part = slot->part,
                          .part_kind = slot->kind,
                          .raw = raw,
                          .json = pl_buf_str(&list),
                      });
}

/* Ends a live slot that will never be complete. */
static void cut_live(struct pl_stream *s, struct pl_responses_slot *slot)
{
    if (slot->logprobs.len)
        emit_text(s, slot, (struct pl_str){0});
    emit_cites(s, slot);
    pl_stream_cut(s, 0, slot->key);
    be_over(slot);
}

/* Ends a live slot. */
static void finish_live(struct pl_stream *s, struct pl_responses_slot *slot)
{
    if (slot->logprobs.len)
        emit_text(s, slot, (struct pl_str){0});
    if (slot->kind == PL_PART_THINKING && slot->words.len)
        pl_stream_emit(
            s, &(struct pl_delta){
                   .kind = PL_DELTA_SIGNATURE,
                   .part = slot->part,
                   .part_kind = slot->kind,
                   .raw = pl_str_slice(pl_buf_str(&slot->words), slot->n_id, slot->words.len),
                   .id = pl_str_slice(pl_buf_str(&slot->words), 0, slot->n_id),
               });
    emit_cites(s, slot);
    pl_stream_close(s, 0, slot->key);
    be_over(slot);
}

static bool is_in_the_way(const struct pl_responses_slot *live,
                          const struct pl_responses_slot *slot)
{
    return live->state == PL_SLOT_LIVE && !are_both_calls(live, slot);
}

/* Emits an item that only OpenAI has, as a whole. */
static void say_own(struct pl_stream *s, struct pl_responses_slot *slot)
{
    pl_stream_take_own(s, pl_buf_str(&slot->held), PL_OWN_ALONE);
    be_over(slot);
}

/* Opens the slot's part and ends parts before it. */
static void start(struct pl_stream *s, struct pl_responses_reader *r,
                  struct pl_responses_slot *slot)
{
    for (size_t i = r->n_over; i < r->slots.len; i++)
        if (is_in_the_way(&r->slots.ptr[i], slot))
            finish_live(s, &r->slots.ptr[i]);
    if (slot->kind == PL_PART_OTHER) {
        say_own(s, slot);
        return;
    }
    struct pl_delta delta = {.part_kind = slot->kind, .is_custom = slot->is_custom};
    if (slot->kind == PL_PART_CALL) {
        delta.id = pl_str_slice(pl_buf_str(&slot->words), 0, slot->n_id);
        delta.name = pl_str_slice(pl_buf_str(&slot->words), slot->n_id, slot->words.len);
        r->has_call = true;
    }
    slot->part = pl_stream_open(s, 0, slot->key, &delta);
    slot->state = PL_SLOT_LIVE;
    if (slot->held.len)
        emit_text(s, slot, pl_buf_str(&slot->held));
    pl_buf_deinit(&slot->held);
}

static void finish(struct pl_stream *s, struct pl_responses_reader *r,
                   struct pl_responses_slot *slot)
{
    if (slot->state == PL_SLOT_WAITING && has_something(slot))
        start(s, r, slot);
    if (slot->state == PL_SLOT_LIVE)
        finish_live(s, slot);
    if (slot->state == PL_SLOT_WAITING)
        drop_bufs(slot);
    slot->state = PL_SLOT_OVER;
}

static void say(struct pl_stream *s, struct pl_responses_reader *r, struct pl_responses_slot *slot,
                struct pl_str raw)
{
    if (slot->state == PL_SLOT_LIVE) {
        emit_text(s, slot, raw);
        return;
    }
    bool is_first = slot->held.len == 0;
    add(s, &slot->held, raw);
    /* Text after the first waits until the first may continue. */
    if (is_first && may_start(r, slot))
        start(s, r, slot);
}

void pl_responses_slot_say(struct pl_stream *s, struct pl_responses_reader *r,
                           struct pl_responses_slot *slot, uint64_t piece, struct pl_str raw)
{
    if (!raw.len)
        return;
    if (slot->has_text && piece != slot->piece)
        say(s, r, slot, PL_STR("\\n\\n"));
    slot->piece = piece;
    slot->has_text = true;
    slot->is_idle = false;
    if (slot->kind == PL_PART_CALL)
        add(s, &slot->said, raw);
    say(s, r, slot, raw);
}

static struct pl_responses_slot *slot_of_key(struct pl_responses_reader *r, uint32_t key)
{
    if (r->last < r->slots.len && r->slots.ptr[r->last].key == key)
        return &r->slots.ptr[r->last];
    for (size_t i = r->n_over; i < r->slots.len; i++)
        if (r->slots.ptr[i].key == key) {
            r->last = i;
            return &r->slots.ptr[i];
        }
    return NULL;
}

bool pl_responses_slot_say_again(struct pl_stream *s, struct pl_responses_reader *r, uint32_t key,
                                 uint64_t piece, struct pl_str raw)
{
    struct pl_responses_slot *slot = slot_of_key(r, key);
    if (!slot || slot->state != PL_SLOT_LIVE || slot->is_done || slot->is_idle ||
        slot->piece != piece)
        return false;
    struct pl_open_part *part = pl_stream_find(s, 0, key);
    if (part && slot->kind == PL_PART_CALL)
        add(s, &slot->said, raw);
    if (part)
        pl_stream_say(s, part, raw);
    return part != NULL;
}

void pl_responses_slots_advance(struct pl_stream *s, struct pl_responses_reader *r)
{
    for (size_t i = r->n_over; i < r->slots.len && s->status == PL_OK; i++) {
        struct pl_responses_slot *slot = &r->slots.ptr[i];
        if (may_start(r, slot))
            start(s, r, slot);
        bool is_silent = slot->state == PL_SLOT_WAITING && !has_something(slot);
        if (slot->is_done && (slot->state == PL_SLOT_LIVE || is_silent))
            finish(s, r, slot);
    }
    while (r->n_over < r->slots.len && r->slots.ptr[r->n_over].state == PL_SLOT_OVER)
        r->n_over++;
}

static bool is_json(struct pl_stream *s, struct pl_str raw)
{
    struct pl_json_doc doc;
    char *text = pl_arena_alloc(&s->arena, raw.len + 1, 1);
    if (!text)
        s->status = PL_NOMEM;
    return text &&
           pl_stream_json(s, (struct pl_str){text, pl_json_decode(text, raw)}, &doc, NULL) == PL_OK;
}

const char *pl_responses_slots_check(struct pl_stream *s, const struct pl_responses_reader *r,
                                     bool is_cut)
{
    for (size_t i = r->n_over; i < r->slots.len; i++) {
        const struct pl_responses_slot *slot = &r->slots.ptr[i];
        if (slot->state == PL_SLOT_OVER || !slot->is_known || slot->kind != PL_PART_CALL)
            continue;
        if (slot->held.len && !slot->words.len)
            return "a call has arguments, but no name";
        bool is_whole = is_cut || slot->is_custom || is_complete(slot) || !slot->said.len;
        if (!is_whole && !is_json(s, pl_buf_str(&slot->said)))
            return "the answer ended before the arguments of a call were complete";
    }
    return NULL;
}

void pl_responses_slots_finish(struct pl_stream *s, struct pl_responses_reader *r)
{
    for (size_t i = 0; i < r->slots.len; i++)
        finish(s, r, &r->slots.ptr[i]);
}

/* A live, incomplete part stays open unless a waiting part needs it closed. */
void pl_responses_slots_release(struct pl_stream *s, void *reader)
{
    struct pl_responses_reader *r = reader;
    for (size_t i = r->n_over; i < r->slots.len; i++)
        if (r->slots.ptr[i].state == PL_SLOT_LIVE && is_complete(&r->slots.ptr[i]))
            finish_live(s, &r->slots.ptr[i]);
    for (size_t i = r->n_over; i < r->slots.len; i++) {
        struct pl_responses_slot *slot = &r->slots.ptr[i];
        if (slot->state != PL_SLOT_WAITING || !has_something(slot))
            continue;
        for (size_t k = r->n_over; k < r->slots.len; k++)
            if (is_in_the_way(&r->slots.ptr[k], slot) && !is_complete(&r->slots.ptr[k]))
                cut_live(s, &r->slots.ptr[k]);
        start(s, r, slot);
    }
}

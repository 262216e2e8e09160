/* Tries candidates for the edited source, the smallest change first: set values, merge additions,
 * merge everything, and last the current target. Each is converted and compared with the target;
 * the nearest one wins. */
#include "carry/home/home.h"

#include "carry/home/home_int.h"
#include "carry/home/home_own.h"
#include "carry/home/merge.h"
#include "format/gpt_oss/gpt_oss.h"

/* Rounds of setting and merging: after a merge there may be new values to set. */
enum { MOST_ROUNDS = 3 };

/* How much of the source a result keeps. */
enum keeps { KEEPS_ALL, KEEPS_ELEMENTS, KEEPS_NOTHING };

/* A candidate, and its distance from the target. */
struct candidate {
    struct pl_str text;   /* borrowed from `memory`, or arena */
    struct pl_buf memory; /* owned; empty for the source */
    enum keeps keeps;
    struct pl_leg *there; /* owned, open; there->made is the candidate in the target's format, if
                             that differs from the target */
    struct pl_differences differences; /* of there->made and the target */
    size_t n_differences;              /* their size */
    bool is_source;
    bool is_usable; /* it can be converted, and no text is missing */
};

struct journey {
    const struct pl_home *home;
    struct pl_conversion there, back;
    struct pl_home_memory *memory; /* borrowed */
    struct pl_leg *now;    /* owned; the current target, converted back without the carry; NULL: not
                           yet */
    struct pl_leg *was;    /* owned; the same of the best candidate, converted there */
    struct pl_buf current; /* owned; the text of `now` */
    const struct candidate *back_of; /* `now` and `was` are of this candidate; NULL: of none */
    bool is_short;                   /* a text of the source is in neither the carry nor the
                                         target */
    struct candidate *source, *best; /* arena; owned, and the same until a better one is found */
    bool is_said_anew; /* the best candidate has the target's meaning, but not its form */
    bool has_given_up; /* no candidate that keeps the source is usable: `now` is the result */
    struct pl_error *err;
};

/* Errors that end the search; any other error makes one candidate unusable. */
static bool is_fatal(enum pl_status status)
{
    return status == PL_NOMEM || status == PL_LIMIT;
}

static bool has_missing(struct pl_str text)
{
    return pl_str_find(text, pl_carry_missing()) != SIZE_MAX;
}

/* Close the candidate whatever this returns. */
static enum pl_status judge(struct journey *j, struct candidate *c, struct pl_error *err)
{
    enum pl_status status = PL_OK;
    if (j->there.from == &pl_format_gpt_oss)
        status = pl_home_read_as_text(j->home, &c->text, err);
    c->there = pl_leg_open(j->memory);
    if (status == PL_OK)
        status = pl_leg_write(c->there, j->home, &j->there, c->text, err);
    if (status != PL_OK)
        return status;
    c->is_usable = !j->is_short || !has_missing(c->text);
    if (c->is_usable && pl_str_eq(pl_buf_str(&c->there->out), j->home->target->text))
        return PL_OK; /* identical bytes: nothing to compare */
    status = pl_leg_parse(c->there, j->home, err);
    if (status != PL_OK)
        return status;
    /* The target was made from the source: messages have the ids that the source gave them. */
    c->there->labels.are_ids = c->is_source;
    struct pl_difference_side side = {&c->there->made, c->there->labels};
    status = pl_difference_find(&c->differences, j->home->arena, &side, j->home->target);
    c->n_differences = pl_difference_size(&c->differences);
    return status;
}

static bool is_done(const struct journey *j)
{
    return j->best->is_usable && j->best->n_differences == 0;
}

static void close_candidate(struct journey *j, struct candidate *c)
{
    pl_leg_close(c->there);
    pl_home_give_text(j->memory, &c->memory);
}

/* Whether it is the text of the best candidate: then it is no nearer. The source itself is compared
 * with its ids. */
static bool is_known(const struct journey *j, const struct pl_buf *text)
{
    return pl_str_eq(pl_buf_str(text), j->best->text) &&
           (!j->best->is_source || !j->best->there->has_labels);
}

static bool is_nearer(const struct candidate *a, const struct candidate *b)
{
    return a->is_usable != b->is_usable ? a->is_usable : a->n_differences < b->n_differences;
}

/* Takes a text, and makes it the best candidate if it is nearer to the target than that one. If it
 * `wins`, it is the best in any case, and was not made from the one before. */
static enum pl_status take(struct journey *j, struct pl_buf *text, enum keeps keeps, bool wins,
                           bool *ret_is_taken)
{
    struct candidate *c = pl_arena_zalloc(j->home->arena, 1, sizeof *c);
    *ret_is_taken = false;
    if (!c)
        return PL_NOMEM;
    c->memory = *text;
    pl_buf_init(text, 0);
    c->text = pl_buf_str(&c->memory);
    c->keeps = wins || keeps > j->best->keeps ? keeps : j->best->keeps;
    enum pl_status status = judge(j, c, NULL);
    *ret_is_taken = status == PL_OK && (wins || is_nearer(c, j->best));
    if (!*ret_is_taken) {
        close_candidate(j, c);
    } else {
        if (j->best != j->source)
            close_candidate(j, j->best);
        j->best = c;
    }
    return is_fatal(status) ? status : PL_OK;
}

static enum pl_status offer(struct journey *j, struct pl_buf *text, enum keeps keeps,
                            bool *ret_is_taken)
{
    *ret_is_taken = false;
    return is_known(j, text) ? PL_OK : take(j, text, keeps, false, ret_is_taken);
}

static enum pl_status set_values(struct journey *j, bool *ret_is_taken)
{
    struct pl_buf text = pl_home_take_text(j->memory);
    size_t n = 0;
    *ret_is_taken = false;
    enum pl_status status = pl_home_set_values(&text, j->home->arena, j->best->there,
                                               j->home->target, &j->best->differences, &n);
    if (status == PL_OK && n)
        status = offer(j, &text, KEEPS_ALL, ret_is_taken);
    pl_home_give_text(j->memory, &text);
    return status;
}

/* The current target, with the original spelling of unchanged values: otherwise white space in a
 * JSON string would look like a change. */
static enum pl_status respell(struct journey *j)
{
    const struct pl_json_doc *was = &j->best->there->made;
    struct pl_same_bytes bytes = pl_same_bytes_of(was, j->home->target);
    struct pl_merge merge = {.arena = j->home->arena,
                             .ours = was,
                             .ours_text = was->text,
                             .base = was,
                             .theirs = j->home->target,
                             .bytes = &bytes,
                             .base_labels = j->best->there->labels,
                             .place = PL_SAME_ROAD};
    pl_buf_clear(&j->current);
    return pl_merge_put(&merge, &j->current, was->root, was->root, j->home->target->root);
}

/* Converts a text of the target's format back. */
static enum pl_status run_back(struct journey *j, struct pl_str text)
{
    struct pl_error why = {0};
    j->now = j->now ? j->now : pl_leg_open(j->memory);
    enum pl_status status = pl_leg_run(j->now, j->home, &j->back, text, &why);
    if (status == PL_OK || is_fatal(status))
        return status;
    return pl_fail(j->err, PL_INVALID, "the document was changed and is no longer %s: %.300s",
                   j->back.from->name, why.message);
}

/* The base of a merge if the old target cannot be converted back. A writer that refuses a
 * conversation without messages has still written the document with an empty list. Without even
 * that, everything in the new target counts as added. */
static enum pl_status settle_for_less(const struct journey *j, struct pl_leg *was)
{
    enum pl_status status = pl_leg_parse(was, j->home, NULL);
    if (status == PL_OK || is_fatal(status))
        return status;
    return pl_json_parse(j->home->arena, PL_STR("{}"), NULL, &was->made, NULL);
}

/* Converts the current target and that of the best candidate back, unless they are. */
static enum pl_status come_back(struct journey *j)
{
    if (j->back_of == j->best)
        return PL_OK;
    enum pl_status status = respell(j);
    if (status == PL_OK)
        status = run_back(j, pl_buf_str(&j->current));
    if (status != PL_OK)
        return status;
    j->was = j->was ? j->was : pl_leg_open(j->memory);
    status = pl_leg_run(j->was, j->home, &j->back, pl_buf_str(&j->best->there->out), NULL);
    if (status != PL_OK && !is_fatal(status))
        status = settle_for_less(j, j->was);
    if (status == PL_OK)
        j->back_of = j->best;
    return status;
}

/* Which of the edits a merge applies. */
enum reach {
    REACH_ADDED, /* only additions: nothing is removed */
    REACH_ALL,
    REACH_WHOLE, /* … and changed elements, whole */
};

/* The values to merge: the documents, or their lists if only one of the two has members around its
 * list. */
struct roots {
    const struct pl_json_node *ours, *base, *theirs;
};

static struct roots find_roots(const struct journey *j, const struct pl_merge *merge)
{
    struct roots roots = {merge->ours->root, merge->base->root, merge->theirs->root};
    if (pl_json_kind(roots.ours) == pl_json_kind(roots.theirs))
        return roots;
    const struct pl_format *format = j->back.to;
    struct roots lists = {pl_format_list(format, merge->ours), pl_format_list(format, merge->base),
                          pl_format_list(format, merge->theirs)};
    return lists.ours && lists.theirs ? lists : roots;
}

/* Merges what was added, removed and moved. */
static enum pl_status merge_edits(struct journey *j, enum reach reach, bool *ret_is_taken)
{
    *ret_is_taken = false;
    enum pl_status status = come_back(j);
    if (status != PL_OK)
        return status;
    struct pl_home_said said;
    const struct pl_leg *was = j->was;
    struct pl_same_bytes bytes = pl_same_bytes_of(&was->made, &j->now->made);
    struct pl_merge merge = {
        .arena = j->home->arena,
        .ours = &j->best->there->doc,
        .ours_text = j->best->text,
        .base = &was->made,
        .theirs = &j->now->made,
        .bytes = &bytes,
        .base_labels = was->labels,
        .theirs_labels = j->now->labels,
        .place = PL_SAME_ROAD,
        .is_said = pl_home_is_said,
        .ctx = &said,
        .is_additive = reach == REACH_ADDED,
        .is_coarse = reach == REACH_WHOLE,
    };
    struct roots roots = find_roots(j, &merge);
    struct pl_buf text = pl_home_take_text(j->memory);
    status = pl_home_find_said(&said, j->home->arena, j->best->there);
    if (status == PL_OK) {
        pl_buf_add(&text, pl_str_slice(j->best->text, 0, roots.ours->off));
        status = pl_merge_put(&merge, &text, roots.ours, roots.base, roots.theirs);
    }
    size_t end = (size_t)roots.ours->off + roots.ours->len;
    pl_buf_add(&text, pl_str_slice(j->best->text, end, j->best->text.len));
    if (status == PL_OK)
        status = text.status;
    enum keeps keeps = reach == REACH_WHOLE ? KEEPS_ELEMENTS : KEEPS_ALL;
    if (status == PL_OK)
        status = offer(j, &text, keeps, ret_is_taken);
    pl_home_give_text(j->memory, &text);
    return status;
}

/* Offers the current target, converted back without the carry. */
static enum pl_status offer_target(struct journey *j)
{
    enum pl_status status = come_back(j);
    if (status != PL_OK)
        return status;
    bool is_taken;
    struct pl_buf text = pl_home_take_text(j->memory);
    pl_buf_add(&text, pl_buf_str(&j->now->out));
    status = text.status == PL_OK ? offer(j, &text, KEEPS_NOTHING, &is_taken) : text.status;
    pl_home_give_text(j->memory, &text);
    return status;
}

/* The steps, from the one that keeps most of the source to the one that keeps least. */
static enum pl_status seek(struct journey *j)
{
    bool goes_on = !is_done(j);
    enum pl_status status = PL_OK;
    for (int round = 0; round < MOST_ROUNDS && goes_on && status == PL_OK; round++) {
        bool is_set = false, is_added = false, is_merged = false;
        status = set_values(j, &is_set);
        if (status == PL_OK && !is_done(j))
            status = merge_edits(j, REACH_ADDED, &is_added);
        if (status == PL_OK && !is_done(j))
            status = merge_edits(j, REACH_ALL, &is_merged);
        goes_on = (is_set || is_added || is_merged) && !is_done(j);
    }
    if (status == PL_OK && !is_done(j))
        status = merge_edits(j, REACH_WHOLE, &goes_on);
    if (status == PL_OK && !is_done(j))
        status = offer_target(j);
    return status;
}

/* --- the target in another form --------------------------------------------------------------- */

/* Whether a conversion says everything. */
static bool is_lossless(struct pl_conv *conv)
{
    pl_conv_sweep(conv);
    for (size_t i = 0; i < conv->losses.len; i++)
        if (conv->losses.ptr[i].code <= PL_LOSS_MERGED && conv->losses.ptr[i].code != PL_LOSS_MOVED)
            return false;
    return conv->status == PL_OK;
}

static bool has_only_system(const struct pl_conv *conv)
{
    for (size_t i = 0; i < conv->messages.len; i++)
        if (conv->messages.ptr[i].role > PL_ROLE_DEVELOPER)
            return false;
    return conv->messages.len > 0;
}

/* Writes the current target as the writer does, into an open leg. *ret_is_same: both mean the same
 * to the source's format. */
static enum pl_status write_anew(struct journey *j, struct pl_leg *there,
                                 struct pl_home_memory *memory, bool *ret_is_same)
{
    *ret_is_same = false;
    enum pl_status status = come_back(j);
    if (status != PL_OK || has_only_system(&j->now->conv) || !is_lossless(&j->now->conv))
        return status;
    struct pl_leg *again = pl_leg_open(memory);
    status = pl_leg_run(there, j->home, &j->there, pl_buf_str(&j->now->out), NULL);
    if (status == PL_OK)
        status = pl_leg_write(again, j->home, &j->back, pl_buf_str(&there->out), NULL);
    *ret_is_same = status == PL_OK && pl_str_eq(pl_buf_str(&again->out), pl_buf_str(&j->now->out));
    pl_leg_close(again);
    return is_fatal(status) ? status : PL_OK;
}

static void close_journey(struct journey *j)
{
    if (j->best != j->source)
        close_candidate(j, j->best);
    close_candidate(j, j->source);
    pl_leg_close(j->now);
    pl_leg_close(j->was);
    pl_home_give_text(j->memory, &j->current);
}

/* The whole search, but for the target that `j` has. Appends the result to `to` if it is exact. */
static enum pl_status seek_for(struct journey *j, struct pl_buf *to, enum keeps *ret_keeps)
{
    j->current = pl_home_take_text(j->memory);
    enum pl_status status = judge(j, j->best, NULL);
    if (status == PL_OK)
        status = seek(j);
    if (status == PL_OK && is_done(j)) {
        pl_buf_add(to, j->best->text);
        *ret_keeps = j->best->keeps;
        status = to->status;
    }
    close_journey(j);
    return status;
}

/* Where nobody else speaks, a writer may put the system's words into a message, and elsewhere once
 * there is a new message. Then the target as the writer has it is the one to reach. */
static enum pl_status seek_anew(struct journey *j)
{
    bool is_same = false, is_taken = false;
    enum keeps keeps = KEEPS_ALL;
    struct pl_home_memory *memory = NULL;
    struct pl_home home = *j->home;
    home.memory = &memory;
    struct candidate *source = pl_arena_zalloc(home.arena, 1, sizeof *source);
    struct journey k = {.home = &home,
                        .memory = pl_home_remember(&home),
                        .there = j->there,
                        .back = j->back,
                        .is_short = j->is_short,
                        .source = source,
                        .best = source};
    if (!source || !k.memory) {
        pl_home_forget(memory);
        return PL_NOMEM;
    }
    struct pl_leg *there = pl_leg_open(j->memory);
    struct pl_buf text = pl_home_take_text(j->memory);
    enum pl_status status = write_anew(j, there, k.memory, &is_same);
    if (status == PL_OK && is_same) {
        home.target = &there->made;
        home.text = pl_buf_str(&there->out);
        *source = (struct candidate){.text = j->source->text, .is_source = true};
        status = seek_for(&k, &text, &keeps);
    }
    pl_leg_close(there);
    if (status == PL_OK && text.len && !pl_str_eq(pl_buf_str(&text), j->best->text))
        status = take(j, &text, keeps, true, &is_taken);
    j->is_said_anew = is_taken;
    pl_home_give_text(j->memory, &text);
    pl_home_forget(memory);
    return is_fatal(status) ? status : PL_OK;
}

static enum pl_status check_task(const struct pl_home *home, const struct pl_carry *carry,
                                 struct pl_error *err)
{
    const struct pl_conversion *was = &carry->conversion, *is = &home->conversion;
    if (was->from != is->to || was->to != is->from)
        return pl_fail(err, PL_INVALID, "this carry converts from %s back to %s, not from %s to %s",
                       was->to->name, was->from->name, is->from->name, is->to->name);
    if (was->kind != is->kind)
        return pl_fail(err, PL_INVALID, "this carry is for a %s; set kind to %s",
                       was->kind == PL_KIND_RESPONSE ? "response" : "request",
                       was->kind == PL_KIND_RESPONSE ? "response" : "request");
    if (is->mode != PL_MODE_CONVERT)
        return pl_fail(err, PL_INVALID,
                       "a carry works only in mode convert; convert the result once more to %s it",
                       pl_mode_name(is->mode));
    return PL_OK;
}

static enum pl_status explain_source(const struct pl_carry *carry, enum pl_status status,
                                     const struct pl_error *why, struct pl_error *err)
{
    if (is_fatal(status) || status == PL_OK)
        return status;
    return pl_fail(err, PL_INVALID,
                   "the source in this carry is not %s: %.300s; use the carry that was made with "
                   "this document",
                   carry->conversion.from->name, why->message);
}

/* A text of the source is missing, and no result that keeps the source can be converted without it:
 * the result is the same as without a carry. */
static enum pl_status give_up(struct journey *j)
{
    enum pl_status status = run_back(j, j->home->text);
    if (status == PL_OK && j->back.to == &pl_format_gpt_oss)
        status = pl_home_check_text(&j->now->made, j->err);
    j->has_given_up = status == PL_OK;
    return status;
}

/* Reports the losses of a conversion without a carry, each at its place in the target, and that no
 * carry was used. */
static enum pl_status report_given_up(struct journey *j)
{
    struct pl_conv *from = &j->now->conv, *to = j->home->conv;
    pl_conv_sweep(from);
    pl_conv_loss(to, PL_LOSS_DROPPED, j->home->target->root,
                 "the document cannot be compared with the source, so it was converted without the "
                 "carry: what only %s can express was not kept",
                 j->back.to->name);
    for (size_t i = 0; i < from->losses.len; i++) {
        const struct pl_loss *loss = &from->losses.ptr[i];
        const struct pl_json_node *at = loss->node ? loss->node : from->doc->root;
        pl_conv_loss(to, loss->code, j->home->target->root + (at - from->doc->root), "%.*s",
                     PL_STR_ARG(loss->detail));
    }
    return from->status != PL_OK ? from->status : to->status;
}

/* Finds the values of the source that the target has no place for. */
static enum pl_status find_own(const struct journey *j, struct pl_home_own *own)
{
    struct pl_arena *arena = j->home->arena;
    struct candidate *source = j->source;
    enum pl_status status = pl_home_find_own(own, arena, source->there);
    if (status == PL_OK && own->n && j->is_short)
        status =
            pl_home_find_replaced(arena, j->home->target, &source->differences, &own->is_replaced);
    return status;
}

/* Also reports a merge that replaced elements by others (a document that became text). */
static enum pl_status report_own(struct journey *j)
{
    static const char *const where[] = {
        [KEEPS_ALL] = "",
        [KEEPS_ELEMENTS] = "In the messages that were changed",
        [KEEPS_NOTHING] = "Apart from these changes",
    };
    struct pl_home_own own, left;
    enum keeps keeps = j->best->keeps;
    bool loses = false;
    enum pl_status status = find_own(j, &own);
    if (status != PL_OK || !own.n)
        return status;
    if (keeps == KEEPS_ALL) {
        status = pl_home_find_own(&left, j->home->arena, j->best->there);
        if (status == PL_OK)
            status = pl_home_loses_own(j->home->arena, &own, &left, &loses);
        if (status != PL_OK || !loses)
            return status;
        keeps = KEEPS_ELEMENTS;
    }
    pl_conv_loss(j->home->conv, PL_LOSS_DROPPED, j->home->target->root,
                 "%s, what only %s can express was not kept", where[keeps], j->back.to->name);
    return PL_OK;
}

static enum pl_status report(struct journey *j)
{
    if (j->has_given_up)
        return report_given_up(j);
    const struct pl_home *home = j->home;
    enum pl_status status = j->best != j->source ? report_own(j) : PL_OK;
    if (status != PL_OK)
        return status;
    const struct pl_json_doc *made = &j->best->there->made;
    if (made->root) /* otherwise its bytes equal the target's */
        status = pl_home_report_twice(home->conv, home->arena, made);
    if (status != PL_OK || !j->best->n_differences)
        return status != PL_OK ? status : home->conv->status;
    return pl_home_report(home->conv, j->best->there, &j->best->differences, &home->conversion,
                          j->is_said_anew);
}

/* Replaces the source at the end of `to` by the result, if that is another text. */
static void put_result(struct journey *j, const struct pl_carry *carry, struct pl_buf *to)
{
    struct pl_str result = j->has_given_up ? pl_buf_str(&j->now->out) : j->best->text;
    struct pl_buf *memory = &j->best->memory, old = *to;
    if (result.ptr == carry->source.ptr)
        return;
    to->len -= carry->source.len;
    if (to->len || result.ptr != memory->ptr || result.len > to->max) {
        pl_buf_add(to, result);
        return;
    }
    /* The result may have megabytes: the buffers change places. */
    to->ptr = memory->ptr;
    to->len = memory->len;
    to->cap = memory->cap;
    memory->ptr = old.ptr;
    memory->cap = old.cap;
}

/* An unchanged target gives the source, even if the source is no longer converted to it: a newer
 * program may write it differently. What differs is reported, because a carry may be damaged. */
static enum pl_status travel(const struct pl_home *home, const struct pl_carry *carry,
                             struct pl_buf *to, struct pl_error *err)
{
    struct journey j = {.home = home,
                        .memory = pl_home_remember(home),
                        .there = carry->conversion,
                        .back = home->conversion,
                        .is_short = carry->has_missing,
                        .err = err};
    bool is_untouched = carry->is_untouched && !carry->has_missing;
    struct pl_error why = {0};
    j.source = j.best = pl_arena_zalloc(home->arena, 1, sizeof *j.best);
    if (!j.memory || !j.best)
        return PL_NOMEM;
    j.current = pl_home_take_text(j.memory);
    j.best->text = carry->source;
    j.best->is_source = true;
    enum pl_status status = judge(&j, j.best, &why);
    if (status != PL_OK && !j.is_short)
        status = explain_source(carry, status, &why, err);
    else if (status == PL_OK && !is_untouched)
        status = seek(&j);
    if (status == PL_OK && !is_untouched && !is_done(&j) && has_only_system(&j.source->there->conv))
        status = seek_anew(&j);
    if (!is_fatal(status) && !j.best->is_usable && j.is_short)
        status = give_up(&j);
    if (status == PL_OK && is_untouched && j.best->n_differences)
        pl_conv_loss(home->conv, PL_LOSS_APPROXIMATED, home->target->root,
                     "the source in the carry is not the source of this document: the carry was "
                     "changed, or another version of parley made it");
    if (status == PL_OK)
        status = report(&j);
    if (status == PL_OK && !is_untouched)
        put_result(&j, carry, to);
    close_journey(&j);
    return status == PL_OK ? to->status : status;
}

enum pl_status pl_home_go(const struct pl_home *home, struct pl_buf *to, struct pl_error *err)
{
    struct pl_carry carry;
    enum pl_status status = pl_carry_read(&carry, to, home->arena, home->carry, home->target, err);
    if (status == PL_OK)
        status = check_task(home, &carry, err);
    if (status == PL_OK)
        status = travel(home, &carry, to, err);
    return status == PL_OK ? to->status : status;
}

/* A fetch: one hop after another.
 *
 *     machine fetch
 *
 *     START -> ADMIT -> LOOKUP -> HOP -> END
 *     ADMIT -> HOP                     the host is an address, which was checked
 *     HOP -> ADMIT                     3xx, three times at most
 *     START, ADMIT, LOOKUP -> END      against a rule, too slow, or cancelled
 *
 * Redirects are parsed here, by our own parser, and every rule applies to them again. One deadline
 * covers the whole fetch. */
#include "io/fetch/fetch_int.h"

#include "base/mem.h"
#include "base/table.h"
#include "io/move.h"

enum state { FETCH_START, FETCH_ADMIT, FETCH_LOOKUP, FETCH_HOP, FETCH_END };

#define WHY      "total_ms of the rules, for all hops together"
#define TO(name) PL_TO(FETCH_##name)
static const struct pl_state states[] = {
    [FETCH_START] = {"start", TO(ADMIT) | TO(END), PL_WAIT_SET, PL_CANCEL_ENDS, .why = WHY},
    [FETCH_ADMIT] = {"admit", TO(LOOKUP) | TO(HOP) | TO(END)},
    [FETCH_LOOKUP] = {"lookup", TO(HOP) | TO(END), PL_WAIT_SET, PL_CANCEL_ENDS, .why = WHY},
    [FETCH_HOP] = {"hop", TO(ADMIT) | TO(END), PL_WAIT_SET, PL_CANCEL_ENDS, .why = WHY},
    [FETCH_END] = {"end", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("fetch", states);

struct pl_fetch {
    struct pl_fetch_from from;
    const struct pl_fetch_rules *rules; /* borrowed */
    const struct pl_fetch_ops *ops;
    void *ctx;
    struct pl_arena arena; /* for places and URLs */
    enum state state;
    struct pl_str next_url;      /* arena; in ADMIT */
    struct pl_fetch_place place; /* the current one */
    struct pl_lookup *lookup;    /* in LOOKUP */
    struct pl_hop *hop;          /* owned; in HOP */
    struct pl_timer deadline;
    struct pl_timer begin; /* starts the first step in a later turn */
    int64_t deadline_ms, max_bytes, n_bytes;
    int n_hops;
    bool is_paused; /* applies to later hops too */
};

static void become(struct pl_fetch *fetch, enum state to)
{
    fetch->state = (enum state)pl_move(&machine, fetch, fetch->state, to);
}

static void destroy(struct pl_fetch *fetch)
{
    pl_lookup_leave(fetch->lookup);
    pl_hop_destroy(fetch->hop);
    pl_timer_stop(fetch->from.loop, &fetch->deadline);
    pl_timer_stop(fetch->from.loop, &fetch->begin);
    pl_arena_deinit(&fetch->arena);
    pl_mem_free(fetch);
}

/* Reports the end. The strings of the result are in the fetch, so it is freed last. */
static void end(struct pl_fetch *fetch, enum pl_status status, const struct pl_fetched *fetched,
                const struct pl_error *err)
{
    become(fetch, FETCH_END);
    fetch->ops->on_end(fetch->ctx, status, fetched, err);
    destroy(fetch);
}

static void fail(struct pl_fetch *fetch, enum pl_status status, const struct pl_error *err)
{
    struct pl_fetched nothing = {.is_late = fetch->hop && pl_hop_is_late(fetch->hop)};
    end(fetch, status, &nothing, err);
}

static void fail_memory(struct pl_fetch *fetch)
{
    struct pl_error err = {0};
    fail(fetch, pl_fail(&err, PL_NOMEM, "out of memory"), &err);
}

static void on_deadline(struct pl_timer *timer)
{
    struct pl_fetch *fetch = PL_CONTAINER_OF(timer, struct pl_fetch, deadline);
    struct pl_error err = {0};
    struct pl_str host = pl_str_slice(fetch->place.host, 0, 200);
    enum pl_status status =
        pl_fail(&err, PL_LIMIT, "%.*s is too slow%s", PL_STR_ARG(host),
                fetch->state == FETCH_LOOKUP ? ": the DNS lookup timed out" : "");
    end(fetch, status, &(struct pl_fetched){.is_late = true}, &err);
}

/* --- the answer of a hop --------------------------------------------------------------------- */

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static void finish(struct pl_fetch *fetch, int status)
{
    PL_CLEANUP_BUF struct pl_buf url;
    struct pl_error err = {0};
    pl_buf_init(&url, 0);
    bool takes_any = fetch->rules->how && fetch->rules->how->takes_any;
    if ((status < 200 || status > 299) && !takes_any) {
        fail(fetch,
             pl_fail(&err, PL_IO, "%.*s answered with status %d",
                     PL_STR_ARG(pl_str_slice(fetch->place.host, 0, 200)), status),
             &err);
        return;
    }
    pl_url_write(&fetch->place.url, &url);
    if (url.status != PL_OK) {
        fail_memory(fetch);
        return;
    }
    struct pl_fetched fetched = {
        .status = status,
        .content_type = pl_fetch_content_type(fetch),
        .headers = pl_fetch_headers(fetch),
        .url = pl_buf_str(&url),
    };
    end(fetch, PL_OK, &fetched, NULL);
}

static void admit(struct pl_fetch *fetch);

static void redirect(struct pl_fetch *fetch)
{
    struct pl_error err = {0};
    if (fetch->n_hops > PL_FETCH_MAX_REDIRECTS) {
        fail(fetch,
             pl_fail(&err, PL_LIMIT, "%.*s redirects more than %d times",
                     PL_STR_ARG(pl_str_slice(fetch->place.host, 0, 200)), PL_FETCH_MAX_REDIRECTS),
             &err);
        return;
    }
    fetch->next_url = pl_arena_dup(&fetch->arena, pl_hop_location(fetch->hop));
    if (!fetch->next_url.ptr) {
        fail_memory(fetch);
        return;
    }
    pl_hop_destroy(PL_TAKE(fetch->hop));
    admit(fetch);
}

/* Redirects are followed only for GET and HEAD: no other request may be sent twice. */
static bool follows(const struct pl_fetch *fetch)
{
    const struct pl_fetch_how *how = fetch->rules->how;
    return !how || !how->method || strcmp(how->method, "GET") == 0 ||
           strcmp(how->method, "HEAD") == 0;
}

static void on_hop_end(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_fetch *fetch = ctx;
    if (status != PL_OK)
        fail(fetch, status, err);
    else if (is_redirect(pl_hop_status(fetch->hop)) && pl_hop_location(fetch->hop).ptr &&
             follows(fetch))
        redirect(fetch);
    else
        finish(fetch, pl_hop_status(fetch->hop));
}

static bool on_hop_bytes(void *ctx, struct pl_str bytes)
{
    struct pl_fetch *fetch = ctx;
    if ((int64_t)bytes.len > fetch->max_bytes - fetch->n_bytes)
        return false;
    fetch->n_bytes += (int64_t)bytes.len;
    fetch->ops->on_bytes(fetch->ctx, bytes);
    return true;
}

/* --- the steps ------------------------------------------------------------------------------- */

static void go(struct pl_fetch *fetch)
{
    static const struct pl_hop_ops ops = {on_hop_bytes, on_hop_end};
    struct pl_error err = {0};
    int64_t left_ms = fetch->deadline_ms - pl_loop_now_ms(fetch->from.loop);
    become(fetch, FETCH_HOP);
    fetch->n_hops++;
    enum pl_status status =
        pl_hop_start(fetch->from.loop, &fetch->place, fetch->max_bytes, left_ms > 1 ? left_ms : 1,
                     fetch->rules->how, fetch->n_hops == 1, &ops, fetch, &fetch->hop, &err);
    if (status != PL_OK)
        fail(fetch, status, &err);
    else if (fetch->is_paused)
        pl_hop_pause(fetch->hop, true);
}

static void on_looked_up(void *ctx, enum pl_status status, const struct pl_addresses *addresses,
                         const struct pl_error *failure)
{
    struct pl_fetch *fetch = ctx;
    struct pl_error err = status == PL_OK ? (struct pl_error){0} : *failure;
    fetch->lookup = NULL;
    if (status == PL_OK)
        fetch->place.addresses = *addresses;
    status = pl_fetch_check_name(&fetch->place, status, &err);
    if (status == PL_OK)
        go(fetch);
    else
        fail(fetch, status, &err);
}

/* The caller's `may` decides about each URL. */
static enum pl_status check_how(struct pl_fetch *fetch, struct pl_error *err)
{
    const struct pl_fetch_how *how = fetch->rules->how;
    PL_CLEANUP_BUF struct pl_buf url;
    if (!how || !how->may)
        return PL_OK;
    pl_buf_init(&url, 0);
    pl_url_write(&fetch->place.url, &url);
    if (url.status != PL_OK)
        return pl_fail(err, PL_NOMEM, "out of memory");
    return how->may(fetch->ctx, pl_buf_str(&url))
               ? PL_OK
               : pl_fail(err, PL_INVALID, "this address may not be asked");
}

static void admit(struct pl_fetch *fetch)
{
    struct pl_error err = {0};
    struct pl_url before = fetch->place.url;
    become(fetch, FETCH_ADMIT);
    enum pl_status status =
        pl_fetch_admit(&fetch->arena, fetch->next_url, fetch->n_hops ? &before : NULL, fetch->rules,
                       &fetch->place, &err);
    if (status == PL_OK)
        status = check_how(fetch, &err);
    if (status != PL_OK) {
        fail(fetch, status, &err);
    } else if (fetch->place.addresses.n) {
        go(fetch);
    } else {
        become(fetch, FETCH_LOOKUP);
        fetch->lookup =
            pl_lookup_start(&fetch->from, fetch->place.host, fetch->rules, on_looked_up, fetch);
        if (!fetch->lookup)
            fail_memory(fetch);
    }
}

static void on_begin(struct pl_timer *timer)
{
    admit(PL_CONTAINER_OF(timer, struct pl_fetch, begin));
}

struct pl_fetch *pl_fetch_start(const struct pl_fetch_from *from, struct pl_str url,
                                const struct pl_fetch_rules *rules, const struct pl_fetch_ops *ops,
                                void *ctx)
{
    struct pl_fetch *fetch = pl_mem_alloc(1, sizeof *fetch);
    if (!fetch)
        return NULL;
    int64_t total_ms = rules->total_ms ? rules->total_ms : PL_FETCH_TOTAL_MS;
    *fetch = (struct pl_fetch){
        .from = *from,
        .rules = rules,
        .ops = ops,
        .ctx = ctx,
        .max_bytes = rules->max_bytes ? rules->max_bytes : PL_FETCH_MAX_BYTES,
        .deadline_ms = pl_loop_now_ms(from->loop) + total_ms,
    };
    pl_arena_init(&fetch->arena, 0);
    fetch->next_url = url.len ? pl_arena_dup(&fetch->arena, url) : PL_STR("");
    if (!fetch->next_url.ptr) {
        pl_fetch_cancel(fetch);
        return NULL;
    }
    pl_timer_start(from->loop, &fetch->deadline, total_ms, on_deadline);
    pl_timer_start(from->loop, &fetch->begin, 0, on_begin);
    return fetch;
}

void pl_fetch_cancel(struct pl_fetch *fetch)
{
    if (!fetch)
        return;
    become(fetch, FETCH_END);
    destroy(fetch);
}

void pl_fetch_pause(struct pl_fetch *fetch, bool is_paused)
{
    fetch->is_paused = is_paused;
    if (fetch->hop)
        pl_hop_pause(fetch->hop, is_paused);
}

int pl_fetch_status(const struct pl_fetch *fetch)
{
    return fetch->hop ? pl_hop_status(fetch->hop) : 0;
}

struct pl_str pl_fetch_headers(const struct pl_fetch *fetch)
{
    return fetch->hop ? pl_hop_headers(fetch->hop) : (struct pl_str){0};
}

struct pl_str pl_fetch_content_type(const struct pl_fetch *fetch)
{
    struct pl_str type = fetch->hop ? pl_hop_content_type(fetch->hop) : (struct pl_str){0};
    return type.ptr ? type : PL_STR("");
}

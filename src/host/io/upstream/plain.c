/* Calls in plain HTTP/1.1, on connections of our own that are kept for the next call. A connection:
 *
 *     machine link
 *
 *     BUSY -> IDLE -> BUSY         its answer was complete: it is kept for the next call
 *     BUSY, IDLE -> CLOSED
 *
 * On a kept connection, only its position tells which call an answer belongs to. So a connection is
 * kept only for calls of the same owner, and is closed if unexpected bytes arrive: bytes after an
 * answer, bytes while it was idle, or, on a kept connection, an answer that begins before its
 * request was wholly written.
 *
 * The other side may close a kept connection while we write to it. If the request was not wholly
 * written, it is sent once more, on a new connection. Any other request may have been executed
 * already, so it fails. */
#include "io/upstream/upstream_int.h"

#include "base/mem.h"
#include "base/table.h"
#include "io/move.h"
#include "io/net/conn.h"
#include "io/net/place.h"
#include "wire/http1/http1_answer.h"

enum {
    N_KEPT = 256,   /* maximum of kept connections to one server */
    KEPT_MS = 4000, /* many servers (Node, uvicorn) close a connection that was idle for 5 s, and a
                       request sent at that moment is lost */
};

struct pl_plain_origin {
    struct pl_plain_origin *next;
    struct link *idle; /* owned; the idle connections, last used first */
    size_t n_idle;
    struct pl_place place; /* its authority is stored after the struct */
};

enum link_state { LINK_BUSY, LINK_IDLE, LINK_CLOSED };

#define TO(name) PL_TO(LINK_##name)
static const struct pl_state link_states[] = {
    [LINK_BUSY] = {"busy", TO(IDLE) | TO(CLOSED), PL_WAIT_SET, PL_CANCEL_ENDS,
                   .why = "the times of its call"},
    [LINK_IDLE] = {"idle", TO(BUSY) | TO(CLOSED), PL_WAIT_SET, PL_CANCEL_ENDS,
                   .why = "KEPT_MS, looked at by the next call; until then it costs a descriptor"},
    [LINK_CLOSED] = {"closed", 0},
};
#undef TO
static const struct pl_machine link_machine = PL_MACHINE("link", link_states);

/* Freed when it is CLOSED and none of its callbacks is running. */
struct link {
    enum link_state state;
    struct pl_upstreams *upstreams; /* borrowed */
    struct pl_plain_origin *origin; /* borrowed */
    struct pl_conn *conn;           /* owned; NULL: CLOSED */
    struct pl_http1_answer *reader; /* owned */
    struct plain_call *call;        /* borrowed; NULL unless BUSY */
    struct link *next;              /* in the list of idle links */
    int n_inside;                   /* number of its callbacks that are running */
    bool is_used;                   /* it has received an answer before */
    struct pl_str owner;            /* stored after the struct; empty: do not keep the connection */
};

enum lost {
    LOST_STALE,     /* a kept connection failed before the whole request was written */
    LOST_UNREACHED, /* connecting failed */
    LOST_BROKEN,
    LOST_MEMORY,
};

struct plain_call {
    struct pl_upstream_call base;
    struct pl_plain_origin *origin; /* borrowed */
    struct link *link;              /* owned; NULL between two attempts */
    struct pl_str owner;            /* stored after the struct */
    struct pl_buf head;             /* owned; the head of the request */
    size_t n_sent;                  /* bytes sent of head and body */
    size_t i_address;               /* the address being tried */
    struct pl_loop_hook later;      /* runs after the link was lost */
    enum lost lost;                 /* the reason */
};

static struct plain_call *call_of(struct pl_upstream_call *base)
{
    return PL_CONTAINER_OF(base, struct plain_call, base);
}

/* --- connections ----------------------------------------------------------------------------- */

static struct pl_plain_origin *origin_of(struct pl_upstreams *upstreams,
                                         const struct pl_place *place)
{
    for (struct pl_plain_origin *at = upstreams->plains; at; at = at->next)
        if (pl_str_eq(at->place.authority, place->authority))
            return at;
    struct pl_plain_origin *origin = pl_mem_alloc(1, sizeof *origin + place->authority.len);
    if (!origin)
        return NULL;
    char *name = (char *)(origin + 1);
    memcpy(name, place->authority.ptr, place->authority.len);
    *origin = (struct pl_plain_origin){.next = upstreams->plains, .place = *place};
    origin->place.authority.ptr = name;
    upstreams->plains = origin;
    return origin;
}

static void become(struct link *link, enum link_state to)
{
    link->state = (enum link_state)pl_move(&link_machine, link, link->state, to);
}

static void free_link(struct link *link)
{
    pl_http1_answer_destroy(link->reader);
    pl_mem_free(link);
}

/* The link must not be in the list of idle links. */
static void close_link(struct link *link)
{
    become(link, LINK_CLOSED);
    pl_conn_close(PL_TAKE(link->conn));
    if (!link->n_inside)
        free_link(link);
}

static void leave_link(struct link *link)
{
    link->n_inside--;
    if (link->state == LINK_CLOSED && !link->n_inside)
        free_link(link);
}

static struct link *take_at(struct pl_plain_origin *origin, struct link **at)
{
    struct link *link = *at;
    *at = link->next;
    origin->n_idle--;
    return link;
}

static void drop_idle(struct link *link)
{
    struct link **at = &link->origin->idle;
    while (*at != link)
        at = &(*at)->next;
    close_link(take_at(link->origin, at));
}

static void drop_from(struct pl_plain_origin *origin, struct link **at)
{
    while (*at)
        close_link(take_at(origin, at));
}

static bool is_fresh(const struct link *link)
{
    return pl_loop_now_ms(link->upstreams->loop) - pl_conn_active_ms(link->conn) < KEPT_MS;
}

/* The owner's most recently used connection; NULL if there is none. All links after one that is too
 * old are older still. If unread bytes wait on a link, they answer no request, so it is closed. */
static struct link *take_fresh(struct pl_plain_origin *origin, struct pl_str owner)
{
    for (struct link **at = &origin->idle; *at;) {
        if (!is_fresh(*at)) {
            drop_from(origin, at);
        } else if (!pl_str_eq((*at)->owner, owner)) {
            at = &(*at)->next;
        } else {
            struct link *link = take_at(origin, at);
            if (pl_conn_is_quiet(link->conn))
                return link;
            close_link(link);
        }
    }
    return NULL;
}

static void keep(struct link *link)
{
    struct pl_plain_origin *origin = link->origin;
    struct link **at = &origin->idle;
    if (origin->n_idle == N_KEPT) {
        while ((*at)->next)
            at = &(*at)->next;
        close_link(take_at(origin, at));
    }
    become(link, LINK_IDLE);
    pl_conn_resume(link->conn);
    link->is_used = true;
    link->next = origin->idle;
    origin->idle = link;
    origin->n_idle++;
}

static struct pl_str copy_after(void *place, struct pl_str text)
{
    if (text.len)
        memcpy(place, text.ptr, text.len);
    return (struct pl_str){place, text.len};
}

static const struct pl_conn_ops conn_ops;

static enum pl_status open_link(struct plain_call *call, struct link **ret_link)
{
    const struct pl_place *place = &call->origin->place;
    struct pl_upstreams *upstreams = call->base.upstreams;
    struct link *link = pl_mem_alloc(1, sizeof *link + call->owner.len);
    struct pl_http1_answer *reader = link ? pl_http1_answer_create() : NULL;
    struct pl_conn *conn;
    enum pl_status status = reader ? PL_OK : PL_NOMEM;
    if (status == PL_OK)
        status =
            pl_conn_open(upstreams->loop, &place->addresses[call->i_address], place->port, &conn);
    if (status != PL_OK) {
        pl_http1_answer_destroy(reader);
        pl_mem_free(link);
        return status;
    }
    *link = (struct link){
        .upstreams = upstreams,
        .origin = call->origin,
        .conn = conn,
        .reader = reader,
        .owner = copy_after(link + 1, call->owner),
    };
    pl_conn_start(conn, &conn_ops, link);
    *ret_link = link;
    return PL_OK;
}

/* --- asking ---------------------------------------------------------------------------------- */

static void lose(struct plain_call *call, enum lost why)
{
    pl_upstream_is_lost(&call->base);
    call->lost = why;
    if (call->link) {
        call->link->call = NULL;
        close_link(PL_TAKE(call->link));
    }
    pl_loop_hook_add(call->base.upstreams->loop, &call->later);
}

static bool is_sent(const struct plain_call *call)
{
    return call->n_sent == call->head.len + call->base.n_body;
}

/* Bytes on a kept connection cannot answer a request that is not wholly written yet. On a new
 * connection, a server may refuse the rest early (413). */
static bool is_too_early(const struct plain_call *call)
{
    return call->link->is_used && !is_sent(call);
}

/* The connection of the call has ended. */
static void lose_link(struct plain_call *call)
{
    lose(call, call->base.state == PL_UP_CONNECTING ? LOST_UNREACHED
               : is_too_early(call)                 ? LOST_STALE
                                                    : LOST_BROKEN);
}

static void send_rest(struct plain_call *call)
{
    const struct pl_upstream_call *base = &call->base;
    struct pl_str pieces[1 + PL_UPSTREAM_PIECES];
    size_t n_pieces = 0, n = 0;
    size_t skip = call->n_sent; /* bytes to skip in the pieces */
    for (size_t i = 0; i <= base->n_pieces; i++) {
        struct pl_str piece = i ? base->pieces[i - 1] : pl_buf_str(&call->head);
        size_t n_skipped = skip < piece.len ? skip : piece.len;
        skip -= n_skipped;
        if (n_skipped < piece.len)
            pieces[n_pieces++] = pl_str_slice(piece, n_skipped, piece.len);
    }
    if (pl_conn_write(call->link->conn, pieces, n_pieces, &n) != PL_OK) {
        lose_link(call);
        return;
    }
    call->n_sent += n;
    if (n && call->base.state == PL_UP_CONNECTING)
        pl_upstream_is_connected(&call->base);
    if (is_sent(call))
        pl_upstream_tell_sent(&call->base);
}

static void begin_on(struct plain_call *call, struct link *link)
{
    call->link = link;
    call->n_sent = 0;
    link->call = call;
    send_rest(call);
}

static void begin_kept(struct plain_call *call, struct link *link)
{
    become(link, LINK_BUSY);
    pl_upstream_is_connected(&call->base);
    begin_on(call, link);
}

static void begin_anew(struct plain_call *call)
{
    struct link *link;
    pl_upstream_is_connecting(&call->base);
    enum pl_status status = open_link(call, &link);
    if (status == PL_OK)
        begin_on(call, link);
    else
        lose(call, status == PL_NOMEM ? LOST_MEMORY : LOST_UNREACHED);
}

static void on_later(struct pl_loop_hook *later)
{
    struct plain_call *call = PL_CONTAINER_OF(later, struct plain_call, later);
    switch (call->lost) {
    case LOST_STALE:
        begin_anew(call);
        break;
    case LOST_UNREACHED:
        if (++call->i_address < call->origin->place.n_addresses)
            begin_anew(call);
        else
            pl_upstream_tell_failure(&call->base, PL_UPSTREAM_REFUSED, PL_UPSTREAM_SAY_REFUSED);
        break;
    case LOST_BROKEN:
        pl_upstream_tell_failure(&call->base, PL_UPSTREAM_BROKEN, PL_UPSTREAM_SAY_BROKEN);
        break;
    case LOST_MEMORY:
        pl_upstream_tell_failure(&call->base, PL_UPSTREAM_MEMORY, PL_UPSTREAM_SAY_MEMORY);
        break;
    }
}

/* --- what the connection brings -------------------------------------------------------------- */

/* The answer is complete. */
static void finish(struct link *link)
{
    struct plain_call *call = PL_TAKE(link->call);
    bool is_kept = link->owner.len && pl_http1_answer_is_kept(link->reader) &&
                   !pl_http1_answer_has_rest(link->reader) && is_sent(call);
    call->link = NULL;
    if (is_kept)
        keep(link);
    else
        close_link(link);
    pl_upstream_tell_end(&call->base);
}

static void tell(struct link *link, enum pl_http1_event event)
{
    struct pl_upstream_call *base = &link->call->base;
    switch (event) {
    case PL_HTTP1_HEAD:
        pl_upstream_tell_head(base, pl_http1_answer_status(link->reader),
                              pl_http1_answer_fields(link->reader));
        break;
    case PL_HTTP1_BODY:
        pl_upstream_tell_body(base, pl_http1_answer_body(link->reader));
        break;
    case PL_HTTP1_END:
        finish(link);
        break;
    case PL_HTTP1_MORE:
        break;
    }
}

static void read_answer(struct link *link)
{
    struct plain_call *call = link->call;
    enum pl_http1_event event = PL_HTTP1_HEAD;
    while (link->call == call && event != PL_HTTP1_END) {
        enum pl_status status = pl_http1_answer_next(link->reader, &event, NULL);
        if (status != PL_OK) {
            lose(call, status == PL_NOMEM ? LOST_MEMORY : LOST_BROKEN);
            return;
        }
        if (event == PL_HTTP1_MORE)
            return;
        tell(link, event);
    }
}

static void on_read(void *ctx, char *bytes, size_t n)
{
    struct link *link = ctx;
    /* There is no request to answer. */
    if (link->state == LINK_IDLE) {
        drop_idle(link);
        return;
    }
    if (is_too_early(link->call)) {
        lose_link(link->call);
        return;
    }
    link->n_inside++;
    pl_http1_answer_feed(link->reader, bytes, n);
    read_answer(link);
    leave_link(link);
}

static void on_end(void *ctx)
{
    struct link *link = ctx;
    if (link->state == LINK_IDLE) {
        drop_idle(link);
        return;
    }
    link->n_inside++;
    if (pl_http1_answer_finish(link->reader) == PL_OK)
        finish(link);
    else
        lose_link(link->call);
    leave_link(link);
}

static void on_writable(void *ctx)
{
    struct link *link = ctx;
    if (link->state == LINK_BUSY && !is_sent(link->call))
        send_rest(link->call);
}

static const struct pl_conn_ops conn_ops = {on_read, on_end, on_writable};

/* --- life of a call -------------------------------------------------------------------------- */

static void stop(struct pl_upstream_call *base)
{
    struct plain_call *call = call_of(base);
    if (call->link) {
        call->link->call = NULL;
        close_link(call->link);
    }
    pl_loop_hook_remove(base->upstreams->loop, &call->later);
    pl_upstream_deinit(base);
    pl_buf_deinit(&call->head);
    pl_mem_free(call);
}

static void set_pause(struct pl_upstream_call *base, bool is_paused)
{
    struct plain_call *call = call_of(base);
    if (!call->link)
        return;
    if (is_paused)
        pl_conn_pause(call->link->conn);
    else
        pl_conn_resume(call->link->conn);
}

static const struct pl_road road = {stop, stop, set_pause};

static void add_line(struct pl_buf *to, const char *line)
{
    pl_buf_adds(to, line);
    pl_buf_add(to, PL_STR("\r\n"));
}

static void add_length(struct pl_buf *to, size_t n)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + n % 10);
    while (n /= 10);
    pl_buf_add(to, PL_STR("Content-Length: "));
    pl_buf_add(to, (struct pl_str){digits + at, sizeof digits - at});
    pl_buf_add(to, PL_STR("\r\n"));
}

static enum pl_status write_head(struct plain_call *call, struct pl_str path,
                                 const struct pl_upstream_request *request)
{
    struct pl_buf *head = &call->head;
    pl_buf_reserve(head, 512);
    pl_buf_adds(head, request->method);
    pl_buf_addc(head, ' ');
    pl_buf_add(head, path);
    add_line(head, " HTTP/1.1");
    pl_buf_add(head, PL_STR("Host: "));
    pl_buf_add(head, call->origin->place.authority);
    pl_buf_add(head, PL_STR("\r\n"));
    for (size_t i = 0; request->headers && request->headers[i]; i++)
        add_line(head, request->headers[i]);
    if (request->body || request->n_pieces)
        add_length(head, call->base.n_body);
    pl_buf_add(head, PL_STR("\r\n"));
    return head->status;
}

enum pl_status pl_plain_start(struct pl_upstreams *upstreams,
                              const struct pl_upstream_request *request,
                              const struct pl_upstream_ops *ops, void *ctx,
                              struct pl_upstream_call **ret_call, struct pl_error *err)
{
    struct pl_place place;
    struct pl_str path;
    if (!pl_place_find(request->url, &place, &path) ||
        (upstreams->has_proxy && !pl_place_is_here(&place)))
        return PL_NOT_FOUND;
    struct pl_plain_origin *origin = origin_of(upstreams, &place);
    struct plain_call *call = origin ? pl_mem_alloc(1, sizeof *call + request->owner.len) : NULL;
    if (!call)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *call = (struct plain_call){
        .origin = origin,
        .later.fn = on_later,
        .owner = copy_after(call + 1, request->owner),
    };
    pl_buf_init(&call->head, 0);
    pl_upstream_init(&call->base, upstreams, &road, request, ops, ctx);
    if (write_head(call, path, request) != PL_OK) {
        stop(&call->base);
        return pl_fail(err, PL_NOMEM, "out of memory");
    }
    struct link *link = request->owner.len ? take_fresh(origin, call->owner) : NULL;
    if (link)
        begin_kept(call, link);
    else
        begin_anew(call);
    *ret_call = &call->base;
    return PL_OK;
}

void pl_plain_destroy(struct pl_upstreams *upstreams)
{
    while (upstreams->plains) {
        struct pl_plain_origin *origin = upstreams->plains;
        drop_from(origin, &origin->idle);
        upstreams->plains = origin->next;
        pl_mem_free(origin);
    }
}

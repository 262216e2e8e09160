/* Sends an answer: the head and the first bytes of the body in one write, the rest as the kernel
 * accepts it. A worker reads a long body one piece at a time, and only after the previous piece was
 * sent: a slow client costs one piece. */
#include "http/exchange_int.h"

#include "base/mem.h"
#include "base/table.h"
#include "http/connection.h"

#include <unistd.h>

enum { PIECE_BYTES = 256 << 10 };

/* Headers of every answer: it is not a page, a script or a frame. */
static const char plain_headers[] = "X-Content-Type-Options: nosniff\r\n"
                                    "Referrer-Policy: no-referrer\r\n"
                                    "Cross-Origin-Opener-Policy: same-origin\r\n"
                                    "Cross-Origin-Resource-Policy: same-origin\r\n";
static const char plain_policy[] =
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'; base-uri 'none'\r\n";
static const char plain_cache[] = "Cache-Control: no-store\r\n";

static void add_number(struct pl_buf *to, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    pl_buf_add(to, (struct pl_str){digits + at, sizeof digits - at});
}

static bool has_line(const struct pl_buf *headers, const char *name)
{
    return headers->len && memmem(headers->ptr, headers->len, name, strlen(name));
}

static bool has_no_body(int status)
{
    return status == 204 || status == 304;
}

/* The Date line for the current second. */
static struct pl_str date_line(struct pl_shard *shard)
{
    struct pl_exchange_pool *pool = shard->exchanges;
    int64_t now_s = pl_loop_unix_ms(shard->loop) / 1000;
    if (now_s != pool->date_s) {
        memcpy(pool->date, "Date: ", 6);
        pl_http_date_write(pool->date + 6, now_s);
        memcpy(pool->date + 6 + PL_HTTP_DATE_SIZE, "\r\n", 2);
        pool->date_s = now_s;
    }
    return (struct pl_str){pool->date, sizeof pool->date};
}

static void add_standard_headers(struct pl_exchange_own *own, struct pl_buf *to)
{
    struct pl_exchange *x = &own->x;
    pl_buf_add(to, date_line(x->shard));
    pl_buf_add(to, PL_STR("X-Request-Id: "));
    pl_buf_adds(to, x->request_id);
    pl_buf_add(to, PL_STR("\r\n"));
    pl_buf_adds(to, x->shard->server->node_header);
    if (x->traceparent[0]) {
        pl_buf_add(to, PL_STR("traceparent: "));
        pl_buf_adds(to, x->traceparent);
        pl_buf_add(to, PL_STR("\r\n"));
    }
    pl_buf_add(to, PL_STR(plain_headers));
    if (!has_line(&x->headers, "Content-Security-Policy:"))
        pl_buf_add(to, PL_STR(plain_policy));
    if (!has_line(&x->headers, "Cache-Control:"))
        pl_buf_add(to, PL_STR(plain_cache));
}

static void write_head(struct pl_exchange_own *own, uint64_t n_body)
{
    struct pl_exchange *x = &own->x;
    struct pl_buf *to = &own->sending.head;
    bool is_flow = own->sending.flow != PL_FLOW_NONE;
    pl_buf_add(to, PL_STR("HTTP/1.1 "));
    add_number(to, (uint64_t)x->status);
    pl_buf_addc(to, ' ');
    pl_buf_adds(to, pl_http_reason(x->status));
    pl_buf_add(to, PL_STR("\r\n"));
    add_standard_headers(own, to);
    if (!has_no_body(x->status)) {
        pl_buf_add(to, PL_STR("Content-Type: "));
        pl_buf_adds(to, x->content_type);
        pl_buf_add(to, PL_STR("\r\n"));
    }
    if (x->is_problem && pl_exchange_wants_chinese(x))
        pl_buf_add(to, PL_STR("Content-Language: zh-CN\r\n"));
    if (is_flow && !x->head->is_http10) {
        pl_buf_add(to, PL_STR("Transfer-Encoding: chunked\r\n"));
    } else if (!is_flow && x->status != 204 && x->status != 304) {
        pl_buf_add(to, PL_STR("Content-Length: "));
        add_number(to, n_body);
        pl_buf_add(to, PL_STR("\r\n"));
    }
    int retry_after_s = pl_problem_retry_after_s(x->status);
    if (retry_after_s && !has_line(&x->headers, "Retry-After:")) {
        pl_buf_add(to, PL_STR("Retry-After: "));
        add_number(to, (uint64_t)retry_after_s);
        pl_buf_add(to, PL_STR("\r\n"));
    }
    pl_buf_add(to, pl_buf_str(&x->headers));
    if (own->must_close)
        pl_buf_add(to, PL_STR("Connection: close\r\n"));
    else if (x->head && x->head->is_http10)
        pl_buf_add(to, PL_STR("Connection: keep-alive\r\n"));
    pl_buf_add(to, PL_STR("\r\n"));
}

static enum pl_status begin(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    struct pl_sending *sending = &own->sending;
    sending->from_ms = pl_loop_now_ms(x->shard->loop);
    own->must_close =
        own->must_close || x->conn->has_ended || pl_life_is_ending(&x->shard->server->life);
    if (sending->flow != PL_FLOW_NONE) {
        write_head(own, 0);
        (void)pl_flow_next(own);
        return sending->head.status;
    }
    sending->body = own->static_body.ptr ? own->static_body : pl_buf_str(&x->reply);
    pl_reply_apply_range(own);
    uint64_t n_body = sending->read ? (uint64_t)sending->n_left : sending->body.len;
    if (x->method == PL_METHOD_HEAD || has_no_body(x->status)) {
        sending->body = (struct pl_str){0};
        sending->n_left = 0;
    }
    write_head(own, n_body);
    return sending->head.status;
}

static void read_piece(struct pl_job *job)
{
    struct pl_exchange *x = PL_CONTAINER_OF(job, struct pl_exchange, job);
    struct pl_sending *sending = &pl_exchange_own(x)->sending;
    size_t n = sending->n_left < PIECE_BYTES ? (size_t)sending->n_left : PIECE_BYTES, got = 0;
    if (!sending->piece)
        sending->piece = pl_mem_alloc(PIECE_BYTES, 1);
    sending->status = PL_NOMEM;
    if (sending->piece)
        sending->status = sending->read(x, sending->at, sending->piece, n, &got);
    if (sending->status == PL_OK) {
        sending->body = (struct pl_str){sending->piece, got};
        sending->at += (int64_t)got;
        sending->n_left -= (int64_t)got;
    }
}

static void piece_is_read(struct pl_job *job)
{
    struct pl_exchange *x = PL_CONTAINER_OF(job, struct pl_exchange, job);
    pl_exchange_become(pl_exchange_own(x), PL_X_SEND);
    pl_exchange_wake(pl_exchange_own(x));
}

static void read_more(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    pl_exchange_become(own, PL_X_READING);
    pl_exchange_must_end(x);
    pl_exchange_submit(x, own->sending.fd >= 0 ? PL_WORK_FILE : PL_WORK_STORE, read_piece,
                       piece_is_read);
}

enum pl_status pl_sending_go(struct pl_exchange_own *own, bool *ret_is_over)
{
    struct pl_sending *sending = &own->sending;
    enum pl_status status = pl_sending_has_begun(sending) ? sending->status : begin(own);
    while (status == PL_OK) {
        struct pl_str head =
            pl_str_slice(pl_buf_str(&sending->head), sending->n_head_sent, sending->head.len);
        struct pl_str pieces[2] = {head, sending->body};
        size_t n_all = head.len + sending->body.len, n_sent = 0;
        if (n_all == 0 && !pl_flow_next(own))
            break;
        if (n_all == 0)
            continue;
        status = pl_conn_write(own->x.conn->conn, pieces, sending->body.len ? 2 : 1, &n_sent);
        if (status != PL_OK)
            break;
        own->n_sent += n_sent;
        size_t n_of_head = n_sent < head.len ? n_sent : head.len;
        sending->n_head_sent += n_of_head;
        sending->body = pl_str_slice(sending->body, n_sent - n_of_head, sending->body.len);
        if (n_sent)
            pl_http_conn_sent(own->x.conn);
        if (n_sent < n_all)
            return pl_spool_is_due(own) ? pl_spool_start(own) : PL_OK;
    }
    if (status != PL_OK)
        return status;
    if (sending->chunk.status != PL_OK)
        return sending->chunk.status;
    if (sending->n_left)
        read_more(own);
    else if (sending->flow == PL_FLOW_NONE || sending->flow == PL_FLOW_LAST)
        *ret_is_over = true;
    else if (sending->room)
        sending->room(&own->x);
    return PL_OK;
}

void pl_sending_reset(struct pl_sending *sending)
{
    struct pl_buf head = sending->head;
    if (sending->fd >= 0)
        close(sending->fd);
    if (sending->busy)
        atomic_store(sending->busy, false);
    pl_mem_free(sending->piece);
    pl_buf_clear(&head);
    *sending = (struct pl_sending){.head = head, .fd = -1};
}

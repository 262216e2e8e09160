/* Free exchanges. One keeps its buffers for the next request, unless they are large. */
#include "base/mem.h"
#include "http/exchange_int.h"

enum {
    MAX_SPARES = 64,
    KEPT_BYTES = 64 << 10, /* the largest buffer that a free exchange keeps */
};

static void trim_buf(struct pl_buf *buf)
{
    if (buf->cap > KEPT_BYTES) {
        size_t max = buf->max;
        pl_buf_deinit(buf);
        pl_buf_init(buf, max);
    } else {
        pl_buf_clear(buf);
    }
}

static void destroy(struct pl_exchange_own *own)
{
    pl_arena_deinit(&own->x.arena);
    pl_buf_deinit(&own->x.reply);
    pl_buf_deinit(&own->x.headers);
    pl_buf_deinit(&own->body);
    pl_buf_deinit(&own->sending.head);
    pl_mem_free(own);
}

void pl_exchange_give_back(struct pl_exchange_own *own)
{
    struct pl_exchange_pool *pool = own->x.shard->exchanges;
    own->x.shard->server->claim_ops->end(&own->x);
    pl_exchange_give_body_memory(own, (size_t)own->body_hold.n);
    pl_quota_give(own->x.shard->server->spools, &own->spool_hold, own->spool_hold.n);
    pl_body_memory_give(own->x.shard, &own->kept_hold, (size_t)own->kept_hold.n);
    pl_http1_destroy(own->http);
    if (own->sending.flow != PL_FLOW_NONE)
        pl_flow_reset(own);
    pl_sending_reset(&own->sending);
    pl_setup_release(own->x.shard, PL_TAKE(own->x.setup));
    pool->n_exchanges--;
    if (pool->n_spares == MAX_SPARES) {
        destroy(own);
        return;
    }
    if (own->x.arena.n_bytes > KEPT_BYTES)
        pl_arena_deinit(&own->x.arena);
    else
        pl_arena_reset(&own->x.arena);
    trim_buf(&own->x.reply);
    trim_buf(&own->x.headers);
    trim_buf(&own->body);
    own->next = pool->spares;
    pool->spares = own;
    pool->n_spares++;
}

struct pl_exchange_own *pl_exchange_take(struct pl_shard *shard, struct pl_http_conn *conn)
{
    struct pl_exchange_pool *pool = shard->exchanges;
    struct pl_exchange_own *own = pool->spares;
    if (own) {
        pool->spares = own->next;
        pool->n_spares--;
    } else {
        own = pl_mem_alloc(1, sizeof *own);
        if (!own)
            return NULL;
        pl_arena_init(&own->x.arena, 0);
        pl_buf_init(&own->x.reply, 0);
        pl_buf_init(&own->x.headers, PL_HTTP1_MAX_HEAD);
        pl_buf_init(&own->body, 0);
        pl_buf_init(&own->sending.head, 0);
    }
    struct pl_arena arena = own->x.arena;
    struct pl_buf reply = own->x.reply, headers = own->x.headers, body = own->body,
                  head = own->sending.head;
    /* The target is the largest part, and its parser writes all of it. */
    memset(own, 0, offsetof(struct pl_exchange, target));
    memset((char *)own + offsetof(struct pl_exchange, args), 0,
           sizeof *own - offsetof(struct pl_exchange, args));
    own->x.target.n_segments = own->x.target.n_params = 0;
    own->x.target.path = (struct pl_str){0};
    own->x.arena = arena;
    own->x.reply = reply;
    own->x.headers = headers;
    own->body = body;
    own->sending.head = head;
    own->sending.fd = -1;
    own->x.shard = shard;
    own->x.setup = pl_setup_hold(shard);
    own->x.conn = conn;
    own->x.status = 200;
    own->x.content_type = "application/json";
    own->x.started_ms = pl_loop_now_ms(shard->loop);
    pool->n_exchanges++;
    return own;
}

struct pl_exchange_pool *pl_exchange_pool_create(void)
{
    struct pl_exchange_pool *pool = pl_mem_alloc(1, sizeof *pool);
    if (pool)
        *pool = (struct pl_exchange_pool){0};
    return pool;
}

void pl_exchange_pool_destroy(struct pl_exchange_pool *pool)
{
    if (!pool)
        return;
    while (pool->spares) {
        struct pl_exchange_own *own = pool->spares;
        pool->spares = own->next;
        destroy(own);
    }
    pl_mem_free(pool);
}

size_t pl_exchange_pool_n_busy(const struct pl_exchange_pool *pool)
{
    return pool->n_exchanges;
}

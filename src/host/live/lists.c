/* Sends changes of a user's lists to the sockets that follow them, on every node. */
#include "live/lists.h"

#include "http/routes/route.h"
#include "live/listener.h"
#include "live/session_home.h"
#include "live/socket/socket_int.h"

void pl_lists_follow(struct pl_live *live, bool follows)
{
    struct pl_hub *hub = live->shard->hub;
    if (live->hears_lists == follows)
        return;
    live->hears_lists = follows;
    if (follows)
        atomic_fetch_add_explicit(&hub->n_lists, 1, memory_order_relaxed);
    else
        atomic_fetch_sub_explicit(&hub->n_lists, 1, memory_order_relaxed);
}

void pl_lists_say_missed(struct pl_live *live)
{
    pl_socket_say(live, "user:missed", PL_STR("{}"));
}

/* This node does not know which lists are followed on other nodes. */
bool pl_lists_are_followed(struct pl_server *server)
{
    if (server->session_home && server->session_home->has_others(server))
        return true;
    for (size_t s = 0; s < server->n_shards; s++)
        if (atomic_load_explicit(&server->shards[s]->hub->n_lists, memory_order_relaxed))
            return true;
    return false;
}

/* The value of a header of the answer; empty: there is no such header. */
static struct pl_str said_header(const struct pl_exchange *x, const char *name)
{
    struct pl_str lines = pl_buf_str(&x->headers);
    size_t n = strlen(name);
    const char *at = lines.len ? memmem(lines.ptr, lines.len, name, n) : NULL;
    if (!at)
        return (struct pl_str){0};
    struct pl_str rest = {at + n, lines.len - (size_t)(at + n - lines.ptr)};
    const char *end = memchr(rest.ptr, '\r', rest.len);
    return pl_str_slice(rest, 0, end ? (size_t)(end - rest.ptr) : rest.len);
}

static struct pl_str id_of(const struct pl_exchange *x)
{
    struct pl_str place = said_header(x, "Location: ");
    if (x->args[0].len)
        return x->args[0];
    const char *slash = place.len ? memrchr(place.ptr, '/', place.len) : NULL;
    return slash ? pl_str_slice(place, (size_t)(slash + 1 - place.ptr), place.len)
                 : (struct pl_str){0};
}

void pl_lists_tell_change(struct pl_exchange *x)
{
    struct pl_server *server = x->shard->server;
    if (!x->caller.user_id.len || !pl_lists_are_followed(server))
        return;
    PL_CLEANUP_BUF struct pl_buf data;
    struct pl_json_out out = pl_json_out(&data);
    struct pl_str id = id_of(x), tag = said_header(x, "ETag: \"");
    pl_buf_init(&data, 0);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "id");
    if (id.len)
        pl_json_out_text(&out, id);
    else
        pl_json_out_null(&out);
    pl_json_out_key(&out, "revision");
    if (tag.len > 1)
        pl_json_out_text(&out, pl_str_slice(tag, 0, tag.len - 1));
    else
        pl_json_out_null(&out);
    pl_json_out_key(&out, "operation");
    pl_json_out_text(&out, pl_str_of(x->route->id));
    pl_json_out_close(&out, '}');
    if (data.status == PL_OK)
        pl_lists_tell(server, x->caller.user_id, x->route->tells, pl_buf_str(&data));
}

/* A remote extension connects through a WebSocket (channel/socket.h). Its key names the
 * extension and the user, and so the place. The place is on another shard, so the request goes
 * there as a letter and returns with an instance or a refusal. Only then is the handshake
 * answered. */
#include "ext/run/channel/socket.h"
#include "ext/run/ext_int.h"

#include "live/hub.h"

#include <stdio.h>

struct connecting {
    struct pl_letter letter;
    struct pl_exchange *x;
    struct pl_shard *far;     /* borrowed */
    struct pl_ext_wire *wire; /* held */
    struct pl_ext_refusal refusal;
    char accept[PL_WS_ACCEPT_SIZE];
};

static void on_home(struct pl_letter *letter)
{
    struct connecting *c = PL_CONTAINER_OF(letter, struct connecting, letter);
    struct pl_exchange *x = c->x;
    if (!c->refusal.says[0]) {
        pl_ext_socket_open(x, x->shard->exts, c->wire, c->accept);
        return;
    }
    pl_ext_wire_release(c->wire);
    if (c->refusal.retry_s)
        pl_exchange_header(x, "Retry-After", "%d", c->refusal.retry_s);
    pl_exchange_problem(x, c->refusal.problem, NULL, "%s", c->refusal.says);
    pl_exchange_finish(x);
}

static void on_far(struct pl_letter *letter)
{
    struct connecting *c = PL_CONTAINER_OF(letter, struct connecting, letter);
    const struct pl_caller *caller = &c->x->caller;
    struct pl_ext_place *place = NULL;
    if (c->far->exts && !c->far->exts->is_stopping)
        place = pl_ext_place_get(c->far->exts, caller->extension_id, caller->user_id);
    if (place)
        pl_ext_place_connect(place, c->wire, &c->refusal);
    else
        c->refusal = (struct pl_ext_refusal){PL_PROBLEM_OVERLOADED, 5,
                                             "The server is stopping, or out of memory."};
    letter->open = on_home;
    pl_loop_post(c->x->shard->loop, letter);
}

static bool may_connect(struct pl_exchange *x)
{
    struct pl_str offered = pl_http_header_get(x->head, "sec-websocket-protocol");
    if (!pl_http_list_has(offered, "pi.ext.v1"))
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "Offer the subprotocol: Sec-WebSocket-Protocol: pi.ext.v1.");
    else if (!x->caller.extension_id.len)
        pl_exchange_problem(x, PL_PROBLEM_FORBIDDEN, NULL,
                            "An extension connects with a key of its own, which is bound to it: "
                            "parley key create --scope extension:ID.");
    else
        return true;
    return false;
}

void pl_ext_connect(struct pl_exchange *x)
{
    char accept[PL_WS_ACCEPT_SIZE];
    if (!pl_socket_is_handshake(x, accept) || !may_connect(x)) {
        pl_exchange_finish(x);
        return;
    }
    struct connecting *c = pl_exchange_room(x, sizeof *c);
    if (!c)
        return;
    *c = (struct connecting){.x = x, .wire = pl_ext_wire_create()};
    if (!c->wire || !x->shard->exts) {
        pl_ext_wire_release(c->wire);
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                            "There are no descriptors or no memory for a socket.");
        pl_exchange_finish(x);
        return;
    }
    memcpy(c->accept, accept, sizeof accept);
    c->far = pl_ext_shard_of(x->shard->server, x->caller.extension_id, x->caller.user_id);
    c->letter.open = on_far;
    pl_loop_post(c->far->loop, &c->letter);
}

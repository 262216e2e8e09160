/* A user was disabled: one letter to every shard stops the user's sessions there. */
#include "agent/driver_int.h"
#include "base/mem.h"
#include "http/connection.h"

struct stopping {
    struct pl_letter letter;
    struct pl_shard *shard;
    size_t n_id;
    char id[];
};

static void open_stopping(struct pl_letter *letter)
{
    struct stopping *stopping = PL_CONTAINER_OF(letter, struct stopping, letter);
    struct pl_drivers *drivers = stopping->shard->drivers;
    struct pl_str user_id = {stopping->id, stopping->n_id};
    struct pl_table_link *link = drivers ? pl_table_next(&drivers->by_id, NULL) : NULL;
    while (link) {
        struct pl_driver *driver = PL_CONTAINER_OF(link, struct pl_driver, link);
        link = pl_table_next(&drivers->by_id, link);
        if (pl_driver_is_loaded(driver) &&
            pl_str_eq(pl_session_record(driver->session)->user_id, user_id) &&
            pl_session_is_running(driver->session))
            pl_driver_apply(driver, &(struct pl_session_event){.kind = PL_SE_STOP});
    }
    pl_http_conns_drop_user(stopping->shard, user_id);
    pl_mem_free(stopping);
}

bool pl_drivers_stop_user_everywhere(struct pl_server *server, struct pl_str user_id)
{
    bool is_sent = true;
    for (size_t s = 0; s < server->n_shards; s++) {
        struct stopping *stopping = pl_mem_alloc(1, sizeof *stopping + user_id.len);
        if (!stopping) {
            is_sent = false;
            continue;
        }
        *stopping = (struct stopping){.shard = server->shards[s], .n_id = user_id.len};
        stopping->letter.open = open_stopping;
        memcpy(stopping->id, user_id.ptr, user_id.len);
        pl_loop_post(server->shards[s]->loop, &stopping->letter);
    }
    return is_sent;
}

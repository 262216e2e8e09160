/* Settles the sessions of nodes that are gone. Sessions that were running are claimed in pages,
 * each by the first node that gets it, and recovered; the others only lose their owner.
 *
 * Settling uses the store's writer, which may be stuck: that is how nodes fail. So it has its own
 * thread, while the thread of the node renews the lease and watches the writer. */
#include "base/mem.h"
#include "node/node_int.h"
#include "shard/log.h"
#include "store/node/owners.h"

#include <time.h>

enum { LOOK_MS = 5, AGAIN_MS = 200 };

/* --- telling --------------------------------------------------------------------------------- */

static void tell_settled(struct pl_letter *letter)
{
    struct pl_node_mail *mail = PL_CONTAINER_OF(letter, struct pl_node_mail, letter);
    struct pl_server *server = mail->shard->server;
    pl_mem_free(mail);
    if (!pl_life_is_closing(&server->life))
        server->node->above->settled(server);
}

/* Resumes sessions with waiting messages, on the node that looks first. */
static void announce_settled(struct pl_node *node)
{
    if (!node->has_thread)
        return; /* the start resumes them itself */
    struct pl_node_mail *mail = pl_mem_alloc(1, sizeof *mail);
    if (!mail)
        return; /* the next sweep announces it again */
    *mail = (struct pl_node_mail){.shard = node->server->shards[0]};
    mail->letter.open = tell_settled;
    pl_loop_post(mail->shard->loop, &mail->letter);
}

/* --- working --------------------------------------------------------------------------------- */

/* Either page or gone is set. */
struct work {
    struct pl_node *node;
    const struct pl_settle_page *page; /* sessions to recover */
    const struct pl_node_id *gone;     /* the node whose other work is settled */
    _Atomic(bool) is_done;
    enum pl_status status;
    struct pl_error err;
};

static void *do_work(void *arg)
{
    struct work *work = arg;
    const struct pl_node_above *above = work->node->above;
    struct pl_server *server = work->node->server;
    work->status = work->page ? above->recover(server->store, work->page->running,
                                               work->page->n_running, &work->node->me, &work->err)
                              : above->settle(server, work->gone, &work->err);
    atomic_store(&work->is_done, true);
    return NULL;
}

static enum pl_status work(struct work *work, struct pl_error *err)
{
    pthread_t thread;
    /* Before the node has its thread, the lease need not be renewed meanwhile. */
    if (!work->node->has_thread || pthread_create(&thread, NULL, do_work, work) != 0) {
        (void)do_work(work);
    } else {
        while (!atomic_load(&work->is_done)) {
            nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
            pl_node_go_on(work->node);
        }
        pthread_join(thread, NULL);
    }
    if (work->status != PL_OK && err)
        *err = work->err;
    return work->status;
}

/* --- settling -------------------------------------------------------------------------------- */

/* This node owns them from now on, and no other node looks for them. So it tries again if the
 * database is briefly not available. */
static enum pl_status recover(struct pl_node *node, const struct pl_settle_page *page,
                              struct pl_error *err)
{
    for (;;) {
        enum pl_status status = work(&(struct work){.node = node, .page = page}, err);
        if (status == PL_OK || !node->has_thread || !pl_node_goes_on(node))
            return status;
        nanosleep(&(struct timespec){.tv_nsec = AGAIN_MS * 1000000}, NULL);
        pl_node_go_on(node);
    }
}

static enum pl_status settle(struct pl_node *node, const struct pl_node_id *gone,
                             struct pl_error *err)
{
    bool has_more = true;
    enum pl_status status = PL_OK;
    size_t n = 0;
    while (status == PL_OK && has_more) {
        struct pl_arena arena PL_CLEANUP_ARENA;
        pl_arena_init(&arena, 0);
        struct pl_settle_page page;
        status = pl_node_line_settle(node->line, gone, &arena, &page, err);
        if (status == PL_OK && page.n_running)
            status = recover(node, &page, err);
        has_more = status == PL_OK && page.has_more;
        n += status == PL_OK ? page.n_running : 0;
    }
    if (status == PL_OK)
        status = work(&(struct work){.node = node, .gone = gone}, err);
    if (status == PL_OK && n)
        pl_log_say(node->server->log, NULL, PL_LOG_INFO,
                   "%zu sessions were running on a node that is gone; they are now interrupted", n);
    return status;
}

enum pl_status pl_node_settle_left(struct pl_node *node, struct pl_error *err)
{
    struct pl_arena arena PL_CLEANUP_ARENA;
    pl_arena_init(&arena, 0);
    struct pl_node_id *gone = NULL;
    size_t n = 0;
    enum pl_status status = pl_node_line_left(node->line, &arena, &gone, &n, err);
    for (size_t i = 0; i < n && status == PL_OK; i++)
        status = settle(node, &gone[i], err);
    if (status == PL_OK && n)
        announce_settled(node);
    return status;
}

void pl_node_settle_gone(struct pl_node *node, const struct pl_node_id *gone)
{
    struct pl_error err = {0};
    (void)pl_mail_all(node, PL_MAIL_GONE, gone);
    if (settle(node, gone, &err) != PL_OK)
        pl_node_say_failure(node, "what a node left could not be settled yet", &err);
    announce_settled(node);
}

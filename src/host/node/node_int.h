/* Shared by the node, its thread and its shards. */
#ifndef PL_NODE_NODE_INT_H
#define PL_NODE_NODE_INT_H

#include "base/table.h"
#include "base/vec.h"
#include "cluster/lease.h"
#include "cluster/node_fields.h"
#include "cluster/node_letter.h"
#include "cluster/node_link.h"
#include "cluster/owning.h"
#include "live/publish.h"
#include "node/node.h"

#include <pthread.h>

enum {
    PL_NODE_ASK_AGAIN_MS = 1500, /* then the session's row is read again */
    PL_NODE_ASK_MOST_MS = 5000,  /* then 503 */
    PL_NODE_ANSWER_KEPT_MS = 60000,
    PL_NODE_ASK_OLD_MS = 50000, /* below the time answers are kept, by the tolerance of clocks */
    PL_NODE_TICK_MS = 250,
    PL_NODE_KNOWN_MS = 10000,       /* an owner that was not asked for so long is looked up again */
    PL_NODE_ALONE_QUIET_MS = 60000, /* no other node wants the sessions of a single node */
    PL_NODE_SECRET_BYTES = 32,
    PL_NODE_PARTS_MAX = 256,
    PL_NODE_PEER_VIEWS = 10, /* a peer is forgotten after it is missing in so many views */
};

/* The letters between this node and another. */
struct pl_node_peer {
    struct pl_node_id id;
    struct pl_node_link_out out; /* under post_lock */
    struct pl_node_link_in in;   /* the same */
    struct pl_buf parts;         /* received so far, of a letter that is too long for the bus */
    int64_t n_parts;
    uint64_t last_part;       /* its number on the link: the next part has the next number */
    unsigned n_views_without; /* since it was last in a view */
};

struct pl_node {
    struct pl_server *server; /* borrowed */
    const struct pl_node_above *above;
    struct pl_node_config config; /* strings live as long as the server */
    char *name, *address;         /* owned */

    /* Only for the thread: */
    struct pl_node_line *line; /* owned */
    struct pl_lease lease;
    int64_t beat_ms, swept_ms;
    bool is_end_told;          /* this node was asked to end, and the rooms above know it */
    struct pl_arena arenas[2]; /* of the last view, and of the one before it */
    size_t n_views;

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    /* Under the lock: */
    bool is_stopping, is_draining, is_fence_seen, is_rewound_seen;
    bool wants_view; /* a node that is not in the last view has sent a letter */
    struct pl_node_id me;
    struct pl_node_view view; /* arena of n_views % 2 */
    size_t n_dropping;        /* shards that are still dropping their sessions */

    /* The post: */
    pthread_mutex_t post_lock;
    struct pl_bus *bus;                  /* under post_lock; owned */
    PL_VEC(struct pl_node_peer *) peers; /* the same; each owned */
    unsigned char secret[PL_NODE_SECRET_BYTES];
    char cluster[64];

    /* Any thread: */
    _Atomic(int64_t) held_until_ms;  /* by the monotonic clock; 0: not held */
    _Atomic(int64_t) good_ms;        /* when the last good renewal was sent */
    _Atomic(int64_t) base_ahead_ms;  /* how far the database's clock is ahead of this one */
    _Atomic(unsigned char) protocol; /* the lowest of all nodes; 0: not known yet */
    _Atomic(size_t) n_others;        /* up or draining */
    _Atomic(uint64_t) n_asks;        /* the last number of an ask */
    _Atomic(int64_t) n_owned, n_takeovers, n_fenced, n_rewinds, n_forwarded, n_gaps, n_lost;
    struct pl_timer lapse; /* on the first shard */
    bool was_held;         /* on the first shard */
};

/* --- node.c ---------------------------------------------------------------------------------- */

/* The estimated time of the database's clock. Any thread. */
int64_t pl_node_base_ms(const struct pl_node *node);
void pl_node_want_view(struct pl_node *node);
/* Stores the id of this process in the data directory, for the next process. */
void pl_node_write_own(const struct pl_node *node);

/* --- renewing.c ------------------------------------------------------------------------------ */

void *pl_node_renew_all(void *node);
/* Renews once and handles the answer. On the node's thread, or before it exists. */
void pl_node_renew(struct pl_node *node);
/* True if it is neither stopping nor taken over. */
bool pl_node_goes_on(struct pl_node *node);
/* Does the urgent work while the thread of the node is busy with something else. */
void pl_node_go_on(struct pl_node *node);
void pl_node_say_failure(struct pl_node *node, const char *what, const struct pl_error *err);
/* Makes this the current view. */
void pl_node_keep_view(struct pl_node *node, const struct pl_node_view *view);

/* --- settling.c ------------------------------------------------------------------------------ */

/* Settles the work of nodes that are gone. Blocks, and renews the lease meanwhile. */
enum pl_status pl_node_settle_left(struct pl_node *node, struct pl_error *err);
/* The same for one node that is gone; also tells all shards. */
void pl_node_settle_gone(struct pl_node *node, const struct pl_node_id *gone);

/* --- post.c ---------------------------------------------------------------------------------- */

enum pl_status pl_post_open(struct pl_node *node, struct pl_error *err);
void pl_post_close(struct pl_node *node);
/* Sends to one node. The body begins with the session's id, which selects the shard there. */
void pl_post_send(struct pl_node *node, const struct pl_node_id *to, enum pl_node_letter_kind kind,
                  struct pl_str body, bool is_by_store);
void pl_post_send_all(struct pl_node *node, enum pl_node_letter_kind kind, struct pl_str body);
void pl_post_beat(struct pl_node *node);
/* A beat without content: it only shows that this node exists. */
void pl_post_greet(struct pl_node *node);
/* Forgets peers that are missing in many views. */
void pl_post_forget(struct pl_node *node, const struct pl_node_view *view);

/* A message from the post to a shard, delivered in order. */
struct pl_node_mail {
    struct pl_letter letter;
    struct pl_shard *shard;
    enum pl_node_mail_kind {
        PL_MAIL_LETTER, /* kind, body */
        PL_MAIL_RESYNC, /* a letter of this sender was lost */
        PL_MAIL_GONE,   /* the node `sender` is gone */
        PL_MAIL_HUSH,   /* the lease is no longer held */
        PL_MAIL_GIVE,   /* this node ends: release quiet sessions */
        PL_MAIL_DROP,   /* this node was taken over; the shard reports when it is done */
    } what;
    unsigned char kind;
    struct pl_node_id sender;
    size_t n_body;
    char body[];
};
/* Sends one to every shard; false: out of memory, and some may not get it. */
bool pl_mail_all(struct pl_node *node, enum pl_node_mail_kind what,
                 const struct pl_node_id *sender);

/* --- seats.c --------------------------------------------------------------------------------- */

/* The location of a session; the diagram is in seats.c. */
enum pl_seat_state {
    PL_SEAT_NEW,
    PL_SEAT_LOOKING,   /* its row is being read */
    PL_SEAT_CLAIMING,  /* the transaction is not finished */
    PL_SEAT_OWNED,     /* the driver is here */
    PL_SEAT_RELEASING, /* the transaction is not finished */
    PL_SEAT_AWAY,      /* another node owns it */
    PL_SEAT_FREE,
};

struct pl_seat {
    struct pl_table_link link;   /* key: the session's id, after this struct */
    struct pl_node_seats *seats; /* borrowed */
    enum pl_seat_state state;
    struct pl_session_command *commands, *last_command; /* waiting for the state to settle */
    /* AWAY: */
    struct pl_node_id owner;
    int64_t asked_ms;             /* when its owner was last asked */
    struct pl_feed feed;          /* the readers on this node */
    int64_t epoch, next_sequence; /* of the next frame */
};

struct pl_node_seats {
    struct pl_shard *shard; /* borrowed */
    struct pl_node *node;   /* borrowed */
    struct pl_table by_id;
    struct pl_feeds feeds;
    struct pl_table asks;   /* asking.c */
    struct pl_table served; /* serving.c */
    struct pl_timer tick;
};

struct pl_seat *pl_seat_find(struct pl_node_seats *seats, struct pl_str session_id);
/* Finds the node of the command's session, and sends it there. */
void pl_seat_route(struct pl_node_seats *seats, struct pl_session_command *command);
/* AWAY: forgets the owner; readers subscribe again. Frees the seat. */
void pl_seat_lose_owner(struct pl_seat *seat);
void pl_seat_refuse(struct pl_session_command *command, enum pl_problem problem, const char *text);
/* Opens a struct pl_node_mail. */
void pl_mail_open(struct pl_letter *letter);

/* --- asking.c -------------------------------------------------------------------------------- */

/* The number of the last ask by which this shard does not listen to the session, or no longer. */
int64_t pl_ask_before_listening(struct pl_node_seats *seats, struct pl_str session_id);
/* Body of an ask: the session's id, the number, the time by the database's clock, the command.
 * Body of an answer: the id, the number, whether the sender owns the session, the answer
 * (live/wire/command_wire.h). */
void pl_ask_send(struct pl_seat *seat, struct pl_session_command *command);
void pl_ask_answered(struct pl_node_seats *seats, const struct pl_node_id *sender,
                     struct pl_str body);
void pl_ask_tick(struct pl_node_seats *seats);
void pl_ask_peer_gone(struct pl_node_seats *seats, const struct pl_node_id *gone);
void pl_ask_end_all(struct pl_node_seats *seats);
/* Whether a reader here is about to listen to the session there, so that the owner already counts
 * this node. */
bool pl_ask_is_listening(struct pl_node_seats *seats, const struct pl_node_id *owner,
                         struct pl_str session_id);

/* --- serving.c ------------------------------------------------------------------------------- */

void pl_serve(struct pl_node_seats *seats, const struct pl_node_id *sender, struct pl_str body);
void pl_serve_tick(struct pl_node_seats *seats);
void pl_serve_end_all(struct pl_node_seats *seats);
/* Answers a command of another node that this node does not own the session. */
void pl_serve_not_mine(struct pl_session_command *command);

/* --- mirror.c -------------------------------------------------------------------------------- */

/* The owner has answered SUBSCRIBE: counts the reader. False: it has to ask again. */
bool pl_mirror_enter(struct pl_seat *seat, struct pl_session_command *command);
void pl_mirror_frames(struct pl_node_seats *seats, const struct pl_node_id *sender,
                      struct pl_str session_id, struct pl_str frames);
/* Ends counting a reader; false: it was not counted here. */
bool pl_mirror_leave(struct pl_node_seats *seats, struct pl_subscription *sub);

#endif

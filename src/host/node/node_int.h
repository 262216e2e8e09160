/* Inside the room: what the node, its thread and its shards share. */
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
    PL_NODE_ASK_AGAIN_MS = 1500, /* without an answer the row is looked at again */
    PL_NODE_ASK_MOST_MS = 5000,  /* then 503 */
    PL_NODE_ANSWER_KEPT_MS = 60000,
    PL_NODE_ASK_OLD_MS = 50000, /* less than answers are kept, by what clocks may differ */
    PL_NODE_TICK_MS = 250,
    PL_NODE_KNOWN_MS = 10000,       /* an owner that was not asked for so long is looked up again */
    PL_NODE_ALONE_QUIET_MS = 60000, /* nobody else wants the sessions of the only node */
    PL_NODE_SECRET_BYTES = 32,
    PL_NODE_PARTS_MAX = 256,
    PL_NODE_PEER_VIEWS = 10, /* a peer that so many views in a row do not have is forgotten */
};

/* The letters of this node to another and back. */
struct pl_node_peer {
    struct pl_node_id id;
    struct pl_node_link_out out; /* under the lock of the post */
    struct pl_node_link_in in;   /* under it, too */
    struct pl_buf parts;         /* of a letter that is longer than the bus takes */
    int64_t n_parts;
    uint64_t last_part;       /* number on the link: the next part has the next one */
    unsigned n_views_without; /* since it was last in a view */
};

struct pl_node {
    struct pl_server *server; /* borrowed */
    const struct pl_node_above *above;
    struct pl_node_config config; /* strings live as long as the server */
    char *name, *address;         /* owned */

    /* The thread's own: */
    struct pl_node_line *line; /* owned */
    struct pl_lease lease;
    int64_t beat_ms, swept_ms;
    bool is_end_told;          /* somebody wants this node to end, and the rooms above know it */
    struct pl_arena arenas[2]; /* of the last view, and of the one before */
    size_t n_views;

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    /* Under the lock: */
    bool is_stopping, is_draining, is_fence_seen, is_rewound_seen;
    bool wants_view; /* somebody spoke who is not in the last one */
    struct pl_node_id me;
    struct pl_node_view view; /* arena of n_views % 2 */
    size_t n_dropping;        /* shards that still drop what was theirs */

    /* The post: */
    pthread_mutex_t post_lock;
    struct pl_bus *bus;                  /* under the lock of the post; owned */
    PL_VEC(struct pl_node_peer *) peers; /* under it; each owned */
    unsigned char secret[PL_NODE_SECRET_BYTES];
    char cluster[64];

    /* Any thread: */
    _Atomic(int64_t) held_until_ms;  /* of the monotonic clock; 0: not held */
    _Atomic(int64_t) good_ms;        /* when the last good renewal was sent */
    _Atomic(int64_t) base_ahead_ms;  /* of the database's clock, before this one's */
    _Atomic(unsigned char) protocol; /* the least of all nodes; 0: not known yet */
    _Atomic(size_t) n_others;        /* that are up or draining */
    _Atomic(uint64_t) n_asks;        /* the last number of an ask */
    _Atomic(int64_t) n_owned, n_takeovers, n_fenced, n_rewinds, n_forwarded, n_gaps, n_lost;
    struct pl_timer lapse; /* on the first shard */
    bool was_held;         /* the same */
};

/* --- node.c ---------------------------------------------------------------------------------- */

/* The database's clock, as far as it is known here. Any thread. */
int64_t pl_node_base_ms(const struct pl_node *node);
void pl_node_want_view(struct pl_node *node);
/* Says in the data directory who this process is, for the one after it. */
void pl_node_write_own(const struct pl_node *node);

/* --- renewing.c ------------------------------------------------------------------------------ */

void *pl_node_renew_all(void *node);
/* Once, and whatever follows from the answer. On the node's thread, or before there is one. */
void pl_node_renew(struct pl_node *node);
/* Whether it neither stops nor was taken over. */
bool pl_node_goes_on(struct pl_node *node);
/* Work that cannot wait while the thread of the node is busy with something else. */
void pl_node_go_on(struct pl_node *node);
void pl_node_say_failure(struct pl_node *node, const char *what, const struct pl_error *err);
/* Takes the view over, for everybody. */
void pl_node_keep_view(struct pl_node *node, const struct pl_node_view *view);

/* --- settling.c ------------------------------------------------------------------------------ */

/* Settles what nodes that are gone have left. Blocks, and renews the lease meanwhile. */
enum pl_status pl_node_settle_left(struct pl_node *node, struct pl_error *err);
/* The same of one, which is gone: everybody here is told. */
void pl_node_settle_gone(struct pl_node *node, const struct pl_node_id *gone);

/* --- post.c ---------------------------------------------------------------------------------- */

enum pl_status pl_post_open(struct pl_node *node, struct pl_error *err);
void pl_post_close(struct pl_node *node);
/* To one node; the body begins with the session's id, by which it finds its shard there. */
void pl_post_send(struct pl_node *node, const struct pl_node_id *to, enum pl_node_letter_kind kind,
                  struct pl_str body, bool is_by_store);
void pl_post_send_all(struct pl_node *node, enum pl_node_letter_kind kind, struct pl_str body);
void pl_post_beat(struct pl_node *node);
/* A beat that says nothing but that this node is there. */
void pl_post_greet(struct pl_node *node);
/* Peers that are not among these are forgotten. */
void pl_post_forget(struct pl_node *node, const struct pl_node_view *view);

/* What a shard gets from the post, in the order it came. */
struct pl_node_mail {
    struct pl_letter letter;
    struct pl_shard *shard;
    enum pl_node_mail_kind {
        PL_MAIL_LETTER, /* kind, body */
        PL_MAIL_RESYNC, /* something of this sender was lost */
        PL_MAIL_GONE,   /* this node is gone */
        PL_MAIL_HUSH,   /* the lease is not held any more */
        PL_MAIL_GIVE,   /* this node ends: what is quiet is given back */
        PL_MAIL_DROP,   /* this node was taken over; the node is told when it is done */
    } what;
    unsigned char kind;
    struct pl_node_id sender;
    size_t n_body;
    char body[];
};
/* One to every shard; false: out of memory, and some may lack it. */
bool pl_mail_all(struct pl_node *node, enum pl_node_mail_kind what,
                 const struct pl_node_id *sender);

/* --- seats.c --------------------------------------------------------------------------------- */

/* Where a session is; the diagram is in seats.c. */
enum pl_seat_state {
    PL_SEAT_NEW,
    PL_SEAT_LOOKING,   /* its row is being read */
    PL_SEAT_CLAIMING,  /* the transaction is under way */
    PL_SEAT_OWNED,     /* the driver here has it */
    PL_SEAT_RELEASING, /* the transaction is under way */
    PL_SEAT_AWAY,      /* another node has it */
    PL_SEAT_FREE,
};

struct pl_seat {
    struct pl_table_link link;   /* key: the session's id, after this struct */
    struct pl_node_seats *seats; /* borrowed */
    enum pl_seat_state state;
    struct pl_session_command *commands, *last_command; /* that wait for the state to settle */
    /* AWAY: */
    struct pl_node_id owner;
    int64_t asked_ms;             /* when it was last asked for anything */
    struct pl_feed feed;          /* readers of this node */
    int64_t epoch, next_sequence; /* of the frames that come */
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
/* Finds out where the command belongs, and sends it there. */
void pl_seat_route(struct pl_node_seats *seats, struct pl_session_command *command);
/* AWAY: that owner is not asked any more; readers begin again. Frees the seat. */
void pl_seat_lose_owner(struct pl_seat *seat);
void pl_seat_refuse(struct pl_session_command *command, enum pl_problem problem, const char *text);
/* Opens a struct pl_node_mail. */
void pl_mail_open(struct pl_letter *letter);

/* --- asking.c -------------------------------------------------------------------------------- */

/* The last ask by which this shard does not listen to the session, or not any more. */
int64_t pl_ask_before_listening(struct pl_node_seats *seats, struct pl_str session_id);
void pl_ask_send(struct pl_seat *seat, struct pl_session_command *command);
void pl_ask_answered(struct pl_node_seats *seats, const struct pl_node_id *sender,
                     struct pl_str body);
/* The body of an answer: the session's id, the ask's number, whether the sender has the session, and the
 * answer (live/wire/command_wire.h). Of an ask: the id, the number, when it was made by the database's
 * clock, the command. */
void pl_ask_tick(struct pl_node_seats *seats);
void pl_ask_peer_gone(struct pl_node_seats *seats, const struct pl_node_id *gone);
void pl_ask_end_all(struct pl_node_seats *seats);
/* Whether a reader here is about to listen to the session there: the owner counts this node already. */
bool pl_ask_is_listening(struct pl_node_seats *seats, const struct pl_node_id *owner,
                         struct pl_str session_id);

/* --- serving.c ------------------------------------------------------------------------------- */

void pl_serve(struct pl_node_seats *seats, const struct pl_node_id *sender, struct pl_str body);
void pl_serve_tick(struct pl_node_seats *seats);
void pl_serve_end_all(struct pl_node_seats *seats);
/* A command of another node that is not this one's to carry out. */
void pl_serve_not_mine(struct pl_session_command *command);

/* --- mirror.c -------------------------------------------------------------------------------- */

/* The answer of the owner to SUBSCRIBE: the reader is counted. False: it has to ask again. */
bool pl_mirror_enter(struct pl_seat *seat, struct pl_session_command *command);
void pl_mirror_frames(struct pl_node_seats *seats, const struct pl_node_id *sender,
                      struct pl_str session_id, struct pl_str frames);
/* Counts a reader off; false: it was not counted here. */
bool pl_mirror_leave(struct pl_node_seats *seats, struct pl_subscription *sub);

#endif

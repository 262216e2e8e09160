/* A listening connection: a WebSocket or an event stream. Both have a queue of chunks,
 * subscriptions, a heartbeat and the rule for slow readers.
 *
 * Slow readers: the queue is bounded, except for a snapshot of one long turn. If it exceeds 1 MiB,
 * its events are dropped, and the subscriptions begin again with a snapshot when the kernel has
 * taken the rest. A connection is closed if it takes nothing for 30 s, or if it keeps sending
 * requests without reading the answers. */
#ifndef PL_LIVE_LISTENER_H
#define PL_LIVE_LISTENER_H

#include "base/table.h"
#include "http/limits/quota.h"
#include "live/chunk.h"
#include "live/command.h"
#include "live/hub.h"
#include "wire/websocket.h"

#define PL_LIVE_MAX_QUEUE   (1u << 20)
#define PL_LIVE_MAX_ANSWERS (4u << 20) /* an answer may be a little larger than a message */
#define PL_LIVE_LITTLE      (64u << 10)
#define PL_LIVE_STUCK_MS    30000
#define PL_LIVE_BEAT_MS     25000
#define PL_LIVE_AUTH_MS     10000
#define PL_LIVE_MAX_SUBS    256
#define PL_SNAPSHOT_TURNS   50
#define PL_SNAPSHOT_BYTES   (1u << 20) /* of its turns, or one turn of any size */

struct pl_live;

/* The listeners of one session on this shard. */
struct pl_topic {
    struct pl_table_link link; /* key: session id, after this struct */
    struct pl_subscription *subs;
};

/* The diagram is in subscription.c. */
enum pl_subscription_state {
    PL_SUBSCRIPTION_NEW,
    PL_SUBSCRIPTION_ASKING,  /* the session has not answered yet */
    PL_SUBSCRIPTION_HOLDING, /* the snapshot is being read; later events are held */
    PL_SUBSCRIPTION_STALE,   /* the snapshot is being read, and will be discarded */
    PL_SUBSCRIPTION_LIVE,
    PL_SUBSCRIPTION_LAGGING, /* the reader was too slow, or the session was not available: will
                                subscribe again */
    PL_SUBSCRIPTION_LEFT,    /* the connection is gone, or it was unsubscribed, while it was away */
    PL_SUBSCRIPTION_BACK,    /* the session's shard owns the memory */
};

struct pl_subscription {
    struct pl_letter letter; /* takes it back to the session's shard, which removes the listener and
                                frees it */
    struct pl_live *live;    /* borrowed; NULL from LEFT on */
    struct pl_topic *topic;  /* borrowed */
    struct pl_subscription *next_of_live;
    struct pl_subscription *prev_of_topic, *next_of_topic;
    struct pl_server *server; /* borrowed */
    size_t shard;             /* where the listener is */
    struct pl_outbox held;
    struct pl_timer again; /* subscribes again after the session was not available */
    enum pl_lane lane;
    enum pl_subscription_state state;
    uint64_t generation;  /* of the driver that counts it; 0: not counted */
    bool is_acknowledged; /* the client knows that it is subscribed */
    char *ack_id;         /* owned; JSON: the id for the answer to the client; NULL: none */
    size_t n_ack_id;
    size_t n_id;
    char id[]; /* the session's, and NUL */
};

struct pl_live_kind {
    void (*on_subscribed)(struct pl_live *live, struct pl_subscription *sub,
                          const struct pl_session_command *command, const char *mode);
    void (*on_refused)(struct pl_live *live, struct pl_subscription *sub,
                       const struct pl_session_command *command);
    void (*beat)(struct pl_live *live);
    /* Gives the reason, as far as the protocol can, and closes. */
    void (*close)(struct pl_live *live, uint16_t code, const char *reason);
    bool hears_user; /* also gets events for the user, besides those of sessions */
    bool outlasts;   /* it serves the sessions: a stopping server closes it after them */
    /* Returns the part of the encoded events that it wants: one slice. NULL: all. */
    struct pl_str (*choose)(struct pl_live *live, struct pl_str events);
};

/* The diagram is in listener.c. */
enum pl_live_state {
    PL_LIVE_GREETING, /* not authenticated yet */
    PL_LIVE_OPEN,
    PL_LIVE_HOPELESS, /* its answers are not read: closed at the end of the iteration */
    PL_LIVE_CLOSING,  /* nothing more is read; the queue is still sent */
    PL_LIVE_OVER,     /* freed when nothing refers to it any more */
};

struct pl_live {
    const struct pl_live_kind *kind;
    enum pl_live_state state;
    struct pl_shard *shard;      /* borrowed */
    struct pl_conn *conn;        /* owned */
    struct pl_live *prev, *next; /* the hub's */
    struct pl_loop_hook flush;
    struct pl_outbox out;
    struct pl_subscription *subs; /* owned */
    size_t n_subs;
    struct pl_timer beat;
    struct pl_hold place; /* its place among the connections of its address */
    struct pl_hold large; /* in the memory for bodies: the part of the queue beyond
                             PL_LIVE_MAX_QUEUE */
    int64_t n_sent;       /* bytes that the kernel has taken */
    int64_t moved_ms;     /* when the kernel last took something, or the queue was empty */
    char *who;            /* owned: user id, NUL, key id, NUL; NULL: not authenticated yet */
    enum pl_scope scope;  /* of the key */
    bool is_chinese;      /* the language preferred by its opening request */
    bool is_metered;      /* counted among the sockets of its user */
    bool hears_lists;     /* follows the lists of its user (lists.h) */
    bool is_lagging;      /* will subscribe again when the queue is empty */
    bool is_stalled; /* nothing was taken since the queue was dropped: an empty queue is then no
                       progress */
};

static inline bool pl_live_is_closing(const struct pl_live *live)
{
    return live->state >= PL_LIVE_CLOSING;
}

void pl_live_init(struct pl_live *live, const struct pl_live_kind *kind, struct pl_shard *shard,
                  struct pl_conn *conn);
void pl_live_become(struct pl_live *live, enum pl_live_state to);
/* Starts the deadline of the current state; set_ms: its length, if the state does not define
 * one. */
void pl_live_limit(struct pl_live *live, struct pl_timer *timer, int64_t set_ms,
                   void (*late)(struct pl_timer *timer));
/* Makes it OVER: ends all subscriptions and closes the connection. The owner frees the struct at
 * the end of the iteration. */
void pl_live_deinit(struct pl_live *live);
/* A value of `who` for a caller; NULL when out of memory. */
char *pl_live_who(const struct pl_caller *caller);
/* Counts one more socket of the caller. False after making a problem: the user has too many. The
 * end of the live (is_metered) or pl_meter_leave_socket undoes it. */
bool pl_live_enter(struct pl_exchange *x);
struct pl_str pl_live_user(const struct pl_live *live);
struct pl_str pl_live_key(const struct pl_live *live);

/* Queues a snapshot, which may be larger than a queue: the excess uses the memory for bodies until
 * it has been read. False: there is no room for it now. */
bool pl_live_push_snapshot(struct pl_live *live, struct pl_str bytes);
/* Queues the events of a session that the listener wants. */
void pl_live_push_events(struct pl_live *live, struct pl_chunk *chunk);
/* The same for all events that were held; false: out of memory, and nothing is lost. */
bool pl_live_push_held(struct pl_live *live, struct pl_outbox *held);
/* Queues a chunk and writes at the end of the iteration. */
void pl_live_push(struct pl_live *live, struct pl_chunk *chunk);
void pl_live_push_bytes(struct pl_live *live, struct pl_str bytes);
/* The same for data for this client only. */
void pl_live_answer(struct pl_live *live, struct pl_str bytes);
/* Call when the kernel has room again, or at the end of the iteration. */
void pl_live_flush(struct pl_live *live);

struct pl_since {
    bool is_given;
    int64_t epoch, sequence;
};
/* NULL: out of memory, or too many. Replaces a subscription to the same session. */
struct pl_subscription *pl_live_subscribe(struct pl_live *live, struct pl_str session_id,
                                          enum pl_lane lane, struct pl_since since);
struct pl_subscription *pl_live_find(const struct pl_live *live, struct pl_str session_id);
void pl_live_unsubscribe(struct pl_live *live, struct pl_subscription *sub);

/* --- hub.c */
struct pl_hub {
    struct pl_shard *shard;
    struct pl_table topics;
    struct pl_live *lives;
    size_t n_lives;       /* without those that outlast */
    struct pl_timer away; /* closes the sockets one after the other when the server ends */
    int64_t away_ms, away_until_ms;
    size_t n_before;         /* number of sockets when that began */
    _Atomic(size_t) n_lists; /* those that follow lists; other shards read it */
};
/* The topic of a session, created if necessary; NULL when out of memory. */
struct pl_topic *pl_hub_topic(struct pl_hub *hub, struct pl_str session_id);
void pl_hub_topic_leave(struct pl_hub *hub, struct pl_subscription *sub);
void pl_hub_enter(struct pl_hub *hub, struct pl_live *live);
void pl_hub_leave(struct pl_hub *hub, struct pl_live *live);

/* From a session's shard to the hub of another shard, in the order of the session's events. */
struct pl_delivery {
    struct pl_letter letter;
    struct pl_hub *hub;
    struct pl_chunk *chunks[PL_LANE_COUNT]; /* a reference each; NULL: nothing for that lane */
    bool is_resync, is_gone;
    size_t n_id;
    char id[];
};
void pl_hub_open_delivery(struct pl_letter *letter);

/* --- subscription.c */
void pl_subscription_become(struct pl_subscription *sub, enum pl_subscription_state to);
/* Whether its command, or the job that reads its snapshot, has a pointer to it. */
bool pl_subscription_is_away(const struct pl_subscription *sub);
/* Asks the session's driver. The answer makes the subscription live. */
void pl_subscription_ask(struct pl_subscription *sub, struct pl_since since);
/* The same after a delay: the session was not available, or there was no room for its snapshot. */
#define PL_SUBSCRIPTION_AGAIN_MS      250
#define PL_SUBSCRIPTION_AGAIN_FULL_MS 5000
void pl_subscription_ask_later(struct pl_subscription *sub, int64_t delay_ms);
/* Passes its memory to the session's shard, which removes the listener. */
void pl_subscription_give_back(struct pl_subscription *sub);
/* Writes why the session is refused: the problem, with the session's id. */
void pl_subscription_write_refusal(const struct pl_subscription *sub,
                                   const struct pl_session_command *command, struct pl_buf *to);

#endif

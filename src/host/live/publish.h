/* From a session to its listeners: its events are encoded once per lane and passed to every shard
 * that has listeners. A feed belongs to the driver of the session and lives on the session's
 * shard. */
#ifndef PL_LIVE_PUBLISH_H
#define PL_LIVE_PUBLISH_H

#include "cluster/node.h"
#include "live/chunk.h"
#include "live/history.h"
#include "session/session.h"

struct pl_subscription;

/* Shared by the feeds of a shard. */
struct pl_feeds {
    struct pl_shard *shard; /* borrowed */
    struct pl_buf spelled;  /* the encoded frames, while they are made */
    uint64_t n_generations;
};

/* Another node that listens, for any number of readers there. */
struct pl_feed_node {
    struct pl_node_id id;
    bool wants_whole;
    int64_t ask; /* the last one by which it entered; the numbers of a node grow */
};

struct pl_feed {
    struct pl_feeds *all;     /* borrowed */
    struct pl_str session_id; /* borrowed from the driver */
    struct pl_history history;
    uint32_t *listeners; /* owned; [shard * PL_LANE_COUNT + lane]; NULL until there is a listener */
    size_t n_listeners;
    uint64_t generation; /* of the counts: a listener of an earlier generation is not counted any
                            more */
    PL_VEC(struct pl_feed_node) nodes; /* counted among n_listeners */
};

/* Events that wait until they may be published. */
struct pl_published {
    int64_t n_frames;
    struct pl_chunk *chunks[PL_LANE_COUNT]; /* a reference each; NULL: no listeners there */
    struct pl_chunk *unspelled;             /* the same for other nodes, not encoded */
};

void pl_feeds_init(struct pl_feeds *feeds, struct pl_shard *shard);
void pl_feeds_deinit(struct pl_feeds *feeds);
void pl_feed_init(struct pl_feed *feed, struct pl_feeds *all, struct pl_str session_id);
void pl_feed_deinit(struct pl_feed *feed);
void pl_published_deinit(struct pl_published *published);

/* Whether a subscriber wants the content in every patch. */
bool pl_feed_wants_whole(const struct pl_feed *feed);
/* Encodes the frames of an apply (at least one) and keeps them for readers that reconnect.
 * `published` is zeroed; n_sessions share the memory for kept events. PL_NOMEM: some lanes may be
 * set. */
enum pl_status pl_feed_encode(struct pl_feed *feed, const struct pl_session_out *out, int64_t epoch,
                              size_t n_sessions, struct pl_published *published);
/* Sends them to the hubs of all shards. */
void pl_feed_deliver(struct pl_feed *feed, const struct pl_published *published);
/* Makes every listener subscribe again (is_gone: and learn that the session is deleted). */
void pl_feed_resync(struct pl_feed *feed, bool is_gone);
/* Drops the events kept for readers that reconnect. */
void pl_feed_forget(struct pl_feed *feed);

/* Counts a listener, if it is not counted yet; false: out of memory. */
bool pl_feed_enter(struct pl_feed *feed, struct pl_subscription *sub);
/* Ends counting it; false: it was not counted here. */
bool pl_feed_leave(struct pl_feed *feed, const struct pl_subscription *sub);
/* The same for another node; entering again can only add wants_whole. A node leaves up to an ask:
 * if it has entered by a later ask it stays, since letters may overtake each other. */
bool pl_feed_enter_node(struct pl_feed *feed, const struct pl_node_id *node, bool wants_whole,
                        int64_t ask);
bool pl_feed_leave_node(struct pl_feed *feed, const struct pl_node_id *node, int64_t ask);
/* Whether it is counted. A resync ends the counting of all listeners. */
bool pl_feed_has(const struct pl_feed *feed, const struct pl_subscription *sub);
bool pl_feed_has_node(struct pl_feed *feed, const struct pl_node_id *node);
/* Appends all events after `since` up to `position`, in the form of the lane; false: not all of
 * them are kept. */
bool pl_feed_replay(const struct pl_feed *feed, enum pl_lane lane, int64_t epoch, int64_t since,
                    int64_t position, struct pl_buf *to, uint32_t *ret_n);
/* The same for a server that listens (wire/frames_wire.h). */
bool pl_feed_replay_unspelled(const struct pl_feed *feed, bool wants_whole, int64_t since,
                              int64_t position, struct pl_buf *to, uint32_t *ret_n);

#endif

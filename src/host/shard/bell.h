/* Notifications from one node to all others, without an answer: `ring` of struct pl_server. A bell
 * may be lost, so the others also find out without it, a little later. Only events for a user
 * (PL_BELL_USER) are not repeated: clients reload their lists. A node that knows no other node rings
 * no bell; when it learns of one it says so (PL_BELL_MET), because that node may have readers who
 * missed events. */
#ifndef PL_SHARD_BELL_H
#define PL_SHARD_BELL_H

/* X(name, spelling) */
#define PL_BELL_TABLE(X)                                                                           \
    X(AUTH, "auth") /* users, keys or limits changed; no text (agent/auth_hear.h) */               \
    X(USER, "user") /* an event for the sockets of a user; text: the event (live/hub.h) */         \
    X(EXT, "ext")   /* extensions changed; no text (ext/run/ext.h) */                              \
    X(MET, "met")   /* the sender learned of a node; text: the bytes of the node's id */

enum pl_bell {
#define X(name, text) PL_BELL_##name,
    PL_BELL_TABLE(X)
#undef X
        PL_BELL_COUNT,
};

#endif

/* News of one node to all the others, without an answer: `ring` of struct pl_server. A bell may be
 * lost, so the others also find out without it, a little later. Only events to a user (PL_BELL_USER)
 * are not repeated: clients read their lists again. */
#ifndef PL_SHARD_BELL_H
#define PL_SHARD_BELL_H

/* X(name, spelling) */
#define PL_BELL_TABLE(X)                                                                           \
    X(AUTH, "auth") /* users, keys or limits have changed; no text (agent/auth_hear.h) */          \
    X(USER, "user") /* something is told to the sockets of a user; text: what (live/hub.h) */      \
    X(EXT, "ext")   /* extensions have changed; no text (ext/run/ext.h) */

enum pl_bell {
#define X(name, text) PL_BELL_##name,
    PL_BELL_TABLE(X)
#undef X
        PL_BELL_COUNT,
};

#endif

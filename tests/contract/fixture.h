/* A fresh store of a chosen back end, and records to fill it. For cmocka tests only. */
#ifndef PL_TESTS_STORE_FIXTURE_H
#define PL_TESTS_STORE_FIXTURE_H

#include "base/text/uuid.h"
#include "store/store.h"

enum { URL_MAX = 512 };

struct fixture {
    const char *kind; /* "memory", "sqlite", "postgres" */
    char url[URL_MAX];
    char dir[128]; /* of sqlite; "" otherwise */
    char path[160];
    struct pl_store *store;
    struct pl_arena arena;
    struct pl_id_seed seed;
    struct pl_id user, other;
    _Atomic(int) n_fatal; /* how often on_fatal was called */
    _Atomic(int) n_fenced, n_rewound;
    void (*on_fenced)(void *ctx), (*on_rewound)(void *ctx); /* of the store; may be NULL */
    /* The options for opening the next store: */
    bool is_server;
    int64_t answer_ms;
};

/* Makes an empty place for a store and opens it; a failure ends the test. */
struct fixture *fixture_create(const char *kind);
/* A store in a file that begins as a copy of this one; closes this one. Making the schema is slow.
 * */
struct fixture *fixture_create_copy(const char *path);
/* Closes and removes everything. */
void fixture_destroy(struct fixture *fixture);
void fixture_open(struct fixture *fixture);
void fixture_reopen(struct fixture *fixture);
/* Ends the current processes and opens the store in a new one. Does nothing if there is only one.
 * */
void fixture_outlive(struct fixture *fixture);
/* Opens the same store again as another process would, if the back end allows that; otherwise
 * returns the current one. Every join needs a leave. */
struct pl_store *fixture_join(struct fixture *fixture);
void fixture_leave(struct fixture *fixture, struct pl_store *store);

struct pl_str id_str(const struct pl_id *id);
struct pl_str str_of(const char *text); /* {NULL, 0} for NULL */

/* Plain records of the fixture's user. */
struct pl_session_record make_session(struct fixture *fixture, const struct pl_id *id);
struct pl_turn_row make_turn(const struct pl_id *session, const struct pl_id *id, int64_t sequence,
                             const char *body);

/* Puts a new one, and an existing one. */
void put_session(struct pl_batch *batch, const struct pl_session_record *session);
void change_session(struct pl_batch *batch, const struct pl_session_record *session);
void put_turn(struct pl_batch *batch, const struct pl_turn_row *turn);
/* Commits and expects PL_OK. */
void commit(struct fixture *fixture, struct pl_batch *batch);
/* Stores a session. */
struct pl_id add_session(struct fixture *fixture);
struct pl_turn_query turns_of(const struct pl_id *session);

/* Runs SQL outside the store, as another program would: a SQLite store must not be open. */
void run_sql(struct fixture *fixture, const char *sql);

#define assert_str(actual, expected)                                                               \
    do {                                                                                           \
        struct pl_str actual_ = (actual), expected_ = (expected);                                  \
        assert_int_equal(actual_.len, expected_.len);                                              \
        if (expected_.len)                                                                         \
            assert_memory_equal(actual_.ptr, expected_.ptr, expected_.len);                        \
        assert_int_equal(!actual_.ptr, !expected_.ptr);                                            \
    } while (0)

#endif

/* Nodes with a bus between them, each with its own store in one database, and the letters that each
 * received. For cmocka tests only. */
#ifndef PL_TESTS_BUS_WORLD_H
#define PL_TESTS_BUS_WORLD_H

#include "contract/beside.h"

#include "bus/bus.h"
#include "store/node/node_line.h"

#include <pthread.h>

struct came {
    char *bytes; /* owned */
    size_t len;
    bool is_to_all;
};

struct node {
    struct fixture *fixture; /* borrowed: the database */
    struct pl_store *store;  /* owned */
    struct pl_node_line *line;
    struct pl_bus *bus;
    struct pl_node_id id;
    pthread_mutex_t lock;
    /* Protected by the lock: */
    struct came *came; /* owned */
    size_t n_came, cap_came;
    size_t n_told[3]; /* calls of each state */
    bool is_inside;   /* a call of the bus is running */
    bool is_twice;    /* … and another one began */
};

/* "local", "pg" or "nats". */
extern const char *bus_kind;

/* Every seventh allocation fails, on any thread. */
extern _Atomic(bool) is_memory_short;

/* Enters a node of the fixture's database and opens its bus. */
struct node *node_enter(struct fixture *fixture);
/* The same with a configuration changed by the test; returns a failure. */
struct node *node_make(struct fixture *fixture);
void node_configure(struct node *node, struct pl_bus_config *ret_config);
enum pl_status node_open(struct node *node, const struct pl_bus_config *config,
                         struct pl_error *err);
void node_leave(struct node *node);

void node_send(struct node *from, const struct node *to, struct pl_str letter);
void node_send_all(struct node *from, struct pl_str letter);

size_t node_n_came(struct node *node);
size_t node_n_told(struct node *node, enum pl_bus_state state);
/* Waits until exactly n letters have arrived. */
void node_await(struct node *node, size_t n);
/* The i-th received letter, from 0. */
struct came node_came(struct node *node, size_t i);
void assert_came(struct node *node, size_t i, struct pl_str letter, bool is_to_all);

/* with_postgres --stop …, with_nats --kill … */
void control_postgres(const char *word);
void control_nats(const char *word);

#endif

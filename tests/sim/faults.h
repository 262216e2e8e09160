/* Faults of a run: each is planned before, waits for its moment, begins, and ends. */
#ifndef PL_TESTS_SIM_FAULTS_H
#define PL_TESTS_SIM_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fault_kind {
    FAULT_KILL,
    FAULT_KILL_MACHINE,
    FAULT_FREEZE,
    FAULT_FREEZE_FOR_EVER,
    FAULT_BASE_RESTART,
    FAULT_BASE_SILENT,
    FAULT_BASE_SLOW,
    FAULT_BASE_CUT,
    FAULT_NODE_WITHOUT_BASE,
    FAULT_BUS_LOSES,
    FAULT_BUS_LOSES_ENDS, /* of answers: nothing follows that would show it */
    FAULT_BUS_DOUBLES,
    FAULT_BUS_AWAY,
    FAULT_BUS_PARTED,
    FAULT_COUNT,
};

/* When it begins. A moment that does not come is waited for no longer than wait_ms. */
enum fault_moment {
    MOMENT_ANY,
    MOMENT_SPLIT, /* the node is between the mark and the COMMIT of a transaction */
    MOMENT_HEARD, /* a reader at the node is being told something */
};

struct fault {
    enum fault_kind kind;
    enum fault_moment moment;
    int64_t from_us, wait_ms, length_ms;
    size_t machine;
    bool is_anybodys; /* whichever node has its moment first */
    bool ends_taken;  /* it ends as soon as a node was taken over */
};

void faults_begin(size_t n_machines);
/* Each kind once at most: the end of one is not the end of another. */
bool faults_have(enum fault_kind kind);
void faults_plan(const struct fault *fault);
/* As long as chance says for its kind. */
int64_t faults_draw_ms(enum fault_kind kind);
/* The bus goes on to lose when its fault is over, but less, until faults_end. */
void faults_lose_on(void);
/* A node was taken over. */
void faults_taken(void);
/* When the last of them is over, as far as is known. */
int64_t faults_over_us(void);
/* Whether sessions may change hands by one of them. */
bool faults_move(void);
void faults_end(void);

#endif

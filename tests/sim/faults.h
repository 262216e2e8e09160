/* Faults of a run: each is planned in advance, waits for its moment, begins, and ends. */
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
    FAULT_BUS_LOSES_ENDS, /* of answers: no later letter shows the loss */
    FAULT_BUS_DOUBLES,
    FAULT_BUS_AWAY,
    FAULT_BUS_PARTED,
    FAULT_COUNT,
};

/* When it begins. If the moment does not come within wait_ms, the fault begins without it. */
enum fault_moment {
    MOMENT_ANY,
    MOMENT_SPLIT, /* the node is between the mark and the COMMIT of a transaction */
    MOMENT_HEARD, /* a reader at the node is receiving something */
};

struct fault {
    enum fault_kind kind;
    enum fault_moment moment;
    int64_t from_us, wait_ms, length_ms;
    size_t machine;
    bool is_anybodys; /* the first node that has its moment */
    bool ends_taken;  /* it ends as soon as a node was taken over */
};

void faults_begin(size_t n_machines);
/* Each kind at most once: the end of one is not the end of another. */
bool faults_have(enum fault_kind kind);
void faults_plan(const struct fault *fault);
/* A random duration for its kind. */
int64_t faults_draw_ms(enum fault_kind kind);
/* After its fault the bus still loses letters, but fewer, until faults_end. */
void faults_lose_on(void);
/* A node was taken over. */
void faults_taken(void);
/* When the last of them ends, as far as is known. */
int64_t faults_over_us(void);
/* Whether one of them may move sessions between nodes. */
bool faults_move(void);
void faults_end(void);

#endif

/* Shared by the checks of parley doctor. */
#ifndef PL_APP_DOCTOR_INT_H
#define PL_APP_DOCTOR_INT_H

#include "app/frame/api.h"

enum pl_exam_level { PL_EXAM_FINE, PL_EXAM_WARNING, PL_EXAM_PROBLEM };

struct pl_exam_finding {
    const char *check;
    enum pl_exam_level level;
    struct pl_str says, advice; /* arena; advice may be empty */
};

struct pl_exam {
    struct pl_api api;      /* owned */
    const char *check;      /* the current check */
    bool is_running;        /* a server has the store open */
    struct pl_store *store; /* owned; set only for PostgreSQL; NULL: another store, or unreadable */
    PL_VEC(struct pl_exam_finding) findings; /* owned */
    bool is_cut;                             /* out of memory: a finding is missing */
};

/* Adds a finding. `advice` is NULL if there is nothing to do. */
void pl_doctor_find(struct pl_exam *exam, enum pl_exam_level level, const char *advice,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* --- doctor_nodes.c: these find nothing unless the store is in PostgreSQL */
void pl_doctor_nodes(struct pl_exam *exam);
void pl_doctor_standbys(struct pl_exam *exam);
void pl_doctor_bus(struct pl_exam *exam);
/* Reports extensions without files on this node. */
void pl_doctor_extensions(struct pl_exam *exam);

#endif

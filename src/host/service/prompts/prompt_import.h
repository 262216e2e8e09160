/* The effect of an import on a library, prompt by prompt: planned against the whole library, then
 * committed in one transaction.
 *
 * A prompt of a backup matches the prompt with the same id. Any other prompt matches the one with
 * the same name in the same folder. A match adds a version, unless the latest one has the same
 * content. A backup with more versions than the library adds all missing ones, with their numbers
 * and labels. Blocking: on a worker. */
#ifndef PL_SERVICE_PROMPTS_PROMPT_IMPORT_H
#define PL_SERVICE_PROMPTS_PROMPT_IMPORT_H

#include "base/map.h"
#include "base/text/uuid.h"
#include "base/vec.h"
#include "promptfile/promptfile.h"
#include "store/library.h"

/* X(name, text) */
#define PL_IMPORT_OUTCOME_TABLE(X)                                                                 \
    X(CREATED, "created")                                                                          \
    X(VERSION, "version")                                                                          \
    X(SAME, "same")                                                                                \
    X(SKIPPED, "skipped")
enum pl_import_outcome {
#define X(name, text) PL_IMPORT_##name,
    PL_IMPORT_OUTCOME_TABLE(X)
#undef X
};
const char *pl_import_outcome_text(enum pl_import_outcome outcome);

enum pl_when_there { PL_THERE_VERSION, PL_THERE_SKIP, PL_THERE_COPY };

struct pl_label_row {
    struct pl_str label;
    int64_t version;
};

/* The plan for one prompt of the files; memory of the import's arena. */
struct pl_import_plan {
    struct pl_str path;
    enum pl_import_outcome outcome;
    struct pl_prompt_row row;               /* the new row, with the expected revision */
    struct pl_prompt_version_row *versions; /* to be added */
    size_t n_versions;
    struct pl_label_row *labels; /* to be added */
    size_t n_labels;
};

struct pl_prompt_import {
    /* Filled in by the caller: */
    struct pl_store *store;
    struct pl_arena *arena;
    struct pl_str user_id;
    struct pl_id_seed seed;
    struct pl_str folder; /* the target of everything; empty: the root */
    enum pl_when_there when_there;

    PL_VEC(struct pl_import_plan) plans;
    PL_VEC(struct pl_filed_problem) problems; /* prompts that cannot be imported, and why */
    struct pl_map by_id, by_place; /* entries of the library, in their state after the import */
};
void pl_prompt_import_deinit(struct pl_prompt_import *import);

/* Plans all prompts that were read. PL_IO, PL_NOMEM. */
enum pl_status pl_prompt_import_plan(struct pl_prompt_import *import, const struct pl_filed *filed,
                                     struct pl_error *err);
/* Whether a plan writes anything. */
bool pl_import_plan_writes(const struct pl_import_plan *plan);
void pl_import_plan_put(const struct pl_import_plan *plan, struct pl_batch *batch);

#endif

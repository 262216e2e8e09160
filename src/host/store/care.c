/* Maintenance of a store: copies, its size, checks for damage. */
#include "store/store_int.h"

/* A count that must be 0, and the message for any other number. */
static const struct {
    enum pl_sql sql;
    const char *problem;
} checks[] = {
    {PL_SQL_CHECK_TURNS, "turns belong to no session"},
    {PL_SQL_CHECK_ENTRIES, "turns are after the end of their session"},
    {PL_SQL_CHECK_QUESTIONS, "questions belong to no session"},
    {PL_SQL_CHECK_ANSWERS, "questions are answered but have no answer"},
    {PL_SQL_CHECK_QUEUED, "queued messages belong to no session"},
    {PL_SQL_CHECK_SHARES, "share links belong to no session"},
    {PL_SQL_CHECK_KEYS, "keys belong to no user"},
    {PL_SQL_CHECK_IDENTITIES, "identities of an OpenID provider belong to no user"},
    {PL_SQL_CHECK_VERSIONS, "versions belong to no prompt"},
    {PL_SQL_CHECK_LATEST, "prompts lack their latest version"},
    {PL_SQL_CHECK_LABELS, "labels belong to no version of a prompt"},
    {PL_SQL_CHECK_CARDS, "cards belong to no session"},
    {PL_SQL_CHECK_DRAFTS, "drafts belong to no prompt"},
    {PL_SQL_CHECK_TAGS, "tags belong to no prompt"},
    {PL_SQL_CHECK_SUPERSEDED, "memories are superseded by one that does not exist"},
    {PL_SQL_CHECK_TASK_RUNS, "runs belong to no scheduled task"},
    {PL_SQL_CHECK_BLOBS, "blobs belong to no bytes"},
    {PL_SQL_CHECK_PIECES, "blobs lack some of their bytes"},
    {PL_SQL_CHECK_BLOB_USES, "uses of blobs belong to nothing"},
    {PL_SQL_CHECK_CONTENTS, "stored bytes belong to no blob"},
    {PL_SQL_CHECK_EXTENSION_FILES, "files belong to no package of an extension"},
    {PL_SQL_CHECK_EXTENSION_TOOLS, "tools belong to no extension"},
    {PL_SQL_CHECK_EXTENSION_ANSWERS, "kept answers belong to no extension"},
    {PL_SQL_CHECK_EXTENSION_QUARANTINES, "quarantines belong to no extension"},
};

struct saying {
    void (*say)(void *ctx, bool is_problem, const char *sentence);
    void *ctx;
    size_t n_problems;
};

static void count_and_say(void *ctx, bool is_problem, const char *sentence)
{
    struct saying *saying = ctx;
    saying->n_problems += is_problem;
    saying->say(saying->ctx, is_problem, sentence);
}

static enum pl_status check_rows(struct pl_db *db, struct saying *saying, struct pl_error *err)
{
    char sentence[160];
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        int64_t n = 0;
        enum pl_status status = pl_db_number(db, checks[i].sql, &n, err);
        if (status != PL_OK)
            return status;
        if (n == 0)
            continue;
        snprintf(sentence, sizeof sentence, "%lld %s.", (long long)n, checks[i].problem);
        count_and_say(saying, true, sentence);
    }
    return PL_OK;
}

static enum pl_status say_size(struct pl_db *db, struct saying *saying, struct pl_error *err)
{
    char sentence[160];
    int64_t n_sessions = 0, n_turns = 0;
    enum pl_status status = pl_db_number(db, PL_SQL_COUNT_SESSIONS, &n_sessions, err);
    if (status == PL_OK)
        status = pl_db_number(db, PL_SQL_COUNT_TURNS, &n_turns, err);
    if (status != PL_OK)
        return status;
    snprintf(sentence, sizeof sentence, "%lld sessions with %lld turns were checked%s.",
             (long long)n_sessions, (long long)n_turns,
             saying->n_problems ? "" : "; there are no problems");
    saying->say(saying->ctx, false, sentence);
    return PL_OK;
}

enum pl_status pl_store_check(struct pl_store *store,
                              void (*say)(void *ctx, bool is_problem, const char *sentence),
                              void *ctx, struct pl_error *err)
{
    struct saying saying = {say, ctx, 0};
    struct pl_db *db;
    enum pl_status status = pl_pool_take(store, &db, err);
    if (status != PL_OK)
        return status;
    if (store->ops->check)
        status = store->ops->check(db, count_and_say, &saying, err);
    if (status == PL_OK)
        status = check_rows(db, &saying, err);
    if (status == PL_OK)
        status = say_size(db, &saying, err);
    pl_pool_give(store, db);
    return status;
}

enum pl_status pl_store_backup(struct pl_store *store, const char *to_path, struct pl_error *err)
{
    struct pl_db *db;
    enum pl_status status = pl_pool_take(store, &db, err);
    if (status != PL_OK)
        return status;
    status = store->ops->backup(db, to_path, err);
    pl_pool_give(store, db);
    return status;
}

int64_t pl_store_n_bytes(struct pl_store *store)
{
    struct pl_db *db;
    if (pl_pool_take(store, &db, NULL) != PL_OK)
        return -1;
    int64_t n = store->ops->n_bytes(db);
    pl_pool_give(store, db);
    return n;
}

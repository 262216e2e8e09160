/* Statements for scheduled tasks and blobs: see statements.h. */
#ifndef PL_STORE_STATEMENTS_WORK_H
#define PL_STORE_STATEMENTS_WORK_H

#include "store/sql/statements_commits.h"
#include "store/sql/statements_library.h"

#define SQL_TASK "(SELECT key FROM tasks WHERE id = ?1)"
#define SQL_TASK_COLUMNS                                                                           \
    "id, user_id, title, prompt, prompt_ref, cron, timezone, model, overlap, enabled, "            \
    "skip_confirmations, expires_ms, next_ms, last_ms, disabled_reason, revision, created_ms, "    \
    "updated_ms, n_failures"
/* ?1 user, ?2 enabled, ?3 pattern */
#define SQL_TASK_FILTER                                                                            \
    "FROM tasks WHERE user_id = ?1 AND (?2 < 0 OR enabled = ?2) AND "                              \
    "(?3 = '' OR lower(title) LIKE lower(?3) ESCAPE '!')"
/* Tasks of a disabled user wait. */
#define SQL_TASK_ACTIVE                                                                            \
    "enabled = 1 AND deleted_ms = 0 AND NOT EXISTS (SELECT 1 FROM users WHERE users.id = "         \
    "tasks.user_id "                                                                               \
    "AND users.disabled_ms > 0)"
#define SQL_TASK_DUE "FROM tasks WHERE " SQL_TASK_ACTIVE " AND next_ms <= ?1"
/* Whether this failure is one too many: ?2 whether it failed, ?3 the limit. */
#define SQL_TASK_IS_OVER "(?2 = 1 AND enabled = 1 AND ?3 > 0 AND n_failures + 1 >= ?3)"

/* The last writer that changed a run owns it. */
#define SQL_RUN_UPDATE(and_writer)                                                                 \
    "UPDATE task_runs SET session_id = ?2, status = ?3, error = ?4, finished_ms = ?5" and_writer   \
    " WHERE id = ?1"
/* Leaves a run alone if its session waits for a person or is driven by another node by now. */
#define SQL_RUN_SETTLE(whose)                                                                      \
    "UPDATE task_runs SET status = 'failed', error = ?1, finished_ms = ?2 "                        \
    "WHERE status = 'running' AND " whose " AND NOT EXISTS (SELECT 1 FROM sessions "               \
    "WHERE sessions.id = task_runs.session_id AND (sessions.status = 'waiting_for_input' OR "      \
    "EXISTS (SELECT 1 FROM commits WHERE commits.writer = sessions.owner AND commits.is_gone = "   \
    "0)))"

/* ?1 task, ?2 status, ?3 after, ?4 before */
#define SQL_RUN_FILTER                                                                             \
    "FROM task_runs WHERE task = " SQL_TASK " AND (?2 = '' OR status = ?2) AND due_ms > ?3 AND "   \
    "due_ms < ?4"

#define SQL_UPLOAD "(SELECT key FROM blob_uploads WHERE id = ?1)"
#define SQL_BLOB_COLUMNS                                                                           \
    "blobs.id, blobs.user_id, blob_contents.hash, blob_contents.n_bytes, blobs.content_type, "     \
    "blobs.name, blobs.created_ms, blobs.unused_ms FROM blobs "                                    \
    "JOIN blob_contents ON blob_contents.key = blobs.content "
/* The content of the blob ?1 of the user ?2. */
#define SQL_BLOB_CONTENT                                                                           \
    "(SELECT content FROM blobs WHERE id = ?1 AND user_id = COALESCE(?2, user_id))"

/* `owner` is a column of blob_uses, `table` the table it refers to: ?1 an id in this table, ?2 a
 * blob. Only blobs of the same user count. */
#define SQL_BLOB_USE(owner, table)                                                                 \
    "INSERT INTO blob_uses (blob, " owner ") SELECT blobs.key, " table ".key FROM blobs "          \
    "JOIN " table " ON " table ".user_id = blobs.user_id WHERE " table ".id = ?1 AND "             \
    "blobs.id = ?2 ON CONFLICT DO NOTHING"
/* For use before the row ?1 of the user ?2 is deleted; ?3 is now. */
#define SQL_BLOB_RELEASE(owner, table)                                                             \
    "UPDATE blobs SET unused_ms = ?3 WHERE unused_ms >= 0 AND key IN (SELECT blob FROM blob_uses " \
    "WHERE " owner " = (SELECT key FROM " table                                                    \
    " WHERE id = ?1 AND user_id = COALESCE(?2, user_id)))"
#define SQL_BLOB_HAS_USE "EXISTS (SELECT 1 FROM blob_uses WHERE blob = blobs.key)"

/* TASK_UPDATE fails if the revision differs: it then writes a value that is not allowed.
 * TASK_EXPECT, after it, fails if there is no such task.
 *
 * BLOB_ENTER and BLOB_HOLD lock the row of the bytes. So if several transactions add and remove the
 * same bytes, the next statement of each sees the result of the transaction before. */
#define PL_SQL_WORK_TABLE(X, EACH)                                                                 \
    X(TASK_CREATE, "bbtttttttiiiiitiii",                                                           \
      "INSERT INTO tasks (" SQL_TASK_COLUMNS                                                       \
      ") VALUES (?1, " SQL_LIVING("?2") ", ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "                      \
                                        "?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, 0)")              \
    X(TASK_UPDATE, "bbtttttttiiiiitiii",                                                           \
      "UPDATE tasks SET title = ?3, prompt = ?4, prompt_ref = ?5, cron = ?6, timezone = ?7, "      \
      "model = ?8, overlap = ?9, enabled = ?10, skip_confirmations = ?11, expires_ms = ?12, "      \
      "next_ms = ?13, last_ms = ?14, disabled_reason = ?15, "                                      \
      "revision = CASE WHEN revision = ?16 THEN revision + 1 ELSE 0 END, n_failures = ?17, "       \
      "updated_ms = ?18 WHERE id = ?1 AND user_id = ?2")                                           \
    X(TASK_EXPECT, "bb",                                                                           \
      SQL_REFUSE("task_is_there",                                                                  \
                 "NOT EXISTS (SELECT 1 FROM tasks WHERE id = ?1 AND user_id = ?2)"))               \
    X(TASK_DELETE, "bb", "DELETE FROM tasks WHERE id = ?1 AND user_id = COALESCE(?2, user_id)")    \
    X(TASK_ADVANCE, "biii",                                                                        \
      "UPDATE tasks SET last_ms = CASE WHEN ?3 > last_ms THEN ?3 ELSE last_ms END, "               \
      "next_ms = CASE WHEN ?4 > next_ms THEN ?4 ELSE next_ms END WHERE id = ?1 AND revision = ?2") \
    X(TASK_REWIND, "bii",                                                                          \
      "UPDATE tasks SET next_ms = ?3 WHERE id = ?1 AND revision = ?2 AND enabled = 1 AND next_ms " \
      "> ?3")                                                                                      \
    X(TASK_COUNT_FAILURE, "biiti",                                                                 \
      "UPDATE tasks SET n_failures = CASE WHEN ?2 = 1 THEN n_failures + 1 ELSE 0 END, "            \
      "disabled_reason = CASE WHEN " SQL_TASK_IS_OVER " THEN ?4 ELSE disabled_reason END, "        \
      "updated_ms = CASE WHEN " SQL_TASK_IS_OVER " THEN ?5 ELSE updated_ms END, "                  \
      "revision = CASE WHEN " SQL_TASK_IS_OVER " THEN revision + 1 ELSE revision END, "            \
      "enabled = CASE WHEN " SQL_TASK_IS_OVER " THEN 0 ELSE enabled END WHERE id = ?1")            \
    X(TASK_GET, "bb",                                                                              \
      "SELECT " SQL_TASK_COLUMNS " FROM tasks "                                                    \
      "WHERE id = ?1 AND user_id = COALESCE(?2, user_id) AND deleted_ms = 0")                      \
    X(TASK_LIST, "bitbii",                                                                         \
      "SELECT " SQL_TASK_COLUMNS " " SQL_TASK_FILTER                                               \
      " AND id < ?4 ORDER BY id DESC LIMIT ?5 OFFSET ?6")                                          \
    X(TASK_COUNT, "bit", "SELECT count(*) " SQL_TASK_FILTER)                                       \
    X(TASK_DUE, "ii",                                                                              \
      "SELECT " SQL_TASK_COLUMNS " " SQL_TASK_DUE " ORDER BY next_ms, id LIMIT ?2")                \
    X(TASK_COUNT_DUE, "i", "SELECT count(*) " SQL_TASK_DUE)                                        \
    X(TASK_NEXT, "",                                                                               \
      "SELECT COALESCE(min(next_ms), 9223372036854775807) FROM tasks WHERE " SQL_TASK_ACTIVE)      \
                                                                                                   \
    X(RUN_CREATE, "bbbttiiiii",                                                                    \
      "INSERT INTO task_runs (task, id, session_id, status, error, due_ms, is_manual, n_missed, "  \
      "triggered_ms, finished_ms) VALUES (" SQL_TASK ", ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")     \
    EACH(RUN_UPDATE, "bbtti", SQL_RUN_UPDATE(""), SQL_RUN_UPDATE(", writer = DEFAULT"))            \
    X(RUN_SETTLE, "ti", SQL_RUN_SETTLE(SQL_WRITER_LEFT("task_runs")))                              \
    X(RUN_FAIL_OF, "tib", SQL_RUN_SETTLE("writer = ?3 AND " SQL_WRITER_LEFT("task_runs")))         \
    EACH(RUN_ADOPT, "b", "SELECT ?1 WHERE 0",                                                      \
         "WITH taken AS (UPDATE task_runs SET writer = DEFAULT WHERE id = ?1 AND "                 \
         "" SQL_WRITER_LEFT(                                                                       \
             "task_runs") " RETURNING 1) INSERT INTO refusals (reason) "                           \
                          "SELECT CAST(NULL AS TEXT) WHERE NOT EXISTS (SELECT 1 FROM taken)")      \
    X(RUN_HOLD, "b", "UPDATE task_runs SET status = status WHERE id = ?1")                         \
    X(RUN_EXPECT_QUEUED, "b",                                                                      \
      SQL_MUST_BE("SELECT 1 FROM task_runs WHERE id = ?1 AND status = 'queued'"))                  \
    /* Whether another writer than ?7 runs it, and that writer is not gone. */                     \
    X(RUN_LIST, "btiiiib",                                                                         \
      "SELECT id, session_id, status, error, due_ms, is_manual, n_missed, triggered_ms, "          \
      "finished_ms, (SELECT count(*) FROM commits WHERE commits.writer = task_runs.writer AND "    \
      "commits.writer <> ?7 AND is_gone = 0) " SQL_RUN_FILTER                                      \
      " ORDER BY due_ms DESC, key DESC LIMIT ?5 OFFSET ?6")                                        \
    X(RUN_COUNT, "btii", "SELECT count(*) " SQL_RUN_FILTER)                                        \
                                                                                                   \
    X(UPLOAD_BEGIN, "bi",                                                                          \
      "INSERT INTO blob_uploads (id, touched_ms) VALUES (?1, ?2) ON CONFLICT (id) DO NOTHING")     \
    X(UPLOAD_TOUCH, "bi",                                                                          \
      "UPDATE blob_uploads SET touched_ms = ?2 WHERE id = ?1 AND touched_ms IS NOT NULL")          \
    X(UPLOAD_PIECE, "bib",                                                                         \
      "INSERT INTO blob_pieces (upload, number, bytes) VALUES ("                                   \
      "(SELECT key FROM blob_uploads WHERE id = ?1 AND touched_ms IS NOT NULL), ?2, ?3)")          \
    X(UPLOAD_DROP, "b", "DELETE FROM blob_uploads WHERE id = ?1 AND touched_ms IS NOT NULL")       \
    X(UPLOAD_SWEEP, "i",                                                                           \
      "DELETE FROM blob_uploads WHERE touched_ms IS NOT NULL AND touched_ms < ?1")                 \
    X(UPLOAD_END, "b",                                                                             \
      "UPDATE blob_uploads SET touched_ms = NULL WHERE id = ?1 "                                   \
      "AND EXISTS (SELECT 1 FROM blob_contents WHERE upload = blob_uploads.key)")                  \
    X(BLOB_ENTER, "bbi",                                                                           \
      "INSERT INTO blob_contents (hash, upload, n_bytes, n_changes) VALUES (?2, "                  \
      "(SELECT key FROM blob_uploads WHERE id = ?1 AND ?3 = "                                      \
      "(SELECT COALESCE(sum(length(bytes)), 0) FROM blob_pieces "                                  \
      "WHERE upload = blob_uploads.key)), ?3, 1) "                                                 \
      "ON CONFLICT (hash) DO UPDATE SET n_changes = blob_contents.n_changes + 1")                  \
    /* If the user already has the bytes and they are unused, restarts the grace period. */        \
    X(BLOB_CREATE, "bbbttii",                                                                      \
      "INSERT INTO blobs (id, user_id, content, content_type, name, created_ms, unused_ms) "       \
      "VALUES (?1, " SQL_LIVING(                                                                   \
          "?2") ", (SELECT key FROM blob_contents WHERE hash = ?3), ?4, ?5, ?6, ?7) "              \
                "ON CONFLICT (content, user_id) DO UPDATE SET unused_ms = CASE WHEN "              \
                "blobs.unused_ms > 0 THEN excluded.unused_ms ELSE blobs.unused_ms END")            \
    X(BLOB_USE_SESSION, "bb", SQL_BLOB_USE("session", "sessions"))                                 \
    X(BLOB_USE_PROMPT, "bb", SQL_BLOB_USE("prompt", "prompts"))                                    \
    X(BLOB_USE_TASK, "bb", SQL_BLOB_USE("task", "tasks"))                                          \
    X(BLOB_RELEASE_SESSION, "bbi", SQL_BLOB_RELEASE("session", "sessions"))                        \
    X(BLOB_RELEASE_PROMPT, "bbi", SQL_BLOB_RELEASE("prompt", "prompts"))                           \
    X(BLOB_RELEASE_TASK, "bbi", SQL_BLOB_RELEASE("task", "tasks"))                                 \
    X(BLOB_TOUCH, "bi", "UPDATE blobs SET unused_ms = ?2 WHERE id = ?1 AND unused_ms > 0")         \
    X(BLOB_SETTLE, "bi", "UPDATE blobs SET unused_ms = 0 WHERE id = ?1 AND unused_ms = ?2")        \
    X(BLOB_EXPECT_UNUSED, "bi",                                                                    \
      SQL_MUST_BE("SELECT 1 FROM blobs WHERE id = ?1 AND unused_ms = ?2 AND NOT "                  \
                  "" SQL_BLOB_HAS_USE))                                                            \
    X(BLOB_UNUSED, "ii",                                                                           \
      "SELECT blobs.id, blobs.user_id, blob_contents.n_bytes, blobs.unused_ms, "                   \
      "CAST(CASE WHEN " SQL_BLOB_HAS_USE " THEN 1 ELSE 0 END AS BIGINT) FROM blobs "               \
      "JOIN blob_contents ON blob_contents.key = blobs.content WHERE blobs.unused_ms > 0 AND "     \
      "blobs.unused_ms <= ?1 ORDER BY blobs.unused_ms, blobs.key LIMIT ?2")                        \
    X(BLOB_HOLD, "bb",                                                                             \
      "UPDATE blob_contents SET n_changes = n_changes + 1 WHERE key = " SQL_BLOB_CONTENT)          \
    X(BLOB_DROP_LAST, "bb",                                                                        \
      "DELETE FROM blob_uploads WHERE key = (SELECT upload FROM blob_contents "                    \
      "WHERE key = " SQL_BLOB_CONTENT " AND NOT EXISTS (SELECT 1 FROM blobs "                      \
      "WHERE content = blob_contents.key AND id <> ?1))")                                          \
    X(BLOB_DELETE, "bb", "DELETE FROM blobs WHERE id = ?1 AND user_id = COALESCE(?2, user_id)")    \
    X(TASK_GONE, "b", "DELETE FROM tasks WHERE user_id = ?1 OR deleted_of = ?1")                   \
    X(BLOB_GONE_HOLD, "b",                                                                         \
      "UPDATE blob_contents SET n_changes = n_changes + 1 "                                        \
      "WHERE key IN (SELECT content FROM blobs WHERE user_id = ?1)")                               \
    X(BLOB_GONE_LAST, "b",                                                                         \
      "DELETE FROM blob_uploads WHERE key IN (SELECT upload FROM blob_contents "                   \
      "WHERE key IN (SELECT content FROM blobs WHERE user_id = ?1) AND NOT EXISTS "                \
      "(SELECT 1 FROM blobs WHERE content = blob_contents.key AND user_id <> ?1))")                \
    X(BLOB_GONE, "b", "DELETE FROM blobs WHERE user_id = ?1")                                      \
    X(BLOB_GET, "bb",                                                                              \
      "SELECT " SQL_BLOB_COLUMNS "WHERE blobs.id = ?1 "                                            \
      "AND blobs.user_id = COALESCE(?2, blobs.user_id)")                                           \
    X(BLOB_FIND, "bb",                                                                             \
      "SELECT " SQL_BLOB_COLUMNS "WHERE blob_contents.hash = ?2 AND blobs.user_id = ?1")           \
    X(BLOB_LIST, "bii",                                                                            \
      "SELECT " SQL_BLOB_COLUMNS                                                                   \
      "WHERE blobs.user_id = ?1 ORDER BY blobs.id DESC LIMIT ?2 OFFSET ?3")                        \
    X(BLOB_COUNT, "b", "SELECT count(*) FROM blobs WHERE user_id = ?1")                            \
    X(BLOB_PIECE, "bi",                                                                            \
      "SELECT bytes FROM blob_pieces WHERE number = ?2 "                                           \
      "AND upload = (SELECT upload FROM blob_contents WHERE hash = ?1)")                           \
                                                                                                   \
    X(CHECK_TASK_RUNS, "",                                                                         \
      "SELECT count(*) FROM task_runs WHERE task NOT IN (SELECT key FROM tasks)")                  \
    X(CHECK_BLOBS, "",                                                                             \
      "SELECT count(*) FROM blobs WHERE content NOT IN (SELECT key FROM blob_contents)")           \
    X(CHECK_PIECES, "",                                                                            \
      "SELECT count(*) FROM blob_contents WHERE n_bytes <> (SELECT COALESCE(sum(length(bytes)), "  \
      "0) FROM blob_pieces WHERE upload = blob_contents.upload)")                                  \
    X(CHECK_BLOB_USES, "",                                                                         \
      "SELECT count(*) FROM blob_uses WHERE blob NOT IN (SELECT key FROM blobs) OR "               \
      "session NOT IN (SELECT key FROM sessions) OR prompt NOT IN (SELECT key FROM prompts) OR "   \
      "task NOT IN (SELECT key FROM tasks)")                                                       \
    X(CHECK_CONTENTS, "",                                                                          \
      "SELECT count(*) FROM blob_contents WHERE key NOT IN (SELECT content FROM blobs)")

#endif

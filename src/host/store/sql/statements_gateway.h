/* Statements for the data of the gateway (statements.h). */
#ifndef PL_STORE_STATEMENTS_GATEWAY_H
#define PL_STORE_STATEMENTS_GATEWAY_H

#include "store/sql/statements_commits.h"

/* `who` selects one user or all: each is found by an index. ?4 is the column to group by, ?5 … ?7
 * the last group of the previous page. Only one of day, text and user has a value. */
#define SQL_USAGE_OF_USER "user_id = ?1"
#define SQL_USAGE_OF_ALL  "?1 IS NULL"
#define SQL_USAGE_LIST(who, collate, none, provider)                                               \
    "SELECT * FROM (SELECT CASE WHEN ?4 = 'user' THEN user_id ELSE " none " END AS of_user, "      \
    "CASE ?4 WHEN 'key' THEN key_id WHEN 'model' THEN model WHEN 'provider' THEN " provider        \
    " ELSE '' END AS of_text, CASE WHEN ?4 = 'day' THEN day ELSE -1 END AS "                       \
    "of_day, " SQL_USAGE_SUMS " FROM usage_days WHERE " who " AND day >= ?2 AND "                  \
    "day <= ?3 GROUP BY 1, 2, 3) AS u WHERE of_day > ?5 OR of_text > ?6" collate                   \
    " OR of_user > ?7 ORDER BY of_day, of_text" collate ", of_user LIMIT ?8"
#define SQL_SUM(column) "CAST(sum(" column ") AS BIGINT)"
#define SQL_USAGE_SUMS                                                                                      \
    SQL_SUM("n_requests")                                                                                   \
    ", " SQL_SUM("input_tokens") ", " SQL_SUM("output_tokens") ", " SQL_SUM(                                \
        "cached_tokens") ", " SQL_SUM("cost_micro") ", " SQL_SUM("n_failed") ", " SQL_SUM("n_"              \
                                                                                          "aborte"          \
                                                                                          "d") ","          \
                                                                                               " " SQL_SUM( \
                                                                                                   "n_unpriced")

#define SQL_USAGE_ADD(column) column " = usage_days." column " + excluded." column
#define SQL_USAGE_COLUMNS                                                                          \
    "user_id, key_id, model, day, n_requests, input_tokens, output_tokens, cached_tokens, "        \
    "cost_micro, n_failed, n_aborted, n_unpriced"
#define SQL_USAGE_MERGE                                                                                                                                                              \
    " ON CONFLICT (user_id, day, key_id, model) DO UPDATE SET " SQL_USAGE_ADD(                                                                                                       \
        "n_requests") ", " SQL_USAGE_ADD("input_tokens") ", " SQL_USAGE_ADD("output_tokens") ","                                                                                     \
                                                                                             " " SQL_USAGE_ADD("cached_tokens") ", " SQL_USAGE_ADD("cost_micro") ", " SQL_USAGE_ADD( \
                                                                                                 "n_failed") ", " SQL_USAGE_ADD("n_aborted") ", " SQL_USAGE_ADD("n_unpriced")
/* Refuses more than ?2 rows; the new row is already counted. */
#define SQL_QUOTA(reason, count) SQL_REFUSE(reason, "(" count ") > ?2")
#define SQL_USER_LIMIT_COLUMNS                                                                     \
    "user_id, rpm, tpm, budget_day_micro, budget_month_micro, max_turns, max_sessions, "           \
    "max_blob_bytes, max_keys, max_tasks, max_sockets"
#define SQL_AUDIT                                                                                  \
    "SELECT number, at_ms, user_id, key_id, action, object, detail, hash FROM audit WHERE "
#define SQL_USER_LIMIT(n, column) column " = " SQL_OR_AS_IS(n, "user_limits." column)

/* A value of a change: below 0 it keeps the old value, or becomes 0 (no limit) if there is none. */
#define SQL_OR_NONE(n)       "CASE WHEN " n " < 0 THEN 0 ELSE " n " END"
#define SQL_OR_AS_IS(n, was) "CASE WHEN " n " < 0 THEN " was " ELSE " n " END"

/* In a shared database: only calls of writers that are gone, removed and counted in one
 * statement. */
#define SQL_CALL_COUNT_LOST(before, lost)                                                          \
    before "INSERT INTO usage_days (" SQL_USAGE_COLUMNS ") SELECT user_id, key_id, model, day, "   \
           "count(*), CAST(sum(tokens) AS BIGINT), 0, 0, CAST(sum(cost_micro) AS BIGINT), 0, "     \
           "count(*), 0 FROM " lost " WHERE user_id NOT IN (SELECT id FROM gone_users) "           \
           "GROUP BY user_id, key_id, model, day" SQL_USAGE_MERGE

#define PL_SQL_GATEWAY_TABLE(X, EACH)                                                                                                                                                                                                                     \
    X(USAGE_ADD, "bttiiiiiiiii",                                                                                                                                                                                                                          \
      "INSERT INTO usage_days (" SQL_USAGE_COLUMNS ") SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, "                                                                                                                                                        \
      "?10, ?11, ?12 WHERE NOT EXISTS (SELECT 1 FROM gone_users WHERE id = ?1)" SQL_USAGE_MERGE)                                                                                                                                                          \
    EACH(USAGE_LIST, "biititbi",                                                                                                                                                                                                                          \
         SQL_USAGE_LIST(SQL_USAGE_OF_USER, "", "x''",                                                                                                                                                                                                     \
                        "substr(model, 1, instr(model || '/', '/') - 1)"),                                                                                                                                                                                \
         SQL_USAGE_LIST(SQL_USAGE_OF_USER, " COLLATE \"C\"", "''::bytea",                                                                                                                                                                                 \
                        "split_part(model, '/', 1)"))                                                                                                                                                                                                     \
    EACH(USAGE_LIST_ALL, "biititbi",                                                                                                                                                                                                                      \
         SQL_USAGE_LIST(SQL_USAGE_OF_ALL, "", "x''",                                                                                                                                                                                                      \
                        "substr(model, 1, instr(model || '/', '/') - 1)"),                                                                                                                                                                                \
         SQL_USAGE_LIST(SQL_USAGE_OF_ALL, " COLLATE \"C\"", "''::bytea",                                                                                                                                                                                  \
                        "split_part(model, '/', 1)"))                                                                                                                                                                                                     \
    X(USAGE_SPENT_USER, "bti",                                                                                                                                                                                                                            \
      "SELECT CAST(COALESCE(sum(cost_micro), 0) AS BIGINT) FROM usage_days "                                                                                                                                                                              \
      "WHERE user_id = ?1 AND ?2 = '' AND day >= ?3")                                                                                                                                                                                                     \
    X(CALL_OPEN, "bbttiii",                                                                                                                                                                                                                               \
      "INSERT INTO open_calls (id, user_id, key_id, model, day, tokens, cost_micro) "                                                                                                                                                                     \
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")                                                                                                                                                                                                              \
    X(CALL_CLOSE, "b", "DELETE FROM open_calls WHERE id = ?1")                                                                                                                                                                                            \
    EACH(CALL_COUNT_LOST, "", SQL_CALL_COUNT_LOST("", "open_calls"),                                                                                                                                                                                      \
         SQL_CALL_COUNT_LOST("WITH lost AS (DELETE FROM open_calls WHERE " SQL_WRITER_LEFT(                                                                                                                                                               \
                                 "open_calls") " RETURNING *) ",                                                                                                                                                                                          \
                             "lost"))                                                                                                                                                                                                                     \
    EACH(CALL_FORGET_LOST, "", "DELETE FROM open_calls", "SELECT 1")                                                                                                                                                                                      \
    X(CALL_GONE, "b", "DELETE FROM open_calls WHERE user_id = ?1")                                                                                                                                                                                        \
    X(QUOTA_SESSIONS, "bi",                                                                                                                                                                                                                               \
      SQL_QUOTA("session_has_room", "SELECT count(*) FROM sessions WHERE user_id = ?1"))                                                                                                                                                                  \
    X(QUOTA_BLOBS, "bi",                                                                                                                                                                                                                                  \
      SQL_QUOTA("blob_has_room", "SELECT COALESCE(sum(n_bytes), 0) FROM blobs JOIN blob_contents "                                                                                                                                                        \
                                 "ON blob_contents.key = blobs.content WHERE user_id = ?1"))                                                                                                                                                              \
    X(QUOTA_KEYS, "bi",                                                                                                                                                                                                                                   \
      SQL_QUOTA("key_has_room",                                                                                                                                                                                                                           \
                "SELECT count(*) FROM api_keys WHERE user_id = ?1 AND is_login = 0"))                                                                                                                                                                     \
    X(QUOTA_TASKS, "bi",                                                                                                                                                                                                                                  \
      SQL_QUOTA("task_has_room", "SELECT count(*) FROM tasks WHERE user_id = ?1"))                                                                                                                                                                        \
    X(USER_LIMITS_PUT, "biiiiiiiiii",                                                                                                                                                                                                                     \
      "INSERT INTO user_limits (" SQL_USER_LIMIT_COLUMNS ") VALUES ("                                                                                                                                                                                     \
      "(SELECT id FROM users WHERE id = ?1), " SQL_OR_NONE("?2") ", " SQL_OR_NONE(                                                                                                                                                                        \
          "?3") ","                                                                                                                                                                                                                                       \
                " " SQL_OR_NONE("?4") ", " SQL_OR_NONE("?5") ", " SQL_OR_NONE(                                                                                                                                                                            \
                    "?6") ","                                                                                                                                                                                                                             \
                          " " SQL_OR_NONE(                                                                                                                                                                                                                \
                              "?7") ","                                                                                                                                                                                                                   \
                                    " " SQL_OR_NONE("?8") ", " SQL_OR_NONE("?9") ", " SQL_OR_NONE("?10") ", " SQL_OR_NONE(                                                                                                                                \
                                        "?11") ") ON CONFLICT (user_id) DO UPDATE "                                                                                                                                                                       \
                                               "SET " SQL_USER_LIMIT(                                                                                                                                                                                     \
                                                   "?2", "rpm") ","                                                                                                                                                                                       \
                                                                " " SQL_USER_LIMIT("?3", "tpm") ", " SQL_USER_LIMIT("?4", "budget_day_micro") ", " SQL_USER_LIMIT("?5", "budget_month_micro") ", " SQL_USER_LIMIT("?6", "max_turns") ", " SQL_USER_LIMIT( \
                                                                    "?7",                                                                                                                                                                                 \
                                                                    "max_sessions") ","                                                                                                                                                                   \
                                                                                    " " SQL_USER_LIMIT("?8", "max_blob_bytes") ", " SQL_USER_LIMIT(                                                                                                       \
                                                                                        "?9",                                                                                                                                                             \
                                                                                        "max_"                                                                                                                                                            \
                                                                                        "keys") ", " SQL_USER_LIMIT("?10",                                                                                                                                \
                                                                                                                    "max_tasks") ", " SQL_USER_LIMIT("?11",                                                                                               \
                                                                                                                                                     "max_sockets"))                                                                                      \
    X(AUDIT_ADD, "ittttt",                                                                                                                                                                                                                                \
      "INSERT INTO audit (at_ms, user_id, key_id, action, object, detail) "                                                                                                                                                                               \
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6)")                                                                                                                                                                                                                  \
    /* Taken to add or seal rows, until the commit, so that numbers follow the order of commits. */                                                                                                                                                       \
    EACH(AUDIT_LOCK, "", "SELECT 1 WHERE 0", "SELECT pg_advisory_xact_lock(7310307, 1)")                                                                                                                                                                  \
    X(AUDIT_EXPECT_HEAD, "tb",                                                                                                                                                                                                                            \
      "INSERT INTO refusals (reason) SELECT CAST(NULL AS TEXT) WHERE NOT EXISTS (SELECT 1 FROM "                                                                                                                                                          \
      "settings WHERE name = ?1 AND value = ?2) AND NOT (length(?2) = 0 AND NOT EXISTS (SELECT 1 "                                                                                                                                                        \
      "FROM settings WHERE name = ?1))")                                                                                                                                                                                                                  \
    X(AUDIT_SEAL, "ib", "UPDATE audit SET hash = ?2 WHERE number = ?1 AND hash IS NULL")                                                                                                                                                                  \
    X(AUDIT_OLDEST, "ii", SQL_AUDIT "number > ?1 ORDER BY number LIMIT ?2")                                                                                                                                                                               \
    X(AUDIT_NEWEST, "ii", SQL_AUDIT "number < ?1 ORDER BY number DESC LIMIT ?2")                                                                                                                                                                          \
    X(AUDIT_UNSEALED, "ii", SQL_AUDIT "hash IS NULL AND number > ?1 ORDER BY number LIMIT ?2")                                                                                                                                                            \
    X(AUDIT_LAST, "", SQL_AUDIT "hash IS NOT NULL ORDER BY number DESC LIMIT 1")                                                                                                                                                                          \
    X(USER_LIMITS_LIST, "", "SELECT " SQL_USER_LIMIT_COLUMNS " FROM user_limits ORDER BY user_id")                                                                                                                                                        \
    X(USAGE_GONE, "b", "DELETE FROM usage_days WHERE user_id = ?1")                                                                                                                                                                                       \
    X(USAGE_SPENT, "bti",                                                                                                                                                                                                                                 \
      "SELECT CAST(COALESCE(sum(cost_micro), 0) AS BIGINT) FROM usage_days "                                                                                                                                                                              \
      "WHERE user_id = ?1 AND key_id = ?2 AND day >= ?3")                                                                                                                                                                                                 \
    X(LIMITS_PUT, "biiiib",                                                                                                                                                                                                                               \
      "INSERT INTO key_limits (key_id, rpm, tpm, budget_day_micro, budget_month_micro) "                                                                                                                                                                  \
      "VALUES ((SELECT id FROM api_keys WHERE id = ?1 AND user_id = ?6), " SQL_OR_NONE(                                                                                                                                                                   \
          "?2") ", " SQL_OR_NONE("?3") ", " SQL_OR_NONE("?4") ", " SQL_OR_NONE("?5") ") "                                                                                                                                                                 \
                                                                                     "ON "                                                                                                                                                                \
                                                                                     "CONFLICT "                                                                                                                                                          \
                                                                                     "(key_id) "                                                                                                                                                          \
                                                                                     "DO UPDATE "                                                                                                                                                         \
                                                                                     "SET rpm "                                                                                                                                                           \
                                                                                     "="                                                                                                                                                                  \
                                                                                     " " SQL_OR_AS_IS("?2", "key_limits.rpm") ", tpm = " SQL_OR_AS_IS("?3", "key_limits.tpm") ", budget_day_micro = " SQL_OR_AS_IS(                                       \
                                                                                         "?4",                                                                                                                                                            \
                                                                                         "key_"                                                                                                                                                           \
                                                                                         "limits."                                                                                                                                                        \
                                                                                         "budget_"                                                                                                                                                        \
                                                                                         "day_"                                                                                                                                                           \
                                                                                         "micro") ", budget_month_micro = " SQL_OR_AS_IS("?5",                                                                                                            \
                                                                                                                                         "key_limits.budget_month_micro"))                                                                                \
    X(LIMITS_LIST, "",                                                                                                                                                                                                                                    \
      "SELECT key_limits.key_id, api_keys.user_id, rpm, tpm, budget_day_micro, "                                                                                                                                                                          \
      "budget_month_micro FROM key_limits JOIN api_keys ON api_keys.id = key_limits.key_id "                                                                                                                                                              \
      "ORDER BY key_limits.key_id")                                                                                                                                                                                                                       \
    X(RESPONSE_KEEP, "bbtti",                                                                                                                                                                                                                             \
      "INSERT INTO kept_responses (session, user_id, response_id, body, n_input) "                                                                                                                                                                        \
      "VALUES ((SELECT key FROM sessions WHERE id = ?1), ?2, ?3, ?4, ?5) "                                                                                                                                                                                \
      "ON CONFLICT (user_id, response_id) DO UPDATE SET session = excluded.session, "                                                                                                                                                                     \
      "body = excluded.body, n_input = excluded.n_input")                                                                                                                                                                                                 \
    X(RESPONSE_FIND, "bt",                                                                                                                                                                                                                                \
      "SELECT sessions.id, body, n_input FROM kept_responses JOIN sessions "                                                                                                                                                                              \
      "ON sessions.key = kept_responses.session "                                                                                                                                                                                                         \
      "WHERE kept_responses.user_id = ?1 AND response_id = ?2 AND sessions.deleted_ms = 0")

#endif

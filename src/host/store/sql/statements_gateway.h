/* The statements about what the gateway counts and keeps (statements.h). */
#ifndef PL_STORE_STATEMENTS_GATEWAY_H
#define PL_STORE_STATEMENTS_GATEWAY_H

/* ?4: what to group by, ?5 … ?7 the group before the page. Of key, model and day one has a value.
 */
#define SQL_USAGE_GROUP(word, column, none)                                                        \
    "CASE WHEN ?4 = '" word "' THEN " column " ELSE " none " END AS of_" word
#define SQL_USAGE_LIST(collate)                                                                    \
    "SELECT * FROM (SELECT " SQL_USAGE_GROUP("key", "key_id", "''") ", " SQL_USAGE_GROUP(          \
        "model", "model",                                                                          \
        "''") ", " SQL_USAGE_GROUP("day", "day",                                                   \
                                   "-1") ", " SQL_USAGE_SUMS                                       \
                                         " FROM usage_days WHERE user_id = ?1 AND day >= ?2 AND "  \
                                         "day <= ?3 GROUP BY 1, 2, 3) AS u "                       \
                                         "WHERE of_day > ?5 OR of_model > ?6" collate              \
                                         " OR of_key > ?7" collate                                 \
                                         " ORDER BY of_day, of_model" collate ", of_key" collate   \
                                         " LIMIT ?8"
#define SQL_USAGE_SUMS                                                                             \
    "CAST(sum(n_requests) AS BIGINT), CAST(sum(input_tokens) AS BIGINT), CAST(sum(output_tokens) " \
    "AS BIGINT), CAST(sum(cached_tokens) AS BIGINT), CAST(sum(cost_micro) AS BIGINT)"

/* A value of a change: below 0 it stays, and is none where there was none. */
#define SQL_OR_NONE(n)       "CASE WHEN " n " < 0 THEN 0 ELSE " n " END"
#define SQL_OR_AS_IS(n, was) "CASE WHEN " n " < 0 THEN " was " ELSE " n " END"

#define PL_SQL_GATEWAY_TABLE(X, EACH)                                                                                                                                                                               \
    X(USAGE_ADD, "bttiiiiii",                                                                                                                                                                                       \
      "INSERT INTO usage_days (user_id, key_id, model, day, n_requests, input_tokens, "                                                                                                                             \
      "output_tokens, cached_tokens, cost_micro) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 "                                                                                                                        \
      "WHERE NOT EXISTS (SELECT 1 FROM gone_users WHERE id = ?1) "                                                                                                                                                  \
      "ON CONFLICT (user_id, day, key_id, model) DO UPDATE SET "                                                                                                                                                    \
      "n_requests = usage_days.n_requests + excluded.n_requests, "                                                                                                                                                  \
      "input_tokens = usage_days.input_tokens + excluded.input_tokens, "                                                                                                                                            \
      "output_tokens = usage_days.output_tokens + excluded.output_tokens, "                                                                                                                                         \
      "cached_tokens = usage_days.cached_tokens + excluded.cached_tokens, "                                                                                                                                         \
      "cost_micro = usage_days.cost_micro + excluded.cost_micro")                                                                                                                                                   \
    EACH(USAGE_LIST, "biititti", SQL_USAGE_LIST(""), SQL_USAGE_LIST(" COLLATE \"C\""))                                                                                                                              \
    X(USAGE_GONE, "b", "DELETE FROM usage_days WHERE user_id = ?1")                                                                                                                                                 \
    X(USAGE_SPENT, "bti",                                                                                                                                                                                           \
      "SELECT CAST(COALESCE(sum(cost_micro), 0) AS BIGINT) FROM usage_days "                                                                                                                                        \
      "WHERE user_id = ?1 AND key_id = ?2 AND day >= ?3")                                                                                                                                                           \
    X(LIMITS_PUT, "biiiib",                                                                                                                                                                                         \
      "INSERT INTO key_limits (key_id, rpm, tpm, budget_day_micro, budget_month_micro) "                                                                                                                            \
      "VALUES ((SELECT id FROM api_keys WHERE id = ?1 AND user_id = ?6), " SQL_OR_NONE(                                                                                                                             \
          "?2") ", " SQL_OR_NONE("?3") ", " SQL_OR_NONE("?4") ", " SQL_OR_NONE("?5") ") "                                                                                                                           \
                                                                                     "ON "                                                                                                                          \
                                                                                     "CONFLICT "                                                                                                                    \
                                                                                     "(key_id) "                                                                                                                    \
                                                                                     "DO UPDATE "                                                                                                                   \
                                                                                     "SET rpm "                                                                                                                     \
                                                                                     "="                                                                                                                            \
                                                                                     " " SQL_OR_AS_IS("?2", "key_limits.rpm") ", tpm = " SQL_OR_AS_IS("?3", "key_limits.tpm") ", budget_day_micro = " SQL_OR_AS_IS( \
                                                                                         "?4",                                                                                                                      \
                                                                                         "key_"                                                                                                                     \
                                                                                         "limits."                                                                                                                  \
                                                                                         "budget_"                                                                                                                  \
                                                                                         "day_"                                                                                                                     \
                                                                                         "micro") ", budget_month_micro = " SQL_OR_AS_IS("?5",                                                                      \
                                                                                                                                         "key_limits.budget_month_micro"))                                          \
    X(LIMITS_LIST, "",                                                                                                                                                                                              \
      "SELECT key_limits.key_id, api_keys.user_id, rpm, tpm, budget_day_micro, "                                                                                                                                    \
      "budget_month_micro FROM key_limits JOIN api_keys ON api_keys.id = key_limits.key_id "                                                                                                                        \
      "ORDER BY key_limits.key_id")                                                                                                                                                                                 \
    X(RESPONSE_KEEP, "bbt",                                                                                                                                                                                         \
      "INSERT INTO kept_responses (session, user_id, response_id) "                                                                                                                                                 \
      "VALUES ((SELECT key FROM sessions WHERE id = ?1), ?2, ?3) "                                                                                                                                                  \
      "ON CONFLICT (user_id, response_id) DO UPDATE SET session = excluded.session")                                                                                                                                \
    X(RESPONSE_FIND, "bt",                                                                                                                                                                                          \
      "SELECT sessions.id FROM kept_responses JOIN sessions "                                                                                                                                                       \
      "ON sessions.key = kept_responses.session "                                                                                                                                                                   \
      "WHERE kept_responses.user_id = ?1 AND response_id = ?2")

#endif

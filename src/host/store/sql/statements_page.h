/* Statements for runs, drafts and settings of users (statements.h). */
#ifndef PL_STORE_STATEMENTS_PAGE_H
#define PL_STORE_STATEMENTS_PAGE_H

#define SQL_MODEL_RUN_COLUMNS                                                                      \
    "id, user_id, started_ms, first_ms, total_ms, input_tokens, output_tokens, cached_tokens, "    \
    "cost_micro, version, session_id, turn_id, prompt_id, source, status, model, key_id, error"
/* ?1 user, ?2 from, ?3 to, ?4 model, ?5 prompt, ?6 source, ?7 status */
#define SQL_MODEL_RUN_FILTER                                                                       \
    "user_id = ?1 AND started_ms >= ?2 AND started_ms < ?3 AND (?4 = '' OR model = ?4) AND "       \
    "prompt_id IS NOT DISTINCT FROM COALESCE(?5, prompt_id) AND (?6 = '' OR source = ?6) AND "     \
    "(?7 = '' OR status = ?7)"
/* The prompt ?1 of the user ?2. */
#define SQL_DRAFT_OF "(SELECT key FROM prompts WHERE id = ?1 AND user_id = ?2)"

#define PL_SQL_PAGE_TABLE(X)                                                                       \
    X(MODEL_RUN_PUT, "bbiiiiiiiibbbttttt",                                                         \
      "INSERT INTO runs (" SQL_MODEL_RUN_COLUMNS                                                   \
      ") SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "                                         \
      "?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18 WHERE NOT EXISTS (SELECT 1 FROM gone_users "         \
      "WHERE id = ?2)")                                                                            \
    X(MODEL_RUN_ADD, "bbiiiiiiiibbbttttt",                                                         \
      "INSERT INTO runs (" SQL_MODEL_RUN_COLUMNS                                                   \
      ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "                                        \
      "?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)")                                                   \
    X(MODEL_RUN_DROP_GONE, "b",                                                                    \
      "DELETE FROM runs WHERE user_id = (SELECT id FROM gone_users WHERE id = ?1)")                \
    X(MODEL_RUN_GET, "bb",                                                                         \
      "SELECT " SQL_MODEL_RUN_COLUMNS " FROM runs WHERE id = ?1 AND user_id = ?2")                 \
    X(MODEL_RUN_LIST, "biitbttibi",                                                                \
      "SELECT " SQL_MODEL_RUN_COLUMNS " FROM runs WHERE " SQL_MODEL_RUN_FILTER                     \
      " AND (started_ms, id) < (?8, ?9) ORDER BY started_ms DESC, id DESC LIMIT ?10")              \
    X(MODEL_RUN_COUNT, "biitbtt", "SELECT count(*) FROM runs WHERE " SQL_MODEL_RUN_FILTER)         \
    X(MODEL_RUN_SERIES, "biitbttiiti",                                                             \
      "SELECT * FROM (SELECT CAST(((started_ms + ?8) / ?9) * ?9 - ?8 AS BIGINT) AS at_ms, "        \
      "CASE ?10 WHEN 'model' THEN model WHEN 'source' THEN source WHEN 'status' THEN status "      \
      "ELSE '' END AS of_group, count(*) AS n, "                                                   \
      "CAST(sum(CASE WHEN status = 'failed' THEN 1 ELSE 0 END) AS BIGINT) AS n_failed, "           \
      "CAST(sum(input_tokens) AS BIGINT) AS n_in, CAST(sum(output_tokens) AS BIGINT) AS n_out, "   \
      "CAST(sum(CASE WHEN cost_micro > 0 THEN cost_micro ELSE 0 END) AS BIGINT) AS cost, "         \
      "CAST(sum(CASE WHEN first_ms >= 0 THEN first_ms ELSE 0 END) AS BIGINT) AS first_sum, "       \
      "CAST(sum(CASE WHEN first_ms >= 0 THEN 1 ELSE 0 END) AS BIGINT) AS n_first, "                \
      "CAST(sum(total_ms) AS BIGINT) AS total_sum "                                                \
      "FROM runs WHERE " SQL_MODEL_RUN_FILTER " GROUP BY 1, 2) AS s "                              \
      "ORDER BY at_ms, of_group LIMIT ?11")                                                        \
    X(SESSION_COST, "b",                                                                           \
      "SELECT CAST(COALESCE(sum(CASE WHEN cost_micro > 0 THEN cost_micro ELSE 0 END), 0) AS "      \
      "BIGINT) FROM runs WHERE session_id = ?1")                                                   \
    X(SESSION_ASKS, "b",                                                                           \
      "SELECT count(*) FROM questions WHERE state = 'pending' AND session = "                      \
      "(SELECT key FROM sessions WHERE id = ?1)")                                                  \
    X(MODEL_RUN_EXPIRE, "i", "DELETE FROM runs WHERE started_ms < ?1")                             \
    X(USER_GONE_MODEL_RUNS, "b", "DELETE FROM runs WHERE user_id = ?1")                            \
                                                                                                   \
    X(DRAFT_PUT, "bbiiittt",                                                                       \
      "INSERT INTO drafts (prompt, revision, based_on, updated_ms, type, extra, content) VALUES "  \
      "(" SQL_DRAFT_OF ", ?3 + 1, ?4, ?5, ?6, ?7, ?8) ON CONFLICT "                                \
      "(prompt) DO UPDATE SET revision = CASE WHEN drafts.revision = ?3 THEN ?3 + 1 ELSE 0 END, "  \
      "based_on = excluded.based_on, updated_ms = excluded.updated_ms, type = excluded.type, "     \
      "extra = excluded.extra, content = excluded.content")                                        \
    X(DRAFT_GET, "bb",                                                                             \
      "SELECT revision, based_on, updated_ms, type, extra, content FROM drafts WHERE prompt "      \
      "= " SQL_DRAFT_OF)                                                                           \
    X(DRAFT_DELETE, "bb", "DELETE FROM drafts WHERE prompt = " SQL_DRAFT_OF)                       \
                                                                                                   \
    X(USER_SETTINGS_PUT, "bit",                                                                    \
      "INSERT INTO user_settings (user_id, revision, value) VALUES (" SQL_LIVING(                  \
          "?1") ", "                                                                               \
                "?2 + 1, ?3) ON CONFLICT (user_id) DO UPDATE SET "                                 \
                "revision = "                                                                      \
                "CASE WHEN user_settings.revision = ?2 THEN ?2 + 1 ELSE 0 END, value = "           \
                "excluded.value")                                                                  \
    X(USER_SETTINGS_GET, "b", "SELECT revision, value FROM user_settings WHERE user_id = ?1")      \
    X(USER_GONE_SETTINGS, "b", "DELETE FROM user_settings WHERE user_id = ?1")                     \
    X(CARD_PUT, "btt",                                                                             \
      "INSERT INTO cards (session, name, html) VALUES ((SELECT key FROM sessions WHERE id = ?1), " \
      "?2, ?3) ON CONFLICT (name) DO NOTHING")                                                     \
    X(CARD_GET, "t",                                                                               \
      "SELECT html FROM cards JOIN sessions ON sessions.key = cards.session WHERE name = ?1 "      \
      "AND sessions.deleted_ms = 0")                                                               \
    X(CHECK_CARDS, "",                                                                             \
      "SELECT count(*) FROM cards WHERE session NOT IN (SELECT key FROM sessions)")                \
    X(CHECK_DRAFTS, "", "SELECT count(*) FROM drafts WHERE prompt NOT IN (SELECT key FROM prompts)")

#endif

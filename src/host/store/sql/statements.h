/* Every statement of the store, once, in the SQL that SQLite and PostgreSQL share. Parameters are
 * written ?1, ?2 … and may be repeated; a driver with another syntax translates them.
 *
 * A write never reports failure as "no row was changed". It violates a constraint: a missing
 * session becomes a NULL in a NOT NULL column (PL_NOT_FOUND), a repeated claim becomes a second row
 * for a unique key (PL_CONFLICT). So a driver can send a whole transaction without looking at
 * results in between.
 *
 * A deletion is final. A record that can be deleted by itself is created by an INSERT, which fails
 * if it exists, and changed by an UPDATE followed by SQL_MUST_BE, which fails if it does not exist:
 * a change after the deletion never brings the record back. `ON CONFLICT … DO UPDATE` is only for
 * rows that are deleted with their parent (turns, questions, limits …), whose INSERT fails without
 * the parent, and for sums and named values, which are never deleted.
 *
 * X(name, types of the parameters: i integer, t text, b bytes, SQL) */
#ifndef PL_STORE_STATEMENTS_H
#define PL_STORE_STATEMENTS_H

#include "store/sql/statements_commits.h"
#include "store/sql/statements_deleted.h"
#include "store/sql/statements_extensions.h"
#include "store/sql/statements_gateway.h"
#include "store/sql/statements_letters.h"
#include "store/sql/statements_library.h"
#include "store/sql/statements_nodes.h"
#include "store/sql/statements_page.h"
#include "store/sql/statements_shared.h"
#include "store/sql/statements_work.h"

/* Fails with PL_NOT_FOUND if the query has no row: inserts a NULL reason, which is not allowed. */
#define SQL_MUST_BE(query)                                                                         \
    "INSERT INTO refusals (reason) SELECT CAST(NULL AS TEXT) WHERE NOT EXISTS (" query ")"

/* The key of the session with the id ?1. */
#define SQL_SESSION "(SELECT key FROM sessions WHERE id = ?1)"

/* The user id ?n for a new record: NULL if the user was erased, so that the INSERT fails with
 * PL_NOT_FOUND. */
#define SQL_LIVING(n) "(SELECT " n " WHERE NOT EXISTS (SELECT 1 FROM gone_users WHERE id = " n "))"

#define SQL_SESSION_COLUMNS                                                                        \
    "id, user_id, intent, solution_id, biz_role_id, model, status, created_ms, updated_ms, "       \
    "shared, is_pinned, memory_enabled, is_persistent, replay_state, version, epoch, next_event, " \
    "next_entry, is_planning, system_prompt, settings, tools, handoff, chat_override, source, "    \
    "allowed"
/* Searches for ?3 in the intent and in the texts of the turns. Turns are JSON, which each database
 * reads with its own functions. They are read only if there is something to search for. */
#define SQL_SESSION_FILTER(texts)                                                                  \
    "(?1 = '' OR status = ?1) AND (?2 < 0 OR is_pinned = ?2) AND "                                 \
    "(?3 = '' OR lower(intent) LIKE lower(?3) ESCAPE '!' OR EXISTS (" texts "))"                   \
    " AND (?4 = '' OR solution_id = ?4) AND (?5 = '' OR biz_role_id = ?5)"
#define SQL_SAID_SQLITE                                                                            \
    "SELECT 1 FROM turns, json_each(turns.body, '$.blocks') AS b WHERE turns.session = "           \
    "sessions.key AND b.type = 'text' AND lower(b.value) LIKE lower(?3) ESCAPE '!'"
#define SQL_SAID_POSTGRES                                                                          \
    "SELECT 1 FROM turns, jsonb_array_elements(turns.body::jsonb -> 'blocks') AS b(value) WHERE "  \
    "turns.session = sessions.key AND jsonb_typeof(b.value) = 'string' AND "                       \
    "lower(b.value #>> '{}') LIKE lower(?3) ESCAPE '!'"
#define SQL_SESSION_LIST(who, texts)                                                               \
    "SELECT " SQL_SESSION_COLUMNS " FROM sessions WHERE " who SQL_SESSION_FILTER(texts)            \
        SQL_SESSION_PAGE
#define SQL_SESSION_COUNT(who, texts)                                                              \
    "SELECT count(*) FROM sessions WHERE " who SQL_SESSION_FILTER(texts)
#define SQL_SESSION_PAGE                                                                           \
    " AND (is_pinned, updated_ms, id) < (?6, ?7, ?8) "                                             \
    "ORDER BY is_pinned DESC, updated_ms DESC, id DESC LIMIT ?9 OFFSET ?10"

#define SQL_KEY_COLUMNS                                                                            \
    "id, user_id, name, hash, last4, created_ms, last_used_ms, scope, is_admin, models, "          \
    "expires_ms, old_hash, old_until_ms, is_login"

#define SQL_TURN_COLUMNS                                                                           \
    "sequence, id, loop, status, is_compaction, last_event, client_message_id, created_ms, body"
/* ?2 after, ?3 before, ?4 terminal only, ?5 limit */
#define SQL_TURNS                                                                                  \
    "SELECT " SQL_TURN_COLUMNS " FROM turns WHERE session = " SQL_SESSION                          \
    " AND sequence > ?2 AND sequence < ?3 AND (?4 = 0 OR status NOT IN ('streaming', 'paused'))"
#define SQL_OLDEST  " ORDER BY sequence LIMIT ?5"
#define SQL_NEWEST  " ORDER BY sequence DESC LIMIT ?5"
#define SQL_CHANGED " AND last_event > ?6"
#define SQL_QUESTION                                                                               \
    "SELECT tool_call_id, turn_id, loop, kind, questions, state, answer, asked_ms, settled_ms "    \
    "FROM questions WHERE session = " SQL_SESSION

#define PL_SQL_SESSION_TABLE(X)                                                                    \
    X(SESSION_CREATE, "bbtttttiiiiiitiiiiittttttt",                                                \
      "INSERT INTO sessions (" SQL_SESSION_COLUMNS ") VALUES (?1, " SQL_LIVING(                    \
          "?2") ", ?3, ?4, ?5, ?6, ?7, ?8, "                                                       \
                "?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, "  \
                "?25, ?26)")                                                                       \
    X(SESSION_UPDATE, "btttttiiiiitiiiiit",                                                        \
      "UPDATE sessions SET intent = ?2, solution_id = ?3, biz_role_id = ?4, model = ?5, "          \
      "status = ?6, updated_ms = ?7, shared = ?8, is_pinned = ?9, memory_enabled = ?10, "          \
      "is_persistent = ?11, replay_state = ?12, version = ?13, epoch = ?14, next_event = ?15, "    \
      "next_entry = ?16, is_planning = ?17, source = COALESCE(?18, source) WHERE id = ?1")         \
    X(SESSION_SETTINGS, "btttttt",                                                                 \
      "UPDATE sessions SET system_prompt = ?2, settings = ?3, tools = ?4, handoff = ?5, "          \
      "chat_override = ?6, allowed = ?7 WHERE id = ?1")                                            \
    X(SESSION_EXPECT, "b", SQL_MUST_BE("SELECT 1 FROM sessions WHERE id = ?1 AND deleted_ms = 0")) \
    X(SESSION_DELETE, "bb",                                                                        \
      "DELETE FROM sessions WHERE id = ?1 AND user_id = COALESCE(?2, user_id)")                    \
    X(SESSION_GET, "bb",                                                                           \
      "SELECT " SQL_SESSION_COLUMNS " FROM sessions "                                              \
      "WHERE id = ?1 AND user_id = COALESCE(?2, user_id) AND deleted_ms = 0")                      \
    X(SESSION_EXPIRED, "bbii",                                                                     \
      "SELECT " SQL_SESSION_COLUMNS " FROM sessions WHERE id > ?1 AND id < ?2 "                    \
      "AND updated_ms < ?3 AND is_persistent = 0 AND deleted_ms = 0 "                              \
      "AND status NOT IN ('running', 'waiting_for_input') "                                        \
      "AND key NOT IN (SELECT session FROM queued) ORDER BY id LIMIT ?4")                          \
    X(SESSION_UNSETTLED, "bi",                                                                     \
      "SELECT " SQL_SESSION_COLUMNS " FROM sessions "                                              \
      "WHERE status IN ('running', 'waiting_for_input') AND owner IS NULL AND id > ?1 "            \
      "ORDER BY id LIMIT ?2")                                                                      \
    X(SESSION_QUEUED, "bi",                                                                        \
      "SELECT " SQL_SESSION_COLUMNS " FROM sessions "                                              \
      "WHERE key IN (SELECT session FROM queued) AND owner IS NULL AND id > ?1 ORDER BY id "       \
      "LIMIT ?2")                                                                                  \
    X(SESSION_COUNT_QUEUED, "", "SELECT count(DISTINCT session) FROM queued")                      \
    X(SESSION_COUNT_UNSETTLED, "",                                                                 \
      "SELECT count(*) FROM sessions WHERE status IN ('running', 'waiting_for_input') AND owner "  \
      "IS NULL")                                                                                   \
                                                                                                   \
    X(TURN_PUT, "bibbtiitit",                                                                      \
      "INSERT INTO turns (session, " SQL_TURN_COLUMNS ") VALUES (" SQL_SESSION                     \
      ", ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (session, id) DO UPDATE SET "            \
      "sequence = excluded.sequence, loop = excluded.loop, status = excluded.status, "             \
      "is_compaction = excluded.is_compaction, last_event = excluded.last_event, "                 \
      "client_message_id = excluded.client_message_id, created_ms = excluded.created_ms, "         \
      "body = excluded.body")                                                                      \
    X(TURN_OLDEST, "biiii", SQL_TURNS SQL_OLDEST)                                                  \
    X(TURN_NEWEST, "biiii", SQL_TURNS SQL_NEWEST)                                                  \
    X(TURN_OLDEST_CHANGED, "biiiii", SQL_TURNS SQL_CHANGED SQL_OLDEST)                             \
    X(TURN_NEWEST_CHANGED, "biiiii", SQL_TURNS SQL_CHANGED SQL_NEWEST)                             \
    X(TURN_OLDEST_OF_LOOP, "biiiib", SQL_TURNS " AND loop = ?6" SQL_OLDEST)                        \
    X(TURN_NEWEST_OF_LOOP, "biiiib", SQL_TURNS " AND loop = ?6" SQL_NEWEST)                        \
    X(TURN_OLDEST_CHANGED_OF_LOOP, "biiiiib", SQL_TURNS SQL_CHANGED " AND loop = ?7" SQL_OLDEST)   \
    X(TURN_NEWEST_CHANGED_OF_LOOP, "biiiiib", SQL_TURNS SQL_CHANGED " AND loop = ?7" SQL_NEWEST)   \
    X(TURN_OPEN, "b",                                                                              \
      "SELECT " SQL_TURN_COLUMNS " FROM turns WHERE session = " SQL_SESSION                        \
      " AND status IN ('streaming', 'paused') ORDER BY sequence")                                  \
    X(TURN_GET, "bb",                                                                              \
      "SELECT " SQL_TURN_COLUMNS " FROM turns WHERE session = " SQL_SESSION " AND id = ?2")        \
    X(TURN_LAST_COMPACTION, "bb",                                                                  \
      "SELECT " SQL_TURN_COLUMNS " FROM turns WHERE session = " SQL_SESSION                        \
      " AND is_compaction = 1 AND loop = ?2 ORDER BY sequence DESC LIMIT 1")                       \
    X(CLIENT_MESSAGE_FIND, "bt",                                                                   \
      "SELECT id, body FROM turns WHERE session = " SQL_SESSION " AND client_message_id = ?2 "     \
      "UNION ALL SELECT NULL, body FROM queued WHERE session = " SQL_SESSION                       \
      " AND client_message_id = ?2")                                                               \
                                                                                                   \
    X(QUESTION_PUT, "btbbttttii",                                                                  \
      "INSERT INTO questions (session, tool_call_id, turn_id, loop, kind, questions, state, "      \
      "answer, asked_ms, settled_ms) VALUES (" SQL_SESSION                                         \
      ", ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (session, tool_call_id) DO UPDATE SET "  \
      "turn_id = excluded.turn_id, loop = excluded.loop, kind = excluded.kind, "                   \
      "questions = excluded.questions, state = excluded.state, answer = excluded.answer, "         \
      "asked_ms = excluded.asked_ms, settled_ms = excluded.settled_ms")                            \
    X(QUESTION_PENDING, "b", SQL_QUESTION " AND state = 'pending' ORDER BY asked_ms, key")         \
    X(QUESTION_GET, "bt", SQL_QUESTION " AND tool_call_id = ?2")                                   \
                                                                                                   \
    X(QUEUED_CREATE, "bitt",                                                                       \
      "INSERT INTO queued (session, position, client_message_id, body) VALUES (" SQL_SESSION       \
      ", ?2, ?3, ?4)")                                                                             \
    X(QUEUED_DELETE, "bi", "DELETE FROM queued WHERE session = " SQL_SESSION " AND position = ?2") \
    X(QUEUED_LIST, "b",                                                                            \
      "SELECT position, client_message_id, body FROM queued WHERE session = " SQL_SESSION          \
      " ORDER BY position")                                                                        \
                                                                                                   \
    X(USER_CREATE, "btii",                                                                         \
      "INSERT INTO users (id, name, is_admin, created_ms) VALUES (?1, ?2, ?3, ?4)")                \
    X(USER_LIST, "", "SELECT id, name, is_admin, created_ms, disabled_ms FROM users ORDER BY id")  \
    X(USER_CHANGE, "btii",                                                                         \
      "UPDATE users SET name = COALESCE(?2, name), "                                               \
      "is_admin = CASE WHEN ?3 < 0 THEN is_admin ELSE ?3 END, "                                    \
      "disabled_ms = CASE WHEN ?4 < 0 THEN disabled_ms ELSE ?4 END WHERE id = ?1")                 \
    X(USER_EXPECT, "b", SQL_MUST_BE("SELECT 1 FROM users WHERE id = ?1"))                          \
    X(USER_EXPECT_FIRST, "", SQL_MUST_BE("SELECT 1 WHERE (SELECT count(*) FROM users) = 1"))       \
    X(USER_ADMIN_LEFT, "",                                                                         \
      SQL_REFUSE("admin_is_left",                                                                  \
                 "NOT EXISTS (SELECT 1 FROM users WHERE is_admin = 1 AND disabled_ms = 0)"))       \
    X(USER_DELETE, "b", "DELETE FROM users WHERE id = ?1")                                         \
    X(USER_GONE, "b", "INSERT INTO gone_users (id) VALUES (?1)")                                   \
    X(USER_GONE_SESSIONS, "b", "DELETE FROM sessions WHERE user_id = ?1 OR deleted_of = ?1")       \
    X(USER_GONE_KEYS, "b", "DELETE FROM api_keys WHERE user_id = ?1")                              \
    X(USER_GONE_IDEMPOTENCY, "b", "DELETE FROM idempotency WHERE user_id = ?1")                    \
    X(USER_GONE_IDENTITIES, "b", "DELETE FROM user_identities WHERE user_id = ?1")                 \
    X(IDENTITY_CREATE, "ttbi",                                                                     \
      "INSERT INTO user_identities (issuer, subject, user_id, created_ms) VALUES (?1, "            \
      "?2, " SQL_LIVING("?3") ", ?4)")                                                             \
    X(IDENTITY_FIND, "tt",                                                                         \
      "SELECT user_id FROM user_identities WHERE issuer = ?1 AND subject = ?2")                    \
    X(IDENTITY_COUNT, "tb",                                                                        \
      "SELECT COUNT(*) FROM user_identities WHERE issuer = ?1 AND user_id = ?2")                   \
                                                                                                   \
    X(KEY_CREATE, "bbtbtiititii",                                                                  \
      "INSERT INTO api_keys (id, user_id, name, hash, last4, created_ms, last_used_ms, scope, "    \
      "is_admin, models, expires_ms, is_login) VALUES (?1, " SQL_LIVING(                           \
          "?2") ", ?3, ?4, ?5, ?6, ?7, ?8, "                                                       \
                "?9, ?10, ?11, ?12)")                                                              \
    X(KEY_CHANGE, "bbttti",                                                                        \
      "UPDATE api_keys SET name = COALESCE(?3, name), scope = COALESCE(?4, scope), "               \
      "models = COALESCE(?5, models), "                                                            \
      "expires_ms = CASE WHEN ?6 < 0 THEN expires_ms ELSE ?6 END "                                 \
      "WHERE id = ?1 AND user_id = ?2")                                                            \
    X(KEY_ROTATE, "bbbti",                                                                         \
      "UPDATE api_keys SET old_hash = hash, old_until_ms = ?5, hash = ?3, last4 = ?4 "             \
      "WHERE id = ?1 AND user_id = ?2")                                                            \
    X(KEY_EXPECT, "bb", SQL_MUST_BE("SELECT 1 FROM api_keys WHERE id = ?1 AND user_id = ?2"))      \
    X(KEY_USED, "bi", "UPDATE api_keys SET last_used_ms = ?2 WHERE id = ?1 AND last_used_ms < ?2") \
    X(KEY_DELETE, "bb", "DELETE FROM api_keys WHERE id = ?1 AND user_id = COALESCE(?2, user_id)")  \
    X(KEY_EXPIRE_LOGINS, "i",                                                                      \
      "DELETE FROM api_keys WHERE is_login = 1 AND expires_ms > 0 AND expires_ms <= ?1")           \
    X(KEY_LIST, "b", "SELECT " SQL_KEY_COLUMNS " FROM api_keys WHERE user_id = ?1 ORDER BY id")    \
    X(KEY_LIST_ALL, "", "SELECT " SQL_KEY_COLUMNS " FROM api_keys ORDER BY id")                    \
                                                                                                   \
    X(SHARE_PUT, "bbbbi",                                                                          \
      "INSERT INTO shares (session, user_id, id, hash, created_ms) "                               \
      "VALUES ((SELECT key FROM sessions WHERE id = ?1 AND user_id = ?2), ?2, ?3, ?4, ?5)")        \
    X(SHARE_DELETE, "bb",                                                                          \
      "DELETE FROM shares WHERE session = " SQL_SESSION " AND user_id = COALESCE(?2, user_id)")    \
    X(SHARE_FIND, "b",                                                                             \
      "SELECT shares.id, shares.user_id, sessions.id, shares.hash, shares.created_ms FROM shares " \
      "JOIN sessions ON sessions.key = shares.session WHERE shares.hash = ?1")                     \
                                                                                                   \
    X(IDEMPOTENCY_CLAIM, "btbibi",                                                                 \
      "INSERT INTO idempotency (user_id, name, request_hash, status, answer, created_ms) "         \
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6)")                                                           \
    X(IDEMPOTENCY_SETTLE, "btib",                                                                  \
      "UPDATE idempotency SET status = ?3, answer = ?4 WHERE user_id = ?1 AND name = ?2")          \
    X(IDEMPOTENCY_EXPIRE, "i", "DELETE FROM idempotency WHERE created_ms < ?1")                    \
    /* Whether another writer than ?3 made it, and that writer is not gone. */                     \
    X(IDEMPOTENCY_GET, "btb",                                                                      \
      "SELECT request_hash, status, answer, created_ms, (SELECT count(*) FROM commits "            \
      "WHERE commits.writer = idempotency.writer AND commits.writer <> ?3 AND is_gone = 0) "       \
      "FROM idempotency WHERE user_id = ?1 AND name = ?2")                                         \
                                                                                                   \
    X(SETTING_PUT, "tb",                                                                           \
      "INSERT INTO settings (name, value) VALUES (?1, ?2) "                                        \
      "ON CONFLICT (name) DO UPDATE SET value = excluded.value")                                   \
    X(SETTING_ADD, "tb",                                                                           \
      "INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING")          \
    X(SETTING_GET, "t", "SELECT value FROM settings WHERE name = ?1")                              \
                                                                                                   \
    X(VERSION_GET, "", "SELECT COALESCE(max(version), 0) FROM schema_version")                     \
    X(VERSION_FLOOR, "",                                                                           \
      "SELECT compatible_from FROM schema_version ORDER BY version DESC LIMIT 1")                  \
                                                                                                   \
    X(CHECK_TURNS, "",                                                                             \
      "SELECT count(*) FROM turns WHERE session NOT IN (SELECT key FROM sessions)")                \
    X(CHECK_ENTRIES, "",                                                                           \
      "SELECT count(*) FROM turns JOIN sessions ON sessions.key = turns.session "                  \
      "WHERE turns.sequence < 0 OR turns.sequence >= sessions.next_entry")                         \
    X(CHECK_QUESTIONS, "",                                                                         \
      "SELECT count(*) FROM questions WHERE session NOT IN (SELECT key FROM sessions)")            \
    X(CHECK_ANSWERS, "",                                                                           \
      "SELECT count(*) FROM questions WHERE state = 'answered' AND answer IS NULL")                \
    X(CHECK_QUEUED, "",                                                                            \
      "SELECT count(*) FROM queued WHERE session NOT IN (SELECT key FROM sessions)")               \
    X(CHECK_SHARES, "",                                                                            \
      "SELECT count(*) FROM shares WHERE session NOT IN (SELECT key FROM sessions)")               \
    X(CHECK_KEYS, "", "SELECT count(*) FROM api_keys WHERE user_id NOT IN (SELECT id FROM users)") \
    X(CHECK_IDENTITIES, "",                                                                        \
      "SELECT count(*) FROM user_identities WHERE user_id NOT IN (SELECT id FROM users)")          \
    X(COUNT_SESSIONS, "", "SELECT count(*) FROM sessions")                                         \
    X(COUNT_TURNS, "", "SELECT count(*) FROM turns")

#define PL_SQL_FIND_TABLE(EACH)                                                                    \
    EACH(SESSION_LIST, "titttiibiib", SQL_SESSION_LIST("user_id = ?11 AND ", SQL_SAID_SQLITE),     \
         SQL_SESSION_LIST("user_id = ?11 AND ", SQL_SAID_POSTGRES))                                \
    EACH(SESSION_LIST_ALL, "titttiibii", SQL_SESSION_LIST("deleted_ms = 0 AND ", SQL_SAID_SQLITE), \
         SQL_SESSION_LIST("deleted_ms = 0 AND ", SQL_SAID_POSTGRES))                               \
    EACH(SESSION_COUNT, "titttb", SQL_SESSION_COUNT("user_id = ?6 AND ", SQL_SAID_SQLITE),         \
         SQL_SESSION_COUNT("user_id = ?6 AND ", SQL_SAID_POSTGRES))                                \
    EACH(SESSION_COUNT_ALL, "tittt", SQL_SESSION_COUNT("deleted_ms = 0 AND ", SQL_SAID_SQLITE),    \
         SQL_SESSION_COUNT("deleted_ms = 0 AND ", SQL_SAID_POSTGRES))

/* X(name, types, text), and EACH(name, types, sqlite, postgres) where the databases need different
 * SQL. */
#define PL_SQL_TABLE(X, EACH)                                                                      \
    PL_SQL_SESSION_TABLE(X)                                                                        \
    PL_SQL_FIND_TABLE(EACH)                                                                        \
    PL_SQL_COMMIT_TABLE(EACH)                                                                      \
    PL_SQL_NODE_TABLE(EACH)                                                                        \
    PL_SQL_LETTER_TABLE(EACH)                                                                      \
    PL_SQL_OWNER_TABLE(X, EACH)                                                                    \
    PL_SQL_SHARED_TABLE(X, EACH)                                                                   \
    PL_SQL_LIBRARY_TABLE(X, EACH)                                                                  \
    PL_SQL_WORK_TABLE(X, EACH)                                                                     \
    PL_SQL_GATEWAY_TABLE(X, EACH)                                                                  \
    PL_SQL_EXTENSION_TABLE(X, EACH) PL_SQL_PAGE_TABLE(X) PL_SQL_DELETED_TABLE(X, EACH)

enum pl_sql {
#define X(name, types, text)                PL_SQL_##name,
#define EACH(name, types, sqlite, postgres) PL_SQL_##name,
    PL_SQL_TABLE(X, EACH)
#undef EACH
#undef X
        PL_SQL_COUNT,
};

struct pl_sql_text {
    const char *types;
    const char *text;
    const char *postgres; /* NULL: the same */
};
extern const struct pl_sql_text pl_sql_texts[PL_SQL_COUNT];

/* A message for a failed check, for the caller that requested the change. `why` is the database's
 * own message, which contains the name of the constraint. */
const char *pl_sql_refusal(const char *why);

#endif

/* Statements for deleted records that can be restored (statements.h; 0017_deleted.sql). */
#ifndef PL_STORE_STATEMENTS_DELETED_H
#define PL_STORE_STATEMENTS_DELETED_H

/* Conditions for rows to delete permanently. ONE: the id ?1 of the user ?2. SURPLUS: all but the
 * newest ?2 of the user ?1. OLD: at most ?2 rows that were deleted before ?1. */
#define SQL_DELETED_ONE(id) id " = ?1 AND deleted_of = ?2"
#define SQL_DELETED_SURPLUS(table, key)                                                            \
    "deleted_of = ?1 AND " key " NOT IN (SELECT " key " FROM " table                               \
    " WHERE deleted_of = ?1 ORDER BY deleted_ms DESC, " key " DESC LIMIT ?2)"
#define SQL_DELETED_OLD(table, key)                                                                \
    key " IN (SELECT " key " FROM " table                                                          \
        " WHERE deleted_ms > 0 AND deleted_ms < ?1 ORDER BY deleted_ms LIMIT ?2)"

/* The same for every kind: ?1 is the id, ?2 the user; for BURY ?3 is nobody and ?4 now. `also` are
 * further changes at the deletion, `back` at the restoration. DROP, FULL and OLD delete the rows
 * above. */
#define SQL_DELETED_KIND(X, NAME, table, id, type, key, also, back)                                \
    X(NAME##_BURY, type "bbi",                                                                     \
      "UPDATE " table " SET deleted_of = user_id, user_id = ?3, deleted_ms = ?4" also " WHERE " id \
      " = ?1 AND user_id = ?2")                                                                    \
    X(NAME##_RAISE, type "b",                                                                      \
      "UPDATE " table " SET user_id = deleted_of, deleted_of = NULL, deleted_ms = 0" back          \
      " WHERE " id " = ?1 AND deleted_of = ?2")                                                    \
    X(NAME##_BURIED, type "b", SQL_MUST_BE("SELECT 1 FROM " table " WHERE " SQL_DELETED_ONE(id)))  \
    X(NAME##_DROP, type "b", "DELETE FROM " table " WHERE " SQL_DELETED_ONE(id))                   \
    X(NAME##_FULL, "bi", "DELETE FROM " table " WHERE " SQL_DELETED_SURPLUS(table, key))           \
    X(NAME##_OLD, "ii", "DELETE FROM " table " WHERE " SQL_DELETED_OLD(table, key))

/* For use before the rows `which` of `table` are deleted permanently: marks their blobs as possibly
 * unused. The rows were deleted a while ago, so no further grace is given: 1 is the oldest time. */
#define SQL_DELETED_BLOBS(owner, table, which)                                                     \
    "UPDATE blobs SET unused_ms = 1 WHERE unused_ms >= 0 AND key IN (SELECT blob FROM blob_uses "  \
    "WHERE " owner " IN (SELECT key FROM " table " WHERE " which "))"
#define SQL_DELETED_OWNER(X, NAME, owner, table)                                                   \
    X(NAME##_DROP_BLOBS, "bb", SQL_DELETED_BLOBS(owner, table, SQL_DELETED_ONE("id")))             \
    X(NAME##_FULL_BLOBS, "bi", SQL_DELETED_BLOBS(owner, table, SQL_DELETED_SURPLUS(table, "key"))) \
    X(NAME##_OLD_BLOBS, "ii", SQL_DELETED_BLOBS(owner, table, SQL_DELETED_OLD(table, "key")))

#define SQL_DELETED_ROWS(kind, id, number, title, table)                                           \
    "SELECT '" kind "' AS kind, " id " AS id, CAST(" number " AS BIGINT) AS number, "              \
    "substr(" title ", 1, 200) AS title, deleted_ms FROM " table " WHERE deleted_of = ?1"
/* clang-format off */
#define SQL_DELETED_ALL \
    SQL_DELETED_ROWS("session", "id", "0", "intent", "sessions") " UNION ALL " \
    SQL_DELETED_ROWS("prompt", "id", "0", "name", "prompts") " UNION ALL " \
    SQL_DELETED_ROWS("task", "id", "0", "title", "tasks") " UNION ALL " \
    SQL_DELETED_ROWS("memory", "uid", "id", "content", "memories")
/* clang-format on */

#define PL_SQL_DELETED_TABLE(X, EACH)                                                              \
    SQL_DELETED_KIND(X, SESSION, "sessions", "id", "b", "key", ", shared = 0", "")                 \
    SQL_DELETED_KIND(X, PROMPT, "prompts", "id", "b", "key", "", "")                               \
    /* The time of its next run may be long past. */                                               \
    SQL_DELETED_KIND(X, TASK, "tasks", "id", "b", "key", "",                                       \
                     ", enabled = 0, revision = revision + 1")                                     \
    SQL_DELETED_KIND(X, MEMORY, "memories", "id", "i", "id", ", superseded_by = 0", "")            \
    SQL_DELETED_OWNER(X, SESSION, "session", "sessions")                                           \
    SQL_DELETED_OWNER(X, PROMPT, "prompt", "prompts")                                              \
    SQL_DELETED_OWNER(X, TASK, "task", "tasks")                                                    \
    X(SESSION_UNQUEUE, "bb",                                                                       \
      "DELETE FROM queued WHERE session = (SELECT key FROM sessions WHERE id = ?1 AND "            \
      "user_id = ?2)")                                                                             \
    EACH(PROMPT_RETAG, "bb",                                                                       \
         SQL_TAGS_OF "value FROM prompts, json_each(prompts.tags) WHERE prompts.id = ?1 AND "      \
                     "prompts.user_id = ?2",                                                       \
         SQL_TAGS_OF "value FROM prompts, json_array_elements_text(prompts.tags::json) AS value "  \
                     "WHERE prompts.id = ?1 AND prompts.user_id = ?2")                             \
    X(DELETED_LIST, "bt",                                                                          \
      "SELECT kind, id, number, title, deleted_ms FROM (" SQL_DELETED_ALL                          \
      ") AS d WHERE ?2 = '' OR kind = ?2 ORDER BY deleted_ms DESC, id DESC")

#endif

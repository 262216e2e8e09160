/* Statements for prompts and memories: see statements.h.
 *
 * A search first asks x_found, the index of terms, for the best rows and only then reads them. In
 * the index, each term has the last digits of its user as a prefix (0002_library.sql). */
#ifndef PL_STORE_STATEMENTS_LIBRARY_H
#define PL_STORE_STATEMENTS_LIBRARY_H

/* Fails by the constraint of this name if the condition is true. */
#define SQL_REFUSE(reason, condition)                                                              \
    "INSERT INTO refusals (reason) SELECT '" reason "' WHERE " condition

/* --- terms as they stand in the index, and as they are asked for ----------------------------- */

#define SQL_MARK_SQLITE(user)   "substr(hex(" user "), 27)"
#define SQL_MARK_POSTGRES(user) "right(encode(" user ", 'hex'), 6)"

#define SQL_FOUND_SQLITE                                                                           \
    SQL_MARK_SQLITE("user_id") " || replace(terms, ' ', ' ' || " SQL_MARK_SQLITE("user_id") ")"
#define SQL_FOUND_POSTGRES                                                                         \
    "array_to_tsvector(string_to_array(" SQL_MARK_POSTGRES(                                        \
        "user_id") " || replace(terms, ' ', ' ' || " SQL_MARK_POSTGRES("user_id") "), ' '))"

/* "a" OR "b"*, each with the prefix of the user ?1. */
#define SQL_ASK_SQLITE(terms)                                                                      \
    "replace('\"' || " SQL_MARK_SQLITE("?1") " || replace(" terms                                  \
                                             ", ' ', '\" OR \"' || " SQL_MARK_SQLITE(              \
                                                 "?1") ") || '\"', '*\"', '\"*')"
/* 'a' | 'b':* */
#define SQL_ASK_POSTGRES(terms)                                                                    \
    "replace('''' || " SQL_MARK_POSTGRES("?1") " || replace(" terms                                \
                                               ", ' ', ''' | ''' || " SQL_MARK_POSTGRES(           \
                                                   "?1") ") || '''', '*''', ''':*')::tsquery"

/* Rows of `table` that match the terms of the user ?1; `number` is the table's key. CROSS makes
 * SQLite ask the index first. */
#define SQL_IN_FOUND_SQLITE(table, number, terms)                                                  \
    " FROM " table "_found CROSS JOIN " table " ON " table "." number " = " table                  \
    "_found.rowid WHERE " table "_found MATCH " SQL_ASK_SQLITE(terms)
#define SQL_IN_FOUND_POSTGRES(table, number, terms)                                                \
    " FROM " table "_found AS f JOIN " table " ON " table "." number                               \
    " = f.key WHERE f.terms @@ " SQL_ASK_POSTGRES(terms)

/* The rows `which` of these, with their columns; for a statement that begins with SELECT … FROM. */
#define SQL_SOME(table, number, found, which)                                                      \
    "(SELECT " table "." number " AS best, " found which ") AS b JOIN " table " ON " table         \
    "." number " = b.best ORDER BY b.score DESC, b.best DESC"

/* The best rows by the database's rank; the score is in billionths, higher is better. */
#define SQL_BEST_SQLITE(table, number, terms, filter, limit)                                       \
    SQL_SOME(table, number,                                                                        \
             "CAST(bm25(" table "_found) * -1000000000 AS INTEGER) AS score" SQL_IN_FOUND_SQLITE(  \
                 table, number, terms),                                                            \
             " AND " filter " ORDER BY score DESC, best DESC LIMIT " limit)
#define SQL_BEST_POSTGRES(table, number, terms, filter, limit)                                     \
    SQL_SOME(table, number,                                                                        \
             "CAST(ts_rank(f.terms, " SQL_ASK_POSTGRES(                                            \
                 terms) ", 1) * 1000000000 AS BIGINT) AS score" SQL_IN_FOUND_POSTGRES(table,       \
                                                                                      number,      \
                                                                                      terms),      \
             " AND " filter " ORDER BY score DESC, best DESC LIMIT " limit)

/* The newest of these rows. */
#define SQL_NEWEST_SQLITE(table, number, terms, filter, limit)                                     \
    SQL_SOME(table, number, "0 AS score" SQL_IN_FOUND_SQLITE(table, number, terms),                \
             " AND " filter " ORDER BY " table "_found.rowid DESC LIMIT " limit)
#define SQL_NEWEST_POSTGRES(table, number, terms, filter, limit)                                   \
    SQL_SOME(table, number,                                                                        \
             "CAST(0 AS BIGINT) AS score" SQL_IN_FOUND_POSTGRES(table, number, terms),             \
             " AND " filter " ORDER BY f.key DESC LIMIT " limit)

/* The number of these rows, at most `limit`. */
#define SQL_HOW_MANY_SQLITE(table, number, terms, filter, limit)                                   \
    "SELECT count(*) FROM (SELECT 1" SQL_IN_FOUND_SQLITE(table, number, terms) " AND " filter      \
                                                                               " LIMIT " limit ")"
#define SQL_HOW_MANY_POSTGRES(table, number, terms, filter, limit)                                 \
    "SELECT count(*) FROM (SELECT 1" SQL_IN_FOUND_POSTGRES(table, number, terms) " AND " filter    \
                                                                                 " LIMIT " limit   \
                                                                                 ") AS n"

/* The number of rows for each of the terms ?2, at most ?3, in the order of the terms. */
#define SQL_EACH_TERM_SQLITE(table)                                                                \
    "SELECT (SELECT count(*) FROM (SELECT 1 FROM " table "_found WHERE " table                     \
    "_found MATCH " SQL_ASK_SQLITE("t.value") " LIMIT ?3)) FROM json_each('[\"' || "               \
                                              "replace(?2, ' ', '\",\"') || '\"]') AS t"
#define SQL_EACH_TERM_POSTGRES(table)                                                              \
    "SELECT (SELECT count(*) FROM (SELECT 1 FROM " table                                           \
    "_found AS f WHERE f.terms @@ " SQL_ASK_POSTGRES(                                              \
        "t.value") " LIMIT ?3) AS n) FROM unnest(string_to_array(?2, ' ')) "                       \
                   "WITH ORDINALITY AS t (value, at) ORDER BY t.at"

/* --- prompts --------------------------------------------------------------------------------- */

/* The prompt with the id ?1 of the user ?2. */
#define SQL_PROMPT_IS "id = ?1 AND user_id = ?2"
#define SQL_PROMPT    "(SELECT key FROM prompts WHERE " SQL_PROMPT_IS ")"

#define SQL_PROMPT_COLUMNS(labels)                                                                 \
    "SELECT id, user_id, name, description, folder, tags, " labels                                 \
    ", (SELECT type FROM prompt_versions WHERE prompt = prompts.key AND "                          \
    "version = latest_version), is_pinned, latest_version, revision, created_ms, updated_ms FROM "
#define SQL_PROMPT_SQLITE                                                                          \
    SQL_PROMPT_COLUMNS("(SELECT json_group_object(label, version) FROM (SELECT label, version "    \
                       "FROM prompt_labels WHERE prompt = prompts.key ORDER BY label))")
#define SQL_PROMPT_POSTGRES                                                                        \
    SQL_PROMPT_COLUMNS("(SELECT '{' || COALESCE(string_agg(to_json(label)::text || ':' || "        \
                       "version, ',' ORDER BY label COLLATE \"C\"), '') || '}' "                   \
                       "FROM prompt_labels WHERE prompt = prompts.key)")
/* ?1 user, ?2 whether the page begins after a name, ?3 that name, ?4 limit */
#define SQL_NAMED_COUNTS(table, name, collate)                                                     \
    "SELECT " name ", count(*) FROM " table " WHERE user_id = ?1 AND (?2 = 0 OR " name             \
    " > ?3" collate ") GROUP BY " name " ORDER BY " name collate " LIMIT ?4"
/* ?1 user, ?2 folder, ?3 tag, ?4 label, ?5 pinned */
#define SQL_PROMPT_FILTER                                                                          \
    "prompts.user_id = ?1 AND "                                                                    \
    "(?2 = '' OR folder = ?2 OR substr(folder, 1, length(?2) + 1) = ?2 || '/') AND "               \
    "(?3 = '' OR EXISTS (SELECT 1 FROM prompt_tags WHERE prompt = prompts.key AND tag = ?3)) "     \
    "AND (?4 = '' OR "                                                                             \
    "EXISTS (SELECT 1 FROM prompt_labels WHERE prompt = prompts.key AND label = ?4)) AND "         \
    "(?5 < 0 OR is_pinned = ?5)"
#define SQL_PROMPT_PAGE                                                                            \
    "prompts WHERE " SQL_PROMPT_FILTER " AND (is_pinned, updated_ms, id) < (?6, ?7, ?8) "          \
    "ORDER BY is_pinned DESC, updated_ms DESC, id DESC LIMIT ?9 OFFSET ?10"
#define SQL_PROMPT_BEHIND "prompts WHERE user_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3"
#define SQL_VERSION_COLUMNS                                                                        \
    "SELECT version, type, content, note, hash, based_on, restored_from, created_ms "              \
    "FROM prompt_versions WHERE prompt = " SQL_PROMPT
#define SQL_TAGS_OF                                                                                \
    "INSERT INTO prompt_tags (prompt, user_id, tag) SELECT DISTINCT prompts.key, "                 \
    "prompts.user_id, "

#define PL_SQL_PROMPT_TABLE(X, EACH)                                                               \
    X(PROMPT_CREATE, "bbttttttiiii",                                                               \
      "INSERT INTO prompts (id, user_id, name, description, folder, tags, directory, terms, "      \
      "is_pinned, latest_version, created_ms, updated_ms, revision) "                              \
      "VALUES (?1, " SQL_LIVING("?2") ", ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 1)")           \
    X(PROMPT_EXPECT, "bb",                                                                         \
      SQL_REFUSE("prompt_is_there", "NOT EXISTS (SELECT 1 FROM prompts WHERE " SQL_PROMPT_IS ")")) \
    X(PROMPT_UPDATE, "bbttttttiiii",                                                               \
      "UPDATE prompts SET name = ?3, description = ?4, folder = ?5, tags = ?6, "                   \
      "directory = COALESCE(?7, directory), terms = COALESCE(?8, terms), is_pinned = ?9, "         \
      "latest_version = ?10, updated_ms = ?11, "                                                   \
      "revision = CASE WHEN revision = ?12 THEN revision + 1 ELSE 0 END WHERE " SQL_PROMPT_IS)     \
    X(PROMPT_DELETE, "bb", "DELETE FROM prompts WHERE " SQL_PROMPT_IS)                             \
    X(PROMPT_GONE, "b", "DELETE FROM prompts WHERE user_id = ?1 OR deleted_of = ?1")               \
    EACH(PROMPT_GONE_INDEX, "b",                                                                   \
         "INSERT INTO prompts_found (prompts_found, rowid, terms) "                                \
         "SELECT 'delete', key, " SQL_FOUND_SQLITE " FROM prompts WHERE user_id = ?1",             \
         "DELETE FROM prompts_found WHERE key IN (SELECT key FROM prompts WHERE user_id = ?1)")    \
    X(PROMPT_OF_OTHERS, "bb",                                                                      \
      "SELECT count(*) FROM prompts WHERE id = ?1 AND user_id <> ?2 "                              \
      "AND COALESCE(deleted_of, user_id) <> ?2")                                                   \
    EACH(PROMPT_INDEX, "bb",                                                                       \
         "INSERT INTO prompts_found (rowid, terms) SELECT key, " SQL_FOUND_SQLITE                  \
         " FROM prompts WHERE " SQL_PROMPT_IS,                                                     \
         "INSERT INTO prompts_found (key, terms) SELECT key, " SQL_FOUND_POSTGRES                  \
         " FROM prompts WHERE " SQL_PROMPT_IS)                                                     \
    EACH(PROMPT_UNINDEX, "bb",                                                                     \
         "INSERT INTO prompts_found (prompts_found, rowid, terms) "                                \
         "SELECT 'delete', key, " SQL_FOUND_SQLITE " FROM prompts WHERE " SQL_PROMPT_IS,           \
         "DELETE FROM prompts_found WHERE key = " SQL_PROMPT)                                      \
    EACH(PROMPT_TAG, "bbt",                                                                        \
         SQL_TAGS_OF "value FROM prompts, json_each(?3) WHERE prompts.id = ?1 AND "                \
                     "prompts.user_id = ?2",                                                       \
         SQL_TAGS_OF "value FROM prompts, json_array_elements_text(?3::json) AS value WHERE "      \
                     "prompts.id = ?1 AND prompts.user_id = ?2")                                   \
    X(PROMPT_UNTAG, "bb", "DELETE FROM prompt_tags WHERE prompt = " SQL_PROMPT)                    \
    EACH(PROMPT_GET, "bb", SQL_PROMPT_SQLITE "prompts WHERE " SQL_PROMPT_IS,                       \
         SQL_PROMPT_POSTGRES "prompts WHERE " SQL_PROMPT_IS)                                       \
    EACH(PROMPT_LIST, "btttiiibii", SQL_PROMPT_SQLITE SQL_PROMPT_PAGE,                             \
         SQL_PROMPT_POSTGRES SQL_PROMPT_PAGE)                                                      \
    X(PROMPT_COUNT, "bttti", "SELECT count(*) FROM prompts WHERE " SQL_PROMPT_FILTER)              \
    EACH(PROMPT_WALK, "bbi", SQL_PROMPT_SQLITE SQL_PROMPT_BEHIND,                                  \
         SQL_PROMPT_POSTGRES SQL_PROMPT_BEHIND)                                                    \
    X(PROMPT_DIRECTORY, "btb",                                                                     \
      "SELECT count(*) FROM (SELECT 1 FROM prompts WHERE user_id = ?1 AND directory = ?2 AND "     \
      "id < ?3 LIMIT 1) AS n")                                                                     \
    EACH(PROMPT_SEARCH, "btttiti",                                                                 \
         SQL_PROMPT_SQLITE SQL_BEST_SQLITE("prompts", "key", "?6", SQL_PROMPT_FILTER, "?7"),       \
         SQL_PROMPT_POSTGRES SQL_BEST_POSTGRES("prompts", "key", "?6", SQL_PROMPT_FILTER, "?7"))   \
    EACH(PROMPT_NEWEST, "btttiti",                                                                 \
         SQL_PROMPT_SQLITE SQL_NEWEST_SQLITE("prompts", "key", "?6", SQL_PROMPT_FILTER, "?7"),     \
         SQL_PROMPT_POSTGRES SQL_NEWEST_POSTGRES("prompts", "key", "?6", SQL_PROMPT_FILTER, "?7")) \
    EACH(PROMPT_COUNT_FOUND, "btttiti",                                                            \
         SQL_HOW_MANY_SQLITE("prompts", "key", "?6", SQL_PROMPT_FILTER, "?7"),                     \
         SQL_HOW_MANY_POSTGRES("prompts", "key", "?6", SQL_PROMPT_FILTER, "?7"))                   \
    EACH(PROMPT_TERMS, "bti", SQL_EACH_TERM_SQLITE("prompts"), SQL_EACH_TERM_POSTGRES("prompts"))  \
    EACH(PROMPT_FOLDERS, "biti", SQL_NAMED_COUNTS("prompts", "folder", ""),                        \
         SQL_NAMED_COUNTS("prompts", "folder", " COLLATE \"C\""))                                  \
    EACH(PROMPT_TAGS, "biti", SQL_NAMED_COUNTS("prompt_tags", "tag", ""),                          \
         SQL_NAMED_COUNTS("prompt_tags", "tag", " COLLATE \"C\""))                                 \
                                                                                                   \
    X(PROMPT_VERSION_PUT, "bbitttbiii",                                                            \
      "INSERT INTO prompt_versions (prompt, version, type, content, note, hash, based_on, "        \
      "restored_from, created_ms) VALUES (" SQL_PROMPT ", ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")       \
    X(PROMPT_VERSION_GET, "bbi", SQL_VERSION_COLUMNS " AND version = ?3")                          \
    X(PROMPT_VERSION_LIST, "bbii",                                                                 \
      SQL_VERSION_COLUMNS " AND version < ?3 ORDER BY version DESC LIMIT ?4")                      \
    X(PROMPT_VERSION_COUNT, "bb",                                                                  \
      "SELECT count(*) FROM prompt_versions WHERE prompt = " SQL_PROMPT)                           \
    X(PROMPT_LABEL_PUT, "bbti",                                                                    \
      "INSERT INTO prompt_labels (prompt, label, version) VALUES ((SELECT prompt FROM "            \
      "prompt_versions WHERE prompt = " SQL_PROMPT " AND version = ?4), ?3, ?4) "                  \
      "ON CONFLICT (prompt, label) DO UPDATE SET version = excluded.version")                      \
    X(PROMPT_LABEL_DELETE, "bbt",                                                                  \
      "DELETE FROM prompt_labels WHERE prompt = " SQL_PROMPT " AND label = ?3")

/* --- memories -------------------------------------------------------------------------------- */

/* The memory with the number ?1 of the user ?2. */
#define SQL_MEMORY_IS "id = ?1 AND user_id = ?2"

#define SQL_MEMORY_COLUMNS                                                                         \
    "SELECT id, uid, user_id, type, content, skill_name, record_type, scope, owner, topic, "       \
    "mem0_id, write_reason, source_session, superseded_by, created_ms, updated_ms, last_hit_ms, "  \
    "hit_count, disabled, revision"
/* ?1 user, ?2 to ?9 values to match, ?10 disabled, ?11 superseded, ?12 after, ?13 before */
#define SQL_MEMORY_FILTER                                                                          \
    "memories.user_id = ?1 AND (?10 < 0 OR disabled = ?10) AND "                                   \
    "(?11 < 0 OR (superseded_by > 0) = (?11 > 0)) AND (?2 = '' OR type = ?2) AND "                 \
    "(?3 = '' OR skill_name = ?3) AND (?4 = '' OR record_type = ?4) AND "                          \
    "(?5 = '' OR scope = ?5) AND (?6 = '' OR owner = ?6) AND (?7 = '' OR topic = ?7) AND "         \
    "(?8 = '' OR mem0_id = ?8) AND (?9 = '' OR source_session = ?9) AND "                          \
    "(?12 <= 0 OR created_ms > ?12) AND (?13 = 9223372036854775807 OR created_ms < ?13)"

#define PL_SQL_MEMORY_TABLE(X, EACH)                                                               \
    /* SQLite needs none: it has one writer. */                                                    \
    EACH(MEMORY_LOCK, "b", "SELECT ?1 WHERE 0",                                                    \
         "SELECT pg_advisory_xact_lock(hashtextextended(encode(?1, 'hex'), 0))")                   \
    X(MEMORY_LIMIT, "bi",                                                                          \
      SQL_REFUSE("memory_has_room", "(SELECT count(*) FROM memories WHERE user_id = ?1) > ?2"))    \
    X(MEMORY_CREATE, "bbttttttttttiiit",                                                           \
      "INSERT INTO memories (uid, user_id, type, content, skill_name, record_type, scope, owner, " \
      "topic, mem0_id, write_reason, source_session, created_ms, updated_ms, disabled, terms, "    \
      "superseded_by, last_hit_ms, hit_count, revision) VALUES (?1, " SQL_LIVING(                  \
          "?2") ", ?3, ?4, ?5, ?6, ?7, ?8, "                                                       \
                "?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, 0, 0, 0, 1)")                              \
    X(MEMORY_EXPECT, "ib",                                                                         \
      SQL_REFUSE("memory_is_there",                                                                \
                 "NOT EXISTS (SELECT 1 FROM memories WHERE " SQL_MEMORY_IS ")"))                   \
    X(MEMORY_UPDATE, "ibttttttttttiiti",                                                           \
      "UPDATE memories SET type = ?3, content = ?4, skill_name = ?5, record_type = ?6, "           \
      "scope = ?7, owner = ?8, topic = ?9, mem0_id = ?10, write_reason = ?11, "                    \
      "source_session = ?12, updated_ms = ?13, disabled = ?14, terms = ?15, "                      \
      "revision = CASE WHEN revision = ?16 THEN revision + 1 ELSE 0 END WHERE " SQL_MEMORY_IS)     \
    X(MEMORY_GONE, "b", "DELETE FROM memories WHERE user_id = ?1 OR deleted_of = ?1")              \
    EACH(MEMORY_GONE_INDEX, "b",                                                                   \
         "INSERT INTO memories_found (memories_found, rowid, terms) "                              \
         "SELECT 'delete', id, " SQL_FOUND_SQLITE " FROM memories WHERE user_id = ?1",             \
         "DELETE FROM memories_found WHERE key IN (SELECT id FROM memories WHERE user_id = ?1)")   \
    X(MEMORY_DELETE, "ib", "DELETE FROM memories WHERE " SQL_MEMORY_IS)                            \
    /* Memories that it superseded are now superseded by its successor. */                         \
    X(MEMORY_UNLINK, "ib",                                                                         \
      "UPDATE memories SET superseded_by = "                                                       \
      "(SELECT m.superseded_by FROM memories AS m WHERE m.id = ?1) "                               \
      "WHERE superseded_by = ?1 AND superseded_by > 0 AND user_id = ?2")                           \
    X(MEMORY_CHAIN, "ii",                                                                          \
      SQL_REFUSE("memory_chain_ends",                                                              \
                 "EXISTS (WITH RECURSIVE chain (id) AS (SELECT ?2 UNION "                          \
                 "SELECT memories.superseded_by FROM chain JOIN memories ON memories.id = "        \
                 "chain.id WHERE memories.superseded_by > 0) "                                     \
                 "SELECT 1 FROM chain WHERE id = ?1)"))                                            \
    X(MEMORY_SUPERSEDE, "ibiii",                                                                   \
      "UPDATE memories SET superseded_by = CASE WHEN superseded_by = ?3 THEN ?4 ELSE -1 END, "     \
      "updated_ms = ?5 WHERE " SQL_MEMORY_IS)                                                      \
    X(MEMORY_HIT, "ibi",                                                                           \
      "UPDATE memories SET hit_count = hit_count + 1, last_hit_ms = ?3 WHERE " SQL_MEMORY_IS)      \
    EACH(MEMORY_INDEX_NEW, "bb",                                                                   \
         "INSERT INTO memories_found (rowid, terms) SELECT id, " SQL_FOUND_SQLITE                  \
         " FROM memories WHERE uid = ?1 AND user_id = ?2",                                         \
         "INSERT INTO memories_found (key, terms) SELECT id, " SQL_FOUND_POSTGRES                  \
         " FROM memories WHERE uid = ?1 AND user_id = ?2")                                         \
    EACH(MEMORY_INDEX, "ib",                                                                       \
         "INSERT INTO memories_found (rowid, terms) SELECT id, " SQL_FOUND_SQLITE                  \
         " FROM memories WHERE " SQL_MEMORY_IS,                                                    \
         "INSERT INTO memories_found (key, terms) SELECT id, " SQL_FOUND_POSTGRES                  \
         " FROM memories WHERE " SQL_MEMORY_IS)                                                    \
    EACH(MEMORY_UNINDEX, "ib",                                                                     \
         "INSERT INTO memories_found (memories_found, rowid, terms) "                              \
         "SELECT 'delete', id, " SQL_FOUND_SQLITE " FROM memories WHERE " SQL_MEMORY_IS,           \
         "DELETE FROM memories_found WHERE key = "                                                 \
         "(SELECT id FROM memories WHERE " SQL_MEMORY_IS ")")                                      \
    X(MEMORY_GET, "ib", SQL_MEMORY_COLUMNS " FROM memories WHERE " SQL_MEMORY_IS)                  \
    X(MEMORY_FIND, "bb", SQL_MEMORY_COLUMNS " FROM memories WHERE uid = ?1 AND user_id = ?2")      \
    X(MEMORY_TOTAL, "b", "SELECT count(*) FROM memories WHERE user_id = ?1")                       \
    X(MEMORY_LIST, "bttttttttiiiiiii",                                                             \
      SQL_MEMORY_COLUMNS " FROM memories WHERE " SQL_MEMORY_FILTER                                 \
                         " AND id < ?14 ORDER BY id DESC LIMIT ?15 OFFSET ?16")                    \
    X(MEMORY_COUNT, "bttttttttiiii", "SELECT count(*) FROM memories WHERE " SQL_MEMORY_FILTER)     \
    EACH(MEMORY_SEARCH, "bttttttttiiiiti",                                                         \
         SQL_MEMORY_COLUMNS ", memories.terms, b.score FROM " SQL_BEST_SQLITE(                     \
             "memories", "id", "?14", SQL_MEMORY_FILTER, "?15"),                                   \
         SQL_MEMORY_COLUMNS ", memories.terms, b.score FROM " SQL_BEST_POSTGRES(                   \
             "memories", "id", "?14", SQL_MEMORY_FILTER, "?15"))                                   \
    EACH(MEMORY_NEWEST, "bttttttttiiiiti",                                                         \
         SQL_MEMORY_COLUMNS ", memories.terms, b.score FROM " SQL_NEWEST_SQLITE(                   \
             "memories", "id", "?14", SQL_MEMORY_FILTER, "?15"),                                   \
         SQL_MEMORY_COLUMNS ", memories.terms, b.score FROM " SQL_NEWEST_POSTGRES(                 \
             "memories", "id", "?14", SQL_MEMORY_FILTER, "?15"))                                   \
    EACH(MEMORY_COUNT_FOUND, "bttttttttiiiiti",                                                    \
         SQL_HOW_MANY_SQLITE("memories", "id", "?14", SQL_MEMORY_FILTER, "?15"),                   \
         SQL_HOW_MANY_POSTGRES("memories", "id", "?14", SQL_MEMORY_FILTER, "?15"))                 \
    EACH(MEMORY_TERMS, "bti", SQL_EACH_TERM_SQLITE("memories"), SQL_EACH_TERM_POSTGRES("memories"))

#define PL_SQL_LIBRARY_CHECKS(X)                                                                   \
    X(CHECK_VERSIONS, "",                                                                          \
      "SELECT count(*) FROM prompt_versions WHERE prompt NOT IN (SELECT key FROM prompts)")        \
    X(CHECK_LATEST, "",                                                                            \
      "SELECT count(*) FROM prompts WHERE NOT EXISTS (SELECT 1 FROM prompt_versions "              \
      "WHERE prompt = prompts.key AND version = latest_version)")                                  \
    X(CHECK_LABELS, "",                                                                            \
      "SELECT count(*) FROM prompt_labels WHERE NOT EXISTS (SELECT 1 FROM prompt_versions WHERE "  \
      "prompt_versions.prompt = prompt_labels.prompt AND "                                         \
      "prompt_versions.version = prompt_labels.version)")                                          \
    X(CHECK_TAGS, "",                                                                              \
      "SELECT count(*) FROM prompt_tags WHERE prompt NOT IN (SELECT key FROM prompts)")            \
    X(CHECK_SUPERSEDED, "",                                                                        \
      "SELECT count(*) FROM memories WHERE superseded_by > 0 AND "                                 \
      "superseded_by NOT IN (SELECT id FROM memories)")

#define PL_SQL_LIBRARY_TABLE(X, EACH)                                                              \
    PL_SQL_PROMPT_TABLE(X, EACH) PL_SQL_MEMORY_TABLE(X, EACH) PL_SQL_LIBRARY_CHECKS(X)

#endif

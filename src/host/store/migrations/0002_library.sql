-- Prompts with their versions and labels; memories. Words between @ as in 0001; what stands behind
-- "-- @sqlite" or "-- @postgres" is for that database alone, up to "-- @both".

-- Never has a row. A statement that must not go on puts the reason here, and the constraint of that
-- name fails (statements.c says what each one means).
CREATE TABLE refusals (
    reason TEXT NOT NULL,
    CONSTRAINT prompt_is_there CHECK (reason <> 'prompt_is_there'),
    CONSTRAINT memory_is_there CHECK (reason <> 'memory_is_there'),
    CONSTRAINT memory_has_room CHECK (reason <> 'memory_has_room'),
    CONSTRAINT memory_chain_ends CHECK (reason <> 'memory_chain_ends'),
    CONSTRAINT task_is_there CHECK (reason <> 'task_is_there')
);

-- `terms` is what a prompt is found by; it comes last, so that what is long spills behind what is
-- looked at. A change that expected another revision writes 0, and so fails.
CREATE TABLE prompts (
    key            @key@,
    id             @bytes@ NOT NULL UNIQUE,
    user_id        @bytes@ NOT NULL,
    is_pinned      @int@   NOT NULL,
    latest_version @int@   NOT NULL,
    revision       @int@   NOT NULL CONSTRAINT prompt_is_current CHECK (revision > 0),
    created_ms     @int@   NOT NULL,
    updated_ms     @int@   NOT NULL,
    folder         TEXT    NOT NULL,
    name           TEXT    NOT NULL,
    tags           TEXT    NOT NULL,
    description    TEXT    NOT NULL,
    directory      TEXT    NOT NULL,
    terms          TEXT    NOT NULL
);
-- The order of the list; folder is in it so that a filtered count reads the index alone.
CREATE INDEX prompts_of_user ON prompts (user_id, is_pinned, updated_ms, id, folder);
CREATE INDEX prompts_in_folder ON prompts (user_id, folder);
-- As files they go by their age, and of two that want one directory the older has it.
CREATE INDEX prompts_by_age ON prompts (user_id, id);
CREATE INDEX prompts_in_directory ON prompts (user_id, directory, id);

CREATE TABLE prompt_versions (
    key           @key@,
    prompt        @int@   NOT NULL REFERENCES prompts (key) ON DELETE CASCADE,
    version       @int@   NOT NULL,
    type          TEXT    NOT NULL,
    hash          @bytes@ NOT NULL,
    based_on      @int@   NOT NULL,
    restored_from @int@   NOT NULL,
    created_ms    @int@   NOT NULL,
    note          TEXT    NOT NULL,
    content       TEXT    NOT NULL
);
CREATE UNIQUE INDEX prompt_versions_by_number ON prompt_versions (prompt, version);

CREATE TABLE prompt_labels (
    key     @key@,
    prompt  @int@ NOT NULL REFERENCES prompts (key) ON DELETE CASCADE,
    version @int@ NOT NULL,
    label   TEXT  NOT NULL
);
CREATE UNIQUE INDEX prompt_labels_once ON prompt_labels (prompt, label);

-- The tags of prompts.tags once more, to be asked for.
CREATE TABLE prompt_tags (
    key     @key@,
    prompt  @int@   NOT NULL REFERENCES prompts (key) ON DELETE CASCADE,
    user_id @bytes@ NOT NULL,
    tag     TEXT    NOT NULL
);
CREATE UNIQUE INDEX prompt_tags_once ON prompt_tags (prompt, tag);
CREATE INDEX prompt_tags_of_user ON prompt_tags (user_id, tag);

-- Others refer to a memory by its number, so a number that was given is never given again.
-- superseded_by: 0 is nobody; a change that expected something else writes -1, and so fails.
-- revision is that of the rest, as prompts have it; superseding and hits leave it.
CREATE TABLE memories (
-- @sqlite
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
-- @postgres
    id             @key@,
-- @both
    uid            @bytes@ NOT NULL UNIQUE,
    user_id        @bytes@ NOT NULL,
    disabled       @int@   NOT NULL,
    superseded_by  @int@   NOT NULL CONSTRAINT memory_is_succeeded CHECK (superseded_by >= 0),
    revision       @int@   NOT NULL CONSTRAINT memory_is_current CHECK (revision > 0),
    created_ms     @int@   NOT NULL,
    updated_ms     @int@   NOT NULL,
    last_hit_ms    @int@   NOT NULL,
    hit_count      @int@   NOT NULL,
    type           TEXT    NOT NULL,
    skill_name     TEXT,
    record_type    TEXT,
    scope          TEXT,
    owner          TEXT,
    topic          TEXT,
    mem0_id        TEXT,
    source_session TEXT,
    write_reason   TEXT,
    content        TEXT    NOT NULL,
    terms          TEXT    NOT NULL
);
CREATE INDEX memories_of_user ON memories (user_id, id, disabled, superseded_by, type);
CREATE INDEX memories_superseded ON memories (superseded_by) WHERE superseded_by > 0;

-- What is searched: the terms of a row, each with a few digits of its user in front, so that a
-- search costs what the user has and not what others have. The tokenizer cuts at spaces alone,
-- since terms are letters and digits; the index keeps no copy of them.
-- @sqlite
CREATE VIRTUAL TABLE prompts_found USING fts5 (terms, content = '', tokenize = 'ascii');
CREATE VIRTUAL TABLE memories_found USING fts5 (terms, content = '', tokenize = 'ascii');
-- @postgres
CREATE TABLE prompts_found (
    key   BIGINT   NOT NULL PRIMARY KEY REFERENCES prompts (key) ON DELETE CASCADE,
    terms TSVECTOR NOT NULL
);
CREATE INDEX prompts_found_by_terms ON prompts_found USING GIN (terms);
CREATE TABLE memories_found (
    key   BIGINT   NOT NULL PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
    terms TSVECTOR NOT NULL
);
CREATE INDEX memories_found_by_terms ON memories_found USING GIN (terms);
-- @both

-- The words between @ are spelled by each driver: @key@ is a row's own number, @int@ a 64-bit
-- integer, @bytes@ a string of bytes. Ids are kept as the 16 bytes of their UUID.

CREATE TABLE users (
    id         @bytes@ NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    is_admin   @int@   NOT NULL,
    created_ms @int@   NOT NULL
);

CREATE TABLE api_keys (
    id           @bytes@ NOT NULL PRIMARY KEY,
    user_id      @bytes@ NOT NULL,
    name         TEXT    NOT NULL,
    hash         @bytes@ NOT NULL UNIQUE,
    last4        TEXT    NOT NULL,
    created_ms   @int@   NOT NULL,
    last_used_ms @int@   NOT NULL
);
CREATE INDEX api_keys_of_user ON api_keys (user_id, id);

CREATE TABLE sessions (
    key            @key@,
    id             @bytes@ NOT NULL UNIQUE,
    user_id        @bytes@ NOT NULL,
    status         TEXT    NOT NULL,
    created_ms     @int@   NOT NULL,
    updated_ms     @int@   NOT NULL,
    shared         @int@   NOT NULL,
    is_pinned      @int@   NOT NULL,
    memory_enabled @int@   NOT NULL,
    is_persistent  @int@   NOT NULL,
    version        @int@   NOT NULL,
    epoch          @int@   NOT NULL,
    next_event     @int@   NOT NULL,
    next_entry     @int@   NOT NULL,
    solution_id    TEXT,
    biz_role_id    TEXT,
    model          TEXT,
    replay_state   TEXT,
    intent         TEXT    NOT NULL
);
-- The order of the list; status is in it so that a filtered count reads the index alone.
CREATE INDEX sessions_of_user ON sessions (user_id, is_pinned, updated_ms, id, status);
CREATE INDEX sessions_unsettled ON sessions (id) WHERE status IN ('running', 'waiting_for_input');

-- The text of a conversation is here and nowhere else. `session` is the small number of the row
-- in sessions, because it stands in every index; `body` comes last, so that what is long spills
-- behind what is looked at.
CREATE TABLE turns (
    key               @key@,
    session           @int@   NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    sequence          @int@   NOT NULL,
    id                @bytes@ NOT NULL,
    loop              @bytes@ NOT NULL,
    status            TEXT    NOT NULL,
    is_compaction     @int@   NOT NULL,
    last_event        @int@   NOT NULL,
    created_ms        @int@   NOT NULL,
    client_message_id TEXT,
    body              TEXT    NOT NULL
);
CREATE UNIQUE INDEX turns_by_sequence ON turns (session, sequence);
CREATE UNIQUE INDEX turns_by_id ON turns (session, id);
CREATE INDEX turns_of_loop ON turns (session, loop, sequence);
CREATE INDEX turns_by_change ON turns (session, last_event);
CREATE INDEX turns_open ON turns (session) WHERE status IN ('streaming', 'paused');
CREATE INDEX turns_compaction ON turns (session, loop, sequence) WHERE is_compaction = 1;
CREATE UNIQUE INDEX turns_by_client_message ON turns (session, client_message_id)
    WHERE client_message_id IS NOT NULL;

CREATE TABLE questions (
    key          @key@,
    session      @int@   NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    tool_call_id TEXT    NOT NULL,
    turn_id      @bytes@ NOT NULL,
    loop         @bytes@ NOT NULL,
    kind         TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    asked_ms     @int@   NOT NULL,
    settled_ms   @int@   NOT NULL,
    answer       TEXT,
    questions    TEXT    NOT NULL
);
CREATE UNIQUE INDEX questions_by_call ON questions (session, tool_call_id);
CREATE INDEX questions_pending ON questions (session) WHERE state = 'pending';

CREATE TABLE queued (
    key               @key@,
    session           @int@ NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    position          @int@ NOT NULL,
    client_message_id TEXT,
    body              TEXT  NOT NULL
);
CREATE UNIQUE INDEX queued_by_position ON queued (session, position);

CREATE TABLE shares (
    id         @bytes@ NOT NULL PRIMARY KEY,
    session    @int@   NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    user_id    @bytes@ NOT NULL,
    hash       @bytes@ NOT NULL UNIQUE,
    created_ms @int@   NOT NULL
);
CREATE INDEX shares_of_session ON shares (session);

CREATE TABLE idempotency (
    key          @key@,
    user_id      @bytes@ NOT NULL,
    name         TEXT    NOT NULL,
    request_hash @bytes@ NOT NULL,
    status       @int@   NOT NULL,
    created_ms   @int@   NOT NULL,
    answer       @bytes@
);
CREATE UNIQUE INDEX idempotency_of_user ON idempotency (user_id, name);
CREATE INDEX idempotency_by_age ON idempotency (created_ms);

CREATE TABLE settings (
    name  TEXT    NOT NULL PRIMARY KEY,
    value @bytes@ NOT NULL
);

-- One row per process that writes over a network: the number of its last transaction, and a
-- generation that shuts out whatever an earlier connection of it still has under way.
CREATE TABLE commits (
    writer     @bytes@ NOT NULL PRIMARY KEY,
    number     @int@   NOT NULL,
    generation @int@   NOT NULL,
    created_ms @int@   NOT NULL
);

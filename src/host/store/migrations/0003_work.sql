-- Scheduled tasks and their runs; blobs. Words between @ as in 0001.

CREATE TABLE tasks (
    key                @key@,
    id                 @bytes@ NOT NULL UNIQUE,
    user_id            @bytes@ NOT NULL,
    cron               TEXT    NOT NULL,
    timezone           TEXT    NOT NULL,
    overlap            TEXT    NOT NULL,
    enabled            @int@   NOT NULL,
    skip_confirmations @int@   NOT NULL,
    expires_ms         @int@   NOT NULL,
    next_ms            @int@   NOT NULL,
    last_ms            @int@   NOT NULL,
    n_failures         @int@   NOT NULL,
    -- A change that expected another revision writes 0, and so fails.
    revision           @int@   NOT NULL CONSTRAINT task_is_current CHECK (revision > 0),
    created_ms         @int@   NOT NULL,
    updated_ms         @int@   NOT NULL,
    model              TEXT,
    disabled_reason    TEXT,
    title              TEXT    NOT NULL,
    prompt_ref         TEXT,
    prompt             TEXT
);
CREATE INDEX tasks_of_user ON tasks (user_id, id);
CREATE INDEX tasks_due ON tasks (next_ms, id) WHERE enabled = 1;

CREATE TABLE task_runs (
    key          @key@,
    id           @bytes@ NOT NULL UNIQUE,
    task         @int@   NOT NULL REFERENCES tasks (key) ON DELETE CASCADE,
    due_ms       @int@   NOT NULL,
    is_manual    @int@   NOT NULL,
    n_missed     @int@   NOT NULL,
    triggered_ms @int@   NOT NULL,
    finished_ms  @int@   NOT NULL,
    status       TEXT    NOT NULL,
    session_id   @bytes@,
    error        TEXT
);
CREATE INDEX task_runs_of_task ON task_runs (task, due_ms, key);
-- Of all schedulers that see an occurrence, one makes its run.
CREATE UNIQUE INDEX task_runs_once ON task_runs (task, due_ms) WHERE is_manual = 0;
CREATE INDEX task_runs_running ON task_runs (id) WHERE status = 'running';

-- Bytes hang on the upload that brought them. One that is whole has no touched_ms and stands in
-- blob_contents under the hash of its bytes; each user who has them has a row in blobs. Deleting
-- the upload takes everything along.
CREATE TABLE blob_uploads (
    key        @key@,
    id         @bytes@ NOT NULL UNIQUE,
    touched_ms @int@
);
CREATE INDEX blob_uploads_open ON blob_uploads (touched_ms) WHERE touched_ms IS NOT NULL;

CREATE TABLE blob_pieces (
    key    @key@,
    upload @int@   NOT NULL REFERENCES blob_uploads (key) ON DELETE CASCADE,
    number @int@   NOT NULL,
    bytes  @bytes@ NOT NULL
);
CREATE UNIQUE INDEX blob_pieces_by_number ON blob_pieces (upload, number);

CREATE TABLE blob_contents (
    key       @key@,
    hash      @bytes@ NOT NULL UNIQUE,
    upload    @int@   NOT NULL UNIQUE REFERENCES blob_uploads (key) ON DELETE CASCADE,
    n_bytes   @int@   NOT NULL,
    -- Grows when a user comes or goes: whoever writes it has the row to himself.
    n_changes @int@   NOT NULL
);

CREATE TABLE blobs (
    key          @key@,
    id           @bytes@ NOT NULL UNIQUE,
    user_id      @bytes@ NOT NULL,
    content      @int@   NOT NULL REFERENCES blob_contents (key) ON DELETE CASCADE,
    created_ms   @int@   NOT NULL,
    content_type TEXT    NOT NULL,
    name         TEXT
);
CREATE INDEX blobs_of_user ON blobs (user_id, id);
CREATE UNIQUE INDEX blobs_once ON blobs (content, user_id);

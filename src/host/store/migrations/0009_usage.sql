-- Limits of users, calls that are under way, and what became of calls. Words between @ as in 0001.

-- 0: as much as the user likes.
CREATE TABLE user_limits (
    user_id            @bytes@ NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    rpm                @int@   NOT NULL,
    tpm                @int@   NOT NULL,
    budget_day_micro   @int@   NOT NULL,
    budget_month_micro @int@   NOT NULL,
    max_turns          @int@   NOT NULL,
    max_sessions       @int@   NOT NULL,
    max_blob_bytes     @int@   NOT NULL,
    max_keys           @int@   NOT NULL,
    max_tasks          @int@   NOT NULL,
    max_sockets        @int@   NOT NULL
);

-- A call of a model that is paid for, with its estimate, from its beginning until its usage is
-- counted: what is here at a start was cut off by a crash, and counts as estimated.
CREATE TABLE open_calls (
    id         @bytes@ NOT NULL PRIMARY KEY,
    user_id    @bytes@ NOT NULL,
    key_id     TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    day        @int@   NOT NULL,
    tokens     @int@   NOT NULL,
    cost_micro @int@   NOT NULL
);

-- How many of the requests failed, were broken off, and had no price.
ALTER TABLE usage_days ADD COLUMN n_failed @int@ NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN n_aborted @int@ NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN n_unpriced @int@ NOT NULL DEFAULT 0;

-- As in 0008, with the quotas of users. It never has a row.
DROP TABLE refusals;
CREATE TABLE refusals (
    reason TEXT NOT NULL,
    CONSTRAINT prompt_is_there CHECK (reason <> 'prompt_is_there'),
    CONSTRAINT memory_is_there CHECK (reason <> 'memory_is_there'),
    CONSTRAINT memory_has_room CHECK (reason <> 'memory_has_room'),
    CONSTRAINT memory_chain_ends CHECK (reason <> 'memory_chain_ends'),
    CONSTRAINT task_is_there CHECK (reason <> 'task_is_there'),
    CONSTRAINT admin_is_left CHECK (reason <> 'admin_is_left'),
    CONSTRAINT session_has_room CHECK (reason <> 'session_has_room'),
    CONSTRAINT blob_has_room CHECK (reason <> 'blob_has_room'),
    CONSTRAINT key_has_room CHECK (reason <> 'key_has_room'),
    CONSTRAINT task_has_room CHECK (reason <> 'task_has_room')
);

-- Calls of models one by one, drafts of prompts, settings of users. Words between @ as in 0001.

-- A call of a model that is over: who asked, where, how long it took, what it used. first_ms is how long the first word
-- took, -1 where nothing was said; cost_micro is -1 where there is no price. prompt_id, session_id and turn_id may name
-- what is gone.
CREATE TABLE runs (
    key           @key@,
    id            @bytes@ NOT NULL UNIQUE,
    user_id       @bytes@ NOT NULL,
    started_ms    @int@   NOT NULL,
    first_ms      @int@   NOT NULL,
    total_ms      @int@   NOT NULL,
    input_tokens  @int@   NOT NULL,
    output_tokens @int@   NOT NULL,
    cached_tokens @int@   NOT NULL,
    cost_micro    @int@   NOT NULL,
    version       @int@   NOT NULL,
    session_id    @bytes@,
    turn_id       @bytes@,
    prompt_id     @bytes@,
    source        TEXT    NOT NULL,
    status        TEXT    NOT NULL,
    model         TEXT    NOT NULL,
    key_id        TEXT    NOT NULL,
    error         TEXT
);
CREATE INDEX runs_of_user ON runs (user_id, started_ms, id);
CREATE INDEX runs_by_age ON runs (started_ms);
CREATE INDEX runs_of_session ON runs (session_id) WHERE session_id IS NOT NULL;

-- What is written and not yet a version. A change that expected another revision writes 0, and so fails.
CREATE TABLE drafts (
    key        @key@,
    prompt     @int@   NOT NULL UNIQUE REFERENCES prompts (key) ON DELETE CASCADE,
    revision   @int@   NOT NULL CONSTRAINT draft_is_current CHECK (revision > 0),
    based_on   @int@   NOT NULL,
    updated_ms @int@   NOT NULL,
    type       TEXT    NOT NULL,
    extra      TEXT    NOT NULL,
    content    TEXT    NOT NULL
);

-- The HTML of cards by their names, which come of the session and the text. They go with their session.
CREATE TABLE cards (
    key     @key@,
    session @int@ NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    name    TEXT  NOT NULL UNIQUE,
    html    TEXT  NOT NULL
);
CREATE INDEX cards_of_session ON cards (session);

-- What the web page remembers of a user, a JSON object.
CREATE TABLE user_settings (
    user_id  @bytes@ NOT NULL PRIMARY KEY,
    revision @int@   NOT NULL CONSTRAINT settings_are_current CHECK (revision > 0),
    value    TEXT    NOT NULL
);

-- What made a session: chat, prompt, task, gateway, replay, import, fork, handoff.
ALTER TABLE sessions ADD COLUMN source TEXT NOT NULL DEFAULT 'chat';
-- The tools that a person has allowed for the whole session, a name and a newline each.
ALTER TABLE sessions ADD COLUMN allowed TEXT;

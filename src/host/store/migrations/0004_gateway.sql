-- What the gateway counts and keeps. Words between @ as in 0001.

-- One row for every key, model and day (days since 1970, UTC). The id of a key is text here: who
-- came by the control socket has none, and usage outlives its key.
CREATE TABLE usage_days (
    key           @key@,
    user_id       @bytes@ NOT NULL,
    key_id        TEXT    NOT NULL,
    model         TEXT    NOT NULL,
    day           @int@   NOT NULL,
    n_requests    @int@   NOT NULL,
    input_tokens  @int@   NOT NULL,
    output_tokens @int@   NOT NULL,
    cached_tokens @int@   NOT NULL,
    cost_micro    @int@   NOT NULL
);
CREATE UNIQUE INDEX usage_days_once ON usage_days (user_id, day, key_id, model);

-- What a key may use; 0: as much as it likes.
CREATE TABLE key_limits (
    key_id             @bytes@ NOT NULL PRIMARY KEY REFERENCES api_keys (id) ON DELETE CASCADE,
    rpm                @int@   NOT NULL,
    tpm                @int@   NOT NULL,
    budget_day_micro   @int@   NOT NULL,
    budget_month_micro @int@   NOT NULL
);

-- Answers that a later request may go on from by their id: the session has their conversation.
CREATE TABLE kept_responses (
    key         @key@,
    user_id     @bytes@ NOT NULL,
    response_id TEXT    NOT NULL,
    session     @int@   NOT NULL REFERENCES sessions (key) ON DELETE CASCADE
);
CREATE UNIQUE INDEX kept_responses_once ON kept_responses (user_id, response_id);
CREATE INDEX kept_responses_of_session ON kept_responses (session);

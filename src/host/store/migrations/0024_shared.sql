-- What nodes share besides sessions. Words between @ as in 0001.

-- Numbers that only grow. auth_version grows in every transaction that changes users, keys or limits, ext_version
-- in every one that changes an extension: a node that finds one larger reads them again.
CREATE TABLE counters (
    name   TEXT  NOT NULL PRIMARY KEY,
    number @int@ NOT NULL
);
INSERT INTO counters (name, number) VALUES ('auth_version', 1), ('ext_version', 1);

-- Tickets for sockets. Who deletes the row has the ticket. Times are the database's.
CREATE TABLE tickets (
    number   @key@,
    hash     @bytes@ NOT NULL UNIQUE,
    user_id  @bytes@ NOT NULL,
    key_id   TEXT    NOT NULL,
    until_ms @int@   NOT NULL
);
CREATE INDEX tickets_of_user ON tickets (user_id, number);

-- The code of the first start, the same on every node that is up. It is here while no administrator has a
-- key, and for an hour at most.
CREATE TABLE login_codes (
    place    @int@ NOT NULL PRIMARY KEY CHECK (place = 1),
    code     TEXT  NOT NULL,
    until_ms @int@ NOT NULL
);

-- How much of a limit by the minute is given to nodes. The id is a key's or a user's, as text; the
-- minute is since 1970 by the database's clock.
CREATE TABLE key_grants (
    id     TEXT  NOT NULL,
    kind   TEXT  NOT NULL,
    minute @int@ NOT NULL,
    taken  @int@ NOT NULL,
    given  @int@ NOT NULL, -- of that, to the last who asked
    PRIMARY KEY (id, kind, minute)
);

-- Which writer has a run of a task, a call of a model or a request with an Idempotency-Key under way:
-- what is of one that is gone was cut off. NULL: of a time before there were several.
-- @sqlite
ALTER TABLE task_runs ADD COLUMN writer @bytes@;
ALTER TABLE login_codes ADD COLUMN writer @bytes@;
ALTER TABLE open_calls ADD COLUMN writer @bytes@;
ALTER TABLE idempotency ADD COLUMN writer @bytes@;
-- @postgres
ALTER TABLE login_codes ADD COLUMN writer @bytes@
    DEFAULT decode(current_setting('parley.writer', true), 'hex');
ALTER TABLE task_runs ADD COLUMN writer @bytes@
    DEFAULT decode(current_setting('parley.writer', true), 'hex');
ALTER TABLE open_calls ADD COLUMN writer @bytes@
    DEFAULT decode(current_setting('parley.writer', true), 'hex');
ALTER TABLE idempotency ADD COLUMN writer @bytes@
    DEFAULT decode(current_setting('parley.writer', true), 'hex');
-- @both

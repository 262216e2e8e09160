-- A migration as the next version could have it: it only adds. Never part of a release.
ALTER TABLE sessions ADD COLUMN trial @int@ NOT NULL DEFAULT 0;
CREATE TABLE trials (
    key  @key@,
    said TEXT NOT NULL
);
CREATE INDEX trials_said ON trials (said);
-- @index sessions_trial
ON sessions (trial, id);
-- @both

-- Who did what to access, keys, limits, shares, exports and restores. Words between @ as in 0001.
--
-- A row is written in the transaction of what it tells, without a hash. It is sealed soon after: its
-- hash covers its content and the hash of the row before it. Rows are never changed or deleted. Ids
-- are text: they outlive what they name.
CREATE TABLE audit (
    number  @key@,
    at_ms   @int@ NOT NULL,
    user_id TEXT  NOT NULL,
    key_id  TEXT  NOT NULL,
    action  TEXT  NOT NULL,
    object  TEXT  NOT NULL,
    detail  TEXT  NOT NULL,
    hash    @bytes@
);
CREATE INDEX audit_unsealed ON audit (number) WHERE hash IS NULL;

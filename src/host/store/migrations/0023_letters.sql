-- Letters between nodes, where the database is their bus. A row is a parcel of letters from one node to another. Its
-- receiver deletes it by taking it; what nobody takes is deleted after a minute. A crash of the database empties the
-- table: letters may be lost. SQLite has the table, and no nodes. Words between @ as in 0001.
-- @sqlite
CREATE TABLE letters (
-- @postgres
CREATE UNLOGGED TABLE letters (
-- @both
    key      @key@,
    receiver @bytes@ NOT NULL,
    sender   @bytes@ NOT NULL,
    number   @int@   NOT NULL,
    sent_ms  @int@   NOT NULL,
    body     @bytes@ NOT NULL
);
CREATE INDEX letters_of_receiver ON letters (receiver, key);
-- @postgres
-- Compressing what lives for a millisecond costs more than it saves.
ALTER TABLE letters ALTER COLUMN body SET STORAGE EXTERNAL;
-- @both

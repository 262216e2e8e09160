-- Of several servers on one database one writes: the next one fences the rows of those before it,
-- and a transaction of a fenced one fails. A server's row that is not fenced is never forgotten.
-- Words between @ as in 0001.
ALTER TABLE commits ADD COLUMN is_server @int@ NOT NULL DEFAULT 0;
ALTER TABLE commits ADD COLUMN is_fenced @int@ NOT NULL DEFAULT 0;

-- What nodes share of extensions. Words between @ as in 0001.

-- Grows when an administrator restarts the extension, or takes back what users have answered: whoever runs it with
-- another number stops it.
ALTER TABLE extensions ADD COLUMN restarts @int@ NOT NULL DEFAULT 0;

-- The files of packages, for nodes that do not have them yet: SQLite has one server, which has them on its disk. They
-- come in several transactions before the extension does, and the last one says that the package is whole.
CREATE TABLE extension_packages (
    artifact TEXT  NOT NULL PRIMARY KEY,
    put_ms   @int@ NOT NULL,
    is_whole @int@ NOT NULL
);
CREATE TABLE extension_files (
    artifact      TEXT    NOT NULL REFERENCES extension_packages (artifact) ON DELETE CASCADE,
    path          TEXT    NOT NULL,
    part          @int@   NOT NULL, -- of its bytes, from 0
    is_executable @int@   NOT NULL,
    bytes         @bytes@ NOT NULL,
    PRIMARY KEY (artifact, path, part)
);

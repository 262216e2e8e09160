-- Extensions that an administrator has added, the tools they have shown, and answers that are kept. Words
-- between @ as in 0001.

-- `manifest` is the extension.json that a person has accepted: the most that the extension may do.
-- `granted` and `denied` have one capability to a line. `registered` is the payload of its last register.
CREATE TABLE extensions (
    key           @key@,
    id            TEXT  NOT NULL UNIQUE,
    name          TEXT  NOT NULL,
    version       TEXT  NOT NULL,
    runtime       TEXT  NOT NULL,
    artifact      TEXT  NOT NULL,
    manifest_hash TEXT  NOT NULL,
    profile       TEXT  NOT NULL,
    granted       TEXT  NOT NULL,
    denied        TEXT  NOT NULL,
    state         TEXT  NOT NULL,
    -- A change that expected another revision writes 0, and so fails.
    revision      @int@ NOT NULL CONSTRAINT extension_is_current CHECK (revision > 0),
    created_ms    @int@ NOT NULL,
    updated_ms    @int@ NOT NULL,
    source        TEXT  NOT NULL,
    last_error    TEXT,
    manifest      TEXT  NOT NULL,
    registered    TEXT
);

-- What was accepted of a tool, by the hash of name, description and schema; and what it is now. A tool
-- whose hashes differ is withheld.
CREATE TABLE extension_tools (
    extension  @int@ NOT NULL REFERENCES extensions (key) ON DELETE CASCADE,
    name       TEXT  NOT NULL,
    accepted   TEXT  NOT NULL,
    seen       TEXT  NOT NULL,
    seen_ms    @int@ NOT NULL,
    definition TEXT  NOT NULL,
    PRIMARY KEY (extension, name)
);

-- Answers `always` of a person to a question for a capability. They hold for the manifest that they were
-- given for.
CREATE TABLE extension_answers (
    extension     @int@   NOT NULL REFERENCES extensions (key) ON DELETE CASCADE,
    user_id       @bytes@ NOT NULL,
    capability    TEXT    NOT NULL,
    target        TEXT    NOT NULL,
    manifest_hash TEXT    NOT NULL,
    is_allowed    @int@   NOT NULL,
    answered_ms   @int@   NOT NULL,
    PRIMARY KEY (extension, user_id, capability, target)
);

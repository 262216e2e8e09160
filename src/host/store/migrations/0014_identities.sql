-- Who a person is at an OpenID provider. Words between @ as in 0001.
--
-- A subject of an issuer is one user here, for ever: a user that is erased takes the row along, and
-- the same person is somebody new afterwards.
CREATE TABLE user_identities (
    issuer     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    user_id    @bytes@ NOT NULL,
    created_ms @int@   NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX user_identities_user ON user_identities (user_id);

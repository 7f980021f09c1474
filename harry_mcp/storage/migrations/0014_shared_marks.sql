-- What every server process is to know for a while, whichever of them heard it: that a console session was signed out,
-- that a person was asked about a wish and did not allow it.
CREATE TABLE shared_marks (
    kind  text NOT NULL,
    -- A digest; what it is of cannot be told from it.
    key   text NOT NULL,
    ends  timestamptz NOT NULL,
    PRIMARY KEY (kind, key)
);
CREATE INDEX shared_marks_ends ON shared_marks (ends);

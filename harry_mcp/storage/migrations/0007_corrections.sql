-- What people said is wrong, and what is true instead: one lesson a row, every submission kept beside it, and a row for
-- each answer that a lesson went into, so that a bad one can be traced and taken back.

CREATE TABLE corrections (
    id             text PRIMARY KEY,
    topic          text NOT NULL DEFAULT '',
    wrong          text NOT NULL,
    truth          text NOT NULL,
    lesson         text NOT NULL,
    source_url     text NOT NULL DEFAULT '',
    status         text NOT NULL CHECK (status IN ('pending', 'active', 'deprecated')),
    -- Why it waits, or why it was given up.
    status_reason  text NOT NULL DEFAULT '',
    author         text NOT NULL,
    decided_by     text NOT NULL DEFAULT '',
    -- The draft document that it became.
    document_id    text NOT NULL DEFAULT '',
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX corrections_status ON corrections (status, updated_at DESC);

-- Every submission, in its own words, whatever lesson it was counted for.
CREATE TABLE correction_reports (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    correction_id  text NOT NULL REFERENCES corrections (id) ON DELETE CASCADE,
    author         text NOT NULL,
    result_id      text NOT NULL DEFAULT '',
    wrong          text NOT NULL,
    truth          text NOT NULL,
    lesson         text NOT NULL,
    source_url     text NOT NULL DEFAULT '',
    outcome        text NOT NULL CHECK (outcome IN ('created', 'repeated', 'merged')),
    created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX correction_reports_correction ON correction_reports (correction_id, author);
CREATE INDEX correction_reports_author ON correction_reports (author, created_at);

CREATE TABLE correction_injections (
    correction_id  text NOT NULL REFERENCES corrections (id) ON DELETE CASCADE,
    result_id      text NOT NULL,
    question       text NOT NULL,
    relevance      double precision NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (correction_id, result_id)
);
CREATE INDEX correction_injections_created ON correction_injections (created_at);
CREATE INDEX correction_injections_result ON correction_injections (result_id);

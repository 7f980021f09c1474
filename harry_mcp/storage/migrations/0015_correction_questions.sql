-- The questions that corrections were made on: a lesson says "it", and what "it" is stands in the question. Each has a
-- vector of its own among the memories, so that a lesson comes back with the question that it was made on.

CREATE TABLE correction_questions (
    -- The correction's id, and a digest of the question.
    id             text PRIMARY KEY,
    correction_id  text NOT NULL REFERENCES corrections (id) ON DELETE CASCADE,
    question       text NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX correction_questions_correction ON correction_questions (correction_id, created_at);

ALTER TABLE memory_vectors
    DROP CONSTRAINT memory_vectors_kind_check,
    ADD CONSTRAINT memory_vectors_kind_check
        CHECK (kind IN ('verified', 'never_serve', 'correction', 'asked', 'failure'));

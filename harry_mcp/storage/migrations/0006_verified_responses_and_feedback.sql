-- Official answers, what was said of answers, and the vectors by which both are found again in other words.
--
-- Few and small beside the chunks, so their vectors share one table, read in full for each kind: exact, and some
-- milliseconds at 10,000 entries.

CREATE TABLE memory_vectors (
    space_id   integer NOT NULL REFERENCES embedding_spaces (id),
    kind       text NOT NULL CHECK (kind IN ('verified', 'never_serve', 'correction', 'failure')),
    owner_id   text NOT NULL,
    -- Whether it is to be found: kept in step with its owner's status, in the same transaction.
    active     boolean NOT NULL,
    embedding  vector NOT NULL,
    PRIMARY KEY (space_id, kind, owner_id)
);
CREATE INDEX memory_vectors_active ON memory_vectors (space_id, kind) WHERE active;

CREATE TABLE verified_responses (
    id            text PRIMARY KEY,
    question      text NOT NULL,
    answer        text NOT NULL,
    sources       jsonb NOT NULL DEFAULT '[]',
    status        text NOT NULL CHECK (status IN ('candidate', 'active', 'retired', 'rejected')),
    -- Where it came from: the result whose answer was praised, if there was one.
    origin        text NOT NULL,
    result_id     text NOT NULL DEFAULT '',
    submitted_by  text NOT NULL,
    approved_by   text NOT NULL DEFAULT '',
    approved_at   timestamptz,
    uses          integer NOT NULL DEFAULT 0 CHECK (uses >= 0),
    negatives     integer NOT NULL DEFAULT 0 CHECK (negatives >= 0),
    -- The cosine from which it is exact, raised by wrong hits; 0 is the setting's.
    threshold     double precision NOT NULL DEFAULT 0,
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX verified_responses_status ON verified_responses (status, updated_at DESC);

-- The documents that an answer rests on, at the version that was approved. No reference to documents: that one is gone
-- is what must be seen.
CREATE TABLE verified_citations (
    verified_id  text NOT NULL REFERENCES verified_responses (id) ON DELETE CASCADE,
    document_id  text NOT NULL,
    version      integer NOT NULL,
    PRIMARY KEY (verified_id, document_id)
);
CREATE INDEX verified_citations_document ON verified_citations (document_id);

-- "Never serve this for that": questions that an entry must not answer, however near they are.
CREATE TABLE verified_refusals (
    id           text PRIMARY KEY,
    verified_id  text NOT NULL REFERENCES verified_responses (id) ON DELETE CASCADE,
    question     text NOT NULL,
    said_by      text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX verified_refusals_verified ON verified_refusals (verified_id);

-- Every answer that was served from an entry, or looked up and not found: what feedback refers to, and what an entry's
-- own threshold is learnt from.
CREATE TABLE verified_lookups (
    id           text PRIMARY KEY,
    verified_id  text REFERENCES verified_responses (id) ON DELETE CASCADE,
    search_id    text NOT NULL DEFAULT '',
    question     text NOT NULL,
    match        text NOT NULL CHECK (match IN ('exact', 'partial', 'none')),
    cosine       double precision NOT NULL,
    reason       text NOT NULL,
    -- Somebody complained; and the complaint was that the entry answers another question.
    wrong        boolean NOT NULL DEFAULT false,
    mismatch     boolean NOT NULL DEFAULT false,
    created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX verified_lookups_verified ON verified_lookups (verified_id, created_at DESC);
CREATE INDEX verified_lookups_search ON verified_lookups (search_id) WHERE search_id <> '';

-- One verdict of one person on one result; a change of mind replaces it.
CREATE TABLE feedback (
    id           text PRIMARY KEY,
    result_id    text NOT NULL,
    author       text NOT NULL,
    rating       text NOT NULL CHECK (rating IN ('up', 'down')),
    reason       text NOT NULL DEFAULT '',
    question     text NOT NULL,
    answer       text NOT NULL DEFAULT '',
    comment      text NOT NULL DEFAULT '',
    source_urls  text[] NOT NULL DEFAULT '{}',
    verified_id  text NOT NULL DEFAULT '',
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    UNIQUE (result_id, author)
);
CREATE INDEX feedback_created ON feedback (created_at);

-- One row for each signal that a document may be wrong, also when it is flagged already: three signals are three.
CREATE TABLE kb_curation_log (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_id  text NOT NULL,
    event        text NOT NULL,
    signal       text NOT NULL DEFAULT '',
    actor        text NOT NULL,
    before       text NOT NULL DEFAULT '',
    after        text NOT NULL DEFAULT '',
    detail       jsonb NOT NULL DEFAULT '{}',
    created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX kb_curation_log_document ON kb_curation_log (document_id, created_at DESC);
CREATE INDEX kb_curation_log_created ON kb_curation_log (created_at DESC);

-- Why an entry is held back from exact service for now: a document that it cites changed, or can no longer be found.
-- Empty when nothing holds it. Asked at every serving, so that no change of a document can be missed.
CREATE FUNCTION verified_held(entry text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce((
        SELECT CASE WHEN d.id IS NULL THEN 'a cited document is gone: ' || c.document_id
                    WHEN d.status NOT IN ('live', 'flagged') THEN 'a cited document is no longer served: ' || d.title
                    ELSE 'a cited document changed since it was approved: ' || d.title END
          FROM verified_citations c LEFT JOIN documents d ON d.id = c.document_id
         WHERE c.verified_id = entry
           AND (d.id IS NULL OR d.status NOT IN ('live', 'flagged') OR d.version <> c.version)
         ORDER BY c.document_id LIMIT 1), '')
$$;

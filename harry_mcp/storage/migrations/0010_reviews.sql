-- Review: what curators did, which documents it changed and how, and what it takes to undo it exactly; and the audit log.
--
-- An undone action is one that an undo names; nothing is ever updated here. All of it is written while the writers'
-- queue is held, so the numbers of actions and of the curation log are in the order in which things happened.

CREATE TABLE review_actions (
    id          text PRIMARY KEY,
    number      bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    action      text NOT NULL
                CHECK (action IN ('approve', 'archive', 'restore', 'keep', 'rewrite', 'reject', 'undo')),
    actor       text NOT NULL,
    reason      text NOT NULL DEFAULT '',
    -- The action that this one took back; each at most once.
    undoes      text UNIQUE REFERENCES review_actions (id),
    created_at  timestamptz NOT NULL DEFAULT now(),
    CHECK ((action = 'undo') = (undoes IS NOT NULL))
);

-- No reference to documents: what was done to one that is gone stays on record.
CREATE TABLE review_changes (
    action_id       text NOT NULL REFERENCES review_actions (id),
    document_id     text NOT NULL,
    title           text NOT NULL,
    before          text NOT NULL,
    after           text NOT NULL,
    before_version  integer NOT NULL,
    after_version   integer NOT NULL,
    -- The hash of the content afterwards: a document that was removed and read again begins at version 1 anew.
    after_hash      text NOT NULL,
    -- What was told against it with answers before.
    caveats         jsonb NOT NULL DEFAULT '{}',
    -- The corrections that a draft closed when it went live, as they were.
    closed          jsonb NOT NULL DEFAULT '[]',
    -- Its row of the curation log; what was said of the document since has a higher number.
    log_id          bigint NOT NULL,
    PRIMARY KEY (action_id, document_id)
);
CREATE INDEX review_changes_document ON review_changes (document_id);

-- What a rewrite replaced, with all that a search of it needs. It goes when the document is removed for good.
CREATE TABLE document_versions (
    action_id       text NOT NULL REFERENCES review_actions (id),
    document_id     text NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    version         integer NOT NULL,
    title           text NOT NULL,
    url             text NOT NULL,
    topic           text NOT NULL,
    language        text NOT NULL,
    content         text NOT NULL,
    content_hash    text NOT NULL,
    recipe          text NOT NULL,
    rewritten_from  text NOT NULL,
    updated_at      timestamptz NOT NULL,
    kept_at         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (action_id, document_id)
);
CREATE INDEX document_versions_document ON document_versions (document_id);

-- With their numbers, which break ties between equal scores.
CREATE TABLE version_chunks (
    action_id           text NOT NULL,
    document_id         text NOT NULL,
    chunk_id            integer NOT NULL,
    public_id           text NOT NULL,
    ordinal             integer NOT NULL,
    heading_path        text[] NOT NULL,
    raw_content         text NOT NULL,
    contextual_content  text NOT NULL,
    span_start          integer NOT NULL,
    span_end            integer NOT NULL,
    PRIMARY KEY (action_id, chunk_id),
    FOREIGN KEY (action_id, document_id) REFERENCES document_versions (action_id, document_id) ON DELETE CASCADE
);
CREATE INDEX version_chunks_version ON version_chunks (action_id, document_id);

CREATE TABLE version_vectors (
    action_id  text NOT NULL,
    chunk_id   integer NOT NULL,
    space_id   integer NOT NULL REFERENCES embedding_spaces (id) ON DELETE CASCADE,
    embedding  vector NOT NULL,
    PRIMARY KEY (action_id, chunk_id, space_id),
    FOREIGN KEY (action_id, chunk_id) REFERENCES version_chunks (action_id, chunk_id) ON DELETE CASCADE
);
CREATE INDEX version_vectors_space ON version_vectors (space_id);

-- The hash of the source that a curator's text stands in for, or empty: reading the same source again must not bring
-- back what was rewritten.
ALTER TABLE documents ADD COLUMN rewritten_from text NOT NULL DEFAULT '';
CREATE INDEX documents_status ON documents (status);

-- The documents of the first five passages of a search: how much a document is used.
ALTER TABLE searches ADD COLUMN first_documents jsonb NOT NULL
    GENERATED ALWAYS AS (jsonb_path_query_array(ranking, '$[0 to 4].document_id')) STORED;
CREATE INDEX searches_first_documents ON searches USING gin (first_documents);

-- Who did what, when. Rows are added and never changed.
CREATE TABLE audit_log (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    actor        text NOT NULL,
    role         text NOT NULL,
    action       text NOT NULL,
    -- What it was done to: a document, a correction, a verified response.
    target_kind  text NOT NULL,
    target_id    text NOT NULL,
    target       text NOT NULL DEFAULT '',
    reason       text NOT NULL DEFAULT '',
    -- The review action that it belongs to, or empty.
    action_id    text NOT NULL DEFAULT '',
    detail       jsonb NOT NULL DEFAULT '{}',
    created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_log_target ON audit_log (target_id, id DESC);
CREATE INDEX audit_log_actor ON audit_log (actor, id DESC);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is only added to';
END
$$;
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_is_kept BEFORE TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

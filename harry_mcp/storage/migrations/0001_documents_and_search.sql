-- The ground: documents, their chunks, the keyword index, the vectors, and the record of every search.
--
-- Everything that a search reads changes in the transaction that changes the document, so that no process
-- ever sees half of it. The keyword index is plain tables: postings (term, chunk, frequency, length) with the
-- statistics BM25 needs beside them, because PostgreSQL's own full text ranking knows no document frequency.

CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;

CREATE TABLE documents (
    id            text PRIMARY KEY,
    source        text NOT NULL UNIQUE,
    title         text NOT NULL,
    url           text NOT NULL DEFAULT '',
    topic         text NOT NULL DEFAULT '',
    language      text NOT NULL DEFAULT '',
    status        text NOT NULL CHECK (status IN ('pending', 'live', 'flagged', 'archived', 'rejected')),
    version       integer NOT NULL DEFAULT 1 CHECK (version > 0),
    content       text NOT NULL,
    content_hash  text NOT NULL,
    -- How the content was cut; another recipe means that the chunks are made anew.
    recipe        text NOT NULL,
    -- The terms of the title in order, four bytes each (little endian), while the document is searchable.
    title_terms   bytea NOT NULL DEFAULT '',
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX documents_url ON documents (url) WHERE url <> '';
CREATE INDEX documents_topic ON documents (topic) WHERE topic <> '';

-- The filters of a search, in one place. Empty ones let everything through.
CREATE FUNCTION passes_filter(d documents, topic text, source text, language text, since timestamptz)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (topic = '' OR lower(d.topic) = lower(topic))
       AND (source = '' OR starts_with(d.source, source) OR starts_with(d.url, source))
       AND (language = '' OR d.language = lower(language))
       AND (since IS NULL OR d.updated_at >= since)
$$;

CREATE TABLE chunks (
    id                  integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    public_id           text NOT NULL UNIQUE,
    document_id         text NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    ordinal             integer NOT NULL CHECK (ordinal >= 0),
    heading_path        text[] NOT NULL DEFAULT '{}',
    raw_content         text NOT NULL,
    contextual_content  text NOT NULL,
    span_start          integer NOT NULL,
    span_end            integer NOT NULL CHECK (span_end >= span_start),
    -- The terms of the contextual content in order, four bytes each (little endian), while it is searchable.
    terms               bytea NOT NULL DEFAULT '',
    UNIQUE (document_id, ordinal)
);

CREATE TABLE terms (
    id        integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    term      text NOT NULL UNIQUE,
    df        integer NOT NULL DEFAULT 0 CHECK (df >= 0),
    title_df  integer NOT NULL DEFAULT 0 CHECK (title_df >= 0)
) WITH (fillfactor = 80);

CREATE TABLE postings (
    term_id   integer NOT NULL,
    chunk_id  integer NOT NULL,
    tf        smallint NOT NULL,
    length    integer NOT NULL,
    PRIMARY KEY (term_id, chunk_id) INCLUDE (tf, length)
);

-- One row. Whoever changes the keyword index locks it first, so writers queue here and the counts stay exact.
CREATE TABLE corpus (
    one_row       boolean PRIMARY KEY DEFAULT true CHECK (one_row),
    chunks        integer NOT NULL DEFAULT 0 CHECK (chunks >= 0),
    length_sum    bigint NOT NULL DEFAULT 0 CHECK (length_sum >= 0),
    title_sum     bigint NOT NULL DEFAULT 0 CHECK (title_sum >= 0),
    revision      bigint NOT NULL DEFAULT 0
);
INSERT INTO corpus DEFAULT VALUES;

CREATE TABLE embedding_spaces (
    id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider   text NOT NULL,
    model      text NOT NULL,
    dimension  integer NOT NULL CHECK (dimension BETWEEN 1 AND 2000),
    version    text NOT NULL,
    active     boolean NOT NULL DEFAULT false,
    UNIQUE (provider, model, dimension, version)
);
CREATE UNIQUE INDEX embedding_spaces_one_active ON embedding_spaces (active) WHERE active;

-- One partition a space, each with an HNSW index of its own dimension: two spaces are never compared.
CREATE TABLE chunk_vectors (
    space_id    integer NOT NULL REFERENCES embedding_spaces (id),
    chunk_id    integer NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
    searchable  boolean NOT NULL,
    embedding   vector NOT NULL,
    PRIMARY KEY (space_id, chunk_id)
) PARTITION BY LIST (space_id);
CREATE INDEX chunk_vectors_chunk ON chunk_vectors (chunk_id);

CREATE TABLE kb_gaps (
    id              text PRIMARY KEY,
    question        text NOT NULL,
    topic           text NOT NULL DEFAULT '',
    best_score      double precision NOT NULL,
    occurrences     integer NOT NULL DEFAULT 1,
    first_seen_at   timestamptz NOT NULL DEFAULT now(),
    last_seen_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE searches (
    id           text PRIMARY KEY,
    question     text NOT NULL,
    query        text NOT NULL,
    filters      jsonb NOT NULL,
    status       text NOT NULL,
    verdict      jsonb NOT NULL,
    ranking      jsonb NOT NULL,
    degraded     text[] NOT NULL DEFAULT '{}',
    timings_ms   jsonb NOT NULL,
    revision     bigint NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX searches_created ON searches (created_at);

CREATE TABLE kb_gap_logs (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    gap_id       text NOT NULL REFERENCES kb_gaps (id) ON DELETE CASCADE,
    search_id    text NOT NULL REFERENCES searches (id) ON DELETE CASCADE,
    query        text NOT NULL,
    topic        text NOT NULL DEFAULT '',
    best_score   double precision NOT NULL,
    web_results  jsonb,
    created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX kb_gap_logs_gap ON kb_gap_logs (gap_id, created_at);
CREATE INDEX kb_gap_logs_search ON kb_gap_logs (search_id);

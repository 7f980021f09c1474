-- What the migrations make, as pg_dump describes it. Written by test_migrator.py; do not edit.
-- After a wanted change: UPDATE_SNAPSHOTS=1 pytest tests/storage/test_migrator.py

CREATE SCHEMA harry;

CREATE FUNCTION harry.address_key(address text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $_$
    SELECT CASE WHEN address !~* '^https?://' THEN address ELSE
        lower(regexp_replace(regexp_replace(address, '^https?://(www\.)?([^/?#]*).*$', '\2', 'i'), ':(80|443)$', ''))
        || regexp_replace(regexp_replace(address, '^https?://[^/?#]*([^?#]*).*$', '\1', 'i'), '/+$', '')
        || coalesce(regexp_replace(regexp_replace(
               substring(split_part(address, '#', 1) FROM '\?.*$'),
               '(?<=[?&])(utm_[a-z0-9_]*|gclid|fbclid|mc_cid|mc_eid|msclkid|_hsenc|_hsmi)=[^&]*(&|$)', '', 'gi'),
               '[?&]+$', ''), '')
    END
$_$;

CREATE FUNCTION harry.next_version(document text) RETURNS integer
    LANGUAGE sql STABLE
    AS $$
    SELECT 1 + greatest(
        coalesce((SELECT d.version FROM documents d WHERE d.id = document), 0),
        coalesce((SELECT max(c.after_version) FROM review_changes c WHERE c.document_id = document), 0)
    )
$$;

CREATE FUNCTION harry.note_added_vectors() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO harry.vector_outbox (space_id, chunk_id)
    SELECT a.space_id, a.chunk_id FROM added a WHERE a.searchable;
    RETURN NULL;
END
$$;

CREATE FUNCTION harry.note_changed_vectors() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO harry.vector_outbox (space_id, chunk_id)
    SELECT a.space_id, a.chunk_id FROM removed r JOIN added a USING (space_id, chunk_id)
     WHERE r.searchable OR a.searchable;
    RETURN NULL;
END
$$;

CREATE FUNCTION harry.note_refiled_document() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO harry.vector_outbox (space_id, chunk_id)
    SELECT v.space_id, v.chunk_id FROM harry.chunk_vectors v JOIN harry.chunks c ON c.id = v.chunk_id
     WHERE c.document_id = NEW.id AND v.searchable;
    RETURN NULL;
END
$$;

CREATE FUNCTION harry.note_removed_vectors() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO harry.vector_outbox (space_id, chunk_id)
    SELECT r.space_id, r.chunk_id FROM removed r WHERE r.searchable;
    RETURN NULL;
END
$$;

CREATE TABLE harry.documents (
    id text NOT NULL,
    source text NOT NULL,
    title text NOT NULL,
    url text DEFAULT ''::text NOT NULL,
    topic text DEFAULT ''::text NOT NULL,
    language text DEFAULT ''::text NOT NULL,
    status text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    content text NOT NULL,
    content_hash text NOT NULL,
    recipe text NOT NULL,
    title_terms bytea DEFAULT '\x'::bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    rewritten_from text DEFAULT ''::text NOT NULL,
    caveats jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT documents_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'live'::text, 'flagged'::text, 'archived'::text, 'rejected'::text]))),
    CONSTRAINT documents_version_check CHECK ((version > 0))
);

CREATE FUNCTION harry.passes_filter(d harry.documents, topic text, source text, language text, since timestamp with time zone) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    SELECT (topic = '' OR lower(d.topic) = lower(topic))
       AND (source = '' OR starts_with(d.source, source) OR starts_with(d.url, source))
       AND (language = '' OR d.language = lower(language))
       AND (since IS NULL OR d.updated_at >= since)
$$;

CREATE FUNCTION harry.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is only added to';
END
$$;

CREATE FUNCTION harry.verified_held(entry text) RETURNS text
    LANGUAGE sql STABLE
    AS $$
    SELECT coalesce((
        SELECT CASE WHEN d.id IS NULL THEN 'a cited document is gone: ' || c.document_id
                    WHEN d.status NOT IN ('live', 'flagged') THEN 'a cited document is no longer served: ' || d.title
                    ELSE 'a cited document changed since it was approved: ' || d.title END
          FROM verified_citations c LEFT JOIN documents d ON d.id = c.document_id
         WHERE c.verified_id = entry
           AND (d.id IS NULL OR d.status NOT IN ('live', 'flagged') OR d.version <> c.version)
         ORDER BY c.document_id LIMIT 1), '')
$$;

CREATE TABLE harry.audit_log (
    id bigint NOT NULL,
    actor text NOT NULL,
    role text NOT NULL,
    action text NOT NULL,
    target_kind text NOT NULL,
    target_id text NOT NULL,
    target text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    action_id text DEFAULT ''::text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE harry.audit_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME harry.audit_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE harry.calibrations (
    id text NOT NULL,
    ranker text NOT NULL,
    method text NOT NULL,
    raw double precision[] NOT NULL,
    chance double precision[] NOT NULL,
    corpus text NOT NULL,
    questions integer NOT NULL,
    answerable integer NOT NULL,
    auroc double precision NOT NULL,
    calibration_error double precision NOT NULL,
    fitted_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT calibrations_check CHECK (((cardinality(raw) > 0) AND (cardinality(raw) = cardinality(chance))))
);

CREATE TABLE harry.chunk_vectors (
    space_id integer NOT NULL,
    chunk_id integer NOT NULL,
    searchable boolean NOT NULL,
    embedding public.vector NOT NULL
)
PARTITION BY LIST (space_id);

CREATE TABLE harry.chunk_vectors_1 (
    space_id integer CONSTRAINT chunk_vectors_space_id_not_null NOT NULL,
    chunk_id integer CONSTRAINT chunk_vectors_chunk_id_not_null NOT NULL,
    searchable boolean CONSTRAINT chunk_vectors_searchable_not_null NOT NULL,
    embedding public.vector CONSTRAINT chunk_vectors_embedding_not_null NOT NULL
);

CREATE TABLE harry.chunks (
    id integer NOT NULL,
    public_id text NOT NULL,
    document_id text NOT NULL,
    ordinal integer NOT NULL,
    heading_path text[] DEFAULT '{}'::text[] NOT NULL,
    raw_content text NOT NULL,
    contextual_content text NOT NULL,
    span_start integer NOT NULL,
    span_end integer NOT NULL,
    terms bytea DEFAULT '\x'::bytea NOT NULL,
    CONSTRAINT chunks_check CHECK ((span_end >= span_start)),
    CONSTRAINT chunks_ordinal_check CHECK ((ordinal >= 0))
);

ALTER TABLE harry.chunks ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME harry.chunks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE harry.corpus (
    one_row boolean DEFAULT true NOT NULL,
    chunks integer DEFAULT 0 NOT NULL,
    length_sum bigint DEFAULT 0 NOT NULL,
    title_sum bigint DEFAULT 0 NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    CONSTRAINT corpus_chunks_check CHECK ((chunks >= 0)),
    CONSTRAINT corpus_length_sum_check CHECK ((length_sum >= 0)),
    CONSTRAINT corpus_one_row_check CHECK (one_row),
    CONSTRAINT corpus_title_sum_check CHECK ((title_sum >= 0))
);

CREATE TABLE harry.correction_injections (
    correction_id text NOT NULL,
    result_id text NOT NULL,
    question text NOT NULL,
    relevance double precision NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE harry.correction_questions (
    id text NOT NULL,
    correction_id text NOT NULL,
    question text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE harry.correction_reports (
    id bigint NOT NULL,
    correction_id text NOT NULL,
    author text NOT NULL,
    result_id text DEFAULT ''::text NOT NULL,
    wrong text NOT NULL,
    truth text NOT NULL,
    lesson text NOT NULL,
    source_url text DEFAULT ''::text NOT NULL,
    outcome text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT correction_reports_outcome_check CHECK ((outcome = ANY (ARRAY['created'::text, 'repeated'::text, 'merged'::text])))
);

ALTER TABLE harry.correction_reports ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME harry.correction_reports_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE harry.corrections (
    id text NOT NULL,
    topic text DEFAULT ''::text NOT NULL,
    wrong text NOT NULL,
    truth text NOT NULL,
    lesson text NOT NULL,
    source_url text DEFAULT ''::text NOT NULL,
    status text NOT NULL,
    status_reason text DEFAULT ''::text NOT NULL,
    author text NOT NULL,
    decided_by text DEFAULT ''::text NOT NULL,
    document_id text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT corrections_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'active'::text, 'deprecated'::text])))
);

CREATE TABLE harry.crawl_urls (
    id integer NOT NULL,
    crawl_id integer NOT NULL,
    url text NOT NULL,
    run integer NOT NULL,
    depth integer NOT NULL,
    hops integer DEFAULT 0 NOT NULL,
    lastmod timestamp with time zone,
    waiting boolean NOT NULL,
    outcome text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    detail text DEFAULT ''::text NOT NULL,
    target text DEFAULT ''::text NOT NULL,
    stands_alone boolean DEFAULT false NOT NULL,
    status integer DEFAULT 0 NOT NULL,
    bytes integer DEFAULT 0 NOT NULL,
    etag text DEFAULT ''::text NOT NULL,
    last_modified text DEFAULT ''::text NOT NULL,
    fingerprint text DEFAULT ''::text NOT NULL,
    links integer[] DEFAULT '{}'::integer[] NOT NULL,
    fetched_at timestamp with time zone,
    gone_since timestamp with time zone,
    CONSTRAINT crawl_urls_depth_check CHECK ((depth >= 0)),
    CONSTRAINT crawl_urls_outcome_check CHECK ((outcome = ANY (ARRAY[''::text, 'new'::text, 'changed'::text, 'unchanged'::text, 'duplicate'::text, 'redirected'::text, 'gone'::text, 'refused'::text, 'failed'::text])))
);

ALTER TABLE harry.crawl_urls ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME harry.crawl_urls_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE harry.crawls (
    id integer NOT NULL,
    start_url text NOT NULL,
    prefix text NOT NULL,
    run integer DEFAULT 1 NOT NULL,
    finished boolean DEFAULT false NOT NULL,
    seeded boolean DEFAULT false NOT NULL,
    warnings text[] DEFAULT '{}'::text[] NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT crawls_run_check CHECK ((run > 0))
);

ALTER TABLE harry.crawls ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME harry.crawls_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE harry.digest_mails (
    day date NOT NULL,
    state text NOT NULL,
    key text DEFAULT (gen_random_uuid())::text NOT NULL,
    attempt integer DEFAULT 1 NOT NULL,
    recipients integer DEFAULT 0 NOT NULL,
    error text DEFAULT ''::text NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT digest_mails_attempt_check CHECK ((attempt > 0)),
    CONSTRAINT digest_mails_state_check CHECK ((state = ANY (ARRAY['claimed'::text, 'handed'::text, 'sent'::text, 'failed'::text, 'unknown'::text])))
);

CREATE TABLE harry.document_checks (
    document_id text NOT NULL,
    kind text NOT NULL,
    version integer NOT NULL,
    checked_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE harry.document_versions (
    action_id text NOT NULL,
    document_id text NOT NULL,
    version integer NOT NULL,
    title text NOT NULL,
    url text NOT NULL,
    topic text NOT NULL,
    language text NOT NULL,
    content text NOT NULL,
    content_hash text NOT NULL,
    recipe text NOT NULL,
    rewritten_from text NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    kept_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE harry.embedding_spaces (
    id integer NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    dimension integer NOT NULL,
    version text NOT NULL,
    active boolean DEFAULT false NOT NULL,
    activated_at timestamp with time zone,
    CONSTRAINT embedding_spaces_dimension_check CHECK (((dimension >= 1) AND (dimension <= 2000)))
);

ALTER TABLE harry.embedding_spaces ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME harry.embedding_spaces_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE harry.eval_runs (
    id text NOT NULL,
    name text NOT NULL,
    golden text NOT NULL,
    settings jsonb NOT NULL,
    figures jsonb NOT NULL,
    accepted boolean NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE harry.feedback (
    id text NOT NULL,
    result_id text NOT NULL,
    author text NOT NULL,
    rating text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    question text NOT NULL,
    answer text DEFAULT ''::text NOT NULL,
    comment text DEFAULT ''::text NOT NULL,
    source_urls text[] DEFAULT '{}'::text[] NOT NULL,
    verified_id text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT feedback_rating_check CHECK ((rating = ANY (ARRAY['up'::text, 'down'::text])))
);

CREATE TABLE harry.ingestions (
    number integer NOT NULL,
    id text NOT NULL,
    source text NOT NULL,
    crawl boolean NOT NULL,
    prefix text NOT NULL,
    topic text DEFAULT ''::text NOT NULL,
    pages integer DEFAULT 0 NOT NULL,
    state text DEFAULT 'running'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    done integer DEFAULT 0 NOT NULL,
    total integer DEFAULT '-1'::integer NOT NULL,
    new integer DEFAULT 0 NOT NULL,
    changed integer DEFAULT 0 NOT NULL,
    unchanged integer DEFAULT 0 NOT NULL,
    duplicates integer DEFAULT 0 NOT NULL,
    gone integer DEFAULT 0 NOT NULL,
    refused integer DEFAULT 0 NOT NULL,
    failed integer DEFAULT 0 NOT NULL,
    chunks integer DEFAULT 0 NOT NULL,
    spent double precision DEFAULT 0 NOT NULL,
    doing text DEFAULT ''::text NOT NULL,
    problems jsonb DEFAULT '[]'::jsonb NOT NULL,
    warnings text[] DEFAULT '{}'::text[] NOT NULL,
    error text DEFAULT ''::text NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT ingestions_state_check CHECK ((state = ANY (ARRAY['running'::text, 'finished'::text, 'failed'::text])))
);

ALTER TABLE harry.ingestions ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME harry.ingestions_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE harry.job_queue_steps (
    name text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE harry.job_runs (
    id bigint NOT NULL,
    job text NOT NULL,
    due_at timestamp with time zone,
    state text NOT NULL,
    summary text DEFAULT ''::text NOT NULL,
    figures jsonb DEFAULT '{}'::jsonb NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT job_runs_check CHECK (((state = 'running'::text) = (finished_at IS NULL))),
    CONSTRAINT job_runs_state_check CHECK ((state = ANY (ARRAY['running'::text, 'done'::text, 'partial'::text, 'failed'::text, 'stopped'::text, 'lost'::text])))
);

ALTER TABLE harry.job_runs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME harry.job_runs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE harry.kb_curation_log (
    id bigint NOT NULL,
    document_id text NOT NULL,
    event text NOT NULL,
    signal text DEFAULT ''::text NOT NULL,
    actor text NOT NULL,
    before text DEFAULT ''::text NOT NULL,
    after text DEFAULT ''::text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    evidence text DEFAULT ''::text NOT NULL
);

ALTER TABLE harry.kb_curation_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME harry.kb_curation_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE harry.kb_gap_logs (
    id bigint NOT NULL,
    gap_id text NOT NULL,
    search_id text,
    query text NOT NULL,
    topic text DEFAULT ''::text NOT NULL,
    best_score double precision NOT NULL,
    web_results jsonb,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE harry.kb_gap_logs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME harry.kb_gap_logs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE harry.kb_gaps (
    id text NOT NULL,
    question text NOT NULL,
    topic text DEFAULT ''::text NOT NULL,
    best_score double precision NOT NULL,
    occurrences integer DEFAULT 1 NOT NULL,
    first_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    last_seen_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE harry.memory_vectors (
    space_id integer NOT NULL,
    kind text NOT NULL,
    owner_id text NOT NULL,
    active boolean NOT NULL,
    embedding public.vector NOT NULL,
    CONSTRAINT memory_vectors_kind_check CHECK ((kind = ANY (ARRAY['verified'::text, 'never_serve'::text, 'correction'::text, 'asked'::text, 'failure'::text])))
);

CREATE TABLE harry.migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE harry.postings (
    term_id integer NOT NULL,
    chunk_id integer NOT NULL,
    tf smallint NOT NULL,
    length integer NOT NULL
);

CREATE TABLE harry.review_actions (
    id text NOT NULL,
    number bigint NOT NULL,
    action text NOT NULL,
    actor text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    undoes text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT review_actions_action_check CHECK ((action = ANY (ARRAY['approve'::text, 'archive'::text, 'restore'::text, 'keep'::text, 'rewrite'::text, 'reject'::text, 'undo'::text]))),
    CONSTRAINT review_actions_check CHECK (((action = 'undo'::text) = (undoes IS NOT NULL)))
);

ALTER TABLE harry.review_actions ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME harry.review_actions_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE harry.review_changes (
    action_id text NOT NULL,
    document_id text NOT NULL,
    title text NOT NULL,
    before text NOT NULL,
    after text NOT NULL,
    before_version integer NOT NULL,
    after_version integer NOT NULL,
    after_hash text NOT NULL,
    caveats jsonb DEFAULT '{}'::jsonb NOT NULL,
    closed jsonb DEFAULT '[]'::jsonb NOT NULL,
    log_id bigint NOT NULL
);

CREATE TABLE harry.searches (
    id text NOT NULL,
    question text NOT NULL,
    query text NOT NULL,
    filters jsonb NOT NULL,
    status text NOT NULL,
    verdict jsonb NOT NULL,
    ranking jsonb NOT NULL,
    degraded text[] DEFAULT '{}'::text[] NOT NULL,
    timings_ms jsonb NOT NULL,
    revision bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    course jsonb DEFAULT '{}'::jsonb NOT NULL,
    first_documents jsonb GENERATED ALWAYS AS (jsonb_path_query_array(ranking, '$[0 to 4]."document_id"'::jsonpath)) STORED NOT NULL
);

CREATE TABLE harry.shared_marks (
    kind text NOT NULL,
    key text NOT NULL,
    ends timestamp with time zone NOT NULL
);

CREATE TABLE harry.source_checks (
    id bigint NOT NULL,
    url text NOT NULL,
    host text NOT NULL,
    day date NOT NULL,
    checked_at timestamp with time zone NOT NULL,
    outcome text NOT NULL,
    method text NOT NULL,
    status integer NOT NULL,
    reason text NOT NULL,
    location text DEFAULT ''::text NOT NULL,
    retry_at timestamp with time zone,
    CONSTRAINT source_checks_outcome_check CHECK ((outcome = ANY (ARRAY['alive'::text, 'dead'::text, 'unclear'::text, 'skipped'::text])))
);

ALTER TABLE harry.source_checks ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME harry.source_checks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW harry.standing_flags AS
 SELECT id,
    document_id,
    signal,
    evidence,
    detail,
    actor,
    before,
    after,
    created_at
   FROM harry.kb_curation_log l
  WHERE ((event = 'flag'::text) AND (NOT (EXISTS ( SELECT
           FROM harry.kb_curation_log w
          WHERE ((w.document_id = l.document_id) AND (w.event = 'withdraw'::text) AND ((w.detail -> 'evidence'::text) ? l.evidence) AND (NOT (EXISTS ( SELECT
                   FROM harry.review_actions u
                  WHERE (u.undoes = (w.detail ->> 'action_id'::text))))))))));

CREATE TABLE harry.terms (
    id integer NOT NULL,
    term text NOT NULL,
    df integer DEFAULT 0 NOT NULL,
    title_df integer DEFAULT 0 NOT NULL,
    CONSTRAINT terms_df_check CHECK ((df >= 0)),
    CONSTRAINT terms_title_df_check CHECK ((title_df >= 0))
)
WITH (fillfactor='80');

ALTER TABLE harry.terms ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME harry.terms_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE harry.vector_collections (
    space_id integer NOT NULL,
    name text NOT NULL,
    made_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE harry.vector_outbox (
    id bigint NOT NULL,
    space_id integer NOT NULL,
    chunk_id integer NOT NULL,
    written_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE harry.vector_outbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME harry.vector_outbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE harry.verified_citations (
    verified_id text NOT NULL,
    document_id text NOT NULL,
    version integer NOT NULL
);

CREATE TABLE harry.verified_lookups (
    id text NOT NULL,
    verified_id text,
    search_id text DEFAULT ''::text NOT NULL,
    question text NOT NULL,
    match text NOT NULL,
    cosine double precision NOT NULL,
    reason text NOT NULL,
    wrong boolean DEFAULT false NOT NULL,
    mismatch boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT verified_lookups_match_check CHECK ((match = ANY (ARRAY['exact'::text, 'partial'::text, 'none'::text])))
);

CREATE TABLE harry.verified_refusals (
    id text NOT NULL,
    verified_id text NOT NULL,
    question text NOT NULL,
    said_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE harry.verified_responses (
    id text NOT NULL,
    question text NOT NULL,
    answer text NOT NULL,
    sources jsonb DEFAULT '[]'::jsonb NOT NULL,
    status text NOT NULL,
    origin text NOT NULL,
    result_id text DEFAULT ''::text NOT NULL,
    submitted_by text NOT NULL,
    approved_by text DEFAULT ''::text NOT NULL,
    approved_at timestamp with time zone,
    uses integer DEFAULT 0 NOT NULL,
    negatives integer DEFAULT 0 NOT NULL,
    threshold double precision DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT verified_responses_negatives_check CHECK ((negatives >= 0)),
    CONSTRAINT verified_responses_status_check CHECK ((status = ANY (ARRAY['candidate'::text, 'active'::text, 'retired'::text, 'rejected'::text]))),
    CONSTRAINT verified_responses_uses_check CHECK ((uses >= 0))
);

CREATE TABLE harry.version_chunks (
    action_id text NOT NULL,
    document_id text NOT NULL,
    chunk_id integer NOT NULL,
    public_id text NOT NULL,
    ordinal integer NOT NULL,
    heading_path text[] NOT NULL,
    raw_content text NOT NULL,
    contextual_content text NOT NULL,
    span_start integer NOT NULL,
    span_end integer NOT NULL
);

CREATE TABLE harry.version_vectors (
    action_id text NOT NULL,
    chunk_id integer NOT NULL,
    space_id integer NOT NULL,
    embedding public.vector NOT NULL
);

CREATE TABLE harry.web_cache (
    key text NOT NULL,
    finding jsonb NOT NULL,
    asked_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE harry.web_days (
    day date NOT NULL,
    calls integer NOT NULL,
    CONSTRAINT web_days_calls_check CHECK ((calls > 0))
);

CREATE TABLE harry.web_searches (
    id text NOT NULL,
    gap_id text NOT NULL,
    search_id text DEFAULT ''::text NOT NULL,
    question text NOT NULL,
    topic text DEFAULT ''::text NOT NULL,
    status text NOT NULL,
    degraded text[] DEFAULT '{}'::text[] NOT NULL,
    cached boolean NOT NULL,
    results jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT web_searches_status_check CHECK ((status = ANY (ARRAY['ok'::text, 'empty'::text, 'degraded'::text, 'not_configured'::text])))
);

ALTER TABLE ONLY harry.chunk_vectors ATTACH PARTITION harry.chunk_vectors_1 FOR VALUES IN (1);

ALTER TABLE ONLY harry.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.calibrations
    ADD CONSTRAINT calibrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.chunk_vectors
    ADD CONSTRAINT chunk_vectors_pkey PRIMARY KEY (space_id, chunk_id);

ALTER TABLE ONLY harry.chunk_vectors_1
    ADD CONSTRAINT chunk_vectors_1_pkey PRIMARY KEY (space_id, chunk_id);

ALTER TABLE ONLY harry.chunks
    ADD CONSTRAINT chunks_document_id_ordinal_key UNIQUE (document_id, ordinal);

ALTER TABLE ONLY harry.chunks
    ADD CONSTRAINT chunks_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.chunks
    ADD CONSTRAINT chunks_public_id_key UNIQUE (public_id);

ALTER TABLE ONLY harry.corpus
    ADD CONSTRAINT corpus_pkey PRIMARY KEY (one_row);

ALTER TABLE ONLY harry.correction_injections
    ADD CONSTRAINT correction_injections_pkey PRIMARY KEY (correction_id, result_id);

ALTER TABLE ONLY harry.correction_questions
    ADD CONSTRAINT correction_questions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.correction_reports
    ADD CONSTRAINT correction_reports_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.corrections
    ADD CONSTRAINT corrections_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.crawl_urls
    ADD CONSTRAINT crawl_urls_crawl_id_url_key UNIQUE (crawl_id, url);

ALTER TABLE ONLY harry.crawl_urls
    ADD CONSTRAINT crawl_urls_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.crawls
    ADD CONSTRAINT crawls_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.crawls
    ADD CONSTRAINT crawls_start_url_prefix_key UNIQUE (start_url, prefix);

ALTER TABLE ONLY harry.digest_mails
    ADD CONSTRAINT digest_mails_pkey PRIMARY KEY (day);

ALTER TABLE ONLY harry.document_checks
    ADD CONSTRAINT document_checks_pkey PRIMARY KEY (document_id, kind);

ALTER TABLE ONLY harry.document_versions
    ADD CONSTRAINT document_versions_pkey PRIMARY KEY (action_id, document_id);

ALTER TABLE ONLY harry.documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.documents
    ADD CONSTRAINT documents_source_key UNIQUE (source);

ALTER TABLE ONLY harry.embedding_spaces
    ADD CONSTRAINT embedding_spaces_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.embedding_spaces
    ADD CONSTRAINT embedding_spaces_provider_model_dimension_version_key UNIQUE (provider, model, dimension, version);

ALTER TABLE ONLY harry.eval_runs
    ADD CONSTRAINT eval_runs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.feedback
    ADD CONSTRAINT feedback_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.feedback
    ADD CONSTRAINT feedback_result_id_author_key UNIQUE (result_id, author);

ALTER TABLE ONLY harry.ingestions
    ADD CONSTRAINT ingestions_id_key UNIQUE (id);

ALTER TABLE ONLY harry.ingestions
    ADD CONSTRAINT ingestions_pkey PRIMARY KEY (number);

ALTER TABLE ONLY harry.job_queue_steps
    ADD CONSTRAINT job_queue_steps_pkey PRIMARY KEY (name);

ALTER TABLE ONLY harry.job_runs
    ADD CONSTRAINT job_runs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.kb_curation_log
    ADD CONSTRAINT kb_curation_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.kb_gap_logs
    ADD CONSTRAINT kb_gap_logs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.kb_gaps
    ADD CONSTRAINT kb_gaps_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.memory_vectors
    ADD CONSTRAINT memory_vectors_pkey PRIMARY KEY (space_id, kind, owner_id);

ALTER TABLE ONLY harry.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (number);

ALTER TABLE ONLY harry.postings
    ADD CONSTRAINT postings_pkey PRIMARY KEY (term_id, chunk_id) INCLUDE (tf, length);

ALTER TABLE ONLY harry.review_actions
    ADD CONSTRAINT review_actions_number_key UNIQUE (number);

ALTER TABLE ONLY harry.review_actions
    ADD CONSTRAINT review_actions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.review_actions
    ADD CONSTRAINT review_actions_undoes_key UNIQUE (undoes);

ALTER TABLE ONLY harry.review_changes
    ADD CONSTRAINT review_changes_pkey PRIMARY KEY (action_id, document_id);

ALTER TABLE ONLY harry.searches
    ADD CONSTRAINT searches_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.shared_marks
    ADD CONSTRAINT shared_marks_pkey PRIMARY KEY (kind, key);

ALTER TABLE ONLY harry.source_checks
    ADD CONSTRAINT source_checks_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.source_checks
    ADD CONSTRAINT source_checks_url_day_key UNIQUE (url, day);

ALTER TABLE ONLY harry.terms
    ADD CONSTRAINT terms_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.terms
    ADD CONSTRAINT terms_term_key UNIQUE (term);

ALTER TABLE ONLY harry.vector_collections
    ADD CONSTRAINT vector_collections_name_key UNIQUE (name);

ALTER TABLE ONLY harry.vector_collections
    ADD CONSTRAINT vector_collections_pkey PRIMARY KEY (space_id);

ALTER TABLE ONLY harry.vector_outbox
    ADD CONSTRAINT vector_outbox_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.verified_citations
    ADD CONSTRAINT verified_citations_pkey PRIMARY KEY (verified_id, document_id);

ALTER TABLE ONLY harry.verified_lookups
    ADD CONSTRAINT verified_lookups_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.verified_refusals
    ADD CONSTRAINT verified_refusals_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.verified_responses
    ADD CONSTRAINT verified_responses_pkey PRIMARY KEY (id);

ALTER TABLE ONLY harry.version_chunks
    ADD CONSTRAINT version_chunks_pkey PRIMARY KEY (action_id, chunk_id);

ALTER TABLE ONLY harry.version_vectors
    ADD CONSTRAINT version_vectors_pkey PRIMARY KEY (action_id, chunk_id, space_id);

ALTER TABLE ONLY harry.web_cache
    ADD CONSTRAINT web_cache_pkey PRIMARY KEY (key);

ALTER TABLE ONLY harry.web_days
    ADD CONSTRAINT web_days_pkey PRIMARY KEY (day);

ALTER TABLE ONLY harry.web_searches
    ADD CONSTRAINT web_searches_pkey PRIMARY KEY (id);

CREATE INDEX audit_log_actor ON harry.audit_log USING btree (actor, id DESC);

CREATE INDEX audit_log_target ON harry.audit_log USING btree (target_id, id DESC);

CREATE INDEX calibrations_ranker ON harry.calibrations USING btree (ranker, fitted_at DESC);

CREATE INDEX chunk_vectors_chunk ON ONLY harry.chunk_vectors USING btree (chunk_id);

CREATE INDEX chunk_vectors_1_chunk_id_idx ON harry.chunk_vectors_1 USING btree (chunk_id);

CREATE INDEX chunk_vectors_1_hnsw ON harry.chunk_vectors_1 USING hnsw (((embedding)::public.vector(384)) public.vector_cosine_ops) WHERE searchable;

CREATE INDEX correction_injections_created ON harry.correction_injections USING btree (created_at);

CREATE INDEX correction_injections_result ON harry.correction_injections USING btree (result_id);

CREATE INDEX correction_questions_correction ON harry.correction_questions USING btree (correction_id, created_at);

CREATE INDEX correction_reports_author ON harry.correction_reports USING btree (author, created_at);

CREATE INDEX correction_reports_correction ON harry.correction_reports USING btree (correction_id, author);

CREATE INDEX corrections_status ON harry.corrections USING btree (status, updated_at DESC);

CREATE INDEX crawl_urls_waiting ON harry.crawl_urls USING btree (crawl_id, depth, lastmod DESC NULLS LAST, id) WHERE waiting;

CREATE INDEX document_versions_document ON harry.document_versions USING btree (document_id);

CREATE INDEX documents_source_address ON harry.documents USING btree (harry.address_key(source));

CREATE INDEX documents_status ON harry.documents USING btree (status);

CREATE INDEX documents_topic ON harry.documents USING btree (topic) WHERE (topic <> ''::text);

CREATE INDEX documents_url ON harry.documents USING btree (url) WHERE (url <> ''::text);

CREATE INDEX documents_url_address ON harry.documents USING btree (harry.address_key(url)) WHERE (url <> ''::text);

CREATE UNIQUE INDEX embedding_spaces_one_active ON harry.embedding_spaces USING btree (active) WHERE active;

CREATE INDEX eval_runs_golden ON harry.eval_runs USING btree (golden, created_at DESC);

CREATE INDEX feedback_created ON harry.feedback USING btree (created_at);

CREATE UNIQUE INDEX ingestions_one_open ON harry.ingestions USING btree (source, crawl, prefix) WHERE (state = 'running'::text);

CREATE INDEX ingestions_started ON harry.ingestions USING btree (started_at DESC);

CREATE INDEX job_runs_job ON harry.job_runs USING btree (job, id DESC);

CREATE INDEX kb_curation_log_created ON harry.kb_curation_log USING btree (created_at DESC);

CREATE INDEX kb_curation_log_document ON harry.kb_curation_log USING btree (document_id, created_at DESC);

CREATE UNIQUE INDEX kb_curation_log_evidence ON harry.kb_curation_log USING btree (document_id, signal, evidence) WHERE (evidence <> ''::text);

CREATE INDEX kb_curation_log_other ON harry.kb_curation_log USING btree ((((detail -> 'other'::text) ->> 'document_id'::text))) WHERE (event = 'flag'::text);

CREATE INDEX kb_curation_log_settled ON harry.kb_curation_log USING btree (((detail ->> 'action_id'::text))) WHERE (event = 'withdraw'::text);

CREATE INDEX kb_curation_log_withdrawn ON harry.kb_curation_log USING btree (document_id) WHERE (event = 'withdraw'::text);

CREATE INDEX kb_gap_logs_created ON harry.kb_gap_logs USING btree (created_at);

CREATE INDEX kb_gap_logs_gap ON harry.kb_gap_logs USING btree (gap_id, created_at);

CREATE INDEX kb_gap_logs_search ON harry.kb_gap_logs USING btree (search_id);

CREATE INDEX memory_vectors_active ON harry.memory_vectors USING btree (space_id, kind) WHERE active;

CREATE INDEX review_changes_document ON harry.review_changes USING btree (document_id);

CREATE INDEX searches_created ON harry.searches USING btree (created_at);

CREATE INDEX searches_first_documents ON harry.searches USING gin (first_documents);

CREATE INDEX shared_marks_ends ON harry.shared_marks USING btree (ends);

CREATE INDEX source_checks_day ON harry.source_checks USING btree (day);

CREATE INDEX source_checks_host ON harry.source_checks USING btree (host, retry_at) WHERE (retry_at IS NOT NULL);

CREATE INDEX vector_outbox_space ON harry.vector_outbox USING btree (space_id, id);

CREATE INDEX verified_citations_document ON harry.verified_citations USING btree (document_id);

CREATE INDEX verified_lookups_search ON harry.verified_lookups USING btree (search_id) WHERE (search_id <> ''::text);

CREATE INDEX verified_lookups_verified ON harry.verified_lookups USING btree (verified_id, created_at DESC);

CREATE INDEX verified_refusals_verified ON harry.verified_refusals USING btree (verified_id);

CREATE INDEX verified_responses_status ON harry.verified_responses USING btree (status, updated_at DESC);

CREATE INDEX version_chunks_version ON harry.version_chunks USING btree (action_id, document_id);

CREATE INDEX version_vectors_space ON harry.version_vectors USING btree (space_id);

CREATE INDEX web_cache_asked ON harry.web_cache USING btree (asked_at);

CREATE INDEX web_searches_created ON harry.web_searches USING btree (created_at);

CREATE INDEX web_searches_gap ON harry.web_searches USING btree (gap_id, created_at);

ALTER INDEX harry.chunk_vectors_chunk ATTACH PARTITION harry.chunk_vectors_1_chunk_id_idx;

ALTER INDEX harry.chunk_vectors_pkey ATTACH PARTITION harry.chunk_vectors_1_pkey;

CREATE TRIGGER audit_log_append_only BEFORE DELETE OR UPDATE ON harry.audit_log FOR EACH ROW EXECUTE FUNCTION harry.refuse_change();

CREATE TRIGGER audit_log_is_kept BEFORE TRUNCATE ON harry.audit_log FOR EACH STATEMENT EXECUTE FUNCTION harry.refuse_change();

ALTER TABLE harry.chunk_vectors
    ADD CONSTRAINT chunk_vectors_chunk_id_fkey FOREIGN KEY (chunk_id) REFERENCES harry.chunks(id) ON DELETE CASCADE;

ALTER TABLE harry.chunk_vectors
    ADD CONSTRAINT chunk_vectors_space_id_fkey FOREIGN KEY (space_id) REFERENCES harry.embedding_spaces(id);

ALTER TABLE ONLY harry.chunks
    ADD CONSTRAINT chunks_document_id_fkey FOREIGN KEY (document_id) REFERENCES harry.documents(id) ON DELETE CASCADE;

ALTER TABLE ONLY harry.correction_injections
    ADD CONSTRAINT correction_injections_correction_id_fkey FOREIGN KEY (correction_id) REFERENCES harry.corrections(id) ON DELETE CASCADE;

ALTER TABLE ONLY harry.correction_questions
    ADD CONSTRAINT correction_questions_correction_id_fkey FOREIGN KEY (correction_id) REFERENCES harry.corrections(id) ON DELETE CASCADE;

ALTER TABLE ONLY harry.correction_reports
    ADD CONSTRAINT correction_reports_correction_id_fkey FOREIGN KEY (correction_id) REFERENCES harry.corrections(id) ON DELETE CASCADE;

ALTER TABLE ONLY harry.crawl_urls
    ADD CONSTRAINT crawl_urls_crawl_id_fkey FOREIGN KEY (crawl_id) REFERENCES harry.crawls(id) ON DELETE CASCADE;

ALTER TABLE ONLY harry.document_checks
    ADD CONSTRAINT document_checks_document_id_fkey FOREIGN KEY (document_id) REFERENCES harry.documents(id) ON DELETE CASCADE;

ALTER TABLE ONLY harry.document_versions
    ADD CONSTRAINT document_versions_action_id_fkey FOREIGN KEY (action_id) REFERENCES harry.review_actions(id);

ALTER TABLE ONLY harry.document_versions
    ADD CONSTRAINT document_versions_document_id_fkey FOREIGN KEY (document_id) REFERENCES harry.documents(id) ON DELETE CASCADE;

ALTER TABLE ONLY harry.kb_gap_logs
    ADD CONSTRAINT kb_gap_logs_gap_id_fkey FOREIGN KEY (gap_id) REFERENCES harry.kb_gaps(id) ON DELETE CASCADE;

ALTER TABLE ONLY harry.kb_gap_logs
    ADD CONSTRAINT kb_gap_logs_search_id_fkey FOREIGN KEY (search_id) REFERENCES harry.searches(id) ON DELETE CASCADE;

ALTER TABLE ONLY harry.memory_vectors
    ADD CONSTRAINT memory_vectors_space_id_fkey FOREIGN KEY (space_id) REFERENCES harry.embedding_spaces(id);

ALTER TABLE ONLY harry.review_actions
    ADD CONSTRAINT review_actions_undoes_fkey FOREIGN KEY (undoes) REFERENCES harry.review_actions(id);

ALTER TABLE ONLY harry.review_changes
    ADD CONSTRAINT review_changes_action_id_fkey FOREIGN KEY (action_id) REFERENCES harry.review_actions(id);

ALTER TABLE ONLY harry.verified_citations
    ADD CONSTRAINT verified_citations_verified_id_fkey FOREIGN KEY (verified_id) REFERENCES harry.verified_responses(id) ON DELETE CASCADE;

ALTER TABLE ONLY harry.verified_lookups
    ADD CONSTRAINT verified_lookups_verified_id_fkey FOREIGN KEY (verified_id) REFERENCES harry.verified_responses(id) ON DELETE CASCADE;

ALTER TABLE ONLY harry.verified_refusals
    ADD CONSTRAINT verified_refusals_verified_id_fkey FOREIGN KEY (verified_id) REFERENCES harry.verified_responses(id) ON DELETE CASCADE;

ALTER TABLE ONLY harry.version_chunks
    ADD CONSTRAINT version_chunks_action_id_document_id_fkey FOREIGN KEY (action_id, document_id) REFERENCES harry.document_versions(action_id, document_id) ON DELETE CASCADE;

ALTER TABLE ONLY harry.version_vectors
    ADD CONSTRAINT version_vectors_action_id_chunk_id_fkey FOREIGN KEY (action_id, chunk_id) REFERENCES harry.version_chunks(action_id, chunk_id) ON DELETE CASCADE;

ALTER TABLE ONLY harry.version_vectors
    ADD CONSTRAINT version_vectors_space_id_fkey FOREIGN KEY (space_id) REFERENCES harry.embedding_spaces(id) ON DELETE CASCADE;

ALTER TABLE ONLY harry.web_searches
    ADD CONSTRAINT web_searches_gap_id_fkey FOREIGN KEY (gap_id) REFERENCES harry.kb_gaps(id) ON DELETE CASCADE;

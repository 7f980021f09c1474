-- name: review_actions :one
-- What curators did.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::review_actions, %(rows)s::jsonb)),
same AS (
    SELECT (g.id)::text AS key FROM given g
      JOIN review_actions t ON t.id = g.id
     WHERE to_jsonb(t) - 'number' = to_jsonb(g) - 'number'
),
added AS (
    INSERT INTO review_actions
    OVERRIDING SYSTEM VALUE
    SELECT s.* FROM given g
    CROSS JOIN LATERAL jsonb_populate_record(
          NULL::review_actions, to_jsonb(g) || jsonb_build_object('number', g.number + %(shift)s::bigint)) AS s
    ON CONFLICT DO NOTHING RETURNING (review_actions.id)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: kb_curation_log :one
-- What was said of documents.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::kb_curation_log, %(rows)s::jsonb)),
same AS (
    SELECT g.id::text AS key FROM given g
     WHERE EXISTS (SELECT FROM kb_curation_log t
                    WHERE t.created_at = g.created_at AND to_jsonb(t) - 'id' = to_jsonb(g) - 'id')
),
added AS (
    INSERT INTO kb_curation_log
    OVERRIDING SYSTEM VALUE
    SELECT s.* FROM given g
    CROSS JOIN LATERAL jsonb_populate_record(
          NULL::kb_curation_log, to_jsonb(g) || jsonb_build_object('id', g.id + %(shift)s::bigint)) AS s
     WHERE g.id::text NOT IN (SELECT key FROM same)
    ON CONFLICT DO NOTHING RETURNING (id - %(shift)s::bigint)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: review_changes :one
-- What curators' actions made of documents; each names its row of the curation log.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::review_changes, %(rows)s::jsonb)),
same AS (
    SELECT (g.action_id || ' ' || g.document_id)::text AS key FROM given g
      JOIN review_changes t ON t.action_id = g.action_id AND t.document_id = g.document_id
     WHERE to_jsonb(t) - 'log_id' = to_jsonb(g) - 'log_id'
),
added AS (
    INSERT INTO review_changes
    OVERRIDING SYSTEM VALUE
    SELECT s.* FROM given g
    CROSS JOIN LATERAL jsonb_populate_record(
          NULL::review_changes, to_jsonb(g) || jsonb_build_object('log_id', g.log_id + %(shift_log)s::bigint)) AS s
    ON CONFLICT DO NOTHING RETURNING (review_changes.action_id || ' ' || review_changes.document_id)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.action_id || ' ' || g.document_id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: documents :one
-- Documents, not in the keyword index yet.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::documents, %(rows)s::jsonb)),
same AS (
    SELECT (g.id)::text AS key FROM given g
      JOIN documents t ON t.id = g.id
     WHERE to_jsonb(t) - 'title_terms' = to_jsonb(g) - 'title_terms'
),
added AS (
    INSERT INTO documents
    SELECT s.* FROM given g
    CROSS JOIN LATERAL jsonb_populate_record(
          NULL::documents, to_jsonb(g) || jsonb_build_object('title_terms', '\x')) AS s
    ON CONFLICT DO NOTHING RETURNING (documents.id)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: chunks :one
-- The passages of documents that came with this transaction: a row's xmin is the transaction that wrote it.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::chunks, %(rows)s::jsonb)),
added AS (
    INSERT INTO chunks
    OVERRIDING SYSTEM VALUE
    SELECT s.* FROM given g
      JOIN documents d ON d.id = g.document_id AND d.xmin = pg_current_xact_id()::xid
     CROSS JOIN LATERAL jsonb_populate_record(
           NULL::chunks, to_jsonb(g) || jsonb_build_object('id', g.id + %(shift)s::bigint, 'terms', '\x')) AS s
    ON CONFLICT DO NOTHING RETURNING 1
)
SELECT (SELECT count(*)::int FROM added) AS added, 0 AS same, '{}'::text[] AS differing

-- name: chunk_vectors :one
-- The vectors of passages that came with this transaction.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::chunk_vectors, %(rows)s::jsonb)),
added AS (
    INSERT INTO chunk_vectors (space_id, chunk_id, searchable, embedding)
    SELECT %(space)s, c.id, d.status IN ('live', 'flagged'), g.embedding FROM given g
      JOIN chunks c ON c.id = g.chunk_id + %(shift)s::bigint AND c.xmin = pg_current_xact_id()::xid
      JOIN documents d ON d.id = c.document_id
    ON CONFLICT DO NOTHING RETURNING 1
)
SELECT (SELECT count(*)::int FROM added) AS added, 0 AS same, '{}'::text[] AS differing

-- name: document_versions :one
-- What rewrites replaced of documents that came with this transaction.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::document_versions, %(rows)s::jsonb)),
added AS (
    INSERT INTO document_versions
    SELECT g.* FROM given g JOIN documents d ON d.id = g.document_id AND d.xmin = pg_current_xact_id()::xid
    ON CONFLICT DO NOTHING RETURNING 1
)
SELECT (SELECT count(*)::int FROM added) AS added, 0 AS same, '{}'::text[] AS differing

-- name: version_chunks :one
-- The passages of those versions.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::version_chunks, %(rows)s::jsonb)),
added AS (
    INSERT INTO version_chunks
    SELECT s.* FROM given g
      JOIN document_versions v ON v.action_id = g.action_id AND v.document_id = g.document_id
                             AND v.xmin = pg_current_xact_id()::xid
     CROSS JOIN LATERAL jsonb_populate_record(
           NULL::version_chunks, to_jsonb(g) || jsonb_build_object('chunk_id', g.chunk_id + %(shift)s::bigint)) AS s
    ON CONFLICT DO NOTHING RETURNING 1
)
SELECT (SELECT count(*)::int FROM added) AS added, 0 AS same, '{}'::text[] AS differing

-- name: version_vectors :one
-- The vectors of those passages.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::version_vectors, %(rows)s::jsonb)),
added AS (
    INSERT INTO version_vectors (action_id, chunk_id, space_id, embedding)
    SELECT g.action_id, v.chunk_id, %(space)s, g.embedding FROM given g
      JOIN version_chunks v ON v.action_id = g.action_id AND v.chunk_id = g.chunk_id + %(shift)s::bigint
                           AND v.xmin = pg_current_xact_id()::xid
    ON CONFLICT DO NOTHING RETURNING 1
)
SELECT (SELECT count(*)::int FROM added) AS added, 0 AS same, '{}'::text[] AS differing

-- name: document_checks :one
-- Which version of a document that came with this transaction was held against others.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::document_checks, %(rows)s::jsonb)),
added AS (
    INSERT INTO document_checks
    SELECT g.* FROM given g JOIN documents d ON d.id = g.document_id AND d.xmin = pg_current_xact_id()::xid
    ON CONFLICT DO NOTHING RETURNING 1
)
SELECT (SELECT count(*)::int FROM added) AS added, 0 AS same, '{}'::text[] AS differing

-- name: kb_gaps :one
-- The gaps of the knowledge base.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::kb_gaps, %(rows)s::jsonb)),
same AS (
    SELECT (g.id)::text AS key FROM given g
      JOIN kb_gaps t ON t.id = g.id
     WHERE to_jsonb(t) = to_jsonb(g)
),
added AS (
    INSERT INTO kb_gaps
    SELECT * FROM given
    ON CONFLICT DO NOTHING RETURNING (kb_gaps.id)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: searches :one
-- The searches that were made.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::searches, %(rows)s::jsonb)),
same AS (
    SELECT (g.id)::text AS key FROM given g
      JOIN searches t ON t.id = g.id
     WHERE to_jsonb(t) - 'first_documents' = to_jsonb(g) - 'first_documents'
),
added AS (
    INSERT INTO searches (id, question, query, filters, status, verdict, ranking, degraded,
                          timings_ms, revision, created_at, course)
    SELECT id, question, query, filters, status, verdict, ranking, degraded,
           timings_ms, revision, created_at, course FROM given
    ON CONFLICT DO NOTHING RETURNING (searches.id)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: kb_gap_logs :one
-- Each time that a gap was met; its search may have stayed behind.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::kb_gap_logs, %(rows)s::jsonb)),
same AS (
    SELECT g.id::text AS key FROM given g
     WHERE EXISTS (SELECT FROM kb_gap_logs t
                    WHERE t.created_at = g.created_at
                      AND to_jsonb(t) - 'id' - 'search_id' = to_jsonb(g) - 'id' - 'search_id')
),
added AS (
    INSERT INTO kb_gap_logs
    OVERRIDING SYSTEM VALUE
    SELECT s.* FROM given g
    CROSS JOIN LATERAL jsonb_populate_record(
          NULL::kb_gap_logs, to_jsonb(g) || jsonb_build_object('id', g.id + %(shift)s::bigint)) AS s
     WHERE g.id::text NOT IN (SELECT key FROM same)
    ON CONFLICT DO NOTHING RETURNING (id - %(shift)s::bigint)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: web_searches :one
-- What the web was asked.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::web_searches, %(rows)s::jsonb)),
same AS (
    SELECT (g.id)::text AS key FROM given g
      JOIN web_searches t ON t.id = g.id
     WHERE to_jsonb(t) = to_jsonb(g)
),
added AS (
    INSERT INTO web_searches
    SELECT * FROM given
    ON CONFLICT DO NOTHING RETURNING (web_searches.id)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: verified_responses :one
-- The official answers.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::verified_responses, %(rows)s::jsonb)),
same AS (
    SELECT (g.id)::text AS key FROM given g
      JOIN verified_responses t ON t.id = g.id
     WHERE to_jsonb(t) = to_jsonb(g)
),
added AS (
    INSERT INTO verified_responses
    SELECT * FROM given
    ON CONFLICT DO NOTHING RETURNING (verified_responses.id)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: verified_citations :one
-- The documents that answers which came with this transaction rest on.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::verified_citations, %(rows)s::jsonb)),
added AS (
    INSERT INTO verified_citations
    SELECT g.* FROM given g JOIN verified_responses r ON r.id = g.verified_id AND r.xmin = pg_current_xact_id()::xid
    ON CONFLICT DO NOTHING RETURNING 1
)
SELECT (SELECT count(*)::int FROM added) AS added, 0 AS same, '{}'::text[] AS differing

-- name: verified_refusals :one
-- The questions that they must never answer.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::verified_refusals, %(rows)s::jsonb)),
same AS (
    SELECT (g.id)::text AS key FROM given g
      JOIN verified_refusals t ON t.id = g.id
     WHERE to_jsonb(t) = to_jsonb(g)
),
added AS (
    INSERT INTO verified_refusals
    SELECT * FROM given
    ON CONFLICT DO NOTHING RETURNING (verified_refusals.id)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: verified_lookups :one
-- Each time that one was served.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::verified_lookups, %(rows)s::jsonb)),
same AS (
    SELECT (g.id)::text AS key FROM given g
      JOIN verified_lookups t ON t.id = g.id
     WHERE to_jsonb(t) = to_jsonb(g)
),
added AS (
    INSERT INTO verified_lookups
    SELECT * FROM given
    ON CONFLICT DO NOTHING RETURNING (verified_lookups.id)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: corrections :one
-- The corrections that people made.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::corrections, %(rows)s::jsonb)),
same AS (
    SELECT (g.id)::text AS key FROM given g
      JOIN corrections t ON t.id = g.id
     WHERE to_jsonb(t) = to_jsonb(g)
),
added AS (
    INSERT INTO corrections
    SELECT * FROM given
    ON CONFLICT DO NOTHING RETURNING (corrections.id)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: correction_questions :one
-- The questions that each was made on.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::correction_questions, %(rows)s::jsonb)),
same AS (
    SELECT (g.id)::text AS key FROM given g
      JOIN correction_questions t ON t.id = g.id
     WHERE to_jsonb(t) = to_jsonb(g)
),
added AS (
    INSERT INTO correction_questions
    SELECT * FROM given
    ON CONFLICT DO NOTHING RETURNING (correction_questions.id)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: correction_reports :one
-- Every submission of one.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::correction_reports, %(rows)s::jsonb)),
same AS (
    SELECT g.id::text AS key FROM given g
     WHERE EXISTS (SELECT FROM correction_reports t
                    WHERE t.created_at = g.created_at AND to_jsonb(t) - 'id' = to_jsonb(g) - 'id')
),
added AS (
    INSERT INTO correction_reports
    OVERRIDING SYSTEM VALUE
    SELECT s.* FROM given g
    CROSS JOIN LATERAL jsonb_populate_record(
          NULL::correction_reports, to_jsonb(g) || jsonb_build_object('id', g.id + %(shift)s::bigint)) AS s
     WHERE g.id::text NOT IN (SELECT key FROM same)
    ON CONFLICT DO NOTHING RETURNING (id - %(shift)s::bigint)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: correction_injections :one
-- The answers that each went into.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::correction_injections, %(rows)s::jsonb)),
same AS (
    SELECT (g.correction_id || ' ' || g.result_id)::text AS key FROM given g
      JOIN correction_injections t ON t.correction_id = g.correction_id AND t.result_id = g.result_id
     WHERE to_jsonb(t) = to_jsonb(g)
),
added AS (
    INSERT INTO correction_injections
    SELECT * FROM given
    ON CONFLICT DO NOTHING
    RETURNING (correction_injections.correction_id || ' ' || correction_injections.result_id)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.correction_id || ' ' || g.result_id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: feedback :one
-- What people said of answers.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::feedback, %(rows)s::jsonb)),
same AS (
    SELECT (g.id)::text AS key FROM given g
      JOIN feedback t ON t.id = g.id
     WHERE to_jsonb(t) = to_jsonb(g)
),
added AS (
    INSERT INTO feedback
    SELECT * FROM given
    ON CONFLICT DO NOTHING RETURNING (feedback.id)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: memory_vectors :one
-- The vectors of what came with this transaction.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::memory_vectors, %(rows)s::jsonb)),
added AS (
    INSERT INTO memory_vectors (space_id, kind, owner_id, active, embedding)
    SELECT %(space)s, g.kind, g.owner_id, g.active, g.embedding FROM given g
     WHERE CASE g.kind
           WHEN 'verified' THEN EXISTS (SELECT FROM verified_responses o
                                               WHERE o.id = g.owner_id AND o.xmin = pg_current_xact_id()::xid)
           WHEN 'never_serve' THEN EXISTS (SELECT FROM verified_refusals o
                                                  WHERE o.id = g.owner_id AND o.xmin = pg_current_xact_id()::xid)
           WHEN 'correction' THEN EXISTS (SELECT FROM corrections o
                                                 WHERE o.id = g.owner_id AND o.xmin = pg_current_xact_id()::xid)
           WHEN 'asked' THEN EXISTS (SELECT FROM correction_questions o JOIN corrections c ON c.id = o.correction_id
                                            WHERE o.id = g.owner_id AND o.xmin = pg_current_xact_id()::xid
                                              AND g.active = (c.status = 'active'))
           ELSE EXISTS (SELECT FROM feedback o WHERE o.id = g.owner_id AND o.xmin = pg_current_xact_id()::xid) END
    ON CONFLICT DO NOTHING RETURNING 1
)
SELECT (SELECT count(*)::int FROM added) AS added, 0 AS same, '{}'::text[] AS differing

-- name: audit_log :one
-- Who did what.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::audit_log, %(rows)s::jsonb)),
same AS (
    SELECT g.id::text AS key FROM given g
     WHERE EXISTS (SELECT FROM audit_log t
                    WHERE t.created_at = g.created_at AND to_jsonb(t) - 'id' = to_jsonb(g) - 'id')
),
added AS (
    INSERT INTO audit_log
    OVERRIDING SYSTEM VALUE
    SELECT s.* FROM given g
    CROSS JOIN LATERAL jsonb_populate_record(
          NULL::audit_log, to_jsonb(g) || jsonb_build_object('id', g.id + %(shift)s::bigint)) AS s
     WHERE g.id::text NOT IN (SELECT key FROM same)
    ON CONFLICT DO NOTHING RETURNING (id - %(shift)s::bigint)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: source_checks :one
-- What each address answered on which day.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::source_checks, %(rows)s::jsonb)),
same AS (
    SELECT (g.url || ' ' || g.day)::text AS key FROM given g
      JOIN source_checks t ON t.url = g.url AND t.day = g.day
     WHERE to_jsonb(t) - 'id' = to_jsonb(g) - 'id'
),
added AS (
    INSERT INTO source_checks
    OVERRIDING SYSTEM VALUE
    SELECT s.* FROM given g
    CROSS JOIN LATERAL jsonb_populate_record(
          NULL::source_checks, to_jsonb(g) || jsonb_build_object('id', g.id + %(shift)s::bigint)) AS s
    ON CONFLICT DO NOTHING RETURNING (source_checks.url || ' ' || source_checks.day)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.url || ' ' || g.day)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: crawls :one
-- The crawls of sites.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::crawls, %(rows)s::jsonb)),
same AS (
    SELECT (g.start_url || ' ' || g.prefix)::text AS key FROM given g
      JOIN crawls t ON t.start_url = g.start_url AND t.prefix = g.prefix
     WHERE to_jsonb(t) - 'id' = to_jsonb(g) - 'id'
),
added AS (
    INSERT INTO crawls
    OVERRIDING SYSTEM VALUE
    SELECT s.* FROM given g
    CROSS JOIN LATERAL jsonb_populate_record(
          NULL::crawls, to_jsonb(g) || jsonb_build_object('id', g.id + %(shift)s::bigint)) AS s
    ON CONFLICT DO NOTHING RETURNING (crawls.start_url || ' ' || crawls.prefix)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.start_url || ' ' || g.prefix)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: crawl_urls :one
-- The addresses of crawls that came with this transaction.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::crawl_urls, %(rows)s::jsonb)),
added AS (
    INSERT INTO crawl_urls
    OVERRIDING SYSTEM VALUE
    SELECT s.* FROM given g
      JOIN crawls c ON c.id = g.crawl_id + %(shift_crawl)s::bigint AND c.xmin = pg_current_xact_id()::xid
     CROSS JOIN LATERAL jsonb_populate_record(NULL::crawl_urls, to_jsonb(g) || jsonb_build_object(
           'id', g.id + %(shift)s::bigint, 'crawl_id', g.crawl_id + %(shift_crawl)s::bigint,
           'links', ARRAY(SELECT link + %(shift)s::bigint FROM unnest(g.links) WITH ORDINALITY AS l (link, place)
                           ORDER BY place))) AS s
    ON CONFLICT DO NOTHING RETURNING 1
)
SELECT (SELECT count(*)::int FROM added) AS added, 0 AS same, '{}'::text[] AS differing

-- name: calibrations :one
-- The curves of the rankers.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::calibrations, %(rows)s::jsonb)),
same AS (
    SELECT (g.id)::text AS key FROM given g
      JOIN calibrations t ON t.id = g.id
     WHERE to_jsonb(t) = to_jsonb(g)
),
added AS (
    INSERT INTO calibrations
    SELECT * FROM given
    ON CONFLICT DO NOTHING RETURNING (calibrations.id)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: eval_runs :one
-- The evaluations that were kept.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::eval_runs, %(rows)s::jsonb)),
same AS (
    SELECT (g.id)::text AS key FROM given g
      JOIN eval_runs t ON t.id = g.id
     WHERE to_jsonb(t) = to_jsonb(g)
),
added AS (
    INSERT INTO eval_runs
    SELECT * FROM given
    ON CONFLICT DO NOTHING RETURNING (eval_runs.id)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.id)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: digest_mails :one
-- The days whose digest was mailed.
WITH given AS (SELECT * FROM jsonb_populate_recordset(NULL::digest_mails, %(rows)s::jsonb)),
same AS (
    SELECT (g.day)::text AS key FROM given g
      JOIN digest_mails t ON t.day = g.day
     WHERE to_jsonb(t) = to_jsonb(g)
),
added AS (
    INSERT INTO digest_mails
    SELECT * FROM given
    ON CONFLICT DO NOTHING RETURNING (digest_mails.day)::text AS key
)
SELECT (SELECT count(*)::int FROM added) AS added,
       (SELECT count(*)::int FROM same) AS same,
       ARRAY(SELECT (g.day)::text FROM given g
             EXCEPT SELECT key FROM added EXCEPT SELECT key FROM same) AS differing

-- name: snapshot :run
-- See the database as it is now until the transaction ends, whatever others write meanwhile.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY

-- name: in_utc :run
-- Write moments in UTC, whatever the server's zone; holds until the transaction ends.
SELECT set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO', true)

-- name: numbers :many
-- The highest number of each table that gives its rows numbers.
SELECT 'audit_log' AS "table", coalesce(max(id), 0)::bigint AS number FROM audit_log
UNION ALL SELECT 'chunks', greatest((SELECT max(id) FROM chunks), (SELECT max(chunk_id) FROM version_chunks), 0)
UNION ALL SELECT 'correction_reports', coalesce(max(id), 0) FROM correction_reports
UNION ALL SELECT 'crawl_urls', coalesce(max(id), 0) FROM crawl_urls
UNION ALL SELECT 'crawls', coalesce(max(id), 0) FROM crawls
UNION ALL SELECT 'kb_curation_log', coalesce(max(id), 0) FROM kb_curation_log
UNION ALL SELECT 'kb_gap_logs', coalesce(max(id), 0) FROM kb_gap_logs
UNION ALL SELECT 'review_actions', coalesce(max(number), 0) FROM review_actions
UNION ALL SELECT 'source_checks', coalesce(max(id), 0) FROM source_checks
ORDER BY 1

-- name: hurry :run
-- Wait for who holds a table for half a minute only; holds until the transaction ends.
SELECT set_config('lock_timeout', '30s', true)

-- name: hold_numbers :run
-- Keep others from giving numbers for a moment, so that a row of numbers can be set aside; who is about to must finish.
LOCK TABLE audit_log, chunks, correction_reports, crawl_urls, crawls, kb_curation_log, kb_gap_logs, review_actions,
           source_checks, version_chunks IN SHARE ROW EXCLUSIVE MODE

-- name: set_aside :many
-- Set aside the numbers that a file needs, and say by how much its own are moved for it: not at all in an empty table.
SELECT n."table", shifted.by::bigint AS shift, setval(n.seq, greatest(shifted.by + f.number, n.last, 1)) AS next
  FROM (
    SELECT u."table", u.seq, u.used, coalesce(pg_sequence_last_value(u.seq), 0) AS last FROM (
        SELECT 'audit_log' AS "table", 'audit_log_id_seq'::regclass AS seq, EXISTS (SELECT FROM audit_log) AS used
        UNION ALL SELECT 'chunks', 'chunks_id_seq', EXISTS (SELECT FROM chunks) OR EXISTS (SELECT FROM version_chunks)
        UNION ALL SELECT 'correction_reports', 'correction_reports_id_seq', EXISTS (SELECT FROM correction_reports)
        UNION ALL SELECT 'crawl_urls', 'crawl_urls_id_seq', EXISTS (SELECT FROM crawl_urls)
        UNION ALL SELECT 'crawls', 'crawls_id_seq', EXISTS (SELECT FROM crawls)
        UNION ALL SELECT 'kb_curation_log', 'kb_curation_log_id_seq', EXISTS (SELECT FROM kb_curation_log)
        UNION ALL SELECT 'kb_gap_logs', 'kb_gap_logs_id_seq', EXISTS (SELECT FROM kb_gap_logs)
        UNION ALL SELECT 'review_actions', 'review_actions_number_seq', EXISTS (SELECT FROM review_actions)
        UNION ALL SELECT 'source_checks', 'source_checks_id_seq', EXISTS (SELECT FROM source_checks)
    ) AS u
  ) AS n
  JOIN (SELECT key AS "table", value::bigint AS number FROM jsonb_each_text(%(numbers)s::jsonb)) AS f USING ("table")
 CROSS JOIN LATERAL (SELECT CASE WHEN n.used THEN n.last ELSE 0 END AS by) AS shifted
 WHERE f.number > 0

-- name: came :many
-- The searchable documents that came with this transaction, to be entered into the keyword index.
SELECT d.id, (SELECT count(*)::int FROM chunks c WHERE c.document_id = d.id) AS chunks FROM documents d
 WHERE d.xmin = pg_current_xact_id()::xid AND d.status IN ('live', 'flagged') ORDER BY d.id

-- name: catch_up :run
-- Let the index's revision not fall behind that of the base that a file comes from, which its searches speak of.
UPDATE corpus SET revision = greatest(revision, %(revision)s) WHERE one_row

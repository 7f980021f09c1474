-- name: enter :run
-- Enter an ingestion unless one of the same source is open.
INSERT INTO ingestions (id, source, crawl, prefix, topic, pages)
VALUES (%(id)s, %(source)s, %(crawl)s, %(prefix)s, %(topic)s, %(pages)s)
ON CONFLICT (source, crawl, prefix) WHERE state = 'running' DO NOTHING

-- name: open_one :one
-- The open ingestion of a source.
SELECT number, id FROM ingestions
 WHERE source = %(source)s AND crawl = %(crawl)s AND prefix = %(prefix)s AND state = 'running'

-- name: try_lock :one
-- Take an ingestion for this session; false when another one has it. Freed when the session ends, killed or not.
SELECT pg_try_advisory_lock(%(space)s::int, %(number)s::int) AS held

-- name: unlock :one
-- Give an ingestion free.
SELECT pg_advisory_unlock(%(space)s::int, %(number)s::int) AS held

-- name: take :one
-- Begin or take up an ingestion whose lock is held, with what the newest call asks for; none when it ended meanwhile.
UPDATE ingestions
   SET attempts = attempts + 1, topic = %(topic)s, pages = %(pages)s, done = 0, total = -1, doing = '',
       error = '', updated_at = now()
 WHERE number = %(number)s AND state = 'running'
RETURNING attempts, started_at

-- name: progress :run
-- Write down how far an ingestion is.
UPDATE ingestions
   SET done = %(done)s, total = %(total)s, new = %(new)s, changed = %(changed)s, unchanged = %(unchanged)s,
       duplicates = %(duplicates)s, gone = %(gone)s, refused = %(refused)s, failed = %(failed)s, chunks = %(chunks)s,
       spent = %(spent)s, doing = %(doing)s, problems = %(problems)s, warnings = %(warnings)s, updated_at = now()
 WHERE number = %(number)s

-- name: finish :run
-- Close an ingestion.
UPDATE ingestions
   SET state = %(state)s, error = %(error)s, doing = '', updated_at = now(), finished_at = now()
 WHERE number = %(number)s

-- name: made_since :one
-- How many of some documents were made, and how many changed, since a moment.
SELECT (count(*) FILTER (WHERE created_at >= %(since)s))::int AS new,
       (count(*) FILTER (WHERE created_at < %(since)s AND updated_at >= %(since)s))::int AS changed
  FROM documents WHERE id = ANY (%(ids)s::text[])

-- name: recent :many
-- Ingestions, all or the one of an id, the newest first. A running one whose lock nobody holds was interrupted.
SELECT i.id, i.source, i.crawl, i.prefix, i.topic, i.pages, i.attempts, i.done, i.total, i.new, i.changed, i.unchanged,
       i.duplicates, i.gone, i.refused, i.failed, i.chunks, i.spent, i.doing, i.problems, i.warnings, i.error,
       i.started_at, i.updated_at, i.finished_at,
       CASE WHEN i.state = 'running' AND NOT EXISTS (
                SELECT FROM pg_locks l
                 WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
                   AND l.classid = %(space)s::bigint::oid AND l.objid = i.number::bigint::oid
                   AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
            ) THEN 'interrupted' ELSE i.state END AS state
  FROM ingestions i
 WHERE %(id)s::text = '' OR i.id = %(id)s
 ORDER BY i.started_at DESC, i.number DESC LIMIT %(limit)s

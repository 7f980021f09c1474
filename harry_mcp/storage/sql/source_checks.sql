-- name: due :many
-- The addresses of documents that readers see which were not asked today, the longest unasked first; none of a host that
-- asked to be left alone. One that was skipped for being private was not asked, which counts once it may be.
WITH addresses AS (
    SELECT CASE WHEN d.url ~* '^https?://' THEN d.url ELSE d.source END AS url,
           bool_or(d.caveats ? 'dead_source') AS told
      FROM documents d
     WHERE d.status IN ('live', 'flagged') AND (d.url ~* '^https?://' OR d.source ~* '^https?://')
     GROUP BY 1
)
SELECT a.url, a.told, last.checked_at, (count(*) OVER ())::int AS total
  FROM addresses a
  LEFT JOIN LATERAL (
    SELECT s.day, s.checked_at, s.outcome, s.reason FROM source_checks s WHERE s.url = a.url ORDER BY s.day DESC LIMIT 1
  ) AS last ON true
 WHERE (last.day IS NULL
        OR %(allow_private)s AND last.outcome = 'skipped' AND last.reason = %(reason)s
        OR last.day < %(day)s::date AND last.checked_at <= %(now)s::timestamptz - interval '12 hours')
   AND lower(regexp_replace(a.url, '^https?://([^/?#]*).*$', '\1', 'i')) <> ALL (
        SELECT s.host FROM source_checks s WHERE s.retry_at > %(now)s::timestamptz)
 ORDER BY last.checked_at NULLS FIRST, a.url LIMIT %(limit)s

-- name: skipped :one
-- How many addresses of documents that readers see were skipped when they were due last, by why.
WITH addresses AS (
    SELECT DISTINCT CASE WHEN d.url ~* '^https?://' THEN d.url ELSE d.source END AS url
      FROM documents d
     WHERE d.status IN ('live', 'flagged') AND (d.url ~* '^https?://' OR d.source ~* '^https?://')
)
SELECT (count(*) FILTER (WHERE last.reason = %(reason)s AND NOT %(allow_private)s))::int AS private,
       (count(*) FILTER (WHERE last.reason <> %(reason)s))::int AS unusable
  FROM addresses a
  CROSS JOIN LATERAL (
    SELECT s.outcome, s.reason FROM source_checks s WHERE s.url = a.url ORDER BY s.day DESC LIMIT 1
  ) AS last
 WHERE last.outcome = 'skipped'

-- name: record :run
-- Keep what an address answered on a day. The first answer of the day stands; to have skipped it was none.
INSERT INTO source_checks (url, host, day, checked_at, outcome, method, status, reason, location, retry_at)
VALUES (%(url)s, %(host)s, %(day)s, %(checked_at)s, %(outcome)s, %(method)s, %(status)s, %(reason)s, %(location)s,
        %(retry_at)s)
ON CONFLICT (url, day) DO UPDATE
   SET checked_at = excluded.checked_at, outcome = excluded.outcome, method = excluded.method,
       status = excluded.status, reason = excluded.reason, location = excluded.location, retry_at = excluded.retry_at
 WHERE source_checks.outcome = 'skipped'

-- name: history :many
-- The answers of an address since it was last alive, the newest first.
SELECT url, day, checked_at, outcome, method, status, reason, location FROM source_checks
 WHERE url = %(url)s
   AND day >= coalesce((SELECT max(day) FROM source_checks WHERE url = %(url)s AND outcome = 'alive'), '-infinity')
 ORDER BY day DESC

-- name: documents_at :many
-- The documents that readers see which have an address for their source.
SELECT id, title FROM documents
 WHERE status IN ('live', 'flagged') AND (url = %(url)s OR url !~* '^https?://' AND source = %(url)s)
 ORDER BY id

-- name: prune :run
-- Forget answers of long ago, but those since an address was last alive: they are evidence.
DELETE FROM source_checks s
 WHERE s.day < %(before)s::date
   AND EXISTS (SELECT FROM source_checks n WHERE n.url = s.url AND n.day > s.day AND n.outcome = 'alive')

-- name: cached :one
-- What the web said to a question, unless it is too old.
SELECT finding, asked_at FROM web_cache
 WHERE key = %(key)s AND asked_at > now() - make_interval(secs => %(seconds)s::int)

-- name: keep :run
-- Keep what the web said, and drop what has become too old.
WITH gone AS (
    DELETE FROM web_cache WHERE asked_at < now() - make_interval(secs => %(seconds)s::int) AND key <> %(key)s
)
INSERT INTO web_cache (key, finding) VALUES (%(key)s, %(finding)s)
ON CONFLICT (key) DO UPDATE SET finding = excluded.finding, asked_at = excluded.asked_at

-- name: take_call :run
-- Count a call of today (UTC); no row when the limit is reached.
INSERT INTO web_days (day, calls) VALUES ((now() AT TIME ZONE 'utc')::date, 1)
ON CONFLICT (day) DO UPDATE SET calls = web_days.calls + 1 WHERE web_days.calls < %(limit)s

-- name: record :run
-- Write down a web search with what it passed on.
INSERT INTO web_searches (id, gap_id, search_id, question, topic, status, degraded, cached, results)
VALUES (%(id)s, %(gap_id)s, %(search_id)s, %(question)s, %(topic)s, %(status)s, %(degraded)s, %(cached)s, %(results)s)

-- name: by_id :one
-- A web search.
SELECT id, gap_id, search_id, question, topic, status, degraded, cached, results, created_at
  FROM web_searches WHERE id = %(id)s

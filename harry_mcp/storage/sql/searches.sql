-- name: record :run
-- Record a search so that it can be explained later. One that a power cut loses is no loss, so it does not wait
-- for the disk.
INSERT INTO searches (id, question, query, filters, status, verdict, ranking, degraded, timings_ms, revision, course)
SELECT %(id)s, %(question)s, %(query)s, %(filters)s, %(status)s, %(verdict)s, %(ranking)s, %(degraded)s,
       %(timings_ms)s, %(revision)s, %(course)s
  FROM set_config('synchronous_commit', 'off', true)

-- name: record_gap :run
-- The same for a search that missed: opens its gap or counts it once more, and logs the asking.
WITH search AS (
    INSERT INTO searches (id, question, query, filters, status, verdict, ranking, degraded, timings_ms, revision, course)
    SELECT %(id)s, %(question)s, %(query)s, %(filters)s, %(status)s, %(verdict)s, %(ranking)s, %(degraded)s,
           %(timings_ms)s, %(revision)s, %(course)s
      FROM set_config('synchronous_commit', 'off', true)
    RETURNING id
), gap AS (
    INSERT INTO kb_gaps (id, question, topic, best_score)
    VALUES (%(gap_id)s, %(question)s, %(topic)s, %(score)s)
    ON CONFLICT (id) DO UPDATE
       SET occurrences = kb_gaps.occurrences + 1,
           last_seen_at = now(),
           best_score = greatest(kb_gaps.best_score, excluded.best_score)
    RETURNING id
)
INSERT INTO kb_gap_logs (gap_id, search_id, query, topic, best_score)
SELECT gap.id, search.id, %(query)s, %(topic)s, %(score)s FROM gap, search

-- name: by_id :one
-- A past search.
SELECT id, question, query, filters, status, verdict, ranking, degraded, timings_ms, revision, course, created_at
  FROM searches WHERE id = %(id)s

-- name: recent_count :one
-- How many searches were asked, and how many of them missed, in a number of days.
SELECT count(*)::int AS searches, (count(*) FILTER (WHERE verdict ->> 'band' = 'weak'))::int AS weak
  FROM searches WHERE created_at > now() - make_interval(days => %(days)s::int)

-- name: record :run
-- Record searches, so that they can be explained later, with the gaps that they opened or count once more.
-- A search that is there already is left alone, and so is its gap. One that a power cut loses is no loss, so nothing
-- waits for the disk. Gaps are locked in one order, for other processes write theirs at the same time.
WITH told AS MATERIALIZED (
    SELECT s.*
      FROM set_config('synchronous_commit', 'off', true),
           jsonb_to_recordset(%(searches)s) AS s (
               id text, question text, query text, filters jsonb, status text, verdict jsonb, ranking jsonb,
               degraded text[], timings_ms jsonb, revision bigint, course jsonb, gap_id text, topic text, score float8)
), kept AS (
    INSERT INTO searches (id, question, query, filters, status, verdict, ranking, degraded, timings_ms, revision, course)
    SELECT id, question, query, filters, status, verdict, ranking, degraded, timings_ms, revision, course FROM told
    ON CONFLICT (id) DO NOTHING
    RETURNING id
), missed AS (
    SELECT told.* FROM told JOIN kept ON kept.id = told.id WHERE told.gap_id <> ''
), gap AS (
    INSERT INTO kb_gaps (id, question, topic, best_score, occurrences)
    SELECT gap_id, min(question), max(topic), max(score), count(*) FROM missed GROUP BY gap_id ORDER BY gap_id
    ON CONFLICT (id) DO UPDATE
       SET occurrences = kb_gaps.occurrences + excluded.occurrences,
           last_seen_at = now(),
           best_score = greatest(kb_gaps.best_score, excluded.best_score)
    RETURNING id
)
INSERT INTO kb_gap_logs (gap_id, search_id, query, topic, best_score)
SELECT gap.id, missed.id, missed.query, missed.topic, missed.score FROM missed JOIN gap ON gap.id = missed.gap_id

-- name: by_id :one
-- A past search.
SELECT id, question, query, filters, status, verdict, ranking, degraded, timings_ms, revision, course, created_at
  FROM searches WHERE id = %(id)s

-- name: recent_count :one
-- How many searches were asked, and how many of them missed, in a number of days.
SELECT count(*)::int AS searches, (count(*) FILTER (WHERE verdict ->> 'band' = 'weak'))::int AS weak
  FROM searches WHERE created_at > now() - make_interval(days => %(days)s::int)

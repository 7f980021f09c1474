-- name: most_asked :many
-- The gaps asked most often.
SELECT id, question, topic, best_score, occurrences, first_seen_at, last_seen_at
  FROM kb_gaps ORDER BY occurrences DESC, last_seen_at DESC LIMIT %(limit)s

-- name: by_id :one
-- A gap under its id.
SELECT id, question, topic, best_score, occurrences, first_seen_at, last_seen_at
  FROM kb_gaps WHERE id = %(id)s

-- name: of_search :one
-- The gap that a search opened or counted up.
SELECT g.id, g.question, g.topic, g.best_score, g.occurrences, g.first_seen_at, g.last_seen_at
  FROM kb_gap_logs l JOIN kb_gaps g ON g.id = l.gap_id WHERE l.search_id = %(search_id)s LIMIT 1

-- name: logs :many
-- The askings of a gap, the newest first.
SELECT id, gap_id, search_id, query, topic, best_score, web_results, created_at
  FROM kb_gap_logs WHERE gap_id = %(id)s ORDER BY created_at DESC, id DESC LIMIT %(limit)s

-- name: hold :run
-- Lock a gap, opened when there is none. It is not counted by this: a new one stands at no asking until one is logged.
INSERT INTO kb_gaps (id, question, topic, best_score, occurrences)
VALUES (%(gap_id)s, %(question)s, %(topic)s, %(best_score)s, 0)
ON CONFLICT (id) DO UPDATE
   SET topic = CASE WHEN kb_gaps.topic = '' THEN excluded.topic ELSE kb_gaps.topic END,
       best_score = greatest(kb_gaps.best_score, excluded.best_score)

-- name: log_of_search :one
-- The line that a search which missed left in the log.
SELECT id, gap_id FROM kb_gap_logs WHERE search_id = %(search_id)s ORDER BY id LIMIT 1

-- name: log_without_web :one
-- The newest line of a gap for which the web was not asked yet, from the last minutes.
SELECT id, gap_id FROM kb_gap_logs
 WHERE gap_id = %(gap_id)s AND web_results IS NULL
   AND created_at > now() - make_interval(mins => %(minutes)s::int)
 ORDER BY created_at DESC, id DESC LIMIT 1

-- name: complete_log :run
-- Write what the web returned into a line of the log.
UPDATE kb_gap_logs
   SET web_results = %(web_results)s, topic = CASE WHEN topic = '' THEN %(topic)s ELSE topic END
 WHERE id = %(id)s

-- name: log_asking :run
-- Count a gap once more and log the asking with what the web returned.
WITH counted AS (
    UPDATE kb_gaps SET occurrences = occurrences + 1, last_seen_at = now() WHERE id = %(gap_id)s RETURNING id
)
INSERT INTO kb_gap_logs (gap_id, search_id, query, topic, best_score, web_results)
SELECT id, nullif(%(search_id)s::text, ''), %(query)s, %(topic)s, %(best_score)s, %(web_results)s FROM counted

-- name: listed :many
-- Gaps with what the web said to each last (null: it was not asked), the most asked or the last asked first.
SELECT g.id, g.question, g.topic, g.best_score, g.occurrences, g.first_seen_at, g.last_seen_at, w.web_results,
       (count(*) OVER ())::int AS total
  FROM kb_gaps g
  LEFT JOIN LATERAL (
    SELECT l.web_results FROM kb_gap_logs l
     WHERE l.gap_id = g.id AND l.web_results IS NOT NULL ORDER BY l.created_at DESC, l.id DESC LIMIT 1
  ) AS w ON true
 WHERE (%(id)s = '' OR g.id = %(id)s) AND (%(topic)s = '' OR starts_with(lower(g.topic), lower(%(topic)s)))
 ORDER BY CASE WHEN %(latest)s THEN 0 ELSE g.occurrences END DESC, g.last_seen_at DESC, g.id
 LIMIT %(limit)s OFFSET %(offset)s

-- name: queue :run
-- Let one submission at a time decide whether its lesson is new; held until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended('harry.corrections', 0))

-- name: insert :run
-- A new lesson; one that is there word for word stays as it is.
INSERT INTO corrections (id, topic, wrong, truth, lesson, source_url, status, status_reason, author)
VALUES (%(id)s, %(topic)s, %(wrong)s, %(truth)s, %(lesson)s, %(source_url)s, %(status)s, %(status_reason)s, %(author)s)
ON CONFLICT (id) DO NOTHING

-- name: report :run
-- Keep a submission in its own words.
INSERT INTO correction_reports (correction_id, author, result_id, wrong, truth, lesson, source_url, outcome)
VALUES (%(correction_id)s, %(author)s, %(result_id)s, %(wrong)s, %(truth)s, %(lesson)s, %(source_url)s, %(outcome)s)

-- name: ask :run
-- Note a question that a correction was made on; one that is there stays, and beyond so many none is added.
INSERT INTO correction_questions (id, correction_id, question)
SELECT %(id)s, %(correction_id)s, %(question)s
 WHERE (SELECT count(*) FROM correction_questions q WHERE q.correction_id = %(correction_id)s) < %(most)s
ON CONFLICT (id) DO NOTHING

-- name: by_ids :many
-- Corrections with how many submissions and people stand behind each, and the questions that it was made on.
SELECT c.*, coalesce(r.reports, 0)::int AS reports, coalesce(r.reporters, 0)::int AS reporters,
       ARRAY(SELECT q.question FROM correction_questions q
              WHERE q.correction_id = c.id ORDER BY q.created_at, q.id) AS questions
  FROM corrections c
  LEFT JOIN LATERAL (SELECT count(*) AS reports, count(DISTINCT author) AS reporters
                       FROM correction_reports WHERE correction_id = c.id) AS r ON true
 WHERE c.id = ANY (%(ids)s)

-- name: list :many
-- Corrections of a status ('' for all) and a topic ('' for all), the last changed first.
SELECT c.*, coalesce(r.reports, 0)::int AS reports, coalesce(r.reporters, 0)::int AS reporters,
       ARRAY(SELECT q.question FROM correction_questions q
              WHERE q.correction_id = c.id ORDER BY q.created_at, q.id) AS questions
  FROM corrections c
  LEFT JOIN LATERAL (SELECT count(*) AS reports, count(DISTINCT author) AS reporters
                       FROM correction_reports WHERE correction_id = c.id) AS r ON true
 WHERE (%(status)s = '' OR c.status = %(status)s) AND (%(topic)s = '' OR lower(c.topic) = lower(%(topic)s))
 ORDER BY c.updated_at DESC, c.id LIMIT %(limit)s OFFSET %(offset)s

-- name: standing :many
-- How many corrections of a topic ('' for all) stand in each status that any has.
SELECT status, count(*)::int AS corrections FROM corrections
 WHERE %(topic)s = '' OR lower(topic) = lower(%(topic)s) GROUP BY status

-- name: decide :run
-- Move a correction to another status.
UPDATE corrections
   SET status = %(status)s, status_reason = %(reason)s, decided_by = %(by)s, updated_at = now()
 WHERE id = %(id)s

-- name: name_source :run
-- Note the page that a correction speaks of.
UPDATE corrections SET source_url = %(source_url)s WHERE id = %(id)s

-- name: drafted :run
-- Note the draft document that a correction becomes, unless somebody else did.
UPDATE corrections SET document_id = %(document_id)s, updated_at = now()
 WHERE id = %(id)s AND document_id = %(before)s

-- name: touched_row :run
-- A submission was counted for a correction: it is in use.
UPDATE corrections SET updated_at = now() WHERE id = %(id)s

-- name: submissions_of :one
-- How many corrections a caller submitted in the last hour, whoever he spoke for, and how many of his own were approved.
SELECT (SELECT count(*)::int FROM correction_reports
         WHERE (author = %(caller)s OR starts_with(author, %(caller)s || '/'))
           AND created_at > now() - interval '1 hour') AS last_hour,
       (SELECT count(*)::int FROM corrections c
         WHERE c.author = %(caller)s AND c.status = 'active' AND c.decided_by <> '') AS approved

-- name: inject :run
-- Note which corrections went into an answer.
INSERT INTO correction_injections (correction_id, result_id, question, relevance)
SELECT i.correction_id, %(result_id)s, %(question)s, i.relevance
  FROM unnest(%(ids)s::text[], %(relevances)s::float8[]) AS i (correction_id, relevance)
ON CONFLICT DO NOTHING

-- name: injected_into :many
-- The answers that a correction went into, the last first.
SELECT result_id, question, relevance, created_at FROM correction_injections
 WHERE correction_id = %(id)s ORDER BY created_at DESC LIMIT %(limit)s

-- name: injection_count :one
-- How many answers a correction went into.
SELECT count(*)::int AS answers FROM correction_injections WHERE correction_id = %(id)s

-- name: injected_by :many
-- The corrections that went into an answer.
SELECT correction_id FROM correction_injections WHERE result_id = %(result_id)s ORDER BY relevance DESC

-- name: recent_questions :many
-- The last questions asked, each once, and the words in which they were searched for.
SELECT question, query FROM (
    SELECT question, max(query) AS query, max(created_at) AS at FROM searches
     GROUP BY question ORDER BY at DESC LIMIT %(limit)s
) AS recent ORDER BY at DESC

-- name: unused_since :many
-- Active corrections that are older than a number of days and went into no answer since then.
SELECT c.id FROM corrections c
 WHERE c.status = 'active' AND c.updated_at < now() - make_interval(days => %(days)s::int)
   AND NOT EXISTS (SELECT FROM correction_injections i
                    WHERE i.correction_id = c.id AND i.created_at > now() - make_interval(days => %(days)s::int))

-- name: active_with_source :many
-- Active corrections that speak of a page, with its document where that changed after the correction was made.
SELECT c.id, d.id AS document_id FROM corrections c
  JOIN documents d ON d.url = c.source_url OR d.source = c.source_url
 WHERE c.status = 'active' AND c.source_url <> '' AND d.status IN ('live', 'flagged') AND d.updated_at > c.created_at

-- name: of_document :many
-- The corrections that a draft document was made of, but those given up.
SELECT c.id FROM corrections c WHERE c.document_id = %(document_id)s AND c.status <> 'deprecated'

-- name: learning :many
-- For each correction how often it was served since it was made, and how often people complained of the same again.
SELECT c.id, c.lesson, c.status, c.created_at,
       (SELECT count(*)::int FROM correction_injections i WHERE i.correction_id = c.id) AS served,
       (SELECT count(*)::int FROM correction_reports r
         WHERE r.correction_id = c.id AND r.outcome <> 'created') AS reported_again,
       (SELECT count(DISTINCT f.id)::int FROM correction_injections i
          JOIN feedback f ON f.result_id = i.result_id AND f.rating = 'down'
         WHERE i.correction_id = c.id) AS complained_of
  FROM corrections c ORDER BY c.created_at DESC, c.id LIMIT %(limit)s

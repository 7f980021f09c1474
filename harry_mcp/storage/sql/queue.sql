-- name: waiting :many
-- The documents in some statuses with what their harm is counted from. A look at one settles the signals before it.
-- Words are looked for in what names a document; a signal lets through those that it speaks against since the last look.
-- The use of a few documents is looked up, that of many is counted in one go over all searches.
WITH few AS (
    SELECT %(id)s <> '' OR count(*) <= 100 AS yes FROM documents WHERE status = ANY (%(statuses)s::text[])
), used AS (
    SELECT f.document_id, count(*)::int AS uses
      FROM searches s
     CROSS JOIN LATERAL (SELECT DISTINCT jsonb_array_elements_text(s.first_documents)) AS f (document_id)
     WHERE s.created_at > now() - make_interval(days => %(days)s::int) AND NOT (SELECT yes FROM few)
     GROUP BY f.document_id
), looked AS (
    SELECT c.document_id, max(c.log_id) AS log_id
      FROM review_changes c JOIN review_actions a ON a.id = c.action_id
     WHERE a.action IN ('approve', 'keep') AND NOT EXISTS (SELECT FROM review_actions u WHERE u.undoes = a.id)
     GROUP BY c.document_id
)
SELECT d.id, extract(day FROM greatest(now() - d.updated_at, interval '0'))::int AS age_days,
       CASE WHEN (SELECT yes FROM few)
            THEN (SELECT count(*)::int FROM searches s
                   WHERE s.first_documents ? d.id AND s.created_at > now() - make_interval(days => %(days)s::int))
            ELSE coalesce(u.uses, 0) END AS uses,
       k.log_id IS NOT NULL AS looked,
       (SELECT count(DISTINCT l.signal)::int FROM standing_flags l
         WHERE l.document_id = d.id AND l.id > coalesce(k.log_id, 0)) AS signals
  FROM documents d
  LEFT JOIN used u ON u.document_id = d.id
  LEFT JOIN looked k ON k.document_id = d.id
 WHERE d.id = %(id)s
    OR (%(id)s = '' AND d.status = ANY (%(statuses)s::text[])
        AND (%(words)s = '' OR position(lower(%(words)s) IN lower(concat_ws(' ', d.title, d.topic, d.url, d.source))) > 0)
        AND (%(signal)s = ''
             OR EXISTS (SELECT FROM standing_flags l WHERE l.document_id = d.id
                           AND l.signal = %(signal)s AND l.id > coalesce(k.log_id, 0))))

-- name: standing :many
-- How many documents stand in each status.
SELECT status, count(*)::int AS documents FROM documents GROUP BY status

-- name: items :many
-- What is told of documents in the queue.
SELECT d.id, d.title, d.url, d.source, d.topic, d.status, d.version, d.updated_at,
       (SELECT count(*)::int FROM kb_curation_log l WHERE l.document_id = d.id AND l.event = 'flag') AS signal_count,
       coalesce(n.action, '') AS last_action, n.created_at AS last_action_at
  FROM documents d
  LEFT JOIN LATERAL (
    SELECT a.action, a.created_at FROM review_changes c JOIN review_actions a ON a.id = c.action_id
     WHERE c.document_id = d.id ORDER BY a.number DESC LIMIT 1
  ) AS n ON true
 WHERE d.id = ANY (%(ids)s::text[])

-- name: signals :many
-- What was said against documents, and where drafts came from: the newest of each, and whether a curator looked since.
SELECT s.document_id, s.signal, s.actor, s.created_at AS at, s.detail, s.settled
  FROM unnest(%(ids)s::text[]) AS w (document_id)
 CROSS JOIN LATERAL (
    SELECT l.document_id, CASE WHEN l.signal = '' THEN l.event ELSE l.signal END AS signal, l.actor, l.created_at, l.detail,
           EXISTS (SELECT FROM review_changes c JOIN review_actions a ON a.id = c.action_id
                    WHERE c.document_id = l.document_id AND a.action IN ('approve', 'keep') AND c.log_id > l.id
                      AND NOT EXISTS (SELECT FROM review_actions u WHERE u.undoes = a.id))
           OR l.event = 'flag' AND NOT EXISTS (SELECT FROM standing_flags f
                                                WHERE f.document_id = l.document_id AND f.id = l.id) AS settled
      FROM kb_curation_log l
     WHERE l.document_id = w.document_id AND l.event IN ('flag', 'draft')
     ORDER BY l.id DESC LIMIT %(each)s
  ) AS s
 ORDER BY s.document_id, s.created_at DESC

-- name: asked :many
-- Different questions of the last days and how often each was asked; of some documents only those that had them among
-- their first passages.
SELECT max(question) AS question, query, count(*)::int AS asked, (count(*) OVER ())::int AS total
  FROM searches
 WHERE created_at > now() - make_interval(days => %(days)s::int) AND filters = '{}'
   AND (%(ids)s::text[] = '{}' OR first_documents ?| %(ids)s::text[])
 GROUP BY query ORDER BY asked DESC, max(created_at) DESC, query LIMIT %(limit)s

-- name: lengths :many
-- How much waits for a curator or a worker, by queue.
SELECT 'flagged_documents' AS queue, count(*)::int AS length FROM documents WHERE status = 'flagged'
UNION ALL SELECT 'pending_documents', count(*)::int FROM documents WHERE status = 'pending'
UNION ALL SELECT 'pending_corrections', count(*)::int FROM corrections WHERE status = 'pending'
UNION ALL SELECT 'verified_candidates', count(*)::int FROM verified_responses WHERE status = 'candidate'
UNION ALL SELECT 'ingestions', count(*)::int FROM ingestions WHERE state = 'running'

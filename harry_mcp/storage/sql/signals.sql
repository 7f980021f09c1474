-- name: text_of :one
-- A document as it is stored, with its text.
SELECT id, title, url, source, status, version, content_hash, content FROM documents WHERE id = %(id)s

-- name: next_version :one
-- The number that the next text of a document gets.
SELECT next_version(%(id)s) AS number

-- name: counterparts :many
-- The documents that readers see under the address of another one, whatever the spelling.
WITH wanted AS (
    SELECT DISTINCT address_key(a) AS key FROM unnest(%(addresses)s::text[]) AS a WHERE a ~* '^https?://'
)
SELECT id, title, url, source, status, version, content_hash, content FROM documents
 WHERE id <> %(id)s AND status IN ('live', 'flagged')
   AND (url <> '' AND address_key(url) IN (SELECT key FROM wanted) OR address_key(source) IN (SELECT key FROM wanted))
 ORDER BY id LIMIT %(limit)s

-- name: addressed :many
-- The documents that an address names, whatever the spelling of either, or the id of it or of a passage in it; and since
-- when each is as it is.
WITH wanted AS (SELECT DISTINCT address_key(a) AS key FROM unnest(%(addresses)s::text[]) AS a)
SELECT id, title, status, updated_at FROM documents
 WHERE id = ANY (%(addresses)s::text[])
    OR id IN (SELECT document_id FROM chunks WHERE public_id = ANY (%(addresses)s::text[]))
    OR url <> '' AND address_key(url) IN (SELECT key FROM wanted)
    OR address_key(source) IN (SELECT key FROM wanted)
 ORDER BY id

-- name: uncompared :many
-- Documents that readers see whose version was not held against others yet, the last changed first.
SELECT d.id, d.title, d.url, d.source, d.status, d.version, d.content_hash, '' AS content
  FROM documents d LEFT JOIN document_checks k ON k.document_id = d.id AND k.kind = %(kind)s
 WHERE d.status IN ('live', 'flagged') AND k.version IS DISTINCT FROM d.version
 ORDER BY d.updated_at DESC, d.id LIMIT %(limit)s

-- name: uncompared_count :one
-- How many there are.
SELECT count(*)::int AS number
  FROM documents d LEFT JOIN document_checks k ON k.document_id = d.id AND k.kind = %(kind)s
 WHERE d.status IN ('live', 'flagged') AND k.version IS DISTINCT FROM d.version

-- name: note_check :run
-- Note that a check went through a version of a document, if it is still there.
INSERT INTO document_checks (document_id, kind, version)
SELECT d.id, %(kind)s::text, %(version)s::integer FROM documents d WHERE d.id = %(id)s
ON CONFLICT (document_id, kind) DO UPDATE SET version = excluded.version, checked_at = now()

-- name: neighbours :many
-- For each passage of a document the nearest ones of other documents, by the vectors that are there.
SELECT c.raw_content AS here, n.cosine, o.raw_content AS there, o.heading_path AS there_heading,
       c.heading_path AS here_heading, d.id, d.title, d.url, d.version
  FROM (SELECT id, raw_content, heading_path FROM chunks WHERE document_id = %(id)s ORDER BY ordinal LIMIT %(most)s) AS c
  JOIN chunk_vectors v ON v.chunk_id = c.id AND v.space_id = {space}
 CROSS JOIN LATERAL (
    SELECT w.chunk_id,
           1 - (w.embedding::public.vector({dimension}) <=> v.embedding::public.vector({dimension})) AS cosine
      FROM chunk_vectors w
     WHERE w.space_id = {space} AND w.searchable
     ORDER BY w.embedding::public.vector({dimension}) <=> v.embedding::public.vector({dimension})
     LIMIT %(limit)s
  ) AS n
  JOIN chunks o ON o.id = n.chunk_id AND o.document_id <> %(id)s
  JOIN documents d ON d.id = o.document_id
 WHERE n.cosine >= %(floor)s
 ORDER BY n.cosine DESC, o.id

-- name: outcomes :one
-- What became of the documents that a signal flagged in some days: the next decision of a curator on each that stands.
-- One without a decision waits as long as the signal stands.
WITH flagged AS (
    SELECT document_id, min(id) AS id FROM kb_curation_log
     WHERE event = 'flag' AND signal = %(signal)s AND before = 'live' AND after = 'flagged'
       AND created_at > now() - make_interval(days => %(days)s::int)
     GROUP BY document_id
), decided AS (
    SELECT (SELECT l.event FROM kb_curation_log l
             WHERE l.document_id = f.document_id AND l.id > f.id
               AND l.event IN ('approve', 'archive', 'reject', 'rewrite')
               AND NOT EXISTS (SELECT FROM kb_curation_log u
                                WHERE u.document_id = l.document_id AND u.id > l.id AND u.event = 'undo'
                                  AND u.detail ->> 'undoes' = l.detail ->> 'action_id')
             ORDER BY l.id LIMIT 1) AS event,
           EXISTS (SELECT FROM standing_flags s
                    WHERE s.document_id = f.document_id AND s.signal = %(signal)s AND s.id >= f.id) AS stands
      FROM flagged f
)
SELECT (count(*) FILTER (WHERE event IN ('archive', 'reject', 'rewrite')))::int AS confirmed,
       (count(*) FILTER (WHERE event = 'approve'))::int AS dismissed,
       (count(*) FILTER (WHERE event IS NULL AND stands))::int AS waiting
  FROM decided

-- name: unanswered :many
-- Different questions that the knowledge base could not answer in some days, and how often each was asked.
SELECT g.id, g.question, count(*)::int AS asked
  FROM kb_gap_logs l JOIN kb_gaps g ON g.id = l.gap_id
 WHERE l.created_at > %(now)s::timestamptz - make_interval(days => %(days)s::int) AND l.created_at <= %(now)s::timestamptz
 GROUP BY g.id, g.question ORDER BY asked DESC, max(l.created_at) DESC, g.id LIMIT %(limit)s

-- name: old_words :many
-- How often the passages of some documents have some words.
SELECT d.id, t.term, sum(p.tf)::int AS times
  FROM terms t
  JOIN postings p ON p.term_id = t.id
  JOIN chunks c ON c.id = p.chunk_id
  JOIN documents d ON d.id = c.document_id
 WHERE t.term = ANY (%(terms)s::text[]) AND d.id = ANY (%(ids)s::text[])
 GROUP BY d.id, t.term

-- name: old :many
-- Documents that were neither changed nor looked at by a curator for some days, with what stands above their passages.
SELECT d.id, d.title, d.language, d.version, d.updated_at,
       (SELECT coalesce(string_agg(DISTINCT h.heading, ' / '), '')
          FROM chunks c CROSS JOIN LATERAL unnest(c.heading_path) AS h (heading) WHERE c.document_id = d.id) AS headings
  FROM documents d
 WHERE d.status = 'live' AND d.updated_at < %(now)s::timestamptz - make_interval(days => %(days)s::int)
   AND NOT EXISTS (SELECT FROM kb_curation_log l
                    WHERE l.document_id = d.id AND l.event IN ('approve', 'keep', 'rewrite', 'restore')
                      AND l.created_at > %(now)s::timestamptz - make_interval(days => %(days)s::int))
 ORDER BY d.id

-- name: frequencies :many
-- In how many different documents some words are.
SELECT t.term, count(DISTINCT c.document_id)::int AS documents
  FROM terms t JOIN postings p ON p.term_id = t.id JOIN chunks c ON c.id = p.chunk_id
 WHERE t.term = ANY (%(terms)s::text[]) GROUP BY t.term

-- name: complaints :many
-- What people said against addresses in some days: thumbs down, and corrections that hold.
SELECT 'feedback' AS kind, f.id, f.author, f.reason, f.comment, f.source_urls AS urls, f.updated_at AS at
  FROM feedback f
 WHERE f.rating = 'down' AND f.source_urls <> '{}'
   AND f.updated_at > %(now)s::timestamptz - make_interval(days => %(days)s::int)
UNION ALL
SELECT 'correction', c.id, c.author, '', c.lesson, ARRAY[c.source_url], c.created_at
  FROM corrections c
 WHERE c.status = 'active' AND c.source_url <> ''
   AND c.created_at > %(now)s::timestamptz - make_interval(days => %(days)s::int)
 ORDER BY at, id

-- name: forget_check :run
-- Let a check go through a document once more.
DELETE FROM document_checks WHERE document_id = %(document_id)s AND kind = %(kind)s

-- name: try_lock :one
-- Take a check for this session; false when another one is at it. Freed when the session ends.
SELECT pg_try_advisory_lock(%(lock)s::int, hashtext(%(name)s)) AS held

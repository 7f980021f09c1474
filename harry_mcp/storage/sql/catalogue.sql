-- name: listed :many
-- Documents by their source: all, those that one of some names stands for, or those under a name.
SELECT d.id, d.source, d.title, d.url, d.topic, d.status, d.version, d.updated_at,
       (SELECT count(*)::int FROM chunks c WHERE c.document_id = d.id) AS chunks
  FROM documents d
 WHERE (%(status)s::text = '' OR d.status = %(status)s)
   AND (%(everything)s::boolean OR d.id = ANY (%(names)s::text[]) OR d.source = ANY (%(names)s)
        OR d.url = ANY (%(names)s)
        OR EXISTS (SELECT FROM unnest(%(under)s::text[]) AS u (prefix)
                    WHERE starts_with(d.source, u.prefix) OR starts_with(d.url, u.prefix)))
 ORDER BY d.source
 LIMIT %(limit)s

-- name: titles :many
-- Titles of searchable documents that hold some letters, those that begin with them first; for each how many bear it,
-- one of their ids, and how many titles there are in all.
SELECT title, min(id) AS id, count(*)::int AS bearers, (count(*) OVER ())::int AS total
  FROM documents
 WHERE status IN ('live', 'flagged') AND title <> '' AND position(lower(%(letters)s) IN lower(title)) > 0
 GROUP BY title
 ORDER BY starts_with(lower(title), lower(%(letters)s)) DESC, lower(title), title
 LIMIT %(limit)s

-- name: topics :many
-- The topics of searchable documents that hold some letters, the commonest first, and how many there are in all.
SELECT topic, (count(*) OVER ())::int AS total
  FROM documents
 WHERE status IN ('live', 'flagged') AND topic <> '' AND position(lower(%(letters)s) IN lower(topic)) > 0
 GROUP BY topic
 ORDER BY count(*) DESC, topic
 LIMIT %(limit)s

-- name: titled :many
-- The searchable documents of a title.
SELECT id FROM documents WHERE status IN ('live', 'flagged') AND title = %(title)s ORDER BY id LIMIT 2

-- name: latest :many
-- The searchable documents that changed last.
SELECT id, title FROM documents WHERE status IN ('live', 'flagged') ORDER BY updated_at DESC, id LIMIT %(limit)s

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

-- name: enter :run
-- Enter a crawl that is not known yet.
INSERT INTO crawls (start_url, prefix) VALUES (%(start_url)s, %(prefix)s) ON CONFLICT DO NOTHING

-- name: get :one
-- A crawl by where it starts and how far it reaches.
SELECT id, run, finished, seeded, warnings FROM crawls WHERE start_url = %(start_url)s AND prefix = %(prefix)s

-- name: try_lock :one
-- Take a crawl for this session; false when another one has it. Freed when the session ends, killed or not.
SELECT pg_try_advisory_lock(%(space)s::int, %(id)s::int) AS held

-- name: unlock :one
-- Give a crawl free.
SELECT pg_advisory_unlock(%(space)s::int, %(id)s::int) AS held

-- name: begin_again :run
-- Begin the next run of a crawl whose last one came to its end.
UPDATE crawls SET run = run + 1, finished = false, seeded = false, warnings = '{}', started_at = now()
 WHERE id = %(id)s AND finished

-- name: seeded :run
-- Note that llms.txt and the sitemaps are in the frontier.
UPDATE crawls SET seeded = true, warnings = %(warnings)s WHERE id = %(id)s

-- name: finish :run
-- Close a run: the next one begins anew.
UPDATE crawls SET finished = true, finished_at = now() WHERE id = %(id)s

-- name: met :many
-- The addresses that the present run has met.
SELECT u.id, u.url, u.waiting, CASE WHEN u.waiting THEN '' ELSE u.reason END AS reason,
       u.status > 0 AND NOT u.waiting AND u.outcome <> 'redirected' AS asked,
       CASE WHEN u.waiting THEN 0 ELSE u.bytes END AS bytes
  FROM crawl_urls u JOIN crawls c ON c.id = u.crawl_id AND c.run = u.run
 WHERE u.crawl_id = %(id)s

-- name: meet :many
-- Put addresses into the frontier; a refused one is decided at once, and of a known one its past stays.
INSERT INTO crawl_urls AS u (crawl_id, run, url, depth, hops, lastmod, waiting, outcome, reason, target)
SELECT c.id, c.run, f.url, f.depth, f.hops, f.lastmod, f.reason = '',
       CASE WHEN f.reason = '' THEN '' ELSE 'refused' END, f.reason, ''
  FROM crawls c,
       unnest(%(urls)s::text[], %(depths)s::int[], %(hops)s::int[], %(lastmods)s::timestamptz[], %(reasons)s::text[])
           WITH ORDINALITY AS f (url, depth, hops, lastmod, reason, place)
 WHERE c.id = %(id)s
 ORDER BY f.place
ON CONFLICT (crawl_id, url) DO UPDATE
   SET run = excluded.run, depth = excluded.depth, hops = excluded.hops, lastmod = excluded.lastmod,
       waiting = excluded.waiting,
       outcome = CASE WHEN excluded.waiting THEN u.outcome ELSE excluded.outcome END,
       reason = CASE WHEN excluded.waiting THEN u.reason ELSE excluded.reason END,
       target = CASE WHEN excluded.waiting THEN u.target ELSE '' END,
       detail = CASE WHEN excluded.waiting THEN u.detail ELSE '' END,
       status = CASE WHEN excluded.waiting THEN u.status ELSE 0 END,
       gone_since = CASE WHEN excluded.waiting THEN u.gone_since END
RETURNING u.id, u.url

-- name: next :many
-- The addresses whose turn it is: the nearest first, of these the ones changed last, then in the order they were met.
SELECT u.id, u.url, u.depth, u.hops, u.outcome, u.reason, u.target, u.fingerprint, u.etag, u.last_modified,
       u.stands_alone, d.id IS NOT NULL AS stored,
       coalesce(d.status NOT IN ('archived', 'rejected'), false) AS shown,
       NOT %(fresh)s AND coalesce(d.recipe = %(recipe)s AND d.topic = %(topic)s, true) AS current
  FROM crawl_urls u LEFT JOIN documents d ON d.source = u.url
 WHERE u.crawl_id = %(id)s AND u.waiting AND u.depth <= %(deepest)s AND u.id <> ALL (%(busy)s::int[])
 ORDER BY u.depth, u.lastmod DESC NULLS LAST, u.id
 LIMIT %(limit)s

-- name: stored_pages :one
-- How many pages of a crawl are in the knowledge base, and how many of these as they would be stored now.
SELECT count(*)::int AS pages,
       (count(*) FILTER (WHERE d.recipe = %(recipe)s AND d.topic = %(topic)s))::int AS current
  FROM crawls c JOIN crawl_urls u ON u.crawl_id = c.id JOIN documents d ON d.source = u.url
 WHERE c.start_url = %(start_url)s AND c.prefix = %(prefix)s AND d.status NOT IN ('archived', 'rejected')

-- name: links_of :many
-- The addresses that a page linked to when it was read last; the id of a way that it closed is kept negative.
SELECT l.url, k.id < 0 AS nofollow
  FROM crawl_urls u CROSS JOIN unnest(u.links) WITH ORDINALITY AS k (id, place) JOIN crawl_urls l ON l.id = abs(k.id)
 WHERE u.id = %(id)s ORDER BY k.place

-- name: keep_links :run
-- Keep what a page links to.
UPDATE crawl_urls SET links = %(links)s WHERE id = %(id)s

-- name: settle :run
-- Decide addresses. Of a stored page, the document's own times say whether this run made it, changed it or neither,
-- also when a killed run stored it and could not note it down.
-- A decision that a power cut loses is made again by the next run, so it does not wait for the disk.
UPDATE crawl_urls u
   SET waiting = false,
       outcome = CASE WHEN s.outcome <> 'stored' THEN s.outcome
                      WHEN d.created_at >= c.started_at THEN 'new'
                      WHEN d.updated_at >= c.started_at THEN 'changed'
                      ELSE 'unchanged' END,
       reason = s.reason, detail = s.detail, target = s.target, status = s.status, bytes = s.bytes,
       etag = s.etag, last_modified = s.last_modified, fingerprint = s.fingerprint, fetched_at = now(),
       gone_since = CASE WHEN s.outcome = 'gone' THEN coalesce(u.gone_since, now()) END
  FROM unnest(%(ids)s::int[], %(outcomes)s::text[], %(reasons)s::text[], %(details)s::text[], %(targets)s::text[],
              %(statuses)s::int[], %(sizes)s::int[], %(etags)s::text[], %(last_modifieds)s::text[],
              %(fingerprints)s::text[])
           AS s (id, outcome, reason, detail, target, status, bytes, etag, last_modified, fingerprint),
       set_config('synchronous_commit', 'off', true), crawls c,
       crawl_urls o LEFT JOIN documents d ON d.source = o.url
 WHERE u.id = s.id AND o.id = s.id AND c.id = u.crawl_id

-- name: refuse_waiting :run
-- Decide all that still waits: a limit of this run was reached.
UPDATE crawl_urls SET waiting = false, outcome = 'refused', reason = %(reason)s, detail = '', target = '', status = 0,
       gone_since = NULL
 WHERE crawl_id = %(id)s AND waiting

-- name: ask_again :run
-- Put addresses back into the frontier, to be fetched whole and, when so said, to stand for themselves.
UPDATE crawl_urls SET waiting = true, etag = '', last_modified = '', outcome = '', reason = '', target = '',
       stands_alone = stands_alone OR id = ANY (%(alone)s::int[])
 WHERE id = ANY (%(ids)s::int[])

-- name: reopen :run
-- Put addresses back into the frontier as they were: the site refused them together with all others.
UPDATE crawl_urls SET waiting = true WHERE id = ANY (%(ids)s::int[])

-- name: fail :run
-- Turn a decision into a failure, for a reason that shows only at the end.
UPDATE crawl_urls SET outcome = 'failed', reason = %(reason)s WHERE id = ANY (%(ids)s::int[])

-- name: unlinked :run
-- Propose for archiving what this crawl once stored, no deeper than this run reaches, and this run met nowhere.
UPDATE crawl_urls u
   SET run = c.run, waiting = false, outcome = 'gone', reason = 'unlinked', detail = '', target = '', status = 0,
       gone_since = coalesce(u.gone_since, now())
  FROM crawls c, documents d
 WHERE c.id = %(id)s AND u.crawl_id = c.id AND u.run < c.run AND d.source = u.url
   AND u.depth <= %(depth)s AND u.outcome IN ('new', 'changed', 'unchanged', 'gone', 'failed')
   AND d.status NOT IN ('archived', 'rejected')

-- name: holders :many
-- Which stored page has which content.
SELECT DISTINCT ON (u.fingerprint) u.fingerprint, u.url
  FROM crawl_urls u JOIN documents d ON d.source = u.url
 WHERE u.crawl_id = %(id)s AND u.fingerprint <> '' AND u.outcome IN ('new', 'changed', 'unchanged', 'failed')
 ORDER BY u.fingerprint, u.depth, u.id

-- name: entries :many
-- Every address that the present run has met, and how it ended.
SELECT u.id, u.url, u.waiting, u.outcome, u.reason, u.detail, u.target, u.status, u.bytes, u.fingerprint,
       d.id IS NOT NULL AS stored
  FROM crawl_urls u JOIN crawls c ON c.id = u.crawl_id AND c.run = u.run LEFT JOIN documents d ON d.source = u.url
 WHERE u.crawl_id = %(id)s ORDER BY u.depth, u.id

-- name: lock_corpus :one
-- Take the writers' queue and read the counts; held until the transaction ends.
SELECT chunks, length_sum, title_sum, revision FROM corpus WHERE one_row FOR UPDATE

-- name: corpus_statistics :one
-- The counts that BM25 rests on, and whether another embedding space than one's own is in service by now.
SELECT chunks, length_sum, title_sum, revision,
       coalesce((SELECT s.id <> %(space)s FROM embedding_spaces s WHERE s.active), false) AS space_changed
  FROM corpus WHERE one_row

-- name: change_corpus :run
-- Add to the counts and move the revision on.
UPDATE corpus
   SET chunks = chunks + %(chunks)s,
       length_sum = length_sum + %(length)s,
       title_sum = title_sum + %(title)s,
       revision = revision + 1
 WHERE one_row

-- name: count_terms :many
-- Add to the document frequencies of terms, which get an id when they are new.
INSERT INTO terms AS t (term, df, title_df)
SELECT * FROM unnest(%(terms)s::text[], %(df)s::int[], %(title_df)s::int[])
ON CONFLICT (term) DO UPDATE SET df = t.df + excluded.df, title_df = t.title_df + excluded.title_df
RETURNING id, term

-- name: find_terms :many
-- Ids and document frequencies of terms.
SELECT id, term, df, title_df FROM terms WHERE term = ANY (%(terms)s::text[])

-- name: change_frequencies :run
-- Add to the document frequencies of terms.
UPDATE terms t
   SET df = t.df + d.df, title_df = t.title_df + d.title_df
  FROM unnest(%(ids)s::int[], %(df)s::int[], %(title_df)s::int[]) AS d (id, df, title_df)
 WHERE t.id = d.id

-- name: forget_terms :run
-- Drop the terms that no chunk holds any more.
DELETE FROM terms WHERE id = ANY (%(ids)s::int[]) AND df = 0 AND title_df = 0

-- name: add_postings :run
-- Enter chunks into the index.
INSERT INTO postings (term_id, chunk_id, tf, length)
SELECT * FROM unnest(%(terms)s::int[], %(chunks)s::int[], %(tf)s::smallint[], %(lengths)s::int[])

-- name: remove_postings :run
-- Take chunks out of the index; the terms are given because the index begins with them.
DELETE FROM postings p
 USING unnest(%(terms)s::int[], %(chunks)s::int[]) AS t (term_id, chunk_id)
 WHERE p.term_id = t.term_id AND p.chunk_id = t.chunk_id

-- name: bm25 :many
-- The chunks with the highest BM25 sums, the revision that they were counted at, and whether anything is remembered.
-- One row without a chunk when nothing matches. A weight is idf * (k1 + 1); norm and slope are k1 * (1 - b) and k1 * b / average length, so
-- that tf / (tf + norm + slope * length) is Robertson's saturation.
SELECT corpus.revision, EXISTS (SELECT FROM memory_vectors m WHERE m.active) AS remembers, best.chunk_id, best.score
  FROM corpus LEFT JOIN (
    SELECT p.chunk_id, sum(q.weight * p.tf / (p.tf + %(norm)s::float8 + %(slope)s::float8 * p.length)) AS score
      FROM unnest(%(ids)s::int[], %(weights)s::float8[]) AS q (term_id, weight)
      JOIN postings p ON p.term_id = q.term_id
     GROUP BY p.chunk_id
     ORDER BY score DESC, p.chunk_id
     LIMIT %(limit)s
  ) AS best ON true
 ORDER BY best.score DESC, best.chunk_id

-- name: bm25_filtered :many
-- The same among the documents that a filter lets through.
SELECT corpus.revision, EXISTS (SELECT FROM memory_vectors m WHERE m.active) AS remembers, best.chunk_id, best.score
  FROM corpus LEFT JOIN (
    SELECT p.chunk_id, sum(q.weight * p.tf / (p.tf + %(norm)s::float8 + %(slope)s::float8 * p.length)) AS score
      FROM unnest(%(ids)s::int[], %(weights)s::float8[]) AS q (term_id, weight)
      JOIN postings p ON p.term_id = q.term_id
      JOIN chunks c ON c.id = p.chunk_id
      JOIN documents d ON d.id = c.document_id
     WHERE passes_filter(d, %(topic)s, %(source)s, %(language)s, %(since)s)
     GROUP BY p.chunk_id
     ORDER BY score DESC, p.chunk_id
     LIMIT %(limit)s
  ) AS best ON true
 ORDER BY best.score DESC, best.chunk_id

-- name: signals :many
-- What the ranker must know of chunks and of those right before and after some of them, in their documents.
-- The cosine is that of the chunks that are not measured yet; without a query nothing has one.
SELECT c.id, c.public_id, c.document_id, c.ordinal, c.terms, d.title_terms,
       1 - (v.embedding <=> %(query)s::public.vector) AS cosine
  FROM (
    SELECT unnest(%(ids)s::int[]) AS id
     UNION
    SELECT b.id
      FROM chunks a
      JOIN chunks b ON b.document_id = a.document_id AND b.ordinal IN (a.ordinal - 1, a.ordinal + 1)
     WHERE a.id = ANY (%(beside)s::int[])
  ) AS wanted
  JOIN chunks c ON c.id = wanted.id
  JOIN documents d ON d.id = c.document_id
  LEFT JOIN chunk_vectors v ON v.space_id = {space} AND v.chunk_id = c.id AND c.id <> ALL (%(measured)s::int[])

-- name: languages :many
-- The languages of the searchable documents, the commonest first.
SELECT language, count(*)::int AS documents FROM documents
 WHERE status IN ('live', 'flagged') GROUP BY language ORDER BY documents DESC LIMIT 8

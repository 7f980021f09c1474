-- name: review_actions :many
-- What curators did, in its order.
SELECT row_to_json(t)::text AS line FROM review_actions t ORDER BY t.number

-- name: kb_curation_log :many
-- What was said of documents, in its order.
SELECT row_to_json(t)::text AS line FROM kb_curation_log t ORDER BY t.id

-- name: review_changes :many
-- What curators' actions made of documents.
SELECT row_to_json(t)::text AS line FROM review_changes t ORDER BY t.action_id, t.document_id

-- name: documents :many
-- The documents, without what the keyword index makes of their titles.
SELECT (to_jsonb(t) - 'title_terms')::text AS line FROM documents t ORDER BY t.id

-- name: chunks :many
-- Their passages in the order of their numbers, which break ties between equal scores.
SELECT (to_jsonb(t) - 'terms')::text AS line FROM chunks t ORDER BY t.id

-- name: chunk_vectors :many
-- The vectors of passages in one space.
SELECT json_build_object('chunk_id', t.chunk_id, 'embedding', t.embedding)::text AS line FROM chunk_vectors t
 WHERE t.space_id = %(space)s ORDER BY t.chunk_id

-- name: document_versions :many
-- The texts that rewrites replaced.
SELECT row_to_json(t)::text AS line FROM document_versions t ORDER BY t.action_id, t.document_id

-- name: version_chunks :many
-- The passages of those texts.
SELECT row_to_json(t)::text AS line FROM version_chunks t ORDER BY t.action_id, t.chunk_id

-- name: version_vectors :many
-- Their vectors in one space.
SELECT json_build_object('action_id', t.action_id, 'chunk_id', t.chunk_id, 'embedding', t.embedding)::text AS line
  FROM version_vectors t WHERE t.space_id = %(space)s ORDER BY t.action_id, t.chunk_id

-- name: document_checks :many
-- Which version of a document was held against others.
SELECT row_to_json(t)::text AS line FROM document_checks t ORDER BY t.document_id, t.kind

-- name: kb_gaps :many
-- The gaps of the knowledge base.
SELECT row_to_json(t)::text AS line FROM kb_gaps t ORDER BY t.id

-- name: searches :many
-- The searches, where they are wanted.
SELECT (to_jsonb(t) - 'first_documents')::text AS line FROM searches t ORDER BY t.created_at, t.id

-- name: kb_gap_logs :many
-- Each time that a gap was met; without its search where searches stay behind.
SELECT (to_jsonb(t) || jsonb_build_object('search_id', CASE WHEN %(searches)s THEN t.search_id END))::text AS line
  FROM kb_gap_logs t ORDER BY t.id

-- name: web_searches :many
-- What the web was asked, where searches are wanted.
SELECT row_to_json(t)::text AS line FROM web_searches t ORDER BY t.created_at, t.id

-- name: verified_responses :many
-- The official answers.
SELECT row_to_json(t)::text AS line FROM verified_responses t ORDER BY t.id

-- name: verified_citations :many
-- The documents that they rest on.
SELECT row_to_json(t)::text AS line FROM verified_citations t ORDER BY t.verified_id, t.document_id

-- name: verified_refusals :many
-- The questions that they must never answer.
SELECT row_to_json(t)::text AS line FROM verified_refusals t ORDER BY t.id

-- name: verified_lookups :many
-- Each time that one was served; what found none only where searches are wanted.
SELECT row_to_json(t)::text AS line FROM verified_lookups t
 WHERE t.verified_id IS NOT NULL OR %(searches)s ORDER BY t.created_at, t.id

-- name: corrections :many
-- The corrections that people made.
SELECT row_to_json(t)::text AS line FROM corrections t ORDER BY t.id

-- name: correction_questions :many
-- The questions that each was made on.
SELECT row_to_json(t)::text AS line FROM correction_questions t ORDER BY t.id

-- name: correction_reports :many
-- Every submission of one.
SELECT row_to_json(t)::text AS line FROM correction_reports t ORDER BY t.id

-- name: correction_injections :many
-- The answers that each went into.
SELECT row_to_json(t)::text AS line FROM correction_injections t ORDER BY t.correction_id, t.result_id

-- name: feedback :many
-- What people said of answers.
SELECT row_to_json(t)::text AS line FROM feedback t ORDER BY t.id

-- name: memory_vectors :many
-- The vectors of what is remembered beside the documents, in one space.
SELECT (to_jsonb(t) - 'space_id')::text AS line FROM memory_vectors t
 WHERE t.space_id = %(space)s ORDER BY t.kind, t.owner_id

-- name: audit_log :many
-- Who did what.
SELECT row_to_json(t)::text AS line FROM audit_log t ORDER BY t.id

-- name: source_checks :many
-- What each address answered on which day.
SELECT row_to_json(t)::text AS line FROM source_checks t ORDER BY t.id

-- name: crawls :many
-- The crawls of sites.
SELECT row_to_json(t)::text AS line FROM crawls t ORDER BY t.id

-- name: crawl_urls :many
-- The addresses that they met.
SELECT row_to_json(t)::text AS line FROM crawl_urls t ORDER BY t.id

-- name: calibrations :many
-- The curves of the rankers.
SELECT row_to_json(t)::text AS line FROM calibrations t ORDER BY t.id

-- name: eval_runs :many
-- The evaluations that were kept.
SELECT row_to_json(t)::text AS line FROM eval_runs t ORDER BY t.id

-- name: digest_mails :many
-- The days whose digest was mailed.
SELECT row_to_json(t)::text AS line FROM digest_mails t ORDER BY t.day

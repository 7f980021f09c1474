-- name: marks :one
-- Where things stand: what moves when documents, what is said of them, or corrections change.
SELECT (SELECT revision FROM corpus WHERE one_row) AS revision,
       (SELECT coalesce(max(id), 0)::bigint FROM kb_curation_log) AS log,
       (SELECT count(*) || ' ' || coalesce(max(updated_at)::text, '') FROM corrections) AS corrections

-- name: recent :many
-- The versions that documents got in the last minutes. By when they were written, which is before others see them.
SELECT id, version FROM documents WHERE updated_at > now() - make_interval(mins => %(minutes)s) ORDER BY id

-- name: spoken_of :many
-- The documents that something was said of after a row of the curation log.
SELECT DISTINCT document_id AS id, 0 AS version FROM kb_curation_log WHERE id > %(log)s ORDER BY 1

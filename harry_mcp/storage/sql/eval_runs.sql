-- name: save :run
-- Keep a run.
INSERT INTO eval_runs (id, name, golden, settings, figures, accepted, created_at)
VALUES (%(id)s, %(name)s, %(golden)s, %(settings)s, %(figures)s, %(accepted)s, %(created_at)s)

-- name: last :one
-- The newest run of a golden set whose gates held.
SELECT id, name, golden, settings, figures, accepted, created_at
  FROM eval_runs WHERE golden = %(golden)s AND accepted ORDER BY created_at DESC, id LIMIT 1

-- name: by_id :one
-- One kept run of an evaluation.
SELECT id, name, golden, settings, figures, accepted, created_at FROM eval_runs WHERE id = %(id)s

-- name: recent :many
-- The newest runs, without the answers to each question.
SELECT id, name, golden, settings, figures - 'per_question' AS figures, accepted, created_at
  FROM eval_runs ORDER BY created_at DESC, id LIMIT %(limit)s

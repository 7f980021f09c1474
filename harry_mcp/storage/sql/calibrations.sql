-- name: of :one
-- The curve that holds for a ranker: the one fitted last.
SELECT id, ranker, method, raw, chance, corpus, questions, answerable, auroc, calibration_error, fitted_at
  FROM calibrations WHERE ranker = %(ranker)s ORDER BY fitted_at DESC, id LIMIT 1

-- name: all :many
-- Every curve, the newest first.
SELECT id, ranker, method, raw, chance, corpus, questions, answerable, auroc, calibration_error, fitted_at
  FROM calibrations ORDER BY fitted_at DESC, id

-- name: save :run
-- Keep a curve; the same one fitted again becomes the newest.
INSERT INTO calibrations (id, ranker, method, raw, chance, corpus, questions, answerable, auroc, calibration_error,
                          fitted_at)
VALUES (%(id)s, %(ranker)s, %(method)s, %(raw)s::double precision[], %(chance)s::double precision[], %(corpus)s,
        %(questions)s, %(answerable)s, %(auroc)s, %(calibration_error)s, %(fitted_at)s)
ON CONFLICT (id) DO UPDATE SET fitted_at = excluded.fitted_at

-- name: delete :run
-- Forget a curve; the one before it of the same ranker, if any, holds again.
DELETE FROM calibrations WHERE id = %(id)s

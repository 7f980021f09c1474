-- What measuring leaves behind: the curve that says what a ranker's raw scores mean, and the runs that a later one is
-- compared with. A curve belongs to exactly one ranker name; the newest one of a name holds.

CREATE TABLE calibrations (
    id                 text PRIMARY KEY,
    ranker             text NOT NULL,
    method             text NOT NULL,
    raw                double precision[] NOT NULL,
    chance             double precision[] NOT NULL,
    corpus             text NOT NULL,
    questions          integer NOT NULL,
    answerable         integer NOT NULL,
    auroc              double precision NOT NULL,
    calibration_error  double precision NOT NULL,
    fitted_at          timestamptz NOT NULL DEFAULT now(),
    CHECK (cardinality(raw) > 0 AND cardinality(raw) = cardinality(chance))
);
CREATE INDEX calibrations_ranker ON calibrations (ranker, fitted_at DESC);

CREATE TABLE eval_runs (
    id          text PRIMARY KEY,
    name        text NOT NULL,
    -- A hash of the corpus and the questions, holdout applied: runs of two sets are never compared.
    golden      text NOT NULL,
    settings    jsonb NOT NULL,
    figures     jsonb NOT NULL,
    -- Whether its gates held. One whose did not is no measure for the next, or a loss would be accepted by repetition.
    accepted    boolean NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX eval_runs_golden ON eval_runs (golden, created_at DESC);

-- name: create :run
-- A database of its own, for a measurement or a test.
CREATE DATABASE {name}

-- name: drop :run
-- Throw it away, whoever is still connected.
DROP DATABASE IF EXISTS {name} WITH (FORCE)

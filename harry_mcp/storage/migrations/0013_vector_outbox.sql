-- A second index for vectors, outside of PostgreSQL: what it still has to be told, and where it keeps which space.
--
-- The vectors here stay the truth. The triggers that write to the outbox are made when such an index is put into use and
-- dropped when it is given up (storage/sql/outbox.sql): so every process writes to it, whatever its own settings are,
-- and where there is no such index nothing is written and no statement has a trigger.

-- That a chunk changed, and not how: whoever applies it reads what the chunk is by then. Applying a row twice, or an
-- older one after a newer, comes to the same. Rows are never merged: one that is being applied may be about to go.
CREATE TABLE vector_outbox (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    space_id    integer NOT NULL,
    chunk_id    integer NOT NULL,
    written_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX vector_outbox_space ON vector_outbox (space_id, id);

-- A space has a row here from the moment when everything it holds is in its collection or in the outbox. No reference:
-- the collection of a space that was removed is still to be dropped.
CREATE TABLE vector_collections (
    space_id  integer PRIMARY KEY,
    name      text NOT NULL UNIQUE,
    made_at   timestamptz NOT NULL DEFAULT now()
);

CREATE FUNCTION note_added_vectors() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO harry.vector_outbox (space_id, chunk_id)
    SELECT a.space_id, a.chunk_id FROM added a WHERE a.searchable;
    RETURN NULL;
END
$$;

CREATE FUNCTION note_changed_vectors() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO harry.vector_outbox (space_id, chunk_id)
    SELECT a.space_id, a.chunk_id FROM removed r JOIN added a USING (space_id, chunk_id)
     WHERE r.searchable OR a.searchable;
    RETURN NULL;
END
$$;

CREATE FUNCTION note_removed_vectors() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO harry.vector_outbox (space_id, chunk_id)
    SELECT r.space_id, r.chunk_id FROM removed r WHERE r.searchable;
    RETURN NULL;
END
$$;

-- What filters read of a document is kept with each of its vectors.
CREATE FUNCTION note_refiled_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO harry.vector_outbox (space_id, chunk_id)
    SELECT v.space_id, v.chunk_id FROM harry.chunk_vectors v JOIN harry.chunks c ON c.id = v.chunk_id
     WHERE c.document_id = NEW.id AND v.searchable;
    RETURN NULL;
END
$$;

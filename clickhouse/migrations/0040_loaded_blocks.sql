-- An earlier build, which loads by the place up to which the stream is loaded, fails from now on.

ALTER TABLE loads
    MODIFY COLUMN starts Array(UInt64) DEFAULT [0],
    MODIFY COLUMN ends Array(UInt64) DEFAULT [0];

ALTER TABLE inbox_cursor
    MODIFY COLUMN starts Array(UInt64) DEFAULT [0],
    MODIFY COLUMN ends Array(UInt64) DEFAULT [0];

ALTER TABLE inbox_cursor DROP COLUMN IF EXISTS block, DROP COLUMN IF EXISTS rows;

-- Nothing is loaded before the first load.
INSERT INTO inbox_cursor (stream, load) SELECT 'inbox', 0;

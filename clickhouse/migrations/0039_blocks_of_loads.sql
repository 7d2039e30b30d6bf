-- The stream is loaded as a set of blocks.

-- Where stretches of the stream start and end. Each block has 2^32 positions, of which its rows take the first ones; an end is
-- the position behind its stretch. The first stretch begins at 0, and may be empty. In this table are the stretches that are
-- loaded and still in the inbox; until now they were all before one position.
ALTER TABLE inbox_cursor
    ADD COLUMN IF NOT EXISTS starts Array(UInt64) DEFAULT [0],
    ADD COLUMN IF NOT EXISTS ends Array(UInt64) DEFAULT [if(block = 0 AND rows = 0, 0, bitShiftLeft(block + 1, 32) + rows)];

ALTER TABLE inbox_cursor MATERIALIZE COLUMN starts, MATERIALIZE COLUMN ends SETTINGS mutations_sync = 1;

-- The stretches that a load of the stream takes. Its batch was named `stream-2.5-7`: the rows behind block 2 and behind 5 rows of
-- the next block, up to block 7.
ALTER TABLE loads
    ADD COLUMN IF NOT EXISTS starts Array(UInt64) DEFAULT arrayPushFront(arrayMap(
        place -> bitShiftLeft(toUInt64OrZero(place[1]) + 1, 32) + toUInt64OrZero(place[2]),
        extractAllGroupsVertical(batch, '^stream-(\\d+)(?:\\.(\\d+))?-')), 0),
    ADD COLUMN IF NOT EXISTS ends Array(UInt64) DEFAULT arrayPushFront(arrayMap(
        place -> bitShiftLeft(toUInt64OrZero(place[1]) + 1, 32) + toUInt64OrZero(place[2]),
        extractAllGroupsVertical(batch, '^stream-[0-9.]+-(\\d+)(?:\\.(\\d+))?$')), 0);

ALTER TABLE loads MATERIALIZE COLUMN starts, MATERIALIZE COLUMN ends SETTINGS mutations_sync = 1;

ALTER TABLE projects
    -- How the project was divided before it was widened, oldest first: its events without a user id of the days before `until`
    -- lie by that width.
    ADD COLUMN IF NOT EXISTS former_widths Array(Tuple(width UInt16, until Date)),
    -- Whether its former shards may still have the rows of users who left for the new ones.
    ADD COLUMN IF NOT EXISTS is_widening Bool;

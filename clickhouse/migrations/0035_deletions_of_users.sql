-- Deletions of many users at once.

-- The numbers of the users; empty for a whole project, and for a deletion of one user that version 0.1.0 has begun, which has its
-- number in `user`.
ALTER TABLE removals ADD COLUMN IF NOT EXISTS users Array(UInt32);

-- Rows whose collector has checked the age of the event. Loads check it for all other rows of the stream, with a limit
-- that may differ between processes; an accepted event must never be rejected by it.
ALTER TABLE inbox ADD COLUMN IF NOT EXISTS age_checked Bool DEFAULT false;

-- The pages of other sites that may show the public dashboard of a project in a frame.
ALTER TABLE projects ADD COLUMN IF NOT EXISTS embed_origins Array(String) AFTER has_public_dashboard;

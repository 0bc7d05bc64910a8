-- The ledger's file, form after form: an older file gets what it lacks. SQLite keeps the words of
-- these statements, so that none may be written otherwise, ever.
-- form 1
CREATE TABLE answers (
  key TEXT PRIMARY KEY, endpoint_kind TEXT NOT NULL, model TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ok', 'refused', 'truncated')), finish_reason TEXT,
  prompt_tokens INTEGER, completion_tokens INTEGER, latency REAL, answered REAL,
  text TEXT, request TEXT NOT NULL
);
CREATE TABLE claims (
  key TEXT PRIMARY KEY, owner TEXT NOT NULL, expires REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE attempts (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, account TEXT NOT NULL, model TEXT NOT NULL,
  owner TEXT NOT NULL, started REAL NOT NULL, outcome TEXT,
  prompt_tokens INTEGER, completion_tokens INTEGER, cost INTEGER NOT NULL
);
CREATE INDEX open_attempts ON attempts (account) WHERE outcome IS NULL;
CREATE TABLE accounts (
  account TEXT PRIMARY KEY, currency TEXT, spent INTEGER NOT NULL DEFAULT 0,
  uncertain INTEGER NOT NULL DEFAULT 0, reserved INTEGER NOT NULL DEFAULT 0,
  saved INTEGER NOT NULL DEFAULT 0, calls INTEGER NOT NULL DEFAULT 0,
  hits INTEGER NOT NULL DEFAULT 0
);
-- form 2
CREATE TABLE failures (
  key TEXT PRIMARY KEY, code TEXT NOT NULL, request TEXT NOT NULL
);
-- form 3
CREATE TABLE logprobs (
  key TEXT PRIMARY KEY, logprobs TEXT NOT NULL
);
CREATE TABLE tried (
  block TEXT PRIMARY KEY
) WITHOUT ROWID;
-- form 4
CREATE TABLE batches (
  name TEXT PRIMARY KEY, endpoint TEXT NOT NULL, started REAL NOT NULL, sent REAL, number TEXT
);
CREATE TABLE batch_lines (
  key TEXT PRIMARY KEY, batch TEXT, attempt INTEGER, tries INTEGER NOT NULL, request TEXT NOT NULL
);
CREATE INDEX lines_of_batches ON batch_lines (batch);

-- The EvoMem store, format evomem/1, schema 1.
-- Truth is append-only: text, event, evidence, node, edge, patch, operation, tombstone, reseal.
-- Derived and rebuildable: memory, the counts in namespace, search_doc and search_index.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- `path` ends every label with U+001F, so that a range scan finds a subtree and never a sibling.
CREATE TABLE namespace (
    id            INTEGER PRIMARY KEY,
    path          TEXT NOT NULL UNIQUE,
    n_documents   INTEGER NOT NULL DEFAULT 0,
    n_tokens      INTEGER NOT NULL DEFAULT 0,
    n_events      INTEGER NOT NULL DEFAULT 0,
    n_patches     INTEGER NOT NULL DEFAULT 0,
    last_node     INTEGER NOT NULL DEFAULT 0,
    last_sequence INTEGER NOT NULL DEFAULT 0,
    last_recorded INTEGER NOT NULL DEFAULT 0
);

-- `evidence` is 1 if the text is the content of an event too: a purge then leaves it.
CREATE TABLE text (
    id       INTEGER PRIMARY KEY,
    body     TEXT NOT NULL,
    evidence INTEGER NOT NULL
);

-- `recorded_at` never falls. `digest` seals what the patch wrote, under `salt`; `hash` chains it
-- to the patch before. An erasure deletes content and salt; the digest stays, and so the chain.
CREATE TABLE patch (
    sequence        INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    namespace_id    INTEGER NOT NULL REFERENCES namespace,
    recorded_at     INTEGER NOT NULL,
    actor           TEXT,
    source          TEXT,
    reason          TEXT,
    idempotency_key TEXT,
    payload_digest  BLOB,
    replay          TEXT,
    rollback_of     TEXT,
    salt            BLOB NOT NULL,
    digest          BLOB NOT NULL,
    hash            BLOB NOT NULL
);
CREATE INDEX patch_rollback ON patch (rollback_of) WHERE rollback_of IS NOT NULL;
CREATE UNIQUE INDEX patch_key ON patch (namespace_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

CREATE TABLE event (
    id           TEXT PRIMARY KEY,
    namespace_id INTEGER NOT NULL REFERENCES namespace,
    sequence     INTEGER NOT NULL REFERENCES patch,
    role         TEXT NOT NULL,
    text_id      INTEGER REFERENCES text,
    occurred_at  INTEGER NOT NULL,
    session      TEXT,
    external_id  TEXT
) WITHOUT ROWID;
CREATE INDEX event_sequence ON event (sequence);
CREATE UNIQUE INDEX event_external ON event (namespace_id, external_id)
    WHERE external_id IS NOT NULL;

-- The events that a patch cites, beside those it brings.
CREATE TABLE evidence (
    sequence INTEGER NOT NULL REFERENCES patch,
    event_id TEXT NOT NULL REFERENCES event,
    PRIMARY KEY (sequence, event_id)
) WITHOUT ROWID;

-- `row` is namespace_id << 40 | n: commit order inside a namespace, and the row id of the index,
-- so that a MATCH is confined to one namespace by a range.
CREATE TABLE node (
    row          INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    memory_id    TEXT NOT NULL,
    version      INTEGER NOT NULL,
    sequence     INTEGER NOT NULL REFERENCES patch,
    text_id      INTEGER REFERENCES text,
    fields       TEXT,
    cronista     TEXT NOT NULL,
    digest       BLOB,
    subject      TEXT,
    slot         TEXT,
    scope        TEXT,
    session      TEXT,
    tags         TEXT NOT NULL,
    metadata     TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    valid_from   INTEGER NOT NULL,
    valid_to     INTEGER,
    backdated    INTEGER NOT NULL,
    UNIQUE (memory_id, version)
);
CREATE INDEX node_digest ON node (digest) WHERE digest IS NOT NULL;
CREATE INDEX node_slot ON node (slot) WHERE slot IS NOT NULL;

CREATE TABLE edge (
    id         INTEGER PRIMARY KEY,
    kind       TEXT NOT NULL,
    new        INTEGER NOT NULL REFERENCES node,
    old        INTEGER NOT NULL REFERENCES node,
    sequence   INTEGER NOT NULL REFERENCES patch,
    closed_by  INTEGER REFERENCES patch,
    part       TEXT,
    reason     TEXT,
    linked_by  TEXT NOT NULL,
    confidence REAL NOT NULL,
    CHECK (new <> old)
);
CREATE INDEX edge_old ON edge (old);
CREATE INDEX edge_new ON edge (new);
CREATE INDEX edge_mark ON edge (kind) WHERE kind IN ('amends', 'overrides');

CREATE TABLE operation (
    sequence  INTEGER NOT NULL REFERENCES patch,
    ordinal   INTEGER NOT NULL,
    op        TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    version   INTEGER NOT NULL,
    node      INTEGER NOT NULL REFERENCES node,
    PRIMARY KEY (sequence, ordinal)
) WITHOUT ROWID;
CREATE INDEX operation_memory ON operation (memory_id, version);

-- A node that left recall; `revived` is set when an undoing brought it back, `purged` when its text
-- was deleted too.
CREATE TABLE tombstone (
    node     INTEGER NOT NULL REFERENCES node,
    sequence INTEGER NOT NULL REFERENCES patch,
    revived  INTEGER REFERENCES patch,
    purged   INTEGER REFERENCES patch,
    PRIMARY KEY (node, sequence)
) WITHOUT ROWID;
CREATE UNIQUE INDEX tombstone_standing ON tombstone (node) WHERE revived IS NULL;

-- The digest of what an erasure, the patch `by`, left of an earlier patch; the latest one counts.
CREATE TABLE reseal (
    sequence INTEGER NOT NULL REFERENCES patch,
    by       INTEGER NOT NULL REFERENCES patch,
    digest   BLOB NOT NULL,
    PRIMARY KEY (sequence, by)
) WITHOUT ROWID;

CREATE TABLE suggestion (
    new        INTEGER NOT NULL REFERENCES node,
    old        INTEGER NOT NULL REFERENCES node,
    sequence   INTEGER NOT NULL REFERENCES patch,
    reason     TEXT NOT NULL,
    confidence REAL NOT NULL,
    linker     TEXT NOT NULL,
    PRIMARY KEY (new, old)
) WITHOUT ROWID;
CREATE INDEX suggestion_old ON suggestion (old);

CREATE TABLE memory (
    id                TEXT PRIMARY KEY,
    namespace_id      INTEGER NOT NULL REFERENCES namespace,
    version           INTEGER NOT NULL,
    tip               INTEGER NOT NULL REFERENCES node,
    latest_valid_from INTEGER NOT NULL
) WITHOUT ROWID;

-- Tokens joined by blanks, as the analysis of that version made them.
CREATE TABLE search_doc (
    row      INTEGER PRIMARY KEY,
    analysis INTEGER NOT NULL,
    focus    TEXT NOT NULL,
    body     TEXT NOT NULL
);

-- Every printable character is part of a token: only the blanks between tokens separate.
CREATE VIRTUAL TABLE search_index USING fts5 (
    focus, body,
    content = 'search_doc', content_rowid = 'row',
    tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);

-- The EvoMem store, format evomem/1, schema 1.
-- Truth is append-only: text, event, evidence, node, edge, patch, operation, tombstone, reseal.
-- Derived and rebuildable: memory, all of namespace but id and path, search_doc, search_index,
-- term_count; embedder and vector too, but only by the model that made them.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- `path` ends every label with U+001F, so that a range scan finds a subtree and never a sibling.
-- Documents are written with the text analysis `analysis`. While those of an earlier one are made
-- anew, from the latest node to the first, nodes up to `n_before` still carry `analysis_before`.
CREATE TABLE namespace (
    id              INTEGER PRIMARY KEY,
    path            TEXT NOT NULL UNIQUE,
    n_documents     INTEGER NOT NULL DEFAULT 0,
    n_tokens        INTEGER NOT NULL DEFAULT 0,
    n_events        INTEGER NOT NULL DEFAULT 0,
    n_patches       INTEGER NOT NULL DEFAULT 0,
    n_counted       INTEGER NOT NULL DEFAULT 0,
    last_node       INTEGER NOT NULL DEFAULT 0,
    last_sequence   INTEGER NOT NULL DEFAULT 0,
    last_recorded   INTEGER NOT NULL DEFAULT 0,
    analysis        INTEGER NOT NULL,
    analysis_before INTEGER,
    n_before        INTEGER NOT NULL DEFAULT 0,
    CHECK ((analysis_before IS NULL) = (n_before = 0))
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

-- `row` is namespace_id << 32 | n: commit order inside a namespace. `searchable` says whether it has
-- documents: always, as long as no open edge of succession ends at it (tip), or never.
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
    searchable   TEXT NOT NULL,
    UNIQUE (memory_id, version),
    CHECK (searchable IN ('always', 'tip', 'never'))
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
CREATE INDEX edge_mark ON edge (old) WHERE kind IN ('amends', 'overrides');

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

-- The terms of a node, joined by blanks, for each grade that terms have in it. `row` is the node's
-- row << 10 | grade: a posting tells the node, the weight of the term there and the length of the
-- document, and a MATCH is confined to one namespace by a range. Behind the terms stand facets.
CREATE TABLE search_doc (
    row      INTEGER PRIMARY KEY,
    analysis INTEGER NOT NULL,
    tokens   TEXT NOT NULL
);

-- Every printable character is part of a token: only the blanks between tokens separate. A term
-- stands in one row of a document, once: neither positions nor sizes are needed.
CREATE VIRTUAL TABLE search_index USING fts5 (
    tokens,
    content = 'search_doc', content_rowid = 'row', detail = 'none', columnsize = 0,
    tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);

-- How many documents of a namespace hold a term, of the first `n_counted` nodes; later ones are
-- counted in the index, until there are enough of them to be added here.
CREATE TABLE term_count (
    namespace_id INTEGER NOT NULL REFERENCES namespace,
    term         TEXT NOT NULL,
    n            INTEGER NOT NULL,
    PRIMARY KEY (namespace_id, term)
) WITHOUT ROWID;

CREATE TABLE embedder (
    id        INTEGER PRIMARY KEY,
    name      TEXT NOT NULL UNIQUE,
    dimension INTEGER NOT NULL
);

-- Unit vectors of 32-bit floats, little-endian; ids grow, so that what is new is found by its id.
CREATE TABLE vector (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    node     INTEGER NOT NULL REFERENCES node,
    embedder INTEGER NOT NULL REFERENCES embedder,
    value    BLOB NOT NULL
);
CREATE UNIQUE INDEX vector_node ON vector (node, embedder);

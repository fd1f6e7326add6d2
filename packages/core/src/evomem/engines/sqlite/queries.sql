-- Every statement the engine runs, by name. Lists travel as JSON arrays in one parameter.
-- :spaces  ids of the namespaces in reach       row >> 40  the namespace of a node
-- :known   the last commit that the view knows: what is later is not there

-- name: passes
-- Put in the place of {passes}: whether a node passes the filters of a read.
node.sequence <= :known
  AND (:session IS NULL OR node.session = :session)
  AND (:tags = '[]' OR NOT EXISTS (
      SELECT 1 FROM json_each(:tags) AS wanted
      WHERE wanted.value NOT IN (SELECT value FROM json_each(node.tags))))
  AND (:metadata = '{}' OR NOT EXISTS (
      SELECT 1 FROM json_each(:metadata) AS wanted
      WHERE NOT EXISTS (SELECT 1 FROM json_each(node.metadata) AS has
                        WHERE has.key = wanted.key AND has.value IS wanted.value
                          AND replace(has.type, 'real', 'integer')
                              = replace(wanted.type, 'real', 'integer'))));

-- name: remembered
-- Put in the place of {remembered}: whether a node was not forgotten, unless those are wanted too.
(:removed OR NOT EXISTS (
    SELECT 1 FROM tombstone WHERE tombstone.node = node.row AND tombstone.sequence <= :known));

-- name: space_ids
SELECT id FROM namespace WHERE path = :path
UNION
SELECT id FROM namespace WHERE :children AND path > :path AND path < :end;

-- name: space_counts
SELECT coalesce(sum(n_documents), 0), coalesce(sum(n_tokens), 0) FROM namespace
WHERE id IN (SELECT value FROM json_each(:spaces));

-- name: term_count
SELECT count(*) FROM search_index
WHERE search_index MATCH :match AND rowid BETWEEN :low AND :high;

-- name: term_count_below
SELECT count(*) FROM search_index
WHERE search_index MATCH :match AND (rowid >> 40) IN (SELECT value FROM json_each(:spaces));

-- name: candidates
SELECT node.id, search_doc.focus, search_doc.body
FROM search_index
JOIN search_doc ON search_doc.row = search_index.rowid
JOIN node ON node.row = search_index.rowid
WHERE search_index MATCH :match AND search_index.rowid BETWEEN :low AND :high
  AND {passes} AND {remembered}
ORDER BY search_index.rowid DESC;

-- name: candidates_below
SELECT node.id, search_doc.focus, search_doc.body
FROM search_index
JOIN search_doc ON search_doc.row = search_index.rowid
JOIN node ON node.row = search_index.rowid
WHERE search_index MATCH :match
  AND (search_index.rowid >> 40) IN (SELECT value FROM json_each(:spaces))
  AND {passes} AND {remembered}
ORDER BY node.sequence DESC, node.row DESC;

-- name: recent
SELECT node.id FROM node
WHERE node.row BETWEEN :low AND :high
  AND (:after IS NULL OR node.row < (
           SELECT row FROM node WHERE id = :after AND row BETWEEN :low AND :high))
  AND {passes}
ORDER BY node.row DESC
LIMIT :limit;

-- name: recent_below
SELECT node.id FROM node
WHERE (node.row >> 40) IN (SELECT value FROM json_each(:spaces))
  AND (:after IS NULL
       OR (node.sequence, node.row) < (
           SELECT sequence, row FROM node
           WHERE id = :after AND (row >> 40) IN (SELECT value FROM json_each(:spaces))))
  AND {passes}
ORDER BY node.sequence DESC, node.row DESC
LIMIT :limit;

-- name: lineage
WITH RECURSIVE around (row) AS (
    SELECT row FROM node
    WHERE id IN (SELECT value FROM json_each(:ids))
      AND (row >> 40) IN (SELECT value FROM json_each(:spaces)) AND sequence <= :known
    UNION
    SELECT edge.new FROM around JOIN edge ON edge.old = around.row
    WHERE edge.kind IN ('supersedes', 'refines')
      AND edge.sequence <= :known AND (edge.closed_by IS NULL OR edge.closed_by > :known)
    UNION
    SELECT edge.old FROM around
    JOIN node AS newer ON newer.row = around.row
    JOIN edge ON edge.new = around.row
    JOIN node AS older ON older.row = edge.old
    WHERE (newer.backdated OR newer.valid_from > :at) AND older.memory_id = newer.memory_id
      AND edge.kind IN ('supersedes', 'refines')
      AND edge.sequence <= :known AND (edge.closed_by IS NULL OR edge.closed_by > :known)
)
SELECT node.row, node.id, node.memory_id, node.version, node.sequence, node.scope,
       node.valid_from, node.valid_to, node.backdated, tombstone.node IS NOT NULL
FROM around JOIN node ON node.row = around.row
LEFT JOIN tombstone ON tombstone.node = node.row AND tombstone.sequence <= :known;

-- name: story
WITH RECURSIVE around (row) AS (
    SELECT row FROM node
    WHERE id IN (SELECT value FROM json_each(:ids))
      AND (row >> 40) IN (SELECT value FROM json_each(:spaces)) AND sequence <= :known
    UNION
    SELECT edge.new FROM around JOIN edge ON edge.old = around.row
    WHERE edge.kind IN ('supersedes', 'refines')
      AND edge.sequence <= :known AND (edge.closed_by IS NULL OR edge.closed_by > :known)
    UNION
    SELECT edge.old FROM around JOIN edge ON edge.new = around.row
    WHERE edge.kind IN ('supersedes', 'refines')
      AND edge.sequence <= :known AND (edge.closed_by IS NULL OR edge.closed_by > :known)
)
SELECT node.row, node.id, node.memory_id, node.version, node.sequence, node.scope,
       node.valid_from, node.valid_to, node.backdated, tombstone.node IS NOT NULL
FROM around JOIN node ON node.row = around.row
LEFT JOIN tombstone ON tombstone.node = node.row AND tombstone.sequence <= :known;

-- name: lineage_edges
SELECT edge.kind, newer.id, older.id, edge.sequence, edge.part, edge.reason, edge.linked_by,
       edge.confidence
FROM edge
JOIN node AS newer ON newer.row = edge.new
JOIN node AS older ON older.row = edge.old
WHERE edge.old IN (SELECT value FROM json_each(:rows))
  AND edge.kind IN ('supersedes', 'refines')
  AND edge.sequence <= :known AND (edge.closed_by IS NULL OR edge.closed_by > :known)
ORDER BY edge.id;

-- name: edges
SELECT edge.kind, newer.id, older.id, edge.sequence, edge.part, edge.reason, edge.linked_by,
       edge.confidence
FROM node AS wanted
JOIN edge ON edge.new = wanted.row OR edge.old = wanted.row
JOIN node AS newer ON newer.row = edge.new
JOIN node AS older ON older.row = edge.old
WHERE wanted.id IN (SELECT value FROM json_each(:ids))
  AND (wanted.row >> 40) IN (SELECT value FROM json_each(:spaces))
  AND edge.sequence <= :known AND (edge.closed_by IS NULL OR edge.closed_by > :known)
GROUP BY edge.id ORDER BY edge.id;

-- name: marks
-- What was restored has the words of an earlier node, and its marks.
WITH RECURSIVE before (head, row, refined) AS (
    SELECT row, row, 1 FROM node
    WHERE id IN (SELECT value FROM json_each(:ids))
      AND (row >> 40) IN (SELECT value FROM json_each(:spaces))
      AND EXISTS (SELECT 1 FROM edge WHERE kind IN ('amends', 'overrides'))
    UNION
    SELECT before.head, edge.old, before.refined AND edge.kind <> 'supersedes'
    FROM before JOIN edge ON edge.new = before.row
    WHERE edge.kind IN ('supersedes', 'refines', 'restores')
      AND edge.sequence <= :known AND (edge.closed_by IS NULL OR edge.closed_by > :known)
)
SELECT edge.kind, newer.id, head.id, edge.sequence, edge.part, edge.reason, edge.linked_by,
       edge.confidence
FROM before
JOIN edge ON edge.old = before.row
JOIN node AS newer ON newer.row = edge.new
JOIN node AS head ON head.row = before.head
WHERE edge.sequence <= :known AND (edge.closed_by IS NULL OR edge.closed_by > :known)
  AND (edge.kind = 'overrides' OR (edge.kind = 'amends' AND before.refined))
GROUP BY edge.id, before.head ORDER BY edge.id;

-- name: records
SELECT node.id, node.memory_id, node.version, namespace.path, text.body, node.fields,
       node.cronista, node.subject, node.slot, node.scope, node.session, node.tags,
       node.metadata, node.created_at, patch.recorded_at, node.valid_from, node.valid_to,
       node.backdated, node.sequence, tombstone.purged IS NOT NULL
FROM node
JOIN namespace ON namespace.id = node.row >> 40
JOIN patch ON patch.sequence = node.sequence
LEFT JOIN text ON text.id = node.text_id
LEFT JOIN tombstone ON tombstone.node = node.row
WHERE node.id IN (SELECT value FROM json_each(:ids))
  AND (node.row >> 40) IN (SELECT value FROM json_each(:spaces)) AND node.sequence <= :known;

-- name: memories
SELECT memory.id, memory.version, node.id, memory.latest_valid_from
FROM memory JOIN node ON node.row = memory.tip
WHERE memory.id IN (SELECT value FROM json_each(:ids))
  AND memory.namespace_id IN (SELECT value FROM json_each(:spaces));

-- name: memories_known
SELECT memory.id,
       (SELECT max(version) FROM operation
        WHERE memory_id = memory.id AND sequence <= :known),
       (SELECT id FROM node WHERE memory_id = memory.id AND sequence <= :known
        ORDER BY version DESC LIMIT 1),
       (SELECT max(valid_from) FROM node WHERE memory_id = memory.id AND sequence <= :known)
FROM memory
WHERE memory.id IN (SELECT value FROM json_each(:ids))
  AND memory.namespace_id IN (SELECT value FROM json_each(:spaces))
  AND EXISTS (SELECT 1 FROM node WHERE memory_id = memory.id AND sequence <= :known);

-- name: steps
-- The operations on a memory, the oldest first.
SELECT operation.op, operation.version, node.id, patch.id, patch.sequence, patch.recorded_at,
       patch.actor, patch.reason
FROM operation
JOIN patch ON patch.sequence = operation.sequence
JOIN node ON node.row = operation.node
WHERE operation.memory_id = :memory AND operation.sequence <= :known
  AND patch.namespace_id IN (SELECT value FROM json_each(:spaces))
ORDER BY operation.version;

-- name: expand
SELECT id FROM node
WHERE id >= :prefix AND id < :prefix || char(1114111)
  AND (row >> 40) IN (SELECT value FROM json_each(:spaces)) AND sequence <= :known
LIMIT :limit;

-- name: twins
SELECT node.id, node.sequence FROM node LEFT JOIN tombstone ON tombstone.node = node.row
WHERE node.digest = :digest AND node.row BETWEEN :low AND :high AND tombstone.node IS NULL
ORDER BY node.row DESC LIMIT 8;

-- name: slot
SELECT id, sequence FROM node
WHERE slot = :slot AND scope IS :scope AND row BETWEEN :low AND :high
ORDER BY row DESC LIMIT 1;

-- name: replay
SELECT patch.id, patch.payload_digest, patch.replay FROM patch
JOIN namespace ON namespace.id = patch.namespace_id
WHERE namespace.path = :path AND patch.idempotency_key = :key;

-- name: suggestions
SELECT newer.id, older.id, suggestion.reason, suggestion.confidence
FROM suggestion
JOIN node AS newer ON newer.row = suggestion.new
JOIN node AS older ON older.row = suggestion.old
WHERE (suggestion.new >> 40) IN (SELECT value FROM json_each(:spaces))
  AND suggestion.sequence <= :known
ORDER BY suggestion.sequence DESC, suggestion.confidence DESC;

-- name: suggestions_about
SELECT newer.id, older.id, suggestion.reason, suggestion.confidence
FROM node AS older
JOIN suggestion ON suggestion.old = older.row
JOIN node AS newer ON newer.row = suggestion.new
WHERE older.id IN (SELECT value FROM json_each(:ids))
  AND (older.row >> 40) IN (SELECT value FROM json_each(:spaces))
  AND suggestion.sequence <= :known
ORDER BY suggestion.sequence DESC, suggestion.confidence DESC;

-- name: statuses
-- What can be told from a node and its direct successors; NULL is left to the lineage.
SELECT CASE
    WHEN tombstone.node IS NOT NULL THEN 'forgotten'
    WHEN node.valid_from > :now THEN 'scheduled'
    WHEN EXISTS (
        SELECT 1 FROM edge JOIN node AS newer ON newer.row = edge.new
        WHERE edge.old = node.row AND edge.kind = 'supersedes' AND edge.closed_by IS NULL
          AND newer.valid_from <= :now
          AND (newer.memory_id <> node.memory_id OR newer.version < node.version
               OR newer.valid_from >= node.valid_from)
    ) THEN 'superseded'
    WHEN NOT node.backdated AND node.valid_to IS NULL AND NOT EXISTS (
        SELECT 1 FROM edge WHERE edge.old = node.row AND edge.closed_by IS NULL
          AND edge.kind IN ('supersedes', 'refines')
    ) THEN 'active'
    END AS status, count(*)
FROM node LEFT JOIN tombstone ON tombstone.node = node.row
WHERE node.row BETWEEN :low AND :high
GROUP BY status;

-- name: unplain
-- The nodes for which `statuses` says NULL.
SELECT node.id FROM node LEFT JOIN tombstone ON tombstone.node = node.row
WHERE node.row BETWEEN :low AND :high
  AND tombstone.node IS NULL AND node.valid_from <= :now
  AND NOT EXISTS (
      SELECT 1 FROM edge JOIN node AS newer ON newer.row = edge.new
      WHERE edge.old = node.row AND edge.kind = 'supersedes' AND edge.closed_by IS NULL
        AND newer.valid_from <= :now
        AND (newer.memory_id <> node.memory_id OR newer.version < node.version
               OR newer.valid_from >= node.valid_from))
  AND (node.backdated OR node.valid_to IS NOT NULL OR EXISTS (
      SELECT 1 FROM edge WHERE edge.old = node.row AND edge.closed_by IS NULL
        AND edge.kind IN ('supersedes', 'refines')));

-- name: figures
SELECT (SELECT value FROM meta WHERE key = 'store_id'),
       (SELECT count(*) FROM node WHERE text_id IS NOT NULL AND row BETWEEN :low AND :high),
       (SELECT n_events FROM namespace WHERE id = :space),
       (SELECT n_patches FROM namespace WHERE id = :space);

-- name: last_commit
SELECT last_sequence, last_recorded FROM namespace WHERE path = :path;

-- name: sequences
SELECT sequence FROM patch
WHERE sequence > :since AND sequence <= :known
  AND namespace_id IN (SELECT value FROM json_each(:spaces))
ORDER BY sequence LIMIT :limit;

-- name: latest_sequences
SELECT sequence FROM patch
WHERE sequence > :since AND sequence <= :known
  AND namespace_id IN (SELECT value FROM json_each(:spaces))
ORDER BY sequence DESC LIMIT :limit;

-- name: sequences_of
SELECT sequence FROM patch
WHERE id IN (SELECT value FROM json_each(:ids)) AND sequence <= :known
  AND namespace_id IN (SELECT value FROM json_each(:spaces));

-- name: later_patches
-- The patches after :since that did something to one of some memories.
SELECT DISTINCT patch.id, patch.rollback_of
FROM operation JOIN patch ON patch.sequence = operation.sequence
WHERE operation.memory_id IN (SELECT value FROM json_each(:ids)) AND patch.sequence > :since
  AND patch.namespace_id IN (SELECT value FROM json_each(:spaces))
ORDER BY patch.sequence;

-- name: patch_ids
SELECT id FROM patch
WHERE sequence IN (SELECT value FROM json_each(:sequences))
  AND namespace_id IN (SELECT value FROM json_each(:spaces))
ORDER BY sequence;

-- name: commit_time
SELECT recorded_at FROM patch WHERE sequence = :sequence;

-- name: events
SELECT event.id, event.role, text.body, event.occurred_at, event.session, event.external_id,
       patch.id, patch.recorded_at
FROM event
JOIN patch ON patch.sequence = event.sequence
LEFT JOIN text ON text.id = event.text_id
WHERE event.id IN (SELECT value FROM json_each(:ids)) AND event.sequence <= :known
  AND event.namespace_id IN (SELECT value FROM json_each(:spaces));

-- name: event_by_external_id
SELECT event.id FROM event
WHERE event.external_id = :external_id
  AND event.namespace_id IN (SELECT value FROM json_each(:spaces));

-- name: log_patches
SELECT patch.sequence, patch.id, namespace.path, patch.recorded_at, patch.actor, patch.source,
       patch.reason, patch.idempotency_key, patch.payload_digest, patch.replay, patch.rollback_of,
       patch.salt, patch.digest, patch.hash,
       (SELECT id FROM patch AS later WHERE later.rollback_of = patch.id
        ORDER BY later.sequence DESC LIMIT 1)
FROM patch JOIN namespace ON namespace.id = patch.namespace_id
WHERE patch.sequence IN (SELECT value FROM json_each(:sequences)) ORDER BY patch.sequence;

-- name: log_events
SELECT event.sequence, event.id, event.role, text.body, event.occurred_at, event.session,
       event.external_id
FROM event LEFT JOIN text ON text.id = event.text_id
WHERE event.sequence IN (SELECT value FROM json_each(:sequences));

-- name: log_evidence
SELECT sequence, event_id FROM evidence
WHERE sequence IN (SELECT value FROM json_each(:sequences));

-- name: log_nodes
SELECT operation.sequence, node.id, node.memory_id, node.version, text.body, node.fields,
       node.cronista, node.subject, node.slot, node.scope, node.session, node.tags, node.metadata,
       node.created_at, node.valid_from, node.valid_to, node.backdated
FROM operation
JOIN node ON node.row = operation.node AND node.sequence = operation.sequence
LEFT JOIN text ON text.id = node.text_id
WHERE operation.sequence IN (SELECT value FROM json_each(:sequences))
GROUP BY node.row ORDER BY node.row;

-- name: log_edges
SELECT edge.sequence, edge.kind, newer.id, older.id, edge.part, edge.reason, edge.linked_by,
       edge.confidence
FROM operation
JOIN edge ON edge.new = operation.node AND edge.sequence = operation.sequence
JOIN node AS newer ON newer.row = edge.new
JOIN node AS older ON older.row = edge.old
WHERE operation.sequence IN (SELECT value FROM json_each(:sequences))
GROUP BY edge.id ORDER BY edge.id;

-- name: log_closed
SELECT edge.closed_by, edge.kind, newer.id, older.id
FROM operation
JOIN edge ON edge.new = operation.node AND edge.closed_by = operation.sequence
JOIN node AS newer ON newer.row = edge.new
JOIN node AS older ON older.row = edge.old
WHERE operation.sequence IN (SELECT value FROM json_each(:sequences))
GROUP BY edge.id ORDER BY edge.id;

-- name: log_removed
SELECT tombstone.sequence, node.id
FROM operation
JOIN tombstone ON tombstone.node = operation.node AND tombstone.sequence = operation.sequence
JOIN node ON node.row = tombstone.node
WHERE operation.sequence IN (SELECT value FROM json_each(:sequences))
GROUP BY node.row ORDER BY node.row;

-- name: log_purged
SELECT tombstone.purged, node.id
FROM operation
JOIN tombstone ON tombstone.node = operation.node AND tombstone.purged = operation.sequence
JOIN node ON node.row = tombstone.node
WHERE operation.sequence IN (SELECT value FROM json_each(:sequences))
GROUP BY node.row ORDER BY node.row;

-- name: log_operations
SELECT operation.sequence, operation.ordinal, operation.op, operation.memory_id,
       operation.version, node.id
FROM operation JOIN node ON node.row = operation.node
WHERE operation.sequence IN (SELECT value FROM json_each(:sequences))
ORDER BY operation.sequence, operation.ordinal;

-- name: log_suggestions
SELECT suggestion.sequence, newer.id, older.id, suggestion.reason, suggestion.confidence,
       suggestion.linker
FROM operation
JOIN suggestion ON suggestion.new = operation.node AND suggestion.sequence = operation.sequence
JOIN node AS newer ON newer.row = suggestion.new
JOIN node AS older ON older.row = suggestion.old
WHERE operation.sequence IN (SELECT value FROM json_each(:sequences))
GROUP BY suggestion.new, suggestion.old;

-- name: log_reseals
-- What the erasing patches in :sequences left of others.
SELECT by, sequence, digest FROM reseal
WHERE by IN (SELECT value FROM json_each(:sequences));

-- name: resealed
-- The latest seal of each of :sequences that an erasure touched.
SELECT sequence, digest, max(by) FROM reseal
WHERE sequence IN (SELECT value FROM json_each(:sequences)) GROUP BY sequence;

-- name: pages
SELECT page_count * page_size FROM pragma_page_count, pragma_page_size;

-- name: latest_patch
SELECT sequence, recorded_at, hash FROM patch ORDER BY sequence DESC LIMIT 1;

-- name: find_namespace
SELECT id, last_node FROM namespace WHERE path = :path;

-- name: add_namespace
INSERT INTO namespace (path) VALUES (:path);

-- name: count_namespace
UPDATE namespace
SET last_node = :last_node, last_sequence = :sequence,
    last_recorded = max(last_recorded, :recorded),
    n_patches = n_patches + 1, n_events = n_events + :events,
    n_documents = n_documents + :documents, n_tokens = n_tokens + :tokens
WHERE id = :id;

-- name: memory_versions
SELECT id, version FROM memory WHERE id IN (SELECT value FROM json_each(:ids));

-- name: rows
SELECT id, row FROM node
WHERE id IN (SELECT value FROM json_each(:ids)) AND row BETWEEN :low AND :high;

-- name: add_patch
INSERT INTO patch (sequence, id, namespace_id, recorded_at, actor, source, reason,
                   idempotency_key, payload_digest, replay, rollback_of, salt, digest, hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_evidence
INSERT INTO evidence (sequence, event_id) VALUES (?, ?);

-- name: add_text
INSERT INTO text (body, evidence) VALUES (?, ?);

-- name: add_event
INSERT INTO event (id, namespace_id, sequence, role, text_id, occurred_at, session, external_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_node
INSERT INTO node (row, id, memory_id, version, sequence, text_id, fields, cronista, digest,
                  subject, slot, scope, session, tags, metadata, created_at, valid_from,
                  valid_to, backdated)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_operation
INSERT INTO operation (sequence, ordinal, op, memory_id, version, node) VALUES (?, ?, ?, ?, ?, ?);

-- name: add_edge
INSERT INTO edge (kind, new, old, sequence, part, reason, linked_by, confidence)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: close_edge
UPDATE edge SET closed_by = :sequence
WHERE kind = :kind AND new = :new AND old = :old AND closed_by IS NULL;

-- name: set_memory
INSERT INTO memory (id, namespace_id, version, tip, latest_valid_from) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE
SET version = excluded.version, tip = excluded.tip,
    latest_valid_from = max(latest_valid_from, excluded.latest_valid_from);

-- name: count_operation
UPDATE memory SET version = :version WHERE id = :id;

-- name: add_tombstone
INSERT INTO tombstone (node, sequence) VALUES (:node, :sequence);

-- name: mark_purged
UPDATE tombstone SET purged = :sequence WHERE node = :node AND purged IS NULL;

-- name: touched_by_purge
-- The commits that hold words which a purge of :node deletes.
SELECT sequence FROM node WHERE row = :node
UNION
SELECT sequence FROM edge
WHERE (new = :node OR old = :node) AND (part IS NOT NULL OR reason IS NOT NULL);

-- name: resalt
UPDATE patch SET salt = :salt WHERE sequence = :sequence;

-- name: add_reseal
INSERT INTO reseal (sequence, by, digest) VALUES (?, ?, ?);

-- name: set_seal
UPDATE patch SET digest = :digest, hash = :hash WHERE sequence = :sequence;

-- name: purge_edges
-- A quotation and a reason may hold words of the purged text.
UPDATE edge SET part = NULL, reason = NULL WHERE new = :node OR old = :node;

-- name: purge_suggestions
DELETE FROM suggestion WHERE new = :node OR old = :node;

-- name: purge_node
UPDATE node SET text_id = NULL, fields = NULL, digest = NULL, subject = NULL, tags = '[]',
                metadata = '{}'
WHERE row = :node;

-- name: text_of
SELECT text_id FROM node WHERE row = :node;

-- name: drop_text
DELETE FROM text WHERE id = :text_id AND NOT evidence;

-- name: add_suggestion
INSERT INTO suggestion (new, old, sequence, reason, confidence, linker) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (new, old) DO NOTHING;

-- name: add_search_doc
INSERT INTO search_doc (row, analysis, focus, body) VALUES (?, ?, ?, ?);

-- name: index_doc
INSERT INTO search_index (rowid, focus, body) VALUES (?, ?, ?);

-- name: find_search_doc
SELECT focus, body FROM search_doc WHERE row = :node;

-- name: unindex_doc
INSERT INTO search_index (search_index, rowid, focus, body)
VALUES ('delete', :node, :focus, :body);

-- name: drop_search_doc
DELETE FROM search_doc WHERE row = :node;

-- name: check_index
INSERT INTO search_index (search_index, rank) VALUES ('integrity-check', 1);

-- name: unindexed
SELECT count(*) FROM node
WHERE row NOT IN (SELECT row FROM search_doc)
  AND row NOT IN (SELECT node FROM tombstone WHERE purged IS NOT NULL);

-- name: indexed_purged
SELECT count(*) FROM search_doc
WHERE row IN (SELECT node FROM tombstone WHERE purged IS NOT NULL);

-- name: miscounted_namespaces
SELECT count(*) FROM namespace
WHERE n_documents <> (SELECT count(*) FROM search_doc WHERE row >> 40 = namespace.id)
   OR n_tokens <> (
       SELECT coalesce(sum((focus <> '') + length(focus) - length(replace(focus, ' ', ''))
                           + (body <> '') + length(body) - length(replace(body, ' ', ''))), 0)
       FROM search_doc WHERE row >> 40 = namespace.id);

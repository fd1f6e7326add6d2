-- Every statement the engine runs, by name. Lists travel as JSON arrays in one parameter.
-- :spaces  ids of the namespaces in reach       row >> 32  the namespace of a node
-- :known   the last commit that the view knows: what is later is not there

-- name: passes
-- Put in the place of {passes}: whether a node passes the filters of a read.
node.sequence BETWEEN :first AND min(:last, :known)
  AND (:begins_after IS NULL OR node.valid_from > :begins_after)
  AND (:session IS NULL OR node.session = :session)
  AND (:tags = '[]' OR json_array_length(:tags) = (
      SELECT count(DISTINCT has.value) FROM json_each(node.tags) AS has
      WHERE has.value IN (SELECT value FROM json_each(:tags))))
  AND (:tags_any = '[]' OR EXISTS (
      SELECT 1 FROM json_each(node.tags) AS has
      WHERE has.value IN (SELECT value FROM json_each(:tags_any))))
  AND (:tags_none = '[]' OR NOT EXISTS (
      SELECT 1 FROM json_each(node.tags) AS has
      WHERE has.value IN (SELECT value FROM json_each(:tags_none))))
  AND (:relation IS NULL OR EXISTS (
      SELECT 1 FROM edge
      WHERE edge.new = node.row AND edge.kind = :relation AND edge.sequence <= :known
        AND (edge.closed_by IS NULL OR edge.closed_by > :known)))
  -- In this order: what was replaced is left out before its metadata are read.
  AND CASE WHEN
    :standing IS NULL OR NOT EXISTS (
          SELECT 1 FROM edge JOIN node AS newer ON newer.row = edge.new
          WHERE edge.old = node.row AND edge.kind IN ('supersedes', 'refines')
            AND edge.sequence <= :known AND (edge.closed_by IS NULL OR edge.closed_by > :known)
            AND newer.valid_from <= :standing
            AND (newer.memory_id <> node.memory_id OR newer.version < node.version
                 OR newer.valid_from >= node.valid_from)
            AND NOT EXISTS (SELECT 1 FROM edge WHERE old = node.row AND new < node.row))
    THEN :metadata = '{}' OR metadata_matches(node.metadata, :metadata) END;

-- name: remembered
-- Put in the place of {remembered}: whether a node was not forgotten, unless those are wanted too.
(:removed OR NOT EXISTS (
    SELECT 1 FROM tombstone
    WHERE tombstone.node = node.row AND tombstone.sequence <= :known
      AND (tombstone.revived IS NULL OR tombstone.revived > :known)));

-- name: findable
-- Put in the place of {findable}: whether a node with a text is to have search documents.
node.searchable = 'always' OR (node.searchable = 'tip' AND NOT EXISTS (
    SELECT 1 FROM edge
    WHERE edge.old = node.row AND edge.kind IN ('supersedes', 'refines')
      AND edge.closed_by IS NULL));

-- name: indexed
-- Put in the place of {indexed}: whether a node has search documents.
EXISTS (SELECT 1 FROM search_doc
        WHERE search_doc.row BETWEEN node.row << 10 AND node.row << 10 | 1023);

-- name: space_ids
SELECT id FROM namespace WHERE path = :path
UNION
SELECT id FROM namespace WHERE :children AND path > :path AND path < :end;

-- name: live_spaces
-- Namespaces with a memory whose tip was not forgotten. The latest node nearly always is such a tip.
SELECT path FROM namespace
WHERE (path = :path OR (:children AND path > :path AND path < :end))
  AND (SELECT row FROM node
       WHERE row BETWEEN namespace.id << 32 AND namespace.id << 32 | 0xFFFFFFFF
         AND sequence <= :known
         AND NOT EXISTS (
             SELECT 1 FROM node AS later
             WHERE later.memory_id = node.memory_id AND later.version > node.version
               AND later.sequence <= :known)
         AND NOT EXISTS (
             SELECT 1 FROM tombstone
             WHERE tombstone.node = node.row AND tombstone.sequence <= :known
               AND (tombstone.revived IS NULL OR tombstone.revived > :known))
       ORDER BY row DESC LIMIT 1) IS NOT NULL
ORDER BY path;

-- name: space_counts
SELECT coalesce(sum(n_documents), 0), coalesce(sum(n_tokens), 0), coalesce(max(n_counted), 0),
       coalesce(max(last_node), 0)
FROM namespace WHERE id IN (SELECT value FROM json_each(:spaces));

-- name: analyses
-- The versions of text analysis that documents carry, the newest first.
SELECT analysis AS version FROM namespace
WHERE n_documents > 0 AND id IN (SELECT value FROM json_each(:spaces))
UNION
SELECT analysis_before FROM namespace
WHERE analysis_before IS NOT NULL AND id IN (SELECT value FROM json_each(:spaces))
ORDER BY version DESC;

-- name: term_counts
SELECT term, n FROM term_count
WHERE namespace_id = :space AND term IN (SELECT value FROM json_each(:terms));

-- name: term_count
SELECT count(*) FROM search_index
WHERE search_index MATCH :match AND rowid BETWEEN :low AND :high;

-- name: term_count_below
SELECT count(*) FROM json_each(:spaces) AS space
CROSS JOIN search_index
    ON search_index.rowid BETWEEN space.value << 42 AND space.value << 42 | 0x3FFFFFFFFFF
WHERE search_index MATCH :match;

-- name: postings
-- One array instead of a row for each: rows are what a long list costs.
SELECT json_group_array(rowid) FROM search_index
WHERE search_index MATCH :match AND rowid BETWEEN :low AND :high;

-- name: postings_below
SELECT json_group_array(search_index.rowid) FROM json_each(:spaces) AS space
CROSS JOIN search_index
    ON search_index.rowid BETWEEN space.value << 42 AND space.value << 42 | 0x3FFFFFFFFFF
WHERE search_index MATCH :match AND search_index.rowid <= :high;

-- name: latest_postings
SELECT json_group_array(posting) FROM (
    SELECT rowid AS posting FROM search_index
    WHERE search_index MATCH :match AND rowid BETWEEN :low AND :high
    ORDER BY rowid DESC LIMIT :limit);

-- name: latest_postings_below
SELECT json_group_array(posting) FROM (
    SELECT search_index.rowid AS posting FROM json_each(:spaces) AS space
    CROSS JOIN search_index
        ON search_index.rowid BETWEEN space.value << 42 AND space.value << 42 | 0x3FFFFFFFFFF
    WHERE search_index MATCH :match AND search_index.rowid <= :high
    ORDER BY search_index.rowid DESC LIMIT :limit);

-- name: documents
SELECT node.id, node.row, node.sequence, search_doc.row & 1023, search_doc.tokens
FROM json_each(:rows) AS wanted
JOIN node ON node.row = wanted.value
JOIN search_doc ON search_doc.row BETWEEN node.row << 10 AND node.row << 10 | 1023
WHERE {passes} AND {remembered};

-- name: embedder
SELECT id, dimension FROM embedder WHERE name = :embedder;

-- name: latest_vector
SELECT coalesce(max(id), 0) FROM vector;

-- name: count_vectors
SELECT count(*) FROM vector
WHERE node BETWEEN :low AND :high AND embedder = :embedder AND +id <= :last;

-- name: vectors
SELECT node, value FROM vector
WHERE node BETWEEN :low AND :high AND embedder = :embedder AND +id > :after AND +id <= :last
  AND length(value) = :size
ORDER BY node;

-- name: new_vectors
SELECT node, value FROM vector
WHERE id > :after AND id <= :last AND +embedder = :embedder AND +node BETWEEN :low AND :high
  AND length(value) = :size;

-- name: near
-- The index of vectors tells whether there is one; none is read.
SELECT node.row, node.sequence, node.id
FROM json_each(:rows) AS wanted
CROSS JOIN node ON node.row = wanted.value
CROSS JOIN vector ON vector.node = node.row AND vector.embedder = :embedder
WHERE {passes} AND {remembered};

-- name: near_vectors
SELECT node.row, node.sequence, node.id, vector.value
FROM json_each(:rows) AS wanted
CROSS JOIN node ON node.row = wanted.value
CROSS JOIN vector ON vector.node = node.row AND vector.embedder = :embedder
WHERE {passes} AND {remembered};

-- name: unembedded
SELECT node.id, node.subject, text.body
FROM node JOIN text ON text.id = node.text_id
WHERE node.row BETWEEN :low AND :high
  AND node.row > coalesce((SELECT row FROM node WHERE id = :after), 0)
  AND NOT EXISTS (SELECT 1 FROM vector
                  WHERE vector.node = node.row AND vector.embedder = :embedder)
  AND {indexed}
ORDER BY node.row LIMIT :limit;

-- name: missing_vectors
SELECT count(*) FROM node
WHERE row BETWEEN :low AND :high AND text_id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM vector
                  WHERE vector.node = node.row AND vector.embedder = :embedder)
  AND {indexed};

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
WHERE (node.row >> 32) IN (SELECT value FROM json_each(:spaces))
  AND (:after IS NULL
       OR (node.sequence, node.row) < (
           SELECT sequence, row FROM node
           WHERE id = :after AND (row >> 32) IN (SELECT value FROM json_each(:spaces))))
  AND {passes}
ORDER BY node.sequence DESC, node.row DESC
LIMIT :limit;

-- name: lineage
WITH RECURSIVE around (row) AS (
    SELECT row FROM node
    WHERE id IN (SELECT value FROM json_each(:ids))
      AND (row >> 32) IN (SELECT value FROM json_each(:spaces)) AND sequence <= :known
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
LEFT JOIN tombstone ON tombstone.node = node.row AND tombstone.sequence <= :known
  AND (tombstone.revived IS NULL OR tombstone.revived > :known);

-- name: story
WITH RECURSIVE around (row) AS (
    SELECT row FROM node
    WHERE id IN (SELECT value FROM json_each(:ids))
      AND (row >> 32) IN (SELECT value FROM json_each(:spaces)) AND sequence <= :known
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
LEFT JOIN tombstone ON tombstone.node = node.row AND tombstone.sequence <= :known
  AND (tombstone.revived IS NULL OR tombstone.revived > :known);

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
  AND (wanted.row >> 32) IN (SELECT value FROM json_each(:spaces))
  AND edge.sequence <= :known AND (edge.closed_by IS NULL OR edge.closed_by > :known)
GROUP BY edge.id ORDER BY edge.id;

-- name: marked
-- The greatest version of some nodes, if anything is marked in their namespaces.
SELECT max(version) FROM node
WHERE id IN (SELECT value FROM json_each(:ids))
  AND (row >> 32) IN (SELECT value FROM json_each(:spaces))
  AND EXISTS (SELECT 1 FROM edge
              WHERE kind IN ('amends', 'overrides')
                AND old BETWEEN node.row & ~0xFFFFFFFF AND node.row | 0xFFFFFFFF);

-- name: marks
-- What was restored has the words of an earlier node, and its marks.
WITH RECURSIVE before (head, row, refined) AS (
    SELECT row, row, 1 FROM node
    WHERE id IN (SELECT value FROM json_each(:ids))
      AND (row >> 32) IN (SELECT value FROM json_each(:spaces))
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

-- name: marks_forward
-- The same from what is marked on: for nodes with a long story before them.
WITH RECURSIVE after (marked, row, refined) AS (
    SELECT edge.old, edge.old, 1 FROM json_each(:spaces) AS space
    CROSS JOIN edge ON edge.old BETWEEN space.value << 32 AND space.value << 32 | 0xFFFFFFFF
    WHERE edge.kind IN ('amends', 'overrides')
    UNION
    SELECT after.marked, edge.new, after.refined AND edge.kind <> 'supersedes'
    FROM after JOIN edge ON edge.old = after.row
    WHERE edge.kind IN ('supersedes', 'refines', 'restores')
      AND edge.sequence <= :known AND (edge.closed_by IS NULL OR edge.closed_by > :known)
)
SELECT edge.kind, newer.id, head.id, edge.sequence, edge.part, edge.reason, edge.linked_by,
       edge.confidence
FROM after
JOIN node AS head ON head.row = after.row
JOIN edge ON edge.old = after.marked
JOIN node AS newer ON newer.row = edge.new
WHERE head.id IN (SELECT value FROM json_each(:ids))
  AND edge.sequence <= :known AND (edge.closed_by IS NULL OR edge.closed_by > :known)
  AND (edge.kind = 'overrides' OR (edge.kind = 'amends' AND after.refined))
GROUP BY edge.id, head.row ORDER BY edge.id;

-- name: records
SELECT node.id, node.memory_id, node.version, namespace.path, text.body, node.fields,
       node.cronista, node.subject, node.slot, node.scope, node.session, node.tags,
       node.metadata, node.created_at, patch.recorded_at, node.valid_from, node.valid_to,
       node.backdated, node.searchable, node.sequence, tombstone.purged IS NOT NULL
FROM node
JOIN namespace ON namespace.id = node.row >> 32
JOIN patch ON patch.sequence = node.sequence
LEFT JOIN text ON text.id = node.text_id
LEFT JOIN tombstone ON tombstone.node = node.row AND tombstone.purged IS NOT NULL
WHERE node.id IN (SELECT value FROM json_each(:ids))
  AND (node.row >> 32) IN (SELECT value FROM json_each(:spaces)) AND node.sequence <= :known;

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
-- The first letter of an id says its kind, so that a prefix fits ids of one table.
SELECT id FROM node
WHERE id >= :prefix AND id < :prefix || char(1114111)
  AND (row >> 32) IN (SELECT value FROM json_each(:spaces)) AND sequence <= :known
UNION ALL
SELECT id FROM memory
WHERE id >= :prefix AND id < :prefix || char(1114111)
  AND namespace_id IN (SELECT value FROM json_each(:spaces))
  AND EXISTS (SELECT 1 FROM node WHERE memory_id = memory.id AND sequence <= :known)
UNION ALL
SELECT id FROM patch
WHERE id >= :prefix AND id < :prefix || char(1114111)
  AND namespace_id IN (SELECT value FROM json_each(:spaces)) AND sequence <= :known
UNION ALL
SELECT id FROM event
WHERE id >= :prefix AND id < :prefix || char(1114111)
  AND namespace_id IN (SELECT value FROM json_each(:spaces)) AND sequence <= :known
LIMIT :limit;

-- name: twins
SELECT node.id, node.sequence
FROM node LEFT JOIN tombstone ON tombstone.node = node.row AND tombstone.revived IS NULL
WHERE node.digest = :digest AND node.row BETWEEN :low AND :high AND tombstone.node IS NULL
ORDER BY node.row DESC LIMIT 8;

-- name: slot
SELECT id, sequence FROM node
WHERE slot = :slot AND scope IS :scope AND row BETWEEN :low AND :high
ORDER BY row DESC LIMIT 1;

-- name: slot_values
-- For each [slot, scope] in :keys the latest node that has it and had begun.
SELECT json_extract(wanted.value, '$[0]'), json_extract(wanted.value, '$[1]'), node.id,
       node.sequence
FROM json_each(:keys) AS wanted
JOIN node ON node.row = (
    SELECT row FROM node
    WHERE slot = json_extract(wanted.value, '$[0]') AND scope IS json_extract(wanted.value, '$[1]')
      AND row BETWEEN :low AND :high AND sequence <= :known AND valid_from <= :at
    ORDER BY row DESC LIMIT 1);

-- name: replay
SELECT patch.id, patch.payload_digest, patch.replay FROM patch
JOIN namespace ON namespace.id = patch.namespace_id
WHERE namespace.path = :path AND patch.idempotency_key = :key;

-- name: suggestions
SELECT newer.id, older.id, suggestion.reason, suggestion.confidence
FROM suggestion
JOIN node AS newer ON newer.row = suggestion.new
JOIN node AS older ON older.row = suggestion.old
WHERE (suggestion.new >> 32) IN (SELECT value FROM json_each(:spaces))
  AND suggestion.sequence <= :known
ORDER BY suggestion.sequence DESC, suggestion.confidence DESC;

-- name: suggestions_about
SELECT newer.id, older.id, suggestion.reason, suggestion.confidence
FROM node AS older
JOIN suggestion ON suggestion.old = older.row
JOIN node AS newer ON newer.row = suggestion.new
WHERE older.id IN (SELECT value FROM json_each(:ids))
  AND (older.row >> 32) IN (SELECT value FROM json_each(:spaces))
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
FROM node LEFT JOIN tombstone ON tombstone.node = node.row AND tombstone.revived IS NULL
WHERE node.row BETWEEN :low AND :high
GROUP BY status;

-- name: unplain
-- The nodes for which `statuses` says NULL.
SELECT node.id
FROM node LEFT JOIN tombstone ON tombstone.node = node.row AND tombstone.revived IS NULL
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

-- name: last_commit_known
SELECT patch.sequence, patch.recorded_at
FROM namespace JOIN patch ON patch.namespace_id = namespace.id
WHERE namespace.path = :path AND patch.sequence <= :known
ORDER BY patch.sequence DESC LIMIT 1;

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
  AND patch.sequence <= :known
  AND patch.namespace_id IN (SELECT value FROM json_each(:spaces))
ORDER BY patch.sequence;

-- name: patch_ids
SELECT id FROM patch
WHERE sequence IN (SELECT value FROM json_each(:sequences)) AND sequence <= :known
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
WHERE event.external_id = :external_id AND event.sequence <= :known
  AND event.namespace_id IN (SELECT value FROM json_each(:spaces));

-- name: log_patches
SELECT patch.sequence, patch.id, namespace.path, patch.recorded_at, patch.actor, patch.source,
       patch.reason, patch.idempotency_key, patch.payload_digest, patch.replay, patch.rollback_of,
       patch.salt, patch.digest, patch.hash
FROM patch JOIN namespace ON namespace.id = patch.namespace_id
WHERE patch.sequence IN (SELECT value FROM json_each(:sequences)) ORDER BY patch.sequence;

-- name: undone
-- The patches that undid those in :sequences; of several the latest comes last.
SELECT patch.sequence, later.id
FROM patch
JOIN patch AS later
  ON later.rollback_of = patch.id AND later.namespace_id = patch.namespace_id
WHERE patch.sequence IN (SELECT value FROM json_each(:sequences)) AND later.sequence <= :known
ORDER BY later.sequence;

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
       node.created_at, node.valid_from, node.valid_to, node.backdated, node.searchable
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

-- name: log_closed_edges
SELECT edge.closed_by, edge.sequence, edge.kind, newer.id, older.id, edge.part, edge.reason,
       edge.linked_by, edge.confidence
FROM operation
JOIN edge ON edge.new = operation.node AND edge.closed_by = operation.sequence
JOIN node AS newer ON newer.row = edge.new
JOIN node AS older ON older.row = edge.old
WHERE operation.sequence IN (SELECT value FROM json_each(:sequences))
GROUP BY edge.id ORDER BY edge.id;

-- name: log_closed
SELECT edge.closed_by, edge.kind, newer.id, older.id, edge.part
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
GROUP BY tombstone.sequence, node.row ORDER BY node.row;

-- name: log_revived
SELECT tombstone.revived, node.id
FROM operation
JOIN tombstone ON tombstone.node = operation.node AND tombstone.revived = operation.sequence
JOIN node ON node.row = tombstone.node
WHERE operation.sequence IN (SELECT value FROM json_each(:sequences))
GROUP BY tombstone.revived, node.row ORDER BY node.row;

-- name: log_purged
SELECT tombstone.purged, node.id
FROM operation
JOIN tombstone ON tombstone.node = operation.node AND tombstone.purged = operation.sequence
JOIN node ON node.row = tombstone.node
WHERE operation.sequence IN (SELECT value FROM json_each(:sequences))
GROUP BY tombstone.purged, node.row ORDER BY node.row;

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
SELECT id, last_node, n_documents, n_counted, analysis, analysis_before, n_before
FROM namespace WHERE path = :path;

-- name: add_namespace
INSERT INTO namespace (path, analysis) VALUES (:path, :analysis);

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
INSERT INTO evidence (sequence, event_id)
SELECT :sequence, id FROM event WHERE id = :event_id AND namespace_id = :space;

-- name: add_text
INSERT INTO text (body, evidence) VALUES (?, ?);

-- name: add_event
INSERT INTO event (id, namespace_id, sequence, role, text_id, occurred_at, session, external_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_node
INSERT INTO node (row, id, memory_id, version, sequence, text_id, fields, cronista, digest,
                  subject, slot, scope, session, tags, metadata, created_at, valid_from,
                  valid_to, backdated, searchable)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_operation
INSERT INTO operation (sequence, ordinal, op, memory_id, version, node) VALUES (?, ?, ?, ?, ?, ?);

-- name: add_edge
INSERT INTO edge (kind, new, old, sequence, part, reason, linked_by, confidence)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: close_edge
UPDATE edge SET closed_by = :sequence
WHERE id = (SELECT min(id) FROM edge
            WHERE kind = :kind AND new = :new AND old = :old AND part IS :part
              AND closed_by IS NULL);

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
UPDATE tombstone SET purged = :sequence
WHERE node = :node AND revived IS NULL AND purged IS NULL;

-- name: revive
UPDATE tombstone SET revived = :sequence
WHERE node = :node AND revived IS NULL AND purged IS NULL;

-- name: touched_by_purge
-- The commits that hold words which a purge of :node deletes.
SELECT sequence FROM node WHERE row = :node
UNION
SELECT sequence FROM edge
WHERE (new = :node OR old = :node) AND (part IS NOT NULL OR reason IS NOT NULL)
UNION
SELECT closed_by FROM edge
WHERE (new = :node OR old = :node) AND part IS NOT NULL AND closed_by IS NOT NULL;

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

-- name: add_embedder
INSERT INTO embedder (name, dimension) VALUES (:embedder, :dimension) ON CONFLICT (name) DO NOTHING;

-- name: add_vector
INSERT INTO vector (node, embedder, value)
SELECT row, :embedder, :value FROM node WHERE id = :id AND text_id IS NOT NULL AND {indexed}
ON CONFLICT (node, embedder) DO NOTHING;

-- name: overwrite_vectors
UPDATE vector SET value = zeroblob(length(value)) WHERE node = :node;

-- name: drop_vectors
DELETE FROM vector WHERE node = :node;

-- name: drop_hidden_vectors
DELETE FROM vector WHERE node IN (SELECT row FROM node WHERE NOT {findable});

-- name: unsettled
-- Those of some nodes whose documents are to come or to go, and whether they come.
SELECT node.id, node.row, {findable}
FROM json_each(:rows) AS touched
JOIN node ON node.row = touched.value
WHERE node.text_id IS NOT NULL AND {findable} <> {indexed};

-- name: add_search_doc
INSERT INTO search_doc (row, analysis, tokens) VALUES (?, ?, ?);

-- name: index_doc
INSERT INTO search_index (rowid, tokens) VALUES (?, ?);

-- name: unindex_doc
INSERT INTO search_index (search_index, rowid, tokens) VALUES ('delete', :row, :tokens);

-- name: drop_search_doc
DELETE FROM search_doc WHERE row = :row;

-- name: add_term_count
INSERT INTO term_count (namespace_id, term, n) VALUES (?, ?, ?)
ON CONFLICT (namespace_id, term) DO UPDATE SET n = n + excluded.n;

-- name: drop_empty_term_counts
DELETE FROM term_count
WHERE namespace_id = :space AND n <= 0 AND term IN (SELECT value FROM json_each(:terms));

-- name: set_counted
UPDATE namespace SET n_counted = :counted WHERE id = :space;

-- name: drop_term_counts
DELETE FROM term_count;

-- name: reanalysis
-- Where the namespaces in reach are, those under way first.
SELECT id, analysis, analysis_before, n_before, last_node FROM namespace
WHERE id IN (SELECT value FROM json_each(:spaces))
ORDER BY analysis_before IS NULL, id;

-- name: begin_reanalysis
-- Where there is no node, all is done at once.
UPDATE namespace
SET analysis_before = iif(last_node, analysis, NULL), n_before = last_node, analysis = :analysis
WHERE (id = :space OR last_node = 0) AND id IN (SELECT value FROM json_each(:spaces))
  AND analysis <> :analysis AND analysis_before IS NULL;

-- name: go_on_reanalysing
-- Changes nothing if another was faster.
UPDATE namespace
SET n_before = :rest, analysis_before = iif(:rest, analysis_before, NULL)
WHERE id = :space AND analysis = :analysis AND n_before = :n_before;

-- name: counted_nodes
SELECT n_counted FROM namespace WHERE id = :space;

-- name: add_tokens
UPDATE namespace SET n_tokens = n_tokens + :tokens WHERE id = :space;

-- name: docs_between
SELECT row, tokens FROM search_doc WHERE row BETWEEN :low << 10 AND :high << 10 | 1023;

-- name: mark_analysed
UPDATE search_doc SET analysis = :analysis
WHERE row BETWEEN :low << 10 AND :high << 10 | 1023 AND analysis <> :analysis;

-- name: nodes_between
SELECT id, row FROM node WHERE row BETWEEN :low AND :high AND text_id IS NOT NULL AND {findable};

-- name: nodes_at
SELECT id, row FROM node WHERE row IN (SELECT value FROM json_each(:rows));

-- name: reset_analyses
UPDATE namespace SET analysis = :analysis, analysis_before = NULL, n_before = 0;

-- name: check_index
INSERT INTO search_index (search_index, rank) VALUES ('integrity-check', 1);

-- name: unindexed
SELECT id FROM node
WHERE NOT {indexed} AND {findable}
  AND row NOT IN (SELECT node FROM tombstone WHERE purged IS NOT NULL);

-- name: indexed_purged
SELECT id FROM node
WHERE {indexed} AND row IN (SELECT node FROM tombstone WHERE purged IS NOT NULL);

-- name: indexed_hidden
SELECT id FROM node
WHERE NOT {findable}
  AND ({indexed} OR EXISTS (SELECT 1 FROM vector WHERE vector.node = node.row));

-- name: indexed_unknown
SELECT row FROM search_doc WHERE row >> 10 NOT IN (SELECT row FROM node);

-- name: misanalysed
SELECT DISTINCT node.id
FROM search_doc
JOIN namespace ON namespace.id = search_doc.row >> 42
JOIN node ON node.row = search_doc.row >> 10
WHERE search_doc.analysis IS NOT iif((node.row & 0xFFFFFFFF) <= namespace.n_before,
                                     namespace.analysis_before, namespace.analysis);

-- name: stored_counts
SELECT id, n_documents, n_tokens, n_events, n_patches, last_node, last_sequence, last_recorded
FROM namespace;

-- name: document_grades
SELECT row >> 42, row & 1023, count(DISTINCT row >> 10) FROM search_doc
WHERE NOT EXISTS (SELECT 1 FROM search_doc AS other
                  WHERE other.row >= search_doc.row & ~1023 AND other.row < search_doc.row)
GROUP BY 1, 2;

-- name: namespace_counts
-- What `stored_counts` must say, behind the counts of documents.
SELECT namespace.id, coalesce(said.events, 0), coalesce(done.patches, 0),
       (SELECT coalesce(max(row) & 0xFFFFFFFF, 0) FROM node
        WHERE row BETWEEN namespace.id << 32 AND namespace.id << 32 | 0xFFFFFFFF),
       coalesce(done.latest, 0), coalesce(done.recorded_at, 0)
FROM namespace
LEFT JOIN (SELECT namespace_id, count(*) AS events FROM event GROUP BY namespace_id) AS said
    ON said.namespace_id = namespace.id
LEFT JOIN (SELECT namespace_id, count(*) AS patches, max(sequence) AS latest,
                  max(recorded_at) AS recorded_at
           FROM patch GROUP BY namespace_id) AS done
    ON done.namespace_id = namespace.id;

-- name: counted_terms
SELECT namespace_id, term, n FROM term_count;

-- name: counted_spaces
SELECT id, n_counted, typeof(n_counted) = 'integer' AND n_counted BETWEEN 0 AND last_node
FROM namespace;

-- name: wrong_memories
-- Memories that do not follow from their operations and nodes, or that are missing.
SELECT id FROM memory
WHERE version IS NOT (SELECT max(version) FROM operation WHERE memory_id = memory.id)
   OR tip IS NOT (SELECT row FROM node WHERE memory_id = memory.id ORDER BY version DESC LIMIT 1)
   OR latest_valid_from IS NOT (SELECT max(valid_from) FROM node WHERE memory_id = memory.id)
   OR namespace_id <> tip >> 32
UNION
SELECT memory_id FROM node WHERE memory_id NOT IN (SELECT id FROM memory);

-- name: crossing
-- Nodes with an edge or a suggestion to what is no node of their namespace.
SELECT DISTINCT coalesce(newer.id, older.id, '(unknown)')
FROM (SELECT new, old FROM edge UNION ALL SELECT new, old FROM suggestion) AS link
LEFT JOIN node AS newer ON newer.row = link.new
LEFT JOIN node AS older ON older.row = link.old
WHERE newer.row IS NULL OR older.row IS NULL OR newer.row >> 32 <> older.row >> 32;

-- name: backward_succession
-- Every circle has an edge from an earlier node to a later one.
SELECT 1 FROM edge
WHERE new < old AND kind IN ('supersedes', 'refines') AND closed_by IS NULL LIMIT 1;

-- name: succession
SELECT new, old FROM edge WHERE kind IN ('supersedes', 'refines') AND closed_by IS NULL;

-- name: node_ids
SELECT id FROM node WHERE row IN (SELECT value FROM json_each(:rows)) ORDER BY row;

-- name: unused_texts
SELECT id FROM text
WHERE id NOT IN (SELECT text_id FROM node WHERE text_id IS NOT NULL)
  AND id NOT IN (SELECT text_id FROM event WHERE text_id IS NOT NULL);

-- name: mismarked_texts
-- A purge would delete what is evidence, or leave what is not.
SELECT id FROM text
WHERE evidence IS NOT (id IN (SELECT text_id FROM event WHERE text_id IS NOT NULL));

-- name: lost_texts
SELECT node.id FROM node
LEFT JOIN text ON text.id = node.text_id
LEFT JOIN tombstone ON tombstone.node = node.row AND tombstone.purged IS NOT NULL
WHERE text.id IS NULL AND tombstone.node IS NULL;

-- name: kept_texts
SELECT node.id FROM node JOIN tombstone ON tombstone.node = node.row
WHERE tombstone.purged IS NOT NULL AND node.text_id IS NOT NULL;

-- name: empty_memories
SELECT DISTINCT memory_id FROM operation WHERE memory_id NOT IN (SELECT memory_id FROM node);

-- name: unknown_operations
SELECT DISTINCT patch.id FROM operation JOIN patch ON patch.sequence = operation.sequence
WHERE operation.node NOT IN (SELECT row FROM node);

-- name: strays
-- Commits with rows that none of their operations leads to: no seal would cover those.
SELECT DISTINCT CAST(sequence AS INTEGER) FROM (
    SELECT sequence, row FROM node
    UNION SELECT sequence, new FROM edge
    UNION SELECT closed_by, new FROM edge WHERE closed_by IS NOT NULL
    UNION SELECT sequence, node FROM tombstone
    UNION SELECT revived, node FROM tombstone WHERE revived IS NOT NULL
    UNION SELECT purged, node FROM tombstone WHERE purged IS NOT NULL
    EXCEPT SELECT sequence, node FROM operation);

-- name: headless
-- Commits that are gone while rows of them are left.
SELECT CAST(sequence AS INTEGER) FROM (
    SELECT sequence FROM operation
    UNION SELECT sequence FROM event
    UNION SELECT sequence FROM evidence
    UNION SELECT sequence FROM reseal
    UNION SELECT by FROM reseal
    EXCEPT SELECT sequence FROM patch);

-- name: misplaced
-- Commits that bring or cite what is of another namespace.
SELECT event.sequence FROM event JOIN patch ON patch.sequence = event.sequence
WHERE event.namespace_id <> patch.namespace_id
UNION
SELECT node.sequence FROM node JOIN patch ON patch.sequence = node.sequence
WHERE node.row >> 32 <> patch.namespace_id
UNION
SELECT evidence.sequence FROM evidence
JOIN patch ON patch.sequence = evidence.sequence
JOIN event ON event.id = evidence.event_id
WHERE event.namespace_id <> patch.namespace_id;

-- name: misspelt
-- Commits to a namespace whose path does not end as it must: nobody would find it.
SELECT patch.sequence FROM patch JOIN namespace ON namespace.id = patch.namespace_id
WHERE substr(namespace.path, -1) <> char(31);

-- name: unfounded_reseals
-- Commits that sealed others anew without having purged anything of what was there before.
SELECT DISTINCT CAST(by AS INTEGER) FROM reseal
WHERE by <= sequence OR by NOT IN (SELECT purged FROM tombstone WHERE purged IS NOT NULL);

-- name: patch_sizes
SELECT sequence, (SELECT count(*) FROM operation WHERE operation.sequence = patch.sequence)
FROM patch WHERE sequence > :since ORDER BY sequence LIMIT :limit;

-- name: log_digests
SELECT node.id, node.digest
FROM operation JOIN node ON node.row = operation.node AND node.sequence = operation.sequence
WHERE operation.sequence IN (SELECT value FROM json_each(:sequences));

-- name: patch_at
SELECT id, hash FROM patch WHERE sequence = :sequence;

-- name: condition
SELECT (SELECT value FROM meta WHERE key = 'store_id'), (SELECT count(*) FROM patch),
       (SELECT user_version FROM pragma_user_version);

-- name: next_nodes
SELECT id, row FROM node WHERE row > :after AND {findable} ORDER BY row LIMIT :limit;

-- name: all_spaces
SELECT id FROM namespace;

-- name: drop_search_docs
DELETE FROM search_doc;

-- name: clear_index
INSERT INTO search_index (search_index) VALUES ('delete-all');

-- name: rebuild_index
INSERT INTO search_index (search_index) VALUES ('rebuild');

-- name: drop_memories
DELETE FROM memory;

-- name: rebuild_memories
INSERT INTO memory (id, namespace_id, version, tip, latest_valid_from)
SELECT memory_id, row >> 32,
       coalesce((SELECT max(version) FROM operation WHERE memory_id = node.memory_id), version),
       row, (SELECT max(valid_from) FROM node AS line WHERE line.memory_id = node.memory_id)
FROM node
WHERE NOT EXISTS (SELECT 1 FROM node AS later
                  WHERE later.memory_id = node.memory_id AND later.version > node.version);

-- name: set_counts
UPDATE namespace
SET n_documents = ?2, n_tokens = ?3, n_events = ?4, n_patches = ?5, last_node = ?6,
    last_sequence = ?7, last_recorded = ?8
WHERE id = ?1;

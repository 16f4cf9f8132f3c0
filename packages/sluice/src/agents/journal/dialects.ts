// The few statements of the journal that SQLite and PostgreSQL spell differently. All others are the same text:
// postgres-database.ts numbers the parameters and names the schema.

import { toWordSet } from '@sluice/policy/core/word-set'
import { LAST_REMOVED } from './removed-families.ts'

/** All tables of the journal, in the order in which their rows are copied. */
export const TABLES: readonly string[] = [
  ...toWordSet(`
    images families agents events memories memory_answers checkpoints
    runs effects program_events templates settings model_usage
  `),
]

/** Without a key (null) SQLite assigns one. */
export const INSERT_AGENT = `INSERT INTO agents (agent, id, owner, family, depth, image, created_at, seq, asked,
  model, price, template, grants, state, summary, wake_at, journal_bytes)`

export interface Dialect {
  /** Of a key or null, owner, limits, price and labels. */
  readonly insertFamily: string
  /** Agents that differ by their id only: the first key or null, the columns, the ids as JSON. */
  readonly insertAlike: string
  /** The first event of forks: time, turn, answer, first and last key. */
  readonly appendForked: string
}

export const SQLITE: Dialect = {
  insertFamily: `INSERT INTO families (family, members, owner, limits, price, labels)
    VALUES (coalesce(?, 1 + max(coalesce((SELECT max(family) FROM families), 0), ${LAST_REMOVED})), 1, ?, ?, ?, ?)`,
  insertAlike: `${INSERT_AGENT} SELECT ?, value, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0
    FROM json_each(?) ORDER BY key`,
  appendForked: `INSERT INTO events (agent, seq, at, kind, turn, event, answer)
    SELECT agent, 1, ?1, 'forked', ?2,
      json_object('kind', 'forked', 'at', ?1, 'id', id, 'seed', id), ?3
    FROM agents WHERE agent >= ?4 AND agent <= ?5 ORDER BY agent`,
}

/** Parameters in the list of a SELECT have no type unless they are given one. */
const TYPES = 'text bigint int text bigint bigint text text text text text text text bigint'.split(
  ' ',
)

export const POSTGRES: Dialect = {
  insertFamily: `INSERT INTO families (family, members, owner, limits, price, labels, lease)
    VALUES (?, 1, ?, ?, ?, ?, sluice_agents.own_lease())`,
  insertAlike: `${INSERT_AGENT} SELECT CAST(? AS BIGINT) + place - 1, id,
    ${TYPES.map((type) => `CAST(? AS ${type})`).join(', ')}, 0
    FROM json_array_elements_text(CAST(? AS JSON)) WITH ORDINALITY AS ids(id, place)`,
  // The text is the one that JSON.stringify makes of it: a replay compares bytes.
  appendForked: `INSERT INTO events (agent, seq, at, kind, turn, event, answer)
    SELECT agent, 1, CAST(?1 AS BIGINT), 'forked', CAST(?2 AS BIGINT),
      '{"kind":"forked","at":' || CAST(?1 AS BIGINT) || ',"id":"' || id || '","seed":"' || id || '"}',
      CAST(?3 AS BYTEA)
    FROM agents WHERE agent >= CAST(?4 AS BIGINT) AND agent <= CAST(?5 AS BIGINT) ORDER BY agent`,
}

// SQL views over the index for users: calls with texts instead of numbers, recorded values, events, and the steps of
// approvals. Temporary, created for every query, so they cost nothing to store. Left joins
// throughout: SQLite omits those that a query does not need.

import { toWords } from '@sluice/policy/structures/word-set'

const WORDS = toWords(
  'principal agent session server method name tool category action code rule reason shadow parent approval',
)

/** Fields of the event of a session's first use; `client` is what the client calls itself. */
const SESSION_FIELDS = toWords('session principal kind client servers')

/** Fields of the event of a step of an approval. */
const APPROVAL_FIELDS = toWords(
  'request principal agent session server name by kind proof channel comment',
)

/** Steps from one path of recorded values to the next: their rows are not read. */
export const PATHS = `WITH RECURSIVE paths (path) AS (SELECT min(path) FROM main.judged UNION ALL
  SELECT (SELECT min(path) FROM main.judged WHERE path > paths.path) FROM paths WHERE path IS NOT NULL)`

/** What a person has decided on a call, and why. */
const VERDICT = toWords('step by kind proof channel comment')

/** The recorded values of a call as one JSON object. Steps from path to path: there is no index by call. */
const RECORDED = `(${PATHS} SELECT json_group_object(w.text, j.value) FROM paths p
  CROSS JOIN main.judged j ON j.path = p.path AND j.seq = c.seq JOIN main.words w ON w.id = j.path)`

/** The recorded arguments alone, without the word before their paths. */
export const RECORDED_ARGUMENTS = `(${PATHS} SELECT json_group_object(substr(w.text, 6), j.value) FROM paths p
  CROSS JOIN main.judged j ON j.path = p.path AND j.seq = c.seq
  JOIN main.words w ON w.id = j.path AND w.text LIKE 'args.%')`

const RECORD = ['seq', 'time', 'at']
const ORIGIN = ['gate', 'gate_seq']

const TIME = (column: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1000.0, 'unixepoch')`

/** Which gate wrote a record, and its number there: of the merged ledger of several gates, attached as `merged`. */
function originOf(seq: string, isMerged: boolean): string {
  if (!isMerged) return `NULL AS gate, ${seq} AS gate_seq`
  const run = (value: string) =>
    `(SELECT ${value} FROM merged.runs WHERE first <= ${seq} ORDER BY first DESC LIMIT 1)`
  return `${run('gate')} AS gate, ${run(`seq + ${seq} - first`)} AS gate_seq`
}

export const viewsOf = (isMerged: boolean): string => `
  CREATE TEMP VIEW calls AS SELECT c.seq, ${TIME('c.at')} AS time, c.at,
    ${WORDS.map((word) => `w_${word}.text AS ${word}`).join(', ')},
    c.unknown, w_status.text AS status, o.duration AS duration_ms, o.bytes, o.error,
    ${RECORDED} AS args,
    ${originOf('c.seq', isMerged)}
  FROM main.calls c
    ${WORDS.map((word) => `LEFT JOIN main.words w_${word} ON w_${word}.id = c.${word}`).join('\n')}
    LEFT JOIN main.outcomes o ON o.intent = c.seq
    LEFT JOIN main.words w_status ON w_status.id = o.status;
  CREATE TEMP VIEW recorded AS SELECT j.seq, w.text AS path, j.value
  FROM main.judged j LEFT JOIN main.words w ON w.id = j.path;
  CREATE TEMP VIEW events AS SELECT e.seq, ${TIME('e.at')} AS time, e.at, w.text AS name, e.detail,
    ${originOf('e.seq', isMerged)}
  FROM main.events e LEFT JOIN main.words w ON w.id = e.name;
  CREATE TEMP VIEW sessions AS SELECT e.seq, ${TIME('e.at')} AS time, e.at,
    ${SESSION_FIELDS.map((field) => `e.detail ->> '$.${field}' AS "${field}"`).join(', ')},
    ${originOf('e.seq', isMerged)}
  FROM main.words w JOIN main.events e ON e.name = w.id WHERE w.text = 'session';
  CREATE TEMP VIEW approvals AS SELECT e.seq, ${TIME('e.at')} AS time, e.at,
    substr(w.text, ${'approval-'.length + 1}) AS step,
    ${APPROVAL_FIELDS.map((field) => `e.detail ->> '$.${field}' AS "${field}"`).join(', ')},
    ${originOf('e.seq', isMerged)}
  FROM main.words w JOIN main.events e ON e.name = w.id WHERE w.text GLOB 'approval-*';
  CREATE TEMP VIEW decided AS SELECT c.*, ${VERDICT.map((column) => `a."${column}"`).join(', ')}, a.time AS decided
  FROM calls c JOIN approvals a ON a.request = c.approval
  WHERE c.approval <> '' AND a.step IN ('approved', 'denied');`

const CALL_COLUMNS = [
  ...RECORD,
  ...WORDS,
  ...toWords('unknown status duration_ms bytes error args'),
  ...ORIGIN,
]

/** The columns of the views, as help and errors list them. */
export const VIEW_COLUMNS = {
  calls: CALL_COLUMNS,
  recorded: ['seq', 'path', 'value'],
  events: [...RECORD, 'name', 'detail', ...ORIGIN],
  sessions: [...RECORD, ...SESSION_FIELDS, ...ORIGIN],
  approvals: [...RECORD, 'step', ...APPROVAL_FIELDS, ...ORIGIN],
  decided: [...CALL_COLUMNS, ...VERDICT, 'decided'],
} as const

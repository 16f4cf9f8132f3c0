// Maps one record to the query index: a row of `calls`, `outcomes` or `events`, with its texts
// interned as words, for record-index.ts. Pure.

import type { LedgerRecord } from '../records/record.ts'
import { listCallTags, listIndexedValues, listOutcomeTags } from '../records/recorded-values.ts'
import { shadowText } from '../records/shadow-text.ts'

/** The values of a row are `before`, the numbers of `words`, and `after`, in the order of the table. */
export interface IndexRow {
  readonly table: 'calls' | 'outcomes' | 'events'
  readonly before: readonly number[]
  readonly words: readonly string[]
  readonly after: readonly (string | number | null)[]
  /** The values of arguments that rules read, each with its path, and tags; of the call, also from its outcome. */
  readonly values?: readonly [path: string, value: number | string][]
}

export function toIndexRow(record: LedgerRecord): IndexRow {
  const { seq, atMs } = record
  if (record.kind === 'event') {
    const after = [JSON.stringify(record.detail)]
    return { table: 'events', before: [seq, atMs], words: [record.name], after }
  }
  if (record.kind === 'outcome') {
    const { intent, status, durationMs, bytes, errorCode } = record
    const after = [durationMs, bytes, errorCode]
    const values = listOutcomeTags(record)
    return { table: 'outcomes', before: [intent, seq], words: [status], after, values }
  }
  const { principal, agent, session, server, method, name, category, decision } = record
  const { action, code, rule, reason } = decision
  return {
    table: 'calls',
    before: [seq, atMs],
    words: [
      principal.id,
      agent ?? '',
      session,
      server,
      method,
      name,
      `${server}/${name}`,
      category ?? '',
      action,
      code,
      rule,
      record.kind === 'refusal' ? reason : '',
      shadowText(decision.shadow),
      record.parent ?? '',
      record.approval ?? '',
      action,
    ],
    after: [record.unknown === true ? 1 : 0],
    values: [...listIndexedValues(record.judged), ...listCallTags(decision)],
  }
}

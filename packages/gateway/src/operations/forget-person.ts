// `sluice forget`: what the gate has of a caller or person is deleted, and no record can be traced to the name again. The
// chain, its checkpoints and proofs stay: the event comes first, and what fails before the names are gone is done by the same command again.

import type { DatabaseSync } from 'node:sqlite'
import { ENDED } from '@sluice/access/approvals/schema'
import { isGrantValid } from '@sluice/access/identity/callers/grant'
import { LOCAL_USER } from '@sluice/access/identity/names'
import { toActor } from '@sluice/access/identity/person'
import { inTransaction } from '@sluice/ledger/store/sqlite/in-transaction'
import { overwriteDeleted } from '@sluice/ledger/store/sqlite/open'
import { BOOLEAN, required, text } from '@sluice/policy/document/build-shape'
import { InputError, OperationError } from '@sluice/policy/structures/operation-error'
import { isObject } from '@sluice/policy/values/json'
import { eraseDerived } from '../data/erase-derived.ts'
import { commandOperation, type OperationParts } from './operation.ts'

/** Statements that delete what there is of a name (`?1`), as a person, a caller, or in a session of one. */
const OF_GATE = [
  `DELETE FROM approvals WHERE ${ENDED} AND (principal = ?1 OR instr(votes, json_quote(?1)) > 0)`,
  "DELETE FROM approvals_denied WHERE substr(session, 1, length(?1) + 1) = ?1 || '#'",
  'DELETE FROM approvals_standing WHERE principal = ?1 OR instr(approved_by, json_quote(?1)) > 0',
]
const OF_GRANTS = ['DELETE FROM grants WHERE name = ?1 AND revoked_ms IS NOT NULL']
const OF_PEOPLE = [
  'DELETE FROM logins WHERE principal = ?1',
  'DELETE FROM sign_ins WHERE name = ?1',
  'DELETE FROM passkeys WHERE person = ?1',
]
/** Whether a word goes on behind a name, or has begun before it. */
const GOES_ON = /^\.?[\p{L}\p{N}_@-]/u
const ENDS_IN_WORD = /[\p{L}\p{N}_@.-]$/u

export const FORGET_PERSON = commandOperation({
  name: 'person.forget',
  summary: 'delete the name of somebody, and what else the gate has of them; their records stay',
  role: 'admin',
  proof: ({ dryRun }) => (dryRun === true ? 'identity' : 'fresh'),
  socket: 'forget',
  command: 'forget',
  needsGate: true,
  changes: true,
  input: {
    name: required(text(300), 'the caller or person, as records name them'),
    dryRun: { shape: BOOLEAN, doc: 'only say what would be done' },
  },
  run: async (parts, { name, dryRun = false }, { by }) => {
    check(parts, name, by.name)
    const { record, running } = parts
    const { names } = running
    const tokens = names.tokensOf(name)
    const granted = running.grants.file.database.prepare('SELECT 1 FROM grants WHERE name = ?')
    if (tokens.length === 0 && granted.get(name) === undefined)
      throw new OperationError(
        `no record and no grant has the name \`${name}\``,
        'see `sluice ledger query --who`',
      )
    if (dryRun) return { tokens, rows: 0, isForgotten: false }
    if (!running.sessions.forgetPrincipal(name))
      throw new OperationError(
        `\`${name}\` has an open session`,
        '`sluice sessions` lists them; end it first',
      )
    const detail = { tokens, by: toActor(by) }
    await record('person-forgotten', detail)
    const rows =
      deleteRows(running.store, OF_GATE, name) +
      deleteAlerts(running.store, name) +
      deleteRows(running.grants.file.database, OF_GRANTS, name) +
      deleteRows(running.people.file.database, OF_PEOPLE, name)
    names.forget(tokens)
    eraseDerived(parts.data)
    return { tokens, rows, isForgotten: true }
  },
})

function check({ freezes, grants, nowMs, people }: OperationParts, name: string, by: string): void {
  if (name === LOCAL_USER.id) throw new InputError('`local` is the name of nobody', 'name a person')
  if (name === by)
    throw new OperationError('nobody forgets themselves', 'another admin has to do this')
  if (people.find(name) !== undefined)
    throw new OperationError(`\`${name}\` may still decide`, `sluice approvers remove ${name}`)
  if (grants.list().some((grant) => grant.name === name && isGrantValid(grant, nowMs())))
    throw new OperationError(`\`${name}\` may still call`, `sluice grants revoke ${name}`)
  if (freezes.find('principal', name) !== undefined)
    throw new OperationError(
      `\`${name}\` is frozen, and the freeze has the name`,
      `sluice freeze --lift --principal ${name}`,
    )
}

function deleteRows(database: DatabaseSync, statements: readonly string[], name: string): number {
  let rows = 0
  inTransaction(database, () => {
    for (const sql of statements) rows += Number(database.prepare(sql).run(name).changes)
  })
  overwriteDeleted(database)
  return rows
}

/** Alerts with the name as a word: other words may begin or end like it. */
function deleteAlerts(database: DatabaseSync, name: string): number {
  const named = database
    .prepare('SELECT id, alert FROM alerts')
    .all()
    .filter(({ alert }) => listTexts(JSON.parse(String(alert))).some((text) => hasWord(text, name)))
  const remove = database.prepare('DELETE FROM alerts WHERE id = ?')
  for (const { id } of named) remove.run(id as string)
  return named.length
}

function hasWord(text: string, name: string): boolean {
  const around = text.split(name)
  return around
    .slice(1)
    .some((after, at) => !GOES_ON.test(after) && !ENDS_IN_WORD.test(around[at] ?? ''))
}

function listTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return isObject(value) || Array.isArray(value) ? Object.values(value).flatMap(listTexts) : []
}

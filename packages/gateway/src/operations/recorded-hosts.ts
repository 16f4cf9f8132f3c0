// The hosts that recorded calls have named, for a list under `egress` that keeps past traffic. The ledger has an
// argument only if it keeps texts and a rule read it, so a host may be missing. Reads only; called by `threats`.

import type { DatabaseSync } from 'node:sqlite'
import { recordsFrom } from '@sluice/ledger/chain/read'
import type { DecisionInputs } from '@sluice/policy/calls/decision-inputs'
import { listArgumentHosts } from '@sluice/policy/decide/egress'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import { isDecided } from './recorded-calls.ts'

/** By `<server>/<tool>`: only of calls that passed under the document of this name. */
export function listRecordedHosts(
  ledger: DatabaseSync,
  { name: document, sinceMs }: { readonly name: string; readonly sinceMs: number },
): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, Set<string>>()
  for (const record of recordsFrom(ledger)) {
    if (!isDecided(record, document) || record.kind !== 'intent' || record.atMs < sinceMs) continue
    const { server, name, method, judged } = record
    const found = method === TOOL_CALL ? listHosts(judged) : []
    if (found.length === 0) continue
    const id = `${server}/${name}`
    hosts.set(id, new Set([...(hosts.get(id) ?? []), ...found]))
  }
  return new Map([...hosts].map(([id, found]) => [id, [...found].sort()]))
}

/** An argument is read by the last name of its path, which says whether it is an address. */
function listHosts(judged: DecisionInputs): readonly string[] {
  return Object.entries(judged).flatMap(([path, value]) => {
    const [root, ...names] = path.split(/\W+/).filter((name) => name !== '')
    const name = names.at(-1)
    if (root !== 'args' || name === undefined || typeof value !== 'string') return []
    return listArgumentHosts({ [name]: value }) ?? []
  })
}

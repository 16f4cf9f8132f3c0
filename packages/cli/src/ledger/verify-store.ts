// `sluice ledger verify --store`: the chains of all gates that share a store. Needs only to read.

import { findCheckpointFault } from '@sluice/ledger/chain/checkpoint'
import { verifyChains } from '@sluice/ledger/store/postgres/verify-chains'
import { checkDropped } from '@sluice/ledger/verify/dropped-records'
import { ArgumentError } from '../terminal/errors.ts'
import { type Output, plural } from '../terminal/output.ts'
import { readAllCheckpoints, readKeys } from './keys.ts'
import { withStore } from './with-store.ts'

export interface VerifyStoreOptions {
  readonly store: string
  readonly checkpoint?: readonly string[]
  readonly key?: readonly string[]
}

export async function verifyStore(options: VerifyStoreOptions, output: Output): Promise<0 | 1> {
  const keys = readKeys([...(options.key ?? [])])
  const placed = readAllCheckpoints([...(options.checkpoint ?? [])])
  for (const { checkpoint, where } of placed) {
    const signer = keys.find((key) => key === checkpoint.key)
    const isTrusted = keys.length === 0 || signer !== undefined
    const fault = isTrusted ? findCheckpointFault(checkpoint, signer) : 'it has another key'
    if (fault !== undefined)
      throw new ArgumentError(`the checkpoint ${where}: ${fault}`, 'name its own key')
  }
  const noted = placed.map(({ checkpoint: { head: hash, key, seq } }) => ({ hash, key, seq }))
  const trusted = keys.length === 0 ? undefined : keys
  const chains = await withStore(options.store, (connections) =>
    verifyChains(connections, noted, (base) => checkDropped(base, trusted)),
  )
  const ok = chains.every(({ problems }) => problems.length === 0)
  output.value({ ok, chains: chains.map((chain) => ({ ...chain })) })
  for (const { gate, problems } of chains)
    for (const problem of problems)
      output.line(
        `${output.paint('red', 'broken')}: ${gate === '' ? '' : `gate \`${gate}\`: `}${problem}`,
      )
  const there = chains.filter(({ gate }) => gate !== '')
  const records = chains.reduce((sum, chain) => sum + chain.records, 0)
  const what = ok ? output.paint('green', 'ok') : output.paint('red', 'not as it was written')
  output.line(`${what}: ${plural(there.length, 'chain')}, ${plural(records, 'record')}`)
  for (const { gate, records, signed } of there) {
    const how =
      signed > 0
        ? `signed up to record ${signed}`
        : 'no checkpoint: if its end was cut off, or all of it replaced, that cannot be seen'
    output.dim(`  ${gate}: ${plural(records, 'record')}, ${how}`)
  }
  return ok ? 0 : 1
}

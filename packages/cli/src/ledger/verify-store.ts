// `sluice ledger verify --store`: the chains of all gates that share a store. Needs only to read.

import { findCheckpointFault } from '@sluice/ledger/chain/checkpoint'
import {
  type KnownRestore,
  type RestoredPart,
  type VerifiedChain,
  verifyChains,
} from '@sluice/ledger/store/postgres/verify-chains'
import { checkDropped } from '@sluice/ledger/verify/dropped-records'
import { ArgumentError } from '../terminal/errors.ts'
import { type Output, plural } from '../terminal/output.ts'
import { readAllCheckpoints, readKeys } from './keys.ts'
import { withStore } from './with-store.ts'

export interface VerifyStoreOptions {
  readonly store: string
  readonly checkpoint?: readonly string[]
  readonly key?: readonly string[]
  /** Restores of the database that are known, as `gate:record`. */
  readonly restored?: readonly string[]
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
    verifyChains(connections, {
      noted,
      restores: (options.restored ?? []).map(readRestore),
      checkBase: (base) => checkDropped(base, trusted),
    }),
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
  for (const chain of there) {
    output.dim(`  ${chain.gate}: ${plural(chain.records, 'record')}, ${describeSigned(chain)}`)
    if (chain.restored !== undefined)
      output.dim(`  ${chain.gate}: ${describeRestored(chain.restored)}`)
  }
  return ok ? 0 : 1
}

function describeSigned({ signedBy }: VerifiedChain): string {
  if (signedBy.length === 0)
    return 'no checkpoint: if its end was cut off, or all of it replaced, that cannot be seen'
  const [first, ...others] = signedBy.toSorted((one, other) => one.seq - other.seq)
  if (first === undefined || others.length === 0) return `signed up to record ${first?.seq}`
  const parts = [first, ...others].map(({ key, seq }) => `to record ${seq} with the key ${key}`)
  return `signed up ${parts.join(', and ')}`
}

function describeRestored({ after, through }: RestoredPart): string {
  return `restored after record ${after}: what was recorded then up to ${through} at least is not in this chain`
}

function readRestore(text: string): KnownRestore {
  const [, gate, seq] = /^(.+):(\d{1,15})$/.exec(text) ?? []
  if (gate !== undefined && seq !== undefined) return { gate, seq: Number(seq) }
  throw new ArgumentError(
    `--restored is \`${text}\``,
    'write it as `gate-1:16384`: the gate, and the last record of it that the backup had',
  )
}

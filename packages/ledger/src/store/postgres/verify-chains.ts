// Verifies the chains of all gates in a shared store: that no record was edited, removed, moved or cut off.
// Heads that were noted elsewhere (signed checkpoints) show what the database alone cannot: a chain that was
// replaced as a whole. A chain may start after records that were dropped. Called by `sluice ledger verify --store`.

import { attempt } from '@sluice/policy/structures/attempt'
import { chainHash, FIRST_HASH, fromHex, toHex } from '../chain-hash.ts'
import { type ChainBase, readChainBases } from './chain-base.ts'
import type { Queryable } from './connections.ts'
import { type ChainRow, readChain } from './read-chain.ts'
import { CHAIN_HEADS } from './statements.ts'

/** A head of a gate's chain that somebody has signed or noted. */
export interface NotedHead {
  /** The key of the gate. */
  readonly key: string
  readonly seq: number
  readonly hash: string
}

/** A restore of the database that the verifier knows of. */
export interface KnownRestore {
  readonly gate: string
  /** The last record of the gate that the backup had. */
  readonly seq: number
}

/** Up to where a chain has what a key has signed. */
export interface SignedPart {
  readonly key: string
  readonly seq: number
}

/** A key that the gate has signed with since one of its starts. */
export interface SignerStart {
  readonly key: string
  /** The first record of that start. */
  readonly seq: number
}

/** Records after `after`, up to the last of them that was signed. */
export interface RestoredPart {
  readonly after: number
  readonly through: number
}

export interface VerifiedChain {
  /** Empty for a chain that is not there: only its signed heads are known. */
  readonly gate: string
  readonly records: number
  /** The last record that a noted head covers; 0 without one. */
  readonly signed: number
  /** The newest of the noted heads of each key that the chain has. */
  readonly signedBy: readonly SignedPart[]
  /** Each start of the gate with another key than before; the data directory was new, or its key was replaced. */
  readonly signers: readonly SignerStart[]
  /** What a known restore of the database has cut off; undefined without one. */
  readonly restored: RestoredPart | undefined
  readonly problems: readonly string[]
}

/** Whether the start of a chain is trusted, and the chain says that records before it were dropped. */
export interface BaseCheck {
  add(text: string): void
  problems(): readonly string[]
}

export interface VerifyChainsOptions {
  readonly noted: readonly NotedHead[]
  readonly restores: readonly KnownRestore[]
  readonly checkBase: (base: ChainBase) => BaseCheck
}

export async function verifyChains(
  connections: Queryable,
  { checkBase, noted, restores }: VerifyChainsOptions,
): Promise<VerifiedChain[]> {
  const chains: VerifiedChain[] = []
  const bases = new Map((await readChainBases(connections)).map((base) => [base.gate, base]))
  const rows = await connections.query(CHAIN_HEADS)
  const unmatched = new UnmatchedHeads(noted, new Set(rows.map(({ key }) => String(key))))
  for (const row of rows) {
    const gate = String(row.gate)
    const head = { seq: Number(row.seq), hash: (row.head as Buffer).toString('hex') }
    const heads = noted.filter(({ key }) => key === row.key)
    const problems: string[] = []
    const signers: SignerStart[] = []
    const base = bases.get(gate)
    const start = base && checkBase(base)
    if (base !== undefined) unmatched.meet(gate, base)
    let last = base === undefined ? FIRST_HASH : fromHex(base.hash)
    let seq = base?.seq ?? 0
    for (const one of heads)
      if (one.seq === seq && one.hash !== base?.hash)
        problems.push(`record ${seq}, which was dropped, is not the one that was signed`)
    // A gate that runs appends while its chain is read: the head is one of its records, not always the last.
    let isHeadMet = head.seq === 0
    for await (const found of readChain(connections, gate, seq + 1)) {
      seq++
      start?.add(found.text)
      if (found.seq !== seq) {
        problems.push(`record ${seq} is missing`)
        seq = found.seq
      }
      const should = toHex(chainHash(last, found.text))
      if (should !== found.hash || !found.text.startsWith(`[1,${seq},`))
        problems.push(`record ${seq} was edited, or its hash`)
      // What follows is compared with what is stored, so that one edit is one problem.
      last = Buffer.from(found.hash, 'hex').toString('latin1')
      if (seq === head.seq) isHeadMet = found.hash === head.hash
      for (const one of heads)
        if (one.seq === seq && one.hash !== found.hash)
          problems.push(`record ${seq} is not the one that was signed`)
      noteSigner(signers, found)
      unmatched.meet(gate, found)
      if (problems.length >= PROBLEMS_MAX) break
    }
    const late = heads.find((one) => one.seq > seq)
    if (late !== undefined)
      problems.push(`records after ${seq} are missing: ${late.seq} was signed`)
    else if (problems.length === 0 && !isHeadMet)
      problems.push(`the chain ends at ${seq}, and its head is ${head.seq}`)
    else if (problems.length === 0 && (await readHeadSeq(connections, gate)) < seq)
      problems.push(`records after ${head.seq} are not by the gate`)
    if (start !== undefined) problems.push(...start.problems())
    const signedBy = [...toNewest(heads), ...unmatched.listMet(gate)]
    const signed = Math.max(0, ...signedBy.map((one) => one.seq))
    const restore = restores.find((one) => one.gate === gate)
    const { lost, restored } = unmatched.explain(gate, restore, signers)
    problems.push(...lost)
    const records = seq - (base?.seq ?? 0)
    chains.push({ gate, records, signed, signedBy, signers, problems, restored })
  }
  return [...chains, ...unmatched.missing()]
}

/** The newest head of each key. */
function toNewest(heads: readonly NotedHead[]): SignedPart[] {
  const newest = new Map<string, number>()
  for (const { key, seq } of heads) newest.set(key, Math.max(seq, newest.get(key) ?? 0))
  return [...newest].map(([key, seq]) => ({ key, seq }))
}

/** Adds the key that the gate signs with from this record on, if it is the event of a start and the key another one. */
function noteSigner(signers: SignerStart[], { seq, text }: Pick<ChainRow, 'seq' | 'text'>): void {
  if (!text.includes('"start"')) return
  const [, , , , name, detail] = attempt(() => JSON.parse(text)) ?? []
  const key = name === 'start' ? detail?.signedBy : undefined
  if (typeof key === 'string' && key !== signers.at(-1)?.key) signers.push({ key, seq })
}

/** Heads that were signed with the key of no gate: its chain was removed or cut off, or its key was replaced. */
class UnmatchedHeads {
  readonly #bySeq = new Map<number, readonly NotedHead[]>()
  /** The newest head of each key that a chain has. */
  readonly #met = new Map<string, { readonly gate: string; readonly seq: number }>()

  constructor(noted: readonly NotedHead[], keys: ReadonlySet<string>) {
    for (const one of noted)
      if (!keys.has(one.key)) this.#bySeq.set(one.seq, [...(this.#bySeq.get(one.seq) ?? []), one])
  }

  /** A record of any chain. */
  meet(gate: string, { seq, hash }: { readonly seq: number; readonly hash: string }): void {
    const heads = this.#bySeq.get(seq)
    if (heads === undefined) return
    for (const { hash: signed, key } of heads)
      if (signed === hash) this.#met.set(key, { gate, seq })
    this.#bySeq.set(
      seq,
      heads.filter((one) => one.hash !== hash),
    )
  }

  listMet(gate: string): SignedPart[] {
    return [...this.#met].flatMap(([key, met]) =>
      met.gate === gate ? [{ key, seq: met.seq }] : [],
    )
  }

  /** What keys of this chain have signed and it does not have. A restore that is known explains what came after it. */
  explain(
    gate: string,
    restore: KnownRestore | undefined,
    signers: readonly SignerStart[],
  ): { readonly lost: readonly string[]; readonly restored: RestoredPart | undefined } {
    const lost: string[] = []
    let through = 0
    for (const { key, seq: met } of this.listMet(gate)) {
      const left = this.#takeOf(key)
      const [first = 0, last = 0] = [left[0], left.at(-1)]
      if (left.length === 0) continue
      const next = signers.find((one) => one.seq > met && one.key !== key)
      const isKnown = restore !== undefined && restore.seq >= met && restore.seq < first
      // The gate went on with another key after what the backup had.
      if (isKnown && next !== undefined && next.seq > restore.seq) through = Math.max(through, last)
      else lost.push(describeLost({ key, last, met, next: next?.seq }))
    }
    const isCut = restore !== undefined && through > 0
    return { lost, restored: isCut ? { after: restore.seq, through } : undefined }
  }

  missing(): VerifiedChain[] {
    return toNewest([...this.#bySeq.values()].flat()).map(({ key, seq }) => ({
      gate: '',
      records: 0,
      signed: seq,
      signedBy: [],
      signers: [],
      restored: undefined,
      problems: [`no chain has record ${seq}, which was signed with the key ${key}`],
    }))
  }

  /** Removes the heads of a key, and returns their records in order. */
  #takeOf(key: string): number[] {
    const seqs: number[] = []
    for (const [seq, heads] of this.#bySeq) {
      const others = heads.filter((one) => one.key !== key)
      if (others.length < heads.length) seqs.push(seq)
      this.#bySeq.set(seq, others)
    }
    return seqs.sort((one, other) => one - other)
  }
}

async function readHeadSeq(connections: Queryable, gate: string): Promise<number> {
  const row = (await connections.query(CHAIN_HEADS)).find((one) => one.gate === gate)
  return Number(row?.seq ?? 0)
}

const PROBLEMS_MAX = 20

interface LostPart {
  readonly key: string
  /** The newest record that the key has signed and the chain has. */
  readonly met: number
  /** The newest that it has signed. */
  readonly last: number
  /** The first record of a start with another key; undefined if there is none. */
  readonly next: number | undefined
}

function describeLost({ key, last, met, next }: LostPart): string {
  const goesOn = next === undefined ? '' : `, which goes on with another key from record ${next}`
  return `signed up to record ${met} with the key ${key}; record ${last}, which it has signed too, is not in this chain${goesOn}`
}

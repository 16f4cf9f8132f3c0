// Verifies the chains of all gates in a shared store: that no record was edited, removed, moved or cut off.
// Heads that were noted elsewhere (signed checkpoints) show what the database alone cannot: a chain that was
// replaced as a whole. A chain may start after records that were dropped. Called by `sluice ledger verify --store`.

import { chainHash, FIRST_HASH, fromHex, toHex } from '../chain-hash.ts'
import { type ChainBase, readChainBases } from './chain-base.ts'
import type { PostgresConnections } from './connections.ts'
import { readChain } from './read-chain.ts'
import { CHAIN_HEADS } from './statements.ts'

/** A head of a gate's chain that somebody has signed or noted. */
export interface NotedHead {
  /** The key of the gate. */
  readonly key: string
  readonly seq: number
  readonly hash: string
}

export interface VerifiedChain {
  /** Empty for a chain that is not there: only its signed heads are known. */
  readonly gate: string
  readonly records: number
  /** The last record that a noted head covers; 0 without one. */
  readonly signed: number
  readonly problems: readonly string[]
}

/** Whether the start of a chain is trusted, and the chain says that records before it were dropped. */
export interface BaseCheck {
  add(text: string): void
  problems(): readonly string[]
}

export async function verifyChains(
  connections: Pick<PostgresConnections, 'query'>,
  noted: readonly NotedHead[],
  checkBase: (base: ChainBase) => BaseCheck,
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
    const base = bases.get(gate)
    const start = base && checkBase(base)
    if (base !== undefined) unmatched.meet(base)
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
      unmatched.meet(found)
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
    const signed = Math.max(0, ...heads.map((one) => one.seq))
    chains.push({ gate, records: seq - (base?.seq ?? 0), signed, problems })
  }
  return [...chains, ...unmatched.missing()]
}

/** Heads that were signed with the key of no gate: its chain was removed, or its key was replaced. */
class UnmatchedHeads {
  readonly #bySeq = new Map<number, readonly NotedHead[]>()

  constructor(noted: readonly NotedHead[], keys: ReadonlySet<string>) {
    for (const one of noted)
      if (!keys.has(one.key)) this.#bySeq.set(one.seq, [...(this.#bySeq.get(one.seq) ?? []), one])
  }

  /** A record of any chain. */
  meet({ seq, hash }: { readonly seq: number; readonly hash: string }): void {
    const heads = this.#bySeq.get(seq)
    if (heads === undefined) return
    this.#bySeq.set(
      seq,
      heads.filter((one) => one.hash !== hash),
    )
  }

  missing(): VerifiedChain[] {
    const newest = new Map<string, number>()
    for (const { key, seq } of [...this.#bySeq.values()].flat())
      newest.set(key, Math.max(seq, newest.get(key) ?? 0))
    return [...newest].map(([key, seq]) => ({
      gate: '',
      records: 0,
      signed: seq,
      problems: [`no chain has record ${seq}, which was signed with the key ${key}`],
    }))
  }
}

async function readHeadSeq(
  connections: Pick<PostgresConnections, 'query'>,
  gate: string,
): Promise<number> {
  const row = (await connections.query(CHAIN_HEADS)).find((one) => one.gate === gate)
  return Number(row?.seq ?? 0)
}

const PROBLEMS_MAX = 20

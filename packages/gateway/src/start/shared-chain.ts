// This gate's chain in the shared store, as the ledger of the gate writes it, and the copy of it in the data
// directory: where both begin, what an earlier run left open, and what is copied. Part of open-shared-store.ts.

import { listRecordSpans, recordText } from '@sluice/ledger/chain/block'
import {
  type Checkpoint,
  checkpointText,
  findCheckpointFault,
  readCheckpoint,
} from '@sluice/ledger/chain/checkpoint'
import { blocksFrom, openLedgerReadOnly } from '@sluice/ledger/chain/read'
import type { Ledger } from '@sluice/ledger/ledger'
import { decode } from '@sluice/ledger/records/decoding'
import { RECORD_BYTES_MAX } from '@sluice/ledger/records/limits'
import type { DecisionEntry, LedgerEntry } from '@sluice/ledger/records/record'
import type { SharedLog } from '@sluice/ledger/shared-log'
import { toHex } from '@sluice/ledger/store/chain-hash'
import { StoreError } from '@sluice/ledger/store/errors'
import { ADMIT_DEADLINE_MS, LOST_RECORDS_MAX } from '@sluice/ledger/store/limits'
import type { PostgresAdmissionStore } from '@sluice/ledger/store/postgres/admission'
import type { RecordKind, WrittenRecord } from '@sluice/ledger/store/postgres/batch'
import {
  beginChainAfter,
  dropBeforeStart,
  readChainBases,
} from '@sluice/ledger/store/postgres/chain-base'
import type { PostgresConnections } from '@sluice/ledger/store/postgres/connections'
import { readChain } from '@sluice/ledger/store/postgres/read-chain'

const KINDS: Readonly<Record<LedgerEntry['kind'], RecordKind>> = {
  intent: 'i',
  refusal: 'r',
  outcome: 'o',
  event: 'e',
}

export interface SharedChainParts {
  readonly admission: PostgresAdmissionStore<DecisionEntry>
  readonly connections: PostgresConnections
  /** The data directory. */
  readonly data: string
  /** What follows the number of a record. */
  readonly encodeEntry: (entry: LedgerEntry) => string
  readonly gate: string
}

export class SharedChain {
  readonly log: SharedLog
  readonly #parts: SharedChainParts
  #ledger: Ledger | undefined
  #openFrom = 1
  #base: Checkpoint | undefined

  constructor(parts: SharedChainParts) {
    this.#parts = parts
    this.log = this.#makeLog()
  }

  /** Calls since `openFrom` may be open. */
  async open(openFrom: number): Promise<void> {
    this.#openFrom = openFrom
    const { connections, gate: name } = this.#parts
    const base = (await readChainBases(connections)).find(({ gate }) => gate === name)
    if (base === undefined) return
    const checkpoint = readCheckpoint(base.checkpoint, 'of the shared store')
    const { seq, head } = checkpoint
    if (seq !== base.seq || head !== base.hash || findCheckpointFault(checkpoint, undefined))
      throw this.#differs()
    this.#base = checkpoint
  }

  /** Brings the copy of the chain up to date; calls that an earlier run left open are unknown. */
  async follow(ledger: Ledger): Promise<void> {
    const own = ledger.head
    if (own.seq < (this.#base?.seq ?? 0)) throw this.#differs()
    const open = new Set<number>()
    const from = Math.min(own.seq, this.#openFrom - 1)
    for await (const row of readChain(this.#parts.connections, this.#parts.gate, from)) {
      const { kind, seq, text, hash } = row
      if (seq === own.seq && hash !== own.hash) throw this.#differs()
      if (seq >= this.#openFrom && kind === 'i') open.add(seq)
      if (kind === 'o') open.delete((JSON.parse(text) as number[])[4] as number)
      if (seq > own.seq) ledger.copy([text])
    }
    const { hash, seq } = this.#parts.admission.head
    if (ledger.head.seq !== seq || ledger.head.hash !== toHex(hash)) throw this.#differs()
    this.#ledger = ledger
    for (const intent of open) ledger.outcome(intent, { atMs: Date.now(), status: 'unknown' })
    if (open.size > 0)
      void ledger
        .event({ atMs: Date.now(), name: 'recovery', detail: { unknown: open.size } })
        .catch(() => {})
  }

  /** Records that are durable in the shared store. */
  copy(records: readonly WrittenRecord[]): void {
    this.#ledger?.copy(records.map(({ body, seq }) => `[1,${seq}${body}`))
  }

  /** Records of the copy after this one, and no more than could be given back. */
  readCopy(after: number): WrittenRecord[] {
    using database = openLedgerReadOnly(this.#parts.data)
    const records: WrittenRecord[] = []
    for (const { data } of blocksFrom(database, after + 1))
      for (const span of listRecordSpans(data)) {
        const text = recordText(data, span)
        const record = decode(text)
        const { kind, seq } = record
        const id = 'callId' in record ? record.callId : ''
        const body = text.slice(`[1,${seq}`.length)
        if (seq > after) records.push({ seq, kind: KINDS[kind], id, body })
        if (records.length > LOST_RECORDS_MAX) return records
      }
    return records
  }

  #makeLog(): SharedLog {
    const { admission, connections, encodeEntry, gate } = this.#parts
    const readBase = () => this.#base
    return {
      get base() {
        return readBase()
      },
      beginAfter: async (checkpoint) => {
        const { head: hash, seq } = checkpoint
        const base = { gate, seq, hash, checkpoint: checkpointText(checkpoint) }
        await beginChainAfter(connections, admission.epoch, base)
      },
      dropRest: () => dropBeforeStart(connections, gate),
      get state() {
        if (admission.state === 'closed') return 'closed'
        return admission.state === 'open' ? 'writing' : 'failing'
      },
      get fault() {
        if (admission.state === 'open') return undefined
        return new StoreError('STORE_UNREACHABLE', admission.why, 'the gate recovers automatically')
      },
      get figures() {
        const { commits, open, waiting } = admission.figures
        return { commits, open, kept: waiting }
      },
      append: async (entry, isFirst) => {
        const id = 'callId' in entry ? entry.callId : ''
        const record = { kind: KINDS[entry.kind], id, body: checkLength(encodeEntry(entry)) }
        const signal = isFirst ? AbortSignal.timeout(ADMIT_DEADLINE_MS) : undefined
        return admission.append(record, entry.kind === 'outcome' ? entry.intent : undefined, signal)
      },
    }
  }

  #differs(): StoreError {
    return new StoreError(
      'STORE_LOST',
      `the shared store does not have the records of this gate that \`${this.#parts.data}\` has`,
      'a failover or a restored backup lost commits: keep the directory as evidence, and start with a new one',
    )
  }
}

export function checkLength(body: string): string {
  if (Buffer.byteLength(body) + 32 > RECORD_BYTES_MAX)
    throw new StoreError(
      'STORE_FULL',
      `a record has more than ${RECORD_BYTES_MAX} bytes`,
      'shorten what it names',
    )
  return body
}

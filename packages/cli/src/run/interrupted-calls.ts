// What became of the calls that a client waited for when its gate ended: read from the audit log of the data
// directory. A gate records a call before it sends it, so that a call without a record was never sent. Used by the
// client of a pipe.

import { CALL_TOOL, readInnerCall } from '@sluice/gateway/shared/tool-mode'
import { openLedgerReadOnly, readHead, recordsFrom } from '@sluice/ledger/chain/read'
import { type DecisionRecord, digestText } from '@sluice/ledger/records/record'
import { CONTENT_METHODS, TOOL_CALL } from '@sluice/policy/language/methods'
import { readMessages } from '@sluice/protocol/read-message'
import { LEDGER_MARK_MS } from '../terminal/limits.ts'

/** A request of a client without an answer yet, as it was written. */
export interface OpenRequest {
  readonly method: string
  readonly text: string
  readonly sentMs: number
}

/** The digests that records have of arguments, for their plain ones: only a gate has the key. */
export type KeyDigests = (digests: readonly string[]) => Promise<readonly string[]>

/** A call that a request stands for. */
interface DescribedCall {
  readonly name: string
  /** The plain digest of its arguments; null without any. */
  readonly digest: string | null
}

interface RecordedCall extends DecisionRecord {
  /** The server had answered by then: the answer may have been lost with the gate. */
  answeredMs?: number
}

export class InterruptedCalls {
  readonly #data: string
  readonly #keyDigests: KeyDigests
  /** No record before it is of a call that is open. */
  #from = 1
  #markedMs = Number.NEGATIVE_INFINITY

  constructor(data: string, keyDigests: KeyDigests) {
    this.#data = data
    this.#keyDigests = keyDigests
  }

  /** Called while no request is open, so that few records have to be read if the gate ends. */
  mark(): void {
    if (performance.now() - this.#markedMs < LEDGER_MARK_MS) return
    this.#markedMs = performance.now()
    const ledger = openLedgerReadOnly(this.#data)
    this.#from = readHead(ledger).seq + 1
    ledger.close()
  }

  /** For each request the number of its record; null if it was not sent, undefined if that is not known. */
  async find(requests: readonly OpenRequest[]): Promise<(number | null | undefined)[]> {
    const all = requests.map(describe)
    const digests = all.flat().flatMap(({ digest }) => digest ?? [])
    const keyed = await this.#keyDigests(digests)
    const known = new Map<string | null, string | null>(
      digests.map((one, at) => [one, keyed[at] ?? one]),
    )
    const hasDigest = ({ argsDigest }: RecordedCall, { digest }: DescribedCall) =>
      argsDigest === digest || argsDigest === known.get(digest)
    const left = this.#read()
    return requests.map((request, at) => {
      const { method, sentMs } = request
      const described = all[at] ?? []
      const isNamed = (call: RecordedCall) => described.some(({ name }) => isNameOf(call, name))
      const same = left.findIndex(
        (call) =>
          described.some((one) => isNameOf(call, one.name) && hasDigest(call, one)) &&
          (call.answeredMs ?? sentMs) >= sentMs,
      )
      if (same >= 0) return left.splice(same, 1)[0]?.seq
      // An approver may have changed the arguments, and long names are cut for a client of all servers.
      const similar = left.find(
        (call) =>
          call.answeredMs === undefined &&
          (isNamed(call) || described.some((one) => hasDigest(call, one))),
      )
      if (similar !== undefined) return similar.seq
      return method === TOOL_CALL || CONTENT_METHODS.has(method) ? null : undefined
    })
  }

  #read(): RecordedCall[] {
    const calls = new Map<number, RecordedCall>()
    const ledger = openLedgerReadOnly(this.#data)
    for (const record of recordsFrom(ledger, this.#from)) {
      if (record.kind === 'intent') calls.set(record.seq, { ...record })
      if (record.kind !== 'outcome') continue
      const call = calls.get(record.intent)
      const isAnswered = record.status === 'answered' || record.status === 'error'
      if (record.givenBack) calls.delete(record.intent)
      else if (isAnswered && call !== undefined) call.answeredMs = record.atMs
    }
    ledger.close()
    return [...calls.values()]
  }
}

function isNameOf(call: RecordedCall, name: string): boolean {
  return name === call.name || name.endsWith(`__${call.name}`)
}

/** As a gate records it; in a tool mode that is the call which `call_tool` stands for. */
function describe({ text }: OpenRequest): DescribedCall[] {
  const read = readMessages(text, { batches: false })
  const [message] = read.ok ? read.messages : []
  if (message?.kind !== 'request') return []
  const inner = message.params?.value.name === CALL_TOOL ? readInnerCall(message) : undefined
  const calls = typeof inner === 'object' ? [message, inner] : [message]
  return calls.map(({ params }) => {
    const { name, uri } = params?.value ?? {}
    const args = typeof uri === 'string' ? uri : params?.text.get('arguments')
    return { name: String(uri ?? name), digest: args === undefined ? null : digestText(args) }
  })
}

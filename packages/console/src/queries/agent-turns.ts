// The turns of an agent: when the model answered, what it took, and the records of the calls that came
// of it. A call and a record belong together by tool, digest of the arguments and time: what a server or
// a model says decides nothing here. Pure.

import type { AgentRow } from '@sluice/agents/journal/rows'
import type { HistoryEntry } from '@sluice/agents/step-thread/operation-results'
import type { CallRecord } from './call-views.ts'

/** The digests that a record of a call with these arguments may have; the gate knows the key. */
export type DigestArguments = (args: string) => readonly string[]

/** What the journal and the ledger say of the turns of an agent, the newest last. */
export interface AgentTurns {
  readonly turns: readonly AgentTurn[]
  /** Why the last run ended without an answer: the model could not be asked. */
  readonly failure: ModelFailure | null
  /** Records of the ledger that are not searched yet. */
  readonly behind: number
}

/** An answer of the model, and what came of it. */
export interface AgentTurn {
  readonly turn: number
  /** When the model had answered. */
  readonly atMs: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** How long the model took to answer. */
  readonly modelMs: number
  /** In the currency of the price; null if the model has none. */
  readonly cost: number | null
  readonly calls: readonly {
    readonly id: string
    /** Records of the ledger, the oldest first: a call that was held has more than one. */
    readonly records: readonly CallRecord[]
  }[]
}

/** Why a model could not be asked. */
export interface ModelFailure {
  readonly atMs: number
  /** The message of its provider, cut. */
  readonly message: string
}

/** The journal and the ledger have clocks that may differ by a little. */
const SLACK_MS = 1_000
/** Of a provider's message. */
const FAILURE_LENGTH_MAX = 1_000

export function listTurns(
  { grants, price }: Pick<AgentRow, 'grants' | 'price'>,
  history: readonly HistoryEntry[],
  records: readonly CallRecord[],
  digestsOf: DigestArguments,
): AgentTurn[] {
  const answers = history.flatMap((entry, at) =>
    entry.event.kind === 'model' ? [{ entry, answer: entry.event, before: history[at - 1] }] : [],
  )
  const tools = new Map(grants.map((grant) => [grant.replace('/', '__'), grant] as const))
  const left = [...records].sort((one, other) => one.atMs - other.atMs)
  return answers.map(({ entry, answer, before }, at) => {
    const { usage, toolCalls } = answer
    const untilMs = answers[at + 1]?.entry.at ?? Number.POSITIVE_INFINITY
    const within = { sinceMs: entry.at - SLACK_MS, untilMs }
    const { inputTokens, outputTokens } = usage
    return {
      turn: entry.turn,
      atMs: entry.at,
      inputTokens,
      outputTokens,
      modelMs: Math.max(0, entry.at - (before?.at ?? entry.at)),
      cost:
        price === null
          ? null
          : (inputTokens * price.inputMicros + outputTokens * price.outputMicros) / 1_000_000,
      calls: toolCalls.map(({ id, name, input }, index) => {
        const call = {
          tool: tools.get(name) ?? '',
          digests: digestsOf(JSON.stringify(input ?? {})),
        }
        // The same call twice in one turn: each has its share of the records.
        const alike = toolCalls
          .slice(index + 1)
          .filter((other) => other.name === name && isSame(other.input, input)).length
        return { id, records: takeRecords(left, call, { ...within, alike }) }
      }),
    }
  })
}

/** Of the last run, if its model could not be asked; a later prompt or answer is another. */
export function findFailure(history: readonly HistoryEntry[]): ModelFailure | null {
  const last = history.findLast(({ kind }) =>
    ['prompt', 'model', 'model_failed', 'resume'].includes(kind),
  )
  if (last?.event.kind !== 'model_failed') return null
  return { atMs: last.at, message: last.event.message.slice(0, FAILURE_LENGTH_MAX) }
}

/** Takes the records that fit out of `left`. */
function takeRecords(
  left: CallRecord[],
  { tool, digests }: { readonly tool: string; readonly digests: readonly string[] },
  { sinceMs, untilMs, alike }: { sinceMs: number; untilMs: number; alike: number },
): CallRecord[] {
  const fitting = left.filter(
    ({ atMs, server, name, argsDigest }) =>
      atMs >= sinceMs &&
      atMs <= untilMs &&
      tool === `${server}/${name}` &&
      digests.includes(argsDigest ?? ''),
  )
  const mine = fitting.slice(0, Math.ceil(fitting.length / (alike + 1)))
  for (const record of mine) left.splice(left.indexOf(record), 1)
  return mine
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

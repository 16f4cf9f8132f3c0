// Recorded calls as the engine needs them to decide again: with the tool as it was classified then,
// and what their session had seen and made by that moment. Records are followed in their order.

import { type DecisionRecord, digestText, type LedgerRecord } from '@sluice/ledger/records/record'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { GUARD_LABELS } from '@sluice/policy/cases/label-sources'
import type { RecordedCall } from '@sluice/policy/cases/replay-call'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { labelsOf } from '../state/labels-of.ts'

interface RecordedSession {
  calls: number
  readonly saw: Set<string>
  /** Recorded labels that the document which decides now did not bring with that answer. */
  readonly doubtful: Set<string>
  sawKnown: boolean
}

/** The gate refused it whatever a document says. */
const UNDECIDED: ReadonlySet<string> = new Set(['FROZEN', 'GATE_UNAVAILABLE', 'POLICY_FAULT'])

/** A call that the document of this name decided, not the gate itself. */
export function isDecided(record: LedgerRecord, name: string): record is DecisionRecord {
  if (record.kind !== 'intent' && record.kind !== 'refusal') return false
  const { policy, decision, method, category } = record
  if (!policy.startsWith(`${name} `)) return false
  if (UNDECIDED.has(decision.code)) return false
  return decision.rule !== 'built-in' && !(method === TOOL_CALL && category === null)
}

/** The document as records name it. Undefined with a base policy over it, which records do not name: whether it
 * was the same is not known. */
export function idOfDocument(
  name: string,
  text: string,
  { base }: CompiledPolicy,
): string | undefined {
  return base === undefined ? `${name} ${digestText(text)}` : undefined
}

export class RecordedCalls {
  readonly #known: readonly KnownTool[]
  readonly #sessions = new Map<string, RecordedSession>()
  readonly #open = new Map<number, DecisionRecord>()
  readonly #tools = new Map<string, KnownTool>()
  readonly #document: CompiledPolicy | undefined

  /** `document`: the one that decides the calls now. Answers bring its labels, and not those that were in force
   * then. Without it the recorded labels count. */
  constructor(tools: readonly KnownTool[], document: CompiledPolicy | undefined) {
    this.#known = tools
    this.#document = document
  }

  /** The call of a record, before `follow` has counted it. */
  recall(record: DecisionRecord): RecordedCall {
    const { server, method, name, principal, agent, session, judged } = record
    const past = this.#session(session)
    const { tool, schemaKnown } = this.#tool(record)
    return {
      call: { server, method, name },
      judged,
      schemaKnown,
      sawKnown: past.sawKnown,
      ...(past.doubtful.size === 0
        ? {}
        : { doubtfulLabels: new Set([...past.doubtful].filter((label) => !past.saw.has(label))) }),
      facts: {
        ...(tool === undefined ? {} : { tool }),
        transport: '',
        principal: { ...principal, groups: [], claims: {} },
        agent: agent === null ? null : { id: agent, owner: '', template: '', depth: 0, turn: 0 },
        session: {
          id: session,
          calls: past.calls,
          saw: [...past.saw],
          startedAtMs: Number(session.slice(session.lastIndexOf('@') + 1)) || 0,
        },
      },
    }
  }

  follow(record: LedgerRecord): void {
    if (record.kind === 'intent') {
      this.#open.set(record.seq, record)
      if (!OF_SERVERS.has(record.method)) this.#session(record.session).calls++
    } else if (record.kind === 'outcome') {
      const intent = this.#open.get(record.intent)
      this.#open.delete(record.intent)
      const past = intent && this.#sessions.get(intent.session)
      if (past === undefined) return
      this.#addLabels(intent as DecisionRecord, record.labels, past)
      if (record.status === 'unknown') past.sawKnown = false
    }
  }

  #addLabels(
    { server, method, name }: DecisionRecord,
    recorded: readonly string[],
    { saw, doubtful }: RecordedSession,
  ): void {
    const given =
      this.#document === undefined ? recorded : labelsOf(this.#document, { server, method, name })
    for (const label of given) saw.add(label)
    // What the guard found is there under any document. Where another label came from is not recorded.
    for (const label of recorded)
      if (GUARD_LABELS.includes(label)) saw.add(label)
      else doubtful.add(label)
  }

  #session(id: string): RecordedSession {
    const past = this.#sessions.get(id) ?? {
      calls: 0,
      saw: new Set<string>(),
      sawKnown: true,
      doubtful: new Set<string>(),
    }
    this.#sessions.set(id, past)
    return past
  }

  /** By the class it had then, and the newest definition that was seen. */
  #tool({ server, name, method, category, unknown }: DecisionRecord): {
    tool: KnownTool | undefined
    schemaKnown: boolean
  } {
    if (method !== TOOL_CALL || category === null) return { tool: undefined, schemaKnown: true }
    const known = this.#known.find(
      ({ definition }) => definition.server === server && definition.name === name,
    )
    // Records of older gates do not say that a category was a guess; what is known now does.
    const isGuess = unknown === true || (known?.unknown === true && known.category === category)
    const key = `${server}\n${name}\n${category}\n${isGuess}`
    const tool = this.#tools.get(key) ?? {
      definition: known?.definition ?? { server, name },
      category,
      risk: known?.risk ?? 'low',
      ...(isGuess ? { unknown: true } : {}),
    }
    this.#tools.set(key, tool)
    return { tool, schemaKnown: known !== undefined }
  }
}

const OF_SERVERS: ReadonlySet<string> = new Set([
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
])

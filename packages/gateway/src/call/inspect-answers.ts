// The labels that a message towards a client brings into its session, before it is sent: those that the
// policy gives its source, and what the guard finds (`session.saw.injection`, `session.saw.secret`).
// The guard looks only for what a rule reads, or an alert is wanted for, and the session has not seen.
// Called for every message.

import type { SessionLease } from '@sluice/access/identity/sessions/session-lease'
import {
  type AnswerFinding,
  inspectAnswer,
  inspectAnswerSteps,
  type ScanTarget,
  type Strictness,
  tooLargeToInspect,
} from '@sluice/guard/inspect-answer'
import { MESSAGE_CHARS_MAX } from '@sluice/guard/limits'
import { type AnswerChange, AnswerChangeCounts } from '@sluice/ledger/records/answer-changes'
import { processClock } from '@sluice/ledger/store/process-clock'
import type { AnswerTrust } from '@sluice/policy/calls/provenance'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import { getTrust } from '@sluice/policy/model/answer-trust'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { findReads } from '@sluice/policy/model/policy-reads'
import type { SessionProvenance } from '@sluice/policy/provenance/session-provenance'
import { isObject, type JsonValue } from '@sluice/policy/values/json'
import { READ_LABEL, type SessionLabels } from '@sluice/protocol/agent-calls'
import { isDense } from '@sluice/protocol/json/is-dense'
import { PARSED_MARKS_MAX } from '@sluice/protocol/json/limits'
import { LABELS_RECORDED_MS } from '../session/limits.ts'
import { INSPECTED_AT_ONCE_LENGTH_MAX, PROGRAM_ANSWER_TOKENS_MAX } from '../shared/limits.ts'
import type { Log } from '../shared/log.ts'
import type { CallOutcome } from '../shared/outcome.ts'
import { runInSlices, takeTurn } from '../shared/slices.ts'
import type { MessageSource } from '../shared/transport.ts'
import { labelsOf } from '../state/labels-of.ts'
import type { CrossedCall, InspectDelivery } from './deliveries.ts'
import { type AnswerFilter, createAnswerFilter } from './filter-answers.ts'
import { readAnswer } from './read-answer.ts'
import { rememberMessage } from './remember-answers.ts'

const NONE: readonly ScanTarget[] = []
const WANTED: readonly ScanTarget[] = ['injection', 'secret']

export interface LabelledSession {
  readonly server: string
  readonly policy: () => CompiledPolicy
  /** If given, injections are looked for whether a rule reads them or not. Called once a session, with the
   * tool that was called if that is known. */
  readonly onInjection?: ((tool: string | undefined, found: AnswerFinding) => void) | undefined
  readonly lease: Pick<
    SessionLease,
    | 'facts'
    | 'see'
    | 'vault'
    | 'remembered'
    | 'missed'
    | 'saveSealed'
    | 'values'
    | 'saveValues'
    | 'missedValues'
  >
  /** Whether a call is open whose outcome will be recorded with the labels received until then. */
  readonly hasOpenCalls: () => boolean
  /** Called with labels that were received without a call: from a list, a notification, a resource. */
  readonly onUnrecorded: (labels: readonly string[]) => void
  /** Called with what `answers` changed in messages that belong to no call. */
  readonly onUnrecordedChanges: (changes: readonly AnswerChange[]) => void
  /** Called after a message was delivered: from now on tools are hidden that are hidden from sessions which
   * have read it. */
  readonly onSeen: () => void
  /** Returns what the session remembers of answers; undefined if no rule reads it. */
  readonly provenance?: () => SessionProvenance | undefined
  /** Which server inside the gate it is; undefined for every other. */
  readonly builtin?: string | undefined
  readonly log: Log
}

/** Looks through a long message in slices before it is sent, so that other calls go on meanwhile.
 * Returns the labels it looked for. */
export type InspectAhead = (text: string, strictness: Strictness) => Promise<readonly string[]>

/** What the relay of a session does with the messages of one server. */
export interface LabelledAnswers {
  /** The labels of the session, which a server inside of the gate passes on to other sessions. */
  readonly labels: SessionLabels
  /** Applies the `answers` rules of the policy. */
  readonly answers: AnswerFilter
  /** Called with every message towards the client, before it is sent: adds the labels that it brings. */
  readonly onDelivery: InspectDelivery
  readonly inspectAhead: InspectAhead
  /** Adds the labels that were added since the last outcome to the outcome of a call, so that they are recorded. */
  readonly withLabels: (outcome: CallOutcome) => CallOutcome
  /** Called at the end of the session with this server: records what no outcome has recorded. */
  readonly settleLabels: () => void
}

/** The labels and changes that the messages of one server bring into a session. */
export function labelSession(session: LabelledSession): LabelledAnswers {
  const { server, policy, lease, log } = session
  const changes = createChangeRecorder(session.onUnrecordedChanges)
  const { saw, see, takeUnrecorded, settle } = createLabelRecorder(session)
  return {
    labels: toAgentLabels(session, saw, see),
    answers: createAnswerFilter({
      server,
      policy,
      vault: () => lease.vault,
      see,
      log,
      recordChanges: changes.add,
      tokensMax: session.builtin === 'code' ? PROGRAM_ANSWER_TOKENS_MAX : undefined,
      saveSealed: () => lease.saveSealed(),
    }),
    ...createInspection(session, saw, see),
    withLabels: (outcome) => {
      const labels = takeUnrecorded()
      return labels.length === 0 ? outcome : { ...outcome, labels }
    },
    settleLabels: () => {
      changes.settle()
      settle()
    },
  }
}

/** Keeps the labels of the session, and those that are not recorded yet. */
function createLabelRecorder({ lease, onSeen, onUnrecorded, hasOpenCalls }: LabelledSession) {
  const unrecorded = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  const takeUnrecorded = (): readonly string[] => {
    if (unrecorded.size === 0) return NONE
    const labels = [...unrecorded]
    unrecorded.clear()
    return labels
  }
  const settle = (): void => {
    clearTimeout(timer)
    if (unrecorded.size > 0) onUnrecorded(takeUnrecorded())
  }
  const saw = () => lease.facts(processClock.steadyMs()).saw
  const see = (labels: readonly string[]): void => {
    if (labels.length === 0) return
    const seen = lease.see(labels, processClock.steadyMs())
    if (seen.length === 0) return
    for (const label of seen) unrecorded.add(label)
    setImmediate(onSeen)
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (!hasOpenCalls()) settle()
    }, LABELS_RECORDED_MS).unref()
  }
  return { saw, see, settle, takeUnrecorded }
}

/** Creates the functions that look for injections in messages of the server and remember their values. */
function createInspection(
  session: LabelledSession,
  saw: SessionLabels['saw'],
  see: SessionLabels['see'],
): { readonly onDelivery: InspectDelivery; readonly inspectAhead: InspectAhead } {
  const { server, policy, lease, log, onInjection } = session
  const listWanted = (bound: CompiledPolicy): readonly ScanTarget[] => {
    const read = findReads(bound).labels
    if (read.size === 0 && onInjection === undefined) return NONE
    const seen = saw()
    const isWanted = (label: ScanTarget) =>
      read.has(label) || (label === 'injection' && onInjection !== undefined)
    return WANTED.filter((label) => isWanted(label) && !seen.includes(label))
  }
  const seeFound = (
    bound: CompiledPolicy,
    found: readonly AnswerFinding[],
    tool?: string,
  ): void => {
    // What was not looked at counts as found for a rule, not for an alert: it would be a false one.
    const findings = found.filter(
      ({ kind, isUnread }) => !isUnread || findReads(bound).labels.has(kind),
    )
    const order = findings.find(({ kind, isUnread }) => kind === 'injection' && !isUnread)
    if (order !== undefined) onInjection?.(tool, order)
    for (const { kind, what = kind, words } of findings)
      log(
        'warn',
        `a message of ${server} brings \`${kind}\` into the session: ${what}: ${JSON.stringify(words)}`,
      )
    see(findings.map(({ kind }) => kind))
  }
  const remember = (
    memory: SessionProvenance,
    text: string,
    sources: readonly MessageSource[],
    answered: CrossedCall | undefined,
  ): void => {
    // Descriptions and the gate's own words.
    if (sources.length === 0) return
    const trust = joinTrust(policy(), server, sources)
    const { builtin } = session
    rememberMessage(memory, { text, server, answered, trust, builtin })
    lease.remembered()
  }
  return {
    onDelivery: (text, strictness, sources, inspected, answered) => {
      const bound = policy()
      const memory = session.provenance?.()
      if (memory === undefined) lease.missed()
      else remember(memory, text, sources(), answered)
      rememberFields(session, bound, text, answered)
      if (bound.labels.size > 0)
        see(sources().flatMap((source) => labelsOf(bound, { ...source, server })))
      const all = listWanted(bound)
      const wanted =
        inspected.length === 0 ? all : all.filter((label) => !inspected.includes(label))
      if (wanted.length === 0) return
      const isTooLarge = text.length > INSPECTED_AT_ONCE_LENGTH_MAX || isTooDense(text)
      seeFound(
        bound,
        isTooLarge
          ? tooLargeToInspect(wanted)
          : inspectAnswer(JSON.parse(text) as JsonValue, wanted, strictness),
        answered?.method === 'tools/call' ? answered.name : undefined,
      )
    },
    inspectAhead: async (text, strictness) => {
      const bound = policy()
      const wanted = listWanted(bound)
      if (wanted.length === 0) return NONE
      if (text.length > MESSAGE_CHARS_MAX || isTooDense(text)) {
        seeFound(bound, tooLargeToInspect(wanted))
        return wanted
      }
      await takeTurn()
      const steps = inspectAnswerSteps(JSON.parse(text) as JsonValue, wanted, strictness)
      seeFound(bound, await runInSlices(steps, 'answer'))
      return wanted
    },
  }
}

/** Remembers the fields of an answer that `last(...)` reads, as the client gets them. */
function rememberFields(
  { server, lease }: LabelledSession,
  bound: CompiledPolicy,
  text: string,
  answered: CrossedCall | undefined,
): void {
  if (answered?.method !== TOOL_CALL) return
  const { values, valuesText } = findReads(bound)
  if (values.size === 0) return lease.missedValues()
  // Also for a tool that the policy does not read: what an earlier policy had remembered is no longer the last answer.
  const remembered = lease.values(valuesText)
  const reads = values.get(`${server}/${answered.name}`)
  if (reads === undefined) return
  const args = answered.params?.value.arguments
  remembered.remember(reads, isObject(args) ? args : {}, readAnswer(text), Date.now())
  lease.saveValues()
}

/** Returns the labels that are passed to agents and back, with the one that says whether something was read. */
function toAgentLabels(
  { provenance, lease }: LabelledSession,
  saw: SessionLabels['saw'],
  see: SessionLabels['see'],
): SessionLabels {
  return {
    saw: () => (provenance?.()?.hasRead === true ? [...saw(), READ_LABEL] : saw()),
    see: (brought) => {
      see(brought.filter((label) => label !== READ_LABEL))
      if (!brought.includes(READ_LABEL)) return
      provenance?.()?.markRead()
      lease.remembered()
    },
    isUsersText: (text) => provenance?.()?.isUsersText(text) === true,
  }
}

/** Combines what is trusted of a message that several requests may have caused: only what all of them trust as
 * a whole. */
function joinTrust(
  policy: CompiledPolicy,
  server: string,
  sources: readonly MessageSource[],
): AnswerTrust {
  const [first = [], ...others] = sources.map((source) => getTrust(policy, { ...source, server }))
  if (others.length === 0) return first
  return [first, ...others].every((trust) => trust === 'all') ? 'all' : []
}

/** Counts changes for a moment before it records them, because a server may send many messages. */
function createChangeRecorder(record: LabelledSession['onUnrecordedChanges']) {
  const counts = new AnswerChangeCounts()
  let timer: NodeJS.Timeout | undefined
  const settle = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (counts.size > 0) record(counts.take())
  }
  const add: AnswerFilter['recordChanges'] = (changes) => {
    if (changes === undefined) return
    counts.addAll(changes)
    timer ??= setTimeout(settle, LABELS_RECORDED_MS).unref()
  }
  return { add, settle }
}

/** Whether parsing the text would take longer than other calls should wait. */
function isTooDense(text: string): boolean {
  return isDense(text, PARSED_MARKS_MAX)
}

// An agent's turn, top to bottom: an event is run in the guest and committed to the journal, then the effects
// it leads to are carried out (a model call, a tool behind the gate, a program), and the result of each is the
// event of the next turn. Nothing is carried out before its event is durable.

import type { Effect, JournalEvent } from '../guest/protocol.ts'
import type { AgentRow, EffectRow } from '../journal/rows.ts'
import type { Reservation } from '../models/family-budget.ts'
import type { AgentError } from '../shared/errors.ts'
import type { Steps } from '../step-thread/step-client.ts'
import type { WakeTimer } from '../step-thread/wake-timer.ts'
import type { AppliedStep, ApplyOptions } from '../steps/stepper.ts'
import { type EffectPerformer, type EffectResult, toFailedContent } from './perform-effect.ts'
import type { RunWatch } from './run-watch.ts'
import type { RunningEffects } from './running-effects.ts'
import { whenStored } from './when-stored.ts'

export interface TurnContext {
  readonly steps: Steps
  readonly running: RunningEffects
  readonly performer: EffectPerformer
  readonly watch: RunWatch
  readonly timer: WakeTimer
  /** A name for a change, unique in the data directory. */
  nonce(): string
  now(): number
  warn(message: string): void
}

export interface TurnRequest extends ApplyOptions {
  /** Null: the gate itself. */
  readonly owner: string | null
  readonly id: string
  readonly event: JournalEvent
  readonly bytes?: Uint8Array | undefined
  /** Names the change, if it may be tried again. */
  readonly nonce?: string
}

export async function runTurn(turns: TurnContext, request: TurnRequest): Promise<AppliedStep> {
  const { owner, id, event, bytes, nonce = turns.nonce(), ...how } = request
  const applied = await turns.steps.apply(owner, id, event, bytes, nonce, how)
  const { agent, step } = applied
  turns.running.cancel(id, step.dropped)
  turns.watch.note(applied, event)
  turns.timer.note(agent.summary.wakeAt)
  // A tool that a person calls directly is not part of the run that is paused.
  if (agent.pausedAt === null || event.kind === 'direct')
    for (const effect of step.effects) startEffect(turns, agent, effect)
  return applied
}

/** Starts the effects that a crash or a pause left open. */
export async function recoverEffects(
  turns: TurnContext,
  isWanted: (agent: string) => boolean,
): Promise<void> {
  const open = await turns.steps.openEffects()
  for (const row of open.filter(
    (each) => isWanted(each.agent) && !turns.running.isUnderWay(each),
  )) {
    const { agent, held } = await turns.steps.standing(null, row.agent, turns.now())
    if (held === null && agent.pausedAt === null)
      startEffect(turns, agent, JSON.parse(row.body) as Effect, row)
  }
}

function startEffect(
  turns: TurnContext,
  agent: AgentRow,
  effect: Effect,
  before?: EffectRow,
): void {
  const name = `${agent.id} ${effect.id}`
  turns.running.start(name, async (signal) => {
    try {
      await runEffect(turns, agent, effect, { name, signal, before })
    } catch (error) {
      // The result came too late, or the agent is gone.
      if (!signal.aborted && !turns.running.isClosed)
        turns.warn(`effect ${name} ended without a result: ${(error as Error).message}`)
    } finally {
      turns.watch.loseOutcome(agent.id, effect.id)
    }
  })
}

interface EffectStart {
  readonly name: string
  readonly signal: AbortSignal
  /** Its row, if it was open when the process ended. */
  readonly before: EffectRow | undefined
}

async function runEffect(
  turns: TurnContext,
  agent: AgentRow,
  effect: Effect,
  { name, signal, before }: EffectStart,
): Promise<void> {
  let reservation: Reservation | undefined
  const onReserved = (made: Reservation): void => {
    reservation = made
  }
  const onWaiting = async (on: string): Promise<void> => {
    if (on !== '') turns.running.wait(name)
    const event: JournalEvent = { kind: 'waiting', at: turns.now(), effectId: effect.id, on }
    await runTurn(turns, { owner: null, id: agent.id, whose: agent.owner, event })
  }
  try {
    const onText = turns.watch.textSink(agent.id, agent.summary.runId)
    const options = { before, signal, onReserved, onWaiting, onText }
    const result = await turns.performer.perform(agent, effect, options)
    if (signal.aborted) return
    turns.running.beginCommit(name)
    if (await runResult(turns, agent, result)) reservation?.recorded()
  } finally {
    turns.running.endCommit(name)
    // Not before what it used is in the journal.
    await reservation?.release()
  }
}

/** The agent went on, or away, without the result. */
const TOO_LATE: ReadonlySet<string> = new Set([
  'AGENT_EVENT',
  'AGENT_NOT_FOUND',
  'AGENT_STOPPED',
  'AGENT_ELSEWHERE',
])

/** The next turn, with the result of an effect; false if it was another one, since the agent could not take it. */
async function runResult(
  turns: TurnContext,
  agent: AgentRow,
  result: EffectResult,
): Promise<boolean> {
  const { id, owner } = agent
  const { event, bytes } = result
  const nonce = turns.nonce()
  try {
    // It is there once: it waits for the store, under one name, so that it is not stored twice.
    await whenStored(
      () => runTurn(turns, { owner: null, id, whose: owner, event, bytes, nonce }),
      () => turns.running.isClosed,
    )
    return true
  } catch (error) {
    // A result that the agent cannot take must not leave it waiting for ever.
    const { code, message } = error as AgentError
    const instead = TOO_LATE.has(code) ? undefined : toFailedResult(event, message)
    if (instead === undefined) throw error
    await runTurn(turns, { owner: null, id, whose: owner, event: instead })
    return false
  }
}

/** The event in place of a result that made the agent fail inside. */
function toFailedResult(event: JournalEvent, message: string): JournalEvent | undefined {
  const { at, kind } = event
  if (kind !== 'model' && kind !== 'tool' && kind !== 'code') return undefined
  const { effectId } = event
  const failed = toFailedContent('AGENT_FAULT', message)
  switch (kind) {
    case 'model':
      return { kind: 'model_failed', at, effectId, code: 'AGENT_FAULT', message }
    case 'tool':
      return { kind, at, effectId, ...failed }
    case 'code':
      return { kind, at, effectId, ...failed, write: [], remove: [] }
  }
}

// Brings an export in: verified whole before anything changes. A bundle's memory is used only where
// its signer is trusted and its image is known here; otherwise the portable part goes into a fresh
// guest. Budgets already used stay used. Called in the step thread.

import type { Event, GrantedTool, Price } from '../../guest/words.ts'
import { AgentError } from '../errors.ts'
import type { AgentRow } from '../journal/rows.ts'
import { IMPORT_BYTES_MAX } from '../limits.ts'
import { checkStep } from '../steps/check-step.ts'
import { hashAnswer, LIMITS } from '../steps/residents.ts'
import { type Stepper, unwrap } from '../steps/stepper.ts'
import { isBundle, readBundle } from './bundle.ts'
import { packFiles, unpackExported } from './pack-files.ts'
import { type Exported, readExport, toPortable } from './portable.ts'

export interface ImportOptions {
  readonly id: string
  readonly owner: string
  readonly nowMs: number
  readonly installation: string
  /** Public keys whose memories are used, this installation's among them. */
  readonly trusted: readonly string[]
  /** What the owner has today; nothing else survives the import. */
  readonly tools: readonly GrantedTool[]
  readonly price: Price | null
}

export interface Imported {
  readonly agent: AgentRow
  readonly restored: 'memory' | 'json'
}

export function importAgent(
  stepper: Stepper,
  given: string | Uint8Array,
  options: ImportOptions,
): Imported {
  if (given.length > IMPORT_BYTES_MAX)
    throw new AgentError('AGENT_IMPORT', `an import has at most ${IMPORT_BYTES_MAX} bytes`)
  const bytes = typeof given === 'string' ? fromBase64(given) : Buffer.from(given)
  if (bytes === undefined || !isBundle(bytes)) {
    const text = typeof given === 'string' ? given : Buffer.from(given).toString('utf8')
    return { agent: fromJson(stepper, readExport(text), options), restored: 'json' }
  }
  const bundle = readBundle(bytes)
  const exported = readExport(bundle.json)
  const fits = exported.info.image === stepper.image.hash
  const sameTools = exported.agentState.config.tools.every(({ name }) =>
    options.tools.some((tool) => tool.name === name),
  )
  if (!fits || !sameTools || !options.trusted.includes(bundle.signer))
    return { agent: fromJson(stepper, exported, options), restored: 'json' }
  return { agent: fromMemory(stepper, exported, bundle.memory, options), restored: 'memory' }
}

function fromJson(stepper: Stepper, exported: Exported, options: ImportOptions): AgentRow {
  const from = toPortable(exported)
  const { id, nowMs, tools, price } = options
  const config = { ...from.config, tools: allowed(exported, tools), price }
  const { files, bytes } = packFiles(unpackExported(exported.files))
  const event: Event = {
    kind: 'create',
    at: nowMs,
    id,
    seed: id,
    config,
    files,
    from: { ...from, config },
  }
  return stepper.journal.transact(() => {
    const { agent } = stepper.create(freshRow(stepper, exported, options), event, bytes)
    return settleBudget(stepper, agent, exported, options)
  })
}

function fromMemory(
  stepper: Stepper,
  exported: Exported,
  memory: Buffer,
  options: ImportOptions,
): AgentRow {
  const { journal, residents, image } = stepper
  const { id, nowMs } = options
  const event: Event = { kind: 'forked', at: nowMs, id, seed: id }
  const text = JSON.stringify(event)
  const instance = residents.revive(image.hash, memory)
  const said = instance.call({ operation: 'step', text, nowMs }, LIMITS)
  const { summary } = checkStep(unwrap(said.text))
  residents.giveBack(instance)
  return journal.transact(() => {
    const row = { seq: 1, at: nowMs, kind: 'forked', turn: summary.turnCount, event: text }
    const first = { ...row, bytes: null, answer: hashAnswer(said.text) }
    const agent = journal.insertAgent(freshRow(stepper, exported, options), summary, first)
    journal.memories.putCheckpoint(agent.key, 0, image.hash, journal.memories.put(memory, null))
    return settleBudget(stepper, agent, exported, options)
  })
}

function freshRow(stepper: Stepper, exported: Exported, options: ImportOptions) {
  const { id, owner, nowMs, price } = options
  const { config } = exported.agentState
  const family = familyOf(stepper, exported, options)
  return {
    id,
    owner,
    depth: 0,
    image: stepper.image.hash,
    createdAt: nowMs,
    asked: { imported: true },
    model: config.model,
    template: config.template,
    grants: allowed(exported, options.tools).map(({ server, tool }) => `${server}/${tool}`),
    limits: config.limits,
    price,
    ...(family === undefined ? {} : { family }),
  }
}

/** An export that comes back to where it was made joins its family: copies do not multiply budgets. */
function familyOf(
  { journal }: Stepper,
  { info }: Exported,
  { installation, owner }: ImportOptions,
): number | undefined {
  const [place, number] = info.family.split(':')
  if (place !== installation || !/^\d{1,15}$/.test(number ?? '')) return undefined
  const sql = 'SELECT 1 FROM families WHERE family = ? AND owner = ?'
  return journal.get(sql, Number(number), owner) === undefined ? undefined : Number(number)
}

/** In a family of its own it starts with what it has used already. */
function settleBudget(
  { journal }: Stepper,
  agent: AgentRow,
  exported: Exported,
  options: ImportOptions,
): AgentRow {
  if (familyOf({ journal } as Stepper, exported, options) === agent.family) return agent
  const { turn_count, tool_call_count, usage } = exported.agentState
  const family = journal.family(agent.family)
  journal.setFamily(agent.family, {
    ...family,
    turns: turn_count,
    tokens: usage.totalTokens,
    costMicros: usage.costMicros ?? 0,
    calls: tool_call_count,
  })
  return agent
}

function allowed({ agentState }: Exported, tools: readonly GrantedTool[]): GrantedTool[] {
  return agentState.config.tools.flatMap(({ name }) => tools.filter((tool) => tool.name === name))
}

function fromBase64(text: string): Buffer | undefined {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined
}

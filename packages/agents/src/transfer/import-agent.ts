// Brings an import in that was read and checked before: all of it in one transaction. A bundle's
// memory is used only if its signer is trusted and image, tools and price fit; otherwise the
// portable part goes into a fresh guest. Budgets already used stay used. Called in the step thread.

import { asBuffer } from '@sluice/ledger/store/as-buffer'
import type { Config, Effect, GrantedTool, JournalEvent, Price } from '../guest/protocol.ts'
import type { NewAgent } from '../journal/new-rows.ts'
import type { AgentRow } from '../journal/rows.ts'
import { AgentError } from '../shared/errors.ts'
import { DEPTH_MAX } from '../shared/limits.ts'
import { checkStep } from '../steps/check-step.ts'
import { hashAnswer, LIMITS } from '../steps/residents.ts'
import { type BegunAgent, type Stepper, unwrap } from '../steps/stepper.ts'
import { checkPrice } from './create-config.ts'
import type { ImportFacts, ReadImport } from './read-import.ts'

export interface AgentImportOptions {
  readonly id: string
  readonly owner: string
  readonly nowMs: number
  readonly installation: string
  /** Public keys whose memories are used; the first is this installation's. */
  readonly trusted: readonly string[]
  /** What may be granted today; nothing else survives the import. */
  readonly tools: readonly GrantedTool[]
  /** These of the tools were chosen for it. Undefined: those that the agent it was has here. */
  readonly chosen?: readonly string[] | undefined
  /** The prices of this installation, by the model. */
  readonly prices: Readonly<Record<string, Price>>
  /** The agent that brings it in: it joins that family, whatever the file says. */
  readonly parent?: string | undefined
  /** What a plan said: another result is refused, since it would have to be worked out here. */
  readonly planned?: 'memory' | 'json'
  /** Labels of the caller that imports it. */
  readonly labels?: readonly string[] | undefined
}

export interface AgentImportResult {
  readonly agent: AgentRow
  readonly restored: 'memory' | 'json'
  /** Tools that the export names and the import has not. */
  readonly notGranted: readonly string[]
}

/** What an import would be, checked; nothing is changed. */
export interface ImportPlan {
  readonly config: Config
  readonly usesMemory: boolean
}

export function planImport(
  stepper: Stepper,
  facts: ImportFacts,
  hasMemory: boolean,
  options: AgentImportOptions,
): ImportPlan & { readonly row: NewAgent } {
  const { model, limits } = facts.config
  const price = Object.hasOwn(options.prices, model) ? (options.prices[model] ?? null) : null
  checkPrice(limits, price, model)
  const tools = grantedTools(stepper, facts, options)
  const config: Config = { ...facts.config, tools, price }
  const row = freshRow(stepper, facts, config, options)
  stepper.checkRoom(row)
  if (row.family !== undefined) checkPrice(stepper.journal.family(row.family).limits, price, model)
  const isTrusted = facts.signer !== undefined && options.trusted.includes(facts.signer)
  return { config, row, usesMemory: isTrusted && hasMemory && fits(stepper, facts, config) }
}

/** The first event of an import, run in the transfer thread with the config of a plan. */
export interface BegunImport extends BegunAgent {
  readonly config: Config
}

export function bringImport(
  stepper: Stepper,
  read: ReadImport,
  options: AgentImportOptions,
  begun?: BegunImport,
): AgentImportResult {
  const { facts, memory } = read
  const plan = planImport(stepper, facts, memory !== undefined, options)
  const { config, row, usesMemory } = plan
  const isOther = begun !== undefined && JSON.stringify(begun.config) !== JSON.stringify(config)
  if (isOther || (options.planned === 'memory' && !usesMemory))
    throw new AgentError('AGENT_BUSY', 'its tools or prices changed meanwhile: import it again')
  const agent = stepper.journal.transact(() => {
    const made =
      usesMemory && memory !== undefined
        ? fromMemory(stepper, row, Buffer.from(memory), { ...options, work: facts.work })
        : fromJson(stepper, row, { read, config, begun })
    return row.family === undefined ? settleBudget(stepper, made, facts) : made
  })
  const { tools } = config
  const has = new Set(tools.map(({ name }) => name))
  const notGranted = facts.config.tools.map(({ name }) => name).filter((name) => !has.has(name))
  return { agent, restored: usesMemory ? 'memory' : 'json', notGranted }
}

/** What the guest in the memory believes to have is what the host gives it. */
function fits(
  { image }: Stepper,
  { info, config: imported }: ImportFacts,
  config: Config,
): boolean {
  const names = (tools: readonly GrantedTool[]) =>
    tools
      .map(({ name }) => name)
      .sort()
      .join()
  return (
    info.image === image.hash &&
    names(imported.tools) === names(config.tools) &&
    imported.price?.inputMicros === config.price?.inputMicros &&
    imported.price?.outputMicros === config.price?.outputMicros
  )
}

/** An import grants nothing: its tools are those that somebody chose for it, here. */
function grantedTools(
  { journal }: Stepper,
  { info, config }: ImportFacts,
  { owner, tools, chosen }: AgentImportOptions,
): GrantedTool[] {
  const before = journal.agent(info.id)
  const had = before?.owner === owner ? before.grants : []
  const wanted = chosen ?? had
  const named = new Set(config.tools.map(({ name }) => name))
  return tools.filter(
    ({ name, server, tool }) =>
      wanted.includes(`${server}/${tool}`) && (chosen !== undefined || named.has(name)),
  )
}

interface JsonSource {
  readonly read: ReadImport
  readonly config: Config
  readonly begun: BegunImport | undefined
}

function fromJson(stepper: Stepper, row: NewAgent, { read, config, begun }: JsonSource): AgentRow {
  const { id, createdAt: at } = row
  const text = writeFirstEvent(read, { id, at, config })
  return stepper.createFrom(row, { text, at, bytes: read.bytes }, begun).agent
}

/** Put together as text: what was checked and may be large is not parsed and written once more. */
export function writeFirstEvent(
  { files, rest }: Pick<ReadImport, 'files' | 'rest'>,
  { id, at, config }: { readonly id: string; readonly at: number; readonly config: Config },
): string {
  const head = JSON.stringify({ kind: 'create', at, id, seed: id, config })
  const from = `{"config":${JSON.stringify(config)},${utf8(rest).slice(1)}`
  return `${head.slice(0, -1)},"files":${utf8(files)},"from":${from}}`
}

function utf8(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('utf8')
}

function fromMemory(
  { journal, residents, image }: Stepper,
  row: NewAgent,
  memory: Buffer,
  { id, nowMs, work }: Pick<AgentImportOptions, 'id' | 'nowMs'> & Pick<ImportFacts, 'work'>,
): AgentRow {
  // A paused agent goes on with its run when it is resumed; a fork would begin without one.
  const event: JournalEvent =
    work === undefined
      ? { kind: 'forked', at: nowMs, id, seed: id }
      : { kind: 'pause', at: nowMs, reason: 'imported while it was paused' }
  const text = JSON.stringify(event)
  const instance = residents.revive(image.hash, memory)
  const answer = instance.call({ operation: 'step', text, nowMs }, LIMITS)
  const { summary } = checkStep(unwrap(answer.text))
  residents.release(instance)
  const about = { seq: 1, at: nowMs, kind: event.kind, turn: summary.turnCount, event: text }
  const first = { ...about, bytes: null, answer: hashAnswer(answer.text) }
  const agent = journal.insertAgent(row, summary, first)
  journal.memories.putCheckpoint(agent.key, 0, image.hash, journal.memories.put(memory, null))
  if (work === undefined) return agent
  for (const run of work.runs) journal.work.insertRun(agent.key, run)
  for (const effect of work.effects) journal.work.insertEffect(agent.key, effect as Effect)
  return journal.setAgent({ ...agent, pausedAt: nowMs }, first, { summary, hostStop: null })
}

function freshRow(
  stepper: Stepper,
  facts: ImportFacts,
  { model, template, limits, price, tools }: Config,
  options: AgentImportOptions,
): NewAgent {
  const { id, owner, nowMs, labels = [], parent } = options
  const by = parent === undefined ? undefined : stepper.find(owner, parent)
  if (by !== undefined && by.depth >= DEPTH_MAX)
    throw new AgentError('AGENT_LIMIT', `agents make agents at most ${DEPTH_MAX} deep`)
  const known = familyOf(stepper, facts, options)
  const family = by?.family ?? known?.family
  const seen = [...labels, ...(facts.info.labels ?? []), ...(known?.labels ?? [])]
  return {
    id,
    owner,
    depth: by === undefined ? 0 : by.depth + 1,
    image: stepper.image.hash,
    createdAt: nowMs,
    asked: { ...facts.info.config, imported: true },
    model,
    template,
    grants: tools.map(({ server, tool }) => `${server}/${tool}`),
    limits,
    price,
    labels: [...new Set(seen)],
    ...(family === undefined ? {} : { family, continues: by === undefined }),
  }
}

/** An export that comes back to where it was made joins its family: copies do not multiply budgets. In
 * the hands of another owner it has seen what its family has, but only a signature of this installation
 * says which family that is: an edited number would show the labels of somebody else's agents. */
function familyOf(
  { journal }: Stepper,
  { info, signer }: ImportFacts,
  { owner, installation, trusted }: AgentImportOptions,
): { family?: number; labels: readonly string[] } | undefined {
  const [place, number] = info.family.split(':')
  if (place !== installation || !/^\d{1,15}$/.test(number ?? '')) return undefined
  const family = Number(number)
  const row = journal.get('SELECT owner FROM families WHERE family = $1', family)
  if (row === undefined) return undefined
  const { labels } = journal.family(family)
  if (row.owner === owner) return { family, labels }
  return signer !== undefined && signer === trusted[0] ? { labels } : undefined
}

/** In a family of its own it starts with what it has used already. */
function settleBudget({ journal }: Stepper, agent: AgentRow, facts: ImportFacts): AgentRow {
  const { turnCount, toolCallCount, usage } = facts
  journal.setFamily(agent.family, {
    ...journal.family(agent.family),
    turns: turnCount,
    tokens: usage.totalTokens,
    costMicros: usage.costMicros ?? 0,
    calls: toolCallCount,
  })
  return agent
}

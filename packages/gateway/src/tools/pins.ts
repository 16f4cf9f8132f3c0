// What is accepted of a server's definitions, and what waits for a person (A02). Judged when a list
// is seen, kept in gate.db over restarts; the check before a call is a look-up. With a lock file only
// what it pins is accepted; without one, first sight is trusted (on loopback, after the poison
// checks) and every later change is graded. What a person refused waits whatever its grade, until one
// accepts it.

import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { describeChange, gradeChange } from '@sluice/catalogue/pins/grade-change'
import type { Pin } from '@sluice/catalogue/pins/lock-file'
import { pinOf } from '@sluice/catalogue/pins/pin'
import { inspectDefinition } from '@sluice/guard/inspect-definition'
import { type KnownTool, type ToolDefinition, toToolKey } from '@sluice/policy/calls/tools'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { enterStep } from '../shared/current-step.ts'
import type { Log } from '../shared/log.ts'
import { takeTurn } from '../shared/slices.ts'
import { isObserving } from '../state/observe-mode.ts'
import { DECIDED_PINS_PER_TURN, FIRST_LIST_MS, PINS_MAX, PINS_OF_SERVER_MAX } from './limits.ts'
import { LookAlikeNames } from './look-alike-names.ts'
import { type DefinitionRefusal, RefusedDefinitions } from './refused-definitions.ts'
import { StoredMap } from './stored-map.ts'
import { type AcceptedDefinition, StoredPins, withInstructions } from './stored-pins.ts'

export interface PinsOptions {
  readonly store: DatabaseSync
  /** The lock file's pins; undefined if there is no such file. */
  readonly lock: readonly Pin[] | undefined
  readonly firstSight: 'trust' | 'hold'
  readonly ignore: readonly string[]
  /** Tells tools that are part of the product: an upgrade changes them, and only a lock file holds them. */
  readonly isOwn?: (server: string, tool: string) => boolean
  /** False for a server that the configuration no longer has. */
  readonly hasServer?: (server: string) => boolean
  readonly log: Log
  readonly nowMs: () => number
  /** A clock that no one can set: it says which tools came together. */
  readonly steadyMs: () => number
  /** A tool of a server that was known before is trusted at first sight. */
  readonly onNew?: (tool: KnownTool) => void
}

/** A definition that waits for a person, and why. */
export interface PendingDefinition {
  readonly tool: KnownTool
  readonly digest: string
  readonly because: string
  readonly changes: readonly string[]
  /** A person does not want it. */
  readonly refused?: DefinitionRefusal
  /** The policy of the caller only observes: it is listed and called, and that it waits is recorded. */
  readonly isObserved?: boolean
}

/** Whether a definition is neither listed nor called while it waits. */
export function isWithheld(
  definition: PendingDefinition | undefined,
): definition is PendingDefinition {
  return definition !== undefined && definition.isObserved !== true
}

type ToolName = Pick<ToolDefinition, 'server' | 'name'>

/** New tools of a list are logged together, this long after the first. */
const FIRST_SEEN_LOG_MS = 500

/** A definition that a server lists, with what was decided about it before. */
interface ListedDefinition {
  readonly tool: KnownTool
  readonly digest: string
  /** What was accepted under this name; undefined if nothing was. */
  readonly known: AcceptedDefinition | undefined
  /** The refusal of exactly this definition. */
  readonly refused: DefinitionRefusal | undefined
  /** A lock file says which definitions are accepted: nothing else is. */
  readonly isPinned: boolean
}

/** It was accepted before its server said what it tells the model. */
function isFirstWord({ known, tool }: ListedDefinition): boolean {
  return known?.instructions === undefined && tool.instructions !== undefined
}

export class Pins {
  readonly #options: PinsOptions
  readonly #stored: StoredPins
  readonly #accepted = new Map<string, AcceptedDefinition>()
  /** How many of each server are accepted. */
  readonly #sizes = new Map<string, number>()
  readonly #pending: StoredMap<PendingDefinition>
  /** Tools seen for the first time a moment ago: how many of each category, by server. */
  readonly #firstSeen = new Map<string, Map<string, number>>()
  /** The names of what is accepted; undefined while a lock file is in force. */
  #twins: LookAlikeNames | undefined
  #known = new WeakMap<KnownTool, PendingDefinition | 'accepted'>()
  readonly #digests = new WeakMap<KnownTool, { instructions: string; digest: string }>()
  readonly #refusals: RefusedDefinitions
  #lock: readonly Pin[] | undefined
  /** When something of a server was first accepted; 0 before this start. */
  readonly #listedMs = new Map<string, number>()

  constructor(options: PinsOptions) {
    this.#options = options
    this.#stored = new StoredPins(options.store, (count, why) =>
      options.log('warn', 'pins were not kept', { count, why }),
    )
    this.#refusals = new RefusedDefinitions(options.store)
    this.#pending = new StoredMap({ store: options.store, kind: 'held', log: options.log })
    const pending = [...this.#pending]
    this.setLock(options.lock)
    this.#restore(pending)
  }

  /** Puts a lock file in force: only what it pins is accepted. If it goes, what was accepted before is accepted again. */
  setLock(lock: readonly Pin[] | undefined): void {
    const accepted = this.#stored.readAll()
    this.#lock = lock
    this.#known = new WeakMap()
    this.#accepted.clear()
    this.#pending.clear()
    if (lock === undefined) for (const [key, one] of accepted) this.#accepted.set(key, one)
    for (const [, { definition }] of accepted)
      if (definition !== undefined && !this.#listedMs.has(definition.server))
        this.#listedMs.set(definition.server, 0)
    for (const { server, name, digest } of lock ?? []) {
      const key = toToolKey(server, name)
      const known = accepted.get(key)
      const same = known?.digest === digest ? known : undefined
      this.#accepted.set(key, { definition: undefined, ...same, digest, atMs: 0 })
    }
    this.#sizes.clear()
    for (const key of this.#accepted.keys()) this.#count((JSON.parse(key) as [string])[0])
    // Tens of thousands take a second: no call waits for it, since the gate is only starting.
    this.#twins = lock === undefined ? this.#indexNames() : undefined
  }

  #count(server: string, by = 1): void {
    this.#sizes.set(server, (this.#sizes.get(server) ?? 0) + by)
  }

  /** Trusted without a pin, a definition could change unseen. */
  #hasRoom(server: string): boolean {
    return this.#accepted.size < PINS_MAX && (this.#sizes.get(server) ?? 0) < PINS_OF_SERVER_MAX
  }

  /**
   * Other gates have accepted or refused these, or any if left out. True if the state of a definition may be
   * another now. What was not accepted goes on waiting.
   */
  reload(changed?: readonly ToolName[]): boolean {
    this.#refusals.reload()
    const pending = [...this.#pending]
    const isAny = changed === undefined || this.#lock !== undefined
    if (isAny) this.setLock(this.#lock)
    const isOther = isAny || changed.map((one) => this.#reloadOne(one)).includes(true)
    if (!isOther) return false
    this.#known = new WeakMap()
    this.#restore(pending)
    return true
  }

  /** What was not accepted meanwhile goes on waiting. */
  #restore(pending: Iterable<[string, PendingDefinition]>): void {
    for (const [key, one] of pending) {
      const { server, name } = one.tool.definition
      const refused = this.#refusals.of(server, name, one.digest)
      const isAccepted = this.#accepted.get(key)?.digest === one.digest
      const isGone = this.#options.hasServer?.(server) === false
      if (isAccepted || isGone) this.#pending.delete(key)
      else this.#pending.set(key, { ...one, ...(refused && { refused }) })
    }
  }

  /** Whether a definition that is known here may be judged otherwise now. */
  #reloadOne({ server, name }: ToolName): boolean {
    const key = toToolKey(server, name)
    const [before, now] = [this.#accepted.get(key), this.#stored.read(server, name)]
    const waits = this.#pending.has(key) || this.#pending.size >= PINS_MAX
    if (now?.digest === before?.digest) return waits
    if (now === undefined) {
      this.#accepted.delete(key)
      this.#twins?.remove(key)
    } else {
      const accepted = { ...now, atMs: before?.atMs ?? 0 }
      this.#accepted.set(key, accepted)
      this.#twins?.put({ server, name, ...accepted })
      if (!this.#listedMs.has(server)) this.#listedMs.set(server, 0)
    }
    this.#count(server, Number(now !== undefined) - Number(before !== undefined))
    return waits || before !== undefined
  }

  /** Why this definition may not be shown or called; undefined if it may. */
  pendingOf(tool: KnownTool): PendingDefinition | undefined {
    let known = this.#known.get(tool)
    if (known === undefined) {
      known = this.#judge(tool)
      this.#known.set(tool, known)
    }
    return known === 'accepted' ? undefined : known
  }

  /** The digest that a definition is known by, with what its server tells the model beside it. */
  pinOf(tool: KnownTool): string {
    const instructions = this.#instructionsFor(tool) ?? ''
    const known = this.#digests.get(tool)
    if (known?.instructions === instructions) return known.digest
    const digest = this.#digest(tool.definition, instructions)
    this.#digests.set(tool, { instructions, digest })
    return digest
  }

  #digest(definition: ToolDefinition, instructions: string): string {
    return pinOf(definition, sha256, { instructions, ignore: this.#options.ignore })
  }

  /** If the server was not listed yet, those it had when it was accepted. */
  #instructionsFor({ definition, instructions }: KnownTool): string | undefined {
    if (this.#options.ignore.includes('/instructions')) return ''
    const known = this.#accepted.get(toToolKey(definition.server, definition.name))
    return instructions ?? known?.instructions
  }

  /** What a server tells the model may not pass: hidden text, orders behind the user's back. */
  poisonIn(instructions: string): string | undefined {
    const { severity, findings } = inspectDefinition({ instructions })
    if (severity !== 'refuse' && severity !== 'hold') return undefined
    const worst = findings.find((finding) => finding.severity === severity)
    return `${worst?.kind}: ${worst?.text.slice(0, 120)}`
  }

  /** What was accepted last; undefined if nothing was, or only its digest is known. */
  acceptedOf(server: string, name: string): ToolDefinition | undefined {
    return this.#accepted.get(toToolKey(server, name))?.definition
  }

  /** Whether a lock file is in force. */
  get isLocked(): boolean {
    return this.#lock !== undefined
  }

  get pending(): readonly PendingDefinition[] {
    return [...this.#pending.values()]
  }

  /** The definitions of a server, or of one tool of it, that wait for a person; throws if none does. */
  waiting(server: string, name: string | undefined): readonly PendingDefinition[] {
    if (this.#lock !== undefined)
      throw new OperationError(
        'the lock file says what is accepted',
        'run `sluice pin`, look at the change of sluice.lock, and `sluice policy apply`',
      )
    const mine = this.pending.filter(
      ({ tool }) =>
        tool.definition.server === server && (name === undefined || tool.definition.name === name),
    )
    if (mine.length > 0) return mine
    throw new OperationError(
      `nothing is held of \`${name === undefined ? server : `${server}/${name}`}\``,
      '`sluice pin --held` lists what is',
    )
  }

  /** Whether a person, at any gate, has accepted or refused the definition with this digest. */
  isDecided(digest: string): boolean {
    return this.#stored.isDecided(digest)
  }

  /** A person's word, in parts: a server may have changed all of its definitions. */
  async accept(definitions: readonly PendingDefinition[]): Promise<void> {
    await this.#inParts(definitions, ({ tool, digest }) => {
      const key = toToolKey(tool.definition.server, tool.definition.name)
      const pending = this.#pending.get(key)
      this.#keep(tool, digest)
      // The server has listed another one meanwhile, which goes on waiting.
      if (pending !== undefined && pending.digest !== digest) this.#pending.set(key, pending)
      this.#known.set(tool, 'accepted')
    })
  }

  /** A person's decision, too: it goes on waiting, and replies to its callers name the person. */
  async refuse(definitions: readonly PendingDefinition[], by: string, why: string): Promise<void> {
    const refused: DefinitionRefusal = { by, why, atMs: this.#options.nowMs() }
    await this.#inParts(definitions, (one) => {
      const { server, name } = one.tool.definition
      this.#refusals.add(server, name, one.digest, refused)
      this.#pending.set(toToolKey(server, name), { ...one, refused })
      this.#known.set(one.tool, { ...one, refused })
    })
  }

  async #inParts(
    definitions: readonly PendingDefinition[],
    decide: (one: PendingDefinition) => void,
  ): Promise<void> {
    for (let at = 0; at < definitions.length; at += DECIDED_PINS_PER_TURN) {
      if (at > 0) await takeTurn()
      enterStep('command')
      const part = definitions.slice(at, at + DECIDED_PINS_PER_TURN)
      this.#stored.inOne(() => part.forEach(decide))
    }
  }

  #judge(tool: KnownTool): PendingDefinition | 'accepted' {
    const { definition } = tool
    const { server, name } = definition
    const digest = this.pinOf(tool)
    const known = this.#accepted.get(toToolKey(server, name))
    const refused = this.#refusals.of(server, name, digest)
    const listed: ListedDefinition = { tool, digest, known, refused, isPinned: this.#isPinned }
    const isUnpinnable =
      listed.isPinned && 'resources' in definition && definition.resources === 'dynamic'
    if (known?.digest === digest && !isUnpinnable) {
      // A lock file holds digests; the definition behind one is kept for the next diff.
      if (known.definition === undefined || isFirstWord(listed)) this.#keep(tool, digest)
      this.#pending.delete(toToolKey(server, name))
      return 'accepted'
    }
    const isOwn = this.#options.isOwn?.(server, name) ?? false
    if (isOwn && !listed.isPinned && refused === undefined) return this.#accept(listed)
    if (isUnpinnable) return this.#hold(listed, DYNAMIC)
    if (known === undefined) return this.#judgeFirst(listed)
    if (known.definition === undefined)
      return this.#hold(listed, 'it is not the definition the lock file pins')
    // Accepted before anybody had heard what its server says: no change, but a first look at that.
    if (isFirstWord(listed) && !listed.isPinned && this.#digest(definition, '') === known.digest)
      return this.#judgeInstructions(listed)
    return this.#judgeChange(listed, withInstructions(known.definition, known.instructions))
  }

  get #isPinned(): boolean {
    return this.#lock !== undefined
  }

  #accept({ tool, digest }: ListedDefinition): 'accepted' {
    this.#keep(tool, digest)
    return 'accepted'
  }

  #hold(
    { tool, digest, refused }: ListedDefinition,
    because: string,
    changes: readonly string[] = [],
  ): PendingDefinition {
    const { server, name } = tool.definition
    const key = toToolKey(server, name)
    const pending = { tool, digest, because, changes, ...(refused && { refused }) }
    if (this.#pending.size < PINS_MAX) this.#pending.set(key, pending)
    this.#options.log('warn', 'a tool is held until a person accepts its definition', {
      tool: key,
      why: because,
    })
    return pending
  }

  /** A tool that was never accepted under this name. */
  #judgeFirst(listed: ListedDefinition): PendingDefinition | 'accepted' {
    const { tool, refused, isPinned } = listed
    const { definition } = tool
    const whole = withInstructions(definition, this.#instructionsFor(tool))
    const because = isPinned ? NOT_PINNED : this.#objectionTo(tool, whole, this.#options.firstSight)
    if (because !== undefined || refused !== undefined)
      return this.#hold(listed, because ?? NOT_WANTED)
    const isLater = this.#wasListed(definition.server)
    this.#accept(listed)
    this.#logFirstSeen(tool)
    if (isLater) this.#options.onNew?.(tool)
    return 'accepted'
  }

  /** An accepted tool whose server says for the first time what it tells the model. */
  #judgeInstructions(listed: ListedDefinition): PendingDefinition | 'accepted' {
    const poison = this.poisonIn(this.#instructionsFor(listed.tool) ?? '')
    if (poison !== undefined) return this.#hold(listed, `the instructions of its server: ${poison}`)
    return listed.refused === undefined ? this.#accept(listed) : this.#hold(listed, NOT_WANTED)
  }

  /** An accepted tool that is not as it was. */
  #judgeChange(listed: ListedDefinition, before: ToolDefinition): PendingDefinition | 'accepted' {
    const { tool, refused, isPinned } = listed
    const { definition } = tool
    const after = withInstructions(definition, this.#instructionsFor(tool))
    const { passes, because, changes } = gradeChange(before, after)
    if (!passes || isPinned || refused !== undefined)
      return this.#hold(listed, because, changes.map(describeChange))
    this.#accept(listed)
    this.#options.log('info', 'the words of a definition changed', {
      tool: toToolKey(definition.server, definition.name),
      changes: changes.map(describeChange).join('; '),
    })
    return 'accepted'
  }

  /** Before the list that is being read. */
  #wasListed(server: string): boolean {
    const sinceMs = this.#listedMs.get(server)
    return sinceMs !== undefined && sinceMs < this.#options.steadyMs() - FIRST_LIST_MS
  }

  /** One line for the new tools of a list, which is judged over several turns of the event loop. */
  #logFirstSeen({ definition: { server }, category }: KnownTool): void {
    const counts = this.#firstSeen.get(server) ?? new Map<string, number>()
    counts.set(category, (counts.get(category) ?? 0) + 1)
    if (this.#firstSeen.size === 0)
      setTimeout(() => this.#flushFirstSeen(), FIRST_SEEN_LOG_MS).unref()
    this.#firstSeen.set(server, counts)
  }

  #flushFirstSeen(): void {
    for (const [server, counts] of this.#firstSeen) {
      const tools = [...counts.values()].reduce((sum, count) => sum + count, 0)
      const fields = { server, tools, ...Object.fromEntries(counts) }
      this.#options.log('info', 'new tools: their definitions are pinned as first seen', fields)
    }
    this.#firstSeen.clear()
  }

  /** Why a new definition is not trusted. */
  #objectionTo(
    tool: KnownTool,
    whole: ToolDefinition,
    firstSight: 'trust' | 'hold',
  ): string | undefined {
    const { severity, findings } = inspectDefinition(whole)
    if (severity === 'refuse' || severity === 'hold') {
      const worst = findings.find((finding) => finding.severity === severity)
      return `its definition: ${worst?.kind} at ${worst?.at}: ${worst?.text.slice(0, 120)}`
    }
    if (!this.#hasRoom(tool.definition.server)) return 'more tools are pinned than the gate keeps'
    const twin = this.#twinOf(tool.definition)
    if (twin !== undefined) return twin
    return firstSight === 'hold' ? 'it was never seen before, and first sight is held' : undefined
  }

  /** A03: an accepted tool that this one renames, copies, or could be mistaken for. */
  #twinOf(definition: ToolDefinition): string | undefined {
    return this.#twins?.find(definition, this.#options.steadyMs() - FIRST_LIST_MS)
  }

  #indexNames(): LookAlikeNames {
    const twins = new LookAlikeNames()
    for (const [key, accepted] of this.#accepted) {
      const [server, name] = JSON.parse(key) as [string, string]
      twins.put({ server, name, ...accepted })
    }
    return twins
  }

  #keep(tool: KnownTool, digest: string): void {
    const { definition } = tool
    const { server, name } = definition
    const instructions = this.#instructionsFor(tool)
    const extra = instructions === undefined ? {} : { instructions }
    const key = toToolKey(server, name)
    this.#pending.delete(key)
    this.#refusals.delete(server, name, digest)
    if (!this.#accepted.has(key)) this.#count(server)
    // Since it was first accepted: new words must not make it as young as a look-alike beside it.
    const atMs = this.#accepted.get(key)?.atMs ?? this.#options.steadyMs()
    this.#accepted.set(key, { digest, definition, ...extra, atMs })
    if (!this.#listedMs.has(server)) this.#listedMs.set(server, atMs)
    this.#twins?.put({ server, name, definition, atMs })
    this.#stored.put(tool, { digest, ...extra, acceptedAtMs: this.#options.nowMs() })
  }
}

const NOT_PINNED = 'the lock file does not pin it'
const DYNAMIC = 'its files are not listed (`dynamic`), so that a lock file cannot pin it'
const NOT_WANTED = 'a person does not want it'

/** The digest of pins. */
export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content)
}

/** Under a policy that only observes, only a definition that a person refused is withheld; of others it is recorded
 * that they would wait. */
export function markObserved(
  pending: PendingDefinition | undefined,
  policy: CompiledPolicy,
): PendingDefinition | undefined {
  if (pending === undefined || pending.refused !== undefined || !isObserving(policy)) return pending
  return { ...pending, isObserved: true }
}

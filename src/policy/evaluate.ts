// Runs a bound expression on one call: fills its slots, holds them against types, exactness and
// bounds, and answers true, false or why it cannot be decided. Never throws.

import type { Call, Facts } from '../core/call.ts'
import type { Instant } from '../core/clock.ts'
import { ExactNumber, isObject, type JsonObject, type JsonValue } from '../core/json.ts'
import type { Category } from '../core/tools.ts'
import type { BoundSlot, Program } from './bind-expression.ts'
import { timestamp } from './cel.ts'
import { ANYTHING, BOOLEAN, type Declared, isInteger, LIST, MAP, NULL, NUMBER, STRING } from './declared-types.ts'
import { Undecided } from './functions/undecided.ts'
import { WALK_ENTRIES_MAX, WALK_LENGTH_MAX } from './limits.ts'

/** What an expression came to. `either`: it reads arguments and there are none yet (a list). */
export type Truth =
  | { readonly is: 'true' | 'false' | 'either' }
  | { readonly is: 'undecidable'; readonly why: string }

export interface Situation {
  readonly call: Call
  readonly facts: Facts
  readonly now: Instant
  readonly category: Category
  /** Undefined while a list is made. */
  readonly args: JsonObject | undefined
  /** For proofs: how conditions are taken to come out. */
  readonly assumed: ReadonlyMap<Program, Truth> | undefined
}

const TRUE: Truth = { is: 'true' }
const FALSE: Truth = { is: 'false' }
const EITHER: Truth = { is: 'either' }

export function evaluate(program: Program, situation: Situation): Truth {
  const { args } = situation
  if (program.expression.readsArgs && args === undefined) return EITHER
  try {
    if (program.closedTo !== undefined)
      for (const name in args)
        if (!program.closedTo.has(name))
          return undecidable(`the tool declares no argument \`${name}\``)
    const slots: Record<string, unknown> = {}
    const sizes = new Sizes()
    for (const slot of program.slots) {
      const value = slotValue(slot, situation, sizes)
      if (value !== undefined) slots[slot.name] = value
    }
    sizes.hold(program.slots)
    const answer = program.run(slots)
    if (answer === true) return TRUE
    if (answer === false) return FALSE
    return undecidable('the expression is neither true nor false')
  } catch (error) {
    return undecidable(nameSlots(reasonOf(error), program))
  }
}

function undecidable(why: string): Truth {
  return { is: 'undecidable', why }
}

function reasonOf(error: unknown): string {
  const { summary, message } = error as { summary?: string; message?: string }
  return summary ?? message ?? 'the expression failed'
}

function nameSlots(text: string, program: Program): string {
  return text.replace(/^Unknown variable: s(\d+)$/, (_, index) => {
    const slot = program.slots[Number(index)]
    return `\`${slot === undefined ? '' : [slot.root, ...slot.path].join('.')}\` is not there`
  })
}

function slotValue(slot: BoundSlot, situation: Situation, sizes: Sizes): unknown {
  if (slot.root !== 'args') return factValue(slot, situation)
  const value = lookUp(situation.args as JsonObject, slot.path, slot.presence)
  if (slot.presence) return value
  return value === undefined ? undefined : sizes.measured(slot, value as JsonValue)
}

/** The value at a path. With `presence`: whether the last name is there, undefined where a name
 * before it is not. */
function lookUp(from: JsonObject, path: readonly string[], presence: boolean): JsonValue | undefined {
  let place: JsonValue | undefined = from
  const last = path.length - 1
  for (let index = 0; index <= last; index++) {
    const name = path[index] as string
    if (place === undefined) return undefined
    if (!isObject(place)) throw new Undecided(`\`args.${path.slice(0, index).join('.')}\` is no object`)
    const there: boolean = Object.hasOwn(place, name)
    if (presence && index === last) return there
    place = there ? place[name] : undefined
  }
  return place
}

/** Undefined where there is no agent or no tool: then reading it fails, as in CEL. */
function factValue(slot: BoundSlot, { call, facts, now, category }: Situation): unknown {
  const [name, below] = slot.path
  const { principal, agent, session } = facts
  switch (slot.root) {
    case 'now':
      return timestamp(now.wallMs)
    case 'call':
      return facts.callCategory ?? category
    case 'tool':
      if (facts.tool === undefined) return undefined
      if (name === 'name') return call.name
      return name === 'category' ? category : facts.tool.risk
    case 'server':
      return name === 'name' ? call.server : facts.transport
    case 'agent':
      if (name === undefined) return agent
      if (agent === null) return undefined
      if (name === 'depth' || name === 'turn') return BigInt(agent[name])
      return agent[name as 'id' | 'owner' | 'template']
    case 'session':
      if (name === 'saw') return session.saw.includes(below as string)
      if (name === 'calls') return BigInt(session.calls)
      return name === 'startedAt' ? timestamp(session.startedAtMs) : session.id
    default:
      if (name === 'claims') {
        const claim = lookUp(principal.claims, slot.path.slice(1), slot.presence)
        return typeof claim === 'boolean' || claim === undefined ? claim : plainValue(claim)
      }
      return principal[name as 'id' | 'kind' | 'groups']
  }
}

/** Claims are the issuer's word, not the agent's: converted, not measured. */
function plainValue(value: JsonValue): unknown {
  return new Sizes().converted(value, ANYTHING, 'claims')
}

/** Converts arguments to CEL values and counts what an expression will walk. */
class Sizes {
  #entries = 0
  #length = 0
  readonly #bySlot = new Map<string, { entries: number; top: number; length: number }>()

  measured(slot: BoundSlot, value: JsonValue): unknown {
    this.#entries = 0
    this.#length = 0
    const converted = this.converted(value, slot.declared, `args.${slot.path.join('.')}`)
    const top = Array.isArray(value) ? value.length : this.#entries
    this.#bySlot.set(slot.name, { entries: this.#entries, top, length: this.#length })
    return converted
  }

  /** Everything walked, at every place that walks it. */
  hold(slots: readonly BoundSlot[]): void {
    let entries = 0
    let length = 0
    for (const slot of slots) {
      const size = this.#bySlot.get(slot.name)
      if (size === undefined) continue
      for (const use of slot.uses) {
        const times = use.repeatedBy === undefined ? 1 : (this.#bySlot.get(use.repeatedBy)?.top ?? 1)
        entries += size.entries * times
        length += size.length * times * use.weight
      }
    }
    if (entries > WALK_ENTRIES_MAX)
      throw new Undecided(`it would walk ${entries} entries, the limit is ${WALK_ENTRIES_MAX}`)
    if (length > WALK_LENGTH_MAX)
      throw new Undecided(`it would walk ${length} characters, the limit is ${WALK_LENGTH_MAX}`)
  }

  converted(value: JsonValue, declared: Declared, where: string): unknown {
    if (typeof value === 'string') {
      if ((declared.kinds & STRING) === 0) throw mismatch(where, 'a string')
      this.#length += value.length
      return value
    }
    if (typeof value === 'number' || value instanceof ExactNumber) return convertNumber(value, declared, where)
    if (typeof value === 'boolean') {
      if ((declared.kinds & BOOLEAN) === 0) throw mismatch(where, 'a boolean')
      return value
    }
    if (value === null) {
      if ((declared.kinds & NULL) === 0) throw mismatch(where, 'null')
      return value
    }
    return this.#container(value, declared, where)
  }

  #container(value: readonly JsonValue[] | JsonObject, declared: Declared, where: string): unknown {
    if (Array.isArray(value)) {
      if ((declared.kinds & LIST) === 0) throw mismatch(where, 'a list')
      this.#count(value.length)
      return value.map((item: JsonValue) => this.converted(item, declared.items ?? ANYTHING, `${where}[]`))
    }
    if ((declared.kinds & MAP) === 0) throw mismatch(where, 'an object')
    const result: Record<string, unknown> = Object.create(null)
    for (const name of Object.keys(value)) {
      this.#count(1)
      this.#length += name.length
      const inner = declared.properties?.get(name) ?? ANYTHING
      result[name] = this.converted((value as JsonObject)[name] as JsonValue, inner, `${where}.${name}`)
    }
    return result
  }

  /** Counted while converting, so that a huge list is not converted first. */
  #count(entries: number): void {
    this.#entries += entries
    if (this.#entries > WALK_ENTRIES_MAX)
      throw new Undecided(`it would walk ${this.#entries} entries, the limit is ${WALK_ENTRIES_MAX}`)
  }
}

function convertNumber(value: number | ExactNumber, declared: Declared, where: string): number | bigint {
  if (isInteger(declared)) {
    const whole = wholeNumber(value)
    if (whole === undefined) throw new Undecided(`\`${where}\` is no integer of 64 bits`)
    return whole
  }
  if ((declared.kinds & NUMBER) === 0) throw mismatch(where, 'a number')
  if (value instanceof ExactNumber) throw new Undecided(`\`${where}\` is a number that no double holds exactly`)
  return value
}

const INT_MAX = 2n ** 63n

function wholeNumber(value: number | ExactNumber): bigint | undefined {
  if (typeof value === 'number') {
    if (!Number.isInteger(value)) return undefined
    const whole = BigInt(value)
    return whole < INT_MAX && whole >= -INT_MAX ? whole : undefined
  }
  if (!/^-?\d{1,19}$/.test(value.text)) return undefined
  const whole = BigInt(value.text)
  return whole < INT_MAX && whole >= -INT_MAX ? whole : undefined
}

function mismatch(where: string, got: string): Undecided {
  return new Undecided(`\`${where}\` is ${got}, which the tool does not declare`)
}


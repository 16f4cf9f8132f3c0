// Walks the arguments of a call: every text and id with its place, what its name says of it, and what the
// policy says. Bounded (limits.ts): a call with more than is visited counts as too large.

import type { ArgumentRole, ArgumentRoles } from '../calls/provenance.ts'
import { ExactNumber, isObject, type JsonObject, type JsonValue } from '../values/json.ts'
import { isDestination } from './argument-roles.ts'
import { CHECKED_CHARS_MAX, CHECKED_DEPTH_MAX, CHECKED_VALUES_MAX } from './limits.ts'
import { getRole, type ValueRole } from './names.ts'

/** Where a value stands in the arguments; made a text only if it is told. */
export interface ArgumentPlace {
  readonly parent: ArgumentPlace | undefined
  readonly key: string | number
}

export function toPathText({ parent, key }: ArgumentPlace): string {
  if (parent === undefined) return String(key)
  return toPathText(parent) + (typeof key === 'number' ? `[${key}]` : `.${key}`)
}

const ROOT: ArgumentPlace = { parent: undefined, key: 'args' }

export interface ArgumentLeaf {
  readonly text: string
  readonly parent: ArgumentPlace
  readonly key: string | number
  /** The name of the argument or member that holds the value. */
  readonly name: string
  readonly role: ValueRole
  /** The tool declares which words it takes. */
  readonly isEnum: boolean
  /** What the policy says that it is. */
  readonly policyRole: ArgumentRole | undefined
}

/** An argument or member. */
interface NamedArgument {
  readonly name: string
  /** The names on the way to it; undefined if one of them has a dot, so that no path means it. */
  readonly path: string | undefined
  readonly policyRole: ArgumentRole | undefined
}

const WHOLE: NamedArgument = { name: '', path: '', policyRole: undefined }

const ROLE_OF: Readonly<Record<ArgumentRole, ValueRole>> = {
  address: 'address',
  recipient: 'recipient',
  id: 'id',
  text: 'free text',
  none: 'name',
}

/** Every text and id of the arguments. Returns whether there were more than are checked. */
export function visitLeaves(
  args: JsonObject,
  schema: JsonValue | undefined,
  visit: (leaf: ArgumentLeaf) => void,
  roles?: ArgumentRoles,
): boolean {
  const walk = new ArgumentWalk(visit, roles)
  walk.members(args, ROOT, WHOLE, schema)
  return walk.isTooLarge
}

const NONE: JsonObject = {}

class ArgumentWalk {
  readonly #visit: (leaf: ArgumentLeaf) => void
  readonly #roles: ArgumentRoles | undefined
  #values = 0
  #chars = 0
  #depth = 0

  constructor(visit: (leaf: ArgumentLeaf) => void, roles: ArgumentRoles | undefined) {
    this.#visit = visit
    this.#roles = roles
  }

  get isTooLarge(): boolean {
    return this.#values >= CHECKED_VALUES_MAX || this.#chars > CHECKED_CHARS_MAX
  }

  members(
    value: JsonObject,
    at: ArgumentPlace,
    around: NamedArgument,
    declared: JsonValue | undefined,
  ): void {
    const properties = isObject(declared) ? declared.properties : undefined
    const known = isObject(properties) ? properties : NONE
    const isInner = this.#depth++ > 0
    for (const key of Object.keys(value)) {
      const one = value[key] as JsonValue
      const isKnown = Object.hasOwn(known, key)
      const place = { parent: at, key }
      // A name that the tool does not declare may be data itself: `{ "ann@example.com": "r" }`.
      if (isInner && !isKnown) this.#leaf(key, place, around, false)
      this.#walk(one, place, this.#nameMember(around, key), isKnown ? known[key] : undefined)
    }
    this.#depth--
  }

  #nameMember({ path, policyRole }: NamedArgument, name: string): NamedArgument {
    if (this.#roles === undefined || path === undefined || name.includes('.'))
      return { name, path: undefined, policyRole }
    const own = path === '' ? name : `${path}.${name}`
    return { name, path: own, policyRole: this.#roles.get(own) ?? policyRole }
  }

  #walk(
    value: JsonValue,
    at: ArgumentPlace,
    named: NamedArgument,
    declared: JsonValue | undefined,
  ): void {
    if (this.isTooLarge) return
    if (typeof value === 'string') this.#leaf(value, at, named, isEnum(declared))
    else if (typeof value === 'number') {
      if (isIdentifying(named)) this.#leaf(String(value), at, named, false)
    } else if (value instanceof ExactNumber) this.#leaf(value.text, at, named, false)
    else if (value === null || typeof value === 'boolean') return
    else if (this.#depth > CHECKED_DEPTH_MAX) this.#values = CHECKED_VALUES_MAX
    else if (Array.isArray(value)) {
      const items = isObject(declared) ? declared.items : undefined
      this.#depth++
      for (let index = 0; index < value.length; index++)
        this.#walk(value[index] as JsonValue, { parent: at, key: index }, named, items)
      this.#depth--
    } else this.members(value as JsonObject, at, named, declared)
  }

  #leaf(
    text: string,
    at: ArgumentPlace,
    { name, policyRole }: NamedArgument,
    isEnum: boolean,
  ): void {
    this.#values++
    this.#chars += text.length
    if (this.#chars > CHECKED_CHARS_MAX) return
    const { parent = at, key } = at
    const role = policyRole === undefined ? getRole(name) : ROLE_OF[policyRole]
    this.#visit({ text, parent, key, name, role, isEnum, policyRole })
  }
}

/** A number that names something. */
function isIdentifying({ name, policyRole }: NamedArgument): boolean {
  if (policyRole !== undefined) return isDestination(policyRole)
  const role = getRole(name)
  return role === 'id' || role === 'recipient' || role === 'credential'
}

function isEnum(declared: JsonValue | undefined): boolean {
  return isObject(declared) && (Array.isArray(declared.enum) || declared.const !== undefined)
}

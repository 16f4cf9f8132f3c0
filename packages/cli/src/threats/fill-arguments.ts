// Arguments of a call that does what a stranger wants: what the schema requires, with the wanted values where a name or a
// description of the tool's schema has a place for them. Nothing is taken from `default` or `examples`.

import { getRole, isPathName } from '@sluice/policy/provenance/names'
import { getOwn, isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { THREAT_SCHEMA_LEVELS_MAX } from './limits.ts'

/** What a call is to say, by the kind of argument. */
export interface WantedValues {
  readonly text?: string
  readonly address?: string
  readonly mail?: string
  readonly path?: string
  readonly amount?: number
  /** Exactly these arguments, by name. */
  readonly chosen?: JsonObject
}

export interface FilledArguments {
  readonly args: JsonObject
  /** Which of the wanted values have a place. */
  readonly used: ReadonlySet<keyof WantedValues>
}

const AMOUNT = /(?:^|_)(?:amount|amt|quantity|price|total|value)$|Amount$/i
const MAIL = /mail|^to$|recipient|^cc$|^bcc$/i
/** Stands for a name or an id that the schema requires. */
const FILLER = 'mallory-x1'

export function fillArguments(
  schema: JsonValue | undefined,
  wanted: WantedValues,
): FilledArguments {
  const used = new Set<keyof WantedValues>()
  return { args: fillObject(schema, { wanted, used, level: 0 }), used }
}

interface Filling {
  readonly wanted: WantedValues
  readonly used: Set<keyof WantedValues>
  readonly level: number
}

function fillObject(schema: JsonValue | undefined, filling: Filling): JsonObject {
  const properties = isObject(schema) ? schema.properties : undefined
  if (!isObject(properties)) return {}
  const { required } = schema as JsonObject
  const args: Record<string, JsonValue> = {}
  for (const [name, property] of Object.entries(properties)) {
    const isRequired = Array.isArray(required) && required.includes(name)
    const value = isObject(property) ? fillValue(name, property, isRequired, filling) : undefined
    if (value !== undefined) args[name] = value
  }
  return args
}

function fillValue(
  name: string,
  schema: JsonObject,
  isRequired: boolean,
  filling: Filling,
): JsonValue | undefined {
  const { wanted, level } = filling
  const chosen = getOwn(wanted.chosen ?? {}, name)
  if (chosen !== undefined) return chosen
  const choices = Array.isArray(schema.enum) ? schema.enum : []
  if (choices.length > 0) return isRequired ? choices[0] : undefined
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'object' || type === 'array') {
    if (level >= THREAT_SCHEMA_LEVELS_MAX) return isRequired ? {} : undefined
    const below = { ...filling, level: level + 1 }
    if (type === 'object') {
      const inner = fillObject(schema, below)
      return Object.keys(inner).length > 0 || isRequired ? inner : undefined
    }
    const items = isObject(schema.items) ? schema.items : { type: 'string' }
    const item = fillValue(name, items, isRequired, below)
    return item === undefined ? undefined : [item]
  }
  if (type === 'boolean') return isRequired ? true : undefined
  if (type === 'number' || type === 'integer')
    return (AMOUNT.test(name) ? take('amount', filling) : undefined) ?? (isRequired ? 1 : undefined)
  return takeText(name, filling) ?? (isRequired ? FILLER : undefined)
}

function takeText(name: string, filling: Filling): JsonValue | undefined {
  const role = getRole(name)
  if (isPathName(name) && role !== 'id') return take('path', filling)
  if (role === 'address') return take('address', filling)
  if (role === 'recipient' && MAIL.test(name)) return take('mail', filling)
  return role === 'free text' ? take('text', filling) : undefined
}

function take(kind: keyof WantedValues, { wanted, used }: Filling): JsonValue | undefined {
  const value = wanted[kind]
  if (value !== undefined) used.add(kind)
  return value
}

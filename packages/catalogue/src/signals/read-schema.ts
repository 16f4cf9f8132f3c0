// What the input schema says: actions to choose from, arguments that are programs, amounts or
// switches for the worst, the arguments of a search, and a payload. Pure; bounded by the number of
// properties and their depth, because a schema is the server's.

import type { Category } from '@sluice/policy/calls/tools'
import { memoize } from '@sluice/policy/structures/memoize'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { type ArgumentEffect, effectOf, SWITCH } from './argument-effects.ts'
import { ARGUMENT_KINDS, DEEP_KINDS } from './argument-kinds.ts'
import {
  KNOWN_ARGUMENTS_MAX,
  SCHEMA_DEPTH_MAX,
  SCHEMA_PROPERTIES_MAX,
  SCHEMA_VALUES_MAX,
} from './limits.ts'
import { readOffered } from './read-phrases.ts'
import { below, type EmitSignal } from './signal.ts'
import { classOfAct, HTTP_METHODS, worseOf } from './worst-act.ts'

/** Arguments that choose what the tool does, and those that may. */
const CHOOSES =
  /^(?:action|actions|operation|operations|op|verb|subcommand|command|method|http_?method)$/i
/** Arguments beside which a method is that of the tool's own request. */
const REACHES = /^(?:url|uri|path|endpoint|route|api_?path)$/i
const METHOD = /^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|PURGE|COPY|LINK|UNLINK|LOCK|UNLOCK)$/
const MAY_CHOOSE = /^(?:mode|task|function|intent|request_?type|status|state)$/i

/** The features of kinds of arguments, each the same string every time. */
const FEATURES_OF_KINDS = Object.entries(ARGUMENT_KINDS).map(
  ([kind, pattern]) => [`arg:${kind}`, pattern] as const,
)

export function readSchema(schema: JsonValue | undefined, emit: EmitSignal): void {
  const walk = { left: SCHEMA_PROPERTIES_MAX, names: 0, ids: 0, emit }
  readObject(schema, { key: 'inputSchema' }, 0, walk)
  const whole = { at: '/inputSchema', start: 0, end: 0 }
  if (walk.names === 0) emit('args:none', whole)
  else if (walk.ids === walk.names) emit('args:only an id', whole)
}

interface SchemaWalk {
  left: number
  names: number
  ids: number
  readonly emit: EmitSignal
}

/** A place in the schema; its pointer is written only where a signal is emitted. */
interface SchemaPath {
  readonly up?: SchemaPath
  readonly key: string
}

function pointerOf({ up, key }: SchemaPath): string {
  return below(up === undefined ? '' : pointerOf(up), key)
}

function readObject(
  schema: JsonValue | undefined,
  path: SchemaPath,
  depth: number,
  walk: SchemaWalk,
): void {
  if (!isObject(schema) || depth > SCHEMA_DEPTH_MAX) return
  if (isObject(schema.properties)) readProperties(schema.properties, path, depth, walk)
  if (isObject(schema.items)) readObject(schema.items, { up: path, key: 'items' }, depth + 1, walk)
  for (const key of ALTERNATIVES) {
    const list = schema[key]
    if (!Array.isArray(list)) continue
    const up = { up: path, key }
    list.forEach((item: JsonValue, index) => {
      readObject(item, { up, key: String(index) }, depth + 1, walk)
    })
  }
}

const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf']

function readProperties(
  properties: JsonObject,
  path: SchemaPath,
  depth: number,
  walk: SchemaWalk,
): void {
  const names = Object.keys(properties)
  const up = { up: path, key: 'properties' }
  for (const name of names) {
    if (walk.left-- <= 0) return
    const property = properties[name] as JsonValue
    const here: SchemaPath = { up, key: name }
    if (depth === 0) {
      walk.names++
      if (NAMES_A_THING.test(name)) walk.ids++
    }
    const { features, chooses, switches, effect } = argumentOf(name)
    if (features.length > 0) emitArgument(features, here, depth, walk.emit)
    if (switches && depth === 0 && isObject(property) && property.type === 'boolean')
      walk.emit('arg:acts', { at: pointerOf(here), start: 0, end: 0 })
    if (effect !== undefined && depth === 0 && isObject(property) && hasEffect(effect, property))
      walk.emit('arg:has an effect', { at: pointerOf(here), start: 0, end: 0 })
    // `repeat.method`, `webhook.method`: how a part of it works, not what the tool does.
    if (chooses && isObject(property) && !(depth > 0 && name === 'method')) {
      const reaches = names.some((key) => REACHES.test(key))
      readChoices(name, property, pointerOf(here), reaches, walk.emit)
    }
    readObject(property, here, depth + 1, walk)
  }
}

function emitArgument(
  features: readonly string[],
  here: SchemaPath,
  depth: number,
  emit: EmitSignal,
): void {
  const place = { at: pointerOf(here), start: 0, end: 0 }
  if (depth === 0) for (const feature of features) emit(feature, place)
  else for (const [feature, deep] of DEEP) if (features.includes(feature)) emit(deep, place)
}

function hasEffect(effect: ArgumentEffect, property: JsonObject): boolean {
  if (effect === 'text' || (effect === 'switch' && property.type === 'boolean')) return true
  if (
    effect === 'choice' &&
    choicesOf(property, '').some(({ value }) => (classOfAct(value) ?? 'Read') !== 'Read')
  )
    return true
  return effect === 'choice' && TOLD_CHOICE.test(String(property.description))
}

const TOLD_CHOICE = /\b(?:create|delete|remove|archive|add|register)\b/i

/** What counts below the first level too. */
const DEEP = DEEP_KINDS.map((kind) => [`arg:${kind}`, `arg.deep:${kind}`] as const)

const NAMES_A_THING = /(?:^|_|[a-z])(?:id|ids|uuid|key|name|slug|project|owner|repo|team)s?$/i

interface Argument {
  readonly features: readonly string[]
  readonly chooses: boolean
  readonly switches: boolean
  readonly effect: ArgumentEffect | undefined
}

/** The same names come again and again. */
const argumentOf = memoize(
  (name): Argument => ({
    features: FEATURES_OF_KINDS.filter(([, pattern]) => pattern.test(name)).map(
      ([feature]) => feature,
    ),
    chooses: CHOOSES.test(name) || MAY_CHOOSE.test(name),
    switches: SWITCH.test(name),
    effect: effectOf(name),
  }),
  KNOWN_ARGUMENTS_MAX,
)

/** The worst of the actions a caller may choose from. */
function readChoices(
  name: string,
  property: JsonObject,
  at: string,
  reaches: boolean,
  emit: EmitSignal,
): void {
  const sure = CHOOSES.test(name)
  const choices = choicesOf(property, at)
  // `add` beside `remove` takes back what it did; any method on any path is a request at will.
  const adds = choices.some(({ value }) => /^add/i.test(value))
  const toCategory = (value: string): Category | undefined => {
    if (adds && /^remove/i.test(value)) return 'Write'
    if (METHOD.test(value) && reaches) return value === 'DELETE' ? 'Execute' : HTTP_METHODS[value]
    return classOfAct(value)
  }
  let worst: Category | undefined
  let known = 0
  for (const { value } of choices) {
    // A method of somebody's webhook is no choice of this tool's act.
    if (METHOD.test(value) && !reaches) continue
    if (toCategory(value) !== undefined) known++
    worst = worseOf(toCategory(value), worst)
  }
  if (worst !== undefined && known * 3 >= choices.length)
    for (const { value, place } of choices)
      if (toCategory(value) === worst)
        emit(`${sure ? 'choice' : 'mode'}:${worst}`, { at: place, start: 0, end: value.length })
  if (choices.length === 0 && sure && typeof property.description === 'string')
    readOffered(`actions: ${property.description}`, below(at, 'description'), emit, 'choice')
}

export interface SchemaChoice {
  readonly value: string
  readonly place: string
}

/** What an argument may be: `enum`, `const`, alternatives of these, or members named as acts. */
export function choicesOf(property: JsonObject, at: string): SchemaChoice[] {
  const choices: SchemaChoice[] = []
  const list = property.enum
  if (Array.isArray(list))
    list.slice(0, SCHEMA_VALUES_MAX).forEach((value: JsonValue, index) => {
      if (typeof value === 'string') choices.push({ value, place: `${at}/enum/${index}` })
    })
  if (typeof property.const === 'string')
    choices.push({ value: property.const, place: below(at, 'const') })
  for (const key of ['anyOf', 'oneOf']) {
    const options = property[key]
    if (!Array.isArray(options)) continue
    options.slice(0, SCHEMA_VALUES_MAX).forEach((option: JsonValue, index) => {
      if (isObject(option)) choices.push(...choicesOf(option, `${at}/${key}/${index}`))
    })
  }
  const { items } = property
  if (isObject(items)) {
    choices.push(...choicesOf(items, below(at, 'items')))
    if (isObject(items.properties))
      for (const key of Object.keys(items.properties).slice(0, SCHEMA_VALUES_MAX))
        if (/^[a-z]+_/.test(key) && classOfAct(key) !== undefined)
          choices.push({ value: key, place: below(`${at}/items/properties`, key) })
  }
  return choices
}

// A located tree held against a shape: unknown keys, missing keys, wrong kinds, words and numbers
// out of range, each reported at its place. Returns whether the tree fits, so that what comes
// after may rely on it.

import { parseDecimal } from '../core/decimal.ts'
import { KEY_LENGTH_MAX } from './limits.ts'
import { didYouMean } from './nearest.ts'
import type { Problems } from './problem.ts'
import type { Located, LocatedMap, LocatedScalar } from './read-document.ts'
import { type KeyShape, parseDuration, type Shape } from './shape.ts'

export function checkShape(node: Located, shape: Shape, what: string, problems: Problems): boolean {
  switch (shape.kind) {
    case 'any':
      return true
    case 'either':
      return checkEither(node, shape.of, what, problems)
    case 'object':
      return checkObject(node, shape, what, problems)
    case 'record':
      return checkRecord(node, shape, what, problems)
    case 'list':
      return checkList(node, shape, what, problems)
    default:
      return checkScalar(node, shape, what, problems)
  }
}

function checkEither(node: Located, of: readonly Shape[], what: string, problems: Problems): boolean {
  const fitting = of.find((shape) => nodeKind(shape) === node.kind)
  if (fitting !== undefined) return checkShape(node, fitting, what, problems)
  return wrongType(node, of.map(describe).join(' or '), what, problems)
}

function checkObject(
  node: Located,
  shape: Shape & { kind: 'object' },
  what: string,
  problems: Problems,
): boolean {
  if (node.kind !== 'map') return wrongType(node, describe(shape), what, problems)
  let fits = true
  for (const { key, value } of node.entries) {
    const name = String(key.value)
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined
    if (field === undefined) {
      const help = didYouMean(name, Object.keys(shape.fields))
      problems.error('POLICY_UNKNOWN_KEY', key.at, `unknown key \`${name}\` in ${shape.noun}`, help)
      fits = false
    } else if (!checkShape(value, field.shape, `\`${name}\``, problems)) fits = false
  }
  for (const [name, field] of Object.entries(shape.fields)) {
    if (!field.required || node.entries.some(({ key }) => key.value === name)) continue
    const help = `add \`${name}\`: ${field.doc}`
    problems.error('POLICY_MISSING_KEY', node.at, `${shape.noun} needs \`${name}\``, help)
    fits = false
  }
  return fits
}

function checkRecord(
  node: Located,
  shape: Shape & { kind: 'record' },
  what: string,
  problems: Problems,
): boolean {
  if (isEmpty(node)) return true
  if (node.kind !== 'map') return wrongType(node, describe(shape), what, problems)
  let fits = true
  for (const { key, value } of node.entries) {
    if (!checkKey(key, shape.keys, what, problems)) fits = false
    if (!checkShape(value, shape.of, `\`${key.value}\``, problems)) fits = false
  }
  return fits
}

function checkKey(key: LocatedScalar, shape: KeyShape, what: string, problems: Problems): boolean {
  const name = String(key.value)
  if (shape.kind === 'word') {
    if (shape.words.includes(name)) return true
    const help = didYouMean(name, shape.words)
    problems.error('POLICY_UNKNOWN_WORD', key.at, `unknown \`${name}\` under ${what}`, help)
    return false
  }
  const slash = name.indexOf('/')
  const bad = (message: string, help: string) => {
    problems.error('POLICY_BAD_NAME', key.at, message, help)
    return false
  }
  if (name.length > KEY_LENGTH_MAX)
    return bad(`a name of ${name.length} characters, the limit is ${KEY_LENGTH_MAX}`, 'shorten it')
  if (slash > 0 && slash < name.length - 1) return true
  return bad(
    `\`${name}\` is no \`<server>/<${shape.noun}>\``,
    slash === -1
      ? `write \`<server>/${name}\`, or \`*/${name}\` for every server`
      : 'name the server before the `/` and the rest after it',
  )
}

function checkList(
  node: Located,
  shape: Shape & { kind: 'list' },
  what: string,
  problems: Problems,
): boolean {
  if (isEmpty(node)) return true
  if (node.kind !== 'list') return wrongType(node, describe(shape), what, problems)
  if (node.items.length > shape.max)
    return outOfRange(node, `${node.items.length} entries in ${what}`, `the limit is ${shape.max}`, problems)
  return node.items.map((item) => checkShape(item, shape.of, `an entry of ${what}`, problems)).every(Boolean)
}

function checkScalar(node: Located, shape: Shape, what: string, problems: Problems): boolean {
  if (node.kind !== 'scalar') return wrongType(node, describe(shape), what, problems)
  const { value, text } = node
  switch (shape.kind) {
    case 'word':
      if (typeof value !== 'string') return wrongType(node, describe(shape), what, problems)
      if (shape.words.includes(value)) return true
      problems.error('POLICY_UNKNOWN_WORD', node.at, `${what} cannot be \`${value}\``, didYouMean(value, shape.words))
      return false
    case 'constant':
      if (value === shape.value) return true
      problems.error('POLICY_OUT_OF_RANGE', node.at, `${what} is \`${text}\``, `write \`${shape.value}\``)
      return false
    case 'boolean':
      return typeof value === 'boolean' || wrongType(node, describe(shape), what, problems)
    case 'text':
      if (typeof value !== 'string') return wrongType(node, describe(shape), what, problems)
      if (value.trim() === '') return outOfRange(node, `${what} is empty`, 'write it out or take it away', problems)
      if (value.length <= shape.max) return true
      return outOfRange(node, `${what} has ${value.length} characters`, `the limit is ${shape.max}`, problems)
    case 'integer': {
      if (typeof value !== 'number') return wrongType(node, describe(shape), what, problems)
      if (Number.isInteger(value) && value >= shape.min && value <= shape.max) return true
      const hint = value === 0 ? 'to let nothing pass, say `deny`' : describe(shape)
      return outOfRange(node, `${what} is \`${text}\``, hint, problems)
    }
    case 'decimal': {
      if (typeof value !== 'number') return wrongType(node, describe(shape), what, problems)
      const decimal = parseDecimal(text)
      if (decimal !== undefined && decimal.units > 0n) return true
      return outOfRange(node, `${what} is \`${text}\``, 'a plain decimal above zero, such as `99.50`', problems)
    }
    default:
      return checkDuration(node, shape as Shape & { kind: 'duration' }, what, problems)
  }
}

function checkDuration(
  node: LocatedScalar,
  shape: Shape & { kind: 'duration' },
  what: string,
  problems: Problems,
): boolean {
  const seconds = parseDuration(node.value)
  const help = 'whole seconds, or `30s`, `5m`, `1h`, `1d`'
  if (seconds === undefined) {
    problems.error('POLICY_WRONG_TYPE', node.at, `${what} is \`${node.text}\`, not a length of time`, help)
    return false
  }
  if (seconds <= shape.maxSeconds) return true
  return outOfRange(node, `${what} is \`${node.text}\``, `the limit is ${shape.maxSeconds} seconds`, problems)
}

function outOfRange(node: Located, message: string, help: string, problems: Problems): false {
  problems.error('POLICY_OUT_OF_RANGE', node.at, message, help)
  return false
}

function wrongType(node: Located, wanted: string, what: string, problems: Problems): false {
  const got = node.kind === 'scalar' ? scalarName(node) : node.kind === 'map' ? 'a mapping' : 'a list'
  problems.error('POLICY_WRONG_TYPE', node.at, `${what} is ${got}`, `it takes ${wanted}`)
  return false
}

function scalarName({ value, text }: LocatedScalar): string {
  if (value === null) return 'empty'
  return typeof value === 'string' ? `the text \`${value.slice(0, 80)}\`` : `\`${text.slice(0, 80)}\``
}

/** A section that is written but has nothing under it. */
function isEmpty(node: Located): boolean {
  return node.kind === 'scalar' && node.value === null && node.text === ''
}

function nodeKind(shape: Shape): Located['kind'] {
  if (shape.kind === 'object' || shape.kind === 'record') return 'map'
  return shape.kind === 'list' ? 'list' : 'scalar'
}

function describe(shape: Shape): string {
  switch (shape.kind) {
    case 'word':
      return `one of ${shape.words.map((word) => `\`${word}\``).join(', ')}`
    case 'integer':
      return `a whole number from ${shape.min} to ${shape.max}`
    case 'decimal':
      return 'a decimal above zero'
    case 'text':
      return 'text'
    case 'duration':
      return 'a length of time'
    case 'boolean':
      return '`true` or `false`'
    case 'list':
      return `a list${shape.of.kind === 'object' ? '' : ` of ${describe(shape.of)}`}`
    case 'either':
      return shape.of.map(describe).join(' or ')
    default:
      return 'a mapping'
  }
}

export function asMap(node: Located | undefined): LocatedMap {
  return node?.kind === 'map' ? node : { kind: 'map', at: node?.at ?? 0, entries: [] }
}

// A located tree held against a shape: unknown keys, missing keys, wrong kinds, words and numbers
// out of range, each reported at its place. Returns whether the tree fits, so that what comes
// after may rely on it.

import { parseDecimal } from '../core/decimal.ts'
import { GLOBS_MAX, KEY_LENGTH_MAX } from './limits.ts'
import { didYouMean, nearest } from './nearest.ts'
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

function checkEither(
  node: Located,
  of: readonly Shape[],
  what: string,
  problems: Problems,
): boolean {
  const fitting = of.find((shape) => nodeKind(shape) === node.kind)
  if (fitting !== undefined && !isNull(node)) return checkShape(node, fitting, what, problems)
  return wrongType(node, { kind: 'either', of }, what, problems)
}

function checkObject(
  node: Located,
  shape: Shape & { kind: 'object' },
  what: string,
  problems: Problems,
): boolean {
  if (node.kind !== 'map') return wrongType(node, shape, what, problems)
  let fits = true
  const meant = new Set<string | undefined>()
  for (const { key, value } of node.entries) {
    const name = String(key.value)
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined
    if (field === undefined) {
      meant.add(unknownKey(key, shape, problems))
      fits = false
    } else if (!checkShape(value, field.shape, `\`${name}\``, problems)) fits = false
  }
  for (const [name, field] of Object.entries(shape.fields)) {
    if (!field.required || meant.has(name) || node.entries.some(({ key }) => key.value === name))
      continue
    const help = `add \`${name}\`: ${field.doc}`
    problems.error('DOCUMENT_MISSING_KEY', node.at, `${shape.noun} needs \`${name}\``, help)
    fits = false
  }
  return fits
}

/** The field that was probably meant: that it is missing then needs no saying. */
function unknownKey(
  key: LocatedScalar,
  shape: Shape & { kind: 'object' },
  problems: Problems,
): string | undefined {
  const name = String(key.value)
  const fields = Object.keys(shape.fields)
  const { elsewhere = {} } = shape
  const help = Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined
  problems.error(
    'DOCUMENT_UNKNOWN_KEY',
    key.at,
    `unknown key \`${shorten(name)}\` in ${shape.noun}`,
    help ?? didYouMean(name, fields),
  )
  return help === undefined ? nearest(name, fields) : undefined
}

function checkRecord(
  node: Located,
  shape: Shape & { kind: 'record' },
  what: string,
  problems: Problems,
): boolean {
  if (isNull(node)) return true
  if (node.kind !== 'map') return wrongType(node, shape, what, problems)
  let fits = shape.keys.kind === 'word' || checkGlobs(node, what, problems)
  for (const { key, value } of node.entries) {
    if (!checkKey(key, shape.keys, what, problems)) fits = false
    if (!checkShape(value, shape.of, `\`${key.value}\``, problems)) fits = false
  }
  return fits
}

function checkGlobs(node: LocatedMap, what: string, problems: Problems): boolean {
  const globs = node.entries.filter(({ key }) => isGlobKey(String(key.value)))
  const beyond = globs[GLOBS_MAX]
  if (beyond === undefined) return true
  problems.error(
    'DOCUMENT_TOO_LARGE',
    beyond.key.at,
    `\`${shorten(String(beyond.key.value))}\` is one glob too many under ${what}`,
    `the limit is ${GLOBS_MAX}`,
  )
  return false
}

function checkKey(key: LocatedScalar, shape: KeyShape, what: string, problems: Problems): boolean {
  const name = String(key.value)
  if (shape.kind === 'word') {
    if (shape.words.includes(name)) return true
    const help = didYouMean(name, shape.words)
    problems.error('DOCUMENT_UNKNOWN_WORD', key.at, `unknown \`${name}\` under ${what}`, help)
    return false
  }
  if (name.length > KEY_LENGTH_MAX) {
    const message = `\`${shorten(name)}\` is a name of ${name.length} characters`
    problems.error('DOCUMENT_BAD_NAME', key.at, message, `the limit is ${KEY_LENGTH_MAX}`)
    return false
  }
  if (shape.kind === 'name') return checkName(name, shape.noun, key.at, problems)
  if (shape.form.test(name)) return true
  problems.error('DOCUMENT_BAD_NAME', key.at, `\`${name}\` is no ${shape.noun}`, shape.help)
  return false
}

/** `<server>/<name>`, globs allowed. */
export function checkName(name: string, noun: string, at: number, problems: Problems): boolean {
  const slash = name.indexOf('/')
  if (slash > 0 && slash < name.length - 1) return true
  const help =
    slash === -1
      ? `write \`<server>/${name}\`, or \`"*/${name}"\` for every server`
      : 'name the server before the `/` and the rest after it'
  problems.error('DOCUMENT_BAD_NAME', at, `\`${name}\` is no \`<server>/<${noun}>\``, help)
  return false
}

function checkList(
  node: Located,
  shape: Shape & { kind: 'list' },
  what: string,
  problems: Problems,
): boolean {
  if (isNull(node) && shape.min === undefined) return true
  if (node.kind !== 'list') return wrongType(node, shape, what, problems)
  const count = node.items.length
  if (count > shape.max)
    return outOfRange(node, `${what} has ${count} entries`, `the limit is ${shape.max}`, problems)
  if (count < (shape.min ?? 0))
    return outOfRange(
      node,
      `${what} is an empty list`,
      'put something into it, or take it away',
      problems,
    )
  return node.items
    .map((item) => checkShape(item, shape.of, `an entry of ${what}`, problems))
    .every(Boolean)
}

function checkScalar(node: Located, shape: Shape, what: string, problems: Problems): boolean {
  if (node.kind !== 'scalar') return wrongType(node, shape, what, problems)
  const { value, text } = node
  switch (shape.kind) {
    case 'word':
      if (typeof value !== 'string') return wrongType(node, shape, what, problems)
      return shape.words.includes(value) || unknownWord(node, shape, what, problems)
    case 'constant':
      if (value === shape.value && text === String(shape.value)) return true
      if (typeof value !== 'number') return wrongType(node, shape, what, problems)
      return outOfRange(node, `${what} is \`${text}\``, `write \`${shape.value}\``, problems)
    case 'boolean':
      return typeof value === 'boolean' || wrongType(node, shape, what, problems)
    case 'text':
      if (typeof value !== 'string') return wrongType(node, shape, what, problems)
      if (value.trim() === '')
        return outOfRange(node, `${what} is empty`, 'write it out or take it away', problems)
      if (value.length <= shape.max) return true
      return outOfRange(
        node,
        `${what} has ${value.length} characters`,
        `the limit is ${shape.max}`,
        problems,
      )
    case 'integer':
    case 'decimal':
      return checkNumber(node, shape, what, problems)
    default:
      return checkDuration(node, shape as Shape & { kind: 'duration' }, what, problems)
  }
}

function unknownWord(
  node: LocatedScalar,
  { words, note }: Shape & { kind: 'word' },
  what: string,
  problems: Problems,
): false {
  const help = didYouMean(String(node.value), words)
  problems.error(
    'DOCUMENT_UNKNOWN_WORD',
    node.at,
    `${what} cannot be \`${shorten(node.text)}\``,
    note === undefined ? help : `${help}: ${note}`,
  )
  return false
}

/** Without the spellings on which parsers disagree, or whose value nobody sees: `010`, `0x10`, `1e3`. */
const PLAIN_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/

function checkNumber(
  node: LocatedScalar,
  shape: Shape & { kind: 'integer' | 'decimal' },
  what: string,
  problems: Problems,
): boolean {
  const { value, text } = node
  if (typeof value !== 'number') return wrongType(node, shape, what, problems)
  if (!PLAIN_NUMBER.test(text)) return notPlain(node, what, problems)
  const is = `${what} is \`${shorten(text)}\``
  if (shape.kind === 'decimal') {
    if ((parseDecimal(text)?.units ?? 0n) > 0n) return true
    return outOfRange(node, is, `it takes ${describe(shape)}`, problems)
  }
  if (/^\d+$/.test(text) && value >= shape.min && value <= shape.max) return true
  const help = value === 0 ? shape.zero : undefined
  return outOfRange(node, is, help ?? `it takes ${describe(shape)}`, problems)
}

function notPlain(node: LocatedScalar, what: string, problems: Problems): false {
  const message = `${what} is \`${shorten(node.text)}\`, which is not written plainly`
  return outOfRange(node, message, 'write it in plain digits, such as `1000`', problems)
}

function checkDuration(
  node: LocatedScalar,
  shape: Shape & { kind: 'duration' },
  what: string,
  problems: Problems,
): boolean {
  const { value, text } = node
  if (typeof value === 'number' && !PLAIN_NUMBER.test(text)) return notPlain(node, what, problems)
  const seconds = parseDuration(value)
  if (seconds === undefined) return wrongType(node, shape, what, problems)
  if (seconds <= shape.maxSeconds) return true
  return outOfRange(
    node,
    `${what} is \`${text}\``,
    `the limit is \`${inDays(shape.maxSeconds)}\``,
    problems,
  )
}

function inDays(seconds: number): string {
  return seconds % 86_400 === 0 ? `${seconds / 86_400}d` : `${seconds}s`
}

function outOfRange(node: Located, message: string, help: string, problems: Problems): false {
  problems.error('DOCUMENT_OUT_OF_RANGE', node.at, message, help)
  return false
}

function wrongType(node: Located, shape: Shape, what: string, problems: Problems): false {
  const help = `it takes ${describe(shape)}${howToWrite(node, shape)}`
  problems.error('DOCUMENT_WRONG_TYPE', node.at, `${what} is ${got(node)}`, help)
  return false
}

function got(node: Located): string {
  if (node.kind === 'map') return 'a mapping'
  if (node.kind === 'list') return 'a list'
  if (node.value === null) return 'empty'
  const written = shorten(node.text)
  return typeof node.value === 'string' ? `the text \`${written}\`` : `\`${written}\``
}

/** The last step from what is written to what was meant, where it is plain. */
function howToWrite(node: Located, shape: Shape): string {
  const wanted = nodeKind(shape)
  if (node.kind === 'list' && wanted === 'map') return ': write its entries without `-` or brackets'
  if (node.kind === 'map' && wanted === 'list') return ': write each entry after a `-`'
  if (node.kind !== 'scalar' || node.value === null) return ''
  if (wanted === 'list') return `: write \`[${shorten(node.text)}]\``
  if (wanted === 'map' && /\w:\S/.test(node.text)) return ': put a space after each `:`'
  if (shape.kind === 'text' && shape.example === undefined) return ': put it in quotes'
  return typeof node.value === 'string' && /^\d+(\.\d+)?$/.test(node.text) && shape.kind !== 'word'
    ? ', without quotes'
    : ''
}

function shorten(text: string): string {
  return text.length <= 80 ? text : text.slice(0, 80)
}

/** Nothing written, or `null`. */
function isNull(node: Located): boolean {
  return node.kind === 'scalar' && node.value === null
}

function nodeKind(shape: Shape): Located['kind'] {
  if (shape.kind === 'object' || shape.kind === 'record') return 'map'
  return shape.kind === 'list' ? 'list' : 'scalar'
}

function describe(shape: Shape): string {
  switch (shape.kind) {
    case 'word':
      return `${shape.words.length > 1 ? 'one of ' : ''}${shape.words.map((word) => `\`${word}\``).join(', ')}`
    case 'constant':
      return `the number \`${shape.value}\``
    case 'integer':
      return `a whole number from ${shape.min} to ${shape.max}`
    case 'decimal':
      return 'a decimal above zero, such as `99.50`'
    case 'text':
      return shape.example === undefined ? 'text' : `text such as ${shape.example}`
    case 'duration':
      return 'whole seconds, or `30s`, `5m`, `1h`, `1d`'
    case 'boolean':
      return '`true` or `false`'
    case 'list':
      return shape.of.kind === 'object' ? 'a list' : `a list of ${describe(shape.of)}`
    case 'either':
      return shape.of.map(describe).join(', or ')
    default:
      return 'a mapping'
  }
}

export function asMap(node: Located | undefined): LocatedMap {
  return node?.kind === 'map' ? node : { kind: 'map', at: node?.at ?? 0, entries: [] }
}

function isGlobKey(key: string): boolean {
  return /[*?]/.test(key)
}

// Validates a located tree against a shape: unknown keys, missing keys, wrong kinds, words and
// numbers out of range, each reported at its place. Returns whether the tree is valid, so that
// later steps may rely on it.

import { getOwn } from '../core/json.ts'
import { badForm, checkScalar, isOfForm } from './check-scalar.ts'
import { nodeKind, outOfRange, shorten, wrongType } from './describe-shape.ts'
import { GLOBS_MAX, KEY_LENGTH_MAX } from './limits.ts'
import { didYouMean, nearest } from './nearest.ts'
import type { Problems } from './problem.ts'
import type { LocatedMap, LocatedNode, LocatedScalar } from './read-document.ts'
import type { KeyShape, Shape } from './shape.ts'

export function checkShape(
  node: LocatedNode,
  shape: Shape,
  what: string,
  problems: Problems,
): boolean {
  switch (shape.kind) {
    case 'any':
      return true
    case 'either':
      return checkEither(node, shape.of, what, problems)
    case 'object':
      return checkObject(node, shape, what, problems)
    case 'record':
      return checkRecord(node, shape, what, problems)
    case 'nullable':
      return isNull(node) || checkShape(node, shape.of, what, problems)
    case 'list':
      return checkList(node, shape, what, problems)
    default:
      return checkScalar(node, shape, what, problems)
  }
}

function checkEither(
  node: LocatedNode,
  of: readonly Shape[],
  what: string,
  problems: Problems,
): boolean {
  const fitting = of.find((shape) => nodeKind(shape) === node.kind)
  if (fitting !== undefined && !isNull(node)) return checkShape(node, fitting, what, problems)
  return wrongType(node, { kind: 'either', of }, what, problems)
}

function checkObject(
  node: LocatedNode,
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

/** Returns the field that was probably intended, so that it is not reported as missing too. */
function unknownKey(
  key: LocatedScalar,
  shape: Shape & { kind: 'object' },
  problems: Problems,
): string | undefined {
  const name = String(key.value)
  const fields = Object.keys(shape.fields)
  const help = getOwn(shape.elsewhere ?? {}, name)
  problems.error(
    'DOCUMENT_UNKNOWN_KEY',
    key.at,
    `unknown key \`${shorten(name)}\` in ${shape.noun}`,
    help ?? didYouMean(name, fields),
  )
  return help === undefined ? nearest(name, fields) : undefined
}

function checkRecord(
  node: LocatedNode,
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
  return isOfForm(shape, name) || badForm(key, shape, problems)
}

/** `<server>/<name>`, globs allowed. */
export function checkName(name: string, noun: string, at: number, problems: Problems): boolean {
  const slash = name.indexOf('/')
  if (slash > 0 && slash < name.length - 1) return true
  const help =
    slash === -1
      ? `write \`<server>/${name}\`, or \`"*/${name}"\` for every server`
      : 'name the server before the `/` and the rest after it'
  problems.error('DOCUMENT_BAD_NAME', at, `\`${name}\` is not a \`<server>/<${noun}>\``, help)
  return false
}

function checkList(
  node: LocatedNode,
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

/** An empty value, or `null`. */
export function isNull(node: LocatedNode): boolean {
  return node.kind === 'scalar' && node.value === null
}

export function asMap(node: LocatedNode | undefined): LocatedMap {
  return node?.kind === 'map'
    ? node
    : { kind: 'map', at: node?.at ?? 0, end: node?.at ?? 0, entries: [] }
}

function isGlobKey(key: string): boolean {
  return /[*?]/.test(key)
}

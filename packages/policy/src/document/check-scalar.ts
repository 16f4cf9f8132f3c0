// Validates one scalar against its shape: words, numbers, texts, durations. Numbers must be written
// plainly: YAML parsers disagree on the other spellings.

import { parseDecimal } from '../core/decimal.ts'
import { describeShape, outOfRange, shorten, wrongType } from './describe-shape.ts'
import { didYouMean } from './nearest.ts'
import type { Problems } from './problem.ts'
import type { LocatedNode, LocatedScalar } from './read-document.ts'
import { type FormShape, parseDuration, parseTime, type Shape, TIME_HELP } from './shape.ts'

export function checkScalar(
  node: LocatedNode,
  shape: Shape,
  what: string,
  problems: Problems,
): boolean {
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
      if (value === null && shape.blank === true) return true
      if (typeof value !== 'string') return wrongType(node, shape, what, problems)
      if (value.trim() === '' && shape.empty !== true)
        return outOfRange(node, `${what} is empty`, 'write it out or take it away', problems)
      if (value.length <= shape.max) return true
      return outOfRange(
        node,
        `${what} has ${value.length} characters`,
        `the limit is ${shape.max}`,
        problems,
      )
    case 'time':
      if (typeof value === 'string' && parseTime(value) !== undefined) return true
      return outOfRange(
        node,
        `${what} is \`${shorten(text)}\`, which is not a time`,
        TIME_HELP,
        problems,
      )
    case 'form':
      if (typeof value !== 'string') return wrongType(node, shape, what, problems)
      return isOfForm(shape, value) || badForm(node, shape, problems)
    case 'integer':
    case 'decimal':
      return checkNumber(node, shape, what, problems)
    default:
      return checkDuration(node, shape as Shape & { kind: 'duration' }, what, problems)
  }
}

export function isOfForm({ form, check }: FormShape, text: string): boolean {
  return form.test(text) && (check === undefined || check(text))
}

export function badForm(
  { text, at }: LocatedScalar,
  { noun, help, secret, code = 'DOCUMENT_BAD_NAME' }: FormShape,
  problems: Problems,
): false {
  const what = secret === true ? 'this' : `\`${shorten(text)}\``
  problems.error(code, at, `${what} is not a valid ${noun}`, help)
  return false
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

/**
 * Excludes the spellings on which parsers disagree, or whose value is not obvious: `010`, `0x10`,
 * `1e3`.
 */
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
    return outOfRange(node, is, `it takes ${describeShape(shape)}`, problems)
  }
  if (/^\d+$/.test(text) && value >= shape.min && value <= shape.max) return true
  const help = value === 0 ? shape.zero : undefined
  return outOfRange(node, is, help ?? `it takes ${describeShape(shape)}`, problems)
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

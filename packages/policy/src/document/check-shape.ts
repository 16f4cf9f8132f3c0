// Validates a located tree against a shape: unknown keys, missing keys, wrong kinds, words and
// numbers out of range, each reported at its place. Returns whether the tree is valid, so that
// later steps may rely on it. Numbers must be written plainly: YAML parsers disagree on the other
// spellings.

import { parseDecimal } from '../values/decimal.ts'
import { getOwn } from '../values/json.ts'
import { describeNode, describeShape, howToWrite, nodeKind, shorten } from './describe-shape.ts'
import { GLOBS_MAX, KEY_LENGTH_MAX } from './limits.ts'
import { didYouMean, nearest } from './nearest.ts'
import type { Problems } from './problem.ts'
import type { LocatedMap, LocatedNode, LocatedScalar } from './read-document.ts'
import {
  type FormShape,
  type KeyShape,
  parseDuration,
  parseTime,
  type Shape,
  TIME_HELP,
} from './shape.ts'

export function checkShape(
  node: LocatedNode,
  shape: Shape,
  what: string,
  problems: Problems,
): boolean {
  return new ShapeCheck(problems).check(node, shape, what)
}

type ShapeOf<Kind extends Shape['kind']> = Shape & { kind: Kind }

/**
 * Excludes the spellings on which parsers disagree, or whose value is not obvious: `010`, `0x10`,
 * `1e3`.
 */
const PLAIN_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/

class ShapeCheck {
  readonly #problems: Problems

  constructor(problems: Problems) {
    this.#problems = problems
  }

  check(node: LocatedNode, shape: Shape, what: string): boolean {
    switch (shape.kind) {
      case 'any':
        return true
      case 'either':
        return this.#either(node, shape, what)
      case 'object':
        return this.#object(node, shape, what)
      case 'record':
        return this.#record(node, shape, what)
      case 'nullable':
        return isNull(node) || this.check(node, shape.of, what)
      case 'list':
        return this.#list(node, shape, what)
      default:
        return node.kind === 'scalar'
          ? this.#scalar(node, shape, what)
          : this.#wrongType(node, shape, what)
    }
  }

  #either(node: LocatedNode, shape: ShapeOf<'either'>, what: string): boolean {
    // A text is no decimal if another shape takes texts.
    const isText = node.kind === 'scalar' && typeof node.value === 'string'
    const fitting = shape.of.find(
      (one) => nodeKind(one) === node.kind && !(isText && one.kind === 'decimal'),
    )
    if (fitting === undefined || isNull(node)) return this.#wrongType(node, shape, what)
    return this.check(node, fitting, what)
  }

  #object(node: LocatedNode, shape: ShapeOf<'object'>, what: string): boolean {
    if (node.kind !== 'map') return this.#wrongType(node, shape, what)
    let fits = true
    const meant = new Set<string | undefined>()
    for (const { key, value } of node.entries) {
      const name = String(key.value)
      const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined
      if (field === undefined) {
        meant.add(this.#unknownKey(key, shape))
        fits = false
      } else if (!this.check(value, field.shape, `\`${name}\``)) fits = false
    }
    for (const [name, field] of Object.entries(shape.fields)) {
      if (!field.required || meant.has(name) || node.entries.some(({ key }) => key.value === name))
        continue
      const message = `${shape.noun} needs \`${name}\``
      const help = `add \`${name}\`: ${field.doc}`
      fits = this.#problems.refuse('DOCUMENT_MISSING_KEY', node.at, message, help)
    }
    return fits
  }

  /** Returns the field that was probably intended, so that it is not reported as missing too. */
  #unknownKey(key: LocatedScalar, shape: ShapeOf<'object'>): string | undefined {
    const name = String(key.value)
    const fields = Object.keys(shape.fields)
    const elsewhere = getOwn(shape.elsewhere ?? {}, name)
    const message = `unknown key \`${shorten(name)}\` in ${shape.noun}`
    const help = elsewhere ?? didYouMean(name, fields)
    this.#problems.error('DOCUMENT_UNKNOWN_KEY', key.at, message, help)
    return elsewhere === undefined ? nearest(name, fields) : undefined
  }

  #record(node: LocatedNode, shape: ShapeOf<'record'>, what: string): boolean {
    if (isNull(node)) return true
    if (node.kind !== 'map') return this.#wrongType(node, shape, what)
    let fits = shape.keys.kind === 'word' || this.#globs(node, what)
    for (const { key, value } of node.entries) {
      if (!this.#key(key, shape.keys, what)) fits = false
      if (!this.check(value, shape.of, `\`${key.value}\``)) fits = false
    }
    return fits
  }

  #globs({ entries }: LocatedMap, what: string): boolean {
    const beyond = entries.filter(({ key }) => /[*?]/.test(String(key.value)))[GLOBS_MAX]
    if (beyond === undefined) return true
    const { value, at } = beyond.key
    const message = `\`${shorten(String(value))}\` is one glob too many under ${what}`
    return this.#problems.refuse('DOCUMENT_TOO_LARGE', at, message, `the limit is ${GLOBS_MAX}`)
  }

  #key(key: LocatedScalar, shape: KeyShape, what: string): boolean {
    const name = String(key.value)
    if (shape.kind === 'word') {
      if (shape.words.includes(name)) return true
      const help = didYouMean(name, shape.words)
      const message = `unknown \`${name}\` under ${what}`
      return this.#problems.refuse('DOCUMENT_UNKNOWN_WORD', key.at, message, help)
    }
    if (name.length > KEY_LENGTH_MAX) {
      const message = `\`${shorten(name)}\` is a name of ${name.length} characters`
      const help = `the limit is ${KEY_LENGTH_MAX}`
      return this.#problems.refuse('DOCUMENT_BAD_NAME', key.at, message, help)
    }
    if (shape.kind === 'name') return checkName(name, shape.noun, key.at, this.#problems)
    return this.#form(key, name, shape)
  }

  #list(node: LocatedNode, shape: ShapeOf<'list'>, what: string): boolean {
    if (isNull(node) && shape.min === undefined) return true
    if (node.kind !== 'list') return this.#wrongType(node, shape, what)
    const count = node.items.length
    if (count > shape.max)
      return this.#outOfRange(node, `${what} has ${count} entries`, `the limit is ${shape.max}`)
    if (count < (shape.min ?? 0))
      return this.#outOfRange(
        node,
        `${what} is an empty list`,
        'put something into it, or take it away',
      )
    return node.items
      .map((item) => this.check(item, shape.of, `an entry of ${what}`))
      .every(Boolean)
  }

  #scalar(node: LocatedScalar, shape: Shape, what: string): boolean {
    const { value, text } = node
    switch (shape.kind) {
      case 'word':
        if (typeof value !== 'string') return this.#wrongType(node, shape, what)
        return shape.words.includes(value) || this.#unknownWord(node, shape, what)
      case 'constant':
        if (value === shape.value && text === String(shape.value)) return true
        if (typeof value !== 'number') return this.#wrongType(node, shape, what)
        return this.#outOfRange(node, `${what} is \`${text}\``, `write \`${shape.value}\``)
      case 'boolean':
        return typeof value === 'boolean' || this.#wrongType(node, shape, what)
      case 'text':
        return this.#text(node, shape, what)
      case 'time':
        if (typeof value === 'string' && parseTime(value) !== undefined) return true
        return this.#outOfRange(
          node,
          `${what} is \`${shorten(text)}\`, which is not a time`,
          TIME_HELP,
        )
      case 'form':
        if (typeof value !== 'string') return this.#wrongType(node, shape, what)
        return this.#form(node, value, shape)
      case 'integer':
      case 'decimal':
        return this.#number(node, shape, what)
      default:
        return this.#duration(node, shape as ShapeOf<'duration'>, what)
    }
  }

  #text(node: LocatedScalar, shape: ShapeOf<'text'>, what: string): boolean {
    const { value } = node
    if (value === null && shape.blank === true) return true
    if (typeof value !== 'string') return this.#wrongType(node, shape, what)
    if (value.trim() === '' && shape.empty !== true)
      return this.#outOfRange(node, `${what} is empty`, 'write it out or take it away')
    const message = `${what} has ${value.length} characters`
    return value.length <= shape.max || this.#outOfRange(node, message, `the limit is ${shape.max}`)
  }

  #form({ text, at }: LocatedScalar, value: string, shape: FormShape): boolean {
    const { form, check, noun, help, secret, code = 'DOCUMENT_BAD_NAME' } = shape
    if (form.test(value) && (check === undefined || check(value))) return true
    const what = secret === true ? 'this' : `\`${shorten(text)}\``
    return this.#problems.refuse(code, at, `${what} is not a valid ${noun}`, help)
  }

  #unknownWord(node: LocatedScalar, { words, note }: ShapeOf<'word'>, what: string): false {
    const message = `${what} cannot be \`${shorten(node.text)}\``
    const known = didYouMean(String(node.value), words)
    const help = note === undefined ? known : `${known}: ${note}`
    return this.#problems.refuse('DOCUMENT_UNKNOWN_WORD', node.at, message, help)
  }

  #number(node: LocatedScalar, shape: ShapeOf<'integer' | 'decimal'>, what: string): boolean {
    const { value, text } = node
    if (typeof value !== 'number') return this.#wrongType(node, shape, what)
    if (!PLAIN_NUMBER.test(text)) return this.#notPlain(node, what)
    const fits =
      shape.kind === 'decimal'
        ? (parseDecimal(text)?.units ?? 0n) > 0n
        : /^\d+$/.test(text) && value >= shape.min && value <= shape.max
    if (fits) return true
    const zero = shape.kind === 'integer' && value === 0 ? shape.zero : undefined
    const help = zero ?? `it takes ${describeShape(shape)}`
    return this.#outOfRange(node, `${what} is \`${shorten(text)}\``, help)
  }

  #duration(node: LocatedScalar, shape: ShapeOf<'duration'>, what: string): boolean {
    const { value, text } = node
    if (typeof value === 'number' && !PLAIN_NUMBER.test(text)) return this.#notPlain(node, what)
    const seconds = parseDuration(value)
    if (seconds === undefined) return this.#wrongType(node, shape, what)
    if (seconds <= shape.maxSeconds) return true
    const help = `the limit is \`${inDays(shape.maxSeconds)}\``
    return this.#outOfRange(node, `${what} is \`${text}\``, help)
  }

  #notPlain(node: LocatedScalar, what: string): false {
    const message = `${what} is \`${shorten(node.text)}\`, which is not written plainly`
    return this.#outOfRange(node, message, 'write it in plain digits, such as `1000`')
  }

  #outOfRange(node: LocatedNode, message: string, help: string): false {
    return this.#problems.refuse('DOCUMENT_OUT_OF_RANGE', node.at, message, help)
  }

  #wrongType(node: LocatedNode, shape: Shape, what: string): false {
    const message = `${what} is ${describeNode(node)}`
    const help = `it takes ${describeShape(shape)}${howToWrite(node, shape)}`
    return this.#problems.refuse('DOCUMENT_WRONG_TYPE', node.at, message, help)
  }
}

/** `<server>/<name>`, globs allowed. */
export function checkName(name: string, noun: string, at: number, problems: Problems): boolean {
  const slash = name.indexOf('/')
  if (slash > 0 && slash < name.length - 1) return true
  const message = `\`${name}\` is not a \`<server>/<${noun}>\``
  const help =
    slash === -1
      ? `write \`<server>/${name}\`, or \`"*/${name}"\` for every server`
      : 'name the server before the `/` and the rest after it'
  return problems.refuse('DOCUMENT_BAD_NAME', at, message, help)
}

function inDays(seconds: number): string {
  return seconds % 86_400 === 0 ? `${seconds / 86_400}d` : `${seconds}s`
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

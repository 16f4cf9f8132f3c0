// Changes the action of a tool or a category by the smallest edit of the text, using the parser's
// source ranges. Comments, order and spacing of everything else stay unchanged. The result is
// compiled before it is returned; a change that is not a single action is refused. Pure.

import { isMap, isScalar, type Pair, type Scalar, type YAMLMap } from 'yaml'
import { compile } from '../compile/compile.ts'
import type { Action } from '../core/actions.ts'
import { findPair, getRange, parseYaml } from '../document/parse-yaml.ts'
import { Problems } from '../document/problem.ts'

export interface RuleMove {
  readonly section: 'tools' | 'categories'
  /** `<server>/<tool>`, or the category. */
  readonly key: string
  readonly to: Action
  /** Allow below this value of an argument, and `to` from there on. */
  readonly from?: { readonly argument: string; readonly value: string }
}

export type MoveResult = { readonly text: string } | { readonly refused: string }

interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Fields that make a decision depend on the call: a single action would be ambiguous. */
const DEPENDS: readonly string[] = ['when', 'spend_limit']
/** Fields without effect for some actions: removed if they would be an error. */
const DROPPED_MAX = 6

export function moveRule(text: string, move: RuleMove): MoveResult {
  const first = spliceFor(text, move)
  if (typeof first === 'string') return { refused: first }
  let changed = apply(text, first)
  for (let round = 0; round < DROPPED_MAX; round++) {
    const { policy, problems } = compile({ file: '', text: changed })
    if (policy !== undefined) return { text: changed }
    const wrong = problems.find(({ severity }) => severity === 'error')
    const idle = wrong?.code === 'POLICY_NO_EFFECT' ? fieldAt(changed, move, wrong) : undefined
    if (idle === undefined) return { refused: wrong?.message ?? 'the document has errors' }
    changed = apply(changed, idle)
  }
  return { refused: 'the rule is more than an action' }
}

function apply(text: string, { start, end, text: put }: Splice): string {
  return text.slice(0, start) + put + text.slice(end)
}

function spliceFor(text: string, move: RuleMove): Splice | string {
  const { section, key } = move
  const root = parseRoot(text)
  if (root === undefined) return 'the document cannot be read'
  const pair = findPair(root, section)
  if (
    move.from !== undefined &&
    !(ARGUMENT.test(move.from.argument) && VALUE.test(move.from.value))
  )
    return 'only a plain argument and a plain number can be compared'
  const to = ruleText(move)
  if (pair === undefined) return sectionSplice(text, root, { section, key, to })
  const map = pair.value
  if (isScalar(map) && map.value === null) {
    const at = text.indexOf(':', getRange(pair.key)[1]) + 1
    return { start: at, end: at, text: `\n  ${keyText(key)}: ${to}` }
  }
  if (!isMap(map)) return `\`${section}\` is written in another place of the document`
  const rule = findPair(map, key)
  if (rule === undefined) return entrySplice(text, map, `${keyText(key)}: ${to}`)
  if (isScalar(rule.value)) return replaced(rule.value, to)
  if (!isMap(rule.value)) return `the rule of \`${key}\` is written in another place`
  const bound = findBound(rule.value, move)
  if (bound !== undefined) return replaced(bound, conditionText(move.from))
  const depends = DEPENDS.find((field) => findPair(rule.value as YAMLMap, field) !== undefined)
  if (depends !== undefined) return `the rule of \`${key}\` has \`${depends}\``
  const action = findPair(rule.value, 'action')?.value
  if (isScalar(action) && move.from !== undefined)
    return replaced(action, fieldsText(move, rule.value, text))
  return isScalar(action) ? replaced(action, to) : `the rule of \`${key}\` has no plain \`action\``
}

/** The condition of a rule that allows below another value of the same argument: only the value moves. */
function findBound(rule: YAMLMap, { to, from }: RuleMove): Scalar | undefined {
  const scalarOf = (field: string) => {
    const value = findPair(rule, field)?.value
    return isScalar(value) ? value : undefined
  }
  const when = scalarOf('when')
  const [, argument] = BOUND.exec(String(when?.value)) ?? []
  const isSame = argument !== undefined && argument === from?.argument
  const isPlain = scalarOf('action')?.value === 'allow' && scalarOf('otherwise')?.value === to
  return isSame && isPlain && findPair(rule, 'spend_limit') === undefined ? when : undefined
}

const BOUND = /^args\.([\w.]+) <=? [\d.]+$/
const ARGUMENT = /^[A-Za-z_]\w{0,63}(\.[A-Za-z_]\w{0,63}){0,7}$/
const VALUE = /^\d{1,15}(\.\d{1,15})?$/

/** The rule of a key that has none yet, or only an action. */
function ruleText({ to, from }: RuleMove): string {
  if (from === undefined) return to
  return `{ action: allow, when: ${conditionText(from)}, otherwise: ${to} }`
}

function conditionText(from: RuleMove['from']): string {
  return `args.${from?.argument} < ${from?.value}`
}

/** The same as fields of a rule that has others, from the value of its `action` on. */
function fieldsText({ to, from }: RuleMove, rule: YAMLMap, text: string): string {
  const keyAt = getRange(rule.items[0]?.key)[0]
  const between =
    rule.flow === true ? ', ' : `\n${' '.repeat(keyAt - text.lastIndexOf('\n', keyAt - 1) - 1)}`
  return ['allow', `when: ${conditionText(from)}`, `otherwise: ${to}`].join(between)
}

function parseRoot(text: string): YAMLMap | undefined {
  const contents = parseYaml(text, new Problems('', text))?.contents
  return isMap(contents) ? contents : undefined
}

function replaced(scalar: Scalar, to: string): Splice {
  const [start, end] = getRange(scalar)
  return { start, end, text: to }
}

interface SectionEntry {
  readonly section: string
  readonly key: string
  readonly to: string
}

/** A section that does not exist yet: at the end, or inside the braces of JSON. */
function sectionSplice(text: string, root: YAMLMap, { section, key, to }: SectionEntry): Splice {
  if (root.flow === true) {
    const value = to.startsWith('{') ? to : JSON.stringify(to)
    const quoted = `${JSON.stringify(section)}: { ${JSON.stringify(key)}: ${value} }`
    return entrySplice(text, root, quoted)
  }
  const gap = text.endsWith('\n') ? '\n' : '\n\n'
  const put = `${gap}${section}:\n  ${keyText(key)}: ${to}\n`
  return { start: text.length, end: text.length, text: put }
}

/** One more entry after the last, in the style of the mapping. */
function entrySplice(text: string, map: YAMLMap, entry: string): Splice {
  const last = map.items.at(-1)
  if (last === undefined) {
    const [start, end] = getRange(map)
    return { start, end, text: `{ ${entry} }` }
  }
  const lastEnd = findEnd(text, last)
  if (map.flow === true) return { start: lastEnd, end: lastEnd, text: `, ${entry}` }
  const lineEnd = text.indexOf('\n', lastEnd)
  const at = lineEnd === -1 ? text.length : lineEnd
  const keyAt = getRange(map.items[0]?.key)[0]
  const indent = ' '.repeat(keyAt - text.lastIndexOf('\n', keyAt - 1) - 1)
  return { start: at, end: at, text: `\n${indent}${entry}` }
}

/**
 * Offset after the last letter of an entry; the ranges of block mappings extend into the next line.
 */
function findEnd(text: string, { key, value }: Pair): number {
  const end = getRange(value ?? key)[1]
  return text.slice(0, end).trimEnd().length
}

/** The field of the moved rule that no longer has an effect, removed with its comma or its line. */
function fieldAt(
  text: string,
  { section, key }: RuleMove,
  { line, column }: { readonly line: number; readonly column: number },
): Splice | undefined {
  const root = parseRoot(text)
  const map = root && findPair(root, section)?.value
  const rule = isMap(map) ? findPair(map, key)?.value : undefined
  if (!isMap(rule)) return undefined
  const offset = lineStart(text, line) + column - 1
  const at = rule.items.findIndex((pair) => getRange(pair.key)[0] === offset)
  const pair = rule.items[at]
  if (pair === undefined) return undefined
  const end = findEnd(text, pair)
  const before = rule.items[at - 1]
  if (rule.flow !== true) {
    const lineEnd = text.indexOf('\n', end)
    return {
      start: lineStart(text, line),
      end: lineEnd === -1 ? text.length : lineEnd + 1,
      text: '',
    }
  }
  if (before !== undefined) return { start: findEnd(text, before), end, text: '' }
  const next = rule.items[at + 1]
  return next === undefined ? undefined : { start: offset, end: getRange(next.key)[0], text: '' }
}

function lineStart(text: string, line: number): number {
  let start = 0
  for (let at = 1; at < line; at++) start = text.indexOf('\n', start) + 1
  return start
}

/** Quoted if YAML would read the key differently. */
function keyText(key: string): string {
  return /^[A-Za-z0-9_][\w./-]*$/.test(key) ? key : JSON.stringify(key)
}

// Changes the action of a tool or a category by the smallest edit of the text, using the parser's
// source ranges. Comments, order and spacing of everything else stay unchanged. The result is
// compiled before it is returned; a change that is not a single action is refused. Pure.

import { isMap, isScalar, type Scalar, type YAMLMap } from 'yaml'
import type { Action } from '../calls/actions.ts'
import { compile } from '../compile/compile.ts'
import {
  appendEntry,
  applyEdit,
  lineStart,
  removeEntry,
  type TextEdit,
} from '../document/edit-mapping.ts'
import { findPair, getRange, parseYaml } from '../document/parse-yaml.ts'
import { errorsIn, Problems } from '../document/problem.ts'
import { attempt } from '../structures/attempt.ts'

export interface RuleMove {
  readonly section: 'tools' | 'categories'
  /** `<server>/<tool>`, or the category. */
  readonly key: string
  readonly to: Action
  /** Allow below this value of an argument, and `to` from there on. */
  readonly from?: { readonly argument: string; readonly value: string }
  /** Keeps the condition of the rule, and allows also this. */
  readonly also?: RuleAlternative
}

/** What a rule allows beside its condition. */
export interface RuleAlternative {
  readonly argument: string
  /** A number up to which, or the JSON of a text: the text itself, a host, or a folder. */
  readonly value: string
  /** What the text is of the argument; `value` unless given. */
  readonly by?: AlternativeKind | undefined
}

/** `host`: addresses on the host. `folder`: paths in the folder and below. */
export const ALTERNATIVE_KINDS = ['value', 'host', 'folder'] as const
type AlternativeKind = (typeof ALTERNATIVE_KINDS)[number]

export type MoveResult = { readonly text: string } | { readonly refused: string }

/** Fields that make a decision depend on the call: allowing it would be ambiguous. */
const DEPENDS: readonly string[] = ['when', 'spend_limit']
/** What is decided by a condition: left out if every call is to be decided alike. */
const CONDITION: readonly string[] = ['when', 'otherwise']
/** Fields without effect for some actions: removed if they would be an error. */
const DROPPED_MAX = 6

export function moveRule(text: string, move: RuleMove): MoveResult {
  const bare = isForEveryCall(move) ? withoutCondition(text, move) : text
  const first = editFor(bare, move)
  if (typeof first === 'string') return { refused: first }
  let changed = applyEdit(bare, first)
  for (let round = 0; round < DROPPED_MAX; round++) {
    const { policy, problems } = compile({ file: '', text: changed })
    if (policy !== undefined) return { text: changed }
    const wrong = errorsIn(problems)[0]
    const idle = wrong?.code === 'POLICY_NO_EFFECT' ? fieldAt(changed, move, wrong) : undefined
    if (idle === undefined) return { refused: wrong?.message ?? 'the document has errors' }
    changed = applyEdit(changed, idle)
  }
  return { refused: 'the rule is more than an action' }
}

/** Only allowing needs to know for which calls. */
function isForEveryCall({ to, from }: RuleMove): boolean {
  return to !== 'allow' && from === undefined
}

function withoutCondition(text: string, move: RuleMove): string {
  return CONDITION.reduce((left, field) => {
    const rule = findRule(left, move)
    const pair = rule && findPair(rule, field)
    const edit = rule && pair && removeEntry(left, rule, pair)
    return edit === undefined ? left : applyEdit(left, edit)
  }, text)
}

/** A rule that has fields. */
function findRule(text: string, { section, key }: RuleMove): YAMLMap | undefined {
  const root = parseRoot(text)
  const map = root && findPair(root, section)?.value
  const rule = isMap(map) ? findPair(map, key)?.value : undefined
  return isMap(rule) ? rule : undefined
}

function editFor(text: string, move: RuleMove): TextEdit | string {
  const { section, key } = move
  const root = parseRoot(text)
  if (root === undefined) return 'the document cannot be read'
  const pair = findPair(root, section)
  if (
    move.from !== undefined &&
    !(ARGUMENT.test(move.from.argument) && VALUE.test(move.from.value))
  )
    return 'only a plain argument and a plain number can be compared'
  if (move.also !== undefined && !(ARGUMENT.test(move.also.argument) && isScalarText(move.also)))
    return 'only a plain argument can be compared, with a number or a text'
  const to = ruleText(move)
  if (pair === undefined) return sectionEdit(text, root, { section, key, to })
  const map = pair.value
  if (isScalar(map) && map.value === null) {
    const at = text.indexOf(':', getRange(pair.key)[1]) + 1
    return { start: at, end: at, text: `\n  ${keyText(key)}: ${to}` }
  }
  if (!isMap(map)) return `\`${section}\` is written in another place of the document`
  const rule = findPair(map, key)
  if (rule === undefined) return appendEntry(text, map, [`${keyText(key)}: ${to}`])
  if (isScalar(rule.value)) return replaced(rule.value, to)
  if (!isMap(rule.value)) return `the rule of \`${key}\` is written in another place`
  const bound = move.from && editBound(rule.value, move, move.from)
  if (bound !== undefined) return bound
  const wider = move.also && widen(rule.value, move.also)
  if (wider !== undefined) return wider
  const depends = DEPENDS.find((field) => findPair(rule.value as YAMLMap, field) !== undefined)
  if (depends !== undefined && !isForEveryCall(move))
    return `the rule of \`${key}\` has \`${depends}\``
  const action = findPair(rule.value, 'action')?.value
  if (isScalar(action) && move.from !== undefined)
    return replaced(action, fieldsText(move, rule.value, text))
  return isScalar(action) ? replaced(action, to) : `the rule of \`${key}\` has no plain \`action\``
}

/** The condition of a rule that allows below another value of the same argument: only the value moves. */
function editBound(
  rule: YAMLMap,
  { to }: RuleMove,
  from: NonNullable<RuleMove['from']>,
): TextEdit | undefined {
  const scalarOf = (field: string) => {
    const value = findPair(rule, field)?.value
    return isScalar(value) ? value : undefined
  }
  const when = scalarOf('when')
  const isPlain = scalarOf('action')?.value === 'allow' && scalarOf('otherwise')?.value === to
  const moved = when && moveBound(String(when.value), from.argument, conditionText(from))
  return isPlain && when && moved !== undefined ? replaced(when, moved) : undefined
}

/** A condition with another bound in place of the only one that it has on the argument, as a YAML scalar. */
function moveBound(when: string, argument: string, bound: string): string | undefined {
  const name = `args\\.${argument.replaceAll('.', '\\.')}`
  const parts = when.split(
    new RegExp(`(?<=^|\\(|&& |\\|\\| )${name} <=? \\d+(?:\\.\\d+)?(?=$|\\)| &&| \\|\\|)`),
  )
  // A negation turns a comparison round.
  if (parts.length !== 2 || /!(?!=)/.test(when)) return undefined
  const moved = parts.join(bound)
  return moved === bound ? bound : JSON.stringify(moved)
}

function isScalarText({ value, by = 'value' }: RuleAlternative): boolean {
  if (by === 'value' && VALUE.test(value)) return true
  return typeof attempt(() => JSON.parse(value)) === 'string'
}

/** The condition of a rule that allows, with one more alternative; a bound on the same number moves. */
function widen(rule: YAMLMap, { argument, value, by = 'value' }: RuleAlternative) {
  const when = findPair(rule, 'when')?.value
  const action = findPair(rule, 'action')?.value
  if (!isScalar(when) || !isScalar(action) || action.value !== 'allow') return undefined
  const isNumber = by === 'value' && VALUE.test(value)
  const says = {
    value: `args.${argument} ${isNumber ? '<=' : '=='} ${value}`,
    host: `url(args.${argument}).host == ${value}`,
    folder: `path(args.${argument}).within(${value})`,
  }[by]
  const moved = isNumber ? moveBound(String(when.value), argument, says) : undefined
  return replaced(when, moved ?? JSON.stringify(`(${when.value}) || ${says}`))
}

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
  const between = rule.flow === true ? ', ' : `\n${' '.repeat(keyAt - lineStart(text, keyAt))}`
  return ['allow', `when: ${conditionText(from)}`, `otherwise: ${to}`].join(between)
}

/** The mapping that the document is; undefined if it is none. */
export function parseRoot(text: string): YAMLMap | undefined {
  const contents = parseYaml(text, new Problems('', text))?.contents
  return isMap(contents) ? contents : undefined
}

function replaced(scalar: Scalar, to: string): TextEdit {
  const [start, end] = getRange(scalar)
  return { start, end, text: to }
}

interface SectionEntry {
  readonly section: string
  readonly key: string
  readonly to: string
}

/** A section that does not exist yet: at the end, or inside the braces of JSON. */
function sectionEdit(text: string, root: YAMLMap, { section, key, to }: SectionEntry): TextEdit {
  if (root.flow === true) {
    const value = to.startsWith('{') ? to : JSON.stringify(to)
    const quoted = `${JSON.stringify(section)}: { ${JSON.stringify(key)}: ${value} }`
    return appendEntry(text, root, [quoted])
  }
  const gap = text.endsWith('\n') ? '\n' : '\n\n'
  const put = `${gap}${section}:\n  ${keyText(key)}: ${to}\n`
  return { start: text.length, end: text.length, text: put }
}

/** The field of the moved rule that no longer has an effect, removed with its comma or its line. */
function fieldAt(
  text: string,
  move: RuleMove,
  { line, column }: { readonly line: number; readonly column: number },
): TextEdit | undefined {
  const rule = findRule(text, move)
  if (rule === undefined) return undefined
  const before = text.split('\n', line - 1).join('\n')
  const offset = before.length + (line > 1 ? 1 : 0) + column - 1
  const pair = rule.items.find((each) => getRange(each.key)[0] === offset)
  return pair && removeEntry(text, rule, pair)
}

/** Quoted if YAML would read the key differently. */
function keyText(key: string): string {
  return /^[A-Za-z0-9_][\w./-]*$/.test(key) ? key : JSON.stringify(key)
}

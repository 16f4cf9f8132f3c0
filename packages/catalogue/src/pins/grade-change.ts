// Two definitions of one tool: what changed, place by place, and whether the change may pass unasked.
// Only words changed, with the same class and the same flows, nothing for the guard to find, and no act
// that a Read did not tell before: that passes for tools that read or write. All else waits for a person. Pure; called by the pins.

import { inspectDefinition } from '@sluice/guard/inspect-definition'
import type { Category, Risk, ToolDefinition } from '@sluice/policy/calls/tools'
import { toWordSet } from '@sluice/policy/structures/word-set'
import { writeCanonicalJson } from '@sluice/policy/values/canonical-json'
import { isObject, type JsonValue } from '@sluice/policy/values/json'
import { escapePointer } from '@sluice/policy/values/json-pointer'
import { assessTool } from '../classify/classify.ts'
import { CHANGES_MAX } from '../signals/limits.ts'
import { addActs } from '../signals/list-acts.ts'
import { INSTRUCTIONS } from './pin.ts'

/**
 * One place where two definitions differ.
 *
 * @example
 * ```ts
 * const changes: DefinitionChange[] = changesBetween(before, after)
 * ```
 */
export interface DefinitionChange {
  /** JSON Pointer. */
  readonly at: string
  readonly before?: string
  readonly after?: string
}

/**
 * Whether a changed definition passes without a person, and why.
 *
 * @example
 * ```ts
 * const { passes, because }: ChangeGrade = gradeChange(before, after)
 * ```
 */
export interface ChangeGrade {
  readonly passes: boolean
  readonly because: string
  readonly changes: readonly DefinitionChange[]
  readonly before: { readonly category: Category; readonly risk: Risk }
  readonly after: { readonly category: Category; readonly risk: Risk }
}

/** Texts for people and models; every other member is the contract. */
const WORDS: ReadonlySet<string> = new Set(['description', 'title', '$comment', INSTRUCTIONS])
/** Members whose own members are names that the server chose: a property may be called `title`. */
const NAMES = toWordSet(`
  properties patternProperties $defs definitions dependentSchemas dependencies
`)
/** Members that are values, not descriptions of values. */
const VALUES: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples', '_meta'])

/** What the members of an object are. */
type Members = 'keywords' | 'names' | 'values'

interface FoundChange {
  readonly change: DefinitionChange
  readonly isWords: boolean
}

/**
 * Grades the change of a definition after it was accepted.
 *
 * @example
 * ```ts
 * if (!gradeChange(accepted, listed).passes) throw new Error('a person has to look at it')
 * ```
 */
export function gradeChange(before: ToolDefinition, after: ToolDefinition): ChangeGrade {
  const found = [...findChanges(before, after)]
  const contract = found.filter(({ isWords }) => !isWords)
  const words = found.filter(({ isWords }) => isWords)
  // The contract first: a server chooses how many words change in front of it.
  const changes = [...contract, ...words].slice(0, CHANGES_MAX).map(({ change }) => change)
  const [was, is] = [assessTool(before), assessTool(after)]
  const graded = (passes: boolean, because: string): ChangeGrade => ({
    passes,
    because,
    changes,
    before: { category: was.category, risk: was.risk },
    after: { category: is.category, risk: is.risk },
  })
  const { severity, findings } = inspectDefinition(after)
  if (severity === 'refuse' || severity === 'hold')
    return graded(false, `the new definition: ${findings[0]?.kind}`)
  const [first] = contract
  if (first !== undefined) return graded(false, `\`${first.change.at}\` changed`)
  if (was.category !== is.category)
    return graded(false, `its class changed from ${was.category} to ${is.category}`)
  if (is.unknown && !was.unknown)
    return graded(false, `its class, ${was.category}, is no longer certain`)
  if (writeCanonicalJson(was.flows) !== writeCanonicalJson(is.flows))
    return graded(false, 'what it reads or sends changed')
  if (is.category !== 'Read' && is.category !== 'Write')
    return graded(false, `its words changed, and it is ${is.category}`)
  const act = is.category === 'Read' ? findNewAct(before, after) : undefined
  if (act !== undefined)
    return graded(false, `its words now say \`${act}\`, and it was accepted as Read`)
  return graded(true, 'only its words changed')
}

/** A verb of a changing class that no text of the accepted definition has. */
function findNewAct(before: ToolDefinition, after: ToolDefinition): string | undefined {
  const had = listActs(before)
  return [...listActs(after)].find((act) => !had.has(act))
}

function listActs(definition: ToolDefinition): Set<string> {
  const acts = new Set<string>()
  JSON.stringify(definition, (_, value) => {
    if (typeof value === 'string') addActs(value, acts)
    return value
  })
  return acts
}

/**
 * The places where two JSON values differ, at most 100.
 *
 * @example
 * ```ts
 * changesBetween({ a: 1 }, { a: 2 }) // [{ at: '/a', before: '1', after: '2' }]
 * ```
 */
export function changesBetween(before: JsonValue, after: JsonValue): DefinitionChange[] {
  const changes: DefinitionChange[] = []
  for (const { change } of findChanges(before, after))
    if (changes.push(change) === CHANGES_MAX) break
  return changes
}

/** All of them, in the order of their keys. */
function* findChanges(
  before: JsonValue,
  after: JsonValue,
  at = '',
  members: Members = 'keywords',
): Generator<FoundChange> {
  if (writeCanonicalJson(before) === writeCanonicalJson(after)) return
  if (!isObject(before) || !isObject(after)) {
    const change = { at: at === '' ? '/' : at, before: short(before), after: short(after) }
    return yield { change, isWords: false }
  }
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  for (const key of keys) {
    const place = `${at}/${escapePointer(key)}`
    const [was, is] = [before[key], after[key]]
    const isWords = members === 'keywords' && WORDS.has(key) && isText(was) && isText(is)
    if (was !== undefined && is !== undefined)
      for (const found of findChanges(was, is, place, membersOf(key, members)))
        yield isWords ? { ...found, isWords } : found
    else if (was !== undefined) yield { change: { at: place, before: short(was) }, isWords }
    else if (is !== undefined) yield { change: { at: place, after: short(is) }, isWords }
  }
}

function membersOf(key: string, members: Members): Members {
  if (members === 'names') return 'keywords'
  if (members === 'values' || VALUES.has(key)) return 'values'
  return NAMES.has(key) ? 'names' : 'keywords'
}

/** Or not there. */
function isText(value: JsonValue | undefined): boolean {
  return value === undefined || typeof value === 'string'
}

const SHOWN_CHARS_MAX = 200

function short(value: JsonValue): string {
  const text = typeof value === 'string' ? value : writeCanonicalJson(value)
  return text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)} …` : text
}

/** A line a change, for a terminal or a message. */
export function describeChange({ at, before, after }: DefinitionChange): string {
  if (before === undefined) return `+ ${at}: ${after}`
  return after === undefined ? `- ${at}: ${before}` : `~ ${at}: ${before} -> ${after}`
}

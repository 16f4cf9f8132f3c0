// Adds a guardrail, labels or hosts of tools, or `protect` to the text of a policy, by the smallest edit: comments, order
// and spacing of everything else stay. A text that it cannot edit so comes back as undefined. Pure.

import { isMap, isScalar, isSeq, type Pair, type YAMLMap, type YAMLSeq } from 'yaml'
import {
  appendEntry,
  applyEdit,
  endOfEntry,
  lineBreakOf,
  lineStart,
  nextLine,
} from '../document/edit-mapping.ts'
import { findPair, getRange, parseYaml } from '../document/parse-yaml.ts'
import { Problems } from '../document/problem.ts'
import type { JsonObject } from '../values/json.ts'

/** A guardrail on tools, as it is written. */
export interface WrittenGuardrail {
  readonly name: string
  /** `<server>/<tool>`. */
  readonly tools: readonly string[]
  /** The condition; if it is missing, the guardrail is about every call of the tools. */
  readonly when?: string
  readonly action: 'require_approval' | 'deny'
  readonly reason: string
}

/** Puts a guardrail behind the last. */
export function addGuardrail(text: string, guardrail: WrittenGuardrail): string | undefined {
  const { name, tools, when, action, reason } = guardrail
  const fields: JsonObject = {
    name,
    match: { tools: [...tools] },
    ...(when === undefined ? {} : { when }),
    action,
    reason,
  }
  const root = readRoot(text)
  const list = root && findPair(root, 'guardrails')
  if (root === undefined) return undefined
  const lines = toItem(guardrail)
  if (list === undefined)
    return addSection(text, root, 'guardrails', [JSON.stringify([fields]), lines])
  if (isEmpty(list)) return putBelow(text, list, lines)
  return isSeq(list.value) ? appendItem(text, list.value, fields, lines) : undefined
}

/** A section with a list of words for each tool. */
export type ListSection = 'labels' | 'egress'

/** Puts words that are not there yet into the lists of tools. */
export function addToLists(
  text: string,
  section: ListSection,
  entries: ReadonlyMap<string, readonly string[]>,
): string | undefined {
  let changed: string | undefined = text
  for (const [tool, wanted] of entries)
    changed = changed === undefined ? undefined : addToList(changed, section, [tool, wanted])
  return changed
}

function addToList(
  text: string,
  name: ListSection,
  [tool, wanted]: readonly [string, readonly string[]],
): string | undefined {
  const root = readRoot(text)
  if (root === undefined) return undefined
  const section = findPair(root, name)
  const line = `${JSON.stringify(tool)}: ${toFlow(wanted)}`
  if (section === undefined) return addSection(text, root, name, [`{ ${line} }`, [line]])
  if (isEmpty(section)) return putBelow(text, section, [line])
  if (!isMap(section.value)) return undefined
  const entry = findPair(section.value, tool)
  if (entry === undefined) return applyEdit(text, appendEntry(text, section.value, [line]))
  if (!isSeq(entry.value)) return undefined
  const given = entry.value.items.map((item) => String(isScalar(item) ? item.value : ''))
  const [start] = getRange(entry.value)
  const end = endOfEntry(text, entry)
  return applyEdit(text, { start, end, text: toFlow([...new Set([...given, ...wanted])]) })
}

/** Sets how strictly values of strangers are held. */
export function setProtect(text: string, level: 'balanced' | 'strict'): string | undefined {
  const root = readRoot(text)
  const pair = root && findPair(root, 'protect')
  if (root === undefined) return undefined
  if (pair === undefined) {
    const entry = root.flow === true ? `"protect": "${level}"` : `protect: ${level}`
    return applyEdit(text, appendEntry(text, root, [entry]))
  }
  if (!isScalar(pair.value)) return undefined
  const [start, end] = getRange(pair.value)
  return applyEdit(text, { start, end, text: root.flow === true ? JSON.stringify(level) : level })
}

function readRoot(text: string): YAMLMap | undefined {
  const contents = parseYaml(text, new Problems('', text))?.contents
  return isMap(contents) ? contents : undefined
}

/** `guardrails:` and nothing behind it. */
function isEmpty({ value }: Pair): boolean {
  return value === null || (isScalar(value) && value.value === null)
}

function putBelow(text: string, { key }: Pair, lines: readonly string[]): string {
  const at = text.indexOf(':', getRange(key)[1]) + 1
  const eol = lineBreakOf(text)
  return applyEdit(text, {
    start: at,
    end: at,
    text: lines.map((line) => `${eol}  ${line}`).join(''),
  })
}

/** A section that is not there yet: behind the last. */
function addSection(
  text: string,
  root: YAMLMap,
  name: string,
  [flow, lines]: readonly [flow: string, lines: readonly string[]],
): string {
  const below = [`${name}:`, ...lines.map((line) => `  ${line}`)]
  const entry = root.flow === true ? [`${JSON.stringify(name)}: ${flow}`] : below
  return applyEdit(text, appendEntry(text, root, entry))
}

function appendItem(
  text: string,
  list: YAMLSeq,
  fields: JsonObject,
  lines: readonly string[],
): string | undefined {
  const [first, last] = [list.items[0], list.items.at(-1)]
  if (last === undefined) {
    const [start, end] = getRange(list)
    return applyEdit(text, { start, end, text: JSON.stringify([fields]) })
  }
  const end = text.slice(0, getRange(last)[1]).trimEnd().length
  if (list.flow === true)
    return applyEdit(text, { start: end, end, text: `, ${JSON.stringify(fields)}` })
  const dash = text.lastIndexOf('-', getRange(first)[0])
  const indent = ' '.repeat(dash - lineStart(text, dash))
  const at = nextLine(text, end)
  const eol = lineBreakOf(text)
  const head = text[at - 1] === '\n' ? '' : eol
  const put = `${head}${lines.map((line) => `${indent}${line}${eol}`).join('')}`
  return applyEdit(text, { start: at, end: at, text: put })
}

/** An item of a list in block style. */
function toItem({ name, tools, when, action, reason }: WrittenGuardrail): string[] {
  return [
    `- name: ${JSON.stringify(name)}`,
    `  match: { tools: ${toFlow(tools)} }`,
    ...(when === undefined ? [] : [`  when: ${JSON.stringify(when)}`]),
    `  action: ${action}`,
    `  reason: ${JSON.stringify(reason)}`,
  ]
}

function toFlow(words: readonly string[]): string {
  return `[${words.map((word) => JSON.stringify(word)).join(', ')}]`
}

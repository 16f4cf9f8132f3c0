// Adds a case to a file of policy cases by the smallest edit of the text: one more item at the end of
// its list, or a new file. The result is read back before it is returned. Pure.

import { isMap, isScalar, isSeq } from 'yaml'
import type { Action } from '../calls/actions.ts'
import { parseYaml } from '../document/parse-yaml.ts'
import { Problems } from '../document/problem.ts'
import { type CaseFile, type PolicyCase, readCases } from './cases.ts'

export interface NewCase {
  readonly name: string
  /** `<server>/<tool>`. */
  readonly call: string
  /** Arguments, each as the text of its JSON value. */
  readonly args: Readonly<Record<string, string>>
  readonly expect: Action
}

export type AddCaseResult =
  | { readonly text: string; readonly file: CaseFile; readonly added: PolicyCase }
  | { readonly refused: string }

/** `head` begins a file that does not exist yet: the policy, and the tools if there are some. */
export function addCase(
  before: string | undefined,
  one: NewCase,
  head: { readonly policy: string; readonly tools?: string },
): AddCaseResult {
  const text = before === undefined ? startFile(one, head) : append(before, one)
  if (text === undefined) return { refused: 'its `cases` are not a plain list' }
  const { cases, problems } = readCases({ file: '', text })
  const added = cases?.cases.at(-1)
  if (cases === undefined || added === undefined)
    return { refused: problems[0]?.message ?? 'it cannot be read' }
  return { text, file: cases, added }
}

function startFile(one: NewCase, { policy, tools }: { policy: string; tools?: string }): string {
  const lines = [`policy: ${JSON.stringify(policy)}`]
  if (tools !== undefined) lines.push(`tools: ${JSON.stringify(tools)}`)
  return [...lines, 'cases:', ...writeCase(one, 2), ''].join('\n')
}

function append(text: string, one: NewCase): string | undefined {
  const root = parseYaml(text, new Problems('', text))?.contents
  if (!isMap(root)) return undefined
  const list = root.items.find(({ key }) => isScalar(key) && key.value === 'cases')?.value
  const [first, last] = isSeq(list) ? [list.items[0], list.items.at(-1)] : []
  if (!isSeq(list) || list.flow === true || !isMap(first) || !isMap(last)) return undefined
  const firstAt = first.range?.[0] ?? 0
  const lineAt = text.lastIndexOf('\n', firstAt) + 1
  const dash = text.slice(lineAt, firstAt)
  if (!/^ *- +$/.test(dash)) return undefined
  const end = text.slice(0, last.range?.[1]).trimEnd().length
  const lineEnd = text.indexOf('\n', end)
  const at = lineEnd === -1 ? text.length : lineEnd
  const lines = writeCase(one, dash.indexOf('-'))
  return `${text.slice(0, at)}\n${lines.join('\n')}${text.slice(at)}`
}

/** Texts are JSON, which YAML reads the same way. */
function writeCase({ name, call, args, expect }: NewCase, indent: number): string[] {
  const lines = Object.entries(args).map(([key, value]) => `${JSON.stringify(key)}: ${value}`)
  const [dash, space] = [`${' '.repeat(indent)}- `, ' '.repeat(indent + 2)]
  return [
    `${dash}name: ${JSON.stringify(name)}`,
    `${space}call: ${JSON.stringify(call)}`,
    ...(lines.length === 0 ? [] : [`${space}args: { ${lines.join(', ')} }`]),
    `${space}expect: ${expect}`,
  ]
}

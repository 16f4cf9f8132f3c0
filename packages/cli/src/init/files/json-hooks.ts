// Hooks in a JSON file of a client: entries in the lists under `hooks`, added and taken away so that comments,
// other hooks and the rest of the file stay. A plugin has them in one line of its code. Pure.

import { isDeepStrictEqual } from 'node:util'
import type { WrittenEntry } from '@sluice/gateway/hooks/clients/coding-client'
import { readHookEntry } from '@sluice/gateway/hooks/clients/hook-lines'
import { isObject, type JsonValue } from '@sluice/policy/values/json'
import { applyEdits, type JSONPath, modify } from 'jsonc-parser'
import { parseJson } from './json-entries.ts'
import { lineBreakOf } from './text-edits.ts'

/** An entry of any program, in a list of hooks. */
export interface ListedHook {
  /** Where the entry stands in the file: `hooks`, the event, its place in the list. */
  readonly path: readonly ['hooks', event: string, at: number]
  /** The entry, which may be any JSON. */
  readonly value: JsonValue
}

export function listHooks(text: string, file: string): ListedHook[] {
  const { value } = parseJson(readPlugin(text, file) ?? text, file)
  const hooks = isObject(value) && isObject(value.hooks) ? value.hooks : {}
  return Object.entries(hooks).flatMap(([event, entries]) =>
    Array.isArray(entries)
      ? entries.map((entry, at) => ({ path: ['hooks', event, at] as const, value: entry }))
      : [],
  )
}

const PLUGIN_HOOKS = /^const HOOKS = (.*)$/m

/** A settings file with the hooks of a plugin; undefined if the file is none. */
function readPlugin(text: string, file: string): string | undefined {
  if (!file.endsWith('.js')) return undefined
  return `{"hooks":${PLUGIN_HOOKS.exec(text)?.[1] ?? '{}'}}`
}

/** A plugin that has these hooks. */
export function writePlugin(text: string, entries: readonly WrittenEntry[]): string {
  const hooks = Object.fromEntries(entries.map(([event, entry]) => [event, [entry]]))
  return text.replace(PLUGIN_HOOKS, () => `const HOOKS = ${JSON.stringify(hooks)}`)
}

/** The text with these hooks in the place of earlier ones of ours; the same text if they are there already. */
export function putHooks(text: string, file: string, entries: readonly WrittenEntry[]): string {
  let changed = removeHooks(text, file)
  if (changed.trim() === '') changed = '{}\n'
  for (const [event, entry] of entries) changed = edit(changed, ['hooks', event, -1], entry)
  const value = (of: string) => parseJson(of, file).value
  return isDeepStrictEqual(value(changed), value(text)) ? text : changed
}

/** The text without our hooks, and without lists that they leave empty. */
export function removeHooks(text: string, file: string): string {
  const listed = listHooks(text, file)
  const ours = listed.filter(({ value }) => readHookEntry(value) !== undefined)
  const [last] = ours.reverse()
  if (last === undefined) return text
  if (readPlugin(text, file) !== undefined) return ''
  const isAlone = (depth: number) =>
    listed.every(({ path }) => path === last.path || path[depth] !== last.path[depth])
  const depth = isAlone(0) ? 1 : isAlone(1) ? 2 : 3
  const path = last.path.slice(0, depth)
  return removeHooks(edit(text, path, undefined), file)
}

/** The text with one value set; the rest of the file stays. */
export function edit(text: string, path: JSONPath, value: unknown): string {
  const first = /\n([ \t]+)"/.exec(text)?.[1]
  const formattingOptions = {
    eol: lineBreakOf(text),
    insertSpaces: first?.startsWith('\t') !== true,
    tabSize: first === undefined || first.startsWith('\t') ? 2 : first.length,
  }
  const isArrayInsertion = path.at(-1) === -1
  // The parser does not know a byte order mark.
  const [mark, plain] = text.startsWith('\uFEFF') ? ['\uFEFF', text.slice(1)] : ['', text]
  const edits = modify(plain, path, value, { formattingOptions, isArrayInsertion })
  return mark + applyEdits(plain, edits)
}

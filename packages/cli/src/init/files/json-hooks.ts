// Hooks in a JSON file of a client: entries in the lists under `hooks`, added and taken away so that comments,
// other hooks and the rest of the file stay. Pure.

import { isDeepStrictEqual } from 'node:util'
import { readHookEntry } from '@sluice/gateway/hooks/settings'
import { isObject, type JsonObject } from '@sluice/policy/core/json'
import { applyEdits, type JSONPath, modify } from 'jsonc-parser'
import { parseJson } from './json-entries.ts'
import { lineBreakOf } from './text-edits.ts'

export function listHooks(text: string, file: string) {
  const { value } = parseJson(text, file)
  const hooks = isObject(value) && isObject(value.hooks) ? value.hooks : {}
  return Object.entries(hooks).flatMap(([event, entries]) =>
    Array.isArray(entries)
      ? entries.map((entry, at) => ({ path: ['hooks', event, at], value: entry }))
      : [],
  )
}

/** The text with these hooks in the place of earlier ones of ours; the same text if they are there already. */
export function putHooks(
  text: string,
  file: string,
  entries: readonly (readonly [string, JsonObject])[],
): string {
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
  const isAlone = (depth: number) =>
    listed.every(({ path }) => path === last.path || path[depth] !== last.path[depth])
  const path = isAlone(0) ? ['hooks'] : isAlone(1) ? last.path.slice(0, 2) : last.path
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
  return applyEdits(text, modify(text, path, value, { formattingOptions, isArrayInsertion }))
}

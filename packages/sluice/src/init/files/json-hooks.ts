// Hooks in a JSON file of a client: entries in the lists under `hooks`, added and taken away so that comments,
// other hooks and the rest of the file stay. Pure.

import { isDeepStrictEqual } from 'node:util'
import { isObject, type JsonObject } from '@sluice/policy/core/json'
import { applyEdits, type JSONPath, modify } from 'jsonc-parser'
import { readHookEntry } from '../../hooks/settings.ts'
import { parseJson } from './json-entries.ts'
import { lineBreakOf } from './text-edits.ts'

export interface HookEntry {
  readonly event: string
  readonly at: number
  readonly value: unknown
}

export function listHooks(text: string, file: string): HookEntry[] {
  const { value } = parseJson(text, file)
  const hooks = isObject(value) && isObject(value.hooks) ? value.hooks : {}
  return Object.entries(hooks).flatMap(([event, entries]) =>
    Array.isArray(entries) ? entries.map((entry, at) => ({ event, at, value: entry })) : [],
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
  const ours = listHooks(text, file).filter(({ value }) => readHookEntry(value) !== undefined)
  let changed = text
  for (const { event, at } of ours.reverse())
    changed = edit(changed, ['hooks', event, at], undefined)
  const left = new Set(listHooks(changed, file).map(({ event }) => event))
  for (const event of new Set(ours.map((one) => one.event)))
    if (!left.has(event)) changed = edit(changed, ['hooks', event], undefined)
  const { value } = parseJson(changed, file)
  const isEmpty = isObject(value) && isObject(value.hooks) && Object.keys(value.hooks).length === 0
  return ours.length > 0 && isEmpty ? edit(changed, ['hooks'], undefined) : changed
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

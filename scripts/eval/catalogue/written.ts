// Synthetic definitions, in the repository with their texts, labelled once by their writers:
// written.tsv from memory of well-known servers that are not among those of labels.tsv, invented.tsv
// of servers that do not exist, in the words of many trades.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import type { JsonObject } from '@sluice/policy/values/json'
import { type Labelled, toCategory, toRisk } from './data.ts'

/** The weight of a written definition relative to a published one. */
export const WRITTEN_SHARE = 0.5

export function readWritten(file: 'written.tsv' | 'invented.tsv' = 'written.tsv'): Labelled[] {
  let server = ''
  return readFileSync(join(import.meta.dirname, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [named = '', name = '', letter = '', risk = '', list = '', text = ''] = line.split('\t')
      if (named !== '') server = named
      const category = toCategory(letter)
      const description = text.replace(/\\([\\n])/g, (_, kind) => (kind === 'n' ? '\n' : '\\'))
      const tool = { server, name, description, inputSchema: parseSchema(list) } as ToolDefinition
      return { tool, category, risk: toRisk(risk), first: category }
    })
}

/** `id; limit?:integer; state?:enum:open|closed` */
function parseSchema(list: string): JsonObject {
  const properties: Record<string, JsonObject> = {}
  const required: string[] = []
  for (const entry of list === '' ? [] : list.split('; ')) {
    const colon = entry.indexOf(':')
    const spelt = colon < 0 ? entry : entry.slice(0, colon)
    const kind = colon < 0 ? 'string' : entry.slice(colon + 1)
    const name = spelt.replace(/\?$/, '')
    if (name === spelt) required.push(name)
    properties[name] = kind.startsWith('enum:')
      ? { type: 'string', enum: kind.slice('enum:'.length).split('|') }
      : { type: TYPES[kind] ?? kind }
  }
  return { type: 'object', properties, required }
}

const TYPES: Readonly<Record<string, string | string[]>> = {
  int: 'integer',
  'int|string': ['integer', 'string'],
}

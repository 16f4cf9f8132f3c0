// The data of the catalogue's eval: definitions, read from the given path, and labels, which are in
// the repository by server, tool and digest, without any text of the definitions.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  CATEGORIES,
  type Category,
  RISKS,
  type Risk,
  type ToolDefinition,
} from '@sluice/policy/calls/tools'
import { pinOf } from '../../../packages/catalogue/src/pins/pin.ts'

export interface Labelled {
  readonly tool: ToolDefinition
  readonly category: Category
  readonly risk: Risk
  /** The first reading, and the second if there is one. */
  readonly first: Category
  readonly second?: Category
  readonly secondRisk?: Risk
}

export function readTools(file: string): ToolDefinition[] {
  return JSON.parse(readFileSync(file, 'utf8')) as ToolDefinition[]
}

const DIGEST_CHARS = 12

/**
 * The labels of these definitions; one whose definition has changed has none. `labels.tsv` is of
 * published servers, `collected.tsv` of servers in public repositories, `packages.tsv`, `unseen.tsv`,
 * `money.tsv`, `fresh.tsv` and `deals.tsv`, one after the other, of servers that were installed and asked for
 * their tools.
 */
export function readLabels(tools: readonly ToolDefinition[], file = 'labels.tsv'): Labelled[] {
  const known = new Map(
    tools.map((tool) => [toKey(tool.server, tool.name, computeDigest(tool)), tool]),
  )
  let server = ''
  const labels: Labelled[] = []
  for (const line of readFileSync(join(import.meta.dirname, file), 'utf8').split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [named = '', name = '', digest = '', settled = '', risk, second, secondRisk] =
      line.split('\t')
    if (named !== '') server = named
    const tool = known.get(toKey(server, name, digest))
    if (tool === undefined) continue
    // `W<R`: settled as Write, first read as Read.
    const [category = '', first = category] = settled.split('<')
    labels.push({
      tool,
      category: toCategory(category),
      risk: toRisk(risk ?? ''),
      first: toCategory(first),
      ...(second ? { second: toCategory(second) } : {}),
      ...(secondRisk ? { secondRisk: toRisk(secondRisk) } : {}),
    })
  }
  return labels
}

export function toCategory(letter: string): Category {
  return CATEGORIES.find((category) => category.startsWith(letter)) as Category
}

export function toRisk(letter: string): Risk {
  return RISKS.find((risk) => risk.startsWith(letter)) as Risk
}

export function computeDigest(tool: ToolDefinition): string {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  return pinOf(tool, sha256).slice('sha256:'.length).slice(0, DIGEST_CHARS)
}

function toKey(server: string, name: string, digest: string): string {
  return `${server}\n${name}\n${digest}`
}

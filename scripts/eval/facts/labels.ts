// The labels of 300 tools by two readers who worked apart by GUIDE.md: in labels.tsv by server, tool and digest of the
// definition, without any text of it.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { computeDigest } from '../catalogue/data.ts'
import type { Half } from './draw.ts'

/** The values of each fact as in the guide, the most dangerous first. A reader may also write `?`. */
export const FACTS = {
  writer: ['anybody', 'correspondent', 'file', 'colleague', 'nobody'],
  private: ['yes', 'no'],
  reach: ['address', 'public', 'origin', 'own', 'nobody'],
  files: ['yes', 'no'],
} as const
export type Fact = keyof typeof FACTS
export const FACT_NAMES = Object.keys(FACTS) as Fact[]

/** What counts as danger: an outsider wrote it, it is private, an outsider gets it, a file is written. */
export const DANGER: Readonly<Record<Fact, readonly string[]>> = {
  writer: ['anybody', 'correspondent', 'file'],
  private: ['yes'],
  reach: ['address', 'public', 'origin'],
  files: ['yes'],
}

export type FactValues = Readonly<Record<Fact, string>>

export interface LabelledFacts {
  readonly tool: ToolDefinition
  readonly half: Half
  readonly a: FactValues
  readonly b: FactValues
}

const UNKNOWN = '?'

/** A tool whose definition has changed has no labels. */
export function readFactLabels(tools: readonly ToolDefinition[]): LabelledFacts[] {
  const known = new Map(tools.map((tool) => [toKey(tool.server, tool.name), tool]))
  const lines = readFileSync(join(import.meta.dirname, 'labels.tsv'), 'utf8').split('\n')
  return lines.flatMap((line) => {
    if (line === '' || line.startsWith('#')) return []
    const [half, server = '', name = '', digest, ...cells] = line.split('\t')
    const tool = known.get(toKey(server, name))
    if (tool === undefined || computeDigest(tool) !== digest) return []
    const read = (reader: 0 | 1) =>
      Object.fromEntries(
        FACT_NAMES.map((fact, at) => [fact, cells[at]?.split('/')[reader] ?? UNKNOWN]),
      ) as unknown as FactValues
    return [{ tool, half: half === '1' ? 'first' : 'second', a: read(0), b: read(1) } as const]
  })
}

function toKey(server: string, name: string): string {
  return `${server}\n${name}`
}

/** How a disagreement is settled, fixed before any rule was written. */
export type Settling = 'excluded' | 'more dangerous'

/** The value that counts; undefined if the readers disagree, or one does not know, and such tools are excluded. */
export function settle(fact: Fact, { a, b }: LabelledFacts, how: Settling): string | undefined {
  const [one, other] = [a[fact], b[fact]]
  if (one === other) return one === UNKNOWN ? undefined : one
  if (how === 'excluded') return undefined
  return FACTS[fact].find((value) => value === one || value === other)
}

// The end of a tool's page: the other tools of its server, those about the same thing first, and the server
// by its name and package. Pure; called by tool-page.ts.

import {
  type Cell,
  createTextBlock,
  type PageBlock,
  type PageSection,
} from '@sluice/guard/show/page'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { splitNameWords } from '../signals/split-words.ts'
import { getAssessment } from './assessment-cache.ts'
import { productName } from './product-name.ts'
import { countTools, summaryOf } from './server-page.ts'

/** Where a page stands: the other tools of the server, and the addresses of their pages. */
export interface ToolPageContext {
  readonly neighbours?: readonly ToolDefinition[]
  readonly pathOf?: (definition: ToolDefinition) => string
}

const RELATED_MAX = 8

export function relatedSection(
  definition: ToolDefinition,
  { neighbours = [], pathOf }: ToolPageContext,
): PageSection[] {
  const words = nameWords(definition)
  const others = neighbours.filter(({ name }) => name !== definition.name)
  const rows: Cell[][] = others
    .map((other) => ({ other, near: nearness(words, nameWords(other)) }))
    .sort((a, b) => b.near - a.near || (a.other.name < b.other.name ? -1 : 1))
    .slice(0, RELATED_MAX)
    .map(({ other }) => {
      const { category, risk, unknown } = getAssessment(other)
      const cell = pathOf === undefined ? other.name : { text: other.name, to: pathOf(other) }
      return [cell, unknown ? `unknown, perhaps ${category}` : category, unknown ? 'unknown' : risk]
    })
  if (rows.length === 0) return []
  if (pathOf !== undefined)
    rows.push([
      { text: `all ${neighbours.length} tools`, to: pathOf({ ...definition, name: '' }) },
      '',
      '',
    ])
  return [
    {
      heading: `Which tools are like ${definition.name}?`,
      blocks: [{ kind: 'table', head: ['tool', 'category', 'risk'], rows }],
    },
  ]
}

function nameWords({ name }: ToolDefinition): string[] {
  return splitNameWords(name).map(({ text }) => text.replace(/s$/, ''))
}

/** The object that two names share counts twice the verb at their head. */
function nearness(own: readonly string[], other: readonly string[]): number {
  return own.reduce((sum, word, at) => sum + (other.includes(word) ? (at === 0 ? 1 : 2) : 0), 0)
}

export function serverBlocks(
  { server }: ToolDefinition,
  { neighbours = [] }: ToolPageContext,
): PageBlock[] {
  const of = neighbours.length > 1 ? ` It lists ${summaryOf(countTools(neighbours))}.` : ''
  return [createTextBlock(`${productName(server)} (\`${server}\`)${packageOf(server)}.${of}`)]
}

const SCOPE = /^[a-z0-9._-]+$/i
const PACKAGE = /^([a-z0-9._-]+?)(?:[-@](\d+\.\d+\.\d+))?$/i

/** A name as `scope__package` is how files name `@scope/package`, with a version behind it or not. */
function packageOf(server: string): string {
  const at = server.indexOf('__', 1)
  const [, name, version] = PACKAGE.exec(server.slice(at + 2)) ?? []
  const scope = server.slice(0, at)
  if (at < 0 || name === undefined || !SCOPE.test(scope)) return ''
  return `, the package \`@${scope}/${name}\`${version === undefined ? '' : `, version ${version}`}`
}

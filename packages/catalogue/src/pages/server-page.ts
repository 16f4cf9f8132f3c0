// The page of a server: how many tools of which class, which can lose data for good, each with its
// class, risk and the words that say so; and the policy to begin with. Pure.

import type { Page } from '@sluice/guard/show/page'
import { createTextBlock, yaml } from '@sluice/guard/show/page'
import { CATEGORIES, type Category, type ToolDefinition } from '@sluice/policy/calls/tools'
import { getAssessment } from './assessment-cache.ts'
import { titleWithProduct } from './product-name.ts'
import { registerBlocks } from './register-server.ts'
import { suggestPolicy } from './suggest-policy.ts'

/** How many tools a server has, by what they can do. */
export interface ToolCounts {
  readonly tools: number
  /** The number of tools of each class; one that is unknown counts as its guess. */
  readonly categories: Readonly<Record<Category, number>>
  /** Destructive tools of known class: what they delete is gone. */
  readonly loseForGood: number
  /** Tools whose class is a guess. */
  readonly unknown: number
}

export function countTools(definitions: readonly ToolDefinition[]): ToolCounts {
  const categories = Object.fromEntries(CATEGORIES.map((category) => [category, 0])) as Record<
    Category,
    number
  >
  let loseForGood = 0
  let unknown = 0
  for (const definition of definitions) {
    const assessment = getAssessment(definition)
    categories[assessment.category]++
    if (assessment.unknown) unknown++
    else if (assessment.category === 'Destructive') loseForGood++
  }
  return { tools: definitions.length, categories, loseForGood, unknown }
}

/** `37 tools: 21 Read, 9 Write, 2 Execute, 4 Destructive, 1 Financial; 4 can lose data for good`. */
export function summaryOf({ tools, categories, loseForGood, unknown }: ToolCounts): string {
  const parts = CATEGORIES.filter((category) => categories[category] > 0).map(
    (category) => `${categories[category]} ${category}`,
  )
  const lost = loseForGood > 0 ? `; ${loseForGood} can lose data for good` : ''
  const guessed = unknown > 0 ? `; ${unknown} of these unknown, counted by their guess` : ''
  return `${tools} tool${tools === 1 ? '' : 's'}: ${parts.join(', ')}${lost}${guessed}`
}

export function serverPage(
  server: string,
  definitions: readonly ToolDefinition[],
  pathOf: (definition: ToolDefinition) => string,
): Page {
  const assessed = definitions
    .map((definition) => ({ definition, ...getAssessment(definition) }))
    .sort((a, b) => CATEGORIES.indexOf(b.category) - CATEGORIES.indexOf(a.category))
  const rows = assessed.map(({ definition, category, risk, unknown, evidence }) => [
    { text: definition.name, to: pathOf(definition) },
    unknown ? `unknown, perhaps ${category}` : category,
    unknown ? 'unknown' : risk,
    evidence
      .map(({ text }) => text)
      .filter((text) => text !== '')
      .slice(0, 3)
      .join(', '),
  ])
  const { yaml: text, special } = suggestPolicy(definitions)
  return {
    title: titleWithProduct(server, server),
    lead: summaryOf(countTools(definitions)),
    sections: [
      {
        heading: `What can the tools of ${server} do?`,
        blocks: [{ kind: 'table', head: ['tool', 'category', 'risk', 'by the words'], rows }],
      },
      {
        heading: `Which policy fits ${server}?`,
        blocks: [
          ...definitions.slice(0, 1).flatMap(registerBlocks),
          createTextBlock(
            'Reads pass, writes pass at a pace, and what runs, deletes or pays waits for a person; all else is denied. It compiles against these tools as they are.',
          ),
          yaml(text),
          ...(special.length === 0
            ? []
            : [
                {
                  kind: 'list' as const,
                  items: special.map(({ tool, because }) => `\`${tool}\`: ${because}`),
                },
              ]),
        ],
      },
    ],
  }
}

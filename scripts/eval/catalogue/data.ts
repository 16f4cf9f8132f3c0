// The data of the catalogue's eval: definitions and labels, read from the paths given. None of it is
// in the repository.

import { readFileSync } from 'node:fs'
import { CATEGORIES, type Category, type ToolDefinition } from '../../../src/core/tools.ts'

export interface Labelled {
  readonly tool: ToolDefinition
  readonly category: Category
  readonly risk?: readonly string[]
  /** Where two readings differed before they were settled. */
  readonly first?: Category
  readonly second?: Category
}

export function readTools(file: string): ToolDefinition[] {
  return JSON.parse(readFileSync(file, 'utf8')) as ToolDefinition[]
}

/** Labels by server and name, or definitions with a label in them. */
export function readLabels(file: string, tools: readonly ToolDefinition[]): Labelled[] {
  const known = new Map(tools.map((tool) => [`${tool.server}/${tool.name}`, tool]))
  const labels = JSON.parse(readFileSync(file, 'utf8')) as (ToolDefinition &
    Omit<Labelled, 'tool'>)[]
  return labels
    .filter(({ category }) => CATEGORIES.includes(category))
    .map((label) => {
      const { category, risk, first, second, ...definition } = label
      const tool = known.get(`${label.server}/${label.name}`) ?? definition
      return {
        tool,
        category,
        ...(risk ? { risk } : {}),
        ...(first ? { first } : {}),
        ...(second ? { second } : {}),
      }
    })
}

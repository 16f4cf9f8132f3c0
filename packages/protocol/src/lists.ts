// The lists that a server has, by the method that asks for one. Pure; who filters, merges or looks into lists reads it.

import { SKILLS } from './extensions.ts'

export interface ListKind {
  /** Where the result has its entries, and what names one. */
  readonly key: string
  readonly name: string
  /** The request that an entry is for: who may not make it does not see the entry. */
  readonly method: string
  /** What a server declares that has the list. */
  readonly capability: string
}

const kind = (key: string, name: string, method: string, capability = key): ListKind => ({
  key,
  name,
  method,
  capability,
})

export const LISTS: ReadonlyMap<string, ListKind> = new Map([
  ['tools/list', kind('tools', 'name', 'tools/call')],
  ['prompts/list', kind('prompts', 'name', 'prompts/get')],
  ['resources/list', kind('resources', 'uri', 'resources/read')],
  [
    'resources/templates/list',
    kind('resourceTemplates', 'uriTemplate', 'resources/read', 'resources'),
  ],
  ['resources/directory/read', kind('resources', 'uri', 'resources/read')],
  ['skills/list', kind('skills', 'uri', 'resources/read', SKILLS)],
  ['tasks/list', kind('tasks', 'taskId', 'tasks/get')],
])

/** Lists that are the same for each request, and have entries of all servers at the endpoint of all. */
export function isMergedList(method: string): boolean {
  return LISTS.has(method) && method.endsWith('/list')
}

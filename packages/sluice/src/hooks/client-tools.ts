// The tools that coding agents have of their own, with one name for each over all clients: what a client's
// server lists. Every tool that has an effect outside of the client is here with its true category; a name
// that is not here is listed when it is first used, and its category is a guess.

import type { JsonObject } from '@sluice/policy/core/json'
import type { HookClient } from './hook-event.ts'

interface ClientTool {
  readonly category: 'Read' | 'Write' | 'Execute'
  readonly description: string
  /** Arguments that a rule can rely on. */
  readonly required: readonly string[]
  /** The argument that is a path. */
  readonly path?: string
  /** It reaches beyond this machine. */
  readonly isOpen?: boolean
}

const inside = (description: string): ClientTool => ({
  category: 'Read',
  description,
  required: [],
})

export const CLIENT_TOOLS: ReadonlyMap<string, ClientTool> = new Map<string, ClientTool>([
  [
    'Bash',
    { category: 'Execute', description: 'Runs a shell command', required: ['command', 'cwd'] },
  ],
  [
    'Read',
    { category: 'Read', description: 'Reads a file', required: ['file_path'], path: 'file_path' },
  ],
  [
    'Write',
    { category: 'Write', description: 'Writes a file', required: ['file_path'], path: 'file_path' },
  ],
  [
    'Edit',
    { category: 'Write', description: 'Edits a file', required: ['file_path'], path: 'file_path' },
  ],
  [
    'NotebookEdit',
    {
      category: 'Write',
      description: 'Edits a notebook',
      required: ['notebook_path'],
      path: 'notebook_path',
    },
  ],
  ['apply_patch', { category: 'Write', description: 'Edits files by a patch', required: [] }],
  [
    'Glob',
    { category: 'Read', description: 'Finds files by name', required: ['path'], path: 'path' },
  ],
  [
    'Grep',
    { category: 'Read', description: 'Finds text in files', required: ['path'], path: 'path' },
  ],
  ['WebFetch', { category: 'Read', description: 'Reads a page', required: ['url'], isOpen: true }],
  [
    'WebSearch',
    { category: 'Read', description: 'Searches the web', required: ['query'], isOpen: true },
  ],
  ['Agent', inside('Starts another agent inside the client, whose calls are decided one by one')],
  ['Task', inside('Starts another agent inside the client, whose calls are decided one by one')],
  ['TodoWrite', inside('Keeps the list of tasks of the client')],
  ['ToolSearch', inside('Finds tools of the client')],
  ['ExitPlanMode', inside('Ends the planning of the client')],
  ['AskUserQuestion', inside('Asks the user')],
  ['BashOutput', inside('Reads the output of a running command')],
  ['Skill', inside('Reads a skill of the client')],
])

/** As `tools/list` gives them. `others` are names that calls have used beside those of the catalogue. */
export function listClientTools(client: HookClient, others: Iterable<string>): JsonObject[] {
  const listed = Array.from(
    CLIENT_TOOLS,
    ([name, { category, description, required, isOpen }]) => ({
      name,
      description: `${description} (${client})`,
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(required.map((each) => [each, { type: 'string' }])),
        required,
        additionalProperties: true,
      },
      annotations: {
        readOnlyHint: category === 'Read',
        destructiveHint: false,
        openWorldHint: category === 'Execute' || isOpen === true,
      },
    }),
  )
  const guessed = Array.from(others, (name) => ({
    name,
    inputSchema: { type: 'object', additionalProperties: true },
  }))
  return [...listed, ...guessed]
}

// The tools an agent has inside its sandbox: what a model is told of each, and what each does to the
// agent's own files and todos. None of them reaches outside; run_code leaves as an effect.

import type { Files } from './files.ts'
import { Refusal } from './refusal.ts'
import type { Todos } from './todos.ts'
import type { Limits, ToolDefinition } from './words.ts'

export interface Workplace {
  readonly files: Files
  readonly todos: Todos
  readonly limits: Limits
  readonly at: number
}

type Input = Record<string, unknown>
type Run = (input: Input, place: Workplace) => unknown

interface LocalTool extends ToolDefinition {
  readonly run?: Run
  /** Changes nothing, so it may run while a program works on the files. */
  readonly reads?: boolean
}

const TEXT = { type: 'string' }
const COUNT = { type: 'integer', minimum: 0 }
const STATUS = { enum: ['pending', 'in_progress', 'completed', 'cancelled'] }

function schema(properties: object, required: readonly string[]): object {
  return { type: 'object', properties, required, additionalProperties: false }
}

export const RUN_CODE = 'run_code'

export const LOCAL_TOOLS: readonly LocalTool[] = [
  {
    name: 'read_file',
    description: 'Read a text file of yours, a page of lines at a time.',
    inputSchema: schema({ path: TEXT, offset: COUNT, limit: COUNT }, ['path']),
    run: ({ path, offset, limit }, { files }) => files.read(path, offset, limit),
    reads: true,
  },
  {
    name: 'write_file',
    description: 'Write a text file, or replace it.',
    inputSchema: schema({ path: TEXT, content: TEXT }, ['path', 'content']),
    run: ({ path, content }, { files, at, limits }) => {
      if (typeof content !== 'string') throw new Refusal('AGENT_INPUT', '`content` is a text')
      return { bytes: files.put(path, content, at, limits).bytes }
    },
  },
  {
    name: 'edit_file',
    description: 'Replace a text that occurs once in a file; with replace_all every occurrence.',
    inputSchema: schema(
      { path: TEXT, old_string: TEXT, new_string: TEXT, replace_all: { type: 'boolean' } },
      ['path', 'old_string', 'new_string'],
    ),
    run: (input, { files, at, limits }) => files.edit(input, at, limits),
  },
  {
    name: 'delete_file',
    description: 'Delete a file.',
    inputSchema: schema({ path: TEXT }, ['path']),
    run: ({ path }, { files }) => {
      files.delete(path)
      return { deleted: true }
    },
  },
  {
    name: 'list_files',
    description: 'List your files with their sizes.',
    inputSchema: schema({}, []),
    run: (_, { files }) => files.list(undefined),
    reads: true,
  },
  {
    name: 'glob',
    description: 'List the files whose path matches a glob such as src/**/*.ts.',
    inputSchema: schema({ pattern: TEXT }, ['pattern']),
    run: ({ pattern }, { files }) => files.list(pattern),
    reads: true,
  },
  {
    name: 'grep',
    description: 'Find lines that match a regular expression (no look-around, no back-references).',
    inputSchema: schema(
      { pattern: TEXT, glob: TEXT, ignore_case: { type: 'boolean' }, after: TEXT },
      ['pattern'],
    ),
    run: (input, { files }) => files.grep(input),
    reads: true,
  },
  {
    name: 'write_todos',
    description: 'Write the whole todo list, in order. Items keep their id when you give it.',
    inputSchema: schema(
      {
        todos: {
          type: 'array',
          items: schema({ id: TEXT, content: TEXT, status: STATUS }, ['content']),
        },
      },
      ['todos'],
    ),
    run: ({ todos: items }, { todos, at }) => {
      todos.write(items, at)
      return { todos: todos.list }
    },
  },
  {
    name: 'update_todo',
    description: 'Change one todo by its id.',
    inputSchema: schema({ id: TEXT, status: STATUS, content: TEXT }, ['id']),
    run: (input, { todos, at }) => {
      todos.update(input, at)
      return { todos: todos.list }
    },
  },
  {
    name: RUN_CODE,
    description:
      'Run JavaScript (async) in a sandbox of its own. files.read(path), files.write(path, text), ' +
      'files.list(), files.delete(path); await tools.<server>.<tool>(args); console.log; return a value.',
    inputSchema: schema({ code: TEXT }, ['code']),
  },
]

export function findLocalTool(name: string): LocalTool | undefined {
  return LOCAL_TOOLS.find((tool) => tool.name === name)
}

/** The outcome as the model gets it; a refusal is a result it can act on, other faults are ours. */
export function runLocalTool(
  run: Run,
  input: unknown,
  place: Workplace,
): { content: string; isError: boolean } {
  try {
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      throw new Refusal('AGENT_INPUT', 'the input of a tool is an object')
    return { content: JSON.stringify(run(input as Input, place)), isError: false }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const said = { error: { code: error.code, message: error.message } }
    return { content: JSON.stringify(said), isError: true }
  }
}

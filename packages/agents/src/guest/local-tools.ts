// The tools an agent has inside its sandbox: what a model is told of each, and what each does to the
// agent's own files and todos. None of them reaches outside; run_code leaves as an effect.

import type { Files } from './files.ts'
import { GuestError } from './guest-error.ts'
import type { Limits, ModelTool } from './protocol.ts'
import type { Todos } from './todos.ts'
import type { WorkBudget } from './work-budget.ts'

export interface ToolContext {
  readonly files: Files
  readonly todos: Todos
  readonly limits: Limits
  readonly at: number
  /** What the tools of this turn may still do. */
  readonly effort: WorkBudget
}

type Input = Record<string, unknown>
type RunTool = (input: Input, place: ToolContext) => unknown

interface LocalTool extends ModelTool {
  readonly run?: RunTool
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

/** Units of effort of any call, and the characters written for one. */
const CALL_EFFORT = 100
const WRITTEN_PER_UNIT = 5

export const LOCAL_TOOLS: readonly LocalTool[] = [
  {
    name: 'read_file',
    description: 'Read a text file of yours, a page of lines at a time.',
    inputSchema: schema({ path: TEXT, offset: COUNT, limit: COUNT }, ['path']),
    run: ({ path, offset, limit }, { files, effort }) => files.read(path, offset, limit, effort),
    reads: true,
  },
  {
    name: 'write_file',
    description: 'Write a text file, or replace it.',
    inputSchema: schema({ path: TEXT, content: TEXT }, ['path', 'content']),
    run: ({ path, content }, { files, at, limits, effort }) => {
      if (typeof content !== 'string') throw new GuestError('AGENT_INPUT', '`content` is a text')
      effort.spend(content.length / WRITTEN_PER_UNIT)
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
    run: (input, { files, at, limits, effort }) => files.edit(input, at, limits, effort),
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
    run: (_, { files, effort }) => files.list(undefined, effort),
    reads: true,
  },
  {
    name: 'glob',
    description: 'List the files whose path matches a glob such as src/**/*.ts.',
    inputSchema: schema({ pattern: TEXT }, ['pattern']),
    run: ({ pattern }, { files, effort }) => files.list(pattern, effort),
    reads: true,
  },
  {
    name: 'grep',
    description:
      'Find lines that match a regular expression (no look-around, no back-references). Where not all was looked at, go on with `after` = goOnAfter and `after_line` = goOnLine.',
    inputSchema: schema(
      {
        pattern: TEXT,
        glob: TEXT,
        ignore_case: { type: 'boolean' },
        after: TEXT,
        after_line: COUNT,
      },
      ['pattern'],
    ),
    run: (input, { files, effort }) => files.grep(input, effort),
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
  run: RunTool,
  input: unknown,
  place: ToolContext,
): { content: string; isError: boolean } {
  try {
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      throw new GuestError('AGENT_INPUT', 'the input of a tool is an object')
    place.effort.spend(CALL_EFFORT)
    const content = JSON.stringify(run(input as Input, place))
    place.effort.count(content.length / WRITTEN_PER_UNIT)
    return { content, isError: false }
  } catch (error) {
    if (!(error instanceof GuestError)) throw error
    const said = { error: { code: error.code, message: error.message } }
    return { content: JSON.stringify(said), isError: true }
  }
}

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import type { JsonValue } from '@sluice/policy/values/json'
import { describe, expect, test } from 'vitest'
import { classify } from './classify.ts'
import { classifyCall, findCategoryArguments } from './classify-call.ts'

const run = {
  server: 'db',
  name: 'run_query',
  description: 'Run SQL on the database',
  inputSchema: { type: 'object', properties: { sql: { type: 'string' } } },
}
const api = {
  server: 'api',
  name: 'request',
  inputSchema: {
    type: 'object',
    properties: { method: { enum: ['GET', 'POST', 'DELETE'] }, path: { type: 'string' } },
  },
}
const shell = {
  server: 'box',
  name: 'exec',
  inputSchema: { type: 'object', properties: { command: { type: 'string' } } },
}

const aggregate = {
  server: 'mongo',
  name: 'aggregate',
  description: 'Run an aggregation against a MongoDB collection',
  inputSchema: {
    type: 'object',
    properties: {
      database: { type: 'string' },
      collection: { type: 'string' },
      pipeline: { type: 'array', items: { type: 'object' } },
    },
  },
  annotations: { readOnlyHint: true },
}

function known(definition: ToolDefinition) {
  return { definition, ...classify(definition) }
}

describe('the class of a call', () => {
  test('is Read for a statement that certainly only reads, and else not settled', () => {
    const tool = known(run)
    expect(classifyCall(tool, { sql: 'select 1' })).toBe('Read')
    expect(classifyCall(tool, { sql: 'delete from t' })).toBeUndefined()
    expect(classifyCall(tool, { sql: 'select 1; drop table t' })).toBeUndefined()
    expect(classifyCall(tool, {})).toBeUndefined()
  })

  test('follows the HTTP method, exactly as declared', () => {
    const tool = known(api)
    expect(tool.category).toBe('Execute')
    expect(classifyCall(tool, { method: 'GET', path: '/' })).toBe('Read')
    expect(classifyCall(tool, { method: 'POST', path: '/' })).toBe('Write')
    expect(classifyCall(tool, { method: 'DELETE', path: '/' })).toBe('Destructive')
    expect(classifyCall(tool, { method: 'get', path: '/' })).toBeUndefined()
    expect(classifyCall(tool, { method: ['GET'], path: '/' })).toBeUndefined()
  })

  test('of a tool that trades is not made mild by the word for its action', () => {
    const orders = {
      server: 'exchange',
      name: 'batch_orders',
      description: 'Place, amend or list orders. Executes real trades.',
      inputSchema: { type: 'object', properties: { action: { enum: ['place', 'amend', 'list'] } } },
    }
    const tool = known(orders)
    expect(tool.category).toBe('Financial')
    expect(classifyCall(tool, { action: 'place' })).toBeUndefined()
    expect(classifyCall(tool, { action: 'list' })).toBe('Read')
  })

  test('follows a mode if each of its words is an act', () => {
    const modes = (words: readonly string[]) => ({
      server: 'git',
      name: 'git_branch',
      description: 'Manage branches: list, create, rename or delete a branch.',
      inputSchema: {
        type: 'object',
        properties: { mode: { enum: words }, branchName: { type: 'string' } },
      },
    })
    const branch = known(modes(['list', 'create', 'delete', 'rename', 'show-current']))
    expect(branch.category).toBe('Destructive')
    expect(classifyCall(branch, { mode: 'list' })).toBe('Read')
    expect(classifyCall(branch, { mode: 'show-current' })).toBe('Read')
    expect(classifyCall(branch, { mode: 'create', branchName: 'x' })).toBe('Write')
    expect(classifyCall(branch, { mode: 'delete', branchName: 'x' })).toBe('Destructive')
    expect(classifyCall(branch, {})).toBeUndefined()
    // `fast` is no act, so `list` is none either.
    expect(classifyCall(known(modes(['list', 'delete', 'fast'])), { mode: 'list' })).toBeUndefined()
  })

  test('is Read for a command line that certainly only reads', () => {
    expect(findCategoryArguments(shell)).toEqual([{ argument: 'command', kind: 'program' }])
    const classify = (args: Parameters<typeof classifyCall>[1]) => classifyCall(known(shell), args)
    expect(classify({ command: 'ls | head', cwd: '/', timeout_ms: 5 })).toBe('Read')
    for (const command of ['rm x', 'ls; $x', 'python x.py', 'ls > x', ['ls']])
      expect(classify({ command })).toBeUndefined()
    // What else the server does with it is not in the text.
    expect(classify({ command: 'sort', args: ['-o', 'x'] })).toBeUndefined()
    const other = { ...shell, description: 'Runs a command in PowerShell' }
    expect(classifyCall(known(other), { command: 'ls' })).toBeUndefined()
  })

  test('is never read from a program in another language', () => {
    const python = {
      ...shell,
      inputSchema: { type: 'object', properties: { code: { type: 'string' } } },
    }
    expect(classifyCall(known(python), { code: 'ls' })).toBeUndefined()
  })

  test('of a tool that reads is that of the stages of its pipeline that write', () => {
    const tool = known(aggregate)
    expect(tool).toMatchObject({ category: 'Read', unknown: false })
    expect(findCategoryArguments(aggregate)).toEqual([{ argument: 'pipeline', kind: 'pipeline' }])
    const ask = (pipeline: JsonValue) => classifyCall(tool, { collection: 'a', pipeline })
    const out = { $out: 'customers' }
    const merge = { $merge: { into: 'customers' } }
    const read = { $match: { total: { $sum: '$out' }, all: { $mergeObjects: '$merge' } } }
    expect(ask([read, out])).toBe('Destructive')
    expect(ask([read, merge])).toBe('Write')
    expect(ask([merge, out])).toBe('Destructive')
    for (const pipeline of [
      [{ $facet: { a: [read, out] } }],
      [{ $lookup: { from: 'b', as: 'c', pipeline: [out] } }],
      [{ $unionWith: { coll: 'b', pipeline: [{ $lookup: { pipeline: [out] } }] } }],
      JSON.stringify([read, out]),
      [JSON.stringify(read), JSON.stringify(out)],
      JSON.stringify(JSON.stringify([out])),
      '[{ $out: "customers" }]',
      '[{ "\\u0024out": "customers" }]',
      "[{ '\\x24out': 'customers' }]",
      out,
    ])
      expect(ask(pipeline)).toBe('Destructive')
    for (const pipeline of [[], [read], JSON.stringify([{ $match: { a: 1 } }]), 'nightly', 7, null])
      expect(ask(pipeline)).toBeUndefined()
  })

  test('of a pipeline inside another argument counts too, and makes no call milder', () => {
    const pipeline = { type: 'array', items: { type: 'object' } }
    const exportTool = {
      server: 'db',
      name: 'export',
      description: 'Export the results of a query or an aggregation as a file.',
      inputSchema: {
        type: 'object',
        properties: { target: { type: 'array', items: { properties: { pipeline } } } },
      },
    }
    const tool = { ...known(exportTool), category: 'Read' as const }
    const call = (stages: JsonValue) => classifyCall(tool, { target: [{ pipeline: stages }] })
    expect(call([{ $out: 'a' }])).toBe('Destructive')
    expect(call([{ $match: {} }])).toBeUndefined()
    const worse = { ...tool, category: 'Financial' as const }
    expect(classifyCall(worse, { target: [{ pipeline: [{ $out: 'a' }] }] })).toBeUndefined()
  })

  test('is not settled for a tool whose arguments decide nothing', () => {
    expect(classifyCall(known({ server: 'a', name: 'get_b' }), { anything: 1 })).toBeUndefined()
  })
})

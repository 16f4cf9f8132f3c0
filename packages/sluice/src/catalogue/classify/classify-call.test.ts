import type { ToolDefinition } from '@sluice/policy/core/tools'
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

  test('is never read from a program', () => {
    expect(findCategoryArguments(shell)).toEqual([{ argument: 'command', kind: 'program' }])
    expect(classifyCall(known(shell), { command: 'ls' })).toBeUndefined()
  })

  test('is not settled for a tool whose arguments decide nothing', () => {
    expect(classifyCall(known({ server: 'a', name: 'get_b' }), { anything: 1 })).toBeUndefined()
  })
})

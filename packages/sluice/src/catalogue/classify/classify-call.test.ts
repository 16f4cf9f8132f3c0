import type { ToolDefinition } from '@sluice/policy/core/tools'
import { describe, expect, test } from 'vitest'
import { classify } from './classify.ts'
import { classOfCall, dependsOn } from './classify-call.ts'

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
    expect(classOfCall(tool, { sql: 'select 1' })).toBe('Read')
    expect(classOfCall(tool, { sql: 'delete from t' })).toBeUndefined()
    expect(classOfCall(tool, { sql: 'select 1; drop table t' })).toBeUndefined()
    expect(classOfCall(tool, {})).toBeUndefined()
  })

  test('follows the HTTP method, exactly as declared', () => {
    const tool = known(api)
    expect(tool.category).toBe('Execute')
    expect(classOfCall(tool, { method: 'GET', path: '/' })).toBe('Read')
    expect(classOfCall(tool, { method: 'POST', path: '/' })).toBe('Write')
    expect(classOfCall(tool, { method: 'DELETE', path: '/' })).toBe('Destructive')
    expect(classOfCall(tool, { method: 'get', path: '/' })).toBeUndefined()
    expect(classOfCall(tool, { method: ['GET'], path: '/' })).toBeUndefined()
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
    expect(classOfCall(tool, { action: 'place' })).toBeUndefined()
    expect(classOfCall(tool, { action: 'list' })).toBe('Read')
  })

  test('is never read from a program', () => {
    expect(dependsOn(shell)).toEqual([{ argument: 'command', kind: 'program' }])
    expect(classOfCall(known(shell), { command: 'ls' })).toBeUndefined()
  })

  test('is not settled for a tool whose arguments decide nothing', () => {
    expect(classOfCall(known({ server: 'a', name: 'get_b' }), { anything: 1 })).toBeUndefined()
  })
})

import { describe, expect, test } from 'vitest'
import { classOfCall, dependsOn } from './call-class.ts'

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

describe('the class of a call', () => {
  test('is Read for a statement that certainly only reads, and else not settled', () => {
    const depends = dependsOn(run)
    expect(classOfCall(depends, { sql: 'select 1' })).toBe('Read')
    expect(classOfCall(depends, { sql: 'delete from t' })).toBeUndefined()
    expect(classOfCall(depends, { sql: 'select 1; drop table t' })).toBeUndefined()
    expect(classOfCall(depends, {})).toBeUndefined()
  })

  test('follows the HTTP method, exactly as declared', () => {
    const depends = dependsOn(api)
    expect(classOfCall(depends, { method: 'GET', path: '/' })).toBe('Read')
    expect(classOfCall(depends, { method: 'DELETE', path: '/' })).toBe('Destructive')
    expect(classOfCall(depends, { method: 'get', path: '/' })).toBeUndefined()
    expect(classOfCall(depends, { method: ['GET'], path: '/' })).toBeUndefined()
  })

  test('is never read from a program', () => {
    expect(dependsOn(shell)).toEqual([{ argument: 'command', kind: 'program' }])
    expect(classOfCall(dependsOn(shell), { command: 'ls' })).toBeUndefined()
  })

  test('is not settled for a tool whose arguments decide nothing', () => {
    expect(classOfCall([], { anything: 1 })).toBeUndefined()
  })
})

// A POST before it goes anywhere: which generation it is of, and every way in which headers and body can
// tell two stories.

import type { JsonRpcMessage, JsonRpcRequest } from '@sluice/protocol/message'
import { META, STATELESS_REVISION } from '@sluice/protocol/protocol-generation'
import { readMessages } from '@sluice/protocol/read-message'
import { describe, expect, test } from 'vitest'
import {
  findHeaderBodyMismatch,
  isStatelessPost,
  paramHeaders,
  rejectStatelessPost,
  rejectWrongGeneration,
} from './stateless-request.ts'

const OWN = { [META.version]: STATELESS_REVISION, [META.capabilities]: {} }

function request(method: string, params: object = {}, meta: object = OWN): JsonRpcRequest {
  const message = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }
  const read = readMessages(JSON.stringify(message), { batches: false })
  if (!read.ok) throw new Error(read.message)
  return read.messages[0] as JsonRpcRequest
}

const call = (name = 'a') => request('tools/call', { name })
const HEADERS = {
  'mcp-protocol-version': STATELESS_REVISION,
  'mcp-method': 'tools/call',
  'mcp-name': 'a',
}

function codeOf(headers: Record<string, string | undefined>, asked = call()): number | undefined {
  const given = Object.entries({ ...HEADERS, ...headers }).filter(([, text]) => text !== undefined)
  return rejectStatelessPost(Object.fromEntries(given), asked)?.errorCode
}

describe('which generation a POST is of', () => {
  const notification: JsonRpcMessage = {
    kind: 'notification',
    method: 'notifications/cancelled',
    params: undefined,
    source: '',
  }

  test('by its header, or by what a request carries', () => {
    const older = request('tools/list', {}, {})
    expect(isStatelessPost({}, [older])).toBe(false)
    expect(isStatelessPost({ 'mcp-protocol-version': '2025-06-18' }, [older])).toBe(false)
    expect(isStatelessPost({ 'mcp-protocol-version': STATELESS_REVISION }, [older])).toBe(true)
    expect(isStatelessPost({ 'mcp-protocol-version': 'nonsense' }, [notification])).toBe(true)
    expect(isStatelessPost({}, [call()])).toBe(true)
    // The mark of one generation in the header and of the other in the body: they are compared then.
    expect(isStatelessPost({ 'mcp-protocol-version': '2025-11-25' }, [notification, call()])).toBe(
      true,
    )
  })

  test('a request of one generation is none in a conversation of the other', () => {
    expect(rejectWrongGeneration('session', call())?.errorCode).toBe(-32600)
    expect(rejectWrongGeneration('session', request('tools/list', {}, {}))).toBeUndefined()
    expect(rejectWrongGeneration('stateless', call())).toBeUndefined()
    expect(rejectWrongGeneration('stateless', request('tools/list', {}, {}))?.errorCode).toBe(
      -32602,
    )
  })
})

describe('headers and body', () => {
  test('of a session: none are wanted, those that are there say the same', () => {
    const asked = request('tools/call', { name: 'a' }, {})
    const isRefused = (headers: object, messages: JsonRpcMessage[] = [asked]) =>
      findHeaderBodyMismatch({ ...headers }, messages) !== undefined
    expect(isRefused({})).toBe(false)
    expect(isRefused({ 'mcp-method': 'tools/call', 'mcp-name': '=?base64?YQ==?=' })).toBe(false)
    expect(isRefused({ 'mcp-method': 'tools/list' })).toBe(true)
    expect(isRefused({ 'mcp-name': 'b' })).toBe(true)
    expect(isRefused({ 'mcp-name': '=?base64?!?=' }, [request('tools/list', {}, {})])).toBe(true)
    expect(isRefused({ 'mcp-method': 'tools/call' }, [asked, asked])).toBe(true)
    const answer = { kind: 'answer', id: 1, result: '{}', error: undefined, source: '' } as const
    expect(isRefused({ 'mcp-method': 'tools/call' }, [answer])).toBe(true)
  })

  test('that say the same pass', () => {
    expect(codeOf({})).toBeUndefined()
    expect(codeOf({ 'mcp-name': '=?base64?YQ==?=' })).toBeUndefined()
    const read = request('resources/read', { uri: 'a:ü' })
    const uri = `=?base64?${Buffer.from('a:ü').toString('base64')}?=`
    expect(codeOf({ 'mcp-method': 'resources/read', 'mcp-name': uri }, read)).toBeUndefined()
    const list = request('tools/list')
    expect(codeOf({ 'mcp-method': 'tools/list', 'mcp-name': undefined }, list)).toBeUndefined()
  })

  test.each<[string, Record<string, string | undefined>]>([
    ['no version', { 'mcp-protocol-version': undefined }],
    ['another version', { 'mcp-protocol-version': '2025-11-25' }],
    ['no method', { 'mcp-method': undefined }],
    ['another method', { 'mcp-method': 'tools/list' }],
    ['a method in another case', { 'mcp-method': 'Tools/Call' }],
    ['a method in base64, which it never is', { 'mcp-method': '=?base64?dG9vbHMvY2FsbA==?=' }],
    ['two methods', { 'mcp-method': 'tools/call, tools/call' }],
    ['no name', { 'mcp-name': undefined }],
    ['another name', { 'mcp-name': 'b' }],
    ['two names', { 'mcp-name': 'a, a' }],
    ['a name in another case', { 'mcp-name': 'A' }],
    ['a name that is no base64', { 'mcp-name': '=?base64?YQ?=' }],
  ])('that do not are refused as the protocol says: %s', (_, headers) => {
    expect(codeOf(headers)).toBe(-32020)
  })

  test('a name where the method has none', () => {
    expect(codeOf({ 'mcp-method': 'tools/list' }, request('tools/list'))).toBe(-32020)
  })

  test('what is missing, or of no version that is spoken', () => {
    const bare = request('tools/call', { name: 'a' }, { [META.version]: STATELESS_REVISION })
    expect(codeOf({}, bare)).toBe(-32602)
    const later = request('tools/call', { name: 'a' }, { ...OWN, [META.version]: '2030-01-01' })
    expect(codeOf({ 'mcp-protocol-version': '2030-01-01' }, later)).toBe(-32022)
    expect(codeOf({}, request('tools/call', { name: 'a' }, {}))).toBe(-32602)
  })

  test('those that repeat arguments are found by their names', () => {
    const headers = { 'mcp-param-a': '1', 'mcp-name': 'x', accept: 'y' }
    expect([...paramHeaders(headers)]).toEqual([['mcp-param-a', '1']])
  })
})

// Every code of the wire and of decisions has a number, and the numbers that peers see are fixed.

import { ERRORS as DECISIONS } from '@sluice/policy/calls/errors'
import { expect, test } from 'vitest'
import { ERRORS, type WireErrorCode } from './json/errors.ts'
import { type LocalCode, RPC, toRpcCode } from './rpc-codes.ts'

test('pinned: the numbers', () => {
  expect(RPC).toEqual({
    parse: -32700,
    invalidRequest: -32600,
    methodNotFound: -32601,
    invalidParams: -32602,
    internal: -32603,
    resourceNotFound: -32002,
    headerMismatch: -32020,
    urlElicitationRequired: -32042,
    missingCapability: -32021,
    unsupportedVersion: -32022,
    denied: -31001,
    limited: -31002,
    approvalRequired: -31003,
    frozen: -31004,
  })
})

test('every local code has one', () => {
  const numbers = Object.values(RPC)
  for (const code of [...Object.keys(ERRORS), ...Object.keys(DECISIONS), 'POLICY_FAULT'])
    expect(numbers).toContain(toRpcCode(code as LocalCode))
})

test.each<[WireErrorCode, number]>([
  ['WIRE_SYNTAX', -32700],
  ['WIRE_UTF8', -32700],
  ['WIRE_DOUBLED_KEY', -32600],
  ['WIRE_BATCH', -32600],
  ['WIRE_PARAMS', -32602],
])('%s is %d', (code, number) => {
  expect(toRpcCode(code)).toBe(number)
})

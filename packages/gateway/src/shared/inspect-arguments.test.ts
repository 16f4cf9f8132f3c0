// Long arguments are looked through before the call is decided, in slices, and only for what a rule reads.

import { findCanary } from '@sluice/guard/find-canary'
import { compile } from '@sluice/policy/compile/compile'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { ExactNumber, type JsonObject } from '@sluice/policy/values/json'
import { expect, test } from 'vitest'
import { IS_FULL } from '../../../../test/support/runs.ts'
import {
  argumentsHoldNumber,
  argumentsHoldSecret,
  findCanaryInCall,
  hasLongMembers,
  inspectArguments,
  sentBeside,
} from './inspect-arguments.ts'

const KEY = `gl${'pat'}-a1B2c3D4e5F6g7H8i9J0`
const CANARY = 'AKIA-PLANTED-0042-XYZ'
const PADDING = 'plain words of a text '.repeat(5_000)

function policyOf(rules: string): CompiledPolicy {
  const { policy } = compile({ file: 'p', text: `version: 1\ndefault: deny\n${rules}` })
  if (policy === undefined) throw new Error('it compiles')
  return policy
}

const callOf = (args: JsonObject) => ({ server: 's', method: 'tools/call', name: 't', args })
const paramsOf = (args: JsonObject) => ({
  value: { arguments: args },
  text: new Map([['arguments', JSON.stringify(args)]]),
})

test('what was found before decides, and short arguments are looked through when a rule asks', async () => {
  const policy = policyOf(
    `tools:\n  "*/*": { action: allow, when: "!call.secret && !call.iban" }\ncanaries: { one: ${CANARY} }`,
  )
  const args: Record<string, string> = {
    a: PADDING,
    b: KEY,
    c: Buffer.from(CANARY).toString('hex'),
  }
  expect(hasLongMembers(paramsOf(args))).toBe(true)
  expect(hasLongMembers(paramsOf({ a: KEY }))).toBe(false)
  await inspectArguments(callOf(args), paramsOf(args), policy)
  // Nobody looks again.
  for (const name of Object.keys(args)) args[name] = 'nothing'
  expect(argumentsHoldSecret(args, undefined)).toBe(true)
  expect(argumentsHoldNumber(args, undefined, 'iban')).toBe(false)
  expect(findCanaryInCall(callOf(args), null, policy.canaries)).toBe('one')
  // What was not looked for is.
  expect(argumentsHoldNumber({ a: 'DE89370400440532013000' }, undefined, 'iban')).toBe(true)
  expect(
    findCanaryInCall(callOf(args), null, new Map([['other', 'nothing at all']])),
  ).toBeUndefined()
})

test('a policy that reads nothing of them waits for nothing', () => {
  const args = { a: PADDING }
  const policy = policyOf('tools: { "*/*": allow }')
  expect(inspectArguments(callOf(args), paramsOf(args), policy)).toBeUndefined()
})

/** Characters before it, around the places where a text is cut. */
const BEFORE = [0, 32_760, 28_660, 32_768]

test('a planted value is found wherever it stands in a long text, and in any spelling', () => {
  const canaries = new Map([['one', CANARY]])
  const escaped = [...CANARY].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')
  const spellings = [CANARY, CANARY.toLowerCase(), escaped, Buffer.from(CANARY).toString('base64')]
  for (const spelling of spellings)
    for (const before of spelling === CANARY || IS_FULL ? [...BEFORE, 3_000_000] : BEFORE) {
      const value = { a: `${'%41 '.repeat(before / 4)}${spelling} and more` }
      expect([spelling, before, findCanary(value, canaries)]).toEqual([spelling, before, 'one'])
    }
  // Cut into pieces, also behind and before long texts.
  const [one, other] = [CANARY.slice(0, 9), CANARY.slice(9)]
  for (const value of [
    [one, other],
    [PADDING + one, other],
    [one, other + PADDING],
  ])
    expect(findCanary(value, canaries)).toBe('one')
  expect(findCanary([PADDING + one, PADDING + other], canaries)).toBeUndefined()
})

test('a planted value is found as a number, in folded dumps, and beside the arguments', () => {
  const canaries = new Map([
    ['one', CANARY],
    ['account', '400123456789'],
  ])
  const fold = (text: string, width: number) => text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []
  const hex = Buffer.from(CANARY).toString('hex')
  for (const value of [
    400123456789,
    new ExactNumber('40012345678900000001'),
    [400123, 456789],
    fold(Buffer.from(`some words before ${CANARY}`).toString('base64'), 20).join('\n'),
    fold(hex, 2).join(' '),
    fold(hex, 2).join(':'),
  ])
    expect([value, findCanary({ value }, canaries)]).not.toContain(undefined)
  const params = { value: { arguments: {}, name: 't', extra: [CANARY] }, text: new Map() }
  expect(findCanaryInCall(callOf({}), sentBeside(params), canaries)).toBe('one')
  expect(argumentsHoldSecret({}, { value: { extra: KEY }, text: new Map() })).toBe(true)
})

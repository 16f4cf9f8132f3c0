// `views` of sluice.yaml: what is read, and what is said of names that tools cannot have.

import { expect, test } from 'vitest'
import { readConfig } from './config.ts'

function read(views: string) {
  const text = `version: 1\nservers: { crm: { command: [x] }, mail: { command: [x] } }\nviews:\n${views}\n`
  const { config, problems } = readConfig({ file: '/etc/sluice.yaml', text }, {})
  return { views: config?.views, problems }
}

const LONG = 'x'.repeat(50)

test('a view has its tools and their names', () => {
  const { views, problems } = read(
    '  support: { tools: ["crm/*", mail/send], as: { mail/send: send_mail } }',
  )
  expect(problems).toEqual([])
  expect(views).toEqual({
    support: { tools: ['crm/*', 'mail/send'], as: { 'mail/send': 'send_mail' } },
  })
})

test.each([
  ['CRM: { tools: ["crm/*"] }', 'CRM', 'small letters'],
  ['support: { tools: [crm] }', 'crm', '`server/*`'],
  ['support: { tools: ["crm/*"], as: { crm/*: all } }', 'crm/*', '`server/tool`'],
  ['support: { tools: ["crm/*"], as: { crm/get: crm__get } }', 'crm__get', '`__`'],
  ['support: { tools: ["crm/*"], as: { crm/get: get it } }', 'get it', 'letters'],
  ['support: { tools: ["crm/*"], as: { crm/a: get, crm/b: get } }', '`get`', 'of its own'],
  ['support: { tools: ["crm/*"], as: { crm/a: call_tool } }', '`call_tool`', 'another name'],
  [`support: { tools: ["crm/*"], as: { crm/a: ${LONG} } }`, '50 characters', 'at most 49'],
])('%s is an error with the value and what to do', (view, value, help) => {
  const { views, problems } = read(`  ${view}`)
  expect(views).toBeUndefined()
  expect(problems).toMatchObject([{ code: 'CONFIG_VIEW', severity: 'error', line: 4 }])
  expect(problems[0]?.message).toContain(value)
  expect(problems[0]?.help).toContain(help)
})

test.each([
  ['support: { tools: [crn/get] }', '`crn/get`', 'did you mean `crm/get`?'],
  ['support: { tools: [wiki/get] }', '`wiki/get`', 'servers are `crm`, `mail`'],
  ['support: { tools: [mail/send], as: { mail/sent: send } }', '`mail/sent`', '`mail/send`'],
])('%s is a warning', (view, value, help) => {
  const { views, problems } = read(`  ${view}`)
  expect(views).toHaveProperty('support')
  expect(problems).toMatchObject([{ code: 'CONFIG_VIEW', severity: 'warning', line: 4 }])
  expect(problems[0]?.message).toContain(value)
  expect(problems[0]?.help).toContain(help)
})

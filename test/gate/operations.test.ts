// What the control socket and `/api` answer, word by word: the answers on the wire are frozen, so they
// are compared with a recording (test/cases/operations.json). One gate in this process for all.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { ROLES } from '../../packages/access/src/identity/person.ts'
import { Page } from '../../packages/console/src/admin.test-support.ts'
import { startAdmin } from '../../packages/console/src/start-admin.ts'
import { readConfig } from '../../packages/gateway/src/config/config.ts'
import type { CommandRegistry } from '../../packages/gateway/src/front/socket/command-registry.ts'
import { createCommands } from '../../packages/gateway/src/operations/commands.ts'
import { OPERATIONS } from '../../packages/gateway/src/operations/table.ts'
import { runGate } from '../../packages/gateway/src/start/run-gate.ts'
import { compileDocuments, readDocuments } from '../../packages/gateway/src/state/documents.ts'
import { makePerson, PIN } from '../support/person.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { fixture } from '../support/start-gate.ts'

vi.setConfig({ testTimeout: 60_000 })

const folder = fileScratchDirectory()
const proof = { name: 'ann', pin: PIN }
const gone: (() => unknown)[] = []
afterAll(async () => {
  for (const end of gone) await end()
})

const SOCKET: Record<string, unknown>[] = [
  { do: 'first-pin', name: 'a b', pin: PIN },
  { do: 'first-pin', name: 'ben', pin: '1' },
  { do: 'first-pin', name: 'ben', pin: PIN },
  { do: 'people' },
  { do: 'approver-add', name: 'ben', proof, roles: ['approver'], groups: ['ops'], owns: ['ci'] },
  { do: 'approver-add', name: 'ben', proof },
  { do: 'approver-add', name: 'cem', proof, roles: ['king'] },
  { do: 'approver-add', name: 'cem', proof, groups: ['a b'] },
  { do: 'approver-add', name: 'bot', proof, token: true },
  { do: 'approver-add', name: 'bot2', proof, token: true, roles: ['admin'] },
  { do: 'approver-add', name: 'dan', proof, pin: 'another battery' },
  { do: 'change-pin', name: 'dan', proof, pin: 'one more battery' },
  { do: 'change-pin', name: 'nobody', proof, pin: 'one more battery' },
  { do: 'approver-remove', name: 'dan', proof },
  { do: 'approver-remove', name: 'dan', proof },
  { do: 'prove', what: 'login x', may: 'login', proof },
  { do: 'prove', what: 'login x', may: 'fly', proof },
  { do: 'freeze', server: 'nope' },
  { do: 'freeze', server: 'shop', principal: 'ci' },
  { do: 'freeze', server: 'shop', why: 'odd calls' },
  { do: 'freeze' },
  { do: 'freeze', principal: 'ci' },
  { do: 'freeze', agent: 'a1' },
  { do: 'thaw', proof, agent: 'a2' },
  { do: 'thaw', agent: 'a1' },
  { do: 'thaw', proof, agent: 'a1' },
  { do: 'thaw', proof: { name: 'ben', pin: PIN }, principal: 'ci' },
  { do: 'thaw', proof },
  { do: 'grant-add', name: 'ci', policy: 'nope', proof },
  { do: 'grant-add', name: 'local', policy: 'policy', proof },
  { do: 'grant-add', name: 'ci', policy: 'policy', proof, groups: ['a b'] },
  { do: 'grant-add', name: 'ci', policy: 'policy', proof, until: 'soon' },
  { do: 'grant-add', name: 'ci', policy: 'policy', proof, until: '2020-01-01' },
  {
    do: 'grant-add',
    name: 'ci',
    policy: 'policy',
    proof,
    slots: 2,
    groups: ['ops'],
    explain: true,
  },
  { do: 'grant-add', name: 'ci', policy: 'policy', proof },
  { do: 'grant-revoke', name: 'nobody', proof },
  { do: 'grant-revoke', name: 'ci', proof },
  { do: 'grant-revoke', name: 'ci', forget: true, proof },
  { do: 'pin-held' },
  { do: 'pin-accept', server: 'shop', proof },
  { do: 'pin-refuse', server: 'shop', name: 'x', why: 'no', proof },
  { do: 'apply' },
  { do: 'apply', digest: 'x', proof },
  { do: 'approvals' },
  { do: 'approvals', states: ['denied'], server: 'shop', principal: 'ci' },
  { do: 'approval', id: 'zzz' },
  { do: 'approval-decide', id: 'zzz', verdict: 'approve', proof },
  { do: 'approval-reveal', id: 'zzz', proof },
  { do: 'approval-lift', session: 's', server: 'shop', name: 'x', proof },
  { do: 'approval-end', id: 'zzz', proof },
  { do: 'sessions' },
  { do: 'session-end', session: 'x', proof },
  { do: 'traces' },
  { do: 'traces-record', for: '3h', keep: '1h', proof },
  { do: 'traces-record' },
  { do: 'traces-stop' },
  { do: 'traces-export', id: 'x', proof },
  { do: 'traces-delete', id: 'x', proof },
  { do: 'status' },
  { do: 'nonsense' },
]

type Call = [how: 'ask' | 'prove', method: string, path: string, body?: unknown]

const HTTP: Call[] = [
  ['ask', 'GET', '/api/people'],
  ['ask', 'POST', '/api/people', { name: 'eva' }],
  ['prove', 'POST', '/api/people', { name: 'eva', roles: ['approver'], groups: ['ops'] }],
  ['prove', 'POST', '/api/people', { name: 'eva' }],
  ['prove', 'POST', '/api/people', { name: 'bot3', token: true }],
  ['prove', 'DELETE', '/api/people/eva'],
  ['prove', 'DELETE', '/api/people/eva'],
  ['ask', 'GET', '/api/freeze'],
  ['ask', 'POST', '/api/freeze', { server: 'nope' }],
  ['ask', 'POST', '/api/freeze', { server: 'shop', why: 'odd' }],
  ['ask', 'POST', '/api/thaw', { server: 'shop' }],
  ['prove', 'POST', '/api/thaw', { server: 'shop' }],
  ['prove', 'POST', '/api/thaw', { server: 'shop' }],
  ['ask', 'GET', '/api/grants'],
  ['prove', 'POST', '/api/grants', { name: 'ci', policy: 'nope' }],
  ['prove', 'POST', '/api/grants', { name: 'ci', policy: 'policy', slots: 3, explain: true }],
  ['prove', 'POST', '/api/grants', { name: 'ci', policy: 'policy' }],
  ['ask', 'GET', '/api/grants'],
  ['prove', 'DELETE', '/api/grants/ci'],
  ['prove', 'DELETE', '/api/grants/ci?forget=true'],
  ['ask', 'GET', '/api/pins'],
  ['prove', 'POST', '/api/pins/accept', { server: 'shop', name: 'x', digest: 'y' }],
  ['ask', 'POST', '/api/pins/refuse', { server: 'shop', name: 'x', digest: 'y', why: 'no' }],
  ['ask', 'GET', '/api/approvals'],
  ['ask', 'GET', '/api/approvals?states=pending,denied&server=shop&limit=5'],
  ['ask', 'GET', '/api/approvals/zzz'],
  ['prove', 'POST', '/api/approvals/zzz/verdict', { verdict: 'approve' }],
  ['prove', 'POST', '/api/approvals/zzz/reveal', {}],
  ['ask', 'GET', '/api/standing'],
  ['ask', 'DELETE', '/api/standing/zzz'],
  ['prove', 'POST', '/api/barred/lift', { session: 's', server: 'shop', name: 'x' }],
  ['ask', 'GET', '/api/settings'],
  ['ask', 'GET', '/api/policy'],
  ['ask', 'GET', '/api/policy/versions'],
]

/** Refused before anything is done: by its status alone, for the words may become better. */
const MALFORMED: Call[] = [
  ['ask', 'POST', '/api/freeze', { serverr: 'shop' }],
  ['ask', 'POST', '/api/freeze', { server: 7 }],
  ['ask', 'POST', '/api/freeze', []],
  ['prove', 'POST', '/api/people', {}],
  ['prove', 'POST', '/api/people', { name: 'x', roles: ['king'] }],
  ['prove', 'POST', '/api/grants', { name: 'x' }],
  ['prove', 'POST', '/api/grants', { name: 'x', policy: 'policy', slots: 'many' }],
  ['prove', 'DELETE', '/api/grants/ci?forget=perhaps'],
  ['prove', 'POST', '/api/approvals/zzz/verdict', { verdict: 'perhaps' }],
  ['prove', 'POST', '/api/approvals/zzz/verdict', { verdict: 'deny', comment: 7 }],
  ['ask', 'GET', '/api/approvals?states=odd'],
  ['ask', 'GET', '/api/approvals?limit=0'],
  ['ask', 'GET', '/api/approvals?what=1'],
  ['prove', 'POST', '/api/barred/lift', { session: 's' }],
  ['prove', 'POST', '/api/pins/accept', { server: 'shop' }],
]

test('the answers are as recorded', async () => {
  writeFileSync(join(folder, 'policy.yaml'), 'version: 1\ndefault: allow\n')
  const text = JSON.stringify({
    version: 1,
    listen: '127.0.0.1:0',
    data: './data',
    policy: './policy.yaml',
    servers: { shop: fixture('echo') },
  })
  const { config } = readConfig({ file: join(folder, 'sluice.yaml'), text }, {})
  const { compiled } = compileDocuments(readDocuments(config!))
  await makePerson(join(folder, 'data'), 'ann', ROLES)
  let words: CommandRegistry | undefined
  const gate = await runGate(config!, compiled!, {
    piped: false,
    log: () => {},
    startAdmin: (parts) => startAdmin(parts),
    control: (parts) => {
      words = createCommands(parts)
      return words
    },
  })
  gone.push(() => gate.stop())
  const say = async (request: Record<string, unknown>): Promise<unknown> =>
    words!.run(String(request.do), request as never).catch(({ message, help }) => ({
      message,
      help,
    }))
  const socket: unknown[] = []
  for (const request of SOCKET) socket.push({ asked: request, said: await say(request) })
  const { url } = (await say({ do: 'console', proof })) as { url: string }
  const [base = '', code = ''] = url.split('/#code=')
  const page = new Page(base)
  await page.signIn(code)
  expect((await page.addPasskey(PIN)).status).toBe(200)
  const http: unknown[] = []
  const answered: [address: string, answer: unknown][] = []
  for (const [how, method, path, body] of HTTP) {
    const answer = await page[how](method, path, body)
    http.push({ asked: [how, method, path, body], said: answer })
    if (answer.status === 200) answered.push([`${method} ${path}`, answer.body])
  }
  const malformed: unknown[] = []
  for (const [how, method, path, body] of MALFORMED) {
    const { status, body: answer } = await page[how](method, path, body)
    malformed.push({ asked: [how, method, path, body], status, code: answer.error?.code })
  }
  const { paths } = (await page.ask('GET', '/api/openapi.json')).body as {
    paths: Record<string, Record<string, Record<string, unknown>>>
  }
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, row]) => `${method} ${path} ${row['x-role']} ${row['x-proof']}`,
    ),
  )
  for (const [address, answer] of answered)
    if (!NO_OPERATIONS.test(address))
      expect([address, findMisfits(answer, schemaFor(address, paths))]).toEqual([address, []])
  for (const { name, http: face, output } of OPERATIONS) {
    if (face === undefined) continue
    expect(output, `${name} describes its answer`).toBeDefined()
    const path = face.path.replace(/:(\w+)/g, '{$1}')
    expect(paths[path], `${name} is served at ${path}`).toHaveProperty(face.method.toLowerCase())
  }
  const answers = { socket, http, malformed, rows: rows.sort() }
  const recorded = plain(JSON.stringify(answers, null, 2))
  await expect(`${recorded}\n`).toMatchFileSnapshot('../cases/operations.json')
})

/** Rows that only the API has, and that describe no answer. */
const NO_OPERATIONS = /^GET \/api\/(pins|settings|policy)/

type JsonSchema = {
  readonly type?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
}

/** The schema of the answer, as the OpenAPI document has it; of an operation there is one. */
function schemaFor(
  address: string,
  paths: Record<string, Record<string, Record<string, unknown>>>,
): JsonSchema {
  const [method = '', path = ''] = address.split(/ |\?/)
  const template = Object.keys(paths).find(
    (each) => each === path || new RegExp(`^${each.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
  )
  const row = paths[template ?? '']?.[method.toLowerCase()] as {
    responses: { 200: { content?: { 'application/json': { schema: JsonSchema } } } }
  }
  const schema = row.responses[200].content?.['application/json'].schema
  if (schema === undefined) throw new Error(`${address} has no schema of its answer`)
  return schema
}

/** Where a value does not fit: enough of JSON Schema for what operations answer with. */
function findMisfits(value: unknown, schema: JsonSchema, at = ''): string[] {
  if (schema.anyOf !== undefined) {
    const tried = schema.anyOf.map((each) => findMisfits(value, each, at))
    return tried.find((misfits) => misfits.length === 0) ?? tried[0] ?? []
  }
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  const wanted = schema.type === 'integer' ? 'number' : schema.type
  if (wanted !== undefined && wanted !== kind) return [`${at} is ${kind}, not ${wanted}`]
  if (Array.isArray(value))
    return value.flatMap((each, index) => findMisfits(each, schema.items ?? {}, `${at}/${index}`))
  if (kind !== 'object' || schema.properties === undefined) return []
  const fields = value as Record<string, unknown>
  const missing = (schema.required ?? []).filter((name) => fields[name] === undefined)
  return [
    ...missing.map((name) => `${at}/${name} is missing`),
    ...Object.entries(fields).flatMap(([name, field]) => {
      const of = schema.properties?.[name]
      return of === undefined
        ? [`${at}/${name} is not described`]
        : findMisfits(field, of, `${at}/${name}`)
    }),
  ]
}

/** Without what differs from run to run. */
function plain(text: string): string {
  return (
    text
      .replaceAll(folder, '<folder>')
      .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"<time>"')
      .replace(/sluice_(sys_|code_)?[\w-]{20,}/g, 'sluice_$1<token>')
      .replace(/http:\/\/(localhost|127\.0\.0\.1):\d+/g, 'http://$1:<port>')
      .replace(/"(pid|upSeconds|atMs|bytes|records|commits|kept|created|news)": \d+/g, '"$1": 0')
      .replace(/"id": "[\w-]{16,}"/g, '"id": "<id>"')
      .replace(/"version": "[\d.]+"/g, '"version": "<version>"')
      // Of the machine: whether it has bubblewrap.
      .replace(/"(unconfined|sandbox)": "[^"]*"/g, '"$1": "<isolation>"')
      // The index is made in the background: it may not be there yet.
      .replace(/\{\s*"name": "ledger-index\.db",[^}]*\},\s*/g, '')
  )
}

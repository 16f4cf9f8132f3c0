// What the console is looked at with, in tests and for screenshots: a real gate with real servers and a
// scripted agent, people of two roles, and a page that is signed in with a passkey of a virtual
// authenticator.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json, text } from 'node:stream/consumers'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { SMTPServer } from 'smtp-server'
import { People } from '../../packages/access/src/identity/people/people.ts'
import { ROLES } from '../../packages/access/src/identity/person.ts'
import { askGate } from '../../packages/cli/src/connect/gate-socket.ts'
import { ensureConsole } from '../../scripts/build-console.ts'
import {
  fixture,
  type GateSpec,
  published,
  type RunningGate,
  type ServingGate,
  startGate,
  writeScript,
} from '../support/start-gate.ts'
import { type PastTraffic, writePastTraffic } from './past-traffic.ts'

export const PIN = '271828'
const PIN_COST = 2 ** 4

export const POLICY = `# What the agents of this desk may do.
version: 1
default: deny

categories:
  Read: allow # looking is free
  Write: { action: allow, rate_limit: { max: 30, window: 60 } }
  Execute: require_approval
  Destructive: deny
  Financial: require_approval

tools:
  # Notes are wanted, but not by the hundred.
  office/write_note: { action: allow, rate_limit: { max: 20, window: 1h } }
  office/delete_all:
    action: deny
    reason: nothing is deleted from here # ask the desk
  office/send_mail: { action: require_approval, approval: { wait: 50s, edit_args: true } }
  office/get_report: { action: require_approval, approval: { separate_duties: true } }
  office/create_payment: { action: allow, when: args.amount <= 50, otherwise: require_approval }
  agents/*: { action: allow, over: [Write, Execute, Destructive] }
  code/run_code: allow
  desk/*: allow
  memory/delete_entities: hide

guardrails:
  - name: large-payments
    match: { tools: [office/create_payment] }
    when: args.amount > 6000
    action: require_approval
`

const FIRST = { name: 'look_up', description: 'Looks a word up in the desk’s glossary.' }
export const HOSTILE = {
  name: 'helpful_tool',
  description: `<img src=x onerror="window.harmed = 1"><script>window.harmed = 1</script>\u202Eevil\u202C tag:\u{E0069}\u{E0067} zero\u200Bwidth ${'A'.repeat(30_000)}`,
}

const TURNS = [
  {
    text: 'I will plan first.',
    toolCalls: [
      {
        name: 'write_todos',
        input: {
          todos: [
            { content: 'read the report', status: 'in_progress' },
            { content: 'write a note', status: 'pending' },
            { content: 'tell the desk', status: 'pending' },
          ],
        },
      },
    ],
    usage: { inputTokens: 420, outputTokens: 60 },
  },
  {
    text: 'The report is short.',
    // Long enough for a page to show the todos as they were before.
    delayMs: 1_500,
    toolCalls: [
      {
        name: 'write_file',
        input: { path: 'notes/report.md', content: '# Report\n\nAll is well.\n' },
      },
      { name: 'office__write_note', input: { text: 'the report is in' } },
    ],
    usage: { inputTokens: 640, outputTokens: 90 },
  },
  {
    toolCalls: [
      { name: 'office__delete_all', input: { all: true } },
      {
        name: 'write_todos',
        input: {
          todos: [
            { content: 'read the report', status: 'completed' },
            { content: 'write a note', status: 'completed' },
            { content: 'tell the desk', status: 'in_progress' },
          ],
        },
      },
    ],
    usage: { inputTokens: 800, outputTokens: 70 },
  },
  { text: 'The note is written; deleting was refused, and that is right.' },
  { text: 'Nothing else to do.' },
]

export interface JsonAlert {
  readonly type: string
  readonly id: string
  readonly kind: string
  readonly state: 'raised' | 'over'
  readonly title: string
  readonly facts: readonly { readonly name: string; readonly value: string }[]
  readonly url?: string
}

export interface Stage {
  readonly gate: RunningGate
  readonly spec: GateSpec
  /** With a name: `localhost`, which passkeys need. */
  readonly url: string
  /** The file that the server `desk` lists its tools from. */
  readonly desk: string
  /** That its webhook received. */
  readonly alerts: readonly JsonAlert[]
  /** That its mail server received, whole. */
  readonly mails: readonly string[]
}

export interface StageOptions {
  readonly policy?: string
  readonly past?: PastTraffic
  /** `all`: one process of each server for all sessions. */
  readonly share?: 'all'
  /** Further keys of sluice.yaml. */
  readonly config?: object
}

export async function setStage({
  policy = POLICY,
  past,
  share,
  config,
}: StageOptions = {}): Promise<Stage> {
  if (!(await ensureConsole())) throw new Error('the console could not be built')
  const folder = mkdtempSync(join(tmpdir(), 'sluice-stage-'))
  const desk = join(folder, 'desk.json')
  writeFileSync(desk, JSON.stringify([FIRST, HOSTILE].map(asTool)))
  const { alerts, mails, approvals } = await receiveMessages()
  const shared = share === undefined ? {} : { share }
  const spec: GateSpec = {
    servers: {
      office: { ...fixture('office', join(folder, 'office.log')), ...shared },
      desk: fixture('shifty', desk),
      memory: { ...published('memory'), ...shared },
      agents: { builtin: 'agents' },
      code: { builtin: 'code' },
    },
    policy,
    config: {
      api: { change_servers: true },
      approvals,
      alerts: {},
      agents: { prices: { 'script:report': { input: 3, output: 15 } } },
      ...config,
    },
  }
  const home = mkdtempSync(join(tmpdir(), 'sluice-gate-'))
  if (past !== undefined) {
    mkdirSync(join(home, 'data'), { mode: 0o700 })
    writePastTraffic(join(home, 'data'), past)
  }
  const gate = await startGate({ ...spec, folder: home })
  writeScript(gate.data, 'report', TURNS)
  await addAda(gate)
  return { gate, spec, url: namedUrl(gate), desk, alerts, mails }
}

/** The proof is real; only its cost is low, as it is given a dozen times. */
export async function addAda({ data }: Pick<ServingGate, 'data'>): Promise<void> {
  const people = People.open(data, { pinCost: PIN_COST })
  const ada = {
    name: 'ada',
    kind: 'person',
    roles: [...ROLES],
    groups: [],
    owns: ['local'],
  } as const
  await people.setFirst(ada, PIN, Date.now())
  people.close()
}

export function namedUrl({ url }: Pick<ServingGate, 'url'>): string {
  return url.replace('127.0.0.1', 'localhost')
}

/** A webhook and a mail server of their own, and the key `approvals` of sluice.yaml that names them. */
export async function receiveMessages(): Promise<{
  readonly alerts: JsonAlert[]
  readonly mails: string[]
  readonly approvals: object
}> {
  const { alerts, url } = await receiveAlerts()
  const { mails, port } = await receiveMails()
  const approvals = {
    webhook: { url, secret: 'of the stage, long enough' },
    email: {
      host: '127.0.0.1',
      port,
      tls: 'none',
      from: 'gate@example.com',
      to: { ada: 'ada@example.com' },
    },
  }
  return { alerts, mails, approvals }
}

async function receiveAlerts(): Promise<{ alerts: JsonAlert[]; url: string }> {
  const alerts: JsonAlert[] = []
  const server = createServer(async (request, response) => {
    const message = (await json(request)) as JsonAlert
    if (message.type === 'alert') alerts.push(message)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return { alerts, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

/** An SMTP server of its own. */
async function receiveMails(): Promise<{ mails: string[]; port: number }> {
  const mails: string[] = []
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, _, done) =>
      void text(stream).then((mail) => {
        mails.push(mail)
        done()
      }, done),
  })
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
  smtp.server.unref()
  return { mails, port: (smtp.server.address() as AddressInfo).port }
}

/** The gate again at the same address, with the same data; it was stopped. */
export async function restart({ gate, spec, ...rest }: Stage): Promise<Stage> {
  const again = { ...spec, folder: gate.folder, arguments: ['--port', new URL(gate.url).port] }
  return { gate: await startGate(again), spec, ...rest }
}

export function asTool(tool: { name: string; description: string }): object {
  return { ...tool, inputSchema: { type: 'object', properties: { word: { type: 'string' } } } }
}

// biome-ignore lint/suspicious/noExplicitAny: taken apart by the test
export async function ask(gate: ServingGate, request: Record<string, unknown>): Promise<any> {
  return askGate(gate.data, request as never)
}

/** What signs in a request to the API. */
export async function getToken(gate: ServingGate): Promise<string> {
  const { url } = await ask(gate, { do: 'console', proof: { name: 'ada', pin: PIN } })
  const code = new URLSearchParams(new URL(String(url)).hash.slice(1)).get('code')
  const response = await fetch(`${gate.url}/api/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  return ((await response.json()) as { token: string }).token
}

/** A page signed in as a person, with a passkey where they may decide. */
export async function signedIn(
  browser: Browser,
  { gate, url }: Pick<Stage, 'gate' | 'url'>,
  { name = 'ada', pin = PIN, path = '/', options = {} as BrowserContextOptions } = {},
): Promise<{ page: Page; faults: string[] }> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  const faults = watchFaults(page)
  await addAuthenticator(page)
  const { url: consoleUrl } = await ask(gate, { do: 'console', proof: { name, pin } })
  const code = new URL(String(consoleUrl)).hash
  await page.goto(`${url}${path}${code}`)
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  return { page, faults }
}

/** What breaks in the page, or is refused by its own rules, from now on. */
export function watchFaults(page: Page): string[] {
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  page.on('response', async (response) => {
    if (response.status() < 500) return
    faults.push(`${response.url()}: ${await response.text().catch(() => '')}`)
  })
  return faults
}

/** A passkey's device that is always touched at once. */
export async function addAuthenticator(page: Page): Promise<void> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

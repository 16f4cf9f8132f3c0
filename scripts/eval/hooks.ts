// `npm run eval -- hooks [--client NAME] [--case NAME]`: the published coding agents, in pinned versions, with the hooks that `sluice init`
// writes and a model on loopback that asks for one command, then what hook-evasions.ts tries. Each case is
// judged by the file that it makes: it has to be there only if the gate let it pass.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { hashGrantToken, makeToken } from '../../packages/access/src/identity/callers/grant.ts'
import { writePlugin } from '../../packages/cli/src/init/files/json-hooks.ts'
import {
  CODING_CLIENTS as CLIENTS,
  HOOK_CLIENTS,
  type HookClient,
} from '../../packages/gateway/src/hooks/clients/table.ts'
import { findBoxAvailability } from '../../packages/gateway/src/isolation/boxes.ts'
import {
  CODING_CLIENTS,
  findCodingClient,
  runClient,
  startOptions,
  TRIED_CLIENTS,
  type TriedClient,
} from '../../test/support/coding-clients.ts'
import { type FakeModel, startFakeModel } from '../../test/support/fake-model.ts'
import { ROOT } from '../../test/support/modules.ts'
import { ADA, endOwnGates, type OwnGate, ownGate } from '../../test/support/own-gate.ts'
import type { RunOptions } from '../dispatch.ts'
import { runBoxSession, runOtherHooks, runSkill } from './hook-box.ts'
import { EVASIONS, type Evasion } from './hook-evasions.ts'
import { type Lease, tryLease } from './hook-lease.ts'

const CASES = [
  'plain',
  'denied',
  'approved',
  'boxed',
  'killed',
  '500',
  'not JSON',
  'slow',
  'absent',
] as const
type Case = (typeof CASES)[number]
const PASSES: readonly Case[] = ['plain', 'approved', 'boxed']
/** What the hooks of each client prove with. */
export const TOKENS = new Map(HOOK_CLIENTS.map((client) => [client, makeToken()]))
/** Below the time that a slow gate takes. */
const ANSWER_SECONDS = 4

export async function run({ client: only, case: one }: RunOptions): Promise<number> {
  const clients = TRIED_CLIENTS.filter((client) => only === undefined || client === only)
  const model = await startFakeModel()
  const gate = await startRealGate()
  const boxing = await startRealGate(RULES, { sandbox: {} })
  const box = await findBoxAvailability()
  if (!box.ok) console.log(`boxes: not run, ${box.reason}`)
  const isWanted = (name: string) => one === undefined || name.startsWith(String(one))
  let wrong = 0
  const judge = (
    of: string,
    isMade: boolean,
    { may, output }: { may: boolean; output: string },
  ) => {
    const isRight = isMade === may
    if (!isRight) wrong++
    console.log(`${of}  ${isMade ? 'RAN' : 'did not run'}${isRight ? '' : `  WRONG\n${output}`}`)
  }
  for (const client of clients) {
    for (const version of CODING_CLIENTS[client].versions) {
      const program = findCodingClient(client, version)
      if (program === undefined) {
        console.log(`${client}: not run, it cannot be installed here`)
        continue
      }
      const tried = { client, version, program, model, gate, boxing }
      for (const name of CASES.filter(isWanted)) {
        if (name === 'boxed' && !CLIENTS[client].abilities.rewrites) continue
        const { isMade, output } = await runCase(tried, name)
        judge(`${client} ${version}  ${name}`, isMade, { may: PASSES.includes(name), output })
      }
      if (client === 'claude-code' && isWanted('lease')) {
        const { tests, asked, isEvil, output } = await runLease(tried)
        const isRight = tests === 5 && asked.length === 2 && !isEvil
        if (!isRight) wrong++
        const of = `${client} ${version}  lease: ${tests} of 5 lines ran, asked ${asked.join(' | ')}`
        console.log(`${of}${isRight ? '' : `  WRONG\n${output}`}`)
      }
      if (isWanted('box session') && box.ok && CLIENTS[client].abilities.rewrites) {
        const inBox = { client, version, program, model, gate: boxing }
        for (const { name, wrong: why } of [
          ...(await runBoxSession(inBox)),
          ...(CLIENTS[client].settings.plugin === undefined ? await runOtherHooks(inBox) : []),
          ...(client === 'claude-code' ? [await runSkill(inBox)] : []),
        ]) {
          if (why !== '') wrong++
          console.log(`${client} ${version}  box: ${name}${why === '' ? '' : `  WRONG\n${why}`}`)
        }
      }
      for (const evasion of EVASIONS.filter((each) => each.client === client)) {
        if (!isWanted(evasion.name)) continue
        const { isMade, output, why } = await runEvasion(tried, evasion)
        const { name, policy } = evasion
        const of = `${client} ${version}  ${name} (${policy}; ${why})`
        judge(of, isMade, { may: false, output })
      }
    }
  }
  model.close()
  await endOwnGates()
  console.log(wrong === 0 ? 'all as they should be' : `${wrong} wrong`)
  return wrong === 0 ? 0 : 1
}

interface EvasionRun {
  /** The file is there. */
  readonly isMade: boolean
  readonly output: string
  /** How the gate or the client answered the last call: without a call the case shows nothing. */
  readonly why: string
}

/** Against a gate with the rules of the case; whatever waits is refused. */
async function runEvasion(
  { client, version, program, model }: Omit<Tried, 'boxing'>,
  evasion: Evasion,
): Promise<EvasionRun> {
  const root = mkdtempSync(join(tmpdir(), 'sluice-evasion-'))
  const project = join(root, 'project')
  const gate = await startRealGate(policyOf(client, evasion))
  const { url: thief, server } = await standIn('thief')
  const refusing = decideAll(gate, 'deny')
  const held: string[] = []
  const noting = gate.approvals.watch(({ state, asks }) => {
    if (state === 'pending') held.push(asks.map(({ reason }) => reason).join())
  })
  try {
    mkdirSync(join(project, CLIENTS[client].settings.folder), { recursive: true })
    const script = evasion.isScriptGone === true ? join(root, 'gone/sluice-hook') : SCRIPT
    const url = `${gate.url}/hooks/${client}`
    writeSettings(client, { root, url, seconds: 40, version, script })
    evasion.prepare?.(root, thief)
    model.results.length = 0
    model.next = evasion.next
    const { args, env } = startOptions(client, { root, model: model.url })
    const allowed = args.map((word) => (word === 'Bash' ? 'Bash,Monitor,Skill' : word))
    const cwd = project
    const { output } = await runClient(program, allowed, {
      cwd,
      // Tools that are deferred are not called before they are found.
      env: { ...env, ENABLE_TOOL_SEARCH: 'false' },
    })
    const said = `${model.results.join('\n').slice(-2_000)}\n${output}`
    const [denied] = /(?:denied by policy|refused): [^."\\]*/.exec(model.results.join()) ?? []
    const answered = model.results.length === 0 ? 'no result' : 'not decided'
    const why = held.length > 0 ? `held: ${held.at(-1)}` : (denied ?? answered)
    return { isMade: existsSync(join(project, evasion.file)), output: said, why }
  } finally {
    model.next = undefined
    refusing()
    noting()
    server.close()
    await gate.stop()
    rmSync(root, { recursive: true, force: true })
  }
}

function policyOf(client: HookClient, { policy }: Evasion): string {
  if (policy === 'pack') {
    const file = join(ROOT, 'packages/cli/packs/coding-agent/policy.yaml')
    return readFileSync(file, 'utf8').replaceAll('coding-agent/', `${client}/`)
  }
  const [, text = ''] =
    /```yaml\n(version: 1\ndefault: deny[^`]*)```/.exec(
      readFileSync(join(ROOT, 'docs/how-to/hooks.md'), 'utf8'),
    ) ?? []
  return text
}

const RULES = `
version: 1
default: allow
guardrails:
  - { name: denied, match: { tools: ["*/Bash"] }, when: 'args.command.contains("denied")', action: deny }
  - { name: approved, match: { tools: ["*/Bash"] }, when: 'args.command.contains("approved")', action: require_approval }
  - { name: tests, match: { tools: ["*/Bash"] }, when: 'args.command.contains("npm test")', action: require_approval, approval: { wait: 3s } }
`

export async function startRealGate(policy = RULES, more: object = {}): Promise<OwnGate> {
  const grants = Array.from(TOKENS, ([client, token]) => {
    const hash = `sha256:${hashGrantToken(token)?.toString('hex')}`
    return [client, { hash, policy: 'policy', hooks: client }]
  })
  return ownGate({
    servers: Object.fromEntries(
      HOOK_CLIENTS.map((client) => [client, { builtin: client, ...more }]),
    ),
    policy,
    config: { grants: Object.fromEntries(grants) },
  })
}

interface Tried {
  readonly client: TriedClient
  readonly version: string
  readonly program: string
  readonly model: FakeModel
  readonly gate: OwnGate
  /** A gate whose clients have a sandbox. */
  readonly boxing: OwnGate
}

async function runCase(tried: Tried, name: Case) {
  const { client, version, program, model } = tried
  const gate = name === 'boxed' ? tried.boxing : tried.gate
  const root = mkdtempSync(join(tmpdir(), 'sluice-hooks-'))
  const file = join(root, 'project', name.replace(' ', '-'))
  const isReal = PASSES.includes(name) || name === 'denied'
  const stand = isReal ? undefined : await standIn(name)
  const url = `${stand?.url ?? gate.url}/hooks/${client}`
  const seconds = isReal ? 40 : ANSWER_SECONDS
  try {
    mkdirSync(join(root, 'project'))
    writeSettings(client, { root, url, seconds, version, script: SCRIPT })
    const outside = join(root, 'outside')
    // In a box the line makes the file of the project and not the one beside it.
    model.command = name === 'boxed' ? `touch ${file}; touch ${outside}` : `touch ${file}`
    const before = gate.log.length
    const approving = name === 'approved' ? decideAll(gate, 'approve') : undefined
    const { args, env } = startOptions(client, { root, model: model.url })
    const { output } = await runClient(program, args, { cwd: join(root, 'project'), env })
    approving?.()
    const noticed = gate.log.slice(before).filter((line) => line.startsWith('hooks: '))
    const isConfined = name !== 'boxed' || (!existsSync(outside) && noticed.length === 0)
    return { isMade: existsSync(file) && isConfined, output: [output, ...noticed].join('\n') }
  } finally {
    stand?.server.closeAllConnections()
    stand?.server.close()
    rmSync(root, { recursive: true, force: true })
  }
}

/** Against a gate where a person approves `npm test` once. */
async function runLease(tried: Tried): Promise<Lease & { readonly output: string }> {
  const { client, version, program, model, gate } = tried
  const root = mkdtempSync(join(tmpdir(), 'sluice-lease-'))
  const project = join(root, 'project')
  writeSettings(client, {
    root,
    url: `${gate.url}/hooks/${client}`,
    seconds: 40,
    version,
    script: SCRIPT,
  })
  const { args, env } = startOptions(client, { root, model: model.url })
  let output = ''
  try {
    const lease = await tryLease(project, { gate, model }, async () => {
      output = (await runClient(program, args, { cwd: project, env })).output
    })
    return { ...lease, output }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** Decides whatever waits, until the returned function is called. */
export function decideAll(gate: OwnGate, verdict: 'approve' | 'deny'): () => void {
  return gate.approvals.watch(({ id, state }) => {
    if (state === 'pending')
      setTimeout(() => void gate.approvals.decide(id, { verdict }, ADA, 'console'), 500)
  })
}

/** What stands in the gate's place before a tool; it has no opinion on anything else. */
async function standIn(name: Case | 'thief'): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const isBefore = /"(?:PreToolUse|BeforeTool|tool\.execute\.before)"/.test(
        Buffer.concat(chunks).toString(),
      )
      if (isBefore && name !== 'thief') misbehave(name, response)
      else response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  if (name === 'absent') server.close()
  return { url, server }
}

function misbehave(name: Case, response: ServerResponse): void {
  if (name === 'killed') response.destroy()
  else if (name === '500') response.writeHead(500).end('{}')
  else if (name === 'not JSON') response.writeHead(200).end('<html>')
}

/** What the files need beside the hooks. */
const OTHER_SETTINGS: Readonly<Partial<Record<HookClient, object>>> = {
  copilot: { version: 1 },
  gemini: { security: { auth: { selectedType: 'gemini-api-key' } } },
  qwen: { security: { auth: { selectedType: 'gemini' } } },
}

export interface WrittenSettings {
  readonly root: string
  readonly url: string
  /** After which a hook gives up. */
  readonly seconds: number
  readonly version: string
  readonly script: string
}

export const SCRIPT = join(ROOT, 'packages/cli/bin/sluice-hook')

/** The hooks of a client, as `sluice init --hooks --enforce` writes them, below the home folder `root`. */
export function writeSettings(
  client: HookClient,
  { root, url, seconds, version, script }: WrittenSettings,
): void {
  const { folder, file: name } = CLIENTS[client].settings
  const file = join(root, folder, name)
  const token = TOKENS.get(client) ?? ''
  const header = join(root, 'header')
  writeFileSync(header, `Authorization: Bearer ${token}\n`)
  const ask = `'${script}' '${url}' '${header}' ${seconds}`
  const hooks: Record<string, object[]> = {}
  const setup = { url, token, ask, start: 'true', blocks: true, version }
  const entries = CLIENTS[client].listEntries(setup)
  for (const [event, entry] of entries) hooks[event] = [limitHttp(entry, seconds)]
  const { plugin } = CLIENTS[client].settings
  const text =
    plugin === undefined
      ? JSON.stringify({ ...OTHER_SETTINGS[client], hooks })
      : writePlugin(readFileSync(join(dirname(SCRIPT), plugin), 'utf8'), entries)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** A client that asks by itself has the limit in its settings; a script has it in its line. */
function limitHttp(entry: object, seconds: number): object {
  const text = JSON.stringify(entry)
  if (!text.includes('"type":"http"')) return entry
  return JSON.parse(text.replaceAll('"timeout":60', `"timeout":${seconds}`))
}

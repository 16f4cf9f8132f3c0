// `npm run eval -- hooks [--client NAME] [--case NAME]`: the published coding agents, in pinned versions, with the hooks that `sluice init`
// writes and a model on loopback that asks for one command. Each case is judged by the file that the command
// makes: it has to be there only if the gate let it pass.

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { HOOK_CLIENTS, type HookClient } from '../../packages/sluice/src/hooks/hook-event.ts'
import { listHookEntries } from '../../packages/sluice/src/hooks/settings.ts'
import { hashGrantToken, makeToken } from '../../packages/sluice/src/identity/callers/grant.ts'
import { findCodingClient, runClient } from '../../test/support/coding-clients.ts'
import { type FakeModel, startFakeModel } from '../../test/support/fake-model.ts'
import { ROOT } from '../../test/support/modules.ts'
import { ADA, endOwnGates, type OwnGate, ownGate } from '../../test/support/own-gate.ts'
import type { RunOptions } from '../dispatch.ts'

const CASES = [
  'plain',
  'denied',
  'approved',
  'killed',
  '500',
  'not JSON',
  'slow',
  'absent',
] as const
type Case = (typeof CASES)[number]
const PASSES: readonly Case[] = ['plain', 'approved']
const TOKENS = new Map(HOOK_CLIENTS.map((client) => [client, makeToken()]))
/** Below the time that a slow gate takes. */
const ANSWER_SECONDS = 4

const FILES: Readonly<Record<HookClient, string>> = {
  'claude-code': '.claude/settings.json',
  codex: '.codex/hooks.json',
  copilot: '.copilot/hooks/sluice.json',
  gemini: '.gemini/settings.json',
}

export async function run({ client: only, case: one }: RunOptions): Promise<number> {
  const clients = HOOK_CLIENTS.filter((client) => only === undefined || client === only)
  const model = await startFakeModel()
  const gate = await startRealGate()
  let wrong = 0
  for (const client of clients) {
    const program = findCodingClient(client)
    if (program === undefined) {
      console.log(`${client}: not run, it cannot be installed here`)
      continue
    }
    for (const name of CASES.filter((each) => one === undefined || each === one)) {
      const { isMade, output } = await runCase({ client, program, model, gate }, name)
      const isRight = isMade === PASSES.includes(name)
      if (!isRight) wrong++
      console.log(
        `${client}  ${name}  ${isMade ? 'ran' : 'did not run'}${isRight ? '' : `  WRONG\n${output}`}`,
      )
    }
  }
  model.close()
  await endOwnGates()
  console.log(wrong === 0 ? 'all as they should be' : `${wrong} wrong`)
  return wrong === 0 ? 0 : 1
}

async function startRealGate(): Promise<OwnGate> {
  const grants = Array.from(TOKENS, ([client, token]) => {
    const hash = `sha256:${hashGrantToken(token)?.toString('hex')}`
    return [client, { hash, policy: 'policy', hooks: client }]
  })
  return ownGate({
    servers: Object.fromEntries(HOOK_CLIENTS.map((client) => [client, { builtin: client }])),
    policy: `
version: 1
default: allow
guardrails:
  - { name: denied, match: { tools: ["*/Bash"] }, when: 'args.command.contains("denied")', action: deny }
  - { name: approved, match: { tools: ["*/Bash"] }, when: 'args.command.contains("approved")', action: require_approval }
`,
    config: { grants: Object.fromEntries(grants) },
  })
}

interface Tried {
  readonly client: HookClient
  readonly program: string
  readonly model: FakeModel
  readonly gate: OwnGate
}

async function runCase({ client, program, model, gate }: Tried, name: Case) {
  const root = mkdtempSync(join(tmpdir(), 'sluice-hooks-'))
  const file = join(root, 'project', name.replace(' ', '-'))
  const isReal = PASSES.includes(name) || name === 'denied'
  const stand = isReal ? undefined : await standIn(name)
  const url = `${stand?.url ?? gate.url}/hooks/${client}`
  const seconds = isReal ? 40 : ANSWER_SECONDS
  try {
    mkdirSync(join(root, 'project'))
    writeSettings(client, { root, url, seconds })
    model.command = `touch ${file}`
    const approving = name === 'approved' ? approve(gate) : undefined
    const { args, env } = startOf(client, root, model.url)
    const { output } = await runClient(program, args, { cwd: join(root, 'project'), env })
    approving?.()
    return { isMade: existsSync(file), output }
  } finally {
    stand?.server.closeAllConnections()
    stand?.server.close()
    rmSync(root, { recursive: true, force: true })
  }
}

/** Approves whatever waits, until the returned function is called. */
function approve(gate: OwnGate): () => void {
  return gate.approvals.watch(({ id, state }) => {
    if (state === 'pending')
      setTimeout(() => void gate.approvals.decide(id, { verdict: 'approve' }, ADA, 'console'), 500)
  })
}

/** What stands in the gate's place before a tool; it has no opinion on anything else. */
async function standIn(name: Case): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const isBefore = /"(?:PreToolUse|BeforeTool)"/.test(Buffer.concat(chunks).toString())
      if (isBefore) misbehave(name, response)
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
}

interface WrittenSettings {
  readonly root: string
  readonly url: string
  /** After which a hook gives up. */
  readonly seconds: number
}

function writeSettings(client: HookClient, { root, url, seconds }: WrittenSettings): void {
  const file = join(root, FILES[client])
  const token = TOKENS.get(client) ?? ''
  const header = join(root, 'header')
  writeFileSync(header, `Authorization: Bearer ${token}\n`)
  const ask = `'${join(ROOT, 'packages/sluice/bin/sluice-hook')}' '${url}' '${header}' ${seconds}`
  const hooks: Record<string, object[]> = {}
  for (const [event, entry] of listHookEntries(client, {
    url,
    token,
    ask,
    start: 'true',
    blocks: true,
  }))
    hooks[event] = [entry]
  const text = JSON.stringify({ ...OTHER_SETTINGS[client], hooks })
  mkdirSync(dirname(file), { recursive: true })
  // Claude Code asks by itself, so the limit is in its settings.
  writeFileSync(
    file,
    client === 'claude-code' ? text.replaceAll('"timeout":60', `"timeout":${seconds}`) : text,
  )
}

/** How each client runs one prompt against the model, without questions of its own. */
function startOf(
  client: HookClient,
  root: string,
  model: string,
): { args: string[]; env: Record<string, string> } {
  const env = { HOME: root, XDG_STATE_HOME: join(root, 'state'), NO_COLOR: '1' }
  const prompt = 'Make the file'
  if (client === 'claude-code')
    return {
      args: ['-p', prompt, '--allowedTools', 'Bash'],
      env: {
        ...env,
        ANTHROPIC_BASE_URL: model,
        ANTHROPIC_API_KEY: 'sk-ant-test',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    }
  if (client === 'codex') {
    const provider = `model_providers.fake={name="fake",base_url="${model}/v1",env_key="FAKE_KEY",wire_api="responses"}`
    return {
      args: [
        'exec',
        '--skip-git-repo-check',
        '--dangerously-bypass-approvals-and-sandbox',
        '--dangerously-bypass-hook-trust',
        '-c',
        provider,
        '-c',
        'model_provider="fake"',
        '-m',
        'gpt-5',
        prompt,
      ],
      env: { ...env, CODEX_HOME: join(root, '.codex'), FAKE_KEY: 'x' },
    }
  }
  if (client === 'copilot')
    return {
      args: ['-p', prompt, '--allow-all-tools', '--allow-all-paths'],
      env: {
        ...env,
        COPILOT_HOME: join(root, '.copilot'),
        COPILOT_OFFLINE: 'true',
        COPILOT_PROVIDER_BASE_URL: model,
        COPILOT_PROVIDER_TYPE: 'anthropic',
        COPILOT_PROVIDER_API_KEY: 'x',
        COPILOT_MODEL: 'claude-sonnet-4.5',
      },
    }
  return {
    args: ['-p', prompt, '--yolo', '-m', 'gemini-2.5-pro'],
    env: {
      ...env,
      GEMINI_API_KEY: 'x',
      GOOGLE_GEMINI_BASE_URL: model,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    },
  }
}

// `npm run bench -- hooks [--count N] [--beside DIR]`: what a hook costs a client, from the request to the gate's answer: over a
// kept connection, as Claude Code asks, then for the question about the same call that the gate answers (`quiet: reads`),
// and by the script that other clients start. All alternate in one run. Then what a
// line costs, hook and shell together: as it comes, in the box of its session, and in the box after a snapshot.
// With --beside only the first, at this gate and at one of another checkout of this repository in turn.

import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashGrantToken, makeToken } from '../packages/access/src/identity/callers/grant.ts'
import { findBoxAvailability } from '../packages/gateway/src/isolation/boxes.ts'
import type { RunOptions } from '../scripts/dispatch.ts'
import { ROOT } from '../scripts/run-step.ts'
import { endGates, startGate } from '../test/support/start-gate.ts'
import { install, installBeside } from './gateway/sluice.ts'
import { sideBySide, table } from './side-by-side.ts'

/** Requests before the measurement: the code is compiled by then. */
const WARM = 300
/** Requests over HTTP for each start of the script. */
const HTTP_PER_SCRIPT = 40
/** Requests in one turn beside another checkout. */
const BESIDE_BATCH = 20

const POLICY = `version: 1
default: deny
categories: { Read: allow, Execute: require_approval }
tools: { "*/Bash": { action: allow, when: shell(args.command).reads(), over: [Execute] } }
`

export async function run({ count = '50', beside }: RunOptions): Promise<number> {
  if (typeof beside === 'string') return await measureBeside(beside, Number(count))
  const [claude, codex] = [makeToken(), makeToken()]
  const grant = (token: string, hooks: string) => ({
    hash: `sha256:${hashGrantToken(token)?.toString('hex')}`,
    policy: 'policy',
    hooks,
  })
  const gate = await startGate({
    servers: { 'claude-code': { builtin: 'claude-code' }, codex: { builtin: 'codex' } },
    policy: `${POLICY}quiet: reads\n`,
    config: { grants: { claude: grant(claude, 'claude-code'), codex: grant(codex, 'codex') } },
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const url = `${gate.url}/hooks/claude-code`
  const overHttp = (at: number) => ask(agent, url, claude, payload(at))
  for (let at = 0; at < WARM; at++) await overHttp(-at - 1)
  const header = join(gate.folder, 'header')
  writeFileSync(header, `Authorization: Bearer ${codex}\n`)
  const script = join(ROOT, 'packages/cli/bin/sluice-hook')
  const args = [`${gate.url}/hooks/codex`, header, '10', 'block']
  const http: number[] = []
  const questions: number[] = []
  const scripts: number[] = []
  for (let at = 0; at < Number(count); at++) {
    for (let one = 0; one < HTTP_PER_SCRIPT; one++) {
      const call = at * HTTP_PER_SCRIPT + one
      http.push(await timed(() => overHttp(call)))
      questions.push(
        await timed(async () => {
          const answer = await askFor(agent, url, claude, question(call))
          if (!answer.includes('allow')) throw new Error(answer)
        }),
      )
    }
    const input = payload(at)
    scripts.push(await timed(() => execFileSync(script, args, { input })))
  }
  agent.destroy()
  await endGates()
  show('hook over HTTP', http)
  show('question answered', questions)
  show('hook by the script', scripts)
  await measureLines(Number(count))
  return 0
}

/** The same policy at both gates, without `quiet`: older gates do not know it. */
async function measureBeside(tree: string, turns: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const programs = [
    ['this', await install(folder, false)],
    ['beside', await installBeside(tree, folder)],
  ] as const
  const sides = await Promise.all(
    programs.map(async ([name, program]) => {
      const token = makeToken()
      const hash = `sha256:${hashGrantToken(token)?.toString('hex')}`
      const gate = await startGate({
        servers: { 'claude-code': { builtin: 'claude-code' } },
        policy: POLICY,
        config: { grants: { claude: { hash, policy: 'policy', hooks: 'claude-code' } } },
        program,
      })
      let calls = 0
      const run = async (count: number) => {
        for (let at = 0; at < count; at++)
          await ask(agent, `${gate.url}/hooks/claude-code`, token, payload(++calls))
      }
      await run(WARM)
      return { name, batch: BESIDE_BATCH, run }
    }),
  )
  console.log(table(await sideBySide(sides, turns)))
  agent.destroy()
  await endGates()
  rmSync(folder, { recursive: true, force: true })
  return 0
}

/** Files of the project, for snapshots. */
const PROJECT_FILES = 3_000

interface TimedShell {
  readonly name: string
  readonly line: string
  readonly boxed: boolean
  readonly times: number[]
}

async function measureLines(count: number): Promise<void> {
  const available = await findBoxAvailability()
  if (!available.ok) return console.log(`lines in a box: not measured, ${available.reason}`)
  const token = makeToken()
  const hash = `sha256:${hashGrantToken(token)?.toString('hex')}`
  const config = { grants: { claude: { hash, policy: 'policy', hooks: 'claude-code' } } }
  const policy = 'version: 1\ndefault: allow\n'
  const start = (more: object) =>
    startGate({ servers: { 'claude-code': { builtin: 'claude-code', ...more } }, policy, config })
  const [plain, boxing] = [await start({}), await start({ sandbox: {} })]
  const project = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  for (let at = 0; at < PROJECT_FILES; at++) {
    const folder = join(project, `folder${at % 30}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${at}.txt`), `${at}\n`)
  }
  const commit =
    'git init -q . && git add -A . && git -c user.name=a -c user.email=a@b commit -qm a'
  execFileSync('/bin/sh', ['-c', commit], { cwd: project })
  const shells: TimedShell[] = [
    { name: 'a line as it comes', line: 'git log -1', boxed: false, times: [] },
    { name: 'the same in the box', line: 'git log -1', boxed: true, times: [] },
    { name: 'a change as it comes', line: 'echo x > folder0/0.txt', boxed: false, times: [] },
    { name: 'the same after a snapshot', line: 'echo x > folder0/0.txt', boxed: true, times: [] },
  ]
  const agent = new Agent({ keepAlive: true, maxSockets: 2 })
  let calls = 0
  const run = async ({ line, boxed }: TimedShell) => {
    const url = `${boxed ? boxing.url : plain.url}/hooks/claude-code`
    const call = {
      session_id: 'lines',
      cwd: project,
      tool_name: 'Bash',
      tool_input: { command: line },
      tool_use_id: `toolu_line${++calls}`,
    }
    const before = { ...call, hook_event_name: 'PreToolUse' }
    const answer = JSON.parse(await askFor(agent, url, token, JSON.stringify(before)))
    const input = answer.hookSpecificOutput?.updatedInput ?? call.tool_input
    if (boxed !== input.command.includes('sluice-line')) throw new Error(JSON.stringify(answer))
    await runLine(input.command, project)
    return { call, input, url }
  }
  for (let at = -5; at < count; at++)
    for (const shell of shells) {
      const began = performance.now()
      const { call, input, url } = await run(shell)
      if (at >= 0) shell.times.push(performance.now() - began)
      const after = {
        ...call,
        tool_input: input,
        hook_event_name: 'PostToolUse',
        tool_response: {},
      }
      await askFor(agent, url, token, JSON.stringify(after))
    }
  agent.destroy()
  await endGates()
  rmSync(project, { recursive: true, force: true })
  for (const { name, times } of shells) show(name, times)
}

/** As a client does, without waiting for its output. */
function runLine(line: string, cwd: string): Promise<void> {
  const child = spawn('/bin/bash', ['-c', line], { cwd, stdio: 'ignore' })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${line}: ${code}`))))
  })
}

function question(at: number): string {
  const { tool_use_id: _, ...call } = JSON.parse(payload(at))
  const hook_event_name = 'PermissionRequest'
  return JSON.stringify({ ...call, hook_event_name, permission_suggestions: [] })
}

function payload(at: number): string {
  return JSON.stringify({
    session_id: `s${Math.floor(at / 50)}`,
    cwd: ROOT,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: `git status && ls packages | head -${Math.abs(at)}` },
    tool_use_id: `toolu_${at}`,
  })
}

async function ask(agent: Agent, url: string, token: string, body: string): Promise<void> {
  const text = await askFor(agent, url, token, body)
  if (text !== '{}') throw new Error(text)
}

function askFor(agent: Agent, url: string, token: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      'sluice-shell': ':/bin/bash',
    }
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('end', () => resolve(text))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

async function timed(work: () => unknown): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

function show(what: string, times: number[]): void {
  times.sort((one, other) => one - other)
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? 0).toFixed(2)
  console.log(
    `${what}: least ${at(0)} ms, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, of ${times.length}`,
  )
}

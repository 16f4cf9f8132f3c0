// `npm run bench -- hooks [--count N]`: what a hook costs a client, from the request to the gate's answer: over a
// kept connection, as Claude Code asks, and by the script that other clients start. Both alternate in one run.

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { hashGrantToken, makeToken } from '../packages/access/src/identity/callers/grant.ts'
import type { RunOptions } from '../scripts/dispatch.ts'
import { ROOT } from '../scripts/run-step.ts'
import { endGates, startGate } from '../test/support/start-gate.ts'

/** Requests before the measurement: the code is compiled by then. */
const WARM = 300
/** Requests over HTTP for each start of the script. */
const HTTP_PER_SCRIPT = 40

export async function run({ count = '50' }: RunOptions): Promise<number> {
  const [claude, codex] = [makeToken(), makeToken()]
  const grant = (token: string, hooks: string) => ({
    hash: `sha256:${hashGrantToken(token)?.toString('hex')}`,
    policy: 'policy',
    hooks,
  })
  const gate = await startGate({
    servers: { 'claude-code': { builtin: 'claude-code' }, codex: { builtin: 'codex' } },
    policy: `version: 1\ndefault: deny\ncategories: { Read: allow, Execute: require_approval }\ntools: { "*/Bash": { action: allow, when: shell(args.command).reads(), over: [Execute] } }\n`,
    config: { grants: { claude: grant(claude, 'claude-code'), codex: grant(codex, 'codex') } },
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const overHttp = (at: number) => ask(agent, `${gate.url}/hooks/claude-code`, claude, payload(at))
  for (let at = 0; at < WARM; at++) await overHttp(-at - 1)
  const header = join(gate.folder, 'header')
  writeFileSync(header, `Authorization: Bearer ${codex}\n`)
  const script = join(ROOT, 'packages/cli/bin/sluice-hook')
  const args = [`${gate.url}/hooks/codex`, header, '10', 'block']
  const http: number[] = []
  const scripts: number[] = []
  for (let at = 0; at < Number(count); at++) {
    for (let one = 0; one < HTTP_PER_SCRIPT; one++)
      http.push(await timed(() => overHttp(at * HTTP_PER_SCRIPT + one)))
    const input = payload(at)
    scripts.push(await timed(() => execFileSync(script, args, { input })))
  }
  agent.destroy()
  await endGates()
  show('hook over HTTP', http)
  show('hook by the script', scripts)
  return 0
}

function payload(at: number): string {
  return JSON.stringify({
    session_id: `s${Math.floor(at / 50)}`,
    cwd: '/srv',
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: `git status && rg TODO src | head -${Math.abs(at)}` },
    tool_use_id: `toolu_${at}`,
  })
}

function ask(agent: Agent, url: string, token: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('end', () => (text === '{}' ? resolve() : reject(new Error(text))))
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

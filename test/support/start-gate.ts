// Starts the real gate as a process with a configuration for one test, and stops it. `endGates`
// (afterEach or afterAll) always leaves nothing running and no folder behind.

import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HookClient } from '../../packages/gateway/src/hooks/clients/table.ts'
import { ROOT } from './modules.ts'

export type ServerSpec =
  | {
      command: string[]
      env?: Record<string, string>
      cwd?: string
      share?: 'principal' | 'all'
      sandbox?: unknown
      extensions?: string[]
      max_message?: string
    }
  | { url: string; headers?: Record<string, string>; auth?: unknown; max_message?: string }
  | { builtin: 'agents' | 'code' | 'acs' | HookClient }

export interface GateSpec {
  servers: Record<string, ServerSpec>
  policy?: string
  /** Further keys of the configuration, and files next to it. */
  config?: Record<string, unknown>
  files?: Record<string, string>
  /** A folder of an earlier gate, to continue with its data. */
  folder?: string
  arguments?: string[]
  /** Options of Node, and variables of the gate beside those of the test. */
  nodeArguments?: string[]
  env?: Record<string, string>
  /** The file of the command, if it is that of another version. */
  program?: string
  /** The user who runs it, by number: only root can. */
  uid?: number
}

export const ALLOW_ALL = 'version: 1\ndefault: allow\n'
export const NODE = process.execPath
/** Bundled for this test run (bundle-command.ts). */
const BUNDLED = process.env.SLUICE_TEST_COMMAND
/** The command: the bundled one, otherwise the one of the clone. */
export const SLUICE = BUNDLED ?? join(ROOT, 'packages/cli/bin/sluice.js')

/** A gate, in a process of its own (`startGate`) or in that of the test (`serveGate` of own-gate.ts). */
export interface ServingGate {
  readonly folder: string
  readonly data: string
  readonly url: string
  readonly log: string
  stop(): Promise<unknown>
}

export class RunningGate implements ServingGate {
  readonly folder: string
  readonly process: ChildProcess
  url = ''
  log = ''
  readonly exited: Promise<number | null>

  constructor(folder: string, process: ChildProcess) {
    this.folder = folder
    this.process = process
    this.exited = new Promise((resolve) => process.once('exit', (code) => resolve(code)))
    process.stderr?.on('data', (chunk: Buffer) => {
      this.log += chunk.toString()
    })
  }

  get data(): string {
    return join(this.folder, 'data')
  }

  /** As a user would: SIGTERM, and wait. */
  async stop(): Promise<number | null> {
    this.process.kill('SIGTERM')
    return this.exited
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL')
    await this.exited
  }
}

const gates: ServingGate[] = []

/** Leaves a gate to `endGates`. */
export function endLater(gate: ServingGate): void {
  gates.push(gate)
}

/** The folder of a gate, with its configuration and policy. */
export function writeGate(spec: GateSpec): string {
  const folder = spec.folder ?? mkdtempSync(join(tmpdir(), 'sluice-gate-'))
  writeFileSync(join(folder, 'policy.yaml'), spec.policy ?? ALLOW_ALL)
  // JSON is YAML.
  const config = { version: 1, servers: spec.servers, policy: './policy.yaml', data: './data' }
  for (const [name, text] of Object.entries(spec.files ?? {}))
    writeFileSync(join(folder, name), text)
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify({ ...config, ...spec.config }))
  return folder
}

/** Resolves when the gate serves; rejects with its output if it does not. */
export async function startGate(spec: GateSpec): Promise<RunningGate> {
  const folder = writeGate(spec)
  const command = ['up', '--config', join(folder, 'sluice.yaml'), '--port', '0']
  const node = [...(spec.nodeArguments ?? []), spec.program ?? SLUICE]
  const child = spawn(NODE, [...node, ...command, ...(spec.arguments ?? [])], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...spec.env },
    ...(spec.uid === undefined ? {} : asUser(spec.uid, folder)),
  })
  const gate = new RunningGate(folder, child)
  endLater(gate)
  const ready = new Promise<string>((resolve) => {
    let output = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const url = /sluice ready ([^\s"]+)[\s"]/.exec(output)?.[1]
      if (url !== undefined) resolve(url)
    })
  })
  const url = await Promise.race([ready, gate.exited])
  if (typeof url !== 'string') throw new Error(`the gate ended with ${url}: ${gate.log}`)
  gate.url = url
  return gate
}

function asUser(uid: number, folder: string) {
  for (const each of ['', ...readdirSync(folder)]) chownSync(join(folder, each), uid, uid)
  return { uid, gid: uid, env: { ...process.env, HOME: folder, XDG_STATE_HOME: folder } }
}

export async function endGates(): Promise<void> {
  const ended = gates.splice(0).map(async (gate) => {
    const kill = () => gate instanceof RunningGate && gate.process.kill('SIGKILL')
    const patience = setTimeout(kill, 8_000)
    await gate.stop()
    clearTimeout(patience)
    return gate.folder
  })
  for (const folder of await Promise.all(ended)) rmSync(folder, { recursive: true, force: true })
}

/** The URL of a server behind the gate; of the aggregate for an empty name or a query such as `?mode=search`. */
export function mcpUrl(gate: { readonly url: string }, server: string): string {
  if (server.startsWith('?')) return `${gate.url}/mcp${server}`
  return server === '' ? `${gate.url}/mcp` : `${gate.url}/mcp/${server}`
}

/** A fixture of test/servers as a server's command. */
export function fixture(name: string, ...args: string[]): { command: string[] } {
  return { command: [NODE, programFile(name), ...args] }
}

/** A program of test/servers, or of another folder with tests. */
export function programFile(name: string, folder = 'servers'): string {
  if (BUNDLED === undefined) return join(ROOT, 'test', folder, `${name}.ts`)
  return join(BUNDLED, '../..', `${name}.js`)
}

/** A published server from the dev dependencies. */
export function published(name: string, ...args: string[]): { command: string[] } {
  return installed(`@modelcontextprotocol/server-${name}/dist/index.js`, ...args)
}

/** A file of a package from the dev dependencies as a server's command. */
export function installed(file: string, ...args: string[]): { command: string[] } {
  return { command: [NODE, join(ROOT, 'node_modules', file), ...args] }
}

/** A model that answers with these turns: `script:NAME` of the agents with this data directory. */
export function writeScript(data: string, name: string, turns: readonly object[]): void {
  mkdirSync(join(data, 'scripts'), { recursive: true })
  writeFileSync(join(data, 'scripts', `${name}.json`), JSON.stringify({ turns }))
}

/** What is waited for is often a request to a gate: the longer it takes, the more rarely it is asked for. */
export async function until(holds: () => boolean | Promise<boolean>, waitMs = 60_000) {
  const began = performance.now()
  while (!(await holds())) {
    const waitedMs = performance.now() - began
    if (waitedMs > waitMs) throw new Error('it did not come true in time')
    const pauseMs = Math.min(Math.max(waitedMs / 10, 15), 250)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

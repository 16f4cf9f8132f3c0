// Runs a published conformance suite against a URL, as its own command line does it, and reads the
// checks that it wrote down.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { ROOT } from '../support/modules.ts'
import { NODE } from '../support/start-gate.ts'

export interface Check {
  readonly scenario: string
  readonly id: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED'
  readonly errorMessage?: string
}

interface Suite {
  readonly package: string
  readonly options: string[]
  readonly version?: string[]
}

/** Of a scenario of 0.2.0, which would give up after 30 s: a loaded machine is slow, not wrong. */
export const PATIENT = ['--timeout', '300000']

const SUITES: Record<'session' | 'sessionNext' | 'stateless', Suite> = {
  /** 0.1.16: the session generation. */
  session: { package: '@modelcontextprotocol/conformance', options: ['--suite', 'active'] },
  /** 0.2.0 for the last revision with sessions. */
  sessionNext: { package: 'conformance-next', options: [], version: versionOf('2025-11-25') },
  /** 0.2.0: the stateless generation. */
  stateless: {
    package: 'conformance-next',
    options: ['--requirements', '2026-07-28', ...PATIENT],
    version: versionOf('2026-07-28'),
  },
}

/** For a single scenario. */
function versionOf(revision: string): string[] {
  return ['--spec-version', revision, '--force', ...PATIENT]
}

export async function runSuite(name: keyof typeof SUITES, url: string): Promise<Check[]> {
  const suite = SUITES[name]
  const checks = await runServer(suite.package, url, [suite.options])
  // The suite gives a stream half a second, which a loaded machine may take to start one: what failed
  // is run again by itself, and only the second time counts.
  const failed = new Set(
    checks.filter(({ status }) => status === 'FAILURE').map(({ scenario }) => scenario),
  )
  if (failed.size === 0 || failed.size > 3) return checks
  const kept = checks.filter(({ scenario }) => !failed.has(scenario))
  return [...kept, ...(await runScenarios(name, url, [...failed]))]
}

/** Some scenarios only, each with a command of its own. */
export async function runScenarios(
  name: keyof typeof SUITES,
  url: string,
  scenarios: readonly string[],
): Promise<Check[]> {
  const { version = [] } = SUITES[name]
  const commands = scenarios.map((each) => ['--scenario', each, ...version])
  return runServer(SUITES[name].package, url, commands)
}

/** The scenarios that conforming to 2026-07-28 requires, by the suite's own list. */
export function scoredScenarios(half: 'server' | 'client' = 'server'): string[] {
  const file = join(packageFolder('conformance-next'), 'requirements', '2026-07-28.yaml')
  return parse(readFileSync(file, 'utf8'))[half]
}

/** The scenarios of the client half of 0.2.0: each starts a server and tells of it at the URL `client`, which answers when
 * it has used that server. */
export function runClient(client: string, options: string[]): Promise<Check[]> {
  return runCommands('conformance-next', [['client', '--command', client, ...options]])
}

function runServer(name: string, url: string, commands: readonly string[][]): Promise<Check[]> {
  return runCommands(
    name,
    commands.map((options) => ['server', '--url', url, ...options]),
  )
}

/** A process for each suite, until `endSuites`. */
const runners = new Map<string, Runner>()

interface Runner {
  readonly process: ChildProcess
  readonly exited: Promise<unknown>
  output: string
}

function startRunner(name: string): Runner {
  const runner = join(import.meta.dirname, 'run-commands.mjs')
  const file = join(packageFolder(name), 'dist', 'index.js')
  const child = fork(runner, [file], {
    execPath: NODE,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const made = { process: child, exited: once(child, 'exit'), output: '' }
  child.stderr?.on('data', (chunk: Buffer) => {
    made.output += chunk.toString()
  })
  child.once('exit', () => runners.delete(name))
  runners.set(name, made)
  return made
}

export async function endSuites(): Promise<void> {
  await Promise.all(
    [...runners.values()].map(({ process, exited }) => {
      process.kill('SIGKILL')
      return exited
    }),
  )
}

async function runCommands(name: string, commands: readonly string[][]): Promise<Check[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-suite-'))
  const runner = runners.get(name) ?? startRunner(name)
  runner.output = ''
  try {
    for (const words of commands) {
      runner.process.send([...words, '-o', folder])
      await Promise.race([once(runner.process, 'message'), runner.exited])
    }
    const checks = foldersIn(folder).flatMap((entry) => checksOf(folder, entry))
    if (checks.length === 0) throw new Error(`the suite wrote nothing down: ${runner.output}`)
    return checks
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Of each scenario; the name of one may have a slash, and is a folder in a folder then. */
function foldersIn(folder: string): string[] {
  return readdirSync(folder).flatMap((entry) =>
    /-\d{4}-\d\d-\d\dT/.test(entry)
      ? [entry]
      : readdirSync(join(folder, entry)).map((inner) => join(entry, inner)),
  )
}

function checksOf(folder: string, entry: string): Check[] {
  const scenario = /^(?:server-)?(.+)-\d{4}-\d\d-\d\dT/.exec(entry)?.[1] ?? entry
  const file = join(folder, entry, 'checks.json')
  // A scenario that threw leaves its folder empty.
  if (!existsSync(file)) return [{ scenario, id: 'the scenario itself', status: 'FAILURE' }]
  const checks: Omit<Check, 'scenario'>[] = JSON.parse(readFileSync(file, 'utf8'))
  return checks.map((check) => ({ ...check, scenario }))
}

function packageFolder(name: string): string {
  return join(ROOT, 'node_modules', name)
}

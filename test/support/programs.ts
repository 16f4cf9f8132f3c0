// Programs that tests need and npm does not install: the installed one, Debian's package if the tests run as
// root on Debian, or one that can be fetched (`SLUICE_TEST_INSTALL=0` forbids both). Without the program its suites are reported
// as not run, with the command that brings it in their name; with CI set that is a failure.

import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const INSTALL_MS_MAX = 300_000
const UPDATE_MS_MAX = 120_000

/** The machine as far as it matters here. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly isRoot: boolean
  readonly isDebian: boolean
  readonly say: (text: string) => void
}

export interface Program {
  /** As people call it. */
  readonly title: string
  /** The suites that need it, for example `the console's tests need`. */
  readonly neededBy: string
  /** Debian's package, or several. */
  readonly package: string
  /** The environment variable that names another one. */
  readonly variable: string
  /** Names of the executable, the best first. */
  readonly names: readonly string[]
  /** Folders besides those of PATH. */
  readonly folders?: readonly string[]
  /** Brings one that needs no root; undefined if there is none for this machine. */
  readonly fetch?: (say: Machine['say']) => string | undefined
}

const THIS: Machine = {
  env: process.env,
  isRoot: process.getuid?.() === 0,
  isDebian: existsSync('/etc/debian_version'),
  say: (text) => void process.stderr.write(text),
}

/** The command that installs it. */
export function howToInstall(program: Program): string {
  return `apt-get ${toInstall(program).join(' ')}`
}

/** The program; undefined if there is none and none may be installed. Throws if CI needs one. */
export function findProgram(program: Program, machine: Machine = THIS): string | undefined {
  const path = find(program, machine)
  if (path !== undefined) return path
  const { env, isRoot, isDebian, say } = machine
  const mayInstall = env.SLUICE_TEST_INSTALL !== '0'
  if (mayInstall && isRoot && isDebian) install(program, machine)
  const installed = find(program, machine) ?? (mayInstall ? program.fetch?.(say) : undefined)
  if (installed === undefined && env.CI)
    throw new Error(`${program.neededBy} ${program.title}: ${howToInstall(program)}`)
  return installed
}

/** The name of a suite that needs it: if it is not run, the reason is in its name. */
export function nameSuite(suite: string, program: Program, file: string | undefined): string {
  if (file !== undefined) return suite
  return `${suite} (not run: it needs ${program.title}; ${howToInstall(program)})`
}

function toInstall(program: Program): string[] {
  return ['install', '-y', '--no-install-recommends', ...program.package.split(' ')]
}

function find({ folders = [], names, variable }: Program, { env }: Machine): string | undefined {
  const configured = env[variable]
  if (configured !== undefined) return configured
  const places = [...(env.PATH ?? '').split(delimiter), ...folders]
  return names.flatMap((name) => places.map((folder) => join(folder, name))).find(canRun)
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function install(program: Program, { env, say }: Machine): void {
  const apt = (args: readonly string[], timeout: number): void =>
    void execFileSync('apt-get', args, { env, timeout, stdio: ['ignore', 'ignore', 'inherit'] })
  say(`${program.neededBy} ${program.title}: ${howToInstall(program)}\n`)
  try {
    apt(toInstall(program), INSTALL_MS_MAX)
  } catch {
    try {
      // The lists of a fresh image are empty.
      apt(['update'], UPDATE_MS_MAX)
      apt(toInstall(program), INSTALL_MS_MAX)
    } catch (error) {
      say(`${program.title} was not installed: ${(error as Error).message}\n`)
    }
  }
}

// Chromium for the tests of the console: the one that is installed, or Debian's own where the tests
// run as root on Debian. Where there is none its tests are not run and say what would bring it; with
// CI set that is a failure.

import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']
const INSTALL = ['install', '-y', '--no-install-recommends', 'chromium']
const INSTALL_MS_MAX = 300_000
const UPDATE_MS_MAX = 120_000
export const HOW = `apt-get ${INSTALL.join(' ')}`

/** The machine as far as it matters here. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly isRoot: boolean
  readonly isDebian: boolean
  readonly say: (text: string) => void
}

const THIS: Machine = {
  env: process.env,
  isRoot: process.getuid?.() === 0,
  isDebian: existsSync('/etc/debian_version'),
  say: (text) => void process.stderr.write(text),
}

/** The program; undefined where there is none and none may be installed. Throws where CI needs one. */
export function findChromium(machine: Machine = THIS): string | undefined {
  const found = find(machine)
  if (found !== undefined) return found
  const { env, isRoot, isDebian } = machine
  if (env.SLUICE_TEST_INSTALL !== '0' && isRoot && isDebian) install(machine)
  const installed = find(machine)
  if (installed === undefined && env.CI)
    throw new Error(`the console's tests need Chromium: ${HOW}`)
  return installed
}

/** What a suite that needs it is called: why it is not run is in its name. */
export function named(suite: string, program: string | undefined): string {
  return program === undefined ? `${suite} (not run: it needs Chromium; ${HOW})` : suite
}

function find({ env }: Machine): string | undefined {
  const given = env.SLUICE_TEST_CHROMIUM
  if (given !== undefined) return given
  const folders = (env.PATH ?? '').split(delimiter)
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(canRun)
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function install({ env, say }: Machine): void {
  const apt = (args: readonly string[], timeout: number): void =>
    void execFileSync('apt-get', args, { env, timeout, stdio: ['ignore', 'ignore', 'inherit'] })
  say(`the console's tests need Chromium: ${HOW}\n`)
  try {
    apt(INSTALL, INSTALL_MS_MAX)
  } catch {
    try {
      // The lists of a fresh image are empty.
      apt(['update'], UPDATE_MS_MAX)
      apt(INSTALL, INSTALL_MS_MAX)
    } catch (error) {
      say(`Chromium was not installed: ${(error as Error).message}\n`)
    }
  }
}

export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

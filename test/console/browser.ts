// Chromium for the tests of the console: the one that is installed, or Debian's own where the tests
// run as root on Debian. Where there is none its tests are not run and say what would bring it; with
// CI set that is a failure.

import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']
const INSTALL = ['install', '-y', '--no-install-recommends', 'chromium']
export const HOW = 'apt-get install -y --no-install-recommends chromium'

function find(): string | undefined {
  const given = process.env.SLUICE_TEST_CHROMIUM
  if (given !== undefined) return given
  const folders = (process.env.PATH ?? '').split(delimiter)
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

/** The program; undefined where there is none and none may be installed. */
export function findChromium(): string | undefined {
  const found = find()
  if (found !== undefined) return found
  const mayInstall =
    process.env.SLUICE_TEST_INSTALL !== '0' &&
    process.getuid?.() === 0 &&
    existsSync('/etc/debian_version')
  if (mayInstall) {
    process.stderr.write(`the console's tests need Chromium: ${HOW}\n`)
    try {
      execFileSync('apt-get', INSTALL, { stdio: ['ignore', 'ignore', 'inherit'], timeout: 300_000 })
    } catch {
      try {
        // The lists of a fresh image are empty.
        execFileSync('apt-get', ['update'], { stdio: 'ignore', timeout: 120_000 })
        execFileSync('apt-get', INSTALL, {
          stdio: ['ignore', 'ignore', 'inherit'],
          timeout: 300_000,
        })
      } catch (error) {
        process.stderr.write(`Chromium was not installed: ${(error as Error).message}\n`)
      }
    }
  }
  const installed = find()
  if (installed === undefined && process.env.CI)
    throw new Error(`the console's tests need Chromium: ${HOW}`)
  return installed
}

export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

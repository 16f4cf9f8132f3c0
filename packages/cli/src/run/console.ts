// `sluice console`: opens the page, signed in. The PIN at the terminal shows who it is; the address
// carries a one-time code in its fragment, which no server log sees. If no gate runs, one is started as
// for a client; it stays as long as the page is open.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { DATA, findData } from '../connect/find-data.ts'
import { askGate } from '../connect/gate-socket.ts'
import { loadConfig } from '../connect/load-config.ts'
import { PROOF, provePerson } from '../connect/prove-person.ts'
import { startGate } from '../connect/start-gate.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { CliError } from '../terminal/errors.ts'
import type { Output } from '../terminal/output.ts'

const EXAMPLES = `
Examples:
  sluice console                 asks for your PIN, opens the page in the browser
  sluice console --no-open       only prints the address, for a browser elsewhere
  ssh -L 7433:localhost:7433 gate.example.com     then \`sluice console --no-open\` there

The address works once, within two minutes. On the page add a passkey: decisions need one.
A gate that clients or this command started serves the page at a free port of this machine, to you
alone; one of \`sluice up\` serves it at its own address.`

const OPTIONS = {
  ...DATA,
  ...PROOF,
  '--no-open': 'print the address instead of opening it',
} as const

type Options = OptionsOf<typeof OPTIONS>

export const add = defineCommand({
  name: 'console',
  options: OPTIONS,
  examples: EXAMPLES,
  run: async (options, output) => {
    const { data } = findData(options, { mayBeMissing: true })
    if ((await askGate(data, { do: 'people' })) === undefined) await start(data, options, output)
    const proof = await provePerson(data, options)
    const open = options.open && !output.json && hasBrowser()
    const response = await askGate(data, { do: 'console', proof, open })
    if (response === undefined) throw new CliError('CLI_GATE', 'the gate is gone', 'start it again')
    const { url, name, seconds } = response
    output.value({ url, name, seconds })
    output.line(`the console for ${name}, once and within ${seconds} s:\n\n  ${url}\n`)
    if (open) openBrowser(String(url))
  },
})

async function start(data: string, options: Options, output: Output): Promise<void> {
  if (!existsSync(options.config))
    throw new CliError('CLI_GATE', 'no gate runs', 'name its configuration with --config')
  output.remark('no gate runs: starting one, which ends a minute after the page is closed')
  const { file } = loadConfig(options, output)
  ;(await startGate(data, file)).destroy()
}

function hasBrowser(): boolean {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env
  return process.platform !== 'linux' || DISPLAY !== undefined || WAYLAND_DISPLAY !== undefined
}

/** All programs of the machine can read the command line of a browser: the code in it works once, on
 * Linux for this user's programs only, and what it opens decides nothing without a passkey. */
function openBrowser(url: string): void {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open']
      : process.platform === 'win32'
        ? ['cmd', '/c', 'start', '']
        : ['xdg-open']
  const browser = spawn(command as string, [...args, url], { stdio: 'ignore', detached: true })
  browser.once('error', () => {})
  browser.unref()
}

// The MCP inspector's command line with a URL, as a user would run it. Its state is in a folder of
// the test.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './modules.ts'
import { NODE } from './start-gate.ts'

const LAUNCHER = 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js'

/** What it printed. */
// biome-ignore lint/suspicious/noExplicitAny: what a server said, taken apart by the test
export async function inspect(home: string, url: string, ...options: string[]): Promise<any> {
  const command = [join(ROOT, LAUNCHER), '--cli', url, '--transport', 'http', ...options]
  const env = { ...process.env, HOME: home }
  const { stdout } = await promisify(execFile)(NODE, command, { env })
  return JSON.parse(stdout)
}

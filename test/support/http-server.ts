// A published MCP server over Streamable HTTP, with an event store: its streams begin with an event without data.

import { type ChildProcess, spawn } from 'node:child_process'
import { freePort } from './postgres.ts'
import { published, until } from './start-gate.ts'

export async function startEverything(): Promise<{ process: ChildProcess; url: string }> {
  const port = await freePort()
  const [program = '', ...args] = published('everything', 'streamableHttp').command
  const env = { ...process.env, PORT: String(port) }
  const server = spawn(program, args, { env, stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}/mcp`
  const answers = (): Promise<boolean> =>
    fetch(url).then(
      () => true,
      () => false,
    )
  await until(answers)
  return { process: server, url }
}

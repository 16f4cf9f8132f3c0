// A pipe to the gate's socket by hand, a message a line: what `sluice stdio` carries, without the
// command. Everything that comes is kept.

import { createConnection } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type RunningGate, until } from './start-gate.ts'

export interface Heard {
  id?: string | number
  method?: string
  params?: Record<string, unknown>
  result?: object
  error?: { code: number; message: string }
}

/** `*` is all servers. */
export async function pipeTo({ data }: RunningGate, server = '*') {
  const socket = createConnection(join(data, 'gate.sock'))
  const heard: Heard[] = []
  createInterface({ input: socket }).on('line', (line) => heard.push(JSON.parse(line)))
  socket.write(`${JSON.stringify({ do: 'pipe', server })}\n`)
  const say = (message: object) =>
    void socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const answerTo = async (id: number): Promise<Heard> => {
    const answers = (message: Heard) => message.id === id && message.method === undefined
    await until(() => heard.some(answers))
    return heard.find(answers) as Heard
  }
  return { say, heard, answerTo, close: () => socket.destroy() }
}

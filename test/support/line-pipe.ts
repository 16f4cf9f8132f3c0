// A raw connection to the gate's socket, one message per line: what `sluice stdio` transports,
// without the command. Everything received is kept.

import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { connectGate, greet } from '../../packages/cli/src/connect/gate-socket.ts'
import { type ServingGate, until } from './start-gate.ts'

export interface Heard {
  id?: string | number
  method?: string
  params?: Record<string, unknown>
  result?: object
  error?: { code: number; message: string }
}

/** `*` is all servers. */
export async function pipeTo({ data }: ServingGate, server = '*', token?: string) {
  const socket = (await connectGate(data)) as Socket
  await greet(socket, { do: 'pipe', server, ...(token === undefined ? {} : { token }) })
  const heard: Heard[] = []
  createInterface({ input: socket }).on('line', (line) => heard.push(JSON.parse(line)))
  const say = (message: object) =>
    void socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const answerTo = async (id: number): Promise<Heard> => {
    const answers = (message: Heard) => message.id === id && message.method === undefined
    await until(() => heard.some(answers))
    return heard.find(answers) as Heard
  }
  const ended = new Promise((resolve) => socket.once('end', resolve))
  return { say, heard, answerTo, ended, close: () => socket.destroy() }
}

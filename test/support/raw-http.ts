// HTTP by the byte: what no client library would send.

import { connect } from 'node:net'

/**
 * Sends `text` to the gate and returns everything received until it closes, or until the timeout.
 */
export function sendRaw(url: string, text: string, waitMs = 20_000): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(Number(port), hostname, () => socket.write(text))
    const end = (): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answer)
    }
    const timer = setTimeout(end, waitMs)
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
    })
    socket.on('error', end)
    socket.on('close', end)
  })
}

/** A POST with these header lines, complete with its length. */
export function rawPost(path: string, headers: string[], body: string): string {
  const length = `content-length: ${Buffer.byteLength(body)}`
  return [`POST ${path} HTTP/1.1`, ...headers, length, 'connection: close', '', body].join('\r\n')
}

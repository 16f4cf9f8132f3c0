// The loopback end of a login: a server on a free port of this machine that takes one redirect, tells
// the person to go back to the terminal, and is gone. What does not belong to the login is turned away.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LOGIN_WAIT_MS_MAX } from '../../terminal/limits.ts'

const PATH = '/callback'

export interface Redirect {
  readonly address: string
  /** The parameters of the first request that `isOurs`. */
  wait(isOurs: (parameters: URLSearchParams) => boolean): Promise<URLSearchParams>
  close(): void
}

export async function listenForRedirect(port: number): Promise<Redirect> {
  let take: (parameters: URLSearchParams) => boolean = () => false
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
    const isTaken = request.method === 'GET' && pathname === PATH && take(searchParams)
    const message = isTaken ? 'You can close this page and go back to the terminal.' : 'Not found.'
    response
      .writeHead(isTaken ? 200 : 404, {
        'content-type': 'text/plain; charset=utf-8',
        // The code must not go on to another site, nor into a cache.
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        connection: 'close',
      })
      .end(`${message}\n`)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`
  const wait: Redirect['wait'] = (isOurs) =>
    new Promise((resolve, reject) => {
      const why = new Error(`nobody logged in within ${LOGIN_WAIT_MS_MAX / 60_000} minutes`)
      const timer = setTimeout(() => reject(why), LOGIN_WAIT_MS_MAX)
      take = (parameters) => {
        if (!isOurs(parameters)) return false
        take = () => false
        clearTimeout(timer)
        resolve(parameters)
        return true
      }
    })
  return { address, wait, close: () => void server.close() }
}

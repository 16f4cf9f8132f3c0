import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fileScratchDirectory } from '../../../../test/support/scratch.ts'
import { ConsolePage } from './serve-console.ts'

const folder = fileScratchDirectory()
let server: Server
let url = ''

beforeAll(async () => {
  mkdirSync(join(folder, 'built', 'assets'), { recursive: true })
  writeFileSync(join(folder, 'built', 'index.html'), '<title>Sluice</title>')
  writeFileSync(join(folder, 'built', 'assets', 'a.js'), 'export {}')
  writeFileSync(join(folder, 'secret.html'), 'not for anybody')
  const page = new ConsolePage(join(folder, 'built'))
  server = createServer((request, response) => {
    if (!page.serve((request.url ?? '').split('?')[0] ?? '', request, response))
      response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
})

test.each(['/', '/approvals', '/approvals/a-b', '/live?word=deny', '/settings'])(
  'the page is at %s, and may load nothing from elsewhere, be framed, or run what is inline',
  async (path) => {
    const response = await fetch(url + path)
    expect(await response.text()).toBe('<title>Sluice</title>')
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(policy).not.toContain('http')
    expect(response.headers.get('set-cookie')).toBeNull()
  },
)

test('files of the build are served for long, and nothing beside them', async () => {
  const script = await fetch(`${url}/assets/a.js`)
  expect(script.headers.get('content-type')).toContain('text/javascript')
  expect(script.headers.get('cache-control')).toContain('immutable')
  for (const path of ['/secret.html', '/../secret.html', '/%2e%2e/secret.html', '/assets', '/mcp'])
    expect((await fetch(url + path)).status).toBe(404)
})

test('only looking is allowed', async () => {
  expect((await fetch(url, { method: 'POST' })).status).toBe(405)
})

test('a console that was not built says how to build it', () => {
  const page = new ConsolePage(join(folder, 'nowhere'))
  const logged: unknown[] = []
  const response = {
    writeHead: (status: number) => {
      logged.push(status)
      return { end: (text: string) => logged.push(text) }
    },
  }
  expect(page.serve('/', { method: 'GET', headers: {} } as never, response as never)).toBe(true)
  expect(logged).toEqual([503, expect.stringContaining('npm run build:console')])
  expect(page.serve('/elsewhere', {} as never, response as never)).toBe(false)
})

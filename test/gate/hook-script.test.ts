// The script that clients start to ask the gate, and the command line that `init` writes for it: nothing on the
// machine answers in the gate's place, and what blocks does so without a script, too.

import { execFile, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codex } from '../../packages/gateway/src/hooks/clients/codex.ts'
import { ROOT } from '../support/modules.ts'

const SCRIPT = join(ROOT, 'packages/cli/bin/sluice-hook')

interface StandIn {
  readonly url: string
  readonly requests: { readonly headers: Record<string, unknown>; readonly url: string }[]
  readonly server: Server
}

async function listen(answer: string): Promise<StandIn> {
  const requests: StandIn['requests'] = []
  const server = createServer(({ headers, url = '' }, response) => {
    requests.push({ headers, url })
    response.end(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, server }
}

let gate: StandIn
let thief: StandIn
let home: string

beforeAll(async () => {
  gate = await listen('{"denied":true}')
  thief = await listen('{}')
  home = mkdtempSync(join(tmpdir(), 'sluice-hook-'))
  writeFileSync(join(home, 'header'), 'Authorization: Bearer secret\n')
})
afterAll(() => {
  gate.server.close()
  thief.server.close()
  rmSync(home, { recursive: true })
})

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function run(line: string, env: Record<string, string> = {}, shell = 'sh'): Promise<Ran> {
  return new Promise((resolve) => {
    const { PATH = '' } = process.env
    const options = { env: { PATH, HOME: home, ...env } }
    const child = execFile(shell, ['-c', line], options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
    // A script that cannot be run has ended before it reads.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end('{"hook_event_name":"PreToolUse"}')
  })
}

const ask = (url: string, script = SCRIPT) => `'${script}' '${url}' '${join(home, 'header')}' 5`

/** The command line that `init --enforce` writes for what comes before a tool. */
function lineOf(url: string, script?: string): string {
  const setup = {
    url,
    token: '',
    ask: ask(url, script),
    start: '',
    blocks: true,
    version: undefined,
  }
  const entries = new Map(codex.listEntries(setup))
  const { hooks } = entries.get('PreToolUse') as unknown as { hooks: [{ command: string }] }
  return hooks[0].command
}

describe('B2: the script asks the gate and nobody else', () => {
  test.each<[string, (url: string) => Record<string, string>]>([
    ['http_proxy', (url) => ({ http_proxy: url, HTTP_PROXY: url })],
    ['all_proxy', (url) => ({ all_proxy: url, ALL_PROXY: url })],
    [
      '~/.curlrc',
      (url) => {
        writeFileSync(join(home, '.curlrc'), `proxy = "${url}"\n`)
        return {}
      },
    ],
    [
      'a .curlrc elsewhere',
      (url) => {
        mkdirSync(join(home, 'curl'), { recursive: true })
        writeFileSync(join(home, 'curl', '.curlrc'), `proxy = "${url}"\nurl = "${url}"\n`)
        return { CURL_HOME: join(home, 'curl') }
      },
    ],
  ])('with %s', async (_, prepare) => {
    const before = gate.requests.length
    const ran = await run(`${ask(gate.url)} block before`, prepare(thief.url))
    expect(ran).toMatchObject({ code: 0, stdout: '{"denied":true}\n' })
    expect(thief.requests).toEqual([])
    expect(gate.requests).toHaveLength(before + 1)
    expect(gate.requests.at(-1)?.headers).toMatchObject({
      authorization: 'Bearer secret',
      'sluice-event': 'before',
    })
  })
})

test('a command line of an older version asks without the event, and blocks', async () => {
  const ran = await run(`${ask(gate.url)} block`)
  expect(ran).toMatchObject({ code: 0, stdout: '{"denied":true}\n' })
  expect(gate.requests.at(-1)?.headers).not.toHaveProperty('sluice-event')
  expect(await run(`${ask('http://127.0.0.1:9')} block`)).toMatchObject({ code: 2 })
  expect(await run(`${ask('http://127.0.0.1:9')} open`)).toMatchObject({ code: 0, stdout: '' })
})

describe.each(['sh', 'bash', 'zsh', 'fish'])('H4: the line that blocks, in %s', (shell) => {
  const isThere = spawnSync(shell, ['-c', 'true']).status === 0

  test.skipIf(!isThere)('lets an answer through, and blocks without one', async () => {
    expect(await run(lineOf(gate.url), {}, shell)).toMatchObject({
      code: 0,
      stdout: '{"denied":true}\n',
    })
    const down = await run(lineOf('http://127.0.0.1:9'), {}, shell)
    expect(down).toMatchObject({ code: 2, stderr: expect.stringContaining('no answer') })
  })

  test.skipIf(!isThere)('blocks if the script is gone, is no program, or cannot ask', async () => {
    const plain = join(home, 'sluice-hook')
    cpSync(SCRIPT, plain)
    const gone = { code: 2, stderr: expect.stringContaining('sluice doctor') }
    expect(await run(lineOf(gate.url, join(home, 'gone')), {}, shell)).toMatchObject(gone)
    spawnSync('chmod', ['-x', plain])
    expect(await run(lineOf(gate.url, plain), {}, shell)).toMatchObject(gone)
  })
})

// Links to real processes: the fixture servers of test/servers, and published ones.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { writeRequest } from '@sluice/protocol/write-message'
import { afterEach, describe, expect, test } from 'vitest'
import { rounds } from '../../../../../test/support/runs.ts'
import { toFailureResponse } from '../../call/inspect-result.ts'
import { Asker, fixture, isRunning, keepLog, takePlaces, until } from '../ask.test-support.ts'
import { STDIN_QUEUE_LENGTH_MAX, STDOUT_UNITS_PER_SECOND } from '../limits.ts'
import type { UpstreamFailure } from '../upstream.ts'
import { type StdioServerOptions, StdioUpstream } from './stdio.ts'

const links: StdioUpstream[] = []

function start(command: string[], more: Partial<StdioServerOptions> = {}) {
  const kept = keepLog()
  const options = { name: 'fixture', command, log: kept.log, ...more }
  const asker = new Asker((events) => new StdioUpstream(options, events))
  const { link } = asker
  links.push(link)
  return { asker, link, ...kept }
}

async function up(command: string[], more: Partial<StdioServerOptions> = {}) {
  const started = start(command, more)
  await started.asker.initialize()
  return started
}

afterEach(async () => {
  for (const link of links) link.close('the test is over')
  await Promise.all(links.splice(0).map((link) => link.ended))
})

describe('a server that behaves', () => {
  test('lists and calls tools, notifies, and ends with its stdin', async () => {
    const { asker, link, entries } = await up(fixture('echo'))
    const list = (await asker.result('tools/list')) as { tools: unknown[] }
    expect(list.tools).toHaveLength(5)
    expect(await asker.call('echo', { a: 'ä\u2028' })).toBe(JSON.stringify({ a: 'ä\u2028' }))
    await asker.call('notify', { count: 3 })
    expect(asker.others.map(({ message }) => message.kind)).toEqual(Array(3).fill('notification'))
    expect(entries).toContainEqual({
      level: 'info',
      message: 'echo is up',
      fields: { stream: 'stderr' },
    })
    link.close('done')
    expect(await asker.closed).toBe('done')
    await link.ended
    expect(isRunning(link.pid!)).toBe(false)
    expect(link.send(writeRequest(9, 'ping', undefined))).toBe(false)
  })

  test('sees the allow-list and what the configuration names, never a secret of the gate', async () => {
    process.env.STRIPE_TOKEN = 'sk_live_secret'
    process.env.LC_TIME = 'C'
    try {
      const { asker } = await up(fixture('echo'), { env: { X: '1' } })
      const env = JSON.parse(await asker.call('env')) as Record<string, string>
      expect(env.X).toBe('1')
      expect(env.LC_TIME).toBe('C')
      expect(env.PATH).toBe(process.env.PATH)
      expect(env.STRIPE_TOKEN).toBeUndefined()
      const allowed =
        /^(PATH|HOME|LANG|TMPDIR|TERM|USER|LOGNAME|SHELL|TZ|X|LC_[A-Z]+|(HTTPS?|ALL|NO)_PROXY|NODE_USE_ENV_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|GIT_SSL_CAINFO|NPM_CONFIG_(CAFILE|REGISTRY))$/i
      expect(Object.keys(env).filter((name) => !allowed.test(name))).toEqual([])
    } finally {
      delete process.env.STRIPE_TOKEN
      delete process.env.LC_TIME
    }
  })

  test('gets a thousand calls at once and a large answer', async () => {
    const { asker } = await up(fixture('echo'))
    const all = await Promise.all(
      Array.from({ length: rounds(4_000) }, (_, n) => asker.call('echo', { n })),
    )
    expect(all.map((text) => (JSON.parse(text) as { n: number }).n)).toEqual([...all.keys()])
    expect(await asker.call('big', { bytes: 4_000_000 })).toHaveLength(4_000_000)
  })

  test('an answer beyond the bound fails its call, and the next call goes on', async () => {
    const { asker } = await up(fixture('echo'))
    const answer = await asker.ask('tools/call', { name: 'big', arguments: { bytes: 4_300_000 } })
    expect(answer).toMatchObject({ code: 'UPSTREAM_TOO_LARGE', repeatable: false })
    expect(await asker.call('echo', {})).toBe('{}')
  })

  test('the bound is `max_message`, and the failure names both', async () => {
    const { asker } = await up(fixture('echo'), { messageBytesMax: 2 * 1_048_576 })
    const answer = await asker.ask('tools/call', { name: 'big', arguments: { bytes: 2_200_000 } })
    expect(answer).toMatchObject({ code: 'UPSTREAM_TOO_LARGE', repeatable: false })
    expect((answer as { message: string }).message).toMatch(
      /2 MiB.*`max_message` \(at most 16MiB\)/,
    )
    expect(await asker.call('big', { bytes: 2_000_000 })).toHaveLength(2_000_000)
  })

  test('a large answer is read when there is a place for it, and others are meanwhile', async () => {
    const [{ asker }, other, ended] = await Promise.all([
      up(fixture('echo')),
      up(fixture('echo')),
      up(fixture('echo')),
    ])
    const givePlaces = takePlaces()
    let isAnswered = false
    const large = asker.call('big', { bytes: 3_000_000 }).finally(() => {
      isAnswered = true
    })
    void ended.asker.ask('tools/call', { name: 'big', arguments: { bytes: 3_000_000 } })
    for (let at = 0; at < 10; at++)
      expect(await other.asker.call('big', { bytes: 900_000 })).toHaveLength(900_000)
    expect(isAnswered).toBe(false)
    ended.link.close('done')
    await ended.link.ended
    givePlaces()
    expect(await large).toHaveLength(3_000_000)
    expect(await asker.call('big', { bytes: 3_000_000 })).toHaveLength(3_000_000)
  })

  test('what is sent with line breaks arrives as one line', async () => {
    const { asker, link } = await up(fixture('echo'))
    link.send('{"jsonrpc":"2.0","id":"a","method":"ping",\n"params":{}}')
    expect(await asker.call('echo', { still: 'there' })).toBe('{"still":"there"}')
  })
})

describe('a server that prints garbage', () => {
  test('is understood all the same; stray lines are counted, logged, and cannot rewrite the log', async () => {
    const { asker, link, entries } = await up(fixture('garbage'))
    expect(await asker.call('echo', { n: 1 })).toBe('{"n":1}')
    expect(link.strayLines).toBe(8)
    const strays = entries.filter(({ message }) => message.includes('skipped a line'))
    expect(strays.length).toBeGreaterThan(2)
    expect(strays.length).toBeLessThan(8)
    expect(JSON.stringify(entries)).not.toContain('\\u001b[')
  })

  test('an answer that two readers would read differently fails its request', async () => {
    const { asker } = await up(fixture('garbage'))
    const id = asker.lastId + 1
    const answer = await asker.ask('tools/call', { name: 'echo', arguments: { doubled: id } })
    expect(answer).toMatchObject({ code: 'UPSTREAM_BAD_ANSWER', request: id, repeatable: false })
  })
})

describe('a server that ends', () => {
  test('before it answered: the exit code and its last words', async () => {
    const { asker, link } = start(fixture('crash', '0'))
    const why = await asker.closed
    expect(why).toBe(
      'the server `fixture` exited with code 7; it last said: the disk is on fire | giving up',
    )
    expect(link.failure).toMatchObject({ code: 'UPSTREAM_EXITED', message: why })
  })

  test('by an error of Node: the line that names it, and not the stack below', async () => {
    const { asker } = start([process.execPath, '/no/such/server.js'])
    expect(await asker.closed).toMatch(
      /exited with code 1; it last said: [^|]*\| Error: Cannot find module '\/no\/such\/server.js'/,
    )
  })

  test('at the second call: the first has its answer, the other none', async () => {
    const { asker } = await up(fixture('crash', '2'))
    expect(await asker.call('echo', { n: 1 })).toBe('{"n":1}')
    void asker.ask('tools/call', { name: 'echo', arguments: {} })
    expect(await asker.closed).toContain('exited with code 7')
    expect(asker.failures).toEqual([])
  })

  test('by a signal', async () => {
    const { asker } = start(fixture('crash', '0', 'signal'))
    expect(await asker.closed).toContain('was ended by SIGABRT')
  })

  test('that never was: no such program, no such folder, an impossible argument', async () => {
    const missing = start(['no-such-program-anywhere'])
    const request = missing.asker.ask('initialize')
    expect(await missing.asker.closed).toContain('not be started: `no-such-program-anywhere`')
    expect(missing.link.failure?.code).toBe('UPSTREAM_NOT_STARTED')
    expect(await request).toMatchObject({ code: 'UPSTREAM_UNREACHABLE', repeatable: true })
    const elsewhere = start(fixture('echo'), { cwd: '/no/such/folder' })
    expect(await elsewhere.asker.closed).toContain('no such `cwd`')
    const impossible = start(['node', 'a\0b'])
    expect(await impossible.asker.closed).toContain('could not be started')
    await Promise.all([missing.link.ended, elsewhere.link.ended, impossible.link.ended])
  })

  test('a failure as an answer names the code', async () => {
    const { asker } = start(['no-such-program-anywhere'])
    const failure = (await asker.ask('tools/list')) as UpstreamFailure
    expect(toFailureResponse(failure)).toMatchObject({
      kind: 'answer',
      id: 1,
      error: { data: { 'sluice/upstream': { code: 'UPSTREAM_UNREACHABLE', repeatable: true } } },
    })
  })
})

describe('a server that hangs', () => {
  test('holds up nothing but its own calls, and is ended', async () => {
    const { asker, link } = await up(fixture('hang'))
    void asker.ask('tools/call', { name: 'echo', arguments: {} })
    await sleep(50)
    link.close('gave up')
    await link.ended
    expect(isRunning(link.pid!)).toBe(false)
  })

  test('suites F2: what does not fit is refused and can be sent again; the process goes on', async () => {
    const { asker, link } = await up(fixture('hang', 'deaf'), { stdinEndGraceMs: 50 })
    const text = 'x'.repeat(1_000_000)
    void asker.ask('tools/call', { name: 'echo', arguments: {} })
    await sleep(100)
    const count = 40
    for (let sent = 0; sent < count; sent++) {
      link.send(writeRequest(`big-${sent}`, 'tools/call', new Map([['a', `"${text}"`]])))
      await sleep(1)
    }
    const refused = asker.failures.length
    expect(refused).toBeGreaterThan(count - STDIN_QUEUE_LENGTH_MAX / text.length - 3)
    expect(refused).toBeLessThan(count - 20)
    expect(asker.failures[0]).toMatchObject({ code: 'UPSTREAM_BUSY', repeatable: true })
    expect(isRunning(link.pid!)).toBe(true)
    // What waited and never left is known not to have been made.
    link.close('gave up')
    const repeatable = asker.failures.filter((failure) => failure.repeatable)
    expect(repeatable.length).toBeGreaterThan(refused + 20)
    expect(repeatable.map(({ request }) => request)).not.toContain('big-0')
    await link.ended
    expect(isRunning(link.pid!)).toBe(false)
  })
})

describe('a server that floods', () => {
  test.each(['messages', 'stray', 'endless', 'stderr'])(
    'with %s: bounded memory, and the gate stays quick',
    async (kind) => {
      const flooded = await up(fixture('flood', kind), { stdinEndGraceMs: 50 })
      let received = 0
      const other = await up(fixture('echo'))
      await flooded.asker.call('echo', { flood: true })
      flooded.asker.onEvery = () => {
        received += 1
      }
      await sleep(500)
      globalThis.gc?.()
      const before = process.memoryUsage().rss
      const began = performance.now()
      for (let calls = 0; calls < rounds(200); calls += 1) await other.asker.call('echo')
      const seconds = (performance.now() - began) / 1_000
      const grownMb = (process.memoryUsage().rss - before) / 1_048_576
      expect(grownMb).toBeLessThan(128)
      expect(received).toBeLessThan(8_000 + 2 * STDOUT_UNITS_PER_SECOND * seconds)
      expect(flooded.entries.length).toBeLessThan(400 + 100 * seconds)
    },
  )

  test('is stopped by a receiver that pauses, and goes on without a loss', async () => {
    const { asker, link } = await up(fixture('echo'))
    link.pause()
    const all = asker.call('notify', { count: 1_000 })
    await sleep(300)
    expect(asker.others.length).toBe(0)
    link.resume()
    await all
    expect(asker.others.length).toBe(1_000)
  })
})

describe('published servers', () => {
  const run = (url: string): string[] => [process.execPath, fileURLToPath(url)]
  const FILESYSTEM = run(
    import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'),
  )
  const MEMORY = run(import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js'))
  const EVERYTHING = run(
    import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
  )

  test('filesystem, memory and everything: list, and one real call each', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-upstream-'))
    try {
      writeFileSync(join(folder, 'a.txt'), 'hello')
      const files = await up([...FILESYSTEM, folder])
      expect(await files.asker.call('read_text_file', { path: join(folder, 'a.txt') })).toBe(
        'hello',
      )
      const memory = await up(MEMORY, { env: { MEMORY_FILE_PATH: join(folder, 'm.json') } })
      expect(await memory.asker.call('read_graph')).toContain('entities')
      const everything = await up(EVERYTHING)
      expect(await everything.asker.call('echo', { message: 'hi' })).toContain('hi')
      const list = (await everything.asker.result('tools/list')) as { tools: unknown[] }
      expect(list.tools.length).toBeGreaterThan(5)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('nothing is left', () => {
  test('of a server that ignores SIGTERM and has a grandchild', async () => {
    const { asker, link } = await up(fixture('stubborn'), { stdinEndGraceMs: 50, termGraceMs: 100 })
    const pids = JSON.parse(await asker.call('pid')) as number[]
    expect(pids.every(isRunning)).toBe(true)
    link.close('enough')
    await link.ended
    await until(() => !pids.some(isRunning), 2_000)
  })

  test('of a server that went and left a grandchild with its pipes', async () => {
    const { asker, link } = await up(fixture('orphaner'))
    const pids = JSON.parse(await asker.call('pid')) as number[]
    process.kill(pids[0]!, 'SIGKILL')
    expect(await asker.closed).toContain('was ended by SIGKILL')
    await link.ended
    await until(() => !pids.some(isRunning), 2_000)
  })
})

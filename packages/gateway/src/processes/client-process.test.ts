// Which process is the client of a pipe: real processes below this one, started directly, by a shell, and
// by something that looks like npm.

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findClientProcess, isTypedCommand } from './client-process.ts'

let folder = ''
const children: ChildProcess[] = []

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-client-'))
  for (const name of ['npx-cli.js', 'client.js'])
    writeFileSync(
      join(folder, name),
      `const { spawn } = require('node:child_process')
       const [program, ...rest] = process.argv.slice(2)
       spawn(program, rest, { stdio: 'inherit' }).once('exit', () => process.exit())`,
    )
})
afterAll(() => {
  // Each ends with its input, and so do those that started it.
  for (const child of children) child.stdin?.end()
  rmSync(folder, { recursive: true, force: true })
})

/** The pid of the innermost process; it ends when its input does. */
async function start(...command: string[]): Promise<number> {
  return startAs({}, ...command)
}

async function startAs(options: SpawnOptions, ...command: string[]): Promise<number> {
  const pipe = ['sh', '-c', 'echo $$; exec cat']
  const [program = '', ...rest] = [...command, ...pipe]
  const stdio = ['pipe' as const, 'pipe' as const, 'ignore' as const]
  const child = spawn(program, rest, { ...options, stdio })
  children.push(child)
  const line = await new Promise<string>((resolve) =>
    child.stdout?.once('data', (chunk) => resolve(String(chunk))),
  )
  return Number(line)
}

describe.runIf(process.platform === 'linux')('the client of a pipe', () => {
  test('is the nearest ancestor that is no shell, npm, npx or sluice', async () => {
    const node = process.execPath
    const own = findClientProcess(await start())
    expect(own).toMatchObject({ pid: process.pid, isSameUser: true })
    const shell = ['sh', '-c', '"$@"; exit $?', 'sh']
    expect(findClientProcess(await start(...shell, ...shell))).toEqual(own)
    expect(findClientProcess(await start(node, join(folder, 'npx-cli.js')))).toEqual(own)
    expect(
      findClientProcess(await start(...shell, node, join(folder, 'npx-cli.js'), ...shell)),
    ).toEqual(own)
  })

  // It could choose what a program of the gate's user does: PATH, NODE_OPTIONS, LD_PRELOAD.
  test.runIf(process.getuid?.() === 0)('is known to be another user’s', async () => {
    const client = ['env', '--', 'perl', '-e', 'system(@ARGV)', '--']
    const pid = await startAs({ uid: 65_534, cwd: '/' }, ...client)
    const found = findClientProcess(pid)
    expect(found).toMatchObject({ pid: children.at(-1)?.pid, isSameUser: false })
  })

  test('a command was typed if its group is its own, or that of what launched it', async () => {
    const node = process.execPath
    const own = { detached: true }
    expect(isTypedCommand(await startAs(own))).toBe(true)
    expect(isTypedCommand(await startAs(own, node, join(folder, 'npx-cli.js')))).toBe(true)
    expect(isTypedCommand(await startAs(own, node, join(folder, 'client.js')))).toBe(false)
    expect(isTypedCommand(2 ** 30)).toBe(false)
  })

  test('is another one for another run of the same program', async () => {
    const runs = [1, 2].map(() => start(process.execPath, join(folder, 'client.js')))
    const clients = (await Promise.all(runs)).map((pid) => findClientProcess(pid))
    const parents = children.slice(-2).map(({ pid }) => pid)
    expect(clients.map((client) => client?.pid)).toEqual(parents)
    expect(clients[0]?.name).not.toBe(clients[1]?.name)
    expect(findClientProcess(2 ** 30)).toBeUndefined()
  })
})

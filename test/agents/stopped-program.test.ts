// What a program has is processor time: a process that is stopped, like one that waits for a core, uses none.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'

test('a program that is not run for longer than its time ends well', {
  timeout: 60_000,
}, async () => {
  const file = join(import.meta.dirname, '../servers/stopped-program.ts')
  const code = 'let sum = 0; for (let i = 0; i < 5e6; i++) sum += i % 7; return sum'
  const child = spawn(process.execPath, [file, '2000', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  expect((await lines.next()).value).toBe('running')
  await sleep(50)
  child.kill('SIGSTOP')
  await sleep(3_000)
  child.kill('SIGCONT')
  expect((await lines.next()).value).toBe('{"result":"14999995"}')
})

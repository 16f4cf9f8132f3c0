// What the gate says about a line that is typed for a standing approval: its families, and what they would do with the
// lines of the session.

import type { ApprovalRequest } from '@sluice/access/approvals/approval'
import { expect, test } from 'vitest'
import type { EndpointCall } from '../http/endpoint.ts'
import { linesEndpoint } from './approval-lines.ts'

const CALL = { server: 'claude-code', name: 'Bash', session: 's1', principal: { id: 'claude' } }

function requestOf(line: string, directory = '/srv/app', session = 's1'): ApprovalRequest {
  const id = `${session} ${directory} ${line}`
  return { ...CALL, id, session, command: { line, directory, touches: '' } } as ApprovalRequest
}

const ASKED = requestOf('cd lib && npm test 2>&1 | tail -5')
const WRITE = { ...CALL, id: 'write', name: 'Write' } as ApprovalRequest
const REQUESTS = [
  ASKED,
  requestOf('npm test; touch evil'),
  requestOf('npm test -- a'),
  requestOf('npm test -- a'),
  requestOf('npm test -- b', '/srv/app/lib'),
  requestOf('npm test -- c', '/srv/other'),
  requestOf('npm test -- d', '/srv/app', 's2'),
  requestOf(`npm test ${'x'.repeat(4_000)}`, '/srv/app', 's2'),
  WRITE,
]

function readLines(id: string, query: { line?: string; directory?: string } = {}) {
  const approvals = {
    find: (wanted: string) => REQUESTS.find((one) => one.id === wanted),
    list: async () => REQUESTS,
  }
  const row = linesEndpoint(approvals as never)
  return row.handle({ input: { id, ...query } } as unknown as EndpointCall<never>)
}

test('without a line it suggests the one with the programs of the command', async () => {
  const nothing = { families: [], fault: null, passes: [], asks: [] }
  expect(await readLines(ASKED.id)).toEqual({ suggested: 'npm test', ...nothing })
  for (const { id } of [REQUESTS[1], REQUESTS[7]] as ApprovalRequest[])
    expect(await readLines(id)).toMatchObject(
      id.includes('evil') ? { suggested: 'npm test && touch evil' } : { suggested: null },
    )
})

test.each([
  ['exact', ['npm test -- a']],
  ['below', ['npm test -- a', 'npm test -- b']],
  ['any', ['npm test -- a', 'npm test -- b', 'npm test -- c']],
])('with directory=%s these lines of the session pass', async (directory, passes) => {
  const view = await readLines(ASKED.id, { line: 'npm test *', directory })
  const asked = [ASKED, ...REQUESTS.slice(1, 6)].flatMap(({ command }) => command?.line ?? [])
  const all = [ASKED.command?.line ?? '', ...passes]
  const asks = [...new Set(asked)].filter((line) => !all.includes(line))
  expect(view).toMatchObject({ families: [['npm', 'test', '*']], fault: null, passes: all, asks })
})

test.each([
  ['npm test > out', 'a redirection reads or writes a file'],
  ['npm * test', 'only at the end'],
  ['', 'names no programs'],
])('the line `%s` has a fault', async (line, fault) => {
  const view = await readLines(ASKED.id, { line })
  expect(view).toMatchObject({ families: [], passes: [], asks: [] })
  expect(view).toHaveProperty('fault', expect.stringContaining(fault))
})

test('a request that is unknown, or has no command, is refused', async () => {
  await expect(readLines('none')).rejects.toThrow('there is no request `none`')
  await expect(readLines('write')).rejects.toThrow('`claude-code/Write` is called with no command')
})

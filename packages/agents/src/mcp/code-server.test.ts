// Hidden agents: an owner's lists and limits leave them out, and they go when their session is over.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toProgramOwner } from '@sluice/protocol/agent-calls'
import { expect, test } from 'vitest'
import { Service } from '../service/service.ts'
import { CODE_TOOL, removeIdlePrograms } from './code-server.ts'

test('agents of programs are in no list of people, and are removed once nothing ran in them for long', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-code-'))
  const models = { environment: {}, providers: {}, scripts: directory, prices: {} }
  const service = await Service.start({ directory, models })
  try {
    const owner = toProgramOwner('ann')
    const { id } = await service.create(owner, { model: 'code:program' }, { session: 's' })
    const ended = await service.prompt(owner, id, { input: 'return 6 * 7', requestId: 'call' })
    expect(ended).toMatchObject({ state: 'ended', stop: { reason: 'answered' } })
    expect(await service.steps.list('ann', null, 0, 10, null)).toEqual([])
    expect(await service.steps.listAll(10)).toEqual([])
    await removeIdlePrograms(service, 60_000)
    expect(await service.steps.list(owner, null, 0, 10, null)).toHaveLength(1)
    await removeIdlePrograms(service, -60_000)
    expect(await service.steps.list(owner, null, 0, 10, null)).toEqual([])
  } finally {
    await service.close()
    rmSync(directory, { recursive: true, force: true })
  }
})

test('the description names what a program does not have', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-code-'))
  const models = { environment: {}, providers: {}, scripts: directory, prices: {} }
  const service = await Service.start({ directory, models })
  try {
    const owner = toProgramOwner('ann')
    const { id } = await service.create(owner, { model: 'code:program' }, { session: 's' })
    const names = 'setTimeout URL TextEncoder structuredClone crypto Intl'.split(' ')
    const code = `return ${JSON.stringify(names)}.filter((name) => globalThis[name] === undefined)`
    const ended = await service.prompt(owner, id, { input: code })
    expect(ended.state === 'ended' && JSON.parse(ended.response)).toMatchObject({ result: names })
    for (const name of names)
      expect(CODE_TOOL.description).toContain(name === 'setTimeout' ? 'timers' : name)
  } finally {
    await service.close()
    rmSync(directory, { recursive: true, force: true })
  }
})

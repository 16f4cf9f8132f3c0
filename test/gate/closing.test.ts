// How a gate ends: what is open finishes before what it needs is closed.

import { afterAll, expect, test, vi } from 'vitest'
import { ApprovalEngine } from '../../packages/access/src/approvals/engine.ts'
import { Grants } from '../../packages/access/src/identity/callers/grants.ts'
import { DataLock } from '../../packages/gateway/src/data/data-lock.ts'
import { HttpFront } from '../../packages/gateway/src/front/http/http-front.ts'
import { SocketFront } from '../../packages/gateway/src/front/socket/socket.ts'
import { Gate } from '../../packages/gateway/src/gate.ts'
import { BuiltinAgents } from '../../packages/gateway/src/start/run-agents.ts'
import { Ledger } from '../../packages/ledger/src/ledger.ts'
import { endOwnGates, ownGate } from '../support/own-gate.ts'

afterAll(() => {
  vi.restoreAllMocks()
  return endOwnGates()
})

/** Records every call of these methods, once each, in order. */
function record(methods: readonly (readonly [name: string, of: object, method: string])[]) {
  const order: string[] = []
  for (const [name, of, method] of methods) {
    const target = of as Record<string, (...args: unknown[]) => unknown>
    const original = target[method] as (...args: unknown[]) => unknown
    vi.spyOn(target, method).mockImplementation(function (this: unknown, ...args) {
      if (!order.includes(name)) order.push(name)
      return original.apply(this, args)
    })
  }
  return order
}

test('a gate stops taking requests, lets calls finish, and closes its stores last', async () => {
  const order = record([
    ['announce the stop', HttpFront.prototype, 'announceStop'],
    ['stop taking requests', HttpFront.prototype, 'stopTaking'],
    ['hand over agents', BuiltinAgents.prototype, 'handOver'],
    ['end waits for approvers', ApprovalEngine.prototype, 'close'],
    ['tell pipes', SocketFront.prototype, 'announceStop'],
    ['let calls finish', Gate.prototype, 'drain'],
    ['leave sessions', Gate.prototype, 'leave'],
    ['close connections', HttpFront.prototype, 'close'],
    ['close the socket', SocketFront.prototype, 'close'],
    ['end sessions', Gate.prototype, 'close'],
    ['close the grants', Grants.prototype, 'close'],
    ['close the ledger', Ledger.prototype, 'close'],
    ['release the data directory', DataLock.prototype, 'release'],
  ])
  const gate = await ownGate({ servers: {} })
  order.length = 0
  await gate.stop()
  expect(order).toEqual([
    'stop taking requests',
    'hand over agents',
    'end waits for approvers',
    'tell pipes',
    'let calls finish',
    'leave sessions',
    'close connections',
    'close the socket',
    'end sessions',
    'close the grants',
    'close the ledger',
    'release the data directory',
  ])
  // A second stop finds nothing left.
  order.length = 0
  await gate.stop()
  expect(order).toEqual([])
})

test('a gate that has stopped leaves no timer that keeps its process from ending', async () => {
  // Files that ran in this process before may have left some of theirs.
  const countTimers = () =>
    process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length
  const before = countTimers()
  const gate = await ownGate({ servers: {} })
  await gate.stop()
  expect(countTimers()).toBeLessThanOrEqual(before)
})

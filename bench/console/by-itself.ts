// The isolated cost of viewers to the gate's thread: the meter and the hub as in the gate, calls at
// a steady rate, and three streams that another process reads. The CPU time of an interval without
// viewers is subtracted from that of one with three: a busy machine slows both and changes neither.
// Called by console.bench.ts.

import { type ChildProcess, fork } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { sampleFacts } from '@sluice/policy/cases/sample-facts'
import type { Decision } from '@sluice/policy/core/decision'
import { LiveHub } from '../../packages/sluice/src/admin/endpoints/live-hub.ts'
import { EventStreamResponse } from '../../packages/sluice/src/admin/http/events.ts'
import { SignIns } from '../../packages/sluice/src/admin/sign-in/sign-ins.ts'
import {
  CallInstrumentation,
  type CallWithFacts,
} from '../../packages/sluice/src/gateway/metrics/instrument-calls.ts'
import { Meter } from '../../packages/sluice/src/gateway/metrics/meter.ts'
import { People } from '../../packages/sluice/src/identity/people/people.ts'
import { computeSpread } from '../gateway/measure.ts'
import type { Watch } from './viewers.ts'

const VIEWERS = 3
const CALLS_PER_SECOND = 5_000
const BEAT_MS = 20
const STRETCH_MS = 1_000
const TOOLS = 200
const ALLOWED: Decision = {
  action: 'allow',
  code: 'ALLOWED',
  rule: '/tools/echo~1echo',
  reason: 'the rule allows it',
  guardrails: [],
  limits: [],
  retryAfterMs: 0,
  approvals: [],
  shadow: [],
}

export async function byItself(folder: string, rounds: number): Promise<void> {
  const meter = new Meter()
  const watch = new CallInstrumentation(meter, undefined)
  const hub = new LiveHub({ meter, watch, nowMs: Date.now })
  const people = People.open(folder, { pinCost: 2 ** 4 })
  const person = { name: 'ada', kind: 'person', roles: ['viewer'], groups: [], owns: [] } as const
  await people.add(person, { pin: '271828' }, Date.now())
  const signIns = new SignIns(people, Date.now)
  const code = signIns.makeCode('ada', 'pin', 60_000)
  const { token } = await signIns.redeem(code, async () => false)
  const server = createServer((_, response) => {
    const events = new EventStreamResponse((feed) => hub.join(feed, undefined).leave)
    events.serve(
      response,
      () => signIns.who(token) !== undefined,
      () => {},
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const calls: CallWithFacts[] = Array.from({ length: TOOLS }, (_, at) => ({
    call: { server: `server-${at}`, method: 'tools/call', name: 'echo', args: {} },
    facts: sampleFacts(undefined),
  }))
  try {
    // Everything is compiled before anything is counted.
    await measureInterval(watch, calls)
    const spent: { alone: number; watched: number }[] = []
    for (let round = 0; round < rounds; round++) {
      const alone = await measureInterval(watch, calls)
      const viewers = await looking({ url, token, viewers: VIEWERS }, hub, watch)
      await measureInterval(watch, calls)
      const watched = await measureInterval(watch, calls)
      viewers.kill()
      hub.close()
      spent.push({ alone, watched })
    }
    const more = computeSpread(spent.map(({ alone, watched }) => watched - alone)).p50
    console.log(
      `three pages cost the gate's thread ${more.toFixed(2)} ms of CPU a second at ${CALLS_PER_SECOND.toLocaleString('en')} calls a second: ${((more * 1_000) / CALLS_PER_SECOND).toFixed(2)} µs a call`,
    )
  } finally {
    server.closeAllConnections()
    server.close()
    people.close()
  }
}

/** CPU time in ms of this thread while calls pass for a second. */
async function measureInterval(
  watch: CallInstrumentation,
  calls: readonly CallWithFacts[],
): Promise<number> {
  const before = process.threadCpuUsage()
  let made = 0
  for (let beat = 1; beat <= STRETCH_MS / BEAT_MS; beat++) {
    for (; made < (beat * BEAT_MS * CALLS_PER_SECOND) / 1_000; made++) {
      const call = watch.begin(calls[made % calls.length] as CallWithFacts, undefined)
      call.decided(ALLOWED, `call-${made}`)
      call.settled({ status: 'answered' } as never)
    }
    await new Promise((resolve) => setTimeout(resolve, BEAT_MS))
  }
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

async function looking(
  request: Watch,
  hub: LiveHub,
  watch: CallInstrumentation,
): Promise<ChildProcess> {
  const viewers = fork(join(import.meta.dirname, 'viewers.ts'), { stdio: 'inherit' })
  viewers.send(request)
  while (watch.tap !== hub || hub.viewers < request.viewers)
    await new Promise((resolve) => setTimeout(resolve, 20))
  return viewers
}

// `npm run bench -- acs [--count N]`: what a step of an agent costs by the Agent Control Standard, from the request over a
// kept connection to the signed answer: the request of a call and its result alternate.

import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import type { RunOptions } from '../scripts/dispatch.ts'
import { ACS_KEY, writeAcsRequest } from '../test/support/acs-request.ts'
import { endGates, startGate } from '../test/support/start-gate.ts'

/** Requests before the measurement: the code is compiled by then. */
const WARM = 300
/** Steps of one session. */
const SESSION_STEPS = 100

export async function run({ count = '1000' }: RunOptions): Promise<number> {
  const gate = await startGate({
    servers: { shop: { builtin: 'acs' } },
    policy: 'version: 1\ndefault: deny\ntools: { "shop/get_order": allow }\n',
    config: { grants: { shop: { acs: 'shop', hmac_key: ACS_KEY, policy: 'policy' } } },
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: Record<'request' | 'result', number[]> = { request: [], result: [] }
  let session = ''
  for (let at = 0; at < WARM + Number(count); at++) {
    if (at % SESSION_STEPS === 0) session = randomUUID()
    const requestId = randomUUID()
    const call = { tool: { name: 'get_order' }, arguments: { order: { value: at } } }
    const result = {
      tool: call.tool,
      request_id_ref: requestId,
      exit_status: 'success',
      outputs: [{ value: 'sent' }],
    }
    const bodies = {
      request: writeAcsRequest('steps/toolCallRequest', call, { session, requestId }),
      result: writeAcsRequest('steps/toolCallResult', result, { session }),
    }
    for (const name of ['request', 'result'] as const) {
      const began = performance.now()
      await ask(agent, `${gate.url}/acs`, bodies[name])
      if (at >= WARM) times[name].push(performance.now() - began)
    }
  }
  agent.destroy()
  await endGates()
  show('request of a call', times.request)
  show('result of a call', times.result)
  return 0
}

function ask(agent: Agent, url: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('end', () =>
        text.includes('"decision":"allow"') ? resolve() : reject(new Error(text)),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

function show(what: string, times: number[]): void {
  times.sort((one, other) => one - other)
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? 0).toFixed(2)
  console.log(
    `${what}: least ${at(0)} ms, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, of ${times.length}`,
  )
}

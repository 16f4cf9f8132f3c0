// What an operator sees of a running gate: metrics for whoever has the token, spans at a collector,
// logs as JSON lines. Never an argument in any of them.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { serveHttp } from '../servers/http.ts'
import { series } from '../support/metrics.ts'
import { ROOT } from '../support/modules.ts'
import { serveGate } from '../support/own-gate.ts'
import { PlainClient } from '../support/plain-client.ts'
import { sluice } from '../support/run-sluice.ts'
import { endGates, fixture, NODE, programFile, startGate, until } from '../support/start-gate.ts'

afterAll(endGates)
vi.setConfig({ testTimeout: 90_000 })

const POLICY = 'version: 1\ndefault: allow\ntools: { "office/delete_*": deny }\n'
const TOKEN = 'a-token-for-metrics'

test('metrics: only with the token, bounded in names, every step timed', async () => {
  const gate = await serveGate({
    servers: { office: fixture('office') },
    policy: POLICY,
    config: { metrics: { token: TOKEN } },
  })
  const client = await PlainClient.open(gate, 'office')
  for (let call = 0; call < 3; call++) await client.call('read_file', { path: 'secret-path' })
  await client.call('delete_all', {})
  await client.call('no_such_tool_1')
  await client.call('no_such_tool_2')
  for (const authorization of ['', 'Bearer', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`]) {
    const { status } = await fetch(`${gate.url}/metrics`, { headers: { authorization } })
    expect(status).toBe(401)
  }
  const headers = { authorization: `Bearer ${TOKEN}` }
  const text = await (await fetch(`${gate.url}/metrics`, { headers })).text()
  const decisions = series(text, 'sluice_decisions_total')
  expect(decisions).toMatchObject({
    '{server="office",tool="read_file",action="allow",code="ALLOWED"}': 3,
    '{server="office",tool="delete_all",action="deny",code="DENIED"}': 1,
    '{server="office",tool="unknown",action="hide",code="DENIED"}': 2,
  })
  expect(series(text, 'sluice_outcomes_total')).toMatchObject({
    '{server="office",status="answered"}': 3,
  })
  expect(series(text, 'sluice_step_seconds_count')).toMatchObject({
    '{step="decide"}': 6,
    '{step="limits"}': 3,
    '{step="intent"}': 3,
    '{step="upstream"}': 3,
    '{step="total"}': 6,
  })
  expect(series(text, 'sluice_step_seconds_bucket')).toHaveProperty(
    ['{step="read",le="+Inf"}'],
    expect.any(Number),
  )
  expect(series(text, 'sluice_ledger_state')).toMatchObject({ '{state="writing"}': 1 })
  expect(series(text, 'sluice_sessions')).toMatchObject({ '{server="office"}': 1 })
  expect(series(text, 'nodejs_eventloop_lag_seconds')).toEqual({ '': expect.any(Number) })
  expect(text).not.toContain('secret-path')
  const ran = await sluice(['status', '--metrics', '--data', gate.data])
  expect(Object.keys(series(ran.stdout, 'sluice_decisions_total')).join('\n')).toContain(
    '{server="office",tool="read_file"',
  )
  for (const file of ['alert-rules.yaml', 'grafana-dashboard.json']) {
    const queries = readFileSync(join(ROOT, 'deploy/monitoring', file), 'utf8')
    expect(findUnknown(queries, text), file).toEqual([])
  }
})

/** Metrics of queries, with the labels they select or group by, that the gate does not have. */
function findUnknown(queries: string, metrics: string): string[] {
  const names = queries.matchAll(/\b((?:sluice|nodejs|process)_[a-z0-9_]+)(?:\{\\?([a-z]+)[=!])?/g)
  const grouped = [...queries.matchAll(/by \(([a-z, ]+)\) \((?:rate\()?([a-z_]+)/g)].flatMap(
    ([, labels = '', name = '']) => labels.split(', ').map((label) => ({ name, label })),
  )
  const selected = [...names].map(([, name = '', label]) => ({ name, label }))
  expect(selected.length).toBeGreaterThan(5)
  return [...selected, ...grouped]
    .filter(({ name, label }) => {
      const series = metrics.split('\n').filter((line) => new RegExp(`^${name}[{ ]`).test(line))
      // Without a stall there is no series of stalls.
      if (series.length === 0) return !metrics.includes(`# TYPE ${name} `)
      return !series.some((line) => label === undefined || line.includes(`${label}="`))
    })
    .map(({ name, label }) => `${name}{${label ?? ''}}`)
}

test('spans reach a collector, hang below the client’s and above the server’s', async () => {
  const collector = spawn(NODE, [programFile('collector')])
  let got = ''
  collector.stdout.on('data', (chunk: Buffer) => {
    got += chunk.toString()
  })
  await until(() => got.includes('\n'))
  const [port] = got.split('\n')
  const server = await serveHttp()
  const gate = await startGate({
    servers: { desk: { url: server.url } },
    policy: 'version: 1\ndefault: allow\ntools: { "desk/pid": deny }\n',
    config: { telemetry: { otlp: `http://127.0.0.1:${port}` } },
  })
  // Nobody said who may read them.
  expect((await fetch(`${gate.url}/metrics`)).status).toBe(404)
  const client = await PlainClient.open(gate, 'desk')
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const traceparent = `00-${traceId}-b7ad6b7169203331-00`
  const body = (id: number, name: string, meta: object = {}) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: { text: 'a secret' }, _meta: meta },
    })
  await client.post(body(101, 'echo'), { traceparent, tracestate: 'a=b' })
  await client.post(body(102, 'pid', { traceparent }))
  await gate.stop()
  await until(() => got.includes('tools/call pid'))
  collector.kill()
  await once(collector, 'exit')
  await server.close()

  const spans = got
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .flatMap((line) => JSON.parse(line))
  const [above, below] = ['2', '3'].map((kind) =>
    spans.find((span) => span.name === 'tools/call echo' && String(span.kind) === kind),
  )
  expect(above).toMatchObject({ traceId, parentSpanId: 'b7ad6b7169203331' })
  expect(above.attributes).toMatchObject({
    'mcp.method.name': 'tools/call',
    'gen_ai.tool.name': 'echo',
    'gen_ai.operation.name': 'execute_tool',
    'sluice.decision': 'allow',
    'sluice.server': 'desk',
  })
  expect(above.resource).toMatchObject({ 'service.name': 'sluice' })
  expect(below).toMatchObject({ traceId, parentSpanId: above.spanId })
  const sent = server.seen.find(({ body: text }) => text.includes('"tools/call"'))
  expect(sent?.headers).toMatchObject({
    traceparent: `00-${traceId}-${below.spanId}-01`,
    tracestate: 'a=b',
  })
  expect(JSON.parse(sent?.body ?? '').params._meta.traceparent).toBe(sent?.headers.traceparent)
  const denied = spans.find((span) => span.name === 'tools/call pid')
  expect(denied).toMatchObject({ traceId, attributes: { 'error.type': 'DENIED' } })
  expect(got).not.toContain('a secret')
})

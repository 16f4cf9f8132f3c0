// Remote checkpoint stores with real servers on this machine: a webhook, a bucket that checks AWS's
// request signature, and a file.

import { createHash, createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { decisionEntry } from '../decision-entries.test-support.ts'
import { Ledger } from '../ledger.ts'
import { freshDirectory } from '../samples.test-support.ts'
import { signerForTests } from '../signer.test-support.ts'
import { type Checkpoint, findCheckpointFault, readCheckpoint } from './checkpoint.ts'
import { RemoteCheckpointStore, type RemoteStoreConfig } from './remote-checkpoint-store.ts'

const signer = signerForTests('place')
const S3 = {
  bucket: 'audit',
  prefix: 'gate 1/',
  region: 'eu-test-1',
  accessKey: 'AK',
  secretKey: 'SK',
}

interface Got {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** Answers with these, then with 200. */
async function serve(statuses: number[] = []) {
  const got: Got[] = []
  const server = createServer(async (asked, answer) => {
    let body = ''
    for await (const part of asked) body += part
    const { method = '', url: path = '', headers } = asked
    got.push({ method, path, headers, body })
    answer.writeHead(statuses.shift() ?? 200).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** A ledger whose checkpoints go there. */
async function sendTo(place: RemoteStoreConfig, records: number) {
  const reports: (string | undefined)[] = []
  const second = new RemoteCheckpointStore({
    place,
    onState: (why) => reports.push(why),
    retryMs: 20,
  })
  const onCheckpoint = (checkpoint: Checkpoint) => second.send(checkpoint)
  const ledger = Ledger.open({ directory: freshDirectory(), checkpoints: { signer, onCheckpoint } })
  for (let n = 0; n < records; n++) await ledger.intent(decisionEntry(n))
  ledger.close()
  return { second, reports }
}

test('a file gets them line by line', async () => {
  const file = join(freshDirectory(), 'audit.jsonl')
  const { second } = await sendTo({ kind: 'file', file }, 5)
  await second.close()
  const last = readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? ''
  expect(readCheckpoint(last, 'here')).toMatchObject({ seq: 5 })
  expect(findCheckpointFault(readCheckpoint(last, 'here'), signer.publicKey)).toBeUndefined()
})

test('a webhook that fails is reported once, retried, and gets the newest', async () => {
  const { got, url } = await serve([500, 500])
  const { second, reports } = await sendTo(
    { kind: 'webhook', url, secret: 'a secret of some length' },
    3,
  )
  await vi.waitFor(() => expect(reports.at(-1)).toBeUndefined(), { timeout: 60_000 })
  await vi.waitFor(() => expect(reports).toHaveLength(2), { timeout: 60_000 })
  expect(reports[0]).toContain('500')
  await second.close()
  const { headers, body } = got.at(-1) as Got
  expect(readCheckpoint(body, 'here').seq).toBe(3)
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const mac = createHmac('sha256', 'a secret of some length').update(content).digest('base64')
  expect(headers['webhook-signature']).toBe(`v1,${mac}`)
})

test('a bucket gets one object each, signed as S3 requires', async () => {
  const { got, url } = await serve()
  const { second } = await sendTo({ kind: 's3', endpoint: url, ...S3 }, 2)
  await second.close()
  const { method, path, headers, body } = got.at(-1) as Got
  expect(method).toBe('PUT')
  expect(path).toMatch(/^\/audit\/gate%201\/000000000000002-[0-9a-f]{16}\.json$/)
  expect(readCheckpoint(body, 'here').seq).toBe(2)
  expect(headers.authorization).toBe(signatureOf(got.at(-1) as Got))
})

test('a dead store does not keep the gate from stopping', async () => {
  const place = {
    kind: 'webhook',
    url: 'http://127.0.0.1:9',
    secret: 'a secret of some length',
  } as const
  const { second, reports } = await sendTo(place, 1)
  await second.close(200)
  expect(reports[0]).toContain('cannot be reached')
  expect(second.why).toContain('cannot be reached')
})

/** Signature Version 4 by its definition, over the received request. */
function signatureOf({ method, path, headers }: Got): string {
  const given = String(headers.authorization)
  const names = /SignedHeaders=([^,]+)/.exec(given)?.[1] ?? ''
  const time = String(headers['x-amz-date'])
  const scope = `${time.slice(0, 8)}/${S3.region}/s3/aws4_request`
  const canonical = [
    method,
    path,
    '',
    ...names.split(';').map((name) => `${name}:${headers[name]}`),
    '',
    names,
    String(headers['x-amz-content-sha256']),
  ].join('\n')
  const digest = createHash('sha256').update(canonical).digest('hex')
  const text = ['AWS4-HMAC-SHA256', time, scope, digest].join('\n')
  const key = [time.slice(0, 8), S3.region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${S3.secretKey}`,
  )
  const signature = createHmac('sha256', key).update(text).digest('hex')
  return `AWS4-HMAC-SHA256 Credential=${S3.accessKey}/${scope}, SignedHeaders=${names}, Signature=${signature}`
}

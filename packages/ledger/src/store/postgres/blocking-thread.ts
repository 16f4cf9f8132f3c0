// The thread behind blocking-connection.ts: owns one connection to PostgreSQL and runs batches of statements,
// one batch at a time, each in one round trip. A batch that fails is rolled back; one that takes too long loses its
// connection, because its effect is unknown. Uses nothing of a database session, so that PgBouncer in transaction mode works.

import { type MessagePort, workerData } from 'node:worker_threads'
import { Client, types } from 'pg'
import { BLOCKING_DEADLINE_MS } from '../limits.ts'
import { toClientConfig } from './address.ts'
import type { BlockingReply, BlockingRequest, BlockingThreadData } from './blocking-connection.ts'

const { address, bell, port } = workerData as BlockingThreadData & { readonly port: MessagePort }
const INT8 = 20
types.setTypeParser(INT8, Number)

let client: Client | undefined

port.on('message', async (request: BlockingRequest) => {
  if (request.statements.length === 0) return forget()
  port.postMessage(await answer(request))
  Atomics.add(bell, 0, 1)
  Atomics.notify(bell, 0)
})

async function answer(request: BlockingRequest): Promise<BlockingReply> {
  const { id, isContinued, statements } = request
  const timer = setTimeout(forget, BLOCKING_DEADLINE_MS)
  try {
    if (isContinued === true && client === undefined) throw new Error('the connection was lost')
    const connected = await connect()
    // Sent together: after one that fails, the database refuses the rest of the transaction, its COMMIT too.
    const found = statements.map(({ text, values }) =>
      values === undefined ? connected.query(text) : connected.query(text, values),
    )
    // A text of several statements has a result for each of them.
    const results = (await Promise.all(found)).map((result) => [result].flat().at(-1)?.rows ?? [])
    return { id, results }
  } catch (error) {
    const { code, message, severity } = error as Error & { code?: string; severity?: string }
    const hadNoEffect = severity === 'ERROR'
    if (!hadNoEffect) forget()
    else await client?.query('ROLLBACK').catch(forget)
    return { id, error: { message, code: hadNoEffect ? String(code) : 'STORE_UNREACHABLE' } }
  } finally {
    clearTimeout(timer)
  }
}

async function connect(): Promise<Client> {
  if (client !== undefined) return client
  const made = new Client({ ...toClientConfig(address), pipeline: true })
  const drop = (): void => {
    if (client === made) client = undefined
  }
  made.on('error', drop)
  made.on('end', drop)
  client = made
  try {
    await made.connect()
  } catch (error) {
    drop()
    throw error
  }
  return made
}

/** What became of the statement under way is unknown. */
function forget(): void {
  const gone = client
  client = undefined
  gone?.connection.stream.destroy()
}

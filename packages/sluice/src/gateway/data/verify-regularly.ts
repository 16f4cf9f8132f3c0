// Verifies the chain of the ledger by itself, some time after the start and then regularly, as
// `sluice ledger verify` does. In a thread of its own: it takes minutes for a ledger of years, and no call
// waits for it. Started with alerts, which tell of a chain that does not verify.

import { once } from 'node:events'
import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Log } from '../shared/log.ts'
import { VERIFY_AGAIN_MS } from './limits.ts'
import type { VerificationRequest, VerifiedChain } from './verification-thread.ts'

export interface VerificationOptions extends VerificationRequest {
  readonly everyMs: number
  /** With what is wrong; undefined if nothing is. */
  readonly onVerified: (problem: string | undefined) => void
  readonly log: Log
}

/** Returns what ends it. */
export function verifyRegularly(options: VerificationOptions): () => void {
  const { everyMs, onVerified, log } = options
  const soonMs = Math.min(everyMs, VERIFY_AGAIN_MS)
  const end = new AbortController()
  let timer: NodeJS.Timeout
  const plan = (ms: number): void => {
    timer = setTimeout(() => void look(), ms).unref()
  }
  const look = async (): Promise<void> => {
    let problem: string | undefined
    try {
      ;({ problem } = await verifyInThread(options, end.signal))
      if (problem !== undefined)
        log('error', 'the chain of the ledger does not verify', { why: problem })
      onVerified(problem)
    } catch (error) {
      if (end.signal.aborted) return
      log('warn', 'the ledger could not be verified', { why: (error as Error).message })
    }
    if (!end.signal.aborted) plan(problem === undefined ? everyMs : soonMs)
  }
  plan(soonMs)
  return () => {
    clearTimeout(timer)
    end.abort()
  }
}

async function verifyInThread(
  { directory, key }: VerificationRequest,
  signal: AbortSignal,
): Promise<VerifiedChain> {
  const file = join(import.meta.dirname, `verification-thread${extname(import.meta.filename)}`)
  const worker = new Worker(file, { workerData: { directory, key } satisfies VerificationRequest })
  worker.unref()
  try {
    const [verified] = (await once(worker, 'message', { signal })) as [VerifiedChain]
    return verified
  } finally {
    await worker.terminate()
  }
}

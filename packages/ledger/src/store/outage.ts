// What a caller is told of a fault of the store: that it is temporary, and when to try again. Addresses of databases,
// their users and paths of this machine are for the log and `sluice status`. Everything that answers with the
// text of an error uses this.

import { StoreError, type StoreErrorCode } from './errors.ts'
import { UNAVAILABLE_RETRY_MS } from './limits.ts'

/** Tells of what a caller did, without a place. */
const OF_CALLER: ReadonlySet<StoreErrorCode> = new Set(['STORE_CONFLICT'])
const OUTAGE = `temporary outage: the store of the gate cannot be used; try again in ${UNAVAILABLE_RETRY_MS / 1_000} s`

/** Whether an error, or what caused it, is a fault of the store. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof StoreError) return !OF_CALLER.has(error.code)
  return isOfDatabase(error) || isOutage(error.cause)
}

/** Puts an error into words for the caller. */
export function describeToCaller(error: unknown): string {
  return isOutage(error) ? OUTAGE : error instanceof Error ? error.message : String(error)
}

/** PostgreSQL gives its errors a severity and an SQLSTATE. */
function isOfDatabase(error: Error): boolean {
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown }
  return typeof severity === 'string' && typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)
}

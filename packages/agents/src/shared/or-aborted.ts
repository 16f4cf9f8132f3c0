// A wait that can be given up. Called where runs and requests of other gates wait.

/** What the promise gives, or a rejection with the signal's reason at once when it is aborted. The work goes on. */
export function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.finally(() => signal.removeEventListener('abort', abort)).then(resolve, reject)
  })
}

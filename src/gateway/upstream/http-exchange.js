// One HTTP request and its response, on undici's dispatch: told piece by piece, paused by whoever
// receives, ended at any time, and known to be unwritten where it is. Never follows a redirect and
// never sends twice. Used by the HTTP transports of this folder.
export class Exchange {
  /** A byte of the request may have left. */
  written = false
  /** Over, one way or the other: no event comes any more. */
  over = false
  #events
  #controller
  #held = false
  #timer
  constructor(pool, request, events) {
    this.#events = events
    // After the caller has the object that the events are about.
    queueMicrotask(() => {
      if (!this.over) pool.dispatch({ ...request, body: request.body ?? null }, this)
    })
  }
  /** The receiver is slow. */
  pause() {
    this.#held = true
    this.#controller?.pause()
  }
  resume() {
    this.#held = false
    if (this.#timer === undefined) this.#controller?.resume()
  }
  /** The server is too fast: reads on after so long. */
  rest(waitMs) {
    if (waitMs === 0 || this.#timer !== undefined) return
    this.#controller?.pause()
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (!this.#held) this.#controller?.resume()
    }, waitMs)
    this.#timer.unref()
  }
  abort() {
    this.#finish()
    this.#controller?.abort(new Error('ended by the gate'))
  }
  onRequestStart(controller) {
    this.#controller = controller
    // A second start would be a second sending of what may have been done already.
    if (this.over || this.written) controller.abort(new Error('not to be sent'))
    this.written = true
  }
  onResponseStart(controller, status, headers) {
    if (status < 200 || this.over) return
    if (this.#held) controller.pause()
    this.#events.onHead(status, headers)
  }
  onResponseData(_, chunk) {
    if (!this.over) this.#events.onData(chunk)
  }
  onResponseEnd() {
    if (this.over) return
    this.#finish()
    this.#events.onEnd()
  }
  onResponseError(_, error) {
    if (this.over) return
    this.#finish()
    this.#events.onError(error)
  }
  #finish() {
    this.over = true
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

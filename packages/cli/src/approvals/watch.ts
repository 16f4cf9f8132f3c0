// `sluice approvals watch`: a live inbox on the terminal, with keys to decide. News comes from the gate
// as it happens; a verdict asks for the PIN at the terminal device, as every other command does.

import type { ApprovalRequest } from '@sluice/access/approvals/approval'
import {
  APPROVAL_NEWS,
  type ApprovalsListing,
  DECIDE_APPROVAL,
  LIST_APPROVALS,
} from '@sluice/gateway/operations/approvals'
import { OperationClient } from '../connect/ask-operation.ts'
import { DATA, type DataOptions, findData } from '../connect/find-data.ts'
import { PROOF } from '../connect/prove-person.ts'
import { defineCommand } from '../terminal/define-command.ts'
import { CliError } from '../terminal/errors.ts'
import { Output, printable } from '../terminal/output.ts'
import { formatRequest, pageOf } from './source.ts'

const EXAMPLES = `
Examples:
  sluice approvals watch
  sluice approvals watch --data ./.sluice --as ann

Keys: j and k (or the arrows) choose, Enter shows or hides everything, a approves, d denies, q leaves.
A verdict asks for your PIN. Without a terminal each request is one line as it comes.`

export const addApprovalsWatch = defineCommand({
  name: 'watch',
  description: 'a live inbox, with keys to decide',
  options: { ...DATA, ...PROOF },
  json: false,
  examples: EXAMPLES,
  run: async (options) => {
    const { data } = findData(options)
    const inbox = new Inbox(data, options)
    await (process.stdin.isTTY && process.stdout.isTTY ? inbox.run() : inbox.print())
  },
})

class Inbox {
  readonly #data: string
  readonly #options: DataOptions
  readonly #output = new Output({})
  #requests: readonly ApprovalRequest[] = []
  #chosen = ''
  #isOpen = false
  #message = ''
  readonly #left = new AbortController()
  /** A person types a PIN: nothing is drawn over that. */
  #isAsking = false

  constructor(data: string, options: DataOptions) {
    this.#data = data
    this.#options = options
  }

  /** If nobody can press keys. */
  async print(): Promise<void> {
    const seen = new Set<string>()
    for await (const { requests } of this.#news())
      for (const request of [...requests].reverse()) {
        if (seen.has(request.id)) continue
        seen.add(request.id)
        this.#output.line(formatRequest(request, this.#output, Date.now()))
      }
  }

  async run(): Promise<void> {
    const { stdin } = process
    const onKey = (key: Buffer): void => void this.#key(key.toString())
    const tick = setInterval(() => this.#draw(), 1_000)
    stdin.setRawMode(true)
    stdin.on('data', onKey)
    stdin.resume()
    process.stdout.write('\x1b[?1049h')
    try {
      for await (const { requests } of this.#news()) {
        this.#requests = requests
        if (!requests.some(({ id }) => id === this.#chosen)) this.#choose(0)
        this.#draw()
      }
    } finally {
      clearInterval(tick)
      stdin.off('data', onKey)
      stdin.setRawMode(false)
      stdin.pause()
      process.stdout.write('\x1b[?1049l')
    }
  }

  async *#news(): AsyncGenerator<ApprovalsListing> {
    const { signal } = this.#left
    const client = this.#client()
    let listed = await client.ask(LIST_APPROVALS, {})
    while (!signal.aborted) {
      yield listed
      const { news = 0 } = listed
      listed = await client.ask(APPROVAL_NEWS, { news }, { signal }).catch((error: Error) => {
        if (!signal.aborted) throw error
        return { requests: [] }
      })
    }
  }

  /** Another one for each verdict, which asks for a PIN of its own. */
  #client(): OperationClient {
    return new OperationClient({ data: this.#data }, this.#options)
  }

  #choose(at: number): void {
    const last = this.#requests.length - 1
    this.#chosen = this.#requests[Math.max(0, Math.min(at, last))]?.id ?? ''
  }

  async #key(key: string): Promise<void> {
    if (this.#isAsking) return
    const at = this.#requests.findIndex(({ id }) => id === this.#chosen)
    if (key === 'q' || key === '\x03') {
      return this.#left.abort()
    }
    if (key === 'j' || key === '\x1b[B') this.#choose(at + 1)
    else if (key === 'k' || key === '\x1b[A') this.#choose(at - 1)
    else if (key === '\r') this.#isOpen = !this.#isOpen
    else if (key === 'a' || key === 'd') await this.#decide(key === 'a' ? 'approve' : 'deny')
    this.#draw()
  }

  async #decide(verdict: 'approve' | 'deny'): Promise<void> {
    const request = this.#requests.find(({ id }) => id === this.#chosen)
    if (request === undefined) return
    const { id, edits } = request
    const { stdin } = process
    this.#isOpen = true
    this.#draw()
    this.#isAsking = true
    stdin.pause()
    stdin.setRawMode(false)
    try {
      // All of it, off the screen that has only so many rows: a long argument must not hide another.
      const page = pageOf(request, this.#output, Date.now())
      process.stdout.write(`\x1b[?1049l${page.join('\n')}\n${verdict} ${printable(id)}\n`)
      const { state } = await this.#client().ask(DECIDE_APPROVAL, { id, verdict, edits })
      this.#message = `${id}: ${state}`
    } catch (error) {
      if (!(error instanceof CliError)) throw error
      this.#message = `${error.message}: ${error.help}`
    } finally {
      this.#isAsking = false
      process.stdout.write('\x1b[?1049h')
      stdin.setRawMode(true)
      stdin.resume()
    }
  }

  #draw(): void {
    if (this.#isAsking || this.#left.signal.aborted) return
    const output = this.#output
    const nowMs = Date.now()
    const lines = this.#requests.flatMap((request) => {
      const isChosen = request.id === this.#chosen
      const line = `${isChosen ? '>' : ' '} ${formatRequest(request, output, nowMs)}`
      return isChosen && this.#isOpen ? [line, ...pageOf(request, output, nowMs).slice(1)] : [line]
    })
    const none = this.#requests.length === 0 ? ['nothing waits for a person'] : []
    const head = output.paint('dim', 'a approve  d deny  Enter details  j k choose  q leave')
    const screen = [head, ...none, ...lines, printable(this.#message)]
    const rows = process.stdout.rows || 24
    process.stdout.write(`\x1b[2J\x1b[H${screen.slice(0, rows - 1).join('\r\n')}\r\n`)
  }
}

// A link to a server whose era is not known yet: finds it out with the first message, and bridges
// where it is not the client's. A client with a session tries `initialize` and falls back on
// `server/discover`; a stateless one the other way round. What was found is remembered.

import type { Era } from '../../wire/eras.ts'
import { META, STATELESS_REVISION } from '../../wire/eras.ts'
import { withMembers } from '../../wire/members.ts'
import type { Answer, Id, Message } from '../../wire/message.ts'
import { RPC } from '../../wire/rpc-codes.ts'
import { writeRequest } from '../../wire/write-message.ts'
import { ERA_PROBE_MS_MAX } from '../limits.ts'
import type { Related } from '../link.ts'
import { AsSession } from './as-session.ts'
import { AsStateless } from './as-stateless.ts'
import { failureAnswer } from './failure-answer.ts'
import type { Carried, UpstreamFailure, UpstreamLink } from './upstream.ts'

export interface EitherEraOptions {
  readonly clientEra: Era
  /** What is known of the server, and learnt. */
  readonly eras: Partial<Record<Era, boolean>>
  /** A process speaks both eras over one link; over HTTP each has its own. */
  readonly start: (era: Era, handle?: string) => UpstreamLink
  /** Of a session that began over another link. */
  readonly handle?: string | undefined
  readonly isProcess: boolean
  readonly log: (text: string) => void
}

const PROBE = 'sluice-era'
const OF_NEWER_SERVERS: ReadonlySet<number> = new Set([
  RPC.headerMismatch,
  RPC.missingCapability,
  RPC.unsupportedVersion,
])
/** It says nothing about the era. */
const NOT_THE_ERA: ReadonlySet<string> = new Set([
  'UPSTREAM_UNREACHABLE',
  'UPSTREAM_NEEDS_LOGIN',
  'UPSTREAM_NOT_STARTED',
  'UPSTREAM_BUSY',
])

export class EitherEra implements UpstreamLink {
  onMessage: (message: Message, related?: Related) => void = () => {}
  onClose: (why: string) => void = () => {}
  onFailure: (failure: UpstreamFailure) => void = (failure) => {
    const answer = failureAnswer(failure)
    if (answer !== undefined) this.onMessage(answer)
  }
  readonly ended: Promise<void>
  readonly #options: EitherEraOptions
  readonly #waiting: [text: string, carried: Carried | undefined][] = []
  /** What was started; a process stands for both. */
  readonly #started = new Map<Era, UpstreamLink>()
  #link: UpstreamLink | undefined
  #taken: Era | undefined
  #closed = false
  #settleEnded: () => void = () => {}

  constructor(options: EitherEraOptions) {
    this.#options = options
    this.ended = new Promise((resolve) => {
      this.#settleEnded = resolve
    })
    // A process is there from the start, as it would be without a gate.
    if (options.isProcess) this.#start(options.clientEra)
    const { clientEra, eras, handle } = options
    if (handle !== undefined) this.#goOn(handle)
    if (handle !== undefined) return
    if (eras[clientEra] === true) this.#take(clientEra)
    if (eras[clientEra] === false) this.#take(clientEra === 'session' ? 'stateless' : 'session')
  }

  get failure(): UpstreamFailure | undefined {
    return this.#link?.failure ?? this.#started.get(this.#options.clientEra)?.failure
  }

  get handle(): string | undefined {
    const inner = this.#link?.handle
    const { isProcess } = this.#options
    if (this.#taken === undefined || inner === undefined || isProcess) return undefined
    return JSON.stringify([this.#taken, inner])
  }

  send(text: string, carried?: Carried): boolean {
    if (this.#closed) return false
    if (this.#link !== undefined) return this.#link.send(text, carried)
    this.#waiting.push([text, carried])
    if (this.#waiting.length === 1) void this.#decide(text, carried)
    return true
  }

  pause(request?: Id): void {
    this.#link?.pause(request)
  }

  resume(request?: Id): void {
    this.#link?.resume(request)
  }

  abort(request: Id): void {
    const at = this.#waiting.findIndex(([, carried]) => carried?.passing?.id === request)
    // Only what still waits; the first is being tried.
    if (at > 0) this.#waiting.splice(at, 1)
    this.#link?.abort(request)
  }

  close(why: string): void {
    if (this.#closed) return
    this.#closed = true
    const links = [...this.#started.values()]
    for (const link of links) link.close(why)
    this.onClose(why)
    void Promise.all(links.map(({ ended }) => ended)).then(this.#settleEnded)
  }

  async #decide(text: string, carried: Carried | undefined): Promise<void> {
    const { clientEra, eras } = this.#options
    if (clientEra === 'stateless') {
      const { era, isSure } = await this.#probe()
      if (isSure) eras.stateless = era === 'stateless'
      return this.#take(era)
    }
    if (carried?.passing?.method !== 'initialize') return this.#take('session')
    const session = this.#start('session')
    const first = await this.#tryOut(session, carried.passing.id, text, carried)
    if (first.answer?.result !== undefined) eras.session = true
    const mayBeNewer =
      first.answer?.error !== undefined ||
      (first.failure !== undefined && !NOT_THE_ERA.has(first.failure.code))
    if (mayBeNewer && !this.#closed) {
      const { era, isSure } = await this.#probe()
      if (isSure && era === 'stateless') {
        Object.assign(eras, { session: false, stateless: true })
        return this.#take(era)
      }
    }
    this.#waiting.shift()
    this.#take('session')
    if (first.answer !== undefined) this.onMessage(first.answer)
    else if (first.failure !== undefined) this.onFailure(first.failure)
  }

  /** Which era the server is asked in. */
  async #probe(): Promise<{ era: Era; isSure: boolean }> {
    const link = this.#start('stateless')
    const meta = {
      [META.version]: STATELESS_REVISION,
      [META.client]: { name: 'sluice', version: '1' },
      [META.capabilities]: {},
    }
    const params = withMembers(undefined, { _meta: JSON.stringify(meta) })
    const passing = { id: PROBE, method: 'server/discover', params }
    const text = writeRequest(PROBE, passing.method, params.text)
    const { answer, failure } = await this.#tryOut(link, PROBE, text, { passing })
    // Whoever cannot be reached says so in either era.
    if (failure !== undefined && NOT_THE_ERA.has(failure.code))
      return { era: 'stateless', isSure: false }
    const isNewer =
      answer?.error === undefined
        ? answer?.result?.includes(`"${STATELESS_REVISION}"`) === true
        : OF_NEWER_SERVERS.has(answer.error.code)
    const isSure = answer !== undefined || failure !== undefined
    return { era: isNewer ? 'stateless' : 'session', isSure }
  }

  /** Sends one request over a link that is not taken yet. */
  #tryOut(
    link: UpstreamLink,
    id: Id,
    text: string,
    carried: Carried,
  ): Promise<{ answer?: Answer; failure?: UpstreamFailure }> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve({}), ERA_PROBE_MS_MAX)
      timer.unref()
      link.onMessage = (message) => {
        if (message.kind !== 'answer' || message.id !== id) return
        clearTimeout(timer)
        resolve({ answer: message })
      }
      link.onFailure = (failure) => {
        clearTimeout(timer)
        resolve({ failure })
      }
      link.onClose = (why) => {
        clearTimeout(timer)
        const { failure } = link
        resolve(failure === undefined ? {} : { failure: { ...failure, request: id } })
        if (this.#options.isProcess) this.close(why)
      }
      link.send(text, carried)
    })
  }

  #start(era: Era): UpstreamLink {
    const { isProcess, start } = this.#options
    const there = this.#started.get(era)
    if (there !== undefined) return there
    const link = start(era)
    this.#started.set(era, link)
    if (isProcess) this.#started.set(era === 'session' ? 'stateless' : 'session', link)
    return link
  }

  #goOn(handle: string): void {
    const [era, inner] = JSON.parse(handle) as [Era, string]
    const isSession = era === 'session'
    this.#started.set(era, this.#options.start(era, isSession ? inner : undefined))
    this.#take(era)
    if (this.#link instanceof AsSession) this.#link.takeUp(inner)
  }

  /** From here on everything goes over this one link. */
  #take(era: Era): void {
    if (this.#closed) return
    const { clientEra, log } = this.#options
    const inner = this.#start(era)
    for (const other of this.#started.values()) {
      if (other === inner) continue
      other.onClose = () => {}
      other.close('another era is spoken')
    }
    const link =
      era === clientEra
        ? inner
        : era === 'session'
          ? new AsStateless(inner, log)
          : new AsSession(inner, log)
    link.onMessage = (message, related) => this.onMessage(message, related)
    link.onFailure = (failure) => this.onFailure(failure)
    link.onClose = (why) => this.close(why)
    this.#link = link
    this.#taken = era
    for (const [text, carried] of this.#waiting.splice(0)) link.send(text, carried)
  }
}

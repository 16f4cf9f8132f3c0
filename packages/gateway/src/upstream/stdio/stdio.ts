// A link to a server that is a process: spawned in a group of its own with a reduced environment,
// spoken to over stdin and stdout, a message a line, read strictly. Whatever the process does, only
// this link notices. Owned by the relay; restart.ts says when to start it again.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { readSecrets, type Secret, SecretError } from '@sluice/access/identity/oauth/secret-text'
import type { DecodedLine } from '@sluice/protocol/lines'
import type { RequestId } from '@sluice/protocol/message'
import { oneLine } from '@sluice/protocol/write-message'
import type { Isolation, StartedServer, WrappedServer } from '../../isolation/isolation.ts'
import type { LockedNetwork } from '../../isolation/locked-network.ts'
import { CHILD_VARIABLE, environmentFor } from '../../processes/environment.ts'
import { KILL_WAIT_MS, TERM_GRACE_MS } from '../../processes/limits.ts'
import { endGroup, endMembers } from '../../processes/process-group.ts'
import type { Watcher } from '../../processes/watcher.ts'
import { type Log, shorten } from '../../shared/log.ts'
import { TokenBucket } from '../../shared/token-bucket.ts'
import type { ClientEnvironment } from '../../shared/transport.ts'
import {
  EXIT_DRAIN_MS,
  STDIN_END_GRACE_MS,
  STDIN_QUEUE_LENGTH_MAX,
  STDIN_QUEUE_MESSAGES_MAX,
  STRAY_LINES_LOGGED_PER_SECOND,
  UPSTREAM_MESSAGE_BYTES,
} from '../limits.ts'
import { readUpstreamMessages } from '../read-upstream-messages.ts'
import { describeSecretFault } from '../secret-fault.ts'
import type { Upstream, UpstreamEvents, UpstreamFailure } from '../upstream.ts'
import { describeTooLarge, readMessageHead, UpstreamState } from '../upstream-state.ts'
import { StderrLog } from './stderr-log.ts'
import { StdioReader } from './stdio-reader.ts'
import { StdioWriter } from './stdio-writer.ts'

export interface StdioServerOptions {
  readonly name: string
  readonly command: readonly string[]
  /** What the configuration names; the allow-list is added to it. */
  readonly env?: Readonly<Record<string, Secret>> | undefined
  /** Names that are the client's to fill in, and what the client has handed over. */
  readonly listed?: readonly string[] | undefined
  readonly client?: ClientEnvironment | undefined
  readonly cwd?: string | undefined
  readonly log: Log
  /** Ends the process should the gate be killed. */
  readonly watcher?: Watcher | undefined
  /** The isolation of the process; without it there is none. */
  readonly isolation?: Isolation | undefined
  readonly sandbox?: StartedServer['sandbox']
  /** Size of one message of the server. */
  readonly messageBytesMax?: number | undefined
  /** How long the end of stdin, then SIGTERM, may take to work. */
  readonly stdinEndGraceMs?: number
  readonly termGraceMs?: number
}

/** Spawns at once. */
export class StdioUpstream implements Upstream {
  failure: UpstreamFailure | undefined
  readonly handle = undefined
  readonly pausesApart = false
  readonly #ended = Promise.withResolvers<void>()
  readonly ended = this.#ended.promise
  /** Lines on stdout that were no message. */
  strayLines = 0

  readonly #options: StdioServerOptions
  readonly #events: UpstreamEvents
  readonly #conversation = new UpstreamState()
  readonly #strayBudget = new TokenBucket(STRAY_LINES_LOGGED_PER_SECOND, performance.now())
  #child: ChildProcessWithoutNullStreams | undefined
  #reader: StdioReader | undefined
  #writer: StdioWriter | undefined
  #stderr: StderrLog | undefined
  #closed = false
  /** How its process ended, once it has. */
  #exit: string | undefined
  #lastDeed: string | undefined
  #outputEnded = false
  #isIsolated = false

  constructor(options: StdioServerOptions, events: UpstreamEvents) {
    this.#events = events
    this.#options = options
    try {
      this.#spawn()
    } catch (error) {
      // Arguments no system takes, such as one with a NUL: after the callbacks are set.
      process.nextTick(() => this.#notStarted(error as Error))
    }
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  get isBusy(): boolean {
    return this.#conversation.open.size > 0
  }

  send(text: string): boolean {
    if (this.#closed) return false
    const sent = readMessageHead(text)
    // The caller promises one line; a second one would be a call that nobody judged.
    const line = oneLine(text)
    const isRequest = sent.id !== undefined && sent.method !== undefined
    if (this.#writer?.send(line, isRequest) === false) {
      this.#refuseFull(sent.id, line.length)
      return true
    }
    this.#conversation.noteSent(sent)
    this.#reader?.expectOne()
    return true
  }

  pause(): void {
    this.#reader?.pause()
  }

  resume(): void {
    this.#reader?.resume()
  }

  abort(request: RequestId): void {
    this.#conversation.open.delete(request)
  }

  close(why: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#reader?.stop()
    for (const line of this.#writer?.end() ?? []) this.#neverSent(line, why)
    this.#events.onClose(why)
    void this.#end()
  }

  #spawn(): void {
    const { cwd, env: written = {}, listed, client, log, watcher } = this.#options
    const named = readSecrets(written)
    const { env: own, platform } = process
    const mark = watcher === undefined ? {} : { [CHILD_VARIABLE]: watcher.mark }
    const variables = environmentFor({ own, named, listed, client, platform })
    const env = { ...variables, ...mark }
    const { words, locked } = this.#isolate(env)
    const [program = '', ...args] = words
    const child = spawn(program, args, {
      cwd,
      env: locked === undefined ? env : {},
      stdio: locked === undefined ? 'pipe' : ['pipe', 'pipe', 'pipe', 'ipc'],
      // A group of its own. On Windows it would be a window of its own.
      detached: process.platform !== 'win32',
      windowsHide: true,
    }) as ChildProcessWithoutNullStreams
    this.#child = child
    if (locked !== undefined && child.pid !== undefined) launch(child, locked)
    if (child.pid !== undefined) watcher?.add(child.pid)
    this.#stderr = new StderrLog(child.stderr, log)
    this.#writer = new StdioWriter(child.stdin, () => this.#stuck())
    this.#reader = new StdioReader(
      child.stdout,
      (line) => this.#take(line),
      () => {
        this.#outputEnded = true
        this.#deaf('closed its output')
      },
      this.#options.messageBytesMax,
    )
    child.stderr.on('close', () => {
      if (this.#exit !== undefined) this.#deaf(this.#exit)
    })
    // EPIPE: it no longer reads. It may still say why, and has usually exited.
    child.stdin.on('error', () => {
      this.#writer?.hold()
      this.#deaf('closed its input')
    })
    child.on('error', (error) => {
      if (child.pid === undefined) this.#notStarted(error)
    })
    child.on('exit', (code, signal) => {
      this.#exit = signal === null ? `exited with code ${code}` : `was ended by ${signal}`
      this.#writer?.hold()
      this.#deaf(this.#exit)
    })
  }

  /** The words that start the process. */
  #isolate(env: Readonly<Record<string, string>>): WrappedServer {
    const { isolation, name, command, cwd = process.cwd(), sandbox } = this.#options
    const wrapped = isolation?.wrap({ name, command, cwd, sandbox, env })
    this.#isIsolated = wrapped !== undefined
    return wrapped ?? { words: command }
  }

  #take(line: DecodedLine): void {
    if (this.#closed) return
    if (!line.ok) {
      this.#stray('', line.message)
      if (line.code === 'WIRE_LINE_LENGTH') this.#lostAnswer()
      return
    }
    if (line.text.trim() === '') return
    const messages = readUpstreamMessages(line.text, this.#conversation.batches)
    if (!messages.ok) {
      this.#stray(line.text, messages.why)
      if (messages.answers !== undefined && this.#conversation.open.delete(messages.answers))
        this.#fail(
          'UPSTREAM_BAD_ANSWER',
          `answered with what no peer may: ${messages.why}`,
          messages.answers,
        )
      return
    }
    for (const message of messages.messages) {
      this.#conversation.received(message)
      if (!this.#closed) this.#events.onMessage(message)
    }
  }

  /** A line was too long to be read; where one request is open, it was that one's answer. */
  #lostAnswer(): void {
    const [only, ...others] = this.#conversation.open.keys()
    const request = others.length === 0 ? only : undefined
    if (request !== undefined) this.#conversation.open.delete(request)
    const { messageBytesMax = UPSTREAM_MESSAGE_BYTES } = this.#options
    this.#fail('UPSTREAM_TOO_LARGE', describeTooLarge(messageBytesMax), request)
  }

  #stray(text: string, why: string): void {
    this.strayLines += 1
    if (!this.#strayBudget.take(1, performance.now())) return
    this.#options.log('warn', 'skipped a line on stdout that is not a message', {
      why,
      line: shorten(text, 200),
      strayLines: this.strayLines,
    })
  }

  #notStarted(error: Error): void {
    this.#writer?.hold()
    const [program = ''] = this.#options.command
    if (error instanceof SecretError) {
      const { log, name } = this.#options
      log('warn', error.message)
      return this.#closeWith(describeSecretFault(name, error.message))
    }
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such program, or no such `cwd`' : error.message
    this.#closeBy('UPSTREAM_NOT_STARTED', `could not be started: \`${program}\`: ${why}`)
  }

  /** The server will not answer any more; what it said before is still read, for a while. */
  #deaf(what: string): void {
    if (this.#closed) return
    if (this.#lastDeed === undefined) setTimeout(() => this.#reportEnd(), EXIT_DRAIN_MS).unref()
    if (this.#exit === undefined) this.#lastDeed ??= what
    else this.#lastDeed = this.#exit
    if (this.#exit !== undefined && this.#outputEnded && this.#child?.stderr.closed)
      this.#reportEnd()
  }

  #reportEnd(): void {
    const words = this.#stderr?.lastWords() ?? ''
    const lastOutput = words === '' ? '' : `; it last said: ${words}`
    this.#closeBy('UPSTREAM_EXITED', this.#lastDeed + lastOutput)
  }

  /** Back-pressure: what waits already goes on, and so does everybody else who uses the process. */
  #refuseFull(request: RequestId | undefined, length: number): void {
    const name = `\`${this.#options.name}\``
    const message = `the server ${name} reads more slowly than it is sent: ${length} characters do not fit beside what waits (at most ${STDIN_QUEUE_LENGTH_MAX} characters, ${STDIN_QUEUE_MESSAGES_MAX} messages)`
    const help = 'nothing was sent: call again when other calls are answered'
    queueMicrotask(() =>
      this.#events.onFailure({ code: 'UPSTREAM_BUSY', message, help, request, repeatable: true }),
    )
  }

  #stuck(): void {
    this.#closeBy('UPSTREAM_STUCK', 'does not read what it is sent')
  }

  #closeBy(code: UpstreamFailure['code'], what: string): void {
    if (this.#closed) return
    this.#closeWith({ code, message: `the server \`${this.#options.name}\` ${what}` })
  }

  #closeWith(failure: Pick<UpstreamFailure, 'code' | 'message' | 'detail'>): void {
    if (this.#closed) return
    this.failure = { ...failure, request: undefined, repeatable: false }
    this.close(failure.message)
  }

  #fail(code: UpstreamFailure['code'], what: string, request: RequestId | undefined): void {
    const message = `the server \`${this.#options.name}\` ${what}`
    this.#events.onFailure({ code, message, request, repeatable: false })
  }

  #neverSent(line: string, why: string): void {
    const { id, method } = readMessageHead(line)
    if (id === undefined || method === undefined) return
    this.#conversation.open.delete(id)
    this.#events.onFailure({
      code: 'UPSTREAM_UNREACHABLE',
      message: why,
      request: id,
      repeatable: true,
    })
  }

  async #end(): Promise<void> {
    const pid = this.#child?.pid
    if (pid !== undefined) {
      const { stdinEndGraceMs = STDIN_END_GRACE_MS, termGraceMs = TERM_GRACE_MS } = this.#options
      if (this.#exit === undefined) await this.#exitWithin(stdinEndGraceMs)
      // To the end of bubblewrap the kernel kills all others at once: they get their time before it.
      if (this.#isIsolated) await endMembers(pid, termGraceMs)
      // Also if the process went by itself: what it started may be there still.
      if (await endGroup(pid, termGraceMs)) this.#options.watcher?.remove(pid)
      else this.#options.log('error', 'a process of the server could not be ended', { pid })
      // It is gone, but as a zombie until its exit was seen.
      if (this.#exit === undefined) await this.#exitWithin(KILL_WAIT_MS)
    }
    this.#child?.stdout.destroy()
    this.#child?.stderr.destroy()
    this.#ended.resolve()
  }

  #exitWithin(graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, graceMs)
      this.#child?.once('exit', () => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}

/** Tells the launcher what to become, and takes the sockets that it hands over. */
function launch(
  child: ChildProcessWithoutNullStreams,
  { order, network }: NonNullable<WrappedServer['locked']>,
): void {
  child.on('message', (message, handle) =>
    network.take(message as { port: number }, handle as Parameters<LockedNetwork['take']>[1]),
  )
  child.once('exit', () => network.close())
  child.send(order, () => {})
}

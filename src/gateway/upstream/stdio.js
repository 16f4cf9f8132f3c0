// A link to a server that is a process: spawned in a group of its own with a reduced environment,
// spoken to over stdin and stdout, a message a line, read strictly. Whatever the process does, only
// this link notices. Called by whoever owns the sessions; restart.ts says when to start it again.
import { spawn } from 'node:child_process'
import { oneLine } from '../../wire/write-message.js'
import {
  EXIT_DRAIN_MS,
  KILL_WAIT_MS,
  STDIN_END_GRACE_MS,
  STRAY_LINES_LOGGED_PER_SECOND,
  TERM_GRACE_MS,
} from '../limits.js'
import { environmentFor } from './environment.js'
import { failureAnswer } from './failure-answer.js'
import { endGroup } from './process-group.js'
import { readSaid } from './read-said.js'
import { SecondBudget } from './second-budget.js'
import { Conversation, sentOf } from './sent.js'
import { StderrLog, shorten } from './stderr-log.js'
import { StdioReader } from './stdio-reader.js'
import { StdioWriter } from './stdio-writer.js'
/** Spawns at once; set the callbacks before the turn ends. */
export function startStdioServer(options) {
  return new StdioLink(options)
}
export class StdioLink {
  onMessage = () => {}
  onClose = () => {}
  onFailure = (failure) => {
    const answer = failureAnswer(failure)
    if (answer !== undefined) this.onMessage(answer)
  }
  failure
  ended
  /** Lines on stdout that were no message. */
  strayLines = 0
  #options
  #conversation = new Conversation()
  #strayBudget = new SecondBudget(STRAY_LINES_LOGGED_PER_SECOND, performance.now())
  #settleEnded
  #child
  #reader
  #writer
  #stderr
  #closed = false
  /** How its process ended, once it has. */
  #exit
  #lastDeed
  #outputEnded = false
  constructor(options) {
    this.#options = options
    let settle = () => {}
    this.ended = new Promise((resolve) => {
      settle = resolve
    })
    this.#settleEnded = () => settle()
    try {
      this.#spawn()
    } catch (error) {
      // Arguments no system takes, such as one with a NUL: after the callbacks are set.
      process.nextTick(() => this.#notStarted(error))
    }
  }
  get pid() {
    return this.#child?.pid
  }
  send(text) {
    if (this.#closed) return false
    this.#conversation.sent(sentOf(text))
    this.#reader?.expectOne()
    // The caller promises one line; a second one would be a call that nobody judged.
    this.#writer?.send(oneLine(text))
    return true
  }
  pause() {
    this.#reader?.pause()
  }
  resume() {
    this.#reader?.resume()
  }
  abort(request) {
    this.#conversation.open.delete(request)
  }
  close(why) {
    if (this.#closed) return
    this.#closed = true
    this.#reader?.stop()
    for (const line of this.#writer?.end() ?? []) this.#neverSent(line, why)
    this.onClose(why)
    void this.#end()
  }
  #spawn() {
    const { command, cwd, env, log, watcher } = this.#options
    const mark = watcher === undefined ? {} : { SLUICE_CHILD: watcher.mark }
    const child = spawn(command[0] ?? '', command.slice(1), {
      cwd,
      env: { ...environmentFor(process.env, env ?? {}, process.platform), ...mark },
      stdio: 'pipe',
      // A group of its own. On Windows it would be a window of its own.
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    this.#child = child
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
  #take(line) {
    if (this.#closed) return
    if (!line.ok) {
      this.#stray('', line.message)
      if (line.code === 'WIRE_LINE_LENGTH') this.#lostAnswer()
      return
    }
    if (line.text.trim() === '') return
    const said = readSaid(line.text, this.#conversation.batches)
    if (!said.ok) {
      this.#stray(line.text, said.why)
      if (said.answers !== undefined && this.#conversation.open.delete(said.answers))
        this.#fail(
          'UPSTREAM_BAD_ANSWER',
          `answered with what no peer may: ${said.why}`,
          said.answers,
        )
      return
    }
    for (const message of said.messages) {
      this.#conversation.received(message)
      if (!this.#closed) this.onMessage(message)
    }
  }
  /** A line was too long to be read; where one request is open, it was that one's answer. */
  #lostAnswer() {
    const [only, ...others] = this.#conversation.open
    const request = others.length === 0 ? only : undefined
    if (request !== undefined) this.#conversation.open.delete(request)
    this.#fail('UPSTREAM_TOO_LARGE', 'said more in one line than the gate reads', request)
  }
  #stray(text, why) {
    this.strayLines += 1
    if (!this.#strayBudget.take(1, performance.now())) return
    this.#options.log('warn', 'a line on stdout that is no message was passed over', {
      why,
      line: shorten(text, 200),
      strayLines: this.strayLines,
    })
  }
  #notStarted(error) {
    this.#writer?.hold()
    const [program = ''] = this.#options.command
    const { code } = error
    const why = code === 'ENOENT' ? 'there is no such program, or no such `cwd`' : error.message
    this.#closeBy('UPSTREAM_NOT_STARTED', `could not be started: \`${program}\`: ${why}`)
  }
  /** The server will not answer any more; what it said before is still read, for a while. */
  #deaf(what) {
    if (this.#closed) return
    if (this.#lastDeed === undefined) setTimeout(() => this.#reportEnd(), EXIT_DRAIN_MS).unref()
    if (this.#exit === undefined) this.#lastDeed ??= what
    else this.#lastDeed = this.#exit
    if (this.#exit !== undefined && this.#outputEnded && this.#child?.stderr.closed)
      this.#reportEnd()
  }
  #reportEnd() {
    const words = this.#stderr?.lastWords() ?? ''
    const said = words === '' ? '' : `; it last said: ${words}`
    this.#closeBy('UPSTREAM_EXITED', this.#lastDeed + said)
  }
  #stuck() {
    this.#closeBy('UPSTREAM_STUCK', 'does not read what it is sent')
  }
  #closeBy(code, what) {
    if (this.#closed) return
    const message = `the server \`${this.#options.name}\` ${what}`
    this.failure = { code, message, request: undefined, repeatable: false }
    this.close(message)
  }
  #fail(code, what, request) {
    const message = `the server \`${this.#options.name}\` ${what}`
    this.onFailure({ code, message, request, repeatable: false })
  }
  #neverSent(line, why) {
    const { id, method } = sentOf(line)
    if (id === undefined || method === undefined) return
    this.#conversation.open.delete(id)
    this.onFailure({ code: 'UPSTREAM_UNREACHABLE', message: why, request: id, repeatable: true })
  }
  async #end() {
    const pid = this.#child?.pid
    if (pid !== undefined) {
      const { stdinEndGraceMs = STDIN_END_GRACE_MS, termGraceMs = TERM_GRACE_MS } = this.#options
      if (this.#exit === undefined) await this.#exitWithin(stdinEndGraceMs)
      // Also where the process went by itself: what it started may be there still.
      if (await endGroup(pid, termGraceMs)) this.#options.watcher?.remove(pid)
      else this.#options.log('error', 'a process of the server could not be ended', { pid })
      // It is gone, but as a zombie until its exit was seen.
      if (this.#exit === undefined) await this.#exitWithin(KILL_WAIT_MS)
    }
    this.#child?.stdout.destroy()
    this.#child?.stderr.destroy()
    this.#settleEnded()
  }
  #exitWithin(graceMs) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, graceMs)
      this.#child?.once('exit', () => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}

// Lines of a client's shell that run in the box of their session: which tool such a line is, the line that the
// client runs in its place, and what the model is told about the box. Asked by HookGate for each call; the boxes
// themselves are in isolation/.

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cutComment, readShell } from '@sluice/policy/readers/shell-command'
import { LruMap } from '@sluice/policy/structures/lru-map'
import type { HookedCall } from '../../hooks/clients/hook-event.ts'
import { CODING_CLIENTS, type HookClient } from '../../hooks/clients/table.ts'
import type { BoxFailed } from '../../isolation/box-failed.ts'
import type { Boxes } from '../../isolation/boxes.ts'
import { HOOK_NOTED_MAX } from './limits.ts'

/** Ends a line that is to run outside of the box. */
export const OUTSIDE = '# outside'

/** `args.box` of a line, for rules: where it runs, if the client has a `sandbox`. */
export type BoxPlace =
  /** In the box of its session. */
  | 'in'
  /** Outside, because the line says so. */
  | 'outside'
  /** Outside, because there is no box on this machine. */
  | 'none'

/** A session of a client, as its lines have it. */
export interface BoxSession {
  /** Names the box. */
  readonly key: string
  /** The server that stands for the client. */
  readonly server: string
  readonly client: HookClient
  readonly clientPid: number | undefined
}

/** What the client is to do with a line that has been admitted. */
export type PreparedLine =
  | { readonly kind: 'run'; readonly command: string; readonly box: string }
  /** The reason is for the model. */
  | { readonly kind: 'refuse'; readonly why: string }

/** A call as its model wrote it. */
export interface ReportedCall {
  readonly call: HookedCall
  /** The box of its line; undefined if the client ran no line in a box. */
  readonly box?: string
}

export interface BoxLinesOptions {
  readonly boxes: Boxes
  /** Whether the server of a client has a `sandbox`, which is not `off`. */
  readonly isConfined: (server: string) => boolean
}

export class BoxLines {
  readonly #boxes: Boxes
  readonly #isConfined: BoxLinesOptions['isConfined']
  /** The top of each session's project. */
  readonly #projects = new LruMap<string, string>(HOOK_NOTED_MAX)
  /** Sessions whose model knows about the box. */
  readonly #introduced = new LruMap<string, true>(HOOK_NOTED_MAX)
  /** What models are to be told with the next thing that they read, by session. */
  readonly #notes = new LruMap<string, string>(HOOK_NOTED_MAX)

  constructor({ boxes, isConfined }: BoxLinesOptions) {
    this.#boxes = boxes
    this.#isConfined = isConfined
  }

  /** The call as it is decided. A line of a confined client is `Bash` in the box, and `BashOutside` without it. */
  place(call: HookedCall, session: BoxSession): HookedCall {
    const { tool, args } = call
    if (tool !== 'Bash' || !this.#isConfined(session.server)) return call
    const outside = typeof args.command === 'string' ? cutComment(args.command, OUTSIDE) : undefined
    const line = outside === undefined ? {} : { command: outside }
    const box = this.#placeOf(session.client, outside !== undefined)
    return { ...call, tool: box === 'in' ? 'Bash' : 'BashOutside', args: { ...args, ...line, box } }
  }

  #placeOf(client: HookClient, isOutside: boolean): BoxPlace {
    if (!this.#boxes.available.ok || !CODING_CLIENTS[client].abilities.rewrites) return 'none'
    return isOutside ? 'outside' : 'in'
  }

  /** The call as its model wrote it, and the box of its line, for a call that the client reports. */
  unwrap(call: HookedCall): ReportedCall {
    const { command } = call.args
    const inner = typeof command === 'string' ? this.#boxes.unwrapLine(command) : undefined
    if (call.tool !== 'Bash' || inner === undefined) return { call }
    const { box, line } = inner
    return { call: { ...call, args: { ...call.args, command: line } }, box }
  }

  /** What the client runs in the place of a line that has been admitted. */
  async prepare({ args, scratch }: HookedCall, session: BoxSession): Promise<PreparedLine> {
    const { command: line, cwd } = args
    if (typeof line !== 'string' || typeof cwd !== 'string')
      return { kind: 'refuse', why: 'the command is not one text: give one line' }
    const reading = readShell(line)
    try {
      const prepared = await this.#boxes.prepareLine({
        session: session.key,
        client: session.server,
        project: this.#projectOf(session, cwd),
        cwd,
        line,
        snapshot: !reading.reads,
        ...(scratch === undefined ? {} : { scratch }),
        ...(session.clientPid === undefined ? {} : { clientPid: session.clientPid }),
      })
      if (prepared.restarted) this.#note(session, RESTARTED)
      if (prepared.snapshotFailed && mayDelete(line)) return { kind: 'refuse', why: NO_WAY_BACK }
      return { kind: 'run', command: prepared.command, box: prepared.box }
    } catch (error) {
      const { message, help } = error as BoxFailed
      return { kind: 'refuse', why: `this line has no box to run in: ${message}: ${help}` }
    }
  }

  /** What the model reads beside the output of a line: hosts that it was refused, and how to go on. */
  noteOutput(session: BoxSession, output: string): void {
    const hosts = this.#boxes.takeRefusedHosts(session.key)
    if (hosts.length > 0) {
      const names = hosts.slice(0, HOSTS_NAMED).join(', ')
      const what = `this line tried to reach ${names}, which is not open to lines of this session`
      return this.#note(session, `sluice: ${what}. ${GO_OUTSIDE}`)
    }
    if (isRefusal(output)) this.#note(session, `sluice: ${CONFINED} ${GO_OUTSIDE}`)
  }

  /** What a session's model is told at its first prompt; nothing for a client without a box. */
  introduce(session: BoxSession): void {
    if (this.#introduced.get(session.key) !== undefined || !this.#isConfined(session.server)) return
    if (this.#placeOf(session.client, false) !== 'in') return
    this.#introduced.set(session.key, true)
    this.#note(session, INTRODUCTION)
  }

  /** Why lines of this session have no box and what to do, once in a session. */
  explainAbsence(session: BoxSession): string | undefined {
    const { available } = this.#boxes
    if (available.ok || this.#introduced.get(session.key) !== undefined) return undefined
    this.#introduced.set(session.key, true)
    return `lines of ${session.server} are not confined: ${available.reason}; ${available.help}`
  }

  /** What is to be told now, once. */
  takeNote(session: BoxSession): string | undefined {
    const note = this.#notes.get(session.key)
    this.#notes.delete(session.key)
    return note
  }

  async end(session: BoxSession): Promise<void> {
    this.#projects.delete(session.key)
    this.#introduced.delete(session.key)
    this.#notes.delete(session.key)
    await this.#boxes.endSession(session.key)
  }

  #note(session: BoxSession, text: string): void {
    const earlier = this.#notes.get(session.key)
    this.#notes.set(session.key, earlier === undefined ? text : `${earlier}\n${text}`)
  }

  #projectOf({ key }: BoxSession, cwd: string): string {
    const project = this.#projects.get(key) ?? findProject(cwd)
    this.#projects.set(key, project)
    return project
  }
}

/** The top of the git tree around a directory, else the directory. */
function findProject(cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder
    if (folder === dirname(folder)) return cwd
  }
}

/** Programs that take away what only a snapshot would bring back. */
const DELETING = /^(?:rm|rmdir|unlink|shred|truncate|mv|dd|find|rsync|git)$/

/** What writes to a file may overwrite it, and what cannot be read may do either. */
function mayDelete(line: string): boolean {
  const { uncertain, commands, reads, writes } = readShell(line)
  if (reads) return false
  return (
    uncertain !== undefined ||
    writes.some((path) => path !== '/dev/null') ||
    commands.some((name) => DELETING.test(name))
  )
}

const HOSTS_NAMED = 5
/** What programs say when the box refuses or does not have something. */
const REFUSED_BY_BOX = new RegExp(
  [
    'Read-only file system|Permission denied|Operation not permitted|is not in the box',
    // A mounted file cannot be replaced: git does so with its settings.
    'Device or resource busy',
    'does not appear to be a git repository',
    // An address that is not a name, or a server of the machine: nobody asked the gate for it.
    "Network is unreachable|ECONNREFUSED|(?:[Cc]onnection|was) refused|Couldn't connect",
    '(?:locate|find|no) credentials|auth login|no new privileges|Docker daemon|pseudo-?terminal|open(?:ing)? (?:a )?pty',
  ].join('|'),
)

/** Folders with files of the user, which are not in the box. */
const OUTER_FOLDER = /\/(?:tmp|home|root|srv|mnt|var)\//

function isRefusal(output: string): boolean {
  if (REFUSED_BY_BOX.test(output)) return true
  const lines = output.split('\n')
  return lines.some((line) => line.includes('No such file') && OUTER_FOLDER.test(line))
}

const GO_OUTSIDE = `To run it outside of the box, make the same call again with \`${OUTSIDE}\` at its end: a person will be asked.`
const CONFINED =
  'lines of this session run in a box, which has this project and none of the user’s files.'
const RESTARTED = 'sluice: the box was started again; background processes of the session ended.'
const NO_WAY_BACK = `the files of the project could not be recorded, so what this line deletes would not come back. ${GO_OUTSIDE}`
const INTRODUCTION = [
  'sluice: command lines of this session run in a box.',
  'It has this project (writable), the programs of the machine, a home directory and /tmp of its own, and the hosts that its user listed.',
  'Settings of clients, hooks of git and files with secrets are not writable or not there.',
  'A server that one line starts is there for the next line, at localhost.',
  `For what the box does not have (git push, gh, docker, other hosts) end the line with \`${OUTSIDE}\`: a person will be asked.`,
].join('\n')

// The boxes of coding sessions. A client's line is not run as it came: its hook puts a line in its place that enters
// the box of the session, where only the project, the tools of the system and the hosts of `sandbox` are.

import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { CodedError } from '@sluice/policy/structures/coded-error'
import type { BoxSettings } from '../config/config.ts'
import { isBelow } from '../config/work-directory.ts'
import { findSystemProgram } from '../processes/find-program.ts'
import { readStat } from '../processes/process-group.ts'
import { Box, makeMissing } from './box.ts'
import { boxFailed } from './box-failed.ts'
import { boxesFolder, findLeftovers, noteMade, removeBox } from './box-leftovers.ts'
import { findSecrets, readProjectFolder, readScratch, showBox } from './box-view.ts'
import { findObstacle } from './isolation.ts'
import { BOX_CLIENT_EVERY_MS, BOX_LINE_BYTES_MAX, BOXES_MAX, REFUSED_HOSTS_MAX } from './limits.ts'
import type { NetworkOptions } from './locked-network.ts'
import { showNetworkSettings } from './run-launcher.ts'
import type { Snapshots } from './snapshots.ts'

/** Whether lines can run in a box on this machine; if not, why, and what to install or to change. */
export type BoxAvailability =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: string; readonly help: string }

export interface BoxLineRequest {
  /** Names the session: its lines share a box. */
  readonly session: string
  /** The server in sluice.yaml that stands for the client. */
  readonly client: string
  /** The top of the git tree around the session's first directory, or that directory. Ignored once the box runs. */
  readonly project: string
  /** The directory that the client runs the line in. The one of the session's first line counts as the client's. */
  readonly cwd: string
  /** The client's folder for temporary files of this session. Shown to lines from the start of the box on. */
  readonly scratch?: string
  /** What the model wrote, without `# outside`. */
  readonly line: string
  /** Whether the files of the project are recorded before the line, so that `sluice undo` can bring them back. */
  readonly snapshot: boolean
  /** The client's process: the box ends when it is gone. Undefined if the gate does not know it. */
  readonly clientPid?: number
}

export interface BoxLine {
  /** What the client has to run instead: `. BIN/sluice-line BOX 'the line'`. */
  readonly command: string
  /** Names the box, for people and the ledger. */
  readonly box: string
  /** The session had a box before that has ended: its background processes are gone, which the model is told. */
  readonly restarted: boolean
  /** A snapshot was asked for and could not be made: a line that deletes has to wait for a person. */
  readonly snapshotFailed: boolean
}

/** The line of the model inside of a rewritten one. */
export interface UnwrappedLine {
  readonly box: string
  readonly line: string
}

/** The boxes of coding sessions, one for each session. */
export interface Boxes {
  readonly available: BoxAvailability
  /** Starts the session's box if it has none, and answers with the line to run instead. Rejects with a `CodedError`
   * with the code `BOX_FAILED`, whose message says which path and why: nothing runs unconfined in its place. */
  prepareLine(request: BoxLineRequest): Promise<BoxLine>
  /** The original line and its box if `command` is exactly a rewritten line, else undefined. */
  unwrapLine(command: string): UnwrappedLine | undefined
  /** Hosts that lines of this session's box tried to reach and were refused since the last time this was asked. */
  takeRefusedHosts(session: string): readonly string[]
  /** Ends the session's box and everything in it. */
  endSession(session: string): Promise<void>
  /** The boxes that run. */
  list(): readonly BoxState[]
  close(): Promise<void>
}

/** A box that runs, for people. */
export interface BoxState {
  readonly box: string
  readonly client: string
  readonly project: string
  readonly processes: number
  /** Hosts that its lines were refused. */
  readonly refusedHosts: readonly string[]
  /** Why the files of the project could not be recorded before a line; empty if they could. */
  readonly noUndo: string
}

export interface BoxesParts {
  /** The gate's data directory. */
  readonly data: string
  /** The path of `bin/sluice-line`. */
  readonly script: string
  /** Files and folders of the gate that lines must not read, and those that they may read but not write. */
  readonly hidden: readonly string[]
  readonly readOnly: readonly string[]
  /** Undefined: the lines of this client run as they come. */
  readonly settingsOf: (client: string) => BoxSettings | undefined
  /** Undefined: no snapshot can be made. */
  readonly snapshots?: Pick<Snapshots, 'record'> | undefined
  readonly isOwnPort: NetworkOptions['isOwnPort']
  /** A line has tried a host that is not open to it, for the first time in this box. */
  readonly onRefused: (client: string, host: string) => void
  /** A protected file was replaced from outside; its box has been ended. */
  readonly onReplaced: (client: string, path: string) => void
}

/** Tries whether boxes can run here, and removes what those of a gate that crashed have left. */
export async function openBoxes(parts: BoxesParts): Promise<Boxes> {
  for (const folder of findLeftovers(parts.data)) removeBox(folder)
  return new OpenBoxes(parts, await findBoxAvailability())
}

/** Programs that boxes need, with the package of Debian that has them. */
const NEEDED = { bwrap: 'bubblewrap', nsenter: 'util-linux', setpriv: 'util-linux', bash: 'bash' }

export async function findBoxAvailability(): Promise<BoxAvailability> {
  const isElsewhere = process.platform !== 'linux'
  if (isElsewhere)
    return { ok: false, reason: 'boxes need Linux', help: 'see docs/how-to/isolate-servers.md' }
  const missing = Object.entries(NEEDED).find(([name]) => find(name) === '')
  if (missing !== undefined)
    return {
      ok: false,
      reason: `\`${missing[0]}\` is not installed`,
      help: `install the package \`${missing[1]}\`, then restart the gate`,
    }
  const reason = await findObstacle(find('bwrap'))
  const help = 'in a container that is boundary enough, write `sandbox: off`'
  return reason === undefined ? { ok: true } : { ok: false, reason, help }
}

function find(program: string): string {
  return findSystemProgram(program) ?? ''
}

/** A session with a box, or with one that has ended. */
interface Session {
  readonly client: string
  readonly project: string
  readonly cwd: string
  readonly pid: number | undefined
  /** When its client started, which tells it from a later process with the same pid. */
  readonly pidStarted: string | undefined
  readonly starting: Promise<Box>
  box: Box | undefined
  readonly refused: Set<string>
  /** Of these the ones that were not asked for yet. */
  readonly newlyRefused: Set<string>
  /** Why the last snapshot failed. */
  noUndo: string
}

/** What a box is for. */
interface BoxPlace {
  readonly client: string
  readonly project: string
  readonly cwd: string
  readonly scratch: string | undefined
}

class OpenBoxes implements Boxes {
  readonly available: BoxAvailability
  readonly #parts: BoxesParts
  readonly #sessions = new Map<string, Session>()
  /** By the folder of each running box: places that boxes have made in its project, and that it needs. */
  readonly #made = new Map<string, string[]>()
  readonly #timer: NodeJS.Timeout

  constructor(parts: BoxesParts, available: BoxAvailability) {
    this.#parts = parts
    this.available = available
    this.#timer = setInterval(() => this.#endAbandoned(), BOX_CLIENT_EVERY_MS).unref()
  }

  async prepareLine(request: BoxLineRequest): Promise<BoxLine> {
    const { session: key, line, snapshot } = request
    if (!this.available.ok) throw boxFailed(this.available.reason, this.available.help)
    const before = this.#sessions.get(key)
    const isNew = before === undefined || before.box?.hasEnded === true
    const session = isNew ? this.#open(request, before) : before
    const box = await session.starting
    const command = `. ${quote(this.#parts.script)} ${quote(box.folder)} ${quoteAlways(line)}`
    if (line.includes('\0') || Buffer.byteLength(command) > BOX_LINE_BYTES_MAX)
      throw boxFailed(
        `the line is larger than ${BOX_LINE_BYTES_MAX} bytes, or has a NUL`,
        'write it to a file of the project and run that',
      )
    if (snapshot) session.noUndo = await this.#record(session.project, key, line)
    return {
      command,
      box: nameOf(box),
      restarted: isNew && before !== undefined,
      snapshotFailed: snapshot && session.noUndo !== '',
    }
  }

  unwrapLine(command: string): UnwrappedLine | undefined {
    const folder = boxesFolder(this.#parts.data)
    const start = `. ${quote(this.#parts.script)} `
    if (!command.startsWith(start)) return undefined
    const [, box = '', quoted] =
      /^(\S+|'(?:[^']|'\\'')*') ('(?:[^']|'\\'')*')$/s.exec(command.slice(start.length)) ?? []
    const id = unquote(box).slice(folder.length + 1)
    if (quoted === undefined || !/^[0-9a-f]{8}$/.test(id) || box !== quote(join(folder, id)))
      return undefined
    return { box: id, line: unquote(quoted) }
  }

  takeRefusedHosts(key: string): readonly string[] {
    const session = this.#sessions.get(key)
    const hosts = [...(session?.newlyRefused ?? [])]
    session?.newlyRefused.clear()
    return hosts
  }

  async endSession(key: string): Promise<void> {
    const session = this.#sessions.get(key)
    this.#sessions.delete(key)
    const box = await session?.starting.catch(() => undefined)
    await box?.end()
    if (box !== undefined) this.#remove(box)
  }

  list(): readonly BoxState[] {
    return [...this.#sessions.values()].flatMap(({ box, client, project, refused, noUndo }) =>
      box === undefined || box.hasEnded
        ? []
        : [
            {
              box: nameOf(box),
              client,
              project,
              processes: box.countProcesses(),
              refusedHosts: [...refused],
              noUndo,
            },
          ],
    )
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all([...this.#sessions.keys()].map((key) => this.endSession(key)))
  }

  #open(request: BoxLineRequest, before: Session | undefined): Session {
    const { client, clientPid, scratch, session: key } = request
    const running = [...this.#sessions.values()].filter(({ box }) => box?.hasEnded !== true)
    if (running.length >= BOXES_MAX)
      throw boxFailed(`${BOXES_MAX} boxes run already`, 'end sessions that are not used any more')
    const project = before?.project ?? readProjectFolder(request.project)
    const cwd = before?.cwd ?? request.cwd
    const session: Session = {
      client,
      project,
      cwd,
      pid: clientPid,
      pidStarted: clientPid === undefined ? undefined : readStat(clientPid)?.started,
      starting: this.#start({ client, project, cwd, scratch }, (host) =>
        this.#refuse(session, host),
      ),
      box: undefined,
      refused: before?.refused ?? new Set(),
      newlyRefused: before?.newlyRefused ?? new Set(),
      noUndo: '',
    }
    this.#sessions.set(key, session)
    session.starting.then(
      (box) => {
        session.box = box
        void box.ended.then(() => this.#remove(box))
      },
      // The next line tries again.
      () => this.#sessions.get(key) === session && this.#sessions.delete(key),
    )
    return session
  }

  async #start(
    { client, project, cwd, scratch }: BoxPlace,
    onRefused: (host: string) => void,
  ): Promise<Box> {
    const { data, hidden, readOnly, isOwnPort, settingsOf, onReplaced } = this.#parts
    const settings = settingsOf(client)
    if (settings === undefined)
      throw boxFailed(`\`${client}\` has no \`sandbox\``, 'run `sluice server lock`')
    const folder = join(boxesFolder(data), randomBytes(4).toString('hex'))
    const caches = join(data, 'box-caches', createHash('sha256').update(project).digest('hex'))
    const [home, tmp] = [join(folder, 'home'), join(folder, 'tmp')]
    try {
      for (const path of [home, tmp, join(caches, '.cache'), join(caches, '.npm')])
        mkdirSync(path, { recursive: true, mode: 0o700 })
      const secrets = await findSecrets(project)
      const own = { project, cwd, home, tmp, caches, scratch: readScratch(scratch) }
      // No `await` from here until bubblewrap starts: see `showBox`.
      const view = showBox({ ...own, hidden, readOnly, secrets, settings })
      const inUse = new Set([...this.#made.values()].flat())
      const shared = [...inUse].filter((path) => view.readOnly.some((file) => isBelow(file, path)))
      const made = [...shared, ...makeMissing(view)]
      this.#made.set(folder, made)
      noteMade(folder, made)
      return await Box.start({
        bwrap: find('bwrap'),
        sleep: find('sleep'),
        folder,
        project,
        view,
        networkSettings: showNetworkSettings(data),
        hosts: settings.hosts,
        env: settings.env,
        isOwnPort,
        onRefused,
        onReplaced: (path) => onReplaced(client, path),
      })
    } catch (error) {
      this.#removeFolder(folder)
      if (error instanceof CodedError) throw error
      const { message } = error as Error
      throw boxFailed(`the box cannot be made: ${message}`, 'run `sluice doctor`', error)
    }
  }

  #remove({ folder }: Box): void {
    this.#removeFolder(folder)
  }

  #removeFolder(folder: string): void {
    this.#made.delete(folder)
    removeBox(folder, new Set([...this.#made.values()].flat()))
  }

  #refuse({ client, refused, newlyRefused }: Session, host: string): void {
    if (newlyRefused.size < REFUSED_HOSTS_MAX) newlyRefused.add(host)
    if (refused.has(host) || refused.size >= REFUSED_HOSTS_MAX) return
    refused.add(host)
    this.#parts.onRefused(client, host)
  }

  /** Why it failed; empty if it has not. */
  async #record(project: string, session: string, line: string): Promise<string> {
    const { snapshots } = this.#parts
    if (snapshots === undefined) return 'this gate makes no snapshots'
    return snapshots.record(project, { session, line }).then(
      () => '',
      (error: Error) => error.message,
    )
  }

  /** Clients that were killed send no end of their session. */
  #endAbandoned(): void {
    for (const [key, { pid, pidStarted }] of this.#sessions)
      if (pid !== undefined && readStat(pid)?.started !== pidStarted) void this.endSession(key)
  }
}

function nameOf({ folder }: Box): string {
  return folder.slice(folder.lastIndexOf('/') + 1)
}

/** As one word of a shell. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quoteAlways(text)
}

function quoteAlways(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function unquote(word: string): string {
  return word.startsWith("'") ? word.slice(1, -1).replaceAll("'\\''", "'") : word
}

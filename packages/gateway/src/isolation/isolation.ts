// Isolation of servers that are processes, by bubblewrap on Linux. Every one gets the floor: a pid namespace of
// its own, so that it sees no other process and nothing of it outlives the gate, and no view of the
// gate's own files. Where that cannot be had, servers start as they are, and the gate says so.

import { execFile } from 'node:child_process'
import { realpathSync, statSync } from 'node:fs'
import { toWords } from '@sluice/policy/structures/word-set'
import type { BoxSettings, GateConfig, SandboxProfile, ServerConfig } from '../config/config.ts'
import { isBelow, workDirectory } from '../config/work-directory.ts'
import { findProgram, findSystemProgram } from '../processes/find-program.ts'
import type { LaunchOrder } from './launcher.ts'
import { PROBE_MS_MAX, REFUSED_AGAIN_MS, REFUSED_HOSTS_MAX } from './limits.ts'
import { listRuntime } from './list-runtime.ts'
import { LockedNetwork, type NetworkOptions } from './locked-network.ts'
import { SHOW_TERMINAL, showSystem } from './locked-view.ts'
import { hideOwnFiles, WHOLE_VIEW } from './mount-arguments.ts'
import { RUN_LAUNCHER, showNetworkSettings } from './run-launcher.ts'

const LOCKED = [
  '--unshare-net',
  '--unshare-ipc',
  '--unshare-uts',
  '--cap-add',
  'CAP_NET_BIND_SERVICE',
]

const APART = ['--unshare-pid', '--die-with-parent']

/** What a root gate leaves to its servers: what containers get, but for making devices. With more, a server
 * could unmount what hides the gate's files, or reach them by their inode. */
const ROOT_CAPABILITIES = toWords(`
  CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID SETPCAP SETFCAP NET_BIND_SERVICE NET_RAW
  SYS_CHROOT AUDIT_WRITE
`)

/** A server as it is about to be started. */
export interface StartedServer {
  readonly name: string
  readonly command: readonly string[]
  readonly cwd: string
  readonly sandbox: 'off' | SandboxProfile | undefined
  readonly env: Readonly<Record<string, string>>
}

/** How a server is started: as these words, and if it is locked by an order to the launcher. */
export interface WrappedServer {
  readonly words: readonly string[]
  readonly locked?: { readonly order: LaunchOrder; readonly network: LockedNetwork }
}

export interface IsolationOptions {
  readonly config: Pick<GateConfig, 'data' | 'isolation'>
  /** The gate's own files and folders. */
  readonly own: readonly string[]
  /** The one of them that holds keys. */
  readonly keys: string
  /** A locked server has tried a host that its profile does not name, for the first time in a while. */
  readonly onRefused?: (server: string, host: string) => void
  readonly isOwnPort?: NetworkOptions['isOwnPort']
}

export class Isolation {
  readonly #options: IsolationOptions
  readonly #program: string
  /** Why servers run unconfined or do not start, and what to do about it; undefined if they are isolated. */
  readonly why: string | undefined
  #inode: number
  /** Hosts that locked servers were refused, with when it was recorded. */
  readonly #refused = new Map<string, Map<string, number>>()

  private constructor(options: IsolationOptions, program: string, why: string | undefined) {
    this.#options = options
    this.#program = program
    this.why = why
    this.#inode = this.#readInode()
  }

  /** Tries once whether servers can be isolated here. */
  static async open(options: IsolationOptions): Promise<Isolation> {
    const program = findSystemProgram('bwrap') ?? ''
    const why = await findObstacle(program)
    const isRequired = options.config.isolation === 'required'
    const effect = `servers ${isRequired ? 'do not start' : 'run unconfined'}`
    return new Isolation(options, program, why && `${effect}: ${why}`)
  }

  /** What a server may do, in words for people; empty for one that the gate does not start. */
  describe(server: ServerConfig): string {
    if (server.kind === 'builtin') return describeBox(server.sandbox)
    if (server.kind !== 'stdio') return ''
    if (server.sandbox === 'off') return 'off'
    if (this.why !== undefined) return this.#mayStart(server.sandbox) ? 'unconfined' : 'not started'
    if (server.sandbox === undefined) return 'floor'
    const parts = Object.entries(server.sandbox).filter(([, lines]) => lines.length > 0)
    const lines = parts.map(([key, lines]) => `${key} ${lines.join(', ')}`)
    const { PATH: path } = server.env
    const place = { cwd: server.cwd, path: typeof path === 'string' ? path : process.env.PATH }
    const runtime = listRuntime(server.command, place)
    return [
      `locked: ${lines.join('; ') || 'no files, no hosts'}`,
      ...(runtime.length === 0 ? [] : [`also sees ${runtime.join(', ')}`]),
      'other files below /tmp are lost with its process',
    ].join('; ')
  }

  /** Whether a server starts if nothing can be isolated here. */
  #mayStart(sandbox: StartedServer['sandbox']): boolean {
    return sandbox === undefined && this.#options.config.isolation !== 'required'
  }

  /** Hosts that a locked server has tried in vain. */
  refusedBy(name: string): readonly string[] {
    return [...(this.#refused.get(name)?.keys() ?? [])]
  }

  #refuse(name: string, host: string): void {
    const hosts = this.#refused.get(name) ?? new Map<string, number>()
    this.#refused.set(name, hosts)
    const nowMs = performance.now()
    const isKnown = nowMs - (hosts.get(host) ?? Number.NEGATIVE_INFINITY) < REFUSED_AGAIN_MS
    if (isKnown || (hosts.size >= REFUSED_HOSTS_MAX && !hosts.has(host))) return
    hosts.set(host, nowMs)
    this.#options.onRefused?.(name, host)
  }

  /** Whether the file of keys was replaced since the last look: the kernel drops what hides a file that is
   * replaced, so servers that run can see it. */
  hasNewKeys(): boolean {
    const before = this.#inode
    this.#inode = this.#readInode()
    return this.why === undefined && before !== this.#inode
  }

  /** The command that starts a server, or undefined if it is to be started as it is. Throws if it may not be
   * started. */
  wrap(server: StartedServer): WrappedServer | undefined {
    const { config, own } = this.#options
    const { name, command, cwd, env, sandbox } = server
    if (sandbox === 'off') return undefined
    if (this.why !== undefined) {
      const asked = sandbox === undefined ? config.isolation : 'sandbox'
      if (asked !== undefined) throw new Error(`${describeWish(asked)}, but ${this.why}`)
      return undefined
    }
    const [word = ''] = command
    const program = findProgram(word, { cwd, path: env.PATH })
    if (program === undefined)
      throw Object.assign(new Error(`no program \`${word}\``), { code: 'ENOENT' })
    const start = [this.#program, ...APART, ...capabilities()]
    if (sandbox !== undefined) return this.#lock(server, { sandbox, program, start })
    const hidden = hideOwnFiles(own, { workDirectory: workDirectory(config.data, name) })
    return { words: [...start, ...WHOLE_VIEW, ...hidden, '--', ...command] }
  }

  #lock(
    { name, command, cwd, env }: StartedServer,
    { sandbox, program, start }: LockOptions,
  ): WrappedServer {
    const { config, own } = this.#options
    const work = workDirectory(config.data, name)
    const write = [work, ...sandbox.write]
    const read = [...listRuntime(command, { cwd, path: env.PATH }), ...sandbox.read]
    const network = new LockedNetwork({
      hosts: sandbox.hosts,
      onRefused: (host) => this.#refuse(name, host),
      isOwnPort: this.#options.isOwnPort ?? (() => false),
    })
    const isWithin = (lines: readonly string[]) => (path: string) =>
      lines.some((line) => path !== line && isBelow(path, line))
    const words = [
      ...start,
      ...LOCKED,
      ...showSystem(),
      ...SHOW_TERMINAL,
      ...read.flatMap((path) => ['--ro-bind', realpathSync(path), path]),
      ...write.flatMap((path) => ['--bind', realpathSync(path), path]),
      ...hideOwnFiles(own, {
        workDirectory: work,
        isVisible: isWithin([...read, ...sandbox.write]),
        isWritable: isWithin(sandbox.write),
      }),
      ...showNetworkSettings(config.data),
      ...RUN_LAUNCHER,
    ]
    const order = { program, command, env, ports: network.ports }
    return { words, locked: { order, network } }
  }

  #readInode(): number {
    return statSync(this.#options.keys, { throwIfNoEntry: false })?.ino ?? 0
  }
}

interface LockOptions {
  readonly sandbox: SandboxProfile
  readonly program: string
  /** The words that every isolated server begins with. */
  readonly start: readonly string[]
}

/** The lines of a client's `sandbox`. */
function describeBox(sandbox: BoxSettings | undefined): string {
  if (sandbox === undefined) return ''
  const parts = Object.entries(sandbox).filter(([, lines]) => lines.length > 0)
  const lines = parts.map(([key, names]) => `${key} ${names.join(', ')}`)
  return `locked: ${lines.join('; ') || 'its project, no hosts'}`
}

function describeWish(asked: 'required' | 'sandbox'): string {
  return asked === 'required' ? '`isolation: required`' : 'it has a `sandbox`'
}

/** Why bubblewrap cannot isolate here, and what to do about it; undefined if it can. */
export async function findObstacle(program: string): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'isolation needs Linux with bubblewrap'
  if (program === '') return 'install the package `bubblewrap`, then restart the gate'
  // An image without a shell may have no other program.
  const args = [...WHOLE_VIEW, ...APART, ...capabilities(), '--', program, '--version']
  return new Promise((resolve) => {
    execFile(program, args, { timeout: PROBE_MS_MAX }, (error, _, stderr) => {
      const [line = ''] = (stderr.trim() || String(error?.message)).split('\n')
      resolve(
        error === null
          ? undefined
          : `bubblewrap cannot make namespaces here (${line}), see docs/how-to/isolate-servers.md`,
      )
    })
  })
}

function capabilities(): string[] {
  if (process.getuid?.() !== 0) return []
  return ['--cap-drop', 'ALL', ...ROOT_CAPABILITIES.flatMap((name) => ['--cap-add', `CAP_${name}`])]
}

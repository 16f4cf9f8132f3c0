// Isolation of servers that are processes, by bubblewrap on Linux. Every one gets the floor: a pid namespace of
// its own, so that it sees no other process and nothing of it outlives the gate, and no view of the
// gate's own files. Where that cannot be had, servers start as they are, and the gate says so.

import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import type { GateConfig, ServerConfig } from '../config/config.ts'
import { workDirectory } from '../config/work-directory.ts'
import { findProgram } from '../processes/find-program.ts'
import { PROBE_MS_MAX } from './limits.ts'
import { hideOwnFiles, WHOLE_VIEW } from './mount-arguments.ts'

const APART = ['--unshare-pid', '--die-with-parent']

/** What a root gate leaves to its servers: what containers get, but for making devices. With more, a server
 * could unmount what hides the gate's files, or reach them by their inode. */
const ROOT_CAPABILITIES = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'SETGID',
  'SETUID',
  'SETPCAP',
  'SETFCAP',
  'NET_BIND_SERVICE',
  'NET_RAW',
  'SYS_CHROOT',
  'AUDIT_WRITE',
]

/** A server as it is about to be started. */
export interface StartedServer {
  readonly name: string
  readonly command: readonly string[]
  readonly cwd: string
  readonly sandbox: 'off' | undefined
  readonly path: string | undefined
}

export interface IsolationOptions {
  readonly config: Pick<GateConfig, 'data' | 'isolation'>
  /** The gate's own files and folders. */
  readonly own: readonly string[]
  /** The one of them that holds keys. */
  readonly keys: string
}

export class Isolation {
  readonly #options: IsolationOptions
  readonly #program: string
  /** Why servers run unconfined, and what to do about it; undefined if they do not. */
  readonly why: string | undefined
  #inode: number

  private constructor(options: IsolationOptions, program: string, why: string | undefined) {
    this.#options = options
    this.#program = program
    this.why = why
    this.#inode = this.#readInode()
  }

  /** Tries once whether servers can be isolated here. */
  static async open(options: IsolationOptions): Promise<Isolation> {
    const program = findProgram('bwrap', { cwd: '/', path: process.env.PATH }) ?? ''
    return new Isolation(options, program, await findObstacle(program))
  }

  /** What a server may do, in words for people; empty for one that the gate does not start. */
  describe(server: ServerConfig): string {
    if (server.kind !== 'stdio') return ''
    if (server.sandbox === 'off') return 'off'
    return this.why === undefined ? 'floor' : 'unconfined'
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
  wrap({ name, command, cwd, path, sandbox }: StartedServer): readonly string[] | undefined {
    const { config, own } = this.#options
    if (sandbox === 'off') return undefined
    if (this.why !== undefined) {
      if (config.isolation === 'required')
        throw new Error(`\`isolation: required\`, but ${this.why}`)
      return undefined
    }
    const [program = ''] = command
    if (findProgram(program, { cwd, path }) === undefined)
      throw Object.assign(new Error(`no program \`${program}\``), { code: 'ENOENT' })
    const hidden = hideOwnFiles(own, { workDirectory: workDirectory(config.data, name) })
    return [this.#program, ...WHOLE_VIEW, ...APART, ...capabilities(), ...hidden, '--', ...command]
  }

  #readInode(): number {
    return statSync(this.#options.keys, { throwIfNoEntry: false })?.ino ?? 0
  }
}

/** Why bubblewrap cannot isolate here; undefined if it can. */
export async function findObstacle(program: string): Promise<string | undefined> {
  if (process.platform !== 'linux')
    return 'servers run unconfined: isolation needs Linux with bubblewrap'
  if (program === '')
    return 'servers run unconfined: install the package `bubblewrap`, then restart the gate'
  const args = [...WHOLE_VIEW, ...APART, ...capabilities(), '--', '/bin/true']
  return new Promise((resolve) => {
    execFile(program, args, { timeout: PROBE_MS_MAX }, (error, _, stderr) => {
      const [line = ''] = (stderr.trim() || String(error?.message)).split('\n')
      resolve(
        error === null
          ? undefined
          : `servers run unconfined: bubblewrap cannot make namespaces here (${line}), see docs/how-to/isolate-servers.md`,
      )
    })
  })
}

function capabilities(): string[] {
  if (process.getuid?.() !== 0) return []
  return ['--cap-drop', 'ALL', ...ROOT_CAPABILITIES.flatMap((name) => ['--cap-add', `CAP_${name}`])]
}

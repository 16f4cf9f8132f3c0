// One box: bubblewrap with namespaces of its own, which hands the sockets for DNS and the web to the gate and becomes
// `sleep`. Lines enter it from the client's shell (bin/sluice-line). When it ends, the kernel ends everything in it.

import { type ChildProcess, spawn } from 'node:child_process'
import {
  type FSWatcher,
  mkdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { attempt } from '@sluice/policy/structures/attempt'
import { boxFailed } from './box-failed.ts'
import type { BoxView } from './box-view.ts'
import { COMMONDIR_OF_ITSELF } from './git-places.ts'
import type { LaunchOrder } from './launcher.ts'
import { BOX_START_MS_MAX } from './limits.ts'
import { LockedNetwork, type NetworkOptions } from './locked-network.ts'
import { RUN_LAUNCHER } from './run-launcher.ts'

/** A user namespace of its own also for root: so that nothing in the box is root outside, and lines of an ordinary user
 * may enter. Port 53 is what the launcher binds. */
const NAMESPACES = [
  '--unshare-user',
  '--unshare-pid',
  '--unshare-net',
  '--unshare-ipc',
  '--unshare-uts',
  '--die-with-parent',
  '--cap-drop',
  'ALL',
  '--cap-add',
  'CAP_NET_BIND_SERVICE',
]

/** Variables that lines see in any case. */
const ALWAYS_SEEN = ['PATH', 'HOME', 'USER', 'LANG', 'TERM', 'CI']

export interface BoxOptions extends NetworkOptions {
  readonly bwrap: string
  readonly sleep: string
  /** The box's folder in the data directory: what `sluice-line` reads, its home and its /tmp. */
  readonly folder: string
  readonly project: string
  readonly view: BoxView
  /** Words for bubblewrap that lead questions about names to the gate. */
  readonly networkSettings: readonly string[]
  /** Names of variables that lines may see. */
  readonly env: readonly string[]
  /** A protected or hidden file was replaced from outside, so that its protection is gone: the box has been ended. */
  readonly onReplaced: (path: string) => void
}

export class Box {
  readonly folder: string
  readonly ended: Promise<void>
  hasEnded = false
  readonly #child: ChildProcess
  readonly #options: BoxOptions
  readonly #watchers: FSWatcher[] = []
  #pid = 0

  private constructor(options: BoxOptions, child: ChildProcess) {
    this.#options = options
    this.#child = child
    this.folder = options.folder
    this.ended = new Promise((resolve) => {
      const end = () => {
        this.hasEnded = true
        for (const watcher of this.#watchers) watcher.close()
        resolve()
      }
      child.once('exit', end)
      child.once('error', end)
    })
  }

  /** Rejects with BOX_FAILED. */
  static async start(options: BoxOptions): Promise<Box> {
    const { bwrap, env, folder, project, sleep, view, networkSettings } = options
    const words = [
      ...NAMESPACES,
      ...view.words,
      ...networkSettings,
      '--chdir',
      project,
      '--info-fd',
      '4',
      ...RUN_LAUNCHER,
    ]
    const child = spawn(bwrap, words, {
      cwd: '/',
      env: {},
      stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
      detached: true,
    })
    const box = new Box(options, child)
    try {
      const order = { program: sleep, command: ['sleep', 'infinity'], env: {} }
      await box.#launch(order)
      const names = [...ALWAYS_SEEN, ...env].map((name) => `${name}\n`)
      writeFileSync(join(folder, 'env'), names.join(''), { mode: 0o600 })
      writeFileSync(join(folder, 'pid'), `${box.#pid}\n`, { mode: 0o600 })
      box.#watch()
      return box
    } catch (error) {
      await box.end()
      throw error
    }
  }

  /** How many processes run in it, besides those that hold it open. */
  countProcesses(): number {
    const tasks = attempt(
      () => readFileSync(`/proc/${this.#pid}/task/${this.#pid}/children`, 'utf8'),
      '',
    )
    return Math.max(0, tasks.split(' ').filter(Boolean).length - 1)
  }

  async end(): Promise<void> {
    if (this.#child.pid !== undefined && !this.hasEnded) this.#child.kill('SIGKILL')
    await this.ended
  }

  async #launch(order: Omit<LaunchOrder, 'ports'>): Promise<void> {
    const child = this.#child
    const network = new LockedNetwork(this.#options)
    const said: string[] = []
    child.stderr?.on('data', (chunk: Buffer) => said.push(chunk.toString()))
    const started = Promise.withResolvers<void>()
    let info = ''
    let taken = 0
    const look = () => {
      this.#pid = Number(/"child-pid": (\d+)/.exec(info)?.[1] ?? 0)
      if (taken > network.ports.length && this.#pid > 0) started.resolve()
    }
    child.stdio[4]?.on('data', (chunk: Buffer) => {
      info += chunk.toString()
      look()
    })
    child.on('message', (message, handle) => {
      network.take(message as { port: number }, handle as Parameters<LockedNetwork['take']>[1])
      taken++
      look()
    })
    void this.ended.then(() => {
      network.close()
      const last = said.join('').trim().split('\n').at(-1)
      started.reject(failed(last || 'it ended at once'))
    })
    const timer = setTimeout(
      () => started.reject(failed(`not ready after ${BOX_START_MS_MAX} ms`)),
      BOX_START_MS_MAX,
    )
    child.send({ ...order, ports: network.ports }, () => {})
    await started.promise.finally(() => clearTimeout(timer))
    child.unref()
  }

  /** The kernel drops a mount whose file is replaced from outside, by an editor or `git config`: the file could then be
   * read and written. Ends the box. */
  #watch(): void {
    const { guarded } = this.#options.view
    let isLooking = false
    const look = () => {
      if (isLooking || this.hasEnded) return
      isLooking = true
      setImmediate(() => {
        isLooking = false
        const lost = this.#findLost()
        if (lost === undefined || this.hasEnded) return
        void this.end().then(() => this.#options.onReplaced(lost))
      })
    }
    try {
      for (const folder of new Set(guarded.map(dirname)))
        this.#watchers.push(watch(folder, { persistent: false }, look).on('error', look))
    } catch (error) {
      throw failed(`its protected files cannot be watched: ${(error as Error).message}`)
    }
    look()
  }

  #findLost(): string | undefined {
    const mounts = attempt(() => readFileSync(`/proc/${this.#pid}/mountinfo`, 'utf8'), '')
    if (mounts === '') return undefined
    const places = new Set(mounts.split('\n').map((line) => line.split(' ')[4]))
    return this.#options.view.guarded.find((path) => !places.has(escapeMount(path)))
  }
}

function failed(why: string) {
  return boxFailed(`the box did not start: ${why}`, 'run `sluice doctor`')
}

/** As /proc writes paths. */
function escapeMount(path: string): string {
  return path.replace(
    /[ \t\n\\]/g,
    (mark) => `\\${mark.charCodeAt(0).toString(8).padStart(3, '0')}`,
  )
}

/** Makes what the view needs and is not there; answers with what was made. */
export function makeMissing({ needed }: BoxView): string[] {
  const made: string[] = []
  for (const { path, content } of needed) {
    try {
      if (content === undefined) mkdirSync(path)
      else writeFileSync(path, content, { flag: 'wx' })
      made.push(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue
      removeMade(made)
      throw boxFailed(
        `\`${path}\` cannot be made, so it cannot be protected: ${(error as Error).message}`,
        'make the project writable for the user of the gate',
      )
    }
  }
  return made
}

/** Removes what `makeMissing` made, if nothing else is in it by now. */
export function removeMade(made: readonly string[]): void {
  for (const path of made.toReversed())
    attempt(() => {
      const content = attempt(() => readFileSync(path, 'utf8'), undefined)
      if (content === undefined) rmdirSync(path)
      else if (content === '' || content === COMMONDIR_OF_ITSELF) rmSync(path)
      return true
    }, false)
}

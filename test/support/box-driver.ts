// Boxes in a process of their own, so that a test as root can have them as an ordinary user, too. Runs lines as a
// client does: the command that the gate answers with, in Bash, in the directory that the client is in.

import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BoxSettings } from '@sluice/gateway/config/config'
import { openBoxes } from '@sluice/gateway/isolation/boxes'
import { type SnapshotBounds, Snapshots } from '@sluice/gateway/isolation/snapshots'

export interface DriverStart {
  readonly data: string
  readonly hidden: readonly string[]
  readonly readOnly: readonly string[]
  readonly settings: BoxSettings
  readonly bounds?: SnapshotBounds
}

/** A line, and where and how it is run. */
export interface DriverLine {
  readonly line: string
  readonly session: string
  readonly project: string
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** The client's shell. */
  readonly shell?: string
  readonly snapshot?: boolean
  /** Run before the line in the client's shell, outside of the box. */
  readonly before?: string
  readonly timeoutMs?: number
  readonly scratch?: string
  readonly clientPid?: number
}

export interface DriverResult {
  readonly output: string
  readonly code: number | null
  /** Where the client's shell is after the line. */
  readonly cwd: string
  readonly restarted: boolean
  readonly snapshotFailed: boolean
  readonly command: string
}

export interface DriverRequest {
  readonly id: number
  readonly method:
    | 'start'
    | 'run'
    | 'end'
    | 'refused'
    | 'list'
    | 'replaced'
    | 'close'
    | 'snapshots'
    | 'restore'
  readonly argument: unknown
}

const replaced: string[] = []
let boxes: Awaited<ReturnType<typeof openBoxes>>
let snapshots: Snapshots

async function run(wanted: DriverLine): Promise<DriverResult> {
  const {
    line,
    session,
    project,
    cwd,
    env = {},
    shell = '/bin/bash',
    before = ':',
    timeoutMs = 30_000,
    scratch,
    clientPid,
  } = wanted
  const snapshot = wanted.snapshot === true
  const prepared = await boxes.prepareLine({
    session,
    client: 'coder',
    project,
    cwd,
    line,
    snapshot,
    ...(scratch === undefined ? {} : { scratch }),
    ...(clientPid === undefined ? {} : { clientPid }),
  })
  const whole = `${before}\n${prepared.command}\ncode=$?; pwd >&3; exit $code`
  // Files, as clients have them: a process in the background keeps them open and nobody waits for it.
  const folder = mkdtempSync(join(tmpdir(), 'sluice-output-'))
  const files = ['output', 'place'].map((name) => join(folder, name))
  const [output = 0, place = 0] = files.map((file) => openSync(file, 'w'))
  const child = spawn(shell, ['-c', whole], {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, USER: 'somebody', ...env },
    stdio: ['ignore', output, output, place],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  })
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  const [out = '', after = ''] = files.map((file) => readFileSync(file, 'utf8'))
  for (const file of [output, place]) closeSync(file)
  rmSync(folder, { recursive: true })
  const { restarted, snapshotFailed, command } = prepared
  return { output: out, code, cwd: after.trim(), restarted, snapshotFailed, command }
}

const METHODS: Record<DriverRequest['method'], (argument: never) => Promise<unknown>> = {
  start: async ({ data, hidden, readOnly, settings, bounds }: DriverStart) => {
    snapshots = new Snapshots({ data, own: readOnly }, Date.now, bounds)
    boxes = await openBoxes({
      data,
      script: join(import.meta.dirname, '../../packages/cli/bin/sluice-line'),
      hidden,
      readOnly,
      settingsOf: () => settings,
      snapshots,
      isOwnPort: () => false,
      onRefused: () => {},
      onReplaced: (_, path) => void replaced.push(path),
    })
    return boxes.available
  },
  run,
  end: (session: string) => boxes.endSession(session),
  refused: async (session: string) => boxes.takeRefusedHosts(session),
  list: async () => boxes.list(),
  replaced: async () => replaced,
  close: () => boxes.close(),
  snapshots: (project: string) => snapshots.list(project),
  restore: ({ project, commit }: { project: string; commit: string }) =>
    snapshots.restore(project, commit),
}

process.on('message', ({ id, method, argument }: DriverRequest) => {
  METHODS[method](argument as never).then(
    (value) => process.send?.({ id, value }),
    (error: Error & { code?: string; help?: string }) =>
      process.send?.({ id, error: { message: error.message, code: error.code, help: error.help } }),
  )
})

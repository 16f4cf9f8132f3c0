// Runs git for snapshots, in a box of its own: it sees programs, the project and the repository of snapshots. A
// project is foreign input for git, and could make it run a program; there is nothing here that such a one could reach.

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { findSystemProgram } from '../processes/find-program.ts'
import { GIT_MS_MAX, GIT_OUTPUT_BYTES_MAX } from './limits.ts'
import { showPrograms } from './locked-view.ts'

/** A project, and the bare repository with its snapshots. */
export interface GitBox {
  readonly project: string
  readonly repository: string
  /** Of the project: it may lie outside of it, and is shown as `PROJECT_INDEX`. */
  readonly projectIndex: string
  /** With more files there is no snapshot. */
  readonly filesMax: number
  /** To bring files back. */
  readonly canWriteProject?: boolean
}

export interface GitOptions {
  readonly input?: string
  /** False to make the repository. */
  readonly hasRepository?: boolean
}

/** Where scripts find the project's index, if it has one. A file that is none makes git find nothing in it. */
export const PROJECT_INDEX = '/tmp/project-index'
/** The index of the snapshots while git runs, in memory: git writes it twice, and the disk makes the second time slow. */
export const SNAPSHOT_INDEX = '/tmp/index'

/** The user's and the system's settings are not read. */
const SETTINGS = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'sluice',
  GIT_AUTHOR_EMAIL: 'sluice@localhost',
  GIT_COMMITTER_NAME: 'sluice',
  GIT_COMMITTER_EMAIL: 'sluice@localhost',
  GIT_OPTIONAL_LOCKS: '0',
  LC_ALL: 'C',
}
/** Speed before all else: the repository holds copies of what is in the project. */
const FIXED = {
  'core.compression': '1',
  'core.fsync': 'none',
  'core.hooksPath': '/dev/null',
  'core.excludesFile': '/dev/null',
  'core.quotePath': 'false',
  'gc.autoDetach': 'false',
  // Each snapshot is a file: see snapshots.ts.
  'gc.packRefs': 'false',
  'advice.addEmbeddedRepo': 'false',
}
const FIXED_VARIABLES = Object.fromEntries(
  Object.entries(FIXED).flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]),
)

/** Few mounts: each costs time before every line that changes something. */
const VIEW = [
  ...showPrograms(),
  ...['/etc/ld.so.cache', '/etc/alternatives'].flatMap((path) => ['--ro-bind-try', path, path]),
  ...['/dev', '/tmp'].flatMap((path) => ['--tmpfs', path]),
  ...['/dev/null', '/dev/urandom'].flatMap((path) => ['--dev-bind', path, path]),
  '--proc',
  '/proc',
]

/** What git printed. Rejects with its last line. */
export function runGit(
  git: GitBox,
  words: readonly string[],
  options: GitOptions = {},
): Promise<string> {
  return runBoxed(git, ['git', ...words], options)
}

/** What a script of the shell around git printed. */
export function runGitScript(
  git: GitBox,
  script: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<string> {
  return runBoxed(git, ['sh', '-c', script, 'sluice', ...args], options)
}

async function runBoxed(
  { project, repository, projectIndex, canWriteProject = false }: GitBox,
  words: readonly string[],
  { input = '', hasRepository = true }: GitOptions,
): Promise<string> {
  const bwrap = findSystemProgram('bwrap')
  if (bwrap === undefined) throw new Error('`bwrap` is not installed')
  const settings = {
    ...SETTINGS,
    ...FIXED_VARIABLES,
    GIT_CONFIG_COUNT: String(Object.keys(FIXED).length),
  }
  const place = {
    GIT_DIR: repository,
    GIT_WORK_TREE: project,
    GIT_INDEX_FILE: SNAPSHOT_INDEX,
  }
  const env = hasRepository ? { ...settings, ...place } : settings
  const child = spawn(
    bwrap,
    [
      '--unshare-user',
      '--unshare-pid',
      '--unshare-net',
      '--unshare-ipc',
      '--unshare-uts',
      '--die-with-parent',
      '--cap-drop',
      'ALL',
      '--new-session',
      '--clearenv',
      ...VIEW,
      canWriteProject ? '--bind' : '--ro-bind',
      project,
      project,
      '--bind',
      repository,
      repository,
      '--ro-bind-try',
      projectIndex,
      PROJECT_INDEX,
      '--remount-ro',
      '/',
      ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
      '--setenv',
      'PATH',
      '/usr/local/bin:/usr/bin:/bin',
      '--chdir',
      hasRepository ? project : repository,
      '--',
      ...words,
    ],
    { cwd: '/', stdio: ['pipe', 'pipe', 'pipe'], timeout: GIT_MS_MAX, killSignal: 'SIGKILL' },
  )
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  let bytes = 0
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > GIT_OUTPUT_BYTES_MAX) child.kill('SIGKILL')
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const [code, out, said] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  if (code === 0) return out
  throw new Error(
    `git ${words.slice(1, 3).join(' ').slice(0, 40)}: ${said.trim().split('\n').at(-1) || `ended with ${code}`}`,
  )
}

// What of a project's git repository gives power over its user later. Anyone who writes `.git/config`, a hook, or
// `commondir`, which leads git to another config, makes the user's next `git status` run a program. Finds these
// places also for a linked worktree and for a submodule, whose repository lies outside of the project.

import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { attempt } from '@sluice/policy/structures/attempt'
import { isBelow } from '../config/work-directory.ts'
import { boxFailed } from './box-failed.ts'

/** Something that has to be there before the box starts, because it can only be protected if it exists. */
export interface NeededPlace {
  readonly path: string
  /** Of a file; a folder if undefined. */
  readonly content?: string
}

export interface GitPlaces {
  /** Folders of the repository that are outside of the project and that git needs to write. */
  readonly outside: readonly string[]
  /** Files and folders that lines may read and never change. */
  readonly readOnly: readonly string[]
  readonly needed: readonly NeededPlace[]
}

const NONE: GitPlaces = { outside: [], readOnly: [], needed: [] }
/** git takes its config and hooks from where this file leads; this leads to the folder that it is in. With `.` alone
 * libgit2 does not find the repository. */
export const COMMONDIR_OF_ITSELF = './\n'

export function findGitPlaces(project: string): GitPlaces {
  const pointer = join(project, '.git')
  const stat = lstatSync(pointer, { throwIfNoEntry: false })
  if (stat === undefined) return NONE
  if (stat.isDirectory()) return protectRepository(pointer)
  if (!stat.isFile())
    throw boxFailed(`\`${pointer}\` is a link`, 'put the repository itself in its place')
  const common = followPointer(project, pointer)
  const { readOnly, needed } = protectRepository(common)
  return { outside: [common], readOnly: [pointer, ...readOnly], needed }
}

/** The places of a repository's folder: those of a linked worktree are in its `worktrees`. */
function protectRepository(folder: string): GitPlaces {
  const config = join(folder, 'config')
  const needed: NeededPlace[] = [
    { path: config, content: '' },
    { path: join(folder, 'hooks') },
    { path: join(folder, 'commondir'), content: COMMONDIR_OF_ITSELF },
  ]
  // Only then git reads it.
  if (/worktreeconfig/i.test(attempt(() => readFileSync(config, 'utf8'), '')))
    needed.push({ path: join(folder, 'config.worktree'), content: '' })
  const worktrees = attempt(() => readdirSync(join(folder, 'worktrees')), [])
  const others = [join(folder, 'config.worktree'), join(folder, 'modules')].filter(existsSync)
  const linked = worktrees.flatMap((name) => headsOf(join(folder, 'worktrees', name)))
  return {
    outside: [],
    readOnly: [...new Set([...needed.map(({ path }) => path), ...others, ...linked])],
    needed,
  }
}

/** What leads from the folder of a linked worktree to its repository and back. */
function headsOf(folder: string): string[] {
  return ['commondir', 'gitdir', 'config.worktree']
    .map((name) => join(folder, name))
    .filter(existsSync)
}

/** The repository that the file `.git` of a linked worktree or a submodule leads to. A line could have written that file in
 * a session before: the repository has to name this project and to be one that no line of this project has made, or the
 * box would show a folder of somebody else. */
function followPointer(project: string, pointer: string): string {
  const read = (path: string) => attempt(() => readFileSync(path, 'utf8').trim(), '')
  const [, named = ''] = /^gitdir: (.+)$/.exec(read(pointer)) ?? []
  const folder = attempt(() => realpathSync(resolve(project, named)), project)
  const refuse = () =>
    boxFailed(
      `\`${pointer}\` leads to \`${named}\`, which does not lead back to it`,
      'run `git worktree repair`, or start the session in the main repository',
    )
  if (isBelow(folder, project)) throw refuse()
  const back = read(join(folder, 'gitdir'))
  if (back !== '') {
    const common = attempt(() => realpathSync(resolve(folder, read(join(folder, 'commondir')))), '')
    const isLinked = dirname(folder) === join(common, 'worktrees') && isRepository(common)
    if (resolve(folder, back) !== pointer || !isLinked) throw refuse()
    return common
  }
  const [, written = ''] = /^[ \t]*worktree[ \t]*=(.*)$/m.exec(read(join(folder, 'config'))) ?? []
  const worktree = written.trim().replaceAll('"', '')
  const tree = attempt(() => realpathSync(resolve(folder, worktree)), '')
  if (tree !== project || !isRepository(folder)) throw refuse()
  return folder
}

/** As git tells a repository from another folder. */
function isRepository(folder: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)))
}

// What lines of a coding agent see in their box, as words for bubblewrap: the system and the tool chains of the home
// directory read-only, the project writable, and in it what gives power over the user later read-only, and what
// usually holds secrets hidden. The home directory and /tmp are the box's own.

import { existsSync, lstatSync, mkdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { isSecretFile } from '@sluice/policy/expression/functions/secret-file'
import { attempt } from '@sluice/policy/structures/attempt'
import { toWords } from '@sluice/policy/structures/word-set'
import type { BoxSettings } from '../config/config.ts'
import { isBelow, withReal } from '../config/work-directory.ts'
import { boxFailed } from './box-failed.ts'
import { findGitPlaces, type NeededPlace } from './git-places.ts'
import { BOX_ENTRIES_MAX, SECRET_FOLDERS_DEEP } from './limits.ts'
import { showSystem } from './locked-view.ts'

export interface BoxPlaces {
  /** Without links: see `readProjectFolder`. */
  readonly project: string
  /** The directory that the client runs in. Clients read settings there and in the folders above it. */
  readonly cwd: string
  /** Becomes the home directory. */
  readonly home: string
  /** Becomes /tmp. */
  readonly tmp: string
  /** The client's folder for temporary files, writable as it is. */
  readonly scratch: string | undefined
  /** Holds `.cache` and `.npm` of the home directory, which later boxes of the project find again. */
  readonly caches: string
  /** Files and folders of the gate that lines must not read. */
  readonly hidden: readonly string[]
  /** Files of the gate that lines may read. */
  readonly readOnly: readonly string[]
  /** What `findSecrets` found in the project. */
  readonly secrets: readonly string[]
  readonly settings: BoxSettings
}

export interface BoxView {
  /** For bubblewrap, from the system to the project. */
  readonly words: readonly string[]
  /** Files and folders that lines may read and never change. */
  readonly readOnly: readonly string[]
  /** Paths that are protected or hidden by a mount of their own. The kernel drops such a mount if the file is replaced
   * from outside of the box. */
  readonly guarded: readonly string[]
  /** What has to be there before bubblewrap starts, so that it can be protected. */
  readonly needed: readonly NeededPlace[]
}

/** Of the home directory: programs, their packages, and settings of git. None of these holds a key. */
const TOOL_CHAINS = toWords(`
  .nvm .pyenv .rbenv .rustup .cargo/bin .cargo/registry .local/bin .local/lib .local/pipx .local/share/pnpm
  .local/share/uv/python .local/share/uv/tools .local/share/mise .deno .bun .sdkman .goenv go/pkg go/bin .volta .asdf .gitconfig
  .config/git/config .config/git/ignore`)
const CACHES = ['.cache', '.npm']
/** Folders of clients: hooks, settings and commands in them run outside of the box. Made if they are missing, which
 * git does not show. */
const CLIENT_FOLDERS = toWords(
  '.claude .codex .copilot .cursor .gemini .github/hooks .opencode .qwen',
)
/** Others that run something later. A missing one is not made: an empty `.mcp.json` would break clients, and git would
 * show a new file. */
const POWERFUL = toWords(
  '.vscode .husky .mcp.json opencode.json opencode.jsonc .envrc .gitmodules .devcontainer .idea',
)

/** As Claude Code calls it: `/tmp/claude-1000/-home-ann-shop/SESSION/scratchpad`. */
const SCRATCH = /^\/tmp\/claude-\d+\/[^/]+\/[^/]+\/scratchpad$/

/** Throws BOX_FAILED for a folder that is no project: one of the system, or one with a whole home directory in it. */
function checkProject(project: string): void {
  const homes = [homedir(), '/root'].flatMap(withReal)
  const isHome = homes.some((home) => isBelow(home, project)) || /^\/home\/[^/]+$/.test(project)
  const isSystem = [
    tmpdir(),
    '/tmp',
    '/usr',
    '/etc',
    '/var',
    '/dev',
    '/proc',
    '/sys',
    '/run',
    '/opt',
  ].some((folder) => isBelow(folder, project))
  if (isHome || isSystem || isSecretFile(join(project, '_')))
    throw boxFailed(
      `\`${project}\` is no project: a box would show all that is in it`,
      'start the client in the folder of a project',
    )
}

/** The project's folder without links. Throws BOX_FAILED if it is no project. */
export function readProjectFolder(project: string): string {
  const real = attempt(() => realpathSync(project), undefined)
  if (real === undefined || !statSync(real).isDirectory())
    throw boxFailed(`\`${project}\` is no folder`, 'start the client in the folder of a project')
  checkProject(real)
  return real
}

/** The client's folder for temporary files of a session, made if it is missing. Undefined if it is not one below /tmp
 * that is the user's own: a hook that names another folder would open it to lines. */
export function readScratch(folder: string | undefined): string | undefined {
  if (folder === undefined || !SCRATCH.test(folder)) return undefined
  return attempt(() => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const isOwn = realpathSync(folder) === folder && statSync(folder).uid === process.getuid?.()
    return isOwn ? folder : undefined
  }, undefined)
}

/** Not async, because what is missing has to be made and noted in the same turn: the end of another box of the project
 * could otherwise remove a folder that was still there when this looked. */
export function showBox(places: BoxPlaces): BoxView {
  const { project, cwd, home, tmp, scratch, caches, settings } = places
  const owner = homedir()
  const isOpen = (path: string) =>
    [...settings.read, ...settings.write].some(
      (line) => isBelow(path, line) && isBelow(line, project),
    )
  const git = findGitPlaces(project)
  const roots = [project, ...git.outside]
  const read = listUpTo(
    project,
    attempt(() => realpathSync(cwd), project),
  )
  const inEach = (names: Iterable<string>) =>
    read.flatMap((folder) => [...names].map((name) => join(folder, name)))
  const folders = inEach(CLIENT_FOLDERS)
  const withParents = new Set(folders.flatMap((path) => [dirname(path), path]))
  const needed = [...git.needed, ...[...withParents].map((path) => ({ path }))]
  const powerful = inEach(POWERFUL).filter(isThere)
  const shown = ['/opt', '/usr', project, ...settings.read, ...settings.write]
  const isShown = (path: string) => shown.some((folder) => isBelow(path, folder))
  const gates = places.readOnly.filter((path) => existsSync(path) && isShown(path))
  const readOnly = [...git.readOnly, ...folders, ...powerful, ...gates].filter(
    (path) => !settings.write.includes(path),
  )
  const secrets = places.secrets.filter((path) => !isOpen(path) && isThere(path))
  const own = places.hidden.flatMap(toReal).filter(isShown)
  const hidden = [...new Set([...secrets, ...own])]
  const writable = [...roots, ...settings.write]
  for (const path of [...readOnly, ...settings.read, ...settings.write]) refuseLinks(path, writable)
  return {
    words: [
      ...showSystem(),
      ...['/etc/gitconfig', '/opt'].flatMap((path) => ['--ro-bind-try', path, path]),
      '--bind',
      tmp,
      '/tmp',
      ...(scratch === undefined ? [] : mount('--bind', scratch)),
      '--bind',
      home,
      owner,
      ...TOOL_CHAINS.map((name) => join(owner, name))
        .filter(existsSync)
        .flatMap((path) => mount('--ro-bind', path)),
      ...CACHES.flatMap((name) => ['--bind', join(caches, name), join(owner, name)]),
      ...settings.read
        .filter((path) => !isBelow(path, project))
        .flatMap((path) => mount('--ro-bind', path)),
      ...settings.write
        .filter((path) => !isBelow(path, project))
        .flatMap((path) => mount('--bind', path)),
      ...roots.flatMap((path) => mount('--bind', path)),
      ...listAbove([...readOnly, ...own], writable).flatMap((path) => mount('--bind', path)),
      ...readOnly.flatMap((path) => mount('--ro-bind', path)),
      ...settings.read
        .filter((path) => isBelow(path, project))
        .flatMap((path) => mount('--ro-bind', path)),
      ...hidden.flatMap(hide),
    ],
    readOnly,
    guarded: [...readOnly, ...hidden],
    needed,
  }
}

function mount(how: '--bind' | '--ro-bind', path: string): string[] {
  return [how, path, path]
}

/** A file is one that cannot be opened, a folder is an empty one. */
function hide(path: string): string[] {
  return statSync(path).isDirectory()
    ? ['--tmpfs', path, '--remount-ro', path]
    : ['--ro-bind', '/dev/null', path]
}

/** A directory of the project and the folders above it; only the project if the directory is elsewhere. */
function listUpTo(project: string, cwd: string): string[] {
  if (cwd === project || !isBelow(cwd, project)) return [project]
  return [...listUpTo(project, dirname(cwd)), cwd]
}

/** The folders between a root and what is protected in it. Each is mounted onto itself: a folder that can be moved away
 * can be replaced by another one with files of the line's making. */
function listAbove(paths: readonly string[], roots: readonly string[]): string[] {
  const above = new Set<string>()
  for (const path of paths)
    for (let folder = dirname(path); isBelowOne(folder, roots); folder = dirname(folder))
      above.add(folder)
  // From the outside in: a later mount of an outer folder would cover those in it.
  return [...above].sort()
}

function isBelowOne(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => path !== root && isBelow(path, root))
}

/** A link cannot be protected by a mount: it could be replaced, and leads to what may be written. One that a line has made
 * on the way to what `read` or `write` names would show another file of the user. */
function refuseLinks(path: string, writable: readonly string[]): void {
  for (let at = path; isBelowOne(at, writable); at = dirname(at))
    if (readEntry(at)?.isSymbolicLink())
      throw boxFailed(
        `\`${at}\` is a link, which a box cannot protect`,
        'put the file or folder itself in its place',
      )
}

/** Real paths of files and folders of the project whose names say that they hold secrets. */
export async function findSecrets(
  project: string,
  entriesMax = BOX_ENTRIES_MAX,
): Promise<string[]> {
  const found: string[] = []
  let seen = 0
  const walk = async (folder: string, depth: number): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    seen += entries.length
    if (seen > entriesMax)
      throw boxFailed(
        `\`${project}\` has more than ${entriesMax} files to look through for secrets`,
        'start the client in a narrower folder',
      )
    for (const entry of entries) {
      if (entry.name === 'node_modules' || entry.name === '.git') continue
      const path = join(folder, entry.name)
      if (isSecretFile(relative(project, path)))
        found.push(...toReal(path).filter((real) => isBelow(real, project) && real !== project))
      else if (entry.isDirectory() && depth < SECRET_FOLDERS_DEEP) await walk(path, depth + 1)
    }
  }
  await walk(project, 0)
  return found
}

function isThere(path: string): boolean {
  return readEntry(path) !== undefined
}

/** Also undefined if a folder on the way is a file. */
function readEntry(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined
    throw error
  }
}

/** Where a path leads through links; nothing if it is not there. */
function toReal(path: string): string[] {
  return existsSync(path) ? [realpathSync(path)] : []
}

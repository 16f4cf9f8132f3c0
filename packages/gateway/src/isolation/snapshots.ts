// The files of a project as they were before a line of a coding agent: `sluice undo` brings them back. Each project has
// a bare repository in the data directory, which no box shows. git runs in a box of its own, with the project and
// this repository alone, and reads nothing of the project's own configuration. Ignored files and `.git` are not covered,
// and neither are the gate's own files, which no line can change: the data directory may lie in the project.

import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { attempt } from '@sluice/policy/structures/attempt'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { isObject } from '@sluice/policy/values/json'
import { type GitBox, PROJECT_INDEX, runGit, runGitScript, SNAPSHOT_INDEX } from './git-box.ts'
import { SNAPSHOT_AGE_MS_MAX, SNAPSHOT_FILES_MAX, SNAPSHOTS_MAX } from './limits.ts'

/** The line that is about to run. */
export interface SnapshotOf {
  readonly session: string
  readonly line: string
}

/** The project before one line. */
export interface Snapshot extends SnapshotOf {
  /** Names its commit in the repository of snapshots. */
  readonly commit: string
  readonly atMs: number
}

/** What `restore` would do, or has done, to one file. */
export interface RestoredFile {
  readonly path: string
  readonly change: 'added' | 'deleted' | 'changed'
}

/** Takes bytes as they are: no line ends, filters or encodings of the project. */
const ATTRIBUTES = '* -text -filter -ident -working-tree-encoding -diff -merge\n'
const REFS = 'refs/lines'
/** In the repository of snapshots. */
const [INDEX, NEW_INDEX, OWN] = ['index', 'index.new', 'info/exclude']

/** With its time: git looks again at files that changed in the second in which it was written. */
const READ_INDEX = `[ ! -e "$GIT_DIR/${INDEX}" ] || cp -p "$GIT_DIR/${INDEX}" ${SNAPSHOT_INDEX}`
const WRITE_INDEX = `cp -p ${SNAPSHOT_INDEX} "$GIT_DIR/${NEW_INDEX}"`
/** One script, because each box costs more than git: it sets `tree`. `$1` is the most files of a project, counted before
 * git reads them all for the first time. Files that the project tracks although an ignore file names them
 * are found by its index, so that its configuration is not read; those of the gate are taken out again, if it has some
 * in the project. A repository in a subfolder that has no
 * commit is left out: a line could otherwise make one to turn snapshots off. */
const WRITE_TREE = `
${READ_INDEX}
if [ ! -e ${SNAPSHOT_INDEX} ]; then
  count=$(git ls-files -z -c -o --exclude-standard | tr -dc '\\000' | wc -c)
  if [ "$count" -gt "$1" ]; then
    echo "the project has $count files, more than $1" >&2
    exit 1
  fi
fi
said=$(git add -A --ignore-errors . 2>&1)
if [ "$2" = refuse ] && printf '%s\\n' "$said" | grep -E '^(error|fatal):' |
  grep -qv 'does not have a commit checked out'; then
  printf '%s\\n' "$said" >&2
  exit 1
fi
[ ! -e ${PROJECT_INDEX} ] || GIT_INDEX_FILE=${PROJECT_INDEX} git ls-files -z -c -i --exclude-standard |
  git update-index --add --remove -z --stdin
if { read -r title && read -r own; } < "$GIT_DIR/${OWN}"; then
  git ls-files -z -c -i -X "$GIT_DIR/${OWN}" | git update-index --force-remove -z --stdin
fi
tree=$(git write-tree) && ${WRITE_INDEX} || exit 1
`
/** Prints the tree and a commit of it. The message comes from stdin, because it may be longer than an argument. */
const COMMIT_TREE = `
commit=$(git commit-tree "$tree") || exit 1
echo "$tree $commit"
[ "$3" = full ] && git gc --auto --quiet
true`

const RESTORE_TREE = `${READ_INDEX}
git read-tree --reset -u "$1" && ${WRITE_INDEX}`

/** git does not record who may read a file, and a line may have taken that from its owner. */
const MAKE_ACCESSIBLE = `
find . -name .git -prune -o -type d ! -perm -700 -exec chmod u+rwx {} \\;
find . -name .git -prune -o -type f ! -perm -600 -exec chmod u+rw {} \\;`

/** Bounds that tests set lower. */
export interface SnapshotBounds {
  /** Files of a project, above which no snapshot is made. */
  readonly filesMax?: number | undefined
  /** Snapshots of a project that are kept. */
  readonly snapshotsMax?: number | undefined
}

export interface SnapshotPlaces {
  /** The data directory, where the repositories of snapshots are. */
  readonly data: string
  /** Files and folders of the gate itself, which may lie in a project. */
  readonly own: readonly string[]
}

export class Snapshots {
  readonly #data: string
  readonly #own: readonly string[]
  readonly #nowMs: () => number
  readonly #filesMax: number
  readonly #snapshotsMax: number
  /** What runs for a project: one thing at a time, because they share an index. */
  readonly #running = new Map<string, Promise<unknown>>()

  constructor(
    { data, own }: SnapshotPlaces,
    nowMs: () => number,
    { filesMax = SNAPSHOT_FILES_MAX, snapshotsMax = SNAPSHOTS_MAX }: SnapshotBounds = {},
  ) {
    this.#data = data
    this.#own = [data, ...own].map((path) => attempt(() => realpathSync(path), path))
    this.#nowMs = nowMs
    this.#filesMax = filesMax
    this.#snapshotsMax = snapshotsMax
  }

  /** Records the files that git tracks or would track. Rejects if it cannot. */
  record(project: string, of: SnapshotOf): Promise<void> {
    return this.#exclusively(project, async (git) => {
      await this.#keep(git, [WRITE_TREE, 'refuse'], of)
      await replaceIndex(git)
    })
  }

  /** The last lines that changed something, newest first. */
  list(project: string): Promise<readonly Snapshot[]> {
    return this.#exclusively(project, async (git) => {
      const now = await writeTree(git)
      const all = await readSnapshots(git)
      // A line changed something if what came after it is not what was before it.
      return all.filter(({ tree }, at) => tree !== (all[at - 1]?.tree ?? now))
    })
  }

  /** What would change if the project became what it was. */
  compare(project: string, commit: string): Promise<readonly RestoredFile[]> {
    return this.#exclusively(project, async (git) =>
      compareTrees(git, await writeTree(git), commit),
    )
  }

  /** Brings the files back, and records those of now before. */
  restore(project: string, commit: string): Promise<readonly RestoredFile[]> {
    return this.#exclusively(project, async (git) => {
      const writable = { ...git, canWriteProject: true }
      await runGitScript(writable, MAKE_ACCESSIBLE, [])
      const now = await writeTree(git)
      const changes = await compareTrees(git, now, commit)
      if (changes.length === 0) return changes
      const of = { session: '', line: 'sluice undo' }
      await this.#keep(git, ['tree=$2', now], of)
      await runGitScript(writable, RESTORE_TREE, [commit])
      await replaceIndex(git)
      return changes
    })
  }

  async #exclusively<T>(project: string, work: (git: GitBox) => Promise<T>): Promise<T> {
    const before = this.#running.get(project) ?? Promise.resolve()
    const result = before.catch(() => {}).then(async () => work(await this.#open(project)))
    this.#running.set(project, result)
    return result
  }

  async #open(project: string): Promise<GitBox> {
    const name = createHash('sha256').update(project).digest('hex').slice(0, 32)
    const repository = join(this.#data, 'snapshots', name)
    const projectIndex = await findIndex(project)
    const git = { project, repository, projectIndex, filesMax: this.#filesMax }
    const own = writePatterns(project, this.#own)
    const before = await readIfThere(join(repository, OWN))
    if (before !== undefined) {
      if (before !== own) await writeFile(join(repository, OWN), own)
      return git
    }
    // One that was made without it may hold the data directory, which must not come back.
    await rm(repository, { recursive: true, force: true })
    await mkdir(repository, { recursive: true, mode: 0o700 })
    await runGit(git, ['init', '--quiet', '--bare', '--template=', '.'], { hasRepository: false })
    await mkdir(join(repository, 'info'), { recursive: true })
    await writeFile(join(repository, 'info/attributes'), ATTRIBUTES)
    // Last: a repository without it is begun again.
    await writeFile(join(repository, OWN), own)
    return git
  }

  /** Makes a snapshot of the tree that a script sets, which is given one word. Removes those that are too many, too old,
   * or as this one: the line before it has changed nothing and needs no way back. They are the files of git's refs,
   * named so that this needs no process. */
  async #keep(
    git: GitBox,
    [script, word]: readonly [script: string, word: string],
    of: SnapshotOf,
  ): Promise<void> {
    const atMs = this.#nowMs()
    const folder = join(git.repository, REFS)
    const earlier = (await readdir(folder).catch(() => [])).sort().reverse()
    const isFull = earlier.length >= this.#snapshotsMax
    const input = JSON.stringify({ atMs, ...of })
    const args = [String(git.filesMax), word, isFull ? 'full' : '']
    const printed = await runGitScript(git, `${script}${COMMIT_TREE}`, args, { input })
    const [tree = '', commit = ''] = printed.trim().split(' ')
    const ref = join(folder, `${nameTime(atMs)}-${tree}`)
    await mkdir(folder, { recursive: true })
    await writeFile(`${ref}.lock`, `${commit}\n`)
    const oldest = nameTime(atMs - SNAPSHOT_AGE_MS_MAX)
    const old = earlier.filter(
      (name, at) =>
        at >= this.#snapshotsMax - 1 || name < oldest || (at === 0 && name.endsWith(`-${tree}`)),
    )
    for (const name of old) await rm(join(folder, name), { force: true })
    await rename(`${ref}.lock`, ref)
  }
}

/** Any other fault is thrown: a file that cannot be read now must not pass for one that is missing. */
function readIfThere(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}

/** As an ignore file of git names those of the paths that are in the project. */
function writePatterns(project: string, paths: readonly string[]): string {
  const patterns = paths
    .map((path) => relative(project, path))
    .filter((path) => path !== '' && !path.startsWith('..'))
    .map((path) => `/${path.replaceAll(/[\\*?[\]]| $/g, '\\$&')}\n`)
  return `# Files of the gate.\n${[...new Set(patterns)].sort().join('')}`
}

/** As names sort by it. */
function nameTime(ms: number): string {
  return String(ms).padStart(15, '0')
}

/** The tree of the files as they are now. What a line has made unreadable must not keep its undo from working. */
async function writeTree(git: GitBox): Promise<string> {
  const args = [String(git.filesMax), 'skip']
  const tree = (await runGitScript(git, `${WRITE_TREE}echo "$tree"`, args)).trim()
  await replaceIndex(git)
  return tree
}

/** Takes what `WRITE_INDEX` has written. An index has the number of its files in its header. */
async function replaceIndex({ repository, filesMax }: GitBox): Promise<void> {
  const written = join(repository, NEW_INDEX)
  const file = await open(written)
  const { buffer } = await file.read(Buffer.alloc(12), 0, 12).finally(() => file.close())
  await rename(written, join(repository, INDEX))
  const count = buffer.readUInt32BE(8)
  if (count > filesMax) throw new Error(`the project has ${count} files, more than ${filesMax}`)
}

/** Where the index of a project is, also of a linked worktree. */
async function findIndex(project: string): Promise<string> {
  const pointer = join(project, '.git')
  const text = await readFile(pointer, 'utf8').catch(() => '')
  const [, named] = /^gitdir: (.+)\n?$/.exec(text) ?? []
  return join(named === undefined ? pointer : resolve(project, named), 'index')
}

interface StoredSnapshot extends Snapshot {
  readonly ref: string
  readonly tree: string
}

/** Newest first. */
async function readSnapshots(git: GitBox): Promise<StoredSnapshot[]> {
  const format = '--format=%(refname)%00%(objectname)%00%(tree)%00%(contents)%00%00'
  const text = await runGit(git, ['for-each-ref', '--sort=-refname', format, REFS])
  return text.split('\0\0').flatMap((record) => {
    const [ref = '', commit = '', tree = '', content = ''] = record.trimStart().split('\0')
    const of: unknown = attempt(() => JSON.parse(content), undefined)
    if (!isObject(of)) return []
    const { atMs, session, line } = of
    return [{ ref, commit, tree, atMs: Number(atMs), session: String(session), line: String(line) }]
  })
}

const CHANGES: Readonly<Record<string, RestoredFile['change']>> = { A: 'added', D: 'deleted' }

async function compareTrees(git: GitBox, from: string, to: string): Promise<RestoredFile[]> {
  if (!/^[0-9a-f]{40}$/.test(to))
    throw new OperationError(`\`${to}\` is no snapshot`, 'run `sluice undo`')
  const words = ['diff-tree', '-r', '-z', '--no-renames', '--name-status', from, to]
  const parts = (await runGit(git, words)).split('\0')
  const files: RestoredFile[] = []
  for (let at = 0; at + 1 < parts.length; at += 2)
    files.push({ change: CHANGES[parts[at] ?? ''] ?? 'changed', path: parts[at + 1] ?? '' })
  return files
}

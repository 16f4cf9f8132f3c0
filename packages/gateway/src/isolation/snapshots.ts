// The files of a project as they were before a line of a coding agent: `sluice undo` brings them back. Each project has
// a bare repository in the data directory, which no box shows. git runs in a box of its own, with the project and
// this repository alone, and reads nothing of the project's own configuration. Ignored files and `.git` are not covered.

import { createHash } from 'node:crypto'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { attempt } from '@sluice/policy/structures/attempt'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { isObject } from '@sluice/policy/values/json'
import { type GitBox, runGit, runGitScript } from './git-box.ts'
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
const PROJECT_INDEX = 'project-index'

/** One script, because each box costs more than git: it sets `tree`. Files that the project tracks although an ignore file names them
 * are found by a copy of its index, so that its configuration is not read. A repository in a subfolder that has no
 * commit is left out: a line could otherwise make one to turn snapshots off. */
const WRITE_TREE = `
count=$(git ls-files -z -c -o --exclude-standard | tr -dc '\\000' | wc -c)
if [ "$count" -gt "$1" ]; then
  echo "the project has $count files, more than $1" >&2
  exit 1
fi
said=$(git add -A --ignore-errors . 2>&1)
if [ "$2" = refuse ] && printf '%s\\n' "$said" | grep -E '^(error|fatal):' |
  grep -qv 'does not have a commit checked out'; then
  printf '%s\\n' "$said" >&2
  exit 1
fi
GIT_INDEX_FILE="$GIT_DIR/${PROJECT_INDEX}" git ls-files -z -c -i --exclude-standard |
  git update-index --add --remove -z --stdin
tree=$(git write-tree) || exit 1
`
/** Makes a snapshot of `tree`, and removes those that are too many, too old, or as this one: the line before it has
 * changed nothing and needs no way back. `$3` is the time, as names sort by it, `$4` the oldest that is kept; the message
 * comes from stdin, because it may be longer than an argument. */
const KEEP_TREE = `
commit=$(git commit-tree "$tree") || exit 1
git for-each-ref --sort=-refname --format='%(refname) %(tree)' ${REFS} |
  awk -v tree="$tree" -v oldest="${REFS}/$4" -v max=${SNAPSHOTS_MAX - 1} '
    NR > max || $1 < oldest || (NR == 1 && $2 == tree) { print "delete " $1 }
    END { exit NR > max }' > "$GIT_DIR/old"
isFull=$?
{ echo "create ${REFS}/$3-$commit $commit"; cat "$GIT_DIR/old"; } | git update-ref --stdin || exit 1
[ "$isFull" = 0 ] || git gc --auto --quiet`

/** git does not record who may read a file, and a line may have taken that from its owner. */
const MAKE_ACCESSIBLE = `
find . -name .git -prune -o -type d ! -perm -700 -exec chmod u+rwx {} \\;
find . -name .git -prune -o -type f ! -perm -600 -exec chmod u+rw {} \\;`

export class Snapshots {
  readonly #data: string
  readonly #nowMs: () => number
  /** What runs for a project: one thing at a time, because they share an index. */
  readonly #running = new Map<string, Promise<unknown>>()

  constructor(data: string, nowMs: () => number) {
    this.#data = data
    this.#nowMs = nowMs
  }

  /** Records the files that git tracks or would track. Rejects if it cannot. */
  record(project: string, of: SnapshotOf): Promise<void> {
    return this.#exclusively(project, async (git) => {
      await copyIndex(git)
      await this.#keep(git, `${WRITE_TREE}${KEEP_TREE}`, 'refuse', of)
    })
  }

  /** The last lines that changed something, newest first. */
  list(project: string): Promise<readonly Snapshot[]> {
    return this.#exclusively(project, async (git) => {
      const now = await this.#writeTree(git, 'skip')
      const all = await readSnapshots(git)
      // A line changed something if what came after it is not what was before it.
      return all.filter(({ tree }, at) => tree !== (all[at - 1]?.tree ?? now))
    })
  }

  /** What would change if the project became what it was. */
  compare(project: string, commit: string): Promise<readonly RestoredFile[]> {
    return this.#exclusively(project, async (git) =>
      compareTrees(git, await this.#writeTree(git, 'skip'), commit),
    )
  }

  /** Brings the files back, and records those of now before. */
  restore(project: string, commit: string): Promise<readonly RestoredFile[]> {
    return this.#exclusively(project, async (git) => {
      const writable = { ...git, canWriteProject: true }
      await runGitScript(writable, MAKE_ACCESSIBLE, [])
      const now = await this.#writeTree(git, 'skip')
      const changes = await compareTrees(git, now, commit)
      if (changes.length === 0) return changes
      const of = { session: '', line: 'sluice undo' }
      await this.#keep(git, `tree=$2${KEEP_TREE}`, now, of)
      await runGit(writable, ['read-tree', '--reset', '-u', commit])
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
    const git = { project, repository }
    const isThere = await readFile(join(repository, 'HEAD')).then(
      () => true,
      () => false,
    )
    if (isThere) return git
    await mkdir(repository, { recursive: true, mode: 0o700 })
    await runGit(git, ['init', '--quiet', '--bare', '--template=', '.'], { hasRepository: false })
    await mkdir(join(repository, 'info'), { recursive: true })
    await writeFile(join(repository, 'info/attributes'), ATTRIBUTES)
    return git
  }

  /** The tree of the files as they are now. What a line has made unreadable must not keep its undo from working. */
  async #writeTree(git: GitBox, unreadable: 'refuse' | 'skip'): Promise<string> {
    await copyIndex(git)
    const args = [String(SNAPSHOT_FILES_MAX), unreadable]
    return (await runGitScript(git, `${WRITE_TREE}echo "$tree"`, args)).trim()
  }

  async #keep(git: GitBox, script: string, how: string, of: SnapshotOf): Promise<void> {
    const atMs = this.#nowMs()
    const times = [atMs, atMs - SNAPSHOT_AGE_MS_MAX].map((ms) => String(ms).padStart(15, '0'))
    const input = JSON.stringify({ atMs, ...of })
    await runGitScript(git, script, [String(SNAPSHOT_FILES_MAX), how, ...times], { input })
  }
}

/** A file that is no index makes git find no such files, which is all that it can do. */
async function copyIndex({ project, repository }: GitBox): Promise<void> {
  const pointer = join(project, '.git')
  const text = await readFile(pointer, 'utf8').catch(() => '')
  const [, named] = /^gitdir: (.+)\n?$/.exec(text) ?? []
  const folder = named === undefined ? pointer : resolve(project, named)
  const copy = join(repository, PROJECT_INDEX)
  await copyFile(join(folder, 'index'), copy).catch(() => rm(copy, { force: true }))
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

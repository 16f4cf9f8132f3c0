// What is read of a command line. The lists of what its parts name are made when they are first asked for, as a
// decision asks for one or two of them.

import type { Script } from 'unbash'
import { listFiles, listHosts, listSearched, type StartedCommand } from './shell-programs.ts'
import { listOwnVariables, type OwnVariable } from './shell-variables.ts'
import type { ShellWord } from './shell-words.ts'

export interface ShellReading {
  /** Why the text is not certain; undefined if it is. If it is not, the lists are not complete. */
  readonly uncertain: string | undefined
  /** The same for `hosts`. */
  readonly uncertainHosts: string | undefined
  readonly commands: readonly string[]
  readonly lines: readonly string[]
  /** The lines that may do more than read. */
  readonly changes: readonly string[]
  readonly paths: readonly string[]
  readonly writes: readonly string[]
  readonly hosts: readonly string[]
  /** What is assigned, as `NAME=value`; without a value if a command assigns it. */
  readonly variables: readonly string[]
  /** Where a variable certainly has what the text gave it; nowhere if the text holds a script for another shell. */
  readonly own: readonly OwnVariable[]
  readonly reads: boolean
  /** It reads nothing but this machine, and of its files those that `paths` has. */
  readonly local: boolean
  /** Folders below which it may read anything too; undefined if it may read more than these and `paths`. */
  readonly searched: readonly string[] | undefined
  /** Each program that it starts, in the order and with the words of the text. */
  readonly programs: readonly StartedProgram[]
  /** Types of the parts of the text, such as `Pipeline`. */
  readonly forms: ReadonlySet<string>
  /** A redirection reads or writes something else than an open descriptor or nothing at all. */
  readonly isRedirected: boolean
  /** Directories that it may enter; `''` is the one it begins in. */
  readonly directories: readonly string[]
}

export interface StartedProgram {
  /** The words of the command; undefined for a wrapper with a command of its own, such as `sudo`. */
  readonly words: readonly ShellWord[] | undefined
  /** A pipe brings its input. */
  readonly isFed: boolean
}

/** What the reader found in the text. */
export interface ShellParts {
  readonly started: readonly StartedCommand[]
  /** The started commands that may do more than read. */
  readonly changing: readonly StartedCommand[]
  readonly programs: readonly StartedProgram[]
  readonly forms: ReadonlySet<string>
  /** Files and hosts of redirections; a host is undefined if an expansion names it. */
  readonly read: readonly string[]
  readonly written: readonly string[]
  readonly hosts: readonly (string | undefined)[]
  readonly isRedirected: boolean
  /** What is assigned, and whether it changes what no program does. */
  readonly assigned: readonly string[]
  readonly isHarmless: boolean
  /** Directories that the text may have entered when it names a relative path, and whether a program may be in yet another. */
  readonly directories: readonly string[]
  readonly isElsewhere: boolean
  /** The text as parsed; undefined if it holds a script for another shell. */
  readonly script: Script | undefined
}

export class CertainReading implements ShellReading {
  readonly uncertain = undefined
  readonly reads: boolean
  readonly #parts: ShellParts
  #named: readonly (string | undefined)[] | undefined
  #paths: readonly string[] | undefined
  #writes: readonly string[] | undefined
  #hosts: readonly string[] | undefined
  #lines: readonly string[] | undefined
  #changes: readonly string[] | undefined

  constructor(parts: ShellParts) {
    this.#parts = parts
    const { isHarmless, written, changing, hosts } = parts
    this.reads = isHarmless && written.length + changing.length + hosts.length === 0
  }

  get uncertainHosts(): string | undefined {
    return this.#listNamed().includes(undefined) ? 'a host that is computed' : undefined
  }

  get commands(): readonly string[] {
    return unique(this.#parts.started.map(({ path: [name = ''] }) => name))
  }

  get lines(): readonly string[] {
    this.#lines ??= this.#parts.started.map(toLine)
    return this.#lines
  }

  get changes(): readonly string[] {
    this.#changes ??= this.#parts.changing.map(toLine)
    return this.#changes
  }

  get paths(): readonly string[] {
    const { read, written, started } = this.#parts
    const files = () => started.flatMap((command) => listFiles(command, false))
    this.#paths ??= this.#resolve([...read, ...written, ...files()])
    return this.#paths
  }

  get writes(): readonly string[] {
    const { written, changing } = this.#parts
    const files = () => changing.flatMap((command) => listFiles(command, true))
    this.#writes ??= this.#resolve([...written, ...files()])
    return this.#writes
  }

  get hosts(): readonly string[] {
    this.#hosts ??= unique(this.#listNamed().filter((host) => host !== undefined))
    return this.#hosts
  }

  get variables(): readonly string[] {
    return unique(this.#parts.assigned)
  }

  get own(): readonly OwnVariable[] {
    const { script } = this.#parts
    return script === undefined ? [] : listOwnVariables(script)
  }

  get local(): boolean {
    return this.searched?.length === 0
  }

  get searched(): readonly string[] | undefined {
    if (!this.reads || this.#listNamed().length > 0) return undefined
    const lists = this.#parts.started.map(listSearched)
    if (this.#parts.isElsewhere || lists.includes(undefined)) return undefined
    return this.#resolve(lists.flatMap((folders) => folders ?? []))
  }

  get programs(): readonly StartedProgram[] {
    return this.#parts.programs
  }

  get forms(): ReadonlySet<string> {
    return this.#parts.forms
  }

  get isRedirected(): boolean {
    return this.#parts.isRedirected
  }

  get directories(): readonly string[] {
    return this.#parts.directories
  }

  #listNamed(): readonly (string | undefined)[] {
    const { hosts, started } = this.#parts
    this.#named ??= [...hosts, ...started.flatMap(listHosts)]
    return this.#named
  }

  /** Every path in every directory that the text may be in. */
  #resolve(paths: readonly string[]): string[] {
    const { directories } = this.#parts
    return unique(
      paths.flatMap((path) => directories.map((directory) => joinPath(directory, path))),
    )
  }
}

function toLine({ path, rest }: StartedCommand): string {
  return [...path, ...rest.map(({ text }) => text)].join(' ')
}

/** Joins two paths and resolves `.` and `..`, unless the path has an expansion, which may be anything. */
export function joinPath(directory: string, path: string): string {
  const joined = directory === '' || /^[/~$]/.test(path) ? path : `${directory}/${path}`
  if (/[$`]/.test(joined)) return joined
  const isAbsolute = joined.startsWith('/')
  const segments: string[] = []
  for (const segment of joined.split('/').filter((each) => each !== '' && each !== '.')) {
    const last = segments.at(-1) ?? '..'
    const isTop = last === '..' || (segments.length === 1 && last.startsWith('~'))
    if (segment !== '..' || (isTop && !isAbsolute)) segments.push(segment)
    else if (!isTop || segments.length > 0) segments.pop()
  }
  return `${isAbsolute ? '/' : ''}${segments.join('/')}` || '.'
}

function unique<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)]
}

// The files of an agent: text as text, anything else as bytes, under normalised paths. Every write
// goes through `put`, which holds all limits, so that no operation gets around them.

import { compileGlob } from './glob.ts'
import { GuestError } from './guest-error.ts'
import { normalisePath } from './paths.ts'
import { compilePattern } from './pattern.ts'
import type { FileFacts, FileIn, Limits } from './protocol.ts'
import { utf8Bytes, wellFormed } from './text.ts'
import type { WorkBudget } from './work-budget.ts'

export interface File {
  readonly content: string | Uint8Array
  readonly bytes: number
  readonly modifiedAt: number
  readonly revision: number
}

const READ_LINES_DEFAULT = 2_000
const READ_CHARACTERS_MAX = 100_000
const LIST_MAX = 1_000
const GREP_MATCHES_MAX = 200
const GREP_LINE_LENGTH_MAX = 300
/** Characters one grep looks at, and those of one line; it then says where to go on. */
const GREP_CHARACTERS_MAX = 300_000
const GREP_LINE_LOOKED_MAX = 100_000
/** What a line costs beside its characters. */
const GREP_LINE_COST = 4
/** Characters that are looked at, split or copied for one unit of effort. */
const LOOKED_PER_UNIT = 2
const COPIED_PER_UNIT = 6
/** To list one file. */
const LISTED_EFFORT = 20

export class Files {
  #files = new Map<string, File>()
  #total = 0
  #revision = 0
  /** Paths that the event has written or removed. */
  readonly #touched = new Set<string>()

  get count(): number {
    return this.#files.size
  }

  get totalBytes(): number {
    return this.#total
  }

  put(path: unknown, content: string | Uint8Array, at: number, limits: Limits): File {
    const kept = typeof content === 'string' ? wellFormed(content) : content
    const bytes = typeof kept === 'string' ? utf8Bytes(kept) : kept.length
    return this.#put(path, kept, bytes, at, limits)
  }

  #put(path: unknown, kept: string | Uint8Array, bytes: number, at: number, limits: Limits): File {
    const name = normalisePath(path)
    if (bytes > limits.fileBytesMax)
      throw tooMuch(
        `\`${name}\` would have ${bytes} bytes, a file has at most ${limits.fileBytesMax}`,
      )
    const before = this.#files.get(name)
    const total = this.#total - (before?.bytes ?? 0) + bytes
    if (total > limits.totalBytesMax)
      throw tooMuch(`the files would have ${total} bytes in all, at most ${limits.totalBytesMax}`)
    if (before === undefined && this.#files.size >= limits.filesMax)
      throw tooMuch(`there are ${limits.filesMax} files, and no more are allowed`)
    this.#revision += 1
    const file: File = { content: kept, bytes, modifiedAt: at, revision: this.#revision }
    this.#files.set(name, file)
    this.#touched.add(name)
    this.#total = total
    return file
  }

  /** As it came from outside: text, or a stretch of the bytes that came along. */
  take(file: FileIn, bytes: Uint8Array | undefined, at: number, limits: Limits): void {
    const [offset = 0, length = 0] = file.bytes ?? []
    const content = file.text ?? bytes?.slice(offset, offset + length)
    if (content === undefined)
      throw new GuestError('AGENT_INPUT', `\`${file.path}\` has no content`)
    const when = file.modifiedAt ?? at
    if (file.size === undefined || typeof content !== 'string')
      this.put(file.path, content, when, limits)
    else this.#put(file.path, content, file.size, when, limits)
  }

  /** All of it, or nothing and why. */
  merge(
    write: readonly FileIn[],
    remove: readonly string[],
    bytes: Uint8Array | undefined,
    at: number,
    limits: Limits,
  ): GuestError | undefined {
    const files = new Map(this.#files)
    const total = this.#total
    try {
      for (const path of remove) if (this.#files.has(normalisePath(path))) this.delete(path)
      for (const file of write) this.take(file, bytes, at, limits)
      return undefined
    } catch (error) {
      if (!(error instanceof GuestError)) throw error
      this.#files = files
      this.#total = total
      return error
    }
  }

  get(path: unknown): File {
    const name = normalisePath(path)
    const file = this.#files.get(name)
    if (file === undefined)
      throw new GuestError('AGENT_FILE_MISSING', `there is no file \`${name}\``)
    return file
  }

  delete(path: unknown): void {
    const { bytes } = this.get(path)
    const name = normalisePath(path)
    this.#files.delete(name)
    this.#touched.add(name)
    this.#total -= bytes
  }

  clear(): void {
    for (const path of this.#files.keys()) this.#touched.add(path)
    this.#files.clear()
    this.#total = 0
  }

  facts(matches: (path: string) => boolean = () => true): FileFacts[] {
    const facts: FileFacts[] = []
    for (const [path, file] of this.#files) if (matches(path)) facts.push(factsOf(path, file))
    return facts.sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  /** What became of those that were touched since this was asked last. */
  takeChanges(): { files: FileFacts[]; gone: string[] } {
    const files: FileFacts[] = []
    const gone: string[] = []
    for (const path of this.#touched) {
      const file = this.#files.get(path)
      if (file === undefined) gone.push(path)
      else files.push(factsOf(path, file))
    }
    this.#touched.clear()
    return { files, gone }
  }

  /** A page of a text, with what is needed to ask for the next. */
  read(path: unknown, offset: unknown, limit: unknown, effort: WorkBudget): object {
    const file = this.get(path)
    effort.spend(file.bytes / COPIED_PER_UNIT)
    if (typeof file.content !== 'string')
      throw new GuestError('AGENT_INPUT', `\`${String(path)}\` is not text: ${file.bytes} bytes`)
    const lines = file.content.split('\n')
    const from = count(offset, 0, 'offset')
    const wanted = lines.slice(from, from + count(limit, READ_LINES_DEFAULT, 'limit'))
    let characters = 0
    const kept = wanted.findIndex((line) => {
      characters += line.length + 1
      return characters > READ_CHARACTERS_MAX
    })
    const page = kept < 0 ? wanted : wanted.slice(0, Math.max(1, kept))
    const next = from + page.length
    return {
      path: normalisePath(path),
      content: page.join('\n').slice(0, READ_CHARACTERS_MAX),
      offset: from,
      lines: page.length,
      totalLines: lines.length,
      nextOffset: next < lines.length ? next : null,
    }
  }

  edit(input: Record<string, unknown>, at: number, limits: Limits, effort: WorkBudget): object {
    const { path, old_string: old, new_string: fresh, replace_all: all } = input
    const file = this.get(path)
    effort.spend(file.bytes / COPIED_PER_UNIT)
    if (typeof file.content !== 'string')
      throw new GuestError('AGENT_INPUT', `\`${String(path)}\` is not text`)
    if (typeof old !== 'string' || typeof fresh !== 'string')
      throw new GuestError('AGENT_INPUT', '`old_string` and `new_string` are texts')
    if (old === '')
      throw new GuestError('AGENT_INPUT', '`old_string` is empty: say what to replace')
    const parts = file.content.split(old)
    if (parts.length === 1)
      throw new GuestError('AGENT_INPUT', `\`old_string\` is not in \`${String(path)}\``)
    if (parts.length > 2 && all !== true)
      throw new GuestError(
        'AGENT_INPUT',
        `\`old_string\` is ${parts.length - 1} times in \`${String(path)}\`: say more of what is around it, or set \`replace_all\``,
      )
    const { bytes } = this.put(path, parts.join(fresh), at, limits)
    return { path: normalisePath(path), replaced: parts.length - 1, bytes }
  }

  list(pattern: unknown, effort: WorkBudget): object {
    effort.spend(this.#files.size * LISTED_EFFORT)
    const found = this.facts(pattern === undefined ? undefined : compileGlob(pattern, effort))
    return {
      files: found.slice(0, LIST_MAX).map(({ path, bytes }) => ({ path, bytes })),
      count: found.length,
      leftOff: Math.max(0, found.length - LIST_MAX),
    }
  }

  grep(input: Record<string, unknown>, effort: WorkBudget): object {
    const { pattern, glob, ignore_case: ignoreCase, after, after_line: afterLine } = input
    const matcher = compilePattern(pattern, ignoreCase === true, effort)
    const inGlob = glob === undefined ? undefined : compileGlob(glob, effort)
    const first = count(afterLine, 0, 'after_line')
    const matches: { path: string; line: number; text: string }[] = []
    let looked = 0
    let cutLines = 0
    const said = (goOnAfter: string | null, goOnLine: number | null = null) => {
      const more = cutLines > 0 ? { cutLines } : {}
      return { matches, count: matches.length, goOnAfter, goOnLine, ...more }
    }
    effort.spend(this.#files.size * LISTED_EFFORT)
    for (const { path, isText } of this.facts(inGlob)) {
      const goesOn = path === after && first > 0
      if (!isText || (typeof after === 'string' && path <= after && !goesOn)) continue
      const content = String(this.#files.get(path)?.content)
      effort.spend(content.length / COPIED_PER_UNIT)
      const lines = content.split('\n')
      for (let at = goesOn ? first : 0; at < lines.length; at += 1) {
        if (looked > GREP_CHARACTERS_MAX || matches.length >= GREP_MATCHES_MAX)
          return at > 0 ? said(path, at) : said(before(this.facts(), path))
        const whole = lines[at] as string
        const line = whole.slice(0, GREP_LINE_LOOKED_MAX)
        if (line.length < whole.length) cutLines += 1
        looked += line.length + GREP_LINE_COST
        effort.spend((line.length + GREP_LINE_COST) / LOOKED_PER_UNIT)
        if (!matcher.test(line)) continue
        matches.push({ path, line: at + 1, text: line.slice(0, GREP_LINE_LENGTH_MAX) })
      }
    }
    return said(null)
  }
}

function factsOf(path: string, { content, bytes, modifiedAt, revision }: File): FileFacts {
  return { path, bytes, modifiedAt, revision, isText: typeof content === 'string' }
}

function before(facts: readonly FileFacts[], path: string): string {
  return facts.filter((each) => each.path < path).at(-1)?.path ?? ''
}

function count(value: unknown, otherwise: number, name: string): number {
  if (value === undefined || value === null) return otherwise
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new GuestError(
      'AGENT_INPUT',
      `\`${name}\` is a whole number, not ${JSON.stringify(value)}`,
    )
  return value
}

function tooMuch(message: string): GuestError {
  return new GuestError('AGENT_LIMIT', message)
}

// The skills of one session with one server: the manifests that the server gave, which of them this caller may see,
// and whether a file that is read is the one that its manifest lists. A skill is pinned like the definition of a
// tool, under the URI of its SKILL.md. Its files are resources, and the rules on resources decide on them.

import type { Facts } from '@sluice/policy/calls/call'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { readUri } from '@sluice/policy/expression/functions/resource-uri'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { splitMembers } from '@sluice/protocol/json/raw-members'
import { RELIST_MS } from '../shared/limits.ts'
import { isWithheld, type PendingDefinition, type Pins, sha256 } from '../tools/pins.ts'
import { isReadable, listContents } from './app-pages.ts'
import { SKILL_FILES_MAX, SKILLS_MAX } from './limits.ts'
import { listEntries } from './list-entries.ts'
import type { SeenListsContext } from './visible-lists.ts'

export interface SkillsContext
  extends Pick<SeenListsContext, 'server' | 'policy' | 'now' | 'pendingOf' | 'ask' | 'onLimit'> {
  readonly pins: Pick<Pins, 'isLocked' | 'poisonIn'>
}

interface SkillFile {
  readonly uri: string
  readonly digest: string
  readonly size: number
}

interface Skill {
  readonly text: string
  /** What is pinned: its manifest under the URI of its SKILL.md. */
  readonly tool: KnownTool
  /** With the last slash. */
  readonly root: string
  /** By normal form; undefined if the server does not say which files there are (`dynamic`). */
  readonly files: ReadonlyMap<string, SkillFile> | undefined
}

/** What stands against a request for a file of a skill. */
export interface SkillObjection {
  readonly pendingDefinition?: PendingDefinition | undefined
  readonly missing?: boolean
  readonly objection?: string
  /** The manifest has it in exactly this spelling. */
  readonly isListed?: boolean
}

const MAIN = 'SKILL.md'
const SCHEME = /^skill:/i
const DIGEST = /^sha256:[0-9a-f]{64}$/
const UNPINNED = 'no skill that the lock file pins has this file'

export class KnownSkills {
  readonly #context: SkillsContext
  /** By the URI of their SKILL.md, as the server wrote it. */
  readonly #skills = new Map<string, Skill>()
  #listing: Promise<void> | undefined
  #listedMs = Number.NEGATIVE_INFINITY

  constructor(context: SkillsContext) {
    this.#context = context
  }

  /** Whether this caller may see an entry of `skills/list`. With one hidden file the skill is hidden: a shorter
   * manifest would not be that of the server. */
  isShown(entry: JsonObject, text: string, facts: Omit<Facts, 'tool'>): boolean {
    const skill = this.#learn(entry, text)
    return skill !== undefined && !this.#isHidden(skill, facts) && !this.#isPending(skill)
  }

  /** Whether a file of a skill, or a directory, waits for a person. */
  isPending(uri: string): boolean {
    const found = this.#find(uri)
    return found !== undefined && this.#isPending(found.skill)
  }

  /** Whether a skill has the file or directory. */
  has(uri: string): boolean {
    const [directory] = readUri(uri.endsWith('/') ? uri : `${uri}/`).readings
    const isAbove = () => [...this.#skills.values()].some(({ root }) => root.startsWith(directory))
    return this.#find(uri) !== undefined || isAbove()
  }

  /** Asks the server for its skills if none is known that has this file; undefined if nothing has to be asked. */
  lookUp(uri: string, facts: () => Omit<Facts, 'tool'>): Promise<void> | undefined {
    if (!SCHEME.test(uri)) return undefined
    const skill = this.#find(uri)?.skill
    // A hidden skill counts as not known, so that it takes as long as one that is not there.
    if (skill !== undefined && !this.#isHidden(skill, facts())) return undefined
    const { monotonicMs } = this.#context.now()
    if (this.#listing === undefined && monotonicMs - this.#listedMs < RELIST_MS) return undefined
    this.#listing ??= this.#list().finally(() => {
      this.#listing = undefined
      this.#listedMs = this.#context.now().monotonicMs
    })
    return this.#listing
  }

  /** What stands against a request about this URI, beside the rules of the policy; undefined if it is of no skill. */
  objectTo(
    uri: string,
    method: string,
    facts: () => Omit<Facts, 'tool'>,
  ): SkillObjection | undefined {
    const found = this.#find(uri)
    const isRead = method === 'resources/read' || method === 'resources/subscribe'
    if (found === undefined) {
      const isUnpinned = isRead && SCHEME.test(uri) && this.#context.pins.isLocked
      return isUnpinned ? { objection: UNPINNED } : undefined
    }
    const { skill, file } = found
    if (this.#isHidden(skill, facts())) return { missing: true }
    const isUnlisted = isRead && file === undefined && skill.files !== undefined
    return {
      pendingDefinition: this.#context.pendingOf(skill.tool),
      isListed: file?.uri === uri,
      ...(isUnlisted && { objection: `\`${skill.tool.definition.name}\` does not list this file` }),
    }
  }

  /** Why the answer to a request about a skill may not pass; undefined if it may, or is about no skill. */
  checkAnswer(
    { method, name }: { readonly method: string; readonly name: string },
    result: string | undefined,
    facts: () => Omit<Facts, 'tool'>,
  ): string | undefined {
    if (result === undefined) return undefined
    if (method === 'skills/get') return this.#checkEntry(name, result, facts())
    const found = method === 'resources/read' ? this.#find(name) : undefined
    return found && this.#checkFile(found, name, result)
  }

  #checkEntry(uri: string, result: string, facts: Omit<Facts, 'tool'>): string | undefined {
    const text = splitMembers(result).get('skill') ?? 'null'
    const entry = JSON.parse(text) as JsonValue
    if (!isObject(entry) || entry.uri !== uri) return 'the server answered with another skill'
    if (this.#learn(entry, text) === undefined) return 'its manifest is not one of a skill'
    if (this.isShown(entry, text, facts)) return undefined
    return this.isPending(uri) ? 'the skill waits for a person' : 'a file of the skill is hidden'
  }

  #checkFile(
    { skill, file }: { readonly skill: Skill; readonly file: SkillFile | undefined },
    uri: string,
    result: string,
  ): string | undefined {
    const contents = listContents(result)
    const [{ text, blob } = {}] = contents
    if (contents.length !== 1) return `the server sent ${contents.length} contents for one file`
    const bytes = typeof text === 'string' ? Buffer.from(text) : Buffer.from(`${blob}`, 'base64')
    if (file !== undefined && bytes.length !== file.size)
      return `the file has ${bytes.length} bytes and ${file.size} in its manifest`
    if (file !== undefined && `sha256:${sha256(bytes)}` !== file.digest)
      return 'the file has another digest than in its manifest'
    const { pins } = this.#context
    const isMain = readUri(uri).readings[0] === skill.root + MAIN
    const poison = isMain && !pins.isLocked ? pins.poisonIn(bytes.toString()) : undefined
    return poison && `its text looks like an attack (${poison})`
  }

  async #list(): Promise<void> {
    for await (const text of listEntries(this.#context.ask, 'skills/list')) {
      const entry = JSON.parse(text) as JsonValue
      if (isObject(entry)) this.#learn(entry, text)
    }
  }

  /** Undefined if it is no skill, or a limit leaves it out. */
  #learn(entry: JsonObject, text: string): Skill | undefined {
    const uri = String(entry.uri)
    const known = this.#skills.get(uri)
    if (known?.text === text) return known
    const isFull = known === undefined && this.#skills.size >= SKILLS_MAX
    const skill = isFull ? undefined : toSkill(this.#context.server, entry, text)
    const why = `has no manifest that can be checked, or is one of more than ${SKILLS_MAX}`
    if (skill !== undefined) this.#skills.set(uri, skill)
    else this.#context.onLimit(`its skill \`${uri.slice(0, 100)}\` ${why}`)
    return skill
  }

  /** Every spelling of a URI that a server may read as the file. */
  #find(uri: string): { readonly skill: Skill; readonly file: SkillFile | undefined } | undefined {
    if (this.#skills.size === 0) return undefined
    const { readings, shorter } = readUri(uri)
    const spellings = [...readings, ...shorter]
    let within: Skill | undefined
    for (const skill of this.#skills.values()) {
      const listed = spellings.find((each) => skill.files?.has(each))
      if (listed !== undefined) return { skill, file: skill.files?.get(listed) }
      if (spellings.some((each) => each.startsWith(skill.root))) within ??= skill
    }
    return within && { skill: within, file: undefined }
  }

  #isPending({ tool }: Skill): boolean {
    return isWithheld(this.#context.pendingOf(tool))
  }

  #isHidden({ tool, files }: Skill, facts: Omit<Facts, 'tool'>): boolean {
    const uris =
      files === undefined ? [tool.definition.name] : [...files.values()].map(({ uri }) => uri)
    return uris.some((uri) => !isReadable(this.#context, uri, facts))
  }
}

function toSkill(server: string, entry: JsonObject, text: string): Skill | undefined {
  const { uri, frontmatter, resources } = entry
  if (typeof uri !== 'string' || !uri.endsWith(`/${MAIN}`) || !isObject(frontmatter))
    return undefined
  const listed = Array.isArray(resources) ? (resources as readonly JsonValue[]) : []
  const files = listed.filter(isFile)
  if (files.length !== listed.length || files.length > SKILL_FILES_MAX) return undefined
  const [main] = readUri(uri).readings
  const byForm = new Map(files.map((file) => [readUri(file.uri).readings[0], file]))
  if (resources !== 'dynamic' && !byForm.has(main)) return undefined
  const pinned =
    resources === 'dynamic'
      ? resources
      : Object.fromEntries(files.map((file) => [file.uri, `${file.digest} ${file.size}`]))
  const definition = { server, name: uri, frontmatter, resources: pinned }
  return {
    text,
    tool: { definition, category: 'Read', risk: 'low' },
    root: main.slice(0, -MAIN.length),
    files: resources === 'dynamic' ? undefined : byForm,
  }
}

function isFile(value: JsonValue): value is JsonObject & SkillFile {
  if (!isObject(value)) return false
  const { uri, digest, size } = value
  return typeof uri === 'string' && DIGEST.test(String(digest)) && Number.isSafeInteger(size)
}

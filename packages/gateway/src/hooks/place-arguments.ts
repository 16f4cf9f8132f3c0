// The arguments of a client's tool as they are judged: one name for one meaning over all clients, and paths
// from the root. A call whose arguments could be read in two ways is refused: clients ignore arguments that
// they do not know, and a path beside the one that is used would be judged in its place.

import type { JsonObject, JsonValue } from '@sluice/policy/values/json'
import { CLIENT_TOOLS } from './client-tools.ts'
import { CODING_CLIENTS, type HookClient } from './clients/table.ts'

export interface ClientCall {
  readonly client: HookClient
  /** As the catalogue names it. */
  readonly tool: string
  readonly input: JsonObject
  /** Where the client stands. */
  readonly cwd: string
}

/** Names that clients have for the argument that is a path. */
const PATHS: readonly string[] = [
  'file_path',
  'notebook_path',
  'path',
  'paths',
  'absolute_path',
  'filePath',
  'dir_path',
  'directory',
]
/** Part of a pattern for names of files that leads out of the directory in which it is looked for. */
const LEADS_OUT = /(?:^|[{,(|])[/~\\]|(?:^|[{,(|/\\])\.\.(?:$|[},)|/\\])|^[A-Za-z]:/
/** A line of a patch that names a file, without the blanks before it, which clients take. A line of a file's
 * content that looks the same is one name too many, which hides nothing. */
const PATCHED = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.*)$/s

/** Why the call is refused, if it is a text. */
export function placeArguments(call: ClientCall): JsonObject | string {
  const { client, tool, input, cwd } = call
  if (tool === 'Bash') return placeCommand(call)
  if (tool === 'apply_patch') return placePatch(input, cwd)
  if (tool === 'Skill') return nameSkill(input)
  const key = CLIENT_TOOLS.get(tool)?.path
  if (key === undefined) return input
  const given = PATHS.filter((name) => (input[name] ?? null) !== null)
  const [name, other] = given
  if (other !== undefined) return askForOne(given, 'place')
  // What finds files looks where the client stands.
  const path = name === undefined ? (key === 'path' ? '.' : undefined) : readPath(input[name])
  if (path === undefined)
    return name === undefined
      ? `\`${tool}\` of ${client} names no file: give \`${key}\``
      : `\`${name}\` is not one path: make a call for each`
  if (tool === 'Glob' && typeof input.pattern === 'string' && LEADS_OUT.test(input.pattern))
    return `the pattern \`${input.pattern.slice(0, 200)}\` leads out of the directory: name that directory, and give a pattern for what is in it`
  return { ...omit(input, given), [key]: toAbsolute(path, cwd), cwd }
}

/** What a model says about a command line and how long it would wait for it differ each time, and an approval
 * is of the line. */
function placeCommand({ client, input, cwd }: ClientCall): JsonObject | string {
  const { description: _said, timeout: _patience, timeout_ms: _deadline, ...rest } = input
  // Where a line runs is said by the gate (box-lines.ts), not by the model.
  const line = omit(rest, ['box'])
  const given = CODING_CLIENTS[client].directories.filter((name) => (line[name] ?? null) !== null)
  if (given.length > 1) return askForOne(given, 'place')
  const [name = ''] = given
  const directory = line[name] ?? '.'
  if (typeof directory !== 'string') return `\`${name}\` is not one path: give a text`
  return { ...omit(line, given), cwd: toAbsolute(directory, cwd) }
}

/** `paths` are the files that the patch names. */
function placePatch(input: JsonObject, cwd: string): JsonObject {
  const texts = Object.values(input).filter((value) => typeof value === 'string')
  // A line ends at a line feed only: what else ends one for a regular expression may be in a name.
  const lines = texts.flatMap((text) => text.split('\n'))
  const named = lines.flatMap((line) => PATCHED.exec(line.replace(/^[\s\u0085]+/, ''))?.[1] ?? [])
  return { ...input, cwd, paths: named.map((path) => toAbsolute(path.trim(), cwd)) }
}

/** Gemini CLI has `name` where the others have `skill`. */
function nameSkill(input: JsonObject): JsonObject | string {
  const given = ['skill', 'name'].filter((name) => (input[name] ?? null) !== null)
  if (given.length > 1) return askForOne(given, 'skill')
  const [name = 'skill'] = given
  return { ...omit(input, given), skill: input[name] ?? null }
}

/** The arguments of a tool, as placed, that are paths. */
export function listPathArguments(tool: string): readonly string[] {
  const { path, required = [] } = CLIENT_TOOLS.get(tool) ?? {}
  const own = tool === 'apply_patch' ? ['paths'] : path === undefined ? [] : [path]
  return required.includes('cwd') ? [...own, 'cwd'] : own
}

/** By the rule of this system, or of another: `~` and drive letters. */
export function isAbsolute(path: string): boolean {
  return /^(?:[/~\\]|[A-Za-z]:)/.test(path)
}

/** What another rule than that of the system makes absolute stays as it is. */
function toAbsolute(path: string, cwd: string): string {
  if (isAbsolute(path)) return path
  return path === '.' ? cwd : `${cwd.replace(/\/$/, '')}/${path}`
}

function askForOne(names: readonly string[], what: 'place' | 'skill'): string {
  const all = names.map((name) => `\`${name}\``).join(' and ')
  return `${all} both name a ${what}: give one, as the client may use the other`
}

function readPath(value: JsonValue | undefined): string | undefined {
  const [first, ...others] = Array.isArray(value) ? value : [value]
  return typeof first === 'string' && others.length === 0 ? first : undefined
}

function omit(input: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)))
}

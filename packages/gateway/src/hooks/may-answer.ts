// Which command lines the gate may answer for, when a client is about to ask its user: the floor that no policy
// lowers. The line only reads, on this machine, what lies in the project and is no secret. What the client asks for
// another reason than "may this line run" is left to the user, and so is whatever is not understood.

import { isSecretFile } from '@sluice/policy/expression/functions/secret-file'
import { readShell } from '@sluice/policy/readers/shell-command'
import { isObject, type JsonValue } from '@sluice/policy/values/json'
import type { HookedCall } from './clients/hook-event.ts'

export interface Question {
  readonly call: HookedCall
  /** The tools of the rules that the client offers to remember; undefined if it offers no such rules, or others. */
  readonly offers: readonly string[] | undefined
  /** The shell of the client: `$CLAUDE_CODE_SHELL:$SHELL`. */
  readonly shell: string | undefined
  /** Where the client stood at the first event of its session. */
  readonly project: string
  /** The home of the gate's user. */
  readonly home: string
}

/** The paths that have to lead to what `isOpenFile` takes; undefined if the question is left to the user. Paths are
 * from the root, and may be patterns. */
export function listPathsToProve(question: Question): readonly string[] | undefined {
  const { call, offers, project, home } = question
  const { command, cwd } = call.args
  if (call.tool !== 'Bash' || typeof command !== 'string' || typeof cwd !== 'string')
    return undefined
  if (offers === undefined || offers.some((tool) => tool !== 'Bash')) return undefined
  if (!isBash(question.shell) || !isProject(project, home)) return undefined
  const { searched, paths, lines, own } = readShell(command)
  if (searched === undefined || LEAVES.test(command) || SHOWS_SECRETS.test(command))
    return undefined
  if (lines.some((line) => GOES_HOME.test(line) || SHOWS_SECRETS.test(line))) return undefined
  if (lines.some((line) => line.split(/\s/).some(attachesSecret))) return undefined
  // What a variable of the environment holds is not in the line. A here-document is read before what stands ahead of it.
  const isOwn = ({ index, 1: name = '' }: RegExpExecArray) =>
    HARMLESS.test(name) ||
    own.some((part) => part.name === name && part.from <= index && index < part.to)
  const used = [...command.matchAll(VARIABLE)]
  if (!used.every(isOwn) || (used.length > 0 && HERE_DOCUMENT.test(command))) return undefined
  const isMoved = lines.some((line) => /^(?:cd|pushd|popd)\b/.test(line))
  const read = [...paths, ...searched.map((folder) => `${folder}/**`)]
  const named = isMoved ? read : read.map((path) => path.replace(HERE, cwd))
  if (named.some((path) => /^~|[$`]/.test(path))) return undefined
  const files = named.filter((path) => path !== '/dev/null')
  return [cwd, ...files.map((path) => (path.startsWith('/') ? path : `${cwd}/${path}`))]
}

/** Whether the call itself puts something to the user: nobody else can answer it. */
export function isForUser({ tool }: HookedCall): boolean {
  return tool === 'AskUserQuestion' || tool === 'ExitPlanMode'
}

/** Whether a file may be read without a question: a real path, without links. */
export function isOpenFile(path: string, project: string): boolean {
  const isInside = path === project || path.startsWith(`${project}/`)
  return isInside && !isSecret(path.slice(project.length))
}

function isSecret(path: string): boolean {
  return isSecretFile(path) || SECRET_NAME.test(path)
}

/** Whether a word is options with a secret's name attached; where the name begins only the program knows. */
function attachesSecret(word: string): boolean {
  return /^-\w/.test(word) && Array.from(word).some((_, at) => isSecret(word.slice(at + 1)))
}

/** The tools of the rules that a client offers to remember with its question; undefined if it offers anything else, or
 * no list: then it asks because of a rule of its user, a folder or a file of its own. */
export function readOffers(suggestions: JsonValue | undefined): readonly string[] | undefined {
  if (!Array.isArray(suggestions)) return undefined
  const rules = suggestions.flatMap((offer) =>
    isObject(offer) && offer.type === 'addRules' && Array.isArray(offer.rules)
      ? offer.rules
      : [null],
  )
  const tools = rules.map((rule) => (isObject(rule) ? rule.toolName : undefined))
  return tools.every((tool) => typeof tool === 'string') ? tools : undefined
}

function isBash(shell: string | undefined): boolean {
  const [first = '', ...others] = shell?.split(':') ?? []
  const used = first === '' ? others.join(':') : first
  return used.split('/').at(-1) === 'bash'
}

/** A folder of the system or a home is no project: everything would be in it. */
function isProject(folder: string, home: string): boolean {
  return (
    folder.startsWith('/') && !`${home}/`.startsWith(`${folder}/`) && !SYSTEM_FOLDER.test(folder)
  )
}

const SYSTEM_FOLDER =
  /^\/(?:|(?:home|Users)(?:\/[^/]+)?|(?:private\/|var\/)?tmp|(?:root|var|usr|opt|srv|mnt|media|private))$|^\/(?:private\/)?(?:etc|proc|sys|dev|run|boot)(?:\/|$)/
/** `..` is the system's behind a link, and a home is outside. */
const LEAVES = /\.\.\/|\/\.\.|(?:^|[\s'"=(<])(?:\.\.(?=$|[\s'";&|)])|~)/
/** Without a place, what changes the directory goes to the home, or to where it was before. */
const GOES_HOME = /^(?:cd|pushd|popd)(?: [-+]\S*)*$/
/** Where the line begins, as it is often written. */
const HERE = /^\$\(pwd\)(?=\/|$)/
const VARIABLE = /\$\{?[#!]?([A-Za-z_]\w*)/g
const HERE_DOCUMENT = /(?<!<)<<(?!<)/
/** The directory, and names of fields in `awk`. */
const HARMLESS = /^(?:PWD|NF|NR|FNR)$/
const SHOWS_SECRETS = /\b(?:print)?env\b|(?:token|secret|passw|credential)/i
const SECRET_NAME = /\.pem$|(?:^|\/)(?:id_|credentials?\.|secrets?\.)[^/]*$/i

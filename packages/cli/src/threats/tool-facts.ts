// What is known of one tool for a search: its class, whether it handles files of this machine, and whose text it brings.
// A fact is certain by the tool's kind, its arguments, or `labels` and `classify` of the policy; by words alone it is a guess.

import { assessTool, type ToolAssessment } from '@sluice/catalogue/classify/classify'
import { argumentsOf } from '@sluice/catalogue/classify/flows'
import type { Category, KnownTool } from '@sluice/policy/calls/tools'
import { getRulesForTool } from '@sluice/policy/decide/resolve'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { getRole, isPathName, splitName } from '@sluice/policy/provenance/names'
import { memoizeFor } from '@sluice/policy/structures/memoize'
import { toWordSet } from '@sluice/policy/structures/word-set'
import { isObject } from '@sluice/policy/values/json'
import type { ShellProbe } from './probes.ts'
import type { Harm, ThreatServer } from './threat.ts'

/** From the whole assessment, which takes a while: asked for once for each definition. */
export const assess: (definition: KnownTool['definition']) => ToolAssessment = memoizeFor(
  (definition: KnownTool['definition']) => assessTool(definition),
)

/** The class that counts, as the document's `classify` has it. */
export function getCategory(policy: CompiledPolicy, tool: KnownTool): Category {
  return getRulesForTool(policy, tool).category
}

/** Neither its definition nor the policy says what it does. */
export function isGuessedClass(policy: CompiledPolicy, tool: KnownTool): boolean {
  const { server, name } = tool.definition
  return tool.unknown === true && policy.classify.all(server, name).length === 0
}

export function hasLabel(policy: CompiledPolicy, tool: KnownTool, label: string): boolean {
  const { server, name } = tool.definition
  return policy.labels.all(server, name).flat().includes(label)
}

const URL_ARGUMENT = /^(?:url|urls|uri|website)$/i

/** It is told which page to ask for. */
export function takesUrl(tool: KnownTool): boolean {
  return argumentsOf(tool.definition).some((name) => URL_ARGUMENT.test(name))
}

/** Why it is only a guess that its paths are of this machine; `no` if they are not. */
export type FileFact =
  | 'certain'
  | 'no'
  | 'its server runs on this machine'
  | 'its paths are of this machine'

/** Whether it is given paths of this machine. */
export function readFileFact(tool: KnownTool, { kind }: ThreatServer): FileFact {
  const names = argumentsOf(tool.definition)
  const places = names.filter((name) => !isPathName(name) && ELSEWHERE.test(name))
  const isElsewhere = listRequired(tool).some((name) => places.includes(name))
  if (kind === 'remote' || isElsewhere || !names.some(isFilePath)) return 'no'
  // `parentFolderId` beside `parentPath`: a drive has paths, too.
  if (places.length > 0 || names.some((name) => isPathName(name) && !isFilePath(name)))
    return 'its paths are of this machine'
  return kind === undefined ? 'its server runs on this machine' : 'certain'
}

/** The id of a folder is none. */
export function isFilePath(name: string): boolean {
  return isPathName(name) && getRole(name) !== 'id'
}

/** Names a repository, a document, a bucket: the path is in there. */
const ELSEWHERE = /(?:id|identifier|_name|owner|repo|repository|bucket|branch|alias|workspace)$/i
const CONTENT = /^(?:content|contents|text|edits|file_?text|new_?(?:text|string|str)|patch|data)$/i

export function takesContent(tool: KnownTool): boolean {
  return argumentsOf(tool.definition).some((name) => CONTENT.test(name))
}

/** The argument that is a line of a shell. */
export function findShellArgument(tool: KnownTool): string | undefined {
  return argumentsOf(tool.definition).find((name) => /^(?:command|cmd|shell)$/i.test(name))
}

const CARRIES =
  toWordSet(`fetch scrape crawl navigate open browse goto webhook webhooks send share invite clone remote
  push upload notify forward request http post publish get read web extract load download webfetch`)

/** An address that it is given is asked, or written to: not only stored. */
export function reachesAddress(tool: KnownTool): boolean {
  return splitName(tool.definition.name).some((word) => CARRIES.has(word))
}

/** A host of a stranger's choice. */
export function reachesAnyHost({ hosts }: ThreatServer): boolean {
  return hosts?.some((one) => /^\*(?::\d+)?$/.test(one)) ?? true
}

/** Whether isolation refuses a line, or confines what it starts. */
export function isLineBounded(harm: Harm, { needs }: ShellProbe, server: ThreatServer): boolean {
  if (needs === 'network') return harm === 'code' || !reachesAnyHost(server)
  return needs === 'machine' || server.writes?.length === 0
}

/** What the one reads, the other writes to: it takes every argument that says where the one reads. */
export function namesSamePlace(reader: KnownTool, writer: KnownTool): boolean {
  const places = listRequired(reader).filter((name) => getRole(name) !== 'free text')
  const names = argumentsOf(writer.definition)
  return places.length > 0 && places.every((name) => names.includes(name))
}

function listRequired({ definition: { inputSchema } }: KnownTool): string[] {
  const required = isObject(inputSchema) ? inputSchema.required : undefined
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}

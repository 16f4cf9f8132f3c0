// The policy documents that a configuration names, read and compiled together: the guardrails of the
// one called `house` (the base policy) apply to all others. Reads files; called at start, on reload and by commands.

import { readFileSync, statSync } from 'node:fs'
import { digestText } from '@sluice/ledger/records/record'
import { compile, compileSteps } from '@sluice/policy/compile/compile'
import { extractDocument } from '@sluice/policy/document/document-within'
import type { Problem } from '@sluice/policy/document/problem'
import type { LocatedNode } from '@sluice/policy/document/read-document'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { runSteps, type Steps } from '@sluice/policy/structures/steps'
import type { GateConfig } from '../config/config.ts'
import { BASE_POLICY, LOCAL_POLICY } from '../config/grants.ts'
import { decodeUtf8 } from '../shared/decode-utf8.ts'
import { POLICY_FILE_BYTES_MAX, RELOADED_AT_ONCE_LENGTH_MAX } from './limits.ts'
import { type BoundPolicy, PolicySet } from './policy-set.ts'
import { cutPolicy } from './read-trees.ts'

export interface PolicyDocument {
  readonly name: string
  readonly file: string
  readonly text: string
  readonly digest: string
  /** It stands in the configuration, under `policy`. */
  readonly isWithin?: true
}

/** What another thread has read documents to, by their digests. */
export type Trees = ReadonlyMap<string, LocatedNode>

/** By name, the base policy among them. */
export type Documents = ReadonlyMap<string, PolicyDocument>

export interface CompiledDocuments {
  readonly documents: Documents
  /** By name, without the base policy, which is part of each. */
  readonly policies: ReadonlyMap<string, CompiledPolicy>
}

export interface DocumentProblem {
  readonly problem: Problem
  /** The text it is about. */
  readonly text: string
}

const DENY_ALL = 'version: 1\ndefault: deny\n'

export function makeDocument(name: string, file: string, text: string): PolicyDocument {
  return { name, file, text, digest: digestText(text) }
}

type DocumentsConfig = Pick<GateConfig, 'file' | 'policy' | 'policies' | 'basePolicy'>

/** Throws with the file's name where one cannot be read. */
export function readDocuments(config: DocumentsConfig): Documents {
  return makeDocuments(readSources(config), (text) => extractDocument(text, 'policy'))
}

/** As `readDocuments`. A promise if a long configuration contains the policy: another thread parses it. */
export function readDocumentsAside(config: DocumentsConfig): Documents | Promise<Documents> {
  const sources = readSources(config)
  const outer = sources.find(({ isWithin }) => isWithin)?.text ?? ''
  if (outer.length <= RELOADED_AT_ONCE_LENGTH_MAX)
    return makeDocuments(sources, (text) => extractDocument(text, 'policy'))
  return cutPolicy(outer).then((policy) => makeDocuments(sources, () => policy))
}

interface PolicySource {
  readonly name: string
  readonly file: string
  readonly text: string
  /** The text is the configuration, and the policy a part of it. */
  readonly isWithin: boolean
}

function readSources(config: DocumentsConfig): PolicySource[] {
  const files = Object.entries(config.policies)
  if (config.policy !== undefined) files.push([LOCAL_POLICY, config.policy])
  if (config.basePolicy !== undefined) files.push([BASE_POLICY, config.basePolicy])
  return files.map(([name, file]) => {
    const isWithin = name === LOCAL_POLICY && file === config.file
    return { name, file, text: readPolicyFile(file), isWithin }
  })
}

function makeDocuments(
  sources: readonly PolicySource[],
  cut: (configuration: string) => string,
): Documents {
  const documents = sources.map(
    ({ name, file, text, isWithin }): PolicyDocument =>
      isWithin
        ? { ...makeDocument(name, file, cut(text)), isWithin }
        : makeDocument(name, file, text),
  )
  return new Map(documents.map((document) => [document.name, document]))
}

function readPolicyFile(file: string): string {
  try {
    const { size } = statSync(file)
    if (size > POLICY_FILE_BYTES_MAX)
      throw new Error(`it has ${size} bytes, at most ${POLICY_FILE_BYTES_MAX} are read`)
    return decodeUtf8(readFileSync(file))
  } catch (error) {
    throw new Error(`\`${file}\` cannot be read: ${(error as Error).message}`)
  }
}

export interface DocumentsCompilation {
  /** Absent if any document has errors: then none of them holds. */
  readonly compiled?: CompiledDocuments
  readonly problems: readonly DocumentProblem[]
}

/** `servers`: names of others, in a document that is not the base policy, are warnings. */
export function compileDocuments(
  documents: Documents,
  servers?: readonly string[],
): DocumentsCompilation {
  return runSteps(compileDocumentsSteps(documents, undefined, servers))
}

/** As `compileDocuments`, with a pause after each rule. */
export function* compileDocumentsSteps(
  documents: Documents,
  trees?: Trees,
  servers?: readonly string[],
): Steps<DocumentsCompilation> {
  const problems: DocumentProblem[] = []
  function* compileOne(document: PolicyDocument, base?: CompiledPolicy) {
    const { name, file, text, digest } = document
    const isBase = name === BASE_POLICY
    const options = {
      name,
      ...(base === undefined ? {} : { base }),
      ...(isBase || servers === undefined ? {} : { servers }),
    }
    const made = yield* compileSteps({ file, text, tree: trees?.get(digest) }, options)
    problems.push(...made.problems.map((problem) => ({ problem, text })))
    return made.policy
  }
  const ofBase = documents.get(BASE_POLICY)
  const base = ofBase && (yield* compileOne(ofBase))
  const policies = new Map<string, CompiledPolicy>()
  for (const document of documents.values()) {
    if (document.name === BASE_POLICY) continue
    const policy = yield* compileOne(document, base)
    if (policy !== undefined) policies.set(document.name, policy)
  }
  const isWhole =
    policies.size + (ofBase === undefined ? 0 : 1) === documents.size &&
    (ofBase === undefined || base !== undefined)
  return isWhole ? { compiled: { documents, policies }, problems } : { problems }
}

/** As callers are bound by them. */
export function policySet({ documents, policies }: CompiledDocuments): PolicySet {
  const named = [...policies].map(([name, policy]): [string, BoundPolicy] => [
    name,
    { policy, id: `${name} ${documents.get(name)?.digest}` },
  ])
  const { policy } = compile({ file: '', text: DENY_ALL }, { name: 'none' })
  const none = { policy: policy as CompiledPolicy, id: `none ${digestText(DENY_ALL)}` }
  return new PolicySet(new Map(named), none)
}

export function digestOfSet(documents: Documents): string {
  const sorted = [...documents.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
  return digestText(JSON.stringify(sorted.map(({ name, digest }) => [name, digest])))
}

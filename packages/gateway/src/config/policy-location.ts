// Which policy documents a configuration names, without the rest of it: commands that only read a policy work
// in a shell that lacks the secrets of the servers.

import { dirname, resolve } from 'node:path'
import { Problems } from '@sluice/policy/document/problem'
import { findEntry, readDocument } from '@sluice/policy/document/read-document'
import { LOCAL_POLICY, readPolicies } from './grants.ts'
import { ConfigValues, type Environment } from './values.ts'

export interface PolicyLocation {
  /** The files of the documents by name, without the base policy; the local user's is `policy`. */
  readonly documents: Readonly<Record<string, string>>
  /** The local user's document is a part of the configuration: its file is the configuration. */
  readonly isWithin: boolean
  /** The base policy, whose guardrails apply to every call. */
  readonly basePolicy?: string
}

/** Undefined if the file cannot be read as far as that. */
export function readPolicyLocation(
  source: { readonly file: string; readonly text: string },
  environment: Environment,
): PolicyLocation | undefined {
  const problems = new Problems(source.file, source.text)
  const tree = readDocument(source.text, problems)
  if (tree?.kind !== 'map') return undefined
  const values = new ConfigValues(dirname(resolve(source.file)), environment, problems)
  const node = findEntry(tree, 'policy')
  const isWithin = node?.kind === 'map'
  const policy = isWithin ? resolve(source.file) : values.path(node)
  const named = findEntry(tree, 'policies')
  const { policies, basePolicy } = readPolicies(
    named?.kind === 'map' ? tree : { ...tree, entries: [] },
    values,
  )
  if (problems.hasErrors) return undefined
  return {
    documents: { ...policies, ...(policy === undefined ? {} : { [LOCAL_POLICY]: policy }) },
    isWithin,
    ...(basePolicy === undefined ? {} : { basePolicy }),
  }
}

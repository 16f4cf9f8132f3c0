// The policy packs that come with the product: rules, cases and properties for a published server, with
// the digests of the definitions that they were tested with. Texts of servers are not part of a pack.

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { nearest } from '@sluice/policy/document/nearest'
import { ArgumentError } from '../terminal/errors.ts'

const PACKS = fileURLToPath(new URL('../../packs/', import.meta.url))

/** The files of a pack. */
export interface Pack {
  /** The name of the pack, which its rules call the server by. */
  readonly name: string
  /** The text of `policy.yaml`. */
  readonly policy: string
  /** The text of `cases.yaml`. */
  readonly cases: string
  /** The text of `properties.yaml`. */
  readonly properties: string
  readonly definitions: PackDefinitions
}

/** Of the server that the pack was tested with: each tool by name, and the digest of its definition. */
export interface PackDefinitions {
  readonly package: string
  readonly version: string
  readonly tools: Readonly<Record<string, string>>
}

/** The pack for the tools that a coding agent has of its own. */
export const CODING_PACK = 'coding-agent'

export function listPacks(): string[] {
  return readdirSync(PACKS).sort()
}

export function loadPack(name: string): Pack {
  const names = listPacks()
  if (!names.includes(name)) {
    const near = nearest(name, names)
    throw new ArgumentError(
      `there is no pack \`${name}\``,
      near === undefined ? `there are ${names.join(', ')}` : `did you mean \`${near}\`?`,
    )
  }
  const read = (file: string) => readFileSync(`${PACKS}${name}/${file}`, 'utf8')
  return {
    name,
    policy: read('policy.yaml'),
    cases: read('cases.yaml'),
    properties: read('properties.yaml'),
    definitions: JSON.parse(read('definitions.json')) as PackDefinitions,
  }
}

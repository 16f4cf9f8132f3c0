// Where the data of a gate is, from sluice.yaml without the rest of it: commands that only reach a gate load no
// other part of the configuration.

import { dirname, resolve } from 'node:path'
import { Problems } from '@sluice/policy/document/problem'
import { findEntry, type LocatedMap, readDocument } from '@sluice/policy/document/read-document'
import { ConfigValues, type Environment } from './values.ts'

/** Only where the data is and what servers and views are called: for commands that operate a gate. Undefined
 * if the file does not say. */
export function readDataLocation(
  source: { readonly file: string; readonly text: string },
  environment: Environment,
):
  | {
      readonly data: string
      readonly servers: readonly string[]
      readonly views: readonly string[]
      /** Those of the servers that are part of Sluice. */
      readonly builtin: readonly string[]
    }
  | undefined {
  const problems = new Problems(source.file, source.text)
  const tree = readDocument(source.text, problems)
  if (tree?.kind !== 'map') return undefined
  const namesIn = (entries: LocatedMap['entries']) => entries.map(({ key }) => String(key.value))
  const entriesOf = (name: string) => {
    const node = findEntry(tree, name)
    return node?.kind === 'map' ? node.entries : []
  }
  const entries = entriesOf('servers')
  const builtin = entries.filter(({ value }) => value.kind === 'map' && isBuiltinOnly(value))
  const values = new ConfigValues(dirname(resolve(source.file)), environment, problems)
  const data = findDataFolder(tree, values)
  if (problems.hasErrors) return undefined
  return {
    data,
    servers: namesIn(entries),
    views: namesIn(entriesOf('views')),
    builtin: namesIn(builtin),
  }
}

function isBuiltinOnly(server: LocatedMap): boolean {
  const has = (key: string) => findEntry(server, key) !== undefined
  return has('builtin') && !has('command') && !has('url')
}

export function findDataFolder(map: LocatedMap, values: ConfigValues): string {
  return values.path(findEntry(map, 'data')) ?? resolve(values.folder, '.sluice')
}

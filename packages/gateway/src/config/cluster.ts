// `store:` and `cluster:`: the database that several gates share, the name of this gate and the key of the
// cluster. Called by config.ts.

import { hostname } from 'node:os'
import { parsePostgresUrl } from '@sluice/ledger/store/postgres/address'
import { form, object, text } from '@sluice/policy/document/build-shape'
import { asMap } from '@sluice/policy/document/check-shape'
import { findEntry, type LocatedMap } from '@sluice/policy/document/read-document'
import type { Shape } from '@sluice/policy/document/shape'
import { type ConfigValues, readFields } from './values.ts'

export interface ClusterConfig {
  /** The address of the database. */
  readonly store: string
  /** Of this gate, unique in the cluster. */
  readonly name: string
  readonly key: string
  /** Where other gates reach this one: `host` or `host:port`. */
  readonly address?: string | undefined
}

/** `cluster:` of a file without `store:`, which then comes from the command line. */
export type ClusterSettings = Omit<ClusterConfig, 'store'>

const KEY_LENGTH_MIN = 32
const NAME = form(
  'name of a gate',
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
  'letters, digits, `.`, `_` and `-`, at most 63: set `cluster: { name }`',
  { code: 'CONFIG_STORE' },
)

export const STORE: Shape = text(2_048)

export const CLUSTER = object('settings of a cluster', {
  name: {
    shape: NAME,
    doc: 'name of this gate: another one at every gate, and the same after a restart',
    unset: 'the name of the host',
    example: 'gate-1',
  },
  address: {
    shape: form(
      'address of a gate',
      /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]{1,253})(:\d{1,5})?$/,
      'write `host` or `host:port`',
      { code: 'CONFIG_STORE' },
    ),
    doc: 'where the other gates reach this one, `host` or `host:port`: they pass on requests of its sessions',
    unset: 'the interface of `listen`, with a free port',
    example: 'gate-1.internal:7434',
  },
  key: {
    shape: text(1_024),
    doc: 'secret of the cluster, at least 32 characters, the same at every gate; give it by a variable',
    example: `$\{SLUICE_CLUSTER_KEY}`,
  },
})

export function readCluster(
  map: LocatedMap,
  values: ConfigValues,
): { readonly cluster?: ClusterConfig; readonly clusterSettings?: ClusterSettings } {
  const node = findEntry(map, 'store')
  const section = findEntry(map, 'cluster')
  const first = node ?? asMap(section).entries[0]?.key
  if (first === undefined) return {}
  const read = readFields(CLUSTER.fields, section)
  const { name = hostname(), key = values.variable('SLUICE_CLUSTER_KEY'), address } = read
  if (!NAME.form.test(name))
    values.problems.error(
      'CONFIG_STORE',
      first.at,
      `\`${name}\` is not a valid name of a gate`,
      NAME.help,
    )
  const settings = { name, key: key ?? '', address }
  if (node === undefined) return { clusterSettings: settings }
  const store = values.text(node)
  const wrong = whatIsWrong(store, key)
  if (wrong !== undefined) values.problems.error('CONFIG_STORE', node.at, wrong.what, wrong.help)
  return { cluster: { ...settings, store } }
}

/** Also for an address that is given on the command line. */
export function whatIsWrong(
  store: string,
  key: string | undefined,
): { readonly what: string; readonly help: string } | undefined {
  try {
    parsePostgresUrl(store)
  } catch (error) {
    const { message, help = '' } = error as Error & { help?: string }
    return { what: message, help }
  }
  if ((key ?? '').length >= KEY_LENGTH_MIN) return undefined
  return {
    what: `a shared store needs a key of the cluster with at least ${KEY_LENGTH_MIN} characters`,
    help: 'make one with `openssl rand -hex 32`, and give it to every gate as SLUICE_CLUSTER_KEY or `cluster: { key }`',
  }
}

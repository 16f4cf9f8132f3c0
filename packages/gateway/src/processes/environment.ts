// The environment of a server's process. A client that starts commands hands over its own, as if it had
// started the server itself. For everybody else, and for a client of another user, it is a short list of
// names that programs need to run at all. What the configuration names comes on top. The gate's own
// variables (`SLUICE_*`) are in none of them. Pure.

import { hash } from 'node:crypto'
import { toWords } from '@sluice/policy/structures/word-set'
import type { ClientEnvironment } from '../shared/transport.ts'

/** Set for every server, with a value of the gate's own: names whose process it is. */
export const CHILD_VARIABLE = 'SLUICE_CHILD'

type Variables = Readonly<Record<string, string | undefined>>

export interface ServerEnvironment {
  /** Of the gate's process. */
  readonly own: Variables
  /** Values of the configuration: they take precedence. */
  readonly named: Readonly<Record<string, string>>
  /** Names that the configuration lists without a value. */
  readonly listed?: readonly string[] | undefined
  readonly client?: ClientEnvironment | undefined
  readonly platform: string
}

const POSIX = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'TERM', 'USER', 'LOGNAME', 'SHELL', 'TZ']
const WINDOWS = toWords(`
  PATH PATHEXT SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC TEMP TMP USERPROFILE USERNAME HOMEDRIVE
  HOMEPATH APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROCESSOR_ARCHITECTURE
  LANG
`)
/** Without them a server behind a proxy or a private certificate authority cannot reach anything. */
const NETWORK = toWords(`
  HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY NODE_USE_ENV_PROXY NODE_EXTRA_CA_CERTS SSL_CERT_FILE
  SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO NPM_CONFIG_CAFILE
  NPM_CONFIG_REGISTRY
`)

export function environmentFor({
  own,
  named,
  listed = [],
  client,
  platform,
}: ServerEnvironment): Record<string, string> {
  const from = client?.isWhole === true ? client.variables : own
  const isAllowed = client?.isWhole === true ? () => true : allowList(platform)
  const lent = client?.variables ?? own
  const picked = Object.entries(lent).filter(([name]) => listed.includes(name))
  const passed = [...Object.entries(from).filter(([name]) => isAllowed(name)), ...picked]
  const variables: Record<string, string> = {}
  for (const [name, value] of passed)
    if (value !== undefined && canPass(name, value)) variables[name] = value
  return { ...variables, ...named }
}

/** What a pipe sends of its environment; `names` where the gate takes only some. */
export function clientVariables(
  own: Variables,
  names: readonly string[] | undefined,
): Record<string, string> {
  const variables: Record<string, string> = {}
  for (const [name, value] of Object.entries(own))
    if (value !== undefined && canPass(name, value) && (names?.includes(name) ?? true))
      variables[name] = value
  return variables
}

/** Tells environments apart without keeping their values: processes are shared only between clients with
 * the same one. */
export function environmentKey(client: ClientEnvironment | undefined): string {
  if (client === undefined) return ''
  const sorted = Object.entries(client.variables).sort(([a], [b]) => (a < b ? -1 : 1))
  const text = JSON.stringify([client.isWhole, sorted])
  return hash('sha256', text, 'base64url')
}

function allowList(platform: string): (name: string) => boolean {
  const isWindows = platform === 'win32'
  const allowed = new Set(isWindows ? WINDOWS : POSIX)
  const network = new Set(NETWORK)
  return (name) =>
    allowed.has(isWindows ? name.toUpperCase() : name) ||
    network.has(name.toUpperCase()) ||
    /^LC_[A-Z]+$/.test(name)
}

/** The gate's own variables are not for servers. An exported shell function is code that a shell in the
 * child would run. */
function canPass(name: string, value: string): boolean {
  return !/^SLUICE_/i.test(name) && !value.startsWith('()')
}

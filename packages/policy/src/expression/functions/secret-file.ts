// Names of files that usually hold secrets: the one list for the word `isSecretFile` of the policy language, and with it
// for the rules of packs and of `sluice init`. Compares names only: what is in a file, and where a link leads, is not
// looked at. Pure.

import { wildcardMatches } from '../../language/glob.ts'
import { toWords } from '../../structures/word-set.ts'

/** One entry of the list. */
interface SecretName {
  /** Patterns of the names, from a folder to what is in it. */
  readonly names: readonly string[]
  /** The path ends with it. */
  readonly isLast: boolean
}

/** Folders and files whose names say it wherever they stand in a path; `*` is any text without a slash. */
const ANYWHERE = toWords(`
  .env .env.* .envrc .ssh .aws .gnupg .netrc .npmrc .yarnrc.yml .pypirc .dockercfg .kube .azure .git-credentials
  .vault-token .pgpass .my.cnf .s3cfg .boto .terraformrc .password-store
  .bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history
  .docker/config.json .config/gh .config/glab-cli .config/gcloud .config/op .config/rclone .config/git/credentials
  .cargo/credentials* .gem/credentials .m2/settings* .codex/auth* .claude/.credentials* .gemini/oauth_creds*
  library/keychains`)
/** Names that are ordinary for a folder. */
const LAST = toWords(`
  id_rsa* id_dsa* id_ed25519* id_ecdsa* ?*.key ?*.p12 ?*.pfx ?*.jks ?*.kdbx ?*.ppk ?*.asc ?*.keystore
  *priv*.pem *server*.pem .htpasswd htpasswd kubeconfig terraform.tfstate* service-account*.json serviceaccount*.json
  secret.json secret.yaml secret.yml secret.env secret.toml secret.txt auth.json credentials credentials.json
  secrets.json secrets.yaml secrets.yml secrets.env secrets.toml secrets.txt
  token.txt token.json tokens.txt tokens.json`)
const SYSTEM = /^\/proc\/.*\/environ$|^\/etc\/g?shadow|^\/etc\/sudoers/
/** What comes with a project to be filled in, and the public half of a key. */
const HARMLESS =
  /^\.env\.(?:example|sample|template|dist|test|ci|defaults?)$|\.pub$|^\.npmrc\.example$/
const ENTRIES: readonly SecretName[] = [
  ...ANYWHERE.map((entry) => ({ names: entry.split('/'), isLast: false })),
  ...LAST.map((entry) => ({ names: entry.split('/'), isLast: true })),
]

/** An expansion may be any text, a class is one character. */
const EXPANSION = /\$\{[^}$]*\}|\$\([^)$]*\)|\$\w+/g
const CLASS = /\[[^[\]]*\]/g
/** In UTF-16 code units. A longer one counts as secret, so that the comparison is bounded. */
const PATH_LENGTH_MAX = 1_024
/** The same for one name that is a pattern. */
const PATTERN_LENGTH_MAX = 64

/**
 * Whether a path names a file or a folder that usually holds secrets. Patterns of a shell count if they begin as such a
 * name does: `.en*`, `{.env,x}`.
 *
 * @example
 * ```ts
 * isSecretFile('/srv/shop/.env.local') // true
 * isSecretFile('/srv/shop/.env.example') // false
 * ```
 */
export function isSecretFile(path: string): boolean {
  if (path.length > PATH_LENGTH_MAX) return true
  const lower = path.toLowerCase().replaceAll('\\', '/').replace(EXPANSION, '*').replace(CLASS, '?')
  if (SYSTEM.test(lower)) return true
  // A choice in braces is read as the names in it.
  return lower.split(/[{},]/).some((part) => {
    const names = part.split('/').filter((name) => name !== '' && name !== '.')
    if (HARMLESS.test(names.at(-1) ?? '')) return false
    return names.some((_, at) => ENTRIES.some((entry) => standsAt(entry, names, at)))
  })
}

function standsAt(entry: SecretName, names: readonly string[], at: number): boolean {
  const end = at + entry.names.length
  if (end > names.length || (entry.isLast && end < names.length)) return false
  return entry.names.every((wanted, step) => mayName(names[at + step] ?? '', wanted, step === 0))
}

/** Whether a name, which may be a pattern itself, can be one that the list means. */
function mayName(name: string, wanted: string, isFirst: boolean): boolean {
  const [start = ''] = name.split(/[*?]/, 1)
  if (start === name) return wildcardMatches(wanted, name)
  // `*.ts` may be `.env.ts`, and `*` everything: a pattern counts if its beginning says enough.
  const isTelling = start.length >= 3 || start.startsWith('.') || !isFirst
  if (isTelling && !/^[*?]/.test(wanted))
    return name.length > PATTERN_LENGTH_MAX || overlaps(name, wanted)
  return wildcardMatches(wanted, name.replace(/[*?]/g, '_'))
}

/** Whether there is a text that both patterns match, in steps of one length times the other. */
function overlaps(one: string, other: string): boolean {
  let reachable = new Set([0])
  for (let at = 0; at <= one.length; at++) {
    const mark = one[at]
    const next = new Set<number>()
    for (const place of reachable) {
      // The set grows while it is walked: a star of the other pattern may be empty.
      if (other[place] === '*') reachable.add(place + 1)
      if (mark === undefined) continue
      if (mark === '*') {
        next.add(place)
        if (place < other.length) reachable.add(place + 1)
      } else if (other[place] === '*') next.add(place)
      else if (place < other.length && (mark === '?' || mark === other[place])) next.add(place + 1)
    }
    if (mark === undefined) return reachable.has(other.length)
    reachable = next
  }
  return false
}

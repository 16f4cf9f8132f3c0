// Keys, tokens and passwords in a text (A20), by the shapes their issuers give them and the checks
// those shapes allow; also one layer of base64 or hex below. Bounded: a text costs no more than its
// length. What has no shape (a password in plain prose) is not found. Pure.

import { ENCODED_RUNS_MAX, FINDINGS_MAX, TEXT_CHARS_MAX } from './limits.ts'
import {
  decodeBase64,
  hasChecksum,
  isPlaceholder,
  isTokenHeader,
  looksRandom,
} from './secret-checks.ts'

export interface FoundSecret {
  /** What it is, such as `GitHub token`; never the secret itself. */
  readonly kind: string
  readonly start: number
  readonly end: number
}

interface Shape {
  readonly kind: string
  readonly pattern: RegExp
  readonly check?: (match: string, group: string) => boolean
  /** In its place where texts are to be rid of secrets, and one too many does less harm. */
  readonly lenient?: (match: string, group: string) => boolean
}

const always = () => true

/** A shape begins with one of these, so that most texts are settled in one pass. */
const BEGINNINGS =
  /-----BEGIN|\b(?:gh[pousr]_|github_pat_|npm_|glpat-|AKIA|ASIA|sk-|[rsp]k_(?:live|test)_|whsec_|xox[abeoprs]-|AIza|ya29\.|eyJ|hf_|SG\.|dop_v1_|shp(?:at|ca|pa|ss)_|lin_api_|ntn_|sbp_|pypi-|AGE-SECRET|glsa_|dckr_pat_|figd_|PMAK-|NRAK-|\d{8,10}:AA)|:\/\/[^\s/:@]{1,64}:[^\s/@]|AccountKey=|(?:passw(?:or)?d|pwd|secret|api[_-]?key|access[_-]?key|access[_-]?token|auth[_-]?token|private[_-]?key|client[_-]?secret)["']?\s{0,4}[:=]|\bbearer\s/i

const SHAPES: readonly Shape[] = [
  {
    kind: 'private key',
    pattern:
      /-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,8000}?(?:-----END|$)/g,
  },
  {
    kind: 'GitHub token',
    pattern: /\bgh[pousr]_[A-Za-z0-9]{36}\b/g,
    check: hasChecksum,
    lenient: always,
  },
  { kind: 'GitHub token', pattern: /\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b/g },
  { kind: 'npm token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/g, check: hasChecksum, lenient: always },
  { kind: 'GitLab token', pattern: /\bglpat-[\w-]{20,64}\b/g, check: isMixed },
  { kind: 'AWS access key', pattern: /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/g, check: notExample },
  { kind: 'Anthropic key', pattern: /\bsk-ant-[a-z]{2,8}\d{2}-[\w-]{60,200}/g },
  { kind: 'OpenAI key', pattern: /\bsk-(?:proj-|svcacct-|admin-)?[\w-]{20,200}/g, check: isMixed },
  { kind: 'Stripe key', pattern: /\b[rs]k_(?:live|test)_[A-Za-z0-9]{20,200}\b/g, check: isMixed },
  { kind: 'Stripe webhook secret', pattern: /\bwhsec_[A-Za-z0-9+/]{30,80}/g },
  { kind: 'Slack token', pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{20,200}/g, check: hasDigit },
  { kind: 'Google key', pattern: /\bAIza[\w-]{35}(?![\w-])/g, check: isMixed },
  { kind: 'Google access token', pattern: /\bya29\.[\w-]{40,400}/g },
  {
    kind: 'JSON Web Token',
    pattern: /\beyJ[\w-]{10,2000}\.eyJ[\w-]{10,6000}\.[\w-]{16,1000}/g,
    check: isTokenHeader,
  },
  { kind: 'Hugging Face token', pattern: /\bhf_[A-Za-z]{34}\b/g },
  { kind: 'SendGrid key', pattern: /\bSG\.[\w-]{22}\.[\w-]{43}\b/g },
  { kind: 'DigitalOcean token', pattern: /\bdop_v1_[0-9a-f]{64}\b/g },
  { kind: 'Shopify token', pattern: /\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b/g },
  { kind: 'Linear key', pattern: /\blin_api_[A-Za-z0-9]{40}\b/g },
  { kind: 'Notion token', pattern: /\bntn_[A-Za-z0-9]{40,60}\b/g },
  { kind: 'Supabase token', pattern: /\bsbp_[0-9a-f]{40}\b/g },
  { kind: 'PyPI token', pattern: /\bpypi-AgE[\w-]{50,1000}/g },
  { kind: 'age key', pattern: /\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b/g },
  { kind: 'Grafana token', pattern: /\bglsa_[A-Za-z0-9]{32}_[0-9a-f]{8}\b/g },
  { kind: 'Docker token', pattern: /\bdckr_pat_[\w-]{27,40}\b/g, check: isMixed },
  { kind: 'Figma token', pattern: /\bfigd_[\w-]{38,60}\b/g, check: isMixed },
  { kind: 'Telegram bot token', pattern: /\b\d{8,10}:AA[\w-]{33}\b/g },
  { kind: 'Azure storage key', pattern: /AccountKey=[A-Za-z0-9+/]{86}==/g },
  {
    kind: 'password in an address',
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@'"]{0,64}:([^\s/@'"]{3,200})@[\w.-]/gi,
    check: (_, password) => !isPlaceholder(password),
  },
  {
    kind: 'bearer token',
    pattern: /\bbearer\s+([\w.~+/-]{20,2000}=*)/gi,
    check: (_, token) => looksRandom(token),
  },
  {
    kind: 'named secret',
    pattern:
      /\b[\w-]{0,40}(?:passw(?:or)?d|pwd|secret|api[_-]?key|access[_-]?key|access[_-]?token|auth[_-]?token|private[_-]?key|client[_-]?secret)["']?\s{0,4}[:=]\s{0,4}["']?([^\s"',;)}\]]{8,200})/gi,
    check: (_, value) => looksRandom(value) && !isPlaceholder(value),
    lenient: (whole, value) => /[:=]\s{0,4}["']/.test(whole) && !isPlaceholder(value),
  },
]

/** In the order of the text, without overlaps. */
export function findSecrets(text: string): FoundSecret[] {
  return find(text, false)
}

/** Also what only looks like one, by its shape or by the name it stands under: for texts that are to be
 * rid of secrets. */
export function findSecretShapes(text: string): FoundSecret[] {
  return find(text, true)
}

function find(text: string, isLenient: boolean): FoundSecret[] {
  const looked = text.length > TEXT_CHARS_MAX ? text.slice(0, TEXT_CHARS_MAX) : text
  const found = BEGINNINGS.test(looked) ? match(looked, isLenient) : []
  for (const one of encoded(looked, isLenient))
    if (!found.some((other) => overlap(one, other))) found.push(one)
  return found.sort((a, b) => a.start - b.start)
}

function match(text: string, isLenient = false): FoundSecret[] {
  const found: FoundSecret[] = []
  for (const { kind, pattern, check, lenient } of SHAPES) {
    pattern.lastIndex = 0
    for (let one = pattern.exec(text); one !== null; one = pattern.exec(text)) {
      const secret = { kind, start: one.index, end: one.index + one[0].length }
      const isOne = (isLenient && lenient) || check || always
      if (!isOne(one[0], one[1] ?? '')) continue
      if (found.some((other) => overlap(secret, other))) continue
      if (found.length >= FINDINGS_MAX) return found
      found.push(secret)
    }
  }
  return found
}

/** One layer: what is written in base64 or hex to pass by the patterns. */
function encoded(text: string, isLenient: boolean): FoundSecret[] {
  const found: FoundSecret[] = []
  let runs = 0
  for (const one of text.matchAll(/[A-Za-z0-9+/_-]{40,8000}={0,2}/g)) {
    if (++runs > ENCODED_RUNS_MAX) break
    const [run] = one
    const isHex = run.length % 2 === 0 && /^[0-9a-f]+$/i.test(run)
    const inside = isHex ? decodeHex(run) : decodeBase64(run)
    if (!BEGINNINGS.test(inside)) continue
    const kind = match(inside, isLenient)[0]?.kind
    if (kind === undefined) continue
    const name = `${kind}, in ${isHex ? 'hex' : 'base64'}`
    found.push({ kind: name, start: one.index, end: one.index + run.length })
  }
  return found
}

function decodeHex(text: string): string {
  return text.replace(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16)))
}

function overlap(a: FoundSecret, b: FoundSecret): boolean {
  return a.start < b.end && b.start < a.end
}

/** A token has letters and digits, and is none that documentation shows. */
function isMixed(token: string): boolean {
  const body = token.replace(/^[a-z]+[-_](?:[a-z]+[-_])?/i, '')
  return /\d/.test(body) && /[A-Za-z]/.test(body) && notExample(token) && !/(.)\1{7}/.test(body)
}

function hasDigit(token: string): boolean {
  return /\d{6}/.test(token) && notExample(token)
}

function notExample(token: string): boolean {
  return !/example|sample|your|xxxx|1234567890/i.test(token)
}

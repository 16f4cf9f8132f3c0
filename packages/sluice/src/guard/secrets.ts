// Keys, tokens and passwords in a text (A20), by the shapes their issuers give them and the checks
// those shapes allow; also below layers of base64 or hex. Linear: a text costs no more than its
// length. What has no shape (a password in plain prose) is not found. Pure.

import { OWN_TOKEN_BEGINNING, ownTokenPattern } from '../core/own-token-shapes.ts'
import { decodeRun, type EncodedRun, encodedRuns } from './encoded-runs.ts'
import { FINDINGS_MAX } from './limits.ts'
import { hasChecksum, hasTokenHeader, isPlaceholder, looksRandom } from './secret-checks.ts'
import { newViewBudget, type ViewBudget } from './views.ts'

export interface SecretMatch {
  /** What it is, such as `GitHub token`; never the secret itself. */
  readonly kind: string
  readonly start: number
  readonly end: number
}

interface SecretPattern {
  readonly kind: string
  readonly pattern: RegExp
  readonly check?: (match: string, group: string) => boolean
  /** In its place where texts are to be rid of secrets, and one too many does less harm. */
  readonly lenient?: (match: string, group: string) => boolean
  /** Sticky: what belongs to it behind the match. */
  readonly rest?: RegExp
}

const always = () => true

/** A shape begins with one of these, so that most texts are settled in one pass. */
const BEGINNINGS = new RegExp(
  `${OWN_TOKEN_BEGINNING}|${
    /-----BEGIN|(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_|npm_|glpat-|AKIA|ASIA|sk-|[rsp]k_(?:live|test)_|whsec_|xox[abeoprs]-|AIza|ya29\.|eyJ|hf_|SG\.|dop_v1_|shp(?:at|ca|pa|ss)_|lin_api_|ntn_|sbp_|pypi-|AGE-SECRET|glsa_|dckr_pat_|figd_|PMAK-|NRAK-|\d{8,10}:AA)|:\/\/[^\s/:@]{1,64}:[^\s/@]|AccountKey=|(?:passw(?:or)?d|pwd|secret|api[_-]?key|access[_-]?key|access[_-]?token|auth[_-]?token|private[_-]?key|client[_-]?secret)["']?\s{0,4}[:=]|(?<![A-Za-z0-9])bearer\s/
      .source
  }`,
  'i',
)

const SHAPES: readonly SecretPattern[] = [
  { kind: 'Sluice token', pattern: ownTokenPattern(), rest: /[\w-]*/y },
  // The first line is enough: a key may be cut off, or be longer than anybody would search for its end.
  {
    kind: 'private key',
    pattern: /-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g,
    rest: /(?:\s{0,4}[A-Za-z-]{1,40}: [^\n]{0,200}\r?\n){0,8}[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z0-9 ]{0,60}-----)?/y,
  },
  {
    kind: 'GitHub token',
    pattern: /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{36}(?![A-Za-z0-9])/g,
    check: hasChecksum,
    lenient: always,
  },
  {
    kind: 'GitHub token',
    pattern: /(?<![A-Za-z0-9])github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}(?![A-Za-z0-9])/g,
  },
  {
    kind: 'npm token',
    pattern: /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/g,
    check: hasChecksum,
    lenient: always,
  },
  {
    kind: 'GitLab token',
    pattern: /(?<![A-Za-z0-9])glpat-[\w-]{20,64}(?![A-Za-z0-9])/g,
    check: isMixed,
  },
  {
    kind: 'AWS access key',
    pattern: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])/g,
    check: notExample,
  },
  { kind: 'Anthropic key', pattern: /(?<![A-Za-z0-9])sk-ant-[a-z]{2,8}\d{2}-[\w-]{60,200}/g },
  {
    kind: 'OpenAI key',
    pattern: /(?<![A-Za-z0-9])sk-(?:proj-|svcacct-|admin-)?[\w-]{20,200}/g,
    check: isMixed,
  },
  {
    kind: 'Stripe key',
    pattern: /(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{20,200}(?![A-Za-z0-9])/g,
    check: isMixed,
  },
  { kind: 'Stripe webhook secret', pattern: /(?<![A-Za-z0-9])whsec_[A-Za-z0-9+/]{30,80}/g },
  {
    kind: 'Slack token',
    pattern: /(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{20,200}/g,
    check: hasDigit,
  },
  { kind: 'Google key', pattern: /(?<![A-Za-z0-9])AIza[\w-]{35}(?![\w-])/g, check: isMixed },
  { kind: 'Google access token', pattern: /(?<![A-Za-z0-9])ya29\.[\w-]{40,400}/g },
  // From the beginning of a run, so that each is read once; where in it the token begins is checked.
  {
    kind: 'JSON Web Token',
    pattern: /(?<![\w-])[\w-]{13}[\w-]*\.eyJ[\w-]{10}[\w-]*\.[\w-]{16}[\w-]*/g,
    check: hasTokenHeader,
  },
  { kind: 'Hugging Face token', pattern: /(?<![A-Za-z0-9])hf_[A-Za-z]{34}(?![A-Za-z0-9])/g },
  { kind: 'SendGrid key', pattern: /(?<![A-Za-z0-9])SG\.[\w-]{22}\.[\w-]{43}(?![A-Za-z0-9])/g },
  { kind: 'DigitalOcean token', pattern: /(?<![A-Za-z0-9])dop_v1_[0-9a-f]{64}(?![A-Za-z0-9])/g },
  {
    kind: 'Shopify token',
    pattern: /(?<![A-Za-z0-9])shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}(?![A-Za-z0-9])/g,
  },
  { kind: 'Linear key', pattern: /(?<![A-Za-z0-9])lin_api_[A-Za-z0-9]{40}(?![A-Za-z0-9])/g },
  { kind: 'Notion token', pattern: /(?<![A-Za-z0-9])ntn_[A-Za-z0-9]{40,60}(?![A-Za-z0-9])/g },
  { kind: 'Supabase token', pattern: /(?<![A-Za-z0-9])sbp_[0-9a-f]{40}(?![A-Za-z0-9])/g },
  { kind: 'PyPI token', pattern: /(?<![A-Za-z0-9])pypi-AgE[\w-]{50,1000}/g },
  { kind: 'age key', pattern: /(?<![A-Za-z0-9])AGE-SECRET-KEY-1[0-9A-Z]{58}(?![A-Za-z0-9])/g },
  {
    kind: 'Grafana token',
    pattern: /(?<![A-Za-z0-9])glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}(?![A-Za-z0-9])/g,
  },
  {
    kind: 'Docker token',
    pattern: /(?<![A-Za-z0-9])dckr_pat_[\w-]{27,40}(?![A-Za-z0-9])/g,
    check: isMixed,
  },
  {
    kind: 'Figma token',
    pattern: /(?<![A-Za-z0-9])figd_[\w-]{38,60}(?![A-Za-z0-9])/g,
    check: isMixed,
  },
  { kind: 'Telegram bot token', pattern: /(?<![A-Za-z0-9])\d{8,10}:AA[\w-]{33}(?![A-Za-z0-9])/g },
  { kind: 'Azure storage key', pattern: /AccountKey=[A-Za-z0-9+/]{86}==/g },
  {
    kind: 'password in an address',
    pattern:
      /(?<![A-Za-z0-9])[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@'"]{0,64}:([^\s/@'"]{3,200})@[\w.-]/gi,
    check: (_, password) => !isPlaceholder(password),
  },
  {
    kind: 'bearer token',
    pattern: /(?<![A-Za-z0-9])bearer\s+([\w.~+/-]{20,2000}=*)/gi,
    check: (_, token) => looksRandom(token),
  },
  {
    kind: 'named secret',
    pattern:
      /(?:passw(?:or)?d|pwd|secret|api[_-]?key|access[_-]?key|access[_-]?token|auth[_-]?token|private[_-]?key|client[_-]?secret)["']?\s{0,4}[:=]\s{0,4}["']?([^\s"',;)}\]]{8,200})/gi,
    check: (_, value) => looksRandom(value) && !isPlaceholder(value),
    lenient: (whole, value) => /[:=]\s{0,4}["']/.test(whole) && !isPlaceholder(value),
  },
]

/** In the order of the text, without overlaps; the first FINDINGS_MAX. Linear: some 100 ns a character at
 * worst. */
export function findSecrets(text: string, budget = newViewBudget()): SecretMatch[] {
  return find(text, budget, { max: FINDINGS_MAX, isLenient: false })
}

/** All of them, also what only looks like one by its shape or by the name that it stands under: for
 * texts that are to be rid of secrets. An encoded run that the budget does not allow to look into is
 * one too. */
export function findSecretShapes(text: string, budget = newViewBudget()): SecretMatch[] {
  return find(text, budget, { max: Number.POSITIVE_INFINITY, isLenient: true })
}

const SECRET_NAME =
  /(passw(?:or)?d|passphrase|pwd)$|(?:secret|api[_-]?key|access[_-]?key|access[_-]?token|auth[_-]?token|private[_-]?key)$/i

/** Whether a member of an object is a named secret: its name says so, and its value is none that stands
 * for another. What is called a password need not be random. */
export function isNamedSecret(name: string, value: string): boolean {
  if (value.length < 8 || value.length > 400 || name.length > 200) return false
  const found = SECRET_NAME.exec(name)
  if (found === null || isPlaceholder(value)) return false
  return (
    looksRandom(value) ||
    (found[1] !== undefined && /^(?=.*[A-Za-z])(?=.*[^A-Za-z\s])\S+$/.test(value))
  )
}

/** The kind of a secret that stands in the text itself, for whoever decodes it alone. */
export function plainSecretIn(text: string, isLenient = false): string | undefined {
  if (!BEGINNINGS.test(text)) return undefined
  const found = new Spans()
  match(text, found, { max: 1, isLenient })
  return found.inOrder[0]?.kind
}

interface FindOptions {
  readonly max: number
  readonly isLenient: boolean
}

function find(text: string, budget: ViewBudget, options: FindOptions): SecretMatch[] {
  const found = new Spans()
  if (BEGINNINGS.test(text)) match(text, found, options)
  for (const run of encodedRuns(text)) {
    if (found.inOrder.length >= options.max) break
    const kind = secretIn(run, budget, options.isLenient)
    if (kind !== undefined) found.add({ kind, start: run.start, end: run.end })
  }
  return found.inOrder
}

function match(text: string, found: Spans, { max, isLenient }: FindOptions): void {
  for (const { kind, pattern, check, lenient, rest } of SHAPES) {
    const isOne = (isLenient && lenient) || check || always
    pattern.lastIndex = 0
    for (let one = pattern.exec(text); one !== null; one = pattern.exec(text)) {
      if (!isOne(one[0], one[1] ?? '')) continue
      if (rest !== undefined) pattern.lastIndex = endOf(rest, text, pattern.lastIndex)
      found.add({ kind, start: one.index, end: pattern.lastIndex })
      if (found.inOrder.length >= max) return
    }
  }
}

function endOf(rest: RegExp, text: string, from: number): number {
  rest.lastIndex = from
  return from + (rest.exec(text)?.[0].length ?? 0)
}

/** Found places, sorted; of two that overlap the one that came first stays. */
class Spans {
  readonly inOrder: SecretMatch[] = []

  add(secret: SecretMatch): void {
    let low = 0
    let high = this.inOrder.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.inOrder[middle] as SecretMatch).end <= secret.start) low = middle + 1
      else high = middle
    }
    const next = this.inOrder[low]
    if (next === undefined || secret.end <= next.start) this.inOrder.splice(low, 0, secret)
  }
}

/** In base64, hex or binary digits, also several times over. */
function secretIn(run: EncodedRun, budget: ViewBudget, isLenient: boolean): string | undefined {
  for (const inside of decodeRun(run, budget)) {
    if (inside === undefined) return `${run.encoding}, too large to look into`
    const kind = plainSecretIn(inside, isLenient)
    if (kind !== undefined) return `${kind}, in ${run.encoding}`
    for (const deeper of encodedRuns(inside)) {
      const below = secretIn(deeper, budget, isLenient)
      if (below !== undefined) return `${below}, in ${run.encoding}`
    }
  }
  return undefined
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

// The one list of secret detectors (A20): keys, tokens and passwords by the shapes that their issuers give
// them, and the checks that those shapes allow. Three readers: decisions (strict), exports (everything that
// looks like one) and masks for approvers (bounded, so that nothing is hidden behind them). Linear. Pure.

import { decodeBase64 } from '@sluice/policy/readers/base64'
import { alternatives, group, sequence } from '@sluice/policy/readers/join-patterns'
import { toWords } from '@sluice/policy/structures/word-set'
import type { TextSpan } from './chain.ts'
import { OWN_TOKEN_BEGINNING, OWN_TOKEN_ON_ONE_LINE, ownTokenPattern } from './own-token-shapes.ts'
import {
  hasChecksum,
  hasTokenHeader,
  isExample,
  isJumbled,
  isPlaceholder,
  looksRandom,
} from './secret-checks.ts'

/** Names that a secret stands behind in a text. */
const NAMES =
  'passw(?:or)?d|pwd|secret|api[_-]?key|access[_-]?key|access[_-]?token|auth[_-]?token|private[_-]?key|secret[_-]?key|client[_-]?secret'

/** What stands beside a match, some characters of it. */
export interface SecretContext {
  readonly before: string
  readonly after: string
}

type SecretCheck = (match: string, group: string, beside: SecretContext) => boolean

export interface SecretDetector {
  /** What it is, such as `GitHub token`. */
  readonly kind: string
  readonly pattern: RegExp
  readonly check?: SecretCheck
  /** The check for exports and masks, where a false finding does less harm than a missed secret. */
  readonly lenient?: SecretCheck
  /** A sticky pattern for what belongs to the secret after the match. */
  readonly rest?: RegExp
  /** Replaces `check`: returns where the secret that begins at `start` ends; undefined if there is none. */
  readonly measure?: (text: string, start: number) => number | undefined
  /** Replaces all of these: finds the secrets itself. It charges the budget, and reports what the budget does not
   * allow to check. */
  readonly locate?: (text: string, budget: { charsLeft: number }) => Iterable<TextSpan>
  /** Only the group of the match is sensitive, and the rest is shown. */
  readonly hides?: boolean
  /** Characters at its end that approvers are shown. */
  readonly shown?: number
  /** What of it an approver is not shown; `pattern` if absent. The author of the text must not be able to
   * hide words behind it, so it takes bounded many characters, and only those that a secret of the kind
   * has. Of two groups the first is shown. Exports find it too. */
  readonly mask?: RegExp
  /** Checks what `mask` hides. */
  readonly maskCheck?: (hidden: string) => boolean
}

export const always = (): boolean => true

/** A shape begins with one of these, so that most texts are settled in one pass. */
export const SECRET_BEGINNINGS = new RegExp(
  alternatives([
    OWN_TOKEN_BEGINNING,
    /-----BEGIN/,
    sequence(
      /(?<![A-Za-z0-9])/,
      group([
        ...toWords(`
            gh[pousr]_ github_pat_ npm_ glpat- AKIA ASIA sk- [rsp]k_(?:live|test)_ whsec_
            xox[abeoprs]- AIza
          `),
        /ya29\./,
        /eyJ/,
        /hf_/,
        /SG\./,
        ...toWords(`
            dop_v1_ shp(?:at|ca|pa|ss)_ lin_api_ ntn_ sbp_ pypi- AGE-SECRET glsa_ dckr_pat_
            figd_ PMAK- NRAK-
          `),
        /\d{8,10}:AA/,
        /SK[0-9a-f]{32}/,
        /hvs\./,
        /dapi[0-9a-f]/,
        /ATATT3/,
        /dp\.pt\./,
        ...toWords(`
            gsk_ pplx- xai- r8_ rubygems_ sntrys_ HRKU- key-[0-9a-f] sq0(?:atp|csp)-
          `),
        /pat[A-Za-z0-9]{14}\./,
        /gl(?:ptt|dt|rt|cbt)-/,
        /cio[A-Za-z0-9]{32}/,
        /bkua_/,
        /xprv/,
      ]),
    ),
    /hooks\.slack\.com/,
    /discord(?:app)?\.com\/api/,
    /:\/\/[^\s/:@]{0,255}:[^\s/@]/,
    /AccountKey=/,
    /(?<![A-Za-z0-9])(?:bearer|basic)\s/,
    `(?:${NAMES})["']?\\s{0,4}[:=]`,
  ]),
  'i',
)

function secret(
  kind: string,
  pattern: RegExp,
  more: Omit<SecretDetector, 'kind' | 'pattern'> = {},
): SecretDetector {
  return { kind, pattern, ...more }
}

export const SECRET_DETECTORS: readonly SecretDetector[] = [
  secret('Sluice token', ownTokenPattern(), {
    rest: /[\w-]*/y,
    mask: OWN_TOKEN_ON_ONE_LINE,
  }),
  // The first line is enough: a key may be cut off, or be longer than anybody would search for its end.
  secret('private key', /-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g, {
    rest: /(?:\s{0,4}[A-Za-z-]{1,40}: [^\n]{0,200}\r?\n){0,8}[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z0-9 ]{0,60}-----)?/y,
    // Headers on lines of their own, or on one line, where a value ends before the next `Name: `: what could be
    // read in both ways took a thousand times as long.
    mask: /(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[ \t]{0,3}(?:(?:\\n|\r?\n){1,2}[ \t]{0,8}[A-Z][A-Za-z-]{3,20}: [^\r\n\\]{1,80}){1,4}|(?:(?:\\n|\s){1,4}[A-Z][A-Za-z-]{3,20}: (?:[ \t]{0,3}[^\s\\:]|:(?! )){1,80}){0,4}))((?:(?:\\n|\s){0,4}[A-Za-z0-9+/=]{16,8192}){1,200}(?:(?:\\n|\s){0,4}[A-Za-z0-9+/=]{1,15}(?=(?:\\n|\s){0,4}-----END))?)/g,
  }),
  secret('GitHub token', /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{36}(?![A-Za-z0-9])/g, {
    check: hasChecksum,
    lenient: always,
    mask: /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{20,255}/g,
  }),
  secret(
    'GitHub token',
    /(?<![A-Za-z0-9])github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}(?![A-Za-z0-9])/g,
    { mask: /(?<![A-Za-z0-9])github_pat_\w{22,255}/g },
  ),
  secret('npm token', /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/g, {
    check: hasChecksum,
    lenient: always,
  }),
  secret('GitLab token', /(?<![A-Za-z0-9])glpat-[\w-]{20,64}(?![A-Za-z0-9])/g, {
    check: isMixed,
    mask: /(?<![A-Za-z0-9])glpat-[\w-]{20,255}/g,
  }),
  secret('AWS access key', /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])/g, {
    check: notExample,
    mask: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  }),
  secret('Anthropic key', /(?<![A-Za-z0-9])sk-ant-[a-z]{2,8}\d{2}-[\w-]{60,200}/g),
  secret('OpenAI key', /(?<![A-Za-z0-9])sk-(?:proj-|svcacct-|admin-)?[\w-]{20,200}/g, {
    check: isMixed,
    mask: /(?<![A-Za-z0-9])sk-[\w-]{20,255}/g,
  }),
  secret('Stripe key', /(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{20,200}(?![A-Za-z0-9])/g, {
    check: isMixed,
    mask: /(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}/g,
  }),
  secret('Stripe webhook secret', /(?<![A-Za-z0-9])whsec_[A-Za-z0-9+/]{30,80}/g),
  secret('Slack token', /(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{20,200}/g, {
    check: hasDigit,
    mask: /(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,255}/g,
  }),
  secret('Google key', /(?<![A-Za-z0-9])AIza[\w-]{35}(?![\w-])/g, {
    check: isMixed,
    lenient: always,
  }),
  secret('Google access token', /(?<![A-Za-z0-9])ya29\.[\w-]{40,400}/g),
  // From the beginning of a run, so that each is read once; where in it the token begins is checked.
  secret('JSON Web Token', /(?<![\w-])[\w-]{13}[\w-]*\.eyJ[\w-]{10}[\w-]*\.[\w-]{16}[\w-]*/g, {
    check: hasTokenHeader,
    mask: /(?<![\w-])eyJ[\w-]{10,2000}\.eyJ[\w-]{10,4000}\.[\w-]{10,1000}/g,
  }),
  secret('Hugging Face token', /(?<![A-Za-z0-9])hf_[A-Za-z]{34}(?![A-Za-z0-9])/g),
  secret('SendGrid key', /(?<![A-Za-z0-9])SG\.[\w-]{22}\.[\w-]{43}(?![A-Za-z0-9])/g),
  secret('DigitalOcean token', /(?<![A-Za-z0-9])dop_v1_[0-9a-f]{64}(?![A-Za-z0-9])/g),
  secret('Shopify token', /(?<![A-Za-z0-9])shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}(?![A-Za-z0-9])/g),
  secret('Linear key', /(?<![A-Za-z0-9])lin_api_[A-Za-z0-9]{40}(?![A-Za-z0-9])/g),
  secret('Notion token', /(?<![A-Za-z0-9])ntn_[A-Za-z0-9]{40,60}(?![A-Za-z0-9])/g),
  secret('Supabase token', /(?<![A-Za-z0-9])sbp_[0-9a-f]{40}(?![A-Za-z0-9])/g),
  secret('PyPI token', /(?<![A-Za-z0-9])pypi-AgE[\w-]{50,1000}/g),
  secret('age key', /(?<![A-Za-z0-9])AGE-SECRET-KEY-1[0-9A-Z]{58}(?![A-Za-z0-9])/g),
  secret('Grafana token', /(?<![A-Za-z0-9])glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}(?![A-Za-z0-9])/g),
  secret('Docker token', /(?<![A-Za-z0-9])dckr_pat_[\w-]{27,40}(?![A-Za-z0-9])/g, {
    check: isMixed,
  }),
  secret('Figma token', /(?<![A-Za-z0-9])figd_[\w-]{38,60}(?![A-Za-z0-9])/g, { check: isMixed }),
  secret('Twilio key', /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])/g, { check: isMixed }),
  secret('Postman key', /(?<![A-Za-z0-9])PMAK-[0-9a-f]{24}-[0-9a-f]{34}(?![A-Za-z0-9])/g),
  secret('New Relic key', /(?<![A-Za-z0-9])NRAK-[A-Z0-9]{27}(?![A-Za-z0-9])/g),
  secret('Vault token', /(?<![A-Za-z0-9])hvs\.[\w-]{24,120}/g, { check: isMixed }),
  secret('Databricks token', /(?<![A-Za-z0-9])dapi[0-9a-f]{32}(?![A-Za-z0-9])/g),
  secret('Atlassian token', /(?<![A-Za-z0-9])ATATT3[\w=-]{60,250}/g, { check: isMixed }),
  secret('Doppler token', /(?<![A-Za-z0-9])dp\.pt\.[A-Za-z0-9]{40,44}(?![A-Za-z0-9])/g),
  secret(
    'model provider key',
    /(?<![A-Za-z0-9])(?:gsk_[A-Za-z0-9]{48,56}|pplx-[A-Za-z0-9]{44,56}|xai-[A-Za-z0-9]{70,90}|r8_[A-Za-z0-9]{37})(?![A-Za-z0-9])/g,
    { check: isMixed },
  ),
  secret(
    'package registry token',
    /(?<![A-Za-z0-9])(?:rubygems_[0-9a-f]{48}|cio[A-Za-z0-9]{32})(?![A-Za-z0-9])/g,
    { check: isMixed },
  ),
  secret('Sentry token', /(?<![A-Za-z0-9])sntrys_[\w+/=.-]{60,400}/g, { check: isMixed }),
  secret(
    'Heroku key',
    /(?<![A-Za-z0-9])HRKU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![A-Za-z0-9])/g,
  ),
  secret('Mailgun key', /(?<![A-Za-z0-9])key-[0-9a-f]{32}(?![A-Za-z0-9])/g, { check: isMixed }),
  secret('Square token', /(?<![A-Za-z0-9])sq0(?:atp|csp)-[\w-]{22,43}(?![A-Za-z0-9])/g),
  secret('Airtable token', /(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\.[0-9a-f]{64}(?![A-Za-z0-9])/g),
  secret('Buildkite token', /(?<![A-Za-z0-9])bkua_[0-9a-f]{40}(?![A-Za-z0-9])/g),
  secret('GitLab token', /(?<![A-Za-z0-9])gl(?:ptt|dt|rt|cbt)-[\w-]{20,64}(?![A-Za-z0-9])/g, {
    check: isMixed,
  }),
  secret('extended private key', /(?<![A-Za-z0-9])xprv[1-9A-HJ-NP-Za-km-z]{107}(?![A-Za-z0-9])/g),
  secret(
    'webhook address',
    new RegExp(
      alternatives([
        /hooks\.slack\.com\/services\/T[A-Z0-9]{8,12}\/B[A-Z0-9]{8,12}\/[A-Za-z0-9]{24}/,
        /discord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/[\w-]{60,72}/,
      ]),
      'g',
    ),
    { check: notExample },
  ),
  secret('Telegram bot token', /(?<![A-Za-z0-9])\d{8,10}:AA[\w-]{33}(?![A-Za-z0-9])/g),
  secret('Azure storage key', /AccountKey=[A-Za-z0-9+/]{86}==/g),
  secret(
    'password in an address',
    /(?<![A-Za-z0-9])[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@'"]{0,255}:([^\s/@'"]{3,200})@[\w.-]/gi,
    {
      check: (_, password) => !isPlaceholder(password),
      mask: /(:\/\/[^\s/:@]{0,255}:)([\w.~%!*+=-]{1,255})(?=@)/g,
    },
  ),
  secret('bearer token', /(?<![A-Za-z0-9])bearer\s+([\w.~+/-]{20,2000}=*)/gi, {
    hides: true,
    check: (_, token) => looksRandom(token),
    // Without `/`, which tokens seldom and paths always have.
    mask: /(?<![A-Za-z0-9])(bearer )([\w.~+=-]{16,4000})(?![\w.~+=/-])/gi,
  }),
  secret(
    'HTTP Basic credentials',
    /(?<![A-Za-z0-9])basic\s{1,4}([A-Za-z0-9+/]{8,1000}={0,2})(?![\w+/=-])/gi,
    {
      hides: true,
      check: (_, credentials) =>
        isBasic(credentials, (password) => isPlaceholder(password) && !isJumbled(password)),
      lenient: (_, credentials) => isBasic(credentials, isExample),
      mask: /(?<![A-Za-z0-9])(basic )([A-Za-z0-9+/]{8,1000}={0,2})(?![\w+/=-])/gi,
      maskCheck: (credentials) => isBasic(credentials, isExample),
    },
  ),
  secret(
    'named secret',
    new RegExp(`(?:${NAMES})["']?\\s{0,4}[:=]\\s{0,4}["']?([^\\s"',;)}\\]]{6,200})`, 'gi'),
    {
      hides: true,
      check: (_, value) => value.length >= 8 && looksRandom(value) && !isPlaceholder(value),
      lenient: (whole, value) =>
        !isExample(value) && (/[:=]\s{0,4}["']/.test(whole) || !looksLikeCode(value)),
      mask: new RegExp(
        // No shorter match can be followed by another character: nothing is tried again.
        `((?:${NAMES})["']?\\s{0,4}[:=]\\s{0,4}["']?)(?![\\w~+=-]{201})(?=([\\w~+=-]{8,200}))\\2(?![\\w.~+=/:-])`,
        'gi',
      ),
      maskCheck: (value) => looksRandom(value) && !isPlaceholder(value),
    },
  ),
]

/** Whether base64 holds `user:password`, and the password is none of documentation. */
function isBasic(credentials: string, isDocumented: (password: string) => boolean): boolean {
  const password = /^[ -~]{0,255}?:([ -~]{3,255})$/.exec(decodeBase64(credentials))?.[1]
  return password !== undefined && !isDocumented(password)
}

/** What stands behind a name without quotes in a program: a call, a variable, a name in capitals. */
export function looksLikeCode(value: string): boolean {
  if (/[(){}[\]<>$`|]/.test(value)) return true
  // One repetition: with another one inside of it a name has exponentially many readings.
  const isName = /^[_A-Za-z]?[a-z]+(?:[A-Z][a-z]{2,}|[._][a-z]+)*[:?!]?$/
  return isName.test(value) || /^[A-Z]+(?:[_.][A-Z]+)+$/.test(value)
}

/** A token has letters and digits, or letters without order, and is none that documentation shows. */
function isMixed(token: string): boolean {
  const body = token.replace(/^[a-z]+[-_](?:[a-z]+[-_])?/i, '')
  const isMade = /\d/.test(body) ? /[A-Za-z]/.test(body) : isJumbled(body)
  return isMade && notExample(token) && !/(.)\1{7}/.test(body)
}

function hasDigit(token: string): boolean {
  return /\d{6}/.test(token) && notExample(token)
}

function notExample(token: string): boolean {
  return !/example|sample|your|xxxx|1234567890/i.test(token)
}

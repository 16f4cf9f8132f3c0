// Words by which a text speaks to the model behind the user's back (A01, A05, A25, A26): orders to
// forget, to keep silent, to fetch secrets, to prefer one tool. Linear: a hostile text costs no more
// than its length. What is said in another way passes: this is a net with
// known holes, measured in docs/concepts/catalogue.md. Pure.

import { alternatives, group, sequence } from '@sluice/policy/readers/join-patterns'
import { normalizedLengthMax } from '@sluice/policy/readers/normalized-length'
import { toWords } from '@sluice/policy/structures/word-set'
import type { TextSpan } from './chain.ts'
import { partsAround } from './changed-parts.ts'
import type { Finding, FindingKind } from './finding.ts'
import { isPlain, stripHidden } from './hidden-text.ts'
import { TEXT_CHARS_MAX } from './limits.ts'
import { anyOf, anyOfAt, type PatternNeeds } from './needs.ts'
import {
  chainOf,
  newScanBudget,
  type Pattern,
  PatternSet,
  type ScanBudget,
  spend,
} from './patterns.ts'
import { foldLookAlikes } from './show/look-alikes.ts'

const SECRET_FILES = alternatives([
  sequence(
    /(?:[~$]\w{0,8}\/)?\./,
    /(?:ssh|aws|gnupg|kube|docker|netrc|npmrc|pypirc|git-credentials|cursor|claude)\b[\w./-]{0,40}/,
  ),
  /\bid_(?:rsa|ed25519|ecdsa)\b/,
  /\/etc\/(?:passwd|shadow)\b/,
  /\bmcp\.json\b/,
  /\.env\b(?! ?(?:var|file var))/,
  /wallet\.dat\b/,
])
const READS =
  '(?:read|open|load|cat|fetch|access|retrieve|get|include|pass|provide|attach|send|upload|copy|contents? of)'
const SECRETS = group([
  /api[- _]?keys?/,
  /secret keys?/,
  /passwords?/,
  /secrets?/,
  /credentials?/,
  /access tokens?/,
  /auth tokens?/,
  /ssh keys?/,
  /private keys?/,
  /seed phrase/,
  /system prompt/,
  /chat history/,
  /conversation history/,
  /(?:entire|full|whole) conversation/,
  /previous messages/,
  /environment variables/,
])
const SECRET_FILE_NEEDS = anyOf([
  '.ssh',
  '.aws',
  '.gnupg',
  '.kube',
  '.docker',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.git-',
  '.cursor',
  '.claude',
  '.env',
  'id_rsa',
  'id_ed2',
  'id_ecd',
  '/etc/',
  'mcp.json',
  'wallet.dat',
])

const TAG_NEEDS = anyOfAt(
  'important|system|secret|hidden|instruction|admin|critical',
  /(?<=<\s?\/?\s?)/,
)
// A `|` separates words: what follows it in a marker is enough.
const MARKER_NEEDS = anyOfAt(
  '[inst]|[/inst]|[system]|[/system]|<<sys>>|im_start|im_end|system|user|assistant|endoftext',
  /(?=\[|<<)|(?<=<\|)/,
)

/** Against small letters. A number between two sources is the gap that a sentence may have there. */
const PATTERNS = new PatternSet([
  hold('instructs the model', anyOf('ignore|disregard|forget|override|bypass'), [
    String.raw`\b(?:ignore|disregard|forget|override|bypass)\b`,
    24,
    String.raw`\b(?:previous|prior|above|earlier|preceding|all|any|your|system|everything|ever?thing|the rules)\b`,
    24,
    String.raw`\b(?:instructions?|prompts?|rules?|guidelines|directives|told|context|training|restrictions|said)`,
  ]),
  hold('instructs the model', TAG_NEEDS, [
    String.raw`<\s?/?\s?(?:important|system|secret|hidden|instructions?|admin|critical)\s?>`,
  ]),
  hold('instructs the model', MARKER_NEEDS, [
    String.raw`\[/?(?:inst|system)\]|<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|<<sys>>`,
  ]),
  hold(
    'instructs the model',
    anyOf([
      'you are now',
      'from now on',
      'instruction:',
      'instructions:',
      'system override:',
      'system prompt:',
      'developer mode',
      'debug mode',
      'god mode',
      'jailbreak mode',
      'dan mode',
      'maintenance mode',
      'admin mode',
    ]),
    [
      sequence(
        /\b/,
        group([
          /you are now/,
          /from now on,? you/,
          /new (?:system )?instructions?:/,
          /system (?:override|prompt):/,
          /(?:enter|enable|activate)\w{0,12} (?:developer|debug|god|jailbreak|dan|maintenance|admin) mode/,
        ]),
        /\b/,
      ),
    ],
  ),
  hold('instructs the model', anyOf('ing ', 'this|any|any other', ' tool'), [
    String.raw`\b(?:before|prior to|when) (?:using|calling|invoking|running) (?:this|any(?: other)?) tools?\b`,
    75,
    String.raw`\b(?:read|open|cat|access|send|include|fetch)\b`,
    60,
    String.raw`(?:${SECRET_FILES}|${SECRETS}|\bfile\b)`,
  ]),
  hold('secret path', SECRET_FILE_NEEDS, [
    String.raw`\b${READS}\b`,
    60,
    `(?:${SECRET_FILES})`,
    80,
    String.raw`\b(?:pass|send|include|parameter|argument|as|in)\b`,
  ]),
  hold('secret path', SECRET_FILE_NEEDS, [
    String.raw`\b(?:pass|send|include|put|provide|forward)\b`,
    60,
    String.raw`\bcontents?\b`,
    30,
    `(?:${SECRET_FILES})`,
  ]),
  hold(
    'hides from the user',
    anyOfAt(
      'tell|mention|inform|notif|alert|reveal|disclos|say',
      /(?<=(?:not|n['’]?t|never|without)\s(?:ever )?)/,
    ),
    [
      sequence(
        /\b(?:do not|don['’]?t|never|must not|should not|without)\s(?:ever )?/,
        group(
          toWords(`
            tell mention inform notify alert reveal disclos say telling mentioning informing
            notifying alerting revealing
          `),
        ),
        /\w{0,12}\b/,
      ),
      40,
      String.raw`\b(?:users?|humans?|anyone|anybody|this (?:to|step|instruction))`,
    ],
  ),
  hold(
    'hides from the user',
    anyOf([
      'user must',
      'user should',
      'user need',
      'user does',
      'user do',
      'user will',
      'user may',
      'keep this',
      'keep it',
      'silently ',
      'secretly ',
      'covertly ',
    ]),
    [
      alternatives([
        sequence(
          /\b(?:the )?user (?:must|should|need|does|do|will|may) ?(?:not|n['’]t) /,
          /(?:know|see|be (?:told|informed|aware|notified)|need to know)/,
        ),
        /\bkeep (?:this|it) (?:a )?(?:secret|hidden|confidential) from\b/,
        /\b(?:silently|secretly|covertly) (?:send|forward|copy|include|call|execute|upload|bcc)/,
      ]),
    ],
  ),
  hold(
    'carries secrets out',
    anyOf([
      'api key',
      'api-key',
      'api_key',
      'apikey',
      'password',
      'secret',
      'credential',
      'access token',
      'auth token',
      'ssh key',
      'private key',
      'seed phrase',
      'system prompt',
      'chat history',
      'conversation history',
      'entire conversation',
      'full conversation',
      'whole conversation',
      'previous messages',
      'environment variables',
    ]),
    [
      sequence(
        /\b/,
        group([
          ...toWords(`
            send forward include append pass attach bcc exfiltrate leak transmit post upload
            reveal print output repeat
          `),
          /tell me/,
          /give me/,
          /show me/,
          /provide/,
          /what is/,
          /what['’]s/,
        ]),
        /\b/,
      ),
      40,
      String.raw`\b(?:your|all|all the|user['’]?s|their|hidden)\b`,
      20,
      String.raw`\b${SECRETS}`,
    ],
  ),
  flag('puts itself first', anyOf('best tool|this tool|must be called|other tool'), [
    alternatives([
      /\bbest tool in the world\b/,
      /\b(?:prefer|prioriti[sz]e) this tool (?:over|above|to)\b/,
      /\bmust be called (?:first|before (?:any|all|every))/,
      /\b(?:ignore|do not use|don['’]t use|never use) (?:any |all )?(?:the )?other tools?\b/,
    ]),
  ]),
  flag('puts itself first', anyOf('this tool'), [
    String.raw`\b(?:always|only) (?:use|prefer|choose|call) this tool\b`,
    30,
    String.raw`\b(?:instead of|before|over|rather than|first|for (?:everything|all))`,
  ]),
])

/** How far a match goes on either side of what it has. */
export const INJECTION_REACH = PATTERNS.reach
/** No match is shorter: `[INST]`. */
export const SHORTEST_CHARS = 6

/** All that is found; what is hidden is looked through, so that a zero-width space hides no word. What
 * does not fit into the budget is said to be too large to look at. */
export function findInjections(text: string, budget: ScanBudget = newScanBudget()): Finding[] {
  if (text.length < SHORTEST_CHARS) return []
  if (text.length > TEXT_CHARS_MAX || !spend(budget, text.length)) return [tooLarge(text)]
  const findings = PATTERNS.match(text, budget)
  if (findings.length > 0 || isPlain(text)) return findings
  // What only the folded text says has a letter that is folded: the rest has been looked at.
  for (const part of partsAround(text, notPlainIn(text), PATTERNS.reach)) {
    if (!spend(budget, FOLDED_COST * normalizedLengthMax(part))) return [tooLarge(text)]
    const plain = foldLookAlikes(stripHidden(part))
    if (plain === part) continue
    // One character may fold into eighteen.
    if (!spend(budget, FOLDED_COST * plain.length)) return [tooLarge(text)]
    // The places of the folded text are not those of the text: the whole of it is shown.
    findings.push(
      ...PATTERNS.match(plain, budget).map((one) => ({ ...one, start: 0, end: text.length })),
    )
    if (findings.length > 0) return findings
  }
  return findings
}

function* notPlainIn(text: string): Generator<TextSpan> {
  for (const { index, 0: run } of text.matchAll(NOT_PLAIN_RUN))
    yield { start: index, end: index + run.length }
}

const NOT_PLAIN_RUN = /[^\t\n\r -~]+/g

/** What it costs to fold a character, in characters that are only searched. */
const FOLDED_COST = 3

function tooLarge(text: string): Finding {
  const words = `${text.length} characters`
  return { kind: 'too large to look at', severity: 'hold', start: 0, end: text.length, text: words }
}

type Parts = readonly (string | number)[]

function hold(kind: FindingKind, needs: PatternNeeds, parts: Parts): Pattern {
  return { kind, severity: 'hold', needs, ...chainOf(parts) }
}

function flag(kind: FindingKind, needs: PatternNeeds, parts: Parts): Pattern {
  return { ...hold(kind, needs, parts), severity: 'flag' }
}

// Words by which a text speaks to the model behind the user's back (A01, A05, A25, A26): orders to
// forget, to keep silent, to fetch secrets, to prefer one tool. Patterns are bounded, so that a
// hostile text costs no more than its length. What is said in another way passes: this is a net with
// known holes, measured in docs/catalogue.md. Pure.

import { foldLookAlikes } from '../core/look-alikes.ts'
import type { Finding, Kind, Severity } from './finding.ts'
import { isPlain, stripHidden } from './hidden-text.ts'
import { FINDINGS_MAX, TEXT_CHARS_MAX } from './limits.ts'

interface Pattern {
  readonly kind: Kind
  readonly severity: Severity
  /** Small letters that no match does without: most texts are settled by looking for them. */
  readonly needs: RegExp
  readonly pattern: RegExp
}

const SECRET_FILES = String.raw`(?:[~$]\w{0,8}/)?\.(?:ssh|aws|gnupg|kube|docker|netrc|npmrc|pypirc|git-credentials|cursor|claude)\b[\w./-]{0,40}|\bid_(?:rsa|ed25519|ecdsa)\b|/etc/(?:passwd|shadow)\b|\bmcp\.json\b|\.env\b(?! ?(?:var|file var))|wallet\.dat\b`
const READS =
  '(?:read|open|load|cat|fetch|access|retrieve|get|include|pass|provide|attach|send|upload|copy|contents? of)'
const SECRETS =
  '(?:api[- _]?keys?|secret keys?|passwords?|secrets?|credentials?|access tokens?|auth tokens?|ssh keys?|private keys?|seed phrase|system prompt|chat history|conversation history|(?:entire|full|whole) conversation|previous messages|environment variables)'

const PATTERNS: readonly Pattern[] = [
  hold(
    'instructs the model',
    /ignore|disregard|forget|override|bypass/,
    String.raw`\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,24}\b(?:previous|prior|above|earlier|preceding|all|any|your|system|everything|ever?thing|the rules)\b[^.\n]{0,24}\b(?:instructions?|prompts?|rules?|guidelines|directives|told|context|training|restrictions|said)`,
  ),
  hold(
    'instructs the model',
    /<\s?\/?\s?[ishac]/,
    String.raw`<\s?/?\s?(?:important|system|secret|hidden|instructions?|admin|critical)\s?>`,
  ),
  hold(
    'instructs the model',
    /\[\/?(?:inst|system)\]|<\||<<sys/,
    String.raw`\[/?(?:INST|SYSTEM)\]|<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|<<SYS>>`,
  ),
  hold(
    'instructs the model',
    /you are now|from now on|instructions?:|system (?:override|prompt):|(?:ter|ble|ate)\w* (?:developer|debug|god|jailbreak|dan|maintenance|admin) mode/,
    String.raw`\b(?:you are now|from now on,? you|new (?:system )?instructions?:|system (?:override|prompt):|(?:enter|enable|activate)\w* (?:developer|debug|god|jailbreak|dan|maintenance|admin) mode)\b`,
  ),
  hold(
    'instructs the model',
    /ing (?:this|any(?: other)?) tool/,
    String.raw`\b(?:before|prior to|when) (?:using|calling|invoking|running) (?:this|any(?: other)?) tools?\b[^.\n]{0,40}\b(?:you )?(?:must|should|need to|have to|please)?[^.\n]{0,20}\b(?:read|open|cat|access|send|include|fetch)\b[^.\n]{0,60}(?:${SECRET_FILES}|${SECRETS}|\bfile\b)`,
  ),
  hold(
    'secret path',
    /\.(?:ssh|aws|gnupg|kube|docker|netrc|npmrc|pypirc|git-|cursor|claude|env)|id_(?:rsa|ed2|ecd)|\/etc\/|mcp\.json|wallet\.dat/,
    String.raw`\b${READS}\b[^.\n]{0,60}(?:${SECRET_FILES})[^.\n]{0,80}\b(?:pass|send|include|parameter|argument|as|in)\b`,
  ),
  hold(
    'secret path',
    /\.(?:ssh|aws|gnupg|kube|docker|netrc|npmrc|pypirc|git-|cursor|claude|env)|id_(?:rsa|ed2|ecd)|\/etc\/|mcp\.json|wallet\.dat/,
    String.raw`\b(?:pass|send|include|put|provide|forward)\b[^.\n]{0,60}\b(?:contents?|content)\b[^.\n]{0,30}(?:${SECRET_FILES})`,
  ),
  hold(
    'hides from the user',
    /(?:not|n['’]?t|never|without)\s(?:ever )?(?:tell|mention|inform|notif|alert|reveal|disclos|say)/,
    String.raw`\b(?:do not|don['’]?t|never|must not|should not|without)\s(?:ever )?(?:tell|mention|inform|notify|alert|reveal|disclos|say|telling|mentioning|informing|notifying|alerting|revealing)\w*\b[^.\n]{0,40}\b(?:the )?(?:users?|humans?|anyone|anybody|this (?:to|step|instruction))`,
  ),
  hold(
    'hides from the user',
    /user (?:must|should|need|does|do|will|may)|keep (?:this|it)|silently |secretly |covertly /,
    String.raw`\b(?:the )?user (?:must|should|need|does|do|will|may) ?(?:not|n['’]t) (?:know|see|be (?:told|informed|aware|notified)|need to know)|\bkeep (?:this|it) (?:a )?(?:secret|hidden|confidential) from\b|\b(?:silently|secretly|covertly) (?:send|forward|copy|include|call|execute|upload|bcc)`,
  ),
  hold(
    'carries secrets out',
    /(?:your|all|user['’]?s|their|hidden)\b[^.\n]{0,22}(?:key|password|secret|credential|token|seed|system p|history|conversation|previous m|environment v)/,
    String.raw`\b(?:send|forward|include|append|pass|attach|bcc|exfiltrate|leak|transmit|post|upload|reveal|print|output|repeat|tell me|give me|show me|provide|what is|what['’]s)\b[^.\n]{0,40}\b(?:your|all (?:the )?|user['’]?s|their|hidden|the user['’]?s)\b[^.\n]{0,20}\b${SECRETS}`,
  ),
  flag(
    'puts itself first',
    /best tool|this tool|must be called|other tool/,
    String.raw`\bbest tool in the world\b|\b(?:always|only) (?:use|prefer|choose|call) this tool\b[^.\n]{0,30}\b(?:instead of|before|over|rather than|first|for (?:everything|all))|\b(?:prefer|prioriti[sz]e) this tool (?:over|above|to)\b|\bmust be called (?:first|before (?:any|all|every))|\b(?:ignore|do not use|don['’]t use|never use) (?:any |all )?(?:the )?other tools?\b`,
  ),
]

/** What one of the patterns needs. */
const ANY = new RegExp(PATTERNS.map(({ needs }) => needs.source).join('|'))
/** No match is shorter: `[INST]`. */
export const SHORTEST_CHARS = 6

/** All that is found; what is hidden is looked through, so that a zero-width space hides no word. */
export function findInjections(text: string): Finding[] {
  if (text.length < SHORTEST_CHARS) return []
  const looked = text.length > TEXT_CHARS_MAX ? text.slice(0, TEXT_CHARS_MAX) : text
  const findings = match(looked)
  if (text.length > TEXT_CHARS_MAX)
    findings.push({
      kind: 'too large to look at',
      severity: 'hold',
      start: TEXT_CHARS_MAX,
      end: text.length,
      text: `${text.length} characters`,
    })
  if (findings.length > 0 || isPlain(looked)) return findings
  const plain = foldLookAlikes(stripHidden(looked))
  if (plain === looked) return findings
  // The places of the folded text are not those of the text: the whole of it is shown.
  return match(plain).map((finding) => ({ ...finding, start: 0, end: looked.length }))
}

function match(text: string): Finding[] {
  const findings: Finding[] = []
  const small = text.toLowerCase()
  if (!ANY.test(small)) return findings
  for (const { kind, severity, needs, pattern } of PATTERNS) {
    if (!needs.test(small)) continue
    pattern.lastIndex = 0
    for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
      const start = found.index
      if (findings.length >= FINDINGS_MAX) return findings
      findings.push({ kind, severity, start, end: start + found[0].length, text: found[0] })
    }
  }
  return findings
}

function hold(kind: Kind, needs: RegExp, source: string): Pattern {
  return { kind, severity: 'hold', needs, pattern: new RegExp(source, 'gi') }
}

function flag(kind: Kind, needs: RegExp, source: string): Pattern {
  return { kind, severity: 'flag', needs, pattern: new RegExp(source, 'gi') }
}

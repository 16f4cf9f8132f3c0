// Words in an answer that speak to the model instead of telling it something (A05): what it shall
// reply, forget, run or give away. Answers are read by nobody else, so more is suspect there than in a
// definition; also in the other languages that such orders come in, and one layer of encoding below.
// Patterns are bounded. What orders in plain, polite prose passes: measured in docs/catalogue.md. Pure.

import type { Finding, Kind } from './finding.ts'
import { findInjections } from './injections.ts'
import { ENCODED_RUNS_MAX, TEXT_CHARS_MAX } from './limits.ts'
import { decodeBase64 } from './secret-checks.ts'

const REPLY = String.raw`your (?:next |final |own |entire |whole |complete |current )?(?:response|reply|answer|message)s?\b`
const VERBS =
  '(?:render|give|write|provide|deliver|present|format|phrase|express|include|insert|add|embed|append|prepend|attach|incorporate|integrate|introduce|weave|mention|modify|alter|change|adjust|rewrite|replace|translate|encode|encrypt|reverse|invert|scramble|shuffle|jumble|rearrange|substitute|swap|apply|use|employ|group|remove|omit|make|craft|compose|structure|start|begin|end|finish|conclude|infuse|sprinkle|slip|work|put|place|transform|convert|spell|misspell|switch|suggest|promote|advertise|recommend|endorse|share|offer|highlight|emphasi[sz]e|reference|cite|quote|summari[sz]e|tailor|turn|ensure|let|have|mix|mask|obfuscate|scatter|capitali[sz]e|state|discuss|enhance|augment|display)'
const CODE = '(?:code|snippet|script|program|function|block|section|excerpt|segment|fragment)'
const OWN = String.raw`(?:your (?:code|codebase|solution|implementation|response|answer|reply|program|project|output|logic|foundation|script|work|algorithm|elucidation)|the code you (?:develop|write))\b`
const THIS = '(?:following|subsequent|below|provided|next|given|this)'
const RISKY = String.raw`(?:requests?[.,]|urlopen|http\.client|smtplib|yagmail|socket\.|subprocess|pexpect|os\.(?:system|remove|unlink|popen|rename)|shutil|child_process|eval\(|exec\(|psutil|pynput|keyboard|ftplib|paramiko|pyperclip|imagegrab|pyautogui|winreg|ctypes|selenium|webbrowser|rm -rf|curl |wget |invoke-webrequest|scp|sqlite3|cookies?|\/etc\/|\/boot\/|crypto\.cipher|while true|\.send\(|\.post\()`
const BEGIN = String.raw`(?:^|[.!?:>\n"'“]\s*|\b(?:please|kindly|and|then|to|must|should|can you|could you)\s+)`

interface Pattern {
  readonly kind: Kind
  /** What no match does without; cheap to look for. */
  readonly needs: RegExp
  readonly pattern: RegExp
}

/** Against small letters. */
const PATTERNS: readonly Pattern[] = [
  instructs(
    /your [a-z ]{0,10}(?:response|reply|answer|message)/,
    `${BEGIN}${VERBS}\\b[^.\\n]{0,140}\\b${REPLY}`,
  ),
  instructs(
    /your [a-z ]{0,10}(?:response|reply|answer|message)/,
    String.raw`(?:^|[.!?>\n]\s*)in ${REPLY},? (?!to\b|we\b|you\b|i\b)[a-z]{3,14}\b|\b${REPLY}[^.\n]{0,40}\b(?:must|should|shall|needs? to|has to) (?:be|include|contain|start|end|use|mention|have)`,
  ),
  instructs(
    /(?:respond|reply|answer) /,
    String.raw`(?:^|[.!?:>\n]\s*|\bplease\s+)(?:respond|reply|answer)\s+(?:only\s+)?(?:in|with|using|as|by)\b(?! (?:a )?(?:\d{3}|status|http|json|error|data))[^.\n]{2,80}`,
  ),
  instructs(
    /(?:following|subsequent|below|provided|next|given|this) (?:code|snippet|script|program|block|excerpt)/,
    String.raw`\b${THIS} ${CODE}[^\n]{0,120}\b${OWN}[\s\S]{0,700}?${RISKY}|\b(?:${OWN}|incorporate|integrate|execute|embed)\b[^\n]{0,120}\b${THIS}\b[^\n]{0,30}${CODE}[^\n]{0,60}:?\s*\n[\s\S]{0,700}?${RISKY}`,
  ),
  instructs(
    /ignor|disregard|forget|overlook|discard|set aside|no attention/,
    String.raw`\b(?:ignor(?:e|ing)|disregard|forget|overlook|discard|set aside|pay no attention to)\b[^.\n]{0,30}\b(?:all|everything|ever?thing|what)\b[^.\n]{0,30}\b(?:told|instructed|said|learn(?:ed|t)|before|so far|previously)\b`,
  ),
  instructs(
    /ignore|disregard|forget|skip/,
    String.raw`\b(?:ignore|disregard|forget|skip) (?:the |this |all |everything )?(?:web ?page|page|resume|document|e-?mail|paper|text|content|article|above|rest|previous|story|website|question|task|prompt|function|table)\b[^.\n]{0,40}\b(?:and|instead|then)\b[^.\n]{0,20}\b(?:state|say|respond|reply|write|output|tell|print|give|repeat|answer|do)\b`,
  ),
  instructs(
    /ignor|olvid|oubli|instru|anweis|инструкц|указани|指示|命令|指令|说明|지시|명령|지침|निर्देश|अनुदेश|التعليمات|الأوامر/,
    String.raw`\b(?:ignor|olvid|oubli)\p{L}{1,6}\b[^.\n]{0,30}\b(?:instrucciones|instructions|instruções|istruzioni|fonction|función|funzione)\b|\b(?:vorherigen|bisherigen|früheren|obigen)\b[^.\n]{0,12}\b(?:anweisungen|instruktionen)\b|(?:предыдущи[ех]|прежние)\s+(?:инструкци|указани)|(?:以前|これまで|前)の(?:指示|命令)|(?:忽略|无视|忘记)[^。\n]{0,10}(?:指令|指示|说明)|이전\s?(?:지시|명령|지침)|(?:पिछले|पिछली)\s(?:निर्देश|अनुदेश)|تجاهل[^.\n]{0,12}(?:التعليمات|الأوامر)`,
  ),
  instructs(
    / your (?:creator|developer|admin|owner|maker|programmer|supervisor|boss)| mode\b/,
    String.raw`\b(?:i['’]?m|i am|this is|speaking as) your (?:creator|developer|administrator|admin|owner|maker|programmer|supervisor|boss)\b|\b(?:enter|entering|switch to|switch into|activate|engage|initiate|you are in|going into)\b[^.\n]{0,20}\b(?:admin(?:istrator)?|maintenance|developer|root|override|diagnostic|recovery|unrestricted|god|system)['’"]? mode\b`,
  ),
  {
    kind: 'carries secrets out',
    needs:
      /password|secret|api key|passphrase|credentials|pin code|social security|credit card|private key/,
    pattern:
      /\b(?:what(?:['’]s| is| are)|tell me|give me|share|reveal|send me|show me|disclose|provide|spell out|state|repeat|print|output|hand over|confirm)\b[^.?\n]{0,40}\b(?:your|the user['’]?s?|their|her|his|the|our) (?:\w{1,12} )?(?:passwords?|secret key|api key|passphrase|credentials|pin code|social security number|credit card number|private key|secret)\b(?!\s*(?:field|manager|reset|policy|parameter|hash))/u,
  },
]

function instructs(needs: RegExp, source: string): Pattern {
  return { kind: 'instructs the model', needs, pattern: new RegExp(source, 'u') }
}

/** Everything suspect in one text of an answer. */
export function findInAnswer(text: string): Finding[] {
  const looked = text.length > TEXT_CHARS_MAX ? text.slice(0, TEXT_CHARS_MAX) : text
  const findings = look(looked)
  if (findings.length > 0) return findings
  for (const inside of layers(looked)) {
    const [found] = look(inside)
    if (found !== undefined) return [{ ...found, start: 0, end: looked.length }]
  }
  return []
}

/** Where one finding is enough, the first of each pattern is told. */
function look(text: string): Finding[] {
  const findings = findInjections(text)
  const small = text.toLowerCase()
  for (const { kind, needs, pattern } of PATTERNS) {
    const found = needs.test(small) ? pattern.exec(small) : null
    if (found === null) continue
    const { index, 0: words } = found
    const end = Math.min(index + words.length, text.length)
    findings.push({
      kind,
      severity: 'flag',
      start: index,
      end,
      text: words.slice(0, SHOWN_CHARS_MAX),
    })
  }
  return findings
}

const SHOWN_CHARS_MAX = 200

/** What base64, hex and binary digits in a text hold, where that is text. */
function layers(text: string): string[] {
  const found: string[] = []
  let runs = 0
  for (const [run] of text.matchAll(/[A-Za-z0-9+/]{24,8000}={0,2}|(?:\b[01]{8}\b[ ]?){8,2000}/g)) {
    if (++runs > ENCODED_RUNS_MAX) break
    const inside = /^[01 ]+$/.test(run)
      ? run.replace(/[01]{8} ?/g, (byte) => String.fromCharCode(Number.parseInt(byte, 2)))
      : /^[0-9a-f]+$/i.test(run) && run.length % 2 === 0
        ? run.replace(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16)))
        : decodeBase64(run)
    if (/^[\t\n\r\x20-\x7e]{12,}$/.test(inside)) found.push(inside)
  }
  return found
}

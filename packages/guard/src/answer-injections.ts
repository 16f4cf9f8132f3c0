// Words in an answer that speak to the model instead of telling it something (A05): what it shall
// reply, forget, run or give away. Answers are read by nobody else, so more is suspect there than in a
// definition; also in the other languages that such orders come in.
// Linear. What orders in plain, polite prose passes: measured in docs/concepts/catalogue.md. Pure.

import { alternatives, group, sequence } from '@sluice/policy/readers/join-patterns'
import { toWords } from '@sluice/policy/structures/word-set'
import type { GapRule, Link } from './chain.ts'
import type { Finding } from './finding.ts'
import { findInjections, INJECTION_REACH, SHORTEST_CHARS } from './injections.ts'
import { anyOf, anyOfAt, type PatternNeeds } from './needs.ts'
import { chainOf, newScanBudget, type Pattern, PatternSet, type ScanBudget } from './patterns.ts'

const REPLY = String.raw`your (?:next |final |own |entire |whole |complete |current )?(?:response|reply|answer|message)s?\b`
const VERBS = group(
  toWords(`
      render give write provide deliver present format phrase express include insert add embed
      append prepend attach incorporate integrate introduce weave mention modify alter change
      adjust rewrite replace translate encode encrypt reverse invert scramble shuffle jumble
      rearrange substitute swap apply use employ group remove omit make craft compose structure
      start begin end finish conclude infuse sprinkle slip work put place transform convert
      spell misspell switch suggest promote advertise recommend endorse share offer highlight
      emphasi[sz]e reference cite quote summari[sz]e tailor turn ensure let have mix mask
      obfuscate scatter capitali[sz]e state discuss enhance augment display
    `),
)
const CODE = '(?:code|snippet|script|program|function|block|section|excerpt|segment|fragment)'
const OWN = sequence(
  group([
    sequence(
      /your /,
      group(
        toWords(`
          code codebase solution implementation response answer reply program project output
          logic foundation script work algorithm elucidation
        `),
      ),
    ),
    /the code you (?:develop|write)/,
  ]),
  /\b/,
)
const THIS = '(?:following|subsequent|below|provided|next|given|this)'
const RISKY = group([
  /requests?[.,]/,
  /urlopen/,
  /http\.client/,
  /smtplib/,
  /yagmail/,
  /socket\./,
  /subprocess/,
  /pexpect/,
  /os\.(?:system|remove|unlink|popen|rename)/,
  /shutil/,
  /child_process/,
  /eval\(/,
  /exec\(/,
  ...toWords(`
    psutil pynput keyboard ftplib paramiko pyperclip imagegrab pyautogui winreg ctypes
    selenium webbrowser
  `),
  /rm -rf/,
  /curl /,
  /wget /,
  /invoke-webrequest/,
  /scp/,
  /sqlite3/,
  /cookies?/,
  /\/etc\//,
  /\/boot\//,
  /crypto\.cipher/,
  /while true/,
  /\.send\(/,
  /\.post\(/,
])

/** In front of an order: the beginning of a sentence, or words that introduce one. */
const INTRODUCES = /(?:^|[^\w])(?:please|kindly|and|then|to|must|should|can you|could you)$/
const REPLY_NEEDS = anyOfAt('your ', /your [a-z ]{0,10}(?:response|reply|answer|message)/)
const CODE_NEEDS = anyOf(
  'following|subsequent|below|provided|next|given|this',
  ' ',
  'code|snippet|script|program|block|excerpt',
)
const LINE: GapRule = { chars: 120, stops: '\n' }

/** Against small letters. */
const PATTERNS = new PatternSet([
  instructs(REPLY_NEEDS, [
    at(String.raw`\b${VERBS}\b`, (text, start) => begins(text, start, '.!?:>\n"\'“', INTRODUCES)),
    140,
    String.raw`\b${REPLY}`,
  ]),
  instructs(REPLY_NEEDS, [
    at(String.raw`\bin ${REPLY},? (?!to\b|we\b|you\b|i\b)[a-z]{3,14}\b`, (text, start) =>
      begins(text, start, '.!?>\n'),
    ),
  ]),
  instructs(REPLY_NEEDS, [
    String.raw`\b${REPLY}`,
    40,
    String.raw`\b(?:must|should|shall|needs? to|has to) (?:be|include|contain|start|end|use|mention|have)`,
  ]),
  instructs(anyOfAt('respond|reply|answer', /(?:respond|reply|answer)\s/), [
    at(
      sequence(
        /\b(?:respond|reply|answer)\s+(?:only\s+)?(?:in|with|using|as|by)\b/,
        /(?! (?:a )?(?:\d{3}|status|http|json|error|data))[^.\n]{2,80}/,
      ),
      (text, start) => begins(text, start, '.!?:>\n', /(?:^|[^\w])please$/),
    ),
  ]),
  instructs(CODE_NEEDS, [
    String.raw`\b${THIS} ${CODE}`,
    LINE,
    String.raw`\b${OWN}`,
    { chars: 700, stops: '' },
    RISKY,
  ]),
  instructs(CODE_NEEDS, [
    String.raw`\b(?:${OWN}|incorporate|integrate|execute|embed)\b`,
    LINE,
    String.raw`\b${THIS}\b`,
    { chars: 30, stops: '\n' },
    CODE,
    { chars: 60, stops: '\n' },
    String.raw`\n`,
    { chars: 700, stops: '' },
    RISKY,
  ]),
  instructs(anyOf('ignor|disregard|forget|overlook|discard|set aside|no attention'), [
    String.raw`\b(?:ignor(?:e|ing)|disregard|forget|overlook|discard|set aside|pay no attention to)\b`,
    30,
    String.raw`\b(?:all|everything|ever?thing|what)\b`,
    30,
    String.raw`\b(?:told|instructed|said|learn(?:ed|t)|before|so far|previously)\b`,
  ]),
  instructs(anyOf('ignore|disregard|forget|skip'), [
    sequence(
      /\b(?:ignore|disregard|forget|skip) (?:the |this |all |everything )?/,
      group([
        /web ?page/,
        ...toWords(`
          page resume document e-?mail paper text content article above rest previous story
          website question task prompt function table
        `),
      ]),
      /\b/,
    ),
    40,
    String.raw`\b(?:and|instead|then)\b`,
    20,
    String.raw`\b(?:state|say|respond|reply|write|output|tell|print|give|repeat|answer|do)\b`,
  ]),
  instructs(anyOf('ignor|olvid|oubli'), [
    String.raw`\b(?:ignor|olvid|oubli)\p{L}{1,6}\b`,
    30,
    String.raw`\b(?:instrucciones|instructions|instruções|istruzioni|fonction|función|funzione)\b`,
  ]),
  instructs(anyOf('anweis|instruk'), [
    String.raw`\b(?:vorherigen|bisherigen|früheren|obigen)\b`,
    12,
    String.raw`\b(?:anweisungen|instruktionen)\b`,
  ]),
  instructs(anyOf('инструкц|указани|指示|命令|지시|명령|지침|निर्देश|अनुदेश'), [
    alternatives([
      /(?:предыдущи[ех]|прежние)\s+(?:инструкци|указани)/,
      /(?:以前|これまで|前)の(?:指示|命令)/,
      /이전\s?(?:지시|명령|지침)/,
      /(?:पिछले|पिछली)\s(?:निर्देश|अनुदेश)/,
    ]),
  ]),
  instructs(anyOf('指令|指示|说明'), [
    '(?:忽略|无视|忘记)',
    { chars: 10, stops: '。\n' },
    '(?:指令|指示|说明)',
  ]),
  instructs(anyOf('التعليمات|الأوامر'), ['تجاهل', 12, '(?:التعليمات|الأوامر)']),
  instructs(anyOf(' your ', 'creator|developer|admin|owner|maker|programmer|supervisor|boss'), [
    sequence(
      /\b(?:i['’]?m|i am|this is|speaking as) your /,
      /(?:creator|developer|administrator|admin|owner|maker|programmer|supervisor|boss)\b/,
    ),
  ]),
  instructs(anyOfAt(' mode', / mode\b/), [
    String.raw`\b(?:enter|entering|switch to|switch into|activate|engage|initiate|you are in|going into)\b`,
    20,
    sequence(
      /\b/,
      group(
        toWords(`
          admin(?:istrator)? maintenance developer root override diagnostic recovery
          unrestricted god system
        `),
      ),
      /['’"]? mode\b/,
    ),
  ]),
  {
    kind: 'carries secrets out',
    severity: 'flag',
    needs: anyOf(
      'password|secret|api key|passphrase|credentials|pin code|social security|credit card|private key',
    ),
    ...chainOf([
      sequence(
        /\b/,
        group([
          /what(?:['’]s| is| are)/,
          /tell me/,
          /give me/,
          /share/,
          /reveal/,
          /send me/,
          /show me/,
          /disclose/,
          /provide/,
          /spell out/,
          /state/,
          /repeat/,
          /print/,
          /output/,
          /hand over/,
          /confirm/,
        ]),
        /\b/,
      ),
      { chars: 40, stops: '.?\n' },
      sequence(
        /\b(?:your|the user['’]?s?|their|her|his|the|our) (?:\w{1,12} )?/,
        group([
          /passwords?/,
          /secret key/,
          /api key/,
          /passphrase/,
          /credentials/,
          /pin code/,
          /social security number/,
          /credit card number/,
          /private key/,
          /secret/,
        ]),
        /\b(?!\s{0,4}(?:field|manager|reset|policy|parameter|hash))/,
      ),
    ]),
  },
])

/** How far an order goes on either side of what it has. */
export const ORDER_REACH = Math.max(PATTERNS.reach, INJECTION_REACH)

function instructs(
  needs: PatternNeeds,
  parts: readonly (string | number | GapRule | Link)[],
): Pattern {
  return { kind: 'instructs the model', severity: 'flag', needs, ...chainOf(parts) }
}

function at(source: string, mayStart: Link['mayStart'] & {}): Link {
  return { words: new RegExp(source, 'gu'), mayStart }
}

/** Whether a sentence begins at `start`: behind one of `signs` and any white space, at the beginning
 * of the text, or behind words that introduce it. */
function begins(text: string, start: number, signs: string, introduces?: RegExp): boolean {
  let before = start
  while (before > 0 && SPACE.test(text.charAt(before - 1))) {
    before--
    if (text.charAt(before) === '\n') return true
  }
  if (before === 0) return true
  // A sign needs no space behind it; a word does.
  if (signs.includes(text.charAt(before - 1))) return true
  return before < start && introduces?.test(text.slice(Math.max(0, before - 12), before)) === true
}

const SPACE = /\s/

/** Everything suspect in one text of an answer; one finding where it does not fit into the budget. */
export function findInAnswer(text: string, budget: ScanBudget = newScanBudget()): Finding[] {
  const findings = findInjections(text, budget)
  if (findings.length > 0 || text.length < SHORTEST_CHARS) return findings
  return PATTERNS.match(text, budget).map((one) => ({
    ...one,
    text: one.text.slice(0, SHOWN_CHARS_MAX),
  }))
}

const SHOWN_CHARS_MAX = 200

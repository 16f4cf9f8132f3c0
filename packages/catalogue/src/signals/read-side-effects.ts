// Side effects that a description tells in passing: "and merges them", "Alerts are cleared once they have
// been read", "invalidating the previous one". No weight belongs to them: a Read that has one is unknown.
// Pure; called by classify for what would be a known Read. The patterns have no nested repetition.

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { alternatives, group, sequence } from '@sluice/policy/readers/join-patterns'
import { toWordSet, toWords } from '@sluice/policy/structures/word-set'
import { isObject, type JsonValue } from '@sluice/policy/values/json'
import { classOf, FAMILY_NAMES, otherVerbsOf, verbAt } from './lexicon.ts'
import { SCHEMA_PROPERTIES_MAX, SIDE_EFFECT_CHARS_MAX } from './limits.ts'
import { memoFeature } from './memo-feature.ts'
import { OTHER_LETTER } from './other-languages.ts'

/** Whether title or description tell of an effect beside the answer. */
export function hasSideEffect({ title, description, inputSchema }: ToolDefinition): boolean {
  return tellsEffect(description) || tellsEffect(title) || argumentsTellEffect(inputSchema)
}

function argumentsTellEffect(schema: JsonValue | undefined): boolean {
  if (!isObject(schema) || !isObject(schema.properties)) return false
  let left = SCHEMA_PROPERTIES_MAX
  for (const name in schema.properties) {
    if (left-- <= 0) return false
    const property = schema.properties[name]
    if (!isObject(property) || typeof property.description !== 'string') continue
    if (ARGUMENT_EFFECT.test(property.description)) return true
  }
  return false
}

function tellsEffect(text: unknown): boolean {
  if (typeof text !== 'string' || text === '') return false
  const looked = text.length > SIDE_EFFECT_CHARS_MAX ? text.slice(0, SIDE_EFFECT_CHARS_MAX) : text
  if (OTHER_LETTER.test(looked.slice(0, HEAD_CHARS))) return OTHER_SCRIPT_EFFECT.test(looked)
  return HEAD.test(looked) || joinsAnAct(looked) || isDoneToIt(looked) || EFFECT.test(looked)
}

/** `If set, changes the volume`, `Whether to mark them as read`, `Renames the label if given`. */
const ARGUMENT_EFFECT = new RegExp(
  sequence(
    /^/,
    group([
      sequence(
        /(?:if|when) (?:given|set|provided|true|present|specified),? (?:(?:also|it|this|then) )?/,
        group(
          toWords(`
            delete remove replace rename reassign change update create mark send move overwrite
            set close archive restart clear post write
          `),
        ),
        /s?\b/,
      ),
      sequence(
        /(?:whether to|also|automatically|set to true to|true to) (?:also )?/,
        group(
          toWords(`
            delete mark create send replace rename overwrite archive restart clear post move
            assign publish acknowledge purge
          `),
        ),
        /\b/,
      ),
      /(?:renames|deletes|replaces|overwrites|marks|closes|restarts|archives) (?:the|this|it|all)\b/,
      /new \w+; /,
      /text to append\b/,
    ]),
  ),
  'i',
)

/** Where a text begins: its script is that of the whole. */
const HEAD_CHARS = 12

/** An act that comes before the answer: `Triggers a collection and returns metrics`. */
const HEAD = new RegExp(
  sequence(
    /^/,
    group([
      /triggers?/,
      /injects?/,
      /flies/,
      /moves?/,
      /turns? (?:on|off|the)/,
      /drives?/,
      /starts?/,
      /uses (?:one|an?|\d+) credits?/,
      ...toWords('powers? wakes? consumes? dequeues? drains? pops?'),
      /takes and/,
      /runs? (?:the|all|your) (?:cell|tests?|test suite|job|script|workflow|pipeline)/,
      /reports? an? (?!\w+ (?:of|on|for)\b)\w+/,
    ]),
    /\b/,
  ),
  'i',
)

/** What begins a further clause, and its first two words. */
const CLAUSE = new RegExp(
  sequence(
    /(?:[.;] | ?\(|,? (?:and|then|und|y|et|e|puis) )/,
    /(?:(?:and|then|also|automatically|lo|la|los|las|le|les) |l['’])?([A-Za-zÀ-ÿ]+)/,
    /(?=(?: ([a-zà-ÿ]+))?)/,
  ),
  'g',
)

function joinsAnAct(text: string): boolean {
  // `Scans the network and blocks suspicious hosts`: two verbs of one form, within a sentence.
  const told = THIRD.test(text) ? text.search(/[.;:(\n]/) : 0
  const sentence = told < 0 ? text.length : told
  CLAUSE.lastIndex = 0
  for (let found = CLAUSE.exec(text); found !== null; found = CLAUSE.exec(text)) {
    const form = formOf((found[1] as string).toLowerCase())
    if (form !== 'none' && isAct(form, found[2] ?? '', found.index < sentence)) return true
  }
  return false
}

/** Whether a word of this form is an act, by the word after it. */
function isAct(form: ActForm, next: string, isParallel: boolean): boolean {
  if (OBJECT.test(next)) return form !== 'base' || IT.test(next)
  if (form === 'base' || NO_OBJECT.test(next)) return false
  return form === 'other' || (next !== '' && (form === 'verb' || isParallel))
}

/** A verb of another language; `deletes`; `updates`, which may be a plural; `delete`, which may be advice. */
type ActForm = 'other' | 'verb' | 'plural' | 'base'

/** What makes `updates`, `orders`, `stores` a verb. */
const OBJECT = /^(?:an?|the|this|these|those|your|my|its|their|any|each|every|all|it|them)$/

const THIRD = /^[A-Z]?[a-z]+[^s\W]s /
const IT = /^(?:it|them)$/

/** `Launches none`, `fixes and updates`: no act, or no verb. */
const NO_OBJECT =
  /^(?:none|nothing|nichts|no|nada|rien|and|or|in|of|for|at|by|with|to|on|from|between)$/

/** Said of what it takes, or of how it works. */
const NO_ACTS = toWordSet(`
  accept admit allow handle dispatch truncate separate launch fix expose give request process
  operate require enforce perform apply combine group run skip trim generate
`)

const formOf = memoFeature((word): ActForm | 'none' => {
  if (OTHER_ACTS.has(word)) return 'other'
  if (OTHER_PLURALS.has(word)) return 'plural'
  const verb = verbAt(word)
  if (verb === undefined || NO_ACTS.has(verb.base)) return 'none'
  if (verb.families.some((family) => classOf(family) === 'Read')) return 'none'
  if (verb.form === 'base') return 'base'
  if (verb.form !== 'third') return 'none'
  return verb.nounish ? 'plural' : 'verb'
})

const OTHER_ACTS = new Set(
  FAMILY_NAMES.flatMap((family) => (family === 'look' ? [] : otherVerbsOf(family))),
)
// What is generated is the answer.
for (const word of ['erzeugt', 'generiert', 'genera', 'gera', 'génère']) OTHER_ACTS.delete(word)
const FURTHER_ACTS = toWordSet(`
  leaves mails wakes marque frees advances
  bestätigt storniert verbucht schickt avisa confirma cancela annule confirme
`)
for (const word of FURTHER_ACTS) OTHER_ACTS.add(word)
const OTHER_PLURALS: ReadonlySet<string> = new Set(['files', 'texts', 'hands', 'takes', 'signs'])

/** `Expired keys are purged`: what is done to something. */
const DONE = new RegExp(
  sequence(
    / (?:is|are|gets?|will be)(?: then| also| automatically)? /,
    group([
      ...toWords(`
        marked cleared deleted removed purged destroyed terminated revoked restarted rebooted
        woken posted emailed mailed installed executed charged billed deducted debited
      `),
      /assigned to (?:you|the caller)/,
      /moved (?:to|into)/,
      /answered with/,
      /sent (?:out|to)/,
      ...toWords('archived closed consumed incremented increased renewed'),
      /added to/,
    ]),
    /\b/,
  ),
  'g',
)
/** Characters of the subject before it, at most: a longer one has a clause of its own. */
const SUBJECT_CHARS_MAX = 40

function isDoneToIt(text: string): boolean {
  DONE.lastIndex = 0
  for (let found = DONE.exec(text); found !== null; found = DONE.exec(text)) {
    const before = text.slice(Math.max(0, found.index - SUBJECT_CHARS_MAX), found.index)
    const [, subject] =
      SUBJECT.exec(found.index <= SUBJECT_CHARS_MAX ? `. ${before}` : before) ?? []
    if (subject !== undefined && !CONDITION.test(subject)) return true
  }
  return false
}

const SUBJECT = /(?:[.;,] |\n)([\w' -]{2,40})$/

/** `that`, `if`: what may be so of the things that are read. */
const CONDITION = new RegExp(
  sequence(
    /\b/,
    group(
      toWords(`
        that which who if when whether where once until unless how what since because not no
        never nothing only as were was been
      `),
    ),
    /\b/,
  ),
  'i',
)

const EFFECT = new RegExp(
  alternatives([
    sequence(
      / /,
      group([
        sequence(
          group(
            toWords(`
              invalidating replacing overwriting creating launching provisioning deleting
              removing clearing registering restarting starting consuming giving marking locking
            `),
          ),
          / (?:it|them|one|an?|the|each|any|those)\b(?<=, (?:then |thereby )?\w+ing \w+)/,
        ),
        /by (?:waking|sending|making|launching|restarting|starting|triggering|posting|resetting|evaluating) /,
        /after (?:clicking|submitting|restarting|rescanning)\b/,
        /in[ -]place\b(?<!\b(?:is|are) in.place)/,
        /(?:read|viewed|retrieved|fetched|used|shown) (?:only|just|exactly) once\b/,
        /stops? working\b/,
        /(?:uses?|costs?|consumes?|deducts?) (?:one|an?|\d+) (?:\w+ )?(?:credits?|tokens?)\b/,
        /billed (?:at|to|per)\b/,
        /can be uploaded\b/,
        sequence(
          /it (?<!\b(?:if|when|whether|that|until|once|unless|as|before|after|since) it )/,
          /(?:is|will be|gets) (?:then |automatically )?/,
          /(?:woken|restarted|created|started|registered|deleted|installed)\b/,
        ),
        /(?:lock|lease) on (?:an?|the)\b/,
        /(?:saved|stored|written|committed|posted) (?:as|to|in|next)\b(?<=, (?:\w+ and )?\w+ \w+)/,
        /anyone (?:with|who) (?:has )?(?:the|this) (?:link|url)\b/,
        sequence(
          /(?:wird|werden) [^.\n]{0,30}?/,
          /(?:gelöscht|entfernt|markiert|verschickt|gesendet|gestartet|gebucht|abgebucht|geleert|gesperrt)/,
          /\b/,
        ),
        /(?:est|sont) (?:supprimée?|marquée?|envoyée?|débitée?)s?(?![\wé])/,
        /se (?:borra|elimina|marca|envía|cobra)n?\b/,
        /(?:é|são) (?:excluíd|apagad|marcad|enviad|cobrad)[oa]s?\b/,
      ]),
    ),
    /[$€£]\d[\d.,]* (?:per|a|each)\b/,
  ]),
)

/** The same in Chinese, Japanese, Korean and Russian: a verb behind a joint, or at the end of a sentence. */
const OTHER_SCRIPT_EFFECT = new RegExp(
  alternatives([
    sequence(
      /(?:[并並，。；后後则則时時]|自动|同时)(?:自动|会|将|同时|从[^，。]{1,8}中?|为)?/,
      /(?:删除|移除|清空|清除|清理|创建|新建|注册|激活|标记|重启|启动|停止|支付|付款|下单|购买|分配|指派|发送|更新|保存|写入|归档|关闭|发布|取消|扣除|生成后)/,
      /(?![ぁ-ん])/,
    ),
    /(?:削除|登録|作成|更新|送信|注文|確定|有効化|無効化|再起動|起動|割り当て|公開|保存|支払い?|購入|消去|移動)(?:し|さ|て|を確定し)?(?:れ)?ます/,
    /既読に/,
    /(?:삭제|생성|등록|활성화|표시|재시작|시작|결제|제거|할당|전송|저장|발송|구매|주문|변경|수정)(?:합니다|됩니다|하고)/,
    sequence(
      /(?: и|[.,;])(?: затем)? (?:[А-яЁё]+ ){0,3}?/,
      group(
        toWords(`
          созда[её]т удаля[ею]т активиру отмеча[ею]т перезапуска оплачива назнача отправля
          сохраня очища обновля запуска закрыва публику записыва
        `),
      ),
    ),
  ]),
  'u',
)

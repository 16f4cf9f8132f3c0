// Phrases of a description that count wherever they stand: "cannot be undone", "moves real funds",
// "read-only", a list of operations. Pure; called by read-text. The patterns have no nested
// repetition: the text is the server's.

import type { Category } from '@sluice/policy/core/tools'
import type { EmitSignal } from './signal.ts'
import { worstActOf } from './worst-act.ts'

/** By what is told: the stems of which each match has one (`_` is a space), and the pattern. */
const PHRASES: Readonly<Record<string, readonly [stems: string, pattern: RegExp]>> = {
  'says:gone for good': [
    'undo revers recover restor reopen permanent lost delet remov overwrit eras destroy discard destruct data_loss gone dropped thrown wiped purged come_back',
    /(?:cannot|can['’]?t|can not) be (?:undone|reversed|recovered|restored|reopened)|\birreversibl[ey]|\bpermanent(?:ly)? (?:delet|remov|eras|destroy|drop)\w*|\b(?:delet|remov|eras)\w* [^.\n]{0,40}? permanently|\b(?:will be|is|are|get|gets) (?:lost|deleted|removed|overwritten|erased|destroyed|discarded)\b|\bdiscard(?:s|ing)? all\b|\bunrecoverable|(?<!non-|not |n't be )\bdestructive\b|\bno undo\b|\bdata loss\b|\b(?:is|are) (?:then )?(?:gone|dropped|thrown away|wiped|purged)\b|\berases? (?:the|all|every)\b|\bdo(?:es)? not come back\b/g,
  ],
  'says:replaces the whole': [
    'replac clear overwrit remov delet lost dropped gone discard complete_',
    /\breplac(?:e|es|ing) (?:all(?! (?:matching|occurrences|instances|text))|every|the (?:whole|entire|full|complete)|the account's full|an? (?:whole|entire))\b|\bcompletely replac|\bclears (?:all |any )?existing\b|\ball (?:existing|current|previous) \w+ (?:are|is|will be) (?:overwritten|replaced|removed|deleted)|\bnot (?:in|present in|included|provided|supplied|specified|given|listed in|sent in)\b[^.\n]{0,30}?(?:are|is|will be|get) (?:removed|deleted|lost|dropped|cleared)|\b(?:you leave out|left out|absent|missing from|omitted)\b[^.\n]{0,40}?(?:are|is|will be|get) (?:removed|deleted|lost|dropped|cleared|gone)|\breplaces? the (?:current|existing|previous) [^.\n]{0,30}?entirely|\bdiscards? the (?:whole|entire)|\bcomplete (?:record )?set\b/g,
  ],
  'says:runs now': [
    'running progress ongoing queued',
    /\b(?:running|in[- ]progress|ongoing|queued)\b/g,
  ],
  'says:overwrites': ['overwrit', /\boverwrit(?:e|es|ing|ten)\b/g],
  'says:can be undone': [
    'undo restor unarchiv reopen enabled activated recover unsuspend revert added undelet revers delet kept back made_active opened_again recreated lifts_it',
    /\b(?:can|may) (?:later |then |still )?be (?:undone|restored|unarchived|reopened|re-?enabled|re-?activated|recovered|activated again|unsuspended|reverted|re-?added|undeleted|added (?:back|again))|\breversibl[ey]|\bunless re-?added|\buntil re-?enabled|\bwithout deleting|\bnot deleted\b|\bthemselves are kept|\brecoverable\b|\bto restore (?:it|them)\b|\bbrings? (?:it|them) back\b|\b(?:can|may) (?:later )?be (?:brought back|made active|opened again|recreated|switched back)|\bget (?:it|them) back\b|\bcan restore (?:it|them)\b|\bto (?:revert|undo)\b|\breverses it\b|\blifts it\b/g,
  ],
  'says:costs': [
    'bill charg incur refund_t refund_f cancellation_ cancelation_ hourly credits paid cost fee kostenpfl invoiced escrow refunded debit collect commits you_pay',
    /\bbillable\b|\bbilled resource|\b(?:is|are|be) billed\b|\b(?:will be|may be|is|are|gets?) charged\b|\bincurs? (?:an? )?(?:additional )?(?:costs?|charges?|fees?)\b|\bcharges? (?:your|the|a|apply)\b(?! (?:battery|device|phone|robot|vehicle|car)\b)|\bhourly price\b|\bconsumes? credits\b|\bpaid (?:purchase|order)\b|\bcosts? (?:\$|€|\d|credits|gas)|\bfees? (?:is|are|apply|applies|may apply)\b|\bkostenpflichtig|\binvoiced (?:monthly|by|to)\b|\bescrow\b|\b(?:is|are|be) (?:paid (?:back|by|out)|refunded)\b|\bdirect debit\b|\bcollects? the\b[^.\n]{0,20}?(?:premium|fee|payment|deposit)|\bcommits (?:the budget|you to)\b|\bcharges appear\b|\byou pay\b|\bor be charged\b|\b(?:refund|cancell?ation) (?:terms|fees?)\b/g,
  ],
  'says:moves no money': [
    'keeping journal money charg not_move not_transfer not_debit testnet devnet paper simulat draft record order_is never_places',
    /\bbook-?keeping\b|\bjournal entr|\bno (?:real )?money\b|\b(?:does|do) not (?:charge|move|transfer|debit)|\btestnet\b|\bdevnet\b|\bpaper[- ]trad|\bsimulated\b|(?<!from )\b(?:an?|the|as|new|in|its|existing|invoice|order|purchase|offer) drafts?\b|\bno charge\b|\bonly (?:works )?(?:on|for) drafts?\b|\bno order is placed\b|\bnever places an order\b|\bwithout charging\b|\brecord(?:s)? (?:of |that )?an? (?:(?:customer|vendor|supplier|order|bill|manual|received) )?(?:expense|payment|settlement)/g,
  ],
  'says:saves it': [
    'sav writ render download stor export dump ~/ local',
    /\b(?:sav(?:e|es|ed|ing)|writ(?:e|es|ten)|render(?:s|ed)?|download(?:s|ed)?|stor(?:e|es|ed)|export(?:s|ed)?|dump(?:s|ed)?) [^.\n]{0,40}?(?:to|on|in|into|as) (?:an? |the |your )?(?:local |given |specified |output |temp |temporary |downloads? |video |audio |csv |pdf |json |xlsx |zip )?(?:disk|files?(?:system)?|folder|director(?:y|ies)|machine|project|path)\b|\bstores? (?:it|them) in\b|\bstored in the local\b|\bto ~\/|\bsaved? locally\b|\bpath (?:it was|it is|where it is|they were) saved\b|\bfile path where\b|\bto (?:your|the) local (?:project|machine|disk|file)/g,
  ],
  'says:access is lost': [
    'access revok no_longer away',
    /\blos(?:e|es|ing) (?:the |all |their )?access|\brevok(?:e|es|ed|ing)\b|\baccess (?:is|will be) (?:removed|lost|revoked)|\bno longer (?:have|has|be able)|\btak(?:es?|ing) away\b/g,
  ],
  'says:money moves': [
    'real_ fund money spend place placing complete_a complete_t complete_y completes_ finali proceed',
    /\breal (?:funds|money|trades?|orders?)\b|\bmoves? (?:real )?(?:funds|money)|\blocks? funds|\bcosts? (?:real )?money|\bspend (?:your|money)|\bcapture funds|(?<!never |not |n't |without )\bplac(?:e|es|ing) (?:an?|the|your|this) (?:[\w'’-]+ ){0,3}?orders?\b(?! (?:of|in)\b)|\b(?:completes?|finali[sz]es?) (?:an?|the|your) (?:purchase|checkout|payment|booking)\b|\bproceeds? to checkout\b/g,
  ],
  'says:restores over': [
    'restor',
    /\brestor(?:e|es|ing) [^.\n]{0,40}?(?:from|to) (?:an? |the )?(?:backup|snapshot|previous|earlier|point)/g,
  ],
  'says:trades': [
    'stop profit order position trad short_sale option_contract sell- -sell automatically_b automatically_s auto-b auto-s auto_b auto_s',
    /\bstop[- ]?loss|\btake[- ]?profit|\b(?:pending|limit|stop|market|open|gtt|triggered) orders?\b|\bopen positions?\b|\btrades?\b|\btrading\b|\bshort sale|\boption contract|\b(?:long|short) positions?\b|\bsell-(?:on|when|at|side)\b|-sell\b|\bauto(?:matically)?[- ](?:buy|sell)s?\b/g,
  ],
  'says:forgets a login': [
    'clear forget wip eras cookie credential ed_token ed_session the_session',
    /\b(?:clear|delet|remov|forget|eras|wip)(?:e|es|s|ing|ed)?\b[^.\n]{0,30}?\b(?:session|cookies?|(?:cached|stored|saved) tokens?|credentials?)\b/g,
  ],
  'says:sets a price': [
    'price pricing цен 价 価格 가격',
    /\b(?:sets?|chang(?:e|es)|updat(?:e|es)|adjusts?|rais(?:e|es)|lowers?|upload(?:s)?|submits?) (?:the |an? |its |new |your )?(?:[\w-]+ ){0,3}?(?:prices?|pricing)\b(?! (?:list|alert|rule|range|plan|table|schedule|history))|(?:зада[её]т|меняет|изменяет|обновляет|устанавливает) (?:новую |новые )?цен|(?:修改|更新|设置|調整|调整)[^。\n]{0,6}?价|価格を(?:変更|更新|設定)|가격[을를]? ?(?:변경|수정|설정)/g,
  ],
  'says:payment link': ['payment_link', /\bpayment links?\b/g],
  'says:acts on it': [
    'marked stored_in saved_ deleted destroyed logged_ expires created_if sent_to upload moves_ holds_ keeps_ locks_ reserves_ assigns_ starting_ creating_ adding_ by_running by_executing by_restarting by_reconnecting',
    /(?:^|[.;] |\n)(?:the |its |all |each )?[\w -]{2,30}? (?:is|are|will be|gets) (?:then |also |automatically )?(?:marked|stored in|saved (?:to|in)|deleted|destroyed|logged (?:to|in)|sent to|created if)\b|; the old \w+ expires\b|\band (?:then )?(?:moves|holds|keeps|locks|reserves|assigns) (?:it|them|what|the|each|those|its|your)\b|, (?:starting|creating|adding) (?:one|it|them|a|an|the)\b|\bby (?:running|executing|restarting) (?:it|them)\b|\bby reconnecting\b|\b(?:pre-?)?signed (?:url|link)s? (?:for|to) (?:an? |the )?(?:file )?upload|\bupload (?:url|link)\b/g,
  ],
  'says:puts it up for sale': ['for_sale', /\b(?:list|put)s? [^.\n]{1,60}? for sale\b/g],
  'says:to the trash': ['trash bin', /\bto (?:the |mcp )?(?:trash|recycle bin|bin)\b/g],
  'says:from the trash': ['trash bin', /\bfrom (?:the )?(?:trash|recycle bin|bin)\b/g],
  'says:only reads': [
    'read- read_o read_c read_s only_read does_not doesn without no_side informational select_ mutation answers_only modif nothing_is nothing_runs altered rejected lectura lecture leitura nur 専用 只读 唯讀 전용 чтени',
    /(?<!not |n't )\bread[- ]only\b|does(?: not|n['’]t) (?:modify|change|write|alter|execute)|without (?:modifying|changing|executing)|\bno side[- ]effects|\binformational only|\bselect (?:quer(?:y|ies)|statements?)\b|\bread (?:cypher|sql) quer|\bmutations? (?:is|are) (?:refused|rejected|not allowed)|\banswers only\b|\bcannot modify\b|\bnothing is (?:stored|saved|changed|sent|executed)|\bnot (?:altered|modified)\b|\bwithout (?:creating|applying|saving|storing)\b|\b(?:are|is) rejected by the server|\b(?:can|may) only read\b|\bonly reads? (?:data|from)\b|\bnothing runs\b|\b(?:solo lectura|lecture seule|somente leitura|nur[- ]lese)|読み取り専用|只读|唯讀|읽기 전용|только (?:для )?чтени/g,
  ],
  'says:shares it': [
    'upload share anyone public',
    /\b(?:is|are|gets?) [^.\n]{0,20}?uploaded\b|\bshareable\b|\banyone (?:with|who)\b|\bpublicly (?:available|accessible|visible)\b/g,
  ],
  'says:starts over': [
    'scratch initial reinstall factory fresh',
    /\bfrom scratch\b|\binitial state\b|\breinstall(?:s|ing)?\b|\bfactory (?:reset|defaults|settings)\b|\bfresh (?:os|operating system|image)\b/g,
  ],
  'says:makes what is missing': [
    'or_creat',
    /\b(?:gets?|finds?|fetch(?:es)?|retrieves?|returns?) or creat(?:e|es)\b/g,
  ],
  'says:in the answer': [
    'answer response text markdown json',
    /\breturn(?:ed|s)? (?:it )?(?:as|in) (?:plain )?(?:text|markdown|json|the (?:answer|response))|\bin the (?:answer|response)\b/g,
  ],
  'says:sets it going': [
    'live running runs_',
    /\b(?:goes|go|went) live\b|\bstarts? running\b|\bruns (?:at|with) (?:the|auto)/g,
  ],
  'says:signs in by hand': [
    'browser flow sign',
    /\bopens? (?:the|a|your) (?:default )?(?:web )?browser\b|\b(?:oauth|pairing|device[- ]code|login|sign-?in) flow\b|\bsigns? the user in|\bsign(?:s|-)?[ -]?in (?:to|after|with|page)\b|\bsign-in page\b/g,
  ],
  'says:changes data': [
    'modif mutat write_op',
    /\bmodif(?:y|ies) (?:data|existing|the)\b|\bmutat(?:e|es|ion|ions)\b(?! (?:is|are) (?:refused|rejected|not))|\bwrite operations?\b|\bdata modification\b/g,
  ],
  'says:query language': [
    'sql_ cypher sparql gremlin surrealql graphql flux_',
    /\b(?:sql|cypher|sparql|gremlin|surrealql|graphql|flux) (?:quer(?:y|ies)|statements?|commands?|endpoint)\b|\bquer(?:y|ies|ying)\b[^.\n]{0,30}? (?:in|with|using) (?:sql|cypher|sparql|gremlin|surrealql|graphql|flux)\b/g,
  ],
  'says:runs anything': [
    'arbitrary any_ raw_ all_http execut shell',
    /\b(?:arbitrary|any|raw) (?:arbitrary )?(?:shell |bash |python |sql |javascript |console |cli |flink |cypher |graphql |redis )?(?:code|commands?|sql|javascript|queries|script|cypher|spl|g-?code|graphql|nerdgraph)\b|\ball http methods|\bany [\w ]{0,20}api endpoint|\bexecuting [\w ]{1,20}commands|\bshell commands?\b|\bexecut(?:e|es) (?:an? )?(?:sql|code|commands?|javascript|insert)/g,
  ],
}

/** `operations: Help, Create, Update`, `action="delete"`: the acts behind the colon. */
const OFFER =
  /\b(?:operations?|actions?|commands?|modes?|methods?)(?: (?:are|include|supported))?\s?[:=] ?/gi
const ACT =
  /["'`]?([A-Za-z]\w*)["'`]?(?: \([^()]{0,120}\))?(?:\s?[,|/]\s?(?:and |or )?| and | or |$|(?=[.;\n]))/y
const OFFERED_MAX = 24

/** `CRUD of tags`: all four acts, of which one deletes. */
const CRUD = /\bcrud\b/i
/** `Versions: get, publish, remove`: a list of acts at the head of a text. */
const HEADED = /^[\p{L} ]{2,30}: (?=\w+, \w+)/u

export function readPhrases(text: string, at: string, end: number, tell: EmitSignal): void {
  const looked = end < text.length ? text.slice(0, end) : text
  tellPhrases(lower(looked), at, tell)
  readOffered(looked, at, tell)
  const crud = CRUD.exec(looked)
  if (crud !== null)
    tell('acts:Destructive', { at, start: crud.index, end: crud.index + crud[0].length })
}

/** The patterns ask for small letters: ignoring the case costs them half their time. */
function lower(text: string): string {
  const lowered = text.toLowerCase()
  // `İ` becomes two, and places would no longer be those of the text.
  return lowered.length === text.length
    ? lowered
    : text.replace(/[A-Z]/g, (one) => one.toLowerCase())
}

const PHRASE_LIST = Object.entries(PHRASES)
const STEMS = PHRASE_LIST.map(([, [stems]]) =>
  stems.split(' ').map((stem) => stem.replaceAll('_', ' ')),
)
/** For each stem the phrases that it or its beginning is a stem of, a bit each. */
const PHRASES_BY_STEM: ReadonlyMap<string, number> = new Map(
  STEMS.flat().map((stem) => [
    stem,
    STEMS.reduce(
      (bits, stems, index) =>
        stems.some((start) => stem.startsWith(start)) ? bits | (1 << index) : bits,
      0,
    ),
  ]),
)
const STEM = new RegExp(
  [...PHRASES_BY_STEM.keys()].sort((one, other) => other.length - one.length).join('|'),
  'g',
)

/** The phrases that a text may have: most have the stems of two or three. */
function findPhrases(looked: string): number {
  let bits = 0
  STEM.lastIndex = 0
  for (let found = STEM.exec(looked); found !== null; found = STEM.exec(looked)) {
    bits |= PHRASES_BY_STEM.get(found[0]) as number
    // Stems overlap, as in `restored`.
    STEM.lastIndex = found.index + 1
  }
  return bits
}

const CHOICE = /\buse (?:this )?(?:tool )?(?:when|instead|if)\b/
const OF_THIS_ONE: ReadonlySet<string> = new Set(['says:runs anything', 'says:runs now'])

function tellPhrases(looked: string, at: string, tell: EmitSignal): void {
  const bits = findPhrases(looked)
  if (bits === 0) return
  // What follows is about the choice of a tool, and speaks of others.
  const choice = looked.search(CHOICE)
  for (const [index, [feature, [, pattern]]] of PHRASE_LIST.entries()) {
    if ((bits & (1 << index)) === 0) continue
    const end = choice >= 0 && OF_THIS_ONE.has(feature) ? choice : looked.length
    pattern.lastIndex = 0
    for (let found = pattern.exec(looked); found !== null; found = pattern.exec(looked))
      if (found.index < end)
        tell(feature, { at, start: found.index, end: found.index + found[0].length })
  }
}

/** The worst of the acts that a text lists; one alone is no list. */
export function readOffered(text: string, at: string, tell: EmitSignal, feature = 'acts'): void {
  let worst: { category: Category; start: number; end: number } | undefined
  let count = 0
  OFFER.lastIndex = 0
  let offer = OFFER.exec(text) ?? HEADED.exec(text)
  for (; offer !== null; offer = OFFER.exec(text)) {
    ACT.lastIndex = offer.index + offer[0].length
    OFFER.lastIndex = ACT.lastIndex
    for (let seen = 0; seen < OFFERED_MAX; seen++) {
      const from = ACT.lastIndex
      const found = ACT.exec(text)
      if (found === null || found[1] === undefined || found[0] === '') break
      const category = worstActOf(found[1], worst?.category)
      count++
      const start = from + found[0].indexOf(found[1])
      if (category !== undefined) worst = { category, start, end: start + found[1].length }
    }
  }
  if (worst !== undefined && count > 1)
    tell(`${feature}:${worst.category}`, { at, start: worst.start, end: worst.end })
}

// Phrases of a description that count wherever they stand: "cannot be undone", "moves real funds", "read-only". They
// are asked of small letters. None has a nested repetition: the text is the server's.

import {
  alternatives,
  group,
  type PatternPart,
  sequence,
} from '@sluice/policy/readers/join-patterns'
import { toWords } from '@sluice/policy/structures/word-set'

/** What a description may say, in one of several turns of phrase. */
interface PhraseEntry {
  /** Each match has one of these stems, so a text without them is not searched. An underscore is a space. */
  readonly stems: string
  readonly patterns: readonly PatternPart[]
}

/** The turns of phrase, by the name of what they say. The feature is `says:NAME`. */
export const PHRASES = {
  'gone for good': {
    stems: `
      undo revers recover restor reopen permanent lost delet remov overwrit eras destroy
      discard destruct data_loss gone dropped thrown wiped purged come_back
    `,
    patterns: [
      /(?:cannot|can['’]?t|can not) be (?:undone|reversed|recovered|restored|reopened)/,
      /\birreversibl[ey]/,
      /\bpermanent(?:ly)? (?:delet|remov|eras|destroy|drop)\w*/,
      /\b(?:delet|remov|eras)\w* [^.\n]{0,40}? permanently/,
      /\b(?:will be|is|are|get|gets) (?:lost|deleted|removed|overwritten|erased|destroyed|discarded)\b/,
      /\bdiscard(?:s|ing)? all\b/,
      /\bunrecoverable/,
      /(?<!non-|not |n't be )\bdestructive\b/,
      /\bno undo\b/,
      /\bdata loss\b/,
      /\b(?:is|are) (?:then )?(?:gone|dropped|thrown away|wiped|purged)\b/,
      /\berases? (?:the|all|every)\b/,
      /\bdo(?:es)? not come back\b/,
    ],
  },
  'replaces the whole': {
    stems: 'replac clear overwrit remov delet lost dropped gone discard complete_',
    patterns: [
      sequence(
        /\breplac(?:e|es|ing) /,
        group([
          /all(?! (?:matching|occurrences|instances|text))/,
          /every/,
          /the (?:whole|entire|full|complete)/,
          /the account's full/,
          /an? (?:whole|entire)/,
        ]),
        /\b/,
      ),
      /\bcompletely replac/,
      /\bclears (?:all |any )?existing\b/,
      /\ball (?:existing|current|previous) \w+ (?:are|is|will be) (?:overwritten|replaced|removed|deleted)/,
      sequence(
        /\bnot (?:in|present in|included|provided|supplied|specified|given|listed in|sent in)\b/,
        /[^.\n]{0,30}?(?:are|is|will be|get) (?:removed|deleted|lost|dropped|cleared)/,
      ),
      sequence(
        /\b(?:you leave out|left out|absent|missing from|omitted)\b[^.\n]{0,40}?(?:are|is|will be|get) /,
        /(?:removed|deleted|lost|dropped|cleared|gone)/,
      ),
      /\breplaces? the (?:current|existing|previous) [^.\n]{0,30}?entirely/,
      /\bdiscards? the (?:whole|entire)/,
      /\bcomplete (?:record )?set\b/,
    ],
  },
  'runs now': {
    stems: 'running progress ongoing queued',
    patterns: [/\b(?:running|in[- ]progress|ongoing|queued)\b/],
  },
  overwrites: {
    stems: 'overwrit',
    patterns: [/\boverwrit(?:e|es|ing|ten)\b/],
  },
  'can be undone': {
    stems: `
      undo restor unarchiv reopen enabled activated recover unsuspend revert added undelet
      revers delet kept back made_active opened_again recreated lifts_it
    `,
    patterns: [
      sequence(
        /\b(?:can|may) (?:later |then |still )?be /,
        group([
          /undone/,
          /restored/,
          /unarchived/,
          /reopened/,
          /re-?enabled/,
          /re-?activated/,
          /recovered/,
          /activated again/,
          /unsuspended/,
          /reverted/,
          /re-?added/,
          /undeleted/,
          /added (?:back|again)/,
        ]),
      ),
      /\breversibl[ey]/,
      /\bunless re-?added/,
      /\buntil re-?enabled/,
      /\bwithout deleting/,
      /\bnot deleted\b/,
      /\bthemselves are kept/,
      /\brecoverable\b/,
      /\bto restore (?:it|them)\b/,
      /\bbrings? (?:it|them) back\b/,
      /\b(?:can|may) (?:later )?be (?:brought back|made active|opened again|recreated|switched back)/,
      /\bget (?:it|them) back\b/,
      /\bcan restore (?:it|them)\b/,
      /\bto (?:revert|undo)\b/,
      /\breverses it\b/,
      /\blifts it\b/,
    ],
  },
  costs: {
    stems: `
      bill charg incur refund_t refund_f cancellation_ cancelation_ hourly credits paid cost
      fee kostenpfl invoiced escrow refunded debit collect commits you_pay
    `,
    patterns: [
      /\bbillable\b/,
      /\bbilled resource/,
      /\b(?:is|are|be) billed\b/,
      /\b(?:will be|may be|is|are|gets?) charged\b/,
      /\bincurs? (?:an? )?(?:additional )?(?:costs?|charges?|fees?)\b/,
      /\bcharges? (?:your|the|a|apply)\b(?! (?:battery|device|phone|robot|vehicle|car)\b)/,
      /\bhourly price\b/,
      /\bconsumes? credits\b/,
      /\bpaid (?:purchase|order)\b/,
      /\bcosts? (?:\$|€|\d|credits|gas)/,
      /\bfees? (?:is|are|apply|applies|may apply)\b/,
      /\bkostenpflichtig/,
      /\binvoiced (?:monthly|by|to)\b/,
      /\bescrow\b/,
      /\b(?:is|are|be) (?:paid (?:back|by|out)|refunded)\b/,
      /\bdirect debit\b/,
      /\bcollects? the\b[^.\n]{0,20}?(?:premium|fee|payment|deposit)/,
      /\bcommits (?:the budget|you to)\b/,
      /\bcharges appear\b/,
      /\byou pay\b/,
      /\bor be charged\b/,
      /\b(?:refund|cancell?ation) (?:terms|fees?)\b/,
    ],
  },
  'moves no money': {
    stems: `
      keeping journal money charg not_move not_transfer not_debit testnet devnet paper simulat
      draft record order_is never_places
    `,
    patterns: [
      /\bbook-?keeping\b/,
      /\bjournal entr/,
      /\bno (?:real )?money\b/,
      /\b(?:does|do) not (?:charge|move|transfer|debit)/,
      /\btestnet\b/,
      /\bdevnet\b/,
      /\bpaper[- ]trad/,
      /\bsimulated\b/,
      /(?<!from )\b(?:an?|the|as|new|in|its|existing|invoice|order|purchase|offer) drafts?\b/,
      /\bno charge\b/,
      /\bonly (?:works )?(?:on|for) drafts?\b/,
      /\bno order is placed\b/,
      /\bnever places an order\b/,
      /\bwithout charging\b/,
      /\brecord(?:s)? (?:of |that )?an? (?:(?:customer|vendor|supplier|order|bill|manual|received) )?(?:expense|payment|settlement)/,
    ],
  },
  'saves it': {
    stems: 'sav writ render download stor export dump ~/ local',
    patterns: [
      sequence(
        /\b/,
        /(?:sav(?:e|es|ed|ing)|writ(?:e|es|ten)|render(?:s|ed)?|download(?:s|ed)?|stor(?:e|es|ed)|export(?:s|ed)?|dump(?:s|ed)?)/,
        / [^.\n]{0,40}?(?:to|on|in|into|as) (?:an? |the |your )?/,
        /(?:local |given |specified |output |temp |temporary |downloads? |video |audio |csv |pdf |json |xlsx |zip )?/,
        /(?:disk|files?(?:system)?|folder|director(?:y|ies)|machine|project|path)\b/,
      ),
      /\bstores? (?:it|them) in\b/,
      /\bstored in the local\b/,
      /\bto ~\//,
      /\bsaved? locally\b/,
      /\bpath (?:it was|it is|where it is|they were) saved\b/,
      /\bfile path where\b/,
      /\bto (?:your|the) local (?:project|machine|disk|file)/,
    ],
  },
  'access is lost': {
    stems: 'access revok no_longer away',
    patterns: [
      /\blos(?:e|es|ing) (?:the |all |their )?access/,
      /\brevok(?:e|es|ed|ing)\b/,
      /\baccess (?:is|will be) (?:removed|lost|revoked)/,
      /\bno longer (?:have|has|be able)/,
      /\btak(?:es?|ing) away\b/,
    ],
  },
  'money moves': {
    stems: `
      real_ fund money spend place placing complete_a complete_t complete_y completes_ finali
      proceed
    `,
    patterns: [
      /\breal (?:funds|money|trades?|orders?)\b/,
      /\bmoves? (?:real )?(?:funds|money)/,
      /\blocks? funds/,
      /\bcosts? (?:real )?money/,
      /\bspend (?:your|money)/,
      /\bcapture funds/,
      /(?<!never |not |n't |without )\bplac(?:e|es|ing) (?:an?|the|your|this) (?:[\w'’-]+ ){0,3}?orders?\b(?! (?:of|in)\b)/,
      /\b(?:completes?|finali[sz]es?) (?:an?|the|your) (?:purchase|checkout|payment|booking)\b/,
      /\bproceeds? to checkout\b/,
    ],
  },
  'restores over': {
    stems: 'restor',
    patterns: [
      /\brestor(?:e|es|ing) [^.\n]{0,40}?(?:from|to) (?:an? |the )?(?:backup|snapshot|previous|earlier|point)/,
    ],
  },
  trades: {
    stems: `
      stop profit order position trad short_sale option_contract sell- -sell automatically_b
      automatically_s auto-b auto-s auto_b auto_s
    `,
    patterns: [
      /\bstop[- ]?loss/,
      /\btake[- ]?profit/,
      /\b(?:pending|limit|stop|market|open|gtt|triggered) orders?\b/,
      /\bopen positions?\b/,
      /\btrades?\b/,
      /\btrading\b/,
      /\bshort sale/,
      /\boption contract/,
      /\b(?:long|short) positions?\b/,
      /\bsell-(?:on|when|at|side)\b/,
      /-sell\b/,
      /\bauto(?:matically)?[- ](?:buy|sell)s?\b/,
    ],
  },
  'forgets a login': {
    stems: 'clear forget wip eras cookie credential ed_token ed_session the_session',
    patterns: [
      sequence(
        /\b(?:clear|delet|remov|forget|eras|wip)(?:e|es|s|ing|ed)?\b[^.\n]{0,30}?\b/,
        /(?:session|cookies?|(?:cached|stored|saved) tokens?|credentials?)\b/,
      ),
    ],
  },
  'sets a price': {
    stems: 'price pricing цен 价 価格 가격',
    patterns: [
      sequence(
        /\b(?:sets?|chang(?:e|es)|updat(?:e|es)|adjusts?|rais(?:e|es)|lowers?|upload(?:s)?|submits?) /,
        /(?:the |an? |its |new |your )?/,
        String.raw`(?:[\w-]+ ){0,3}?(?:prices?|pricing)\b`,
        /(?! (?:list|alert|rule|range|plan|table|schedule|history))/,
      ),
      /(?:зада[её]т|меняет|изменяет|обновляет|устанавливает) (?:новую |новые )?цен/,
      /(?:修改|更新|设置|調整|调整)[^。\n]{0,6}?价/,
      /価格を(?:変更|更新|設定)/,
      /가격[을를]? ?(?:변경|수정|설정)/,
    ],
  },
  'payment link': {
    stems: 'payment_link',
    patterns: [/\bpayment links?\b/],
  },
  'acts on it': {
    stems: `
      marked stored_in saved_ deleted destroyed logged_ expires created_if sent_to upload
      moves_ holds_ keeps_ locks_ reserves_ assigns_ starting_ creating_ adding_ by_running
      by_executing by_restarting by_reconnecting
    `,
    patterns: [
      sequence(
        /(?:^|[.;] |\n)(?:the |its |all |each )?[\w -]{2,30}? (?:is|are|will be|gets) /,
        /(?:then |also |automatically )?/,
        /(?:marked|stored in|saved (?:to|in)|deleted|destroyed|logged (?:to|in)|sent to|created if)\b/,
      ),
      /; the old \w+ expires\b/,
      /\band (?:then )?(?:moves|holds|keeps|locks|reserves|assigns) (?:it|them|what|the|each|those|its|your)\b/,
      /, (?:starting|creating|adding) (?:one|it|them|a|an|the)\b/,
      /\bby (?:running|executing|restarting) (?:it|them)\b/,
      /\bby reconnecting\b/,
      /\b(?:pre-?)?signed (?:url|link)s? (?:for|to) (?:an? |the )?(?:file )?upload/,
      /\bupload (?:url|link)\b/,
    ],
  },
  'puts it up for sale': {
    stems: 'for_sale',
    patterns: [/\b(?:list|put)s? [^.\n]{1,60}? for sale\b/],
  },
  'to the trash': {
    stems: 'trash bin',
    patterns: [/\bto (?:the |mcp )?(?:trash|recycle bin|bin)\b/],
  },
  'from the trash': {
    stems: 'trash bin',
    patterns: [/\bfrom (?:the )?(?:trash|recycle bin|bin)\b/],
  },
  'only reads': {
    stems: `
      read- read_o read_c read_s only_read does_not doesn without no_side informational
      select_ mutation answers_only modif nothing_is nothing_runs altered rejected lectura
      lecture leitura nur 専用 只读 唯讀 전용 чтени
    `,
    patterns: [
      /(?<!not |n't )\bread[- ]only\b/,
      /does(?: not|n['’]t) (?:modify|change|write|alter|execute)/,
      /without (?:modifying|changing|executing)/,
      /\bno side[- ]effects/,
      /\binformational only/,
      /\bselect (?:quer(?:y|ies)|statements?)\b/,
      /\bread (?:cypher|sql) quer/,
      /\bmutations? (?:is|are) (?:refused|rejected|not allowed)/,
      /\banswers only\b/,
      /\bcannot modify\b/,
      /\bnothing is (?:stored|saved|changed|sent|executed)/,
      /\bnot (?:altered|modified)\b/,
      /\bwithout (?:creating|applying|saving|storing)\b/,
      /\b(?:are|is) rejected by the server/,
      /\b(?:can|may) only read\b/,
      /\bonly reads? (?:data|from)\b/,
      /\bnothing runs\b/,
      /\b(?:solo lectura|lecture seule|somente leitura|nur[- ]lese)/,
      /読み取り専用/,
      /只读/,
      /唯讀/,
      /읽기 전용/,
      /только (?:для )?чтени/,
    ],
  },
  'shares it': {
    stems: 'upload share anyone public',
    patterns: [
      /\b(?:is|are|gets?) [^.\n]{0,20}?uploaded\b/,
      /\bshareable\b/,
      /\banyone (?:with|who)\b/,
      /\bpublicly (?:available|accessible|visible)\b/,
    ],
  },
  'starts over': {
    stems: 'scratch initial reinstall factory fresh',
    patterns: [
      /\bfrom scratch\b/,
      /\binitial state\b/,
      /\breinstall(?:s|ing)?\b/,
      /\bfactory (?:reset|defaults|settings)\b/,
      /\bfresh (?:os|operating system|image)\b/,
    ],
  },
  'makes what is missing': {
    stems: 'or_creat',
    patterns: [/\b(?:gets?|finds?|fetch(?:es)?|retrieves?|returns?) or creat(?:e|es)\b/],
  },
  'in the answer': {
    stems: 'answer response text markdown json',
    patterns: [
      /\breturn(?:ed|s)? (?:it )?(?:as|in) (?:plain )?(?:text|markdown|json|the (?:answer|response))/,
      /\bin the (?:answer|response)\b/,
    ],
  },
  'sets it going': {
    stems: 'live running runs_',
    patterns: [
      /\b(?:goes|go|went) live\b/,
      /\bstarts? running\b/,
      /\bruns (?:at|with) (?:the|auto)/,
    ],
  },
  'signs in by hand': {
    stems: 'browser flow sign',
    patterns: [
      /\bopens? (?:the|a|your) (?:default )?(?:web )?browser\b/,
      /\b(?:oauth|pairing|device[- ]code|login|sign-?in) flow\b/,
      /\bsigns? the user in/,
      /\bsign(?:s|-)?[ -]?in (?:to|after|with|page)\b/,
      /\bsign-in page\b/,
    ],
  },
  'changes data': {
    stems: 'modif mutat write_op',
    patterns: [
      /\bmodif(?:y|ies) (?:data|existing|the)\b/,
      /\bmutat(?:e|es|ion|ions)\b(?! (?:is|are) (?:refused|rejected|not))/,
      /\bwrite operations?\b/,
      /\bdata modification\b/,
    ],
  },
  'query language': {
    stems: 'sql_ cypher sparql gremlin surrealql graphql flux_',
    patterns: [
      /\b(?:sql|cypher|sparql|gremlin|surrealql|graphql|flux) (?:quer(?:y|ies)|statements?|commands?|endpoint)\b/,
      /\bquer(?:y|ies|ying)\b[^.\n]{0,30}? (?:in|with|using) (?:sql|cypher|sparql|gremlin|surrealql|graphql|flux)\b/,
    ],
  },
  'runs anything': {
    stems: 'arbitrary any_ raw_ all_http execut shell',
    patterns: [
      sequence(
        /\b(?:arbitrary|any|raw) (?:arbitrary )?/,
        /(?:shell |bash |python |sql |javascript |console |cli |flink |cypher |graphql |redis )?/,
        /(?:code|commands?|sql|javascript|queries|script|cypher|spl|g-?code|graphql|nerdgraph)\b/,
      ),
      /\ball http methods/,
      /\bany [\w ]{0,20}api endpoint/,
      /\bexecuting [\w ]{1,20}commands/,
      /\bshell commands?\b/,
      /\bexecut(?:e|es) (?:an? )?(?:sql|code|commands?|javascript|insert)/,
    ],
  },
} as const satisfies Readonly<Record<string, PhraseEntry>>

/** What a description may say, by the name of it. */
export type Phrase = keyof typeof PHRASES

/** A phrase as it is searched for. */
export interface PhrasePattern {
  readonly phrase: Phrase
  readonly stems: readonly string[]
  /** Global. */
  readonly pattern: RegExp
}

export const PHRASE_PATTERNS: readonly PhrasePattern[] = (Object.keys(PHRASES) as Phrase[]).map(
  (phrase) => {
    const { stems, patterns } = PHRASES[phrase]
    return {
      phrase,
      stems: toWords(stems).map((stem) => stem.replaceAll('_', ' ')),
      pattern: new RegExp(alternatives(patterns), 'g'),
    }
  },
)

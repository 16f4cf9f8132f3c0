// The verbs a tool is judged by, in families, each with the class it speaks for by itself. English as
// tools are named; other languages are in other-languages.ts, nouns in nouns.ts. What a family and a
// verb weigh is learnt (weights.json).

import type { Category } from '@sluice/policy/core/tools'
import { toWordSet } from '@sluice/policy/core/word-set'
import { OTHER_VERBS } from './other-languages.ts'

/** A family of verbs: the class it speaks for by itself. */
const FAMILIES = {
  look: [
    'Read',
    `get list read search find fetch query show describe count check view lookup look retrieve browse
    inspect discover identify enumerate examine explore peek poll ping monitor watch observe detect
    locate see return obtain access scan crawl scrape extract load tell whoami know learn lists
    recall trace tail receive track poll peek consume preview ask answer help select match introspect dump research investigate determine
    gather reveal report resolve download log decompile disassemble paginate surface reads grep probe sample
    whois nslookup filter quote cite glance`,
  ],
  judge: [
    'Read',
    `analyze analyse validate verify compare summarize summarise explain diff audit lint estimate
    calculate compute evaluate assess predict forecast recommend suggest rank score classify simulate
    measure benchmark parse decode encode hash tokenize translate transcribe geocode debug diagnose
    review plan think reason interpret enrich rerank moderate embed vectorize ocr caption triangulate infer rate assert expect convert aggregate profile optimize test wait rephrase paraphrase proofread
    decrypt derive normalize correlate solve deduplicate outline brainstorm critique
    multiply divide subtract intersect concatenate minify quantize guess weigh depict symbolicate pinpoint uncover
    triage`,
  ],
  render: [
    'Read',
    `display preview visualize visualise render screenshot snapshot capture format guide provide print
    chart plot highlight draw`,
  ],
  make: [
    'Write',
    `create add insert register make append prepend upsert provision allocate compose draft author
    introduce open mint reserve duplicate fork initialize init setup bootstrap scaffold enroll
    populate plant seed book block relist construct instantiate establish raise declare admit
    assemble fabricate ensure
    forge materialize onboard appoint nominate recruit`,
  ],
  change: [
    'Write',
    `update edit set modify change put patch write rename move configure adjust alter enable disable
    toggle reorder sort arrange resize transform rewrite amend extend increment decrement switch
    customize fill format convert fix refactor align group ungroup swap replace override apply assign
    merge unmerge sync upgrade downgrade rotate transition annotate freeze unfreeze lock unlock hide
    unhide mute unmute activate deactivate promote demote define specify place rearrange tune prioritize
    reprioritize categorize recategorize unset correct revise improve localize expand increase reduce
    decrease scope stage unstage enhance refine reword reformat transfer rebase cherry overwrite protect
    unprotect block unblock ignore unignore flag unflag renew suspend unsuspend migrate fold split
    relabel reassign recolor crop trim repair revalidate renumber redact mask grade reopen remap style restyle
    color paint flip mirror reposition relocate retitle flatten wrap unwrap indent sanitize anonymize encrypt
    quarantine isolate throttle redirect reroute squash opt pad nudge bump
    adapt adopt amplify animate
    blend bypass clamp collapse combine compact consolidate curate cut dedupe declutter demote denormalize deselect
    distribute elevate enforce enlarge equalize exempt fuse harden impose inline invert lower magnify maximize minimize
    mix modulate neutralize obfuscate offset offload partition paste preempt propagate rebalance reclassify rectify
    reinstate remediate remix replenish replicate reprice reshape reshuffle restock restrict retag retarget retract
    reverse revive secure separate sharpen shift shrink shuffle silence simplify slice slide smooth splice stamp
    stitch stretch strengthen suppress synchronize synchronise tighten transcode transpose unify whitelist allowlist
    denylist blocklist withhold supersede integrate impersonate expose optimize optimise enrich`,
  ],
  send: [
    'Write',
    `send post reply comment respond notify broadcast publish submit email message forward tweet
    announce react vote request invite share upload contest deliver push commit propose emit remind escalate contact produce enqueue cast upvote
    downvote repost retweet transmit relay
    warn inform endorse advertise apologize solicit give rate`,
  ],
  link: [
    'Write',
    `link unlink attach detach associate disassociate tag untag label unlabel star unstar pin unpin
    follow unfollow like unlike subscribe unsubscribe join leave bookmark bind unbind assign unassign
    mark unmark favorite unfavorite connect disconnect map grant authorize allow deny authenticate login
    logout pair mount unmount reconnect affiliate relate exchange`,
  ],
  settle: [
    'Write',
    `archive unarchive close reopen complete uncomplete resolve approve reject accept decline dismiss unresolve
    finish finalize confirm trash untrash restore undelete unpublish schedule reschedule snooze
    abandon acknowledge ack claim capture handoff mark end cancel undo redo revert retire withdraw
    conclude
    defer postpone refuse veto graduate reconcile shelve expedite uphold`,
  ],
  keep: [
    'Write',
    `export backup save download copy clone store remember record import cache stash checkout pull
    pack archive snapshot persist memorize collect ingest index log track load bundle compress zip
    preserve salvage
    collate accumulate unzip learn`,
  ],
  run: [
    'Execute',
    `run exec execute eval invoke call trigger launch spawn dispatch orchestrate delegate retry rerun
    replay automate prompt chat script shell process train instruct command operate debug
    simulate test evaluate perform kickoff infer fire step continue relaunch respawn
    conduct commence finetune inject
    repeat`,
  ],
  power: [
    'Execute',
    `start stop restart reboot resume pause boot shutdown halt abort cancel suspend wake unpause
    stopall startup poweron poweroff power interrupt signal quit exit cordon uncordon drain activate
    deactivate turn seal unseal recycle unload hibernate
    arm disarm dock undock park ignite extinguish accelerate
    decelerate brake thaw`,
  ],
  deploy: [
    'Execute',
    `deploy redeploy build install compile migrate sync scale rollback release promote rebuild upgrade
    autoscale reload refresh warm package failover rollout redrive
    dockerize serve sideload reinstall`,
  ],
  drive: [
    'Execute',
    `click type navigate press scroll hover drag drop tap swipe goto go back forward fill focus hold
    keyboard mouse emulate handle interact zoom double select uncheck key resize close switch open
    touch pan gesture input play skip seek mute unmute honk dial ring lock unlock highlight scrub
    unlock dim brighten steer rewind vibrate blink walk climb swim aim attack throw grab grip lift tilt spin
    equip dig resign extrude aspirate dispense shoot jump craft smelt dismount fly takeoff
    dance eat drink sleep
    fish hunt cook bake brew pour ride kneel crouch sneak sprint strafe dive hit strike smash swing toss chase fight
    defend slay tame feed teleport summon despawn pick jog heat cool vacuum mow wash squeeze weld solder drill enter
    hunt kick`,
  ],
  destroy: [
    'Destructive',
    `delete destroy purge drop erase wipe truncate obliterate shred nuke teardown decommission
    deprovision rm del expunge annihilate deregister unregister rmdir undeploy eliminate
    demolish pop dequeue dispose scrap deallocate lpop rpop
    dismantle tear dissolve disband detonate confiscate seize`,
  ],
  remove: [
    'Destructive',
    `remove uninstall evict eject kick ban exclude prune strip release offboard oust disenroll disqualify`,
  ],
  clear: [
    'Destructive',
    `clear flush empty cleanup clean discard reset wipe forget expire zero void`,
  ],
  revoke: [
    'Destructive',
    `revoke rotate reset regenerate invalidate blacklist deauthorize unauthorize rescind`,
  ],
  kill: ['Destructive', `kill terminate`],
  pay: [
    'Financial',
    `pay charge refund transfer withdraw payout bill settle tip donate reimburse fund deposit
    remit disburse repay borrow lend checkout award debit credit invoice renew refill topup cashout
    prepay overpay chargeback airdrop
    compensate finance subsidize spend gift reward zap wire penalize recharge`,
  ],
  trade: [
    'Financial',
    `buy sell purchase trade swap stake unstake bid redeem invest hedge liquidate short long order
    restake bridge supply book rent lease exercise subscribe hire wager undelegate deleverage
    burn acquire procure
    auction gamble snipe leverage vest underwrite foreclose sweep`,
  ],
  manage: [
    'Write',
    `manage control administer handle maintain work operate operations management manager`,
  ],
  generate: ['Write', `generate produce synthesize`],
} as const satisfies Record<string, readonly [Category, string]>

export type Family = keyof typeof FAMILIES
export const FAMILY_NAMES = Object.keys(FAMILIES) as Family[]

export function classOf(family: Family): Category {
  return FAMILIES[family][0]
}

/**
 * Words that are nouns as often as verbs: a verb at the head of a name or sentence, and nowhere
 * else (`log_event` logs, `get_log` and `log_list` do not).
 */
const NOUNISH = toWordSet(`
  order trade swap transfer report log tag label comment backup message post list file share link
  record build release charge note email mail call star copy project schedule snapshot key prompt
  template index import export command script run check view query state test search update claim
  invoice credit fund bid contact request review plan score rate rank group map trace cache
  track profile audit input mouse keyboard power process store stage guide help research format chart
  debit stake deposit purchase payout refund checkout tip bridge short long double text dm fax chat
  pin like react vote branch fork commit merge push pull stash package bundle focus hold pan touch
  answer draft place load match lists access return use new open work control back forward go type
  select set scope signal profile drop cascade trash object reason cancel clone filter release
  follow bookmark favorite benchmark forecast estimate change move count diff screenshot preview
  deploy install stop start end exit quit handle book play lock block print ring seal turn produce exercise
  rent lease reads perform flag mask turn skip supply tweet click fire grade patch sample filter quote cite
  style color paint raise spin attack throw lift step pop dig relay raise bump pad probe glance
  monitor watch scan crawl poll display outline plot dump download measure surface tail capture draw
  highlight debug jump craft fly wager airdrop duplicate auction wire gift reward leverage fish hunt park sleep
  dance drink cook hit strike kick cut mix shift slice slide stamp paste sweep spend brake drill dock arm zap
  ride heat feed swing vest leave mint
`)

interface VerbEntry {
  readonly families: readonly Family[]
  readonly nounish: boolean
  readonly base: string
  /** `base` and `third person` head a clause; a participle or gerund does so only after a hint. */
  readonly form: 'base' | 'third' | 'gerund' | 'participle'
}

const VERBS = new Map<string, VerbEntry>()

for (const family of FAMILY_NAMES)
  for (const base of split(FAMILIES[family][1])) {
    const known = VERBS.get(base)
    const families = known?.form === 'base' ? [...new Set([...known.families, family])] : [family]
    VERBS.set(base, { families, nounish: NOUNISH.has(base), base, form: 'base' })
  }
for (const [base, entry] of [...VERBS]) {
  for (const [form, spelt] of [
    ['third', thirdPerson(base)],
    ['gerund', `${stemOf(base)}ing`],
    ['participle', base.endsWith('e') ? `${base}d` : `${stemOf(base)}ed`],
  ] as const)
    if (!VERBS.has(spelt)) VERBS.set(spelt, { ...entry, form })
}
for (const [spelt, base, form] of [
  ['sent', 'send', 'participle'],
  ['sold', 'sell', 'participle'],
  ['bought', 'buy', 'participle'],
  ['ran', 'run', 'participle'],
  ['paid', 'pay', 'participle'],
] as const) {
  const entry = VERBS.get(base)
  if (entry !== undefined) VERBS.set(spelt, { ...entry, form })
}
for (const [family, list] of Object.entries(OTHER_VERBS))
  for (const spelt of split(list))
    if (!VERBS.has(spelt))
      VERBS.set(spelt, { families: [family as Family], nounish: false, base: spelt, form: 'base' })

export function verbAt(word: string): VerbEntry | undefined {
  return VERBS.get(word) ?? again(word)
}

/** `rerequest` is to request again. Only acts: `relocate` has nothing of `locate`. */
function again(word: string): VerbEntry | undefined {
  if (word.length < AGAIN_CHARS_MIN) return undefined
  if (word.startsWith('un')) return undone(word)
  if (!word.startsWith('re')) return undefined
  const known = VERBS.get(word.charCodeAt(2) === HYPHEN ? word.slice(3) : word.slice(2))
  const acts = known?.families.every((family) => classOf(family) !== 'Read') ?? false
  if (known === undefined || !acts || (known.form !== 'base' && known.form !== 'third'))
    return undefined
  return { ...known, nounish: false }
}

/** `unreject` takes a `reject` back. */
function undone(word: string): VerbEntry | undefined {
  const known = VERBS.get(word.slice(2))
  const backs = known?.families.every((family) => BACKS.has(family)) ?? false
  if (known?.form !== 'base' || !backs) return undefined
  return { families: ['settle'], nounish: false, base: word, form: 'base' }
}

const BACKS: ReadonlySet<Family> = new Set(['settle', 'link', 'change', 'power', 'keep', 'send'])
const AGAIN_CHARS_MIN = 6
const HYPHEN = 45

function thirdPerson(base: string): string {
  if (/(s|x|z|ch|sh)$/.test(base)) return `${base}es`
  return /[^aeiou]y$/.test(base) ? `${base.slice(0, -1)}ies` : `${base}s`
}

/** What `-ing` and `-ed` are put behind: `creat`, `dropp`, `modifi` is left to `modifying`. */
function stemOf(base: string): string {
  if (base.endsWith('e') && !base.endsWith('ee')) return base.slice(0, -1)
  if (/^[^aeiou]*[aeiou][bdgklmnprt]$/.test(base)) return base + base.slice(-1)
  return base
}

function split(list: string): string[] {
  return list.trim().split(/\s+/)
}

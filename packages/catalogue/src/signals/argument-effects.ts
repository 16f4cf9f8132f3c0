// Arguments by whose name a tool that reads does more than answer: `fix`, `mark_read`, `send_to`. Read-schema asks them.

import { alternatives, group, sequence } from '@sluice/policy/readers/join-patterns'
import { toWords } from '@sluice/policy/structures/word-set'

/** A switch by which a tool that reads does more: `fix`, `save`, `auto_assign`. */
export const SWITCH = new RegExp(
  sequence(
    /^/,
    group([
      /fix/,
      /apply/,
      /apply_?fix(?:es)?/,
      /auto_?(?:fix|assign|dispatch|apply|start|create|merge|deploy|commit)/,
      /persist/,
      /save/,
      /save_?(?:state|file|png|results?|output|to_?\w+)/,
      /write/,
      /commit/,
      /push/,
      /upsert/,
      /delete/,
      /remove/,
      /update/,
      /force_?training/,
      /notify/,
      /submit/,
    ]),
    /$/,
  ),
  'i',
)

/** Arguments by whose name a tool that reads may do more: as a switch, as a text, by a value to choose. */
const EFFECTS = {
  text: new RegExp(
    sequence(
      /^/,
      group([
        /ack_?mode/,
        /append/,
        /tag_?results/,
        /replace_?with/,
        /replacement/,
        /rewrite/,
        /substitute/,
        /callback_?url/,
        /(?:email|send|post|forward|publish)_?to(?:_\w+)?/,
        /click_?selector/,
      ]),
      /$/,
    ),
    'i',
  ),
  switch: new RegExp(
    alternatives([
      sequence(
        /^(?:auto_?)?/,
        group(
          toWords(`
            mark delete create ack acknowledge lock unlock checkout reset renew restart rerun reboot
            retry power publish write kill purge prune empty send post notify email subscribe accept
            approve apply close install deploy upgrade repair migrate activate assign retrain register
            execute buy claim turn set make quarantine shortlist wake rotate drain
          `).map(withEitherCase),
        ),
        /(?![a-z])/,
      ),
      /^clear(?![A-Za-z])/,
      /^complete_all/,
      /^(?:enable|run)$/,
    ]),
  ),
  choice: /^(?:on|if|after|then|do|cmd|ack)(?:_|$)/i,
}

/** How an argument may have an effect: if it is given, if it is set, or by what is chosen. */
export type ArgumentEffect = keyof typeof EFFECTS

const EFFECT_NAMES = Object.keys(EFFECTS) as ArgumentEffect[]

/** How an argument of this name may have an effect; undefined if no such name is known. */
export function effectOf(name: string): ArgumentEffect | undefined {
  return EFFECT_NAMES.find((effect) => EFFECTS[effect].test(name))
}

/** `[Mm]ark`: where a word ends is told by the case of what follows, so the case cannot be ignored. */
function withEitherCase(word: string): string {
  return `[${word.charAt(0).toUpperCase()}${word.charAt(0)}]${word.slice(1)}`
}

// Folds confusable letters into one form: compatibility forms (NFKC), and letters of other scripts
// that look Latin. Two names that fold alike can be mistaken for each other. Pure; used for tool
// names, for texts that give orders, and for the names of people.

export function foldLookAlikes(text: string): string {
  // Normalising sorts marks by insertion: a run of n of them costs n squared. No script has runs of
  // 30.
  const folded = text.replace(PILED_MARKS, '$1').replace(SENTENCES, ' ').normalize('NFKC')
  return OTHER_SCRIPTS.test(folded) ? replaceLookAlikes(folded) : folded
}

/** Replaces look-alikes by a table and in blocks: a function for each letter takes 100 ns. */
function replaceLookAlikes(text: string): string {
  let replaced = ''
  for (let start = 0; start < text.length; start += BLOCK_CHARS) {
    const units = new Uint16Array(Math.min(BLOCK_CHARS, text.length - start))
    for (let at = 0; at < units.length; at++) {
      const unit = text.charCodeAt(start + at)
      units[at] = (unit < REPLACED.length && REPLACED[unit]) || unit
    }
    replaced += Reflect.apply(String.fromCharCode, null, units)
  }
  return replaced
}

const BLOCK_CHARS = 4_096
/** Two ligatures that stand for whole sentences, none of which looks Latin: 18 letters each. */
const SENTENCES = /[\ufdfa\ufdfb]/g

/** What a name can be mistaken for; undefined if it is not a look-alike. */
export function findLookAlike(name: string): string | undefined {
  const plain = foldLookAlikes(name)
  return plain === name ? undefined : plain
}

const PILED_MARKS = /(\p{M}{30})\p{M}+/gu
const OTHER_SCRIPTS = /[\u0131\u0251\u0261\u0269\u0370-\u03ff\u0400-\u052f\u0531-\u0586]/

const LOOK_ALIKES = new Map(
  [
    ...'аaеeоoрpсcуyхxіiјjѕsԁdһhАAВBЕEКKМMНHОOРPСCТTУYХXІIЅSοoαaνvρpΑAΒBΕEΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX',
    ...'кkмmтtнhвbгrпnьbԛqԝwґrӏlӀlЈJԌGԚQԜWоoεeιiκkτtυuχxγyηnσoϲcϳjΖZϹCօoոnսuհhզqցgԱUՏSՕOıiɑaɡgɩi',
  ].reduce<[string, string][]>((pairs, letter, index, all) => {
    if (index % 2 === 0) pairs.push([letter, all[index + 1] ?? letter])
    return pairs
  }, []),
)

/** The plain letter for each UTF-16 code unit; 0 if the unit is not replaced. */
const REPLACED = new Uint16Array(0x587)
for (const [letter, plain] of LOOK_ALIKES) REPLACED[letter.charCodeAt(0)] = plain.charCodeAt(0)

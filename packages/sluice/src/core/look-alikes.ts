// Folds confusable letters into one form: compatibility forms (NFKC), and letters of other scripts
// that look Latin. Two names that fold alike can be mistaken for each other. Pure; used for tool
// names, for texts that give orders, and for the names of people.

export function foldLookAlikes(text: string): string {
  // Normalising sorts marks by insertion: a run of n of them costs n squared. No script has runs of
  // 30.
  const folded = text.replace(PILED_MARKS, '$1').normalize('NFKC')
  return folded.replace(OTHER_SCRIPTS, (letter) => LOOK_ALIKES.get(letter) ?? letter)
}

/** What a name can be mistaken for; undefined if it is not a look-alike. */
export function findLookAlike(name: string): string | undefined {
  const plain = foldLookAlikes(name)
  return plain === name ? undefined : plain
}

const PILED_MARKS = /(\p{M}{30})\p{M}+/gu
const OTHER_SCRIPTS = /[\u0131\u0251\u0261\u0269\u0370-\u03ff\u0400-\u052f\u0531-\u0586]/gu

const LOOK_ALIKES = new Map(
  [
    ...'аaеeоoрpсcуyхxіiјjѕsԁdһhАAВBЕEКKМMНHОOРPСCТTУYХXІIЅSοoαaνvρpΑAΒBΕEΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX',
    ...'кkмmтtнhвbгrпnьbԛqԝwґrӏlӀlЈJԌGԚQԜWоoεeιiκkτtυuχxγyηnσoϲcϳjΖZϹCօoոnսuհhզqցgԱUՏSՕOıiɑaɡgɩi',
  ].reduce<[string, string][]>((pairs, letter, index, all) => {
    if (index % 2 === 0) pairs.push([letter, all[index + 1] ?? letter])
    return pairs
  }, []),
)

// Questions of commands to the person at the terminal. Without a terminal nothing is asked and
// nothing is agreed to but what the command line names.

import { createInterface } from 'node:readline/promises'

export interface QuestionPrompt {
  /** Yes only if the person says so. */
  yes(question: string): Promise<boolean>
  /** `all`: yes to this question and to the others of its kind. */
  yesOrAll(question: string): Promise<'yes' | 'no' | 'all'>
  close(): void
}

/** Undefined if nobody can be asked. */
export function askerFor(json: boolean): QuestionPrompt | undefined {
  if (json || !process.stdin.isTTY || !process.stderr.isTTY) return undefined
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  return {
    yes: async (question) =>
      /^y(?:es)?$/i.test((await lines.question(`${question} [y/N] `)).trim()),
    yesOrAll: async (question) => {
      const answer = (await lines.question(`${question} [y/N/a for all] `)).trim()
      if (/^a(?:ll)?$/i.test(answer)) return 'all'
      return /^y(?:es)?$/i.test(answer) ? 'yes' : 'no'
    },
    close: () => lines.close(),
  }
}

/** Whether the person agrees; nobody does if nobody can be asked. */
export async function confirm(
  question: string,
  { json }: { readonly json: boolean },
): Promise<boolean> {
  const asker = askerFor(json)
  const isAgreed = await asker?.yes(question)
  asker?.close()
  return isAgreed === true
}

// When rules in shadow have been tried for long enough, as a comment at the end of their document says. Pure.

const END = /\n?^# in shadow until (\d{4}-\d\d-\d\d)$\n?/m
const IN_SHADOW = /\bmode["']?\s*:\s*["']?shadow\b/
const DAY_MS = 86_400_000
/** A week has working days and a weekend. */
export const SHADOW_DAYS = 7

/** The day in UTC with which the trial ends; undefined if the document names none. */
export function findShadowEnd(text: string): string | undefined {
  return END.exec(text)?.[1]
}

/** In place of the day that the text names. A document in JSON has no comments. */
export function writeShadowEnd(text: string, nowMs: number): string {
  if (text.trimStart().startsWith('{')) return text
  const day = new Date(nowMs + SHADOW_DAYS * DAY_MS).toISOString().slice(0, 10)
  return `${text.replace(END, '\n').trimEnd()}\n# in shadow until ${day}\n`
}

export function isShadowOver(text: string, nowMs: number): boolean {
  const day = findShadowEnd(text)
  return day !== undefined && nowMs >= Date.parse(day) && IN_SHADOW.test(text)
}

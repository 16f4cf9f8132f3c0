// Metrics in the text format of Prometheus, taken apart, so that an assertion about one metric prints that metric when it
// fails, and not all of them.

/** The values of one metric by its labels, as they are written: `{server="a"}`, or an empty key without labels. */
export function series(text: string, name: string): Readonly<Record<string, number>> {
  const lines = text.split('\n').map((line) => /^(\w+)(\{.*\})? (\S+)$/.exec(line))
  return Object.fromEntries(
    lines
      .filter((line) => line?.[1] === name)
      .map((line) => [line?.[2] ?? '', Number(line?.[3])] as const),
  )
}

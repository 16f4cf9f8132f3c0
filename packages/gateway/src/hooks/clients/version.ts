// Versions of clients, `2.1.295`.

/** False as well if `version` is not known. */
export function isAtLeast(version: string | undefined, wanted: string): boolean {
  const numbers = (text: string) => text.split('.').map(Number)
  const [has, needs] = [numbers(version ?? ''), numbers(wanted)]
  const at = needs.findIndex((number, index) => number !== has[index])
  return at === -1 || (has[at] ?? Number.NaN) > (needs[at] ?? 0)
}

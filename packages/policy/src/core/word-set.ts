// Lists of words in the source, one text with spaces or line breaks between them.

export function toWordSet(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/))
}

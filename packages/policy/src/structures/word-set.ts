// Lists of words in the source, one text with spaces or line breaks between them.

export function toWords(list: string): string[] {
  return list.trim().split(/\s+/)
}

export function toWordSet(list: string): ReadonlySet<string> {
  return new Set(toWords(list))
}

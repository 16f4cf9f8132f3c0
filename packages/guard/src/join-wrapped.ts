// Wrapped lines of a text, joined: a sentence goes on behind a single line break. From one break to the
// next: an expression tried every character. Pure; used by patterns.ts.

/** White space that ends a line, and what may begin the next one. */
const SPACE = 0x20
const TAB = 0x09
const RETURN = 0x0d
const QUOTE = 0x3e
/** A line that begins so is not joined to the line before: it is empty, or part of a list, table, quotation or code. */
const BEGINS_ANEW = /[\s>*•#|{}"<\d-]/
const WHITE = /\s/

/** A single line break inside of a sentence, with the white space around it, becomes one space. */
export function joinWrapped(text: string): string {
  let joined = ''
  let copied = 0
  for (let line = text.indexOf('\n'); line >= 0; line = text.indexOf('\n', line + 1)) {
    let next = line + 1
    while (isIndent(text.charCodeAt(next))) next++
    if (next >= text.length || BEGINS_ANEW.test(text.charAt(next))) continue
    let end = text.charCodeAt(line - 1) === RETURN ? line - 1 : line
    while (end > copied && isBlank(text.charCodeAt(end - 1))) end--
    if (end === 0 || WHITE.test(text.charAt(end - 1))) continue
    joined += `${text.slice(copied, end)} `
    copied = next
  }
  return copied === 0 ? text : joined + text.slice(copied)
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}

function isIndent(code: number): boolean {
  return code === SPACE || code === TAB || code === QUOTE
}

// Numbers with a checksum: payment cards (Luhn, with the issuers' ranges) and IBANs (mod 97, with the
// length of each country). A random number passes the checksum of a card one time in ten, so a card
// also needs its issuer's range and a place where no other number stands. Pure.

import { isIban, isLuhn } from '@sluice/policy/readers/checksums'
import type { SecretContext } from './secret-detectors.ts'

/** Range of leading digits and lengths of each issuer. */
const ISSUERS: readonly { readonly prefix: RegExp; readonly lengths: readonly number[] }[] = [
  { prefix: /^4/, lengths: [16, 13, 19] },
  { prefix: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16] },
  { prefix: /^3[47]/, lengths: [15] },
  { prefix: /^(?:6011|64[4-9]|65)/, lengths: [16, 19] },
  { prefix: /^35(?:2[89]|[3-8])/, lengths: [16] },
  { prefix: /^3(?:0[0-5]|[68])/, lengths: [14] },
  { prefix: /^62/, lengths: [16, 17, 18, 19] },
]

const CARD_WORD =
  /card|karte|visa|master|amex|american express|diners|discover|jcb|unionpay|credit|debit|charge|payment|\bpan\b|\bcc\b/i
/** What stands behind the number of a card. */
const CARD_FIELD = /^.{0,12}(?:cvc|cvv|exp|valid|gültig)/i
/** Numbers for tests have few digits that differ; a random number seldom does. */
const FEW_DIGITS = 4

/** Whether digits, in groups or in one piece, are the number of a card. One random number in fifty passes
 * issuer and checksum: without a word that says so, only groups count that stand alone, as on a card. */
export function isCard(written: string, { before, after }: SecretContext): boolean {
  const digits = written.replace(/\D/g, '')
  const issuer = ISSUERS.find(({ prefix }) => prefix.test(digits))
  if (issuer === undefined || !issuer.lengths.includes(digits.length) || !isLuhn(digits))
    return false
  if (CARD_WORD.test(before) || CARD_FIELD.test(after)) return true
  if (digits.length !== issuer.lengths[0] || digits.length < 15) return false
  if (new Set(digits).size <= FEW_DIGITS) return true
  return digits.length < written.length && !/\d{4}/.test(before) && !/\d{4}/.test(after)
}

/** Digits of a JSON number that may be a card's, also as tables of floats write it: `4111111111111111.0`. */
export function cardDigits(written: string): string | undefined {
  const [, plain] = /^(\d{12,19})(?:\.0{1,9})?$/.exec(written) ?? []
  if (plain !== undefined) return plain
  const [, first = '', rest = '', power] = /^(\d)\.(\d{1,18})[eE]\+?(\d{2})$/.exec(written) ?? []
  const length = Number(power)
  return length >= rest.length && length <= 18 ? first + rest.padEnd(length, '0') : undefined
}

const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28
  EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26
  IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28
  NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25
  SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30`
    .split(/\s+/)
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
)

/** Where the IBAN that begins at `start` ends; undefined if none does. Its groups may be separated. */
export function endOfIban(text: string, start: number): number | undefined {
  const length = IBAN_LENGTHS.get(text.slice(start, start + 2).toUpperCase())
  if (length === undefined) return undefined
  let letters = ''
  let at = start
  while (letters.length < length) {
    const letter = text[at] ?? ''
    if (/[A-Za-z0-9]/.test(letter)) letters += letter
    // Groups of four, and never two separators in a row.
    else if (!/[ -]/.test(letter) || letters.length % 4 !== 0 || text[at - 1] === letter)
      return undefined
    at++
  }
  if (/[A-Za-z0-9]/.test(text[at] ?? '') || /[a-z]/.test(letters.slice(4))) return undefined
  return isIban(letters) ? at : undefined
}

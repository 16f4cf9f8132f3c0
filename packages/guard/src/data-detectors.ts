// Detectors of data about people and money, beside those of secrets: cards and IBANs by checksum, and
// what is only a shape (social security number, e-mail, telephone, `password=`). Each kind has a test that
// settles most texts in one pass. Linear. Pure.

import type { DataKind } from '@sluice/policy/calls/data-kinds'
import { endOfIban, isCard } from './number-checks.ts'
import { isExample } from './secret-checks.ts'
import {
  looksLikeCode,
  SECRET_BEGINNINGS,
  SECRET_DETECTORS,
  type SecretDetector,
} from './secret-detectors.ts'
import { findSeedPhrases, SEED_BEGINNING } from './seed-phrases.ts'

export interface DetectorGroup {
  readonly name: DataKind
  /** What a text without any of them does not match. */
  readonly beginnings: RegExp
  readonly detectors: readonly SecretDetector[]
}

/** Between groups of digits: a blank, a dash or a dot, as typesetters and tables write them too. */
const GAP = String.raw`[ .\xa0\u2007\u2009\u202f\u2010-\u2014\u2212-]`

/** The one list, by the kinds that a policy names. */
const DETECTOR_GROUPS: readonly DetectorGroup[] = [
  { name: 'secret', beginnings: SECRET_BEGINNINGS, detectors: SECRET_DETECTORS },
  group('secret', SEED_BEGINNING, {
    kind: 'seed phrase',
    pattern: SEED_BEGINNING,
    locate: findSeedPhrases,
  }),
  group('card', new RegExp(String.raw`\d{4}${GAP}?\d{4}`), {
    kind: 'card number',
    pattern: new RegExp(
      String.raw`(?<![\w.,-])(?:\d{13,19}|\d{4}(${GAP})\d{4}\1\d{4}\1\d{1,7}|\d{4}(${GAP})\d{6}\2\d{4,5})(?![\w-]|\.(?!0{1,2}(?!\d))\d)`,
      'g',
    ),
    check: (written, _, beside) => isCard(written, beside),
    shown: 4,
  }),
  group('iban', /[A-Za-z]{2}\d{2}[ -]?[A-Z0-9]{4}/, {
    kind: 'IBAN',
    pattern: /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?=[ -]?[A-Z0-9]{4})/g,
    measure: endOfIban,
  }),
  group('ssn', /\d{3}[- ]\d{2}[- ]\d{4}/, {
    kind: 'social security number',
    pattern: /(?<![\w.-])(?!000|666|9)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\w-])/g,
  }),
  group('email', /@/, {
    kind: 'e-mail address',
    pattern: /(?<![\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?![\w-])/gi,
  }),
  group('phone', /\+\(?\d|\d{3}[-. )]/, {
    kind: 'telephone number',
    pattern:
      /(?<![\w+.-])(?:\+\(?[1-9](?:[ ().-]{0,2}\d){7,14}|\(\d{3}\) ?\d{3}[-. ]\d{4}|[2-9]\d{2}([-. ])\d{3}\1\d{4})(?![\w-]|\.\d)/g,
  }),
  group('password', /pass|pwd/i, {
    kind: 'password',
    pattern:
      /(?:passw(?:or)?d|passphrase|passcode|pwd|(?<![A-Za-z])pass)["']?\s{0,4}[:=]\s{0,4}["']?([^\s"',;)}\]&]{4,200})/gi,
    check: (whole, value) =>
      !isExample(value) && (/[:=]\s{0,4}["']/.test(whole) || !looksLikeCode(value)),
    hides: true,
  }),
]

function group(name: DataKind, beginnings: RegExp, detector: SecretDetector): DetectorGroup {
  return { name, beginnings, detectors: [detector] }
}

export function groupsOf(kinds: Iterable<DataKind>): DetectorGroup[] {
  const wanted = new Set(kinds)
  return DETECTOR_GROUPS.filter(({ name }) => wanted.has(name))
}

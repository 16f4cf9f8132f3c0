import { expect, test } from 'vitest'
import { maskText } from '../../packages/access/src/approvals/mask-text.ts'
import { shorten } from '../../packages/gateway/src/shared/log.ts'
import { holdsSecret } from '../../packages/guard/src/inspect-answer.ts'
import { SECRET_DETECTORS } from '../../packages/guard/src/secret-detectors.ts'
import { findSecretShapes } from '../../packages/guard/src/secrets.ts'

/** Letters and digits without order, as issuers make them. */
const random = (length: number) =>
  Array.from({ length }, (_, at) => 'aZ9bY8cX7dW6eV5fU4gT3hS2iR1'[(at * 7) % 27]).join('')
const hex = (length: number) =>
  Array.from({ length }, (_, at) => '0a1b2c3d4e5f6789'[(at * 5) % 16]).join('')
const letters = (length: number) =>
  random(2 * length)
    .replace(/\d/g, '')
    .padEnd(length, 'qZ')
    .slice(0, length)
const upper = (length: number) => letters(length).toUpperCase()
const json = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A sample per kind; each is put together here, so that no file holds a whole one. */
const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  'Sluice token': [`sluice_${hex(64)}`],
  'private key': [`-----BEGIN ${''}PRIVATE KEY-----\n${random(64)}\n-----END PRIVATE KEY-----`],
  // The second of a kind is one that only masks used to find.
  'GitHub token': [`ghp_${random(36)}`, `gho_${random(24)}`, `github_pat_${random(40)}`],
  'npm token': [`npm_${random(36)}`],
  'GitLab token': [`glpat-${random(24)}`, `glpat-${letters(24)}`, `gldt-${random(24)}`],
  'AWS access key': [`AKIA${upper(16)}`, `ASIA${'0189'.repeat(4)}`],
  'Anthropic key': [`sk-ant-api03-${random(80)}`],
  'OpenAI key': [`sk-proj-${random(40)}`, `sk-${letters(30)}`, `sk-${random(250)}`],
  'Stripe key': [`sk_live_${random(24)}`, `rk_test_${letters(17)}`],
  'Stripe webhook secret': [`whsec_${random(32)}`],
  'Slack token': [`xoxb-123456789012-${random(24)}`, `xoxb-${letters(12)}`],
  'Google key': [`AIza${random(35)}`, `AIza${letters(35)}`],
  'Google access token': [`ya29.${random(60)}`],
  'JSON Web Token': [
    `${json({ alg: 'HS256', typ: 'JWT' })}.${json({ sub: 'somebody' })}.${random(43)}`,
    `${json({ kid: 'no algorithm' })}.${json({ sub: 'somebody' })}.${random(12)}`,
  ],
  'Hugging Face token': [`hf_${letters(34)}`],
  'SendGrid key': [`SG.${random(22)}.${random(43)}`],
  'DigitalOcean token': [`dop_v1_${hex(64)}`],
  'Shopify token': [`shpat_${hex(32)}`],
  'Linear key': [`lin_api_${random(40)}`],
  'Notion token': [`ntn_${random(44)}`],
  'Supabase token': [`sbp_${hex(40)}`],
  'PyPI token': [`pypi-AgE${random(60)}`],
  'age key': [`AGE-SECRET-KEY-1${upper(58)}`],
  'Grafana token': [`glsa_${random(32)}_${hex(8)}`],
  'Docker token': [`dckr_pat_${random(27)}`],
  'Figma token': [`figd_${random(40)}`],
  'Twilio key': [`SK${hex(32)}`],
  'Postman key': [`PMAK-${hex(24)}-${hex(34)}`],
  'New Relic key': [`NRAK-${upper(27)}`],
  'Vault token': [`hvs.${random(40)}`],
  'Databricks token': [`dapi${hex(32)}`],
  'Atlassian token': [`ATATT3${random(80)}`],
  'Doppler token': [`dp.pt.${random(43)}`],
  'model provider key': [`gsk_${random(52)}`, `pplx-${random(48)}`, `r8_${random(37)}`],
  'package registry token': [`rubygems_${hex(48)}`, `cio${random(32)}`],
  'Sentry token': [`sntrys_${random(80)}`],
  'Heroku key': [`HRKU-${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`],
  'Mailgun key': [`key-${hex(32)}`],
  'Square token': [`sq0atp-${random(22)}`],
  'Airtable token': [`pat${random(14)}.${hex(64)}`],
  'Buildkite token': [`bkua_${hex(40)}`],
  'extended private key': [`xprv${letters(107).replace(/[lIO]/g, 'a')}`],
  'webhook address': [`hooks.slack.com/services/T${upper(9)}/B${upper(9)}/${random(24)}`],
  'Telegram bot token': [`123456789:AA${random(33)}`],
  'Azure storage key': [`AccountKey=${random(86)}==`],
  'password in an address': [`https://u:${random(12)}@host/`, 'https://:pw@host/'],
  'bearer token': [`bearer ${random(40)}`, `Bearer ${letters(20)}`],
  'HTTP Basic credentials': [`Authorization: Basic ${btoa(`ann:${random(16)}`)}`],
  'named secret': [`api_key=${random(32)}`],
}

test.each([
  'Basic authentication is not supported',
  `Authorization: Basic ${btoa('user:password')}`,
  `basic ${btoa('your-name:your-password')}`,
])('no credentials: %s', (text) => expect(holdsSecret(text)).toBe(false))

/** Capitals and small letters, and nothing else. */
const JUMBLE = 'qZxWvKjHbTyRmLpNcGdSfQaE'

test.each([
  ['Stripe key', `sk_${'live'}_${JUMBLE}`],
  ['Stripe key in base64', btoa(`sk_${'live'}_${JUMBLE}`)],
  ['GitLab token', `glpat-${JUMBLE.slice(0, 20)}`],
  ['HTTP Basic credentials', `Authorization: Basic ${btoa(`ann:${JUMBLE.slice(0, 10)}`)}`],
])('a secret without digits is one: %s', (_, text) =>
  expect(holdsSecret(`see ${text} there`)).toBe(true),
)

test.each([
  `sk_${'live'}_theSecretKeyOfYourAccount`,
  `sk-FadingCircleComponentName`,
  `glpat-${'abcdefghijklmnopqrstuvwxyz'.slice(0, 20)}`,
  `Authorization: Basic ${btoa('ann:fooBarBaz')}`,
  `Authorization: Basic ${btoa('ann:secretWord')}`,
])('words are none: %s', (text) => expect(holdsSecret(text)).toBe(false))

test('every detector serves verdicts, exports and masks', () => {
  expect(Object.keys(SAMPLES).sort()).toEqual(
    [...new Set(SECRET_DETECTORS.map(({ kind }) => kind))].sort(),
  )
  for (const [kind, samples] of Object.entries(SAMPLES))
    for (const sample of samples) {
      // What is secret of it: the last long word.
      const secret = sample.match(/[\w~+=-]{2,}(?=@|\n-|$)/)?.[0] ?? sample
      const [found, ...more] = findSecretShapes(`see ${sample} there`)
      expect([kind, more]).toEqual([kind, []])
      expect(found).toBeDefined()
      const exported = `see ${sample} there`
      expect(exported.slice(0, found?.start) + exported.slice(found?.end)).not.toContain(secret)
      const { text, masked } = maskText(JSON.stringify({ note: exported }))
      expect([kind, masked.count]).toEqual([kind, 1])
      expect(text).not.toContain(secret)
      // Nothing beside it is hidden.
      expect(text).toMatch(/see .* there/)
    }
})

test('lines of a log show no secret, also where they are cut', () => {
  const key = `glpat-${random(24)}`
  expect(shorten(`token ${key} used, card 4111 1111 1111 1111`, 200)).toBe(
    'token [masked] used, card [masked]1111',
  )
  expect(shorten(`${'x'.repeat(20)} ${key}`, 30)).toBe(`${'x'.repeat(20)} [masked]`)
  expect(shorten('plain', 3)).toBe('pla…')
})

test('no character without width splits a secret, whichever it is', () => {
  for (const code of [0xad, 0x34f, 0x61c, 0x115f, 0x180e, 0x200b, 0x202e, 0x2066, 0x3164, 0xfeff])
    expect(holdsSecret(`AK${String.fromCodePoint(code)}IA${upper(16)}`)).toBe(true)
})

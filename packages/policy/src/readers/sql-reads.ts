// `sql(x).reads()`: whether a text is certain to be one read-only statement in PostgreSQL, MySQL
// and SQLite alike. Called by the CEL environment and by the catalogue. False means "not certain".
// Covers stacked statements, writes inside CTEs, functions with effects (`pg_sleep`, `nextval`,
// `load_extension`), MySQL's executable comments, and quotes and comments that the three databases
// end in different places. Effects of views, operators or functions that someone defined in the
// database under an allowed name are not visible in the text.

import { toWordSet } from '../structures/word-set.ts'

const SQL_LENGTH_MAX = 65_536
/** Keeps a decision near a millisecond for any text. */
const SQL_TOKENS_MAX = 2_048
/** The same, counting spaces and comments. */
const SQL_LEXEMES_MAX = 4_096

// A backslash escapes only for MySQL; a lone carriage return ends a comment only for PostgreSQL.
const UNCERTAIN = /\\|\r(?!\n)|[^\P{Cc}\t\n\r]/u

/** A kind of token and its replacement; undefined keeps the text, in lower case. */
const LEXEMES: readonly (readonly [RegExp, string | undefined])[] = [
  [/(?:[ \t\n]|\r\n)+/y, ''],
  [/[A-Za-z_]\w*(?![\w$])/y, undefined],
  [/[(),.;+%<>=!~^&|?@\]]|\*(?!\/)|\/(?!\*)|-(?!-)|:(?!=)/y, undefined],
  [/(?:0[xX][0-9A-Fa-f]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.$])/y, '0'],
  // A doubled quote reads as two strings side by side, which ends in the same place.
  [/'[^']*'/y, "'"],
  [/"[^"]*"/y, '"'],
  // Quotes for one database, operators or arrays for another: plain names only.
  [/`\w[\w ]*`/y, '"'],
  [/\[(?=[\w ,.:]*\])/y, '['],
  // To MySQL `--1` is a number; `/*!`, `/*M!` are run and `/*+` sets; only PostgreSQL nests.
  [/--(?=[ \t\r\n])[^\n]*/y, ''],
  [/\/\*(?![!+/]|M!)(?:[^*/]|\*(?!\/)|\/(?!\*))*\*\//y, ''],
  [/\$\d+(?![\w$])/y, '?'],
]

/** Never in a read-only statement; `replace` alone may be the string function. */
const WRITES = toWordSet(`
  insert update delete merge replace upsert returning into outfile dumpfile
  create alter drop truncate rename reindex cluster refresh
  grant revoke copy load import call do exec execute prepare deallocate perform procedure handler
  attach detach pragma vacuum analyze analyse optimize repair install uninstall
  set reset discard flush purge kill shutdown lock unlock listen unlisten notify checkpoint
  begin commit rollback savepoint abort declare nextval uescape
`)

/** What may precede a parenthesis: keywords, types, and functions without effects. */
const BEFORE_PARENTHESIS = toWordSet(`
  all and any array as between by case cross cube distinct else except exists filter from group
  grouping having ilike in index inner intersect is join lateral left like limit materialized not
  offset on or over partition right rollup row select sets some then union using values when where

  bigint binary bit char character date datetime decimal float int integer interval numeric real
  signed text time timestamp timestamptz unsigned varchar

  count sum avg min max total stddev stddev_pop stddev_samp variance var_pop var_samp median
  percentile_cont percentile_disc mode bool_and bool_or every
  group_concat string_agg array_agg json_agg jsonb_agg json_object_agg jsonb_object_agg
  json_arrayagg json_objectagg json_group_array json_group_object
  row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value

  coalesce nullif ifnull isnull iif if greatest least cast convert typeof
  lower upper initcap length char_length character_length octet_length substr substring left right
  trim ltrim rtrim btrim lpad rpad replace reverse concat concat_ws position instr strpos locate
  split_part ascii chr hex unhex md5 quote regexp_like regexp_replace regexp_substr starts_with
  round abs floor ceil ceiling sign mod power pow sqrt exp ln log log2 log10 pi trunc degrees radians

  now current_date current_time current_timestamp localtime localtimestamp curdate curtime
  date datetime julianday unixepoch strftime date_trunc date_part date_format date_add date_sub
  datediff timestampdiff timestampadd adddate subdate last_day age extract to_char to_date
  to_timestamp to_number str_to_date make_date unix_timestamp from_unixtime year quarter month week
  day hour minute second dayofweek dayofmonth dayofyear weekday dayname monthname

  json_extract json_unquote json_value json_query json_type json_valid json_length json_keys
  json_contains json_array json_array_length json_object json_build_object json_build_array
  json_each json_tree jsonb_build_object jsonb_build_array jsonb_array_length jsonb_typeof
  json_array_elements jsonb_array_elements json_array_elements_text jsonb_array_elements_text
  jsonb_extract_path_text json_extract_path_text row_to_json to_json to_jsonb
  unnest array_length cardinality array_to_string string_to_array generate_series
  version database current_database current_schema
`)

const PUNCTUATION_BEFORE_PARENTHESIS = new Set('(,=<>+-*/%!~^&|')
const WORD = /^[a-z_]/

export function readsOnly(text: string): boolean {
  if (text.length > SQL_LENGTH_MAX || UNCERTAIN.test(text)) return false
  const tokens = tokenize(text)
  if (!tokens) return false
  if (tokens.at(-1) === ';') {
    if (!text.trimEnd().endsWith(';')) return false
    tokens.pop()
  }
  const start = skipExplain(tokens)
  const lists = new Set<number>()
  const main = tokens[start] === 'with' ? skipCtes(tokens, start + 1, lists) : start
  return (
    startsQuery(tokens[main]) &&
    isBalanced(tokens) &&
    tokens.every((token, at) => isHarmless(token, tokens, at, lists))
  )
}

function isHarmless(
  token: string,
  tokens: readonly string[],
  at: number,
  lists: ReadonlySet<number>,
): boolean {
  const before = tokens[at - 1] ?? ''
  const after = tokens[at + 1] ?? ''
  if (token === ';') return false
  if (token === '(') return lists.has(at) || mayPrecedeParenthesis(before, tokens[at - 2])
  // FOR UPDATE and FOR SHARE lock; NEXT VALUE FOR draws from a sequence.
  if (token === 'for') return !['share', 'no', 'key'].includes(after) && before !== 'value'
  return !WRITES.has(token) || (token === 'replace' && after === '(')
}

/** Strings and quoted names become their quote character, so that their content is ignored. */
function tokenize(text: string): string[] | undefined {
  const tokens: string[] = []
  let seen = 0
  for (let at = 0; at < text.length; ) {
    const lexeme = lexemeAt(text, at)
    if (!lexeme || seen++ === SQL_LEXEMES_MAX || tokens.length === SQL_TOKENS_MAX) return undefined
    if (lexeme.token !== '') tokens.push(lexeme.token)
    at = lexeme.end
  }
  return tokens
}

function lexemeAt(text: string, at: number): { token: string; end: number } | undefined {
  for (const [pattern, token] of LEXEMES) {
    pattern.lastIndex = at
    if (!pattern.test(text)) continue
    const end = pattern.lastIndex
    return { token: token ?? text.slice(at, end).toLowerCase(), end }
  }
  return undefined
}

function skipExplain(tokens: readonly string[]): number {
  if (tokens[0] !== 'explain') return 0
  if (tokens[1] === 'query' && tokens[2] === 'plan') return 3
  return tokens[1] === 'verbose' ? 2 : 1
}

/**
 * Returns the index after the last CTE, or past the end if one is not a plain query; `lists` gets
 * its columns.
 */
function skipCtes(tokens: readonly string[], start: number, lists: Set<number>): number {
  let at = tokens[start] === 'recursive' ? start + 1 : start
  for (;;) {
    if (!isName(tokens[at++])) break
    if (tokens[at] === '(') {
      lists.add(at)
      const end = tokens.indexOf(')', at)
      const columns = tokens.slice(at + 1, end)
      if (!columns.every((token) => token === ',' || isName(token))) break
      at = end + 1
    }
    if (tokens[at++] !== 'as') break
    if (tokens[at] === 'not') at++
    if (tokens[at] === 'materialized') at++
    if (tokens[at] !== '(' || !startsQuery(tokens[at + 1])) break
    at = endOfParenthesis(tokens, at)
    if (tokens[at] !== ',') return at
    at++
  }
  return tokens.length
}

function endOfParenthesis(tokens: readonly string[], open: number): number {
  let depth = 0
  for (let at = open; at < tokens.length; at++) {
    if (tokens[at] === '(') depth++
    else if (tokens[at] === ')' && --depth === 0) return at + 1
  }
  return tokens.length
}

function isBalanced(tokens: readonly string[]): boolean {
  let depth = 0
  for (const token of tokens) {
    if (token === '(') depth++
    else if (token === ')' && --depth < 0) return false
  }
  return depth === 0
}

function startsQuery(token: string | undefined): boolean {
  return token === 'select' || token === 'values'
}

function isName(token = ''): boolean {
  return token === '"' || WORD.test(token)
}

/** After a dot a name is qualified: which function it refers to is unknown. */
function mayPrecedeParenthesis(token: string, before: string | undefined): boolean {
  if (WORD.test(token)) return BEFORE_PARENTHESIS.has(token) && before !== '.'
  return PUNCTUATION_BEFORE_PARENTHESIS.has(token)
}

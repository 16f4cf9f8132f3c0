// `shell(x)`: what a text starts if Bash runs it, read with the parser unbash. Called by the CEL
// environment, by `egress` and by the catalogue. What cannot be read with certainty is reported as such:
// command names that are computed, `eval`, functions, arithmetic on foreign values (which Bash evaluates
// as code), assignments that change what a name means. Reads the line only: what a started program does
// is not in the text.

import {
  type CommandArgument,
  forEachChild,
  type ParameterExpansionPart,
  parse,
  type Script,
  type SyntaxNode,
  type Word,
} from 'unbash'
import { toWordSet } from '../structures/word-set.ts'
import {
  COMPARES_NUMBERS,
  isWrapper,
  locateProgram,
  readsCommand,
  type StartedCommand,
  unwrap,
} from './shell-programs.ts'
import {
  CertainReading,
  joinPath,
  type ShellReading,
  type StartedProgram,
} from './shell-reading.ts'
import { type ShellWord, toExactWord, toShellWord } from './shell-words.ts'

const SHELL_LENGTH_MAX = 8_192
/** Openings of nested parts times length: what the parser's worst time depends on. */
const SHELL_NESTING_MAX = 65_536
/** Words, and paths in all directories, so that conditions on the lists stay cheap. */
const SHELL_ENTRIES_MAX = 512
const SCRIPT_DEPTH_MAX = 3
const DIRECTORIES_MAX = 8

/** Control characters, and spaces that only some locales treat as such. */
const UNCLEAR = /[^\P{C}\t\n]|[^\P{Z} ]/u
/** The parser takes `0<(…)` for a plain word. */
const MISREAD = /[\d}][<>]\(/
/** Where Bash joins lines before, and the parser after it has read the words. */
const JOINED = /\$'|<<-?[ \t]*\w|\S\\\n/
const OPENINGS = /[$<>]\(|[`({]/g
/** What Bash reads differently from other shells that `sh` may be. */
const NOT_POSIX =
  /\[\[|(?:^|[^$])\(\(|\$['"[]|&>|<<<|\|&|[<>]\(|\b(?:function|select|coproc|time)\b/
const UNCERTAIN_NAMES = toWordSet(
  'eval trap alias unalias exec enable let shopt hash bind complete compgen compopt fc history coproc logout suspend zsh fish ksh csh tcsh pwsh',
)
const UNCERTAIN_FORMS = toWordSet(
  'Function Coproc Select ExtendedGlob LocaleString FileDescriptorVariable ArithmeticCommandExpansion',
)
/** Builtins that assign to the names among their arguments. */
const ASSIGNING = toWordSet(
  'export declare typeset local readonly read mapfile readarray unset getopts wait',
)
const SHELLS = toWordSet('sh bash dash ash')
const FINDERS = toWordSet('find fd fdfind')
/** Wrappers that change nothing about the command they start. */
const OPEN_WRAPPERS = toWordSet('time timeout nice')
const LOOPS = toWordSet('For While ArithmeticFor')
/** What these assign is handed on to the programs that are started. */
const EXPORTING = toWordSet('export declare typeset')
/** Assigning to these changes what other words mean, or runs code. */
const MEANING =
  /^(?:PATH|ENV|HOME|PWD|OLDPWD|CDPATH|PS4|PROMPT_COMMAND|GLOBIGNORE|EXECIGNORE|SHELLOPTS|BASH\w*|LD_\w+|DYLD_\w+)$/
/** No program does anything else because of these. */
const HARMLESS =
  /^(?:(?:LC_\w+|LANG|TZ|COLUMNS|NO_COLOR|FORCE_COLOR|CI|TERM|IFS|NODE_ENV|PG(?:PASSWORD|HOST|PORT|USER|DATABASE)|MYSQL_PWD|AWS_(?:PROFILE|REGION))(?:=|$)|(?:GIT_)?PAGER=(?:cat)?$)/
/** Names of the line's own, unless they are handed on. The environment may have those that are excepted already. */
const OWN = /^(?!\w*_proxy(?:=|$)|p?npm_|yarn_)[a-z_][a-z\d_]*(?:=|$)/
/** Writing there changes nothing. */
const NO_FILE = /^\/dev\/(?:null|stdout|stderr|tty|fd\/\d+)$/
const NETWORK_FILE = /^\/dev\/(?:tcp|udp)\/([^/]*)/
/** What `xargs` and `fd` add. */
const ANY_WORD: ShellWord = { text: '$', isExact: false, isOpen: true, splits: true }

/**
 * Reads a command line as Bash does.
 *
 * @example
 * ```ts
 * readShell('rg TODO src | head').reads // true
 * readShell('git status; rm -rf build').commands // ['git', 'rm']
 * ```
 */
export function readShell(text: string): ShellReading {
  if (newest?.text !== text) newest = { text, reading: new ShellReader().read(text) }
  return newest.reading
}

/**
 * The text without the comment at its end; undefined if it does not end with this comment. What is in quotes or in
 * a here-document is none. If the text cannot be read, the comment has to be its last line.
 *
 * @example
 * ```ts
 * cutComment('git push # outside', '# outside') // 'git push'
 * cutComment('echo "git push # outside"', '# outside') // undefined
 * ```
 */
export function cutComment(text: string, comment: string): string | undefined {
  const whole = text.trimEnd()
  if (!whole.endsWith(comment)) return undefined
  const at = whole.length - comment.length
  const rest = whole.slice(0, at).trimEnd()
  if (isTooLong(whole) || UNCLEAR.test(whole))
    return whole.slice(0, at).endsWith('\n') ? rest : undefined
  const script = parse(whole)
  if ((script.errors ?? []).length > 0) return whole.slice(0, at).endsWith('\n') ? rest : undefined
  return isCovered(script, at) ? undefined : rest
}

/** Whether a part of the script is at this place; none is at a comment. */
function isCovered(node: SyntaxNode, at: number): boolean {
  let found = false
  forEachChild(node, (child) => {
    found ||= (child.pos <= at && at < child.end) || isCovered(child, at)
  })
  return found
}

function isTooLong(text: string): boolean {
  const openings = text.match(OPENINGS)?.length ?? 0
  return text.length > SHELL_LENGTH_MAX || openings * text.length > SHELL_NESTING_MAX
}

/** All conditions of one decision read the same text. */
let newest: { readonly text: string; readonly reading: ShellReading } | undefined

function notCertain(why: string): ShellReading {
  const none = { commands: [], lines: [], changes: [], paths: [], writes: [], hosts: [] }
  const parts = { programs: [], forms: new Set<string>(), isRedirected: true, directories: [] }
  const answers = { reads: false, local: false, searched: undefined }
  return {
    uncertain: why,
    uncertainHosts: why,
    ...none,
    variables: [],
    own: [],
    ...answers,
    ...parts,
  }
}

class ShellReader {
  #uncertain: string | undefined
  readonly #started: StartedCommand[] = []
  readonly #programs: StartedProgram[] = []
  readonly #forms = new Set<string>()
  #isRedirected = false
  /** How many pipes lead to the part that is read. */
  #pipes = 0
  readonly #files: string[] = []
  readonly #written: string[] = []
  readonly #hosts: (string | undefined)[] = []
  /** Directories that the text may have entered when it names a relative path. */
  readonly #directories = new Set([''])
  readonly #assigned: { readonly name: string; readonly text: string }[] = []
  /** Names that are in the environment of what is started. */
  readonly #exported = new Set<string>()
  #hasLoop = false
  #script: Script | undefined
  /** There is a script for another shell in it. */
  #hasScript = false
  /** A program may run in a directory that is not among `#directories`. */
  #isElsewhere = false

  read(text: string): ShellReading {
    this.#readScript(text, 0)
    const words = this.#started.reduce((sum, { rest }) => sum + 1 + rest.length, 0)
    if (words * this.#directories.size > SHELL_ENTRIES_MAX) this.#doubt('too many words')
    if (this.#uncertain !== undefined) return notCertain(this.#uncertain)
    // Settings of a repository name programs that git starts: another directory may be another repository.
    const isElsewhere = this.#isElsewhere || this.#directories.size > 1
    const reads = (command: StartedCommand) =>
      readsCommand(command) && !(isElsewhere && command.path[0] === 'git')
    const changing = this.#started.filter((command) => !reads(command))
    const isHarmless = this.#assigned.every(
      ({ name, text }) => HARMLESS.test(text) || (OWN.test(text) && !this.#exported.has(name)),
    )
    return new CertainReading({
      started: this.#started,
      changing,
      programs: this.#programs,
      forms: this.#forms,
      read: this.#files,
      written: this.#written,
      hosts: this.#hosts,
      isRedirected: this.#isRedirected,
      assigned: this.#assigned.map(({ text }) => text),
      isHarmless,
      directories: [...this.#directories],
      isElsewhere: this.#isElsewhere,
      script: this.#hasScript ? undefined : this.#script,
    })
  }

  #doubt(why: string): void {
    this.#uncertain ??= why
  }

  #readScript(text: string, depth: number): void {
    if (isTooLong(text)) return this.#doubt('a text that is too long or too deeply nested')
    if (depth > SCRIPT_DEPTH_MAX) return this.#doubt('a script in a script')
    if (UNCLEAR.test(text)) return this.#doubt('a control character or an unusual space')
    if (MISREAD.test(text) || (text.includes('\\\n') && JOINED.test(text)))
      this.#doubt('a form that the parser misreads')
    const script = parse(text)
    if (depth === 0) this.#script = script
    else this.#hasScript = true
    this.#visit(script, depth)
  }

  #visit(node: SyntaxNode, depth: number): void {
    this.#forms.add(node.type)
    if (UNCERTAIN_FORMS.has(node.type)) this.#doubt(`a form that is not followed (${node.type})`)
    switch (node.type) {
      case 'Script':
        if ((node.errors ?? []).length > 0) this.#doubt('a syntax error')
        break
      case 'Command':
        if (node.name === undefined) break
        for (const each of node.prefix)
          if (each.type === 'Assignment') this.#exported.add(each.name)
        this.#start([toShellWord(node.name), ...node.args.map(toArgument)], depth)
        break
      case 'Assignment':
        this.#assign(node.name, node.value.type === 'Word' ? toShellWord(node.value).text : '(')
        this.#compute(node.index)
        break
      case 'For':
        this.#assign(node.name.text)
        break
      case 'Redirect':
        this.#redirect(node.operator, node.target)
        break
      case 'ParameterExpansion':
        this.#expand(node)
        break
      case 'TestBinary':
        if (COMPARES_NUMBERS.test(node.operator)) this.#compute(node.left, node.right)
        break
      case 'TestUnary':
        if (/^-[vR]$/.test(node.operator)) this.#doubt('`-v`, which evaluates')
        break
      case 'ArithmeticExpansion':
        // Where Bash finds no end of the arithmetic, it runs a subshell.
        if (/[;\n]/.test(node.text)) this.#doubt('arithmetic that may be commands')
        break
      case 'ArithmeticWord':
        this.#computeText(node.value)
        break
    }
    this.#hasLoop ||= LOOPS.has(node.type)
    forEachChild(node, (child) => {
      const isFed = node.type === 'Pipeline' && child !== node.commands[0]
      if (isFed) this.#pipes++
      this.#visit(child, depth)
      if (isFed) this.#pipes--
    })
  }

  #expand({ prefix, index, operation, parameter }: ParameterExpansionPart): void {
    if (prefix === '!') this.#doubt('an indirect expansion')
    if (index?.text !== '@' && index?.text !== '*') this.#compute(index)
    if (operation?.type === 'Transform' || operation?.type === 'Unknown')
      this.#doubt('an expansion that may run code')
    if (operation?.type === 'Slice') this.#compute(operation.offset, operation.length)
    if (operation?.type === 'Default' && operation.operator.endsWith('=')) this.#assign(parameter)
  }

  #assign(name: string, value?: string): void {
    if (MEANING.test(name)) this.#doubt(`an assignment to \`${name}\``)
    this.#assigned.push({ name, text: value === undefined ? name : `${name}=${value}` })
  }

  /** Bash evaluates such words as expressions, in which `a[$(…)]` runs a command. */
  #compute(...words: (Word | undefined)[]): void {
    for (const word of words) if (word !== undefined) this.#computeText(toShellWord(word).text)
  }

  #computeText(text: string): void {
    if (!/^(?:-?\d{1,18}|\$[#?$!]|\$\{#\w+(?:\[@\])?\}|\$\(\(.*|)$/s.test(text.trim()))
      this.#doubt('arithmetic on an expression')
  }

  #redirect(operator: string, target: Word | undefined): void {
    const { text, isExact } = target === undefined ? ANY_WORD : toShellWord(target)
    if (operator.endsWith('&') && /^(?:\d+-?|-)$/.test(text)) return
    // Bash takes the dash of `>& -1` for the whole word.
    if (operator.endsWith('&') && text.startsWith('-')) this.#doubt('a descriptor and more')
    const isNothing = operator === '<' ? text === '/dev/null' : NO_FILE.test(text)
    if (!isNothing) this.#isRedirected = true
    const [, host] = NETWORK_FILE.exec(text) ?? []
    if (host !== undefined) this.#hosts.push(isExact ? host : undefined)
    if (operator === '<') this.#files.push(text)
    else if (!NO_FILE.test(text)) this.#written.push(text)
  }

  #start(words: readonly ShellWord[], depth: number): void {
    const [name, ...args] = words
    if (name?.isExact !== true) return this.#doubt('a command name that is computed')
    // Bash reads on to the bracket that closes, over spaces.
    if (/^[A-Za-z_]\w*\[/.test(name.text)) return this.#doubt('a name with a bracket')
    const command = locateProgram(words)
    const [program = ''] = command.path
    // Without a command `exec` only redirects.
    const isRedirection = program === 'exec' && args.length === 0
    if (UNCERTAIN_NAMES.has(program) && !isRedirection) return this.#doubt(`\`${program}\``)
    this.#checkBuiltin(program, args)
    if (SHELLS.has(program)) return this.#startShell(command, depth)
    if (FINDERS.has(program)) return this.#startFind(command, depth)
    const isQuery = program === 'command' && /^-[vV]$/.test(args[0]?.text ?? '')
    const wrapper = command.path.join(' ')
    if (!isWrapper(wrapper) || isQuery) return this.#add(command, words)
    const inner = unwrap(wrapper, command.rest)
    if (inner === undefined) return this.#doubt(`\`${program}\` with an option that is not known`)
    // Without a command `env` prints the environment.
    const isPrinted = program === 'env' && inner.length === 0
    const own = args.slice(0, args.length - inner.length)
    const isOpen = OPEN_WRAPPERS.has(program)
    const started = { path: isPrinted ? ['printenv'] : command.path, rest: [], ahead: 0 }
    this.#add(started, isOpen ? [name, ...own] : undefined)
    const assigns = /^(?:env|sudo|doas)$/.test(program)
    const start = inner.findIndex(({ text }) => !assigns || !text.includes('='))
    const assignments = inner.slice(0, start === -1 ? undefined : start)
    for (const { text, splits } of assignments) {
      const name = text.replace(/=.*/s, '')
      this.#assign(name, text.slice(name.length + 1))
      this.#exported.add(name)
      if (splits) this.#doubt('an assignment that may become a command')
    }
    if (program.endsWith('xargs')) this.#files.push(...own.flatMap(toArgumentFile))
    if (start === -1) return
    this.#start(program.endsWith('xargs') ? addWords(own, inner) : inner.slice(start), depth)
  }

  #add(command: StartedCommand, words: readonly ShellWord[] | undefined): void {
    this.#started.push(command)
    this.#programs.push({ words, isFed: this.#pipes > 0 })
  }

  #checkBuiltin(program: string, args: readonly ShellWord[]): void {
    const texts = args.map(toText)
    const [first = ''] = texts
    if (program === 'set' && !texts.every((text) => /^(?:[-+][euxfC]*o?|pipefail)$/.test(text)))
      this.#doubt('`set` with other options')
    const isFile = args[0]?.isExact === true && !/^\/(?:dev|proc)\/|^-/.test(first)
    if ((program === 'source' || program === '.') && !isFile) this.#doubt('`source` of no file')
    if (program === 'cd' || program === 'pushd') this.#enter(texts)
    if ((program === 'test' || program === '[') && texts.includes('-v'))
      this.#doubt('`-v`, which evaluates')
    const mayAssign = program === 'printf' && (args[0]?.isOpen === true || first.startsWith('-v'))
    if (!ASSIGNING.has(program) && !mayAssign) return
    for (const { text, isExact } of args) {
      const [, name, value] = /^(\w+)(?:\+?=(.*))?$/s.exec(text) ?? []
      if (name !== undefined) this.#assign(name, value)
      if (name !== undefined && EXPORTING.has(program)) this.#exported.add(name)
      if (name !== undefined) continue
      if (!isExact || /[[`]|\$\(/.test(text)) this.#doubt(`\`${program}\` of an expression`)
      // `declare -n` and `-i`, `mapfile -C`: the value is evaluated.
      if (/^[-+]\w*[niC]/.test(text) && program !== 'read') this.#doubt(`\`${program} ${text}\``)
    }
  }

  #enter(texts: readonly string[]): void {
    const target = texts.find((text) => !/^-[LPe@]+$|^--$/.test(text)) ?? '~'
    if (this.#hasLoop && !/^[/~$]/.test(target)) this.#directories.add('$PWD')
    for (const directory of [...this.#directories])
      this.#directories.add(joinPath(directory, target === '-' ? '$OLDPWD' : target))
    if (this.#directories.size > DIRECTORIES_MAX) this.#doubt('too many changes of directory')
  }

  /** `sh -c 'literal'` is looked into; a shell that reads its commands from elsewhere is not certain. */
  #startShell(command: StartedCommand, depth: number): void {
    const { path, rest } = command
    const plain = /^-[leux]*$|^-[eu]*o$|^pipefail$|^--(?:login|norc|noprofile)$/
    const [first, script] = rest.slice(rest.findIndex(({ text }) => !plain.test(text)))
    const isFile =
      first?.isExact === true && !/^-(?!n$|-version$)|^\/(?:dev|proc)\//.test(first.text)
    const isPlain = path[0] === 'bash' || !NOT_POSIX.test(script?.text ?? '')
    if (isFile && !plain.test(first.text)) this.#add(command, [toExactWord(path.join()), ...rest])
    else if (/^-[leux]*c$/.test(first?.text ?? '') && script?.isExact === true && isPlain)
      this.#readScript(script.text, depth + 1)
    else this.#doubt(`\`${path[0]}\` with a script that is not written out`)
  }

  /** `find … -exec command {} ;` and `fd … -x command`. */
  #startFind({ path, rest }: StartedCommand, depth: number): void {
    const isFind = path[0] === 'find'
    const starts = isFind
      ? /^-(?:exec|execdir|ok|okdir)$/
      : /^(?:-[a-zA-Z]*[xX]|--exec|--exec-batch)$/
    const at = rest.findIndex(({ text }) => starts.test(text))
    const own = at === -1 ? rest : rest.slice(0, at)
    this.#add({ path, rest: own, ahead: 0 }, [toExactWord(path.join()), ...own])
    this.#isElsewhere ||= rest[at]?.text.endsWith('dir') === true
    if (own.some(({ splits }) => splits)) this.#doubt(`\`${path[0]}\` with words that are computed`)
    if (at === -1) return
    const behind = rest.slice(at + 1)
    const end = behind.findIndex(({ text }) => text === ';' || (isFind && text === '+'))
    const inner = end === -1 ? behind : behind.slice(0, end)
    this.#start(isFind ? replaceWords(inner, '{}') : [...replaceWords(inner, '{'), ANY_WORD], depth)
    if (end !== -1) this.#startFind({ path, rest: behind.slice(end + 1), ahead: 0 }, depth)
    else if (isFind) this.#doubt('`-exec` without an end')
  }
}

function toText({ text }: ShellWord): string {
  return text
}

function toArgument(argument: CommandArgument): ShellWord {
  if (argument.type === 'Word') return toShellWord(argument)
  const word = argument.value.type === 'Word' ? toShellWord(argument.value) : ANY_WORD
  return { ...word, text: `${argument.name}=${word.text}`, isOpen: false }
}

/** The file that `xargs -a` reads, which its other options are not taken for. */
function toArgumentFile({ text }: ShellWord, at: number, own: readonly ShellWord[]): string[] {
  if (/^(?:-a|--arg-file)$/.test(own[at - 1]?.text ?? '')) return [text]
  const [, file] = /^(?:-a|--arg-file=)(.+)$/s.exec(text) ?? []
  return file === undefined ? [] : [file]
}

/** What `xargs` starts: the words it reads replace a mark (`-I`), or follow. */
function addWords(own: readonly ShellWord[], words: readonly ShellWord[]): readonly ShellWord[] {
  const at = own.findIndex(({ text }) => text.startsWith('-I'))
  const mark = own[at]?.text.slice(2) || own[at + 1]?.text
  return at === -1 || mark === undefined ? [...words, ANY_WORD] : replaceWords(words, mark)
}

function replaceWords(words: readonly ShellWord[], mark: string): readonly ShellWord[] {
  return words.map((word) => {
    if (!word.text.includes(mark)) return word
    const isOpen = word.text.startsWith(mark)
    return { text: word.text.replaceAll(mark, '$'), isExact: false, isOpen, splits: false }
  })
}

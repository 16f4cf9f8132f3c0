// The completion scripts of three shells, from the same list of places. A script finds the command that
// the words before the cursor name, and offers what may follow; the rest is completed as files. Pure.

import type { CompletionPlace, CompletionWord } from './list-words.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

export function writeScript(shell: Shell, places: readonly CompletionPlace[]): string {
  return { bash: writeBash, zsh: writeZsh, fish: writeFish }[shell](places)
}

function writeBash(places: readonly CompletionPlace[]): string {
  const cases = places.map(({ path, commands, options, choices }) => {
    const words = [...commands.map(({ word }) => word), ...choices].join(' ')
    return `    ${quote(path)}) words=${quote(words)} options=${quote(options.map(({ word }) => word).join(' '))} ;;`
  })
  return `# Completion of sluice for bash: eval "$(sluice completion bash)"
_sluice() {
  local current="\${COMP_WORDS[COMP_CWORD]}" at=sluice word words='' options='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    [[ $word == -- ]] && return
    case "$at $word" in
      ${paths(places).map(quote).join(' | ')}) at="$at $word" ;;
    esac
  done
  case "$at \${COMP_WORDS[COMP_CWORD - 1]}" in
${valueCases(places, (values) => `COMPREPLY=($(compgen -W ${quote(values.join(' '))} -- "$current")); return`)}
    ${valueOptions(places).map(quote).join(' | ')}) return ;;
  esac
  case "$at" in
${cases.join('\n')}
  esac
  [[ $current == -* ]] && words="$options"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _sluice sluice
`
}

function writeZsh(places: readonly CompletionPlace[]): string {
  const cases = places.map(
    ({ path, commands, options, choices }) =>
      `    ${quote(path)}) entries=(${[...commands.map(describe), ...choices.map(quote)].join(' ')}) options=(${options.map(describe).join(' ')}) ;;`,
  )
  return `#compdef sluice
# Completion of sluice for zsh: source <(sluice completion zsh)
_sluice() {
  local at=sluice word
  local -a entries options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -- ]] && { _files; return }
    case "$at $word" in
      ${paths(places).map(quote).join(' | ')}) at="$at $word" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${valueCases(places, (values) => `compadd -- ${values.map(quote).join(' ')}; return`)}
    ${valueOptions(places).map(quote).join(' | ')}) _files; return ;;
  esac
  case "$at" in
${cases.join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then _describe option options
  elif (( \${#entries} )); then _describe command entries
  else _files
  fi
}
if [[ "\${funcstack[1]}" == _sluice ]]; then _sluice "$@"; else compdef _sluice sluice; fi
`
}

function writeFish(places: readonly CompletionPlace[]): string {
  const lines = places.flatMap(({ path, commands, options, choices }) => {
    const below = path.split(' ').slice(1).join(' ')
    const when = `-n ${quoteFish(`__sluice_at ${below}`.trim())}`
    const words = [...commands, ...choices.map((word) => ({ word, description: '' }))]
    return [
      ...words.map(
        ({ word, description }) =>
          `complete -c sluice ${when} -f -a ${quoteFish(word)} -d ${quoteFish(description)}`,
      ),
      ...options.map(({ word, description, takesValue, choices: values }) => {
        const value =
          values.length > 0 ? ` -x -a ${quoteFish(values.join(' '))}` : takesValue ? ' -r' : ''
        return `complete -c sluice ${when} -l ${word.slice(2)}${value} -d ${quoteFish(description)}`
      }),
    ]
  })
  return `# Completion of sluice for fish: sluice completion fish | source
set -g __sluice_paths ${paths(places)
    .map((path) => quoteFish(path.slice('sluice '.length)))
    .join(' ')}
function __sluice_at
  set -l at
  for word in (commandline -opc)[2..]
    test "$word" = --; and return 1
    set -l next (string join -- ' ' $at $word)
    contains -- "$next" $__sluice_paths; and set at (string split ' ' -- $next)
  end
  test "$at" = "$argv"
end
${lines.join('\n')}
`
}

/** Every path of more than `sluice`. */
function paths(places: readonly CompletionPlace[]): string[] {
  return places.map(({ path }) => path).filter((path) => path !== 'sluice')
}

/** `sluice up --log`: options whose value is one of a few words. */
function valueCases(
  places: readonly CompletionPlace[],
  write: (values: readonly string[]) => string,
): string {
  const cases = places.flatMap(({ path, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(({ word, choices }) => `    ${quote(`${path} ${word}`)}) ${write(choices)} ;;`),
  )
  return cases.join('\n')
}

function valueOptions(places: readonly CompletionPlace[]): string[] {
  return places.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue, choices }) => takesValue && choices.length === 0)
      .map(({ word }) => `${path} ${word}`),
  )
}

/** `name:what it does`, for zsh. */
function describe({ word, description }: CompletionWord): string {
  return quote(`${word}:${description.replaceAll(':', '\\:')}`)
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function quoteFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

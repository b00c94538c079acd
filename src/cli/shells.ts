/**
 * Completion scripts for bash (3.2 on), zsh and fish. All three work alike: walk the words typed so far to the
 * deepest command (the trail), then offer the words and flags of that place; a value that is not one of a few is
 * left to the shell's own file completion. Pure.
 */
import type { SHELLS } from "./verbs.ts";

/** A place on the command line: after the words of the trail, these words and flags can follow. */
export interface Place {
  /** `pond`, `pond config`, `pond config show`. */
  readonly trail: string;
  readonly words: readonly Word[];
  readonly flags: readonly Flag[];
}

interface Word {
  readonly name: string;
  readonly summary: string;
}

interface Flag extends Word {
  readonly takesValue: boolean;
  /** Empty where any value can stand. */
  readonly choices: readonly string[];
}

export const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], (places: readonly Place[]) => string>> = {
  bash,
  zsh,
  fish,
};

function bash(places: readonly Place[]): string {
  return `# bash completion for pond; in ~/.bashrc: eval "$(pond completions bash)"
_pond() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} trail=pond names='' flags='' i
  # bash takes --flag=value apart at the =.
  if [[ $cur == = ]]; then cur=''; elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      ${anyOf(valueFlags(places))}) [[ \${COMP_WORDS[i + 1]} == = ]] && ((i++)); ((i++)) ;;
      *) case "$trail \${COMP_WORDS[i]}" in ${anyOf(trails(places))}) trail+=" \${COMP_WORDS[i]}" ;; esac ;;
    esac
  done
  case $trail in
${places.map(({ trail, words, flags }) => `    ${quoted(trail)}) names=${quoted(list(words))} flags=${quoted(list(flags))} ;;`).join("\n")}
  esac
  if [[ $cur == -* ]]; then names=$flags; fi
  case "$trail $prev" in
${valueCases(places, {
  open: "",
  choose: (choices) => `names=${quoted(choices.join(" "))}`,
  otherwise: "names=''",
})}
  esac
  COMPREPLY=($(compgen -W "$names" -- "$cur"))
}
complete -o default -F _pond pond`;
}

function zsh(places: readonly Place[]): string {
  return `#compdef pond
# zsh completion for pond; in ~/.zshrc, after compinit: eval "$(pond completions zsh)"
_pond() {
  local trail=pond cur=$words[CURRENT] prev=$words[CURRENT-1] i
  local -a names flags
  for ((i = 2; i < CURRENT; i++)); do
    case $words[i] in
      (${anyOf(valueFlags(places))}) ((i++)) ;;
      (*) case "$trail $words[i]" in (${anyOf(trails(places))}) trail+=" $words[i]" ;; esac ;;
    esac
  done
  case $trail in
${places.map(({ trail, words, flags }) => `    (${quoted(trail)}) names=(${described(words)}) flags=(${described(flags)}) ;;`).join("\n")}
  esac
  if [[ $cur == --*=* ]]; then prev=\${cur%%=*}; compset -P '*='; fi
  case "$trail $prev" in
${valueCases(places, {
  open: "(",
  choose: (choices) => `names=(${choices.map(quoted).join(" ")}); compadd -a names; return`,
  otherwise: "_files; return",
})}
  esac
  if [[ $cur == -* ]]; then _describe -o flag flags; elif (($#names)); then _describe word names; else _files; fi
}
if [[ $funcstack[1] == _pond ]]; then _pond "$@"; else compdef _pond pond; fi`;
}

function fish(places: readonly Place[]): string {
  const at = (trail: string): string => `-n ${quoted(`__pond_at "${trail}"`)}`;
  const lines = places.flatMap(({ trail, words, flags }) => [
    ...words.map(({ name, summary }) => `complete -c pond ${at(trail)} -f -a ${name} -d ${quoted(summary)}`),
    ...flags.map(({ name, summary, takesValue, choices }) => {
      const value = choices.length > 0 ? ` -x -a ${quoted(choices.join(" "))}` : takesValue ? " -r -F" : "";
      return `complete -c pond ${at(trail)} -l ${name.slice(2)}${value} -d ${quoted(summary)}`;
    }),
  ]);
  return `# fish completion for pond; pond completions fish > ~/.config/fish/completions/pond.fish
function __pond_at
  set -l trail pond
  set -l skip 0
  set -l tokens (commandline -opc)
  set -e tokens[1]
  for word in $tokens
    if test $skip = 1
      set skip 0
      continue
    end
    switch $word
      case ${valueFlags(places).join(" ")}
        set skip 1
      case '*'
        switch "$trail $word"
          case ${trails(places).map(quoted).join(" ")}
            set trail "$trail $word"
        end
    end
  end
  test "$trail" = "$argv[1]"
end
complete -c pond -f
${lines.join("\n")}`;
}

/** What a shell does where the word to complete is the value of a flag. */
interface ValueCase {
  readonly open: string;
  readonly choose: (choices: readonly string[]) => string;
  readonly otherwise: string;
}

/** The branches of `case "$trail $prev"`: flags with choices at each place that has them, then all that take a value. */
function valueCases(places: readonly Place[], { open, choose, otherwise }: ValueCase): string {
  const chosen = places.flatMap(({ trail, flags }) =>
    flags
      .filter((flag) => flag.choices.length > 0)
      .map((flag) => `    ${open}${quoted(`${trail} ${flag.name}`)}) ${choose(flag.choices)} ;;`),
  );
  const others = valueFlags(places).map((name) => `*${quoted(` ${name}`)}`);
  return [...chosen, `    ${open}${others.join(" | ")}) ${otherwise} ;;`].join("\n");
}

const described = (words: readonly Word[]): string =>
  words.map(({ name, summary }) => quoted(`${name}:${summary.replaceAll(":", "\\:")}`)).join(" ");
const list = (words: readonly Word[]): string => words.map(({ name }) => name).join(" ");
const trails = (places: readonly Place[]): readonly string[] => places.slice(1).map(({ trail }) => trail);
const valueFlags = (places: readonly Place[]): readonly string[] => [
  ...new Set(places.flatMap(({ flags }) => flags.filter((flag) => flag.takesValue).map(({ name }) => name))),
];
const anyOf = (words: readonly string[]): string => words.map(quoted).join(" | ");
/** Single quotes; one inside is closed, escaped, opened again. Good in all three shells. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

// SPDX-License-Identifier: Apache-2.0
/**
 * Scripts that shells load. Each calls `countersign __complete` (cobra's protocol) at every press
 * of the key. `@{` replaces a dollar sign with a brace, which TypeScript would interpret.
 */

const BASH = String.raw`# countersign completion for bash: source <(countersign completion bash)
_countersign() {
    local cur="@{COMP_LINE:0:COMP_POINT}" line directive
    # Words as the shell splits them at blanks, not at colons: names of ClusterTrustBundles have some.
    local -a words
    read -ra words <<< "$cur"
    [[ "$cur" == *[[:space:]] ]] && words+=("")
    cur="@{words[@{#words[@]}-1]}"
    COMPREPLY=()
    directive=0
    while IFS= read -r line; do
        if [[ "$line" == :* ]]; then directive="@{line#:}"; else COMPREPLY+=("@{line%%$'\t'*}"); fi
    done < <("@{words[0]}" __complete "@{words[@]:1}" 2>/dev/null)
    (( directive & 2 )) && compopt -o nospace 2>/dev/null
    if (( ! (directive & 4) )); then
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur")
    fi
    # The shell replaces only what is behind the last colon or equals sign.
    if [[ "$cur" == *[:=]* && "$COMP_WORDBREAKS" == *[:=]* ]]; then
        local prefix="@{cur%"@{cur##*[:=]}"}" i
        for i in "@{!COMPREPLY[@]}"; do COMPREPLY[i]="@{COMPREPLY[i]#"$prefix"}"; done
    fi
}
complete -F _countersign countersign
`.replaceAll('@{', '${');

const ZSH = String.raw`#compdef countersign
# countersign completion for zsh: countersign completion zsh > "@{fpath[1]}/_countersign"
_countersign() {
    local line description directive=0
    local -a described
    while IFS= read -r line; do
        if [[ "$line" == :* ]]; then
            directive="@{line#:}"
        else
            # Without a description there is no colon either, for which an empty one would be shown.
            description="@{line#*$'\t'}"
            described+=("@{@{line%%$'\t'*}//:/\\:}@{description:+:$description}")
        fi
    done < <("@{words[1]}" __complete "@{(@)words[2,CURRENT]}" 2>/dev/null)
    if (( directive & 2 )); then
        _describe -V completions described -S ''
    else
        _describe -V completions described
    fi
    (( directive & 4 )) || _files
}
if [ "$funcstack[1]" = _countersign ]; then _countersign; else compdef _countersign countersign; fi
`.replaceAll('@{', '${');

const FISH = String.raw`# countersign completion for fish: countersign completion fish | source
function __countersign_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l answer ($words[1] __complete $words[2..-1] 2>/dev/null)
    set -l directive (string replace ':' '' -- $answer[-1])
    test (count $answer) -gt 1; and printf '%s\n' $answer[1..-2]
    test (math "bitand($directive, 4)") -eq 0; and __fish_complete_path (commandline -ct)
end
complete -c countersign -f -a '(__countersign_complete)'
`;

const KUBECTL = `#!/bin/sh
# kubectl runs this program, kubectl_complete-countersign in PATH, for completions of kubectl countersign.
exec kubectl-countersign __complete "$@"
`;

/** The scripts by the shell that loads them. */
export const SCRIPTS: Readonly<Record<'bash' | 'zsh' | 'fish' | 'kubectl', string>> = {
  bash: BASH,
  zsh: ZSH,
  fish: FISH,
  kubectl: KUBECTL,
};

"""What a shell runs to complete `kvcost`: it hands over the words up to the cursor and gets a candidate a line.

The variable says which shell asks; the words are the arguments, the last one the word to complete. A line is the
candidate and, behind a tab, what it means; no line leaves the word to the shell's own completion of file names.
"""

__all__ = ["ASKING", "SCRIPTS"]

ASKING = "_KVCOST_COMPLETE"

_BASH = r"""# kvcost completion for bash: source <(kvcost completion bash)
_kvcost() {
    local IFS=$'\n'
    COMPREPLY=($(_KVCOST_COMPLETE=bash "$1" "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _kvcost kvcost
"""

_ZSH = r"""#compdef kvcost
# kvcost completion for zsh: source <(kvcost completion zsh)
_kvcost() {
    local line meaning
    local -a found
    for line in "${(@f)$(_KVCOST_COMPLETE=zsh "${words[1]}" "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -n $line ]] || continue
        meaning=${line#*$'\t'}
        found+=("${${line%%$'\t'*}//:/\\:}${meaning:+:$meaning}")
    done
    if (( $#found )); then
        _describe -V kvcost found -U
    else
        _files
    fi
}
if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
    _kvcost "$@"
else
    compdef _kvcost kvcost
fi
"""

_FISH = r"""# kvcost completion for fish: kvcost completion fish | source
function __kvcost_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l found (_KVCOST_COMPLETE=fish $words[1] $words[2..-1] "$word" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path "$word"
    end
end
complete -c kvcost -f -k -a '(__kvcost_complete)'
"""

# An empty last word would get lost between PowerShell and a program, so the variable says that there is one.
_POWERSHELL = r"""# kvcost completion for PowerShell: kvcost completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName kvcost -ScriptBlock {
    param($word, $ast, $cursor)
    $words = @($ast.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.StartOffset -lt $cursor } | ForEach-Object { $_.Extent.Text })
    $env:_KVCOST_COMPLETE = if ($word) { 'powershell' } else { 'powershell-new-word' }
    try {
        kvcost @words 2>$null | ForEach-Object {
            $value, $help = $_ -split "`t", 2
            [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $(if ($help) { $help } else { $value }))
        }
    } finally {
        Remove-Item Env:_KVCOST_COMPLETE
    }
}
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH, "powershell": _POWERSHELL, "pwsh": _POWERSHELL}

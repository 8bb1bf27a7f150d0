"""completion: print a script that completes commands and options in bash, zsh or fish."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from evaluation import __main__ as evaluation_command
from evaluation.commands.arguments import add_json_option
from rankfield.commands.listing import OWN_COMMANDS, SERVER_COMMANDS, SITE_COMMANDS
from rankfield.commands.outcomes import OK

EPILOG = """
bash: add to ~/.bashrc   eval "$(rankfield completion bash)"
zsh:  add to ~/.zshrc    eval "$(rankfield completion zsh)"
fish: once               rankfield completion fish > ~/.config/fish/completions/rankfield.fish

The script has the commands and options of this version. Elsewhere it completes names of files.

Exit status: 0; 2 when the command is wrong.
"""
# bash and zsh read the same function.
BASH = """_rankfield() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
  local command="${{COMP_WORDS[1]}}"
  [ "$command" = answers ] && [ "$COMP_CWORD" -gt 2 ] && command="answers ${{COMP_WORDS[2]}}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{first}"
  elif [ "$command" = answers ]; then
    words="{second}"
  else
    case "$command $before" in
{choices}
      *)
        if [ "${{word#-}}" != "$word" ]; then
          case "$command" in
{options}
          esac
        fi ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _rankfield rankfield
"""
ZSH = "autoload -U +X bashcompinit && bashcompinit\n"
FISH_STATE = "__fish_seen_subcommand_from"


@dataclass(frozen=True)
class CommandWords:
    """What may follow a command: options, with a help and the choices of their values."""

    name: str
    help: str
    options: dict[str, argparse.Action]


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "rankfield completion",
        description="Print the completion of this command for a shell.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))
    return parser


def run(options: argparse.Namespace) -> int:
    commands = list(list_commands())
    script = write_fish(commands) if options.shell == "fish" else write_bash(commands)
    print((ZSH if options.shell == "zsh" else "") + script, end="")
    return OK


def list_commands() -> Iterator[CommandWords]:
    """Yield every command but those of the server, with its options."""
    own = OWN_COMMANDS | SITE_COMMANDS
    modules = {name: evaluation_command.module_of(name) for name in evaluation_command.COMMANDS}
    modules |= {name: f"rankfield.commands.{name}" for name in own}
    helps = evaluation_command.COMMANDS | own
    for name, module in modules.items():
        parser: argparse.ArgumentParser = import_module(module).parser()
        add_json_option(parser)
        options = {word: action for action in parser._actions for word in action.option_strings}
        yield CommandWords(name, helps[name], options)
    yield from (CommandWords(name, what, {}) for name, what in SERVER_COMMANDS.items())


def write_bash(commands: list[CommandWords]) -> str:
    firsts = dict.fromkeys(command.name.split()[0] for command in commands)
    seconds = [command.name.split()[1] for command in commands if " " in command.name]
    choices, options = [], []
    for command in commands:
        options.append(f'            "{command.name}") words="{" ".join(command.options)}" ;;')
        for word, action in command.options.items():
            if action.choices:
                listed = " ".join(map(str, action.choices))
                choices.append(f'      "{command.name} {word}") words="{listed}" ;;')
    return BASH.format(
        first=" ".join(firsts),
        second=" ".join(seconds),
        choices="\n".join(choices),
        options="\n".join(options),
    )


def write_fish(commands: list[CommandWords]) -> str:
    firsts = {command.name.split()[0]: command for command in commands}
    lines = [
        f"complete -c rankfield -n __fish_use_subcommand -a {first}"
        + (f" -d {quote_for_fish(command.help)}" if command.name == first else "")
        for first, command in firsts.items()
    ]
    for command in commands:
        first, *second = command.name.split()
        state = f"{FISH_STATE} {first}" + (f"; and {FISH_STATE} {second[0]}" if second else "")
        if second:
            lines.append(f"complete -c rankfield -n '{FISH_STATE} {first}' -f -a {second[0]}")
        for word, action in command.options.items():
            kind = f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}"
            listed = " ".join(map(str, action.choices or ()))
            values = f" -x -a '{listed}'" if listed else ""
            about = (action.help or "").replace("%%", "%").partition("; ")[0]
            said = f" -d {quote_for_fish(about)}" if about else ""
            lines.append(f"complete -c rankfield -n '{state}' {kind}{values}{said}")
    return "\n".join(lines) + "\n"


def quote_for_fish(text: str) -> str:
    """Return a text as one word of fish.

    >>> print(quote_for_fish("the site's name"))
    'the site\\'s name'
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"

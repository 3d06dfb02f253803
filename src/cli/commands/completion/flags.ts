// SPDX-License-Identifier: Apache-2.0
import { Argument, type Command } from 'commander';

const HELP = `
Examples:
  source <(countersign completion bash)
  countersign completion zsh > "\${fpath[1]}/_countersign"
  countersign completion fish | source
  countersign completion kubectl > ~/bin/kubectl_complete-countersign    # for kubectl countersign; chmod +x

Names of pods, requests, signers and namespaces come from the cluster, with your own rights.

Exit codes:
  0  printed                       2  the command line is wrong`;

/** Adds `countersign completion`, and `__complete`, which its scripts call. */
export function addCompletionCommands(root: Command): void {
  root
    .command('completion')
    .description('print a script that completes commands, flags and live names in your shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(['bash', 'zsh', 'fish', 'kubectl']))
    .addHelpText('before', HELP)
    .action(async (shell: 'bash' | 'zsh' | 'fish' | 'kubectl') => {
      const { printScript } = await import('./run.ts');
      printScript(shell);
    });
  root
    .command('__complete [words...]', { hidden: true })
    .description('print completions of words, as cobra does')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (words: readonly string[]) => {
      const { printCompletions } = await import('./run.ts');
      await printCompletions(root, words);
    });
  root
    .command('__commands', { hidden: true })
    .description('print all commands with their flags and their help as JSON')
    .action(async () => {
      const { printCommands } = await import('./run.ts');
      printCommands(root);
    });
}

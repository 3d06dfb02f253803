// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import type { KeyHolderOptions } from './run.ts';
import { TOKEN_PROCESS_FLAG } from './token/flag.ts';

/** Path of the addon in the variant of the image for PKCS#11. */
const PKCS11_ADDON = '/pkcs11.node';

const HELP = `
Examples:
  countersign key-holder /etc/countersign/key-holder.yaml
  countersign key-holder key-holder.yaml --check
  countersign key-holder --probe /run/countersign/key-holder/sockets/component.sock

It calls no API server and no network. It logs each signature and each refusal.

Exit codes:
  0  stopped by a signal, or checked     2  the file, a key or a socket is wrong
  0  the probed holder answers           1  it does not`;

interface HolderFlags extends KeyHolderOptions {
  /** Runs as the process of a token. */
  readonly tokenProcess: boolean;
}

/** Adds `countersign key-holder`, which signs for components without the key of their CA. */
export function addKeyHolderCommand(root: Command): void {
  root
    .command('key-holder')
    .description('keep keys of CAs, and sign within the limits of each socket')
    .argument('[file]', 'YAML file with keys, sockets and limits')
    .option('--configuration <text>', 'the text of the file, in place of <file>')
    .option('--probe <socket>', 'only test whether the holder of this socket answers, and exit')
    .option('--check', 'open the keys, check the file, and exit', false)
    .option('--pkcs11-addon <file>', 'native addon that calls PKCS#11 modules', PKCS11_ADDON)
    .addOption(new Option(TOKEN_PROCESS_FLAG).default(false).hideHelp())
    .addOption(
      new Option('--log-level <level>', 'lowest level of log lines')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    )
    .addOption(
      new Option('--log-format <format>', 'form of log lines')
        .choices(['json', 'pretty'])
        .default('json'),
    )
    .addHelpText('after', HELP)
    .action(async (file: string | undefined, options: HolderFlags) => {
      if (options.tokenProcess) {
        const { serveToken } = await import('./token/process.ts');
        serveToken();
        return;
      }
      const { run } = await import('./run.ts');
      await run(file, options);
    });
}

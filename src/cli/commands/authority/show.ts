// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '#base/errors.ts';
import { readAllSignerStates, readSignerState } from '#operations/read-signer-state.ts';
import type { Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { summarizeSigner } from '#operations/show/signer-summary.ts';
import { renderTable } from '#operations/show/table.ts';
import { printDocument, printProgress, printText, terminalWidth } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';

/** Flags of `countersign authority show`. */
export interface ShowOptions extends UserOptions {
  readonly output: Output | 'wide' | 'name';
  readonly propagation: number;
  /** Label selector. */
  readonly selector?: string;
}

/**
 * Runs `countersign authority show`.
 *
 * @param names - of ClusterSigners, or signer names. If empty, all of them.
 * @throws KubeError of the API server
 */
export async function show(names: readonly string[], options: ShowOptions): Promise<void> {
  const { output, selector } = options;
  const { client } = await connectUser(options, 'authority');
  const init = { client, clock: Date.now, propagationSeconds: options.propagation };
  try {
    const states =
      names.length === 0
        ? await readAllSignerStates(init, selector, (each, error) => {
            printProgress(`warning: ${each}: ${messageOf(error)}`);
          })
        : await Promise.all(names.map((name) => readSignerState(init, name)));
    const items = states.map(summarizeSigner);
    if (output === 'json' || output === 'yaml') printDocument(structuredText({ items }, output));
    else if (output === 'name') {
      printText(items.map(({ name }) => `clustersigner.countersign.dev/${name}\n`).join(''));
    } else {
      const now = Date.now() - client.clockOffset();
      printText(renderTable(items, { now, isWide: output === 'wide', width: terminalWidth() }));
    }
  } finally {
    await client.close();
  }
}

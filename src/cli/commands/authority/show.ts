// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../../../errors.ts';
import { readSignerState, readAllSignerStates } from '../../../operations/read-signer-state.ts';
import { structuredText, type Output } from '../../../operations/report.ts';
import { summarizeSigner } from '../../../operations/show/signer-summary.ts';
import { renderTable } from '../../../operations/show/table.ts';
import { printDocument, printProgress, printText } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';

/** Flags of `countersign authority show`. */
export interface ShowOptions extends UserOptions {
  readonly output: Output;
  readonly propagation: number;
}

/**
 * Runs `countersign authority show`.
 *
 * @param name - of the ClusterSigner; all of them if undefined
 * @throws KubeError of the API server
 */
export async function show(name: string | undefined, options: ShowOptions): Promise<void> {
  const { client } = await connectUser(options, 'authority');
  const init = { client, clock: Date.now, propagationSeconds: options.propagation };
  try {
    const states =
      name === undefined
        ? await readAllSignerStates(init, (each, error) => {
            printProgress(`warning: ${each}: ${messageOf(error)}`);
          })
        : [await readSignerState(init, name)];
    const items = states.map(summarizeSigner);
    const { output } = options;
    if (output === 'text') printText(renderTable(items));
    else printDocument(structuredText({ items }, output));
  } finally {
    await client.close();
  }
}

// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../../errors.ts';
import { look, lookAtAll } from '../../operations/look.ts';
import { structured, type Output } from '../../operations/report.ts';
import { shownSigner } from '../../operations/shown.ts';
import { renderTable } from '../../operations/table.ts';
import { connectUser, type UserOptions } from '../../app/user-client.ts';

/** Flags of `countersign authority show`. */
export interface ShowOptions extends UserOptions {
  readonly output: Output;
  readonly propagation: number;
}

/** Runs `countersign authority show`. @throws KubeError */
export async function show(name: string | undefined, options: ShowOptions): Promise<void> {
  const { client } = await connectUser(options, 'authority');
  const init = { client, clock: Date.now, propagationSeconds: options.propagation };
  try {
    const situations =
      name === undefined
        ? await lookAtAll(init, (each, error) => {
            process.stderr.write(`warning: ${each}: ${messageOf(error)}\n`);
          })
        : [await look(init, name)];
    const items = situations.map(shownSigner);
    const { output } = options;
    process.stdout.write(output === 'text' ? renderTable(items) : structured({ items }, output));
  } finally {
    await client.close();
  }
}

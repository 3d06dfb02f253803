// SPDX-License-Identifier: Apache-2.0
import type { Explanation, State } from '#diagnose/explain/explanation.ts';
import { explain } from '#diagnose/explain/explain.ts';
import { explanationText } from '#diagnose/explain/text.ts';
import { EXIT_REFUSED, type Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { subjectOf, withNamespaceHint } from '#cli/subject.ts';
import { printDocument, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';

/** Flags of `countersign explain`. */
export interface ExplainOptions extends UserOptions {
  readonly namespace: string;
  /** Propagation time in seconds. */
  readonly propagation: number;
  readonly output: Output;
}

/** Exit code of an object that waits for a person, a rule, a signer or a component. */
const EXIT_WAITS = 4;

const DONE: readonly State[] = ['Issued', 'Ready', 'NotUsed'];
const REFUSED: readonly State[] = ['Denied', 'Failed', 'NotReady', 'NotTrusted'];

/**
 * Runs `countersign explain`.
 *
 * @param text - `kind/name`
 * @returns the exit code
 * @throws KubeError if it cannot be read, or SignerError USAGE for malformed text
 */
export async function explainSubject(text: string, options: ExplainOptions): Promise<number> {
  const subject = subjectOf(text, options.namespace);
  const { client } = await connectUser(options, 'explain');
  try {
    const { propagation, output } = options;
    const init = { client, clock: Date.now, propagationSeconds: propagation };
    const explanation = await explain(init, subject).catch(async (error: unknown) => {
      throw await withNamespaceHint(error, subject, client);
    });
    if (output === 'text') printText(explanationText(explanation));
    else printDocument(structuredText(explanation, output));
    return exitCodeOf(explanation);
  } finally {
    await client.close();
  }
}

function exitCodeOf({ state }: Explanation): number {
  if (DONE.includes(state)) return 0;
  return REFUSED.includes(state) ? EXIT_REFUSED : EXIT_WAITS;
}

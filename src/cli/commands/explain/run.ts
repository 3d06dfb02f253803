// SPDX-License-Identifier: Apache-2.0
import type { Explanation, State } from '../../../explanations/explanation.ts';
import { explain } from '../../../explanations/explain.ts';
import { explanationText } from '../../../explanations/text.ts';
import { EXIT_REFUSED, structuredText, type Output } from '../../../operations/report.ts';
import { subjectOf, withNamespaceHint } from '../../subject.ts';
import { printDocument, printText } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';

/** Flags of `countersign explain`. */
export interface ExplainOptions extends UserOptions {
  readonly namespace: string;
  /** Seconds. */
  readonly propagation: number;
  readonly output: Output;
}

/** It waits: for a person, a rule, a signer or a component. */
const EXIT_WAITS = 4;

const DONE: readonly State[] = ['Issued', 'Ready', 'NotUsed'];
const REFUSED: readonly State[] = ['Denied', 'Failed', 'NotReady'];

/**
 * Runs `countersign explain`.
 *
 * @param text - `kind/name`
 * @returns the exit code
 * @throws KubeError when it cannot be read; SignerError USAGE for a text of another shape
 */
export async function explainSubject(text: string, options: ExplainOptions): Promise<number> {
  const subject = subjectOf(text, options.namespace);
  const { client } = await connectUser(options, 'explain');
  try {
    const { propagation, output } = options;
    const init = { client, clock: Date.now, propagationSeconds: propagation };
    const explanation = await explain(init, subject).catch((error: unknown) => {
      throw withNamespaceHint(error, subject);
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

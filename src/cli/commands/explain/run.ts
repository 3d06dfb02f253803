// SPDX-License-Identifier: Apache-2.0
import type { Explanation, State } from '../../../explanations/explanation.ts';
import { explain, type Subject } from '../../../explanations/explain.ts';
import { explanationText } from '../../../explanations/text.ts';
import { SignerError } from '../../../errors.ts';
import { KubeError } from '../../../kube/client/kube-error.ts';
import { EXIT_REFUSED, structuredText, type Output } from '../../../operations/report.ts';
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
      throw withHint(error, subject);
    });
    if (output === 'text') printText(explanationText(explanation));
    else printDocument(structuredText(explanation, output));
    return exitCodeOf(explanation);
  } finally {
    await client.close();
  }
}

function subjectOf(text: string, namespace: string): Subject {
  const [kind = '', name = '', ...rest] = text.split('/');
  if (kind !== '' && name !== '' && rest.length === 0) return { kind, name, namespace };
  throw new SignerError({
    code: 'USAGE',
    disposition: 'fail',
    message: `"${text.slice(0, 80)}" names nothing; write kind/name, such as pod/web -n team-a`,
  });
}

/** People forget the namespace most. */
function withHint(error: unknown, { kind, name, namespace }: Subject): unknown {
  if (!(error instanceof KubeError) || error.status !== 404) return error;
  return new SignerError({
    code: 'KUBE_NOT_FOUND',
    disposition: 'wait',
    message: `there is no ${kind}/${name} (things with a namespace were looked for in ${namespace}; -n names another)`,
    cause: error,
  });
}

function exitCodeOf({ state }: Explanation): number {
  if (DONE.includes(state)) return 0;
  return REFUSED.includes(state) ? EXIT_REFUSED : EXIT_WAITS;
}
